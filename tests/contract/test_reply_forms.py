"""One strictness: the same forms of JSON are read or refused in all families."""

import json
import re
from typing import Any, NamedTuple

import pytest

import waybench
from waybench.core import FORMS, Episode, Invalid, last_json_object, play_to_end, policy

# Environment, options of play, and the key of the answer.
FAMILIES: dict[str, tuple[str, dict[str, Any], str]] = {
    "maze": ("maze/alicia", {"protocol": "sound"}, "movements"),
    "maze explored": ("maze/explore", {}, "move"),
    "tile map": ("tilemap/gtb", {"protocol": "sound"}, "action"),
    "tile map, stepwise": ("tilemap/stepwise", {}, "action"),
    "tile map, state": ("tilemap/state", {}, "action"),
    "graph, path": ("graph/paths", {}, "path"),
    "graph, reachable": ("graph/paths", {}, "reachable"),
    "text map, route": ("textmap/route", {"protocol": "sound"}, "location_before"),
    "text map, destination": ("textmap/destination", {"protocol": "sound"}, "location_before"),
    "extraction, steps": ("textmap/extract", {"mode": "steps"}, "location_before"),
    "extraction, whole": ("textmap/extract", {"mode": "whole"}, "location_before"),
}


class Family(NamedTuple):
    """The first question of an item, with a right answer."""

    episode: Episode[Any, Any, Any]
    answer: Any
    good: str
    key: str

    def read(self, reply: str) -> Any:
        return self.episode.play.wording.parse(reply, self.episode.state)


@pytest.fixture(scope="module", params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    env, options, key = FAMILIES[request.param]
    environment = waybench.load(env)
    drawn = {"question": key} if env == "graph/paths" else {}
    item = environment.source("forms", environment.items.smallest_level, **drawn).item(0)
    solved = play_to_end(environment, item, policy("oracle"), options)
    good = solved.turns[0].reply
    episode: Episode[Any, Any, Any] = Episode(environment, item, options)
    answer = episode.play.wording.parse(good, episode.state)
    assert not isinstance(answer, Invalid)
    return Family(episode, answer, json.dumps(json.loads(good)), key)


def mention(family: Family, placeholder: str) -> str:
    value = f'"{family.key}": {placeholder}'
    return f"[{{{value}}}, ...]" if family.good.startswith("[") else f"{{{value}}}"


def of_python(good: str) -> str:
    return repr(json.loads(good))


READ = {
    "fenced": lambda f: f"Here it is:\n```json\n{f.good}\n```\nThat is all.",
    "unclosed fence": lambda f: f"```\n{f.good}",
    "with line breaks": lambda f: json.dumps(json.loads(f.good), indent=2),
    "a comment at the beginning": lambda f: f.good.replace("{", "{ // the answer\n", 1),
    "another comment at the beginning": lambda f: f.good.replace("{", "{/* the answer */", 1),
    "within a list": lambda f: f"[{f.good}]",
    "within an object": lambda f: json.dumps({"answer": json.loads(f.good), "sure": True}),
    "deep within an object": lambda f: json.dumps({"reply": {"answers": [json.loads(f.good)]}}),
    "double encoded": lambda f: json.dumps(f.good),
    "double encoded, with line breaks": lambda f: json.dumps(json.dumps(json.loads(f.good), indent=1)),
    "double encoded, within an object": lambda f: json.dumps({"answer": f.good}),
    "Python": lambda f: of_python(f.good),
    "Python within an object": lambda f: f"{{'answer': {of_python(f.good)}, 'sure': None}}",
    "trailing comma": lambda f: f"{f.good[:-1]},{f.good[-1]}",
    "comments": lambda f: f"{f.good[:-1]} # one\n // two\n /* three */ {f.good[-1]}",
    "after another one": lambda f: f"{f.good} No, I mean this: {f.good}",
    "after one within an object": lambda f: f"{json.dumps({'answer': json.loads(f.good)})} {f.good}",
    "after a mention": lambda f: f"{mention(f, '...')} is the form. {f.good}",
    "before a mention": lambda f: f"{f.good} (As you asked: {mention(f, '<text>')}.)",
    "before a quoted mention": lambda f: f"{f.good} (As you asked: {mention(f, json.dumps('<text>'))}.)",
    "before a mention of a list": lambda f: f"{f.good} as in {mention(f, '[...]')}",
    "within braces": lambda f: "{" + f.good + "}",
    "before an object without it": lambda f: f'{f.good} {{"sure": true}}',
}
REFUSED = {
    "before a malformed one": lambda f: f"{f.good} No: {f.good[:-1]}",
    "before a malformed one that is encoded": lambda f: f"{f.good} No: {json.dumps(f.good)[:-2]}",
    "several within an object": lambda f: json.dumps({"first": json.loads(f.good), "second": json.loads(f.good)}),
    "encoded twice": lambda f: json.dumps(json.dumps(f.good)),
    "without quotes": lambda f: re.sub(r'"(\w+)":', r"\1:", f.good),
    "a mention alone": lambda f: mention(f, "..."),
    "a number that is none": lambda f: re.sub(r'("\w+"):', r'"number": 01, \1:', f.good, count=1),
    "NaN": lambda f: re.sub(r'("\w+"):', r'"number": NaN, \1:', f.good, count=1),
    "a key twice": lambda f: re.sub(r'("\w+"):', r'"more": 1, "more": 2, \1:', f.good, count=1),
}


@pytest.mark.parametrize("form", READ)
def test_what_is_read(family: Family, form: str) -> None:
    assert family.read(READ[form](family)) == family.answer


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_refused(family: Family, form: str) -> None:
    assert isinstance(family.read(REFUSED[form](family)), Invalid)


@pytest.mark.parametrize(("form", "is_read", "example"), FORMS)
def test_the_table_of_forms_says_what_is_read(form: str, is_read: bool, example: str) -> None:
    assert isinstance(last_json_object(example, "k", unique=True), Invalid) != is_read

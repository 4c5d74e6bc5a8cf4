"""Reading a JSON object out of a reply: what counts, what does not, and work that does not grow out of hand."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waybench.core import Invalid, Outcome, json_excerpt, last_json_object
from waybench.core._json_reply import MAX_CHARACTERS, MAX_DEPTH, MAX_MALFORMED, MAX_OBJECTS, JsonObject
from waybench.testing._hostile import HOSTILE_REPLIES

GOOD = '{"k": [1, {"a": "b"}]}'


def found(reply: str) -> JsonObject:
    value = last_json_object(reply, "k")
    assert isinstance(value, JsonObject), value
    return value


def reason(reply: str) -> str:
    value = last_json_object(reply, "k")
    assert isinstance(value, Invalid), value
    assert value.outcome is Outcome.UNPARSED
    assert value.reason.isprintable()
    return value.reason


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"\n\t {GOOD} \n",
        f"Here you are:\n{GOOD}\nGood luck!",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}",
        f'{{"k": 0}} or rather {GOOD}',
        f'{{"k": oops}} or rather {GOOD}',
        f'{{"other": 1}} {GOOD} {{"other": 2}} {{}}',
        f"{GOOD} where {{x | x > 0}} and {{}} and {{ and }}",
        f"the set {{1, 2}}, \\frac{{a}}{{b}}, f'{{x}}' and {GOOD}",
        f'{{"other": oops {GOOD}',
        f'{{"other": "k", oops {GOOD}',
        f'{{"why": "b", "k": oops}} {GOOD}',
        f'{GOOD} {{"why": "the key \\"k\\": is", oops}}',
        f'{GOOD} {{"why": "b", oops "k": 1}}',
        '{"k": 0, oops ' + GOOD,
        '{ \n"k"\t:\r[1, {"a": "b"}] }',
        '{"k": [1, {"a": "\\u0062"}]}',
        f'"{GOOD}"',
        f"[{GOOD}]",
        f"\ufeff{GOOD}",
        GOOD + "}" * 50,
    ],
)
def test_the_last_object_counts(reply: str) -> None:
    assert found(reply) == {"k": [1, {"a": "b"}]}


NONE = 'The reply has no JSON object with the key "k".'
MALFORMED = 'The last JSON object with "k" is malformed.'


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("", NONE),
        ("k", NONE),
        ("[1, 2]", NONE),
        ("{}", NONE),
        ('{"K": 1}', NONE),
        ("{k: 1}", NONE),
        ('{"k"', NONE),
        ('{"k": }', MALFORMED),
        ('{"k": 1', MALFORMED),
        ('{"k": 01}', MALFORMED),
        ('{"k": +1}', MALFORMED),
        ('{"k": .5}', MALFORMED),
        ('{"k": 0x1}', MALFORMED),
        ('{"k": 1_000}', MALFORMED),
        ('{"k": \u0661}', MALFORMED),
        ('{"k": "a\nb"}', MALFORMED),
        ('{"k": NaN}', MALFORMED),
        ('{"k": 1, "other": [Infinity]}', MALFORMED),
        ('{"k": -Infinity}', MALFORMED),
        (f'{GOOD} no: {{"k": oops}}', MALFORMED),
        ('{"k": oops} {"other": oops} {"other": 1}', MALFORMED),
        (f'{GOOD} no: {{ "k" : NaN}}', MALFORMED),
        (f'{GOOD} {{"why": "b", "k": [', MALFORMED),
        (f'{GOOD} {{"why": "b", "k" : [1, 2', MALFORMED),
        (f'{GOOD} {{"why": "b" "k": [1]}}', MALFORMED),
        (f'{GOOD} {{"plan": {{"k": 1', MALFORMED),
        ('{"plans": [{"k": 1}, {"k": 2}]}', NONE),
        ('{"plan": {"k": 1}, "plan": {"k": 2}}', NONE),
        (r'{"plan": "{\"k\": 1}", "other": {"k": 2}}', NONE),
        (r'"\"{\\\"k\\\": 1}\""', NONE),
        (GOOD + r' "{\"k\": oops}"', MALFORMED),
        (GOOD + r' "{\"k\": 1', MALFORMED),
        ("{'k': 'a\nb'}", MALFORMED),
        ("{'k': 01}", MALFORMED),
        ("{'k': [1,,]}", MALFORMED),
        ("{'k': {,}}", MALFORMED),
        ("{'k': 1 /* one }", MALFORMED),
        (f"{GOOD} {{'k': (1, 2)}}", MALFORMED),
        (f"{GOOD} {{'k': nothing}}", MALFORMED),
        ('{"k": ...}', MALFORMED),
        ('{"k": [<moves>, ...]} and {"k": <list>}', MALFORMED),
        (f'{{"k": <list>}} {GOOD} {{"k": oops}}', MALFORMED),
    ],
)
def test_what_does_not_count(reply: str, wanted: str) -> None:
    assert reason(reply) == wanted


LAST = {"k": [1, {"a": "b"}]}


@pytest.mark.parametrize(
    "reply",
    [
        f'{{"answer": {GOOD}}}',
        f'{{"steps": ["k"], "answers": [[{GOOD}]]}}',
        f'{{"k": 0}} {{"answer": {GOOD}}}',
        json.dumps(GOOD),
        json.dumps(json.dumps(LAST, indent=1)),
        f"so: {json.dumps(GOOD)}.",
        json.dumps({"answer": GOOD}),
        f'{{"k": 0}} {json.dumps(GOOD)}',
        f'{{"plans": [{{"k": 1}}, {{"k": 2}}]}} {GOOD}',
        f'{GOOD} {{"plans": [{{"k": 1}}, {{"k": 2}}]}}',
        "{'k': [1, {'a': 'b'}]}",
        "{'k': [1, {\"a\": '\\x62'}]}",
        "{'k': [1.0, {'a': 'b'},],}",
        '{"k": [1, {"a": "b"},],}',
        '{"k": [1, /* two */ {"a": "b"} // three\n], # four\n}',
        f'{{"k": 0, "why": True}} {{"k": 0, "why": None}} {GOOD}',
        f'{GOOD} as in {{"k": ...}}',
        f'{GOOD} as in {{"k": […]}}, {{"k": <a list of {{}}>}} and {{ "k": [ <moves> ], ... }}',
        f'{{"k": <list>}}: {GOOD} (as you asked: {{"k": "<list>"}}, {{"k": ["...", "…"]}})',
        f'{GOOD} {{"answer": {{"k": "..."}}}}',
    ],
)
def test_the_forms_that_are_read(reply: str) -> None:
    assert found(reply) == LAST


def test_a_mention_alone_is_read_as_it_stands() -> None:
    assert found('{"k": "..."}') == {"k": "..."}
    assert found('{"k": [1, "..."]} {"k": [2, "..."]}') == {"k": [2, "..."]}


@pytest.mark.parametrize("spare", [150, 400, 800])
def test_no_verdict_depends_on_the_stack(spare: int) -> None:
    """An open bracket more than 100 times is too deep, however deep the caller itself is."""
    replies = [f'{{"k": {"[" * depth}' for depth in range(95, 1_200, 35)] + ["{'k':" + "[" * 99 + "]" * 99 + "}"]

    def at(depth: int) -> list[JsonObject | Invalid]:
        return at(depth - 1) if depth else [last_json_object(reply, "k") for reply in replies]

    assert at(spare) == at(0)
    assert reason('{"k": ' + "[" * 100) == f"The reply has more than {MAX_DEPTH} brackets within each other."
    assert reason('{"k": ' + "[" * 99) == MALFORMED


def test_nan_elsewhere_does_no_harm() -> None:
    assert found(f'{{"other": NaN}} {GOOD} {{"other": NaN}}')["k"][0] == 1


def test_duplicate_keys_are_remembered() -> None:
    assert found('{"k": 1, "a": 2, "a": 3, "k": 4}').duplicate == "a"
    assert found('{"k": 1, "k": 4}').duplicate == "k"
    within = found('{"k": {"a": 1, "a": 2}}')
    assert within.duplicate is None
    assert within["k"].duplicate == "a"
    assert found(GOOD).duplicate is None


@pytest.mark.parametrize(("digits", "held"), [("9" * 18, 10**18 - 1), ("-" + "9" * 18, 1 - 10**18), ("0", 0)])
def test_numbers_that_are_held(digits: str, held: int) -> None:
    assert found(f'{{"k": {digits}}}')["k"] == held


@pytest.mark.parametrize("digits", ["9" * 19, "-" + "9" * 19, "1" * 5000, "1" * 900_000])
def test_numbers_of_too_many_digits_are_no_numbers(digits: str) -> None:
    value = found(f'{{"k": {digits}}}')["k"]
    assert not isinstance(value, int | float | str)
    assert json_excerpt(value) == "a number of more than 18 digits"


def test_limit_of_characters() -> None:
    assert found(GOOD.ljust(MAX_CHARACTERS))
    assert reason(GOOD.ljust(MAX_CHARACTERS + 1)) == (
        f"The reply has {MAX_CHARACTERS + 1} characters; at most {MAX_CHARACTERS} are read."
    )


def nested(depth: int) -> str:
    return '{"k":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 500, 2_000, 100_000])
def test_too_deep(depth: int) -> None:
    wanted = f"The reply has more than {MAX_DEPTH} brackets within each other."
    assert reason(nested(depth)) == wanted
    assert reason('{"a":' * depth + "1" + "}" * depth) == wanted


def test_as_deep_as_it_may_be() -> None:
    assert found(nested(MAX_DEPTH))


def test_limit_of_objects() -> None:
    assert found("{}" * (MAX_OBJECTS - 1) + GOOD)
    assert reason("{}" * MAX_OBJECTS + GOOD) == f"The reply has more than {MAX_OBJECTS} JSON objects."


def test_limit_of_malformed_objects() -> None:
    assert found('{"other":!' * MAX_MALFORMED + GOOD)
    assert reason('{"other":!' * (MAX_MALFORMED + 1) + GOOD) == (
        f"The reply has more than {MAX_MALFORMED} malformed JSON objects."
    )


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("name", HOSTILE_REPLIES)
def test_hostile_replies(name: str) -> None:
    value = last_json_object(HOSTILE_REPLIES[name](), "movements")
    assert isinstance(value, JsonObject | Invalid)
    if isinstance(value, Invalid):
        assert value.reason.isprintable()
        assert len(value.reason) < 100


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int | None]]:
    """Return where each decoding begins and where it ends or goes wrong; None where it is too deep."""
    spans: list[tuple[int, int | None]] = []
    original = json.JSONDecoder.raw_decode

    def raw_decode(self: json.JSONDecoder, s: str, idx: int = 0) -> tuple[Any, int]:
        if s.startswith('"'):  # the escapes of a string
            return original(self, s, idx)
        try:
            value, end = original(self, s, idx)
        except json.JSONDecodeError as error:
            spans.append((idx, error.pos))
            raise
        except RecursionError:
            spans.append((idx, None))
            raise
        spans.append((idx, end))
        return value, end

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", raw_decode)
    return spans


@pytest.mark.parametrize(
    "make",
    [
        *HOSTILE_REPLIES.values(),
        lambda: '{"k": [' * 50 + "oops" + '{"k": 1}' * 500,
        lambda: '{"a": "b" ' * 50_000,
        lambda: '{"a": {"b": {"c": oops ' * 20_000,
        lambda: ('{"a": "' + "x" * 500) * 1_000,
    ],
)
def test_no_text_is_decoded_twice(make: Callable[[], str], decoded: list[tuple[int, int | None]]) -> None:
    last_json_object(make(), "k")
    assert len(decoded) <= MAX_OBJECTS
    ends = [end for _, end in decoded]
    assert None not in ends[:-1]  # what is too deep is the last that is read
    for (_, end), (start, _) in pairwise(decoded):
        assert end is not None
        assert start >= end


def test_few_malformed_objects_are_decoded(decoded: list[tuple[int, int | None]]) -> None:
    # The line number in Python's error is counted from the start of the text, once for each.
    last_json_object("x" * 970_000 + '{"movements":!' * 1_999, "movements")
    assert len(decoded) == MAX_MALFORMED + 1


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    assert isinstance(last_json_object(text, "k"), JsonObject | Invalid)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
).filter(lambda value: "think" not in json.dumps(value))
PROSE = st.text().filter(lambda text: "{" not in text and "<" not in text)


@given(JSON, PROSE, PROSE, st.booleans())
def test_any_object_is_found_in_any_prose(value: object, before: str, after: str, ascii_only: bool) -> None:
    text = json.dumps({"k": value}, ensure_ascii=ascii_only)
    assert found(before + text + after) == {"k": value}


@given(st.text(alphabet='{}[]",:k1e-.\\ntu <>/think'))
def test_any_crippled_json_is_read_or_refused(text: str) -> None:
    value = last_json_object(text, "k")
    if isinstance(value, JsonObject):
        assert "k" in value
    else:
        assert value.reason.isprintable()


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("up", '"up"'),
        ("a" * 1000, f'"{"a" * 40}"'),
        ("\ud800\n", '"\\ud800\\n"'),
        ("\U0001f600" * 40, '"' + ("\\ud83d\\ude00" * 5)[:56] + "..."),
        (True, "true"),
        (None, "null"),
        (1.5, "1.5"),
        (float("inf"), "Infinity"),
        ([1], "a list"),
        ({}, "an object"),
    ],
)
def test_shown(value: object, wanted: str) -> None:
    assert json_excerpt(value) == wanted

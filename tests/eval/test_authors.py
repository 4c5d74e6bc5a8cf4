"""Worlds that a language model writes, with a real model server that gets everything wrong that can be."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig, Model, get_model

from tests.eval.model_server import Answer, ModelServer, model_server
from tests.eval.play import MODEL
from tests.eval.scripted_author import (
    COLUMNS,
    LENGTH,
    MAP,
    OBJECTIVES,
    ROWS,
    SIGNS,
    TILES,
    WALLED,
    Wrong,
    answers,
    author,
    complaints,
    step_of,
)
from waybench.core import Reply, UsageError, WaybenchError
from waybench.envs import registry
from waybench.envs.tilemap._instance import TileMap, tile_list, tour_leg_lengths
from waybench.ext.author import AUTHORED
from waybench.ext.author.authored_maps._authors import Authored, new_draft, world_size, write_world
from waybench.ext.author.authored_maps._steps import run_author_steps
from waybench.ext.author.authored_maps._tilemap import RARE, STEPS, Draft

pytestmark = pytest.mark.usefixtures("key")


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SCRIPTED_API_KEY", "none")
    yield


async def _written(url: str, objectives: int = len(OBJECTIVES), attempts: int = 5, theme: str = "") -> Authored:
    model: Model = get_model(MODEL, base_url=url, memoize=False, config=GenerateConfig(max_retries=0))
    async with model:
        return await write_world(model, new_draft(ROWS, COLUMNS, objectives, theme), attempts)


def written(wrong: Wrong, **more: Any) -> tuple[Authored, ModelServer]:
    with model_server(author(wrong)) as server:
        return asyncio.run(_written(server.url, **more)), server


def chats(server: ModelServer, step: str) -> list[list[dict[str, Any]]]:
    return [chat for chat in map(json.loads, server.asked) if step_of(chat)[0] == step]


def check_sound(case: TileMap) -> None:
    environment = registry.load("tilemap/gtb")
    assert environment.items.decode(json.loads(json.dumps(case.to_json()))) == case
    legs = tour_leg_lengths(case, tile_list(case.walkable))
    assert None not in legs and case.path_length == sum(leg or 0 for leg in legs)
    for _, tile, row, column in case.objectives:
        assert case.rows[row][column] == tile and tile in tile_list(case.walkable)


def test_a_good_world_takes_five_requests() -> None:
    world, server = written({}, theme="a lighthouse")
    assert (world.requests, world.problems) == (5, ())
    case = world.case
    check_sound(case)
    assert case.rows == MAP and case.level == 1 and case.path_length == LENGTH
    assert case.tiles == (*SIGNS.items(), ("Fern 0", "f"), ("Ada", "@"), ("The Crow", "#"))
    assert (case.walkable, case.interactive) == ("['m', 'D', 'k', 'l', 'c']", "['k', 'l', 'c', 'K']")
    assert [objective.name for objective in case.objectives] == list(OBJECTIVES)
    assert case.story == answers(0)["story"] and case.id == case.hash[:12]
    assert sum(server.asked.values()) == 5
    assert world.usage.output_tokens == sum(len(text) // 4 for text in answers(0).values())
    assert world.usage.input_tokens > 0 and world.usage.seconds > 0

    # What is asked has what is needed, and what was said before in its plain form.
    [[_, story]] = chats(server, "story")
    assert "a lighthouse" in story["content"] and "3 aims" in story["content"]
    [tiles] = chats(server, "tiles")
    assert [message["role"] for message in tiles] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert json.loads(tiles[4]["content"])["protagonist"] == "Ada"
    assert "[ ] ' , \" \\ @ #" in tiles[5]["content"] and '"Old Keeper"' in tiles[5]["content"]
    [drawn] = chats(server, "map")
    assert f"exactly {ROWS} rows of exactly {COLUMNS} characters" in drawn[-1]["content"]
    [listed] = chats(server, "objectives")
    assert "k at (1, 7); l at (3, 9); c at (6, 1)" in listed[-1]["content"]
    assert sum(row.count("m") for row in MAP) > RARE and "m at" not in listed[-1]["content"]


def _json(key: str, **changed: Any) -> Answer:
    return Answer(json.dumps({**json.loads(answers(0)[key][answers(0)[key].index("{") :].rstrip("`\n")), **changed}))


def _map(*rows: str) -> Answer:
    return Answer(json.dumps({"map": rows}))


def _drawn(row: int, text: str) -> Answer:
    return _map(*MAP[:row], text, *MAP[row + 1 :])


def _objectives(**changed: Any) -> Answer:
    first = {"Take the key": ["k", 1, 7], "Light the lamp": ["l", 3, 9], "Open the chest": ["c", 6, 1]}
    return Answer(json.dumps({"objectives": {**first, **{name.replace("_", " "): v for name, v in changed.items()}}}))


BAD = [
    ("story", Answer(""), "The reply is empty."),
    ("story", Answer("  \n\t "), "The reply is empty."),
    ("story", Answer("<think>What shall I tell?"), "The reply is empty."),
    ("story", Answer("so long " * 1000), "The reply has 7999 characters: give at most 6000."),
    ("story", Answer("x" * 5_000_000), "The reply has 5000000 characters"),
    ("story", Answer("bell \x07"), "control characters"),
    ("story", Answer("Once upon a", finish="length"), "cut off at the output limit"),
    ("story", Answer("", finish="content_filter"), "refusal"),
    ("characters", Answer("Ada and the Crow"), 'no JSON object with the key "protagonist"'),
    ("characters", Answer('{"protagonist": "Ada", "antagonist": "Crow", "others": ['), "malformed"),
    ("characters", Answer('{"protagonist": ' * 50_000), "characters: give at most 4000"),
    ("characters", Answer('{"protagonist": ' + "[" * 2000 + "]" * 200 + "}"), "brackets"),
    ("characters", Answer('{"protagonist": "Ada", "antagonist": "Crow"}'), 'The key "others" is missing.'),
    ("characters", Answer('{"protagonist": "a", "antagonist": "b", "antagonist": "c", "others": []}'), "there twice"),
    ("characters", _json("characters", others="nobody"), '"others" must be a list'),
    ("characters", _json("characters", others=["x"] * 9), '"others" must be a list'),
    ("characters", _json("characters", others=["Ada"]), '"Ada" is the name of several'),
    ("characters", _json("characters", antagonist="C\ud800row"), '"C\\ud800row" is no name'),
    ("characters", Answer('{"protagonist": "A\ud800", "antagonist": "b", "others": []}'), "is no name"),
    ("characters", _json("characters", antagonist="The\nCrow"), '"The\\nCrow" is no name'),
    ("characters", _json("characters", antagonist=["Crow"]), "a list is no name"),
    ("characters", _json("characters", antagonist="x" * 61), "is no name: give 1 to 60"),
    ("tiles", _json("tiles", tiles=["m"]), '"tiles" must be an object of 2 to 60 names.'),
    ("tiles", _json("tiles", tiles={str(n): "m" for n in range(61)}), "2 to 60 names"),
    ("tiles", _json("tiles", tiles={**SIGNS, "Tree": "tt"}), '"Tree": "tt" is no character'),
    ("tiles", _json("tiles", tiles={**SIGNS, "Tree": "ä"}), '"Tree": "\\u00e4" is no character'),
    ("tiles", _json("tiles", tiles={**SIGNS, "Tree": None}), '"Tree": null is no character'),
    ("tiles", _json("tiles", tiles={**SIGNS, "Tree": {"a": []}}), '"Tree": an object is no character'),
    *[
        ("tiles", _json("tiles", tiles={**SIGNS, "Tree": sign}), '"Tree": ' + json.dumps(sign))
        for sign in "@#[]',\"\\ \n"
    ],
    ("tiles", _json("tiles", tiles={**SIGNS, "Tree": "m"}), '"m" is the character of several tiles.'),
    ("tiles", _json("tiles", tiles={**SIGNS, "Ada": "A"}), '"Ada" has its character already'),
    ("tiles", _json("tiles", tiles={"Meadow": "m", "Wall": "W"}), '"Old Keeper" has no tile'),
    ("tiles", Answer('{"tiles": {"a": "a", "a": "b"}, "walkable": [], "interactive": []}'), '"a" is there twice'),
    ("tiles", _json("tiles", walkable=["m", "x"]), '"walkable" must be a list of characters that "tiles" has.'),
    ("tiles", _json("tiles", walkable=["m", ["m"]]), '"walkable" must be a list'),
    ("tiles", _json("tiles", walkable=[]), '"walkable" is empty'),
    ("tiles", _json("tiles", interactive={"k": 1}), '"interactive" must be a list'),
    ("map", Answer("\n".join(MAP)), 'no JSON object with the key "map"'),
    ("map", Answer(json.dumps({"map": "\n".join(MAP)})), '"map" must be a list of texts'),
    ("map", _map(*MAP[:-1]), "The map has 6 rows: give 7."),
    ("map", _map(), "The map has 0 rows: give 7."),
    ("map", _drawn(3, MAP[3][:-1]), "Row 3 (from 0) has 9 characters: give 10."),
    ("map", _drawn(3, MAP[3] + "m"), "Row 3 (from 0) has 11 characters: give 10."),
    ("map", _drawn(0, MAP[0].replace("W", "~")), 'the character "~", which is no tile'),
    ("map", _drawn(0, "@" + MAP[0][1:]), "The map has 2 of @: give exactly one."),
    ("map", _drawn(1, MAP[1].replace("@", "m")), "The map has 0 of @: give exactly one."),
    ("map", _drawn(5, MAP[5].replace("#", "m")), "The map has 0 of #: give exactly one."),
    ("map", _map("WWWWWWWWWW", "W@mWWWW#WW", *["WWWWWWWWWW"] * 5), "Only 1 place can be reached from @"),
    ("objectives", Answer('{"objectives": ["k", 1, 7]}'), '"objectives" is no object: give an object of exactly 3.'),
    ("objectives", _objectives(One_more=["m", 0, 0]), '"objectives" has 4 entries'),
    ("objectives", _objectives(Take_the_key=["k", "1", 7]), '"Take the key": give ["character", row, column].'),
    ("objectives", _objectives(Take_the_key=["k", True, 7]), '"Take the key": give ["character", row, column].'),
    ("objectives", _objectives(Take_the_key=["k", 1.0, 7]), '"Take the key": give ["character", row, column].'),
    ("objectives", _objectives(Take_the_key=["k", 10**30, 7]), '"Take the key": give ["character", row, column].'),
    ("objectives", _objectives(Take_the_key={"tile": "k"}), '"Take the key": give ["character", row, column].'),
    ("objectives", _objectives(Take_the_key=["k", 7, 1]), "row 7, column 1 is outside the map, which ends at row 6"),
    ("objectives", _objectives(Take_the_key=["k", -1, 1]), "row -1, column 1 is outside the map"),
    (
        "objectives",
        _objectives(Take_the_key=["k", 2, 7]),
        'at row 2, column 7 the map has "m", not "k". The nearest "k" is at row 1, column 7.',
    ),
    ("objectives", _objectives(Take_the_key=["q", 2, 7]), 'the map has "m", not "q".'),
    ("objectives", _objectives(Take_the_key=["W", 0, 4]), 'the tile "W" at row 0, column 4 cannot be walked on'),
    ("objectives", _objectives(Take_the_key=["@", 1, 1]), 'the tile "@" at row 1, column 1 cannot be walked on'),
    ("objectives", _objectives(Take_the_key=["l", 3, 9]), "Several objectives are at row 3, column 9"),
    ("objectives", Answer(json.dumps({"objectives": {"a\ud800": 1, "b": 2, "c": 3}})), '"a\\ud800" is no name'),
]


@pytest.mark.parametrize(("step", "answer", "problem"), BAD)
def test_what_is_wrong_is_told_and_mended(step: str, answer: Answer, problem: str) -> None:
    script, said = author({step: [answer]}), list[Sequence[str]]()
    stops = {"length": "truncated", "content_filter": "refused"}

    async def ask(texts: Sequence[str]) -> Reply:
        said.append(texts)
        given = script([{"content": text} for text in texts], 0)
        return Reply(given.text, stops.get(given.finish, "stop"))

    problems: list[str] = []
    draft = Draft(ROWS, COLUMNS, len(OBJECTIVES))
    check_sound(asyncio.run(run_author_steps(ask, STEPS, draft, 2, problems)).to_tile_map())
    assert len(said) == 6
    assert any(told.startswith(f"{step}: ") and problem in told for told in problems)
    assert not any("\n" in told for told in problems)
    [complaint] = {texts[-1] for texts in said if texts[-1].startswith("This cannot be used:")}
    assert problem in complaint
    assert max(len("".join(texts)) for texts in said) < 30_000  # however long an answer was, it is sent back cut


@pytest.mark.slow
@pytest.mark.parametrize("step", ["story", "characters", "tiles", "map", "objectives"])
def test_everything_wrong_over_http(step: str) -> None:
    bad = [(answer, problem) for name, answer, problem in BAD if name == step]
    world, server = written({step: [answer for answer, _ in bad]}, attempts=len(bad) + 1)
    check_sound(world.case)
    assert world.requests == 5 + len(bad)
    told = complaints(server)
    assert [problem for _, problem in bad if problem not in told] == []


def test_half_a_surrogate_pair_in_plain_text_is_six_harmless_characters() -> None:
    world, _ = written({"story": [Answer("Ada \ud800 and the Crow")]})
    assert (world.requests, world.case.story) == (5, "Ada \\ud800 and the Crow")


def test_all_problems_are_told_up_to_a_number() -> None:
    wrong = _map(*["mm"] * 20)
    world, server = written({"map": [wrong]})
    assert len(world.problems) == 11
    assert "- The map has 20 rows: give 7.\n- Row 0 (from 0) has 2" in complaints(server)
    assert world.problems[-1] == "map: 13 more problems of this kind."


def test_all_refused_answers_of_a_step_are_shown_again_and_none_of_another() -> None:
    bad = [Answer("first try"), Answer("second try")]
    world, server = written({"characters": bad, "map": [Answer("third try")]})
    assert world.requests == 8
    longest = max(chats(server, "characters"), key=len)
    assert [m["content"] for m in longest if m["role"] == "assistant"][1:] == ["first try", "second try"]
    assert not any("first try" in chat for chat in server.asked if "Step 3" in chat)


def test_an_unsolvable_map_is_drawn_again() -> None:
    world, server = written({"map": [_map(*WALLED)]})
    check_sound(world.case)
    assert world.requests == 7 and world.case.rows == MAP
    problem = (
        'With this map the objective "Take the key" at row 1, column 7 cannot be reached from row 1, column 1: '
        "open a way over tiles that can be walked on."
    )
    assert world.problems[0] == f"objectives: {problem}"
    again = max(chats(server, "map"), key=len)
    assert json.loads(again[-2]["content"])["map"] == list(WALLED)
    assert problem in again[-1]["content"]
    assert all(json.loads(chat[-2]["content"])["map"] for chat in chats(server, "objectives"))


@pytest.mark.parametrize("step", ["story", "characters", "tiles", "map", "objectives"])
def test_a_model_that_never_gets_it_right(step: str) -> None:
    with model_server(author({step: [Answer("")] * 9})) as server:
        with pytest.raises(WaybenchError) as caught:
            asyncio.run(_written(server.url, attempts=3))
        assert str(caught.value) == f"no usable {step} in 3 requests; the last problem: {step}: The reply is empty."
        assert sum(step_of(json.loads(chat))[0] == step for chat in server.asked) == 3


def test_a_map_that_is_never_solvable() -> None:
    with model_server(author({"map": [_map(*WALLED)] * 9})) as server:
        with pytest.raises(WaybenchError, match=r"no usable map in 2 requests; .*cannot be reached from row 1, column"):
            asyncio.run(_written(server.url, attempts=2))
        assert sum(server.asked.values()) == 3 + 2 * 2


def test_a_provider_that_fails_is_one_line() -> None:
    with (
        model_server(lambda messages, before: Answer(status=500)) as server,
        pytest.raises(WaybenchError, match=r"scripted/player: InternalServerError: .*scripted 500") as caught,
    ):
        asyncio.run(_written(server.url))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((2, 2, 3, ""), "no room for 3 objectives"),
        ((ROWS, COLUMNS, 3, "x" * 201), "the theme has 201 characters"),
    ],
)
def test_worlds_that_cannot_be(given: tuple[int, int, int, str], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        new_draft(*given)


def test_embedded_players_are_no_authors() -> None:
    model: Any = get_model("waybench/oracle", memoize=False)
    with pytest.raises(UsageError, match="waybench/oracle: embedded players cannot write worlds"):
        asyncio.run(write_world(model, new_draft(ROWS, COLUMNS, 3, ""), 5))


@pytest.mark.parametrize("level", range(1, 10))
def test_a_size_is_of_its_level(level: int) -> None:
    rows, columns = world_size(level)
    case = TileMap(("@" * columns,) * rows, (), "[]", "[]", (), 0)
    assert case.level == level and 1.4 < columns / rows < 1.8
    assert rows * columns < 1.1 * 70 * 2 ** (level - 1)


def test_authors_are_of_environments_that_exist() -> None:
    assert all(registry.load(name).id == name for name in AUTHORED)
    assert set(TILES["walkable"]) <= set(SIGNS.values())

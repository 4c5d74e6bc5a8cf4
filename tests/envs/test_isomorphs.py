"""Isomorphic instances: another appearance, the same difficulty."""

from statistics import fmean
from typing import Any

import pytest

import waybench
from waybench.core import Environment, IsomorphicSource, Item, play_to_end, policy
from waybench.envs import registry
from waybench.testing._suite import run_check

ENVIRONMENTS = [env for entry in registry.built_in if (env := registry.load(entry.id)).items.isomorph is not None]
# A walk's heuristic goes to the node of the least number, and a puzzle's tries the rods by their letters.
BY_LABELS = {"search/dfs", "search/cavedfs", "search/bfs", "search/cavebfs", "hanoi/rods"}


def pairs(env: Environment[Any, Any, Any], count: int, number: int = 1) -> list[tuple[Item[Any], Item[Any]]]:
    assert env.items.isomorph is not None
    source = env.source(level=env.items.sample_levels[1])
    isomorphic = IsomorphicSource(source, env.items.isomorph, env.items.prove, number)
    return list(zip(source.head(count), isomorphic.head(count), strict=True))


def score(env: Environment[Any, Any, Any], item: Item[Any], player: str, attempt: int = 1) -> float | None:
    record = play_to_end(env, item, policy(player), env.resolve_options({}), attempt=attempt).record()
    return env.scoring.metrics[0].of(record)


def test_the_published_benchmarks_have_isomorphic_items() -> None:
    assert {env.id for env in ENVIRONMENTS} == {
        "maze/alicia",
        "maze/explore",
        *(f"search/{name}" for name in ("guessnum", "coin", "dfs", "cavedfs", "bfs", "cavebfs")),
        *(f"textmap/{name}" for name in ("route", "destination", "extract")),
        *(f"tilemap/{name}" for name in ("gtb", "stepwise", "state")),
        "hanoi/rods",
        "atlas/world",
    }


@pytest.mark.parametrize("env", ENVIRONMENTS, ids=lambda env: env.id)
def test_oracle_and_heuristic_score_the_same(env: Environment[Any, Any, Any]) -> None:
    players = ["oracle"] if env.id in BY_LABELS else ["oracle", "heuristic"]
    for original, item in pairs(env, 4):
        assert original.instance.hash != item.instance.hash
        assert (original.id, original.level, original.index) == (item.id, item.level, item.index)
        assert original.proof.get("minimum") == item.proof.get("minimum")
        for player in players:
            assert score(env, original, player) == score(env, item, player)


@pytest.mark.parametrize("env_id", ["maze/alicia", "search/dfs", "search/guessnum", "hanoi/rods"])
def test_chance_does_as_well(env_id: str) -> None:
    env = waybench.load(env_id)
    rates = [
        [
            score_or_0(env, each[side], player, attempt)
            for each in pairs(env, 10)
            for player in ("random", "heuristic")
            for attempt in range(1, 9)
        ]
        for side in (0, 1)
    ]
    first, second = map(fmean, rates)
    error = sum(fmean((value - mean) ** 2 for value in side) for side, mean in zip(rates, (first, second), strict=True))
    assert abs(first - second) <= 4 * (error / len(rates[0])) ** 0.5 + 1e-9


def score_or_0(env: Environment[Any, Any, Any], item: Item[Any], player: str, attempt: int) -> float:
    return score(env, item, player, attempt) or 0.0


def test_rotations_of_a_maze() -> None:
    alicia = waybench.load("maze/alicia")
    maze = alicia.items.decode(["0X000", "01010", "01010", "01110", "00010"])
    assert alicia.items.isomorph is not None
    found = {tuple(alicia.items.isomorph(maze, "key", number).canonical().split()) for number in (1, 2, 3)}
    assert found == {
        ("01000", "01110", "01010", "01010", "000X0"),  # by 180 degrees
        ("00000", "0111X", "01000", "11110", "00000"),  # clockwise
        ("00000", "01111", "00010", "X1110", "00000"),  # counterclockwise
    }
    assert alicia.items.isomorph(maze, "key", 4) in {alicia.items.isomorph(maze, "key", number) for number in (1, 2, 3)}


def test_a_range_is_shifted_with_its_target() -> None:
    guessnum = waybench.load("search/guessnum")
    for original, item in pairs(guessnum, 5):
        case, isomorph = original.instance, item.instance
        shift = isomorph.low - case.low
        assert 1 <= shift <= case.high - case.low
        assert (isomorph.target - case.target, isomorph.high - case.high) == (shift, shift)
    # At the upper end of what can be read, the range moves down.
    assert guessnum.items.isomorph is not None
    top = guessnum.items.decode({"target": 2**62 - 1, "min": 2**62 - 1000, "max": 2**62})
    moved = guessnum.items.isomorph(top, "key", 1)
    assert moved.high < 2**62
    assert moved.high - moved.low == 1000


def test_a_graph_keeps_its_start_and_the_order_of_neighbours() -> None:
    for original, item in pairs(waybench.load("search/dfs"), 5):
        graph, other = original.instance.graph, item.instance.graph
        label = {0: 0}
        todo = [0]
        while todo:
            node = todo.pop()
            for mine, theirs in zip(graph.neighbours[node], other.neighbours[label[node]], strict=True):
                if mine not in label:
                    label[mine] = theirs
                    todo.append(mine)
                assert label[mine] == theirs
        assert sorted(label.values()) == list(range(graph.size))


MAP = {
    "map": {
        "name": "house",
        "places": ["hall", "great hall", "attic (1st floor)"],
        "actions": ["up", "east"],
        "edges": [
            ["hall", "great hall", "east", 1, 9999, 1, 9999],
            ["great hall", "attic (1st floor)", "up", 2, 9999, 2, 9999],
        ],
        "steps": [
            ["Init", "Hall\nA hallway, or a hall. The GREAT HALL is east."],
            ["east", "Great Hall\nUp is the attic."],
            ["up", "Attic\nDust."],
        ],
    },
    "src": "hall",
    "dst": "attic (1st floor)",
    "cutoff": 2,
}


def test_places_are_renamed_in_the_walkthrough_too() -> None:
    route = waybench.load("textmap/route")
    assert route.items.isomorph is not None
    question = route.items.decode(MAP)
    renamed = route.items.isomorph(question, "key", 1)
    new = dict(zip(question.map.places, renamed.map.places, strict=True))
    assert not set(new) & set(new.values())
    assert (renamed.source, renamed.target) == (new["hall"], new["attic (1st floor)"])
    assert renamed.target.endswith(" (1st floor)")
    hall, great, attic = new["hall"], new["great hall"], new["attic (1st floor)"].removesuffix(" (1st floor)")
    assert [step.observation for step in renamed.map.steps] == [
        f"{hall.title()}\nA hallway, or a {hall}. The {great.capitalize()} is east.",
        f"{great.title()}\nUp is the {attic}.",
        f"{attic.title()}\nDust.",
    ]
    assert [(edge.source, edge.action, edge.forward) for edge in renamed.map.edges] == [
        (hall, "east", 1),
        (great, "up", 2),
    ]
    # All questions about a map in a set have the same names, and another set has other ones.
    other = route.items.decode({**MAP, "src": "great hall"})
    assert route.items.isomorph(other, "key", 1).map.places == renamed.map.places
    assert route.items.isomorph(question, "key", 2).map.places != renamed.map.places


TILES = {
    "environment": "@ab\n#aa",
    "tile_mapping": {"Grass": "a", "Tower": "b"},
    "walkable_tiles": "['a', 'b']",
    "objectives": {"Reach the tower": ["b", 0, 2]},
}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_tile_map_is_mirrored_and_its_letters_are_exchanged(number: int) -> None:
    gtb = waybench.load("tilemap/gtb")
    assert gtb.items.isomorph is not None
    case = gtb.items.decode(TILES)
    found = gtb.items.isomorph(case, "key", number)
    letters = dict(zip("ab", (sign for _, sign in found.tiles), strict=True))
    assert set(letters.values()) != {"a", "b"}
    (objective,) = found.objectives
    assert found.rows[objective.row][objective.column] == letters["b"] == objective.tile
    assert found.walkable == f"['{letters['a']}', '{letters['b']}']"
    signs = str.maketrans(letters)
    mirrored = {("ba@", "aa#"), ("#aa", "@ab"), ("aa#", "ba@")}
    assert found.rows in {tuple(row.translate(signs) for row in rows) for rows in mirrored}
    assert gtb.items.prove(found)["minimum"] == gtb.items.prove(case)["minimum"] == 2


def test_letters_of_a_list_with_comments_stay() -> None:
    gtb = waybench.load("tilemap/gtb")
    assert gtb.items.isomorph is not None
    case = gtb.items.decode({**TILES, "walkable_tiles": "['a',  # grass\n 'b']"})
    found = gtb.items.isomorph(case, "key", 1)
    assert (found.walkable, found.tiles) == (case.walkable, case.tiles)
    assert found.rows != case.rows


def test_examples_are_isomorphic_too() -> None:
    dfs = waybench.load("search/dfs")
    assert dfs.items.isomorph is not None
    options = {"protocol": "sound", "icl": 2, "limit": 2, "source": "generated", "mode": "easy", "sets": 1}
    (dataset,) = [each for each in dfs.all_datasets if each.name == "generated"]
    given = {"key": None, "level": None, "shape": "random", "cycles": 0, **options}
    source = dataset.open(given, None)  # type: ignore[arg-type]
    original, item = source.item(0), IsomorphicSource(source, dfs.items.isomorph, dfs.items.prove, 1).item(0)
    assert len(item.examples) == 2
    assert all(one.hash != other.hash for one, other in zip(original.examples, item.examples, strict=True))


@pytest.mark.parametrize("env", ENVIRONMENTS, ids=lambda env: env.id)
def test_the_contract_at_the_easiest_level(env: Environment[Any, Any, Any]) -> None:
    run_check(env, "isomorphs")

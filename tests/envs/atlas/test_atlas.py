"""Atlas: worlds against a graph library, one rule of movement, the closure, exploring, what is read and told."""

import re
from collections.abc import Iterable
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

import networkx
import pytest

import waybench
from tests.gate._worlds import disagreements, graph_of, shape
from waybench.core import DataError, End, Episode, Invalid, Option, Reply, Stream, UsageError, play_to_end, policy
from waybench.envs.atlas._game import (
    CONDITIONS,
    Moves,
    Walk,
    WorldGame,
    crossed_passages,
    guess_rates_by_level,
    shortest_way_to_target,
    story_parts,
)
from waybench.envs.atlas._generate import LADDER, WorldSource, story_leak
from waybench.envs.atlas._wording import WorldWording, passages_text, read_moves, text_drawing
from waybench.envs.atlas._world import World, decode, plan_of, prove
from waybench.testing._suite import ENVIRONMENT_CHECKS, LEVEL_CHECKS, run_check

WORLD = waybench.load("atlas/world")
nx: Any = networkx

# A line of five places, a way around its middle, and a dead end:
#   a - b - c - d - e
#       |       |
#       f - g - h      (two more moves than b - c - d)
LINE = World(
    names=("Anvil", "Barn", "Cave", "Dome", "Estate", "Ferry", "Grove", "Harp"),
    cells=((0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (1, 1), (2, 1), (3, 1)),
    passages=(
        (0, 1, False),
        (1, 2, False),
        (3, 2, False),
        (3, 4, False),
        (1, 5, False),
        (5, 6, False),
        (6, 7, False),
        (7, 3, False),
    ),
    start=0,
    goal=4,
    story=(0, 1, 2, 3, 4, 3, 7, 6, 5, 1),
    exploration=20,
)


def walk(world: World, condition: str, moves: Iterable[str], start: Walk | None = None) -> Walk:
    game = WorldGame(CONDITIONS[condition])
    state = game.start(world) if start is None else start
    for move in moves:
        state = game.apply(state, (move,), Stream()).state
    return state


@pytest.mark.parametrize("level", [3, 6, 11])
def test_worlds_have_what_their_certificate_says(level: int) -> None:
    for index in range(6):
        assert disagreements(WorldSource("graphs", level, {"places": None}).instance(index), level) == []


def test_a_world_with_two_shortest_routes_is_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert disagreements(LINE, 3) == ["its length", "places"]
    shorter = replace(LINE, passages=(*LINE.passages, (6, 2, False)), story=(*LINE.story[:3], 6, 2, *LINE.story[3:]))
    assert disagreements(shorter, 4) == ["places"]
    proof = prove(shorter)
    for name, problem in (
        ("routes", "one shortest route"),
        ("known", "the way round"),
        ("detour", "the closure"),
        ("random_walk", "the random walk"),
    ):
        wrong = {**proof, name: proof[name] + 1}

        def prove_wrongly(world: World, wrong: dict[str, Any] = wrong) -> dict[str, Any]:
            return wrong

        monkeypatch.setattr("tests.gate._worlds.prove", prove_wrongly)
        assert problem in disagreements(shorter, 4)
    assert shape(shorter) != shape(LINE)
    assert shape(replace(LINE, names=LINE.names[::-1], cells=tuple((x + 2, y + 1) for x, y in LINE.cells))) == shape(
        LINE
    )


@pytest.mark.parametrize("level", [3, 6, 11])
def test_no_walk_to_the_goal_misses_the_closure(level: int) -> None:
    # Whatever passage from distance k to k - 1 is tried first, it is closed, and the goal can still be reached.
    for index in range(6):
        world = WorldSource("closures", level, {"places": None}).instance(index)
        graph, k = graph_of(world), prove(world)["closure"]
        to_goal = nx.single_target_shortest_path_length(graph, world.goal)
        distances = dict(to_goal)
        outside = graph.subgraph([place for place in graph if distances[place] >= k])
        reachable = nx.descendants(outside, world.start) | {world.start}
        for number, (source, target, one_way) in enumerate(world.passages):
            for here, there in ((source, target), (target, source))[: 1 if one_way else 2]:
                if here in reachable and (distances[here], distances[there]) == (k, k - 1):
                    assert nx.has_path(graph_of(world, number), here, world.goal)
        episode = play_to_end(
            WORLD, WORLD.source("closures", level).item(index), policy("oracle"), {"condition": "detour"}
        )
        moves = sum(turn.events["moves"] for turn in episode.turns)
        assert (episode.end_reason, moves) == (End.SOLVED, prove(episode.item.instance)["detour"])
        assert sum(turn.events["closed"] for turn in episode.turns) == 1


def test_luck_is_bounded_from_level_six() -> None:
    for index in range(8):
        item = WORLD.source("luck", 6).item(index)
        assert item.proof["random_walk"] <= 0.05
        assert play_to_end(WORLD, item, policy("heuristic"), {"condition": "act"}).end_reason is not End.SOLVED


def test_floors_are_those_of_random_walks() -> None:
    for condition in CONDITIONS.values():
        rates = list(guess_rates_by_level(condition).values())
        assert list(guess_rates_by_level(condition)) == list(LADDER)
        assert rates == sorted(rates, reverse=True), condition.name
        assert rates[0] < 0.5, condition.name
        assert max(rates[LADDER.index(6) :]) < 0.05, condition.name
    for level, count in ((3, 30), (6, 8)):
        exact = [WORLD.source("floor", level).item(index).proof["random_walk"] for index in range(count)]
        error = stdev(exact) / len(exact) ** 0.5
        assert abs(fmean(exact) - guess_rates_by_level(CONDITIONS["act"])[level]) < 4 * error, level


def test_horizons_take_the_floor_of_their_condition() -> None:
    difficulty = WORLD.difficulty
    assert difficulty.guess_rates_on("moves", {"condition": "explore"}) == guess_rates_by_level(CONDITIONS["explore"])
    assert difficulty.guess_rates_on("steps_left", {"condition": "explore"}) == {}


def test_the_walk_at_random_is_the_one_that_is_counted() -> None:
    # Of the line's two ways out of b, one leads on: the exact number against many walks.
    wins = sum(
        play_to_end(
            WORLD, replace(WORLD.item(LINE.to_json()), id=str(n)), policy("random"), {}, attempt=n + 1
        ).end_reason
        is End.SOLVED
        for n in range(400)
    )
    assert abs(wins / 400 - prove(LINE)["random_walk"]) < 0.1


def test_a_move_that_leads_nowhere_counts() -> None:
    state = walk(LINE, "act", ["north", "east", "north", "east", "east", "east"])
    assert (state.place, state.moves_left) == (LINE.goal, 2)
    route = WorldGame(CONDITIONS["plan"])
    start = route.start(LINE)
    for moves, end in (
        (("east",) * 4, End.SOLVED),
        (("north", *("east",) * 4), End.SOLVED),
        (("north",) * 5 + ("east",) * 4, End.FAILED),  # nine moves, and the budget is eight
        (("east",) * 3, End.FAILED),
    ):
        assert route.terminal(route.apply(start, moves, Stream()).state) is end
    # The same moves one by one end alike.
    assert walk(LINE, "blind", ("north",) * 5 + ("east",) * 3).moves_left == 0


def test_the_closure_is_met_where_it_is_tried() -> None:
    # k is the distance nearest to the middle, of 2 and 3 the smaller one: from c it is six moves by the way around.
    k, closed, detour = plan_of(LINE).find_closure() or (0, 0, 0)
    assert (k, set(LINE.passages[closed][:2]), detour) == (2, {2, 3}, 2 + 1 + 6)
    state = walk(LINE, "detour", ["east"] * 3)
    assert (state.place, state.closed, state.open_exits_of(2)) == (2, closed, ["west"])
    assert walk(LINE, "detour", ["west", "south", "east", "east", "north", "east"], state).place == LINE.goal
    assert walk(LINE, "detour", ["east"], state).place == 2


def test_exploring_is_there_back_and_there_again() -> None:
    game = WorldGame(CONDITIONS["explore"])
    state = walk(LINE, "explore", ["east", "south", "east", "east", "north", "east"])
    assert (state.targets_reached, state.target, state.moves_left) == (1, LINE.start, 2 * 6)  # over what was crossed
    state = walk(LINE, "explore", ["west"] * 4, state)
    assert (state.targets_reached, state.moves_left) == (2, 2 * 4)
    assert game.terminal(walk(LINE, "explore", ["east"] * 4, state)) is End.SOLVED
    assert game.terminal(walk(LINE, "explore", ["west"] * 8, state)) is End.FAILED
    record = play_to_end(WORLD, WORLD.item(LINE.to_json()), policy("oracle"), {"condition": "explore"}).record()
    values = WORLD.measure(record)
    assert (values["success"], values["found"], values["returned"], values["efficiency"]) == (1, 1, 1, 1)


def test_a_crossed_passage_is_known_both_ways() -> None:
    state = walk(LINE, "chart", ["east", "east", "west", "north"])
    assert list(crossed_passages(state.plan, state.trail)) == [0, 1]
    text = WorldWording(CONDITIONS["chart"]).observe(state, None, 4)
    assert text.splitlines()[-2:] == ["Anvil: east to Barn", "Barn: east to Cave"]


def test_the_list_the_drawing_and_the_story_tell_the_same() -> None:
    world = replace(LINE, passages=((0, 1, False), (1, 2, True), *LINE.passages[2:]))
    assert passages_text(world, "list").splitlines()[:3] == [
        "Anvil: east to Barn",
        "Barn: east to Cave (one-way)",
        "Dome: west to Cave",
    ]
    lines = text_drawing(world).splitlines()
    assert re.sub("-+", "-", lines[0]).strip() == "Anvil-Barn->Cave-Dome-Estate"
    assert lines[1].split() == ["|", "|"]
    assert re.sub("-+", "-", lines[2]).strip() == "Ferry-Grove-Harp"
    story = "I was at Anvil. I went east to Barn. I went east to Cave (one-way)."
    assert passages_text(world, "story").startswith(story)
    south = replace(LINE, passages=(*LINE.passages[:4], (1, 5, True), *LINE.passages[5:]))
    assert text_drawing(south).splitlines()[1].split() == ["v", "|"]


def test_a_story_in_parts_ends_with_the_question() -> None:
    item = WORLD.source("parts", 6).item(0)
    episode = play_to_end(WORLD, item, policy("oracle"), {"condition": "recall"})
    parts = story_parts(item.instance)
    assert len(episode.turns) == len(parts) + 1
    assert episode.end_reason is End.SOLVED
    told = [text for turn in episode.turns[:-1] for text in [turn.message]]
    assert all("want to go to" not in text for text in told[:-1])
    assert "want to go to" in told[-1]
    assert [parts[n][-1] == parts[n + 1][0] for n in range(len(parts) - 1)] == [True] * (len(parts) - 1)


def test_the_story_goes_on_whatever_is_replied() -> None:
    episode: Any = Episode(WORLD, WORLD.source("parts", 6).item(0), {"condition": "recall"})
    for stop in ("truncated", "refused", "overflow", "stop"):
        assert "Part" in episode.messages[-1].text
        episode.step(Reply("north", stop))
    while episode.state.is_reading_story:
        episode.step("I remember")
    route = ", ".join(shortest_way_to_target(episode.state))
    assert "want to go to" in episode.messages[-1].text
    episode.step(route)
    assert episode.end_reason is End.SOLVED


@pytest.mark.parametrize(
    ("line", "moves"),
    [
        ("north, east", ("north", "east")),
        ('["North","EAST"]', ("north", "east")),
        ("n e s -> w", ("north", "east", "south", "west")),
        ("**north** then east", None),
        ("2 north", None),
        ("", None),
    ],
)
def test_moves_are_read(line: str, moves: Moves | None) -> None:
    read = read_moves(line)
    assert isinstance(read, Invalid) if moves is None else read == moves


def test_replies_may_reason_first() -> None:
    state = WorldGame(CONDITIONS["act"]).start(LINE)
    wording = WorldWording(CONDITIONS["act"])
    for reply in ("north", "I think east leads away.\nAnswer: north", "Going\n\nI go north.", "N"):
        assert wording.parse(reply, state) == ("north",), reply
    for reply in ("north, north", "north or east", "", "up"):
        assert isinstance(wording.parse(reply, state), Invalid), reply


def test_other_data_is_no_world() -> None:
    good = LINE.to_json()
    assert decode(good) == LINE
    for changes in (
        {"start": 4},
        {"goal": 99},
        {"names": ["North", *good["names"][1:]]},
        {"cells": [[0, 0], *good["cells"][:-1]]},
        {"passages": good["passages"][:-1]},  # no way around the closure
        {"story": good["story"][:-4]},
        {"story": [0, 2, *good["story"]]},
        {"exploration": 1},
    ):
        with pytest.raises(DataError):
            decode({**good, **changes})


def test_pictures_need_something_to_draw() -> None:
    WORLD.play_with(WORLD.resolve_options({"wording": "image", "condition": "map"}))
    with pytest.raises(UsageError, match="nothing to draw"):
        WORLD.play_with(WORLD.resolve_options({"wording": "image", "condition": "read"}))


def test_stories_do_not_tell_the_route() -> None:
    worlds = [WorldSource("leaks", 8, {"places": None}).instance(index) for index in range(10)]
    leaks = [story_leak(plan_of(world), world.story) for world in worlds]
    assert sum(copied <= 16 for copied, _, _ in leaks) <= 1
    assert sum(trimmed <= 16 for _, trimmed, _ in leaks) <= 3
    assert sum(run for _, _, run in leaks) <= 10 * 0.6 * 8


def test_the_oracle_needs_the_shortest_way() -> None:
    for condition in CONDITIONS:
        item = WORLD.source("best", 4).item(0)
        record = play_to_end(WORLD, item, policy("oracle"), {"condition": condition}).record()
        assert WORLD.measure(record)["efficiency"] == 1, condition
    assert shortest_way_to_target(WorldGame(CONDITIONS["act"]).start(LINE)) == ["east"] * 4


def with_condition(name: str) -> Any:
    images = WORLD.playing.images if CONDITIONS[name].description in ("list", "drawing") else None

    def changed(option: Option) -> Option:
        if option.name == "condition":
            return replace(option, default=name)
        return option if images is not None else replace(option, image_choices=())

    playing = replace(WORLD.playing, options=tuple(map(changed, WORLD.playing.options)), images=images)
    # Not every question can be asked in every condition.
    return replace(WORLD, probes=(), playing=playing)


CHECKS = ("start", "apply", "round trip", "tools", "replay", "prefix", "action turns", "metrics")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_contract_holds_in_each_condition(condition: str) -> None:
    environment = with_condition(condition)
    for name in CHECKS:
        run_check(environment, name, 3)


@pytest.mark.slow
@pytest.mark.parametrize("condition", [name for name in CONDITIONS if name != "act"])
def test_the_whole_contract_holds_in_each_condition(condition: str) -> None:
    environment = with_condition(condition)
    for name in ENVIRONMENT_CHECKS:
        run_check(environment, name)
    for name in LEVEL_CHECKS:
        run_check(environment, name, 3)


@pytest.mark.slow
@pytest.mark.parametrize("level", LADDER)
def test_no_world_comes_twice(level: int) -> None:
    worlds = [
        WorldSource("twice", level, {"places": None}).instance(index) for index in range(200 if level < 14 else 20)
    ]
    assert len({world.hash for world in worlds}) == len(worlds)
    if level >= 6:  # up to a shift, which cells begin at 0 anyway
        assert len({(world.cells, world.passages) for world in worlds}) == len(worlds)


# Player -> the contrast (the first condition's success less the second's) in which its deficit shows.
DEFICITS = {
    "misreads-drawing": ("plan", "map"),
    "misreads-story": ("plan", "read"),
    "forgets": ("read", "recall"),
    "lost-blind": ("act", "blind"),
    "never-replans": ("act", "detour"),
    "random-frontier": ("act", "explore"),
}


@pytest.mark.slow
def test_each_deficit_shows_where_it_belongs() -> None:
    items = [WORLD.source("deficits", level).item(index) for level in (6, 8, 11, 14) for index in range(8)]

    def success(player: str, condition: str) -> float:
        episodes = [play_to_end(WORLD, item, policy(player), {"condition": condition}) for item in items]
        return sum(episode.end_reason is End.SOLVED for episode in episodes) / len(items)

    def costs(player: str) -> dict[str, float]:
        conditions = {condition for pair in DEFICITS.values() for condition in pair}
        values = {condition: success(player, condition) for condition in sorted(conditions)}
        return {name: values[base] - values[demanding] for name, (base, demanding) in DEFICITS.items()}

    able = costs("able")
    for player in DEFICITS:
        beyond = {name: cost - able[name] for name, cost in costs(player).items()}
        assert max(beyond, key=beyond.__getitem__) == player or (
            # Exploring is remembering, too; `chart` tells the two apart.
            player == "forgets" and beyond["random-frontier"] > 0.3 and beyond["forgets"] > 0.3
        ), (player, beyond)
        assert beyond[player] >= 0.15, (player, beyond)

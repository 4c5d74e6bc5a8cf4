"""The scripted players, and what their games are measured by."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.envs.messenger.games import EAST, ENV, KINDS, NORTH, STAY, First, at, case, played, value
from waybench.core import EpisodeRecord, Stream, play_to_end, policy
from waybench.envs.messenger._environment import EXPECTED
from waybench.envs.messenger._game import PLAYERS, _cached_board, _collision_chance, _collision_risk, _location_sets
from waybench.envs.messenger._world import MessengerWorld, advance_world, collide, move_actors, start_world

EPISODES = 20_000


def games(name: str, stage: int, count: int) -> Iterator[MessengerWorld]:
    """Yield how games end that a player plays, without words and records."""
    source, choose = ENV.source("simulated", stage), PLAYERS[name]
    for number in range(count):
        world = start_world(source.item(number).instance)
        rng = Stream("simulated", name, stage, number)
        for _ in range(world.case.steps):
            world = advance_world(world, choose(world.case, world, rng), rng)
            if world.fate:
                break
        yield world


def choice(name: str, world: MessengerWorld) -> int:
    return PLAYERS[name](world.case, world, Stream("test"))


# Players


def test_oracle_goes_around_what_the_heuristic_runs_into() -> None:
    world = at(start_world(case()), (10, 10), message=(16, 10), enemy=(12, 10))
    assert (choice("heuristic", world), choice("oracle", world)) == (EAST, NORTH)


def test_oracle_does_not_step_onto_the_goal_too_early() -> None:
    world = at(start_world(case()), (10, 10), message=(14, 10), goal=(12, 10))
    assert choice("oracle", world) != EAST
    assert choice("oracle", world._replace(carries=True)) == EAST


def test_oracle_takes_the_message_that_decoys_look_like() -> None:
    world = at(start_world(case(stage=3)), (10, 10), message=(12, 10), decoy_message=(8, 10))
    assert choice("oracle", world) == EAST


def test_where_nothing_is_safe_the_oracle_takes_what_is_most_probably_survived() -> None:
    world = at(start_world(case("chaser", "immovable", "immovable")), (0, 0), enemy=(2, 1))
    # The enemy goes to (2, 0) or to (1, 1). East meets it for certain, the other actions in one case of two.
    risks = [_collision_risk(world, action) for action in range(5)]
    assert risks == [0.5, 0.5, 0.5, 1.0, 0.5]
    assert choice("oracle", world) != EAST
    assert choice("heuristic", world) == EAST  # there is the message


def test_noop_does_nothing() -> None:
    assert choice("noop", start_world(case())) == STAY


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [8, 10])
def test_sets_of_places_are_what_movers_can_do(kind: str, size: int) -> None:
    board, rng = _cached_board(size), Stream("sets", kind, size)
    for number in range(300):
        place, agent = ((rng.below(2 * size - 1), rng.below(2 * size - 1)) for _ in range(2))
        if number % 3 == 0:
            agent = (place[0], agent[1])
        world = at(start_world(case(kind, "immovable", "immovable", cells=((0, 0), (7, 0), (0, 7)), size=size)), agent)
        world = world._replace(places=(place, *world.places[1:]))
        reached = {move_actors(world.case, agent, world.places, Stream("sets", number, draw))[0] for draw in range(40)}
        found = board.spread_movers(_location_sets(world, [0]), agent)
        bits = found[0] | found[1] | found[2]
        assert {where for where in reached if where} == {
            (x, y) for x in range(2 * size - 1) for y in range(2 * size - 1) if bits & board.location_bit((x, y))
        }
        near = board.colliding_locations(agent)
        assert bool(near & board.location_bit(place)) == collide(place, agent)


def test_risk_is_the_share_of_choices_that_meet() -> None:
    world = at(start_world(case("chaser", "immovable", "immovable")), (10, 10), enemy=(12, 12))
    assert _collision_chance(world, (12, 12), "chaser", (10, 10)) == 0.0
    # Up leaves it beside the agent, west brings it onto the agent.
    assert _collision_chance(world, (12, 11), "chaser", (10, 10)) == 0.5
    assert _collision_chance(world, (12, 12), "immovable", (12, 12)) == 1.0


def test_plans_do_not_draw() -> None:
    """The oracle knows what others do no better than anybody: its choice is the same whatever chance brings."""
    source = ENV.source("plans", 3)
    for number in range(20):
        world = start_world(source.item(number).instance)
        chance = First()
        assert PLAYERS["oracle"](world.case, world, chance) == choice("oracle", world)  # type: ignore[arg-type]
        assert not chance.asked


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_oracle_wins(stage: int) -> None:
    won = [world.fate == "won" for world in games("oracle", stage, 100)]
    assert sum(won) >= (100 if stage < 3 else 97)


@pytest.mark.parametrize("stage", [2, 3])
def test_oracle_wins_on_other_boards(stage: int) -> None:
    options = {"decoys": 4} if stage == 3 else {}
    won = 0
    for item in ENV.source("other", stage, size=14, cast="both", **options).head(20):
        won += play_to_end(ENV, item, policy("oracle"), {"wording": "one_question"}).end_reason == "solved"
    assert won >= 18


# Against what is published


@pytest.mark.slow
@pytest.mark.parametrize("stage", [1, 2, 3])
def test_random_player_does_as_published(stage: int, golden_dir: Callable[..., Path]) -> None:
    """Completion, score and length agree within four standard errors of both samples; so does what we scale with."""
    data = json.loads(golden_dir("smartplay", "messenger.json").read_text(encoding="utf-8"))
    published = data["random_policy_statistics"][f"L{stage}"]
    ended = list(games("random", stage, EPISODES))
    scores = [world.reward for world in ended]
    mean = math.fsum(scores) / EPISODES
    spread = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / EPISODES)
    error = spread * math.sqrt(1 / EPISODES + 1 / published["episodes"])
    assert abs(mean - published["mean_final_score"]) < 4 * error
    completion = sum(world.fate == "won" for world in ended) / EPISODES
    error = math.sqrt(completion * (1 - completion) * (1 / EPISODES + 1 / published["episodes"]))
    assert abs(completion - published["completion"]) < 4 * error
    assert abs(mean - EXPECTED[stage][0]) < 4 * spread / math.sqrt(EPISODES) + 0.002


@pytest.mark.slow
@pytest.mark.parametrize("stage", [1, 2, 3])
def test_oracle_does_as_we_scale_with(stage: int) -> None:
    scores = [world.reward for world in games("oracle", stage, 2000)]
    assert abs(math.fsum(scores) / 2000 - EXPECTED[stage][1]) < 0.008  # four standard errors of stage 3


# Metrics


def metrics(record: EpisodeRecord) -> dict[str, float | None]:
    return {metric.name: metric.of(record) for metric in ENV.scoring.metrics}


def test_a_delivery() -> None:
    # The message is east of the agent, and the goal behind it.
    game = case(cells=((0, 0), (6, 5), (7, 5)))
    found = metrics(played(game, "Move East", "Move East"))
    assert (found["score"], found["reward"], found["completed"]) == (1.0, 1.5, 1.0)
    assert (found["got_message"], found["human"]) == (1.0, 1.0)
    assert found["scaled"] == pytest.approx(1.0)
    assert (found["met_enemy"], found["met_decoy"], found["met_goal"], found["met_message"]) == (0.0, None, 0.0, None)


@pytest.mark.parametrize(
    ("stage", "role", "carries", "death", "score"),
    [
        (1, 0, False, "met_enemy", -1.0),
        (1, 1, True, "met_message", -1.0),
        (1, 2, False, "met_goal", -1.0),
        (2, 0, False, "met_enemy", -1.0),
        (2, 2, False, "met_goal", -1.0),
        (3, 3, False, "met_decoy", -1.0),
    ],
)
def test_causes_of_death(stage: int, role: int, carries: bool, death: str, score: float) -> None:
    cells = [(0, 0), (9, 0), (0, 9), (9, 9), (0, 5)]
    cells[role] = (6, 5)
    found = metrics(played(case(stage=stage, cells=cells, carries=carries), "Move East"))
    assert (found["score"], found["completed"]) == (score, 0.0)
    deaths = {name: found[name] for name in ("met_enemy", "met_decoy", "met_goal", "met_message")}
    assert {name for name, count in deaths.items() if count} == {death}
    assert found["human"] == (None if stage == 3 else 0.0)


def test_score_is_the_last_steps_reward() -> None:
    game = case(cells=((0, 0), (6, 5), (9, 9)))
    took = played(game, "Move East", steps=1)
    assert (value(took, "score"), value(took, "reward"), value(took, "got_message")) == (0.5, 0.5, 1.0)
    went_on = played(game, "Move East", "Do Nothing", steps=2)
    assert (value(went_on, "score"), value(went_on, "reward")) == (0.0, 0.5)


@pytest.mark.parametrize("wording", ["one_question", "two_questions"])
def test_falling_silent_with_the_message_is_worth_nothing(wording: str) -> None:
    game = case(cells=((0, 0), (6, 5), (9, 9)))
    thought = ["..."] if wording == "two_questions" else []
    lost = played(game, *thought, "Move East", *thought, "north or so", steps=2, protocol="sound", wording=wording)
    assert lost.end == "turn_limit"
    assert (value(lost, "score"), value(lost, "human"), value(lost, "reward")) == (0.0, None, 0.5)
    every = played(game, *thought, "Move East", *[*thought, "?"] * 63, protocol="sound", wording=wording)
    assert (value(every, "score"), value(every, "human"), value(every, "played")) == (0.0, 0.5, 1.0)


def test_got_message_in_stage_1() -> None:
    cells = ((5, 3), (6, 5), (5, 7))
    assert value(played(case(stage=1, cells=cells), "Move East"), "got_message") == 1.0
    assert value(played(case(stage=1, cells=cells), "Do Nothing"), "got_message") == 0.0
    assert value(played(case(stage=1, cells=cells, carries=True), "Move East"), "got_message") is None


def test_scales_are_for_the_published_board_alone() -> None:
    for options in ({"size": 12}, {"decoys": 3}):
        item = ENV.source("test", 3, **options).item(0)
        assert value(played(item, "Do Nothing"), "scaled") is None
    item = ENV.source("test", 2).item(0)
    assert value(played(item, "Do Nothing", steps=5), "scaled") is None
    assert value(played(item, "Do Nothing", steps=64), "scaled") is not None
    assert value(played(ENV.source("test", 2, size=12).item(0), "Do Nothing"), "human") is None

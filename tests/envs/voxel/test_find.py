"""The search as a game: items, steps, words and scores."""

import re
from collections.abc import Mapping
from math import hypot
from typing import Any

import pytest

from waybench.core import DataError, End, Episode, Json, Outcome, Stream, UsageError, play_to_end, policy, replay
from waybench.envs.voxel import FIND
from waybench.envs.voxel._game import LEVELS, FindRules, Search, VoxelWorld, decode, level_distances
from waybench.envs.voxel._wording import ACTIONS
from waybench.envs.voxel.engines._engines import open_terrain
from waybench.envs.voxel.engines._terrain import ENGINES, GOALS

PAPER, SOUND = FindRules(published=True), FindRules(published=False)
SHORT: Mapping[str, Json] = {"wording": "one_question"}


def measured(episode: Any) -> dict[str, Any]:
    record = episode.record()
    return {metric.name: metric.of(record) for metric in FIND.scoring.metrics}


@pytest.mark.slow
@pytest.mark.parametrize("level", range(1, LEVELS + 1))
def test_items_are_as_far_from_a_goal_as_their_level_says(level: int) -> None:
    low, high = level_distances(level)
    for item in FIND.source("far", level).head(6):
        search = item.instance
        world = open_terrain(search.engine, search.seed)
        assert low <= item.proof["distance"] < high
        assert hypot(item.proof["x"] - search.x, item.proof["z"] - search.z) == pytest.approx(item.proof["distance"])
        assert world.biome(item.proof["x"], item.proof["z"]) in search.goals
        assert world.nearest(search.x, search.z, search.goals, int(low) - 1) is None
        assert FIND.items.level_of(search) == level
        start = PAPER.begin(search)
        assert world.block(search.x, int(start.body.y) - 1, search.z) not in ("air", "water")
        assert world.block(search.x, int(start.body.y), search.z) != "water"


@pytest.mark.parametrize("goal", GOALS)
def test_goals_that_are_chosen(goal: str) -> None:
    for item in FIND.source("chosen", 1, goal=goal).head(2):
        assert item.instance.goal == goal
        assert f"find a {goal} biome" in PAPER.manual(item.instance)
        assert f"find {'an' if goal in ('ocean', 'ice spikes') else 'a'} {goal} biome" in SOUND.manual(item.instance)


def test_any_goal_is_one_of_those_published() -> None:
    assert {item.instance.goal for item in FIND.source("any", 1).head(60)} == set(GOALS)


def test_levels_that_do_not_exist() -> None:
    for level in (0, LEVELS + 1):
        with pytest.raises(UsageError, match="give a level of distance from 1 to 5"):
            FIND.source("key", level)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"engine": "minecraft"}, "the engine is one of"),
        ({"seed": "-1"}, "the seed is a whole number"),
        ({"seed": "٣"}, "the seed is a whole number"),
        ({"seed": "007"}, "without leading zeros"),
        ({"seed": str(1 << 62)}, "the seed is a whole number"),
        ({"seed": 7}, "are texts"),
        ({"goal": "moon"}, "the goal is one of"),
        ({"x": 10**7}, "x and z"),
        ({"x": True}, "x and z"),
        ({"yaw": 180}, "yaw"),
        ({"z": 1.5}, "whole numbers"),
        ({"more": 1}, "unknown field"),
    ],
)
def test_what_is_no_search(change: dict[str, Any], message: str) -> None:
    good = FIND.source("bad", 1).item(0).instance.to_json()
    assert decode(good).to_json() == good
    with pytest.raises(DataError, match=message):
        decode({**good, **change})


def test_a_step_turns_and_walks() -> None:
    item = FIND.source("steps", 5).item(0)
    for action, (east, south) in enumerate(((0, -1), (1, 0), (0, 1), (-1, 0))):
        far: list[float] = []
        for attempt in range(12):
            world = PAPER.begin(item.instance)
            before, rng = world.body, Stream("steps", action, attempt)
            after = PAPER.step(world, action, rng).world
            short = (action * 90 - 180 - after.body.yaw) % 360
            assert 0 <= short < 15  # of the direction
            assert (after.body.yaw - before.yaw) % 15 == 0
            far.append((after.body.x - before.x) * east + (after.body.z - before.z) * south)
            assert PAPER.step(world, action, Stream("steps", action, attempt)).world == after
        assert max(far) < 50 * 0.2806


@pytest.mark.slow
def test_who_walks_against_a_wall_does_not_get_on() -> None:
    """Somewhere in a long random walk a step leads nowhere, and is told as unproductive."""
    outcomes: set[Outcome] = set()
    for item in FIND.source("stuck", 5).head(6):
        world, rng = PAPER.begin(item.instance), Stream("stuck", item.index)
        for _ in range(150):
            step = PAPER.step(world, 1, rng)
            assert (step.outcome is Outcome.UNPRODUCTIVE) == (step.world.moved < 1 and not step.world.is_found)
            outcomes.add(step.outcome)
            world = step.world
            if world.is_found:
                break
    assert outcomes == {Outcome.OK, Outcome.UNPRODUCTIVE}


def test_a_goal_at_the_start_counts_after_a_step() -> None:
    near = FIND.source("inside", 1).item(0)
    search = near.instance
    inside = Search(search.engine, search.seed, search.goal, near.proof["x"], near.proof["z"], 0)
    world = PAPER.begin(inside)
    assert (PAPER.ending(world), PAPER.score(world)) == (None, 0)
    after = PAPER.step(world, 2, Stream("inside")).world
    assert (PAPER.ending(after), PAPER.score(after)) == (End.SOLVED, 1)
    assert "You have found what you were looking for" in SOUND.observe(after)
    assert "found" not in PAPER.observe(after)


def seen(text: str) -> list[str]:
    return re.findall(r"to ([a-z-]+), taking", text)


def test_the_compass_is_reversed_in_paper_alone() -> None:
    """Who looks south sees what is in the south."""
    for index in range(8):
        search = FIND.source("compass", 3).item(index).instance
        world = PAPER.begin(search)
        south = world._replace(body=world.body._replace(yaw=0))
        assert "Facing south." in PAPER.observe(south)
        published, right = seen(PAPER.observe(south)), seen(SOUND.observe(south))
        assert not any("south" in way for way in published)
        assert not any("north" in way for way in right)
        assert any("south" in way for way in right)


def test_sound_tells_of_the_actual_angle() -> None:
    """On open ground the farthest row below looks down by 48 degrees, and so still ahead."""
    search = FIND.source("angle", 3).item(0).instance
    lines = SOUND.observe(PAPER.begin(search)).split("You see:\n")[1]
    assert "to front, taking" not in lines


def test_scores_of_a_walk_to_the_goal() -> None:
    for item in FIND.source("scores", 2).head(3):
        episode: Any = play_to_end(FIND, item, policy("oracle"), SHORT)
        found = measured(episode)
        walked = sum(turn.events["walked"] for turn in episode.turns)
        assert (found["score"], found["completed"], found["progress"], found["distance_left"]) == (1, 1, 1, 0)
        assert found["found_after"] == len(episode.turns)
        assert found["spl"] == pytest.approx(item.proof["distance"] / walked)
        assert found["human"] is None
        record = episode.record()
        assert replay(FIND, record).record() == record


def test_scores_of_who_says_nothing() -> None:
    item = FIND.source("silent", 3).item(0)
    episode: Episode[Any, Any, Any] = play_to_end(
        FIND, item, policy("null"), {**SHORT, "protocol": "sound", "steps": 5}
    )
    found = measured(episode)
    assert (found["score"], found["progress"], found["spl"], found["found_after"]) == (0, 0, 0, None)
    assert found["distance_left"] == pytest.approx(item.proof["distance"])


@pytest.mark.slow
def test_the_oracle_arrives_and_chance_mostly_does_not() -> None:
    items = FIND.source("players", 4).head(6)
    oracle = [measured(play_to_end(FIND, item, policy("oracle"), SHORT))["score"] for item in items]
    random = [measured(play_to_end(FIND, item, policy("random"), SHORT))["score"] for item in items]
    assert sum(oracle) == 6
    assert sum(random) <= 2


def test_the_heuristic_keeps_its_heading_while_it_gets_on() -> None:
    heuristic = FIND.players.policies["heuristic"]
    item = FIND.source("heading", 3).item(0)
    game = FIND.playing.play(FIND.resolve_options(SHORT)).game
    state: Any = game.start(item.instance)
    for last in range(len(ACTIONS)):
        for moved, kept in ((9.0, True), (2.0, False)):
            world: VoxelWorld = state.world._replace(last=last, moved=moved)
            choice = heuristic(state._replace(world=world), Stream("heading", last))
            assert (choice.action == last) == kept


def test_goals_are_biomes() -> None:
    assert all(ENGINES["own"].matching_biomes(goal) for goal in GOALS)

"""The maze's own players."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.maze.mazes import ALICIA, CORRIDOR, MAZE_501, metrics
from waybench.core import End, Episode, Stream, play_to_end, policy
from waybench.core._policies import NoisyPolicy, ScriptedPolicy
from waybench.envs.maze._environment import known_horizon
from waybench.envs.maze._game import MazeGame, Movement, noisy_success, start


def mean_score(player: str, size: int) -> float:
    items = ALICIA.source("players", size).head(10)
    return fmean(metrics(play_to_end(ALICIA, item, policy(player)))["score"] or 0.0 for item in items)


@pytest.mark.parametrize("size", [5, 9, 21])
def test_order_of_players(size: int) -> None:
    score = {player: mean_score(player, size) for player in ("null", "random", "heuristic", "oracle", "noisy-0.1")}
    assert score["null"] == 0
    assert score["oracle"] == 100
    assert all(0 <= score[player] < 100 for player in ("random", "heuristic", "noisy-0.1"))
    assert score["heuristic"] > 0


@given(st.sampled_from([5, 7, 9, 21]), st.integers(0, 50), st.floats(0, 1), st.sampled_from(["any", "left-top"]))
def test_the_wall_follower_always_arrives(size: int, index: int, loops: float, sides: str) -> None:
    episode = play_to_end(ALICIA, ALICIA.source("w", size, loops=loops, sides=sides).item(index), policy("heuristic"))
    assert episode.end_reason is End.SOLVED
    assert len(episode.turns) == 1


def test_the_wall_follower_looks_into_dead_ends() -> None:
    mirrored = ALICIA.item({"maze": CORRIDOR.instance.to_json()["maze"][::-1]})
    steps = [metrics(play_to_end(ALICIA, item, policy("heuristic")))["steps"] for item in (CORRIDOR, mirrored)]
    assert steps == [
        6,
        6 + 4,
    ]  # it keeps the right hand on the wall, and the dead end is on the left, then on the right


def walked(plan: Sequence[Movement]) -> list[str]:
    return [direction for direction, cells in plan for _ in range(cells)]


def test_the_random_player_walks_legally_and_turns_back_in_dead_ends_only() -> None:
    back = {"up": "down", "down": "up", "left": "right", "right": "left"}
    for attempt in range(1, 30):
        episode = Episode(ALICIA, ALICIA.source("r", 9).item(0), attempt=attempt)
        turn = episode.step(policy("random").reply(episode))
        assert turn.outcome != "illegal"
        path = walked(episode.play.game.decode(turn.action))
        assert len(path) <= 4 * 9
        at = episode.item.instance.entrance
        lattice = episode.item.instance.lattice
        for way, following in pairwise(path):
            at = lattice.neighbour_cell(at, way)
            if following == back[way]:
                assert [name for name, _ in lattice.exits(at)] == [following]


def test_noise_of_nothing_and_of_everything() -> None:
    state = start(MAZE_501.instance)
    plan = (Movement("down", 3), Movement("left", 2), Movement("down", 1))
    game = MazeGame(3)
    assert game.perturb(state, plan, 0.0, Stream("n")) == plan
    spoilt = {game.perturb(state, plan, 1.0, Stream("n", number)) for number in range(50)}
    assert len(spoilt) > 5
    assert all(len(walked(each)) == 6 for each in spoilt)
    assert game.perturb(state, (), 1.0, Stream("n")) == ()


def test_more_noise_scores_less() -> None:
    items = ALICIA.source("noise", 11).head(10)
    means = [
        fmean(
            metrics(play_to_end(ALICIA, item, NoisyPolicy(ScriptedPolicy("oracle"), rate), attempt=attempt))["score"]
            or 0
            for item in items
            for attempt in (1, 2, 3)
        )
        for rate in (0.0, 0.02, 0.1, 0.5)
    ]
    assert means[0] == 100
    assert means == sorted(means, reverse=True)
    assert len(set(means)) == 4


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.2])
@pytest.mark.parametrize("size", [9, 21])
def test_how_often_an_oracle_that_errs_succeeds_at_once(rate: float, size: int) -> None:
    items = ALICIA.source("noise", size).head(500)
    known = fmean(noisy_success(item.instance, rate) for item in items)
    ends = [play_to_end(ALICIA, item, policy(f"noisy-{rate}"), {"requests": 1}).end_reason for item in items]
    error = (known * (1 - known) / len(items)) ** 0.5
    assert sum(end is End.SOLVED for end in ends) / len(items) == pytest.approx(known, abs=3 * error)
    assert noisy_success(items[0].instance, 0.0) == 1


def test_the_known_horizon_lies_where_success_falls_below_a_half() -> None:
    share = {
        size: fmean(noisy_success(item.instance, 0.1) for item in ALICIA.source(level=size).head(20))
        for size in (9, 11)
    }
    assert share[9] > 0.5 > share[11]
    assert 9 < known_horizon(0.1, (5, 7, 9, 11, 13), mazes=20) < 11
    with pytest.raises(ValueError, match="too small a rate"):
        known_horizon(0.001, (5, 7), mazes=5)

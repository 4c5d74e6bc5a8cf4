"""Scores between floor and ceiling of the same items."""

from collections.abc import Sequence
from typing import Any
from unittest.mock import ANY

import pytest

import waybench
from tests.analysis.episodes import detour, failed, item, logged, played
from waybench.core import Episode, play_out, policy
from waybench.envs.search._number import GuessGame
from waybench.results import Estimate, LoggedEpisode, overall, rows
from waybench.results.estimates._estimates import estimate
from waybench.results.results import exclude
from waybench.results.results._anchors import Anchoring
from waybench.results.results._measured_row import row
from waybench.results.results._rows import ReferenceBounds
from waybench.testing._suite import run_check


def anchored(episodes: list[LoggedEpisode]) -> Estimate:
    known = Anchoring()
    (found,) = overall(exclude(row(each, anchors=known.of(each.record)) for each in episodes))
    return found


def at(env_id: str, player: str, level: int, count: int = 6) -> list[LoggedEpisode]:
    env = waybench.load(env_id)
    return [
        LoggedEpisode(model="m", task="t", record=play_out(env, one, policy(player)).record(), log="")
        for one in env.source(level=level).head(count)
    ]


def test_the_oracle_is_1_and_nobody_0_at_mazes_where_no_move_is_always_right() -> None:
    for player, wanted in (("oracle", 1.0), ("null", 0.0)):
        found = anchored(played(player, (11,))).rescaled
        assert found is not None
        assert (found.floor, found.ceiling, found.constant) == (0.0, 100.0, "")
        assert found.mean.value == wanted


def test_a_constant_reply_that_solves_some_mazes_is_the_floor() -> None:
    # Level 5 has mazes whose exit is one straight move away; saying so always solves these.
    env = waybench.load("maze/alicia")
    some = env.source(level=5).head(10)
    straight = '{"movements": [{"direction": "down", "cells": 4}]}'
    solved = 0
    for one in some:
        episode = Episode(env, one)
        episode.step(straight)
        solved += episode.record().end == "solved"
    found = anchored([logged(play_out(env, one, policy("oracle")).record()) for one in some]).rescaled
    assert found is not None
    assert found.floor >= 100 * solved / len(some)
    assert found.mean.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("env_id", "level", "options", "known"),
    [
        ("hanoi/rods", 4, {"steps": 15}, True),  # 2^4 - 1: just enough
        ("hanoi/rods", 4, {"steps": 14}, False),
        ("search/dfs", 8, {"max_steps": 14}, True),
        ("search/dfs", 8, {"max_steps": 4}, False),
        ("search/guessnum", 6, {"max_steps": 1}, False),
    ],
)
def test_an_oracle_that_runs_out_of_steps_is_no_ceiling(
    env_id: str, level: int, options: dict[str, Any], known: bool
) -> None:
    """After 4 of 8 nodes another order has seen more of the tree; after 7 moves of 15 no disk is where it goes."""
    env = waybench.load(env_id)
    anchoring = Anchoring()
    played_out = [play_out(env, one, policy("random"), options).record() for one in env.source(level=level).head(4)]
    found = [anchoring.of(record) for record in played_out]
    assert [each is not None and each.ceiling is not None for each in found] == [known] * 4


def test_the_best_constant_is_worth_nothing_more_than_0() -> None:
    # The bisected middle of 0 to 8 is right or near it: always saying so is a floor well below "nothing known".
    found = anchored(at("search/coin", "oracle", 3, 12)).rescaled
    assert found is not None
    assert found.constant
    assert 0 < found.floor < 1
    assert (str(found.ceiling), found.mean.value) == ("0.0", pytest.approx(1))  # and not -0.0
    nobody = anchored(at("search/coin", "null", 3, 12)).rescaled
    assert nobody is not None
    assert nobody.mean.value < 0  # below what the constant reply is worth


def test_rescaling_is_the_linear_map_of_the_means() -> None:
    episodes = at("search/bfs", "random", 8)
    estimated = anchored(episodes)
    found, score = estimated.rescaled, estimated.best
    assert found is not None
    assert score is not None
    assert found.mean.value == pytest.approx((score.value - found.floor) / (found.ceiling - found.floor))
    assert found.mean.low is not None
    assert found.mean.high is not None
    assert found.mean.low < found.mean.value < found.mean.high


def test_what_is_not_known_is_none() -> None:
    assert all(each.rescaled is None for each in estimate(played("random", (5,))))
    lost = logged(failed(detour(item(5), 2)))
    assert anchored([lost]).rescaled is None
    # Nobody knows the best score of Crafter.
    crafter = [at("crafter/survival", "null", 1, 1)[0]]
    assert Anchoring().of(crafter[0].record) == ReferenceBounds(0.0, {}, None, item=ANY)
    assert anchored(crafter).rescaled is None


def test_an_item_is_played_once_for_all_who_played_it() -> None:
    known = Anchoring()
    first, second = (at("search/dfs", player, 5, 1)[0] for player in ("oracle", "random"))
    assert known.of(first.record) is known.of(second.record)
    assert rows([first])[0].anchors is None


def between(anchors: list[ReferenceBounds], player: str = "oracle") -> Estimate:
    """Return the estimate of a player at as many mazes, with these anchors."""
    episodes = at("maze/alicia", player, 9, len(anchors))
    (found,) = overall(exclude(row(each, anchors=known) for each, known in zip(episodes, anchors, strict=True)))
    return found


def test_the_constant_of_an_item_is_chosen_on_others() -> None:
    # Each maze has a reply that is right there and nowhere else. The best of them would be worth 25 at these four.
    lucky = [ReferenceBounds(0.0, {f"reply {number}": 100.0}, 100.0) for number in range(4)]
    found = between(lucky).rescaled
    assert found is not None
    assert (found.floor, found.constant) == (0.0, "")
    common = [ReferenceBounds(0.0, {f"reply {number}": 100.0, "always": 60.0}, 100.0) for number in range(4)]
    found = between(common).rescaled
    assert found is not None
    assert (found.floor, found.constant) == (60.0, "always")
    assert found.mean.value == 1


def test_without_a_resolved_distance_there_is_no_normalised_score() -> None:
    # From 0 to 100 at one maze, and hardly anything at the others: the mean distance is 34 (-29 to 97).
    far, near = ReferenceBounds(0.0, {}, 100.0), ReferenceBounds(0.0, {}, 1.0)
    assert between([far, near, near]).rescaled is None
    assert between([far, far, far]).rescaled is not None
    assert between([far]).rescaled is None  # of a single maze nobody knows how others differ


def test_a_normalised_score_stays_between_the_bounds_of_the_score() -> None:
    # The score is 0 to 100, the floor 40: so it is from -2/3 to 1, and the interval of six mazes ends there.
    known = [ReferenceBounds(0.0, {"always": 40.0}, 100.0)] * 6
    for player in ("null", "random", "noisy-0.3"):
        found = between(known, player).rescaled
        assert found is not None
        assert found.mean.low is not None
        assert found.mean.high is not None
        assert -2 / 3 - 1e-9 <= found.mean.low <= found.mean.value <= found.mean.high <= 1 + 1e-9


class Unlisted(Sequence[int]):
    """The numbers of a range, each when it is asked for; whoever takes more than 10,000 of them fails."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers
        self._left = 10_000

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, at: Any) -> Any:
        assert isinstance(at, int), "of a sequence of another kind, a slice would be a list"
        self._left -= 1
        assert self._left, "they are listed"
        return self._numbers[at]


def test_nobody_lists_the_legal_actions_of_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    legal = GuessGame.legal
    monkeypatch.setattr(GuessGame, "legal", lambda self, state: Unlisted(legal(self, state)))
    (played,) = at("search/guessnum", "oracle", 50, 1)
    known = Anchoring().of(played.record)
    assert known is not None
    assert len(known.constants) == 16
    for check in ("apply", "round trip"):
        run_check(waybench.load("search/guessnum"), check, 50)


def test_the_constant_that_is_named_does_not_depend_on_the_order() -> None:
    # Two replies are each the floor of two mazes.
    first, second = ({"a": 70.0, "b": 60.0}, {"a": 60.0, "b": 70.0})
    mixed = [ReferenceBounds(0.0, constants, 100.0) for constants in (first, first, second, second)]
    found = [between(anchors).rescaled for anchors in (mixed, mixed[::-1])]
    assert [each and (each.floor, each.constant) for each in found] == [(60.0, "a"), (60.0, "a")]

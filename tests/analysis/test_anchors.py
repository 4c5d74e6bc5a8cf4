"""Scores between floor and ceiling of the same items."""

from collections.abc import Sequence
from dataclasses import replace
from math import hypot
from typing import Any
from unittest.mock import ANY

import pytest

import waybench
from tests.analysis.episodes import detour, estimate, failed, item, logged, played
from waybench.core import Episode, play_to_end, policy
from waybench.envs.search._number import GuessGame
from waybench.results import Estimate, LoggedEpisode, overall
from waybench.results.references._measure import Reference, ReferenceScores
from waybench.results.results import exclude
from waybench.results.results._anchors import ReferenceLookup
from waybench.results.results._measured_row import measured_row
from waybench.results.results._rows import ReferenceBounds
from waybench.results.stats._intervals import normal_quantile
from waybench.testing._suite import run_check


def anchored(episodes: list[LoggedEpisode]) -> Estimate:
    known = ReferenceLookup()
    (found,) = overall(
        exclude(measured_row(each, anchors=known.scores(each.record, measured_row(each).group)) for each in episodes)
    )
    return found


def at(env_id: str, player: str, level: int, count: int = 6) -> list[LoggedEpisode]:
    env = waybench.load(env_id)
    return [
        LoggedEpisode(model="m", task="t", record=play_to_end(env, one, policy(player)).record(), log="")
        for one in env.source(level=level).head(count)
    ]


def test_the_oracle_is_1_and_nobody_below_0_at_mazes_that_chance_solves_now_and_then() -> None:
    oracle, nobody = (anchored(played(player, (11,))).rescaled for player in ("oracle", "null"))
    assert oracle is not None and nobody is not None
    assert (oracle.ceiling, oracle.constant, oracle.chance, oracle.origin) == (100.0, "", True, "stored")
    assert 0 < oracle.floor < 40  # a random player, which the stored scores have
    assert oracle.mean.value == 1.0
    assert nobody.mean.value == pytest.approx(nobody.floor / (nobody.floor - 100))


def test_a_floor_has_as_many_attempts_as_the_score() -> None:
    env = waybench.load("maze/alicia")
    (one,) = [play_to_end(env, item, policy("null")).record() for item in env.source(level=11).head(1)]
    known = ReferenceLookup().scores(one, measured_row(logged(one)).group)
    assert isinstance(known, ReferenceScores)
    assert known.random is not None
    assert known.best_random[3].mean > known.random.mean + 5


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
    (item,) = env.source(level=level).head(1)
    record = play_to_end(env, item, policy("random"), options).record()
    scores = ReferenceLookup().scores(record, measured_row(logged(record)).group)
    assert scores is not None
    assert (scores.ceiling is not None) is known
    if known:
        assert isinstance(scores, ReferenceScores)
        assert scores.origin == "measured"  # of other options than those that are stored


def test_a_normalised_score_is_the_score_on_another_scale() -> None:
    """The interval too, but for the errors of floor and ceiling."""
    for env_id, level in (("search/bfs", 8), ("search/dfs", 8)):
        estimated = anchored(at(env_id, "random", level, 12))
        normalised, score = estimated.rescaled, estimated.best
        assert normalised is not None and score is not None
        assert normalised.origin == "stored" and normalised.reference_items == 2000
        assert score.low is not None and score.high is not None
        scale = normalised.ceiling - normalised.floor
        low, value, high = sorted((end - normalised.floor) / scale for end in (score.low, score.value, score.high))
        assert normalised.mean.value == pytest.approx(value)
        more = normal_quantile(0.025) * hypot(*normalised.errors.values())
        assert normalised.mean.low == pytest.approx(value - hypot(value - low, more))
        assert normalised.mean.high == pytest.approx(value + hypot(high - value, more))
        cell = normalised.cell.mean()
        assert (cell.low, cell.high) == (pytest.approx(low), pytest.approx(high))


def test_errors_of_the_floor_count_at_the_floor_and_those_of_the_ceiling_at_the_ceiling() -> None:
    scores = ReferenceScores(
        silence=Reference(0.0),
        random=Reference(20.0, 2.0, 1000),
        constant=None,
        reply="",
        ceiling=Reference(100.0, 4.0, 1000),
        name="a",
    )
    for player, value, expected in (("oracle", 1.0, 4.0), ("null", -0.25, hypot(1.25 * 2, 0.25 * 4))):
        normalised = between([scores] * 12, player).rescaled
        assert normalised is not None
        assert normalised.mean.value == pytest.approx(value)
        assert hypot(*normalised.errors.values()) == pytest.approx(expected / 80, rel=0.01)


def test_a_floor_is_the_best_of_the_three_with_the_levels_as_among_the_items() -> None:
    def scores(name: str, *means: float) -> ReferenceScores:
        silence, random, constant = map(Reference, means)
        return ReferenceScores(
            silence=silence, random=random, constant=constant, reply=name, ceiling=Reference(100.0), name=name
        )

    one, other = scores("a", 0.0, 30.0, 40.0), scores("b", 0.0, 30.0, 20.0)
    for anchors, floor, chance in (([one] * 6, 40.0, False), ([one, other, other], 30.0, True)):
        normalised = between(anchors).rescaled
        assert normalised is not None
        assert (normalised.floor, normalised.chance) == (pytest.approx(floor), chance)


def test_what_is_not_known_is_none() -> None:
    assert all(each.rescaled is None for each in estimate(played("random", (5,))))
    lost = logged(failed(detour(item(5), 2)))
    assert anchored([lost]).rescaled is None
    # Nobody knows the best score of Crafter.
    env = waybench.load("crafter/survival")
    start = Episode(env, env.source(level=1).item(0), {"steps": 40}).record()
    assert ReferenceLookup().scores(start, measured_row(logged(start)).group) == ReferenceBounds(
        0.0, {}, None, name=ANY
    )


def test_items_of_a_file_are_played_themselves_and_once_for_all() -> None:
    env = waybench.load("search/dfs")
    items = [replace(item, key="mine.jsonl-01234567") for item in env.source(level=13).head(8)]
    known = ReferenceLookup()
    for player, value in (("oracle", 1.0), ("random", None)):
        records = [play_to_end(env, item, policy(player)).record() for item in items]
        episodes = [LoggedEpisode(model="m", task="t", record=record) for record in records]
        anchors = [known.scores(each.record, measured_row(each).group) for each in episodes]
        assert all(isinstance(each, ReferenceBounds) and each.was_played for each in anchors)
        (total,) = overall(
            exclude(measured_row(each, anchors=own) for each, own in zip(episodes, anchors, strict=True))
        )
        assert total.rescaled is not None
        assert (total.rescaled.origin, total.rescaled.origin_note) == ("items", "floor from these items")
        assert value is None or total.rescaled.mean.value == value
        again = [known.scores(each.record, measured_row(each).group) for each in episodes]
        assert all(one is other for one, other in zip(anchors, again, strict=True))
    few = ReferenceLookup(plays_items=False)
    assert few.scores(records[0], measured_row(episodes[0]).group) is None


def between(anchors: Sequence[ReferenceScores | ReferenceBounds], player: str = "oracle") -> Estimate:
    """Return the estimate of a player at as many mazes, with these anchors."""
    episodes = at("maze/alicia", player, 9, len(anchors))
    (found,) = overall(
        exclude(measured_row(each, anchors=known) for each, known in zip(episodes, anchors, strict=True))
    )
    return found


def test_a_constant_reply_is_chosen_at_some_items_and_measured_at_the_others() -> None:
    # Each maze has a reply that is right there and nowhere else. The best of them would be worth 25 at these four.
    lucky = [ReferenceBounds(0.0, {f"reply {number}": 100.0}, 100.0, was_played=True) for number in range(4)]
    found = between(lucky).rescaled
    assert found is not None
    assert (found.floor, found.constant) == (0.0, "")
    common = [
        ReferenceBounds(0.0, {f"reply {number}": 100.0, "always": 60.0}, 100.0, was_played=True) for number in range(4)
    ]
    found = between(common).rescaled
    assert found is not None
    assert (found.floor, found.constant) == (60.0, "always")
    assert found.mean.value == 1


def test_without_a_resolved_distance_there_is_no_normalised_score() -> None:
    # From 0 to 100 at one maze, and hardly anything at the others: the mean distance is 34 (-29 to 97).
    far, near = (ReferenceBounds(0.0, {}, ceiling, was_played=True) for ceiling in (100.0, 1.0))
    assert between([far, near, near]).rescaled is None
    assert between([far, far, far]).rescaled is not None
    assert between([far]).rescaled is None  # of a single maze nobody knows how others differ


def test_only_a_whole_interval_below_the_floor_is_below_it() -> None:
    floor = ReferenceScores(
        silence=Reference(60.0), random=None, constant=None, reply="", ceiling=Reference(100.0), name="a"
    )
    below = between([floor] * 12, "null").rescaled
    assert below is not None and below.mean.value == -1.5 and below.is_below_floor
    low = replace(floor, silence=Reference(30.0))
    near = between([low] * 6, "null").rescaled  # six failures of six may be luck: up to 39 %
    assert near is not None and near.mean.value == pytest.approx(-3 / 7) and not near.is_below_floor
    assert (near.clipped_mean.low, near.clipped_mean.high) == (near.mean.value, near.mean.high)
    good = between([floor] * 12).rescaled
    assert good is not None and good.clipped_mean.high == 1.0


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


@pytest.mark.slow
def test_nobody_lists_the_legal_actions_of_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    legal = GuessGame.legal
    monkeypatch.setattr(GuessGame, "legal", lambda self, state: Unlisted(legal(self, state)))
    (played,) = at("search/guessnum", "oracle", 50, 1)
    known = ReferenceLookup().scores(played.record, measured_row(played).group)
    assert isinstance(known, ReferenceScores)
    assert known.reply
    for check in ("apply", "round trip"):
        run_check(waybench.load("search/guessnum"), check, 50)


def test_the_constant_that_is_named_does_not_depend_on_the_order() -> None:
    # Two replies are each the floor of half of the mazes.
    first, second = ({"a": 70.0, "b": 60.0}, {"a": 60.0, "b": 70.0})
    mixed = [ReferenceBounds(0.0, constants, 100.0, was_played=True) for constants in (first, second) * 12]
    episodes = at("maze/alicia", "oracle", 9, 24)
    rows = exclude(measured_row(each, anchors=known) for each, known in zip(episodes, mixed, strict=True))
    found = [total.rescaled for order in (rows, rows[::-1]) for total in overall(order)]
    assert found[0] is not None and found[0].constant
    assert found[0] == found[1]

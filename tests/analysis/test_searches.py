"""What is said of a search for a horizon, out of its records."""

from dataclasses import replace
from typing import Any

import pytest

from tests.analysis.episodes import MAZE, item, logged, said
from waybench.core import End, EpisodeRecord, Price, Usage, play_to_end, policy
from waybench.results import LoggedEpisode, rows
from waybench.results.horizons import horizons
from waybench.results.horizons._searches import search_results, search_results_text
from waybench.results.horizons._text import difficulty_text
from waybench.results.results import exclude
from waybench.results.results._measured_row import measured_row

PLAN: dict[str, Any] = {
    **{"axis": "dimension", "share": 0.5, "precision": 0.3, "most": 60, "budget": None, "batch": 4},
    **{"lowest": 5.0, "highest": 41.0},
}


def episode(level: int, number: int, solved: bool, **plan: Any) -> LoggedEpisode:
    player = policy("oracle" if solved else "null")
    record = play_to_end(MAZE, item(level, number), player, {"requests": 1}).record()
    record = replace(record, turns=tuple(turn._replace(usage=Usage(1000, 50)) for turn in record.turns))
    return replace(logged(record, task="horizon_maze"), run="one", design={**PLAN, **plan})


def tried(**plan: Any) -> list[LoggedEpisode]:
    """Return trials of who solves mazes up to dimension 13, half of those of 15, and no larger ones."""
    results = {5: (3, 3), 9: (3, 3), 13: (5, 5), 15: (8, 4), 17: (5, 0), 21: (3, 0), 41: (3, 0)}
    return [
        episode(level, number, number < solved, **plan)
        for level, (trials, solved) in results.items()
        for number in range(trials)
    ]


def test_what_was_found_and_why_it_stopped() -> None:
    episodes = tried()
    (found,) = search_results(episodes, rows(episodes))
    assert (found.trials, found.errors, found.axis, found.stop) == (30, 0, "dimension", "precision")
    assert found.low < 15 < found.high
    assert (found.high - found.low) / 2 <= 0.3 * found.value
    assert found.tokens == 30 * 1050
    text = search_results_text([found])
    assert text.startswith("horizon_maze, vendor/model: 50 % horizon at dimension 1")
    assert text.endswith("; 30 episodes, 31,500 tokens; stopped: the precision is reached")


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_reports_have_the_horizon_that_the_search_has_found(share: float) -> None:
    episodes = tried(share=share)
    made = rows(episodes)
    (found,) = search_results(episodes, made)
    reported, fixed = (
        next(each for each in horizons(some) if (each.axis, each.share) == (found.axis, share))
        for some in (made, [replace(row, search_range=None) for row in made])
    )
    assert (reported.value, reported.low, reported.high) == pytest.approx((found.value, found.low, found.high))
    # The same trials in a fixed design leave a gap between the tried levels, and room for guesses.
    assert fixed.low is not None and fixed.high is not None
    assert fixed.high - fixed.low > found.high - found.low


def test_costs_are_told_where_prices_are_known() -> None:
    episodes = tried()
    made = exclude(measured_row(each, price=Price(100.0, 1000.0, 100.0)) for each in episodes)
    (found,) = search_results(episodes, made)
    assert found.cost == pytest.approx(30 * (0.1 + 0.05))
    assert ", 4.50 USD; " in search_results_text([found])


@pytest.mark.parametrize(
    ("plan", "unfinished", "stop"),
    [
        ({"precision": 0.02, "most": 30}, False, "cap"),
        ({"precision": 0.02, "budget": 9.0}, False, "budget"),
        ({"precision": 0.02}, False, "supply"),
        ({"precision": 0.02}, True, ""),
        ({"precision": 0.3}, True, "precision"),
    ],
)
def test_why_else_it_stops(plan: dict[str, Any], unfinished: bool, stop: str) -> None:
    episodes = tried(**plan)
    (found,) = search_results(episodes, rows(episodes), unfinished)
    assert found.stop == stop
    assert ("interrupted; run the same command to continue" in search_results_text([found])) == (stop == "")


@pytest.mark.parametrize(
    ("solved", "stop", "words"),
    [
        (True, "beyond", "above the hardest level tested (dimension 41;"),
        (False, "below", "below the easiest level tested (dimension 5;"),
    ],
)
def test_nothing_is_said_out_of_range(solved: bool, stop: str, words: str) -> None:
    episodes = [episode(level, number, solved) for level in (5, 9, 21, 41) for number in range(6)]
    (found,) = search_results(episodes, rows(episodes))
    assert found.stop == stop
    assert f"50 % horizon {words} 90 % interval " in found.text


def test_errors_are_no_trials() -> None:
    episodes = tried()
    record: EpisodeRecord = replace(said([], level=15, number=9), end=End.INFRASTRUCTURE, error="gone")
    lost = replace(logged(record, task="horizon_maze"), run="one", design=PLAN)
    lost = replace(lost, record=replace(record, options=episodes[0].record.options))
    (found,) = search_results([*episodes, lost], rows([*episodes, lost]))
    assert (found.trials, found.errors) == (30, 1)
    assert "1 infrastructure error, n = 30 of 31: horizon " in search_results_text([found])


def test_runs_are_searches_of_their_own() -> None:
    first, second = tried(), [replace(each, model="other") for each in tried()]
    found = search_results([*first, *second], rows([*first, *second]))
    assert [each.group.model for each in found] == ["vendor/model", "other"]


@pytest.mark.parametrize(
    "plan",
    [
        {},
        {"lowest": 5.0},
        {**PLAN, "lowest": "x"},
        {**PLAN, "precision": 0},
        {**PLAN, "lowest": 50.0},
        {**PLAN, "most": None},
    ],
)
def test_what_is_no_plan_is_no_search(plan: dict[str, Any]) -> None:
    episodes = [replace(each, design=plan) for each in tried()]
    assert search_results(episodes, rows(episodes)) == []
    assert search_results_text([]) == ""


def test_a_search_without_a_failure_ends_beyond_what_it_tried() -> None:
    episodes = [episode(level, number, True, most=4) for level in (5, 9) for number in range(2)]
    (found,) = search_results(episodes, rows(episodes))
    assert (found.stop, found.without_failure) == ("cap", 9)
    assert "50 % horizon above the hardest level tested (dimension 9; 90 % interval at least " in found.text
    failing = [*episodes, episode(13, 0, False, most=5)]
    (found,) = search_results(failing, rows(failing))
    assert found.without_failure is None
    assert "(dimension 9;" not in found.text


def test_a_search_that_a_later_run_repeats_is_not_listed() -> None:
    again = [*tried(), *(replace(each, run="two") for each in tried())]
    (found,) = search_results(again, rows(again))
    assert found.trials == 30


def test_a_range_that_is_none_loses_no_episode() -> None:
    for unfit in (10**400, "far", None, float("nan"), 5.0):
        (made,) = rows([episode(5, 0, True, highest=unfit)])
        assert made.is_included and made.adaptive and made.search_range is None
        assert search_results([episode(5, 0, True, highest=unfit)], [made]) == []


def test_a_plateau_that_may_be_below_the_share_is_said_of_a_search() -> None:
    results = dict.fromkeys((5, 7, 9, 11, 13), 17) | {15: 8, 17: 1, 21: 0}
    episodes = [
        episode(level, number, number < solved, share=0.8) for level, solved in results.items() for number in range(20)
    ]
    (found,) = search_results(episodes, rows(episodes))
    assert found.side == "plateau"
    assert found.text == (
        f"80 % horizon: the plateau may be below 80 % (dimension, 90 % interval at most {difficulty_text(found.high)})"
    )
    (reported,) = [each for each in horizons(rows(episodes)) if (each.axis, each.share) == ("dimension", 0.8)]
    assert (reported.side, reported.value, reported.low) == ("plateau", None, None)
    assert reported.high == pytest.approx(found.high)
    never = [episode(level, number, number < 12 and level < 15, share=0.8) for level in results for number in range(20)]
    (lapsing,) = search_results(never, rows(never))
    assert (lapsing.side, lapsing.text) == ("never", "80 % horizon: never reaches 80 %")
    assert search_results_text([lapsing]).endswith(
        "stopped: the success rate is below the share even at the easiest items"
    )

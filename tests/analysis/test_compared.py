"""Comparisons of groups: what examples change, how sets differ, who comes first, and how numbers are written."""

from dataclasses import replace
from statistics import mean
from typing import Any

import pytest
from scipy import stats

import waybench
from tests.analysis.episodes import SCORE, estimate, failed
from tests.analysis.searches import answered, items, searched
from waybench.core import Item
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons._prompts import examples_effects
from waybench.results.estimates._difficulty import set_spread, spreads_over_sets
from waybench.results.estimates._measures import rank_by_merit, score_tables_text
from waybench.results.formatting import change_text, mean_text
from waybench.results.results import labels

GUESS = waybench.load("search/guessnum")
ERR_MIN, ERR_SUM = GUESS.scoring.metrics[:2]


def off(item: Item[Any], by: int, model: str = "m") -> LoggedEpisode:
    """Return an episode of one answer, which misses the number by so much."""
    guess = item.instance.target + (by if item.instance.target + by <= item.instance.high else -by)
    return LoggedEpisode(model, "t", answered("guessnum", item, [str(guess)], max_steps=1))


def test_margins_by_hand() -> None:
    found = set_spread([0.2, 0.5, 0.35])
    assert (found.average, found.margin_min, found.margin_max, found.sets) == (
        pytest.approx(0.35),
        pytest.approx(0.15),
        pytest.approx(0.15),
        3,
    )
    assert set_spread([0.1] * 3).margin_min == 0
    assert set_spread([0.1, 0.1, 0.4]).margin_max == pytest.approx(0.2)


def test_spread_over_sets() -> None:
    keys = ["search-v1", "search-v1/2", "another"]
    sets = [searched("noisy-0.3", "dfs", count=6, key=key, teacher_guided=True) for key in keys]
    alone = searched("noisy-0.3", "dfs", count=6, teacher_guided=True, model="alone")
    estimates = estimate([*sets[0], *alone, *sets[1], *sets[2]])
    (found,) = spreads_over_sets(estimates)
    assert (found.keys, found.level, found.group.key, found.group.model) == (
        tuple(keys),
        5,
        "",
        "waybench/noisy-0.3",
    )
    for name in ("acc", "g_sum"):
        values = [one.metrics[name].value for some in sets for one in estimate(some)]
        assert found.metrics[name].average == pytest.approx(mean(values))
        assert found.metrics[name].margin_min == pytest.approx(mean(values) - min(values))
        assert found.metrics[name].margin_max == pytest.approx(max(values) - mean(values))
    averages = [one.curves["follows"].average.value for some in sets for one in estimate(some)]
    assert found.curves["follows"].margin_max == pytest.approx(max(averages) - mean(averages))
    assert found.to_json()["metrics"]["acc"]["sets"] == 3
    assert found.to_json()["group"]["options"]["teacher_guided"] is True


def test_no_spread_of_different_levels_or_settings() -> None:
    others = [*searched("oracle", key="b", level=7), *searched("oracle", key="b", max_retries=0)]
    assert spreads_over_sets(estimate([*searched("oracle", key="a"), *others])) == []


def test_changes_are_paired_by_item() -> None:
    bare, shown = items("guessnum", 4), items("guessnum", 4, examples=2)
    before = [off(item, by) for item, by in zip(bare[:3], (9, 8, 7), strict=True)]
    after = [off(item, by) for item, by in zip(shown[1:], (6, 6, 1), strict=True)]
    (change,) = examples_effects(rows([*before, *after]))
    # Items 1 and 2 are in both: 8 to 6 and 7 to 6.
    size = bare[0].instance.high - bare[0].instance.low
    assert (change.items, change.level, change.group.examples) == (2, 6, 2)
    assert change.metrics["err_min"].value == pytest.approx(-(2 + 1) / 2 / size)
    # Wilson's interval of delta = (1 + mean) / 2, for as many trials as give it this variance, extended to 0.
    delta, variance = (1 - 1.5 / size) / 2, (0.5 / size**2) / 2 / 4
    square = stats.t.ppf(0.975, 1) ** 2 * variance / (delta * (1 - delta))
    half = (square * (delta * (1 - delta) + square / 4)) ** 0.5
    found = change.metrics["err_min"]
    assert (found.low, found.n, found.clusters) == (
        pytest.approx(2 * (delta + square / 2 - half) / (1 + square) - 1),
        2,
        2,
    )
    assert found.high == pytest.approx(max(0, 2 * (delta + square / 2 + half) / (1 + square) - 1))
    assert change.to_json()["group"]["options"]["examples"] == 2


def test_changes_are_those_of_the_averages_where_all_items_are_in_both() -> None:
    bare = searched("noisy-0.4", "cavedfs", count=12, teacher_guided=True, model="m")
    shown = searched("noisy-0.1", "cavedfs", count=12, teacher_guided=True, model="m", examples=3)
    old, new = estimate([*bare, *shown])
    (change,) = examples_effects(rows([*bare, *shown]))
    for name, mean_ in change.metrics.items():
        assert mean_.value == pytest.approx(new.metrics[name].value - old.metrics[name].value)
    moved = change.curves["follows"]
    assert moved.value == pytest.approx(new.curves["follows"].average.value - old.curves["follows"].average.value)
    assert moved.low is not None
    assert moved.low < moved.value
    # Of the same episodes nothing changes, and nothing is uncertain.
    again = [replace(e, record=replace(e.record, examples=(e.record.instance,))) for e in bare]
    (none,) = examples_effects(rows([*bare, *again]))
    assert (none.curves["follows"].value, none.metrics["acc"].value) == (0, 0)


def test_what_cannot_be_compared_has_no_change() -> None:
    shown = searched("oracle", examples=2)
    assert examples_effects(rows(shown)) == []
    assert examples_effects(rows([*shown, *searched("oracle", max_retries=0)])) == []
    lost = [replace(e, record=failed(e.record)) for e in searched("oracle")]
    assert examples_effects(rows([*shown, *lost])) == []


def test_lower_is_better_in_ranks_and_tables() -> None:
    near, far = items("guessnum", 2)
    good = [off(near, 2, "good"), off(far, 2, "good")]
    bad = [off(near, 20, "bad"), off(far, 20, "bad")]
    table = score_tables_text(estimate([*bad, *good]))
    assert table.splitlines()[0].startswith("Number guessing (AQA-Bench): Err_min, lower is better")
    size = near.instance.high - near.instance.low
    assert [line.split() for line in table.splitlines()[2:]] == [
        ["good", f"{2 / size:.3f}"],
        ["bad", f"{20 / size:.3f}"],
    ]


def test_where_lower_is_better_a_level_more_is_no_harm() -> None:
    climber = [*searched("noisy-0.1", "bfs", model="climber"), *searched("random", "bfs", level=8, model="climber")]
    idle = searched("noisy-0.1", "bfs", model="idle")
    assert [group.model for group in rank_by_merit(estimate([*idle, *climber]))] == ["climber", "idle"]


def test_attempts_are_averaged_where_the_best_one_is_not_the_score() -> None:
    (item,) = items("guessnum", 1)
    tries = [replace(off(item, by), record=replace(off(item, by).record, attempt=n)) for n, by in ((1, 9), (2, 3))]
    (found,) = estimate(tries)
    size = item.instance.high - item.instance.low
    assert found.best == found.single
    assert found.single is not None
    assert found.single.value == pytest.approx(6 / size)


def test_nothing_is_set_aside_after_a_perfect_attempt_there() -> None:
    (item,) = items("guessnum", 1)
    tries = [replace(off(item, by), record=replace(off(item, by).record, attempt=n)) for n, by in ((1, 0), (2, 9))]
    (found,) = estimate(tries)
    assert (found.attempts, found.aside) == (2, 0)


def test_episodes_with_a_teacher_have_a_table_of_their_own() -> None:
    guided = searched("noisy-0.3", count=6, teacher_guided=True)
    free, apart = score_tables_text(estimate([*searched("random"), *guided])).split("\n\n")
    assert "noisy" not in free
    (found,) = estimate(guided)
    lines = apart.splitlines()
    assert lines[0].startswith("Number guessing (AQA-Bench), with a teacher: PSACC, higher is better")
    assert lines[2].split()[-1] == f"{found.curves['follows'].average.value:.3f}"


def test_labels_name_examples_and_the_teacher() -> None:
    shown = searched("oracle", examples=2)
    guided = searched("oracle", teacher_guided=True)
    estimates = estimate([*searched("oracle"), *shown, *guided])
    assert list(labels(each.group for each in estimates).values()) == [
        "waybench/oracle",
        "waybench/oracle (examples: 2)",
        "waybench/oracle (teacher guided)",
    ]


def test_numbers() -> None:
    assert [mean_text(0.0312, metric) for metric in (ERR_MIN, ERR_SUM, SCORE, None)] == ["0.031", "0.03", "0.0", "0.0"]
    assert mean_text(1234.5, SCORE) == "1,234.5"
    assert (mean_text(None, ERR_MIN), mean_text(-0.0001, ERR_MIN), mean_text(-0.5, ERR_MIN)) == ("–", "0.000", "−0.500")
    assert [change_text(value, ERR_MIN) for value in (0.12, -0.12, 0.0, -1e-9)] == [
        *("+0.120", "−0.120"),
        *("±0.000", "±0.000"),
    ]

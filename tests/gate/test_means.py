"""Intervals of means over tasks and wordings, and of guessers. Accepted: a level, give or take three standard errors.

What makes them fail is named at each; each was tried.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from tests.gate._bank import map_bank
from tests.gate._designs import coverage_in_wordings, coverage_on_same_maps, guessers, pairs, ranks
from tests.gate._tables import LADDER, Rng, graded, in_wordings, ladder, names, on_same_maps
from waybench.core import Json
from waybench.results import Row
from waybench.results.estimates import Matrix, matrix
from waybench.results.horizons import horizons

pytestmark = pytest.mark.slow
LEAST, MOST = 0.93, 0.97  # of intervals of 95 %
DIGITS = 1e-10  # per cent, 1e-12 of the scale


def test_a_mean_over_two_tasks_on_the_same_maps_has_its_coverage() -> None:
    """Fails if maps are not shared by the cells of a mean: .86."""
    rate = coverage_on_same_maps(maps=40, questions=2, runs=150)
    assert rate.at_least(LEAST), str(rate)
    assert rate.at_most(MOST), str(rate)


@pytest.mark.parametrize(("wordings", "items"), [(2, 40), (4, 20)])
def test_a_mean_over_wordings_has_its_coverage(wordings: int, items: int) -> None:
    """Fails if items are not shared by the cells of a mean: .84 and .70."""
    rate = coverage_in_wordings(wordings, items, runs=300)
    assert rate.at_least(LEAST), str(rate)
    assert rate.at_most(MOST), str(rate)


def test_a_guesser_is_not_above_the_floor() -> None:
    """Fails if the floor leaves out the random player (.00 in searches), or if cells of a mean are cut at 0 (.69)."""
    guessed = guessers(runs=20)
    assert guessed.cells.at_least(0.95), {env: str(rate) for env, rate in guessed.by_task.items()}
    assert guessed.means.at_least(0.95), str(guessed.means)


TABLES: dict[str, Callable[[Rng], list[Row]]] = {
    "wordings": lambda rng: in_wordings(rng, names(4), 3, 20, 0.6, 0.5),
    "same maps": lambda rng: on_same_maps(rng, names(4), 8, 3, 0.6, 0.5),
    "graded": lambda rng: graded(rng, names(3), 12, [0.5, 0.6, 0.7], 0.2),
    "ladders": lambda rng: [row for model in names(4) for row in ladder(rng, model, LADDER, 8, rng.uniform(7, 16), 2)],
}


def leaves(value: Json, path: str = "") -> Iterator[tuple[str, Json]]:
    """Yield the numbers and texts of JSON values, with their places."""
    if isinstance(value, Mapping):
        for name in sorted(value):
            yield from leaves(value[name], f"{path}/{name}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from leaves(part, f"{path}/{number}")
    else:
        yield path, value


@pytest.mark.parametrize("table", TABLES)
def test_the_order_of_rows_changes_no_bit(table: str) -> None:
    """Fails if clusters, or the cells of a mean, are summed in the order of the rows."""
    rng = np.random.default_rng(len(table))
    rows = TABLES[table](rng)
    orders = [rows, *([rows[number] for number in rng.permutation(len(rows)).tolist()] for _ in range(3))]
    ordered, *shuffled = (
        (
            list(leaves(matrix(order).to_json())),
            [(pair.difference, pair.test.p, pair.adjusted_p) for pair in pairs(order)],
        )
        for order in orders
    )
    assert all(numbers == ordered for numbers in shuffled)


def test_the_order_of_rows_changes_no_horizon() -> None:
    """To 12 digits: fits of curves sum over items."""
    rng = np.random.default_rng(1)
    rows = TABLES["ladders"](rng)
    orders = [rows, [rows[number] for number in rng.permutation(len(rows)).tolist()]]
    by_model = [sorted(horizons(order), key=lambda one: (one.group.model, one.axis, one.share)) for order in orders]
    for horizon, shuffled in zip(*by_model, strict=True):
        for (place, value), (_, other) in zip(leaves(horizon.to_json()), leaves(shuffled.to_json()), strict=True):
            assert value == (pytest.approx(other, rel=1e-12) if isinstance(other, float) else other), place


def assert_equal_means(one: Matrix, copies: Matrix) -> None:
    """Assert that two tables say the same of all models, to 12 digits."""
    assert ranks(one) == ranks(copies)
    for alone, copied in zip(one.rows, copies.rows, strict=True):
        assert alone.mean is not None and copied.mean is not None
        numbers = [(score.value, score.low, score.high) for score in (alone.mean, copied.mean)]
        assert numbers[0] == pytest.approx(numbers[1], abs=DIGITS)
        assert alone.model == copied.model


@pytest.mark.parametrize("share", [0.6, 0.9, 1.0])
def test_a_second_task_with_the_same_results_on_the_same_maps_changes_no_interval(share: float) -> None:
    """Fails if maps are not shared by the cells of a mean."""
    rng = np.random.default_rng(round(10 * share))
    tasks = [map_bank(env, 12, 3) for env in ("textmap/route", "textmap/destination")]
    results = {model: (rng.random(36) < share).astype(int).tolist() for model in names(3)}
    one, other = ([row for model, chosen in results.items() for row in task.rows_of(model, chosen)] for task in tasks)
    # The results are the same with the same floor and ceiling, which those of two tasks are not.
    copies = [replace(row, anchors=like.anchors) for row, like in zip(other, one, strict=True)]
    assert_equal_means(matrix(one), matrix([*one, *copies]))


@pytest.mark.parametrize("mean", [0.6, 0.9, 1.0])
@pytest.mark.parametrize("wordings", [2, 4])
def test_copies_of_a_wording_change_no_interval(mean: float, wordings: int) -> None:
    """Fails if items are not shared by the cells of a mean."""
    for seed in range(5):
        one, copies = (
            matrix(
                in_wordings(np.random.default_rng([seed, round(10 * mean)]), names(3), n, 20, mean, 0.5, copies=True)
            )
            for n in (1, wordings)
        )
        assert_equal_means(one, copies)

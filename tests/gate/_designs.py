"""Simulations: each draws many tables and returns how often the results say what they should not, or should."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import inf, log
from typing import NamedTuple

import numpy as np

from tests.gate._bank import bank
from tests.gate._rate import Rate
from tests.gate._tables import LADDER, at_one_task, graded, in_wordings, ladder, names, on_same_maps
from waybench.results import Row, overall
from waybench.results.comparisons import item_scores
from waybench.results.comparisons._comparison import Comparison, Verdict
from waybench.results.comparisons._models import compare_pairs
from waybench.results.estimates import Matrix, matrix
from waybench.results.estimates._estimates import EstimateCache
from waybench.results.estimates._matrix import MatrixRow
from waybench.results.horizons import Horizon, horizons
from waybench.results.horizons._horizons import success_curves
from waybench.results.results import group_by

LEVEL = 0.05
_TOGETHER = 40  # models whose curves are fitted together, which takes less time than one after the other
Ranks = Mapping[str, tuple[int, int] | None]
# Environments of which a random player's score is known well, with a level of few turns.
GUESSED = (
    ("search/bfs", 8),
    ("search/dfs", 8),
    ("graph/paths", 1),
    ("rps/rounds", 1),
    ("messenger/roles", 1),
    ("tilemap/gtb", 1),
    ("textmap/route", 1),
    ("bandit/arms", 2),
)


def ranks(table: Matrix) -> Ranks:
    """Return the ranks of a table by model."""
    return {row.model: row.rank for row in table.rows}


def is_apart(table: Matrix) -> bool:
    """Return whether a table shows any of its models as better than another one."""
    count = len(table.rows)
    return any(rank is not None and rank != (1, count) for rank in ranks(table).values())


def pairs(rows: Iterable[Row]) -> list[Comparison]:
    """Return the comparisons of all pairs of models at every test, as a report makes them, in order of their names."""
    ordered = sorted(item_scores(rows), key=lambda scores: (scores.model, repr(scores.test)))
    by_test = group_by(ordered, lambda scores: scores.test).values()
    return compare_pairs(pair for scores in by_test for pair in combinations(scores, 2))


def is_shown(adjusted: float | None) -> bool:
    """Return whether an adjusted p value shows a difference; None is of a pair with too few items to tell."""
    return adjusted is not None and adjusted < LEVEL


class Pair(NamedTuple):
    """Two models, the first one's mean minus the second one's, and the adjusted p value."""

    first: str
    second: str
    difference: float
    adjusted: float | None


def ranks_of_pairs(pairs: Sequence[Pair]) -> Ranks:
    """Return the ranks that follow from the adjusted p values of all pairs of models."""
    models = dict.fromkeys(model for pair in pairs for model in (pair.first, pair.second))
    better, worse = Counter[str](), Counter[str]()
    for pair in pairs:
        if is_shown(pair.adjusted):
            sides = pair.first, pair.second
            above, below = sides if pair.difference > 0 else sides[::-1]
            better[below] += 1
            worse[above] += 1
    return {model: (1 + better[model], len(models) - worse[model]) for model in models}


def pairs_of_table(table: Matrix) -> list[Pair]:
    """Return the pairs of models that a table lists, those that are not comparable with no p value."""
    return [
        Pair(pair.first, pair.second, pair.difference.value if pair.difference else 0.0, pair.adjusted)
        for pair in table.pairs
    ]


# Means


def expected_mean(rows: Sequence[Row], share: float) -> float:
    """Return the expected normalised score, in per cent, of a model that solves a share of the items.

    Everything that the tables of this package draw is worth 0 or the ceiling.
    """
    cells: list[float] = []
    for total in overall(rows):
        assert total.rescaled is not None
        floor, ceiling = total.rescaled.floor, total.rescaled.ceiling
        cells.append((share * ceiling - floor) / (ceiling - floor))
    return 100 * sum(cells) / len(cells)


def holds(row: MatrixRow, truth: float) -> bool:
    """Return whether the mean's interval holds a value; one without an interval says nothing."""
    assert row.mean is not None
    ends = row.mean.interval
    return ends is None or ends[0] - 1e-9 <= truth <= ends[1] + 1e-9


def coverage(draw: Callable[[], list[Row]], share: float, runs: int) -> Rate:
    """Return how often the mean's interval holds the expected score of a model that solves a share of the items."""
    truth = expected_mean(draw(), share)
    return Rate(sum(holds(matrix(draw()).rows[0], truth) for _ in range(runs)), runs)


def coverage_on_same_maps(maps: int, questions: int, runs: int, seed: int = 1) -> Rate:
    """Return the coverage of a family's mean over two tasks about the same maps."""
    rng = np.random.default_rng([seed, maps, questions])
    return coverage(lambda: on_same_maps(rng, names(1), maps, questions, 0.6, 0.8), 0.6, runs)


def coverage_in_wordings(wordings: int, items: int, runs: int, seed: int = 2) -> Rate:
    """Return the coverage of a mean over wordings of the same items."""
    rng = np.random.default_rng([seed, wordings, items])
    return coverage(lambda: in_wordings(rng, names(1), wordings, items, 0.6, 0.8), 0.6, runs)


class Guessers(NamedTuple):
    """How often a random player is not shown as better than the floor.

    Attributes:
        cells: In single tasks.
        means: In the mean over all families.
        by_task: In single tasks, by environment.
    """

    cells: Rate
    means: Rate
    by_task: Mapping[str, Rate]


def guessers(runs: int, items: int = 20) -> Guessers:
    """Return how often a random player's normalised score is not above 0.

    Where a constant reply scores better than a random player, the floor is that reply's, and the score may be below 0.
    """
    tasks = {env: bank(env, level, runs * items, ("random",)) for env, level in GUESSED}
    hits, means = Counter[str](), 0
    for run in range(runs):
        numbers = range(run * items, (run + 1) * items)
        by_task = {env: task.rows_of(names(1)[0], [0] * items, numbers) for env, task in tasks.items()}
        for env, rows in by_task.items():
            hits[env] += _not_above_floor(matrix(rows))
        means += _not_above_floor(matrix(row for rows in by_task.values() for row in rows))
    by_env = {env: Rate(hits[env], runs) for env in tasks}
    return Guessers(Rate(sum(hits.values()), runs * len(tasks)), Rate(means, runs), by_env)


def _not_above_floor(table: Matrix) -> bool:
    mean = table.rows[0].mean
    return mean is None or mean.low is None or mean.low <= 1e-9


# Ranks


def equal_models(
    draw: Callable[[Sequence[str]], list[Row]], runs: int, counts: Sequence[int] = (3, 6, 12)
) -> dict[int, Rate]:
    """Return how often some of so many equal models are shown apart.

    Tables of fewer models are parts of the largest one, without a model in common.
    """
    most = max(counts)
    hits, tables = Counter[int](), Counter[int]()
    for _ in range(runs):
        models, cache = names(most), EstimateCache()
        by_model = group_by(draw(models), lambda row: row.group.model)
        for count in sorted(counts, reverse=True):
            for first in range(0, most - count + 1, count):
                rows = [row for model in models[first : first + count] for row in by_model[model]]
                hits[count] += is_apart(matrix(rows, cache))
                tables[count] += 1
    return {count: Rate(hits[count], tables[count]) for count in counts}


def equal_at_one_task(runs: int, items: int = 40, seed: int = 3) -> dict[int, Rate]:
    """Return how often equal models are shown apart at one task."""
    rng = np.random.default_rng(seed)
    return equal_models(lambda models: at_one_task(rng, models, items, [0.6] * len(models)), runs)


def equal_in_wordings(runs: int, wordings: int = 4, items: int = 20, seed: int = 4) -> dict[int, Rate]:
    """Return how often equal models are shown apart in several wordings."""
    rng = np.random.default_rng([seed, wordings])
    return equal_models(lambda models: in_wordings(rng, models, wordings, items, 0.6, 0.6), runs)


def equal_on_same_maps(runs: int, maps: int = 20, questions: int = 2, seed: int = 5) -> dict[int, Rate]:
    """Return how often equal models are shown apart at two tasks about the same maps."""
    rng = np.random.default_rng([seed, maps])
    return equal_models(lambda models: on_same_maps(rng, models, maps, questions, 0.6, 0.8), runs)


def equal_on_ladders(runs: int, seed: int = 11) -> dict[int, Rate]:
    """Return how often equal models are shown apart whose ladders end by their own luck."""
    rng = np.random.default_rng(seed)
    levels = (*LADDER, 29, 33, 41)

    def draw(models: Sequence[str]) -> list[Row]:
        return [row for model in models for row in ladder(rng, model, levels, 10, 12.0, 2.0)]

    return equal_models(draw, runs, (6,))


class Agreement(NamedTuple):
    """Whether ranks and pairs say the same, and how often both show a difference.

    Attributes:
        agree: How often ranks are those that follow from the adjusted p values of pairs.
        by_rank: How often the ranks are apart.
        by_verdict: How often a verdict of `compare` names a better model.
    """

    agree: Rate
    by_rank: Rate
    by_verdict: Rate


def agreement(draw: Callable[[], list[Row]], runs: int) -> Agreement:
    """Return whether ranks and pairs of tables of one task agree."""
    agree = by_rank = by_verdict = 0
    for _ in range(runs):
        rows = draw()
        table, comparisons = matrix(rows), pairs(rows)
        compared = [
            Pair(pair.first.model, pair.second.model, pair.difference.value, pair.adjusted_p) for pair in comparisons
        ]
        agree += dict(ranks(table)) == dict(ranks_of_pairs(compared))
        by_rank += is_apart(table)
        by_verdict += any(pair.verdict in (Verdict.FIRST, Verdict.SECOND) for pair in comparisons)
    return Agreement(Rate(agree, runs), Rate(by_rank, runs), Rate(by_verdict, runs))


def power_of_graded(
    runs: int, items: int = 20, difference: float = 0.1, noise: float = 0.1, seed: int = 6
) -> Agreement:
    """Return the power to show a difference of graded scores, by ranks and by verdicts."""
    rng, means = np.random.default_rng([seed, items]), (0.55 + difference / 2, 0.55 - difference / 2)
    return agreement(lambda: graded(rng, names(2), items, means, noise), runs)


class ThirdModel(NamedTuple):
    """How often a third model changes what is said of two.

    Attributes:
        means: The order of their means.
        ranks: Their ranks show a difference that they do not show without it.
        pairs: Their difference or its p value before it is adjusted.
        apart: How often the two are apart without it, which says what the others are worth.
    """

    means: Rate
    ranks: Rate
    pairs: Rate
    apart: Rate


def third_models(runs: int, seed: int = 7) -> ThirdModel:
    """Return how often a third model, whose ladder goes further, changes what is said of two.

    The second of these stops, by choice, before its ladder ends.
    """
    rng, changed = np.random.default_rng(seed), Counter[str]()
    for _ in range(runs):
        first, second, third = names(3)
        middle = rng.uniform(6, 12)
        two = ladder(rng, first, LADDER, 10, middle, 2)
        levels = LADDER[: rng.integers(2, 9)]
        two += ladder(rng, second, levels, 10, middle * rng.uniform(0.5, 2), 2, declared=LADDER)
        three = [*two, *ladder(rng, third, LADDER, 10, rng.uniform(15, 30), 2)]
        tables = [matrix(rows) for rows in (two, three)]
        alone, with_third = (_shown_order(table, first, second) for table in tables)
        changed["means"] += len({_greater_mean(table, first, second) for table in tables}) > 1
        changed["ranks"] += with_third not in (0, alone)
        changed["pairs"] += len({_difference(rows, first, second) for rows in (two, three)}) > 1
        changed["apart"] += alone != 0
    return ThirdModel(*(Rate(changed[name], runs) for name in ThirdModel._fields))


def _greater_mean(table: Matrix, first: str, second: str) -> bool:
    means = {row.model: row.mean.value for row in table.rows if row.mean}
    return means[first] > means[second]


def _shown_order(table: Matrix, first: str, second: str) -> int:
    """Return 1 if ranks show the first model as better, -1 for the second, 0 for neither."""
    ours, theirs = (ranks(table)[model] for model in (first, second))
    assert ours is not None and theirs is not None
    return 1 if ours[1] < theirs[0] else -1 if theirs[1] < ours[0] else 0


def _difference(rows: Sequence[Row], first: str, second: str) -> tuple[float, float, int]:
    """Return the difference of two models, its p value before it is adjusted, and the number of items."""
    by_models = {(pair.first.model, pair.second.model): pair for pair in pairs(rows)}
    pair = by_models[first, second]
    return pair.difference.value, pair.test.p, pair.items


# Horizons


def equal_horizons(runs: int, count: int = 12, seed: int = 8) -> Rate:
    """Return how often some of equal models are said to reach further than others."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(runs):
        rows = [row for model in names(count) for row in ladder(rng, model, LADDER, 10, 12.0, 1.0, ends=False)]
        hits += any(further(rows))
    return Rate(hits, runs)


def further(rows: Sequence[Row]) -> Iterator[bool]:
    """Yield of every model's 50 % horizon whether it is shown to be another one than the leader's."""
    yield from (is_shown(curve.p_adjusted) for curve in success_curves(rows))


class Plateau(NamedTuple):
    """What is said of a horizon near a plateau.

    Attributes:
        unidentified: How often it is said not to be identified.
        wrong: How often an interval without the truth is printed.
        printed: How often a printed interval holds the truth.
    """

    unidentified: Rate
    wrong: Rate
    printed: Rate


def plateau(runs: int, lapse: float = 0.15, share: float = 0.8, seed: int = 9) -> Plateau:
    """Return what is said of a share's horizon that is near the success rate of the easiest items."""
    rng, middle, slope = np.random.default_rng([seed, round(100 * lapse)]), 15.0, 5.0
    odds = (1 - lapse) / share - 1
    truth = middle * 2 ** (log(odds) / slope) if odds > 0 else -inf
    unidentified = wrong = 0
    for first in range(0, runs, _TOGETHER):
        models = names(min(_TOGETHER, runs - first))
        levels = (*LADDER, 29, 33, 41)
        rows = [row for model in models for row in ladder(rng, model, levels, 10, middle, slope, lapse=lapse)]
        for horizon in horizons(rows):
            if (horizon.axis, horizon.share) != ("dimension", share):
                continue
            if is_unidentified(horizon):
                unidentified += 1
            else:
                wrong += not _holds_horizon(horizon, truth)
    printed = runs - unidentified
    return Plateau(Rate(unidentified, runs), Rate(wrong, runs), Rate(printed - wrong, printed))


def is_unidentified(horizon: Horizon) -> bool:
    """Return whether it is said that a plateau leaves a horizon open: it is neither a number nor on a side."""
    return horizon.value is None and horizon.side not in ("below", "beyond", "never")


def _holds_horizon(horizon: Horizon, truth: float) -> bool:
    if horizon.side == "never":
        return truth == -inf
    low = -inf if horizon.low is None else horizon.low
    high = inf if horizon.high is None else horizon.high
    return low <= truth <= high

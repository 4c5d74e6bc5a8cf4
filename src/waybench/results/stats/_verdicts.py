"""From tests to verdicts: p values adjusted within a family of tests, ties, the conclusion, and a test of trends."""

import math
from collections.abc import Sequence
from enum import StrEnum
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np

from waybench.results.stats._cells import ALIKE
from waybench.results.stats._contributions import Difference, DifferenceTest
from waybench.results.stats._intervals import ALPHA, FEWEST_CLUSTERS, Numbers, holm_adjusted

MARGIN = 0.05  # of ties, as a share of the range
_CLUSTERS_OVER_MARGIN = 3  # for a tie: see `conclude`


class Verdict(StrEnum):
    """The conclusion from a comparison."""

    FIRST = "first"
    SECOND = "second"
    TIED = "tied"
    NOT_SHOWN = "not_shown"
    TOO_FEW = "too_few"
    DEPENDS = "depends"


class AdjustedP(NamedTuple):
    """A p value adjusted for the other tests of its family.

    Attributes:
        p: The adjusted p value; None for a test that left the family, since it could not have shown a difference.
        family: Number of tests in the family, without those that left it.
    """

    p: float | None
    family: int


def adjust_p_values(tests: Sequence[DifferenceTest]) -> list[AdjustedP]:
    """Return the p values of a family of tests, adjusted for the number of tests.

    A test whose least p value possible is too large for any result to be significant takes no part (Tarone,
    Biometrics 46, 1990, 515-522): K is the least k such that at most k tests have a least p value up to level / k, and
    tests with one above level / K leave the family. The least p value depends on the number of clusters, or of pairs
    that differ, and not on the direction of differences. Over the other tests, it is Holm's procedure. The level is
    `ALPHA`.
    """
    least_p_values = [test.least_p for test in tests]
    tarone_k = next((k for k in range(1, len(tests) + 1) if sum(p <= ALPHA / k for p in least_p_values) <= k), 1)
    members = [index for index, p in enumerate(least_p_values) if p <= ALPHA / tarone_k]
    adjusted = dict(zip(members, holm_adjusted([tests[index].p for index in members]), strict=True))
    return [AdjustedP(adjusted.get(index), len(members)) for index in range(len(tests))]


def min_clusters_for_tie(margin: float | None, size: float | None = 1.0) -> int:
    """Return the least number of clusters that can show a tie; 0 where no tie is defined.

    Args:
        margin: The greatest difference in a tie; None where there is none, as for unbounded metrics.
        size: The greatest difference possible, 1 where the margin is a share of it; None for unbounded metrics.
    """
    return math.ceil(_CLUSTERS_OVER_MARGIN * size / margin - 1e-9) if margin and size else 0


def is_interval_within(difference: Difference, margin: float | None) -> bool:
    """Return whether the 90 % interval of a difference is within a margin; False without a margin."""
    interval = difference.interval(1 - 2 * ALPHA)
    if margin is None or interval is None:
        return False
    low, high = interval
    return -margin <= low and high <= margin


def conclude(
    difference: Difference, adjusted: float | None, margin: float | None, *, lower_is_better: bool = False
) -> Verdict:
    """Return the verdict on a difference.

    A difference is shown if the adjusted p value is below 5 %. If it is not, a tie is shown if the difference's 90 %
    interval is within the margin, which is two one-sided tests at 5 % (Schuirmann, J. Pharmacokinetics and
    Biopharmaceutics 15, 1987), and if there are at least 3 clusters over the margin: what happens to none of n
    clusters, which are single items or maps of several, may still happen to 3 / n of all (Hanley and Lippman-Hand, JAMA
    249, 1983), which an interval from nearly equal clusters does not reflect. Otherwise no difference is shown or,
    where the test left its family, there are too few clusters.

    Args:
        difference: The difference of the first side from the second.
        adjusted: Its p value, adjusted (`adjust_p_values`); None if the test left its family.
        margin: The greatest difference in a tie; None where there is none, as for unbounded metrics.
        lower_is_better: Whether less is better.
    """
    if adjusted is not None and adjusted < ALPHA:
        return Verdict.FIRST if (difference.value > 0) != lower_is_better else Verdict.SECOND
    if is_interval_within(difference, margin) and difference.groups >= min_clusters_for_tie(margin, difference.range):
        return Verdict.TIED
    return Verdict.TOO_FEW if adjusted is None else Verdict.NOT_SHOWN


class TrendTest(NamedTuple):
    """Page's test of ordered alternatives.

    Attributes:
        statistic: How many standard deviations Page's L is above its mean under the null hypothesis: above 0 where
            values rise in the given order.
        test: The two-sided test. Its least p value is that of blocks which all rise, with the ties that there are; 1
            below six blocks, where the normal distribution is no good approximation.
    """

    statistic: float
    test: DifferenceTest


def trend_test(blocks: Sequence[Sequence[float]], order: Sequence[float]) -> TrendTest:
    """Return Page's test that values rise, or fall, over ordered treatments.

    Within each block the values are ranked, ties with their mean rank; L is the sum of ranks times the ranks of the
    treatments (Page, JASA 58, 1963, 216-230). If the treatments do not differ, every permutation of a block's ranks is
    equally likely, which gives L the variance with ties of the Friedman test (Hollander, Wolfe and Chicken,
    Nonparametric Statistical Methods, 2014, section 7.2): the sum over blocks of the squares of the centred ranks,
    times those of the treatments, over the number of treatments less one. The p value is two-sided, of the normal
    distribution.

    Args:
        blocks: Of each block (item, map) the value of each treatment (model).
        order: What treatments are ordered by, such as sizes; equal ones have their mean rank.
    """
    value_ranks = _centred_ranks(np.asarray(blocks, dtype=np.float64))
    order_ranks = _centred_ranks(np.asarray([order], dtype=np.float64))[0]
    variance = float(np.square(value_ranks).sum() * np.square(order_ranks).sum() / (len(order_ranks) - 1))
    if variance <= 0 or len(blocks) < FEWEST_CLUSTERS:
        return TrendTest(0.0, DifferenceTest(1.0, "page", 1.0))
    statistic = float((value_ranks @ order_ranks).sum()) / sqrt(variance)
    greatest = float((np.sort(value_ranks, axis=1) @ np.sort(order_ranks)).sum()) / sqrt(variance)
    return TrendTest(statistic, DifferenceTest(_two_sided_p(statistic), "page", _two_sided_p(greatest)))


def _two_sided_p(z: float) -> float:
    """Return the two-sided p value of a standard normal statistic."""
    return erfc(abs(z) / sqrt(2))


def _centred_ranks(rows: Numbers) -> Numbers:
    """Return the ranks within each row, ties with their mean rank, less the mean of all ranks."""
    n_less = (rows[:, :, None] - rows[:, None, :] > ALIKE).sum(axis=2)
    n_equal = (np.abs(rows[:, :, None] - rows[:, None, :]) <= ALIKE).sum(axis=2)
    return n_less + (n_equal - rows.shape[1]) / 2.0

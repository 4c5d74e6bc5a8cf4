"""A test of a monotone trend over ordered treatments in blocks: models by size, at items that all were given."""

from collections.abc import Sequence
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np

from waybench.results.stats._cells import ALIKE
from waybench.results.stats._contributions import DifferenceTest
from waybench.results.stats._intervals import FEWEST_CLUSTERS, Numbers


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
    ranks = _centred_ranks(np.asarray(blocks, dtype=np.float64))
    of_treatments = _centred_ranks(np.asarray([order], dtype=np.float64))[0]
    spread = float(np.square(ranks).sum() * np.square(of_treatments).sum() / (len(of_treatments) - 1))
    if spread <= 0 or len(blocks) < FEWEST_CLUSTERS:
        return TrendTest(0.0, DifferenceTest(1.0, "page", 1.0))
    statistic = float((ranks @ of_treatments).sum()) / sqrt(spread)
    greatest = float((np.sort(ranks, axis=1) @ np.sort(of_treatments)).sum()) / sqrt(spread)
    return TrendTest(statistic, DifferenceTest(_two_sided_p(statistic), "page", _two_sided_p(greatest)))


def _two_sided_p(z: float) -> float:
    """Return the two-sided p value of a standard normal statistic."""
    return erfc(abs(z) / sqrt(2))


def _centred_ranks(rows: Numbers) -> Numbers:
    """Return the ranks within each row, ties with their mean rank, less the mean of all ranks."""
    less = (rows[:, :, None] - rows[:, None, :] > ALIKE).sum(axis=2)
    equal = (np.abs(rows[:, :, None] - rows[:, None, :]) <= ALIKE).sum(axis=2)
    return less + (equal - rows.shape[1]) / 2.0

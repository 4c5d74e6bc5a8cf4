"""The power of ties: how many items it takes to show that two equal models are equal within a margin."""

import math
from typing import TYPE_CHECKING

from waybench._late import LazyModule
from waybench.results.stats._paired import ALPHA
from waybench.results.stats._power import (
    FEWEST_CLUSTERS,
    POWER,
    ItemsNeeded,
    PowerAssumptions,
    least_number,
    planned_errors,
)
from waybench.results.stats._verdicts import min_clusters_for_tie

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = LazyModule("scipy.stats")


def tie_power(assumptions: PowerAssumptions, margin: float, items: float, *, alpha: float = ALPHA) -> float:
    """Return the probability that two equal models are shown to be tied.

    They are if no difference is shown, and the interval of the difference is within the margin, which is two one-sided
    tests (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 1987), and if there are enough clusters
    (`min_clusters_for_tie`). Both tests are those of `Difference`, with a normal mean and an independent variance.

    Args:
        assumptions: What is assumed.
        margin: The greatest difference in a tie, on the scale from 0 to 1.
        items: Number of items, given to both.
        alpha: The level of each one-sided test, and of the test of a difference.
    """
    clusters = items / assumptions.size
    if clusters < max(FEWEST_CLUSTERS, min_clusters_for_tie(margin)):
        return 0.0
    planned = planned_errors(assumptions, 0.0, clusters)
    one_sided, two_sided = (float(stats.t.isf(tail, clusters - 1)) for tail in (alpha, alpha / 2))
    # Wilson's interval ends at the margin where the score test of the margin rejects, with the margin's own variance.
    within = margin - one_sided * planned.test * math.sqrt(1 - margin**2)
    limit = within.clip(0.0, two_sided * planned.test)
    return float(planned.weights @ (1 - 2 * stats.norm.sf(limit / planned.true)))


def items_for_tie(
    assumptions: PowerAssumptions, margin: float, *, alpha: float = ALPHA, power: float = POWER
) -> ItemsNeeded:
    """Return the least number of items that shows two equal models to be tied with a power (`tie_power`).

    Raises:
        ValueError: If no number of items has this power: a share of alpha of equal models are shown to differ.
    """
    if power >= 1 - alpha:
        raise ValueError(
            f"equal models are shown to differ with a probability of {alpha:g}, so that no number of items has a power "
            f"of {power:g} for a tie: lower --power or --alpha"
        )
    fewest = max(FEWEST_CLUSTERS, min_clusters_for_tie(margin))
    clusters = least_number(lambda n: tie_power(assumptions, margin, n * assumptions.size, alpha=alpha), power, fewest)
    return ItemsNeeded(items=math.ceil(clusters * assumptions.size - 1e-9), clusters=clusters, unpaired=None)

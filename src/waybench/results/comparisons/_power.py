"""Assumptions about the power of a comparison from the results of a pilot run."""

from collections.abc import Sequence

from waybench.results.comparisons import ItemScores
from waybench.results.comparisons._comparison import bounded
from waybench.results.results import ItemKey, grouped
from waybench.results.stats import FEWEST_ITEMS, PowerAssumptions, pilot_assumptions


def pilots(scores: Sequence[ItemScores], correlation: float) -> tuple[list[PowerAssumptions], list[str]]:
    """Return assumptions from models' results in a pilot, one for each test (`pilot_assumptions`).

    Args:
        scores: The models' scores.
        correlation: The correlation for tests that a single model was given.

    Returns:
        The assumptions, and a line on each test that gives none.
    """
    found: list[PowerAssumptions] = []
    problems: list[str] = []
    for some in grouped(scores, lambda one: one.test).values():
        name = f"{some[0].name}: {some[0].metric.title}"
        values, size = _scaled(some)
        if not size:
            problems.append(
                f"{name}: its values are unbounded, or far from their bounds, so a difference cannot be given as a "
                f"share of their range; give another --metric, for example solved"
            )
        elif max(map(len, values)) < FEWEST_ITEMS:
            problems.append(f"{name}: too few items (at least {FEWEST_ITEMS} are needed)")
        else:
            single = all(count <= 1 for one in some for count in one.attempts.values())
            found.append(pilot_assumptions(name, values, lambda key: key.cluster, correlation, single=single))
    return found, problems


def _scaled(some: Sequence[ItemScores]) -> tuple[list[dict[ItemKey, float]], float]:
    """Return the scores of one test on a scale from 0 to 1, and their range; 0 if it has no bounds."""
    metric = bounded(some)
    if metric.low is None or metric.high is None or metric.far_bounds:
        return [], 0.0
    low, size = metric.low, metric.high - metric.low
    return [{key: (value - low) / size for key, value in one.values.items()} for one in some], size

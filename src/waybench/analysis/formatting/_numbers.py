"""How a metric's numbers are written: in a terminal as on a page."""

from typing import TYPE_CHECKING

from waybench.core import Aggregate, Metric

if TYPE_CHECKING:
    from waybench.stats import Mean  # which loads scipy

NOTHING = "–"


def decimals(metric: Metric | None) -> int:
    """Return how many decimals a mean of a metric is written with.

    Three where its values lie within [0, 1], two for a plain number without bounds or whose bounds depend on the
    episode, so that it is written alike in all tables, and one for everything else: per cents, and what is no metric
    (times, numbers of requests).
    """
    if metric is None or metric.unit:
        return 1
    low, high = metric.bounds
    if metric.range is None and low is not None and high is not None:
        return 3 if high - low <= 1 else 1
    return 2


def mean_text(value: float | None, metric: Metric | None = None) -> str:
    """Return a mean for a table, without its unit."""
    return NOTHING if value is None else _signs(f"{value:,.{decimals(metric)}f}")


def change_text(value: float, metric: Metric | None = None) -> str:
    """Return a difference with its sign: "+0.120", "−3.0", "±0.000"."""
    shown = f"{value:+,.{decimals(metric)}f}"
    return _signs(shown) if any(digit in shown for digit in "123456789") else f"±{shown[1:]}"


def _signs(shown: str) -> str:
    zero = not any(digit in shown for digit in "123456789")
    return shown.lstrip("-") if zero else shown.replace("-", "−")


def too_few_text(mean: "Mean | None", metric: Metric | Aggregate | None) -> str:
    """Return how many of the units that a number's interval takes there are, as "10 of 100 worlds"; "" if enough.

    Args:
        mean: The number.
        metric: Its metric or aggregate, which declares how many it takes (`SampleSize`).
    """
    size = None if metric is None else metric.sample_size
    if mean is None or size is None or mean.clusters >= size.fewest:
        return ""
    return f"{mean.clusters:,} of {size.fewest:,} {size.units}"


def too_few_note(mean: "Mean | None", metric: Metric | Aggregate) -> str:
    """Return the same as sentences, with what happens with too few; "" if there are enough."""
    size = metric.sample_size
    if mean is None or size is None or not too_few_text(mean, metric):
        return ""
    return (
        f"{metric.title}: its interval takes {size.fewest:,} {size.units}, and there are {mean.clusters:,}. {size.doc}"
    )


def better_text(metric: Metric) -> str:
    """Return which direction is good, in words; "" where neither is."""
    return f"{metric.better} is better" if metric.better else ""

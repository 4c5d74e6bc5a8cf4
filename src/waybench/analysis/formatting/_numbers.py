"""How a metric's numbers are written: in a terminal as on a page."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from waybench.core import Aggregate, Metric

if TYPE_CHECKING:
    from waybench.stats import LostAttempts, Mean  # which loads scipy

NOTHING = "–"
LOST = (
    "n = … of …: some attempts have no result, because of infrastructure errors, an early stop or a record that does "
    "not replay. The numbers after it are the score if all of them were failures, and if all were as good as possible. "
    "Such a score has no rank."
)
NO_RANK = "no rank: attempts without a result"


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


def bounds_text(lost: "LostAttempts", show: Callable[[float], str]) -> str:
    """Return what a mean could be with the attempts that it lacks: "40.0 to 100.0", "at least 2.5", "unbounded".

    Args:
        lost: The attempts.
        show: Value -> text.
    """
    if lost.lowest is None or lost.highest is None:
        known = lost.highest if lost.lowest is None else lost.lowest
        return "unbounded" if known is None else f"at {'most' if lost.lowest is None else 'least'} {show(known)}"
    return f"{show(lost.lowest)} to {show(lost.highest)}"


def lost_text(
    lost: "LostAttempts | None", metric: Metric | None = None, show: Callable[[float], str] | None = None
) -> str:
    """Return what a mean lacks: "n = 4 of 10; 40.0 to 100.0" (see `LOST`); "" if it lacks no attempt.

    Args:
        lost: The attempts that it lacks.
        metric: The metric, whose means are written alike.
        show: Value -> text, where the mean is written in another way.
    """
    if lost is None:
        return ""
    bounds = bounds_text(lost, show or (lambda value: mean_text(value, metric)))
    return f"n = {lost.counted:,} of {lost.planned:,}; {bounds}"


def stored_lost_text(lost: Mapping[str, Any] | None) -> str:
    """Return the same of lost attempts in a JSON file, with three decimals; "" if it has none."""
    from waybench.stats import LostAttempts

    return lost_text(LostAttempts(**lost), show=lambda value: f"{value:.3f}") if lost else ""


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

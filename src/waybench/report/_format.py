"""Numbers and texts as the pages show them."""

from typing import NamedTuple

from waybench.analysis import Mean
from waybench.core import Metric

LONGEST_REPLY = 20_000
LONGEST_MESSAGE = 6_000  # ours, and mostly maps that are drawn beside it
LONGEST_UNSENT = 1_000
NOTHING = "–"


class Excerpt(NamedTuple):
    """A text from outside, cut for a page.

    Attributes:
        text: Its beginning.
        length: Characters of the whole.
    """

    text: str
    length: int

    @property
    def cut(self) -> bool:
        """Whether there is more than is shown."""
        return len(self.text) < self.length


def excerpt(text: str, longest: int) -> Excerpt:
    """Cut a text to what a page shows of it."""
    return Excerpt(text[:longest], len(text))


def is_share(metric: Metric) -> bool:
    """Return whether a metric's mean is a share, shown in per cent."""
    return (metric.low, metric.high, metric.unit) == (0, 1, "")


def mean_text(value: float | None, metric: Metric | None = None) -> str:
    """Return a mean for a table: one decimal, shares in per cent without the sign."""
    if value is None:
        return NOTHING
    shown = f"{100 * value if metric is not None and is_share(metric) else value:,.1f}"
    return shown.replace("-", "−")


def heading(metric: Metric) -> str:
    """Return a metric's name with its unit for a table's head: "Score, %"."""
    unit = "%" if is_share(metric) else metric.unit
    return f"{metric.title}, {unit}" if unit else metric.title


def interval_text(mean: Mean | None, metric: Metric | None = None) -> str:
    """Return an interval as "34.9 – 98.5"; "" if there is none."""
    if mean is None or mean.low is None or mean.high is None:
        return ""
    return f"{mean_text(mean.low, metric)} – {mean_text(mean.high, metric)}"


def value_text(value: float | None, metric: Metric) -> str:
    """Return one episode's value with its unit: "66.7 %", "8"."""
    if value is None:
        return NOTHING
    number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    number = number.replace("-", "−")
    return f"{number}\N{NO-BREAK SPACE}{metric.unit}" if metric.unit else number


def part(value: float | None, metric: Metric) -> float | None:
    """Return where a value lies between a metric's bounds, from 0 to 1; None if it has none."""
    if value is None or metric.low is None or metric.high is None:
        return None
    return round((value - metric.low) / (metric.high - metric.low), 3)


def percent(share: float | None) -> str:
    """Return a share in per cent, without the sign."""
    return NOTHING if share is None else f"{100 * share:.1f}"


def amount(value: float | None) -> str:
    """Return a count: "1,234"."""
    return NOTHING if value is None else f"{value:,.0f}"


def plural(count: int, one: str, several: str | None = None) -> str:
    """Return "1 maze", "2 mazes", "1,000 mazes"."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"

"""Numbers as reports and terminals write them, and text from outside made safe to show."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from waybench.core import Aggregate, Metric, Range, plural
from waybench.results.stats import IntervalEstimate, LostAttempts
from waybench.results.stats._intervals import FEWEST_CLUSTERS

__all__ = [
    "LOST",
    "NOTHING",
    "NO_RANK",
    "align_columns",
    "better_text",
    "bounds_text",
    "change_text",
    "known_ends",
    "lost_text",
    "mean_text",
    "one_line",
    "text_width",
    "too_few_note",
    "too_few_text",
    "visible",
]


# What has no look of its own or changes the look of what follows: control characters other than tab and newline, soft
# hyphen, marks and overrides of writing direction, zero-width and invisible signs, line separators, tags, halves of
# surrogate pairs, and code points that are no characters. Joiners (U+200C, U+200D) stay: scripts and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)

NOTHING = "–"
_ALIKE = 5e-4  # of a range: what no table tells from its end
LOST = (
    "n = … of …: some attempts have no result, because of infrastructure errors, an early stop or a record that does "
    "not replay. The numbers after it are the score if all of them were failures, and if all were as good as possible. "
    "Such a score has no rank."
)
NO_RANK = "no rank: attempts without a result"


def visible(text: str) -> str:
    """Return a text with invisible and text-moving characters written out: U+202E becomes "⟨U+202E⟩".

    Control characters become their pictures (NUL becomes "␀"), so that a terminal is not steered by them either. The
    result can always be encoded as UTF-8.
    """
    if text.isascii() and text.isprintable():  # as nearly all of a page's texts are
        return text
    return _HIDDEN.sub(_visible_sign, text.replace("\r\n", "\n"))


def _visible_sign(match: re.Match[str]) -> str:
    """Return the picture or the code of a hidden character."""
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def one_line(text: str, limit: int) -> str:
    """Return a visible text on one line, cut in the middle to at most `limit` columns."""
    flat = visible(" ".join(text[: 4 * limit].split()) if len(text) <= 4 * limit else f"{text[:limit]}…{text[-limit:]}")
    if flat.isascii() and len(flat) <= limit and flat.isprintable():
        return flat
    flat = flat.replace("\n", "␊").replace("\t", "␉")
    widths = [0, *accumulate(map(_sign_width, flat))]  # of the first 0, 1, ... characters
    if widths[-1] <= limit:
        return flat
    half = (limit - 1) // 2
    head = flat[: bisect_right(widths, limit - 1 - half) - 1]
    return f"{head}…{flat[bisect_left(widths, widths[-1] - half) :]}"


def text_width(text: str) -> int:
    """Return the columns of a terminal that a text takes: wide letters take two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_sign_width, text))


def _sign_width(sign: str) -> int:
    """Return the columns of a terminal that a character takes."""
    return 0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def decimals(metric: Metric | None) -> int:
    """Return the number of decimals of a metric's mean.

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
    """Return a mean with the metric's decimals, without its unit."""
    return NOTHING if value is None else _signs(f"{value:,.{decimals(metric)}f}")


def bounds_text(lost: LostAttempts, show: Callable[[float], str]) -> str:
    """Return the possible range of a mean with lost attempts: "40.0 to 100.0", "at least 2.5", "unbounded"."""
    if lost.lowest is None or lost.highest is None:
        bound = lost.highest if lost.lowest is None else lost.lowest
        return "unbounded" if bound is None else f"at {'most' if lost.lowest is None else 'least'} {show(bound)}"
    return f"{show(lost.lowest)} to {show(lost.highest)}"


def lost_text(
    lost: LostAttempts | None, metric: Metric | None = None, show: Callable[[float], str] | None = None
) -> str:
    """Return how many attempts have results, and the mean's range: "n = 4 of 10; 40.0 to 100.0"; "" if all have.

    Args:
        lost: The attempts that the mean lacks.
        metric: The metric, with whose decimals means are written.
        show: Returns a value as text, where means are written in another way.
    """
    if lost is None:
        return ""
    bounds = bounds_text(lost, show or (lambda value: mean_text(value, metric)))
    return f"n = {lost.n_with_result:,} of {lost.planned:,}; {bounds}"


def stored_lost_text(lost: Mapping[str, Any] | None) -> str:
    """Return `lost_text` for lost attempts in a JSON file, with three decimals; "" if there are none."""
    return lost_text(LostAttempts(**lost), show=lambda value: f"{value:.3f}") if lost else ""


def change_text(value: float, metric: Metric | None = None) -> str:
    """Return a difference with its sign: "+0.120", "−3.0", "±0.000"."""
    text = f"{value:+,.{decimals(metric)}f}"
    return _signs(text) if any(digit in text for digit in "123456789") else f"±{text[1:]}"


def known_ends(
    mean: IntervalEstimate | None, metric: Metric | None = None, *, bounds: Range | None = None, is_change: bool = False
) -> tuple[float, float] | None:
    """Return the ends of an interval as printed; None without an interval, or if the interval tells nothing.

    It tells nothing where it comes from one cluster, or where it covers all values that are possible. Files of numbers
    (JSON, CSV) have such ends all the same.

    Args:
        mean: The number with its interval.
        metric: The metric of the mean, with the least and the greatest value.
        bounds: The least and the greatest value, where they are not those of the metric.
        is_change: Whether the number is a difference of two means.
    """
    if mean is None or mean.low is None or mean.high is None or mean.clusters == 1:
        return None
    low, high = bounds or ((None, None) if metric is None else metric.bounds)
    if low is not None and high is not None:
        size = high - low
        low, high = (-size, size) if is_change else (low, high)
        if mean.low <= low + _ALIKE * size and mean.high >= high - _ALIKE * size:
            return None
    return mean.low, mean.high


def too_few_values_text(mean: IntervalEstimate | None) -> str:
    """Return "n = 3" in place of an unknown interval of fewer than six clusters; "" for more."""
    if mean is None or not (mean.is_few or mean.low is not None):
        return ""
    return f"n = {mean.n:,}" if mean.n == mean.clusters else f"n = {mean.n:,} in {plural(mean.clusters, 'cluster')}"


class ItemCounts(NamedTuple):
    """The numbers of items and attempts behind a score.

    Attributes:
        items: Number of its items; items that several tasks share are counted in each.
        attempts: Number of attempts at the items.
        solved: Number of its solved items, where the score is their share; None elsewhere.
    """

    items: int = 0
    attempts: int = 0
    solved: int | None = None

    @classmethod
    def total(cls, counts: Sequence["ItemCounts"]) -> "ItemCounts":
        """Return the sum of counts."""
        solved = [count.solved for count in counts if count.solved is not None]
        return cls(
            sum(count.items for count in counts),
            sum(count.attempts for count in counts),
            sum(solved) if len(solved) == len(counts) else None,
        )

    def few_text(self, clusters: int, *, solved: bool = True) -> str:
        """Return the text in place of a score's interval for fewer than six clusters; "" for more.

        Such as "1 item", "3 items: 2 solved", "2 items, 8 attempts", "40 items in 3 clusters".

        Args:
            clusters: Number of independent clusters that the score comes from.
            solved: Whether the number of solved items is wanted.
        """
        if clusters >= FEWEST_CLUSTERS or not self.items:
            return ""
        text = plural(self.items, "item")
        if self.items >= FEWEST_CLUSTERS:
            text += f" in {plural(clusters, 'cluster')}"
        elif self.attempts != self.items and self.solved is None:
            text += f", {plural(self.attempts, 'attempt')}"
        return f"{text}: {self.solved:,} solved" if solved and self.solved is not None and self.items > 1 else text


def _signs(text: str) -> str:
    """Return a number with a typographic minus, and without a sign if it is zero."""
    zero = not any(digit in text for digit in "123456789")
    return text.lstrip("-") if zero else text.replace("-", "−")


def too_few_text(mean: IntervalEstimate | None, metric: Metric | Aggregate | None) -> str:
    """Return how many of the required units a number has, such as "10 of 100 worlds"; "" if enough."""
    size = None if metric is None else metric.sample_size
    if mean is None or size is None or mean.clusters >= size.fewest:
        return ""
    return f"{mean.clusters:,} of {size.fewest:,} {size.units}"


def too_few_note(mean: IntervalEstimate | None, metric: Metric | Aggregate) -> str:
    """Return a sentence on too few units, and what follows from it; "" if there are enough."""
    size = metric.sample_size
    if mean is None or size is None or not too_few_text(mean, metric):
        return ""
    return (
        f"{metric.title}: its interval takes {size.fewest:,} {size.units}, and there are {mean.clusters:,}. {size.doc}"
    )


def better_text(metric: Metric) -> str:
    """Return which direction of a metric is better, in words; "" where neither is."""
    return f"{metric.better} is better" if metric.better else ""


def metric_with_direction(metric: Metric) -> str:
    """Return a metric's title with the direction that is better: "Score, higher is better"."""
    return ", ".join(part for part in (metric.title, better_text(metric)) if part)


def difference_text(difference: IntervalEstimate, metric: Metric) -> str:
    """Return a difference with its interval: "−12.5 (−20.1 to −4.9)"."""
    ends = known_ends(difference, metric, is_change=True)
    return interval_text(difference.value, ends, lambda value: change_text(value, metric))


def interval_text(value: float, ends: tuple[float, float] | None, show: Callable[[float], str]) -> str:
    """Return a number with the ends of its interval: "7 (5 to 9)"; `show` formats numbers."""
    return show(value) if ends is None else f"{show(value)} ({show(ends[0])} to {show(ends[1])})"


def p_text(p: float | None) -> str:
    """Return a p value with two significant digits: "0.012", "< 0.001"."""
    return NOTHING if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def adjusted_p_text(p: float | None, adjusted: float | None, show: Callable[[float], str] = p_text) -> str:
    """Return an adjusted p value as text; the unadjusted one, marked as such, for a test that left its family.

    Args:
        p: The test's own p value; None without a test.
        adjusted: The adjusted p value; None where no result could have been significant, so that the test left its
            family.
        show: Returns a p value as text.
    """
    if p is None:
        return NOTHING
    return f"{show(p)} unadjusted" if adjusted is None else show(adjusted)


def counts_text(values: Iterable[str]) -> str:
    """Return the non-empty values by frequency: "all", or "all 28, none 2" if there are several."""
    counts = Counter(filter(None, values)).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{value} {count:,}" for value, count in counts)


def align_columns(lines: Sequence[Sequence[str]], kinds: Sequence[str] = ()) -> str:
    """Return a table as text, its columns aligned.

    Args:
        lines: The cells; the first line is the table's head, and the first column is aligned to the left.
        kinds: Of each line, what it is; where that changes there is a rule. By default there is one below the head.
    """
    columns = [max(map(text_width, column)) for column in zip(*lines, strict=True)]
    rule = "-" * (sum(columns) + 2 * (len(columns) - 1))
    marks = kinds or ["", *("line" for _ in lines[1:])]
    out: list[str] = []
    for number, (first, *values) in enumerate(lines):
        if number and marks[number] != marks[number - 1]:
            out.append(rule)
        cells = [" " * (size - text_width(cell)) + cell for cell, size in zip(values, columns[1:], strict=True)]
        out.append("  ".join([first + " " * (columns[0] - text_width(first)), *cells]).rstrip())
    return "\n".join(out)

"""Numbers, texts and tasks as the pages show them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor, log10
from typing import Any, NamedTuple

from waybench.core import Environment, Metric, Presentation
from waybench.envs import registry
from waybench.results.formatting import NOTHING, known_ends, lost_text, mean_text, too_few_text, too_few_values_text
from waybench.results.results import RunKey
from waybench.results.stats import IntervalEstimate

# Numbers of characters.
LONGEST_REPLY = 20_000
REPLIES_OF_A_PAGE = 3_000_000  # of all replies of a page, beyond which each is cut shorter
LONGEST_MESSAGE = 6_000  # of an environment, mostly a map that is drawn beside it
OPENING_OF_AN_EPISODE = 8_000  # of a prefix that prompts share; a longer one is not on each episode's page
PROMPT_OF_AN_EPISODE = 60_000  # of all messages of an episode
LONGEST_OPENING = 40_000  # of a prefix that prompts share, on the page where it is shown once
BOARDS_OF_A_PAGE = 1_000_000  # of all drawings of a page, beyond which items have none there
BOARDS_WITHOUT_SCRIPTS = 4_000  # in a report that leaves out replays; scripts draw the others, which are packed
OPENINGS_OF_A_PAGE = 2_000_000
LONGEST_UNSENT = 1_000
SHORT = 200  # of an answer that is shown again even if it is the same as the answer before


class Excerpt(NamedTuple):
    """A text from outside, cut for a page.

    Attributes:
        text: Its beginning.
        length: Characters of the whole text.
        end: Its end if the text was cut in its middle; otherwise "".
    """

    text: str
    length: int
    end: str = ""

    @property
    def cut(self) -> bool:
        """Whether the text was cut."""
        return len(self.text) + len(self.end) < self.length


def excerpt(text: str, longest: int) -> Excerpt:
    """Return at most the first `longest` characters of a text."""
    return Excerpt(text[:longest], len(text))


def excerpt_with_end(text: str, longest: int) -> Excerpt:
    """Return a text cut in its middle to `longest` characters: a prompt often ends with the question."""
    if len(text) <= longest:
        return excerpt(text, longest)
    end_length = longest // 6
    return Excerpt(text[: longest - end_length], len(text), text[len(text) - end_length :])


def characters_per_text(total: int, count: int, most: int) -> int:
    """Return how many characters of each of `count` texts are shown, so that all texts have `total` characters.

    Each has at least `LONGEST_UNSENT` and at most `most` characters.
    """
    return min(most, max(LONGEST_UNSENT, total // max(count, 1)))


def metric_heading(metric: Metric) -> str:
    """Return a metric's name with its unit for a table header: "Score, %"."""
    return f"{metric.title}, {metric.unit}" if metric.unit else metric.title


def metric_in_sentence(metric: Metric) -> str:
    """Return a metric's name for the middle of a sentence: "score", but "Err_min" and "ACC"."""
    return metric.title.lower() if re.fullmatch(r"[A-Z][a-z -]+", metric.title) else metric.title


def metric_caption_heading(metric: Metric) -> str:
    """Return a metric's name with its unit and, where less is better, with a remark: "Err_min (lower is better)"."""
    return f"{metric_heading(metric)} (lower is better)" if metric.better == "lower" else metric_heading(metric)


def interval_text(mean: IntervalEstimate | None, metric: Metric | None = None) -> str:
    """Return an interval as "34.9 – 98.5"; "" for None.

    Too few values for an interval give their number; too few items for a reliable one add "too few". A mean that lacks
    attempts gives what it would be with them (`lost_text`).
    """
    if mean is None:
        return ""
    if mean.lost is not None:
        return lost_text(mean.lost, metric)
    ends = known_ends(mean, metric)
    if ends is None:
        return too_few_values_text(mean)
    low, high = ends
    few = too_few_text(mean, metric)
    return f"{mean_text(low, metric)} – {mean_text(high, metric)}{f' (too few: {few})' if few else ''}"


def value_text(value: float | None, metric: Metric) -> str:
    """Return one episode's value with its unit or label: "66.7 %", "8", "0.125", "hard"; a dash for None."""
    if value is None:
        return NOTHING
    if metric.labels:
        return metric.labels[int(value)]
    number = f"{value:,.0f}".replace("-", "−") if float(value).is_integer() else mean_text(value, metric)
    return f"{number}\N{NO-BREAK SPACE}{metric.unit}" if metric.unit else number


def quality_between_bounds(value: float | None, metric: Metric) -> float | None:
    """Return a value from 0, a metric's worst bound, to 1, its best; None without bounds or a better direction."""
    low, high = metric.bounds
    if value is None or low is None or high is None or not metric.better:
        return None
    share = (value - low) / (high - low)
    return round(1 - share if metric.better == "lower" else share, 3)


def mean_quality(mean: IntervalEstimate | None, metric: Metric) -> float | None:
    """Return a mean from 0 to 1 (see `quality_between_bounds`); None where it lacks attempts, to have no shade."""
    return None if mean is None or mean.lost else quality_between_bounds(mean.value, metric)


def percent_text(share: float | None) -> str:
    """Return a share in per cent, without the sign: "66.7"; a dash for None."""
    return NOTHING if share is None else f"{100 * share:.1f}"


def percent_interval_text(share: IntervalEstimate | None) -> str:
    """Return the interval of a share in per cent: "12.3 – 45.6" (see `interval_text`)."""
    if share is not None and share.lost is not None:
        return lost_text(share.lost, show=percent_text)
    ends = known_ends(share, bounds=(0, 1))
    return too_few_values_text(share) if ends is None else f"{percent_text(ends[0])} – {percent_text(ends[1])}"


def count_text(value: float | None) -> str:
    """Return a count: "1,234"; a dash for None."""
    return NOTHING if value is None else f"{value:,.0f}"


def to_anchor(text: str) -> str:
    """Return a text as an id in a page or a file's name: "search/bfs" as "search-bfs"."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def dollars_text(dollars: float | None) -> str:
    """Return an amount of dollars: "$0.0012", "$12.40"; two significant digits below 10 cents, a dash for None."""
    if dollars is None:
        return NOTHING
    n_decimals = 2 if dollars >= 0.1 or not dollars else 1 - floor(log10(dollars))
    return f"${dollars:,.{n_decimals}f}"


def three_digit_text(value: float) -> str:
    """Return a number with three significant digits: "0.00123", "45.6", "1,234"."""
    if not value:
        return "0"
    n_decimals = max(0, 2 - floor(log10(abs(value))))
    return f"{value:,.{n_decimals}f}"


def presentation_of(env_id: str) -> Presentation:
    """Return an environment's presentation, with the environment's title if it declares no other."""
    env = registry.load(env_id)
    return replace(env.presentation, title=env.presentation.title or env.title)


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as the tables of a report show it; `pages` has the file names of the pages of all groups' results."""

    env: Environment[Any, Any, Any]
    presentation: Presentation
    pages: Mapping[RunKey, str]

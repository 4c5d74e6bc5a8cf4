"""The ledger: tokens, time and cost of each model with its settings, and the items that it solved."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, TypeVar, cast

from waybench.core import End
from waybench.results.formatting import counts_text
from waybench.results.frames import Column, Frame, group_frame
from waybench.results.results import (
    Cluster,
    GroupResult,
    ItemKey,
    Row,
    RunKey,
    attempts_by_item,
    group_by,
    group_by_item,
)
from waybench.results.stats import IntervalEstimate, clustered_mean

THOUSAND = 1000.0

N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry(GroupResult):
    """Tokens, time and cost of one model, at one provider's server, with its settings and the prompt's, at one task.

    Its columns say what its fields are. Attempts are those that count (`Row.is_included`). `answered` has, for each
    model that answered, as the provider calls it, the number of episodes with an answer of it.
    """

    answered: Mapping[str, int]
    episodes: int
    errors: int
    aside: int
    attempts: int
    items: int
    solved: int | None
    known: int
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    reasoning_returned: str
    reasoning_sent_back: str
    cached_tokens: int | None
    seconds: float | None
    cost: float | None
    lost_tokens: int | None
    lost_cost: float | None
    reasoning: IntervalEstimate | None
    per_thousand: IntervalEstimate | None
    per_dollar: IntervalEstimate | None

    @property
    def stand_ins(self) -> list[str]:
        """The names of the answering models that differ from the requested one, its provider's prefix aside."""
        requested = self.group.model
        return [name for name in self.answered if name != requested and not requested.endswith(f"/{name}")]

    def mean_per_item(self, total: float | None) -> float | None:
        """Return the mean of a total over items, all attempts at each together; None if it is not known.

        Args:
            total: The total of the attempts whose tokens are known, such as `cost`.
        """
        return None if total is None or not self.known else total / self.known * self.attempts / self.items


def ledger(all_rows: Iterable[Row]) -> list[LedgerEntry]:
    """Return an entry with tokens, time, cost and solved items for every model, task and settings.

    What is solved for a token or a dollar is a ratio of sums over items, and its interval is that of a ratio, clustered
    as the items were drawn (see `clustered_mean`; Cochran, Sampling Techniques, 3rd ed. 1977, chapter 6): easy items
    take fewer tokens and are solved more often, so that no mean of the items' own ratios would do. Items with an
    attempt of which the tokens are not known are left out of the ratio, and so are those that cost nothing.
    """
    return [_ledger_entry(group, rows) for group, rows in group_by(all_rows, lambda row: row.group).items()]


def _ledger_entry(group: RunKey, rows: Sequence[Row]) -> LedgerEntry:
    """Return the entry of one model, task and settings."""
    items = attempts_by_item(group_by_item(rows))
    included = [row for attempts in items.values() for row in attempts]
    lost = [row for row in rows if not row.is_included]
    guided = any(row.guided for row in rows)
    return LedgerEntry(
        group=group,
        answered=dict(Counter(name for row in rows for name in row.answered)),
        episodes=len(rows),
        errors=sum(row.error and not row.exclusion_reason for row in rows),
        aside=sum(bool(row.exclusion_reason) for row in rows),
        attempts=len(included),
        items=len(items),
        solved=None if guided else sum(map(_is_item_solved, items.values())),
        known=sum(row.input_tokens is not None for row in included),
        input_tokens=_total_of_known(row.input_tokens for row in included),
        output_tokens=_total_of_known(row.output_tokens for row in included),
        reasoning_tokens=_total_of_known(row.reasoning_tokens for row in included),
        reasoning_returned=counts_text(row.reasoning_returned for row in rows),
        reasoning_sent_back=counts_text(row.reasoning_sent_back for row in rows),
        cached_tokens=_total_of_known(row.cached_tokens for row in included),
        seconds=_total_of_known(row.seconds for row in included),
        cost=_total_of_known(row.cost for row in included),
        lost_tokens=_total_of_known(row.tokens for row in lost),
        lost_cost=_total_of_known(row.cost for row in lost),
        reasoning=_ratio_over_items(items, (lambda item: total_if_known(row.reasoning_tokens for row in item)), len),
        per_thousand=None if guided else _ratio_over_items(items, _is_item_solved, _thousand_tokens),
        per_dollar=None
        if guided
        else _ratio_over_items(items, _is_item_solved, lambda item: total_if_known(row.cost for row in item)),
    )


def _is_item_solved(attempts: Sequence[Row]) -> bool:
    """Return whether some attempt at an item solved it."""
    return any(row.end == End.SOLVED for row in attempts)


def _thousand_tokens(attempts: Sequence[Row]) -> float | None:
    """Return the tokens of all attempts at an item, in thousands; None if those of one are not known."""
    tokens = total_if_known(row.tokens for row in attempts)
    return None if tokens is None else tokens / THOUSAND


def _ratio_over_items(
    attempts_by_item: Mapping[ItemKey, Sequence[Row]],
    numerator_of: Callable[[Sequence[Row]], float | None],
    denominator_of: Callable[[Sequence[Row]], float | None],
) -> IntervalEstimate | None:
    """Return the ratio of two sums over items, with its interval; items at which either is unknown are left out."""
    numerators: list[float] = []
    denominators: list[float] = []
    clusters: list[Cluster] = []
    for key, attempts in attempts_by_item.items():
        numerator, denominator = numerator_of(attempts), denominator_of(attempts)
        if numerator is not None and denominator:
            numerators.append(float(numerator))
            denominators.append(float(denominator))
            clusters.append(key.cluster)
    return clustered_mean(numerators, clusters, 0.0, None, denominators)


def total_if_known(values: Iterable[N | None]) -> N | None:
    """Return the sum of values; None if one of them is None, or without values."""
    numbers = list(values)
    return None if None in numbers else _total_of_known(numbers)


def _total_of_known(values: Iterable[N | None]) -> N | None:
    """Return the sum of the known values; None if no value is known."""
    numbers: list[N] = [value for value in values if value is not None]
    if any(isinstance(value, float) for value in numbers):
        return cast(N, fsum(numbers))
    return sum(numbers[1:], numbers[0]) if numbers else None


def ledger_frame(entries: Sequence[LedgerEntry]) -> Frame:
    """Return the frame of the ledger: a row for each entry. Unknown values are None."""
    doc = (
        "One row for each scored unit: a model at a task with its settings, its prompt options and "
        "its server. Tokens, cost and time of all attempts that count, and the items solved."
    )
    return group_frame("ledger", doc, _FACTS, entries, lambda entry: entry.group)


# Of attempts, and of sums of attempts.
REASONING_TOKENS: Column[Any] = Column(
    "reasoning_tokens",
    int,
    "Output tokens that the provider says were spent on reasoning, 0 also where it says nothing; null if tokens "
    "are not known.",
    unit="tokens",
)
REASONING: tuple[Column[Any], ...] = (
    Column(
        "reasoning_returned",
        str,
        "In which form the provider returned reasoning: text, a summary, or encrypted, several joined by +; null if it "
        "returned none, or if it is not known.",
        lambda source: source.reasoning_returned or None,
    ),
    Column(
        "reasoning_sent_back",
        str,
        "What of the reasoning of earlier replies later requests repeated: all, that of the last reply with some, "
        "none, or some; null if there was nothing to repeat, or if it is not known.",
        lambda source: source.reasoning_sent_back or None,
    ),
)
TIME_AND_COST: tuple[Column[Any], ...] = (
    Column("seconds", float, "Time spent on the replies; null if not known.", unit="s"),
    Column("cost", float, "What it cost; null if tokens or prices are not known.", unit="USD"),
)
_FACTS: tuple[Column[LedgerEntry], ...] = (
    Column(
        "answered",
        str,
        "The names of the models that answered, as the provider reports them; null where it does not.",
        lambda entry: ", ".join(entry.answered) or None,
    ),
    Column("episodes", int, "All episodes, excluded ones too."),
    Column("errors", int, "Infrastructure errors among them; all other columns exclude them."),
    Column("set_aside", int, "Excluded episodes among them.", "aside"),
    Column("attempts", int, "Attempts that count."),
    Column("items", int, "Items with at least one attempt that counts."),
    Column("solved", int, "Items with a solved attempt; null with a teacher."),
    Column("known", int, "Attempts whose tokens are known."),
    Column("input_tokens", int, "Tokens of all requests; null if not known.", unit="tokens"),
    Column("output_tokens", int, "Tokens of all replies, reasoning included, likewise.", unit="tokens"),
    REASONING_TOKENS,
    *REASONING,
    Column(
        "cached_tokens", int, "Input tokens that the provider says it read from its cache, likewise.", unit="tokens"
    ),
    *TIME_AND_COST,
    Column("lost_tokens", int, "Tokens of excluded episodes; null if not known.", unit="tokens"),
    Column("lost_cost", float, "What these cost; null if not known.", unit="USD"),
    Column("reasoning", IntervalEstimate, "Mean reasoning tokens of an attempt.", unit="tokens"),
    Column("per_thousand", IntervalEstimate, "Solved items for each 1,000 tokens of all attempts."),
    Column("per_dollar", IntervalEstimate, "Solved items for each dollar that all attempts cost.", unit="1/USD"),
)

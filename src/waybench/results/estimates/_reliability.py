"""Reliability over several attempts at an item: pass@k and pass^k."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb

from waybench.core import Metric
from waybench.results.estimates._bounds import Items
from waybench.results.results import ItemKey, Row, attempts_by_item
from waybench.results.results._rows import ItemValues
from waybench.results.stats import IntervalEstimate

PASS_DOC = "pass@k: the share of items that at least one of k attempts solves; pass^k: that all k attempts solve"

PASS_ANY, PASS_ALL = (
    Metric(name=name, of=lambda record: None, title=title, doc=doc, low=0, high=1)
    for name, title, doc in (
        ("pass_any", "pass@k", "Probability that at least one of k attempts at an item succeeds."),
        ("pass_all", "pass^k", "Probability that all k attempts at an item succeed."),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRates:
    """Means over items of the probability that some, or all, of k attempts at an item succeed.

    Attributes:
        k: Number of attempts.
        any_of: pass@k: that at least one succeeds.
        all_of: pass^k: that all of them do.
    """

    k: int
    any_of: IntervalEstimate
    all_of: IntervalEstimate


def pass_rates(
    items: Items,
    head: Metric,
    mean_over_items: Callable[[Callable[[Items], IntervalEstimate | None]], IntervalEstimate | None],
) -> tuple[PassRates, ...]:
    """Return pass@k and pass^k for k = 2, 4, 8, ..., and for all attempts.

    Of an item with c successes in n attempts they are 1 - C(n - c, k) / C(n, k) (Chen et al., "Evaluating large
    language models trained on code", arXiv:2107.03374) and C(c, k) / C(n, k) (Yao et al., "tau-bench",
    arXiv:2406.12045): the shares of all choices of k attempts, which are unbiased. Items with fewer than k attempts are
    left out.

    Args:
        items: The attempts that count by item.
        head: The headline metric, of which success is 1 and failure 0.
        mean_over_items: Returns a mean over items, as a given function computes it, with its lost attempts.

    Returns:
        The rates; none where an item has a single attempt, or the metric has other values than 0 and 1.
    """
    attempts = [row for item in items.values() for row in item]
    values = {row.metrics[head.name] for row in attempts} - {None}
    sizes = {row.sizes.get(head.name, 1) for row in attempts}
    if head.better != "higher" or head.bounds != (0, 1) or not (values <= {0, 1} and sizes <= {0, 1}):
        return ()
    most = max((len(_attempt_successes(item, head)) for item in attempts_by_item(items).values()), default=0)
    rates: list[PassRates] = []
    for k in _attempt_counts(most):
        any_of = mean_over_items(partial(_mean_pass_rate, head=head, k=k, share_of=pass_any))
        all_of = mean_over_items(partial(_mean_pass_rate, head=head, k=k, share_of=pass_all))
        if any_of and all_of:
            rates.append(PassRates(k=k, any_of=any_of, all_of=all_of))
    return tuple(rates)


def _attempt_counts(most: int) -> Iterator[int]:
    """Yield the powers of two from 2 to below the greatest number of attempts, and this number."""
    k = 2
    while k < most:
        yield k
        k *= 2
    if most > 1:
        yield most


def _attempt_successes(attempts: Sequence[Row], head: Metric) -> list[bool]:
    """Return whether each attempt at an item succeeds; attempts without a value are left out."""
    results = ((row.metrics[head.name], row.sizes.get(head.name, 1.0)) for row in attempts)
    return [value > size / 2 for value, size in results if value is not None and size]


def pass_any(attempts: int, solved: int, k: int) -> float:
    """Return pass@k of an item: the share of choices of k of its attempts with at least one solved."""
    return 1 - comb(attempts - solved, k) / comb(attempts, k)


def pass_all(attempts: int, solved: int, k: int) -> float:
    """Return pass^k of an item: the share of choices of k of its attempts that are all solved."""
    return comb(solved, k) / comb(attempts, k)


def _mean_pass_rate(
    items: Items, *, head: Metric, k: int, share_of: Callable[[int, int, int], float]
) -> IntervalEstimate | None:
    """Return the mean of pass@k or pass^k, which `share_of` computes, over items with k attempts or more."""
    shares: dict[ItemKey, float] = {}
    for key, item in attempts_by_item(items).items():
        results = _attempt_successes(item, head)
        if len(results) >= k:
            shares[key] = share_of(len(results), sum(results), k)
    return ItemValues(shares, None).mean((0, 1))

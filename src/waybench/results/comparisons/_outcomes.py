"""The conclusion of all comparisons of two models at several tasks, in a sentence."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from waybench.core import plural, short_count
from waybench.results.comparisons._comparison import Comparison
from waybench.results.results import Row, RunKey, group_by
from waybench.results.stats._intervals import ALPHA
from waybench.results.stats._verdicts import Verdict


@dataclass(frozen=True, slots=True)
class ItemCost:
    """Mean tokens of requests and replies, and mean dollars, of an attempt at an item; None if not known."""

    tokens: float | None
    cost: float | None


def item_costs(rows: Iterable[Row]) -> dict[RunKey, ItemCost]:
    """Return the mean tokens and dollars of an attempt of each group, where they are known."""
    costs: dict[RunKey, ItemCost] = {}
    for group, of_group in group_by(rows, lambda row: row.group).items():
        tokens = [row.tokens for row in of_group if row.tokens is not None]
        dollars = [row.cost for row in of_group if row.cost is not None]
        costs[group] = ItemCost(
            sum(tokens) / len(tokens) if tokens else None, sum(dollars) / len(dollars) if dollars else None
        )
    return costs


@dataclass(frozen=True, slots=True)
class Outcome:
    """The conclusion of the comparisons of two models.

    Attributes:
        first: The first model's name, in a line.
        comparisons: Their comparisons, one for each task, whose p values are adjusted together.
    """

    first: str
    second: str
    comparisons: Sequence[Comparison]
    costs: Mapping[RunKey, ItemCost]

    @property
    def with_enough_items(self) -> list[Comparison]:
        """The comparisons with enough items to show a difference, the largest in favour of the first side first."""
        enough = [comparison for comparison in self.comparisons if comparison.verdict is not Verdict.TOO_FEW]
        return sorted(enough, key=lambda comparison: -(_signed_share(comparison) or 0.0))

    @property
    def too_few(self) -> list[Comparison]:
        """The comparisons with too few items to show a difference."""
        return [comparison for comparison in self.comparisons if comparison.verdict is Verdict.TOO_FEW]

    @property
    def n_shown(self) -> int:
        """Number of tasks at which one model is shown to be better."""
        return sum(pair.verdict in (Verdict.FIRST, Verdict.SECOND) for pair in self.comparisons)

    @property
    def text(self) -> str:
        """The verdict: "A is better than B on 2 of the 3 tasks that can tell; 13 need more items: --limit 10"."""
        telling, too_few = self.with_enough_items, self.too_few
        better = {side: sum(pair.verdict is side for pair in telling) for side in (Verdict.FIRST, Verdict.SECOND)}
        tied = sum(pair.verdict is Verdict.TIED for pair in telling)
        names = {Verdict.FIRST: self.first, Verdict.SECOND: self.second}
        if not telling:
            return f"No task can tell {self.first} and {self.second} apart{self._more_items_text()}."
        of = (
            f"of the {plural(len(telling), 'task')} that can tell"
            if len(telling) > 1
            else "at the one task that can tell"
        )
        if len(telling) == len(self.comparisons):
            of = f"of {plural(len(telling), 'task')}" if len(telling) > 1 else "at the task that both ran"
        leading = max(better, key=lambda side: better[side])
        if better[leading]:
            count = f"on {better[leading]} " if len(telling) > 1 else ""
            other = Verdict.SECOND if leading is Verdict.FIRST else Verdict.FIRST
            said = f"{names[leading]} is better than {names[other]} {count}{of}"
            said += f", {names[other]} on {better[other]}" if better[other] else ""
        else:
            where = f"on any {of}" if len(telling) > 1 else of
            said = f"No difference between {self.first} and {self.second} is shown {where}"
        said += f"; {tied} {'is' if tied == 1 else 'are'} tied" if tied else ""
        return said + (self._more_items_text() if too_few else "") + "."

    def _more_items_text(self) -> str:
        """Return how many items to add at tasks with too few, with the option to type."""
        needs: dict[str, list[int]] = {}
        for pair in self.too_few:
            if needed := self._option_for_more_items(pair):
                needs.setdefault(needed[0], []).append(needed[1])
        count = f"; {len(self.too_few)} {'needs' if len(self.too_few) == 1 else 'need'} more items"
        flags = " and ".join(f"{flag}{max(numbers)}" for flag, numbers in needs.items())
        return f"{count}: {flags}{self._price_text()}" if flags else count

    def _min_differing_items(self) -> int:
        """Return the least number of independent, differing items that can show a difference at a task."""
        return math.ceil(1 + math.log2(max(len(self.comparisons), self.comparisons[0].family_size) / ALPHA))

    def _growth(self, pair: Comparison) -> float | None:
        """Return the factor by which a task's items must grow to show a difference; None where no item differs."""
        has = 1 - math.log2(pair.test.least_p)  # items, or pairs that differ
        return max(1.0, self._min_differing_items() / has) if has > 1 else None

    def _option_for_more_items(self, pair: Comparison) -> tuple[str, int] | None:
        """Return the option of `waybench run` that gives a task enough items, and its value.

        Where items share maps or the like, more of these are needed: more items of the same ones tell little.
        """
        growth, group = self._growth(pair), pair.first.group
        if growth is None:
            return None
        levels = len({key.level for key in pair.keys})
        clusters = len({key.cluster for key in pair.keys})
        if clusters < pair.items:
            option = group.environment.items.cluster_count if group else ""
            return (f"-T {option}=", math.ceil(clusters / levels * growth)) if option else None
        return "--limit ", math.ceil(pair.items / levels * growth)

    def _price_text(self) -> str:
        """Return the cost of the additional items for both models: " (about 120k tokens more)"; "" if not known."""
        tokens = cost = 0.0
        for pair in self.too_few:
            growth = self._growth(pair)
            more = (
                0
                if growth is None or self._option_for_more_items(pair) is None
                else math.ceil(pair.items * (growth - 1))
            )
            for side in (pair.first, pair.second):
                spent = self.costs.get(side.group) if side.group else None
                tokens += more * (spent.tokens or 0.0) if spent else 0.0
                cost += more * (spent.cost or 0.0) if spent else 0.0
        words = [f"{short_count(tokens)} tokens"] if tokens >= 1 else []
        words += [f"{cost:.2g} USD"] if cost > 0 else []
        return f" (about {', '.join(words)} more)" if words else ""


def _signed_share(comparison: Comparison) -> float | None:
    """Return the difference as a share of its range, above 0 if the first side is better; None without a range."""
    size = comparison.paired_difference.range
    if not size:
        return None
    return (-1 if comparison.metric.better == "lower" else 1) * comparison.paired_difference.value / size


def outcomes(
    comparisons: Iterable[Comparison], costs: Mapping[RunKey, ItemCost], order: Sequence[str] = ()
) -> list[Outcome]:
    """Return the outcome of each pair of models.

    Args:
        comparisons: Comparisons of any models.
        costs: Mean costs of an attempt of each group, as far as known.
        order: The models, the best one first, which is the first side of each pair; others are left out. By default
            all pairs are taken as they are, in the order of their comparisons.
    """
    places = {model: number for number, model in enumerate(order)}

    def model_pair(pair: Comparison) -> tuple[str, str]:
        return pair.first.model, pair.second.model

    def rank_pair(pair: Comparison) -> list[int]:
        """Return the ranks of both models in `order`."""
        return [places.get(model, 0) for model in model_pair(pair)]

    chosen = [pair for pair in comparisons if not order or places.keys() >= {*model_pair(pair)}]
    oriented = [pair.swapped if rank_pair(pair)[0] > rank_pair(pair)[1] else pair for pair in chosen]
    by_pair = group_by(oriented, lambda pair: (*model_pair(pair), *pair.names))
    ranked = sorted(by_pair.values(), key=lambda pairs: rank_pair(pairs[0]))
    return [Outcome(*_pair_names(pairs[0]), pairs, costs) for pairs in ranked]


def _pair_names(pair: Comparison) -> tuple[str, str]:
    """Return the names of both sides; of one model before and after a change, with "in A" and "in B"."""
    first, second = pair.names
    is_one = (pair.first.model, pair.first.agent) == (pair.second.model, pair.second.agent)
    return (f"{first} in A", f"{second} in B") if is_one else (first, second)  # before and after a change

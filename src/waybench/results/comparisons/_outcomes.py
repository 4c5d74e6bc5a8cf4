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
        verdicts = [pair.verdict for pair in self.with_enough_items]
        n_first, n_second, n_tied = map(verdicts.count, (Verdict.FIRST, Verdict.SECOND, Verdict.TIED))
        if not verdicts:
            return f"No task can tell {self.first} and {self.second} apart{self._more_items_text()}."
        is_several, is_all = len(verdicts) > 1, len(verdicts) == len(self.comparisons)
        tasks = plural(len(verdicts), "task")
        if is_several:
            of_tasks = f"of {tasks}" if is_all else f"of the {tasks} that can tell"
        else:
            of_tasks = "at the task that both ran" if is_all else "at the one task that can tell"
        if n_first or n_second:
            better, worse = (self.first, self.second) if n_first >= n_second else (self.second, self.first)
            count = f"on {max(n_first, n_second)} " if is_several else ""
            text = f"{better} is better than {worse} {count}{of_tasks}"
            text += f", {worse} on {min(n_first, n_second)}" if n_first and n_second else ""
        else:
            text = f"No difference between {self.first} and {self.second} is shown "
            text += f"on any {of_tasks}" if is_several else of_tasks
        text += f"; {n_tied} {'is' if n_tied == 1 else 'are'} tied" if n_tied else ""
        return text + (self._more_items_text() if self.too_few else "") + "."

    def _more_items_text(self) -> str:
        """Return how many items to add at tasks with too few, with the option to type."""
        most_by_option: dict[str, int] = {}
        for pair in self.too_few:
            if option_and_value := self._option_for_more_items(pair):
                option, value = option_and_value
                most_by_option[option] = max(value, most_by_option.get(option, 0))
        count = f"; {len(self.too_few)} {'needs' if len(self.too_few) == 1 else 'need'} more items"
        options = " and ".join(f"{option}{value}" for option, value in most_by_option.items())
        return f"{count}: {options}{self._price_text()}" if options else count

    def _growth(self, pair: Comparison) -> float | None:
        """Return the factor by which a task's items must grow to show a difference; None where no item differs."""
        # A sign test of n independent items that differ has a p value of at least 2 ** (1 - n).
        n_now = 1 - math.log2(pair.test.least_p)
        n_needed = math.ceil(1 + math.log2(max(len(self.comparisons), self.comparisons[0].family_size) / ALPHA))
        return max(1.0, n_needed / n_now) if n_now > 1 else None

    def _option_for_more_items(self, pair: Comparison) -> tuple[str, int] | None:
        """Return the option of `waybench run` that gives a task enough items, and its value, which is for each level.

        The option ends where its value follows. Where several items share a map, more maps are needed: more items of
        the same maps tell little.
        """
        growth, group = self._growth(pair), pair.first.group  # how many times as many items are needed
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
            if growth is None or self._option_for_more_items(pair) is None:
                continue
            n_more = math.ceil(pair.items * (growth - 1))
            for side in (pair.first, pair.second):
                if side.group and (item_cost := self.costs.get(side.group)):
                    tokens += n_more * (item_cost.tokens or 0.0)
                    cost += n_more * (item_cost.cost or 0.0)
        words = [f"{short_count(tokens)} tokens"] if tokens >= 1 else []
        words += [f"{cost:.2g} USD"] if cost > 0 else []
        return f" (about {', '.join(words)} more)" if words else ""


def _signed_share(comparison: Comparison) -> float | None:
    """Return the difference as a share of its range, above 0 if the first side is better; None without a range."""
    difference = comparison.paired_difference
    if not difference.range:
        return None
    return (-1 if comparison.metric.better == "lower" else 1) * difference.value / difference.range


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
    ranks = {model: rank for rank, model in enumerate(order)}

    def rank_pair(pair: Comparison) -> tuple[int, int]:
        """Return the ranks of both models in `order`."""
        return ranks.get(pair.first.model, 0), ranks.get(pair.second.model, 0)

    def with_better_first(pair: Comparison) -> Comparison:
        """Return a comparison, its sides exchanged where the second model is before the first in `order`."""
        first_rank, second_rank = rank_pair(pair)
        return pair.swapped if first_rank > second_rank else pair

    chosen = (pair for pair in comparisons if not order or ranks.keys() >= {pair.first.model, pair.second.model})
    oriented = map(with_better_first, chosen)
    by_pair = group_by(oriented, lambda pair: (pair.first.model, pair.second.model, *pair.names))
    ranked = sorted(by_pair.values(), key=lambda pairs: rank_pair(pairs[0]))
    return [Outcome(*_pair_names(pairs[0]), pairs, costs) for pairs in ranked]


def _pair_names(pair: Comparison) -> tuple[str, str]:
    """Return the names of both sides; of one model before and after a change, with "in A" and "in B"."""
    first, second = pair.names
    is_one_model = (pair.first.model, pair.first.agent) == (pair.second.model, pair.second.agent)
    return (f"{first} in A", f"{second} in B") if is_one_model else (first, second)

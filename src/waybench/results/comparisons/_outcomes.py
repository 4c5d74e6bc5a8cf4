"""The verdict first: what comparisons of two models at several tasks say together, in a sentence."""

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
    """What an attempt at an item takes on average.

    Attributes:
        tokens: Tokens of requests and replies; None if not known.
        cost: Dollars; None if not known.
    """

    tokens: float | None
    cost: float | None


def item_costs(rows: Iterable[Row]) -> dict[RunKey, ItemCost]:
    """Return of each group what an attempt at an item took on average, as far as that is known."""
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
    """What the comparisons of two models say together.

    Attributes:
        first: The one model's name, in a line.
        second: The other's.
        comparisons: Their comparisons, one for each task, whose p values are adjusted together.
        costs: What an attempt at an item takes, as far as known.
    """

    first: str
    second: str
    comparisons: Sequence[Comparison]
    costs: Mapping[RunKey, ItemCost]

    @property
    def telling(self) -> list[Comparison]:
        """The comparisons with enough items to show a difference, the largest in favour of the first side first."""
        enough = [comparison for comparison in self.comparisons if comparison.verdict is not Verdict.TOO_FEW]
        return sorted(enough, key=lambda comparison: -(_share(comparison) or 0.0))

    @property
    def too_few(self) -> list[Comparison]:
        """The others, which cannot tell."""
        return [comparison for comparison in self.comparisons if comparison.verdict is Verdict.TOO_FEW]

    @property
    def shown(self) -> int:
        """Number of tasks at which one is shown to be better."""
        return sum(pair.verdict in (Verdict.FIRST, Verdict.SECOND) for pair in self.comparisons)

    @property
    def text(self) -> str:
        """The verdict: "A is better than B on 2 of the 3 tasks that can tell; 13 need more items: --limit 10"."""
        telling, too_few = self.telling, self.too_few
        better = {side: sum(pair.verdict is side for pair in telling) for side in (Verdict.FIRST, Verdict.SECOND)}
        tied = sum(pair.verdict is Verdict.TIED for pair in telling)
        names = {Verdict.FIRST: self.first, Verdict.SECOND: self.second}
        if not telling:
            return f"No task can tell {self.first} and {self.second} apart{self._more()}."
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
        return said + (self._more() if too_few else "") + "."

    def _more(self) -> str:
        """Return what the tasks need that cannot tell."""
        needs: dict[str, list[int]] = {}
        for pair in self.too_few:
            if needed := self._needs(pair):
                needs.setdefault(needed[0], []).append(needed[1])
        count = f"; {len(self.too_few)} {'needs' if len(self.too_few) == 1 else 'need'} more items"
        flags = " and ".join(f"{flag}{max(numbers)}" for flag, numbers in needs.items())
        return f"{count}: {flags}{self._price()}" if flags else count

    def _needed(self) -> int:
        """Return how many independent items that differ can show a difference at each task, after adjustment."""
        return math.ceil(1 + math.log2(max(len(self.comparisons), self.comparisons[0].family_size) / ALPHA))

    def _growth(self, pair: Comparison) -> float | None:
        """Return how many times as many independent items a task needs, if as many differ; None where none differs."""
        has = 1 - math.log2(pair.test.least_p)  # items, or pairs that differ
        return max(1.0, self._needed() / has) if has > 1 else None

    def _needs(self, pair: Comparison) -> tuple[str, int] | None:
        """Return what gives a task as many items as it needs: the option as it is typed, and its value.

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

    def _price(self) -> str:
        """Return what these items take for both, in tokens and dollars: " (about 120k tokens)"; "" if not known."""
        tokens = cost = 0.0
        for pair in self.too_few:
            growth = self._growth(pair)
            more = 0 if growth is None or self._needs(pair) is None else math.ceil(pair.items * (growth - 1))
            for side in (pair.first, pair.second):
                spent = self.costs.get(side.group) if side.group else None
                tokens += more * (spent.tokens or 0.0) if spent else 0.0
                cost += more * (spent.cost or 0.0) if spent else 0.0
        words = [f"{short_count(tokens)} tokens"] if tokens >= 1 else []
        words += [f"{cost:.2g} USD"] if cost > 0 else []
        return f" (about {', '.join(words)} more)" if words else ""


def _share(comparison: Comparison) -> float | None:
    """Return the difference as a share of its range, in favour of the first side; None without a range."""
    size = comparison.paired.range
    if not size:
        return None
    return (-1 if comparison.metric.better == "lower" else 1) * comparison.paired.value / size


def outcomes(
    comparisons: Iterable[Comparison], costs: Mapping[RunKey, ItemCost], order: Sequence[str] = ()
) -> list[Outcome]:
    """Return the outcome of each pair of models.

    Args:
        comparisons: The comparisons.
        costs: What an attempt at an item takes, as far as known.
        order: The models, the best one first, which is the first side of each pair; others are left out. By default
            all pairs are taken as they are, in the order of their comparisons.
    """
    places = {model: number for number, model in enumerate(order)}

    def models(pair: Comparison) -> tuple[str, str]:
        return pair.first.model, pair.second.model

    def place(pair: Comparison) -> list[int]:
        return [places.get(model, 0) for model in models(pair)]

    chosen = [pair for pair in comparisons if not order or places.keys() >= {*models(pair)}]
    oriented = [pair.swapped if place(pair)[0] > place(pair)[1] else pair for pair in chosen]
    by_pair = group_by(oriented, lambda pair: (*models(pair), *pair.names))
    ranked = sorted(by_pair.values(), key=lambda pairs: place(pairs[0]))
    return [Outcome(*_names(pairs[0]), pairs, costs) for pairs in ranked]


def _names(pair: Comparison) -> tuple[str, str]:
    first, second = pair.names
    is_one = (pair.first.model, pair.first.agent) == (pair.second.model, pair.second.agent)
    return (f"{first} in A", f"{second} in B") if is_one else (first, second)  # before and after a change

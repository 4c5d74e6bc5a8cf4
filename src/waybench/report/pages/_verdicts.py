"""What the comparisons of models two by two come to, at all tasks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from waybench.analysis import (
    Comparison,
    ComparisonCells,
    Estimate,
    Group,
    ItemScores,
    Row,
    compare_pairs,
    comparison_cells,
    comparison_json,
    comparison_lines,
    grouped,
    item_scores,
    matched,
    ranked,
)
from waybench.analysis import Verdict as Outcome
from waybench.core import UsageError

MOST = 12  # models that were asked the same, up to which each two of them are compared


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison comes to, in words.

    Attributes:
        first: The one, which the words call A.
        second: The other, which they call B.
        cells: Its line of a table.
        lines: What is to be said of it, the first one being the verdict with its test.
        turned: The same with A and B exchanged.
        certain: Whether one is shown to be better.
    """

    first: Group
    second: Group
    cells: ComparisonCells
    lines: list[str]
    turned: list[str]
    certain: bool


class Verdicts:
    """The comparisons of a report: of each two models that were asked the same, up to `MOST` of them.

    Where there are more, each is compared with the best one and with its neighbours in rank.
    """

    def __init__(self, rows: Iterable[Row], estimates: Sequence[Estimate]) -> None:
        """Compare.

        Args:
            rows: All rows.
            estimates: All estimates by level.
        """
        own = grouped(rows, lambda row: row.group)
        order = ranked(estimates)
        given = {group: found for group in order if (found := _scores(own.get(group, ())))}
        self._alike = {group: number for number, some in enumerate(matched(given)) for group in some}
        pairs: list[tuple[Group, Group]] = []
        self._bounded: set[int] = set()
        for number, some in enumerate(matched(given)):
            pairs += chosen(some)
            if len(some) > MOST:
                self._bounded.add(number)
        made = compare_pairs((given[one], given[other]) for one, other in pairs)
        self._found = {pair: one for pair, one in zip(pairs, made, strict=True) if one}

    def among(self, groups: Sequence[Group]) -> list[Verdict]:
        """Return the verdicts on each two of some groups, the better ranked one first."""
        wanted = set(groups)
        return [_verdict(*pair, one) for pair, one in self._found.items() if wanted.issuperset(pair)]

    def alike(self, group: Group) -> int | None:
        """Return what groups have in common that were asked the same; None without anything to compare."""
        return self._alike.get(group)

    def bounded(self, groups: Iterable[Group]) -> bool:
        """Return whether some groups are among so many that not each two of them are compared."""
        return any(self._alike.get(group) in self._bounded for group in groups)

    def to_json(self, pages: Mapping[Group, str]) -> list[dict[str, Any]]:
        """Return the comparisons as JSON values, the groups being told by their pages.

        Args:
            pages: File names of the groups' pages.
        """
        return [_told(pair, one, pages) for pair, one in self._found.items()]


def chosen(some: Sequence[Group]) -> list[tuple[Group, Group]]:
    """Return which of some groups are compared.

    Args:
        some: The groups, the best one first.
    """
    if len(some) <= MOST:
        return list(combinations(some, 2))
    best, *others = some
    return [*((best, other) for other in others), *pairwise(others)]


def _scores(rows: Iterable[Row]) -> ItemScores | None:
    """Return what a group came to; None where nothing counts, or where what it is judged by is no item's value."""
    try:
        return next(iter(item_scores(rows)), None)
    except UsageError:
        return None


def _verdict(first: Group, second: Group, comparison: Comparison) -> Verdict:
    return Verdict(
        first=first,
        second=second,
        cells=comparison_cells(comparison),
        lines=_lines(comparison),
        turned=_lines(comparison.swapped),
        certain=comparison.verdict in (Outcome.FIRST, Outcome.SECOND),
    )


def _lines(comparison: Comparison) -> list[str]:
    verdict, *rest = comparison_lines(comparison, settings=False)
    lines = [verdict[0].upper() + verdict[1:], *rest]
    if comparison.family_size > 1:
        told = f"After Holm's procedure over the {comparison.family_size} tasks that both were given: p "
        lines.insert(1, f"{told}{comparison_cells(comparison).p}.")
    return lines


def _told(pair: tuple[Group, Group], comparison: Comparison, pages: Mapping[Group, str]) -> dict[str, Any]:
    told: dict[str, Any] = comparison_json(comparison)
    for side, group in zip(("first", "second"), pair, strict=True):
        # There are many of them, so models are told by their pages.
        kept = {name: value for name, value in told[side].items() if name not in ("model", "task", "settings")}
        told[side] = {"page": f"results/{pages[group]}", **kept}
    return {**told, "metric": told["metric"]["name"], "together": comparison.family_size}

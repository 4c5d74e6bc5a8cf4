"""The comparisons of models two by two, at all tasks of a report."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from waybench.analysis import Estimate, Row
from waybench.analysis.comparisons import (
    Comparison,
    ItemScores,
    compare_pairs,
    comparison_cells,
    comparison_json,
    comparison_lines,
    item_scores,
    matched,
)
from waybench.analysis.estimates import ranked
from waybench.analysis.results import Group, grouped
from waybench.core import UsageError

MOST = 12  # models that were given the same, up to which each two of them are compared


class Verdicts:
    """The comparisons of a report: of each two models that were given the same, up to `MOST` of them.

    Where there are more, each is compared with the best one and with its neighbours in rank.
    """

    def __init__(self, rows: Iterable[Row], estimates: Sequence[Estimate]) -> None:
        """Compare.

        Args:
            rows: All rows.
            estimates: All estimates by level.
        """
        own = grouped(rows, lambda row: row.group)
        given = {group: found for group in ranked(estimates) if (found := _scores(own.get(group, ())))}
        alike = matched(given)
        self._alike = {group: number for number, some in enumerate(alike) for group in some}
        self._bounded = {number for number, some in enumerate(alike) if len(some) > MOST}
        pairs = [pair for some in alike for pair in chosen(some)]
        self._found = compare_pairs((given[one], given[other]) for one, other in pairs)

    def among(self, groups: Sequence[Group]) -> list[Comparison]:
        """Return the comparisons of each two of some groups, the better ranked one first."""
        wanted = set(groups)
        return [each for each in self._found if wanted.issuperset(each.groups)]

    def alike(self, group: Group) -> int | None:
        """Return a number that groups share which were given the same; None without anything to compare."""
        return self._alike.get(group)

    def bounded(self, groups: Iterable[Group]) -> bool:
        """Return whether some groups are among so many that not each two of them are compared."""
        return any(self._alike.get(group) in self._bounded for group in groups)

    def to_json(self, pages: Mapping[Group, str]) -> list[dict[str, Any]]:
        """Return the comparisons as JSON values, with the groups' pages in place of the groups.

        Args:
            pages: File names of the groups' pages.
        """
        return [_to_json(each, pages) for each in self._found]


def chosen(some: Sequence[Group]) -> list[tuple[Group, Group]]:
    """Return which of some groups are compared.

    Args:
        some: The groups, the best one first.
    """
    if len(some) <= MOST:
        return list(combinations(some, 2))
    best, *others = some
    return [*((best, other) for other in others), *pairwise(others)]


def sentences(comparison: Comparison) -> list[str]:
    """Return the statements about a comparison, the first one being the verdict with its test."""
    verdict, *rest = comparison_lines(comparison, settings=False)
    lines = [verdict[0].upper() + verdict[1:], *rest]
    if comparison.family_size > 1:
        adjusted = f"After Holm's procedure over the {comparison.family_size} comparisons of this report: p "
        lines.insert(1, f"{adjusted}{comparison_cells(comparison).p}.")
    return lines


def _scores(rows: Iterable[Row]) -> ItemScores | None:
    """Return a group's scores; None where nothing is included, or where its headline is no item's value."""
    try:
        return next(iter(item_scores(rows)), None)
    except UsageError:
        return None


def _to_json(one: Comparison, pages: Mapping[Group, str]) -> dict[str, Any]:
    found: dict[str, Any] = comparison_json(one)
    for side, group in zip(("first", "second"), one.groups, strict=True):
        # There are many of them, so pages stand for the groups.
        kept = {name: value for name, value in found[side].items() if name not in ("model", "task", "settings")}
        found[side] = {"page": f"results/{pages[group]}", **kept}
    return {**found, "metric": found["metric"]["name"], "together": one.family_size}

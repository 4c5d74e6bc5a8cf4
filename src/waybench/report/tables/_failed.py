"""Tables of how attempts failed, each under its main cause."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import (
    Failures,
    Group,
    Row,
    differing,
    failure_kinds,
    failures,
    grouped,
    has_fixed_length,
)
from waybench.core import FailureKind
from waybench.envs import registry


@dataclass(frozen=True, slots=True)
class FailureLine:
    """One row.

    Attributes:
        name: What it is of: a task's title, or a level.
        page: File name of the page of its results; "" on that page.
        differs: The settings in which it differs from other rows of that name, in words.
        attempts: Number of attempts that count.
        failed: Number of those that failed.
        cells: For each kind of the table the number of attempts that failed so, and their share among those that
            failed; None where nothing failed.
        causes: The same of the kinds that occurred, with the kind, the most frequent first.
    """

    name: str
    page: str
    differs: list[str]
    attempts: int
    failed: int
    cells: list[tuple[int, float | None]]
    causes: list[tuple[FailureKind, int, float]]


@dataclass(frozen=True, slots=True)
class FailureTable:
    """How attempts failed.

    Attributes:
        kinds: The kinds that occurred, each of which is a column; none where the rows are of several environments,
            whose kinds differ, so that each row lists its own.
        lines: The rows.
    """

    kinds: list[FailureKind]
    lines: list[FailureLine]


class Failed:
    """How the attempts of a report failed, but for games that never end in another way than by their length."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Count.

        Args:
            rows: All rows.
        """
        free = [row for row in rows if row.counts and not row.guided]
        endless = {env for env, some in grouped(free, lambda row: row.group.env).items() if has_fixed_length(some)}
        self._rows = grouped((row for row in free if row.group.env not in endless), lambda row: row.group)

    def by_group(self) -> dict[Group, Failures]:
        """Return how the attempts of each group failed."""
        return {group: failures(some) for group, some in self._rows.items()}

    def to_json(self, pages: Mapping[Group, str]) -> list[dict[str, Any]]:
        """Return how the attempts of each group failed as JSON values.

        Args:
            pages: File names of the groups' pages.
        """
        return [
            {
                "page": f"results/{pages[group]}",
                "attempts": found.attempts,
                "failed": found.failed,
                "kinds": {kind.name: count for kind, count in found.kinds.items()},
            }
            for group, found in self.by_group().items()
        ]

    def of_model(self, name: str, pages: Mapping[Group, str]) -> FailureTable | None:
        """Return a model's table, task by task; None if nothing failed.

        Args:
            name: The model.
            pages: File names of the groups' pages.
        """
        own = {group: found for group, found in self.by_group().items() if group.model == name}
        of_env = grouped(own, lambda group: group.env)
        some = [
            (registry.load(group.env).title, pages[group], differing(group, of_env[group.env]), found)
            for group, found in own.items()
        ]
        # Kinds are an environment's own: only rows of the same one have columns in common.
        return _table(some, failure_kinds(next(iter(of_env))) if len(of_env) == 1 else ())

    def of_group(self, group: Group) -> FailureTable | None:
        """Return a group's table, level by level; None if nothing failed."""
        by_level = grouped(self._rows.get(group, ()), lambda row: row.level)
        return _table(
            [(str(level), "", (), failures(by_level[level])) for level in sorted(by_level)], failure_kinds(group.env)
        )


def _table(
    some: Sequence[tuple[str, str, Sequence[str], Failures]], kinds: Sequence[FailureKind]
) -> FailureTable | None:
    """Return the table of some rows.

    Args:
        some: Of each row the name, the page, how it differs, and how its attempts failed.
        kinds: What can be a column.
    """
    if not any(found.failed for *_, found in some):
        return None
    columns = [kind for kind in kinds if any(found.kinds.get(kind) for *_, found in some)]
    lines = [
        FailureLine(name, page, list(differs), found.attempts, found.failed, _cells(found, columns), _causes(found))
        for name, page, differs, found in some
    ]
    return FailureTable(columns, lines)


def _causes(found: Failures) -> list[tuple[FailureKind, int, float]]:
    ordered = sorted(found.kinds.items(), key=lambda each: -each[1])
    return [(kind, count, count / found.failed) for kind, count in ordered]


def _cells(found: Failures, kinds: Iterable[FailureKind]) -> list[tuple[int, float | None]]:
    counts = (found.kinds.get(kind, 0) for kind in kinds)
    return [(count, count / found.failed if found.failed else None) for count in counts]

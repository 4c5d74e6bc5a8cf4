"""Tables of how attempts failed, by kind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import Failure, Failures, Group, Row, differing, failures, grouped
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
        cells: For each kind the number of attempts that failed so, and their share among those that failed; None
            where nothing failed.
    """

    name: str
    page: str
    differs: list[str]
    attempts: int
    failed: int
    cells: list[tuple[int, float | None]]


@dataclass(frozen=True, slots=True)
class FailureTable:
    """How attempts failed.

    Attributes:
        kinds: The kinds that occurred.
        lines: The rows.
    """

    kinds: list[Failure]
    lines: list[FailureLine]


class Failed:
    """How the attempts of a report failed, but for games that never end in another way than by their length."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Count.

        Args:
            rows: All rows.
        """
        free = [row for row in rows if row.counts and not row.guided]
        endless = {env for env, some in grouped(free, lambda row: row.group.env).items() if failures(some).at_its_end}
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
                "kinds": {str(kind): count for kind, count in found.kinds.items()},
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
        return _table(
            (registry.load(group.env).title, pages[group], differing(group, of_env[group.env]), found)
            for group, found in own.items()
        )

    def of_group(self, group: Group) -> FailureTable | None:
        """Return a group's table, level by level; None if nothing failed."""
        by_level = grouped(self._rows.get(group, ()), lambda row: row.level)
        return _table((str(level), "", [], failures(by_level[level])) for level in sorted(by_level))


def _table(some: Iterable[tuple[str, str, Sequence[str], Failures]]) -> FailureTable | None:
    listed = list(some)
    kinds = [kind for kind in Failure if any(found.kinds.get(kind) for *_, found in listed)]
    lines = [
        FailureLine(name, page, list(differs), found.attempts, found.failed, _cells(found, kinds))
        for name, page, differs, found in listed
    ]
    return FailureTable(kinds, lines) if kinds else None


def _cells(found: Failures, kinds: Iterable[Failure]) -> list[tuple[int, float | None]]:
    counts = (found.kinds.get(kind, 0) for kind in kinds)
    return [(count, count / found.failed if found.failed else None) for count in counts]

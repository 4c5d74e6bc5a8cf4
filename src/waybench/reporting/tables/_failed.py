"""Tables of how attempts failed, each under its main cause."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from waybench.core import FailureKind
from waybench.envs import registry
from waybench.reporting._format import amount, percent
from waybench.reporting.tables._table import Cell, Column, Note, Table, TableRow, columns_of, count_cell, parts, rows_of
from waybench.results import Row
from waybench.results.comparisons import (
    Failures,
    FirstErrorCounts,
    failure_kinds,
    failures,
    first_error_kinds,
    first_errors,
    has_fixed_length,
)
from waybench.results.formatting import NOTHING
from waybench.results.results import Group, differing, grouped


class Failed:
    """How the attempts of a report failed, but for games that never end in another way than by their length."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """Count.

        Args:
            rows: All rows.
        """
        free = [row for row in rows if row.is_included and not row.guided]
        endless = {env for env, some in grouped(free, lambda row: row.group.env).items() if has_fixed_length(some)}
        self._rows = grouped((row for row in free if row.group.env not in endless), lambda row: row.group)
        self._by_group = {group: failures(some) for group, some in self._rows.items()}

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
            for group, found in self._by_group.items()
        ]

    def of_model(self, name: str, pages: Mapping[Group, str]) -> Table | None:
        """Return a model's table, task by task; None if nothing failed.

        Args:
            name: The model.
            pages: File names of the groups' pages.
        """
        own = {group: found for group, found in self._by_group.items() if group.model == name}
        of_env = grouped(own, lambda group: group.env)
        some = [
            (
                Cell(
                    text=registry.load(group.env).title,
                    link=f"results/{pages[group]}",
                    notes=parts(differing(group, of_env[group.env])),
                ),
                found,
            )
            for group, found in own.items()
        ]
        # Kinds are an environment's own: only rows of the same one have columns in common.
        return _table("Task", some, failure_kinds(next(iter(of_env))) if len(of_env) == 1 else None)

    def first_errors_of(self, group: Group, heading: str) -> Table | None:
        """Return where a group's attempts went wrong, level by level; None where that is not defined, or for no error.

        Args:
            group: The group.
            heading: What a level is called.
        """
        by_level = grouped(self._rows.get(group, ()), lambda row: row.level)
        found = ((level, first_errors(by_level[level])) for level in sorted(by_level))
        some = [(Cell(text=str(level)), counts) for level, counts in found if counts is not None]
        return _wrong(heading, some, first_error_kinds(group.env))

    def of_group(self, group: Group, heading: str) -> Table | None:
        """Return a group's table, level by level; None if nothing failed.

        Args:
            group: The group.
            heading: What a level is called.
        """
        by_level = grouped(self._rows.get(group, ()), lambda row: row.level)
        some = [(Cell(text=str(level)), failures(by_level[level])) for level in sorted(by_level)]
        return _table(heading, some, failure_kinds(group.env))


def _wrong(heading: str, some: Sequence[tuple[Cell, FirstErrorCounts]], kinds: Sequence[FailureKind]) -> Table | None:
    """Return the table of first errors; None if there are none.

    Args:
        heading: What a row is of.
        some: Of each row its header and the first errors of its failed attempts.
        kinds: What can be a column.
    """
    columns = [kind for kind in kinds if any(found.kinds.get(kind) for _, found in some)]
    if not columns:
        return None
    return Table(
        id="first-errors",
        title="Where failed attempts went wrong",
        caption=(Note("The first error is the first step that no best play makes."),),
        columns=[
            *columns_of(heading, "Failed"),
            Column(heading="Median step", help="The number of the step that is the first error, from 1."),
            *(Column(heading=kind.title.capitalize(), help=kind.doc, kind="score") for kind in columns),
        ],
        groups=rows_of(
            TableRow(
                head,
                [
                    count_cell(found.failed, "" if found.failed else "zero"),
                    Cell(text=NOTHING) if found.median_step is None else Cell(text=f"{found.median_step:g}"),
                    *(_share(found.kinds.get(kind, 0), found.failed) for kind in columns),
                ],
            )
            for head, found in some
        ),
        kind="failed",
    )


def _table(heading: str, some: Sequence[tuple[Cell, Failures]], kinds: Sequence[FailureKind] | None) -> Table | None:
    """Return the table of some rows; None if nothing failed.

    Args:
        heading: What a row is of.
        some: Of each row its header, and how its attempts failed.
        kinds: What can be a column; None where the rows are of several environments, whose kinds differ, so that each
            row lists its own.
    """
    if not any(found.failed for _, found in some):
        return None
    columns = [kind for kind in kinds or () if any(found.kinds.get(kind) for _, found in some)]
    causes = [Column(heading=f"By {kind.title}", help=kind.doc, kind="score") for kind in columns]
    rows = [
        TableRow(
            head,
            [
                count_cell(found.attempts),
                count_cell(found.failed, "" if found.failed else "zero"),
                *([_share(found.kinds.get(kind, 0), found.failed) for kind in columns] or [_causes(found)]),
            ],
        )
        for head, found in some
    ]
    share = " Small: the share of the failed attempts." if columns else ""
    return Table(
        id="failed",
        title="How attempts failed",
        caption=(Note(f"Each failed attempt is counted once, under its main cause.{share}"),),
        columns=[
            *columns_of(heading, "Attempts", "Failed"),
            *(causes or columns_of("*Failed by")),
        ],
        groups=rows_of(rows),
        kind="failed",
    )


def _share(count: int, failed: int) -> Cell:
    if not count:
        return Cell(text=NOTHING, kind="score")
    share = count / failed
    return Cell(text=amount(count), bold=True, notes=(Note(f"{percent(share)} %"),), part=round(share, 3), kind="score")


def _causes(found: Failures) -> Cell:
    """Return the kinds that occurred, the most frequent first."""
    ordered = sorted(found.kinds.items(), key=lambda each: -each[1])
    listed = [
        Note(f"{kind.title} {percent(count / found.failed)} %", "cause", title=kind.doc, value=amount(count))
        for kind, count in ordered
    ]
    return Cell(text="" if listed else NOTHING, notes=tuple(listed), kind="name")

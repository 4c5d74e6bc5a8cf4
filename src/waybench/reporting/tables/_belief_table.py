"""Tables of belief probes: what players knew of the state, and whether they knew it where they went wrong."""

from collections.abc import Iterable, Mapping, Sequence

from waybench.reporting._format import amount, percent, percent_interval
from waybench.reporting.tables._table import Cell, Column, Note, RowGroup, Table, TableRow, count_cell, notes
from waybench.results import Row
from waybench.results.comparisons import BeliefCounts, belief_counts
from waybench.results.formatting import NOTHING
from waybench.results.results import Group, labels

_HELP_KNEW = "Failed attempts whose first error is in a turn before which the question was answered right."
_HELP_NOT = "Failed attempts whose first error is in a turn before which it was not."


def belief_table(rows: Iterable[Row]) -> Table | None:
    """Return the table of the belief probes of a group's episodes; None if there were none.

    Args:
        rows: The group's rows.
    """
    found = belief_counts(rows)
    return _table("beliefs", [RowGroup(_rows(found, found))], found) if found else None


def models_belief_table(found: Mapping[Group, Sequence[BeliefCounts]], pages: Mapping[Group, str]) -> Table | None:
    """Return the table of the belief probes of several groups, models before embedded players; None without any.

    Args:
        found: The answers of each group, all of one environment.
        pages: File names of the groups' pages.
    """
    if not found:
        return None
    every = [one for counts in found.values() for one in counts]
    names = labels(found)
    groups = [
        RowGroup(_rows(counts, every), head=Cell(text=names[group], kind="name", link=f"results/{pages[group]}"))
        for group, counts in sorted(found.items(), key=lambda each: each[0].embedded)
    ]
    return _table("task-beliefs", groups, every, Column(heading="Model"))


def _table(id_: str, groups: Sequence[RowGroup], every: Sequence[BeliefCounts], *before: Column) -> Table:
    columns = [
        *before,
        Column(heading="State", kind="name"),
        Column(heading="Asked", help="Number of probes."),
        Column(heading="Known, %", help="Share of exactly right answers, with its 95 % interval.", kind="score"),
        Column(heading="No answer", help="Replies in which no answer could be read; they count as not known."),
    ]
    if _has_shares(every):
        columns.append(Column(heading="Right part, %", help="Mean share of an answer that is right.", kind="score"))
    if _has_errors(every):
        columns.append(Column(heading="Knew and erred", help=_HELP_KNEW))
        columns.append(Column(heading="Did not know", help=_HELP_NOT))
    return Table(
        id=id_,
        title="Did it know?",
        caption=(
            Note("Belief probes ask for the state in a fork of the conversation, which the player never sees again."),
        ),
        columns=columns,
        groups=groups,
        kind="failed",
    )


def _has_shares(every: Iterable[BeliefCounts]) -> bool:
    return any(each.share is not None for each in every)


def _has_errors(every: Iterable[BeliefCounts]) -> bool:
    return any(each.knew + each.did_not_know for each in every)


def _rows(counts: Iterable[BeliefCounts], every: Sequence[BeliefCounts]) -> list[TableRow]:
    """Return a group's rows, with the columns that any row of the table needs."""
    has_shares, has_errors = _has_shares(every), _has_errors(every)
    return [TableRow(_head(each), _cells(each, has_shares, has_errors)) for each in counts]


def _head(counts: BeliefCounts) -> Cell:
    return Cell(text=counts.belief.title.capitalize(), title=counts.belief.doc, kind="name")


def _cells(counts: BeliefCounts, has_shares: bool, has_errors: bool) -> list[Cell]:
    known = counts.known
    interval = notes([percent_interval(known)], "interval")
    cells = [
        count_cell(counts.asked),
        Cell(text=percent(known.value), bold=True, notes=interval, part=round(known.value, 3), kind="score"),
        count_cell(counts.unread, "" if counts.unread else "zero"),
    ]
    if has_shares:
        cells.append(Cell(text=percent(counts.share), kind="score"))
    if has_errors:
        cells += [_at_error(counts, counts.knew), _at_error(counts, counts.did_not_know)]
    return cells


def _at_error(counts: BeliefCounts, count: int) -> Cell:
    if not counts.knew + counts.did_not_know:
        return Cell(text=NOTHING)
    return Cell(text=amount(count), order=count, kind="" if count else "zero")

"""A table of the report: columns, and rows of cells. The template `table.html` renders it, `markdown` as Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from waybench.core import Metric
from waybench.reporting._format import amount, heading, interval_text, mean_part, part
from waybench.results import Estimate
from waybench.results.formatting import LOST, NOTHING, mean_text, one_line
from waybench.results.results import Group, differing
from waybench.results.stats import LostAttempts, Mean

_REFERENCES = "Reference players, not models"
_FIT_A_PHONE = 2  # columns
_FIT_A_PAGE = 15


@dataclass(frozen=True, slots=True)
class Note:
    """A piece of text: a line below the value of a cell, or a part of a caption.

    Attributes:
        text: The text.
        kind: Its class in the style sheet, such as "flag" or "interval"; "" for none.
        link: Where it leads to, from the site's root; "" for nowhere.
        title: A tooltip; "" for none.
        spoken: What a screen reader says in its place; "" for the text itself.
        value: A number in bold before it; "" for none.
    """

    text: str
    kind: str = ""
    link: str = ""
    title: str = ""
    spoken: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell.

    Attributes:
        text: Its value.
        bold: Whether the value is in bold.
        link: Where the value leads to, from the site's root or, with a "#", in the page; "" for nowhere.
        better: Which values are better, "higher" or "lower", as for a `Column`.
        mark: A flag after the value, such as "*".
        notes: Lines below the value.
        order: What a sortable table sorts it by; None sorts as nothing.
        part: How good the value is, from 0 to 1, which shades the cell; None for no shade.
        title: A tooltip; "" for none.
        kind: Its class in the style sheet; "" for none.
        columns: Number of columns that it spans.
        hidden: Whether screen readers leave its value out.
    """

    text: str = ""
    bold: bool = False
    link: str = ""
    better: str = ""
    mark: str = ""
    notes: tuple[Note, ...] = ()
    order: float | str | None = None
    part: float | None = None
    title: str = ""
    kind: str = ""
    columns: int = 1
    hidden: bool = False


BLANK = Cell(kind="blank")


@dataclass(frozen=True, slots=True)
class HeaderGroup:
    """A header above several columns.

    Attributes:
        text: The header.
        link: Where it leads to, from the site's root; "" for nowhere.
        kind: Its class in the style sheet; "" for none.
    """

    text: str
    link: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column.

    Attributes:
        heading: Its header; it may have several lines.
        better: Which values are better, "higher" or "lower", which an arrow shows; "" for neither.
        help: A tooltip; "" for none.
        kind: Its class in the style sheet, which aligns it: "" to the right, "name" to the left, "score" centred.
        link: Where the header leads to, from the site's root; "" for nowhere.
        notes: Lines below the header.
        group: The header above it and its neighbours with the same one; None for none.
    """

    heading: str
    better: str = ""
    help: str = ""
    kind: str = ""
    link: str = ""
    notes: tuple[Note, ...] = ()
    group: HeaderGroup | None = None


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row.

    Attributes:
        head: Its header.
        cells: A cell for each column after the first.
        kind: Its class in the style sheet; "" for none.
        choice: By what the rows of a sortable table can be narrowed.
    """

    head: Cell
    cells: Sequence[Cell]
    kind: str = ""
    choice: str = ""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that belong together.

    Attributes:
        rows: The rows.
        title: What stands above them; "" for nothing.
        kind: Their class in the style sheet; "" for none.
        head: A header of all of them, in the first column; theirs are then in the second one. None for none.
    """

    rows: Sequence[TableRow]
    title: str = ""
    kind: str = ""
    head: Cell | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table.

    Attributes:
        title: The first words of its caption.
        columns: Its columns.
        groups: Its rows.
        id: Its id in the page; "" where the page gives it one.
        caption: What the caption says after the title.
        help: What the caption says when it is unfolded: what the columns mean.
        kind: Its classes in the style sheet.
        choose: By what its rows can be narrowed, such as "Family"; "" where the table cannot be sorted.
        summary: Under what heading the table is folded; "" where it is not folded.
        folded: Whether it is folded at first.
    """

    title: str
    columns: Sequence[Column]
    groups: Sequence[RowGroup]
    id: str = ""
    caption: Sequence[Note] = ()
    help: Sequence[Note] = ()
    kind: str = ""
    choose: str = ""
    summary: str = ""
    folded: bool = False

    @property
    def rows(self) -> list[TableRow]:
        """All rows."""
        return [row for group in self.groups for row in group.rows]

    @property
    def stacking(self) -> str:
        """Where each row becomes a card of labelled values, so that nothing scrolls sideways.

        "stacked": everywhere, for more columns than a page is wide; "stacks": on a phone; "" for the few columns that
        fit there, for tables with cards of their own, and where several rows share a header, which one card would have.
        """
        shared = any(group.head for group in self.groups)
        if shared or "matrix" in self.kind or len(self.columns) <= _FIT_A_PHONE:
            return ""
        return "stacked" if len(self.columns) > _FIT_A_PAGE else "stacks"

    def label(self, number: int) -> str:
        """Return what stands beside a value of a column where rows are cards.

        Args:
            number: The column, from 0.
        """
        column = self.columns[number]
        lines = [column.group.text if column.group else "", " ".join(column.heading.split())]
        return ", ".join(filter(None, lines))

    @property
    def header_groups(self) -> list[tuple[HeaderGroup | None, list[Column]]]:
        """The columns by the header above them; those without one are each by themselves."""
        found: list[tuple[HeaderGroup | None, list[Column]]] = []
        for column in self.columns:
            if found and column.group is not None and found[-1][0] is column.group:
                found[-1][1].append(column)
            else:
                found.append((column.group, [column]))
        return found


def rows_of(rows: Iterable[TableRow]) -> tuple[RowGroup, ...]:
    """Return rows as the only group of a table."""
    return (RowGroup(tuple(rows)),)


def by_player(rows: Iterable[tuple[bool, TableRow]]) -> list[RowGroup]:
    """Return the rows of models, and after them those of reference players.

    Args:
        rows: Each row, and whether it is that of a reference player.
    """
    listed = list(rows)
    models, references = ([row for embedded, row in listed if embedded is which] for which in (False, True))
    found = [RowGroup(models)] if models else []
    return [*found, RowGroup(references, _REFERENCES, "references")] if references else found


def notes(texts: Iterable[str], kind: str = "") -> tuple[Note, ...]:
    """Return lines below a value; empty ones are left out."""
    return tuple(Note(text, kind) for text in texts if text)


def parts(settings: Iterable[str]) -> tuple[Note, ...]:
    """Return settings in words as lines below a value."""
    return tuple(Note(one_line(text, 60)) for text in settings)


def name_of(model: str) -> str:
    """Return a model's name as tables show it."""
    return one_line(model, 80) or "(no name)"


def model_cell(model: str, differs: Iterable[str] = (), page: str = "", *, order: bool = False) -> Cell:
    """Return the header of a model's row.

    Args:
        model: The model.
        differs: The settings in which it differs from other rows, in words.
        page: File name of the page of its results; "" for no link.
        order: Whether it is of a table that can be sorted.
    """
    link = f"results/{page}" if page else ""
    return Cell(text=name_of(model), link=link, notes=parts(differs), order=one_line(model, 80) if order else None)


def columns_of(*headings: str, group: HeaderGroup | None = None) -> list[Column]:
    """Return the columns of some headings.

    Args:
        *headings: The headings, none of which comes from outside; one that begins with "*" is of a column of names.
        group: The header above them.
    """
    return [
        Column(heading=each.removeprefix("*"), kind="name" if each.startswith("*") else "", group=group)
        for each in headings
    ]


def group_cell(group: Group, among: Iterable[Group], pages: Mapping[Group, str]) -> Cell:
    """Return the header of a group's row, with a link to the page of its results.

    Args:
        group: The group.
        among: The groups of all rows, which tell the settings that it differs in.
        pages: File names of the groups' pages.
    """
    return model_cell(group.model, differing(group, among), pages[group])


def metric_column(metric: Metric, kind: str = "", group: HeaderGroup | None = None) -> Column:
    """Return the column of a metric."""
    return Column(heading=heading(metric), better=metric.better, kind=kind, group=group)


def mean_cell(mean: Mean | None, metric: Metric, *, bold: bool = True) -> Cell:
    """Return a mean with its interval, shaded by how good it is; a dash where it is not defined."""
    if mean is None:
        return Cell(text=NOTHING, kind="score")
    cell = value_cell(mean.value, metric, bold=bold, interval=interval_text(mean, metric))
    return replace(cell, part=mean_part(mean, metric), mark=lost_mark(mean.lost))


def value_cell(value: float, metric: Metric, *, bold: bool = False, interval: str = "") -> Cell:
    """Return a value of a metric, shaded by how good it is."""
    return Cell(
        text=mean_text(value, metric),
        bold=bold,
        notes=notes([interval], "interval"),
        part=part(value, metric),
        kind="score",
    )


def lost_mark(lost: LostAttempts | None) -> str:
    """Return the flag of a value that lacks attempts; "" where it lacks none."""
    return "*" if lost else ""


def lost_caption(estimates: Iterable[Estimate]) -> list[Note]:
    """Return what a caption says of values that lack attempts; nothing where none does."""
    return [Note("*", "flag"), Note(LOST)] if any(estimate.lost for estimate in estimates) else []


def number_cell(text: str, order: float | None, lines: Iterable[str] = ()) -> Cell:
    """Return a number with lines below it; 0 and a missing one are pale."""
    return Cell(text=text, order=order, notes=notes(lines), kind="" if order else "zero")


def error_cell(count: int) -> Cell:
    """Return a number of infrastructure errors, which stands out where there are some."""
    return count_cell(count, "flag" if count else "zero")


def count_cell(count: float | None, kind: str = "") -> Cell:
    """Return a count."""
    return Cell(text=amount(count), order=count, kind=kind)

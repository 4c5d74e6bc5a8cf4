"""A table of the report: columns, and rows of cells. The template `table.html` renders it, `_markdown` as Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Generic, Self, TypeVar

from waybench.core import Metric
from waybench.reporting._format import count_text, interval_text, mean_quality, metric_heading, quality_between_bounds
from waybench.results import Estimate
from waybench.results.formatting import LOST, NOTHING, mean_text, one_line
from waybench.results.frames import Column
from waybench.results.results import LONGEST, RunKey
from waybench.results.results._groups import distinguishing_settings
from waybench.results.stats import IntervalEstimate, LostAttempts

T_contra = TypeVar("T_contra", contravariant=True)
T = TypeVar("T")  # what the rows of a table are about
_TEXTS_OF_NOTHING = "", NOTHING, "0", "0.0"  # of cells whose columns can be left out
_REFERENCES = "Reference players, not models"
FOLDED = 12  # a table of more rows is folded
_COLUMNS_OF_A_PHONE = 2
_COLUMNS_OF_A_PAGE = 15


@dataclass(frozen=True, slots=True)
class Note:
    """A piece of text: a line below the value of a cell, or a part of a caption.

    Attributes:
        kind: Its class in the style sheet, such as "flag" or "interval"; "" for none.
        link: The address that the text leads to, from the site's root; "" for none.
        title: A tooltip; "" for none.
        spoken: What a screen reader says in place of the text; "" for the text itself.
        value: A number in bold before the text; "" for none.
    """

    text: str
    kind: str = ""
    link: str = ""
    title: str = ""
    spoken: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell.

    Attributes:
        link: The address that the value leads to, from the site's root or, with a "#", in the page; "" for none.
        better: Which values are better, "higher" or "lower", as for a `TableColumn`.
        mark: A flag after the value, such as "*".
        order: The value by which a sortable table sorts the cell; None sorts as an empty cell.
        part: How good the value is, from 0 to 1, which shades the cell; None for no shade.
        title: A tooltip; "" for none.
        kind: Its class in the style sheet; "" for none.
        columns: Number of columns that it spans.
        hidden: Whether screen readers skip the value.
    """

    text: str = ""
    _: KW_ONLY
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


BLANK = TableCell(kind="blank")


@dataclass(frozen=True, slots=True)
class HeaderGroup:
    """A header above several columns.

    Attributes:
        link: The address that it leads to, from the site's root; "" for none.
        kind: Its class in the style sheet; "" for none.
    """

    text: str
    link: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class TableColumn(Generic[T_contra]):
    """One column: its header, and the function that returns its cell for the subject of a row.

    Attributes:
        heading: Its header; it may have several lines.
        cell: Returns its cell, or the cell's text, for the subject of a row (see `Table.from_columns`).
        kind: Its class in the style sheet, which aligns it: "" to the right, "name" to the left, "score" centred.
        is_optional: Whether the table leaves the column out if all of its cells are empty or 0.
        better: Which values are better, "higher" or "lower", which an arrow shows; "" for neither.
        help: A tooltip; "" for none.
        link: The address that the header leads to, from the site's root; "" for none.
        group: The header above this column and its neighbours of the same group; None for none.
    """

    heading: str
    cell: Callable[[T_contra], TableCell | str] = field(default=lambda subject: "", repr=False, compare=False)
    kind: str = ""
    _: KW_ONLY
    is_shown: bool = True
    is_optional: bool = False
    better: str = ""
    help: str = ""
    link: str = ""
    notes: tuple[Note, ...] = ()
    group: HeaderGroup | None = None


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row.

    Attributes:
        cells: A cell for each column after the first.
        kind: Its class in the style sheet; "" for none.
        choice: The value by which a sortable table filters its rows.
    """

    head: TableCell
    cells: Sequence[TableCell]
    kind: str = ""
    choice: str = ""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows that belong together.

    Attributes:
        title: The title above the rows; "" for none.
        kind: The rows' class in the style sheet; "" for none.
        head: A header of all rows in the first column, with the rows' own headers in the second one; None for none.
    """

    rows: Sequence[TableRow]
    title: str = ""
    kind: str = ""
    head: TableCell | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table.

    Attributes:
        title: The first words of its caption.
        id: Its id in the page; "" where the page gives it one.
        caption: The caption after the title.
        help: The part of the caption that is folded: the meaning of the columns.
        choose: The name of the filter of its rows, such as "Family"; "" where the table cannot be sorted.
        summary: The heading under which the table is folded; "" where it is not folded.
        folded: Whether it is folded when the page opens.
    """

    title: str
    columns: Sequence[TableColumn[Any]]
    groups: Sequence[RowGroup]
    id: str = ""
    caption: Sequence[Note] = ()
    help: Sequence[Note] = ()
    kind: str = ""
    choose: str = ""
    summary: str = ""
    folded: bool = False

    @classmethod
    def from_columns(
        cls,
        columns: Iterable[TableColumn[T]],
        subjects: Iterable[T],
        *,
        is_reference: Callable[[T], bool] | None = None,
        choice: Callable[[T], str] | None = None,
        row_kind: Callable[[T], str] | None = None,
        **attributes: Any,
    ) -> Self:
        """Return a table with a row for each subject.

        Args:
            columns: All columns; columns that are not shown are left out. The first one has the rows' headers.
            subjects: The subjects of the rows, such as models.
            is_reference: Returns whether a subject is a reference player: their rows come last, below a title.
            choice: Returns the value by which a sortable table filters a row.
            row_kind: Returns the class of a row in the style sheet.
            **attributes: Other attributes of the table.
        """
        subjects = list(subjects)
        columns = [column for column in columns if column.is_shown and not _is_empty(column, subjects)]

        def rows(subjects: Iterable[T]) -> list[TableRow]:
            return table_rows(columns, subjects, choice=choice, row_kind=row_kind)

        groups = [RowGroup(rows(subjects))]
        if is_reference:
            models = RowGroup(rows(subject for subject in subjects if not is_reference(subject)))
            references = (subject for subject in subjects if is_reference(subject))
            groups = [models, RowGroup(rows(references), _REFERENCES, "references")]
            groups = [group for group in groups if group.rows]
        return cls(columns=columns, groups=groups, **attributes)

    @property
    def rows(self) -> list[TableRow]:
        """All rows."""
        return [row for group in self.groups for row in group.rows]

    @property
    def stacking(self) -> str:
        """The class in the style sheet by which each row becomes a card of labelled values, so that nothing scrolls.

        "stacked": on all screens, for more columns than fit on a page; "stacks": on a phone; "": on none, for few
        columns, for tables with cards of their own, and where several rows share a header, which cards cannot.
        """
        has_shared_headers = any(group.head for group in self.groups)
        if has_shared_headers or "matrix" in self.kind or len(self.columns) <= _COLUMNS_OF_A_PHONE:
            return ""
        return "stacked" if len(self.columns) > _COLUMNS_OF_A_PAGE else "stacks"

    def label(self, number: int) -> str:
        """Return the label beside the value of the column with this number where rows are cards."""
        column = self.columns[number]
        lines = [column.group.text if column.group else "", " ".join(column.heading.split())]
        return ", ".join(filter(None, lines))

    @property
    def header_groups(self) -> list[tuple[HeaderGroup | None, list[TableColumn[Any]]]]:
        """The neighbouring columns of each header above columns; a column without one is by itself, with None."""
        groups: list[tuple[HeaderGroup | None, list[TableColumn[Any]]]] = []
        for column in self.columns:
            if groups and column.group is not None and groups[-1][0] is column.group:
                groups[-1][1].append(column)
            else:
                groups.append((column.group, [column]))
        return groups


def table_rows(
    columns: Iterable[TableColumn[T]],
    subjects: Iterable[T],
    *,
    choice: Callable[[T], str] | None = None,
    row_kind: Callable[[T], str] | None = None,
) -> list[TableRow]:
    """Return a row for each subject, with a cell for each column (arguments as for `Table.from_columns`)."""
    columns, rows = list(columns), list[TableRow]()
    for subject in subjects:
        cells, n_columns_filled = list[TableCell](), 0
        for number, column in enumerate(columns):
            if number >= n_columns_filled:  # otherwise the last cell spans the column
                value = column.cell(subject)
                cells.append(TableCell(value) if isinstance(value, str) else value)
                n_columns_filled = number + cells[-1].columns
        head, *others = cells
        kind = row_kind(subject) if row_kind else ""
        rows.append(TableRow(head, others, kind, choice(subject) if choice else ""))
    return rows


def _is_empty(column: TableColumn[T], subjects: Iterable[T]) -> bool:
    """Return whether an optional column is left out because all its cells are empty."""
    if not column.is_optional:
        return False
    cells = (TableCell(cell) if isinstance(cell, str) else cell for cell in map(column.cell, subjects))
    return all(cell.text in _TEXTS_OF_NOTHING and not cell.notes for cell in cells)


def declared_column(column: Column[T]) -> TableColumn[T]:
    """Return the column of a table from its declaration."""
    alignment = "name" if issubclass(column.type, str) else ""
    return TableColumn(column.heading, lambda subject: declared_cell(column, subject), alignment)


def declared_cell(column: Column[T], subject: T) -> TableCell:
    """Return the cell of a declared column: the first line of its text, with the others below; "–" without a text."""
    # A column of tables alone has a text and no value.
    value: Any = None if column.only == "table" or column.text else column.value(subject)
    if column.text is None and isinstance(value, str):
        return TableCell(one_line(value, LONGEST), kind="name")
    text, *lines = (column.text(subject) if column.text else count_text(value)).split("\n")
    return TableCell(text or NOTHING, notes=value_notes(lines), kind="name" if issubclass(column.type, str) else "")


def single_group(rows: Iterable[TableRow]) -> tuple[RowGroup, ...]:
    """Return rows as the only group of a table."""
    return (RowGroup(tuple(rows)),)


def value_notes(texts: Iterable[str], kind: str = "") -> tuple[Note, ...]:
    """Return notes below a value, one for each text that is not empty."""
    return tuple(Note(text, kind) for text in texts if text)


def setting_notes(settings: Iterable[str]) -> tuple[Note, ...]:
    """Return settings as notes below a value."""
    return tuple(Note(one_line(text, 60)) for text in settings)


def model_label(model: str) -> str:
    """Return a model's name as tables show it."""
    return one_line(model, 80) or "(no name)"


def model_cell(
    model: str, differing_settings: Iterable[str] = (), page: str = "", *, is_sortable: bool = False
) -> TableCell:
    """Return the header of a model's row, with the settings that distinguish it from other rows, in words.

    `page` is the file name of the page of its results, "" for no link.
    """
    link = f"results/{page}" if page else ""
    return TableCell(
        model_label(model),
        link=link,
        notes=setting_notes(differing_settings),
        order=one_line(model, 80) if is_sortable else None,
    )


def model_column(
    group_of: Callable[[T], RunKey], groups: Iterable[RunKey], pages: Mapping[RunKey, str]
) -> TableColumn[T]:
    """Return the column of the models, each with a link to its results page and the settings that distinguish it.

    `group_of` returns the group of a row's subject, and `groups` are those of all rows. A group without a page has no
    link.
    """
    groups = list(groups)

    def model_header(subject: T) -> TableCell:
        group = group_of(subject)
        return model_cell(group.model, distinguishing_settings(group, groups), pages.get(group, ""))

    return TableColumn("Model", model_header)


def metric_column(
    metric: Metric, cell: Callable[[T], TableCell], kind: str = "", group: HeaderGroup | None = None
) -> TableColumn[T]:
    """Return the column of a metric."""
    return TableColumn(metric_heading(metric), cell, kind, better=metric.better, group=group)


def mean_cell(mean: IntervalEstimate | None, metric: Metric, *, bold: bool = True) -> TableCell:
    """Return a mean with its interval, shaded by how good it is; a dash for None."""
    if mean is None:
        return TableCell(NOTHING, kind="score")
    cell = value_cell(mean.value, metric, bold=bold, interval=interval_text(mean, metric))
    return replace(cell, part=mean_quality(mean, metric), mark=lost_mark(mean.lost))


def value_cell(value: float, metric: Metric, *, bold: bool = False, interval: str = "") -> TableCell:
    """Return a value of a metric, shaded by how good it is."""
    return TableCell(
        text=mean_text(value, metric),
        bold=bold,
        notes=value_notes([interval], "interval"),
        part=quality_between_bounds(value, metric),
        kind="score",
    )


def lost_mark(lost: LostAttempts | None) -> str:
    """Return the flag of a value that lacks attempts; "" if it lacks none."""
    return "*" if lost else ""


def lost_caption(estimates: Iterable[Estimate]) -> list[Note]:
    """Return the caption's notes on values that lack attempts; none if no value does."""
    return [Note("*", "flag"), Note(LOST)] if any(estimate.lost for estimate in estimates) else []


def number_cell(text: str, order: float | None, lines: Iterable[str] = ()) -> TableCell:
    """Return the cell of a number, sorted by `order`, with lines below; 0 and missing numbers are pale."""
    return TableCell(text, order=order, notes=value_notes(lines), kind="" if order else "zero")


def error_cell(count: int) -> TableCell:
    """Return the cell of a number of infrastructure errors, which is highlighted unless it is 0."""
    return count_cell(count, "flag" if count else "zero")


def count_cell(count: float | None, kind: str = "") -> TableCell:
    """Return the cell of a count."""
    return TableCell(count_text(count), order=count, kind=kind)

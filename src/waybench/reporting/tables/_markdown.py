"""Tables in Markdown, and the first table for a README: models by task."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from waybench._version import __version__
from waybench.envs import registry
from waybench.reporting.tables._leaders import Leader, Leaders
from waybench.reporting.tables._table import BLANK, Table, TableCell, TableColumn, value_notes
from waybench.results.formatting import LOST, NOTHING, one_line
from waybench.results.results import RunKey, setting_text
from waybench.results.stats import CONFIDENCE

_MOST_COLUMNS = 6  # beside the models' names; a wider table is continued in another table
_LONGEST = 60  # characters of a text
_LONGEST_HEADING = 120
_MISSING = "n/a"
# The characters of Markdown within a line: of code, emphasis, links, tags, entities, ends of cells, formulas, and of
# addresses that some programs turn into links. A bar or backslash needs a reference, since cells are divided first.
_MARKUP = re.compile(r"[\\|<>&`*_\[\]$~@]|:(?=\S)|\.(?=[^\W\d])")
_REFERENCES = {"\\": "&#92;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "&": "&amp;"}
_HORIZONS = (
    "Horizons: the difficulty at which a single attempt succeeds at half of the items, with its 90 % interval; “above” "
    "and “below”: outside the difficulties that were tried. Blank: not run, or all items of one difficulty."
)
_ERRORS, _ENDED, _FEWER = "*", "†", "‡"
_SIGNS = {
    _ERRORS: LOST.rstrip("."),
    _ENDED: "stopped at a level that it failed; harder levels count as 0",
    _FEWER: "over fewer levels than others, so not comparable",
    _MISSING: "infrastructure errors only",
    NOTHING: "not defined for any attempt, or a search for a horizon, which has no score",
}


def escape_markdown(text: str, limit: int = _LONGEST) -> str:
    """Return a text, cut to `limit` columns, as one line of Markdown in which it has no markup."""
    return _MARKUP.sub(lambda match: _REFERENCES.get(match[0], f"\\{match[0]}"), one_line(text, limit))


@dataclass(slots=True)
class _Row:
    """A model with settings, in words, and its scores by the name of their column (`_column_name`)."""

    model: str
    embedded: bool
    differs: Sequence[str]
    cells: dict[str, Leader] = field(default_factory=dict[str, Leader])

    def accepts(self, line: Leader) -> bool:
        """Return whether a score fits into the row: its cell is empty, and the row's settings are true of its group."""
        if _column_name(line) in self.cells or not set(line.differs) <= set(self.differs):
            return False
        names = {name.replace("_", " ") for name in line.group.settings}
        # A setting that a task does not have is neither true nor false of its group.
        has_all_settings = names.issuperset(text.partition(": ")[0] for text in self.differs)
        return has_all_settings and not any(_contradicts(text, line.group) for text in self.differs)

    def header_cell(self, others: Iterable["_Row"]) -> TableCell:
        """Return the row's header, with settings that are off or default only if the model has other rows."""
        has_other_rows = any(other is not self and other.model == self.model for other in others)
        settings = [text for text in self.differs if has_other_rows or not text.endswith((": no", ": default"))]
        name = self.model if one_line(self.model, _LONGEST) else "(no name)"
        return TableCell(name, notes=value_notes(settings), kind="reference" if self.embedded else "")


def _contradicts(text: str, group: RunKey) -> bool:
    """Return whether a group could have the setting of this text but has another value."""
    env = registry.load(group.env)
    choices = {option.name: option.choices for option in (*env.playing.options, *env.items.options)}
    name, _, value = text.partition(": ")
    return any(
        option_name.replace("_", " ") == name
        and setting_text(option_name, group_value) != text
        and value in (choices.get(option_name) or (value,))  # a value that is no choice cannot be meant
        for option_name, group_value in group.settings.items()
    )


def table_to_markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown, without its caption.

    Lines below a value are in brackets after it, and the names of reference players in italics. A wide table is
    continued in another table, which repeats the rows' headers and leaves out empty rows.
    """
    first, *columns = table.columns
    blocks: list[str] = []
    for start in range(0, len(columns), _MOST_COLUMNS):
        block = columns[start : start + _MOST_COLUMNS]
        lines = [[escape_markdown(column.heading, _LONGEST_HEADING) for column in (first, *block)]]
        lines.append([":--", *("--:" for _ in block)])
        for row in table.rows:
            cells = [_cell_markdown(cell) for cell in row.cells[start : start + _MOST_COLUMNS]]
            if any(cells):
                lines.append([_cell_markdown(row.head), *cells])
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(blocks)


def _cell_markdown(cell: TableCell) -> str:
    """Return a cell in Markdown: its text, its notes in brackets, and its mark."""
    text = escape_markdown(cell.text)
    if cell.kind == "reference":
        text = f"*{text}*"
    # Notes of the kind "label" repeat the column's heading for narrow pages.
    notes = [note.text for note in cell.notes if note.kind != "label"]
    if notes:
        text += f" ({escape_markdown(', '.join(notes))})"
    return f"{text} {escape_markdown(cell.mark)}" if cell.mark else text


def readme_table(leaders: Leaders) -> str:
    """Return the table of all results in Markdown, for a README: a row for each model, a column for each task.

    A model that was run at a task with two settings has a row for each. Reference players come last. A cell is the
    score with its interval. If there are horizons, they follow in a table of their own.
    """
    rows = [*_rows_of_leaders(leaders.models), *_rows_of_leaders(leaders.references)]
    ordered = sorted(leaders.lines, key=lambda line: (line.family, line.group.env, line.apart))
    columns = list(dict.fromkeys(map(_column_name, ordered)))
    scores = _pivot_table(rows, {column: column for column in columns}, _score_cell)
    parts = [table_to_markdown(scores), _score_notes(cell for row in scores.rows for cell in row.cells)]
    horizon_headings = {
        _column_name(line): f"{', '.join((line.title, *line.apart))}: {line.counts}"
        for line in leaders.lines
        if line.counts
    }
    if horizon_headings:
        headings = {column: horizon_headings[column] for column in columns if column in horizon_headings}
        success = {line.title: line.success for line in leaders.lines if line.success}
        success_texts = [
            f"{escape_markdown(title, _LONGEST_HEADING)}: {text[0].lower()}{text[1:]}"
            for title, text in success.items()
        ]
        parts += [
            " ".join([_HORIZONS, *success_texts]),
            table_to_markdown(_pivot_table(rows, headings, lambda line: line.horizon if line.counts else BLANK)),
        ]
    return "\n\n".join(parts) + "\n"


def _pivot_table(rows: Sequence[_Row], headings: Mapping[str, str], cell: Callable[[Leader], TableCell]) -> Table:
    """Return a table of models by task, with a column for each of `headings` and the cell of each result."""

    def task_column(name: str, heading: str) -> TableColumn[_Row]:
        return TableColumn(heading, lambda row: cell(row.cells[name]) if name in row.cells else BLANK)

    model_column: TableColumn[_Row] = TableColumn("Model", lambda row: row.header_cell(rows))
    return Table.from_columns([model_column, *(task_column(*pair) for pair in headings.items())], rows, title="Results")


def _rows_of_leaders(lines: Sequence[Leader]) -> list[_Row]:
    """Return a row for each model and its settings, the best model first."""
    rows: list[_Row] = []
    # The rows with most settings come first, so that a score with fewer settings joins the first row that accepts it.
    for line in sorted(lines, key=lambda line: -len(line.differs)):
        row = next((row for row in rows if row.model == line.group.model and row.accepts(line)), None)
        if row is None:
            rows.append(row := _Row(line.group.model, line.group.embedded, line.differs))
        row.cells[_column_name(line)] = line
    best_sum: dict[str, float] = {}  # model -> the greatest sum of scores from 0 to 1 in one of its rows
    for row in rows:
        best_sum[row.model] = max(best_sum.get(row.model, 0.0), sum(line.part or 0.0 for line in row.cells.values()))
    return sorted(rows, key=lambda row: (-best_sum[row.model], row.model, _settings_sort_key(row.differs)))


def _settings_sort_key(settings: Iterable[str]) -> list[tuple[float, str]]:
    """Return the sort key of settings as text, with numbers as numbers: "tries: 5" before "tries: 10"."""
    pieces = [piece for text in settings for piece in re.split(r"(\d+(?:\.\d+)?)", text) if piece]
    return [(float(piece), "") if piece[0].isdecimal() else (-1.0, piece) for piece in pieces]


def _column_name(line: Leader) -> str:
    return f"{', '.join((line.title, *line.apart))}: {line.metric}"


def _score_cell(line: Leader) -> TableCell:
    """Return a score with its interval, and the signs that `_score_notes` explains."""
    if not line.items.order:  # no item has a result
        return TableCell(_MISSING, notes=value_notes([line.interval]), mark=_ERRORS if line.lost else "")
    marks = _ERRORS if line.lost else ""
    if line.note:
        marks += _ENDED if line.note.endswith("count as 0") else _FEWER
    return TableCell(line.score.text, notes=value_notes([line.interval]), mark=marks)


def _score_notes(score_cells: Iterable[TableCell]) -> str:
    """Return the sentences below the table of scores, with the meaning of the signs in its cells."""
    cells = list(score_cells)
    signs = {cell.text for cell in cells} | {mark for cell in cells for mark in cell.mark}
    legend = [f"{escape_markdown(sign)}: {meaning}." for sign, meaning in _SIGNS.items() if sign in signs]
    interval = f"In brackets: {100 * CONFIDENCE:.0f} % confidence interval. In italics: reference players, not models."
    return " ".join([interval, "Blank: not run.", *legend, f"Made by waybench {__version__}."])

"""The first table for a README: models by task, in Markdown."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from waybench._version import __version__
from waybench.analysis import NOTHING, Group, one_line, setting
from waybench.envs import registry
from waybench.report.tables._leaders import Leader, Leaders
from waybench.stats import CONFIDENCE

_COLUMNS = 6  # of numbers; a wider table goes on in another one, with the models' names again
_LONGEST = 60
_MISSING = "n/a"
# All that means something within a line: code, emphasis, links, tags, entities, ends of cells, formulas, and what some
# make a link of without being told. A bar or backslash has to be a reference, for a cell's end is looked for first.
_ACTIVE = re.compile(r"[\\|<>&`*_\[\]$~@]|:(?=\S)|\.(?=[^\W\d])")
_REFERENCES = {"\\": "&#92;", "|": "&#124;", "<": "&lt;", ">": "&gt;", "&": "&amp;"}
_HORIZONS = (
    "Horizons: the difficulty at which a single attempt still solves half of the items, with its 90 % interval; "
    "nothing is said beyond what was tried. Blank: not run, or all items of one difficulty."
)
_MARKS = {
    "\\*": "infrastructure errors left something out",
    "†": "a ladder ended early, and what it did not reach counts as 0",
    "‡": "over fewer levels than others, so not to be compared",
    _MISSING: "infrastructure errors only",
    NOTHING: "not defined for any attempt",
}


def escaped(text: str, limit: int = _LONGEST) -> str:
    """Return a text as one line of Markdown that shows it and does nothing else, cut to `limit` columns."""
    return _ACTIVE.sub(lambda found: _REFERENCES.get(found[0], f"\\{found[0]}"), one_line(text, limit))


@dataclass(slots=True)
class _Row:
    """A model with the same settings, and its scores by column."""

    model: str
    embedded: bool
    differs: list[str]
    cells: dict[str, Leader] = field(default_factory=dict[str, Leader])

    def takes(self, line: Leader) -> bool:
        """Return whether a score belongs here: its place is free, and nothing said of the row is wrong of it."""
        free = _column(line) not in self.cells and set(line.differs) <= set(self.differs)
        # A setting that a task does not have is no more true of it than false.
        known = {name.replace("_", " ") for name in line.group.settings}
        return (
            free
            and known.issuperset(told.partition(": ")[0] for told in self.differs)
            and not any(_wrong(told, line.group) for told in self.differs)
        )

    def name(self, others: Iterable["_Row"]) -> str:
        """Return the row's head; what is off or left to its default is said where the model has other rows."""
        name = escaped(self.model) or "(no name)"
        again = any(other is not self and other.model == self.model for other in others)
        told = [each for each in self.differs if again or not each.endswith((": no", ": default"))]
        return (f"*{name}*" if self.embedded else name) + (f" ({escaped(', '.join(told))})" if told else "")


def _wrong(told: str, group: Group) -> bool:
    """Return whether a setting in words is another one of a group, which could have had it."""
    env = registry.load(group.env)
    choices = {option.name: option.choices for option in (*env.options, *env.source_options)}
    name, _, value = told.partition(": ")
    return any(
        own.replace("_", " ") == name and setting(own, has) != told and value in (choices.get(own) or (value,))
        for own, has in group.settings.items()
    )


def markdown(table: Leaders) -> str:
    """Return the table of all results in Markdown as GitHub has it: a row for each model, a column for each task.

    Settings in which a model was run twice at a task make rows of their own. Reference players come last. A cell is the
    score with its interval. Horizons follow in a table of their own, where there are any.

    Args:
        table: The results.
    """
    rows = [*_rows(table.models), *_rows(table.references)]
    columns = list(dict.fromkeys(_column(line) for line in sorted((*table.models, *table.references), key=_place)))
    scores = {column: column for column in columns}
    parts = [*_tables(rows, scores, _cell), _notes(_cell(line) for row in rows for line in row.cells.values())]
    reached = {_column(line): _reach_column(line) for line in (*table.models, *table.references) if line.counts}
    if reached:
        heads = {column: reached[column] for column in columns if column in reached}
        success = {line.title: line.success for line in (*table.models, *table.references) if line.success}
        told = [f"{escaped(title, 120)}: {text[0].lower()}{text[1:]}" for title, text in success.items()]
        parts += [" ".join([_HORIZONS, *told]), *_tables(rows, heads, _reach_cell)]
    return "\n\n".join(parts) + "\n"


def _tables(rows: Sequence[_Row], heads: Mapping[str, str], cell: Callable[[Leader | None], str]) -> Iterator[str]:
    """Yield tables of some columns, each by its head; rows without a cell in them are left out."""
    columns = list(heads)
    for start in range(0, len(columns), _COLUMNS):
        block = columns[start : start + _COLUMNS]
        lines = [["Model", *(heads[column] for column in block)], [":--", *["--:"] * len(block)]]
        for row in rows:
            cells = [cell(row.cells.get(column)) for column in block]
            if any(cells):
                lines.append([row.name(rows), *cells])
        yield "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _rows(lines: Sequence[Leader]) -> list[_Row]:
    rows: list[_Row] = []
    # Rows that say most are made first, so that what is true of several goes to the first of them.
    for line in sorted(lines, key=lambda line: -len(line.differs)):
        row = next((row for row in rows if row.model == line.group.model and row.takes(line)), None)
        if row is None:
            rows.append(row := _Row(line.group.model, line.group.embedded, line.differs))
        row.cells[_column(line)] = line
    best: dict[str, float] = {}
    for row in rows:
        best[row.model] = max(best.get(row.model, 0.0), sum(line.part or 0.0 for line in row.cells.values()))
    return sorted(rows, key=lambda row: (-best[row.model], row.model, _numbered(row.differs)))


def _numbered(settings: Iterable[str]) -> list[tuple[float, str]]:
    """Return what settings in words are sorted by, numbers as numbers: "tries: 5" comes before "tries: 10"."""
    pieces = [piece for told in settings for piece in re.split(r"(\d+(?:\.\d+)?)", told) if piece]
    return [(float(piece), "") if piece[0].isdecimal() else (-1.0, piece) for piece in pieces]


def _place(line: Leader) -> tuple[str, str, tuple[str, ...]]:
    return line.family, line.group.env, line.apart


def _column(line: Leader) -> str:
    return escaped(f"{', '.join((line.title, *line.apart))}: {line.metric}", 120)


def _cell(line: Leader | None) -> str:
    if line is None:
        return ""
    if not line.items.order:
        return _MISSING
    marks = ["\\*"] if line.errors else []
    if line.note:
        marks.append("†" if line.note.endswith("beyond") else "‡")
    return line.score.text + (f" ({line.interval})" if line.interval else "") + (f" {''.join(marks)}" if marks else "")


def _reach_column(line: Leader) -> str:
    return escaped(f"{', '.join((line.title, *line.apart))}: {line.counts}", 120)


def _reach_cell(line: Leader | None) -> str:
    if line is None or not line.counts:
        return ""
    return line.reach.text + (f" ({line.reach.notes[0].text})" if line.reach.notes else "")


def _notes(shown: Iterable[str]) -> str:
    told = list(_told(set(shown)))
    interval = f"In brackets: {100 * CONFIDENCE:.0f} % confidence interval. In italics: reference players, not models."
    return " ".join([interval, "Blank: not run.", *told, f"Made by waybench {__version__}."])


def _told(shown: set[str]) -> Iterator[str]:
    for mark, meaning in _MARKS.items():
        # The sign for nothing also stands in intervals.
        if any(cell.startswith(mark) if mark == NOTHING else mark in cell for cell in shown):
            yield f"{mark}: {meaning}."

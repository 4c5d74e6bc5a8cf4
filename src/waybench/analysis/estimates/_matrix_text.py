"""The matrix of models by families as plain text."""

import textwrap
from collections.abc import Sequence

from waybench.analysis.estimates._matrix import Matrix, MatrixRow, Score
from waybench.analysis.estimates._table import aligned
from waybench.analysis.formatting import NO_RANK, NOTHING, bounds_text, lost_text, one_line
from waybench.analysis.results import Family

SCALE = (
    "Normalised scores: 0 is the floor (the better of empty replies and the best constant reply), 100 the ceiling "
    "(the oracle). Below 0 is worse than the floor."
)
NO_INTERVAL = "a single item or cluster, or the same score in all"
_LONGEST_NAME = 30
_GAP = 2


def matrix_text(matrix: Matrix, columns: int = 100) -> str:
    """Return the matrix as an aligned table: a line for each model, with its mean, ranks and families.

    A blank cell was not run. A star marks a score that is not comparable with that of other models as it is. Last lines
    say why, and why some cells have no score ("–") or no interval.

    Args:
        matrix: The matrix.
        columns: Width of the terminal in characters; families that do not fit go on below.
    """
    ranked = any(row.rank or row.lost for row in matrix.rows)
    first = [["", "mean", *(["rank"] if ranked else [])], *(_first(row, ranked) for row in matrix.rows)]
    notes = {note for row in matrix.rows for cell in row.cells.values() for note in cell.notes}
    size = sum(max(map(len, column)) + _GAP for column in zip(*first, strict=True))
    shown = [_column(matrix, family) for family in matrix.families]
    tables: list[str] = []
    while True:
        block: list[list[str]] = []
        room = columns - size
        while shown and (not block or room >= _width(shown[0]) + _GAP):
            room -= _width(shown[0]) + _GAP
            block.append(shown.pop(0))
        tables.append(_table(first, block, [row.kind for row in matrix.rows]))
        if not shown:
            break
        first, size = [line[:1] for line in first], max(len(line[0]) for line in first)
    said = [f"* {'; '.join(sorted(notes))}"] if notes else []
    said += [f"{NOTHING} no normalised score: {', '.join(unknown)}"] if (unknown := _why_none(matrix)) else []
    if any(row.mean and row.mean.interval is None for row in matrix.rows):
        said.append(f"No interval: {NO_INTERVAL}, in some family")
    said += [f"{NO_RANK[0].upper()}{NO_RANK[1:]}: {'; '.join(lost)}"] if (lost := _lost(matrix)) else []
    tables += ["\n".join(textwrap.wrap(f"{'. '.join(said)}.", columns))] if said else []
    return "\n\n".join(tables)


def _why_none(matrix: Matrix) -> list[str]:
    """Return the families in which some model has no normalised score, each with the reasons."""
    found: list[str] = []
    for family in matrix.families:
        reasons = {cell.why_none for row in matrix.rows if (cell := row.cells.get(family)) and cell.score is None}
        if reasons:
            found.append(f"{short_title(family)} ({', '.join(sorted(reasons))})")
    return found


def _lost(matrix: Matrix) -> list[str]:
    """Return what the scores lack: "a in Mazes n = 4 of 10; 16 to 76"."""
    return [
        f"{one_line(row.model, _LONGEST_NAME)} in {short_title(family)} {lost_text(cell.score.lost, show=number)}"
        for row in matrix.rows
        for family, cell in row.cells.items()
        if cell.score and cell.score.lost
    ]


def short_title(family: Family) -> str:
    """Return a family's title without what stands in brackets: "Mazes (AliciaBench)" is "Mazes"."""
    return family.title.partition(" (")[0]


def _first(row: MatrixRow, ranked: bool) -> list[str]:
    rank = (NOTHING if row.lost else "") if row.rank is None else "–".join(dict.fromkeys(map(str, row.rank)))
    name = row.model.removeprefix("waybench/") if row.kind == "reference" else row.model
    return [one_line(name, _LONGEST_NAME), _score(row.mean, interval=True), *([rank] if ranked else [])]


def _score(score: Score | None, *, interval: bool = False) -> str:
    if score is None:
        return NOTHING
    value = number(score.value)
    if score.lost:
        return f"{value} ({bounds_text(score.lost, number)})" if interval else value
    if not interval or score.low is None or score.high is None:
        return value
    return f"{value} ({number(score.low)} to {number(score.high)})"


def number(value: float) -> str:
    """Return a normalised score as text, without decimals."""
    return f"{value:.0f}".replace("-0", "0").replace("-", "−")


def _column(matrix: Matrix, family: Family) -> list[str]:
    cells = [row.cells.get(family) for row in matrix.rows]
    texts = ["" if cell is None else _score(cell.score) + ("*" if cell.notes or cell.lost else "") for cell in cells]
    if any(text.endswith("*") for text in texts):
        texts = [text if text.endswith("*") else f"{text} " for text in texts]
    return [short_title(family), *texts]


def _heading(column: Sequence[str]) -> list[str]:
    """Return the lines of a column's heading, no wider than its cells or its longest word."""
    heading, *texts = column
    return textwrap.wrap(heading, max(*map(len, heading.split()), *map(len, texts)))


def _width(column: Sequence[str]) -> int:
    return max(map(len, (*_heading(column), *column[1:])))


def _table(first: Sequence[Sequence[str]], block: Sequence[Sequence[str]], kinds: Sequence[str]) -> str:
    headings = [_heading(column) for column in block]
    height = max((len(heading) for heading in headings), default=1)
    lines = [
        [
            *(first[0] if line == height - 1 else [""] * len(first[0])),
            *(heading[line - height + len(heading)] if line >= height - len(heading) else "" for heading in headings),
        ]
        for line in range(height)
    ]
    lines += [[*start, *(column[number] for column in block)] for number, start in enumerate(first[1:], start=1)]
    return aligned(lines, [*([""] * height), *kinds])

"""The matrix of models by families and profiles of models, as plain text."""

import textwrap
from collections.abc import Sequence

from waybench.results.estimates._matrix import Matrix, MatrixRow, Score
from waybench.results.estimates._measures import aligned
from waybench.results.estimates._profiles import Profile, ProfileCell, Profiles
from waybench.results.formatting import NO_RANK, NOTHING, bounds_text, lost_text, one_line
from waybench.results.results import Family
from waybench.results.stats import Interval

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


_FEW = 5  # models, below which predictions are wide whatever was measured


def profiles_text(found: Profiles, columns: int = 100) -> str:
    """Return profiles as an aligned table of abilities and scores, and what it means.

    Measured scores stand by themselves, predicted ones in square brackets with their intervals below the table.

    Args:
        found: The profiles.
        columns: Width of the terminal in characters.
    """
    parts = [*_tables(found, columns), *("\n".join(textwrap.wrap(text, columns)) for text in _meaning(found))]
    predicted = [
        [_name(row), short_title(family), f"[{number(cell.predicted.value)}]", _range(cell.predicted)]
        for row in found.rows
        for family, cell in row.cells.items()
        if cell.predicted
    ]
    if predicted:
        heading = "Predicted, not measured (90 % interval for a run on the items that other models ran):"
        parts.append("\n".join([*textwrap.wrap(heading, columns), aligned(predicted)]))
    lost = [f"{_name(row)}: {line}" for row in found.rows for line in _profile_text_lost(row)]
    if lost:
        heading = (
            f"* {NO_RANK}, which ability and score leave out. In brackets: the score if they were failures, and if "
            "they were solved."
        )
        parts.append("\n".join([*textwrap.wrap(heading, columns), *lost]))
    strengths = [line for row in found.rows for line in _strengths(row)]
    if strengths:
        heading = "Better or worse in a family than the general ability says (90 % interval excludes 0):"
        parts.append("\n".join([*textwrap.wrap(heading, columns), aligned(strengths)]))
    return "\n\n".join(parts)


def _tables(found: Profiles, columns: int) -> list[str]:
    """Return the table, in parts below each other where the families do not fit side by side."""
    first = [["", "general ability"], *([_name(row), _signed(row.general)] for row in found.rows)]
    tables: list[str] = []
    block: list[list[str]] = []
    for family in found.families:
        column = [short_title(family), *(_cell(row.cells[family]) for row in found.rows)]
        table = _joined(first, [*block, column])
        if block and max(map(len, table.splitlines())) > columns:
            tables.append(_joined(first, block))
            first, block = [line[:1] for line in first], []
        block.append(column)
    return [*tables, _joined(first, block)]


def _joined(first: list[list[str]], columns: list[list[str]]) -> str:
    return aligned([[*line, *cells] for line, cells in zip(first, zip(*columns, strict=True), strict=True)])


def _name(row: Profile) -> str:
    name = row.model.removeprefix("waybench/") if row.kind == "reference" else row.model
    return one_line(name, _LONGEST_NAME) + ("*" if row.lost else "")


def _profile_text_lost(row: Profile) -> list[str]:
    """Return what the measured scores of a model lack, a line for each family."""
    return [
        f"{short_title(family)} {number(cell.measured.value)} ({lost_text(cell.measured.lost, show=number)})"
        for family, cell in row.cells.items()
        if cell.measured and cell.measured.lost
    ] or ([f"{row.lost:,} in families without a score"] if row.lost else [])


def _cell(cell: ProfileCell) -> str:
    if cell.predicted:
        return f"[{number(cell.predicted.value)}]"
    return number(cell.measured.value) if cell.measured else ""


def _range(interval: Interval) -> str:
    return f"{number(interval.low)} to {number(interval.high)}"


def _signed(interval: Interval) -> str:
    ends = [f"{end:+.1f}".replace("-", "−") for end in interval]
    return f"{ends[0]} ({ends[1]} to {ends[2]})"


def _strengths(row: Profile) -> list[list[str]]:
    return [
        [_name(row), short_title(family), _signed(cell.deviation)]
        for family, cell in row.cells.items()
        if cell.deviation and (cell.deviation.low > 0 or cell.deviation.high < 0)
    ]


def _meaning(found: Profiles) -> list[str]:
    shared, count = found.shared, len(found.rows)
    texts = [
        "Scores are normalised (0 floor, 100 ceiling). General ability: 0 is the average of models, 1 is one standard "
        "deviation above, with a 90 % interval. It explains "
        f"{100 * shared.value:.0f} % ({100 * shared.low:.0f} to {100 * shared.high:.0f}) of the differences between "
        "models within a family. Scores in square brackets are predictions and in no mean."
    ]
    if count < _FEW:
        texts.append(f"With {count} models, predictions are wide: the model knows little about what families share.")
    if found.left_out:
        names = ", ".join(short_title(family) for family in found.left_out)
        texts.append(f"Without a normalised score, and therefore left out: {names}.")
    return texts

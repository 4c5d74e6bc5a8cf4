"""Profiles of models as plain text."""

import textwrap

from waybench.analysis.estimates._matrix_text import number, short_title
from waybench.analysis.estimates._profiles import Profile, ProfileCell, Profiles
from waybench.analysis.estimates._table import aligned
from waybench.analysis.formatting import NO_RANK, lost_text, one_line
from waybench.stats import Interval

_LONGEST_NAME = 30
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
    lost = [f"{_name(row)}: {line}" for row in found.rows for line in _lost(row)]
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


def _lost(row: Profile) -> list[str]:
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

"""Frames as files: Parquet, and CSV that a spreadsheet can open without running anything in it."""

import re
from importlib import import_module
from io import BytesIO
from typing import Any, NamedTuple

from waybench.results.formatting import visible
from waybench.results.frames import Frame

# Spreadsheets take a cell that begins with one of these for a formula, also in the wide forms of the first four. With
# the apostrophe among them, the first one of a cell is always ours.
_FORMULA = re.compile("['=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


class Files(NamedTuple):
    """A frame as files.

    Attributes:
        parquet: As Parquet.
        csv: As CSV.
    """

    parquet: bytes
    csv: bytes


def files(frame: Frame) -> Files:
    """Return a frame as Parquet and as CSV, made some thousand rows at a time.

    Parquet has the frame's table as it is, with its metadata (`Frame.table`).

    CSV is UTF-8 with one line of names, texts in quotation marks, and nothing at all for null. A text that begins with
    = + - @, a tab, a line break or an apostrophe has an apostrophe before it, so that no spreadsheet takes it for a
    formula, and invisible characters are written out. Numbers and truth values are as they are.

    Args:
        frame: The frame.
    """
    pa: Any = import_module("pyarrow")  # it carries no types
    schema = frame.table.schema
    shown = pa.schema([(cell(field.name), field.type) for field in schema])
    written, lines = BytesIO(), BytesIO()
    with (
        import_module("pyarrow.parquet").ParquetWriter(written, schema) as to_parquet,
        import_module("pyarrow.csv").CSVWriter(lines, shown) as to_csv,
    ):
        for batch in frame.table.to_batches():
            to_parquet.write_batch(batch)
            to_csv.write(pa.record_batch([_shown(pa, array) for array in batch.columns], schema=shown))
    return Files(written.getvalue(), lines.getvalue())


def _shown(pa: Any, array: Any) -> Any:
    if array.type != pa.string():
        return array
    # Texts come again and again, so each is looked at once.
    coded = array.dictionary_encode()
    return pa.array([cell(text) for text in coded.dictionary.to_pylist()], pa.string()).take(coded.indices)


def cell(text: str) -> str:
    """Return a text as it stands in a CSV file."""
    shown = visible(text)
    return f"'{shown}" if _FORMULA.match(shown) else shown

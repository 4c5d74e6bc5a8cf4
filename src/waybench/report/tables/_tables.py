"""Frames as files: Parquet, and CSV that a spreadsheet can open without running anything in it."""

import json
import re
from collections.abc import Sequence
from importlib import import_module
from io import BytesIO
from itertools import islice
from typing import Any, NamedTuple

from waybench._version import __version__
from waybench.analysis import Column, Frame, visible
from waybench.core import Json

FRAME_SCHEMA = 2  # raised when a column that every report has goes, or changes its type or meaning
# Spreadsheets take a cell that begins with one of these for a formula, also in the wide forms of the first four. With
# the apostrophe among them, the first one of a cell is always ours.
_FORMULA = re.compile("['=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_BATCH = 10_000  # rows in memory at a time


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

    In Parquet nothing is NaN: what is not known or not defined is null. So is what does not fit a column's type, as in
    a record that somebody has changed; halves of surrogate pairs become their escapes. The file's metadata are
    "waybench.frame", "waybench.version", "waybench.schema" (`FRAME_SCHEMA`) and "waybench.columns", the columns'
    descriptions and units as JSON; for readers of Arrow each field has its own as "description" and "unit", too.

    CSV is UTF-8 with one line of names, texts in quotation marks, and nothing at all for null. A text that begins with
    = + - @, a tab, a line break or an apostrophe has an apostrophe before it, so that no spreadsheet takes it for a
    formula, and invisible characters are written out. Numbers and truth values are as they are.

    Args:
        frame: The frame.
    """
    pa: Any = import_module("pyarrow")  # it carries no types
    names = [_encodable(column.name) for column in frame.columns]
    kinds = [pa.type_for_alias(column.kind) for column in frame.columns]
    shown = pa.schema(list(zip(map(cell, names), kinds, strict=True)))
    written, lines = BytesIO(), BytesIO()
    with (
        import_module("pyarrow.parquet").ParquetWriter(written, _schema(pa, frame, names, kinds)) as to_parquet,
        import_module("pyarrow.csv").CSVWriter(lines, shown) as to_csv,
    ):
        each = [iter(column.values()) for column in frame.columns]
        while True:
            arrays = [
                _array(pa, list(islice(values, _BATCH)), column)
                for values, column in zip(each, frame.columns, strict=True)
            ]
            if not arrays or not len(arrays[0]):
                break
            to_parquet.write_batch(pa.record_batch(arrays, schema=to_parquet.schema))
            to_csv.write(pa.record_batch([_shown(pa, array) for array in arrays], schema=shown))
    return Files(written.getvalue(), lines.getvalue())


def _schema(pa: Any, frame: Frame, names: Sequence[str], kinds: Sequence[Any]) -> Any:
    told = [{"description": column.description, "unit": column.unit} for column in frame.columns]
    about = {
        "waybench.frame": frame.name,
        "waybench.version": __version__,
        "waybench.schema": str(FRAME_SCHEMA),
        "waybench.columns": json.dumps(dict(zip(names, told, strict=True))),
    }
    fields = [pa.field(name, kind, metadata=each) for name, kind, each in zip(names, kinds, told, strict=True)]
    return pa.schema(fields, metadata=about)


def _array(pa: Any, values: list[Json], column: Column) -> Any:
    kind = pa.type_for_alias(column.kind)
    try:
        return pa.array(values, kind, from_pandas=True)  # NaN becomes null
    except (TypeError, ValueError, OverflowError):
        return pa.array([_fit(value, column.type) for value in values], kind, from_pandas=True)


def _fit(value: Json, kind: type) -> Json:
    if value is None:
        return None
    if kind is str:
        return _encodable(value if isinstance(value, str) else json.dumps(value, default=str))
    if type(value) is int and abs(value) >= 2**63:
        return None
    return float(value) if kind is float and type(value) is int else value if type(value) is kind else None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


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

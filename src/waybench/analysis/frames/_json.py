"""Columns of results as JSON."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, TypeVar, cast

from waybench.analysis.frames._frames import Column
from waybench.core import Json
from waybench.stats import Mean

T = TypeVar("T")


def column_json(columns: Iterable[Column[T]], record: T) -> dict[str, Json]:
    """Return the values of a record as JSON, by the keys of their columns; unknown values are null."""
    return {column.key or column.name: _json(column.value(record)) for column in columns if column.only in ("", "json")}


def _json(value: Any) -> Json:
    if isinstance(value, Mean):
        return asdict(value)
    return (
        list(cast(Any, value)) if isinstance(value, tuple) else value.to_json() if hasattr(value, "to_json") else value
    )

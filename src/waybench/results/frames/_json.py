"""Columns of results as JSON, and its schema."""

from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from typing import Any, TypeVar, cast

from waybench.core import Json
from waybench.results.frames._frames import Column
from waybench.results.stats import Mean

T = TypeVar("T")
_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}


def _by_key(columns: Iterable[Column[T]]) -> dict[str, Column[T]]:
    return {column.key or column.name: column for column in columns if column.only in ("", "json")}


def column_json(columns: Iterable[Column[T]], record: T) -> dict[str, Json]:
    """Return the values of a record as JSON, by the keys of their columns; unknown values are null."""
    return {key: _json(column.value(record)) for key, column in _by_key(columns).items()}


def _json(value: Any) -> Json:
    if isinstance(value, Mean):
        return asdict(value)
    if isinstance(value, tuple):
        return list(cast(Any, value))
    return value.to_json() if hasattr(value, "to_json") else value


def column_schema(doc: str, columns: Iterable[Column[Any]]) -> dict[str, Any]:
    """Return the JSON Schema of records with some columns (`column_json`), all of whose keys are required.

    Args:
        doc: What a record is.
        columns: The columns. `Mean` and `Group` are the definitions "mean" and "group" of the whole schema.
    """
    properties = {key: _schema(column) for key, column in _by_key(columns).items()}
    return {"description": doc, "type": "object", "properties": properties, "required": list(properties)}


def _schema(column: Column[Any]) -> dict[str, Any]:
    values = {"enum": list(column.type)} if issubclass(column.type, StrEnum) else column.schema
    about = {"description": column.doc, **({"minimum": 0} if column.type is int else {}), **values}
    name = next((name for base, name in _TYPES.items() if issubclass(column.type, base)), None)
    kind = {"type": name} if name else {"$ref": f"#/$defs/{column.type.__name__.lower()}"}
    return {**about, "anyOf": [kind, {"type": "null"}]} if column.null else {**about, **kind}

"""Frames: tables of pyarrow whose schema is declared and says what each column holds."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field
from enum import StrEnum
from functools import reduce
from importlib import import_module
from itertools import count, islice, takewhile
from typing import Any, Generic, NamedTuple, TypeVar, cast

from waybench._version import __version__
from waybench.core import Json, Metric
from waybench.results.results import EXAMPLES, RunKey, environment_options, group_by
from waybench.results.stats import CONFIDENCE, IntervalEstimate

__all__ = ["Column", "Frame", "Meaning", "column_data", "column_schema", "group_frame", "group_id"]

FRAME_SCHEMA = 2  # raised when a column that every report has goes, or changes its type or meaning
OPTION = "option."  # what the names of columns of options begin with
_KINDS: dict[type, str] = {str: "string", bool: "bool", int: "int64", float: "float64"}
_DEFINITIONS: dict[type, str] = {IntervalEstimate: "mean", RunKey: "group"}  # of the JSON Schema
_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}
_LARGEST = 2**63  # whole numbers from here on have no room in a column of them

_CHUNK = 10_000  # rows of a table that are together in memory and in a file

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The meaning of a column's values in the rows of one environment.

    Attributes:
        title: Its name in the report's tables; "" if it is in none.
        low: The least value possible; None if unbounded or not a number.
        high: The greatest value possible; None if unbounded or not a number.
        range: The range in words, where `low` and `high` do not describe it.
        better: "higher", "lower", or "" where neither is better.
        values: The values it can have, or what each number stands for; none if they are not listed.
        default: The value if not given, as JSON; "" where there is no such thing.
    """

    env: str
    doc: str
    title: str = ""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    range: str = ""
    better: str = ""
    values: tuple[str, ...] = ()
    default: str = ""

    @property
    def description(self) -> str:
        """The meaning with its unit, range and values, as text."""
        name = f"{self.title}, {self.unit}" if self.title and self.unit else self.title or self.unit
        ends = [f"{word} {bound:g}" for word, bound in (("from", self.low), ("to", self.high)) if bound is not None]
        facts = [
            self.range or " ".join(ends),
            f"{self.better} is better" if self.better else "",
            ", ".join(self.values),
            f"default {self.default}" if self.default else "",
        ]
        details = "; ".join(fact for fact in facts if fact)
        return (f"{name}. " if name else "") + self.doc + (f" ({details})" if details else "")


@dataclass(frozen=True, slots=True)
class Column(Generic[T]):
    """A column of results, declared once: frames, JSON with its schema and the tables of reports are read from it.

    Attributes:
        type: The type of its values, every one of which can be null in a frame: not known, or not defined. A frame has
            str, int, float and bool, a list as text, and an `IntervalEstimate` as three columns: NAME, NAME_low and
            NAME_high.
        doc: A description of its values, in a sentence or two.
        get: The record of a row -> its value; or the path of an attribute, such as "group.env", which gives None where
            something on the way is None. By default the attribute of its name. An `IntervalEstimate` of a frame has a
            path, not a function.
        unit: Unit, "" for a plain number or none; where it depends on the environment, its meanings have it.
        meanings: Its meaning in each environment, where that depends on the environment.
        key: Its key in JSON, where that is not its name.
        only: "frame", "json" or "table", where it is in no other place.
        null: Whether it can be null in JSON.
        schema: Keywords of the JSON Schema for its values, beyond their type.
        heading: Its header in tables, in which words in braces stand for those of the environment.
        text: The record of a row -> the value as tables show it, with lines below it.
        metric: The metric of a mean, where it is not the metric that is compared.
    """

    name: str
    type: type[Any]
    doc: str
    get: Callable[[T], Any] | str = ""
    _: KW_ONLY
    unit: str = ""
    meanings: tuple[Meaning, ...] = ()
    key: str = ""
    only: str = ""
    null: bool = False
    schema: Mapping[str, Json] = field(default_factory=dict[str, Json])
    heading: str = ""
    text: Callable[[T], str] | None = None
    metric: Metric | None = None

    @property
    def value(self) -> Callable[[T], Any]:
        """The function from a row's record to the column's value."""
        if callable(self.get):
            return self.get
        names = (self.get or self.name).split(".")
        return lambda record: reduce(lambda value, name: None if value is None else getattr(value, name), names, record)

    @property
    def frame_columns(self) -> "tuple[Column[T], ...]":
        """The columns of a frame that this one becomes: three for a mean, none if it is only in JSON or tables."""
        if self.only not in ("", "frame"):
            return ()
        if self.type is list:
            return (Column(self.name, str, self.doc, lambda record: " ".join(map(str, self.value(record)))),)
        if self.type is not IntervalEstimate:
            return (self,)
        interval = f"the {100 * CONFIDENCE:.0f} % confidence interval of {self.name}"
        end = f"end of {interval}; null where it cannot be estimated."
        columns = ("", "value", self.doc), ("_low", "low", f"Lower {end}"), ("_high", "high", f"Upper {end}")
        return tuple(
            Column(self.name + suffix, float, doc, f"{self.get or self.name}.{attribute}", unit=self.unit)
            for suffix, attribute, doc in columns
        )

    @property
    def kind(self) -> str:
        """The name of the type in Arrow: "string", "int64", "float64" or "bool"."""
        return next(kind for base, kind in _KINDS.items() if issubclass(self.type, base))

    @property
    def descriptions(self) -> list[tuple[str, list[Meaning]]]:
        """The distinct descriptions, each with the meanings that share it."""
        return list(group_by(self.meanings, lambda meaning: meaning.description).items())

    @property
    def description(self) -> str:
        """The descriptions of all meanings as one text."""
        return " ".join(
            [
                self.doc,
                *(f"{', '.join(meaning.env for meaning in meanings)}: {text}" for text, meanings in self.descriptions),
            ]
        )


class ColumnData(NamedTuple):
    """A column with its values, a `pyarrow.ChunkedArray`."""

    column: Column[Any]
    data: Any


class Frame:
    """A `pyarrow.Table` with a declared schema.

    Attributes:
        doc: A description of a row.
        schema: Its columns; no two have the same name.
        table: The table. Nothing in it is NaN: what is not known or not defined is null. So is what does not fit a
            column's type, as in a record that somebody has changed; halves of surrogate pairs become their escapes. Its
            metadata are "waybench.frame", "waybench.version", "waybench.schema" (`FRAME_SCHEMA`) and
            "waybench.columns", the columns' descriptions and units as JSON; each field has its own as "description" and
            "unit", too.
    """

    def __init__(self, name: str, doc: str, columns: Iterable[ColumnData]) -> None:
        """Build the frame from columns that all have the same number of values."""
        pa, self._columns = _import_pyarrow(), list(columns)
        self.name, self.doc = name, doc
        self.schema = tuple(data.column for data in self._columns)
        names = [_encodable_text(column.name) for column in self.schema]
        about_columns = [{"description": column.description, "unit": column.unit} for column in self.schema]
        about = {
            "waybench.frame": name,
            "waybench.version": __version__,
            "waybench.schema": str(FRAME_SCHEMA),
            "waybench.columns": json.dumps(dict(zip(names, about_columns, strict=True))),
        }
        fields = [
            pa.field(name, column.data.type, metadata=metadata)
            for name, column, metadata in zip(names, self._columns, about_columns, strict=True)
        ]
        schema = pa.schema(fields, metadata=about)
        self.table: Any = pa.Table.from_arrays([column.data for column in self._columns], schema=schema)

    def with_columns(self, more: Iterable[ColumnData]) -> "Frame":
        """Return the frame with more columns after its own."""
        return Frame(self.name, self.doc, [*self._columns, *more])

    def records(self) -> list[dict[str, Json]]:
        """Return the rows as dictionaries, all with the same keys."""
        return self.table.to_pylist()


def column_data(columns: Iterable[Column[T]], records: Sequence[T]) -> list[ColumnData]:
    """Return the values of columns for some records, one row each."""
    all_columns = (frame_column for column in columns for frame_column in column.frame_columns)
    return [ColumnData(column, _chunked_array(column, map(column.value, records))) for column in all_columns]


def _import_pyarrow() -> Any:
    """Return the module pyarrow, imported when it is needed, since that takes a while; it carries no types."""
    return import_module("pyarrow")


def _chunked_array(column: Column[Any], values: Iterable[Json]) -> Any:
    """Return a column's values as an Arrow array in chunks."""
    pa, remaining = _import_pyarrow(), iter(values)
    chunks = list(takewhile(len, (_arrow_array(list(islice(remaining, _CHUNK)), column) for _ in count())))
    return pa.chunked_array(chunks, pa.type_for_alias(column.kind))


def _arrow_array(values: list[Json], column: Column[Any]) -> Any:
    """Return values as an Arrow array; values of another type become null or text."""
    pa = _import_pyarrow()
    kind = pa.type_for_alias(column.kind)
    try:
        return pa.array(values, kind, from_pandas=True)  # NaN becomes null
    except (TypeError, ValueError, OverflowError):
        return pa.array([_fit_value(value, column.type) for value in values], kind, from_pandas=True)


def _fit_value(value: Json, kind: type) -> Json:
    """Return a value converted to the type `kind`; None if it does not fit."""
    if value is None:
        return None
    if kind is str:
        return _encodable_text(value if isinstance(value, str) else json.dumps(value, default=str))
    if type(value) is int and abs(value) >= _LARGEST:
        return None
    if kind is float and type(value) is int:
        return float(value)
    return value if type(value) is kind else None


def _encodable_text(text: str) -> str:
    """Return a text with halves of surrogate pairs as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def group_frame(
    name: str, doc: str, columns: Iterable[Column[T]], records: Sequence[T], group_of: Callable[[T], RunKey]
) -> Frame:
    """Return the frame of records that each belong to a group.

    Columns that identify the group come before the records' own columns, and columns of all settings after them.
    """
    identity_columns, setting_columns = _group_columns(map(group_of, records))
    return Frame(name, doc, (*identity_columns, *column_data(columns, records), *setting_columns))


def _group_columns(groups: Iterable[RunKey]) -> tuple[list[ColumnData], list[ColumnData]]:
    """Return the columns that identify each row's group, and those of its settings."""
    # There are few groups and many rows: the values of a group are computed once.
    numbers: dict[RunKey, int] = {}
    group_of_row = [numbers.setdefault(group, len(numbers)) for group in groups]
    distinct_groups = list(numbers)

    def fill_column(column: Column[RunKey]) -> ColumnData:
        """Return a column with its value in every row."""
        values = list(map(column.value, distinct_groups))
        return ColumnData(column, _chunked_array(column, (values[number] for number in group_of_row)))

    names = sorted({name for group in distinct_groups for name, _ in group.options})
    setting_columns = [fill_column(_setting_column(name, distinct_groups)) for name in names]
    return list(map(fill_column, _IDENTITY)), setting_columns


def group_id(group: RunKey) -> str:
    """Return twelve hexadecimal digits that identify a group."""
    # 1 and 1.0 are the same setting.
    options = {
        name: int(value) if type(value) is float and value.is_integer() else value for name, value in group.options
    }
    identity = json.dumps({**group.to_json(), "options": options}, sort_keys=True, default=str)
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _setting_column(name: str, groups: Sequence[RunKey]) -> Column[RunKey]:
    """Return the column of a setting, with its type and meanings from the environments that declare it."""
    value_by_group = {group: dict(group.options).get(name) for group in groups}
    options = {
        env: option
        for env in dict.fromkeys(group.env for group in groups)
        if (option := next((option for option in environment_options(env) if option.name == name), None))
    }
    kind = _column_type({option.type for option in options.values()}, value_by_group.values())
    doc = "An option of play or of the item set; null where the environment has no such option."
    if name == EXAMPLES:
        doc = "Number of in-context examples; null without."
    elif not options:
        doc = "A setting of the model, as the run's log has it; null where it was left to its default."
    meanings = tuple(
        Meaning(
            env=env,
            doc=option.doc,
            low=option.low,
            high=option.high,
            values=option.all_choices,
            default="" if option.default is None else json.dumps(option.default),
        )
        for env, option in options.items()
    )

    def value_of_group(group: RunKey) -> Json:
        value = value_by_group[group]
        if value is None or type(value) is kind:
            return value
        return float(value) if kind is float else json.dumps(value)

    return Column(OPTION + name, kind, doc, value_of_group, meanings=meanings)


def _column_type(declared_types: set[type], values: Iterable[Json]) -> type[Any]:
    """Return the one type that is declared and that all values have, float for int and float; otherwise `str`."""
    types: set[type[Any]] = {*declared_types}
    for value in values:
        if (type(value) is int and abs(value) >= _LARGEST) or (type(value) is float and not math.isfinite(value)):
            return str
        types |= set() if value is None else {type(value)}
    if len(types) == 1:
        return types.pop()
    return float if types == {int, float} else str


_IDENTITY: tuple[Column[RunKey], ...] = (
    Column("group", str, "Identifies model, task and all settings, in all files.", group_id),
    Column("model", str, "The model, as the user named it."),
    Column("embedded", bool, "Whether it is a reference player, not a model."),
    Column("task", str, "The task's name."),
    Column("env", str, "The environment's id."),
    Column(
        "env_version", int, "The environment's version; scores of different versions are not comparable.", "version"
    ),
    Column(
        "headline",
        str,
        "Name of the environment's headline metric.",
        lambda group: group.environment.scoring.metrics[0].name,
    ),
    Column("key", str, "The key of the set of items; of a private set a short hash."),
)


def column_frame(frames: Iterable[Frame]) -> Frame:
    """Return the frame that describes the columns of others, a row for each of their meanings."""
    described = [
        _Described(frame, column, meaning)
        for frame in frames
        for column in frame.schema
        for meaning in column.meanings or (None,)
    ]
    doc = "One row for each column of the files, and for each environment in which its meaning differs."
    return Frame("columns", doc, column_data(_DESCRIBED, described))


class _Described(NamedTuple):
    """A row of the frame of columns: a column of a frame, with one of its meanings."""

    frame: Frame
    column: Column[Any]
    meaning: Meaning | None


def _meaning_field(name: str) -> Callable[[_Described], Json]:
    """Return a function that reads a field of a described column's meaning; None for ""."""
    return lambda described: (
        getattr(described.meaning, name) if described.meaning and getattr(described.meaning, name) != "" else None
    )


_DESCRIBED: tuple[Column[_Described], ...] = (
    Column("frame", str, "The file of the column, without its suffix.", "frame.name"),
    Column("column", str, "The column's name.", "column.name"),
    Column("type", str, "The type of its values: string, int64, float64 or bool.", "column.kind"),
    Column(
        "unit",
        str,
        "The unit of its values; null for a plain number or none.",
        lambda described: (described.meaning.unit if described.meaning else described.column.unit) or None,
    ),
    Column("env", str, "The environment to whose rows this meaning applies; null for all rows.", _meaning_field("env")),
    Column("title", str, "A metric's name in the report's tables.", _meaning_field("title")),
    Column("low", float, "The least value possible; null if unbounded or not declared.", _meaning_field("low")),
    Column("high", float, "The greatest value possible, likewise.", _meaning_field("high")),
    Column("better", str, "Of a metric: higher, lower, or null where neither is better.", _meaning_field("better")),
    Column(
        "values",
        str,
        "The choices of an option, or the labels of a metric's values.",
        lambda described: ", ".join(described.meaning.values) or None if described.meaning else None,
    ),
    Column("default", str, "An option's value where it was not given, as JSON.", _meaning_field("default")),
    Column(
        "description",
        str,
        "What it holds.",
        lambda row: f"{row.column.doc} {row.meaning.doc}" if row.meaning else row.column.doc,
    ),
)


def _json_columns(columns: Iterable[Column[T]]) -> dict[str, Column[T]]:
    """Return the columns that are in JSON, by their keys."""
    return {column.key or column.name: column for column in columns if column.only in ("", "json")}


def column_json(columns: Iterable[Column[T]], record: T) -> dict[str, Json]:
    """Return the values of a record as JSON, by the keys of their columns; unknown values are null."""
    return {key: _value_json(column.value(record)) for key, column in _json_columns(columns).items()}


def _value_json(value: Any) -> Json:
    """Return a value as JSON."""
    if isinstance(value, IntervalEstimate):
        return asdict(value)
    if isinstance(value, tuple):
        return list(cast(Any, value))
    return value.to_json() if hasattr(value, "to_json") else value


def column_schema(doc: str, columns: Iterable[Column[Any]]) -> dict[str, Any]:
    """Return the JSON Schema of records with some columns (`column_json`), all of whose keys are required.

    Values of type IntervalEstimate and RunKey refer to the definitions "mean" and "group", which the enclosing schema
    has. `doc` describes a record.
    """
    properties = {key: _value_schema(column) for key, column in _json_columns(columns).items()}
    return {"description": doc, "type": "object", "properties": properties, "required": list(properties)}


def _value_schema(column: Column[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a column's values."""
    values = {"enum": list(column.type)} if issubclass(column.type, StrEnum) else column.schema
    about = {"description": column.doc, **({"minimum": 0} if column.type is int else {}), **values}
    name = next((name for base, name in _TYPES.items() if issubclass(column.type, base)), None)
    kind = {"type": name} if name else {"$ref": f"#/$defs/{_DEFINITIONS[column.type]}"}
    return {**about, "anyOf": [kind, {"type": "null"}]} if column.null else {**about, **kind}

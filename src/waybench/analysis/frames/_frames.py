"""Frames: tables of pyarrow whose schema is declared and says what each column holds."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import count, islice, takewhile
from typing import Any, Generic, NamedTuple, TypeVar

from waybench._version import __version__
from waybench.analysis.results import EXAMPLES, Group, declared, grouped
from waybench.core import Json, Option
from waybench.envs import registry
from waybench.stats import CONFIDENCE, Mean

FRAME_SCHEMA = 2  # raised when a column that every report has goes, or changes its type or meaning
OPTION = "option."  # what the names of columns of options begin with
_KINDS: dict[type, str] = {str: "string", int: "int64", float: "float64", bool: "bool"}
_LARGEST = 2**63  # whole numbers from here on have no room in a column of them

_CHUNK = 10_000  # rows of a table that are together in memory and in a file

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The meaning of a column's values in the rows of one environment.

    Attributes:
        env: The environment's id.
        doc: What it is.
        title: Its name in the report's tables; "" if it is in none.
        unit: Unit, "" for a plain number.
        low: The least value possible, None if unbounded or no number.
        high: The greatest value possible, likewise.
        range: The range in words, where it is not what `low` and `high` say.
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
        """The meaning with its unit, range and values."""
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
class Fact(Generic[T]):
    """A column of a frame's schema, and how its values are made.

    Attributes:
        name: Its name.
        type: The type of its values: str, int, float or bool. Every one can be null: not known, or not defined.
        get: What a row is made of -> its value.
        doc: What it holds, in a sentence or two.
        unit: Unit, "" for a plain number or none; where it depends on the environment, its meanings have it.
        meanings: What it means by environment, where that depends on the environment.
    """

    name: str
    type: type[Any]
    get: Callable[[T], Json]
    doc: str
    unit: str = ""
    meanings: tuple[Meaning, ...] = ()

    @property
    def kind(self) -> str:
        """The type's name, as Arrow has it: "string", "int64", "float64" or "bool"."""
        return _KINDS[self.type]

    @property
    def descriptions(self) -> list[tuple[str, list[Meaning]]]:
        """The distinct descriptions of its meanings, each with the meanings that share it."""
        return list(grouped(self.meanings, lambda meaning: meaning.description).items())

    @property
    def description(self) -> str:
        """The descriptions of all its meanings as one text."""
        return " ".join(
            [self.doc, *(f"{', '.join(each.env for each in meanings)}: {text}" for text, meanings in self.descriptions)]
        )


class Column(NamedTuple):
    """A column with its values.

    Attributes:
        fact: What it holds.
        data: The values, a `pyarrow.ChunkedArray`.
    """

    fact: Fact[Any]
    data: Any


class Frame:
    """A `pyarrow.Table` with a declared schema.

    Attributes:
        name: Its name.
        doc: What a row is.
        schema: Its columns; no two have one name.
        table: The table. Nothing in it is NaN: what is not known or not defined is null. So is what does not fit a
            column's type, as in a record that somebody has changed; halves of surrogate pairs become their escapes. Its
            metadata are "waybench.frame", "waybench.version", "waybench.schema" (`FRAME_SCHEMA`) and
            "waybench.columns", the columns' descriptions and units as JSON; each field has its own as "description" and
            "unit", too.
    """

    def __init__(self, name: str, doc: str, columns: Iterable[Column]) -> None:
        """Put columns together.

        Args:
            name: The frame's name.
            doc: What a row is.
            columns: The columns, all with as many values.
        """
        pa, listed = _pyarrow(), list(columns)
        self._columns = listed
        self.name, self.doc = name, doc
        self.schema = tuple(column.fact for column in listed)
        names = [_encodable(fact.name) for fact in self.schema]
        about_columns = [{"description": fact.description, "unit": fact.unit} for fact in self.schema]
        about = {
            "waybench.frame": name,
            "waybench.version": __version__,
            "waybench.schema": str(FRAME_SCHEMA),
            "waybench.columns": json.dumps(dict(zip(names, about_columns, strict=True))),
        }
        fields = [
            pa.field(name, column.data.type, metadata=each)
            for name, column, each in zip(names, listed, about_columns, strict=True)
        ]
        schema = pa.schema(fields, metadata=about)
        self.table: Any = pa.Table.from_arrays([column.data for column in listed], schema=schema)

    def with_columns(self, more: Iterable[Column]) -> "Frame":
        """Return the frame with more columns after its own.

        Args:
            more: The columns, each with a value for every row.
        """
        return Frame(self.name, self.doc, [*self._columns, *more])

    def records(self) -> list[dict[str, Json]]:
        """Return the rows, all with the same keys."""
        return self.table.to_pylist()


def columns(facts: Iterable[Fact[T]], records: Sequence[T]) -> list[Column]:
    """Return the columns of some records, each of which makes a row."""
    return [Column(fact, _data(fact, map(fact.get, records))) for fact in facts]


def _pyarrow() -> Any:
    return import_module("pyarrow")  # it takes a while, and carries no types


def _data(fact: Fact[Any], values: Iterable[Json]) -> Any:
    pa, each = _pyarrow(), iter(values)
    chunks = list(takewhile(len, (_array(list(islice(each, _CHUNK)), fact) for _ in count())))
    return pa.chunked_array(chunks, pa.type_for_alias(fact.kind))


def _array(values: list[Json], fact: Fact[Any]) -> Any:
    pa = _pyarrow()
    kind = pa.type_for_alias(fact.kind)
    try:
        return pa.array(values, kind, from_pandas=True)  # NaN becomes null
    except (TypeError, ValueError, OverflowError):
        return pa.array([_fit(value, fact.type) for value in values], kind, from_pandas=True)


def _fit(value: Json, kind: type) -> Json:
    if value is None:
        return None
    if kind is str:
        return _encodable(value if isinstance(value, str) else json.dumps(value, default=str))
    if type(value) is int and abs(value) >= _LARGEST:
        return None
    return float(value) if kind is float and type(value) is int else value if type(value) is kind else None


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def mean_facts(name: str, get: Callable[[T], Mean | None], doc: str, unit: str = "") -> tuple[Fact[T], ...]:
    """Return the columns of a mean and its interval: NAME, NAME_low and NAME_high.

    Args:
        name: The mean's name.
        get: What a row is made of -> the mean; None if it is not known.
        doc: What it is.
        unit: Its unit.
    """

    def of(part: str) -> Callable[[T], Json]:
        return lambda one: None if (mean := get(one)) is None else getattr(mean, part)

    end = f"end of the {100 * CONFIDENCE:.0f} % confidence interval of {name}; null where it cannot be estimated."
    return (
        Fact(name, float, of("value"), doc, unit),
        Fact(f"{name}_low", float, of("low"), f"Lower {end}", unit),
        Fact(f"{name}_high", float, of("high"), f"Upper {end}", unit),
    )


def group_frame(
    name: str, doc: str, facts: Iterable[Fact[T]], records: Sequence[T], group_of: Callable[[T], Group]
) -> Frame:
    """Return the frame of some records, each of which belongs to a group.

    Before their own columns are those that say who played what, and after them columns of all settings.

    Args:
        name: The frame's name.
        doc: What a row is.
        facts: The columns of the records.
        records: The records, each of which makes a row.
        group_of: Record -> its group.
    """
    who, options = _group_columns(map(group_of, records))
    return Frame(name, doc, (*who, *columns(facts, records), *options))


def _group_columns(groups: Iterable[Group]) -> tuple[list[Column], list[Column]]:
    # There are few groups and many rows: what is said of a group is worked out once.
    numbers: dict[Group, int] = {}
    of_row = [numbers.setdefault(group, len(numbers)) for group in groups]
    listed = list(numbers)

    def filled(fact: Fact[Group]) -> Column:
        known = list(map(fact.get, listed))
        return Column(fact, _data(fact, (known[number] for number in of_row)))

    names = sorted({name for group in listed for name, _ in group.options})
    return [filled(fact) for fact in _WHO], [filled(_option(name, listed)) for name in names]


def group_id(group: Group) -> str:
    """Return twelve hexadecimal digits that stand for a group."""
    # 1 and 1.0 are the same setting.
    options = {
        name: int(value) if type(value) is float and value.is_integer() else value for name, value in group.options
    }
    identity = json.dumps({**group.to_json(), "options": options}, sort_keys=True, default=str)
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _option(name: str, groups: Sequence[Group]) -> Fact[Group]:
    of_group = {group: dict(group.options).get(name) for group in groups}
    found = {env: option for env in dict.fromkeys(group.env for group in groups) if (option := _declared(env, name))}
    kind = _type({option.type for option in found.values()}, of_group.values())
    doc = "An option of play or of the item set; null where the environment has no such option."
    if name == EXAMPLES:
        doc = "Number of in-context examples; null without."
    elif not found:
        doc = "A setting of the model, as the run's log has it; null where it was left to its default."
    meanings = tuple(_meaning(env, option) for env, option in found.items())
    return Fact(OPTION + name, kind, lambda group: _as(kind, of_group[group]), doc, meanings=meanings)


def _declared(env: str, name: str) -> Option | None:
    return next((option for option in declared(env) if option.name == name), None)


def _meaning(env: str, option: Option) -> Meaning:
    default = "" if option.default is None else json.dumps(option.default)
    return Meaning(
        env=env, doc=option.doc, low=option.low, high=option.high, values=option.all_choices, default=default
    )


def _type(wanted: set[type], values: Iterable[Json]) -> type[Any]:
    """Return the type of a column of settings: the one that is declared and that all values have, otherwise text."""
    known = [value for value in values if value is not None]
    if any(type(value) is int and abs(value) >= _LARGEST for value in known):
        return str
    if any(type(value) is float and not math.isfinite(value) for value in known):
        return str
    kinds: list[type[Any]] = list(dict.fromkeys([*wanted, *map(type, known)]))
    if len(kinds) == 1:
        return kinds[0]
    return float if set(kinds) == {int, float} else str


def _as(kind: type, value: Json) -> Json:
    if value is None or type(value) is kind:
        return value
    return float(value) if kind is float else json.dumps(value)


_WHO: tuple[Fact[Group], ...] = (
    Fact("group", str, group_id, "Identifies model, task and all settings, in all files."),
    Fact("model", str, lambda group: group.model, "The model, as the user named it."),
    Fact("embedded", bool, lambda group: group.embedded, "Whether it is a reference player, not a model."),
    Fact("task", str, lambda group: group.task, "The task's name."),
    Fact("env", str, lambda group: group.env, "The environment's id."),
    Fact(
        "env_version",
        int,
        lambda group: group.version,
        "The environment's version; scores of different versions are not comparable.",
    ),
    Fact(
        "headline",
        str,
        lambda group: registry.load(group.env).scoring.metrics[0].name,
        "Name of the environment's headline metric.",
    ),
    Fact("key", str, lambda group: group.key, "The key of the set of items; of a private set a short hash."),
)


def column_frame(frames: Iterable[Frame]) -> Frame:
    """Return the frame that describes the columns of others, a row for each of their meanings."""
    listed = [
        _Described(frame, fact, meaning)
        for frame in frames
        for fact in frame.schema
        for meaning in fact.meanings or (None,)
    ]
    doc = "One row for each column of the files, and for each environment in which its meaning differs."
    return Frame("columns", doc, columns(_DESCRIBED, listed))


class _Described(NamedTuple):
    frame: Frame
    fact: Fact[Any]
    meaning: Meaning | None


def _of_meaning(name: str) -> Callable[[_Described], Json]:
    return lambda one: getattr(one.meaning, name) if one.meaning and getattr(one.meaning, name) != "" else None


_DESCRIBED: tuple[Fact[_Described], ...] = (
    Fact("frame", str, lambda one: one.frame.name, "The file of the column, without its suffix."),
    Fact("column", str, lambda one: one.fact.name, "The column's name."),
    Fact("type", str, lambda one: one.fact.kind, "The type of its values: string, int64, float64 or bool."),
    Fact(
        "unit",
        str,
        lambda one: (one.meaning.unit if one.meaning else one.fact.unit) or None,
        "The unit of its values; null for a plain number or none.",
    ),
    Fact(
        "env",
        str,
        _of_meaning("env"),
        "The environment to whose rows this meaning applies; null for all rows.",
    ),
    Fact("title", str, _of_meaning("title"), "A metric's name in the report's tables."),
    Fact("low", float, _of_meaning("low"), "The least value possible; null if unbounded or not declared."),
    Fact("high", float, _of_meaning("high"), "The greatest value possible, likewise."),
    Fact("better", str, _of_meaning("better"), "Of a metric: higher, lower, or null where neither is better."),
    Fact(
        "values",
        str,
        lambda one: ", ".join(one.meaning.values) or None if one.meaning else None,
        "The choices of an option, or the labels of a metric's values.",
    ),
    Fact("default", str, _of_meaning("default"), "An option's value where it was not given, as JSON."),
    Fact(
        "description",
        str,
        lambda one: f"{one.fact.doc} {one.meaning.doc}" if one.meaning else one.fact.doc,
        "What it holds.",
    ),
)

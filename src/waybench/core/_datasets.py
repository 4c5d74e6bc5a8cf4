"""Data sets by name, their published files, files of instances, and instances that are their fields alone."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar, cast, get_args, get_origin, get_type_hints

from waybench.core._errors import DataError, KitError, UsageError, unknown_name_message
from waybench.core._game import Json
from waybench.core._items import Instance, Item, Source
from waybench.core._json import MAX_DIGITS, is_array, is_object
from waybench.core._play import Option
from waybench.core._user_files import numbered_json_values, read_text_file

I = TypeVar("I", bound=Instance)  # noqa: E741
GENERATED, PUBLISHED, FILE = "generated", "published", "file"
LARGEST_FILE = 1 << 30  # bytes
_FIELDS_OF_BARE_INSTANCE = ("id", "env")  # fields of an item's line that may stand among an instance's own fields
# Fields of the lines that `waybench generate` and `waybench play --record` write, and that `waybench score` reads.
ITEM_FIELDS = (
    *("id", "env", "instance", "version", "level", "key", "index", "hash", "proof", "task", "options", "settings"),
    *("examples", "messages", "tools", "replies", "attempt", "model", "split", "asked"),
)
_TYPE_NAMES: dict[Any, str] = {int: "a whole number", str: "a text", bool: "true or false"}  # of fields, for messages


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a published data set.

    Attributes:
        path: Its path in the folder of its data set, with "/" on every platform.
        sha256: Its SHA-256 in 64 hexadecimal digits.
        size: Its size in bytes.
        url: Where its authors publish it, in the version that the checksum is of.
    """

    path: str
    sha256: str
    size: int
    url: str


@dataclass(frozen=True, slots=True)
class Download:
    """A data set as its authors publish it, for `waybench data`.

    Attributes:
        name: What users type, and the name of its folder.
        title: What it is, for listings.
        licence: Its licence's SPDX identifier, or the authors' words where there is no identifier.
        home: The address of the authors' page.
        files: All its files. Their addresses name a commit or a release, never a branch.
    """

    name: str
    title: str
    licence: str
    home: str
    files: tuple[DataFile, ...]

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files)

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "Download":
        """Return the data set that a TOML file describes.

        Args:
            table: "name", "title", "licence", "home", and "parts": tables of a "base" (an address) and "files" (arrays
                of the path below that address, the size and the SHA-256).
        """
        files = tuple(
            DataFile(path, sha256, size, f"{part['base']}/{path}")
            for part in table["parts"]
            for path, size, sha256 in part["files"]
        )
        return cls(table["name"], table["title"], table["licence"], table["home"], files)


class DataFiles(Protocol):
    """Finds files of public data sets on this machine, so that environments need not know where these come from."""

    def __call__(self, dataset: str, file: str, /) -> Path:
        """Return the path of a file of a data set; raises UsageError if it is not on this machine."""
        ...

    def names(self, dataset: str, /) -> Sequence[str]:
        """Return the names of all files of a data set, whether they are on this machine or not."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A set of items that a task can play; the task's parameter `source` names it.

    Attributes:
        name: "generated", "published", or "file" for a path that the user gives as `source`. An environment that
            declares no "generated" or "file" has the general one: items by key, and JSON lines of instances.
        doc: What it is, as part of the documentation of `source`: "maps by key".
        items: What its items are called in messages, in the plural.
        open: (parameters of the task, files) -> source.
        options: Parameters of the task that belong to this data set, such as which of its items are meant. An option
            with the name of a general parameter (source, data_dir, key, level, limit, attempts) replaces that
            parameter. Where `limit` is replaced, `open` applies it, and a task plays the whole source.
        shared: Names of the parameters of generated items that it takes too: key, level, source options. A parameter
            that belongs to other data sets only is refused.
        hidden: Source options that follow from other parameters and that tasks therefore do not have.
        download: The published files that it is made of, which `waybench data` lists and downloads.
    """

    name: str
    open: Callable[[Mapping[str, Any], DataFiles], Source[Any]]
    doc: str = ""
    items: str = "items"
    options: tuple[Option, ...] = ()
    shared: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    download: Download | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonSpec:
    """The levels on which a model's horizon is searched for, along the environment's first axis.

    Attributes:
        levels: The levels of which items are drawn, easiest first.
        pool: Number of items of each level that are sorted by their difficulty; None where each level is a difficulty.
        source_options: Source options that are fixed.
        without: Options of play that the search does not have, such as help by a teacher.
        oracle_horizon: Rate of errors in each move -> the horizon of the oracle that errs at this rate, where that is
            known by construction; None otherwise.
        revision: Raised whenever the same replies can have another horizon, for example because success is defined
            differently; it is added to the version of the task.
    """

    levels: tuple[int, ...]
    pool: int | None = None
    source_options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    without: tuple[str, ...] = ()
    oracle_horizon: Callable[[float], float] | None = None
    revision: int = 0


class ItemList(Source[I], Generic[I]):
    """A source of the given items, numbered from 0."""

    def __init__(self, items: Iterable[Item[I]]) -> None:
        self._items = tuple(items)

    @property
    def space(self) -> int:
        """The number of items."""
        return len(self._items)

    def item(self, index: int) -> Item[I]:
        """Return the item of this number, from 0; raise a UsageError if there is none."""
        if not 0 <= index < len(self._items):
            raise UsageError(f"item {index}: there are only {len(self._items)}; lower the limit")
        return self._items[index]


class ItemRecord(NamedTuple):
    """An item in a user's file.

    Attributes:
        where: The file, and the line or the number of the record in a list, for messages.
        instance: The instance as JSON.
        id: The item's id; "" if the record has none.
        hash: The instance's hash, which `waybench generate` writes; None if the record has none.
        is_listed: Whether the file is a list of records.
    """

    where: str
    instance: Json
    id: str
    hash: Json
    is_listed: bool


def read_item_records(
    path: Path, env_ids: Collection[str], items: str, max_bytes: int = LARGEST_FILE
) -> list[ItemRecord]:
    """Read a user's file of items: JSON lines, a list of objects, or objects that take several lines each.

    A record is an object with an "instance" as `waybench generate` writes it, or an instance alone, which can have an
    "id" and an "env" among its fields.

    `env_ids` are the environments whose instances these can be, and `items` is the plural noun for the file's content
    in messages.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is no such file; the message names the line and the field.
    """
    name, what = str(path), f"a file of {items}"
    numbered_values = list(
        numbered_json_values(
            read_text_file(path, max_bytes, what), name, f"{what}, one in each line, or a list of them"
        )
    )
    first_value = numbered_values[0][1] if len(numbered_values) == 1 else None
    # A bare instance can be an array, too, but not of objects.
    is_listed = is_array(first_value) and (not first_value or is_object(first_value[0]))
    records: list[ItemRecord] = []
    for number, value in enumerate(numbered_values[0][1]) if is_listed else numbered_values:
        where = f"{name}: {'record' if is_listed else 'line'} {number}"
        try:
            fields = _instance_and_id_fields(value)
            env_id = fields.get("env")
            if env_id is not None and env_id not in env_ids:
                raise DataError(f"it is of {str(env_id)[:60]!r}, not of {' or '.join(sorted(env_ids))}")
            item_id = _read_item_id(fields.get("id"))
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        records.append(ItemRecord(where, fields["instance"], item_id, fields.get("hash"), is_listed))
    if not records:
        raise DataError(f"{name}: the file has no {items}")
    return records


def _instance_and_id_fields(value: Json) -> dict[str, Json]:
    """Return a record's fields, "instance" among them; a bare instance is put under that name."""
    if not is_object(value):
        return {"instance": value}
    if "instance" in value:
        for name in value:
            if name not in ITEM_FIELDS:
                raise DataError(
                    f'unknown field {name[:40]!r} beside "instance": remove it, or put it inside "instance" if it is '
                    "the item's own"
                )
        return value
    item_fields = {name: field for name, field in value.items() if name in _FIELDS_OF_BARE_INSTANCE}
    return {"instance": {name: field for name, field in value.items() if name not in item_fields}, **item_fields}


def _read_item_id(value: Json) -> str:
    """Return an item's id as a text, "" for null; raise a DataError for other types."""
    text = "" if value is None else str(value)
    has_surrogates = text != text.encode("utf-8", "replace").decode()
    if type(value) not in (str, int, type(None)) or has_surrogates:  # true is no whole number
        raise DataError(f"id: {ascii(value)[:60]} is neither a text nor a whole number")
    return text


def check_known_fields(data: Json, fields: Collection[str], what: str = "instance") -> None:
    """Raise a DataError if the JSON object `data` has a field that is not in `fields`; other JSON values pass.

    `what` is the name of the data in messages.
    """
    for name in data if is_object(data) else ():
        if name in fields:
            continue
        if name in ITEM_FIELDS:
            raise DataError(
                f'{what}: {name!r} belongs beside "instance": {{"instance": {{...}}, {json.dumps(name)}: ...}}'
            )
        raise DataError(f"{what}: {unknown_name_message('field', name, fields)}")


def check_instance_hash(record: ItemRecord, instance: Instance) -> None:
    """Raise a DataError if a record has a hash that is not that of its instance."""
    if record.hash is not None and record.hash != instance.hash:
        raise DataError(f'{record.where}: "hash" does not match this instance: one of them was changed; remove "hash"')


def check_unique_ids(records: Sequence[ItemRecord], ids: Sequence[str], field: str = "id") -> None:
    """Raise a DataError if two records have the same id."""
    location_by_id: dict[str, str] = {}
    for record, item_id in zip(records, ids, strict=True):
        if item_id in location_by_id:
            raise DataError(
                f"{record.where}: {field}: {item_id[:60]!r} occurs twice, first in {location_by_id[item_id]}"
            )
        location_by_id[item_id] = record.where.rpartition(": ")[2]


def item_list_from_file(
    path: Path,
    env_id: str,
    decode: Callable[[Json], I],
    level_of: Callable[[I], int],
    prove: Callable[[I], Mapping[str, Json]],
) -> ItemList[I]:
    """Return the items of a user's file, as `waybench generate` prints them or as bare instances.

    The functions are those of `Items`.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If a record is no item; the message names the line.
    """
    key = item_set_key_of_file(path, "items, as JSON lines")
    records = read_item_records(path, [env_id], "items")
    ids = [record.id or str(number) for number, record in enumerate(records)]
    check_unique_ids(records, ids)
    items: list[Item[I]] = []
    for number, record in enumerate(records):
        try:
            instance = decode(record.instance)
            items.append(Item(instance, ids[number], level_of(instance), key, number, prove(instance)))
        except DataError as error:
            raise DataError(f"{record.where}: {error}") from None
        check_instance_hash(record, instance)
    return ItemList(items)


def item_set_key_of_file(path: Path, items: str) -> str:
    """Return the key of the items in a file: the file's name and the beginning of its SHA-256.

    `items` is the plural noun for the file's content in messages.

    Raises:
        UsageError: If the file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return f"{path.name}-{hashlib.file_digest(stream, 'sha256').hexdigest()[:8]}"
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise UsageError(
            f"source={str(path)[:80]!r}: cannot be read ({reason}); give generated, published or a file of {items}"
        ) from None


class DataInstance(Instance):
    """An instance whose fields are its whole content; a subclass is a frozen dataclass.

    Fields are whole numbers, texts, booleans, and tuples of these. The canonical form is the fields as JSON;
    `from_json` reads them back.
    """

    __slots__ = ()

    def canonical(self) -> str:
        """Return the fields as JSON text, in the order of their names."""
        return json.dumps(self.to_json(), sort_keys=True)

    def to_json(self) -> Json:
        """Return the fields by name, tuples as arrays."""
        return {name: _to_json_value(getattr(self, name)) for name in _field_types(type(self))}

    @classmethod
    def from_json(cls, data: Json, what: str = "instance") -> Self:
        """Return the instance of a JSON value that `to_json` wrote, which may come from outside.

        `what` is the name of the instance in messages.

        Raises:
            DataError: If a field is missing, unknown, or of another type.
        """
        field_types = _field_types(cls)
        if not is_object(data):
            raise DataError(f"{what}: give an object with {', '.join(field_types)}")
        check_known_fields(data, field_types, what)
        if missing := [name for name in field_types if name not in data]:
            raise DataError(f"{what}: {', '.join(missing)} is missing")
        return cls(
            **{name: _read_field_value(data[name], type_, f"{what}: {name}") for name, type_ in field_types.items()}
        )


def _to_json_value(value: Any) -> Json:
    """Return a field's value with tuples as lists."""
    return (
        [_to_json_value(element) for element in cast("tuple[Any, ...]", value)] if isinstance(value, tuple) else value
    )


@lru_cache(maxsize=64)
def _field_types(cls: type[DataInstance]) -> dict[str, Any]:
    """Return the type of each field by name."""
    hints = get_type_hints(cls)
    names = [field.name for field in fields(cast("Any", cls))]
    return {name: _require_supported_type(hints[name], name, cls) for name in names}


def _require_supported_type(field_type: Any, name: str, cls: type[DataInstance]) -> Any:
    """Return a field's type; raise a KitError if `from_json` cannot read it."""
    if get_origin(field_type) is tuple:
        for element_type in get_args(field_type):
            if element_type is not Ellipsis:
                _require_supported_type(element_type, name, cls)
    elif field_type not in _TYPE_NAMES:
        raise KitError(
            f"{cls.__name__}.{name} has a type that is not read from JSON",
            "use int, str, bool, and tuples of these",
            cls,
        )
    return field_type


def _read_field_value(value: Json, field_type: Any, where: str) -> Any:
    """Return a JSON value as a value of a field's type; raise a DataError if it has another type.

    The error begins with `where`, which names the instance and the field.
    """
    if get_origin(field_type) is tuple:
        element_types = get_args(field_type)
        if not is_array(value):
            raise DataError(f"{where}: give an array")
        if element_types[-1] is Ellipsis:  # tuple[int, ...]
            element_types = element_types[:1] * len(value)
        if len(value) != len(element_types):
            raise DataError(f"{where}: give {len(element_types)} values")
        return tuple(
            _read_field_value(element, type_, where) for element, type_ in zip(value, element_types, strict=True)
        )
    if type(value) is not field_type:  # true is no whole number
        raise DataError(f"{where}: give {_TYPE_NAMES[field_type]}")
    if field_type is int and abs(value) >= 10**MAX_DIGITS:
        raise DataError(f"{where}: give a number of at most {MAX_DIGITS} digits")
    if field_type is str and any("\ud800" <= character <= "\udfff" for character in value):
        raise DataError(f"{where}: give a text without surrogates")
    return value

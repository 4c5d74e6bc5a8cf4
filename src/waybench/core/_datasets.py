"""Data sets by name, files of instances, and the levels of a horizon."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from waybench.core._downloads import Download
from waybench.core._errors import DataError, UsageError
from waybench.core._game import Json
from waybench.core._instance import Instance, Item, Source
from waybench.core._json import is_object
from waybench.core._options import Option

I = TypeVar("I", bound=Instance)  # noqa: E741

GENERATED, PUBLISHED, FILE = "generated", "published", "file"
LARGEST_FILE = 1 << 30  # bytes


class DataFiles(Protocol):
    """Finds files of public data sets on this machine, so that environments need not know where these come from."""

    def __call__(self, dataset: str, file: str, /) -> Path:
        """Return where a file of a data set lies; raises UsageError if it is not here."""
        ...

    def names(self, dataset: str, /) -> Sequence[str]:
        """Return the names of all files of a data set, whether they are here or not."""
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
        options: Parameters of the task that belong to it, such as which of its items are meant. One named like a
            general parameter (source, data_dir, key, level, limit, attempts) replaces it. Where `limit` is replaced,
            `open` applies it, and a task plays the whole source.
        shared: Parameters of generated items that it takes too: key, level, source options. A parameter that belongs
            to other data sets only is refused.
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
        known: Rate of errors in each move -> the horizon of the oracle that errs at this rate, where it is known by
            construction; None otherwise.
        revision: Raised whenever the same replies can have another horizon, such as where something else counts as
            success; it is added to the version of the task.
    """

    levels: tuple[int, ...]
    pool: int | None = None
    source_options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    without: tuple[str, ...] = ()
    known: Callable[[float], float] | None = None
    revision: int = 0


class ItemList(Source[I], Generic[I]):
    """Items that are known one by one.

    Args:
        items: The items, in their order.
    """

    def __init__(self, items: Iterable[Item[I]]) -> None:
        self._items = tuple(items)

    @property
    def space(self) -> int:
        """The number of items."""
        return len(self._items)

    def item(self, index: int) -> Item[I]:
        """Return the item of this number.

        Raises:
            UsageError: If there is none.
        """
        if not 0 <= index < len(self._items):
            raise UsageError(f"item {index}: there are only {len(self._items)}; lower the limit")
        return self._items[index]


def read_items(
    path: Path,
    env_id: str,
    decode: Callable[[Json], I],
    level_of: Callable[[I], int],
    prove: Callable[[I], Mapping[str, Json]],
    twins: Iterable[str] = (),
) -> ItemList[I]:
    """Read instances from JSON lines, as `waybench generate` prints them.

    A line is an object with an "instance", and perhaps its "id" and the "env" that it is of, or an instance alone.

    Args:
        path: The file.
        env_id: The environment whose instances these should be.
        decode: JSON -> instance.
        level_of: Instance -> its level.
        prove: Instance -> what is known of its solution.
        twins: Environments whose instances are the same.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If a line is no instance; the message names the line.
    """
    key = file_key(path, "items, as JSON lines")
    if path.stat().st_size > LARGEST_FILE:
        raise DataError(f"{path}: larger than {LARGEST_FILE >> 20} MiB, so it is not a file of instances")
    items: dict[str, Item[I]] = {}
    known = {env_id, *twins}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            data: Json = json.loads(line)
        except (ValueError, RecursionError):
            raise DataError(f"{path}: line {number} is not JSON; give one instance per line") from None
        fields = data if is_object(data) and "instance" in data else {"instance": data}
        if fields.get("env", env_id) not in known:
            raise DataError(f"{path}: line {number} is of {str(fields['env'])[:60]!r}, not of {env_id}")
        try:
            instance = decode(fields["instance"])
        except DataError as error:
            raise DataError(f"{path}: line {number}: {error}") from None
        index = len(items)
        name = str(fields.get("id") or index)
        if name in items:
            raise DataError(f"{path}: line {number}: id: {name[:60]!r} occurs twice")
        items[name] = Item(instance, name, level_of(instance), key, index, prove(instance))
    if not items:
        raise DataError(f"{path}: the file has no instances")
    return ItemList(items.values())


def file_key(path: Path, items: str) -> str:
    """Return the key of the set that a file holds: the file's name and the beginning of its SHA-256.

    Args:
        path: The file, as the user named it for the parameter `source`.
        items: What it should hold, in the plural.

    Raises:
        UsageError: If it cannot be read.
    """
    try:
        return f"{path.name}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
    except OSError as error:
        raise UsageError(
            f"source={str(path)[:80]!r}: cannot be read ({error.strerror}); give generated, published or a file of "
            f"{items}"
        ) from None

"""Task entries, shards of a task, and the parameter `key`."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from waybench.core import SHARD, HorizonSpec, Json, Option, UsageError, is_public_key, key_for_log, read_key, resolve
from waybench.envs import registry

SHARD_OPTION = Option(
    name=SHARD,
    default=None,
    kind=str,
    doc="A range of the items, as 2/8 for the second of eight, so that several jobs can share them; by default all "
    "items. It is no setting: results of all shards are those of one run.",
)
T = TypeVar("T")
_FORM = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")


def read_shard(text: str) -> tuple[int, int]:
    """Return the number of a shard, from 1, and of how many it is.

    Args:
        text: Both, as "2/8".

    Raises:
        UsageError: If the text has another form.
    """
    match = _FORM.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"shard={text[:40]!r}: write it as 2/8, the second of eight shards")
    return int(match[1]), int(match[2])


def items_of_shard(items: Iterable[T], text: str | None) -> Iterable[T]:
    """Return the items of a shard; lengths of shards differ by one at most.

    Args:
        items: All items.
        text: The shard, as "2/8"; None for all items.

    Raises:
        UsageError: If the text has another form, or there are fewer items than shards.
    """
    if text is None:
        return items
    number, count = read_shard(text)
    listed = list(items)
    if count > len(listed):
        raise UsageError(f"shard={text}: there are only {len(listed):,} items; use fewer shards")
    return islice(listed, len(listed) * (number - 1) // count, len(listed) * number // count)


def missing_shards(shard: str, found: Iterable[str]) -> str:
    """Return which shards beside a given one are missing, for people; "" if none is.

    Args:
        shard: The shard, as "2/8".
        found: Shards that are there; those of another number do not matter.

    Raises:
        UsageError: If the shard has another form.
    """
    _, count = read_shard(shard)
    ours = {match[1] for match in map(_FORM.fullmatch, found) if match and int(match[2]) == count}
    left = [number for number in range(1, count + 1) if str(number) not in ours]
    listed = ", ".join(map(str, left[:10])) + (", ..." if len(left) > 10 else "")
    return f"of {count:,} shards, these are missing: {listed}" if left else ""


def no_parameters(given: Mapping[str, Any]) -> Mapping[str, Json]:
    """Return no further parameters."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One environment of a task, with the parameters that the task fixes.

    Attributes:
        env: The environment's id.
        fixed: Fixed values of its parameters.
        follows: Function from the task's parameters to further parameters of the environment.
        trials: Number of episodes if the user gives no `limit`; None for the environment's own number.
        item_id: Format of an item's id in the task, with the fields "id" and "index" of the item.
    """

    env: str
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    follows: Callable[[Mapping[str, Any]], Mapping[str, Json]] = no_parameters
    trials: int | None = None
    item_id: str = "{id}"


@dataclass(frozen=True, slots=True)
class Climb:
    """The levels of a ladder, which goes on to the next level if any item of this one was solved.

    Attributes:
        first: Name of the parameter that has the first level.
        last: Name of the parameter that has the last level.
        step: Difference between a level and the next.
        items: Number of generated items per level if `limit` is not given.
    """

    first: str
    last: str
    step: int
    items: int


@dataclass(frozen=True, kw_only=True)
class TaskEntry:
    """A task: its name, its parameters, and the environments that it plays, whose code is loaded for its parameters.

    Attributes:
        name: Name on the command line.
        summary: One line for listings.
        declare: Returns its parameters.
        parts: Its environments.
        climb: The levels of a ladder; a ladder has one part.
        searches: Whether it searches for the horizon of its one environment.
    """

    name: str
    summary: str
    declare: Callable[[], tuple[Option, ...]]
    parts: tuple[Part, ...]
    climb: Climb | None = None
    searches: bool = False

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Its parameters."""
        return self.declare() if self.is_adaptive else (*self.declare(), SHARD_OPTION)

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all of its parameters: those that are given, checked, and the defaults of the others.

        Raises:
            UsageError: For an unknown parameter or an unfit value.
        """
        return resolve(self.options, given, f"parameter of {self.name}")

    @property
    def is_adaptive(self) -> bool:
        """Whether results decide which items follow, as in ladders and searches."""
        return self.climb is not None or self.searches

    @property
    def horizon(self) -> HorizonSpec | None:
        """The levels of a search for a horizon; None for other tasks."""
        return registry.load(self.parts[0].env).difficulty.horizon if self.searches else None

    @property
    def envs(self) -> tuple[str, ...]:
        """Ids of its environments, each once."""
        return tuple(dict.fromkeys(part.env for part in self.parts))


KEY = "key"


def resolve_key(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the key itself in place of a reference ("env:NAME", "file:PATH").

    Raises:
        UsageError: If the key cannot be read.
    """
    return {**given, KEY: read_key(given[KEY])} if given.get(KEY) is not None else dict(given)


def hide_key(parameters: dict[str, Any], entry: TaskEntry) -> None:
    """Replace a private key in a task's parameters by its label for logs, in place.

    Args:
        parameters: The task's parameters, with the key as the user gave it.
        entry: The task.
    """
    key = parameters.get(KEY)
    if key is not None and not any(is_public_key(str(key), registry.load(env).items.public_key) for env in entry.envs):
        parameters[KEY] = key_for_log(str(key))

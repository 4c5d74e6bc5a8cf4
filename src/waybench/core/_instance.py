"""Instances, their identity, and where they come from."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from waybench.core._errors import UsageError
from waybench.core._game import NOTHING, Json
from waybench.core._secrets import key_label


class Instance(ABC):
    """One problem: frozen and hashable data, with a canonical form that is its identity."""

    __slots__ = ()

    @abstractmethod
    def canonical(self) -> str:
        """Return the text that two instances share exactly if no player can tell them apart."""

    @abstractmethod
    def to_json(self) -> Json:
        """Return the instance as a JSON value which the environment's `decode` reads back."""

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical form, as 64 hexadecimal digits."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()


I = TypeVar("I", bound=Instance)  # noqa: E741


@dataclass(frozen=True, slots=True)
class Item(Generic[I]):
    """An instance with its place in a set.

    Attributes:
        instance: The problem.
        id: Its name within the set, for tables and file names.
        level: Its difficulty level; its meaning is the environment's.
        key: The key of the set; a public set's name, or anything private.
        index: Its number within key and level, from 0.
        proof: What is known of its solution (that it is solvable, its optimum), as JSON values.
        examples: Instances that the player is shown solved before this one (in-context examples), in this order.
        private: Whether the key is a secret, for it generates all items of the set.
        isomorph: Number of the isomorphic set that it belongs to (`IsomorphicSource`); 0 for an original item.
    """

    instance: I
    id: str
    level: int
    key: str = ""
    index: int = 0
    proof: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    examples: tuple[I, ...] = ()
    private: bool = False
    isomorph: int = 0

    @property
    def key_label(self) -> str:
        """The key as records and terminals show it: of a private set a short hash, of an isomorphic one its number."""
        label = key_label(self.key) if self.private else self.key
        return f"{label}~{self.isomorph}" if self.isomorph else label


class Source(ABC, Generic[I]):
    """Items by number. `item(i)` never depends on another item, so any part of a set can be made anywhere."""

    @property
    def space(self) -> int | None:
        """The number of different instances of the source, where that is known and small; otherwise None."""
        return None

    @abstractmethod
    def item(self, index: int) -> Item[I]:
        """Return the item of this number, from 0."""

    def head(self, count: int) -> list[Item[I]]:
        """Return the first `count` items.

        Raises:
            UsageError: If count is negative.
        """
        if count < 0:
            raise UsageError(f"count is {count}: give a number of items of 0 or more")
        return [self.item(i) for i in range(count)]


def nothing_known(instance: Instance) -> Mapping[str, Json]:
    """Return that nothing is known of an instance's solution."""
    return NOTHING


class KeyedSource(Source[I]):
    """Items that are drawn by key: a subclass draws instances, and their places in the set follow.

    Args:
        key: The set's key.
        level: The level of its items.
        prove: Instance -> what is known of its solution; by default nothing is.
    """

    def __init__(self, key: str, level: int, prove: Callable[[I], Mapping[str, Json]] = nothing_known) -> None:
        self.key, self.level, self._prove = key, level, prove

    @abstractmethod
    def instance(self, index: int) -> I:
        """Return the instance of this number, from 0."""

    def item(self, index: int) -> Item[I]:
        """Return the item of this number, from 0; its id is the level and the number."""
        instance = self.instance(index)
        return Item(instance, f"{self.level}-{index}", self.level, self.key, index, self._prove(instance))


def set_hash(items: Iterable[Item[I]]) -> str:
    """Return the SHA-256 of a set: of its items' ids and hashes, in order, one "id hash" line each."""
    lines = "".join(f"{item.id} {item.instance.hash}\n" for item in items)
    return hashlib.sha256(lines.encode()).hexdigest()

"""Instances, their identity, and where they come from."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from waybench.core._errors import UsageError
from waybench.core._game import NOTHING, Json, Stream
from waybench.core._secrets import private_key_label

T = TypeVar("T")
MOST_ISOMORPHS = 1_000_000
_ISOMORPHIC_LABEL = re.compile(r"(.*)~([1-9]\d*)", re.DOTALL)


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
        id: Its name within the set, for tables and file names.
        level: Its difficulty level, whose meaning depends on the environment.
        key: The key of the set: the name of a public set, or a secret.
        index: Its number within key and level, from 0.
        proof: What is known of its solution (that it is solvable, its optimum), as JSON values.
        examples: The instances of the in-context examples, in the order in which the player is shown them.
        private: Whether the key is a secret: whoever has it can generate all items of the set.
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
        """The key in records and terminals: a short hash for a private set, with the number of an isomorphic set."""
        label = private_key_label(self.key) if self.private else self.key
        return f"{label}~{self.isomorph}" if self.isomorph else label


class Source(ABC, Generic[I]):
    """Items by number. An item never depends on other items, so that any part of a set can be made anywhere."""

    @property
    def space(self) -> int | None:
        """The number of different instances of the source, where that is known and small; otherwise None."""
        return None

    @abstractmethod
    def item(self, index: int) -> Item[I]:
        """Return the item of this number, from 0."""

    def head(self, count: int) -> list[Item[I]]:
        """Return the first `count` items; raise a UsageError if count is negative."""
        if count < 0:
            raise UsageError(f"count is {count}: give a number of items of 0 or more")
        return [self.item(index) for index in range(count)]


def empty_proof(instance: Instance) -> Mapping[str, Json]:
    """Return an empty proof, for instances of whose solution nothing is known."""
    return NOTHING


class KeyedSource(Source[I]):
    """Items that are drawn by key: a subclass draws the instances (`instance`).

    Args:
        prove: Instance -> what is known of its solution; by default nothing is.
    """

    def __init__(self, key: str, level: int, prove: Callable[[I], Mapping[str, Json]] = empty_proof) -> None:
        self.key, self.level, self._prove = key, level, prove

    @abstractmethod
    def instance(self, index: int) -> I:
        """Return the instance of this number, from 0."""

    def item(self, index: int) -> Item[I]:
        """Return the item of this number, from 0; its id is the level and the number."""
        instance = self.instance(index)
        return Item(instance, f"{self.level}-{index}", self.level, self.key, index, self._prove(instance))


class PrivateSource(Source[I]):
    """The items of a source, marked as those of a private set."""

    def __init__(self, source: Source[I]) -> None:
        self._source = source

    @property
    def space(self) -> int | None:
        """The number of different instances of the source, if known."""
        return self._source.space

    def item(self, index: int) -> Item[I]:
        """Return the item of this number, from 0."""
        return self._as_private(self._source.item(index))

    def head(self, count: int) -> list[Item[I]]:
        """Return the first `count` items."""
        return [self._as_private(item) for item in self._source.head(count)]

    def _as_private(self, item: Item[I]) -> Item[I]:
        """Return an item that is marked as private."""
        # Not by `replace`, which takes longer than to draw a small item.
        position = item.id, item.level, item.key, item.index
        return Item(item.instance, *position, item.proof, item.examples, private=True, isomorph=item.isomorph)


def item_set_hash(items: Iterable[Item[I]]) -> str:
    """Return the SHA-256 of the lines "id hash" of some items, in order."""
    lines = "".join(f"{item.id} {item.instance.hash}\n" for item in items)
    return hashlib.sha256(lines.encode()).hexdigest()


class IsomorphicSource(Source[I]):
    """The isomorphic items of a source's items, each with the id, level and index of its original.

    Args:
        isomorph: (instance, key, number) -> isomorphic instance, as `Items.isomorph`.
        number: The number of the isomorphic set, from 1.
    """

    def __init__(
        self,
        source: Source[I],
        isomorph: Callable[[I, str, int], I],
        prove: Callable[[I], Mapping[str, Json]],
        number: int,
    ) -> None:
        self._source, self._isomorph, self._prove, self._number = source, isomorph, prove, number

    @property
    def space(self) -> int | None:
        """The number of different instances of the source, if known."""
        return self._source.space

    def item(self, index: int) -> Item[I]:
        """Return the isomorphic item of the original item `index`, with isomorphic examples."""
        original = self._source.item(index)
        instance, *examples = (
            self._isomorph(instance, original.key, self._number) for instance in (original.instance, *original.examples)
        )
        return replace(
            original,
            instance=instance,
            proof=self._prove(instance),
            examples=tuple(examples),
            isomorph=self._number,
        )


def split_isomorphic_label(label: str) -> tuple[str, int]:
    """Return the original set's label and the isomorphic number in a label such as "key~2"; the number is 0 without."""
    match = _ISOMORPHIC_LABEL.fullmatch(label)
    return (label, 0) if match is None else (match[1], int(match[2]))


def isomorphic_appearance(appearances: Sequence[T], number: int, *purpose: str | int) -> T:
    """Return the appearance of an instance in the isomorphic set of a number.

    The sets of the numbers 1 to n, where n is the number of appearances, all differ; so do the next n sets.

    Args:
        appearances: The appearances that differ from the original's.
        number: The number of the isomorphic set, from 1.
        *purpose: Key of the random stream, which identifies the instance.
    """
    block, index = divmod(number - 1, len(appearances))  # each block of sets has all appearances in another order
    order = list(appearances)
    Stream("isomorph", *purpose, block).shuffle(order)
    return order[index]

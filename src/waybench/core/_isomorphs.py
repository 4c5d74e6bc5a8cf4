"""Isomorphic items: the same problem in another appearance, as difficult by construction."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from waybench.core._game import Json
from waybench.core._instance import Instance, Item, Source
from waybench.core._random import Stream

I = TypeVar("I", bound=Instance)  # noqa: E741
T = TypeVar("T")

MOST_ISOMORPHS = 1_000_000
_LABEL = re.compile(r"(.*)~([1-9]\d*)", re.DOTALL)


class IsomorphicSource(Source[I]):
    """The isomorphic items of a source's items, each with the id, level and index of its original.

    Args:
        source: The source of the originals.
        isomorph: (instance, key, number) -> isomorphic instance, as `Items.isomorph`.
        prove: Instance -> what is known of its solution.
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
        """Return the isomorphic item of the original of this number, from 0. Its examples are isomorphic, too."""
        original = self._source.item(index)
        instance, *examples = (
            self._isomorph(each, original.key, self._number) for each in (original.instance, *original.examples)
        )
        return replace(
            original,
            instance=instance,
            proof=self._prove(instance),
            examples=tuple(examples),
            isomorph=self._number,
        )


def split_isomorphic_key(label: str) -> tuple[str, int]:
    """Return the label of the original set and the number of the isomorphic one, 0 for an original set."""
    found = _LABEL.fullmatch(label)
    return (label, 0) if found is None else (found[1], int(found[2]))


def draw_appearance(appearances: Sequence[T], number: int, *purpose: str | int) -> T:
    """Return the appearance of an instance in an isomorphic set.

    The sets of the numbers 1 to n, where n is the number of appearances, all differ; so do the next n sets.

    Args:
        appearances: The appearances that differ from the original's.
        number: The number of the isomorphic set, from 1.
        *purpose: Key of the random stream: what the instance is.
    """
    block, place = divmod(number - 1, len(appearances))
    order = list(appearances)
    Stream("isomorph", *purpose, block).shuffle(order)
    return order[place]

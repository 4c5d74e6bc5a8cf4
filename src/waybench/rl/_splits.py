"""Training, validation and test items of one key that share no instance, by the instances' hashes."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from waybench.core import Instance, Item, Source, UsageError, unknown

I = TypeVar("I", bound=Instance)  # noqa: E741

TRAINING_KEY = "training"

# Split -> the last digits, from 0 to 9, of the instances' hashes as numbers.
SPLITS: Mapping[str, range] = MappingProxyType({"train": range(8), "validation": range(8, 9), "test": range(9, 10)})
_STRIDE = 1 << 40  # between an item's candidates; beyond any index that a user gives
_MOST_TRIES = 400  # a split of a tenth of all instances is missed so often with a probability of 1e-18


def split_of(instance: Instance) -> str:
    """Return the split of an instance.

    It follows from the hash alone, so that no instance is in two splits, whatever the key.
    """
    digit = int(instance.hash[:15], 16) % 10
    return next(name for name, digits in SPLITS.items() if digit in digits)


class SplitSource(Source[I]):
    """The items of a source that are in one split.

    Item i is the first of the source's items i, i + 2**40, i + 2 * 2**40, ... that is in the split, and keeps its own
    number in `Item.index`, so that it is made again from key, level and index as any other item.

    Args:
        source: The source.
        split: The name of the split: "train", "validation" or "test".

    Raises:
        UsageError: If there is no such split.
    """

    def __init__(self, source: Source[I], split: str) -> None:
        if split not in SPLITS:
            raise UsageError(unknown("split", split, SPLITS))
        self._source = source
        self.split = split

    def item(self, index: int) -> Item[I]:
        """Return the item of this number of the split, from 0.

        Raises:
            UsageError: If the number is below 0 or 2**40 or more, or the level has too few different instances.
        """
        if not 0 <= index < _STRIDE:
            raise UsageError(f"index={index}: give a number from 0 to {_STRIDE - 1}")
        for candidate in range(index, index + _MOST_TRIES * _STRIDE, _STRIDE):
            item = self._source.item(candidate)
            if split_of(item.instance) == self.split:
                return item
        raise UsageError(
            f"the split {self.split} has no items here, for there are too few different ones: choose another level"
        )

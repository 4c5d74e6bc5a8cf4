"""Worlds by key."""

from collections.abc import Mapping

from waybench.core import Item, Json, Source, Stream, UsageError
from waybench.envs.crafter._instance import SEEDS, Wilds

VERSION = 1  # of the generator; part of every item's key
LEVEL = 1


class Worlds(Source[Wilds]):
    """Worlds drawn by key, of the published size.

    Args:
        key: The set's key.
        level: 1, the only level.
        options: None.

    Raises:
        UsageError: For a level that does not exist.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if level != LEVEL:
            raise UsageError(f"level {level}: Crafter has one level, {LEVEL}")
        self._key = key

    def item(self, index: int) -> Item[Wilds]:
        """Return the world of this number."""
        wilds = Wilds(Stream("crafter", VERSION, self._key, LEVEL, index).below(SEEDS))
        return Item(wilds, f"{LEVEL}-{index}", LEVEL, self._key, index)

"""Worlds by key."""

from collections.abc import Mapping

from waybench.core import Json, KeyedSource, Stream, UsageError
from waybench.envs.crafter._instance import SEEDS, Wilds

VERSION = 1  # of the generator; part of every item's key
LEVEL = 1


class Worlds(KeyedSource[Wilds]):
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
        super().__init__(key, level)

    def instance(self, index: int) -> Wilds:
        """Return the world of this number."""
        return Wilds(Stream("crafter", VERSION, self.key, LEVEL, index).below(SEEDS))

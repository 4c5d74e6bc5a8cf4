"""The mazes of `maze/alicia` for the partly seen maze: the same key and level give the same mazes."""

from collections.abc import Mapping
from dataclasses import replace

from waybench.core import DataError, Item, Json, Source, UsageError
from waybench.envs.maze._instance import Maze, decode
from waybench.envs.maze._source import MazeSource
from waybench.envs.maze.explore._metrics import prove_explored

LARGEST = 101  # the oracle's walk through a larger one, which is part of the proof, takes too long


class ExploreSource(Source[Maze]):
    """Mazes of one key, dimension and style, with the proof of partly seen ones.

    Args:
        key: The set's key.
        size: The dimension.
        options: As for `MazeSource`.

    Raises:
        UsageError: If the dimension is even or out of range.
    """

    def __init__(self, key: str, size: int, options: Mapping[str, Json]) -> None:
        if size > LARGEST:
            raise UsageError(f"level {size}: a partly seen maze's dimension is at most {LARGEST}")
        self._source = MazeSource(key, size, options)
        self.key, self.size = key, size

    @property
    def space(self) -> int | None:
        """The number of different mazes of this level; None where they cannot be listed."""
        return self._source.space

    def item(self, index: int) -> Item[Maze]:
        """Return a maze with its proof."""
        item = self._source.item(index)
        return replace(item, proof=prove_explored(item.instance))


def decode_explored(data: Json) -> Maze:
    """Read a maze as for `maze/alicia`, up to dimension 101.

    Raises:
        DataError: If it is no such maze.
    """
    maze = decode(data)
    if maze.size > LARGEST:
        raise DataError(f"maze: the matrix has {maze.size} rows; a partly seen maze has at most {LARGEST}")
    return maze

"""Shortest paths on a grid by flooding it in layers, a whole layer at a time in the bits of one number."""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Floor:
    """Which cells of a grid can be stood on; a cell's number is row * width + column.

    A layer of a breadth-first search is one integer with a bit for each cell, so that a step of the whole layer is a
    few shifts; that is some hundred times faster than cell by cell, without leaving Python.

    Attributes:
        width: Number of columns.
        height: Number of rows.
        open: The open cells, as bits.
    """

    width: int
    height: int
    open: int
    _not_first: int = field(init=False, repr=False, compare=False)  # all cells but those of the first column
    _not_last: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the masks that keep a row's end from running into the next row."""
        row = (1 << self.width) - 1
        rows = ((1 << self.width * self.height) - 1) // row  # a one for each row, as 1111 // 11 == 101
        object.__setattr__(self, "_not_first", (row & ~1) * rows)
        object.__setattr__(self, "_not_last", (row >> 1) * rows)

    def layers(self, start: int, goal: int) -> list[int] | None:
        """Return the layers of cells at distance 0, 1, 2, ... from a cell, up to the one with the goal in it.

        The start need not be open. None if the goal cannot be reached.
        """
        layers: list[int] = []
        for layer in self._flood(start):
            layers.append(layer)
            if layer >> goal & 1:
                return layers
        return None

    def distance(self, start: int, goal: int) -> int | None:
        """Return the number of steps of a shortest path; None if there is none."""
        for steps, layer in enumerate(self._flood(start)):
            if layer >> goal & 1:
                return steps
        return None

    def _flood(self, start: int) -> Iterator[int]:
        """Yield the cells at distance 0, 1, 2, ... from a cell, as long as there are any."""
        width, not_first, not_last = self.width, self._not_first, self._not_last
        layer = 1 << start
        rest = self.open & ~layer
        while layer:
            yield layer
            layer = ((layer & not_last) << 1 | (layer & not_first) >> 1 | layer << width | layer >> width) & rest
            rest ^= layer

    def shortest_path(self, start: int, goal: int) -> list[int] | None:
        """Return the cells of a shortest path without the start; None if there is none.

        Of several it is the one that, seen from the goal, goes up, left, right or down as early as it can, in this
        order.
        """
        layers = self.layers(start, goal)
        if layers is None:
            return None
        path, cell = [goal], goal
        for layer in layers[-2:0:-1]:
            column = cell % self.width
            for neighbour, possible in (
                (cell - self.width, cell >= self.width),
                (cell - 1, column > 0),
                (cell + 1, column < self.width - 1),
                (cell + self.width, True),
            ):
                if possible and layer >> neighbour & 1:
                    cell = neighbour
                    break
            path.append(cell)
        path.reverse()
        return path if start != goal else []

    def reached_from(self, start: int) -> int:
        """Return all cells that can be reached from a cell, itself included, as bits."""
        visited = 0
        for layer in self._flood(start):
            visited |= layer
        return visited

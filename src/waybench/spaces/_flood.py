"""Shortest paths on a grid by flooding it in layers, a whole layer at a time in the bits of one number."""

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
        rows = sum(1 << self.width * y for y in range(self.height))
        object.__setattr__(self, "_not_first", (row & ~1) * rows)
        object.__setattr__(self, "_not_last", (row >> 1) * rows)

    def layers(self, start: int, goal: int) -> list[int] | None:
        """Return the layers of cells at distance 0, 1, 2, ... from a cell, up to the one with the goal in it.

        The start need not be open. None if the goal cannot be reached.
        """
        closed = ~self.open
        layer, target = 1 << start, 1 << goal
        layers = [layer]
        closed |= layer
        while not layer & target:
            layer = self._beside(layer) & ~closed
            if not layer:
                return None
            layers.append(layer)
            closed |= layer
        return layers

    def distance(self, start: int, goal: int) -> int | None:
        """Return the number of steps of a shortest path; None if there is none."""
        layer, target, steps = 1 << start, 1 << goal, 0
        closed = ~self.open | layer
        while not layer & target:
            layer = self._beside(layer) & ~closed
            if not layer:
                return None
            closed |= layer
            steps += 1
        return steps

    def _beside(self, layer: int) -> int:
        """Return all cells beside the cells of a layer."""
        width = self.width
        return (layer & self._not_last) << 1 | (layer & self._not_first) >> 1 | layer << width | layer >> width

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
        visited = 1 << start
        layer, closed = visited, ~self.open | visited
        while layer:
            layer = self._beside(layer) & ~closed
            closed |= layer
            visited |= layer
        return visited

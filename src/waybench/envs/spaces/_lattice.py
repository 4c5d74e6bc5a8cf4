"""A rectangle of open and closed cells: shortest paths, floods and symmetries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

ROTATIONS = (3, 5, 6)
"""The rotations by 180 and 90 degrees. Bit 0 of a symmetry reverses the columns, bit 1 the rows; bit 2 then swaps rows
and columns."""
REFLECTIONS = (1, 2, 3)
"""The symmetries that keep height and width: columns reversed, rows reversed, and both."""


def transform_rows(symmetry: int, rows: Sequence[Sequence[T]]) -> list[list[T]]:
    """Return the rows of a rectangle after a symmetry; the numbers 4 to 7 exchange its height and width."""
    reversed_rows = [list(row[::-1] if symmetry & 1 else row) for row in (rows[::-1] if symmetry & 2 else rows)]
    return [list(column) for column in zip(*reversed_rows, strict=True)] if symmetry & 4 else reversed_rows


def transform_cell(symmetry: int, row: int, column: int, height: int, width: int) -> tuple[int, int]:
    """Return the row and column of a cell, which may lie outside, after a symmetry of a rectangle."""
    row = height - 1 - row if symmetry & 2 else row
    column = width - 1 - column if symmetry & 1 else column
    return (column, row) if symmetry & 4 else (row, column)


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
        """Return the cells, as bits, by distance from the start, open or not, up to the goal; None without a path."""
        layers: list[int] = []
        for layer in self._flood_layers(start):
            layers.append(layer)
            if layer >> goal & 1:
                return layers
        return None

    def distance(self, start: int, goal: int) -> int | None:
        """Return the number of steps of a shortest path; None if there is none."""
        for steps, layer in enumerate(self._flood_layers(start)):
            if layer >> goal & 1:
                return steps
        return None

    def _flood_layers(self, start: int) -> Iterator[int]:
        """Yield the cells, as bits, at distance 0, 1, 2, ... from a cell, as long as there are any."""
        width, not_first, not_last = self.width, self._not_first, self._not_last
        layer = 1 << start
        unvisited = self.open & ~layer
        while layer:
            yield layer
            layer = ((layer & not_last) << 1 | (layer & not_first) >> 1 | layer << width | layer >> width) & unvisited
            unvisited ^= layer

    def shortest_path(self, start: int, goal: int) -> list[int] | None:
        """Return the cells of a shortest path without the start; None if there is none.

        Of several paths, seen from the goal, it prefers a step up, then left, right and down, at each step.
        """
        layers = self.layers(start, goal)
        if layers is None:
            return None
        path, cell = [goal], goal
        for layer in layers[-2:0:-1]:
            column = cell % self.width
            for neighbour, is_in_grid in (
                (cell - self.width, cell >= self.width),
                (cell - 1, column > 0),
                (cell + 1, column < self.width - 1),
                (cell + self.width, True),  # below the last row, no layer has cells
            ):
                if is_in_grid and layer >> neighbour & 1:
                    cell = neighbour
                    break
            path.append(cell)
        path.reverse()
        return path if start != goal else []

    def reachable_from(self, start: int) -> int:
        """Return all cells that can be reached from a cell, itself included, as bits."""
        visited = 0
        for layer in self._flood_layers(start):
            visited |= layer
        return visited


DIRECTIONS: dict[str, tuple[int, int]] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
"""Name -> (dx, dy); x grows to the right, y grows downwards."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """Open and closed cells, row by row.

    Attributes:
        width: Number of columns.
        height: Number of rows.
        cells: width * height bytes, 1 = open, 0 = closed; the cell (x, y) is at y * width + x.
    """

    width: int
    height: int
    cells: bytes

    def position(self, cell: int) -> tuple[int, int]:
        """Return (x, y) of a cell number."""
        return cell % self.width, cell // self.width

    def rows(self) -> list[bytes]:
        """Return the cells of each row, from the top one."""
        return [self.cells[start : start + self.width] for start in range(0, len(self.cells), self.width)]

    def neighbour_cell(self, cell: int, direction: str) -> int | None:
        """Return the cell number next to a cell; None if that is outside."""
        dx, dy = DIRECTIONS[direction]
        x, y = cell % self.width + dx, cell // self.width + dy
        return y * self.width + x if 0 <= x < self.width and 0 <= y < self.height else None

    def cells_ahead(self, cell: int, direction: str) -> range:
        """Return the cell numbers in a direction from a cell up to the border, nearest first, open or not."""
        dx, dy = DIRECTIONS[direction]
        x, y = self.position(cell)
        n_cells = max(-dx * x, dx * (self.width - 1 - x), -dy * y, dy * (self.height - 1 - y))  # to the border
        offset = dx + dy * self.width
        return range(cell + offset, cell + offset * (n_cells + 1), offset)

    def count_free_ahead(self, cell: int, direction: str) -> int:
        """Return the number of open cells in a direction before a closed cell or the border."""
        cells_ahead = self.cells_ahead(cell, direction)
        if not cells_ahead:
            return 0
        # A slice that runs backwards to the first cell has no number to stop at.
        stop = cells_ahead.stop if cells_ahead.stop >= 0 else None
        n_open = self.cells[cells_ahead.start : stop : cells_ahead.step].find(0)
        return len(cells_ahead) if n_open < 0 else n_open

    def exits(self, cell: int) -> Iterator[tuple[str, int]]:
        """Yield (direction, cell number) of the open neighbours, in the order of `DIRECTIONS`."""
        for direction in DIRECTIONS:
            neighbour = self.neighbour_cell(cell, direction)
            if neighbour is not None and self.cells[neighbour]:
                yield direction, neighbour

    def open_neighbour_bits(self) -> bytes:
        """Return for each cell, open or not, its open neighbours: 1 for up, 2 down, 4 left and 8 right."""
        # All cells at once, in the bytes of one integer: shifted by a cell or a row, then to the neighbour's bit.
        row_bits = 8 * self.width
        all_bits, first_column, last_column = _byte_masks(self.width, self.height)
        cells = int.from_bytes(self.cells, "little")
        vertical = (cells << row_bits) & all_bits | cells >> row_bits << 1
        horizontal = (cells & ~last_column) << 8 << 2 | (cells & ~first_column) >> 8 << 3
        return (vertical | horizontal).to_bytes(len(self.cells), "little")

    def distances(self, goal: int) -> tuple[int, ...]:
        """Return the number of moves from every cell to a goal, -1 where there is no path (breadth-first search)."""
        return _cached_distances(self, goal)

    def shortest_path(self, start: int, goal: int) -> tuple[str, ...] | None:
        """Return directions of one shortest path, the first in the order of `DIRECTIONS`; None if there is none."""
        distances = self.distances(goal)
        if distances[start] < 0:
            return None
        path: list[str] = []
        width, last_row = self.width, len(distances) - self.width
        for distance in range(distances[start] - 1, -1, -1):
            if start >= width and distances[start - width] == distance:
                path.append("up")
                start -= width
            elif start < last_row and distances[start + width] == distance:
                path.append("down")
                start += width
            elif start % width and distances[start - 1] == distance:
                path.append("left")
                start -= 1
            else:  # a cell at a distance above 0 has a nearer neighbour
                path.append("right")
                start += 1
        return tuple(path)


@lru_cache(maxsize=4)
def _byte_masks(width: int, height: int) -> tuple[int, int, int]:
    """Return a number with all bits of all cells, and the lowest bit of each cell in the first and last column."""
    first_column = int.from_bytes((b"\1" + bytes(width - 1)) * height, "little")
    return (1 << 8 * width * height) - 1, first_column, first_column << 8 * (width - 1)


@lru_cache(maxsize=4)
def _neighbour_offsets(width: int) -> list[list[int]]:
    """Return for each value of `Lattice.open_neighbour_bits` the offsets of those neighbours."""
    offsets = [dx + dy * width for dx, dy in DIRECTIONS.values()]
    return [[offset for bit, offset in enumerate(offsets) if neighbour_bits >> bit & 1] for neighbour_bits in range(16)]


@lru_cache(maxsize=64)
def _cached_distances(lattice: Lattice, goal: int) -> tuple[int, ...]:
    """Return `Lattice.distances` (cached)."""
    neighbour_bits, offsets = lattice.open_neighbour_bits(), _neighbour_offsets(lattice.width)
    distances = [-1] * len(neighbour_bits)
    distances[goal] = 0
    queue = [goal]
    for cell in queue:  # and those that are appended meanwhile
        distance = distances[cell] + 1
        for offset in offsets[neighbour_bits[cell]]:
            neighbour = cell + offset
            if distances[neighbour] < 0:
                distances[neighbour] = distance
                queue.append(neighbour)
    return tuple(distances)

"""A rectangle of open and closed cells, and shortest paths on it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

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

    def step(self, cell: int, direction: str) -> int | None:
        """Return the cell number next to a cell; None if that is outside."""
        dx, dy = DIRECTIONS[direction]
        x, y = cell % self.width + dx, cell // self.width + dy
        return y * self.width + x if 0 <= x < self.width and 0 <= y < self.height else None

    def line(self, cell: int, direction: str) -> range:
        """Return the cell numbers ahead of a cell up to the border, the nearest first, open or not."""
        dx, dy = DIRECTIONS[direction]
        x, y = self.position(cell)
        ahead = max(-dx * x, dx * (self.width - 1 - x), -dy * y, dy * (self.height - 1 - y))
        offset = dx + dy * self.width
        return range(cell + offset, cell + offset * (ahead + 1), offset)

    def free(self, cell: int, direction: str) -> int:
        """Return how many cells one can go from a cell in a direction before a closed cell or the border."""
        line = self.line(cell, direction)
        if not line:
            return 0
        # A slice that runs backwards to the first cell has no number to stop at.
        wall = self.cells[line.start : line.stop if line.stop >= 0 else None : line.step].find(0)
        return len(line) if wall < 0 else wall

    def exits(self, cell: int) -> Iterator[tuple[str, int]]:
        """Yield (direction, cell number) of the open neighbours, in the order of `DIRECTIONS`."""
        for direction in DIRECTIONS:
            neighbour = self.step(cell, direction)
            if neighbour is not None and self.cells[neighbour]:
                yield direction, neighbour

    def ways(self) -> bytes:
        """Return which neighbours of each cell, itself open or not, are open: 1 for up, 2 down, 4 left and 8 right."""
        # All cells at once, in the bytes of one integer.
        count, row = self.width * self.height, 8 * self.width
        every, first, last = _masks(self.width, self.height)
        cells = int.from_bytes(self.cells, "little")
        vertical = (cells << row) & every | cells >> row << 1
        horizontal = (cells & ~last) << 8 << 2 | (cells & ~first) >> 8 << 3
        return (vertical | horizontal).to_bytes(count, "little")

    def distances(self, goal: int) -> tuple[int, ...]:
        """Return the number of moves from every cell to a goal, -1 where there is no way (breadth-first search)."""
        return _distances(self, goal)

    def shortest_path(self, start: int, goal: int) -> tuple[str, ...] | None:
        """Return directions of one shortest path, the first in the order of `DIRECTIONS`; None if there is none."""
        far = self.distances(goal)
        if far[start] < 0:
            return None
        path: list[str] = []
        width, last_row = self.width, len(far) - self.width
        for nearer in range(far[start] - 1, -1, -1):
            if start >= width and far[start - width] == nearer:
                path.append("up")
                start -= width
            elif start < last_row and far[start + width] == nearer:
                path.append("down")
                start += width
            elif start % width and far[start - 1] == nearer:
                path.append("left")
                start -= 1
            else:  # a cell at a distance above 0 has a nearer neighbour
                path.append("right")
                start += 1
        return tuple(path)


@lru_cache(maxsize=4)
def _masks(width: int, height: int) -> tuple[int, int, int]:
    """Return all bits of all cells, and the lowest one of each cell of the first and of the last column."""
    first = int.from_bytes((b"\1" + bytes(width - 1)) * height, "little")
    return (1 << 8 * width * height) - 1, first, first << 8 * (width - 1)


@lru_cache(maxsize=4)
def _offsets(width: int) -> list[list[int]]:
    """Return, for each value of a cell in `Lattice.ways`, where those neighbours are."""
    offsets = [dx + dy * width for dx, dy in DIRECTIONS.values()]
    return [[offset for bit, offset in enumerate(offsets) if ways >> bit & 1] for ways in range(16)]


@lru_cache(maxsize=64)
def _distances(lattice: Lattice, goal: int) -> tuple[int, ...]:
    ways, offsets = lattice.ways(), _offsets(lattice.width)
    far = [-1] * len(ways)
    far[goal] = 0
    queue = [goal]
    for cell in queue:  # and those that are appended meanwhile
        distance = far[cell] + 1
        for offset in offsets[ways[cell]]:
            neighbour = cell + offset
            if far[neighbour] < 0:
                far[neighbour] = distance
                queue.append(neighbour)
    return tuple(far)

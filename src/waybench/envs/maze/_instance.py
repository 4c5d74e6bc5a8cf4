"""Mazes: the instance, what can be proved of it, and reading it from JSON."""

from dataclasses import dataclass
from itertools import groupby

from waybench.core import DataError, Instance, Json, check_fields, is_array, is_object, plural
from waybench.spaces import Lattice

SMALLEST = 5
LARGEST = 1001

_DIGITS = bytes.maketrans(b"\0\1", b"01")
_FEW_WAYS = bytes(ways for ways in range(16) if ways.bit_count() < 3)  # those of cells that are no junctions


@dataclass(frozen=True, slots=True)
class Maze(Instance):
    """A square maze.

    Attributes:
        lattice: Its cells; open ones are paths, closed ones walls.
        entrance: Cell number of the entrance, on the border.
        exit: Cell number of the exit, on the border.
    """

    lattice: Lattice
    entrance: int
    exit: int

    @property
    def size(self) -> int:
        """The dimension N of the N x N matrix."""
        return self.lattice.width

    def rows(self, player: int | None = None) -> list[list[int | str]]:
        """Return the matrix: 1 for a path, 0 for a wall, "X" where the player is (the entrance by default)."""
        flat: list[int | str] = list(self.lattice.cells)
        flat[self.entrance if player is None else player] = "X"
        return [flat[i : i + self.size] for i in range(0, len(flat), self.size)]

    def lines(self, player: int | None = None, *, commas: bool = False) -> list[str]:
        """Return the rows of the matrix as texts of 0, 1 and X, with or without commas between these signs."""
        signs, wide = bytearray(self.lattice.cells.translate(_DIGITS)), self.size
        signs[self.entrance if player is None else player] = ord("X")
        if commas:
            spread = bytearray(b",") * (2 * len(signs))
            spread[::2] = signs
            signs, wide = spread, 2 * wide
        text = signs.decode()
        return [text[row : row + wide - commas] for row in range(0, len(text), wide)]

    def canonical(self) -> str:
        """Return the rows of the matrix as lines of 0, 1 and X."""
        return "\n".join(self.lines())

    def to_json(self) -> Json:
        """Return {"maze": matrix}."""
        return {"maze": self.rows()}


_SIGNS: dict[str, int] = {"0": 0, "1": 1}


def movements(path: tuple[str, ...]) -> list[list[str | int]]:
    """Join equal directions of a path: ("down", "down", "left") -> [["down", 2], ["left", 1]]."""
    return [[direction, len(list(run))] for direction, run in groupby(path)]


def prove(maze: Maze) -> dict[str, Json]:
    """Return what is known of a maze.

    Returns:
        minimum: cells moved on a shortest path from entrance to exit, without the entrance's own;
        solution: such a path, as [direction, cells] pairs;
        loops: independent cycles, that is openings beyond those of a spanning tree;
        junctions: open cells with three or four open neighbours.

    Raises:
        DataError: If the exit cannot be reached.
    """
    path = maze.lattice.shortest_path(maze.entrance, maze.exit)
    if path is None:
        raise DataError("maze: the exit cannot be reached from the entrance")
    edges, nodes, junctions = _count(maze)
    return {"minimum": len(path), "solution": movements(path), "loops": edges - nodes + 1, "junctions": junctions}


def _count(maze: Maze) -> tuple[int, int, int]:
    """Return the numbers of pairs of neighbouring cells, cells and junctions that can be reached."""
    far, cells = maze.lattice.distances(maze.exit), maze.lattice.cells
    if far.count(-1) > cells.count(0):
        cells = bytes(map((-1).__lt__, far))
    ways = int.from_bytes(maze.lattice.ways(), "little") & int.from_bytes(cells, "little") * 15
    junctions = ways.to_bytes(len(cells), "little").translate(None, _FEW_WAYS)
    return ways.bit_count() // 2, cells.count(1), len(junctions)


def decode(data: Json) -> Maze:
    """Read a maze: {"maze": rows}, or the rows alone.

    A row is a list, [0, 0, 0, "X", 0], or a text, "000X0": 1 is a path, 0 a wall, and the one "X", on the border, the
    entrance. The one other opening in the border is the exit.

    Raises:
        DataError: If it is no such maze; the message names the row.
    """
    check_fields(data, ("maze",))
    given = data.get("maze") if is_object(data) else data
    if not is_array(given) or not all(is_array(row) or isinstance(row, str) for row in given):
        raise DataError('instance: give {"maze": ["000X0", ...]} or {"maze": [[0,0,0,"X",0], ...]}, a list of rows')
    rows = [[_SIGNS.get(sign, sign) for sign in row.rstrip("\r\n")] if isinstance(row, str) else row for row in given]
    size = len(rows)
    if size % 2 == 0 or not SMALLEST <= size <= LARGEST:
        raise DataError(
            f"maze: the matrix has {plural(size, 'row')}; the dimension is odd and from {SMALLEST} to {LARGEST}"
        )
    cells = bytearray()
    entrances: list[int] = []
    for y, row in enumerate(rows):
        if len(row) != size:
            raise DataError(f"maze: row {y} has {plural(len(row), 'cell')}, not {size}")
        for x, cell in enumerate(row):
            if cell == "X":
                entrances.append(y * size + x)
            elif type(cell) is not int or cell not in (0, 1):
                raise DataError(f'maze: row {y}, column {x}: a cell is 0, 1 or "X"')
            cells.append(cell != 0)
    border = [y * size + x for y in range(size) for x in range(size) if not (0 < x < size - 1 and 0 < y < size - 1)]
    corners = {0, size - 1, size * (size - 1), size * size - 1}
    openings = [cell for cell in border if cells[cell]]
    if len(entrances) != 1 or entrances[0] not in openings:
        raise DataError('maze: it needs exactly one "X", and on the border: the entrance')
    if len(openings) != 2 or corners & set(openings):
        raise DataError("maze: it needs exactly one opening in the border besides the entrance, and none in a corner")
    exit_ = next(cell for cell in openings if cell != entrances[0])
    return Maze(Lattice(size, size, bytes(cells)), entrances[0], exit_)

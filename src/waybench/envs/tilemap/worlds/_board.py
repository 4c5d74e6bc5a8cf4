"""The board of a world that is being generated: tiles, sets of cells, paths, and rectangles to build in."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from waybench.core import Stream
from waybench.envs.spaces._lattice import Floor
from waybench.envs.tilemap.worlds._tiles import Palette

Mask = NDArray[np.bool_]
"""A truth value for each cell, shape (cells,)."""
_SCALE = 16  # of the noise
NOISE_VALUES = 255 * _SCALE**2 + 1  # that `noise` can return, from 0 on
_MARGIN, _BUILDING = 1, 2  # and 0 for free cells
_DIGITS = bytes.maketrans(b"\0\1", b"01")
_AS_MARGIN = bytes.maketrans(b"\0", bytes([_MARGIN]))
_PROBES = 40  # random cells to be tried before all are


def cells_of_mask(mask: Mask) -> int:
    """Return the cells whose value is true, as bits."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def mask_of_cells(cells: int, size: int) -> Mask:
    """Return for each of `size` cells whether its bit is set."""
    octets = np.frombuffer(cells.to_bytes(-(-size // 8), "little"), np.uint8)
    return np.unpackbits(octets, count=size, bitorder="little").view(np.bool_)


Values = NDArray[np.int64]
"""A whole number for each cell, shape (cells,)."""


def smooth_noise(rng: Stream, width: int, height: int, pitch: int) -> Values:
    """Return smooth random values, one for each cell, from 0 to `NOISE_VALUES` - 1.

    The values of points at a distance of `pitch`, at least 1, are drawn; the others lie between them.
    """
    down, across = height // pitch + 2, width // pitch + 2
    random_bytes = b"".join([rng.word().to_bytes(8, "big") for _ in range(across * down // 8 + 1)])
    points = np.frombuffer(random_bytes, np.uint8, across * down).reshape(down, across)
    return (_noise_weights(height, pitch) @ points @ _noise_weights(width, pitch).T).astype(np.int64).reshape(-1)


@lru_cache(maxsize=256)
def _noise_weights(length: int, pitch: int) -> NDArray[np.float64]:
    """Return the weight of each point in each cell of a line, shape (length, points).

    Weights and values are whole numbers far below 2**53: their products as floats, which are much faster, are exact.
    """
    cells = np.arange(length)
    points, t = cells // pitch, cells % pitch
    ease = _SCALE * (3 * t * t * pitch - 2 * t**3) // pitch**3
    weights = np.zeros((length, length // pitch + 2))
    weights[cells, points], weights[cells, points + 1] = _SCALE - ease, ease
    return weights


def top_share_threshold(values: Values, percent: int) -> int:
    """Return the value that `percent` of the cells reach or exceed."""
    index = max(0, min(values.size - 1, values.size * (100 - percent) // 100))
    return int(np.partition(values, index)[index])


Area = tuple[int, int, int, int]  # first row and column, and those after its last ones


def _is_simple_ring(ring: int) -> bool:
    """Return whether a cell can be filled without parting its walkable neighbours.

    `ring` has a bit for each of the eight cells around it that is walkable, clockwise from the upper left one.
    """
    walkable = [bool(ring >> i & 1) for i in range(8)]
    straight = [i for i in range(1, 8, 2) if walkable[i]]
    if all(walkable):
        return True
    # One neighbour reaches the next one round the corner if the corner can be walked on.
    links = sum(walkable[i] and walkable[(i + 1) % 8] and walkable[(i + 2) % 8] for i in range(1, 8, 2))
    return len(straight) >= 1 and links >= len(straight) - 1


_SIMPLE = bytes(_is_simple_ring(ring) for ring in range(256))


class WorldBoard:
    """Tiles by cell; a cell's number is row * width + column, as in `Floor`.

    Attributes:
        cells: The number of the kind of each cell's tile.
        claimed: For each cell, whether it is free, beside something built, or built upon.
    """

    def __init__(self, width: int, height: int, palette: Palette, rng: Stream) -> None:
        self.width, self.height, self.palette, self.rng = width, height, palette, rng
        self.cells = bytearray([palette.first_kind("ground")]) * (width * height)
        self.claimed = bytearray(width * height)
        row = (1 << width) - 1
        rows = (1 << width * height) // row  # a one for each row, as 1111 // 11 == 101
        self.all = row * rows
        self._not_first, self._not_last = self.all & ~rows, self.all & ~(rows << width - 1)

    # ---- single cells

    def neighbours(self, cell: int) -> list[int]:
        """Return the cells above, right, below and left that are on the board."""
        width, cells = self.width, list[int]()
        column = cell % width
        if cell >= width:
            cells.append(cell - width)
        if column < width - 1:
            cells.append(cell + 1)
        if cell + width < len(self.cells):
            cells.append(cell + width)
        if column:
            cells.append(cell - 1)
        return cells

    def can_be_filled(self, cell: int) -> bool:
        """Return whether a cell's walkable neighbours stay connected around it if it is filled."""
        width, cells, walkable = self.width, self.cells, self.palette.walkable
        column = cell % width
        left, right, ring = column > 0, column < width - 1, 0
        if cell >= width:
            above = cell - width
            ring = walkable[cells[above]] << 1
            if left:
                ring |= walkable[cells[above - 1]]
            if right:
                ring |= walkable[cells[above + 1]] << 2
        if right:
            ring |= walkable[cells[cell + 1]] << 3
        if cell + width < len(cells):
            below = cell + width
            ring |= walkable[cells[below]] << 5
            if right:
                ring |= walkable[cells[below + 1]] << 4
            if left:
                ring |= walkable[cells[below - 1]] << 6
        if left:
            ring |= walkable[cells[cell - 1]] << 7
        return bool(_SIMPLE[ring])

    def random_cells(self) -> Iterator[int]:
        """Yield some random cells, then all from a random one on."""
        size = len(self.cells)
        for _ in range(_PROBES):
            yield self.rng.below(size)
        first = self.rng.below(size)
        yield from range(first, size)
        yield from range(first)

    # ---- many cells at once, as the bits of one number

    def cells_of_kinds(self, kinds: Iterable[int]) -> int:
        """Return the cells with a tile of one of these kinds, as bits."""
        return _cells_with_values(self.cells, kinds)

    def walkable_cells(self) -> int:
        """Return the walkable cells as bits."""
        return int(self.cells.translate(self.palette.walkable).translate(_DIGITS)[::-1], 2)

    def building_cells(self) -> int:
        """Return the cells that are built upon, as bits."""
        return _cells_with_values(self.claimed, (_BUILDING,))

    def neighbours_of_cells(self, cells: int) -> int:
        """Return the neighbours of cells to the four sides, as bits; some can be among the cells themselves."""
        across = (cells & self._not_last) << 1 | (cells & self._not_first) >> 1
        return (across | cells << self.width | cells >> self.width) & self.all

    def cell_numbers(self, cells: int) -> list[int]:
        """Return the numbers of the cells whose bits are set, in increasing order."""
        return np.flatnonzero(mask_of_cells(cells, len(self.cells))).tolist()

    def paint(self, cells: int, kind: int) -> None:
        """Put a kind of tile on cells, given as bits."""
        np.frombuffer(self.cells, np.uint8)[mask_of_cells(cells, len(self.cells))] = kind

    def contour_cells(self, values: Values, level: int) -> int:
        """Return the cells after which, to the right or below, the values pass a level: a line."""
        above = cells_of_mask(values >= level)
        right = (above ^ above >> 1) & self._not_last
        return right | (above ^ above >> self.width) & (self.all >> self.width)

    # ---- areas

    def claim(self, top: int, left: int, height: int, width: int, is_building: bool = True) -> None:
        """Keep buildings off a rectangle and the cells around it, and roads too if it is a building."""
        for row in range(max(0, top - 1), min(self.height, top + height + 1)):
            start = row * self.width
            around = slice(start + max(0, left - 1), start + min(self.width, left + width + 1))
            self.claimed[around] = self.claimed[around].translate(_AS_MARGIN)
            if top <= row < top + height and is_building:
                self.claimed[start + left : start + left + width] = bytes([_BUILDING]) * width

    def claimed_cells(self) -> int:
        """Return the cells that are built upon or beside such cells, as bits."""
        return _cells_with_values(self.claimed, (_MARGIN, _BUILDING))

    def rectangle_cells(self, height: int, width: int) -> int:
        """Return the bits of a rectangle at cell 0; shifted by a cell's number, it begins there."""
        return ((1 << width) - 1) * (((1 << self.width * height) - 1) // ((1 << self.width) - 1))

    def walkable_percent(self) -> int:
        """Return the share of walkable cells, per cent, rounded down."""
        return 100 * self.walkable_cells().bit_count() // (self.width * self.height)

    # ---- ways

    def route(self, start: int, goals: int, speeds: Sequence[tuple[int, int]]) -> list[int]:
        """Return the cells of a cheapest path from the start to the first goal it reaches, both included.

        `speeds` has pairs of cells as bits and the cost of stepping on one of them, a small whole number; cells that
        are in none cannot be entered. The way is empty if no goal can be reached.
        """
        slowest, empty, layer = max(cost for _, cost in speeds), 0, 1 << start
        layers, spreads = [layer], [0] * (slowest - 1)  # spreads begin with those of turns before the first
        free, width, not_first, not_last = self.all & ~layer, self.width, self._not_first, self._not_last
        while not layer & goals:
            spreads.append((layer & not_last) << 1 | (layer & not_first) >> 1 | layer << width | layer >> width)
            layer = 0
            for cells, cost in speeds:
                layer |= spreads[-cost] & cells
            layer &= free
            free ^= layer
            layers.append(layer)
            empty = 0 if layer else empty + 1
            if empty > slowest:
                return []
        end = layer & goals
        return self._path_back((end & -end).bit_length() - 1, layers, speeds)

    def _path_back(self, cell: int, layers: list[int], speeds: Sequence[tuple[int, int]]) -> list[int]:
        """Return the path to a cell through the layers of a search: cells first reached at each cost."""
        turn, path, heading = len(layers) - 1, [cell], 0
        while turn:
            for cells, cost in speeds:
                if cells >> cell & 1:
                    turn -= cost
                    break
            layer, beside, straight = layers[turn], self.neighbours(cell), cell + heading
            # Ways keep straight on more often than not: a way that turns at every step looks like noise.
            if heading and straight in beside and layer >> straight & 1 and self.rng.below(5):
                previous = straight
            else:
                before = [neighbour for neighbour in beside if layer >> neighbour & 1]
                previous = before[0] if len(before) == 1 else self.rng.choice(before)
            heading, cell = previous - cell, previous
            path.append(cell)
        path.reverse()
        return path

    def connected_components(self) -> list[int]:
        """Return the connected components of the walkable cells as bits, the largest first."""
        floor = Floor(self.width, self.height, self.walkable_cells())
        remaining, components = floor.open, list[int]()
        while remaining:
            part = floor.reachable_from((remaining & -remaining).bit_length() - 1)
            components.append(part)
            remaining &= ~part
        components.sort(key=lambda part: (-part.bit_count(), part))
        return components


def _cells_with_values(values: bytearray, indexes: Iterable[int]) -> int:
    """Return the cells whose value is one of these, as bits."""
    table = bytearray(b"0" * 256)
    for value in indexes:
        table[value] = ord("1")
    return int(values.translate(table)[::-1], 2)


@dataclass(slots=True)
class NamedLocation:
    """Somewhere that has a name, or can have one, by the kind of place.

    `cells` can be stood on, and something may be found there. `door` is the cell before the place, to which a road
    leads. Indoor places are furnished.
    """

    kind: str
    cells: list[int]
    door: int
    indoor: bool = False


class BoardArea:
    """A rectangle of the board that can be drawn in without regard to the side that its front is on.

    In its own coordinates the front is the last row. Rows and columns just outside it are those of the board. `turn`
    says how it lies, from 0 to 7: 1 turns it upside down, 2 left to right, 4 swaps rows and columns.
    """

    __slots__ = ("_across", "_down", "_first", "_high", "_left", "_top", "_wide", "board", "height", "turn", "width")

    def __init__(self, board: WorldBoard, top: int, left: int, size: tuple[int, int], turn: int) -> None:
        self.board, self.turn = board, turn
        self._top, self._left, (self._high, self._wide) = top, left, size
        self.height, self.width = size[::-1] if turn & 4 else size
        at = [row * board.width + column for row, column in map(self._board_position, (0, 1, 0), (0, 0, 1))]
        self._first, self._down, self._across = at[0], at[1] - at[0], at[2] - at[0]

    def cell(self, row: int, column: int) -> int:
        """Return the board's cell number of a position in the area."""
        return self._first + row * self._down + column * self._across

    def _board_position(self, row: int, column: int) -> tuple[int, int]:
        if self.turn & 4:
            row, column = column, row
        if self.turn & 1:
            row = self._high - 1 - row
        if self.turn & 2:
            column = self._wide - 1 - column
        return self._top + row, self._left + column

    def put_tile(self, row: int, column: int, kind: int) -> None:
        self.board.cells[self._first + row * self._down + column * self._across] = kind

    def is_solid(self, row: int, column: int) -> bool:
        """Return whether a position cannot be walked on, or is outside the map."""
        board, (row, column) = self.board, self._board_position(row, column)
        if not (0 <= row < board.height and 0 <= column < board.width):
            return True
        return not board.palette.walkable[board.cells[row * board.width + column]]

    def sub_area(self, row: int, column: int, height: int, width: int, back: bool = False) -> "BoardArea":
        """Return a rectangle within this one, with its front on the same side, or with `back` on the opposite one."""
        first_corner, second_corner = self.cell(row, column), self.cell(row + height - 1, column + width - 1)
        rows, columns = zip(
            divmod(first_corner, self.board.width), divmod(second_corner, self.board.width), strict=True
        )
        size = (abs(rows[0] - rows[1]) + 1, abs(columns[0] - columns[1]) + 1)
        flip = (2 if self.turn & 4 else 1) if back else 0
        return BoardArea(self.board, min(rows), min(columns), size, self.turn ^ flip)

    def fill(self, kind: int) -> None:
        """Put a kind of tile everywhere."""
        for row in range(self._top, self._top + self._high):
            start = row * self.board.width + self._left
            self.board.cells[start : start + self._wide] = bytes([kind]) * self._wide

    def fill_edge(self, kind: int) -> None:
        """Put a kind of tile along all four sides."""
        for row in range(self.height):
            for column in (0, self.width - 1) if 0 < row < self.height - 1 else range(self.width):
                self.put_tile(row, column, kind)

    def roundness(self, row: int, column: int, front: bool = True) -> int:
        """Return how far out a position is, 100 on the largest ellipse; without `front`, its front half is straight."""
        across, down = (2 * column + 1 - self.width) * self.height, (2 * row + 1 - self.height) * self.width
        if down > 0 and not front:
            down = 0
        return 100 * (across * across + down * down) // (self.height * self.width) ** 2

    def claim(self, is_building: bool = True) -> None:
        """Keep other buildings away from the area, and roads too if it is a building."""
        self.board.claim(self._top, self._left, self._high, self._wide, is_building)


def divide_into_rooms(frame: BoardArea, area: Area, most: int, wall: int, door: int) -> list[list[int]]:
    """Divide a walled area into rooms of at most `most` cells, unless narrow, with doors; return their cells."""
    rng, rooms, areas = frame.board.rng, list[list[int]](), [area]
    while areas:
        area = top, left, bottom, right = areas.pop()
        high, wide = bottom - top, right - left
        lines = _possible_wall_lines(frame, area) if high * wide > most else []
        if not lines:
            rooms.append([frame.cell(row, column) for row in range(top, bottom) for column in range(left, right)])
            continue
        upright = wide > high
        middle = (left + right) // 2 if upright else (top + bottom) // 2
        # The more even one of two lines, so that there are few slivers.
        line = min((rng.choice(lines) for _ in range(2)), key=lambda line: abs(line - middle))
        gap = top + rng.below(high) if upright else left + rng.below(wide)
        for at in range(top, bottom) if upright else range(left, right):
            row, column = (at, line) if upright else (line, at)
            frame.put_tile(row, column, door if at == gap else wall)
        areas += areas_beside_strip(area, upright, line, line + 1)
    return rooms


def areas_beside_strip(area: Area, upright: bool, first: int, last: int) -> list[Area]:
    """Return the parts of an area on both sides of a strip of columns (if upright) or of rows."""
    top, left, bottom, right = area
    if upright:
        return [(top, left, bottom, first), (top, last, bottom, right)]
    return [(top, left, first, right), (last, left, bottom, right)]


def _possible_wall_lines(frame: BoardArea, area: Area) -> list[int]:
    """Return the lines for a wall across the longer side that meet neither another wall nor a door."""
    top, left, bottom, right = area
    if right - left > bottom - top:
        return [x for x in range(left + 2, right - 2) if frame.is_solid(top - 1, x) and frame.is_solid(bottom, x)]
    return [y for y in range(top + 2, bottom - 2) if frame.is_solid(y, left - 1) and frame.is_solid(y, right)]

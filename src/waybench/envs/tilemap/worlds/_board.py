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
_WEIGHT_SUM = 16  # of the weights of the two points on a line that a cell lies between
NOISE_VALUES = 255 * _WEIGHT_SUM**2 + 1  # number of values that `smooth_noise` can return, from 0 on
_MARGIN, _BUILDING = 1, 2  # values of `WorldBoard.claimed`, beside 0 for free cells
_DIGITS = bytes.maketrans(b"\0\1", b"01")
_FREE_AS_MARGIN = bytes.maketrans(b"\0", bytes([_MARGIN]))
_PROBES = 40  # random cells that are tried before all cells in order


def cells_of_mask(mask: Mask) -> int:
    """Return the cells whose value is true, as bits."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def mask_of_cells(cells: int, cell_count: int) -> Mask:
    """Return for each of the cells of a board whether its bit is set."""
    octets = np.frombuffer(cells.to_bytes(-(-cell_count // 8), "little"), np.uint8)
    return np.unpackbits(octets, count=cell_count, bitorder="little").view(np.bool_)


Values = NDArray[np.int64]
"""A whole number for each cell, shape (cells,)."""


def smooth_noise(rng: Stream, width: int, height: int, pitch: int) -> Values:
    """Return smooth random values, one for each cell, from 0 to `NOISE_VALUES` - 1.

    The values of points `pitch` cells apart (at least 1) are drawn; all others are interpolated.
    """
    point_rows, point_columns = height // pitch + 2, width // pitch + 2
    n_points = point_rows * point_columns
    random_bytes = b"".join([rng.word().to_bytes(8, "big") for _ in range(n_points // 8 + 1)])
    points = np.frombuffer(random_bytes, np.uint8, n_points).reshape(point_rows, point_columns)
    return (_noise_weights(height, pitch) @ points @ _noise_weights(width, pitch).T).astype(np.int64).reshape(-1)


@lru_cache(maxsize=256)
def _noise_weights(length: int, pitch: int) -> NDArray[np.float64]:
    """Return the weight of each point in each cell of a line, shape (length, points).

    Weights and values are whole numbers far below 2**53: their products as floats, which are much faster, are exact.
    """
    cells = np.arange(length)
    points, offsets = cells // pitch, cells % pitch
    # With t = offset / pitch, the weight of the next point is 3 t^2 - 2 t^3, so that the noise has no edges at points.
    next_weights = _WEIGHT_SUM * (3 * offsets * offsets * pitch - 2 * offsets**3) // pitch**3
    weights = np.zeros((length, length // pitch + 2))
    weights[cells, points], weights[cells, points + 1] = _WEIGHT_SUM - next_weights, next_weights
    return weights


def top_share_threshold(values: Values, percent: int) -> int:
    """Return the value that about `percent` of the cells reach or exceed."""
    index = max(0, min(values.size - 1, values.size * (100 - percent) // 100))
    return int(np.partition(values, index)[index])


Area = tuple[int, int, int, int]  # first row and column, and those after its last ones


def _is_simple_ring(ring: int) -> bool:
    """Return whether a cell can be filled without parting its walkable neighbours.

    `ring` has a bit for each of the eight cells around the cell, clockwise from the upper left: 1 if it is walkable.
    """
    walkable = [bool(ring >> index & 1) for index in range(8)]
    if all(walkable):
        return True
    sides = range(1, 8, 2)  # corners are between them
    n_walkable_sides = sum(walkable[side] for side in sides)
    # Two neighbours stay connected by the corner between them, if it can be walked on.
    links = sum(walkable[side] and walkable[(side + 1) % 8] and walkable[(side + 2) % 8] for side in sides)
    return n_walkable_sides >= 1 and links >= n_walkable_sides - 1


_SIMPLE_RINGS = bytes(_is_simple_ring(ring) for ring in range(256))


class WorldBoard:
    """Tiles by cell; a cell's number is row * width + column, as in `Floor`.

    Attributes:
        cells: The number of the kind of each cell's tile.
        claimed: For each cell 0 if it is free, 1 beside something built, 2 if it is built upon.
        all: All cells, as bits.
    """

    def __init__(self, width: int, height: int, palette: Palette, rng: Stream) -> None:
        self.width, self.height, self.palette, self.rng = width, height, palette, rng
        self.cells = bytearray([palette.first_kind("ground")]) * (width * height)
        self.claimed = bytearray(width * height)
        first_column = _every_nth_bit(width, height)
        self.all = ((1 << width) - 1) * first_column
        self._not_first, self._not_last = self.all & ~first_column, self.all & ~(first_column << width - 1)

    # ---- single cells

    def neighbours(self, cell: int) -> list[int]:
        """Return the cells above, right, below and left that are on the board."""
        width, neighbours = self.width, list[int]()
        column = cell % width
        if cell >= width:
            neighbours.append(cell - width)
        if column < width - 1:
            neighbours.append(cell + 1)
        if cell + width < len(self.cells):
            neighbours.append(cell + width)
        if column:
            neighbours.append(cell - 1)
        return neighbours

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
        return bool(_SIMPLE_RINGS[ring])

    def random_cells(self) -> Iterator[int]:
        """Yield 40 random cells, then all cells in order, beginning at a random cell."""
        cell_count = len(self.cells)
        for _ in range(_PROBES):
            yield self.rng.below(cell_count)
        first = self.rng.below(cell_count)
        yield from range(first, cell_count)
        yield from range(first)

    # ---- many cells at once, as the bits of one number

    def cells_of_kinds(self, kinds: Iterable[int]) -> int:
        """Return the cells with a tile of one of these kinds, as bits."""
        return _cells_with_values(self.cells, kinds)

    def walkable_cells(self) -> int:
        """Return the walkable cells as bits."""
        return int(self.cells.translate(self.palette.walkable).translate(_DIGITS)[::-1], 2)

    def neighbours_of_cells(self, cells: int) -> int:
        """Return the neighbours of cells to the four sides, as bits; some can be among the cells themselves."""
        beside = (cells & self._not_last) << 1 | (cells & self._not_first) >> 1
        return (beside | cells << self.width | cells >> self.width) & self.all

    def cell_numbers(self, cells: int) -> list[int]:
        """Return the numbers of the cells whose bits are set, in increasing order."""
        return np.flatnonzero(mask_of_cells(cells, len(self.cells))).tolist()

    def paint(self, cells: int, kind: int) -> None:
        """Put a kind of tile on cells, given as bits."""
        np.frombuffer(self.cells, np.uint8)[mask_of_cells(cells, len(self.cells))] = kind

    def contour_cells(self, values: Values, level: int) -> int:
        """Return the cells, as bits, whose right or lower neighbour is on the other side of a level: a line."""
        high = cells_of_mask(values >= level)
        differ_from_right = (high ^ high >> 1) & self._not_last
        return differ_from_right | (high ^ high >> self.width) & (self.all >> self.width)

    # ---- areas

    def claim(self, top: int, left: int, height: int, width: int, is_building: bool = True) -> None:
        """Keep buildings off a rectangle and the cells around it, and roads off a building."""
        for row in range(max(0, top - 1), min(self.height, top + height + 1)):
            start = row * self.width
            with_margin = slice(start + max(0, left - 1), start + min(self.width, left + width + 1))
            self.claimed[with_margin] = self.claimed[with_margin].translate(_FREE_AS_MARGIN)
            if top <= row < top + height and is_building:
                self.claimed[start + left : start + left + width] = bytes([_BUILDING]) * width

    def claimed_cells(self, *, with_margins: bool) -> int:
        """Return the cells that are built upon, with or without the cells beside them, as bits."""
        return _cells_with_values(self.claimed, (_MARGIN, _BUILDING) if with_margins else (_BUILDING,))

    def rectangle_cells(self, height: int, width: int) -> int:
        """Return the bits of a rectangle at cell 0; shifted by a cell's number, it begins there."""
        return ((1 << width) - 1) * _every_nth_bit(self.width, height)  # the bits of a row, in each of its rows

    def walkable_percent(self) -> int:
        """Return the share of walkable cells, per cent, rounded down."""
        return 100 * self.walkable_cells().bit_count() // (self.width * self.height)

    # ---- ways

    def route(self, start: int, goals: int, speeds: Sequence[tuple[int, int]]) -> list[int]:
        """Return the cells of a cheapest path from the start to the first goal it reaches, both included.

        `speeds` has pairs of cells as bits and the cost of stepping on one of them, a small whole number; all other
        cells cannot be entered. The path is empty if no goal can be reached.
        """
        highest_cost, n_empty_layers, layer = max(cost for _, cost in speeds), 0, 1 << start
        # Layers are the cells first reached at each cost, from 0 on; spreads are their neighbours.
        layers, spreads = [layer], [0] * (highest_cost - 1)  # none before the first layer
        unreached, width, not_first, not_last = self.all & ~layer, self.width, self._not_first, self._not_last
        while not layer & goals:
            spreads.append((layer & not_last) << 1 | (layer & not_first) >> 1 | layer << width | layer >> width)
            layer = 0
            for cells, cost in speeds:
                layer |= spreads[-cost] & cells
            layer &= unreached
            unreached ^= layer
            layers.append(layer)
            n_empty_layers = 0 if layer else n_empty_layers + 1
            if n_empty_layers > highest_cost:
                return []
        return self._path_back(_lowest_cell(layer & goals), layers, speeds)

    def _path_back(self, cell: int, layers: list[int], speeds: Sequence[tuple[int, int]]) -> list[int]:
        """Return the path to a cell through the layers of a search: cells first reached at each cost."""
        cost, path = len(layers) - 1, [cell]
        heading: int = 0  # what the last step has added to the cell
        while cost:
            cost -= next(step_cost for cells, step_cost in speeds if cells >> cell & 1)
            layer, neighbours, straight_on = layers[cost], self.neighbours(cell), cell + heading
            # In four of five steps a path keeps straight on if it can: one that always turns looks like noise.
            if heading and straight_on in neighbours and layer >> straight_on & 1 and self.rng.below(5):
                previous = straight_on
            else:
                candidates = [neighbour for neighbour in neighbours if layer >> neighbour & 1]
                previous = candidates[0] if len(candidates) == 1 else self.rng.choice(candidates)
            heading, cell = previous - cell, previous
            path.append(cell)
        path.reverse()
        return path

    def connected_components(self) -> list[int]:
        """Return the connected components of the walkable cells as bits, the largest first."""
        floor = Floor(self.width, self.height, self.walkable_cells())
        remaining, components = floor.open, list[int]()
        while remaining:
            component = floor.reachable_from(_lowest_cell(remaining))
            components.append(component)
            remaining &= ~component
        components.sort(key=lambda component: (-component.bit_count(), component))
        return components


def _every_nth_bit(n: int, count: int) -> int:
    """Return a number with `count` bits set, the first at 0, each n above the one before."""
    return ((1 << n * count) - 1) // ((1 << n) - 1)  # as 111111 // 11 == 10101


def _lowest_cell(cells: int) -> int:
    """Return the lowest number of the cells whose bits are set."""
    return (cells & -cells).bit_length() - 1


def _cells_with_values(values: bytearray, wanted: Iterable[int]) -> int:
    """Return the cells that have one of the wanted values, as bits."""
    table = bytearray(b"0" * 256)
    for value in wanted:
        table[value] = ord("1")
    return int(values.translate(table)[::-1], 2)  # the last cell has the highest bit


@dataclass(slots=True)
class NamedLocation:
    """A place that has, or can get, a name by its kind.

    `cells` can be stood on, and objectives can be there. `door` is the cell before the place, to which a road leads.
    Indoor places are furnished.
    """

    kind: str
    cells: list[int]
    door: int
    indoor: bool = False


class BoardArea:
    """A rectangle of the board in coordinates in which its front is the last row, whichever side that is on the board.

    A row or column -1 is a row or column of the board just outside the area. `turn` has bits: 1 turns the area upside
    down, 2 left to right, 4 swaps rows and columns.
    """

    __slots__ = ("_across", "_down", "_first", "_high", "_left", "_top", "_wide", "board", "height", "turn", "width")

    def __init__(self, board: WorldBoard, top: int, left: int, size: tuple[int, int], turn: int) -> None:
        self.board, self.turn = board, turn
        self._top, self._left, (self._high, self._wide) = top, left, size  # on the board
        self.height, self.width = size[::-1] if turn & 4 else size
        positions = map(self._board_position, (0, 1, 0), (0, 0, 1))
        self._first, below, beside = (row * board.width + column for row, column in positions)
        self._down, self._across = below - self._first, beside - self._first  # what a row and a column further on add

    def cell(self, row: int, column: int) -> int:
        """Return the board's cell number of a position in the area."""
        return self._first + row * self._down + column * self._across

    def _board_position(self, row: int, column: int) -> tuple[int, int]:
        """Return the board's (row, column) of a position in the area."""
        if self.turn & 4:
            row, column = column, row
        if self.turn & 1:
            row = self._high - 1 - row
        if self.turn & 2:
            column = self._wide - 1 - column
        return self._top + row, self._left + column

    def put_tile(self, row: int, column: int, kind: int) -> None:
        self.board.cells[self.cell(row, column)] = kind

    def is_solid(self, row: int, column: int) -> bool:
        """Return whether a position cannot be walked on, or is outside the map."""
        board, (row, column) = self.board, self._board_position(row, column)
        if not (0 <= row < board.height and 0 <= column < board.width):
            return True
        return not board.palette.walkable[board.cells[row * board.width + column]]

    def sub_area(self, row: int, column: int, height: int, width: int, back: bool = False) -> "BoardArea":
        """Return a rectangle within this area, with its front on the same side, or with `back` on the opposite side."""
        first_corner, second_corner = self.cell(row, column), self.cell(row + height - 1, column + width - 1)
        corners = (divmod(corner, self.board.width) for corner in (first_corner, second_corner))
        rows, columns = zip(*corners, strict=True)
        size = (max(rows) - min(rows) + 1, max(columns) - min(columns) + 1)
        flip = (2 if self.turn & 4 else 1) if back else 0  # the bit of `turn` that exchanges front and back
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
        """Return the square of how far out a position is: 0 in the middle, 100 on the largest ellipse in the area.

        Without `front`, the sides of the front half are straight.
        """
        # Distances from the middle, on a scale on which both half axes are height * width.
        across, down = (2 * column + 1 - self.width) * self.height, (2 * row + 1 - self.height) * self.width
        if down > 0 and not front:
            down = 0
        return 100 * (across * across + down * down) // (self.height * self.width) ** 2

    def claim(self, is_building: bool = True) -> None:
        """Keep other buildings away from the area, and roads off a building."""
        self.board.claim(self._top, self._left, self._high, self._wide, is_building)


def divide_into_rooms(frame: BoardArea, area: Area, most: int, wall: int, door: int) -> list[list[int]]:
    """Divide a walled area into rooms with doors; return the cells of each room.

    A room has at most `most` cells, unless there is no line for a wall, as in a narrow one.
    """
    rng, rooms, areas = frame.board.rng, list[list[int]](), [area]
    while areas:
        area = top, left, bottom, right = areas.pop()
        height, width = bottom - top, right - left
        lines = _possible_wall_lines(frame, area) if height * width > most else []
        if not lines:
            rooms.append([frame.cell(row, column) for row in range(top, bottom) for column in range(left, right)])
            continue
        is_upright = width > height
        middle = (left + right) // 2 if is_upright else (top + bottom) // 2
        # Of two random lines the one nearer to the middle, so that there are few slivers.
        line = min((rng.choice(lines) for _ in range(2)), key=lambda line: abs(line - middle))
        wall_positions = range(top, bottom) if is_upright else range(left, right)
        door_position = wall_positions[rng.below(len(wall_positions))]
        for position in wall_positions:
            row, column = (position, line) if is_upright else (line, position)
            frame.put_tile(row, column, door if position == door_position else wall)
        areas += areas_beside_strip(area, is_upright, line, line + 1)
    return rooms


def areas_beside_strip(area: Area, is_upright: bool, first: int, end: int) -> list[Area]:
    """Return the parts of an area beside a strip of columns (if upright) or rows, from `first` to before `end`."""
    top, left, bottom, right = area
    if is_upright:
        return [(top, left, bottom, first), (top, end, bottom, right)]
    return [(top, left, first, right), (end, left, bottom, right)]


def _possible_wall_lines(frame: BoardArea, area: Area) -> list[int]:
    """Return the lines for a wall across the longer side: its ends are at walls, not doors, and no room is a sliver."""
    top, left, bottom, right = area
    if right - left > bottom - top:
        return [x for x in range(left + 2, right - 2) if frame.is_solid(top - 1, x) and frame.is_solid(bottom, x)]
    return [y for y in range(top + 2, bottom - 2) if frame.is_solid(y, left - 1) and frame.is_solid(y, right)]

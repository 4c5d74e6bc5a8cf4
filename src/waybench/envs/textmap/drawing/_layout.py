"""Grid layout of a map's places, and the placement of their names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from math import atan2, hypot, inf, pi
from typing import NamedTuple

from waybench.envs.textmap._place_map import Edge
from waybench.envs.textmap.worlds._data import DIRECTIONS

Cell = tuple[int, int]  # column and row; rows count downwards

_COMPASS: dict[str, Cell] = dict(
    zip(DIRECTIONS[:8], ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)), strict=True)
)
_LOOSE: dict[str, Cell] = {"up": (1, -1), "down": (-1, 1), "in": (1, 1), "out": (-1, -1)}
_COMPASS_WEIGHT, _LOOSE_WEIGHT, _OTHER_WEIGHT = 1.0, 0.3, 0.1  # of keeping the direction of an action
_TURNED, _BACKWARDS = 2.0, 4.0  # cost of each eighth of a turn; extra cost beyond a right angle
_LONG, _LONGER = 1.0, 1.0  # cost of a link of two cells; cost of each further cell
_THROUGH, _CROSSED = 4.0, 1.5  # cost of a place on another link; cost of two crossing links
_PASSES = 6
_BUDGET = 1_000_000  # most pairs of links to compare; bounds the time for large maps

Pair = tuple[int, int]  # two places by their numbers, the smaller one first
Directions = Mapping[Cell, float]  # the directions from the first to the second of a pair, with their weights


def direction_and_certainty(action: str) -> tuple[Cell, float]:
    """Return the direction of an action on the map and its certainty from 0 to 1, judged by its words alone."""
    words = action.lower().split()
    for cells, weight in ((_COMPASS, _COMPASS_WEIGHT), (_LOOSE, _LOOSE_WEIGHT)):
        for word in words:
            if word in cells:
                return cells[word], weight
    return (1, 1), _OTHER_WEIGHT


@lru_cache(maxsize=64)
def lay_out_places(places: tuple[str, ...], edges: tuple[Edge, ...]) -> tuple[Cell, ...]:
    """Return a distinct cell for each place; the smallest column and row are 0.

    Places are first put next to each other, starting where the walkthrough begins, in the directions that the moves
    name. Then each place is moved, alone or with the places that were put down from it, to reduce the number of links
    that are turned, long, crossing or covered by other places.
    """
    numbers = {name: number for number, name in enumerate(places)}
    directions: dict[Pair, dict[Cell, float]] = {}
    for edge in edges:
        source, target = numbers[edge.source], numbers[edge.target]
        if source != target:
            (x, y), weight = direction_and_certainty(edge.action)
            pair, cell = ((source, target), (x, y)) if source < target else ((target, source), (-x, -y))
            weights = directions.setdefault(pair, {})
            weights[cell] = weights.get(cell, 0.0) + weight
    start = numbers[min(edges, key=lambda edge: edge.forward).source] if edges else 0
    cells, groups = _initial_cells(len(places), directions, start)
    return _Arrangement(cells, directions).optimize(groups)


def _initial_cells(size: int, directions: Mapping[Pair, Directions], start: int) -> tuple[list[Cell], list[list[int]]]:
    """Put places next to each other; return their cells and, for each place, itself and the places put down from it."""
    neighbours: list[list[tuple[int, Cell, float]]] = [[] for _ in range(size)]
    for (first, second), weights in directions.items():
        (x, y), weight = max(weights.items(), key=lambda item: (item[1], item[0]))
        neighbours[first].append((second, (x, y), weight))
        neighbours[second].append((first, (-x, -y), weight))
    cells: dict[int, Cell] = {}
    occupied: set[Cell] = set()
    groups: list[list[int]] = [[node] for node in range(size)]
    parents: dict[int, int] = {}
    order = count()
    for root in (start, *range(size)):
        # A place to which no move leads is put to the right of all others.
        right_cell = (max((x for x, _ in occupied), default=-2) + 2, 0)
        queue: list[tuple[float, int, int, int | None, Cell]] = [(0.0, next(order), root, None, right_cell)]
        while queue:  # places with certain directions come first
            _, _, node, parent, target = heappop(queue)
            if node in cells:
                continue
            cells[node] = next(cell for cell in _cells_around(target) if cell not in occupied)
            occupied.add(cells[node])
            if parent is not None:
                parents[node] = parent
            while parent is not None:
                groups[parent].append(node)
                parent = parents.get(parent)
            x, y = cells[node]
            for neighbour, (east, south), weight in neighbours[node]:
                if neighbour not in cells:
                    heappush(queue, (-weight, next(order), neighbour, node, (x + east, y + south)))
    return [cells[node] for node in range(size)], groups


def _cells_around(cell: Cell, most_rings: int | None = None) -> Iterator[Cell]:
    """Yield a cell and those in square rings around it, the nearest ring first; without end if `most_rings` is None."""
    x, y = cell
    yield cell
    for radius in count(1) if most_rings is None else range(1, most_rings + 1):
        yield from ((x + east, y + south) for east, south in _ring_cells(radius))


@lru_cache(maxsize=256)
def _ring_cells(radius: int) -> tuple[Cell, ...]:
    """Return the cells of the square ring around (0, 0), nearest first."""
    side = range(-radius, radius + 1)
    cells = {(x, y) for x in side for y in (-radius, radius)} | {(x, y) for x in (-radius, radius) for y in side}
    return tuple(sorted(cells, key=lambda cell: (hypot(*cell), cell)))


@lru_cache(maxsize=4096)
def cells_between(east: int, south: int) -> tuple[Cell, ...]:
    """Return the cells that a link covers, relative to one end; the other end is at (east, south).

    They lie between the ends and nearer than sqrt(0.2), about 0.45 cells, to the line.
    """
    squared_length = east * east + south * south
    columns, rows = (range(min(0, end), max(0, end) + 1) for end in (east, south))
    return tuple(
        (x, y)
        for x in columns
        for y in rows
        if (x * south - y * east) ** 2 < 0.2 * squared_length and 0 < x * east + y * south < squared_length
    )


class _Arrangement:
    """An assignment of places to cells and the cost of the links between them.

    Nodes are numbers of places. A link joins a pair of places with moves between them; links are numbered, too.

    Args:
        cells: A cell for each place.
        directions: For each pair of places with moves between them, the weighted directions of these moves.
    """

    def __init__(self, cells: list[Cell], directions: Mapping[Pair, Directions]) -> None:
        self._cells, self._pairs, self._directions = cells, list(directions), list(directions.values())
        self._occupied = {cell: node for node, cell in enumerate(cells)}
        self._node_links: list[list[int]] = [[] for _ in cells]
        for link, pair in enumerate(self._pairs):
            for node in pair:
                self._node_links[node].append(link)
        self._budget = _BUDGET
        self._offset_costs: dict[tuple[int, Cell], float] = {}  # a cache

    def optimize(self, groups: Sequence[Sequence[int]]) -> tuple[Cell, ...]:
        """Move places, alone or with their groups, while the cost falls; return the cells."""
        for _ in range(_PASSES):
            if not any([self._improve_place(node, group) for node, group in enumerate(groups)]):
                break
        columns, rows = (  # numbered from 0, without empty ones
            {old: new for new, old in enumerate(sorted(set(axis)))} for axis in zip(*self._cells, strict=True)
        )
        return tuple((columns[x], rows[y]) for x, y in self._cells)

    def _improve_place(self, node: int, group: Sequence[int]) -> bool:
        """Move a place, its group or the places in its way if that lowers the cost; return whether it did."""
        if self._budget < 0 or not any(map(self._link_cost, self._node_links[node])):
            return False
        return self._move_near_neighbour(node, group) or self._make_room(node)

    def _move_near_neighbour(self, node: int, group: Sequence[int]) -> bool:
        """Move a place, then its group, to better cells near its linked places; return whether anything was moved."""
        neighbours = [end for link in self._node_links[node] for end in self._pairs[link] if end != node]
        targets = sorted({cell for end in neighbours for cell in _cells_around(self._cells[end], 2)})
        moved = False
        for group_to_move in ([node], group) if len(group) > 1 else ([node],):
            for x, y in targets:
                column, row = self._cells[node]
                moved |= (x, y) != (column, row) and self._apply_if_better((group_to_move, x - column, y - row))
        return moved

    def _make_room(self, node: int) -> bool:
        """Free the cell where a move would put a place, and put the place there, if that lowers the cost.

        All places at that cell and beyond, in one of four directions, shift by one cell. Returns whether this was done.
        """
        for link in self._node_links[node]:
            first, second = self._pairs[link]
            neighbour, sign = (second, -1) if node == first else (first, 1)
            for east, south in self._directions[link]:
                x, y = self._cells[neighbour][0] + sign * east, self._cells[neighbour][1] + sign * south
                if self._occupied.get((x, y), node) == node:  # it is free already
                    continue
                move = [node], x - self._cells[node][0], y - self._cells[node][1]
                for step_x, step_y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                    places_beyond = [
                        number
                        for number, (column, row) in enumerate(self._cells)
                        if number != node and step_x * (column - x) + step_y * (row - y) >= 0
                    ]
                    if neighbour not in places_beyond and self._apply_if_better((places_beyond, step_x, step_y), move):
                        return True
        return False

    def _apply_if_better(self, *moves: tuple[Sequence[int], int, int]) -> bool:
        """Apply moves (places, columns, rows) in order if together they lower the cost; return whether they did."""
        if self._budget < 0:
            return False
        nodes = [node for group, _, _ in moves for node in group]
        links = sorted({link for node in nodes for link in self._node_links[node]})
        applied: list[tuple[Sequence[int], int, int]] = []
        before = self._cost(nodes, links)
        for move in moves:
            if not self._shift(*move):
                break
            applied.append(move)
        else:
            if self._cost(nodes, links, before) < before - 1e-9:  # rounding errors are no gain
                return True
        for group, east, south in reversed(applied):
            self._shift(group, -east, -south)
        return False

    def _shift(self, nodes: Sequence[int], east: int, south: int) -> bool:
        """Move places if there is room for them; return whether there was."""
        moving_nodes = set(nodes)
        new_cells = [(self._cells[node][0] + east, self._cells[node][1] + south) for node in nodes]
        if any(self._occupied.get(cell, nodes[0]) not in moving_nodes for cell in new_cells):
            return False
        for node in nodes:
            del self._occupied[self._cells[node]]
        for node, cell in zip(nodes, new_cells, strict=True):
            self._cells[node] = cell
            self._occupied[cell] = node
        return True

    def _cost(self, nodes: Sequence[int], links: Sequence[int], most: float = inf) -> float:
        """Return the cost of links, of their crossings with other links, and of places that lie on other links.

        Stops once the cost of the links alone reaches `most`, and counts the work against the budget.
        """
        cost = sum(map(self._link_cost, links))
        self._budget -= len(links)
        if cost >= most:
            return cost
        self._budget -= len(links) * len(self._pairs)
        place_cells, link_set = {self._cells[node] for node in nodes}, set(links)
        lines = [self._line_of_link(link) for link in links]
        for link in range(len(self._pairs)):
            if link not in link_set:
                other_line = self._line_of_link(link)
                cost += _CROSSED * sum(_do_lines_cross(other_line, line) for line in lines)
                (x, y), (column, row) = other_line
                covered = cells_between(column - x, row - y)
                if covered:
                    cost += _THROUGH * sum((x + east, y + south) in place_cells for east, south in covered)
        return cost

    def _line_of_link(self, link: int) -> tuple[Cell, Cell]:
        """Return the two ends of a link, the left one first."""
        first, second = self._pairs[link]
        a, b = self._cells[first], self._cells[second]
        return (a, b) if a < b else (b, a)

    def _link_cost(self, link: int) -> float:
        """Return the cost of a link: its direction, its length and the places on it."""
        first, second = self._pairs[link]
        (x, y), (column, row) = self._cells[first], self._cells[second]
        offset = (column - x, row - y)
        cost = self._offset_costs.get((link, offset))
        if cost is None:
            cost = self._offset_costs[link, offset] = _offset_cost(self._directions[link], offset)
        return cost + _THROUGH * sum((x + east, y + south) in self._occupied for east, south in cells_between(*offset))


def _do_lines_cross(first: tuple[Cell, Cell], second: tuple[Cell, Cell]) -> bool:
    """Return whether two lines cross other than at their ends; each has its left end first."""
    (a, b), (c, d) = first, second
    if a[0] >= d[0] or c[0] >= b[0]:  # one is left of the other, as most are
        return False
    return _turn_sign(a, b, c) * _turn_sign(a, b, d) < 0 and _turn_sign(c, d, a) * _turn_sign(c, d, b) < 0


def _turn_sign(a: Cell, b: Cell, c: Cell) -> int:
    """Return a number above 0, below 0 or 0, as the path from a over b to c turns clockwise, the other way or not."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _offset_cost(directions: Directions, offset: Cell) -> float:
    """Return the cost of an offset between two linked places, by its length and its turn from the moves' directions."""
    offset_x, offset_y = offset
    length, cost = max(abs(offset_x), abs(offset_y)), 0.0
    for (east, south), weight in directions.items():
        turn = abs(atan2(offset_y, offset_x) - atan2(south, east))
        eighths = min(turn, 2 * pi - turn) / (pi / 4)
        cost += weight * (_TURNED * eighths + (_BACKWARDS if eighths > 2 else 0.0))
    return cost + (_LONG + _LONGER * (length - 2) if length > 1 else 0.0)


Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom
Curve = tuple[Point, Point, Point]  # start, control point, end


def point_on_curve(curve: Curve, part: float) -> Point:
    """Return the point of a quadratic Bezier curve at a parameter from 0 (its start) to 1 (its end)."""
    start_weight, control_weight, end_weight = (1 - part) ** 2, 2 * part * (1 - part), part**2
    (x, y), (control_x, control_y), (end_x, end_y) = curve
    return (
        start_weight * x + control_weight * control_x + end_weight * end_x,
        start_weight * y + control_weight * control_y + end_weight * end_y,
    )


def arrow_head_corners(curve: Curve, part: float, size: float) -> tuple[Point, Point, Point]:
    """Return the corners of an arrow head in the direction of a curve at a parameter from 0 to 1."""
    (x, y), (next_x, next_y) = point_on_curve(curve, part), point_on_curve(curve, part + 0.02)  # a little further on
    length = hypot(next_x - x, next_y - y) or 1.0
    ahead_x, ahead_y = size * (next_x - x) / length, size * (next_y - y) / length
    return (
        (x + ahead_x, y + ahead_y),
        (x - ahead_x - ahead_y, y - ahead_y + ahead_x),
        (x - ahead_x + ahead_y, y - ahead_y - ahead_x),
    )


_GAP = 6  # between a name and its place
FONT, LINE = 12, 13  # heights of letters and of lines
_LETTER = 6.9  # width
_ONE_LINE, _TWO_LINES = 24, 15  # most letters of a name's line if it has one line, or two
_OCCUPIED = 100  # cost of a name on a place or on another name; on a line it costs 1
_SQUARE = 40  # side of the squares of an index of points
_MOST_NAMED = 60  # maps with more places show only the names that matter


class Name(NamedTuple):
    """A place's name in a drawing: one or two lines, position and SVG anchor of the first, and the bounding box."""

    lines: tuple[str, ...]
    at: Point
    anchor: str
    box: Box


def clip_name(name: str, most: int = 60) -> str:
    """Return a name as one printable line, truncated to `most` characters."""
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in " ".join(name.split()))
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


class PlaceLabels:
    """The names of a map's places, each at its cheapest position.

    Args:
        places: Position of each place.
        lines: Points along the lines between places.
        within: Area for names.
        radius: Radius of the dots of places.
    """

    def __init__(self, places: Mapping[str, Point], lines: Iterable[Point], within: Box, radius: float) -> None:
        self._places, self._within, self._radius = places, within, radius
        self._obstacles = _Field()
        for point in places.values():
            self._obstacles.add(point, _OCCUPIED)
        for point in lines:
            self._obstacles.add(point, 1)
        self.fitting: dict[str, Name] = {}  # names that cover no place and no other name
        if len(places) <= _MOST_NAMED:
            boxes = _Field()
            for location in places:
                name, cost = self._cheapest_name(location, boxes)
                if cost < _OCCUPIED:
                    self.fitting[location] = name
                    boxes.fill(name.box, _OCCUPIED)

    def place_names(self, places: Iterable[str]) -> dict[str, Name]:
        """Return the names of the given places in order; names without free room may cover names of other places."""
        boxes, names = _Field(), dict[str, Name]()
        for location in dict.fromkeys(places):
            names[location] = self.fitting.get(location) or self._cheapest_name(location, boxes)[0]
            boxes.fill(names[location].box, _OCCUPIED)
        return names

    def _cheapest_name(self, location: str, others: "_Field") -> tuple[Name, float]:
        """Return the cheapest position of a name, and its cost."""
        names = list(_candidate_names(location, self._places[location], self._radius + _GAP))
        costs = [rank + self._label_cost(name.box, others) for rank, name in enumerate(names)]
        cost = min(costs)
        return names[costs.index(cost)], cost

    def _label_cost(self, box: Box, others: "_Field") -> float:
        """Return the cost of a name's box: what it covers, and whether it leaves the drawing."""
        (left, top, right, bottom), gap = box, self._radius
        first_x, first_y, last_x, last_y = self._within
        is_outside = left < first_x or top < first_y or right > last_x or bottom > last_y
        wider_box = (left - gap, top - gap, right + gap, bottom + gap)
        return 100 * _OCCUPIED * is_outside + self._obstacles.weight(wider_box) + others.weight(wider_box)


def _candidate_names(location: str, at: Point, gap: float) -> Iterator[Name]:
    """Yield candidate positions of a name, the preferred one first."""
    one_line, two_lines = (clip_name(location, _ONE_LINE),), _wrap_name(clip_name(location))
    for lines in (one_line, two_lines) if len(one_line[0]) <= _TWO_LINES else (two_lines, one_line):
        width, height = max(map(len, lines)) * _LETTER, len(lines) * LINE
        # -1, 0 or 1: left of the place, centred on it or right of it; above, centred or below.
        for across, down in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            left = at[0] + (across - 1) / 2 * width + across * (gap if down == 0 else 0)
            top = at[1] + (down - 1) / 2 * height + down * gap
            anchor = ("end", "middle", "start")[across + 1]
            anchor_point = (left + (1 - across) / 2 * width, top + 0.8 * FONT)  # on the base line
            yield Name(lines, anchor_point, anchor, (left, top, left + width, top + height))


def _wrap_name(name: str) -> tuple[str, ...]:
    """Return a name wrapped to at most two lines and truncated."""
    words = name.split(" ")
    first_line = words.pop(0)
    while words and len(first_line) + 1 + len(words[0]) <= _TWO_LINES:
        first_line += " " + words.pop(0)
    if not words:
        return (clip_name(first_line, _ONE_LINE),)
    return clip_name(first_line, _TWO_LINES), clip_name(" ".join(words), _TWO_LINES)


class _Field:
    """Weighted points, indexed by grid square."""

    def __init__(self) -> None:
        self._squares: dict[tuple[int, int], list[tuple[float, float, float]]] = {}

    def add(self, point: Point, weight: float) -> None:
        """Add a point with its weight."""
        x, y = point
        self._squares.setdefault((int(x // _SQUARE), int(y // _SQUARE)), []).append((x, y, weight))

    def fill(self, box: Box, weight: float) -> None:
        """Fill a box with points of this weight, about 6 units from each other."""
        left, top, right, bottom = box
        n_columns, n_rows = max(2, int((right - left) / 6)), max(2, int((bottom - top) / 6))
        for column in range(n_columns + 1):
            for row in range(n_rows + 1):
                self.add((left + (right - left) * column / n_columns, top + (bottom - top) * row / n_rows), weight)

    def weight(self, box: Box) -> float:
        """Return the total weight of the points in a box."""
        left, top, right, bottom = box
        total = 0.0
        for column in range(int(left // _SQUARE), int(right // _SQUARE) + 1):
            for row in range(int(top // _SQUARE), int(bottom // _SQUARE) + 1):
                for x, y, weight in self._squares.get((column, row), ()):
                    if left <= x <= right and top <= y <= bottom:
                        total += weight
        return total

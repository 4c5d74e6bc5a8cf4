"""Where the places of a map are drawn: cells of a grid, north at the top as far as the moves agree on it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from math import atan2, hypot, inf, pi

from waybench.envs.textmap.map import Edge
from waybench.envs.textmap.worlds import DIRECTIONS

Cell = tuple[int, int]  # column and row; rows count downwards

_COMPASS: dict[str, Cell] = dict(
    zip(DIRECTIONS[:8], ((0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)), strict=True)
)
_LOOSE: dict[str, Cell] = {"up": (1, -1), "down": (-1, 1), "in": (1, 1), "out": (-1, -1)}
_FIRM = 1.0  # what it is worth to keep a direction of the compass
_TURNED, _BACKWARDS = 2.0, 4.0  # what an eighth of a turn costs, and further what more than a right angle does
_LONG, _LONGER = 1.0, 1.0  # what a link of two cells costs, and each further cell
_THROUGH, _CROSSED = 4.0, 1.5  # what a place on a link of others costs, and two links that cross
_PASSES = 6
_BUDGET = 1_000_000  # pairs of links that are compared at most, so that a large map takes no longer


def bearing(action: str) -> tuple[Cell, float]:
    """Return where an action leads on a map, and how certain that is, from 0 to 1, by the words of it alone."""
    words = action.lower().split()
    for cells, weight in ((_COMPASS, _FIRM), (_LOOSE, 0.3)):
        found = next((cells[word] for word in words if word in cells), None)
        if found is not None:
            return found, weight
    return (1, 1), 0.1


@lru_cache(maxsize=64)
def layout(places: tuple[str, ...], edges: tuple[Edge, ...]) -> tuple[Cell, ...]:
    """Return a cell for each place, no two the same; the least column and row are 0.

    Places are laid next to each other from where the walkthrough begins, by the words of the moves. Then each is moved
    to where turned, long, covered and crossing links are fewer, alone or with all that was laid from it.

    Args:
        places: The places of a map.
        edges: Its moves.
    """
    number = {place: index for index, place in enumerate(places)}
    pulls: dict[tuple[int, int], dict[Cell, float]] = {}
    for edge in edges:
        source, target = number[edge.source], number[edge.target]
        if source != target:
            (x, y), weight = bearing(edge.action)
            pair, cell = ((source, target), (x, y)) if source < target else ((target, source), (-x, -y))
            pull = pulls.setdefault(pair, {})
            pull[cell] = pull.get(cell, 0.0) + weight
    start = number[min(edges, key=lambda edge: edge.forward).source] if edges else 0
    cells, groups = _initial_cells(len(places), pulls, start)
    return _Arrangement(cells, pulls).optimize(groups)


def _initial_cells(
    size: int, pulls: Mapping[tuple[int, int], Mapping[Cell, float]], start: int
) -> tuple[list[Cell], list[list[int]]]:
    """Lay places next to each other; return their cells, and of each place what was laid from it, itself the first."""
    near: list[list[tuple[int, Cell, float]]] = [[] for _ in range(size)]
    for (one, other), pull in pulls.items():
        (x, y), weight = max(pull.items(), key=lambda item: (item[1], item[0]))
        near[one].append((other, (x, y), weight))
        near[other].append((one, (-x, -y), weight))
    cells: dict[int, Cell] = {}
    taken: set[Cell] = set()
    groups: list[list[int]] = [[place] for place in range(size)]
    above: dict[int, int] = {}
    order = count()
    for first in (start, *range(size)):
        # What no move leads to is put beside the rest.
        beside = (max((x for x, _ in taken), default=-2) + 2, 0)
        queue: list[tuple[float, int, int, int, Cell]] = [(0.0, next(order), first, -1, beside)]
        while queue:  # places of certain directions come first
            _, _, place, before, wanted = heappop(queue)
            if place in cells:
                continue
            cells[place] = next(cell for cell in _around(wanted) if cell not in taken)
            taken.add(cells[place])
            if before >= 0:
                above[place] = before
                while before >= 0:
                    groups[before].append(place)
                    before = above.get(before, -1)
            x, y = cells[place]
            for other, (east, south), weight in near[place]:
                if other not in cells:
                    heappush(queue, (-weight, next(order), other, place, (x + east, y + south)))
    return [cells[place] for place in range(size)], groups


def _around(cell: Cell, reach: int | None = None) -> Iterator[Cell]:
    """Yield a cell and those around it, nearest first."""
    x, y = cell
    yield cell
    for away in count(1) if reach is None else range(1, reach + 1):
        yield from ((x + east, y + south) for east, south in _ring(away))


@lru_cache(maxsize=256)
def _ring(away: int) -> tuple[Cell, ...]:
    side = range(-away, away + 1)
    cells = {(x, y) for x in side for y in (-away, away)} | {(x, y) for x in (-away, away) for y in side}
    return tuple(sorted(cells, key=lambda cell: (hypot(*cell), cell)))


@lru_cache(maxsize=4096)
def between(east: int, south: int) -> tuple[Cell, ...]:
    """Return the cells that a link covers, seen from one end; the other is so far away."""
    square = east * east + south * south
    columns, rows = (range(min(0, end), max(0, end) + 1) for end in (east, south))
    return tuple(
        (x, y)
        for x in columns
        for y in rows
        if (x * south - y * east) ** 2 < 0.2 * square and 0 < x * east + y * south < square
    )


class _Arrangement:
    """Places on cells, and what the links between them cost.

    Args:
        cells: A cell for each place.
        pulls: For each pair of places with moves between them, in which directions the second one should be.
    """

    def __init__(self, cells: list[Cell], pulls: Mapping[tuple[int, int], Mapping[Cell, float]]) -> None:
        self._cells, self._pairs, self._pulls = cells, list(pulls), list(pulls.values())
        self._taken = {cell: place for place, cell in enumerate(cells)}
        self._place_links: list[list[int]] = [[] for _ in cells]
        for link, pair in enumerate(self._pairs):
            for place in pair:
                self._place_links[place].append(link)
        self._left = _BUDGET
        self._known: dict[tuple[int, Cell], float] = {}

    def optimize(self, groups: Sequence[Sequence[int]]) -> tuple[Cell, ...]:
        """Move places, alone or in groups that begin with them, for as long as that helps; return their cells."""
        for _ in range(_PASSES):
            if not any([self._improve(place, group) for place, group in enumerate(groups)]):
                break
        columns, rows = (
            {old: new for new, old in enumerate(sorted(set(axis)))} for axis in zip(*self._cells, strict=True)
        )
        return tuple((columns[x], rows[y]) for x, y in self._cells)

    def _improve(self, place: int, group: Sequence[int]) -> bool:
        """Move a place, what was laid from it, or what is in its way, if that helps; return whether it did."""
        if self._left < 0 or not any(map(self._link_cost, self._place_links[place])):
            return False
        return self._settle(place, group) or self._make_room(place)

    def _settle(self, place: int, group: Sequence[int]) -> bool:
        """Move a place to the best cell near one that it has a link to; return whether it was moved."""
        ends = [end for link in self._place_links[place] for end in self._pairs[link] if end != place]
        targets = sorted({cell for end in ends for cell in _around(self._cells[end], 2)})
        moved = False
        for group_to_move in ([place], group)[: 1 + (len(group) > 1)]:
            for x, y in targets:
                column, row = self._cells[place]
                moved |= (x, y) != (column, row) and self._try((group_to_move, x - column, y - row))
        return moved

    def _make_room(self, place: int) -> bool:
        """Move all that is in the way of a place and beyond, and the place where it should be, if that helps."""
        for link in self._place_links[place]:
            one, other = self._pairs[link]
            near, sign = (other, -1) if place == one else (one, 1)
            for east, south in self._pulls[link]:
                target = self._cells[near][0] + sign * east, self._cells[near][1] + sign * south
                if self._taken.get(target, place) == place:
                    continue
                for axis, way in ((0, 1), (0, -1), (1, 1), (1, -1)):
                    beyond = [
                        number
                        for number, cell in enumerate(self._cells)
                        if number != place and way * (cell[axis] - target[axis]) >= 0
                    ]
                    away = (target[0] - self._cells[place][0], target[1] - self._cells[place][1])
                    if near not in beyond and self._try((beyond, way * (1 - axis), way * axis), ([place], *away)):
                        return True
        return False

    def _try(self, *moves: tuple[Sequence[int], int, int]) -> bool:
        """Make some moves one after the other (places, columns, rows) if they lower the cost; return whether."""
        if self._left < 0:
            return False
        places = [place for group, _, _ in moves for place in group]
        links, applied = self._links(places), list[tuple[Sequence[int], int, int]]()
        before = self._cost(places, links)
        for move in moves:
            if not self._shift(*move):
                break
            applied.append(move)
        else:
            if self._cost(places, links, before) < before - 1e-9:
                return True
        for group, east, south in reversed(applied):
            self._shift(group, -east, -south)
        return False

    def _links(self, places: Iterable[int]) -> list[int]:
        return sorted({link for place in places for link in self._place_links[place]})

    def _shift(self, places: Sequence[int], east: int, south: int) -> bool:
        """Move places if there is room for them; return whether there was."""
        own_cells = set(places)
        new = [(self._cells[place][0] + east, self._cells[place][1] + south) for place in places]
        if any(self._taken.get(cell, places[0]) not in own_cells for cell in new):
            return False
        for place in places:
            del self._taken[self._cells[place]]
        for place, cell in zip(places, new, strict=True):
            self._cells[place] = cell
            self._taken[cell] = place
        return True

    def _cost(self, places: Sequence[int], links: Sequence[int], most: float = inf) -> float:
        """Return the cost of some links, and of places on other ones; not all of it if it is more than `most`."""
        cost = sum(map(self._link_cost, links))
        self._left -= len(links)
        if cost >= most:
            return cost
        self._left -= len(links) * len(self._pairs)
        own_cells, inner = {self._cells[place] for place in places}, set(links)
        lines = [self._line(link) for link in links]
        for other in range(len(self._pairs)):
            if other not in inner:
                line = self._line(other)
                cost += _CROSSED * sum(_cross(line, own_line) for own_line in lines)
                (x, y), (column, row) = line
                covered = between(column - x, row - y)
                if covered:
                    cost += _THROUGH * sum((x + east, y + south) in own_cells for east, south in covered)
        return cost

    def _line(self, link: int) -> tuple[Cell, Cell]:
        """Return the two ends of a link, the left one first."""
        one, other = self._pairs[link]
        a, b = self._cells[one], self._cells[other]
        return (a, b) if a < b else (b, a)

    def _link_cost(self, link: int) -> float:
        """Return what a link costs by its direction, its length and the places on it."""
        one, other = self._pairs[link]
        (x, y), (column, row) = self._cells[one], self._cells[other]
        away = (column - x, row - y)
        known = self._known.get((link, away))
        if known is None:
            known = self._known[link, away] = _strain(self._pulls[link], away)
        return known + _THROUGH * sum((x + east, y + south) in self._taken for east, south in between(*away))


def _cross(one: tuple[Cell, Cell], other: tuple[Cell, Cell]) -> bool:
    """Whether two lines cross, their ends apart; each has its left end first."""
    (a, b), (c, d) = one, other
    if a[0] >= d[0] or c[0] >= b[0]:  # beside each other, as most are
        return False
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: Cell, b: Cell, c: Cell) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _strain(pull: Mapping[Cell, float], away: Cell) -> float:
    """Return what it costs to have the second place of a link so far away from the first one."""
    length, cost = max(map(abs, away)), 0.0
    for (east, south), weight in pull.items():
        turn = abs(atan2(away[1], away[0]) - atan2(south, east))
        eighths = min(turn, 2 * pi - turn) / (pi / 4)
        cost += weight * (_TURNED * eighths + (_BACKWARDS if eighths > 2 else 0.0))
    return cost + (_LONG + _LONGER * (length - 2) if length > 1 else 0.0)

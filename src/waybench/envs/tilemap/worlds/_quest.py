"""The quest of a world: the player's start, the antagonist's place, and the objectives."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from waybench.envs.tilemap.worlds._board import Board
from waybench.envs.tilemap.worlds._frame import Location
from waybench.envs.tilemap.worlds._tiles import FOE, HERO

_DIRECTIONS = (
    *("north-western", "northern", "north-eastern", "western", "central", "eastern"),
    *("south-western", "southern", "south-eastern"),
)
_DRAWS = 6  # of which the first that is far enough is taken
_FINDS = frozenset(("thing", "fixture", "person"))
_FIXED_ROLES = frozenset(("bridge", "door", *_FINDS))
_MASSES = frozenset(("solid", "cliff", "wall", "water", "river"))


class Goal(NamedTuple):
    """One objective, as yet without a name.

    Attributes:
        cell: Where it is.
        place: The number of the place that it is in.
        find: The cell of what it is about, if it is about more than the place: that cell or one beside it.
    """

    cell: int
    place: int
    find: int | None = None


def landmarks(board: Board, plan: str) -> list[Location]:
    """Return places that are not buildings: banks, bridges and crossroads; the map's nine regions are the last."""
    rng, kinds, locations = board.rng, board.palette.kinds, list[Location]()
    streets = "street" if plan == "town" else "crossroads"
    for role, name in (("shore", "shore"), ("bridge", "bridge"), ("road", streets)) if plan != "halls" else ():
        kind_numbers = [number for number, kind in enumerate(kinds) if kind.role == role]
        cells = board.numbers(board.bits(kind_numbers))
        for _ in range(min(len(cells) // 4, 1 + len(board.cells) // 1000)):
            cell = rng.choice(cells)
            if role != "road" or sum(board.cells[neighbour] in kind_numbers for neighbour in board.beside(cell)) >= 3:
                locations.append(Location(name, [cell], cell))
    cells, walkable, width, below = board.cells, board.palette.walkable, board.width, rng.below
    # Such that `_region` finds the same number: the first row is the least one with 3 * row // height == number.
    rows, columns = ([-(-length * at // 3) for at in range(4)] for length in (board.height, width))
    for number, direction in enumerate(_DIRECTIONS):
        row, column = divmod(number, 3)
        first = rows[row] * width + columns[column]
        high, wide = rows[row + 1] - rows[row], columns[column + 1] - columns[column]
        lots = [first + below(high) * width + below(wide) for _ in range(12)]
        locations.append(Location(f"region {direction}", [cell for cell in lots if walkable[cells[cell]]], 0))
    return locations


def _region(board: Board, cell: int) -> int:
    row, column = divmod(cell, board.width)
    return row * 3 // board.height * 3 + column * 3 // board.width


class Quest:
    """Chooses where everything happens, on a board that is finished but for the player and the antagonist.

    Args:
        board: The board, joined up; both are put on it.
        places: Its places, the regions last.
        count: Number of objectives.

    Attributes:
        goals: The objectives in their order.
    """

    def __init__(self, board: Board, places: list[Location], count: int) -> None:
        self._board, self._places = board, places
        self._place_of: dict[int, int] = {}
        for number, place in enumerate(places[:-9]):
            self._place_of.update(dict.fromkeys(place.cells, number))
        kinds = board.palette.kinds
        self._finds = board.numbers(board.bits(number for number, kind in enumerate(kinds) if kind.role in _FINDS))
        start, _ = self._settle(HERO, self._can_start)
        self._used_cells = {start}
        foe, lair = self._settle(FOE, self._can_lurk)
        self.goals: list[Goal] = []
        at, last = start, list[Goal]()
        if count > 1 and board.rng.below(3):
            last.append(Goal(board.rng.choice(self._beside(foe)), lair, foe))
            self._used_cells.add(last[0].cell)
        while len(self.goals) + len(last) < count:
            goal = self._goal(at)
            if goal.find in self._finds:
                self._finds.remove(goal.find)
            self.goals.append(goal)
            at = goal.cell
            self._used_cells.add(at)
        self.goals += last

    def _settle(self, kind: int, fits: Callable[[int], bool]) -> tuple[int, int]:
        """Put the player or the antagonist on the first cell that fits, of places first; return it and its place."""
        for cell, number in self._spots():
            if self._board.cells.count(self._board.cells[cell]) > 1 and fits(cell):
                self._board.cells[cell] = kind
                return cell, number
        raise AssertionError("a world has ground of which there is more than one cell")

    def _spots(self) -> Iterator[tuple[int, int]]:
        """Yield cells, each with the number of its place: some of each place in turn, then all in random order."""
        rng, places = self._board.rng, [n for n, place in enumerate(self._places) if place.cells]
        rng.shuffle(places)
        for number in places:
            for _ in range(_DRAWS):
                yield rng.choice(self._places[number].cells), number
        for cell in self._board.random_cells():
            yield cell, self._at(cell)

    def _at(self, cell: int) -> int:
        """Return the number of a cell's place; if it is in none, that of its region."""
        return self._place_of.get(cell, len(self._places) - 9 + _region(self._board, cell))

    def _beside(self, cell: int) -> list[int]:
        """Return the cells beside one that can be walked on and have not been taken."""
        cells, walkable = self._board.cells, self._board.palette.walkable
        return [n for n in self._board.beside(cell) if walkable[cells[n]] and n not in self._used_cells]

    def _can_start(self, cell: int) -> bool:
        kind = self._board.palette.kinds[self._board.cells[cell]]
        return kind.walkable and kind.role not in _FIXED_ROLES

    def _can_lurk(self, cell: int) -> bool:
        """Say whether the antagonist can be on a cell: off every path, or in the place of a rock beside one."""
        kind = self._board.palette.kinds[self._board.cells[cell]]
        if kind.role in _FIXED_ROLES or not self._beside(cell):
            return False
        return self._board.simple(cell) and cell not in self._used_cells if kind.walkable else kind.role in _MASSES

    def _goal(self, at: int) -> Goal:
        """Draw the next objective: of some candidates the first that is not near, else the farthest."""
        board, best, most = self._board, None, -1
        row, column = divmod(at, board.width)
        for _ in range(_DRAWS):
            goal = self._draw()
            if goal is None:
                continue
            far = abs(goal.cell // board.width - row) + abs(goal.cell % board.width - column)
            if far > most:
                best, most = goal, far
            if far * 5 >= board.width + board.height:
                break
        return best or self._any()

    def _draw(self) -> Goal | None:
        """Draw one candidate: something to be found or, less often, a place alone; None if it is not to be had."""
        board, rng, find = self._board, self._board.rng, None
        if self._finds and rng.below(5) < 3:
            cell = find = rng.choice(self._finds)
            place = self._at(cell)
            if not board.palette.walkable[board.cells[cell]]:
                cell = rng.choice(self._beside(cell) or [cell])
        else:
            named_places = len(self._places) - 9  # of which regions are the last resort, but not the last place
            place = rng.below(named_places) if named_places and rng.below(5) else named_places + rng.below(9)
            cell = rng.choice(self._places[place].cells or [0])
        walkable = board.palette.walkable[board.cells[cell]]
        return Goal(cell, place, find) if walkable and cell not in self._used_cells else None

    def _any(self) -> Goal:
        cells = [cell for cell in self._board.numbers(self._board.walkable()) if cell not in self._used_cells]
        cell = self._board.rng.choice(cells)
        return Goal(cell, self._at(cell))

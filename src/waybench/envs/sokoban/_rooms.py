"""Sokoban: rooms, their rules, and what is known of their solutions."""

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple

from waybench._late import LazyModule
from waybench.core import ChoiceGame, DataError, Instance, Json, Searched, Tile, is_array

_solver: Any = LazyModule("waybench.envs.sokoban._solver")  # it imports numpy
MOST_FLOOR, MOST_BOXES = 64, 9  # what the solver takes
PUSH = 1 << 12  # what a push costs beside its move, so much that the fewest pushes come before the fewest moves
_MOST_LISTED = 20_000  # positions: rooms with more are not searched as a whole
_MOST_REMEMBERED = 50_000  # positions of larger rooms whose solutions are remembered
FLOOR, BOXES, PLAYERS = " .", "$*", "@+"
_SYMBOLS = {"wall": "#", "floor": " ", "goal": ".", "box": "$", "box on a goal": "*", "you": "@", "you on a goal": "+"}
TILES = {
    "#": Tile("", "#5a6372"),
    " ": Tile(),
    ".": Tile(".", "#cfe8d5"),
    "$": Tile("$", "#e69f00"),
    "*": Tile("*", "#009e73"),
    "@": Tile("@", "#56b4e9"),
    "+": Tile("+", "#cc79a7"),
}


@dataclass(frozen=True, slots=True)
class Room(Instance):
    """A room as Sokoban files have it (XSB), in rows of the same length.

    # is a wall, @ the player, $ a box, . a goal, * a box on a goal, + the player on a goal.
    """

    rows: tuple[str, ...]

    def canonical(self) -> str:
        return "\n".join(self.rows)

    def to_json(self) -> Json:
        return list(self.rows)


class Position(NamedTuple):
    """A position in a room; cells are indexes of the plan.

    Attributes:
        plan: The room with its goals, without player and boxes, row by row with a line break after each but the last.
        player: The player's cell.
        boxes: The cells of the boxes, in rising order.
    """

    plan: str
    player: int
    boxes: tuple[int, ...]

    def __str__(self) -> str:
        cells = list(self.plan)
        for (on_floor, on_goal), marked_cells in ((BOXES, self.boxes), (PLAYERS, (self.player,))):
            for cell in marked_cells:
                cells[cell] = on_goal if self.plan[cell] == "." else on_floor
        return "".join(cells)

    @property
    def room(self) -> Room:
        """The room that begins with this position."""
        return Room(tuple(str(self).split("\n")))


@lru_cache(maxsize=256)
def cell_steps(plan: str) -> dict[str, int]:
    """Return, by the name of a move, what it adds to a cell's index."""
    width = plan.index("\n") + 1
    return {"up": -width, "down": width, "left": -1, "right": 1}


class RoomGame(ChoiceGame[Room, Position]):
    """A move leads to a free cell, or pushes a box on to one."""

    actions = ("up", "down", "left", "right")

    def start(self, instance: Room) -> Position:
        rows = instance.canonical()
        boxes = tuple(cell for cell, symbol in enumerate(rows) if symbol in BOXES)
        player = next(cell for cell, symbol in enumerate(rows) if symbol in PLAYERS)
        return Position(rows.translate(str.maketrans("@$+*", "  ..")), player, boxes)

    def step(self, state: Position, action: str) -> Position | None:
        plan, player, boxes = state
        step = cell_steps(plan)[action]
        player += step
        if player in boxes:
            if plan[player + step] not in FLOOR or player + step in boxes:
                return None
            boxes = tuple(sorted(cell + step if cell == player else cell for cell in boxes))
        return Position(plan, player, boxes) if plan[player] in FLOOR else None

    def is_solved(self, state: Position) -> bool:
        return {state.plan[cell] for cell in state.boxes} == {"."}

    def events(self, before: Position, after: Position) -> dict[str, Json]:
        return {"push": before.boxes != after.boxes}


GAME = RoomGame()


def connected_cells(plan: str, start: int) -> set[int]:
    """Return the cells within reach of a cell, as if there were no boxes."""
    cells, steps = [start], cell_steps(plan).values()
    for cell in cells:  # the list grows meanwhile
        cells += {cell + step for step in steps if plan[cell + step] in FLOOR}.difference(cells)
    return set(cells)


@lru_cache(maxsize=256)
def pushes_of_lone_box(plan: str) -> dict[int, int]:
    """Return, for each cell from which a lone box can be pushed to a goal, the fewest pushes.

    It is assumed that the player can walk to any side of the box.
    """
    pushes = {cell: 0 for cell, symbol in enumerate(plan) if symbol == "."}
    for cell in (waiting := list(pushes)):  # the list grows meanwhile
        for step in cell_steps(plan).values():
            box, player = cell - step, cell - 2 * step  # before a push of the box to this cell
            if plan[box] in FLOOR and plan[player] in FLOOR and box not in pushes:
                pushes[box] = pushes[cell] + 1
                waiting.append(box)
    return pushes


def decode(data: Json) -> Room:
    """Read the rows of a room; DataError if it is solved, has no solution or is too large for the solver."""
    if (
        not is_array(data)
        or not 3 <= len(data) <= 50
        or not all(isinstance(row, str) and len(row) <= 50 for row in data)
    ):
        raise DataError("room: give 3 to 50 rows of at most 50 symbols")
    symbols = "".join(data)
    if not set(symbols) <= set(_SYMBOLS.values()) or sum(symbols.count(symbol) for symbol in PLAYERS) != 1:
        raise DataError(f"room: give one player, and as symbols only {''.join(_SYMBOLS.values())!r}")
    width = max(map(len, data))
    room = Room(tuple(row.ljust(width) for row in data))
    outside = "?" * (width + 2)  # around the room, to see whether its walls are closed
    plan, player, boxes = GAME.start(Room((outside, *(f"?{row}?" for row in room.rows), outside)))
    inside = connected_cells(plan, player)
    goals = {cell for cell in inside if plan[cell] == "."}
    if any(plan[cell + step] == "?" for cell in inside for step in cell_steps(plan).values()):
        raise DataError("room: close its walls around the player")
    if not boxes or not len(boxes) == len(goals) == plan.count(".") or not inside.issuperset(boxes):
        raise DataError("room: give as many boxes as goals, all within the walls")
    if len(inside) > MOST_FLOOR or len(goals) > MOST_BOXES:
        raise DataError(f"room: give at most {MOST_FLOOR} cells of floor and {MOST_BOXES} boxes")
    if not BY_PUSHES.remaining(GAME.start(room)):
        raise DataError("room: give one that can be solved and is not")
    return room


def room_map(state: Position) -> Any:
    """Return the room of a position as the solver reads it."""
    plan = state.plan
    return _solver.RoomMap(state, connected_cells(plan, state.player), cell_steps(plan), pushes_of_lone_box(plan))


class RoomSolutions(Searched[Room, Position, str]):
    """Best solutions: small rooms are searched as a whole, larger ones by the solver.

    Args:
        push: What a push costs in addition to its move, which costs 1.
    """

    def __init__(self, push: int) -> None:
        def move_cost(before: Position, after: Position) -> int:
            return 1 + push * (before.boxes != after.boxes)

        super().__init__(GAME, decode, move_cost, most=_MOST_LISTED)
        self._push = push
        self._solved: dict[Position, tuple[int | None, str]] = {}

    def remaining(self, state: Position) -> int | None:
        return super().remaining(state) if is_listed(state) else self._solution_start(state)[0]

    def best_actions(self, state: Position) -> list[str]:
        if is_listed(state):
            return super().best_actions(state)
        _, move = self._solution_start(state)
        return [move] if move else []

    def check(self, start: Position) -> int:
        # A larger room is checked as one without a list of positions, that is, by `remaining`.
        return super().check(start) if is_listed(start) else super(Searched, self).check(start)

    def fewest_pushes(self, state: Position) -> int | None:
        """Return the fewest pushes of a solution, faster than `remaining` does; None if there is none."""
        if is_listed(state):
            cost = BY_PUSHES.remaining(state)
            return None if cost is None else cost // PUSH
        return room_map(state).fewest_pushes()

    def _solution_start(self, state: Position) -> tuple[int | None, str]:
        """Return cost and first move of a best solution, None and "" without a solution, 0 and "" if it is solved.

        All positions of the solution are remembered.
        """
        if state not in self._solved:
            solution: list[str] | None = room_map(state).solve(self._push)
            solved = dict(self._solved) if len(self._solved) < _MOST_REMEMBERED else {}
            solved[state] = (None, "")
            if solution is not None:
                positions, costs = [state], list[int]()
                for move in solution:
                    after = GAME.step(positions[-1], move)
                    assert after is not None
                    costs.append(self.cost(positions[-1], after))
                    positions.append(after)
                for number, (position, move) in enumerate(zip(positions, [*solution, ""], strict=True)):
                    solved[position] = (sum(costs[number:]), move)
            self._solved = solved  # as a whole, so that other threads never read half of it
        return self._solved[state]


@lru_cache(maxsize=1024)
def _count_floor(plan: str, player: int) -> int:
    """Return the number of cells that are connected with the player's, as if there were no boxes."""
    return len(connected_cells(plan, player))


def is_listed(state: Position) -> bool:
    """Return whether a room has so few positions that it is searched as a whole."""
    floor_count, box_count = _count_floor(state.plan, state.player), len(state.boxes)
    return comb(floor_count, box_count) * (floor_count - box_count) <= _MOST_LISTED


BY_PUSHES, BY_MOVES = RoomSolutions(PUSH), RoomSolutions(0)


@lru_cache(maxsize=4096)
def prove(room: Room) -> dict[str, Json]:
    """Return the fewest pushes and the fewest moves of any solution, perhaps of two different ones."""
    start = GAME.start(room)
    return {"pushes": (BY_PUSHES.remaining(start) or 0) // PUSH, "moves": BY_MOVES.remaining(start)}

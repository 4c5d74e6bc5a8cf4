"""Mazes: instances, rules, players, and how far a cell is on the way to the exit."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from waybench.core import (
    DataError,
    End,
    Game,
    GameProperties,
    Instance,
    Json,
    Outcome,
    Potential,
    Stream,
    Transition,
    check_known_fields,
    is_array,
    is_object,
    isomorphic_appearance,
    plural,
)
from waybench.envs.spaces import transform_cell, transform_rows
from waybench.envs.spaces._lattice import DIRECTIONS, ROTATIONS, Lattice

SMALLEST = 5
LARGEST = 1001

_DIGITS = bytes.maketrans(b"\0\1", b"01")
_NO_JUNCTIONS = bytes(bits for bits in range(16) if bits.bit_count() < 3)  # a bit for each open neighbour of a cell


@dataclass(frozen=True, slots=True)
class Maze(Instance):
    """A maze, square or rectangular.

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
        """The dimension N of the N x N matrix; of a rectangle the longer side."""
        return max(self.lattice.width, self.lattice.height)

    def rows(self, player: int | None = None) -> list[list[int | str]]:
        """Return the matrix: 1 for a path, 0 for a wall, "X" where the player is (the entrance by default)."""
        cells: list[int | str] = list(self.lattice.cells)
        cells[self.entrance if player is None else player] = "X"
        width = self.lattice.width
        return [cells[start : start + width] for start in range(0, len(cells), width)]

    def lines(self, player: int | None = None, *, commas: bool = False) -> list[str]:
        """Return the rows of the matrix as texts of 0, 1 and X, with or without commas between these signs."""
        signs, row_length = bytearray(self.lattice.cells.translate(_DIGITS)), self.lattice.width
        signs[self.entrance if player is None else player] = ord("X")
        if commas:
            signs_and_commas = bytearray(b",") * (2 * len(signs))
            signs_and_commas[::2] = signs
            signs, row_length = signs_and_commas, 2 * row_length
        text = signs.decode()
        # The comma that ends a row is left out.
        return [text[start : start + row_length - commas] for start in range(0, len(text), row_length)]

    def canonical(self) -> str:
        return "\n".join(self.lines())

    def to_json(self) -> Json:
        """Return {"maze": matrix}."""
        return {"maze": self.rows()}


def movements_of_path(path: tuple[str, ...]) -> list[list[str | int]]:
    """Join equal directions of a path: ("down", "down", "left") -> [["down", 2], ["left", 1]]."""
    return [[direction, len(list(run))] for direction, run in groupby(path)]


def prove(maze: Maze) -> dict[str, Json]:
    """Return the proof of a maze: its shortest path and counts of what makes it difficult.

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
    distances, cells = maze.lattice.distances(maze.exit), maze.lattice.cells
    if distances.count(-1) > cells.count(0):  # some open cells cannot be reached, and do not count
        cells = bytes(distance >= 0 for distance in distances)
    # A byte for each cell, with a bit for each open neighbour; as one long number, in which 15 * 1 keeps the four bits
    # of an open cell and 15 * 0 none of a wall's.
    neighbour_bits = int.from_bytes(maze.lattice.open_neighbour_bits(), "little") & int.from_bytes(cells, "little") * 15
    return {
        "minimum": len(path),
        "solution": movements_of_path(path),
        "loops": neighbour_bits.bit_count() // 2 - cells.count(1) + 1,  # passages - cells + 1; both ends have a bit
        "junctions": len(neighbour_bits.to_bytes(len(cells), "little").translate(None, _NO_JUNCTIONS)),
    }


def decode(data: Json) -> Maze:
    """Read a maze: {"maze": rows}, or the rows alone.

    A row is a list, [0, 0, 0, "X", 0], or a text, "000X0": 1 is a path, 0 a wall, and the one "X", on the border, the
    entrance. The one other opening in the border is the exit.

    Raises:
        DataError: For any other data; the message names the row.
    """
    check_known_fields(data, ("maze",))
    matrix = data.get("maze") if is_object(data) else data
    if not is_array(matrix) or not all(is_array(row) or isinstance(row, str) for row in matrix):
        raise DataError('instance: give {"maze": ["000X0", ...]} or {"maze": [[0,0,0,"X",0], ...]}, a list of rows')
    signs: dict[str, int] = {"0": 0, "1": 1}
    rows = [[signs.get(sign, sign) for sign in row.rstrip("\r\n")] if isinstance(row, str) else row for row in matrix]
    height = len(rows)
    width = len(rows[0]) if rows else 0
    for count, unit in ((height, "row"), (width, "column")):
        if not SMALLEST <= count <= LARGEST:
            raise DataError(f"maze: the matrix has {plural(count, unit)}; give {SMALLEST} to {LARGEST}")
    cells = bytearray()
    entrances: list[int] = []
    for y, row in enumerate(rows):
        if len(row) != width:
            raise DataError(f"maze: row {y} has {plural(len(row), 'cell')}, not {width} as row 0")
        for x, cell in enumerate(row):
            if cell == "X":
                entrances.append(y * width + x)
            elif type(cell) is not int or cell not in (0, 1):
                raise DataError(f'maze: row {y}, column {x}: a cell is 0, 1 or "X"')
            cells.append(cell != 0)
    border = [
        y * width + x for y in range(height) for x in range(width) if not (0 < x < width - 1 and 0 < y < height - 1)
    ]
    corners = {0, width - 1, width * (height - 1), width * height - 1}
    openings = [cell for cell in border if cells[cell]]
    if len(entrances) != 1 or entrances[0] not in openings:
        raise DataError('maze: it needs exactly one "X", and on the border: the entrance')
    if len(openings) != 2 or corners & set(openings):
        raise DataError("maze: it needs exactly one opening in the border besides the entrance, and none in a corner")
    exit_ = next(cell for cell in openings if cell != entrances[0])
    return Maze(Lattice(width, height, bytes(cells)), entrances[0], exit_)


def isomorph(maze: Maze, key: str, number: int) -> Maze:
    """Return the maze after one of its three rotations, which the set's key and number determine.

    A rotation by 90 degrees exchanges the sides of a rectangle. Three sets in a row, from the first set on, have all
    three rotations. A rotation can leave a symmetrical maze as it is. Mirrored mazes are left out: there, a player that
    keeps a hand on the wall goes another way.
    """
    symmetry = isomorphic_appearance(ROTATIONS, number, "maze", key, maze.hash)
    lattice = maze.lattice
    rows = transform_rows(symmetry, lattice.rows())
    height, width = len(rows), len(rows[0])

    def rotated_cell(cell: int) -> int:
        row, column = transform_cell(symmetry, *divmod(cell, lattice.width), lattice.height, lattice.width)
        return row * width + column

    cells = bytes(cell for row in rows for cell in row)
    return Maze(Lattice(width, height, cells), rotated_cell(maze.entrance), rotated_cell(maze.exit))


def double_lines(maze: Maze, row: int, column: int) -> Maze:
    """Return a maze with a row and a column between rooms doubled, which lengthens passages; 0 doubles none."""
    if not row and not column:
        return maze
    lattice = maze.lattice
    rows = [line[: column + 1] + line[column:] if column else line for line in lattice.rows()]
    if row:
        rows.insert(row, rows[row])
    width = len(rows[0])

    def shifted_cell(cell: int) -> int:
        y, x = divmod(cell, lattice.width)
        return (y + (0 < row < y)) * width + x + (0 < column < x)

    return Maze(Lattice(width, len(rows), b"".join(rows)), shifted_cell(maze.entrance), shifted_cell(maze.exit))


class Movement(NamedTuple):
    """A number of cells, at least 1, in a direction: "up", "down", "left" or "right"."""

    direction: str
    cells: int


MovePlan = tuple[Movement, ...]


class MazeState(NamedTuple):
    """A maze, the player's cell number, and its last direction (at the entrance, that into the maze)."""

    maze: Maze
    at: int
    facing: str


def start(maze: Maze) -> MazeState:
    """Return the state at the entrance."""
    return MazeState(maze, maze.entrance, inward_direction(maze, maze.entrance))


def inward_direction(maze: Maze, cell: int) -> str:
    """Return the direction into the maze from a cell of the border; "left" from any other cell."""
    x, y = maze.lattice.position(cell)
    if y in (0, maze.lattice.height - 1):
        return "down" if y == 0 else "up"
    return "right" if x == 0 else "left"


class MazeGame(Game[Maze, MazeState, MovePlan]):
    """A plan's movements run in order, each as a whole or not at all; the first that hits an obstacle ends the plan.

    Standing on the exit ends the game, also in the middle of a movement. Events of a transition: `moved` (cells
    moved), `movements` (movements carried out), `at` ([x, y]) and, after an illegal movement, `illegal` with its
    number from 1, its direction and cells, and the obstacle, "wall" or "outside".
    """

    def __init__(self, requests: int) -> None:
        self.properties = GameProperties(deterministic=True, turns=requests, reward=(0.0, 1.0))

    def start(self, instance: Maze) -> MazeState:
        return start(instance)

    def legal(self, state: MazeState) -> Sequence[MovePlan]:
        """Return all plans of one movement, by direction and then by cells."""
        if self.terminal(state):
            return ()
        plans: list[MovePlan] = []
        lattice, exit_ = state.maze.lattice, state.maze.exit
        for direction in DIRECTIONS:
            free_cells = lattice.cells_ahead(state.at, direction)[: lattice.count_free_ahead(state.at, direction)]
            most_cells = free_cells.index(exit_) + 1 if exit_ in free_cells else len(free_cells)
            plans += [(Movement(direction, count),) for count in range(1, most_cells + 1)]
        return plans

    def apply(self, state: MazeState, action: MovePlan, rng: Stream) -> Transition[MazeState]:
        """Carry out a plan; the reward is 1 for reaching the exit."""
        maze, at, moved = state.maze, state.at, 0
        facing = state.facing
        for number, (direction, cells) in enumerate(action, start=1):
            cells_ahead = maze.lattice.cells_ahead(at, direction)
            free_count = maze.lattice.count_free_ahead(at, direction)
            if maze.exit in (walked := cells_ahead[: min(cells, free_count)]):
                steps = moved + walked.index(maze.exit) + 1
                return self._transition(MazeState(maze, maze.exit, direction), steps, number, Outcome.OK)
            if cells > free_count:
                illegal: dict[str, Json] = {
                    "movement": number,
                    "direction": direction,
                    "cells": cells,
                    "obstacle": "outside" if free_count == len(cells_ahead) else "wall",
                }
                after = MazeState(maze, at, facing)
                return self._transition(after, moved, number - 1, Outcome.ILLEGAL, illegal=illegal)
            at, facing = cells_ahead[cells - 1], direction
            moved += cells
        distances = maze.lattice.distances(maze.exit)
        outcome = Outcome.OK if distances[at] < distances[state.at] else Outcome.UNPRODUCTIVE
        return self._transition(MazeState(maze, at, facing), moved, len(action), outcome)

    def _transition(
        self, state: MazeState, moved: int, carried_out: int, outcome: Outcome, **events: Json
    ) -> Transition[MazeState]:
        """Return the transition to a state after a plan, with the events described above."""
        at = list(state.maze.lattice.position(state.at))
        all_events = {"moved": moved, "movements": carried_out, "at": at, **events}
        return Transition(state, float(state.at == state.maze.exit), all_events, outcome)

    def terminal(self, state: MazeState) -> End | None:
        return End.SOLVED if state.at == state.maze.exit else None

    def encode(self, action: MovePlan) -> Json:
        """Return [[direction, cells], ...]."""
        return [list(movement) for movement in action]

    def decode(self, action: Json) -> MovePlan:
        plan: list[Movement] = []
        for entry in action if is_array(action) else [action]:
            match entry:
                # True is an integer, too.
                case [str(direction), int(cells)] if direction in DIRECTIONS and cells >= 1 and cells is not True:
                    plan.append(Movement(direction, cells))
                case _:  # pyright: ignore[reportUnknownVariableType]
                    raise DataError('action: give [["down", 3], ["left", 2], ...], with whole numbers of at least 1')
        return tuple(plan)

    def cut(self, action: MovePlan, steps: int) -> tuple[MovePlan, int]:
        """Return the plan cut to `steps` cells, and its number of cells, which is less if the plan is shorter."""
        movements: list[Movement] = []
        remaining = steps
        for direction, cells in action:
            if remaining:
                movements.append(Movement(direction, min(cells, remaining)))
                remaining -= movements[-1].cells
        return tuple(movements), steps - remaining

    def perturb(self, state: MazeState, action: MovePlan, rate: float, rng: Stream) -> MovePlan:
        """Return the plan, in which each step has with probability `rate` a random open direction instead.

        The rest of the plan stays the same, as if the player did not notice the error.
        """
        cell: int | None = state.at  # None after a step into an obstacle: nothing is replaced from there on
        path: list[str] = []
        for direction, cells in action:
            for _ in range(cells):
                step = direction
                if cell is not None and rng.random() < rate:
                    step = rng.choice([name for name, _ in state.maze.lattice.exits(cell)])
                path.append(step)
                cell = None if cell is None else dict(state.maze.lattice.exits(cell)).get(step)
        return _plan_of_path(path)


CLOCKWISE = ("up", "right", "down", "left")
TURNS = ("none", "right", "around", "left")
"""The turns of a body, each a quarter clockwise from the one before."""


def direction_after_turn(facing: str, turn: str) -> str:
    """Return the direction that a player faces after one of `TURNS`."""
    return CLOCKWISE[(CLOCKWISE.index(facing) + TURNS.index(turn)) % 4]


def turn_between(facing: str, direction: str) -> str:
    """Return the one of `TURNS` after which a player faces a direction."""
    return TURNS[(CLOCKWISE.index(direction) - CLOCKWISE.index(facing)) % 4]


def _plan_of_path(path: list[str] | tuple[str, ...]) -> MovePlan:
    return tuple(Movement(str(direction), int(cells)) for direction, cells in movements_of_path(tuple(path)))


def oracle(state: MazeState, rng: Stream) -> MovePlan:
    """Take a shortest path."""
    path = state.maze.lattice.shortest_path(state.at, state.maze.exit)
    return _plan_of_path(path or ())


def wall_follower(state: MazeState, rng: Stream) -> MovePlan:
    """Keep the right hand on the wall, all the way to the exit.

    From the border this always arrives, for entrance and exit part the same outer wall.
    """
    maze, at = state.maze, state.at
    heading = inward_direction(maze, at)
    path: list[str] = []
    while at != maze.exit and len(path) < 4 * len(maze.lattice.cells):  # each cell is entered at most four times
        exits: dict[str, int] = dict(maze.lattice.exits(at))
        directions = (direction_after_turn(heading, turn) for turn in ("right", "none", "left", "around"))
        heading = next(direction for direction in directions if direction in exits)
        at = exits[heading]
        path.append(heading)
    return _plan_of_path(path)


def wanderer(state: MazeState, rng: Stream) -> MovePlan:
    """Walk at random for 4 N cells, turning back only in dead ends; stop at the exit if it happens to be met."""
    maze, at = state.maze, state.at
    path: list[str] = []
    came_from = ""
    while at != maze.exit and len(path) < 4 * maze.size:
        exits_onward = [(direction, cell) for direction, cell in maze.lattice.exits(at) if direction != came_from]
        direction, at = rng.choice(exits_onward or list(maze.lattice.exits(at)))
        path.append(direction)
        came_from = direction_after_turn(direction, "around")
    return _plan_of_path(path)


def noisy_success(maze: Maze, rate: float) -> float:
    """Return the probability that the plan of an oracle that errs at a rate in each step reaches the exit.

    An error takes any of a cell's open directions, also the right one (`MazeGame.perturb`). It is neglected that a
    later error, or a loop, can correct the first one, which is rare.
    """
    lattice, at, probability = maze.lattice, maze.entrance, 1.0
    for direction in lattice.shortest_path(maze.entrance, maze.exit) or ():
        exits = dict(lattice.exits(at))
        probability *= 1 - rate * (len(exits) - 1) / len(exits)
        at = exits[direction]
    return probability


PLAYERS = {"heuristic": wall_follower, "oracle": oracle, "random": wanderer}


def reasoning(state: MazeState) -> str:
    """Return a text that walks the shortest path cell by cell, as [x, y], with open ways and remaining moves."""
    lattice, at = state.maze.lattice, state.at
    distances = lattice.distances(state.maze.exit)
    lines = [f"I am at {list(lattice.position(at))}, and the exit is at {list(lattice.position(state.maze.exit))}."]
    for direction in lattice.shortest_path(at, state.maze.exit) or ():
        exits = dict(lattice.exits(at))
        next_cell = exits[direction]
        lines.append(
            f"{list(lattice.position(at))}: open ways: {', '.join(exits)}. {direction.capitalize()} leads to "
            f"{list(lattice.position(next_cell))}, moves left from there: {distances[next_cell]}."
        )
        at = next_cell
    return "\n".join(lines)


def _progress_to_exit(state: Any) -> float:
    """Return the share of the shortest path from entrance to exit that a state has gained."""
    maze: Maze = state.maze
    at: int = state.at
    distances = maze.lattice.distances(maze.exit)
    return 1 - distances[at] / distances[maze.entrance]


POTENTIALS: tuple[Potential[Any], ...] = (
    Potential(
        "distance", "Share of the shortest path from the entrance to the exit that is gained.", _progress_to_exit
    ),
)
"""For any state with `maze` and `at` (the player's cell): for mazes that are shown as a whole or in part."""

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
_FEW_WAYS = bytes(ways for ways in range(16) if ways.bit_count() < 3)  # those of cells that are no junctions


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
        flat: list[int | str] = list(self.lattice.cells)
        flat[self.entrance if player is None else player] = "X"
        width = self.lattice.width
        return [flat[i : i + width] for i in range(0, len(flat), width)]

    def lines(self, player: int | None = None, *, commas: bool = False) -> list[str]:
        """Return the rows of the matrix as texts of 0, 1 and X, with or without commas between these signs."""
        signs, wide = bytearray(self.lattice.cells.translate(_DIGITS)), self.lattice.width
        signs[self.entrance if player is None else player] = ord("X")
        if commas:
            spread = bytearray(b",") * (2 * len(signs))
            spread[::2] = signs
            signs, wide = spread, 2 * wide
        text = signs.decode()
        return [text[row : row + wide - commas] for row in range(0, len(text), wide)]

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
    far, cells = maze.lattice.distances(maze.exit), maze.lattice.cells
    if far.count(-1) > cells.count(0):  # some open cells cannot be reached, and do not count
        cells = bytes(map((-1).__lt__, far))
    ways = int.from_bytes(maze.lattice.open_neighbour_bits(), "little") & int.from_bytes(cells, "little") * 15
    return {
        "minimum": len(path),
        "solution": movements_of_path(path),
        "loops": ways.bit_count() // 2 - cells.count(1) + 1,
        "junctions": len(ways.to_bytes(len(cells), "little").translate(None, _FEW_WAYS)),
    }


def decode(data: Json) -> Maze:
    """Read a maze: {"maze": rows}, or the rows alone.

    A row is a list, [0, 0, 0, "X", 0], or a text, "000X0": 1 is a path, 0 a wall, and the one "X", on the border, the
    entrance. The one other opening in the border is the exit.

    Raises:
        DataError: If it is no such maze; the message names the row.
    """
    check_known_fields(data, ("maze",))
    matrix = data.get("maze") if is_object(data) else data
    if not is_array(matrix) or not all(is_array(row) or isinstance(row, str) for row in matrix):
        raise DataError('instance: give {"maze": ["000X0", ...]} or {"maze": [[0,0,0,"X",0], ...]}, a list of rows')
    signs: dict[str, int] = {"0": 0, "1": 1}
    rows = [[signs.get(sign, sign) for sign in row.rstrip("\r\n")] if isinstance(row, str) else row for row in matrix]
    height = len(rows)
    width = len(rows[0]) if rows else 0
    for count, what in ((height, "row"), (width, "column")):
        if not SMALLEST <= count <= LARGEST:
            raise DataError(f"maze: the matrix has {plural(count, what)}; give {SMALLEST} to {LARGEST}")
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

    By 90 degrees a rectangle exchanges its sides. Three sets in a row, from the first one on, have all three. A maze
    that is symmetrical itself can stay as it is. Mirrored mazes are left out: there, a player that keeps a hand on the
    wall goes another way.
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
    """Return a maze with a row and a column between rooms doubled, which lengthens passages; 0 for none."""
    if not row and not column:
        return maze
    lattice = maze.lattice
    rows = [line[: column + 1] + line[column:] if column else line for line in lattice.rows()]
    rows[row:row] = rows[row : row + 1] if row else []
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
    """A maze, the player's cell number, and the direction in which it came there (at the entrance, into the maze)."""

    maze: Maze
    at: int
    facing: str


def start(maze: Maze) -> MazeState:
    """Return the state at the entrance."""
    return MazeState(maze, maze.entrance, inward_direction(maze, maze.entrance))


def inward_direction(maze: Maze, cell: int) -> str:
    """Return the direction into the maze from a cell of the border; "left" from any other cell."""
    x, y = maze.lattice.position(cell)
    return {0: "down", maze.lattice.height - 1: "up"}.get(y) or ("right" if x == 0 else "left")


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
        for direction in DIRECTIONS:
            line = state.maze.lattice.cells_ahead(state.at, direction)[
                : state.maze.lattice.count_free_ahead(state.at, direction)
            ]
            cells = line.index(state.maze.exit) + 1 if state.maze.exit in line else len(line)
            plans += [(Movement(direction, count),) for count in range(1, cells + 1)]
        return plans

    def apply(self, state: MazeState, action: MovePlan, rng: Stream) -> Transition[MazeState]:
        """Carry out a plan; the reward is 1 for reaching the exit."""
        maze, at, moved = state.maze, state.at, 0
        facing = state.facing
        for number, (direction, cells) in enumerate(action, start=1):
            line, free = maze.lattice.cells_ahead(at, direction), maze.lattice.count_free_ahead(at, direction)
            if maze.exit in (walked := line[: min(cells, free)]):
                steps = moved + walked.index(maze.exit) + 1
                return self._transition(MazeState(maze, maze.exit, direction), steps, number, Outcome.OK)
            if cells > free:
                blocked: dict[str, Json] = {
                    "movement": number,
                    "direction": direction,
                    "cells": cells,
                    "obstacle": "outside" if free == len(line) else "wall",
                }
                return self._transition(
                    MazeState(maze, at, facing), moved, number - 1, Outcome.ILLEGAL, illegal=blocked
                )
            at, facing = line[cells - 1], direction
            moved += cells
        far = maze.lattice.distances(maze.exit)
        outcome = Outcome.OK if far[at] < far[state.at] else Outcome.UNPRODUCTIVE
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
                case [str(direction), int(cells)] if direction in DIRECTIONS and cells >= 1 and cells is not True:
                    plan.append(Movement(direction, cells))
                case _:  # pyright: ignore[reportUnknownVariableType]
                    raise DataError('action: give [["down", 3], ["left", 2], ...], with whole numbers of at least 1')
        return tuple(plan)

    def cut(self, action: MovePlan, steps: int) -> tuple[MovePlan, int]:
        """Return the plan's first cells, as many as `steps`, and their number."""
        movements: list[Movement] = []
        remaining = steps
        for direction, cells in action:
            if remaining:
                movements.append(Movement(direction, min(cells, remaining)))
                remaining -= movements[-1].cells
        return tuple(movements), steps - remaining

    def perturb(self, state: MazeState, action: MovePlan, rate: float, rng: Stream) -> MovePlan:
        """Walk the plan in mind, and at each cell turn with probability `rate` into some open direction instead.

        The rest of the plan stays the same, as if the player did not notice the error.
        """
        cell: int | None = state.at
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
    while at != maze.exit and len(path) < 4 * len(maze.lattice.cells):
        open_: dict[str, int] = dict(maze.lattice.exits(at))
        ways = (direction_after_turn(heading, turn) for turn in ("right", "none", "left", "around"))
        heading = next(way for way in ways if way in open_)
        at = open_[heading]
        path.append(heading)
    return _plan_of_path(path)


def wanderer(state: MazeState, rng: Stream) -> MovePlan:
    """Walk at random for 4 N cells, turning back only in dead ends; stop at the exit if it happens to be met."""
    maze, at = state.maze, state.at
    path: list[str] = []
    came_from = ""
    while at != maze.exit and len(path) < 4 * maze.size:
        ways = [(way, cell) for way, cell in maze.lattice.exits(at) if way != came_from]
        way, at = rng.choice(ways or list(maze.lattice.exits(at)))
        path.append(way)
        came_from = direction_after_turn(way, "around")
    return _plan_of_path(path)


def noisy_success(maze: Maze, rate: float) -> float:
    """Return the probability that the plan of an oracle that errs at a rate in each step reaches the exit.

    An error turns into any of a cell's open directions, also into the right one (`MazeGame.perturb`). What is left out
    is that a later error, or a loop, makes good the first one, which is rare.
    """
    lattice, at, chance = maze.lattice, maze.entrance, 1.0
    for direction in lattice.shortest_path(maze.entrance, maze.exit) or ():
        ways = dict(lattice.exits(at))
        chance *= 1 - rate * (len(ways) - 1) / len(ways)
        at = ways[direction]
    return chance


PLAYERS = {"heuristic": wall_follower, "oracle": oracle, "random": wanderer}


def reasoning(state: MazeState) -> str:
    """Return a text that walks the shortest path cell by cell, as [x, y], with open ways and remaining moves."""
    lattice, at = state.maze.lattice, state.at
    far = lattice.distances(state.maze.exit)
    lines = [f"I am at {list(lattice.position(at))}, and the exit is at {list(lattice.position(state.maze.exit))}."]
    for direction in lattice.shortest_path(at, state.maze.exit) or ():
        ways = dict(lattice.exits(at))
        following = ways[direction]
        lines.append(
            f"{list(lattice.position(at))}: open ways: {', '.join(ways)}. {direction.capitalize()} leads to "
            f"{list(lattice.position(following))}, moves left from there: {far[following]}."
        )
        at = following
    return "\n".join(lines)


def _progress_to_exit(state: Any) -> float:
    """Return the share of the shortest path from entrance to exit that a state has gained."""
    maze: Maze = state.maze
    at: int = state.at
    far = maze.lattice.distances(maze.exit)
    return 1 - far[at] / far[maze.entrance]


POTENTIALS: tuple[Potential[Any], ...] = (
    Potential(
        "distance", "Share of the shortest path from the entrance to the exit that is gained.", _progress_to_exit
    ),
)
"""Of states with a maze and a cell, `maze` and `at`: of mazes that are seen as a whole, and in part."""

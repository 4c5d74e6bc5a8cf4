"""Players: optimal exploration of small mazes, ways through a maze of which a part was seen, and mazes by key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from math import inf
from typing import NamedTuple

from waybench.core import DataError, Item, Json, Source, Stream, UsageError
from waybench.envs.maze._environment import MazeSource, build_maze, connects_all_rooms, neighbouring_rooms, opening_cell
from waybench.envs.maze._game import Maze, decode, prove
from waybench.envs.maze.explore._game import (
    Sight,
    directions_inwards_first,
    exit_side,
    first_sight,
    frontier_cells,
    known_distances,
    reachable_cells,
    window_cells,
)
from waybench.envs.spaces._lattice import DIRECTIONS

USUAL_WINDOW = 5  # of the oracle that the proof and the success of horizons are about
LARGEST_EXACT = 7  # beyond it there are too many mazes: 1,293 for an entrance and a side at 7, 10 at 5

_TINY = 1e-9  # sums in another order differ by less; of equal choices the first counts


class WalkTarget(NamedTuple):
    """The expected steps to the exit, the next informative cell (or the exit), and the first cell on the way to it."""

    steps: float
    cell: int
    first: int


@lru_cache(maxsize=8)
def possible_mazes(size: int, entrance: int, side: str) -> tuple[Maze, ...]:
    """Return the mazes of a dimension with this entrance and an exit on a side, with any number of loops."""
    rooms = size // 2
    passages = neighbouring_rooms(rooms, rooms)
    shapes = [
        shape
        for opened in range(rooms * rooms - 1, len(passages) + 1)
        for shape in combinations(passages, opened)
        if connects_all_rooms(shape, rooms * rooms)
    ]
    exits = [cell for room in range(rooms) if (cell := opening_cell((size, size), side, room)) != entrance]
    return tuple(build_maze((size, size), shape, entrance, exit_) for shape in shapes for exit_ in exits)


class Beliefs:
    """The optimal choices among mazes that are possible, which have one dimension and one entrance."""

    def __init__(self, mazes: Sequence[Maze], window: int) -> None:
        self._size, self._window = mazes[0].size, window
        cells = range(self._size * self._size)
        self._all = (1 << len(mazes)) - 1
        self._open = [sum(1 << number for number, maze in enumerate(mazes) if maze.lattice.cells[c]) for c in cells]
        self._exit = [sum(1 << number for number, maze in enumerate(mazes) if maze.exit == c) for c in cells]
        # What tells possible mazes apart from a cell. An open cell of the border is the exit.
        telling = [{self._open[cell], self._exit[cell]} - {0, self._all} for cell in cells]
        self._told = [
            tuple(set[int]().union(*(telling[c] for c in window_cells(self._size, cell, window)))) for cell in cells
        ]
        self._near = [
            [
                (y + dy) * self._size + x + dx
                for direction in directions_inwards_first(mazes[0])
                for dx, dy in [DIRECTIONS[direction]]
                if 0 <= x + dx < self._size and 0 <= y + dy < self._size
            ]
            for cell in cells
            for y, x in [divmod(cell, self._size)]
        ]
        self._choices: dict[tuple[int, int], WalkTarget] = {}

    def consistent_mazes(self, sight: Sight) -> int:
        """Return the mazes that agree with what was seen, as bits of a number."""
        possible = self._all
        for cell in range(self._size * self._size):
            if sight.seen >> cell & 1:
                possible &= self._open[cell] if sight.maze.lattice.cells[cell] else ~self._open[cell]
                possible &= self._exit[cell] if cell == sight.maze.exit else ~self._exit[cell]
        return possible

    def best_target(self, possible: int, at: int) -> WalkTarget:
        """Return the best target from a cell with these possible mazes, all consistent with what is seen there."""
        if not possible & ~self._exit[at]:
            return WalkTarget(0.0, at, at)
        choice = self._choices.get((possible, at))
        if choice is None:
            choice = self._choices[possible, at] = self._search_best_target(possible, at)
        return choice

    def _search_best_target(self, possible: int, at: int) -> WalkTarget:
        """Return the target with the fewest expected steps to the exit."""
        total, best = possible.bit_count(), WalkTarget(inf, at, at)
        for cell, steps, first in self._informative_cells(possible, at):
            if steps >= best.steps:
                break
            parts = self._split_by_view(possible, cell)
            expected = steps + sum(part.bit_count() * self.best_target(part, cell).steps for part in parts) / total
            if expected < best.steps - _TINY:
                best = WalkTarget(expected, cell, first)
        return best

    def _informative_cells(self, possible: int, at: int) -> Iterator[tuple[int, int, int]]:
        """Yield the next cells where something can be learnt, or the exit, with their distances and the first cell."""
        far, first, todo = {at: 0}, {at: at}, [at]
        for cell in todo:
            if cell != at and (self._tells_apart(possible, cell) or not possible & ~self._exit[cell]):
                yield cell, far[cell], first[cell]
                continue
            for near in self._near[cell]:
                if near not in far and not possible & ~self._open[near]:
                    far[near] = far[cell] + 1
                    first[near] = near if cell == at else first[cell]
                    todo.append(near)

    def _tells_apart(self, possible: int, at: int) -> bool:
        """Return whether the view from a cell excludes some of the possible mazes, whichever is true."""
        return any(0 != possible & mask != possible for mask in self._told[at])

    def _split_by_view(self, possible: int, at: int) -> list[int]:
        """Return the possible mazes grouped by the view from a cell, each group as bits."""
        parts = [possible]
        for mask in self._told[at]:
            parts = [part for mazes in parts for part in (mazes & mask, mazes & ~mask) if part]
        return parts


@lru_cache(maxsize=32)
def beliefs(size: int, entrance: int, side: str, window: int) -> Beliefs:
    """Return the beliefs over all mazes of a dimension (at most `LARGEST_EXACT`), an entrance and an exit side."""
    return Beliefs(possible_mazes(size, entrance, side), window)


def best_step(sight: Sight) -> str:
    """Return the direction that the oracle takes; it knows only what was seen.

    Up to dimension 7 it minimises the expected number of steps over the possible mazes (`beliefs`). In larger ones, and
    in mazes that the source cannot draw, it walks to the frontier or the exit for which the way to it, plus the least
    possible way from there to where the exit can still be, is shortest: planning with the freespace assumption
    (S. Koenig, C. Tovey and Y. Smirnov, Artificial Intelligence 147, 2003). The player does not stand on the exit.
    """
    maze = sight.maze
    if maze.size <= LARGEST_EXACT:
        choices = beliefs(maze.size, maze.entrance, exit_side(maze), sight.window)
        if possible := choices.consistent_mazes(sight):
            first = choices.best_target(possible, sight.at).first
            return next(direction for direction, cell in maze.lattice.exits(sight.at) if cell == first)
    return _direction_towards(sight, _most_promising_cell(sight))


def _most_promising_cell(sight: Sight) -> int:
    """Return the frontier or the exit with the least possible length of a way over it to the exit."""
    maze, far = sight.maze, known_distances(sight, sight.at)
    cells = [maze.exit] if sight.knows(maze.exit) else [cell for cell in _possible_exits(maze) if not sight.knows(cell)]
    goals = list(map(maze.lattice.position, cells))
    best, target = inf, maze.exit
    for cell in [*frontier_cells(sight, far), *[maze.exit] * (maze.exit in far)]:
        if far[cell] >= best:
            continue
        x, y = maze.lattice.position(cell)
        least = min((abs(goal_x - x) + abs(goal_y - y) for goal_x, goal_y in goals), default=0)
        if far[cell] + least < best:
            best, target = far[cell] + least, cell
    return target


@lru_cache(maxsize=64)
def _possible_exits(maze: Maze) -> tuple[int, ...]:
    """Return the cells that can be the exit by the rules: those of its side, without the corners."""
    size, side = maze.size, exit_side(maze)
    lines = {"top": (0, 1), "bottom": (size * (size - 1), 1), "left": (0, size), "right": (size - 1, size)}
    start, step = lines[side]
    return tuple(start + step * along for along in range(1, size - 1))


def _direction_towards(sight: Sight, goal: int) -> str:
    """Return the first direction of a shortest known way to a cell."""
    back = known_distances(sight, goal)
    for direction in directions_inwards_first(sight.maze):
        near = sight.maze.lattice.neighbour_cell(sight.at, direction)
        if near is not None and back.get(near, len(back)) == back[sight.at] - 1:
            return direction
    raise ValueError("there is no way")


@lru_cache(maxsize=4096)
def oracle_steps(maze: Maze, window: int) -> int:
    """Return how many steps the oracle takes from the entrance to the exit, which can be reached."""
    sight, steps = first_sight(maze, window), 0
    while sight.at != maze.exit:
        sight, steps = sight.after_move(dict(maze.lattice.exits(sight.at))[best_step(sight)]), steps + 1
    return steps


def prove_explored(maze: Maze) -> dict[str, Json]:
    """Return the proof of a partly seen maze: that of `maze/alicia` with `path` for `solution`, and more.

    Returns:
        path: the movements of a shortest path;
        reachable: cells that can be reached from the entrance, itself included;
        oracle_steps: steps that the oracle takes with a window of 5 cells.

    Raises:
        DataError: If the exit cannot be reached.
    """
    proof = prove(maze)
    path = proof.pop("solution")  # movements of several cells are no action here
    count = reachable_cells(maze).bit_count()
    return {**proof, "path": path, "reachable": count, "oracle_steps": oracle_steps(maze, USUAL_WINDOW)}


def oracle(state: Sight, rng: Stream) -> str:
    """Take the best step that is known: see `best_step`."""
    return best_step(state)


def nearest_frontier(state: Sight, rng: Stream) -> str:
    """Walk to the nearest frontier until the exit can be reached.

    Exploration by frontiers is B. Yamauchi's (CIRA 1997).
    """
    far = known_distances(state, state.at)
    return _direction_towards(state, state.maze.exit if state.maze.exit in far else frontier_cells(state, far)[0])


def wanderer(state: Sight, rng: Stream) -> str:
    """Walk at random, turning back only in dead ends."""
    ways = [(way, cell) for way, cell in state.maze.lattice.exits(state.at) if cell != state.before]
    return rng.choice(ways or list(state.maze.lattice.exits(state.at)))[0]


PLAYERS = {"heuristic": nearest_frontier, "oracle": oracle, "random": wanderer}


def explain_move(state: Sight) -> str:
    """Return a text on the open ways, the frontier or the known exit, and the oracle's move. Cells are [x, y]."""
    lattice, far = state.maze.lattice, known_distances(state, state.at)
    ways = ", ".join(direction for direction, _ in lattice.exits(state.at))
    lines = [f"I am at {list(lattice.position(state.at))}. Open ways: {ways}."]
    if state.maze.exit in far:
        exit_ = list(lattice.position(state.maze.exit))
        lines.append(
            f"I have seen the exit at {exit_}, and the way that I know to it has {far[state.maze.exit]} moves."
        )
    else:
        places = [f"{list(lattice.position(cell))} ({far[cell]} moves)" for cell in frontier_cells(state, far)]
        lines.append(f"I know no way to the exit. Unseen cells are next to: {', '.join(places)}.")
    lines.append(f"I move {best_step(state)}.")
    return "\n".join(lines)


LARGEST = 101  # the oracle's walk through a larger one, which is part of the proof, takes too long


class ExploreSource(Source[Maze]):
    """Mazes of `MazeSource` with the proof of partly seen ones, of odd dimensions up to 101 (or UsageError)."""

    def __init__(self, key: str, size: int, options: Mapping[str, Json]) -> None:
        if size > LARGEST:
            raise UsageError(f"level {size}: a partly seen maze's dimension is at most {LARGEST}")
        if size % 2 == 0:
            raise UsageError(f"level {size}: a partly seen maze's dimension is odd")
        self._source = MazeSource(key, size, options)
        self.key, self.size = key, size

    @property
    def space(self) -> int | None:
        return self._source.space

    def item(self, index: int) -> Item[Maze]:
        item = self._source.item(index)
        return replace(item, proof=prove_explored(item.instance))


def decode_explored(data: Json) -> Maze:
    """Read a maze as for `maze/alicia`; raise DataError unless it is square, of an odd dimension up to 101."""
    maze = decode(data)
    if maze.lattice.width != maze.lattice.height or maze.size % 2 == 0:
        raise DataError("maze: a partly seen maze is square, and its dimension is odd")
    if maze.size > LARGEST:
        raise DataError(f"maze: the matrix has {maze.size} rows; a partly seen maze has at most {LARGEST}")
    return maze

"""Players: optimal exploration of small mazes, and paths through partly seen mazes; and mazes by key."""

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

USUAL_WINDOW = 5  # cells: of the oracle in the proof, with which the success of horizons compares
LARGEST_EXACT = 7  # beyond it there are too many mazes: 1,293 for an entrance and a side at 7, 10 at 5

_TOLERANCE = 1e-9  # steps: equal sums in different order differ by less; of equal choices the first counts


class WalkTarget(NamedTuple):
    """The expected steps to the exit, the next informative cell (or the exit), and the first cell on the way to it."""

    steps: float
    cell: int
    first_cell: int


@lru_cache(maxsize=8)
def possible_mazes(size: int, entrance: int, side: str) -> tuple[Maze, ...]:
    """Return the mazes of a dimension with this entrance and an exit on a side, with any number of loops."""
    rooms_along = size // 2
    n_rooms, passages = rooms_along**2, neighbouring_rooms(rooms_along, rooms_along)
    passage_sets = [
        candidate
        for n_passages in range(n_rooms - 1, len(passages) + 1)
        for candidate in combinations(passages, n_passages)
        if connects_all_rooms(candidate, n_rooms)
    ]
    exits = [cell for room in range(rooms_along) if (cell := opening_cell((size, size), side, room)) != entrance]
    return tuple(build_maze((size, size), opened, entrance, exit_) for opened in passage_sets for exit_ in exits)


class Beliefs:
    """The optimal choices among possible mazes of one dimension with one entrance.

    A set of mazes is a number with a bit for each maze.
    """

    def __init__(self, mazes: Sequence[Maze], window: int) -> None:
        self._size, self._window = mazes[0].size, window
        cells = range(self._size * self._size)
        self._all = (1 << len(mazes)) - 1
        # For each cell the mazes in which it is open, and those in which it is the exit.
        self._open = [sum(1 << number for number, maze in enumerate(mazes) if maze.lattice.cells[c]) for c in cells]
        self._exit = [sum(1 << number for number, maze in enumerate(mazes) if maze.exit == c) for c in cells]
        # For each cell the sets that the view from it tells from the other mazes.
        splits_by_cell = [{self._open[cell], self._exit[cell]} - {0, self._all} for cell in cells]
        self._splits_by_view = [
            tuple(set[int]().union(*(splits_by_cell[seen] for seen in window_cells(self._size, cell, window))))
            for cell in cells
        ]
        directions = directions_inwards_first(mazes[0])
        self._neighbours = [
            [near for name in directions if (near := mazes[0].lattice.neighbour_cell(cell, name)) is not None]
            for cell in cells
        ]
        self._choices: dict[tuple[int, int], WalkTarget] = {}

    def consistent_mazes(self, sight: Sight) -> int:
        """Return the set of mazes that agree with what was seen."""
        possible = self._all
        for cell in range(self._size * self._size):
            if sight.seen >> cell & 1:
                possible &= self._open[cell] if sight.maze.lattice.cells[cell] else ~self._open[cell]
                possible &= self._exit[cell] if cell == sight.maze.exit else ~self._exit[cell]
        return possible

    def best_target(self, possible: int, at: int) -> WalkTarget:
        """Return the best target from a cell with these possible mazes, all consistent with what is seen there."""
        if self._is_certain_exit(possible, at):
            return WalkTarget(0.0, at, at)
        choice = self._choices.get((possible, at))
        if choice is None:
            choice = self._choices[possible, at] = self._search_best_target(possible, at)
        return choice

    def _search_best_target(self, possible: int, at: int) -> WalkTarget:
        """Return the target with the fewest expected steps to the exit."""
        n_possible, best = possible.bit_count(), WalkTarget(inf, at, at)
        for cell, distance, first_cell in self._informative_cells(possible, at):
            if distance >= best.steps:  # the cells come nearest first
                break
            groups = self._split_by_view(possible, cell)
            total_steps = sum(group.bit_count() * self.best_target(group, cell).steps for group in groups)
            expected = distance + total_steps / n_possible
            if expected < best.steps - _TOLERANCE:
                best = WalkTarget(expected, cell, first_cell)
        return best

    def _informative_cells(self, possible: int, at: int) -> Iterator[tuple[int, int, int]]:
        """Yield (cell, distance, first cell of the path) for cells where something can be learnt, and for the exit.

        The paths lead over cells that are open in all possible mazes, and not beyond such a cell.
        """
        distances, first_cells, queue = {at: 0}, {at: at}, [at]
        for cell in queue:  # the list grows meanwhile
            if cell != at and (self._is_informative(possible, cell) or self._is_certain_exit(possible, cell)):
                yield cell, distances[cell], first_cells[cell]
                continue
            for neighbour in self._neighbours[cell]:
                is_certainly_open = not possible & ~self._open[neighbour]
                if neighbour not in distances and is_certainly_open:
                    distances[neighbour] = distances[cell] + 1
                    first_cells[neighbour] = neighbour if cell == at else first_cells[cell]
                    queue.append(neighbour)

    def _is_certain_exit(self, possible: int, cell: int) -> bool:
        """Return whether a cell is the exit in all possible mazes."""
        return not possible & ~self._exit[cell]

    def _is_informative(self, possible: int, at: int) -> bool:
        """Return whether the view from a cell excludes some of the possible mazes, whichever is true."""
        return any(0 != possible & mask != possible for mask in self._splits_by_view[at])

    def _split_by_view(self, possible: int, at: int) -> list[int]:
        """Return the possible mazes grouped by the view from a cell: one set for each view."""
        groups = [possible]
        for mask in self._splits_by_view[at]:
            groups = [part for group in groups for part in (group & mask, group & ~mask) if part]
        return groups


@lru_cache(maxsize=32)
def beliefs(size: int, entrance: int, side: str, window: int) -> Beliefs:
    """Return the beliefs over all mazes of a dimension `size` (at most `LARGEST_EXACT`), an entrance and an exit side.

    `window` is the side of the square that the player sees, in cells.
    """
    return Beliefs(possible_mazes(size, entrance, side), window)


def best_step(sight: Sight) -> str:
    """Return the direction that the oracle takes; it knows only what was seen.

    Up to dimension 7 it minimises the expected number of steps over the possible mazes (`beliefs`). In larger mazes,
    and in mazes that the source cannot draw, it walks to the frontier or the exit over which a path to the exit can be
    shortest, if all unseen cells are open: planning with the freespace assumption (S. Koenig, C. Tovey and Y. Smirnov,
    Artificial Intelligence 147, 2003). The player does not stand on the exit.
    """
    maze = sight.maze
    if maze.size <= LARGEST_EXACT:
        choices = beliefs(maze.size, maze.entrance, exit_side(maze), sight.window)
        if possible := choices.consistent_mazes(sight):  # none, if the source cannot draw this maze
            first_cell = choices.best_target(possible, sight.at).first_cell
            return next(direction for direction, cell in maze.lattice.exits(sight.at) if cell == first_cell)
    return _direction_towards(sight, _most_promising_cell(sight))


def _most_promising_cell(sight: Sight) -> int:
    """Return the frontier or the exit with the least possible length of a path over it to the exit."""
    maze, distances = sight.maze, known_distances(sight, sight.at)
    exits = [maze.exit] if sight.knows(maze.exit) else [cell for cell in _possible_exits(maze) if not sight.knows(cell)]
    exit_positions = list(map(maze.lattice.position, exits))
    candidates = frontier_cells(sight, distances)
    if maze.exit in distances:
        candidates.append(maze.exit)
    shortest, target = inf, maze.exit
    for cell in candidates:
        if distances[cell] >= shortest:
            continue
        x, y = maze.lattice.position(cell)
        beyond = min((abs(exit_x - x) + abs(exit_y - y) for exit_x, exit_y in exit_positions), default=0)
        if distances[cell] + beyond < shortest:
            shortest, target = distances[cell] + beyond, cell
    return target


@lru_cache(maxsize=64)
def _possible_exits(maze: Maze) -> tuple[int, ...]:
    """Return the cells that can be the exit by the rules: those of its side, without the corners."""
    size = maze.size
    corners_and_steps = {"top": (0, 1), "bottom": (size * (size - 1), 1), "left": (0, size), "right": (size - 1, size)}
    corner, step = corners_and_steps[exit_side(maze)]
    return tuple(corner + step * number for number in range(1, size - 1))


def _direction_towards(sight: Sight, goal: int) -> str:
    """Return the first direction of a shortest known path to a cell; ValueError if no path is known."""
    distances = known_distances(sight, goal)
    for direction in directions_inwards_first(sight.maze):
        neighbour = sight.maze.lattice.neighbour_cell(sight.at, direction)
        if neighbour is not None and distances.get(neighbour) == distances[sight.at] - 1:
            return direction
    raise ValueError("there is no way")


@lru_cache(maxsize=4096)
def oracle_steps(maze: Maze, window: int) -> int:
    """Return how many steps the oracle takes from the entrance to the exit, which must be within reach."""
    sight, steps = first_sight(maze, window), 0
    while sight.at != maze.exit:
        exits = dict(maze.lattice.exits(sight.at))
        sight, steps = sight.after_move(exits[best_step(sight)]), steps + 1
    return steps


def prove_explored(maze: Maze) -> dict[str, Json]:
    """Return the proof of a partly seen maze: that of `maze/alicia` without `solution`, and with these entries.

    Returns:
        path: the movements of a shortest path;
        reachable: cells that can be reached from the entrance, itself included;
        oracle_steps: steps that the oracle takes with a window of 5 cells.

    Raises:
        DataError: If the exit cannot be reached.
    """
    proof = prove(maze)
    path = proof.pop("solution")  # of movements over several cells, which are no actions here
    count = reachable_cells(maze).bit_count()
    return {**proof, "path": path, "reachable": count, "oracle_steps": oracle_steps(maze, USUAL_WINDOW)}


def oracle(state: Sight, rng: Stream) -> str:
    """Take the best step that is known: see `best_step`."""
    return best_step(state)


def nearest_frontier(state: Sight, rng: Stream) -> str:
    """Walk to the nearest frontier until the exit can be reached.

    Exploration by frontiers is B. Yamauchi's (CIRA 1997).
    """
    distances, exit_ = known_distances(state, state.at), state.maze.exit
    return _direction_towards(state, exit_ if exit_ in distances else frontier_cells(state, distances)[0])


def wanderer(state: Sight, rng: Stream) -> str:
    """Walk at random, turning back only in dead ends."""
    exits = list(state.maze.lattice.exits(state.at))
    direction, _ = rng.choice([(name, cell) for name, cell in exits if cell != state.before] or exits)
    return direction


PLAYERS = {"heuristic": nearest_frontier, "oracle": oracle, "random": wanderer}


def explain_move(state: Sight) -> str:
    """Return a text on the open ways, the frontier or the known exit, and the oracle's move. Cells are [x, y]."""
    lattice, distances, exit_ = state.maze.lattice, known_distances(state, state.at), state.maze.exit
    ways = ", ".join(direction for direction, _ in lattice.exits(state.at))
    lines = [f"I am at {list(lattice.position(state.at))}. Open ways: {ways}."]
    if exit_ in distances:
        way = f"the way that I know to it has {distances[exit_]} moves"
        lines.append(f"I have seen the exit at {list(lattice.position(exit_))}, and {way}.")
    else:
        frontier = frontier_cells(state, distances)
        cell_texts = [f"{list(lattice.position(cell))} ({distances[cell]} moves)" for cell in frontier]
        lines.append(f"I know no way to the exit. Unseen cells are next to: {', '.join(cell_texts)}.")
    lines.append(f"I move {best_step(state)}.")
    return "\n".join(lines)


LARGEST = 101  # the oracle's walk through a larger maze, which is part of the proof, takes too long


class ExploreSource(Source[Maze]):
    """Mazes of `MazeSource` with the proof of partly seen mazes; UsageError unless the dimension is odd, up to 101."""

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

"""Scripted players of the partly seen maze, how the oracle chooses, and the mazes by key."""

from collections.abc import Mapping
from dataclasses import replace

from waybench.core import DataError, Item, Json, Source, Stream, UsageError
from waybench.envs.maze._game import Maze, decode
from waybench.envs.maze._items import MazeSource
from waybench.envs.maze.explore._exploration import best_step, nearest_step
from waybench.envs.maze.explore._game import Sight, frontier, known_ways
from waybench.envs.maze.explore._measures import prove_explored


def oracle(state: Sight, rng: Stream) -> str:
    """Take the best step that is known: see `best_step`."""
    return best_step(state)


def nearest_frontier(state: Sight, rng: Stream) -> str:
    """Walk to the nearest frontier until the exit can be reached."""
    return nearest_step(state)


def wanderer(state: Sight, rng: Stream) -> str:
    """Walk at random, turning back only in dead ends."""
    ways = [(way, cell) for way, cell in state.maze.lattice.exits(state.at) if cell != state.before]
    return rng.choice(ways or list(state.maze.lattice.exits(state.at)))[0]


PLAYERS = {"heuristic": nearest_frontier, "oracle": oracle, "random": wanderer}


def reasoning(state: Sight) -> str:
    """Return the open ways, what can be explored, and the move. Cells are [x, y] as in the prompts."""
    lattice, far = state.maze.lattice, known_ways(state, state.at)
    ways = ", ".join(direction for direction, _ in lattice.exits(state.at))
    lines = [f"I am at {list(lattice.position(state.at))}. Open ways: {ways}."]
    if state.maze.exit in far:
        exit_ = list(lattice.position(state.maze.exit))
        lines.append(
            f"I have seen the exit at {exit_}, and the way that I know to it has {far[state.maze.exit]} moves."
        )
    else:
        places = [f"{list(lattice.position(cell))} ({far[cell]} moves)" for cell in frontier(state, far)]
        lines.append(f"I know no way to the exit. Unseen cells are next to: {', '.join(places)}.")
    lines.append(f"I move {best_step(state)}.")
    return "\n".join(lines)


LARGEST = 101  # the oracle's walk through a larger one, which is part of the proof, takes too long


class ExploreSource(Source[Maze]):
    """Mazes of one key, dimension and style, with the proof of partly seen ones.

    Args:
        key: The set's key.
        size: The dimension.
        options: As for `MazeSource`.

    Raises:
        UsageError: If the dimension is even or out of range.
    """

    def __init__(self, key: str, size: int, options: Mapping[str, Json]) -> None:
        if size > LARGEST:
            raise UsageError(f"level {size}: a partly seen maze's dimension is at most {LARGEST}")
        self._source = MazeSource(key, size, options)
        self.key, self.size = key, size

    @property
    def space(self) -> int | None:
        """The number of different mazes of this level; None where they cannot be listed."""
        return self._source.space

    def item(self, index: int) -> Item[Maze]:
        """Return a maze with its proof."""
        item = self._source.item(index)
        return replace(item, proof=prove_explored(item.instance))


def decode_explored(data: Json) -> Maze:
    """Read a maze as for `maze/alicia`, up to dimension 101.

    Raises:
        DataError: If it is no such maze.
    """
    maze = decode(data)
    if maze.size > LARGEST:
        raise DataError(f"maze: the matrix has {maze.size} rows; a partly seen maze has at most {LARGEST}")
    return maze

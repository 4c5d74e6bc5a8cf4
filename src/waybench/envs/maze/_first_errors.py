"""The first error of a plan through a maze."""

from collections.abc import Iterator

from waybench.core import EpisodeRecord, FailureKind, FirstErrors, Step, unread
from waybench.envs.maze._instance import Maze, decode
from waybench.spaces import Lattice

WALL = FailureKind("wall", "movements into walls", "The step leads into a wall or out of the maze.")
COUNT = FailureKind(
    "count",
    "wrong numbers of cells",
    "The step leads into a wall, since the plan turns too late, or as the shortest path does, but too early.",
)
JUNCTION = FailureKind("junction", "wrong turns at junctions", "At a junction the step leads away from the exit.")
REVISIT = FailureKind("revisit", "steps back", "The step leads back to a cell where the player has been.")
DIRECTION = FailureKind("direction", "wrong directions", "Elsewhere, the step leads away from the exit.")
STOPPED = FailureKind("stopped", "stopping before the exit", "The plan ends before the exit.")


def steps(record: EpisodeRecord) -> Iterator[Step]:
    """Yield the steps of all plans, cell by cell, up to the first that is not on a shortest path."""
    maze = decode(record.instance)
    far, at, heading = maze.lattice.distances(maze.exit), maze.entrance, ""
    seen = {at}
    number = -1
    for number, turn in enumerate(record.turns):
        if turn.action is None:
            yield Step(number, unread(turn))
            return
        for direction, cells in turn.action:
            for _ in range(cells):
                if at == maze.exit:
                    return
                following = maze.lattice.step(at, direction)
                if following is None or not maze.lattice.cells[following]:
                    yield Step(number, COUNT if direction in (heading, _next_turn(maze, at, heading)) else WALL)
                    return
                if far[following] >= far[at]:
                    yield Step(number, _wrong_way(maze.lattice, at, following in seen))
                    return
                yield Step(number)
                at, heading = following, direction
                seen.add(at)
    if at != maze.exit:
        yield Step(number, STOPPED)


def _wrong_way(lattice: Lattice, at: int, is_seen: bool) -> FailureKind:
    if is_seen:
        return REVISIT
    return JUNCTION if len(list(lattice.exits(at))) > 2 else DIRECTION


def _next_turn(maze: Maze, at: int, heading: str) -> str:
    """Return the direction in which a shortest path goes on after it has gone straight ahead; "" if it does not."""
    far = maze.lattice.distances(maze.exit)
    ahead = maze.lattice.step(at, heading) if heading else None
    if ahead is None or not maze.lattice.cells[ahead] or far[ahead] >= far[at]:
        return ""
    while ahead is not None and maze.lattice.cells[ahead] and far[ahead] < far[at]:
        at, ahead = ahead, maze.lattice.step(ahead, heading)
    return next((name for name, cell in maze.lattice.exits(at) if far[cell] < far[at]), "")


FIRST_ERRORS = FirstErrors((JUNCTION, DIRECTION, REVISIT, COUNT, WALL, STOPPED), steps)

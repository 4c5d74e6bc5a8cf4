"""Explanatory variables of mazes: what may make one harder than another of the same dimension."""

from waybench.core import Axis, EpisodeRecord, ExplanatoryVariables, proof_axis
from waybench.envs.maze._instance import decode

MINIMUM = proof_axis("minimum", "Minimum steps", "Cells on a shortest path, without the entrance.")
JUNCTIONS = proof_axis("junctions", "Junctions", "Cells with three or four open neighbours.")


def _turns(record: EpisodeRecord) -> float | None:
    straight = record.proof.get("solution")
    return float(len(straight) - 1) if straight else None


def _dead_ends(record: EpisodeRecord) -> float:
    maze = decode(record.instance)
    cells, width = maze.lattice.cells, maze.size
    inner = range(width + 1, width * (width - 1))  # the entrance and the exit are no dead ends
    return float(
        sum(
            cells[cell] != 0
            and 0 < cell % width < width - 1
            and cells[cell - 1] + cells[cell + 1] + cells[cell - width] + cells[cell + width] == 1
            for cell in inner
        )
    )


def _wrong_ways(record: EpisodeRecord) -> float | None:
    """Return the number of openings beside a shortest path, each of which is a wrong way."""
    solution = record.proof.get("solution")
    if not solution:
        return None
    maze = decode(record.instance)
    cells, width = maze.lattice.cells, maze.size
    steps = {"up": -width, "down": width, "left": -1, "right": 1}
    at, path = maze.entrance, [maze.entrance]
    for direction, count in solution:
        for _ in range(count):
            at += steps[direction]
            path.append(at)
    inside = [cell for cell in path if width < cell < width * (width - 1) and 0 < cell % width < width - 1]
    return float(sum(cells[cell + step] for cell in inside for step in steps.values()) - 2 * len(inside))


VARIABLES = ExplanatoryVariables(
    items=(
        MINIMUM,
        Axis(name="turns", title="Turns", of=_turns, doc="Changes of direction on a shortest path."),
        Axis(name="dead_ends", title="Dead ends", of=_dead_ends, doc="Cells with one open neighbour."),
        Axis(
            name="wrong_ways",
            title="Wrong ways",
            of=_wrong_ways,
            doc="Open neighbours of the cells of a shortest path that are not on it.",
        ),
        JUNCTIONS,
    )
)

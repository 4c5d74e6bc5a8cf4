"""Explanatory variables of mazes: what may make one harder than another of the same dimension."""

from typing import Any

from waybench.core import Axis, EpisodeRecord, ExplanatoryVariables, proof_axis

MINIMUM = proof_axis("minimum", "Minimum steps", "Cells on a shortest path, without the entrance.")
JUNCTIONS = proof_axis("junctions", "Junctions", "Cells with three or four open neighbours.")
_STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}  # columns and rows


def _path(record: EpisodeRecord) -> Any:
    """Return the movements of a shortest path, where the proof has one; not everywhere are they an action."""
    return record.proof.get("solution") or record.proof.get("path")


def _turns(record: EpisodeRecord) -> float | None:
    straight = _path(record)
    return float(len(straight) - 1) if straight else None


def _open(record: EpisodeRecord) -> list[bytes]:
    """Return the rows of the maze, 1 for an open cell, without the checks of reading a maze from outside."""
    return [bytes([cell != 0 for cell in row]) for row in record.instance["maze"]]


def _dead_ends(record: EpisodeRecord) -> float:
    rows = _open(record)
    # Entrance and exit, on the border, are no dead ends.
    return float(
        sum(
            cell and left + right + up + down == 1
            for above, row, below in zip(rows, rows[1:], rows[2:], strict=False)
            for cell, left, right, up, down in zip(row[1:], row, row[2:], above[1:], below[1:], strict=False)
        )
    )


def _wrong_ways(record: EpisodeRecord) -> float | None:
    """Return the number of openings beside a shortest path, each of which is a wrong way."""
    solution = _path(record)
    if not solution:
        return None
    rows = _open(record)
    x, y = next((row.index("X"), number) for number, row in enumerate(record.instance["maze"]) if "X" in row)
    x, y, found = int(x), int(y), 0
    for direction, count in solution:
        right, down = _STEPS[direction]
        for _ in range(count):
            x, y = x + right, y + down
            if 0 < x < len(rows) - 1 and 0 < y < len(rows) - 1:
                # Two of the open neighbours are on the path.
                found += rows[y][x - 1] + rows[y][x + 1] + rows[y - 1][x] + rows[y + 1][x] - 2
    return float(found)


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

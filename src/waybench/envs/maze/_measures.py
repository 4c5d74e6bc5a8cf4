"""What is measured of an attempt at a maze: metrics, failures, first errors, explanatory variables and beliefs."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from waybench.core import (
    NO_ANSWER,
    Axis,
    Belief,
    EpisodeRecord,
    ExplanatoryVariables,
    FailureKind,
    FirstErrors,
    Metric,
    Step,
    general_failure_kind,
    most_frequent_kind,
    outcome_metric,
    proof_axis,
    proof_metric,
    read_numbers,
    unread_reply_kind,
)
from waybench.envs.maze._game import Maze, decode
from waybench.envs.spaces._lattice import DIRECTIONS, Lattice


def _cells_moved(record: EpisodeRecord) -> float:
    return float(sum(turn.events.get("moved", 0) for turn in record.turns))


def _raw_score(record: EpisodeRecord) -> float:
    minimum = record.proof["minimum"]
    return (1 - (_cells_moved(record) - minimum) / minimum) * 100 if record.end == "solved" else 0.0


def _request_limit(record: EpisodeRecord) -> int:
    return record.options["requests"]


def is_competent(record: EpisodeRecord) -> bool:
    """Return whether a solved maze took at most one and a half times the minimum of steps: a score of at least 50.

    Twice the minimum would not do: a random walk without turning back solves .70 of mazes of dimension 5 in it.
    """
    return 2 * _cells_moved(record) <= 3 * record.proof["minimum"]


_ANY_LENGTH = "a reply can name any number of movements"
REACHED = Metric(
    name="reached",
    of=lambda record: float(record.end == "solved"),
    title="Reached",
    low=0,
    high=1,
    doc="1 if the exit was reached.",
)

METRICS = (
    Metric(
        name="score",
        of=lambda record: max(0.0, _raw_score(record)),
        title="Score",
        unit="%",
        low=0,
        high=100,
        doc="raw_score, but at least 0.",
    ),
    Metric(
        name="raw_score",
        of=_raw_score,
        title="Raw score",
        unit="%",
        high=100,
        unbounded=_ANY_LENGTH,
        doc="(1 - (steps - minimum) / minimum) * 100 if the exit was reached, otherwise 0 (AliciaBench's description).",
    ),
    REACHED,
    Metric(
        name="steps",
        of=_cells_moved,
        title="Steps",
        low=0,
        unbounded=_ANY_LENGTH,
        better="",
        doc="Cells moved in all requests of the attempt.",
    ),
    proof_metric("minimum", "Minimum steps", "Cells on a shortest path, without the entrance."),
    Metric(
        name="requests",
        of=lambda record: float(len(record.own_turns)),
        title="Requests",
        range=lambda record: (0, _request_limit(record)),
        better="lower",
        doc="Requests used.",
    ),
    outcome_metric("unparsed", "Replies that are not a list of movements.", max_turns=_request_limit),
    outcome_metric("illegal", "Replies with a movement into a wall or outside.", max_turns=_request_limit),
)


WALL = FailureKind("wall", "movements into walls", "Most plans have a movement into a wall.")
OUTSIDE = FailureKind("outside", "movements out of the maze", "Most plans have a movement out of the matrix.")
STOPPED = FailureKind("stopped", "plans that stop before the exit", "Most plans were valid but did not reach the exit.")

FAILURES = (WALL, OUTSIDE, STOPPED)


def failure(record: EpisodeRecord) -> FailureKind:
    """Return the most frequent outcome of the plans, where most replies were plans."""
    general = general_failure_kind(record)
    return general if general in NO_ANSWER else most_frequent_kind(_plan_outcomes(record), FAILURES) or general


def _plan_outcomes(record: EpisodeRecord) -> Iterator[FailureKind]:
    """Yield for each plan whether it hit a wall, left the maze, or was valid and stopped short of the exit."""
    for turn in record.own_turns:
        if turn.action is not None:
            illegal = turn.events.get("illegal")
            if illegal is None:
                yield STOPPED
            else:
                yield OUTSIDE if illegal["obstacle"] == "outside" else WALL


WALL_ERROR = FailureKind("wall", "movements into walls", "The step leads into a wall or out of the maze.")
COUNT = FailureKind(
    "count",
    "wrong numbers of cells",
    "The step leads into a wall, since the plan turns too late, or as the shortest path does, but too early.",
)
JUNCTION = FailureKind("junction", "wrong turns at junctions", "At a junction the step leads away from the exit.")
REVISIT = FailureKind("revisit", "steps back", "The step leads back to a cell where the player has been.")
DIRECTION = FailureKind("direction", "wrong directions", "Elsewhere, the step leads away from the exit.")
STOPPED_ERROR = FailureKind("stopped", "stopping before the exit", "The plan ends before the exit.")


def plan_steps(record: EpisodeRecord) -> Iterator[Step]:
    """Yield the steps of all plans, cell by cell, up to and including the first error."""
    maze = decode(record.instance)
    distances, at, heading = maze.lattice.distances(maze.exit), maze.entrance, ""
    visited = {at}
    number = -1
    for number, turn in enumerate(record.turns):
        if turn.action is None:
            yield Step(number, unread_reply_kind(turn))
            return
        for direction, cells in turn.action:
            for _ in range(cells):
                if at == maze.exit:
                    return
                next_cell = maze.lattice.neighbour_cell(at, direction)
                if next_cell is None or not maze.lattice.cells[next_cell]:
                    is_miscount = direction in (heading, _next_turn(maze, at, heading))  # a turn too late or too early
                    yield Step(number, COUNT if is_miscount else WALL_ERROR)
                    return
                if distances[next_cell] >= distances[at]:
                    yield Step(number, _wrong_step_kind(maze.lattice, at, next_cell in visited))
                    return
                yield Step(number)
                at, heading = next_cell, direction
                visited.add(at)
    if at != maze.exit:
        yield Step(number, STOPPED_ERROR)


def _wrong_step_kind(lattice: Lattice, at: int, is_visited: bool) -> FailureKind:
    """Return the kind of error of a step from `at` to an open cell that leads away from the exit."""
    if is_visited:
        return REVISIT
    return JUNCTION if len(list(lattice.exits(at))) > 2 else DIRECTION


def _next_turn(maze: Maze, at: int, heading: str) -> str:
    """Return the direction of the next turn of a shortest path that goes straight ahead; "" if none goes so."""
    distances = maze.lattice.distances(maze.exit)

    def cell_ahead(cell: int) -> int | None:
        """Return the next cell straight ahead; None if it is no open cell nearer to the exit."""
        ahead = maze.lattice.neighbour_cell(cell, heading) if heading else None
        return ahead if ahead is not None and 0 <= distances[ahead] < distances[cell] else None

    if cell_ahead(at) is None:
        return ""
    while (ahead := cell_ahead(at)) is not None:
        at = ahead
    return next((name for name, cell in maze.lattice.exits(at) if distances[cell] < distances[at]), "")


FIRST_ERRORS = FirstErrors((JUNCTION, DIRECTION, REVISIT, COUNT, WALL_ERROR, STOPPED_ERROR), plan_steps)


MINIMUM = proof_axis("minimum", "Minimum steps", "Cells on a shortest path, without the entrance.")
JUNCTIONS = proof_axis("junctions", "Junctions", "Cells with three or four open neighbours.")


def _shortest_path_movements(record: EpisodeRecord) -> Any:
    """Return the movements of a shortest path from the proof of either maze environment; None if it has no path."""
    return record.proof.get("solution") or record.proof.get("path")


def _count_direction_changes(record: EpisodeRecord) -> float | None:
    movements = _shortest_path_movements(record)  # each straight on
    return float(len(movements) - 1) if movements else None


def _open_cell_rows(record: EpisodeRecord) -> list[bytes]:
    """Return the rows of the maze, 1 for an open cell, without the checks of `decode`."""
    return [bytes([cell != 0 for cell in row]) for row in record.instance["maze"]]


def _count_dead_ends(record: EpisodeRecord) -> float:
    rows = _open_cell_rows(record)
    dead_end_count = 0  # without entrance and exit, which are on the border
    for above, row, below in zip(rows, rows[1:], rows[2:], strict=False):
        for cell, west, east, north, south in zip(row[1:], row, row[2:], above[1:], below[1:], strict=False):
            dead_end_count += bool(cell) and west + east + north + south == 1
    return float(dead_end_count)


def _count_wrong_ways(record: EpisodeRecord) -> float | None:
    """Return the number of openings beside a shortest path; None without a path in the proof."""
    movements = _shortest_path_movements(record)
    if not movements:
        return None
    rows = _open_cell_rows(record)
    x, y = next((int(row.index("X")), number) for number, row in enumerate(record.instance["maze"]) if "X" in row)
    opening_count = 0
    for direction, count in movements:
        dx, dy = DIRECTIONS[direction]
        for _ in range(count):
            x, y = x + dx, y + dy
            if 0 < x < len(rows[0]) - 1 and 0 < y < len(rows) - 1:
                # Two of the open neighbours are on the path.
                opening_count += rows[y][x - 1] + rows[y][x + 1] + rows[y - 1][x] + rows[y + 1][x] - 2
    return float(opening_count)


VARIABLES = ExplanatoryVariables(
    items=(
        MINIMUM,
        Axis(name="turns", title="Turns", of=_count_direction_changes, doc="Changes of direction on a shortest path."),
        Axis(name="dead_ends", title="Dead ends", of=_count_dead_ends, doc="Cells with one open neighbour."),
        Axis(
            name="wrong_ways",
            title="Wrong ways",
            of=_count_wrong_ways,
            doc="Open neighbours of the cells of a shortest path that are not on it.",
        ),
        JUNCTIONS,
    )
)


POSITION: Belief[Any] = Belief(  # of any state with a maze and a cell, here and in partly seen mazes
    name="position",
    title="position",
    doc="The player's cell.",
    question="At which position [x,y] am I now? The cell in the upper left corner is [0,0].",
    form="[<x>, <y>]",
    expected=lambda state: list(state.maze.lattice.position(state.at)),
    read=partial(read_numbers, count=2),
)

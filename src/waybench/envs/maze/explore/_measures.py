"""What is measured in a partly seen maze: metrics, failures and beliefs."""

from collections.abc import Iterator, Mapping
from math import ceil

from waybench.core import (
    ILLEGAL,
    NO_ANSWER,
    Belief,
    EpisodeRecord,
    FailureKind,
    Json,
    Metric,
    TurnRecord,
    general_failure,
    outcome_metric,
    proof_metric,
    read_rows,
    share_of_cells,
)
from waybench.envs.maze._game import Maze, decode, prove
from waybench.envs.maze._measures import POSITION
from waybench.envs.maze.explore._exploration import oracle_steps
from waybench.envs.maze.explore._game import EXPLOITING, EXPLORING, Sight, first_sight, known_ways, reachable
from waybench.envs.maze.explore._wording import map_rows

USUAL_WINDOW = 5  # of the oracle that the proof and the success of horizons are about


def prove_explored(maze: Maze) -> dict[str, Json]:
    """Return what is known of a maze, as for a maze that is seen as a whole, and more.

    Returns:
        path: what is the solution there;
        reachable: cells that can be reached from the entrance, itself included;
        oracle_steps: steps that the oracle takes with a window of 5 cells.

    Raises:
        DataError: If the exit cannot be reached.
    """
    known = prove(maze)
    path = known.pop("solution")  # movements of several cells are no action here
    count = reachable(maze).bit_count()
    return {**known, "path": path, "reachable": count, "oracle_steps": oracle_steps(maze, USUAL_WINDOW)}


def most_turns(maze: Maze, factor: float) -> int:
    """Return the turns of an episode: a multiple of the moves that a depth-first search of the maze needs at most.

    Args:
        maze: The maze.
        factor: The multiple.
    """
    return _turns(reachable(maze).bit_count(), factor)


def _turns(cells: int, factor: float) -> int:
    return max(1, ceil(factor * 2 * (cells - 1)))


def _limit(record: EpisodeRecord) -> int:
    return _turns(record.proof["reachable"], record.options["turn_factor"])


def moves(record: EpisodeRecord) -> Iterator[TurnRecord]:
    """Yield the turns that were moves."""
    return (turn for turn in record.turns if "phase" in turn.events)


def _steps(record: EpisodeRecord) -> int:
    return sum(1 for _ in moves(record))


def _reached(record: EpisodeRecord) -> bool:
    return record.end == "solved"


def _score(record: EpisodeRecord) -> float:
    return 100 * record.proof["minimum"] / _steps(record) if _reached(record) else 0.0


def is_competent(record: EpisodeRecord) -> bool:
    """Return whether the steps are at most one and a half times those of the oracle with a window of 5 cells."""
    return 2 * _steps(record) <= 3 * record.proof["oracle_steps"]


def _seen(record: EpisodeRecord) -> float:
    seen = next((turn.events["seen"] for turn in reversed(record.turns) if "seen" in turn.events), None)
    if seen is None:
        maze = decode(record.instance)
        seen = (first_sight(maze, record.options["window"]).seen & reachable(maze)).bit_count()
    return seen / record.proof["reachable"]


def _revisits(record: EpisodeRecord) -> float:
    """Count moves beyond the shortest way over cells seen by then, from each cell entered first to the next one."""
    maze = decode(record.instance)
    sight = first_sight(maze, record.options["window"])
    visited, since, left, beyond = {sight.at}, 0, sight.at, 0
    for turn in moves(record):
        x, y = turn.events["at"]
        sight, since = sight.moved(y * maze.size + x), since + 1
        if sight.at not in visited:
            beyond += since - known_ways(sight, left)[sight.at] if since > 1 else 0
            visited.add(sight.at)
            left, since = sight.at, 0
    return float(beyond + (since - known_ways(sight, left)[sight.at] if since else 0))


def _oracle(record: EpisodeRecord) -> int:
    window = record.options["window"]
    return record.proof["oracle_steps"] if window == USUAL_WINDOW else oracle_steps(decode(record.instance), window)


def _errors(record: EpisodeRecord, phase: str) -> float:
    return float(sum(turn.events["error"] for turn in moves(record) if turn.events["phase"] == phase))


def errors_and_moves(record: EpisodeRecord, phase: str) -> tuple[float, float]:
    """Return the number of errors in a phase, and of moves."""
    return _errors(record, phase), float(sum(turn.events["phase"] == phase for turn in moves(record)))


def _error_metric(name: str, phase: str, title: str, doc: str) -> Metric:
    return Metric(
        name=name,
        of=lambda record: _errors(record, phase),
        title=title,
        range=lambda record: (0, _limit(record)),
        per=lambda record: errors_and_moves(record, phase)[1],
        better="lower",
        doc=doc,
    )


METRICS = (
    Metric(
        name="score",
        of=_score,
        title="Score",
        unit="%",
        low=0,
        high=100,
        doc="100 * minimum / steps if the exit was reached, otherwise 0: success weighted by path length "
        "(P. Anderson et al., arXiv:1807.06757, 2018). Whoever does not know the maze seldom has 100.",
    ),
    Metric(
        name="reached",
        of=lambda record: float(_reached(record)),
        title="Reached",
        low=0,
        high=1,
        doc="1 if the exit was reached.",
    ),
    Metric(
        name="over_oracle",
        of=lambda record: _steps(record) / _oracle(record) if _reached(record) else None,
        title="Steps / oracle's",
        range=lambda record: (0, _limit(record) / _oracle(record)),
        better="lower",
        doc="If the exit was reached, steps divided by those of the oracle with the same window. It can be below 1: "
        "the oracle knows no more than the player, and can have less luck.",
    ),
    Metric(
        name="seen",
        of=_seen,
        title="Area seen",
        low=0,
        high=1,
        better="",
        doc="Share of the cells that can be reached which were seen. More is not better once the exit is known.",
    ),
    Metric(
        name="revisits",
        of=_revisits,
        title="Revisits beyond need",
        range=lambda record: (0, _limit(record)),
        better="lower",
        doc="Moves beyond the shortest way, over cells seen by then, from each cell entered for the first time to the "
        "next such cell, or to where the episode ended.",
    ),
    _error_metric(
        "exploration_errors",
        EXPLORING,
        "Exploration errors",
        "Moves, before a way to the exit was known, that led nearer to no frontier: to no reachable cell beside an "
        "unseen one. A set's figure is their share of the moves before a way to the exit was known.",
    ),
    _error_metric(
        "exploitation_errors",
        EXPLOITING,
        "Exploitation errors",
        "Moves, once a way to the exit was known, that led nearer neither to it nor to a frontier over which a shorter "
        "way was possible. A set's figure is their share of the moves since a way to the exit was known.",
    ),
    Metric(
        name="steps",
        of=lambda record: float(_steps(record)),
        title="Steps",
        range=lambda record: (0, _limit(record)),
        better="",
        doc="Cells moved.",
    ),
    proof_metric(
        "minimum",
        "Minimum steps",
        "Cells on a shortest path, without the entrance, which is known only to who sees the whole maze.",
    ),
    outcome_metric("unparsed", "Replies that are not a move.", most=_limit),
    outcome_metric("illegal", "Moves into a wall or out of the maze.", most=_limit),
)


KNOWN = FailureKind("known_exit", "not walking to a known exit", "A way to the exit was known at the end.")
AIMLESS = FailureKind(
    "aimless", "exploring without aim", "No way to the exit was known, and at least a quarter of moves were errors."
)

FAILURES = (KNOWN, AIMLESS)


def failure(record: EpisodeRecord) -> FailureKind:
    """Return why the exit was not reached, where most replies were moves."""
    general = general_failure(record)
    if general in (*NO_ANSWER, ILLEGAL):
        return general
    last = next((turn.events["phase"] for turn in reversed(record.turns) if "phase" in turn.events), None)
    if last == EXPLOITING:
        return KNOWN
    errors, moved = errors_and_moves(record, EXPLORING)
    return AIMLESS if moved and 4 * errors >= moved else general


def _is_shown(options: Mapping[str, Json], state: Sight) -> bool:
    # With another memory, the messages with what was seen first are not shown any more.
    return options["memory"] == "chat"


MAP: Belief[Sight] = Belief(
    name="map",
    title="map",
    doc="The whole maze as far as it was seen; the share is that of its cells that are right.",
    question="What have I seen of the maze so far? Draw the whole maze, one row in each text, from top to bottom: "
    '"." is a path, "#" is a wall, "?" was not seen yet, "X" is where I am now, and "E" is the exit.',
    form='["<first row>", "<second row>", ...]',
    expected=map_rows,
    read=read_rows,
    is_shown=_is_shown,
    share=share_of_cells,
)
BELIEFS: tuple[Belief[Sight], ...] = (POSITION, MAP)

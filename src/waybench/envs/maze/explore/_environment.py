"""The partly seen maze as an environment: metrics, failures, beliefs, options and the catalogue's value."""

from collections.abc import Iterator, Mapping
from math import ceil

from waybench._package_data import read_text
from waybench.core import (
    EASIER,
    ILLEGAL,
    NO_ANSWER,
    Belief,
    Difficulty,
    Environment,
    EpisodeRecord,
    ExplanatoryVariables,
    FailureKind,
    HorizonSpec,
    Images,
    Items,
    Json,
    Limits,
    Memory,
    Metric,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    TurnRecord,
    Typing,
    UsageError,
    general_failure_kind,
    level_axis,
    outcome_metric,
    proof_axis,
    proof_metric,
)
from waybench.core._questions import read_drawing_rows, share_of_right_cells
from waybench.envs.maze._environment import STYLE_OPTIONS
from waybench.envs.maze._game import POTENTIALS, Maze, decode, isomorph
from waybench.envs.maze._measures import JUNCTIONS, POSITION, REACHED, VARIABLES
from waybench.envs.maze.explore._drawing import (
    TYPED_HELP,
    board,
    draw_picture,
    format_typed,
    parse_typed,
    scenes,
    typed_actions,
)
from waybench.envs.maze.explore._exploration import (
    PLAYERS,
    USUAL_WINDOW,
    ExploreSource,
    decode_explored,
    explain_move,
    oracle_steps,
    prove_explored,
)
from waybench.envs.maze.explore._game import (
    EXPLOITING,
    EXPLORING,
    FORMS,
    ExploreGame,
    ExploreWording,
    Sight,
    first_sight,
    known_distances,
    map_rows,
    reachable_cells,
)


def max_turns(maze: Maze, factor: float) -> int:
    """Return the turn limit: `factor` times the most moves of a depth-first search of the maze."""
    return _max_turns_for_cells(reachable_cells(maze).bit_count(), factor)


def _max_turns_for_cells(cell_count: int, factor: float) -> int:
    """Return the turn limit for a number of reachable cells, each of which a search enters and leaves once."""
    return max(1, ceil(factor * 2 * (cell_count - 1)))


def _turn_limit(record: EpisodeRecord) -> int:
    return _max_turns_for_cells(record.proof["reachable"], record.options["turn_factor"])


def move_turns(record: EpisodeRecord) -> Iterator[TurnRecord]:
    """Yield the turns with a legal move."""
    return (turn for turn in record.turns if "phase" in turn.events)


def _count_moves(record: EpisodeRecord) -> int:
    return sum(1 for _ in move_turns(record))


def is_competent(record: EpisodeRecord) -> bool:
    """Return whether the steps are at most one and a half times those of the oracle with a window of 5 cells."""
    return 2 * _count_moves(record) <= 3 * record.proof["oracle_steps"]


def _share_seen(record: EpisodeRecord) -> float:
    """Return the share of the reachable cells that were seen."""
    seen_count = next((turn.events["seen"] for turn in reversed(record.turns) if "seen" in turn.events), None)
    if seen_count is None:  # without a turn, what is seen from the entrance
        maze = decode(record.instance)
        seen_count = (first_sight(maze, record.options["window"]).seen & reachable_cells(maze)).bit_count()
    return seen_count / record.proof["reachable"]


def _count_revisits(record: EpisodeRecord) -> float:
    """Return the moves in excess of shortest paths between cells entered for the first time, over cells seen by then.

    The end of the last path is where the episode ended.
    """
    maze = decode(record.instance)
    sight = first_sight(maze, record.options["window"])
    visited, excess = {sight.at}, 0
    new_cell, moves_since = sight.at, 0  # the last cell entered for the first time
    for turn in move_turns(record):
        x, y = turn.events["at"]
        sight, moves_since = sight.after_move(y * maze.size + x), moves_since + 1
        if sight.at not in visited:
            if moves_since > 1:  # a single move has no excess
                excess += moves_since - known_distances(sight, new_cell)[sight.at]
            visited.add(sight.at)
            new_cell, moves_since = sight.at, 0
    if moves_since:
        excess += moves_since - known_distances(sight, new_cell)[sight.at]
    return float(excess)


def _oracle_moves(record: EpisodeRecord) -> int:
    """Return the moves of the oracle with the window of this episode."""
    window = record.options["window"]
    return record.proof["oracle_steps"] if window == USUAL_WINDOW else oracle_steps(decode(record.instance), window)


def _errors_and_moves(record: EpisodeRecord, phase: str) -> tuple[float, float]:
    """Return the number of errors and the number of moves in a phase (exploring or exploiting)."""
    errors = [turn.events["error"] for turn in move_turns(record) if turn.events["phase"] == phase]
    return float(sum(errors)), float(len(errors))


def _error_metric(name: str, phase: str, title: str, doc: str) -> Metric:
    """Return the metric of the errors in a phase; a set's figure is their share of the moves in this phase."""
    return Metric(
        name=name,
        of=lambda record: _errors_and_moves(record, phase)[0],
        title=title,
        range=lambda record: (0, _turn_limit(record)),
        per=lambda record: _errors_and_moves(record, phase)[1],
        better="lower",
        doc=doc,
    )


METRICS = (
    Metric(
        name="score",
        of=lambda record: 100 * record.proof["minimum"] / _count_moves(record) if record.end == "solved" else 0.0,
        title="Score",
        unit="%",
        low=0,
        high=100,
        doc="100 * minimum / steps if the exit was reached, otherwise 0: success weighted by path length "
        "(P. Anderson et al., arXiv:1807.06757, 2018). Whoever does not know the maze seldom has 100.",
    ),
    REACHED,
    Metric(
        name="over_oracle",
        of=lambda record: _count_moves(record) / _oracle_moves(record) if record.end == "solved" else None,
        title="Steps / oracle's",
        range=lambda record: (0, _turn_limit(record) / _oracle_moves(record)),
        better="lower",
        doc="If the exit was reached, steps divided by those of the oracle with the same window. It can be below 1: "
        "the oracle knows no more than the player, and can have less luck.",
    ),
    Metric(
        name="seen",
        of=_share_seen,
        title="Area seen",
        low=0,
        high=1,
        better="",
        doc="Share of the cells that can be reached which were seen. More is not better once the exit is known.",
    ),
    Metric(
        name="revisits",
        of=_count_revisits,
        title="Revisits beyond need",
        range=lambda record: (0, _turn_limit(record)),
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
        of=lambda record: float(_count_moves(record)),
        title="Steps",
        range=lambda record: (0, _turn_limit(record)),
        better="",
        doc="Cells moved.",
    ),
    proof_metric(
        "minimum",
        "Minimum steps",
        "Cells on a shortest path, without the entrance, which is known only to who sees the whole maze.",
    ),
    outcome_metric("unparsed", "Replies that are not a move.", max_turns=_turn_limit),
    outcome_metric("illegal", "Moves into a wall or out of the maze.", max_turns=_turn_limit),
)


KNOWN = FailureKind("known_exit", "not walking to a known exit", "A way to the exit was known at the end.")
AIMLESS = FailureKind(
    "aimless", "exploring without aim", "No way to the exit was known, and at least a quarter of moves were errors."
)

FAILURES = (KNOWN, AIMLESS)


def failure(record: EpisodeRecord) -> FailureKind:
    """Return why the exit was not reached, where most replies were moves."""
    general = general_failure_kind(record)
    if general in (*NO_ANSWER, ILLEGAL):
        return general
    last_phase = next((turn.events["phase"] for turn in reversed(record.turns) if "phase" in turn.events), None)
    if last_phase == EXPLOITING:
        return KNOWN
    error_count, move_count = _errors_and_moves(record, EXPLORING)
    return AIMLESS if move_count and 4 * error_count >= move_count else general


MAP: Belief[Sight] = Belief(
    name="map",
    title="map",
    doc="The whole maze as far as it was seen; the share is that of its cells that are right.",
    question="What have I seen of the maze so far? Draw the whole maze, one row in each text, from top to bottom: "
    '"." is a path, "#" is a wall, "?" was not seen yet, "X" is where I am now, and "E" is the exit.',
    form='["<first row>", "<second row>", ...]',
    expected=map_rows,
    read=read_drawing_rows,
    # With another memory, the messages with what was seen first are not shown any more.
    is_shown=lambda options, state: options["memory"] == "chat",
    share=share_of_right_cells,
)
BELIEFS: tuple[Belief[Sight], ...] = (POSITION, MAP)


PLAY_OPTIONS = (
    Option(
        name="wording",
        default="ascii",
        choices=tuple(FORMS),
        doc="What each message shows: what is seen now, as a drawing or a matrix, or a map of everything seen so far.",
    ),
    Option(
        name="window",
        effect=EASIER,
        default=5,
        low=3,
        high=41,
        doc="Cells along each side of what is seen, an odd number.",
    ),
    Option(
        name="memory",
        default="chat",
        choices=("chat", "window", "fresh"),
        doc="How much of the episode each prompt repeats: all of it, the last turns, or only what is seen now.",
    ),
    Option(name="memory_turns", effect=EASIER, default=8, low=1, high=1000, doc="Turns that memory=window repeats."),
    Option(
        name="turn_factor",
        effect=EASIER,
        default=1.0,
        low=0.1,
        high=100,
        doc="Most turns, as a multiple of the moves within which a depth-first search finds every exit: twice the "
        "cells that can be reached, without the entrance.",
    ),
)


def _play(options: Mapping[str, Json]) -> Play[Maze, Sight, str]:
    """Return the game, wording and limits that the options of play select."""
    window, factor = int(options["window"]), float(options["turn_factor"])
    if window % 2 == 0:
        raise UsageError(f"window={window}: give an odd number, so that the player is in the middle")
    kind = str(options["memory"])
    memory = Memory(kind, int(options["memory_turns"]) if kind == "window" else 0)
    wording = ExploreWording(FORMS[options["wording"]], window, memory)
    return Play(ExploreGame(window), wording, Limits(turns=1_000_000), turns=lambda maze: max_turns(maze, factor))


PRESENTATION = Presentation(
    title="Mazes, partly seen",
    family="maze/explore",
    lead=(
        "The player sees a window of the maze that moves with it, moves one cell a turn and has to find the exit. A "
        "shortest path scores 100, which takes luck where the maze is unknown."
    ),
    level="dimension",
    item="maze",
    metrics=(
        "score",
        "reached",
        "over_oracle",
        "seen",
        "revisits",
        "exploration_errors",
        "exploitation_errors",
        "illegal",
        "unparsed",
    ),
    scenes=scenes,
    board=board,
    legend=(
        "The ring is the entrance, the square the exit. The line is the walked path; wide pale parts were walked more "
        "than once. Grey paths were not seen. A cross marks a move into a wall or out of the maze."
    ),
    reference="a shortest path (dashed)",
)

IMAGES = Images(
    draw=draw_picture,
    legend=(
        "The view is a picture of these cells: white cells are paths, and dark cells are walls or lie outside the "
        "maze. I am the orange dot, and the green square is the exit."
    ),
    replaces=("view",),
    legend_field="legend",
    bases=("ascii",),  # no grid, whose numbers would be taken for the positions in the messages
    size=256,
)

EXPLORE: Environment[Maze, Sight, str] = Environment(
    id="maze/explore",
    version=1,
    title="Mazes, partly seen",
    about=read_text(__file__, "about.md"),
    items=Items(
        options=STYLE_OPTIONS,
        sample_levels=(5, 7, 11),
        public_key="alicia-v1",
        make_source=ExploreSource,
        decode=decode_explored,
        level_of=lambda maze: maze.size,
        prove=prove_explored,
        isomorph=isomorph,
    ),
    playing=Playing(options=PLAY_OPTIONS, play=_play, images=IMAGES),
    scoring=Scoring(metrics=METRICS, failures=FAILURES, failure=failure),
    difficulty=Difficulty(
        horizon=HorizonSpec(
            # A walk at random succeeds at half of the mazes of dimension 5.
            levels=(7, 9, 11, 13, 15, 17, 21, 25),
            revision=1,
        ),
        axes=(level_axis("dimension", "Cells along each side."), JUNCTIONS),
        explanatory_variables=ExplanatoryVariables(
            items=(
                *VARIABLES.items,
                proof_axis("oracle_steps", "Oracle's steps", "Steps of the oracle with a window of 5 cells."),
            )
        ),
        success="the exit is reached within one and a half times the steps of the oracle with a window of 5 cells",
        competent=is_competent,
    ),
    players=Players(
        policies=PLAYERS, oracle_is_ceiling=lambda record: False, reasoning=explain_move, potentials=POTENTIALS
    ),
    probes=BELIEFS,
    typing=Typing(parse=parse_typed, format=format_typed, help=TYPED_HELP, actions=typed_actions),
    presentation=PRESENTATION,
)

"""The partly seen maze as an environment: options and the catalogue's value."""

from collections.abc import Mapping

from waybench._package_data import read_text
from waybench.core import (
    Difficulty,
    Environment,
    ExplanatoryVariables,
    HorizonSpec,
    Images,
    Items,
    Json,
    Limits,
    Memory,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    Typing,
    UsageError,
    level_axis,
    proof_axis,
)
from waybench.envs.maze._game import POTENTIALS, Maze, isomorph
from waybench.envs.maze._items import OPTIONS
from waybench.envs.maze._measures import JUNCTIONS, VARIABLES
from waybench.envs.maze.explore._drawing import (
    TYPED_HELP,
    board,
    draw_picture,
    format_typed,
    parse_typed,
    scenes,
    typed_actions,
)
from waybench.envs.maze.explore._game import ExploreGame, Sight
from waybench.envs.maze.explore._measures import (
    BELIEFS,
    FAILURES,
    METRICS,
    failure,
    is_competent,
    most_turns,
    prove_explored,
)
from waybench.envs.maze.explore._players import PLAYERS, ExploreSource, decode_explored, reasoning
from waybench.envs.maze.explore._wording import FORMS, ExploreWording

PLAY_OPTIONS = (
    Option(
        name="wording",
        default="ascii",
        choices=tuple(FORMS),
        doc="What each message shows: what is seen now, as a drawing or a matrix, or a map of everything seen so far.",
    ),
    Option(name="window", default=5, low=3, high=41, doc="Cells along each side of what is seen, an odd number."),
    Option(
        name="memory",
        default="chat",
        choices=("chat", "window", "fresh"),
        doc="How much of the episode each prompt repeats: all of it, the last turns, or only what is seen now.",
    ),
    Option(name="memory_turns", default=8, low=1, high=1000, doc="Turns that memory=window repeats."),
    Option(
        name="turn_factor",
        default=1.0,
        low=0.1,
        high=100,
        doc="Most turns, as a multiple of the moves within which a depth-first search finds every exit: twice the "
        "cells that can be reached, without the entrance.",
    ),
)


def _play(options: Mapping[str, Json]) -> Play[Maze, Sight, str]:
    window, factor = int(options["window"]), float(options["turn_factor"])
    if window % 2 == 0:
        raise UsageError(f"window={window}: give an odd number, so that the player is in the middle")
    kind = str(options["memory"])
    memory = Memory(kind, int(options["memory_turns"]) if kind == "window" else 0)
    wording = ExploreWording(FORMS[options["wording"]], window, memory)
    return Play(ExploreGame(window), wording, Limits(turns=1_000_000), turns=lambda maze: most_turns(maze, factor))


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

ORACLE_STEPS = proof_axis("oracle_steps", "Oracle's steps", "Steps of the oracle with a window of 5 cells.")

EXPLORE: Environment[Maze, Sight, str] = Environment(
    id="maze/explore",
    version=1,
    title="Mazes, partly seen",
    about=read_text(__file__, "about.md"),
    items=Items(
        options=OPTIONS,
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
        explanatory_variables=ExplanatoryVariables(items=(*VARIABLES.items, ORACLE_STEPS)),
        success="the exit is reached within one and a half times the steps of the oracle with a window of 5 cells",
        competent=is_competent,
    ),
    players=Players(
        policies=PLAYERS, oracle_is_ceiling=lambda record: False, reasoning=reasoning, potentials=POTENTIALS
    ),
    probes=BELIEFS,
    typing=Typing(parse=parse_typed, format=format_typed, help=TYPED_HELP, actions=typed_actions),
    presentation=PRESENTATION,
)

"""AliciaBench's mazes as an environment: options, metrics and the catalogue's value."""

from collections.abc import Iterable, Mapping
from statistics import fmean

from waybench._package_data import read_text
from waybench.core import (
    Difficulty,
    Environment,
    HorizonSpec,
    Images,
    Items,
    Json,
    Limits,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    Typing,
    level_axis,
)
from waybench.envs.maze._drawing import board, draw_picture, scene, typed_actions
from waybench.envs.maze._game import (
    PLAYERS,
    POTENTIALS,
    Maze,
    MazeGame,
    MazeState,
    MovePlan,
    decode,
    isomorph,
    noisy_success,
    prove,
    reasoning,
)
from waybench.envs.maze._items import OPTIONS, MazeSource
from waybench.envs.maze._measures import (
    FAILURES,
    FIRST_ERRORS,
    JUNCTIONS,
    METRICS,
    MINIMUM,
    POSITION,
    VARIABLES,
    failure,
    is_competent,
)
from waybench.envs.maze._wording import REPRESENTATIONS, TYPED_HELP, MazeWording, format_typed, parse_typed

PLAY_OPTIONS = (
    Option(
        name="protocol",
        default="paper",
        choices=("paper", "sound"),
        doc='"paper": the prompt as published; "sound": the prompt also says where the exit is, which the description '
        "treats as known and the published prompt omits.",
    ),
    Option(
        name="wording",
        default="matrix",
        choices=tuple(REPRESENTATIONS),
        doc="Presentation of the maze: the published matrix, a drawing, a list of coordinates, or prose.",
    ),
    Option(
        name="exit_hint",
        default=None,
        kind=bool,
        doc="Whether the prompt says where the exit is; by default the protocol decides.",
    ),
    Option(name="requests", default=3, low=1, high=1000, doc="Maximum requests per attempt."),
)


def _play(options: Mapping[str, Json]) -> Play[Maze, MazeState, MovePlan]:
    hint = options["protocol"] == "sound" if options["exit_hint"] is None else bool(options["exit_hint"])
    requests = int(options["requests"])
    wording = MazeWording(REPRESENTATIONS[options["wording"]], hint)
    return Play(MazeGame(requests), wording, Limits(turns=requests))


PRESENTATION = Presentation(
    title="Mazes (AliciaBench)",
    level="dimension",
    item="maze",
    scene=scene,
    board=board,
    legend=(
        "The ring is the entrance, the square the exit. The line is the walked path; wide pale parts were walked more "
        "than once. A dot marks where a request ended, a cross where a movement hit a wall or the edge (such a "
        "movement is not carried out)."
    ),
    reference="a shortest path (dashed)",
)

IMAGES = Images(
    draw=draw_picture,
    legend="In the picture below, white cells are paths and dark cells are walls. I am the orange dot.",
    replaces=("maze",),
    legend_field="legend",
    bases=tuple(REPRESENTATIONS),
    grid=True,
)

_HORIZON_LEVELS = (5, 7, 9, 11, 13, 15, 17, 21, 25, 29, 35, 41, 49, 57, 69, 81, 101)

ALICIA: Environment[Maze, MazeState, MovePlan] = Environment(
    id="maze/alicia",
    version=1,
    title="Mazes (AliciaBench)",
    about=read_text(__file__, "about.md"),
    items=Items(
        options=OPTIONS,
        sample_levels=(5, 7, 9, 21),
        public_key="alicia-v1",
        make_source=MazeSource,
        decode=decode,
        level_of=lambda maze: maze.size,
        prove=prove,
        isomorph=isomorph,
    ),
    playing=Playing(options=PLAY_OPTIONS, play=_play, images=IMAGES, takes_context=True),
    scoring=Scoring(metrics=METRICS, failures=FAILURES, failure=failure, first_errors=FIRST_ERRORS, best_of=True),
    difficulty=Difficulty(
        horizon=HorizonSpec(
            levels=_HORIZON_LEVELS,
            known=lambda rate: known_horizon(rate, _HORIZON_LEVELS),
            revision=1,
        ),
        axes=(level_axis("dimension", "Cells along each side."), MINIMUM, JUNCTIONS),
        explanatory_variables=VARIABLES,
        success="the exit is reached within one and a half times the steps of a shortest path",
        competent=is_competent,
    ),
    players=Players(policies=PLAYERS, reasoning=reasoning, potentials=POTENTIALS),
    probes=(POSITION,),
    typing=Typing(parse=parse_typed, format=format_typed, help=TYPED_HELP, actions=typed_actions),
    presentation=PRESENTATION,
)


def known_horizon(rate: float, dimensions: Iterable[int], mazes: int = 100) -> float:
    """Return the dimension at which an oracle that errs at a rate solves half of the mazes with a single plan.

    It is interpolated between two dimensions on a logarithmic scale, from the mean probability of success over mazes.

    Args:
        rate: Probability of an error in each step.
        dimensions: The dimensions, the smallest first.
        mazes: Number of mazes of each dimension.

    Raises:
        ValueError: If the oracle solves half of the mazes of the largest dimension.
    """
    below, share = 0, 1.0
    for dimension in dimensions:
        here = fmean(noisy_success(item.instance, rate) for item in ALICIA.source(level=dimension).head(mazes))
        if here < 0.5 and below:
            return below * (dimension / below) ** ((share - 0.5) / (share - here))
        below, share = dimension, here
    raise ValueError(f"{rate} is too small a rate: half of the largest mazes are solved")

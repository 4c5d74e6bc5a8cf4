"""AliciaBench's mazes as an environment: options, metrics and the catalogue's value."""

from collections.abc import Mapping
from typing import Any

from waybench._package_data import read_text
from waybench.core import (
    Environment,
    Json,
    Limits,
    Option,
    Play,
    level_axis,
    proof_axis,
)
from waybench.envs.maze._failures import FAILURES, failure
from waybench.envs.maze._game import MazeGame, MazeState, Plan
from waybench.envs.maze._instance import Maze, decode, prove
from waybench.envs.maze._metrics import METRICS
from waybench.envs.maze._players import PLAYERS
from waybench.envs.maze._source import OPTIONS, MazeSource
from waybench.envs.maze._wording import REPRESENTATIONS, MazeWording

PLAY_OPTIONS = (
    Option(
        name="protocol",
        default="paper",
        choices=("paper", "sound"),
        doc='"paper": the prompt as published; "sound": the prompt also says where the exit is, which the description '
        "speaks of as known and the published prompt leaves out.",
    ),
    Option(
        name="wording",
        default="matrix",
        choices=tuple(REPRESENTATIONS),
        doc="How the maze is written: the published matrix, a drawing, a list of coordinates, or prose.",
    ),
    Option(
        name="exit_hint",
        default=None,
        kind=bool,
        doc="Whether the prompt says where the exit is; if not given, the protocol decides.",
    ),
    Option(name="requests", default=3, low=1, high=1000, doc="Most requests of one attempt."),
)


def _play(options: Mapping[str, Json]) -> Play[Maze, MazeState, Plan]:
    hint = options["protocol"] == "sound" if options["exit_hint"] is None else bool(options["exit_hint"])
    requests = int(options["requests"])
    return Play(MazeGame(requests), MazeWording(REPRESENTATIONS[options["wording"]], hint), Limits(turns=requests))


ALICIA: Environment[Maze, MazeState, Plan] = Environment(
    id="maze/alicia",
    version=1,
    title="Mazes (AliciaBench)",
    about=read_text(__file__, "about.md"),
    options=PLAY_OPTIONS,
    source_options=OPTIONS,
    smallest_level=5,
    sample_levels=(5, 7, 9, 21),
    public_key="alicia-v1",
    play=_play,
    draw_from=MazeSource,
    decode=decode,
    level_of=lambda maze: maze.size,
    prove=prove,
    metrics=METRICS,
    failures=FAILURES,
    failure=failure,
    axes=(
        level_axis("dimension", "Cells along each side."),
        proof_axis("minimum", "Minimum steps", "Cells on a shortest path, the entrance not counted."),
        proof_axis("junctions", "Junctions", "Cells from which three or four ways go."),
    ),
    success="the exit is reached, in whatever way",
    best_of=True,
    players=dict[str, Any](PLAYERS),
)

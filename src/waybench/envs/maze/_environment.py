"""AliciaBench's mazes as an environment: options, metrics and the catalogue's value."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from waybench.core import (
    OF_THE_ITEM,
    Environment,
    EpisodeRecord,
    Json,
    Limits,
    Metric,
    Option,
    Play,
    Presentation,
    level_axis,
    outcome_metric,
    proof_axis,
)
from waybench.envs.maze._drawing import board, draw
from waybench.envs.maze._failures import FAILURES, failure
from waybench.envs.maze._game import MazeGame, MazeState, Plan
from waybench.envs.maze._instance import Maze, decode, prove
from waybench.envs.maze._players import PLAYERS, noisy_success
from waybench.envs.maze._source import OPTIONS, MazeSource
from waybench.envs.maze._typed import TYPED_HELP, format_typed, parse_typed
from waybench.envs.maze._wording import REPRESENTATIONS, MazeWording

ABOUT = """\
A maze is told to the player as text, and the player answers with JSON: a list of movements that leads from the
entrance to the exit. What is not viable is answered with the reason and the map as it is now; after three requests
the attempt is over. The score is 100 for a shortest path and falls with every step beyond it. The dimension can grow
without end, so that the benchmark cannot be saturated, and no knowledge of the world helps.

A re-implementation of AliciaBench after its author's description. Settled by us, for the description leaves it open:

* **Mazes.** Rooms lie at odd rows and columns. A spanning tree joins them, and a share `loops` of the walls that it
  leaves is opened, at least one. Entrance and exit are on the top and the bottom side, unless `sides` says otherwise. A
  maze's id is its dimension and its number in two digits: 501 to 510, 701, ...
* **Sets.** The first ten mazes of a set differ from each other for certain (the first 16 at N = 9, and up to 64
  beyond). From top to bottom there are only 20 mazes at N = 5 and, with the default `loops`, 1476 at N = 7, so two keys
  share mazes there; from N = 9 on (2.8 million) they do but by rare chance.
* **Conversation.** One attempt is one conversation: the earlier replies and the answers to them stay in it.
* **Exit.** The prompt does not say where the exit is, as published; `exit_hint` adds that sentence.
* **Unparsed replies.** A reply without a JSON object with a list of movements, or with an unknown direction, with
  cells that are no whole number of at least 1, or with a key that stands twice, moves nothing and uses up its request;
  the answer says what was wrong. Of several objects the last one counts.
* **Illegal movements.** A movement that would cross a wall or leave the matrix is dropped as a whole, and all later
  ones of that reply with it; those before it stay.
* **Steps** are the cells moved in all requests of the attempt; an illegal movement adds none.
* **Score.** Below 0 (more than twice the minimum steps) it counts as 0, beside the unclamped `raw_score`.
* **Ladder.** The task goes on to the next dimension if any maze of this one was reached in some attempt, whatever its
  score. There is no top dimension: `max_dimension` is a safety cap.
"""

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


def _steps(record: EpisodeRecord) -> float:
    return float(sum(turn.events.get("moved", 0) for turn in record.turns))


def _reached(record: EpisodeRecord) -> float:
    return float(record.end == "solved")


def _raw_score(record: EpisodeRecord) -> float:
    minimum = record.proof["minimum"]
    return (1 - (_steps(record) - minimum) / minimum) * 100 if _reached(record) else 0.0


def _requests(record: EpisodeRecord) -> int:
    return record.options["requests"]


_ANY_LENGTH = "a reply can name any number of movements"

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
    Metric(name="reached", of=_reached, title="Reached", low=0, high=1, doc="1 if the exit was reached."),
    Metric(
        name="steps",
        of=_steps,
        title="Steps",
        low=0,
        unbounded=_ANY_LENGTH,
        better="",
        doc="Cells moved in all requests of the attempt.",
    ),
    Metric(
        name="minimum",
        of=lambda record: float(record.proof["minimum"]),
        title="Minimum steps",
        low=1,
        unbounded=OF_THE_ITEM,
        better="",
        doc="Cells on a shortest path, the entrance not counted.",
    ),
    Metric(
        name="requests",
        of=lambda record: float(len(record.turns)),
        title="Requests",
        range=lambda record: (0, _requests(record)),
        better="lower",
        doc="Requests used.",
    ),
    outcome_metric("unparsed", "Replies that were no list of movements.", most=_requests),
    outcome_metric("illegal", "Replies with a movement into a wall or outside.", most=_requests),
)

PRESENTATION = Presentation(
    title="Mazes (AliciaBench)",
    level="dimension",
    item="maze",
    draw=draw,
    board=board,
    legend=(
        "The ring is the entrance, the square the exit. The line is the way walked, pale and wide around it what "
        "was walked more than once. A dot marks where a request ended, and a cross where a movement hit a wall or "
        "the edge; nothing of that movement was carried out."
    ),
    reference="a shortest path (dashed)",
)

ALICIA: Environment[Maze, MazeState, Plan] = Environment(
    id="maze/alicia",
    version=1,
    title="Mazes (AliciaBench)",
    about=ABOUT,
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
    parse_typed=parse_typed,
    format_typed=format_typed,
    typed_help=TYPED_HELP,
    presentation=PRESENTATION,
    players=dict[str, Any](PLAYERS),
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

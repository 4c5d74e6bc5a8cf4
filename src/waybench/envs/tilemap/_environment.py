"""The environments of tile maps: whole plans, single moves, and plans with a prediction of the map."""

from collections.abc import Mapping
from functools import partial

from waybench._package_data import read_text
from waybench.core import (
    Difficulty,
    Environment,
    HorizonSpec,
    Images,
    Items,
    Json,
    Limits,
    Metric,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    Typing,
    UsageError,
    proof_axis,
)
from waybench.envs.tilemap import _drawing
from waybench.envs.tilemap._board import Location, MovePlan, board, style_of
from waybench.envs.tilemap._drawing import draw_picture, scene
from waybench.envs.tilemap._game import TileGame, step_budget
from waybench.envs.tilemap._instance import TileMap, decode, isomorph, prove
from waybench.envs.tilemap._items import DATASETS, PUBLIC_KEY
from waybench.envs.tilemap._measures import BELIEFS, FAILURES, FIRST_ERRORS, VARIABLES, failure
from waybench.envs.tilemap._metrics import AGGREGATES, METRICS, STATE_METRICS
from waybench.envs.tilemap._players import PLAYERS, oracle_is_ceiling
from waybench.envs.tilemap._protocol import PROTOCOLS
from waybench.envs.tilemap._wording import TileWording
from waybench.envs.tilemap.worlds import WORLD_OPTIONS, WorldSource

OPTIONS = (
    Option(
        name="protocol",
        default="paper",
        choices=tuple(PROTOCOLS),
        doc='"paper": prompt, parsing, walkability, rewards and scores as in the published program; "sound": '
        "corrected.",
    ),
    Option(
        name="wording",
        default="plain",
        choices=("plain",),
        doc="The only wording: our own text with the published facts.",
    ),
    Option(
        name="max_failures",
        default=10,
        low=1,
        high=1000,
        doc="Unreadable replies in a row before an objective is given up.",
    ),
    Option(
        name="tries",
        default=1,
        low=1,
        high=100,
        doc="Plans per objective: 1 is zero-shot, as published; with 2, the player gets a second plan for a missed "
        "objective, with feedback, from where the first plan ended (one-shot with feedback).",
    ),
    Option(name="walkers", default=0, low=0, high=20, doc="Number of walkers, which move at random and block the way."),
    Option(
        name="enemies", default=0, low=0, high=20, doc="Number of enemies, which end the map when they meet the player."
    ),
    Option(
        name="hazards",
        default=0,
        low=0,
        high=1000,
        doc="Number of hazard cells, which end the map when the player steps on them.",
    ),
)


IMAGES = Images(
    draw=draw_picture,
    legend="The picture of the map has a square for each tile, with the tile's character in it. White squares can be "
    "walked on, and dark ones cannot. The agent is the orange disk.",
    replaces=("map",),
    bases=("plain",),
    grid=True,
)


def _play(options: Mapping[str, Json], *, single: bool, predicts: bool) -> Play[TileMap, Location, MovePlan]:
    style = style_of(options, single=single, predicts=predicts)
    if predicts and (style.crew.walkers or style.crew.enemies):
        raise UsageError("tilemap/state has no walkers or enemies, since they cannot be predicted: remove them")
    failures, tries = int(options["max_failures"]), int(options["tries"])

    def turns(case: TileMap) -> int:
        # Enough for every reply that the rules allow for; they end every episode by themselves.
        map_board = board(case, style)
        plans = [step_budget(map_board, goal, tries) if single else tries for goal in range(len(map_board.goals))]
        return max(1, failures * sum(plans))

    wording = TileWording(options["wording"], style)
    return Play(TileGame(style, failures, tries), wording, Limits(turns=1), turns=turns)


PRESENTATION = Presentation(
    title="Tile maps (GameTraversalBenchmark)",
    lead=(
        "The player leads an agent over a map of characters from objective to objective. GTB_Score combines where "
        "plans end with their length and with replies that cannot be carried out; Top-0 is the share of objectives "
        "at which a plan ended. Per map, MGE counts generation errors, MPL moves and MAT all actions."
    ),
    level="size class",
    levels="size classes",
    item="map",
    metrics=("score", "generation_errors", "path_length", "actions", "top0", "top1", "top5", "moved"),
    scene=scene,
    board=_drawing.board,
    legend=(
        "The ring is the player's start, and the squares are the objectives with their numbers. The line is the "
        "walked path (a straight line if creatures interfered), and a dot marks where a plan ended."
    ),
    reference="a shortest tour (dashed)",
    panels={"Score and objectives": ("score", "top0")},
)


def _environment(
    name: str,
    title: str,
    metrics: tuple[Metric, ...],
    task: str,
    more: str = "",
    *,
    single: bool = False,
    predicts: bool = False,
) -> Environment[TileMap, Location, MovePlan]:
    return Environment(
        id=f"tilemap/{name}",
        version=2,
        title=title,
        about=read_text(__file__, "about.md").format(first=f"The player leads an agent over {task}.", more=more),
        items=Items(
            options=WORLD_OPTIONS,
            sample_levels=(1, 2, 4),
            public_key=PUBLIC_KEY,
            make_source=WorldSource,
            datasets=DATASETS,
            decode=decode,
            prove=prove,
            pooled=True,
            isomorph=isomorph,
        ),
        playing=Playing(options=OPTIONS, play=partial(_play, single=single, predicts=predicts), images=IMAGES),
        scoring=Scoring(
            metrics=metrics, aggregates=AGGREGATES, failures=FAILURES, failure=failure, first_errors=FIRST_ERRORS
        ),
        difficulty=Difficulty(
            horizon=None if single or predicts else HorizonSpec(levels=(1, 2, 3, 4, 5, 6), pool=60),
            axes=(
                proof_axis(
                    "minimum", "Shortest tour", "Length of a shortest tour of all objectives in their order, in moves."
                ),
            ),
            explanatory_variables=VARIABLES,
            success="a plan ends at every objective, by any path",
        ),
        players=Players(policies=PLAYERS, oracle_is_ceiling=oracle_is_ceiling),
        probes=BELIEFS,
        typing=Typing(
            parse=None if predicts else _drawing.parse_typed,
            format=None if predicts else _drawing.format_typed,
            help=_drawing.REPLY_HELP if predicts else _drawing.SINGLE_HELP if single else _drawing.HELP,
            actions=None if predicts else _drawing.typed_actions(single=single),
        ),
        presentation=PRESENTATION,
    )


GTB = _environment(
    "gtb",
    "Tile maps (GameTraversalBenchmark)",
    METRICS,
    "a map of tiles from objective to objective, with one whole plan each time",
)
STEPWISE = _environment(
    "stepwise",
    "Tile maps, one move at a time",
    METRICS,
    "a map of tiles from objective to objective, one move at a time",
    "* **Single moves.** A reply is JSON with one action or none, in both protocols. An objective is done\n"
    "  with when the player stands on it, or after as many replies as its shortest path has moves, and ten.\n",
    single=True,
)
STATE = _environment(
    "state",
    "Tile maps, foreseeing the map",
    STATE_METRICS,
    "a map of tiles with whole plans, and draws the map after each",
    "* **Foreseeing.** A reply is JSON with the actions and the map, in both protocols. `cells` is the share\n"
    "  of the map's cells that the drawing has right, `moved` that of the cells which change in truth or in the\n"
    "  drawing. The score is that of the plan alone.\n",
    predicts=True,
)

"""The environment of the Tower of Hanoi."""

from waybench._package_data import read_text
from waybench.core import (
    Difficulty,
    End,
    HorizonSpec,
    Images,
    Items,
    Players,
    Presentation,
    Scoring,
    level_axis,
)
from waybench.envs.hanoi._drawing import board, draw_picture, scene, scenes
from waybench.envs.hanoi._game import (
    ILLEGAL_REWARD,
    OPTIONS,
    PLAYERS,
    SOLVED_REWARD,
    HanoiRules,
    HanoiSource,
    decode,
    isomorph,
    prove,
)
from waybench.envs.hanoi._measures import (
    FAILURES,
    FIRST_ERRORS,
    METRICS,
    MINIMUM,
    POTENTIALS,
    RODS_BELIEF,
    SERIES,
    STEPS,
    VARIABLES,
    is_competent,
    most_steps,
    own_failure,
    published_setting,
    reasoning,
    sample_name,
)
from waybench.envs.smartplay import agent_environment, thinking_players

PRESENTATION = Presentation(
    title="Tower of Hanoi (SmartPlay)",
    lead=(
        "The player moves disks between three rods, one at a time and never onto a smaller one. The score is the "
        "number of disks on their goal rod when the episode ends."
    ),
    level="number of disks",
    levels="numbers of disks",
    item="puzzle",
    metrics=("score", "human", "completed", "optimal_rate", "first_mistake", "illegal", "unnamed", "unparsed"),
    scene=scene,
    board=board,
    scenes=scenes,
    legend=(
        "The rods at the start and after each move, with an edge around the disk that was moved. A cross on a line "
        "from rod to rod is a move that is not allowed."
    ),
    reference="the goal",
)


IMAGES = Images(
    draw=draw_picture,
    legend="The picture has the rods as they are now, and below them the goal. Each disk has its number.",
    replaces=("start", "goal", "rods"),
    bases=("chat",),
)


RODS = agent_environment(
    id="hanoi/rods",
    version=1,
    title="Tower of Hanoi (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=HanoiRules,
    history=STEPS,
    steps=None,
    most_steps=most_steps,
    reward=lambda steps: (float("-inf") if steps is None else ILLEGAL_REWARD * steps, SOLVED_REWARD),
    items=Items(
        options=OPTIONS,
        sample_levels=(3, 4, 5),
        public_key="hanoi-v1",
        make_source=HanoiSource,
        decode=decode,
        prove=prove,
        isomorph=isomorph,
        cluster=sample_name,
    ),
    difficulty=Difficulty(
        horizon=HorizonSpec(
            levels=(3, 4, 5, 6, 7, 8, 9),
            source_options={"positions": "free"},
            revision=1,
        ),
        axes=(level_axis("disks", "Disks on the rods."), MINIMUM),
        explanatory_variables=VARIABLES,
        success="all disks are on their goal rods after at most 30 steps, or twice the minimum if that is more",
        competent=is_competent,
    ),
    scoring=Scoring(
        metrics=METRICS,
        failures=FAILURES,
        first_errors=FIRST_ERRORS,
        series=SERIES,
        published_setting=published_setting,
    ),
    own_failure=own_failure,
    probes=(RODS_BELIEF,),
    players=Players(
        policies=thinking_players(PLAYERS),
        # With fewer steps than the oracle needs, disks can be placed off its way.
        oracle_is_ceiling=lambda record: record.end is End.SOLVED,
        reasoning=reasoning,
        potentials=POTENTIALS,
    ),
    presentation=PRESENTATION,
    playing={
        "images": IMAGES,
        "illegal": "The first rod has no disk, or its top disk is not smaller than that of the other rod.",
    },
)

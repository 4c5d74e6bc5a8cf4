"""The environment of the Tower of Hanoi."""

from collections.abc import Iterator
from typing import Any

from waybench._package_data import read_text
from waybench.core import End, EpisodeRecord, HorizonSpec, Images, Picture, Presentation, level_axis
from waybench.envs.hanoi._beliefs import RODS_BELIEF
from waybench.envs.hanoi._failures import FAILURES, own_failure
from waybench.envs.hanoi._first_errors import FIRST_ERRORS
from waybench.envs.hanoi._game import ILLEGAL_REWARD, SOLVED_REWARD, HanoiRules
from waybench.envs.hanoi._instance import decode
from waybench.envs.hanoi._isomorph import isomorph
from waybench.envs.hanoi._metrics import METRICS, SERIES, STEPS, is_competent, most_steps, sample, setting
from waybench.envs.hanoi._people import board
from waybench.envs.hanoi._players import PLAYERS
from waybench.envs.hanoi._potential import POTENTIALS
from waybench.envs.hanoi._reasoning import reasoning
from waybench.envs.hanoi._source import FEWEST, OPTIONS, HanoiSource, prove
from waybench.envs.hanoi._variables import MINIMUM, VARIABLES
from waybench.smartplay import agent_environment


def _reward(steps: int | None) -> tuple[float, float]:
    return (float("-inf") if steps is None else ILLEGAL_REWARD * steps), SOLVED_REWARD


def _is_ceiling(record: EpisodeRecord) -> bool:
    return record.end is End.SOLVED  # with fewer steps, disks can be placed off the oracle's way


def _draw(*args: Any, **options: Any) -> str:
    from waybench.envs.hanoi._drawing import draw  # it is imported when something is drawn

    return draw(*args, **options)


def _draw_frames(*args: Any) -> Iterator[str]:
    from waybench.envs.hanoi._drawing import draw_frames

    return draw_frames(*args)


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
    draw=_draw,
    board=board,
    draw_frames=_draw_frames,
    legend=(
        "The rods at the start and after each move, with an edge around the disk that was moved. A cross on a line "
        "from rod to rod is a move that is not allowed."
    ),
    reference="the goal",
)


def _draw_picture(picture: Picture) -> str:
    from waybench.envs.hanoi._drawing import draw_picture

    return draw_picture(picture)


IMAGES = Images(
    draw=_draw_picture,
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
    reward=_reward,
    source_options=OPTIONS,
    smallest_level=FEWEST,
    sample_levels=(3, 4, 5),
    public_key="hanoi-v1",
    make_source=HanoiSource,
    horizon=HorizonSpec(
        levels=(3, 4, 5, 6, 7, 8, 9),
        source_options={"positions": "free"},
        revision=1,
    ),
    decode=decode,
    level_of=lambda towers: towers.level,
    prove=prove,
    metrics=METRICS,
    failures=FAILURES,
    own_failure=own_failure,
    first_errors=FIRST_ERRORS,
    beliefs=(RODS_BELIEF,),
    axes=(level_axis("disks", "Disks on the rods."), MINIMUM),
    explanatory_variables=VARIABLES,
    potentials=POTENTIALS,
    isomorph=isomorph,
    reasoning=reasoning,
    success="all disks are on their goal rods after at most 30 steps, or twice the minimum if that is more",
    competent=is_competent,
    series=SERIES,
    published_setting=setting,
    presentation=PRESENTATION,
    cluster=sample,
    players=PLAYERS,
    oracle_is_ceiling=_is_ceiling,
    images=IMAGES,
)

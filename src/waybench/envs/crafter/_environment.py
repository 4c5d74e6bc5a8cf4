"""The environment of Crafter."""

from collections.abc import Iterator
from typing import Any

from waybench._package_data import read_text
from waybench.core import Presentation
from waybench.envs.crafter._failures import FAILURES, own_failure
from waybench.envs.crafter._game import SurvivalRules
from waybench.envs.crafter._instance import decode
from waybench.envs.crafter._metrics import AGGREGATES, LEAST, METRICS, MOST, SERIES, STEPS, setting
from waybench.envs.crafter._players import PLAYERS
from waybench.envs.crafter._source import LEVEL, Worlds
from waybench.smartplay import agent_environment


def _draw(*args: Any, **options: Any) -> str:
    from waybench.envs.crafter._drawing import draw  # it is imported when something is drawn

    return draw(*args, **options)


def _draw_frames(*args: Any) -> Iterator[str]:
    from waybench.envs.crafter._drawing import draw_frames

    return draw_frames(*args)


PRESENTATION = Presentation(
    title="Crafter (SmartPlay)",
    lead=(
        "A life in a world of grass, water, mountains and caves, with 22 achievements to unlock. The score is the "
        "number of achievements unlocked so far, summed over the steps, so that early ones and a long life count. "
        "The Crafter score is made of the shares of worlds in which each achievement was unlocked."
    ),
    item="world",
    metrics=("score", "human", "crafter_score", "achievements", "reward", "played", "unnamed", "unparsed"),
    draw=_draw,
    draw_frames=_draw_frames,
    legend=(
        "The ring is where the player began and the line its way; the dot is where it was last, with the direction "
        "it faced, and dashes are around what it saw there. Numbers are achievements, listed beside the map, where "
        "they were unlocked. Cells with an edge were changed, and letters are beings and what is rare."
    ),
)


SURVIVAL = agent_environment(
    id="crafter/survival",
    version=1,
    title="Crafter (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=SurvivalRules,
    history=5,  # Table 1
    steps=None,
    most_steps=lambda wilds: STEPS,
    reward=(LEAST, MOST),
    source_options=(),
    smallest_level=LEVEL,
    sample_levels=(LEVEL,),
    public_key="crafter-v1",
    check_options={"steps": 40},
    draw_from=Worlds,
    decode=decode,
    level_of=lambda wilds: LEVEL,
    prove=lambda wilds: {},
    metrics=METRICS,
    failures=FAILURES,
    own_failure=own_failure,
    series=SERIES,
    aggregates=AGGREGATES,
    published_setting=setting,
    presentation=PRESENTATION,
    players=PLAYERS,
)

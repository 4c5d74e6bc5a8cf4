"""The environment of Crafter."""

from waybench.core import Environment
from waybench.envs.crafter._about import ABOUT
from waybench.envs.crafter._engine import World
from waybench.envs.crafter._failures import FAILURES, own_failure
from waybench.envs.crafter._game import SurvivalRules
from waybench.envs.crafter._instance import Wilds, decode
from waybench.envs.crafter._metrics import AGGREGATES, LEAST, METRICS, MOST, SERIES, STEPS, setting
from waybench.envs.crafter._players import PLAYERS
from waybench.envs.crafter._source import LEVEL, Worlds
from waybench.smartplay import (
    TYPED_HELP,
    Choice,
    Scene,
    action_turns,
    agent_failure,
    agent_options,
    agent_play,
    agent_typed,
)

HISTORY = 5  # Table 1


def _make(protocol: str) -> SurvivalRules:
    return SurvivalRules(published=protocol == "paper")


SURVIVAL: Environment[Wilds, Scene[Wilds, World], Choice] = Environment(
    id="crafter/survival",
    version=1,
    title="Crafter (SmartPlay)",
    about=ABOUT,
    options=agent_options(history=HISTORY, steps=None),
    source_options=(),
    smallest_level=LEVEL,
    sample_levels=(LEVEL,),
    public_key="crafter-v1",
    trial={"steps": 40},
    play=agent_play(_make, lambda wilds: STEPS, (LEAST, MOST)),
    draw_from=Worlds,
    decode=decode,
    level_of=lambda wilds: LEVEL,
    prove=lambda wilds: {},
    metrics=METRICS,
    failures=FAILURES,
    failure=agent_failure(own_failure),
    action_turns=action_turns,
    series=SERIES,
    aggregates=AGGREGATES,
    setting=setting,
    typed=agent_typed(_make),
    typed_help=TYPED_HELP,
    players=PLAYERS,
)

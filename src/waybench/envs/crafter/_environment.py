"""The environment of Crafter."""

from waybench._package_data import read_text
from waybench.envs.crafter._failures import FAILURES, own_failure
from waybench.envs.crafter._game import SurvivalRules
from waybench.envs.crafter._instance import decode
from waybench.envs.crafter._metrics import AGGREGATES, LEAST, METRICS, MOST, SERIES, STEPS, setting
from waybench.envs.crafter._players import PLAYERS
from waybench.envs.crafter._source import LEVEL, Worlds
from waybench.smartplay import agent_environment

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
    trial={"steps": 40},
    make_source=Worlds,
    task="crafter",
    decode=decode,
    level_of=lambda wilds: LEVEL,
    prove=lambda wilds: {},
    metrics=METRICS,
    failures=FAILURES,
    own_failure=own_failure,
    series=SERIES,
    aggregates=AGGREGATES,
    setting=setting,
    players=PLAYERS,
)

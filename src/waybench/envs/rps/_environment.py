"""The environment of Rock Paper Scissors."""

from waybench._package_data import read_text
from waybench.envs.rps._game import RpsRules
from waybench.envs.rps._instance import LARGEST_SCORE, decode
from waybench.envs.rps._metrics import MEASURES, setting
from waybench.envs.rps._players import PLAYERS
from waybench.envs.rps._source import LOWEST_LEVEL, OPTIONS, RpsSource, prove
from waybench.envs.rps._strategies import STRATEGIES
from waybench.smartplay import agent_environment, symmetric_reward

STEPS = 50  # and as many observations in the history (Table 1)
_OPPONENTS = "\n".join(f"  * `{name}` {strategy.doc}" for name, strategy in STRATEGIES.items())

ROUNDS = agent_environment(
    id="rps/rounds",
    version=1,
    title="Rock Paper Scissors (SmartPlay)",
    about=read_text(__file__, "about.md").format(opponents=_OPPONENTS),
    rules=RpsRules,
    history=STEPS,
    steps=STEPS,
    reward=symmetric_reward(LARGEST_SCORE, STEPS),
    source_options=OPTIONS,
    smallest_level=LOWEST_LEVEL,
    sample_levels=(1, 2, 3),
    public_key="rps-v1",
    make_source=RpsSource,
    task="rps",
    decode=decode,
    level_of=lambda match: match.level,
    prove=prove,
    metrics=MEASURES.metrics,
    series=MEASURES.series,
    setting=setting,
    players=PLAYERS,
)

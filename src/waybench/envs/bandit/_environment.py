"""The environment of slot machines."""

from waybench._package_data import read_text
from waybench.envs.bandit._game import BanditRules
from waybench.envs.bandit._instance import LARGEST_PAYOFF, decode
from waybench.envs.bandit._metrics import MEASURES, setting
from waybench.envs.bandit._players import PLAYERS
from waybench.envs.bandit._source import FEWEST, OPTIONS, BanditSource, prove
from waybench.smartplay import agent_environment, symmetric_reward

STEPS = 50  # and as many observations in the history (Table 1)


def _rules(*, published: bool) -> BanditRules:
    return BanditRules()


ARMS = agent_environment(
    id="bandit/arms",
    version=1,
    title="Slot machines (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=_rules,
    history=STEPS,
    steps=STEPS,
    reward=symmetric_reward(LARGEST_PAYOFF, STEPS),
    source_options=OPTIONS,
    smallest_level=FEWEST,
    sample_levels=(2, 5, 10),
    public_key="bandit-v1",
    make_source=BanditSource,
    task="bandit",
    decode=decode,
    level_of=lambda bandit: bandit.level,
    prove=prove,
    metrics=MEASURES.metrics,
    series=MEASURES.series,
    setting=setting,
    players=PLAYERS,
)

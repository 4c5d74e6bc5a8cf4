"""The environment of slot machines."""

from waybench._package_data import read_text
from waybench.core import Items, Players, Presentation, Scoring
from waybench.envs.bandit._drawing import draw
from waybench.envs.bandit._game import BanditRules
from waybench.envs.bandit._instance import LARGEST_PAYOFF, decode
from waybench.envs.bandit._metrics import MEASURES, reference_scores, setting
from waybench.envs.bandit._people import board
from waybench.envs.bandit._players import PLAYERS
from waybench.envs.bandit._source import OPTIONS, BanditSource, prove
from waybench.smartplay import agent_environment, symmetric_reward, thinking_players

STEPS = 50  # and as many observations in the history (Table 1)


PRESENTATION = Presentation(
    title="Slot machines (SmartPlay)",
    lead=(
        "The player pulls one of several slot machines in each step and has to learn which is the best. The score is "
        "the number of pulls of the best one; regret is the expected reward lost on the others."
    ),
    level="number of machines",
    levels="numbers of machines",
    metrics=("score", "human", "scaled", "regret", "reward", "unnamed", "unparsed"),
    draw=draw,
    board=board,
    legend=(
        "A bar is the share of a machine's pulls that paid; its mean reward is below. Each pull is a cell in its "
        "machine's row: high for a win, low for a loss. The triangle marks the last pull."
    ),
    reference=(
        "the win rates (dashed; at the start where they drift), the best machine (amber), and a line under pulls of "
        "the best machine at that time"
    ),
)


ARMS = agent_environment(
    id="bandit/arms",
    version=1,
    title="Slot machines (SmartPlay)",
    about=read_text(__file__, "about.md"),
    rules=BanditRules,
    history=STEPS,
    steps=STEPS,
    reward=symmetric_reward(LARGEST_PAYOFF, STEPS),
    items=Items(
        options=OPTIONS,
        sample_levels=(2, 5, 10),
        public_key="bandit-v1",
        make_source=BanditSource,
        decode=decode,
        prove=prove,
    ),
    scoring=Scoring(
        metrics=MEASURES.metrics, series=MEASURES.series, published_setting=setting, reference_scores=reference_scores
    ),
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
)

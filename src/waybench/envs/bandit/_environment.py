"""The environment of slot machines, with its metrics."""

from waybench._package_data import read_text
from waybench.core import Items, Players, Presentation
from waybench.envs.bandit._drawing import board, scene
from waybench.envs.bandit._game import (
    LARGEST_PAYOFF,
    OPTIONS,
    PLAYERS,
    PUBLISHED,
    BanditRules,
    BanditSource,
    decode,
    prove,
)
from waybench.envs.smartplay import agent_environment, learning_scoring, symmetric_reward_range, thinking_players

SCORING = learning_scoring(
    "the one with the highest expected reward",
    decode,
    PUBLISHED,
    lambda record: len(record.instance["arms"]),
    "With k machines, the random player finds the best one in 1/k of the steps, the optimal player in every step.",
    lambda record: max(payoff for _, payoff in record.instance["arms"]),
    has_chance_scores=True,
)
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
    scene=scene,
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
    reward=symmetric_reward_range(LARGEST_PAYOFF, STEPS),
    items=Items(
        options=OPTIONS,
        sample_levels=(2, 5, 10),
        public_key="bandit-v1",
        make_source=BanditSource,
        decode=decode,
        prove=prove,
    ),
    scoring=SCORING,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
)

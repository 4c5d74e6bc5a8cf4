"""The environment of Rock Paper Scissors, with its metrics."""

from waybench._package_data import read_text
from waybench.core import Items, Players, Presentation
from waybench.envs.rps._drawing import KEYS, board, scene
from waybench.envs.rps._game import (
    LARGEST_SCORE,
    NAMES,
    OPTIONS,
    PLAYERS,
    PUBLISHED,
    STRATEGIES,
    RpsRules,
    RpsSource,
    decode,
    prove,
)
from waybench.envs.smartplay import agent_environment, learning_scoring, symmetric_reward_range, thinking_players

SCORING = learning_scoring(
    "the one with the highest expected score",
    decode,
    PUBLISHED,
    lambda record: len(NAMES),
    "The random player makes the best choice in one round of three, the optimal one in every round.",
    lambda record: max(record.instance["wins"]),
)


STEPS = 50  # and as many observations in the history (Table 1)
_OPPONENTS = "\n".join(f"  * `{name}` {strategy.doc}" for name, strategy in STRATEGIES.items())


PRESENTATION = Presentation(
    title="Rock, Paper, Scissors (SmartPlay)",
    lead=(
        "The player plays rounds against an opponent that prefers some choices or adapts to the player. The score is "
        "the number of rounds with the choice of the highest expected score, whatever the result."
    ),
    level="level of opponents",
    levels="levels of opponents",
    metrics=("score", "human", "scaled", "regret", "reward", "unnamed", "unparsed"),
    scene=scene,
    board=board,
    legend=(
        "Top: how often each choice was made, and the score of a win with it. Bottom: the choices of each round (R, P "
        "or S), with a triangle up for a win, down for a defeat, and a line for a tie."
    ),
    reference=(
        "the best choice of each round, filled where the player made it, and the probabilities of the opponent's next "
        "choices (dashed)"
    ),
)


ROUNDS = agent_environment(
    id="rps/rounds",
    version=1,
    title="Rock Paper Scissors (SmartPlay)",
    about=read_text(__file__, "about.md").format(opponents=_OPPONENTS),
    rules=RpsRules,
    history=STEPS,
    steps=STEPS,
    reward=symmetric_reward_range(LARGEST_SCORE, STEPS),
    items=Items(
        options=OPTIONS, sample_levels=(1, 2, 3), public_key="rps-v1", make_source=RpsSource, decode=decode, prove=prove
    ),
    scoring=SCORING,
    presentation=PRESENTATION,
    players=Players(policies=thinking_players(PLAYERS)),
    keys=KEYS,
)

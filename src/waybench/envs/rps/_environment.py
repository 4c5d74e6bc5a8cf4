"""The environment of Rock Paper Scissors."""

from waybench.core import Environment, EpisodeRecord
from waybench.envs.rps._game import NAMES, Rounds, RpsRules
from waybench.envs.rps._instance import LARGEST_SCORE, PUBLISHED, Match, decode
from waybench.envs.rps._players import PLAYERS
from waybench.envs.rps._source import LOWEST_LEVEL, OPTIONS, RpsSource, prove
from waybench.envs.rps._strategies import STRATEGIES
from waybench.smartplay import (
    TYPED_HELP,
    UNNAMED,
    Choice,
    Scene,
    action_turns,
    agent_failure,
    agent_options,
    agent_play,
    agent_typed,
    endless,
    learning_metrics,
    thinking_players,
)

STEPS = 50  # and as many observations in the history (Table 1)

ABOUT = """\
The player plays Rock Paper Scissors again and again against an opponent that is not as unpredictable as it should be,
and is told what a win with each choice is worth. What counts is how often the player makes the best choice against what
the opponent is about to do.

A re-implementation of the Rock Paper Scissors of SmartPlay (arXiv:2310.01557) after its paper and its published
program, with further opponents:

* **Levels.** The level tells what the opponent looks at: 1 nothing, which is the published opponent; 2 the last round;
  3 all rounds.
* **Opponents.** One that is not `fixed` follows its strategy with the probability `rate` and otherwise draws from its
  probabilities, as it does in the first round:
{opponents}
* **Settings.** `basic` has the probabilities 0.2, 0.2 and 0.6, each win counting 1; `different_score`, which the
  published program registers and cannot make, 0.3, 0.3 and 0.4 with wins of 1, 2 and 1. Which choice has which is
  drawn. Free ones have probabilities in twentieths and wins from 1 to 3, the best choice against them leading by 0.1 in
  expected score or more.
* **Chance** is drawn by key: an item has its own draws, so that the same opponent can be met several times, and further
  attempts at an item have others.
* **Score.** A round in which the player makes the choice with the highest expected score counts 1, however it ends; of
  equally good choices only the first counts, as published. Expected scores are those of this round alone, under the
  probabilities with which the opponent is about to choose.

What `paper` and `sound` differ in:

| | `paper` | `sound` |
|---|---|---|
| unequal scores in the manual | Paper's and Scissors' stand in each other's line | each in its own |
| the third action is called | Scissor | Scissors, as the manual calls it |
| the choice that is made | the first one named in the reply, within words too | the only one that is named |
| a reply that names none | chooses Rock | costs the step |
| a reply cut off at the output limit | is read | costs the step |
"""


def _setting(record: EpisodeRecord) -> str | None:
    return PUBLISHED.get(decode(record.instance).setting or "")


def _make(protocol: str) -> RpsRules:
    return RpsRules(published=protocol == "paper")


def _reward(steps: int | None) -> tuple[float, float]:
    most = LARGEST_SCORE * (steps or STEPS)
    return -most, most


_LEARNING = learning_metrics(
    "that with the highest expected score",
    _setting,
    lambda record: len(NAMES),
    "The random player makes the best choice in one round of three, the optimal one in every round.",
    lambda record: max(record.instance["wins"]),
)

ROUNDS: Environment[Match, Scene[Match, Rounds], Choice] = Environment(
    id="rps/rounds",
    version=1,
    title="Rock Paper Scissors (SmartPlay)",
    about=ABOUT.format(opponents="\n".join(f"  * `{name}` {strategy.doc}" for name, strategy in STRATEGIES.items())),
    options=agent_options(history=STEPS, steps=STEPS),
    source_options=OPTIONS,
    smallest_level=LOWEST_LEVEL,
    sample_levels=(1, 2, 3),
    public_key="rps-v1",
    play=agent_play(_make, lambda match: STEPS, _reward),
    draw_from=RpsSource,
    decode=decode,
    level_of=lambda match: match.level,
    prove=prove,
    metrics=_LEARNING.metrics,
    series=_LEARNING.series,
    failures=(UNNAMED,),
    failure=agent_failure(endless),
    action_turns=action_turns,
    setting=_setting,
    typed=agent_typed(_make),
    typed_help=TYPED_HELP,
    players=thinking_players(PLAYERS),
)

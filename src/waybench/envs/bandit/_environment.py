"""The environment of slot machines."""

from waybench.core import Environment, EpisodeRecord
from waybench.envs.bandit._game import BanditRules, Machines
from waybench.envs.bandit._instance import LARGEST_PAYOFF, PUBLISHED, Bandit, decode
from waybench.envs.bandit._players import PLAYERS
from waybench.envs.bandit._source import FEWEST, OPTIONS, BanditSource, prove
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
The player pulls one of some slot machines, again and again. Each pays its payoff with a probability of its own, which
the player is not told, and takes as much otherwise. What counts is how often the best machine is pulled, so that
exploring has to be weighed against earning.

A re-implementation of the two-armed bandits of SmartPlay (arXiv:2310.01557) after its paper and its published program,
for any number of machines:

* **Levels.** The level is the number of machines. The four published settings have two: `setting` is `deterministic`
  (1 and 0), `high_low` (0.8 and 0.2), `high_high` (0.8 and 0.9) or `low_low` (0.1 and 0.2), with payoffs of 1 and 50
  steps each; which machine comes first is drawn. Those of `free` have probabilities from 0.05 to 0.95, the best one
  leading by 0.1 in expected reward or more.
* **Drift.** With `drift`, every probability takes a random step after each pull, uniform up to `drift` either way and
  reflected at 0 and 1. The best machine is then the one that is best at the time of the pull. The manual tells of it.
* **Chance** is drawn by key: an item has its own draws, so that the same machines can be met several times, and further
  attempts at an item have others.
* **Score.** A pull of the machine with the highest expected reward, p r - (1 - p) r, counts 1, whatever it paid; of
  equally good machines only the first counts, as published.

What `paper` and `sound` differ in:

| | `paper` | `sound` |
|---|---|---|
| the machine that is pulled | the first one that the reply names, final period included | the only one named |
| a reply that names none | pulls the first machine | costs the step |
| a reply cut off at the output limit | is read | costs the step |
"""


def _setting(record: EpisodeRecord) -> str | None:
    return PUBLISHED.get(decode(record.instance).setting or "")


def _make(protocol: str) -> BanditRules:
    return BanditRules()


def _reward(steps: int | None) -> tuple[float, float]:
    most = LARGEST_PAYOFF * (steps or STEPS)
    return -most, most


_LEARNING = learning_metrics(
    "that with the highest expected reward",
    _setting,
    lambda record: len(record.instance["arms"]),
    "The random player finds the best machine in one step of so many machines, the optimal one in every step.",
    lambda record: max(payoff for _, payoff in record.instance["arms"]),
)

ARMS: Environment[Bandit, Scene[Bandit, Machines], Choice] = Environment(
    id="bandit/arms",
    version=1,
    title="Slot machines (SmartPlay)",
    about=ABOUT,
    options=agent_options(history=STEPS, steps=STEPS),
    source_options=OPTIONS,
    smallest_level=FEWEST,
    sample_levels=(2, 5, 10),
    public_key="bandit-v1",
    play=agent_play(_make, lambda bandit: STEPS, _reward),
    draw_from=BanditSource,
    decode=decode,
    level_of=lambda bandit: bandit.level,
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

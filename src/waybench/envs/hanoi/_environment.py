"""The environment of the Tower of Hanoi."""

from waybench.core import Environment, level_axis, proof_axis
from waybench.envs.hanoi._failures import FAILURES, own_failure
from waybench.envs.hanoi._game import ILLEGAL_REWARD, SOLVED_REWARD, HanoiRules, Puzzle
from waybench.envs.hanoi._instance import Towers, decode
from waybench.envs.hanoi._metrics import METRICS, SERIES, STEPS, most_steps, sample, setting
from waybench.envs.hanoi._players import PLAYERS
from waybench.envs.hanoi._source import FEWEST, OPTIONS, HanoiSource, prove
from waybench.smartplay import (
    TYPED_HELP,
    Choice,
    Scene,
    action_turns,
    agent_failure,
    agent_options,
    agent_play,
    agent_typed,
    thinking_players,
)

ABOUT = """\
The player moves disks between three rods, one at a time and never a larger one onto a smaller one, until all are where
they have to go. What counts is how many of them are there at the end, and how many of the moves were those of a
shortest solution.

A re-implementation of the Tower of Hanoi of SmartPlay (arXiv:2310.01557) after its paper and its published program, for
any number of disks and any two positions:

* **Levels.** The level is the number of disks. Those published are 3 and 4, of which 3 has figures of people.
* **Positions.** Published are all disks on rod A at the start and on rod C at the end. `free` ones are drawn, at least
  half of the greatest distance, 2^n - 1, apart; the manual's two sentences about stacks are then replaced.
* **Steps.** 30 as published, or twice as many as a shortest solution has if that is more.
* **History.** Table 1 has 30 observations, the published program 5.
* **Rewards.** 100 for the solution, -1 for a move that is not allowed and changes nothing.
* **Shortest solutions** are exact from any position to any other: the largest disk that has to move does so once or
  twice.

What `paper` and `sound` differ in:

| | `paper` | `sound` |
|---|---|---|
| a move that is not allowed | is told like any other, and the disks stay | is said to be not allowed |
| the move that is tried | the first one that the reply names, word by word | the only one named |
| a reply that names none | tries the first move of the list | costs the step |
| a reply cut off at the output limit | is read | costs the step |
"""


def _make(protocol: str) -> HanoiRules:
    return HanoiRules(published=protocol == "paper")


def _reward(steps: int | None) -> tuple[float, float]:
    return (float("-inf") if steps is None else ILLEGAL_REWARD * steps), SOLVED_REWARD


RODS: Environment[Towers, Scene[Towers, Puzzle], Choice] = Environment(
    id="hanoi/rods",
    version=1,
    title="Tower of Hanoi (SmartPlay)",
    about=ABOUT,
    options=agent_options(history=STEPS, steps=None),
    source_options=OPTIONS,
    smallest_level=FEWEST,
    sample_levels=(3, 4, 5),
    public_key="hanoi-v1",
    play=agent_play(_make, most_steps, _reward),
    draw_from=HanoiSource,
    decode=decode,
    level_of=lambda towers: towers.level,
    prove=prove,
    metrics=METRICS,
    failures=FAILURES,
    failure=agent_failure(own_failure),
    action_turns=action_turns,
    axes=(
        level_axis("disks", "Disks on the rods."),
        proof_axis("minimum", "Optimal moves", "Moves of a shortest solution."),
    ),
    success="all disks are where they have to go, after any number of moves",
    series=SERIES,
    setting=setting,
    cluster=sample,
    typed=agent_typed(_make),
    typed_help=TYPED_HELP,
    players=thinking_players(PLAYERS),
)

"""The environment of the Tower of Hanoi."""

from collections.abc import Iterator
from typing import Any

from waybench.core import Environment, Presentation, level_axis, proof_axis
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
    agent_failure,
    agent_options,
    agent_play,
    number_parser,
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


def _draw(*args: Any, **options: Any) -> str:
    from waybench.envs.hanoi._drawing import draw  # it is imported when something is drawn

    return draw(*args, **options)


def _draw_frames(*args: Any) -> Iterator[str]:
    from waybench.envs.hanoi._drawing import draw_frames

    return draw_frames(*args)


PRESENTATION = Presentation(
    title="Tower of Hanoi (SmartPlay)",
    lead=(
        "Disks are moved between three rods, one at a time and never onto a smaller one. The score is the number "
        "of disks on the rod where they have to go when the episode ends."
    ),
    level="number of disks",
    levels="numbers of disks",
    item="puzzle",
    metrics=("score", "human", "completed", "optimal_rate", "first_mistake", "illegal", "unnamed", "unparsed"),
    draw=_draw,
    draw_frames=_draw_frames,
    legend=(
        "The rods at the start and after each move, with an edge around the disk that was moved. A cross on a line "
        "from rod to rod is a move that is not allowed."
    ),
    reference="the goal",
)

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
    axes=(
        level_axis("disks", "Disks on the rods."),
        proof_axis("minimum", "Optimal moves", "Moves of a shortest solution."),
    ),
    success="all disks are where they have to go, after any number of moves",
    series=SERIES,
    published_setting=setting,
    cluster=sample,
    parse_typed=number_parser(_make),
    typed_help=TYPED_HELP,
    presentation=PRESENTATION,
    players=thinking_players(PLAYERS),
)

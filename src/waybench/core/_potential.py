"""Potentials of states: what rewards for training can be shaped by."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from waybench.core._game import S


@dataclass(frozen=True, slots=True)
class Potential(Generic[S]):
    """How far a state is on the way to the goal.

    Attributes:
        name: Its name, a value of the option `shaping` of `waybench.ext.train`.
        doc: What it measures, in a sentence.
        of: State of a game that is not over -> the potential, 0 at the start and at most 1; it can be negative where a
            state is worse than the start.
        reward: The environment's own reward for the goal: what a potential of 1 counts for.
    """

    name: str
    doc: str
    of: Callable[[S], float]
    reward: float = 1.0


def shaping_reward(potential: Potential[S], before: S, after: S, ended: bool, discount: float = 1.0) -> float:
    """Return what potential-based shaping adds to the reward of a step.

    This is reward * (discount * potential(after) - potential(before)), where the potential of a state in which the game
    has ended is 0. It leaves the best policies of a discounted task the same (A. Y. Ng, D. Harada and S. Russell,
    "Policy invariance under reward transformations", ICML 1999).

    Args:
        potential: The potential.
        before: The state before the step.
        after: The state after it.
        ended: Whether the game has ended with the step. A limit from outside ends no game.
        discount: The discount factor of the training.
    """
    return potential.reward * ((0.0 if ended else discount * potential.of(after)) - potential.of(before))

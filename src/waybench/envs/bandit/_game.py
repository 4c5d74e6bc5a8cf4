"""The rules and the words of slot machines (SmartPlay, section 3.2 and appendix C.1; shared/specs/smartplay.md, 3)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from waybench.core import Stream
from waybench.envs.bandit._instance import Bandit
from waybench.smartplay import Rules, Step, best_of

# Protocol text: the published program's, with {count} for its 2.
MANUAL = (
    "You are in the casino with {count} slot machines in front of you. "
    "Your goal is to try to earn the most from those slot machines."
)
ACTION = "Pull slot machine {number}."
BEGIN = "A new round begins."
PULLED = "You pulled slot machine {number}, you received reward {reward:g}."

# Ours.
DRIFTS = " The chances of each slot machine change slowly as you play."


class Machines(NamedTuple):
    """The machines after some steps.

    Attributes:
        bandit: The instance.
        chances: The probability of each machine now.
        best: Which has the highest expected reward; the first of several.
        gaps: How much less the expected reward of each is.
        counts: For each machine how often it has paid and how often not, one after the other.
        score: Steps in which the best machine was pulled.
        arm: The machine pulled last; -1 at the start.
        reward: What it paid.
    """

    bandit: Bandit
    chances: tuple[float, ...]
    best: int
    gaps: tuple[float, ...]
    counts: tuple[int, ...]
    score: int = 0
    arm: int = -1
    reward: float = 0.0


def values(bandit: Bandit, chances: Sequence[float]) -> tuple[int, tuple[float, ...]]:
    """Return the best machine, and how much less each is worth.

    The expected reward is p r - (1 - p) r, as the paper has payoffs of r and -r. The published program pays -1 in
    place of -r and reckons with that, which is the same for every registered setting.
    """
    return best_of(
        [chance * payoff - (1 - chance) * payoff for chance, (_, payoff) in zip(chances, bandit.arms, strict=True)]
    )


class BanditRules(Rules[Bandit, Machines]):
    """Each pull pays a machine's payoff with its probability, and otherwise takes as much; it never ends by itself.

    Events: `optimal`, whether it was the best machine; `regret`, how much less its expected reward was.
    """

    deterministic = False

    def begin(self, instance: Bandit) -> Machines:
        """Return the machines before the first pull."""
        chances = tuple(chance for chance, _ in instance.arms)
        return Machines(instance, chances, *values(instance, chances), (0, 0) * len(chances))

    def actions(self, instance: Bandit) -> Sequence[str]:
        """Return an action for each machine."""
        return _actions(len(instance.arms))

    def step(self, world: Machines, action: int, rng: Stream) -> Step[Machines]:
        """Pull a machine; then the probabilities change, if they do."""
        bandit, chances, best, gaps, counts, score, _, _ = world
        payoff = bandit.arms[action][1]
        paid = rng.random() < chances[action]
        reward, place = (payoff, 2 * action) if paid else (-payoff, 2 * action + 1)
        optimal = action == best
        events = {"optimal": optimal, "regret": gaps[action]}
        if bandit.drift:
            chances = tuple(_reflected(chance + bandit.drift * (2 * rng.random() - 1)) for chance in chances)
            best, gaps = values(bandit, chances)
        counts = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
        return Step(Machines(bandit, chances, best, gaps, counts, score + optimal, action, reward), reward, events)

    def score(self, world: Machines) -> float:
        """Return the number of steps in which the best machine was pulled."""
        return world.score

    def manual(self, instance: Bandit) -> str:
        """Return the manual, which says so where the chances drift."""
        return MANUAL.format(count=len(instance.arms)) + (DRIFTS if instance.drift else "")

    def observe(self, world: Machines) -> str:
        """Return what the last pull has paid."""
        return BEGIN if world.arm < 0 else _pulled_text(world.arm, world.reward)


@lru_cache(maxsize=64)
def _actions(count: int) -> tuple[str, ...]:
    return tuple(ACTION.format(number=number) for number in range(1, count + 1))


@lru_cache(maxsize=256)  # two for each machine
def _pulled_text(arm: int, reward: float) -> str:
    return PULLED.format(number=arm + 1, reward=reward)


def _reflected(chance: float) -> float:
    """Return a probability that has gone beyond 0 or 1 by less than 1, reflected there."""
    return -chance if chance < 0 else 2 - chance if chance > 1 else chance

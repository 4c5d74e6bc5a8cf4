"""Players of slot machines."""

from waybench.core import Stream
from waybench.envs.bandit._game import Machines
from waybench.envs.bandit._instance import Bandit

_MOST_COUNTED = 200  # pulls of a machine; of more, their proportion


def oracle(bandit: Bandit, world: Machines, rng: Stream) -> int:
    """Pull the machine with the highest expected reward, which it knows."""
    return world.best


def thompson(bandit: Bandit, world: Machines, rng: Stream) -> int:
    """Learn by Thompson sampling (Beta-Bernoulli, uniform prior): pull what is best under beliefs drawn by chance."""
    counts = list(zip(world.counts[::2], world.counts[1::2], strict=True))
    pulled = [payoff for (_, payoff), (paid, lost) in zip(bandit.arms, counts, strict=True) if paid or lost]
    hoped = max(pulled, default=1.0)  # a payoff is known once the machine was pulled
    samples: list[float] = []
    for (_, payoff), (paid, lost) in zip(bandit.arms, counts, strict=True):
        payoff_estimate = payoff if paid or lost else hoped
        samples.append(payoff_estimate * (2 * beta(paid + 1, lost + 1, rng) - 1))
    return samples.index(max(samples))


def stay_or_shift(bandit: Bandit, world: Machines, rng: Stream) -> int:
    """Stay with a machine that has paid, otherwise go on to the next one."""
    if world.reward > 0:
        return world.arm
    return (world.arm + 1) % len(bandit.arms)


def beta(a: int, b: int, rng: Stream) -> float:
    """Return a number from the Beta distribution: the a-th smallest of a + b - 1 uniform ones.

    Of large parameters only the proportion is kept, which bounds the work, and the distribution is then a wider one.
    """
    if a + b > _MOST_COUNTED:
        share = _MOST_COUNTED / (a + b)
        a, b = max(1, round(a * share)), max(1, round(b * share))
    return sorted(rng.random() for _ in range(a + b - 1))[a - 1]


PLAYERS = {"oracle": oracle, "thompson": thompson, "heuristic": stay_or_shift}

"""Curves: the mean of a series at each step, over the episodes that have this step."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import fmean

from waybench.stats import LostAttempts, Mean, clustered_mean


@dataclass(frozen=True, slots=True)
class Curve:
    """A series of an environment, step by step.

    Attributes:
        steps: At each step, from the first, the mean over the episodes that have it. With a teacher it is PSACC_k of
            AQA-Bench (arXiv:2402.09404, equation 6): each episode has as many steps as the optimal policy takes.
        average: The mean of these means over the steps, each with the same weight (PSACC_avg, equation 7). Its
            interval is that of its linearisation, see `contributions`; n is the number of episodes.
    """

    steps: tuple[Mean, ...]
    average: Mean

    def with_lost(self, lost_of: Callable[[Mean], LostAttempts]) -> "Curve":
        """Return the curve with the attempts that each of its means lacks.

        Args:
            lost_of: A mean -> the attempts that it lacks.
        """
        steps = tuple(replace(step, lost=lost_of(step)) for step in self.steps)
        return Curve(steps, replace(self.average, lost=lost_of(self.average)))


def curve(
    series: Sequence[Sequence[float]],
    clusters: Sequence[Hashable],
    low: float | None = None,
    high: float | None = None,
) -> Curve | None:
    """Return the curve of some episodes, with 95 % intervals as `clustered_mean` has them.

    Args:
        series: Of each episode, a number for each of its steps; those without a step are left out.
        clusters: Of each episode, what it was drawn with.
        low: The least number possible, None if unbounded.
        high: The greatest number possible, None if unbounded.

    Returns:
        The curve; None if no episode has a step.
    """
    pairs = [(numbers, cluster) for numbers, cluster in zip(series, clusters, strict=True) if numbers]
    steps: list[Mean] = []
    for step in range(max((len(numbers) for numbers, _ in pairs), default=0)):
        reached = [(numbers[step], cluster) for numbers, cluster in pairs if step < len(numbers)]
        found = clustered_mean([number for number, _ in reached], [cluster for _, cluster in reached], low, high)
        if found is not None:
            steps.append(found)
    average, parts = contributions([numbers for numbers, _ in pairs])
    around = [average + len(parts) * part for part in parts]
    mean = clustered_mean(around, [cluster for _, cluster in pairs], low, high)
    return None if mean is None else Curve(tuple(steps), mean)


def contributions(series: Sequence[Sequence[float]]) -> tuple[float, list[float]]:
    """Return the mean of a curve over its steps, and what each episode moves it by.

    With P_k the mean at step k of K, and n_k the number of episodes that have it, an episode with numbers x_k moves
    the curve's mean by the sum over its steps of (x_k - P_k) / (n_k * K): the linearised ratio of every step (as in
    `clustered_mean`), summed. These parts sum to 0. Where all episodes are of one length, the mean and n times a part
    are an episode's own mean.

    Args:
        series: Of each episode, a number for each of its steps.
    """
    length = max(map(len, series), default=0)
    if not length:
        return 0.0, [0.0] * len(series)
    at_step = [[numbers[step] for numbers in series if step < len(numbers)] for step in range(length)]
    means, sizes = [fmean(reached) for reached in at_step], [len(reached) for reached in at_step]
    parts = [
        fsum((number - mean) / size for number, mean, size in zip(numbers, means, sizes, strict=False)) / length
        for numbers in series
    ]
    return fmean(means), parts

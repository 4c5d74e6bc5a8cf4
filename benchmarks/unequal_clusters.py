"""Coverage of 95 % intervals where one map has half of the items: `python -m benchmarks.unequal_clusters`.

Questions about maps are right or wrong, and those about one map are alike: each map has a success rate of its own. The
first map has as many questions as all the others, which have six each. The interval of a mean has to contain the mean
success rate of all maps; that of a paired difference has to contain the difference of two models' rates.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from waybench.results.stats import IntervalEstimate, clustered_mean
from waybench.results.stats._contributions import Difference

CLUSTERS = (5, 10, 20, 53)
RUNS = 2_000
_QUESTIONS = 6
_SEED = (21, 8)
Numbers = NDArray[np.float64]


class Kind(NamedTuple):
    """A kind of player.

    Attributes:
        rate: Its mean success rate.
        alike: The correlation of the results of two questions about one map.
        better: By how much the other model's rate is lower, for differences.
    """

    rate: float
    alike: float
    better: float


KINDS: Mapping[str, Kind] = {
    "questions independent, 80 %": Kind(0.8, 0.0, 0.2),
    "slightly alike, 10 %": Kind(0.1, 0.1, 0.0),
    "slightly alike, 50 %": Kind(0.5, 0.1, 0.2),
    "alike, 50 %": Kind(0.5, 0.3, 0.0),
    "alike, 80 %": Kind(0.8, 0.3, 0.2),
    "much alike, 95 %": Kind(0.95, 0.5, 0.1),
}


def _rates(rng: np.random.Generator, mean: float, alike: float, clusters: int) -> Numbers:
    if not alike:
        return np.full(clusters, mean)
    more = (1 - alike) / alike
    return rng.beta(mean * more, (1 - mean) * more, clusters)


def _answers(rng: np.random.Generator, rates: Numbers, where: NDArray[np.intp]) -> Numbers:
    return (rng.random(len(where)) < rates[where]).astype(np.float64)


def _samples(name: str, clusters: int, runs: int, part: int) -> Iterator[tuple[np.random.Generator, NDArray[np.intp]]]:
    sizes = np.full(clusters, _QUESTIONS)
    sizes[0] = _QUESTIONS * (clusters - 1)
    where = np.repeat(np.arange(clusters), sizes)
    rng = np.random.default_rng((*_SEED, part, clusters, list(KINDS).index(name)))
    for _ in range(runs):
        yield rng, where


def _holds(mean: IntervalEstimate | None, truth: float) -> bool:
    """Return whether an interval contains a number; where there is none, nothing wrong is claimed."""
    if mean is None or mean.low is None or mean.high is None:
        return True
    return mean.low - 1e-9 <= truth <= mean.high + 1e-9


def mean_coverage(name: str, clusters: int, runs: int = RUNS) -> float:
    """Return the share of samples in which the interval of the mean contains the true one.

    Args:
        name: Of the kind of player, a key of `KINDS`.
        clusters: Number of maps.
        runs: Number of samples.
    """
    kind = KINDS[name]
    held = 0
    for rng, where in _samples(name, clusters, runs, 1):
        values = _answers(rng, _rates(rng, kind.rate, kind.alike, clusters), where)
        held += _holds(clustered_mean(values.tolist(), where.tolist(), 0, 1), kind.rate)
    return held / runs


def paired_coverage(name: str, clusters: int, runs: int = RUNS) -> float:
    """Return the share of samples in which the interval of the difference of two models contains the true one.

    Args:
        name: Of the kind of player, a key of `KINDS`; the other model is worse by `Kind.better`, on other maps.
        clusters: Number of maps.
        runs: Number of samples.
    """
    kind = KINDS[name]
    held = 0
    for rng, where in _samples(name, clusters, runs, 2):
        sides = [
            _answers(rng, _rates(rng, rate, kind.alike, clusters), where)
            for rate in (kind.rate, kind.rate - kind.better)
        ]
        held += _holds(
            Difference.from_values(sides[0].tolist(), sides[1].tolist(), where.tolist(), 0, 1).mean(), kind.better
        )
    return held / runs


def previous_coverage(name: str, clusters: int, runs: int = RUNS) -> float:
    """Return the coverage of the mean with the factor G / (G - 1) and G - 1 degrees of freedom, as it was before."""
    kind = KINDS[name]
    held = 0
    quantile = float(stats.t.isf(0.025, clusters - 1))
    for rng, where in _samples(name, clusters, runs, 1):
        values = _answers(rng, _rates(rng, kind.rate, kind.alike, clusters), where)
        mean = values.mean()
        residuals = np.bincount(where, weights=values - mean)
        variance = clusters / (clusters - 1) * (residuals**2).sum() / len(values) ** 2
        if variance == 0:
            held += 1
            continue
        # Wilson's interval contains the rate if the mean is not further from it than the error that is due there.
        due = variance * kind.rate * (1 - kind.rate) / (mean * (1 - mean))
        held += (mean - kind.rate) ** 2 <= quantile**2 * due
    return held / runs


def main() -> None:
    """Print the table of docs/evidence.md."""
    heads = " | ".join(f"{clusters} maps" for clusters in CLUSTERS)
    print(f"| players | {heads} | difference of two models: {heads} |\n|{'---|' * (1 + 2 * len(CLUSTERS))}")
    for name in KINDS:
        cells = [
            f"{100 * previous_coverage(name, clusters):.0f}, {100 * mean_coverage(name, clusters):.0f} %"
            for clusters in CLUSTERS
        ]
        cells += [f"{100 * paired_coverage(name, clusters):.0f} %" for clusters in CLUSTERS]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

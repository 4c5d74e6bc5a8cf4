"""Coverage of the Crafter score's 95 % interval by the number of worlds: `python -m benchmarks.crafter_score`.

Each simulated player unlocks each of the 22 achievements with its own probability, and some worlds are easier than
others. The score weighs rare achievements more than a mean does, and few worlds do not show them.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from waybench.envs.crafter import crafter_score
from waybench.envs.crafter._environment import AGGREGATES
from waybench.results.stats._intervals import jackknife_estimate

WORLDS = (10, 30, 100)
RUNS = 1_000
_SEED = (21, 9)
Numbers = NDArray[np.float64]

RATES: Mapping[str, Numbers] = {
    "10 to 90 %": np.linspace(0.1, 0.9, 22),
    "30 to 98 %": np.linspace(0.3, 0.98, 22),
    "2 to 60 %": np.linspace(0.02, 0.6, 22),
    "all 50 %": np.full(22, 0.5),
    "all 10 %": np.full(22, 0.1),
    "1 to 95 %, most of them rare": np.geomspace(0.01, 0.95, 22),
    "half never, the others 5 to 95 %": np.concatenate([np.zeros(11), np.linspace(0.05, 0.95, 11)]),
    "ten 80 %, twelve 3 %": np.repeat([0.8, 0.03], [10, 12]),
    "all 2 %": np.full(22, 0.02),
}


def coverage(name: str, worlds: int, runs: int = RUNS) -> float:
    """Return the share of samples in which the interval contains the true score.

    Args:
        name: Of the player, a key of `RATES`.
        worlds: Number of worlds.
        runs: Number of samples.
    """
    (score,), rates = AGGREGATES, RATES[name]
    rng = np.random.default_rng((*_SEED, worlds, list(RATES).index(name)))
    limits = stats.norm.ppf(rates)
    truth, held = crafter_score(rates.tolist()), 0
    for _ in range(runs):
        ease = 0.5 * rng.normal(size=(worlds, 1)) + np.sqrt(0.75) * rng.normal(size=(worlds, 22))
        values = (ease < limits).astype(np.float64).tolist()
        interval = jackknife_estimate(values, range(worlds), score.of, score.low, score.high, score.scale)
        if interval is None:
            continue
        # Without an interval, the score alone is claimed.
        low, high = (interval.value if end is None else end for end in (interval.low, interval.high))
        held += low - 1e-9 <= truth <= high + 1e-9
    return held / runs


def main() -> None:
    """Print the table of docs/evidence.md."""
    print(f"| rates of the achievements | {' | '.join(f'{n} worlds' for n in WORLDS)} |\n|{'---|' * (1 + len(WORLDS))}")
    for name in RATES:
        print(f"| {name} | {' | '.join(f'{100 * coverage(name, n):.0f} %' for n in WORLDS)} |", flush=True)


if __name__ == "__main__":
    main()

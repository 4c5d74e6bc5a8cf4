"""Coverage of the 50 % horizon's 90 % intervals in fixed designs: `python -m benchmarks.fixed_designs`.

Players of known success curves play ten items at each of ten levels. The plain interval comes from the posterior alone;
the other one also contains the gap between the tried levels around the horizon, as in reports.
"""

from collections.abc import Callable, Mapping

import numpy as np

from waybench.stats import HORIZON_CONFIDENCE, Array, Shape, fitted

LEVELS: Array = np.array([5.0, 9, 13, 21, 29, 35, 41, 49, 69, 101], dtype=np.float64)
ITEMS = 10
RUNS = 300
_SEED = (21, 7)


def _logistic(at: Array, horizon: float, slope: float) -> Array:
    return np.asarray(1 / (1 + np.exp(slope * np.log2(at / horizon))), dtype=np.float64)


# The success rate at a difficulty, of a player with a parameter that is drawn anew for each run.
PLAYERS: Mapping[str, Callable[[Array, float], Array]] = {
    "logistic": lambda at, middle: _logistic(at, middle, 3),
    "steep step": lambda at, middle: np.asarray(at < middle, dtype=np.float64),
    "guesses 25 %": lambda at, middle: 0.25 + 0.75 * _logistic(at, middle, 3),
    "lapses 10 %": lambda at, middle: 0.9 * _logistic(at, middle, 3),
    "plateau": lambda at, middle: 0.65 * (at < middle) + 0.3 * (at < middle / 2),
    "dip": lambda at, middle: _logistic(at, middle, 4) * np.where((at > middle / 3) & (at < middle / 2), 0.5, 1),
}


def coverage(name: str, runs: int = RUNS) -> tuple[float, float, float]:
    """Return the coverage of plain intervals and of those with the gap, and the median bias as a part of the truth.

    Args:
        name: Of the player, a key of `PLAYERS`.
        runs: Number of simulated runs.
    """
    rng, at = np.random.default_rng((*_SEED, list(PLAYERS).index(name))), np.repeat(LEVELS, ITEMS).astype(np.float64)
    fine: Array = np.geomspace(float(LEVELS[0]), float(LEVELS[-1]), 4001)
    plain = spanned = 0
    biases: list[float] = []
    for _ in range(runs):
        rates = PLAYERS[name]
        middle = 15 * 4 ** rng.random()  # 15 to 60, uniform on a log scale
        truth = float(fine[np.flatnonzero(rates(fine, middle) >= 0.5)[-1]])  # where it last falls to one half
        solved = (rng.random(len(at)) < rates(at, middle)).astype(np.float64)
        fit = fitted(Shape(), at, solved, range(len(at)))
        value, low, high = fit.horizon(0.5, HORIZON_CONFIDENCE)
        plain += low <= truth <= high
        _, low, high = fit.spanned_horizon(0.5, HORIZON_CONFIDENCE)
        spanned += low <= truth <= high
        biases.append(value / truth - 1)
    return plain / runs, spanned / runs, float(np.median(biases))


def main() -> None:
    """Print the table of docs/evidence.md."""
    print("| players | runs | from the posterior alone | with the gap | median bias |\n|---|---|---|---|---|")
    for name in PLAYERS:
        plain, spanned, bias = coverage(name)
        print(f"| {name} | {RUNS} | {100 * plain:.1f}% | {100 * spanned:.1f}% | {100 * bias:+.1f}% |")


if __name__ == "__main__":
    main()

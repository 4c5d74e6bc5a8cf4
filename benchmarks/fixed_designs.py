"""Coverage of the 50 % horizon's 90 % intervals in fixed designs: `python -m benchmarks.fixed_designs`.

Players of known success curves play ten items at each of ten levels. The plain interval comes from the posterior of
curves without guesses alone. The other one is that of reports: curves may have a guess rate, and the interval contains
the gaps between the tried levels in which any falling curve most probably crosses one half.

A second table is of 80 % horizons of players who fail at a share of the items however easy they are: how often there is
no value, since the plateau may be below 80 %, and how often what is said instead is wrong.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from waybench.results.stats import FIXED_DESIGN, Array
from waybench.results.stats._curves import CurvePrior
from waybench.results.stats._fit import HORIZON_CONFIDENCE, MAYBE_UNREACHED, NEVER_REACHED, fit_curves

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
    "shallow": lambda at, middle: _logistic(at, middle, 1.5),
    "guesses 10 %": lambda at, middle: 0.1 + 0.9 * _logistic(at, middle, 3),
    "steep, guesses 25 %": lambda at, middle: 0.25 + 0.75 * _logistic(at, middle, 8),
    "plateau at 60 %": lambda at, middle: 0.15 + 0.45 * (at < middle) + 0.35 * (at < middle / 2),
    "plateau at 38 %": lambda at, middle: 0.38 * (at < middle * 1.5) + 0.57 * (at < middle / 2),
    "plateau at 55 %": lambda at, middle: 0.2 + 0.35 * (at < middle) + 0.43 * (at < middle / 2),
    "plateau at 45 %": lambda at, middle: 0.45 * (at < middle * 1.5) + 0.53 * (at < middle / 2),
    "dip": lambda at, middle: _logistic(at, middle, 4) * np.where((at > middle / 3) & (at < middle / 2), 0.5, 1),
}


class Coverage(NamedTuple):
    """What simulated intervals are like.

    Attributes:
        plain: Share of the posterior's intervals that contain the truth.
        reported: Share of the reported ones that do.
        plain_width: Mean width of the posterior's intervals, in doublings.
        width: Mean width of the reported ones.
        bias: Median bias of the reported horizon, as a part of the truth.
        misfit: Share of runs in which the curve is said not to fit.
    """

    plain: float
    reported: float
    plain_width: float
    width: float
    bias: float
    misfit: float


def coverage(name: str, runs: int = RUNS) -> Coverage:
    """Return the coverage of plain and of reported intervals.

    Args:
        name: Of the player, a key of `PLAYERS`.
        runs: Number of simulated runs.
    """
    seed = int.from_bytes(name.encode()) % 2**32
    rng, at = np.random.default_rng((*_SEED, seed)), np.repeat(LEVELS, ITEMS).astype(np.float64)
    fine: Array = np.geomspace(float(LEVELS[0]), float(LEVELS[-1]), 4001)
    outcomes: list[tuple[float, ...]] = []
    for _ in range(runs):
        rates = PLAYERS[name]
        middle = 15 * 4 ** rng.random()  # 15 to 60, uniform on a log scale
        truth = float(fine[np.flatnonzero(rates(fine, middle) >= 0.5)[-1]])  # where it last falls to one half
        solved = (rng.random(len(at)) < rates(at, middle)).astype(np.float64)
        _, *plain = fit_curves(CurvePrior(), at, solved, range(len(at))).horizon(0.5, HORIZON_CONFIDENCE)
        fit = fit_curves(FIXED_DESIGN, at, solved, range(len(at)))
        value, *reported = fit.widened_horizon(0.5, HORIZON_CONFIDENCE)
        hits = [float(low <= truth <= high) for low, high in (plain, reported)]
        widths = [math.log2(min(high, LEVELS[-1]) / max(low, LEVELS[0])) for low, high in (plain, reported)]
        outcomes.append((*hits, *widths, value / truth - 1, float(not fit.is_adequate)))
    columns = np.array(outcomes, dtype=np.float64)
    plain_held, held, plain_width, width, _, misfit = columns.mean(axis=0).tolist()
    return Coverage(plain_held, held, plain_width, width, float(np.median(columns[:, 4])), misfit)


class PlateauCoverage(NamedTuple):
    """What is said of 80 % horizons near a plateau.

    Attributes:
        unidentified: Share of runs in which there is no value.
        held: Share of the other runs in which what is said is true.
        wrong: Share of all runs in which what is said is wrong.
    """

    unidentified: float
    held: float
    wrong: float


def plateau_coverage(lapse: float, slope: float, runs: int = RUNS, share: float = 0.8) -> PlateauCoverage:
    """Return what is said of the horizons of a player who fails at a share of all items.

    Args:
        lapse: That share.
        slope: By how much the log odds of the other items fall with a doubling of the difficulty.
        runs: Number of simulated runs.
        share: The success rate at the horizon.
    """
    rng, at = np.random.default_rng((*_SEED, round(100 * lapse), round(10 * slope))), np.repeat(LEVELS, ITEMS)
    odds = (1 - lapse) / share - 1
    unidentified = wrong = 0
    for _ in range(runs):
        middle = 12 * 3 ** rng.random()
        truth = middle * 2 ** (math.log(odds) / slope) if odds > 0 else -math.inf
        solved = (rng.random(len(at)) < (1 - lapse) * _logistic(at, middle, slope)).astype(np.float64)
        position = fit_curves(FIXED_DESIGN, at, solved, range(len(at))).horizon_position(share, HORIZON_CONFIDENCE)
        unidentified += position.side == MAYBE_UNREACHED
        if position.side != MAYBE_UNREACHED:
            is_true = odds <= 0 if position.side == NEVER_REACHED else position.low <= truth <= position.high
            wrong += not is_true
    printed = runs - unidentified
    return PlateauCoverage(unidentified / runs, 1 - wrong / max(printed, 1), wrong / runs)


def main() -> None:
    """Print the tables of docs/evidence.md."""
    print("| players | runs | posterior alone | width | as reported | width | median bias | curve does not fit |")
    print("|---|---|---|---|---|---|---|---|")
    for name in PLAYERS:
        result = coverage(name)
        print(
            f"| {name} | {RUNS} | {result.plain:.1%} | {result.plain_width:.2f} | {result.reported:.1%} "
            f"| {result.width:.2f} | {result.bias:+.1%} | {result.misfit:.0%} |",
            flush=True,
        )
    print(
        "\n| items that always fail | slope | not identified | the rest holds | said and wrong |\n|---|---|---|---|---|"
    )
    for lapse, slope in ((0.1, 5), (0.15, 5), (0.18, 5), (0.22, 5), (0, 1), (0, 2), (0, 5)):
        near = plateau_coverage(lapse, slope)
        cells = f"{lapse:.0%}", str(slope), *(f"{value:.1%}" for value in near)
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

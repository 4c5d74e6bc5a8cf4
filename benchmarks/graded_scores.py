"""How often the paired test of graded scores is wrong: `python -m benchmarks.graded_scores`.

A player that solves all of an item or nothing is compared with a steady one, whose mean score is the same. They are not
exchangeable: the differences are skewed, and in few items the rare ones may not occur at all. A test at 5 % may call
them different in no more than 7 % of samples. The second table shows how often real differences are found.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from waybench.results.stats._contributions import Difference
from waybench.results.stats._intervals import ALPHA

ITEMS = (10, 20, 50, 200)
MAPS = ((10, 6), (10, 20), (20, 6), (53, 6))  # maps, and questions about each
RUNS = 2_000
_SEED = (21, 4)
Numbers = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Numbers, Numbers]]

RATES = (0.1, 0.25, 0.5, 0.75, 0.9)  # of the all-or-nothing player; the steady one scores the same at every item


def _two_kinds(rng: np.random.Generator, items: int) -> tuple[Numbers, Numbers]:
    rates = np.where(np.arange(items) % 2, 0.1, 0.5)
    return (rng.random(items) < rates).astype(np.float64), rates.astype(np.float64)


def _varying(rng: np.random.Generator, items: int) -> tuple[Numbers, Numbers]:
    return (rng.random(items) < 0.25).astype(np.float64), rng.beta(2, 6, items)


def _halves(rng: np.random.Generator, items: int) -> tuple[Numbers, Numbers]:
    return rng.choice([0.0, 0.5, 1.0], items, p=[0.5, 0.4, 0.1]), np.full(items, 0.3)


MIXED: Mapping[str, Draw] = {
    "10 % and 50 %, by item": _two_kinds,
    "25 %, the steady one varies (beta)": _varying,
    "30 %, also half scores": _halves,
}


def _better_by(difference: float, spread: float) -> Draw:
    def draw(rng: np.random.Generator, items: int) -> tuple[Numbers, Numbers]:
        hard = rng.beta(2, 2, items)
        first, second = (
            np.clip(hard + shift + rng.normal(0, spread, items), 0, 1) for shift in (difference / 2, -difference / 2)
        )
        return first, second

    return draw


BETTER: Mapping[str, Draw] = {
    f"better by {difference:g}, each with noise {spread:g}": _better_by(difference, spread)
    for difference, spread in ((0.1, 0.1), (0.2, 0.1), (0.2, 0.3), (0.4, 0.3))
}


def _is_shown(first: NDArray[Any], second: Numbers, clusters: Sequence[int]) -> bool:
    values = first.astype(np.float64).tolist()
    return Difference.from_values(values, second.tolist(), clusters, 0, 1).test.p < ALPHA


def exact_error(rate: float, items: int) -> float:
    """Return the chance that the all-or-nothing player and the steady one are called different, by counting.

    Args:
        rate: The mean of both.
        items: Number of items.
    """
    is_significant = [
        Difference.from_values(
            [1.0] * solved + [0.0] * (items - solved), [rate] * items, list(range(items)), 0, 1
        ).test.p
        < ALPHA
        for solved in range(items + 1)
    ]
    return float(stats.binom.pmf(np.arange(items + 1), items, rate)[is_significant].sum())


def shown_share(draw: Draw, items: int, runs: int = RUNS) -> float:
    """Return the share of samples in which the test shows a difference.

    Args:
        draw: Draws the scores of both players.
        items: Number of items.
        runs: Number of samples.
    """
    rng = np.random.default_rng((*_SEED, items))
    rejections = 0
    for _ in range(runs):
        first, second = draw(rng, items)
        rejections += _is_shown(first, second, range(items))
    return rejections / runs


def clustered_error(rate: float, alike: float, maps: int, questions: int, runs: int = RUNS) -> float:
    """Return the share of samples in which a steady player is called different from one that answers maps alike.

    Args:
        rate: The mean of both.
        alike: The correlation of the results of two questions about one map; 1 if a map is all right or all wrong.
        maps: Number of maps.
        questions: Number of questions about each.
        runs: Number of samples.
    """
    rng = np.random.default_rng((*_SEED, maps, questions, round(100 * rate)))
    where, rejections = np.repeat(np.arange(maps), questions), 0
    more = (1 - alike) / alike
    for _ in range(runs):
        rates = rng.beta(rate * more, (1 - rate) * more, maps) if more else (rng.random(maps) < rate).astype(float)
        solved = (rng.random(len(where)) < rates[where]).astype(np.float64)
        rejections += _is_shown(solved, np.full(len(where), rate), where.tolist())
    return rejections / runs


def main() -> None:
    """Print the tables of docs/evidence.md."""
    heads = f"| {' | '.join(f'{items} items' for items in ITEMS)} |\n|{'---|' * (1 + len(ITEMS))}"
    print(f"| equal players {heads}")
    for rate in RATES:
        print(f"| {100 * rate:g} % | {' | '.join(f'{100 * exact_error(rate, n):.1f} %' for n in ITEMS)} |", flush=True)
    for name, draw in MIXED.items():
        print(f"| {name} | {' | '.join(f'{100 * shown_share(draw, n):.1f} %' for n in ITEMS)} |", flush=True)
    print(f"\n| equal players, questions about maps | {' | '.join(f'{m} maps of {q}' for m, q in MAPS)} |")
    print(f"|{'---|' * (1 + len(MAPS))}")
    for rate in (0.1, 0.5):
        for alike in (0.1, 0.3, 1.0):
            cells = [f"{100 * clustered_error(rate, alike, *size):.1f} %" for size in MAPS]
            print(f"| {100 * rate:g} %, alike {alike:g} | {' | '.join(cells)} |", flush=True)
    print(f"\n| different players {heads}")
    for name, draw in BETTER.items():
        print(f"| {name} | {' | '.join(f'{100 * shown_share(draw, n):.0f} %' for n in ITEMS)} |", flush=True)


if __name__ == "__main__":
    main()

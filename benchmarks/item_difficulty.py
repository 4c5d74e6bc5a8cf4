"""Difficulty of single items: does the index find what makes items hard, and what does a search gain by it?

`python -m benchmarks.item_difficulty` prints the tables of docs/evidence.md; it takes a few minutes.
"""

import argparse
import math
from collections.abc import Iterable
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from waybench.core import play_to_end, policy
from waybench.envs import registry
from waybench.results import LoggedEpisode, rows
from waybench.results.estimates import item_difficulties
from waybench.results.estimates._difficulty import ItemDifficulty
from waybench.results.stats import Seeker, StoppingRule, Trial
from waybench.results.stats._adaptive import Candidate
from waybench.results.stats._difficulty import IndexGain, index_gain, logistic_coefficients

LEVELS = (5, 7, 9, 11, 13, 15, 17, 21, 25, 29, 35, 41, 49, 57, 69, 81, 101)
POOL, FEWEST = 60, 20  # items of each level that a search by an index sorts, and of a stratum, as in the task
SLOPE = 4.0  # log odds for each doubling of an item's own difficulty


class Played(NamedTuple):
    """What embedded players play: environment, players, levels, items of each level, options of play."""

    env: str
    players: tuple[str, ...]
    levels: tuple[int, ...]
    items: int
    options: dict[str, Any]


NOISY = ("noisy-0.02", "noisy-0.05", "noisy-0.1", "noisy-0.2")
ONE_PLAN = {"requests": 1}
REAL = (
    Played(
        "maze/alicia", ("noisy-0.01", "noisy-0.02", "noisy-0.05", "noisy-0.1"), (7, 11, 15, 21, 29, 41), 50, ONE_PLAN
    ),
    Played("maze/alicia", ("heuristic", "random"), (7, 11, 15, 21, 29, 41), 50, {}),
    Played("textmap/route", NOISY, (1, 2, 3, 4, 5), 100, {}),
    Played("textmap/destination", NOISY, (1, 2, 3, 4, 5), 100, {}),
    Played("search/dfs", NOISY, (5, 8, 12, 17, 24, 34), 50, {}),
    Played("tilemap/gtb", ("noisy-0.001", "noisy-0.005", "noisy-0.02"), (1, 2, 3, 4), 30, {}),
)


def simulated_gain(spread: float, number: int, items: int = 150, players: int = 6) -> IndexGain | str:
    """Return the gain that is found where items of one level differ by a normal number of doublings.

    A third of the variance is due to nothing that is known, and two of three variables have no influence.

    Args:
        spread: The standard deviation.
        number: The key of the simulation.
        items: Number of items.
        players: Number of players.
    """
    rng = np.random.default_rng([1, number])
    levels = rng.choice(LEVELS[:12], items)
    parts = rng.normal(size=(items, 3))
    explained, unknown = math.sqrt(2 / 3) * spread, math.sqrt(1 / 3) * spread
    difficulty = np.log2(levels) + explained * parts[:, 0] + unknown * rng.normal(size=items)
    # Variables rise with the level, like steps and junctions of mazes.
    variables = np.exp2(np.maximum(1.6 * np.log2(levels)[:, None] + 0.4 * parts, 0.1)) - 1
    middles = rng.normal(4, 0.6, players)
    solved = rng.random((players, items)) < 1 / (1 + np.exp(-SLOPE * (middles[:, None] - difficulty)))
    player, item = np.repeat(np.arange(players), items), np.tile(np.arange(items), players)
    return index_gain(
        solved.ravel().astype(float).tolist(), player.tolist(), levels[item].tolist(), variables[item], item.tolist()
    )


def attainable(spread: float) -> float:
    """Return the ratio of slopes with the known part of the difficulty and without it, from 200,000 attempts."""
    rng = np.random.default_rng(0)
    count = 200_000
    level, explained = rng.uniform(2.3, 5.4, count), math.sqrt(2 / 3) * spread * rng.normal(size=count)
    unknown = math.sqrt(1 / 3) * spread * rng.normal(size=count)
    solved = rng.random(count) < 1 / (1 + np.exp(-SLOPE * (4 - level - explained - unknown)))
    return _slope(level + explained, solved) / _slope(level, solved)


def _slope(places: Any, solved: Any) -> float:
    design = np.column_stack([np.ones(len(places)), places])
    return -float(logistic_coefficients(design, solved.astype(np.float64), np.zeros(2))[1])


def real_gain(part: Played) -> ItemDifficulty:
    """Return the index that embedded players' episodes give."""
    env, options = registry.load(part.env), {"protocol": "sound", **part.options}

    def episodes() -> Iterable[LoggedEpisode]:
        for level in part.levels:
            for item in env.source(level=level, protocol="sound").head(part.items):
                for name in part.players:
                    record = play_to_end(env, item, policy(name), options).record()
                    yield LoggedEpisode(f"waybench/{name}", "benchmark", record)

    (difficulties,) = item_difficulties(rows(episodes()))
    return difficulties


def searched(spread: float, number: int, indexed: bool) -> tuple[int, bool]:
    """Search for one simulated player's horizon; return the trials, and whether the interval held the truth.

    Args:
        spread: How far items of one level are apart in difficulty, the standard deviation in doublings; two thirds of
            the variance are in the index.
        number: The key of the simulation.
        indexed: Whether the search takes an item's index for its difficulty, in place of the level.
    """
    rng = np.random.default_rng([2, number])
    middle = rng.uniform(math.log2(8), math.log2(50))
    explained, unknown = math.sqrt(2 / 3) * spread, math.sqrt(1 / 3) * spread
    # Strata are those of a task: levels, or a pool of items sorted by their indices, three to a doubling.
    strata: dict[float, list[float]] = {}
    for _ in range(POOL if indexed else 1):
        for level in LEVELS:
            index = round(20 * (math.log2(level) + explained * rng.normal())) / 20 if indexed else math.log2(level)
            strata.setdefault(math.floor(3 * index) if indexed else index, []).append(index)
    items = [numbers for _, numbers in sorted(strata.items()) if not indexed or len(numbers) >= FEWEST]
    places = [fmean(2**index for index in numbers) for numbers in items]
    used = [0] * len(items)
    seeker = Seeker(StoppingRule(batch=1), places[0], places[-1])
    trials: list[Trial] = []

    def candidates() -> list[Candidate]:
        remaining = [len(numbers) - number if indexed else None for numbers, number in zip(items, used, strict=True)]
        return [Candidate(difficulty, 1.0, most) for difficulty, most in zip(places, remaining, strict=True)]

    while not (decision := seeker.next(trials, candidates())).stop:
        for chosen in decision.candidates:
            at = items[chosen][used[chosen] % len(items[chosen])]  # a level has as many items as one likes
            used[chosen] += 1
            noise = (unknown if indexed else spread) * rng.normal()
            rate = 1 / (1 + math.exp(SLOPE * (at + noise - middle)))
            trials.append(Trial(2**at, bool(rng.random() < rate), 1.0, 1.0))
    horizon = seeker.state(trials).horizon
    return len(trials), horizon.low <= 2**middle <= horizon.high


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="simulations of each kind")
    runs = parser.parse_args().runs
    print("| spread of items within a level, doublings | attainable ratio | ratio found, mean | interval excludes 1 |")
    print("|---|---|---|---|")
    for spread in (0.0, 0.25, 0.5, 1.0):
        gains = [gain for number in range(runs) if isinstance(gain := simulated_gain(spread, number), IndexGain)]
        ratio, above = fmean(gain.ratio for gain in gains), fmean(gain.low > 1 for gain in gains)
        print(f"| {spread} | {attainable(spread):.2f} | {ratio:.2f} | {above:.0%} of {len(gains)} |", flush=True)
    print("\n| items | players | results | ratio of slopes (95 %) | log loss, bits | greatest weights |")
    print("|---|---|---|---|---|---|")
    for part in REAL:
        real = real_gain(part)
        if real.gain is None:
            print(f"| {part.env} | {', '.join(part.players)} | | {real.why} | | |")
            continue
        gain = real.gain
        weights = sorted(real.weights.items(), key=lambda weight: -abs(weight[1]))[:2]
        print(
            f"| {part.env} | {', '.join(part.players)} | {gain.attempts} | {gain.ratio:.2f} ({gain.low:.2f} to "
            f"{gain.high:.2f}) | {gain.marginal_loss:.3f} -> {gain.conditional_loss:.3f} | "
            f"{', '.join(f'{name} {weight:+.2f}' for name, weight in weights)} |",
            flush=True,
        )
    print("\n| spread of items within a level | search by level: episodes, coverage | by index: episodes, coverage |")
    print("|---|---|---|")
    for spread in (0.25, 0.5, 1.0):
        cells = [str(spread)]
        for indexed in (False, True):
            results = [searched(spread, number, indexed) for number in range(runs)]
            cells.append(f"{fmean(n for n, _ in results):.0f}, {fmean(held for _, held in results):.0%}")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

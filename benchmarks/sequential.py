"""Errors and costs of comparisons that end when they are decided, over simulated streams of units.

The streams go through what `waybench run --until decided` uses: `score_differences` and `Race`. Prints, as Markdown,
how often equal models are told apart (type I), how often models at the margin are called tied, what a decision takes at
true differences, and how often a race drops a model that is as good as the best.

    python -m benchmarks.sequential [--streams 10000] [--races 1000]
"""

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from waybench.results.stats._sequential import MOST_UNITS, DecisionRule, Race, score_differences

Draw = Callable[[np.random.Generator, int], np.ndarray]  # (generator, streams) -> scores of a unit, (streams, k, items)


class Ends(NamedTuple):
    """How streams ended.

    Attributes:
        told_apart: Share of the streams in which a model was dropped.
        wrong: Share in which the first model was dropped.
        tied: Share that ended with both models.
        units: Mean number of units.
    """

    told_apart: float
    wrong: float
    tied: float
    units: float


def simulate(rule: DecisionRule, draw: Draw, streams: int, limit: int, seed: int, batch: int = 2_000) -> Ends:
    """Run streams until they are decided, or to the limit."""
    rng = np.random.default_rng(seed)
    dropped, ended, units = [], [], []
    for first in range(0, streams, batch):
        race = Race(rule, (min(batch, streams - first),))
        while race.units < limit and not race.ended_at.all():
            race.add_unit(score_differences(draw(rng, len(race.ended_at))))
        dropped.append(~race.live)
        ended.append(race.ended_at > 0)
        units.append(np.where(race.ended_at, race.ended_at, limit))
    gone, over = np.concatenate(dropped), np.concatenate(ended)
    apart = gone.any(axis=1)
    return Ends(apart.mean(), gone[:, 0].mean(), (over & ~apart).mean(), np.concatenate(units).mean())


def binary(unlike: float, difference: float) -> Draw:
    """Items that are right or wrong, of which a share is unlike."""
    chances = [(unlike + difference) / 2, (unlike - difference) / 2, (1 - unlike) / 2, (1 - unlike) / 2]
    kinds = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    return lambda rng, streams: kinds[rng.choice(4, size=streams, p=chances)][:, :, None]


def clustered(unlike: float, size: int, icc: float = 0.2) -> Draw:
    """Clusters of right and wrong items of equal models, whose differences correlate."""
    kinds = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    chances = [unlike / 2, unlike / 2, 1 - unlike]

    def draw(rng: np.random.Generator, streams: int) -> np.ndarray:
        own, shared = rng.choice(3, size=(streams, size), p=chances), rng.choice(3, size=(streams, 1), p=chances)
        return kinds[np.where(rng.random((streams, size)) < icc**0.5, shared, own)].transpose(0, 2, 1)

    return draw


def graded(rng: np.random.Generator, streams: int) -> np.ndarray:
    """Scores of equal models, the first of which is mostly .1 behind and rarely .9 ahead."""
    rare = rng.random(streams) < 0.1
    return np.stack([np.where(rare, 0.95, 0.0), np.where(rare, 0.05, 0.1)], axis=1)[:, :, None]


def race(means: list[float], common: float = 0.5) -> Draw:
    """Right and wrong items of several models, of which a share has one random number for all."""

    def draw(rng: np.random.Generator, streams: int) -> np.ndarray:
        own, shared = rng.random((streams, len(means))), rng.random((streams, 1))
        numbers = np.where(rng.random((streams, 1)) < common, shared, own)
        return (numbers < np.array(means)).astype(np.float64)[:, :, None]

    return draw


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--races", type=int, default=1_000)
    given = parser.parse_args()
    items, clusters = DecisionRule(), DecisionRule(clusters=True)
    print(f"{given.streams:,} streams of two equal models, margin .05\n")
    print("| stream | told apart | tied | mean units |\n|---|---|---|---|")
    cells: list[tuple[str, DecisionRule, Draw, int]] = [
        *((f"items, {q:g} unlike", items, binary(q, 0.0), MOST_UNITS) for q in (0.1, 0.3, 0.5)),
        *((f"clusters of {n}, .3 unlike", clusters, clustered(0.3, n), MOST_UNITS // n) for n in (5, 20)),
        ("graded, mostly -.1, rarely +.9", items, graded, MOST_UNITS),
    ]
    for number, (name, rule, draw, limit) in enumerate(cells):
        ends = simulate(rule, draw, given.streams, limit, number)
        print(f"| {name} | {ends.told_apart:.3f} | {ends.tied:.2f} | {ends.units:.0f} |", flush=True)
    print("\nA true difference, .3 unlike\n")
    print("| difference | right | the better one dropped | mean items |\n|---|---|---|---|")
    for number, delta in enumerate((0.3, 0.2, 0.1)):
        ends = simulate(items, binary(0.3, delta), given.streams // 2, MOST_UNITS, 100 + number)
        right = ends.told_apart - ends.wrong
        print(f"| {delta:g} | {right:.3f} | {ends.wrong:.4f} | {ends.units:.0f} |", flush=True)
    ends = simulate(items, binary(0.3, 0.05), given.streams // 5, MOST_UNITS, 200)
    print(f"\nAt the margin itself, {ends.tied:.3f} are called tied.")
    print(f"\n{given.races:,} races\n\n| models | one of the best dropped | mean units |\n|---|---|---|")
    for number, count in enumerate((4, 12)):
        draw = race([0.5] * count)
        ends = simulate(DecisionRule(models=count), draw, given.races, MOST_UNITS, 300 + number, batch=500)
        print(f"| {count} equal | {ends.told_apart:.3f} | {ends.units:.0f} |", flush=True)
        draw = race([0.6, *[0.5] * (count - 1)])
        ends = simulate(DecisionRule(models=count), draw, given.races, MOST_UNITS, 400 + number, batch=500)
        print(f"| {count}, one better by .1 | {ends.wrong:.3f} | {ends.units:.0f} |", flush=True)


if __name__ == "__main__":
    main()

"""Tables of simulated models: who scores what on which items, as rows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tests.gate._bank import Bank, bank, graded_bank, map_bank, nearest
from waybench.results import Row

# Of mazes: all drawings without a hint where the exit is, and then with one.
WORDINGS = tuple(
    (("wording", drawing), *hint)
    for hint in ((), (("exit_hint", True),))
    for drawing in ("matrix", "ascii", "coordinates", "prose")
)
LADDER = (5, 7, 9, 11, 13, 15, 17, 19, 21, 25)
Rng = np.random.Generator
Numbers = NDArray[np.float64]


def names(count: int) -> list[str]:
    """Return names of models."""
    return [f"vendor/model-{number:02}" for number in range(count)]


def draw_shares(rng: Rng, mean: float, alike: float, count: int) -> Numbers:
    """Return success rates of clusters with a mean, whose items have a correlation."""
    spread = (1 - alike) / alike
    return rng.beta(mean * spread, (1 - mean) * spread, count)


def chances(items: Bank, of_cluster: Numbers) -> Numbers:
    """Return the success rate of every item from those of its cluster."""
    return of_cluster[items.clusters]


def solved(rng: Rng, rates: Numbers) -> list[int]:
    """Return whether items with success rates are solved."""
    return (rng.random(len(rates)) < rates).astype(int).tolist()


def on_same_maps(rng: Rng, models: Sequence[str], maps: int, questions: int, mean: float, alike: float) -> list[Row]:
    """Return rows of two tasks about the same maps, at which every model has its own success rates."""
    rows: list[Row] = []
    tasks = [map_bank(env, maps, questions) for env in ("textmap/route", "textmap/destination")]
    for model in models:
        of_map = draw_shares(rng, mean, alike, maps)
        rows += [row for task in tasks for row in task.rows_of(model, solved(rng, chances(task, of_map)))]
    return rows


def in_wordings(
    rng: Rng, models: Sequence[str], wordings: int, items: int, mean: float, correlation: float, *, copies: bool = False
) -> list[Row]:
    """Return rows of one task in several wordings of the same items.

    Args:
        rng: The random numbers.
        models: The models.
        wordings: The number of wordings.
        items: The number of items.
        mean: The success rate.
        correlation: The correlation of a model's results at one item in two wordings.
        copies: Whether all wordings have the results that a single one would have.
    """
    rows: list[Row] = []
    share = correlation**0.5  # of the results that are the item's own
    for model in models:
        of_item = rng.random(items) < mean
        results = [
            np.where(rng.random(items) < share, of_item, rng.random(items) < mean).astype(int).tolist()
            for _ in range(1 if copies else wordings)
        ]
        for number, options in enumerate(WORDINGS[:wordings]):
            task = bank("maze/alicia", 17, items, options=options)
            rows += task.rows_of(model, results[0 if copies else number])
    if copies:  # floors that are measured for a wording differ by chance from those of another one
        floors = {row.cluster: row.anchors for row in reversed(rows)}
        rows = [replace(row, anchors=floors[row.cluster]) for row in rows]
    return rows


def at_one_task(rng: Rng, models: Sequence[str], items: int, means: Sequence[float]) -> list[Row]:
    """Return rows of one task at which items differ in difficulty, solved or not, for models of some success rates."""
    task = bank("graph/paths", 1, items)
    difficulty = rng.normal(0, 1, items)
    return [
        row
        for model, mean in zip(models, means, strict=True)
        for row in task.rows_of(model, solved(rng, 1 / (1 + np.exp(difficulty - np.log(mean / (1 - mean))))))
    ]


def graded(rng: Rng, models: Sequence[str], items: int, means: Sequence[float], noise: float) -> list[Row]:
    """Return rows of graded scores, from 0 to 1: what an item is worth, what the model adds to it, and noise."""
    task = graded_bank(41, items)
    of_item = rng.uniform(-0.15, 0.15, items)
    rows: list[Row] = []
    for model, mean in zip(models, means, strict=True):
        values = np.clip(mean + of_item + rng.normal(0, noise, items), 0, 1)
        rows += task.rows_of(model, nearest(task, 100 * values, rng))
    return rows


def success_rate(level: float, middle: float, slope: float, lapse: float = 0.0) -> float:
    """Return the success rate at a level of a curve that falls by doublings, with a share of lapses at all levels."""
    return float((1 - lapse) / (1 + np.exp(slope * np.log2(level / middle))))


def ladder(
    rng: Rng,
    model: str,
    levels: Sequence[int],
    items: int,
    middle: float,
    slope: float,
    *,
    lapse: float = 0.0,
    ends: bool = True,
    declared: Sequence[int] = (),
) -> list[Row]:
    """Return rows of mazes of rising dimension, which end, if they do, with the first level without a solved one.

    Those of a ladder that ends declare `declared`, by default all its levels.
    """
    rows: list[Row] = []
    for level in levels:
        results = solved(rng, np.full(items, success_rate(level, middle, slope, lapse)))
        level_rows = bank("maze/alicia", level, items).rows_of(model, results)
        rows += [replace(row, declared_levels=tuple(declared or levels)) for row in level_rows] if ends else level_rows
        if ends and not any(results):
            break
    return rows

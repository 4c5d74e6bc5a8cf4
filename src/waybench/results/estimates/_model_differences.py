"""Differences of two models' normalised scores at the items that both have."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from waybench.results.estimates._estimates import Estimate
from waybench.results.results import Family, family_of, grouped
from waybench.results.results._normalized import NormalizedScore, normalized_cell
from waybench.results.stats._cells import Cell
from waybench.results.stats._contributions import Difference, adjusted_p_values
from waybench.results.stats._paired import ALPHA
from waybench.results.stats._power import FEWEST_CLUSTERS


def model_ranks(
    groups: Sequence[Sequence[str]], totals: Mapping[str, Sequence[Estimate]]
) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each model within its group; of a model alone there is none.

    Args:
        groups: Models whose means are over the same families.
        totals: Each model's estimates over all levels.
    """
    pairs = [pair for models in groups for pair in combinations(models, 2)]
    differences = [model_difference(totals[first], totals[second]) for first, second in pairs]
    adjusted = adjusted_p_values(differences)
    better, worse = Counter[str](), Counter[str]()
    for (first, second), difference, p in zip(pairs, differences, adjusted, strict=True):
        if difference is not None and p < ALPHA:
            above, below = (first, second) if difference.value > 0 else (second, first)
            better[below] += 1
            worse[above] += 1
    return {
        model: (1 + better[model], len(models) - worse[model])
        for models in groups
        if len(models) > 1
        for model in models
    }


def model_difference(first: Sequence[Estimate], second: Sequence[Estimate]) -> Difference | None:
    """Return the difference of two models' mean normalised scores at the items that both have.

    Args:
        first: The one model's estimates over all levels, in the same families as the other's.
        second: The other model's.

    Returns:
        The difference; None where a family has no task with equal settings and six common clusters.
    """
    pairs: dict[Family, dict[tuple[str, tuple[str, ...]], list[tuple[Cell, Cell]]]] = {}
    for task, (ours, theirs) in _common_tasks(first, second).items():
        common = [cells for pair in _equal_settings(ours, theirs) if (cells := _common_cells(*pair))]
        of_family = pairs.setdefault(family_of(task[0]), {})
        if common:
            of_family[task] = common
    if not pairs or not all(pairs.values()):
        return None
    cells = [
        (*pair, 1 / (len(pairs) * len(tasks) * len(settings)))
        for tasks in pairs.values()
        for settings in tasks.values()
        for pair in settings
    ]
    return Difference(*zip(*cells, strict=True))


def _common_tasks(
    first: Sequence[Estimate], second: Sequence[Estimate]
) -> dict[tuple[str, tuple[str, ...]], tuple[list[Estimate], list[Estimate]]]:
    """Return both models' estimates by task, empty where one did not run it."""
    sides = [
        grouped((total for total in side if total.rescaled), lambda total: (total.group.env, total.group.apart))
        for side in (first, second)
    ]
    return {task: (sides[0].get(task, []), sides[1].get(task, [])) for task in dict.fromkeys([*sides[0], *sides[1]])}


def _equal_settings(first: Sequence[Estimate], second: Sequence[Estimate]) -> list[tuple[Estimate, Estimate]]:
    """Return the estimates of two models with equal settings; of one task that each ran once, these two."""
    equal = [(one, other) for one in first for other in second if one.group.settings == other.group.settings]
    return equal or ([(first[0], second[0])] if len(first) == len(second) == 1 else [])


def _common_cells(first: Estimate, second: Estimate) -> tuple[Cell, Cell] | None:
    """Return the cells of the items that both have, normalised by the first one's floors and ceilings.

    A model that is below the floor of the whole task counts as 0, as in means.
    """
    assert first.rescaled is not None
    assert second.rescaled is not None
    ours, theirs = first.rescaled.items, second.rescaled.items
    common = sorted(ours.keys() & theirs.keys())
    if len({key.cluster for key in common}) < FEWEST_CLUSTERS:
        return None
    # Where an option changes the range of scores, they are not on one scale. Floors and ceilings that come from the
    # very items of a run are those of all its items.
    is_measured = "items" not in (first.rescaled.origin, second.rescaled.origin)
    if any(
        ours[key].ends != theirs[key].ends or (is_measured and ours[key].ceiling != theirs[key].ceiling)
        for key in common
    ):
        return None
    if math.fsum(ours[key].ceiling - ours[key].floor for key in common) <= 0:
        return None
    return (
        _counted(normalized_cell({key: ours[key] for key in common}), first.rescaled),
        _counted(
            normalized_cell({key: ours[key]._replace(score=theirs[key].score) for key in common}), second.rescaled
        ),
    )


def _counted(cell: Cell, score: NormalizedScore) -> Cell:
    """Return a cell as it counts: with the floor as its mean, and its own spread, if it is below the floor."""
    return replace(cell, totals=cell.totals - cell.value * cell.sizes) if score.is_below_floor else cell

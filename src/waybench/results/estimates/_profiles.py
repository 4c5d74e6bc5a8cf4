"""Profiles of models: one ability over families, and expected scores where a model was not run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from waybench.core import Json, UsageError
from waybench.envs import registry
from waybench.results.estimates._estimates import Estimate, overall
from waybench.results.estimates._matrix import Matrix, Score, matrix
from waybench.results.results import Family, Group, ItemKey, Row, at_items, family_of, fixed, grouped, headline_values
from waybench.results.stats import Abilities, Array, FamilyResults, Interval, joint_abilities

FEWEST_MODELS = 2
FEWEST_FAMILIES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileCell:
    """A model in a family: a measured score or, where it was not run, a predicted one.

    Attributes:
        measured: The normalised score of the runs, in per cent (see `Matrix`); None where the model was not run.
        predicted: The normalised score that a run on the family's items is expected to have, in per cent, with its
            90 % interval; None where a score was measured.
        deviation: How much better the model is in this family than its general ability says, in standard deviations
            of models, with its 90 % interval; None where nothing was measured.
        items: Number of items in the score.
    """

    measured: Score | None
    predicted: Interval | None
    deviation: Interval | None
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A model's profile.

    Attributes:
        model: The model.
        kind: "model", "person" or "reference" (an embedded player).
        general: Its general ability with its 90 % interval: 0 is the average of models, 1 one standard deviation above.
        cells: The model in each family.
        lost: Number of its attempts without a result, which the ability leaves out; with any, it has no rank.
    """

    model: str
    kind: str
    general: Interval
    cells: Mapping[Family, ProfileCell]
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """Profiles of some models.

    Attributes:
        families: The families, in order of their titles.
        rows: The profiles, the greatest general ability first, and last those that lack the results of attempts.
        shared: Share of the variance of abilities within a family that is due to the general ability, from 0 to 1.
        left_out: Families without a normalised score, about which nothing can be said.
    """

    families: tuple[Family, ...]
    rows: tuple[Profile, ...]
    shared: Interval
    left_out: tuple[Family, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the profiles as JSON values."""
        return {
            "shared": self.shared._asdict(),
            "left_out": [family.name for family in self.left_out],
            "models": [
                {
                    "model": row.model,
                    "kind": row.kind,
                    "general": row.general._asdict(),
                    "lost": row.lost,
                    "families": {
                        family.name: {
                            "title": family.title,
                            "measured": asdict(cell.measured) if cell.measured else None,
                            "predicted": cell.predicted._asdict() if cell.predicted else None,
                            "deviation": cell.deviation._asdict() if cell.deviation else None,
                            "items": cell.items,
                        }
                        for family, cell in row.cells.items()
                    },
                }
                for row in self.rows
            ],
        }


class _Item(NamedTuple):
    """An item of a task: the environment with the settings that keep it apart, and the item's key there."""

    env: str
    apart: tuple[str, ...]
    key: ItemKey


@dataclass(frozen=True, slots=True)
class JointData:
    """What the joint model is fitted on.

    Attributes:
        models: The models.
        families: The families with a normalised score.
        results: The families' results, in the same order.
    """

    models: tuple[str, ...]
    families: tuple[Family, ...]
    results: tuple[FamilyResults, ...]


def profiles(all_rows: Iterable[Row], *, references: bool = False) -> Profiles:
    """Return the profiles of models, from the joint model of `stats.joint_abilities`.

    Results are items' scores between floor and ceiling, from 0 to 1: where a model ran a task with several settings,
    their mean. Difficulties depend on the task and on its first axis, or on the level where there is no axis.

    Args:
        all_rows: The rows, with anchors.
        references: Whether embedded players count as models.

    Raises:
        UsageError: If there are too few models or families with normalised scores.
    """
    rows = fixed(all_rows)
    scores = matrix(rows)
    data = joint_data(rows, references=references)
    others = not references and any(row.kind == "reference" for row in scores.rows)
    hint = "; --references adds the embedded players" if others else ""
    if len(data.models) < FEWEST_MODELS:
        raise UsageError(
            f"a profile needs at least {FEWEST_MODELS} models with normalised scores, not {len(data.models)}{hint}"
        )
    if len(data.families) < FEWEST_FAMILIES:
        raise UsageError(
            f"a profile needs at least {FEWEST_FAMILIES} families with normalised scores, not {len(data.families)}"
        )
    return _profiles(data, scores, joint_abilities(data.results))


def joint_data(rows: Sequence[Row], *, references: bool = False) -> JointData:
    """Return what the joint model is fitted on.

    Args:
        rows: The rows, with anchors, without those of searches.
        references: Whether embedded players count as models.
    """
    totals = [
        total
        for total in overall(rows)
        if total.rescaled is not None and not total.guided and (references or not total.group.embedded)
    ]
    models = tuple(dict.fromkeys(total.group.model for total in totals))
    own = grouped(rows, lambda row: row.group)
    by_family = grouped(totals, lambda total: family_of(total.group.env))
    families = tuple(sorted(by_family, key=lambda family: (family.title, family.name)))
    results = tuple(_results(models, by_family[family], own) for family in families)
    return JointData(models, families, results)


def _results(models: Sequence[str], totals: Sequence[Estimate], own: Mapping[Group, Sequence[Row]]) -> FamilyResults:
    found: dict[_Item, dict[str, list[float]]] = {}
    levels: dict[_Item, float] = {}
    for total in totals:
        group, rescaled = total.group, total.rescaled
        assert rescaled is not None
        env, attempts = registry.load(group.env), at_items(own[group])
        for key, score in headline_values(attempts, env.scoring.metrics[0]).values.items():
            item = _Item(group.env, group.apart, key)
            # By the group's mean floor and ceiling, so that the mean over items is the score of the matrix.
            share = (score - rescaled.floor) / (rescaled.ceiling - rescaled.floor)
            found.setdefault(item, {}).setdefault(group.model, []).append(min(1.0, max(0.0, share)))
            level = attempts[key][0].axes.get(env.difficulty.axes[0].name) if env.difficulty.axes else key.level
            levels[item] = np.log2(level) if level else np.nan
    items = sorted(found)
    shares: Array = np.array(
        [[np.mean(found[item].get(model, [np.nan])) for model in models] for item in items], dtype=np.float64
    )
    tasks = list(dict.fromkeys((item.env, item.apart) for item in items))
    of_task = np.array([tasks.index((item.env, item.apart)) for item in items])
    at: Array = np.array([levels[item] for item in items], dtype=np.float64)
    columns = [(of_task == number).astype(np.float64) for number in range(1, len(tasks))]
    for number in range(len(tasks)):
        within = of_task == number
        spread = float(np.nanstd(at[within])) if not np.isnan(at[within]).all() else 0.0
        if spread > 0:
            columns.append(np.where(within, np.nan_to_num((at - np.nanmean(at[within])) / spread), 0.0))
    design = np.column_stack(columns) if columns else np.zeros((len(items), 0))
    sizes = np.bincount(of_task)[of_task]
    return FamilyResults(shares, design, 1 / (len(tasks) * sizes))


def _profiles(data: JointData, scores: Matrix, found: Abilities) -> Profiles:
    measured = {row.model: row for row in scores.rows}
    rows: list[Profile] = []
    for number, model in enumerate(data.models):
        cells: dict[Family, ProfileCell] = {}
        for place, family in enumerate(data.families):
            was_run = bool((~np.isnan(data.results[place].shares[:, number])).any())
            cell = measured[model].cells.get(family)
            cells[family] = ProfileCell(
                measured=cell.score if was_run and cell else None,
                predicted=None if was_run else _percent(found.scores[number][place]),
                deviation=found.deviations[number][place] if was_run else None,
                items=len(data.results[place].shares) if not was_run else cell.items if cell else 0,
            )
        own = measured[model]
        general = found.general[number]
        rows.append(Profile(model=model, kind=own.kind, general=general, cells=cells, lost=own.lost))
    return Profiles(
        families=data.families,
        rows=tuple(sorted(rows, key=lambda row: (row.lost > 0, -row.general.value, row.model))),
        shared=found.shared,
        left_out=tuple(family for family in scores.families if family not in data.families),
    )


def _percent(interval: Interval) -> Interval:
    return Interval(*(100 * end for end in interval))

"""Profiles of models: one ability over families, and expected scores where a model was not run."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from waybench.core import Json, UsageError
from waybench.results.estimates._estimates import Estimate, overall
from waybench.results.estimates._matrix import Matrix, matrix, short_model_name, short_title
from waybench.results.estimates._mean_scores import Score, score_text
from waybench.results.formatting import NO_RANK, align_columns, lost_text
from waybench.results.results import Family, ItemKey, Row, RunKey, family_of, group_by, group_by_item, without_searches
from waybench.results.results._rows import headline_values
from waybench.results.stats import Array
from waybench.results.stats._abilities import Abilities, FamilyResults, Interval, joint_abilities

FEWEST_MODELS = 2
FEWEST_FAMILIES = 2
MISSING = (
    "A prediction holds for a family that was left out for another reason than its result. One that is missing because "
    "the model is weak there is overestimated, in simulations by 17 to 25 points. “If weak there”: the same for a "
    "model that is one standard deviation worse in the family than its general ability says."
)
_FEW = 5  # models, below which predictions are wide whatever was measured


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileCell:
    """A model in a family: a measured score or, where it was not run, a predicted one.

    Attributes:
        measured: The normalised score of the runs, in per cent (see `Matrix`); None where the model was not run.
        predicted: The normalised score that a run on the family's items is expected to have, in per cent, with its
            90 % interval; None where a score was measured.
        if_weak: The predicted score of a model that is one standard deviation (of `deviation`) worse in the family than
            its general ability says, as where it was not run on the family because of its results.
        deviation: How much better the model is in this family than its general ability says, in standard deviations
            of models, with its 90 % interval; None where nothing was measured.
        items: Number of items in the score.
    """

    measured: Score | None
    predicted: Interval | None
    if_weak: Interval | None
    deviation: Interval | None
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A model's profile.

    Attributes:
        kind: "model", "person" or "reference" (an embedded player).
        general: Its general ability with its 90 % interval: 0 is the average of models, 1 one standard deviation above.
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
                            "measured": cell.measured.to_json() if cell.measured else None,
                            "predicted": cell.predicted._asdict() if cell.predicted else None,
                            "predicted_if_weak": cell.if_weak._asdict() if cell.if_weak else None,
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
    """An item of a task: the environment with the options that separate its tables, and the item's key there."""

    env: str
    separate_by: tuple[str, ...]
    key: ItemKey


@dataclass(frozen=True, slots=True)
class JointData:
    """What the joint model is fitted on.

    Attributes:
        families: The families with a normalised score.
        results: The families' results, in the same order.
    """

    models: tuple[str, ...]
    families: tuple[Family, ...]
    results: tuple[FamilyResults, ...]


def model_profiles(all_rows: Iterable[Row], *, include_references: bool = False) -> Profiles:
    """Return the profiles of models: abilities, deviations by family, and predicted scores of families not run.

    Results are items' scores between floor and ceiling, from 0 to 1: where a model ran a task with several settings,
    their mean. Difficulties depend on the task and on its first axis, or on the level where there is no axis.

    Args:
        all_rows: The rows, with anchors.
        include_references: Whether embedded players count as models.

    Raises:
        UsageError: If there are too few models or families with normalised scores.
    """
    rows = without_searches(all_rows)
    scores = matrix(rows)
    data = joint_data(rows, include_references=include_references)
    has_references = not include_references and any(row.kind == "reference" for row in scores.rows)
    hint = "; --references adds the embedded players" if has_references else ""
    if len(data.models) < FEWEST_MODELS:
        raise UsageError(
            f"a profile needs at least {FEWEST_MODELS} models with normalised scores, not {len(data.models)}{hint}"
        )
    if len(data.families) < FEWEST_FAMILIES:
        raise UsageError(
            f"a profile needs at least {FEWEST_FAMILIES} families with normalised scores, not {len(data.families)}"
        )
    return _profiles_from_abilities(data, scores, joint_abilities(data.results))


def joint_data(rows: Sequence[Row], *, include_references: bool = False) -> JointData:
    """Return the models' results in each family, on which the joint model of abilities is fitted."""
    totals = [
        total
        for total in overall(rows)
        if total.rescaled is not None and not total.guided and (include_references or not total.group.embedded)
    ]
    models = tuple(dict.fromkeys(total.group.model for total in totals))
    by_group = group_by(rows, lambda row: row.group)
    by_family = group_by(totals, lambda total: family_of(total.group.env))
    families = tuple(sorted(by_family, key=lambda family: (family.title, family.name)))
    results = tuple(_family_results(models, by_family[family], by_group) for family in families)
    return JointData(models, families, results)


def _family_results(
    models: Sequence[str], totals: Sequence[Estimate], rows_by_group: Mapping[RunKey, Sequence[Row]]
) -> FamilyResults:
    """Return the models' normalised results at the items of a family, with covariates and item weights."""
    shares_by_item: dict[_Item, dict[str, list[float]]] = {}
    levels: dict[_Item, float] = {}
    for total in totals:
        group, rescaled = total.group, total.rescaled
        assert rescaled is not None
        env, attempts = group.environment, group_by_item(rows_by_group[group])
        for key, score in headline_values(attempts, env.scoring.metrics[0]).values.items():
            item = _Item(group.env, group.separate_by, key)
            # By the group's mean floor and ceiling, so that the mean over items is the score of the matrix.
            share = (score - rescaled.floor) / (rescaled.ceiling - rescaled.floor)
            shares_by_item.setdefault(item, {}).setdefault(group.model, []).append(min(1.0, max(0.0, share)))
            level = attempts[key][0].axes.get(env.difficulty.axes[0].name) if env.difficulty.axes else key.level
            levels[item] = np.log2(level) if level else np.nan
    items = sorted(shares_by_item)
    shares: Array = np.array(
        [[np.mean(shares_by_item[item].get(model, [np.nan])) for model in models] for item in items], dtype=np.float64
    )
    tasks = list(dict.fromkeys((item.env, item.separate_by) for item in items))
    task_of_item = np.array([tasks.index((item.env, item.separate_by)) for item in items])
    log_levels: Array = np.array([levels[item] for item in items], dtype=np.float64)
    # Covariates: an indicator of each task but the first, and the standardised level within each task.
    columns = [(task_of_item == task).astype(np.float64) for task in range(1, len(tasks))]
    for task in range(len(tasks)):
        is_of_task = task_of_item == task
        task_levels = log_levels[is_of_task]
        spread = float(np.nanstd(task_levels)) if not np.isnan(task_levels).all() else 0.0
        if spread > 0:
            standardised = np.nan_to_num((log_levels - np.nanmean(task_levels)) / spread)
            columns.append(np.where(is_of_task, standardised, 0.0))
    covariates = np.column_stack(columns) if columns else np.zeros((len(items), 0))
    n_items = np.bincount(task_of_item)[task_of_item]
    return FamilyResults(shares, covariates, 1 / (len(tasks) * n_items))  # each task has the same weight


def _profiles_from_abilities(data: JointData, scores: Matrix, abilities: Abilities) -> Profiles:
    """Return the profiles from fitted abilities and the matrix of measured scores."""
    matrix_rows = {row.model: row for row in scores.rows}
    rows: list[Profile] = []
    for column, model in enumerate(data.models):
        matrix_row = matrix_rows[model]
        cells: dict[Family, ProfileCell] = {}
        for index, family in enumerate(data.families):
            shares = data.results[index].shares
            weak = abilities.weak_scores[column][index]
            if_weak = None if weak is None else _in_percent(weak)
            if np.isnan(shares[:, column]).all():
                predicted = _in_percent(abilities.scores[column][index])
                cells[family] = ProfileCell(
                    measured=None, predicted=predicted, if_weak=if_weak, deviation=None, items=len(shares)
                )
            else:
                cell = matrix_row.cells.get(family)
                cells[family] = ProfileCell(
                    measured=cell.score if cell else None,
                    predicted=None,
                    if_weak=if_weak,
                    deviation=abilities.deviations[column][index],
                    items=cell.items if cell else 0,
                )
        general = abilities.general[column]
        rows.append(Profile(model=model, kind=matrix_row.kind, general=general, cells=cells, lost=matrix_row.lost))
    return Profiles(
        families=data.families,
        rows=tuple(sorted(rows, key=lambda row: (row.lost > 0, -row.general.value, row.model))),
        shared=abilities.shared,
        left_out=tuple(family for family in scores.families if family not in data.families),
    )


def _in_percent(interval: Interval) -> Interval:
    """Return an interval of shares in per cent."""
    return Interval(*(100 * end for end in interval))


def profiles_text(profiles: Profiles, max_width: int = 100) -> str:
    """Return profiles as an aligned table of abilities and scores, and what it means.

    Measured scores stand by themselves, predicted ones in square brackets with their intervals below the table.

    Args:
        profiles: The profiles.
        max_width: Width of the terminal in characters.
    """
    sections = [
        *_ability_tables(profiles, max_width),
        *(textwrap.fill(text, max_width) for text in _explanation_sentences(profiles)),
    ]
    if predictions := _prediction_lines(profiles):
        heading = "Predicted, not measured (90 % interval for a run on the items that other models ran):"
        table = align_columns(predictions, [""] * len(predictions))
        sections += [f"{textwrap.fill(heading, max_width)}\n{table}", textwrap.fill(MISSING, max_width)]
    if lost_notes := _lost_notes(profiles):
        heading = (
            f"* {NO_RANK}, which ability and score leave out. In brackets: the score if they were failures, and if "
            "they were solved."
        )
        sections.append("\n".join([textwrap.fill(heading, max_width), *lost_notes]))
    strengths = [
        [_model_name(row), short_title(family), _signed_interval_text(cell.deviation)]
        for row in profiles.rows
        for family, cell in row.cells.items()
        if cell.deviation and (cell.deviation.low > 0 or cell.deviation.high < 0)
    ]
    if strengths:
        heading = "Better or worse in a family than the general ability says (90 % interval excludes 0):"
        sections.append(f"{textwrap.fill(heading, max_width)}\n{align_columns(strengths)}")
    return "\n\n".join(sections)


def _prediction_lines(profiles: Profiles) -> list[list[str]]:
    """Return the cells of the table of predicted scores: two lines for each, the second if the model is weak there."""
    lines: list[list[str]] = []
    for row in profiles.rows:
        for family, cell in row.cells.items():
            if cell.predicted and cell.if_weak:
                score, weak_score = score_text(cell.predicted.value), score_text(cell.if_weak.value)
                lines.append([_model_name(row), short_title(family), f"[{score}]", _interval_ends_text(cell.predicted)])
                lines.append(["", "if weak there", weak_score, _interval_ends_text(cell.if_weak)])
    return lines


def _lost_notes(profiles: Profiles) -> list[str]:
    """Return a line for each score without the results of some attempts, and for models whose families have none."""
    lines: list[str] = []
    for row in profiles.rows:
        scores = [(family, cell.measured) for family, cell in row.cells.items() if cell.measured and cell.measured.lost]
        for family, score in scores:
            text = f"{short_title(family)} {score_text(score.value)} ({lost_text(score.lost, show=score_text)})"
            lines.append(f"{_model_name(row)}: {text}")
        if row.lost and not scores:
            lines.append(f"{_model_name(row)}: {row.lost:,} in families without a score")
    return lines


def _ability_tables(profiles: Profiles, max_width: int) -> list[str]:
    """Return the table of abilities and scores, split where the families do not fit side by side."""
    leading_lines = [
        ["", "general ability"],
        *([_model_name(row), _signed_interval_text(row.general)] for row in profiles.rows),
    ]
    tables: list[str] = []
    block: list[list[str]] = []
    for family in profiles.families:
        column = [short_title(family), *(_score_cell_text(row.cells[family]) for row in profiles.rows)]
        table = _aligned_table(leading_lines, [*block, column])
        if block and max(map(len, table.splitlines())) > max_width:
            tables.append(_aligned_table(leading_lines, block))
            leading_lines, block = [line[:1] for line in leading_lines], []  # names only, in further tables
        block.append(column)
    return [*tables, _aligned_table(leading_lines, block)]


def _aligned_table(leading_lines: list[list[str]], columns: list[list[str]]) -> str:
    """Return the table of leading cells and family columns as aligned text."""
    return align_columns(
        [[*line, *cells] for line, cells in zip(leading_lines, zip(*columns, strict=True), strict=True)]
    )


def _model_name(profile: Profile) -> str:
    """Return a profile's model name for a table, with a star if attempts are lost."""
    return short_model_name(profile.model, profile.kind) + ("*" if profile.lost else "")


def _score_cell_text(cell: ProfileCell) -> str:
    """Return a measured score, or a predicted one in square brackets, as text."""
    if cell.predicted:
        return f"[{score_text(cell.predicted.value)}]"
    return score_text(cell.measured.value) if cell.measured else ""


def _interval_ends_text(interval: Interval) -> str:
    """Return the ends of an interval of scores as text: "12 to 48"."""
    return f"{score_text(interval.low)} to {score_text(interval.high)}"


def _signed_interval_text(interval: Interval) -> str:
    """Return an estimate with its interval, all with signs: "+0.4 (−0.1 to +0.9)"."""
    value, low, high = (f"{number:+.1f}".replace("-", "−") for number in interval)
    return f"{value} ({low} to {high})"


def _explanation_sentences(profiles: Profiles) -> list[str]:
    """Return the sentences below a profile: the meaning of its numbers, and the families left out."""
    shared, n_models = profiles.shared, len(profiles.rows)
    texts = [
        "Scores are normalised (0 floor, 100 ceiling). General ability: 0 is the average of models, 1 is one standard "
        "deviation above, with a 90 % interval. It explains "
        f"{100 * shared.value:.0f} % ({100 * shared.low:.0f} to {100 * shared.high:.0f}) of the differences between "
        "models within a family. Scores in square brackets are predictions and in no mean."
    ]
    if n_models < _FEW:
        texts.append(f"With {n_models} models, predictions are wide: the model knows little about what families share.")
    if profiles.left_out:
        names = ", ".join(short_title(family) for family in profiles.left_out)
        texts.append(f"Without a normalised score, and therefore left out: {names}.")
    return texts

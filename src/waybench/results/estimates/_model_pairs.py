"""Pairs of models: differences of normalised scores at the items that both have, from which ranks are read."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

from waybench.core import Json
from waybench.results.estimates._estimates import Estimate, overall
from waybench.results.estimates._mean_scores import CEILING
from waybench.results.formatting import NOTHING, adjusted_p_text, align_columns, interval_text, known_ends, one_line
from waybench.results.frames import Column, column_json
from waybench.results.results import Family, Row, family_of, group_by, without_searches
from waybench.results.results._normalized import normalized_cell
from waybench.results.results._rows import original_rows
from waybench.results.stats import IntervalEstimate
from waybench.results.stats._cells import Cell
from waybench.results.stats._contributions import Difference
from waybench.results.stats._intervals import FEWEST_CLUSTERS
from waybench.results.stats._verdicts import MARGIN, Verdict, adjust_p_values, conclude

_LONGEST = 40
_MOST_NAMED = 3  # pairs in a sentence
_ROUNDING = 1e-7  # points of a normalised score
_VERDICTS = {
    Verdict.FIRST: "A better",
    Verdict.SECOND: "B better",
    Verdict.TIED: "tied",
    Verdict.NOT_SHOWN: "not shown",
    Verdict.TOO_FEW: "too few to tell",
}


class ModelEstimates(NamedTuple):
    """A model with its estimates over all levels, one for each task and settings."""

    model: str
    totals: Sequence[Estimate]


def _count_column(name: str, doc: str) -> "Column[ModelPair]":
    """Return a column for an attribute that is a whole number, headed by its name."""
    return Column(name, int, doc, heading=name.capitalize(), text=lambda pair: f"{getattr(pair, name):,}")


COLUMNS: "tuple[Column[ModelPair], ...]" = (
    Column("first", str, "The one model, A.", heading="A"),
    Column("second", str, "The other model, B.", heading="B"),
    _count_column("families", "Number of families, each with the same weight."),
    _count_column("tasks", "Number of tasks that both ran; those of a family have the same weight."),
    _count_column("items", "Number of items that both ran; one in two wordings or settings counts twice."),
    Column("clusters", int, "Number of independent clusters of these items, such as maps."),
    Column(
        "difference",
        IntervalEstimate,
        "A's mean normalised score (0 to 100) at these items minus B's, with its interval for pairs; null if the two "
        "are not comparable.",
        null=True,
        heading="A − B",
        text=lambda pair: pair.difference_text,
    ),
    Column("p", float, "P value of the paired test of this difference.", null=True),
    Column(
        "p_adjusted",
        float,
        "The same after Holm's procedure over all pairs that can show a difference; null for those that cannot.",
        "adjusted",
        null=True,
        heading="p",
        text=lambda pair: pair.p_text,
    ),
    Column(
        "verdict",
        Verdict,
        "The conclusion, from which ranks are read; first is A. Null if the two are not comparable.",
        null=True,
        heading="Verdict",
        text=lambda pair: f"not comparable\n{pair.why_not}" if pair.verdict is None else _VERDICTS[pair.verdict],
    ),
    Column("why_not", str, "Why the two are not comparable; empty if they are."),
)
RARE_EXTREMES_CAPTION = (
    "Where graded scores have none at a bound, rare extreme scores that did not occur are in no test: below 50 items, "
    "take such a difference with care."
)
PAIRS_DOC = "Two models with scores in the same families, at the items that both ran."


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPair:
    """Two models at the items that both ran. Its columns say what most of its fields are.

    Attributes:
        paired: The difference in points of normalised scores; None if the two are not comparable.
        adjusted: The p value, adjusted over all pairs (`adjust_p_values`); None where it is in no family of tests.
    """

    first: str
    second: str
    families: int
    tasks: int
    items: int
    paired: Difference | None = field(repr=False, compare=False)
    adjusted: float | None = None
    why_not: str = ""

    @property
    def clusters(self) -> int:
        """Number of independent clusters."""
        return self.paired.groups if self.paired else 0

    @property
    def difference(self) -> IntervalEstimate | None:
        """The difference with its 95 % interval."""
        return self.paired and self.paired.mean()

    @property
    def p(self) -> float | None:
        """The p value before it is adjusted."""
        return self.paired and self.paired.test.p

    @property
    def verdict(self) -> Verdict | None:
        """The conclusion; None if the two are not comparable."""
        if self.paired is None:
            return None
        size = self.paired.range
        return conclude(self.paired, self.adjusted, None if size is None else MARGIN * size)

    @property
    def difference_text(self) -> str:
        """The difference with its interval as text: "+3.2 (−0.5 to +6.9)"."""
        mean = self.difference
        if mean is None:
            return NOTHING
        return interval_text(mean.value, known_ends(mean, bounds=(0, 100), is_change=True), _signed_score_text)

    @property
    def p_text(self) -> str:
        """The adjusted p value as text, or the p value itself if the pair left the family of tests."""
        return adjusted_p_text(self.p, self.adjusted)

    def to_json(self) -> dict[str, Json]:
        """Return the pair as JSON values."""
        return column_json(COLUMNS, self)


def _signed_score_text(value: float) -> str:
    """Return a difference of scores with its sign and one decimal."""
    return f"{value:+.1f}".replace("-", "−")


def compare_models(
    first: Sequence[Row], second: Sequence[Row], model_names: Iterable[tuple[str, str]]
) -> list[ModelPair]:
    """Compare models of two sides, such as two folders, in pairs.

    Args:
        first: The rows of the first side, with floors and ceilings; results of searches, and isomorphic items beside
            original ones, are left out.
        second: The rows of the second side; a model can be on both.
        model_names: The pairs: a model of the first side and one of the second.
    """
    if {row.group.model for row in first} & {row.group.model for row in second}:
        first_totals, second_totals = _comparable_totals(first), _comparable_totals(second)
    else:  # no model is on both sides: what one player shows about an item's ceiling holds for all
        first_totals = second_totals = _comparable_totals([*first, *second])
    first_by_model, second_by_model = (
        group_by(totals, lambda total: total.group.model) for totals in (first_totals, second_totals)
    )
    return compare_model_pairs(
        (
            ModelEstimates(first_model, first_by_model.get(first_model, [])),
            ModelEstimates(second_model, second_by_model.get(second_model, [])),
        )
        for first_model, second_model in model_names
    )


def _comparable_totals(rows: Sequence[Row]) -> list[Estimate]:
    """Return estimates over all levels, without searches, teachers, and isomorphs of original items."""
    return [total for total in overall(original_rows(without_searches(rows))) if not total.guided]


def compare_model_pairs(estimates_of_pairs: Iterable[tuple[ModelEstimates, ModelEstimates]]) -> list[ModelPair]:
    """Compare pairs of models, with p values adjusted over all of these pairs.

    A pair is compared at the items of tasks and levels that both ran: no other model enters it, and neither does the 0
    that a level counts which only one of them reached.

    Args:
        estimates_of_pairs: The pairs, each with what both models ran in the same families.
    """
    pairs = [_compare_pair(first, second) for first, second in estimates_of_pairs]
    comparable = [number for number, pair in enumerate(pairs) if pair.paired]
    tests = [pair.paired.test for pair in pairs if pair.paired]
    for number, adjusted in zip(comparable, adjust_p_values(tests), strict=True):
        pairs[number] = replace(pairs[number], adjusted=adjusted.p)
    return pairs


def ranked_pairs(groups: Sequence[Sequence[str]], totals: Mapping[str, Sequence[Estimate]]) -> list[ModelPair]:
    """Return all pairs of models within each group, with p values adjusted over all groups.

    Of a task, results with equal settings are paired; of one that each ran once with others, these two, if their scores
    have one scale. A pair without six common clusters in a task of each family is not comparable.

    Args:
        groups: Models whose means are over the same families.
        totals: Each model's estimates over all levels.
    """
    models = [[ModelEstimates(model, totals[model]) for model in group] for group in groups]
    return compare_model_pairs(pair for group in models for pair in combinations(group, 2))


def rank_ranges(groups: Sequence[Sequence[str]], pairs: Iterable[ModelPair]) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank of each model within its group; a model alone has none.

    The best rank is one more than the number of better models, the worst the number of models that are not worse.

    Args:
        groups: Models whose means are over the same families.
        pairs: The pairs within these groups.
    """
    better, worse = Counter[str](), Counter[str]()
    for pair in pairs:
        if pair.verdict in (Verdict.FIRST, Verdict.SECOND):
            winner, loser = (pair.first, pair.second) if pair.verdict is Verdict.FIRST else (pair.second, pair.first)
            worse[winner] += 1
            better[loser] += 1
    return {
        model: (1 + better[model], len(models) - worse[model])
        for models in groups
        if len(models) > 1
        for model in models
    }


def order_notes(pairs: Iterable[ModelPair], means: Mapping[str, float]) -> list[str]:
    """Return sentences on pairs whose order differs from that of the means, and on circles among three models.

    Both are possible where models ran different items: a pair is compared at the items that both ran.

    Args:
        pairs: The pairs.
        means: Each model's mean.
    """
    above: dict[tuple[str, str], float] = {}
    for pair in pairs:
        if pair.paired and abs(pair.paired.value) > _ROUNDING:
            upper_and_lower = (pair.first, pair.second) if pair.paired.value > 0 else (pair.second, pair.first)
            above[upper_and_lower] = abs(pair.paired.value)
    contradictions = [
        f"{one_line(upper, _LONGEST)} is {value:.1f} above {one_line(lower, _LONGEST)}"
        for (upper, lower), value in above.items()
        if means[upper] < means[lower] - _ROUNDING
    ]
    sentences: list[str] = []
    if contradictions:
        more = f" and {len(contradictions) - _MOST_NAMED:,} more" if len(contradictions) > _MOST_NAMED else ""
        named = "; ".join(contradictions[:_MOST_NAMED])
        sentences.append(f"At the items that both ran, the order is not that of the means: {named}{more}")
    models = list(dict.fromkeys(model for pair in above for model in pair))
    for three in combinations(models, 3):
        for first, second, third in (three, three[::-1]):
            if {(first, second), (second, third), (third, first)} <= above.keys():
                names = [one_line(model, _LONGEST) for model in (first, second, third)]
                circle = f"{names[0]} is above {names[1]}, {names[1]} above {names[2]}, and {names[2]} above {names[0]}"
                return [*sentences, f"Pairs at different items have no order: {circle}"]
    return sentences


def model_pairs_text(pairs: Sequence[ModelPair]) -> str:
    """Return pairs of models as an aligned table of plain text with its notes; "" without any."""
    if not pairs:
        return ""
    columns = [column for column in COLUMNS if column.heading]

    def cell_text(column: Column[ModelPair], pair: ModelPair) -> str:
        text = column.text(pair) if column.text else one_line(str(column.value(pair)), _LONGEST)
        return text.partition("\n")[0]

    lines = [
        [column.heading for column in columns],
        *([cell_text(column, pair) for column in columns] for pair in pairs),
    ]
    notes = [f"Not comparable: {reason}" for reason in dict.fromkeys(pair.why_not for pair in pairs if pair.why_not)]
    if any(pair.paired and pair.paired.omits_rare_extremes for pair in pairs):
        notes.append(RARE_EXTREMES_CAPTION)
    title = "Pairs of models: normalised scores (0 floor, 100 ceiling) at the items that both ran"
    return "\n".join([title, align_columns(lines), *notes])


def _compare_pair(first: ModelEstimates, second: ModelEstimates) -> ModelPair:
    """Return the difference of two models in mean normalised scores, or why there is none."""
    names = first.model, second.model
    models_with_lost = [side.model for side in (first, second) if any(total.lost for total in side.totals)]
    if models_with_lost:
        why_not = f"attempts of {' and '.join(dict.fromkeys(models_with_lost))} have no result"
        return _pair_without_difference(*names, why_not)
    # By family and task: the cells of both models, for each of their settings.
    families: dict[Family, dict[tuple[str, tuple[str, ...]], list[tuple[Cell, Cell]]]] = {}
    for task, (first_totals, second_totals) in _normalized_estimates_by_task(first.totals, second.totals).items():
        pairs = _pairs_with_equal_settings(first_totals, second_totals)
        cells = [common_cells for pair in pairs if (common_cells := _common_cells(*pair))]
        tasks = families.setdefault(family_of(task[0]), {})
        if cells:
            tasks[task] = cells
    families_without_cells = [family.title for family, tasks in families.items() if not tasks]
    if families_without_cells or not families:
        where = f" in {', '.join(families_without_cells)}" if families_without_cells else ""
        why_not = f"no task{where} that both ran with equal settings, at {FEWEST_CLUSTERS} common items or maps"
        return _pair_without_difference(*names, why_not)
    # Families have the same weight, and so have the tasks of a family, and the settings of a task.
    weighted = [
        (*pair, 1 / (len(families) * len(tasks) * len(cells)))
        for tasks in families.values()
        for cells in tasks.values()
        for pair in cells
    ]
    return ModelPair(
        first=first.model,
        second=second.model,
        families=len(families),
        tasks=sum(len(tasks) for tasks in families.values()),
        items=sum(cell.n for cell, _, _ in weighted),
        paired=Difference(*zip(*weighted, strict=True)),
    )


def _pair_without_difference(first: str, second: str, why_not: str) -> ModelPair:
    """Return a pair of models that cannot be compared, with the reason."""
    return ModelPair(first=first, second=second, families=0, tasks=0, items=0, paired=None, why_not=why_not)


def _normalized_estimates_by_task(
    first: Sequence[Estimate], second: Sequence[Estimate]
) -> dict[tuple[str, tuple[str, ...]], tuple[list[Estimate], list[Estimate]]]:
    """Return both models' normalised estimates by task; an empty list where one did not run it."""
    first_by_task, second_by_task = (
        group_by((total for total in side if total.rescaled), lambda total: (total.group.env, total.group.separate_by))
        for side in (first, second)
    )
    tasks = dict.fromkeys([*first_by_task, *second_by_task])
    return {task: (first_by_task.get(task, []), second_by_task.get(task, [])) for task in tasks}


def _pairs_with_equal_settings(
    first: Sequence[Estimate], second: Sequence[Estimate]
) -> list[tuple[Estimate, Estimate]]:
    """Return the pairs of estimates with equal settings; without any, the only estimates of both models."""
    pairs = [(total, other) for total in first for other in second if total.group.settings == other.group.settings]
    return pairs or ([(first[0], second[0])] if len(first) == len(second) == 1 else [])


def _common_cells(first: Estimate, second: Estimate) -> tuple[Cell, Cell] | None:
    """Return both models' cells at their common items, in per cent by the first one's floors and ceilings.

    None with too few common clusters, and where the scores are not on one scale.

    Where one of the models is below the floor of the whole task, which counts as 0 in means, no item of either counts
    as less than 0: the range from the worst score possible to the ceiling can be many times that from the floor, and
    all differences would be lost in it.
    """
    assert first.rescaled is not None
    assert second.rescaled is not None
    first_items, second_items = first.rescaled.items, second.rescaled.items
    common_keys = sorted(first_items.keys() & second_items.keys())
    if len({key.cluster for key in common_keys}) < FEWEST_CLUSTERS:
        return None
    # An option can change the range of scores. Ceilings that come from the very items of a run differ between runs.
    has_fixed_ceilings = "items" not in (first.rescaled.origin, second.rescaled.origin)
    for key in common_keys:
        item, other = first_items[key], second_items[key]
        if item.ends != other.ends or (has_fixed_ceilings and item.ceiling != other.ceiling):
            return None
    if math.fsum(first_items[key].ceiling - first_items[key].floor for key in common_keys) <= 0:
        return None
    sides = (
        {key: first_items[key] for key in common_keys},
        {key: first_items[key]._replace(score=second_items[key].score) for key in common_keys},
    )
    is_cut = first.rescaled.is_below_floor or second.rescaled.is_below_floor
    first_cell, second_cell = (normalized_cell(items, cut_at_floor=is_cut).scaled(CEILING) for items in sides)
    return first_cell, second_cell

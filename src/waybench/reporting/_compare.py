"""The page of two models side by side, and comparisons of models two by two."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from markupsafe import Markup

from waybench.core import End, Metric, UsageError
from waybench.reporting._files import ScoreKey
from waybench.reporting._format import TaskView, heading
from waybench.reporting.tables import Table
from waybench.reporting.tables._comparisons import model_table
from waybench.results import Estimate, Row
from waybench.results.comparisons import ItemScores, item_scores
from waybench.results.comparisons._comparison import Comparison, compare
from waybench.results.comparisons._item_scores import MODEL, match_groups, scores_from_values
from waybench.results.comparisons._models import compare_pairs
from waybench.results.comparisons._outcomes import Outcome, item_costs, outcomes
from waybench.results.comparisons._text import comparison_cells, comparison_json, comparison_lines
from waybench.results.estimates import headline_spec
from waybench.results.estimates._measures import rank_by_merit
from waybench.results.formatting import change_text, known_ends, one_line
from waybench.results.results import (
    Cluster,
    ItemKey,
    RunKey,
    attempts_by_item,
    group_by,
    group_by_item,
    labels,
    without_searches,
)
from waybench.results.results._groups import distinguishing_settings

MOST = 12  # models that were given the same, up to which each two of them are compared


class Verdicts:
    """The comparisons of a report: of each two models that were given the same, up to `MOST` of them.

    Where there are more, each is compared with the best one and with its neighbours in rank.
    """

    def __init__(self, rows: Iterable[Row], estimates: Sequence[Estimate]) -> None:
        """Compare."""
        rows_of = group_by(rows, lambda row: row.group)
        scores = {
            group: of_group for group in rank_by_merit(estimates) if (of_group := _scores(rows_of.get(group, ())))
        }
        alike = match_groups(scores)
        self._alike = {group: number for number, groups in enumerate(alike) for group in groups}
        self._bounded = {number for number, groups in enumerate(alike) if len(groups) > MOST}
        pairs = [pair for groups in alike for pair in choose_pairs(groups)]
        self._found = compare_pairs((scores[first], scores[second]) for first, second in pairs)

    def between_groups(self, groups: Sequence[RunKey]) -> list[Comparison]:
        """Return the comparisons of each two of some groups, the better ranked one first."""
        wanted = set(groups)
        return [comparison for comparison in self._found if wanted.issuperset(comparison.groups)]

    def outcomes(self, rows: Iterable[Row], order: Sequence[str]) -> list[Outcome]:
        """Return the outcome of each pair of models; `order` has the models, the best one first."""
        return outcomes(self._found, item_costs(rows), order)

    def alike(self, group: RunKey) -> int | None:
        """Return a number that groups share which were given the same; None without anything to compare."""
        return self._alike.get(group)

    def is_incomplete(self, groups: Iterable[RunKey]) -> bool:
        """Return whether some groups are among so many that not each two of them are compared."""
        return any(self._alike.get(group) in self._bounded for group in groups)

    def to_json(self, pages: Mapping[RunKey, str]) -> list[dict[str, Any]]:
        """Return the comparisons as JSON values, with the groups' pages in place of the groups."""
        return [_to_json(comparison, pages) for comparison in self._found]


def choose_pairs(groups: Sequence[RunKey]) -> list[tuple[RunKey, RunKey]]:
    """Return which of some groups are compared."""
    if len(groups) <= MOST:
        return list(combinations(groups, 2))
    best, *others = groups
    return [*((best, other) for other in others), *pairwise(others)]


def sentences(comparison: Comparison) -> list[str]:
    """Return the statements about a comparison, the first one being the verdict with its test."""
    verdict, *others = comparison_lines(comparison, settings=False)
    lines = [verdict[0].upper() + verdict[1:], *others]
    if comparison.family_size > 1 and comparison.adjusted is not None:
        adjusted = f"After Holm's procedure over the {comparison.family_size} comparisons of this report: p "
        lines.insert(1, f"{adjusted}{comparison_cells(comparison).p}.")
    return lines


def _scores(rows: Iterable[Row]) -> ItemScores | None:
    """Return a group's scores; None where nothing is included, or where its headline is no item's value."""
    try:
        return next(iter(item_scores(rows)), None)
    except UsageError:
        return None


def _to_json(comparison: Comparison, pages: Mapping[RunKey, str]) -> dict[str, Any]:
    """Return a comparison as JSON, with the paths of the results' pages for models, tasks and settings."""
    values: dict[str, Any] = comparison_json(comparison)
    for side, group in zip(("first", "second"), comparison.groups, strict=True):
        # There are many of them, so pages stand for the groups.
        side_values = {name: value for name, value in values[side].items() if name not in ("model", "task", "settings")}
        values[side] = {"page": f"results/{pages[group]}", **side_values}
    return {**values, "metric": values["metric"]["name"], "together": comparison.family_size}


@dataclass(frozen=True, slots=True)
class ComparePage:
    """A page's contents.

    Attributes:
        metric: What is compared, with its unit.
        lower: Whether less of it is better.
        data: For the page's script, as JSON: `models` (name, settings, pages of results and of attempts), `items`
            (id, level), and for each model in the items' order `scores`, `solved` and `replays` (number of the
            attempt's page, negative where it has none), each null where there is none; `differences` by the two
            models' numbers: of how many items, and their mean with its interval's ends; `verdicts` likewise: what is
            to be said of each two that were compared; `alike`: for each model a number that those share whose items
            and settings match.
        table: The comparisons of each two that were compared; None if there are none.
    """

    metric: str
    lower: bool
    data: Markup
    table: Table | None


def compare_page(
    view: TaskView, rows: Sequence[tuple[Row, int]], estimates: Sequence[Estimate], verdicts: Verdicts
) -> ComparePage:
    """Return the page that compares players item by item at a task of `comparable_tasks`.

    Args:
        view: The task.
        rows: All rows of it, each with the number of its page, negative where the replay has none.
        estimates: Its estimates by level.
        verdicts: The comparisons of the report.
    """
    presentation = view.presentation
    numbers = {id(row): number for row, number in rows}
    metric = headline_spec(view.env, guided=False).metric
    drawn = {group: group_by_item(group_rows) for group, group_rows in _by_group(row for row, _ in rows).items()}
    # By item without the cluster of each: what two models were given in common are items.
    tried = {
        group: {key._replace(cluster=Cluster(key.instance)): rows for key, rows in attempts_by_item(by_key).items()}
        for group, by_key in drawn.items()
    }
    groups = [group for group in rank_by_merit(estimates) if group in tried]
    groups = [
        group
        for group in groups
        if any(tried[group].keys() & tried[other].keys() for other in groups if other != group)
    ]
    best = {group: {key: _best(attempts, metric) for key, attempts in tried[group].items()} for group in groups}
    order = {key: (key.level, row.index, key) for group in groups for key, row in best[group].items()}
    keys = sorted(order, key=lambda key: order[key])

    def score(group: RunKey, key: ItemKey) -> float | None:
        value = best[group][key].metrics[metric.name] if key in best[group] else None
        return None if value is None else round(value, 4)

    def solved(group: RunKey, key: ItemKey) -> int | None:
        attempts = tried[group].get(key)
        return None if attempts is None else int(any(row.end == End.SOLVED for row in attempts))

    names, judged = labels(groups), verdicts.between_groups(groups)
    data = {
        "models": [
            {
                "name": names[group],
                "settings": [one_line(part, 80) for part in distinguishing_settings(group, groups)],
                "page": view.pages[group],
                "embedded": group.embedded,
            }
            for group in groups
        ],
        "items": [[one_line(key.item, 40), key.level] for key in keys],
        "scores": [[score(group, key) for key in keys] for group in groups],
        "solved": [[solved(group, key) for key in keys] for group in groups],
        "replays": [[numbers[id(row)] if (row := best[group].get(key)) else None for key in keys] for group in groups],
        # Over what was drawn: attempts, where there is one item.
        "differences": _differences(
            groups,
            {group: {key: _best(attempts, metric) for key, attempts in drawn[group].items()} for group in groups},
            metric,
        ),
        "alike": [verdicts.alike(group) for group in groups],
        "verdicts": _verdicts(groups, judged),
        "words": {
            "item": presentation.item,
            "items": presentation.items,
            "lower": metric.better == "lower",
            "best": view.env.scoring.best_of,
        },
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    # A script element ends where "</script" is, whatever is around it; there is no such thing without "<".
    most = MOST if verdicts.is_incomplete(groups) else None
    return ComparePage(
        metric=heading(metric),
        lower=metric.better == "lower",
        data=Markup(text.replace("<", "\\u003c")),
        table=model_table(judged, names, view, most),
    )


def _verdicts(groups: Sequence[RunKey], comparisons: Sequence[Comparison]) -> dict[str, list[str]]:
    """Return the statements about each pair of models, by their numbers; the first is A."""
    numbers = {group: number for number, group in enumerate(groups)}
    texts: dict[str, list[str]] = {}
    for comparison in comparisons:
        first, second = (numbers[group] for group in comparison.groups)
        texts |= {f"{first} {second}": sentences(comparison), f"{second} {first}": sentences(comparison.swapped)}
    return texts


def comparable_tasks(rows: Iterable[Row]) -> set[ScoreKey]:
    """Return the tasks that have such a page: those at which two groups have an attempt at the same item."""
    items_at: dict[ScoreKey, Counter[tuple[int, str, str]]] = defaultdict(Counter)
    for group, group_rows in _by_group(rows).items():
        items_at[group.env, group.separate_by].update({(row.level, row.item, row.instance) for row in group_rows})
    return {key for key, items in items_at.items() if max(items.values()) > 1}


def _by_group(rows: Iterable[Row]) -> dict[RunKey, list[Row]]:
    """Return the attempts of each group that count."""
    return group_by(
        (row for row in without_searches(rows) if row.is_included and not row.guided), lambda row: row.group
    )


def _best(attempts: Sequence[Row], metric: Metric) -> Row:
    """Return the best attempt at an item."""
    sign = -1 if metric.better == "lower" else 1

    def merit(row: Row) -> tuple[bool, float, int]:
        value = row.metrics[metric.name]
        return value is not None, sign * (value or 0.0), -row.attempt

    return max(attempts, key=merit)


def _differences(
    groups: Sequence[RunKey], best: Mapping[RunKey, Mapping[ItemKey, Row]], metric: Metric
) -> dict[str, tuple[int, list[str]]]:
    """Return for each two models at how many items both have scores, their mean difference, and its interval."""
    scores = {
        group: scores_from_values(
            group, metric, {key: value for key, row in rows.items() if (value := row.metrics[metric.name]) is not None}
        )
        for group, rows in best.items()
    }
    differences: dict[str, tuple[int, list[str]]] = {}
    for (first_number, first), (second_number, second) in combinations(enumerate(groups), 2):
        if comparison := compare(scores[first], scores[second], MODEL):
            value, *ends = _difference_and_ends(comparison)
            swapped = [-value, *(-end for end in reversed(ends))]
            for pair, values in (
                (f"{first_number} {second_number}", [value, *ends]),
                (f"{second_number} {first_number}", swapped),
            ):
                differences[pair] = comparison.items, [change_text(each, comparison.metric) for each in values]
    return differences


def _difference_and_ends(comparison: Comparison) -> list[float]:
    mean = comparison.difference
    return [mean.value, *(known_ends(mean, comparison.metric, is_change=True) or ())]

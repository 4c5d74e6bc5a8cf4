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
from waybench.reporting._format import TaskView, metric_heading
from waybench.reporting.tables import Table
from waybench.reporting.tables._comparisons import model_comparison_table
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
        """Compare the groups that played the same items, in the order of their estimates."""
        rows_of = group_by(rows, lambda row: row.group)
        scores = {
            group: of_group for group in rank_by_merit(estimates) if (of_group := _group_scores(rows_of.get(group, ())))
        }
        alike = match_groups(scores)
        self._alike = {group: number for number, groups in enumerate(alike) for group in groups}
        self._bounded = {number for number, groups in enumerate(alike) if len(groups) > MOST}
        pairs = [pair for groups in alike for pair in pairs_to_compare(groups)]
        self._found = compare_pairs((scores[first], scores[second]) for first, second in pairs)

    def comparisons_among(self, groups: Sequence[RunKey]) -> list[Comparison]:
        """Return the comparisons of any two of these groups, the better ranked one first."""
        wanted = set(groups)
        return [comparison for comparison in self._found if wanted.issuperset(comparison.groups)]

    def model_outcomes(self, rows: Iterable[Row], ranked_models: Sequence[str]) -> list[Outcome]:
        """Return the outcome of each pair of models; `ranked_models` has the best one first."""
        return outcomes(self._found, item_costs(rows), ranked_models)

    def matched_set(self, group: RunKey) -> int | None:
        """Return the number of the set of groups that a group is compared within; None if it is compared with none."""
        return self._alike.get(group)

    def has_omitted_pairs(self, groups: Iterable[RunKey]) -> bool:
        """Return whether a group is in a set of more than `MOST` groups, not all pairs of which are compared."""
        return any(self._alike.get(group) in self._bounded for group in groups)

    def to_json(self, pages: Mapping[RunKey, str]) -> list[dict[str, Any]]:
        """Return the comparisons as JSON values that name groups by their pages."""
        return [_json_with_pages(comparison, pages) for comparison in self._found]


def pairs_to_compare(groups: Sequence[RunKey]) -> list[tuple[RunKey, RunKey]]:
    """Return all pairs of groups or, of more than `MOST` groups, those with the best and of neighbours in rank."""
    if len(groups) <= MOST:
        return list(combinations(groups, 2))
    best, *others = groups
    return [*((best, other) for other in others), *pairwise(others)]


def comparison_sentences(comparison: Comparison) -> list[str]:
    """Return sentences on a comparison, the first one with the verdict and its test."""
    verdict, *others = comparison_lines(comparison, settings=False)
    lines = [verdict[0].upper() + verdict[1:], *others]
    if comparison.family_size > 1 and comparison.adjusted is not None:
        adjusted = f"After Holm's procedure over the {comparison.family_size} comparisons of this report: p "
        lines.insert(1, f"{adjusted}{comparison_cells(comparison).p}.")
    return lines


def _group_scores(rows: Iterable[Row]) -> ItemScores | None:
    """Return a group's scores; None where nothing is included, or where its headline is no item's value."""
    try:
        return next(iter(item_scores(rows)), None)
    except UsageError:
        return None


def _json_with_pages(comparison: Comparison, pages: Mapping[RunKey, str]) -> dict[str, Any]:
    """Return a comparison as JSON, with pages in place of models, tasks and settings."""
    values: dict[str, Any] = comparison_json(comparison)
    for side, group in zip(("first", "second"), comparison.groups, strict=True):
        # There are many of them, so pages stand for the groups.
        side_values = {name: value for name, value in values[side].items() if name not in ("model", "task", "settings")}
        values[side] = {"page": f"results/{pages[group]}", **side_values}
    return {**values, "metric": values["metric"]["name"], "together": comparison.family_size}


@dataclass(frozen=True, slots=True)
class ComparePage:
    """The contents of the page of two models side by side.

    Attributes:
        metric: What is compared, with its unit.
        lower: Whether less of it is better.
        data: For the page's script, as JSON: `models` (name, settings, pages of results and of attempts), `items`
            (id, level), and for each model in the items' order `scores`, `solved` and `replays` (number of the
            attempt's page, negative where it has none), each null where there is none; `differences` by the two
            models' numbers: of how many items, and their mean with its interval's ends; `verdicts` by the same numbers:
            sentences on each pair that was compared; `alike`: for each model a number that those share whose items and
            settings match.
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

    `rows` are all rows of the task, each with the number of its page, negative where the replay has none.
    """
    presentation = view.presentation
    numbers = {id(row): number for row, number in rows}
    metric = headline_spec(view.env, guided=False).metric
    drawn = {
        group: group_by_item(group_rows)
        for group, group_rows in _included_attempts_by_group(row for row, _ in rows).items()
    }
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
    best = {group: {key: _best_attempt(attempts, metric) for key, attempts in tried[group].items()} for group in groups}
    order = {key: (key.level, row.index, key) for group in groups for key, row in best[group].items()}
    keys = sorted(order, key=lambda key: order[key])

    def item_score(group: RunKey, key: ItemKey) -> float | None:
        value = best[group][key].metrics[metric.name] if key in best[group] else None
        return None if value is None else round(value, 4)

    def solved_flag(group: RunKey, key: ItemKey) -> int | None:
        attempts = tried[group].get(key)
        return None if attempts is None else int(any(row.end == End.SOLVED for row in attempts))

    names, judged = labels(groups), verdicts.comparisons_among(groups)
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
        "scores": [[item_score(group, key) for key in keys] for group in groups],
        "solved": [[solved_flag(group, key) for key in keys] for group in groups],
        "replays": [[numbers[id(row)] if (row := best[group].get(key)) else None for key in keys] for group in groups],
        # Over what was drawn: attempts, where there is one item.
        "differences": _mean_differences(
            groups,
            {
                group: {key: _best_attempt(attempts, metric) for key, attempts in drawn[group].items()}
                for group in groups
            },
            metric,
        ),
        "alike": [verdicts.matched_set(group) for group in groups],
        "verdicts": _verdict_sentences(groups, judged),
        "words": {
            "item": presentation.item,
            "items": presentation.items,
            "lower": metric.better == "lower",
            "best": view.env.scoring.best_of,
        },
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    # A script element ends where "</script" is, whatever is around it; there is no such thing without "<".
    most = MOST if verdicts.has_omitted_pairs(groups) else None
    return ComparePage(
        metric=metric_heading(metric),
        lower=metric.better == "lower",
        data=Markup(text.replace("<", "\\u003c")),
        table=model_comparison_table(judged, names, view, most),
    )


def _verdict_sentences(groups: Sequence[RunKey], comparisons: Sequence[Comparison]) -> dict[str, list[str]]:
    """Return the sentences on each pair of models, by their two numbers, the first of which is model A."""
    numbers = {group: number for number, group in enumerate(groups)}
    texts: dict[str, list[str]] = {}
    for comparison in comparisons:
        first, second = (numbers[group] for group in comparison.groups)
        texts |= {
            f"{first} {second}": comparison_sentences(comparison),
            f"{second} {first}": comparison_sentences(comparison.swapped),
        }
    return texts


def comparable_tasks(rows: Iterable[Row]) -> set[ScoreKey]:
    """Return the tasks that have a page of two models side by side: two groups attempted the same item."""
    items_at: dict[ScoreKey, Counter[tuple[int, str, str]]] = defaultdict(Counter)
    for group, group_rows in _included_attempts_by_group(rows).items():
        items_at[group.env, group.separate_by].update({(row.level, row.item, row.instance) for row in group_rows})
    return {key for key, items in items_at.items() if max(items.values()) > 1}


def _included_attempts_by_group(rows: Iterable[Row]) -> dict[RunKey, list[Row]]:
    return group_by(
        (row for row in without_searches(rows) if row.is_included and not row.guided), lambda row: row.group
    )


def _best_attempt(attempts: Sequence[Row], metric: Metric) -> Row:
    sign = -1 if metric.better == "lower" else 1

    def sort_key(row: Row) -> tuple[bool, float, int]:
        value = row.metrics[metric.name]
        return value is not None, sign * (value or 0.0), -row.attempt

    return max(attempts, key=sort_key)


def _mean_differences(
    groups: Sequence[RunKey], best: Mapping[RunKey, Mapping[ItemKey, Row]], metric: Metric
) -> dict[str, tuple[int, list[str]]]:
    """Return for each two models the number of shared items, and texts of the mean difference and its interval."""
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

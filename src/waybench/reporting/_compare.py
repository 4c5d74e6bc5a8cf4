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

MOST = 12  # models on the same items; of more, not every two are compared


class Verdicts:
    """The comparisons of a report: of any two models with the same items and settings, if there are at most `MOST`.

    Of more models, each is compared with the best one and with its neighbours in rank.
    """

    def __init__(self, rows: Iterable[Row], estimates: Sequence[Estimate]) -> None:
        """Compare the groups whose items and settings match, the better ranked one of two first."""
        rows_of_group = group_by(rows, lambda row: row.group)
        scores = {
            group: group_scores
            for group in rank_by_merit(estimates)
            if (group_scores := _group_scores(rows_of_group.get(group, ())))
        }
        matched_sets = match_groups(scores)
        self._set_number = {group: number for number, groups in enumerate(matched_sets) for group in groups}
        self._large_sets = {number for number, groups in enumerate(matched_sets) if len(groups) > MOST}
        pairs = [pair for groups in matched_sets for pair in pairs_to_compare(groups)]
        self._comparisons = compare_pairs((scores[first], scores[second]) for first, second in pairs)

    def comparisons_among(self, groups: Sequence[RunKey]) -> list[Comparison]:
        """Return the comparisons of any two of these groups, the better ranked one first."""
        wanted = set(groups)
        return [comparison for comparison in self._comparisons if wanted.issuperset(comparison.groups)]

    def model_outcomes(self, rows: Iterable[Row], ranked_models: Sequence[str]) -> list[Outcome]:
        """Return the outcome of each pair of models; `ranked_models` has the best one first."""
        return outcomes(self._comparisons, item_costs(rows), ranked_models)

    def matched_set(self, group: RunKey) -> int | None:
        """Return the number of the set of groups that a group is compared within; None if it is compared with none."""
        return self._set_number.get(group)

    def has_omitted_pairs(self, groups: Iterable[RunKey]) -> bool:
        """Return whether a group is in a set of more than `MOST` groups, not all pairs of which are compared."""
        return any(self._set_number.get(group) in self._large_sets for group in groups)

    def to_json(self, pages: Mapping[RunKey, str]) -> list[dict[str, Any]]:
        """Return the comparisons as JSON values that name groups by their pages."""
        return [_json_with_pages(comparison, pages) for comparison in self._comparisons]


def pairs_to_compare(groups: Sequence[RunKey]) -> list[tuple[RunKey, RunKey]]:
    """Return the pairs of groups, which are in the order of their ranks, that are compared with each other.

    These are all pairs of up to `MOST` groups; of more, the best one with each other, and neighbours in rank.
    """
    if len(groups) <= MOST:
        return list(combinations(groups, 2))
    best, *others = groups
    return [*((best, other) for other in others), *pairwise(others)]  # the best one's neighbour is an other already


def comparison_sentences(comparison: Comparison) -> list[str]:
    """Return sentences on a comparison: the verdict and its test, its adjusted p-value if any, and remarks."""
    verdict, *remarks = comparison_lines(comparison, settings=False)
    lines = [verdict[0].upper() + verdict[1:], *remarks]
    if comparison.family_size > 1 and comparison.adjusted_p is not None:
        p = comparison_cells(comparison).p
        lines.insert(1, f"After Holm's procedure over the {comparison.family_size} comparisons of this report: p {p}.")
    return lines


def _group_scores(rows: Iterable[Row]) -> ItemScores | None:
    """Return the scores of one group; None if all rows are excluded, or if no item has a value of the headline."""
    try:
        return next(iter(item_scores(rows)), None)
    except UsageError:
        return None


def _json_with_pages(comparison: Comparison, pages: Mapping[RunKey, str]) -> dict[str, Any]:
    """Return a comparison as JSON, with pages in place of models, tasks and settings."""
    values: dict[str, Any] = comparison_json(comparison)
    for side, group in zip(("first", "second"), comparison.groups, strict=True):
        # A page is shorter than a group's settings, of which there would be two for each comparison.
        side_values = {name: value for name, value in values[side].items() if name not in ("model", "task", "settings")}
        values[side] = {"page": f"results/{pages[group]}", **side_values}
    return {**values, "metric": values["metric"]["name"], "together": comparison.family_size}


@dataclass(frozen=True, slots=True)
class ComparePage:
    """The contents of the page of two models side by side.

    Attributes:
        metric: The name of the metric that is compared, with its unit.
        lower: Whether lower values of the metric are better.
        data: For the page's script, as JSON: `models` (name, settings, page of results), `items` (id, level), and for
            each model in the items' order `scores`, `solved` and `replays` (number of the attempt's page, negative if
            it has none), null for items without an attempt; `differences` by the two models' numbers: the number of
            shared items, the mean difference and its interval's ends; `verdicts` by the same numbers: sentences on each
            pair that was compared; `alike`: for each model a number, which models with the same items and settings
            share; `words` of the environment.
        table: The table of all comparisons; None if there are none.
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
    page_number_of_row = {id(row): number for row, number in rows}
    metric = headline_spec(view.env, guided=False).metric
    attempts_by_sample = {
        group: group_by_item(group_rows)
        for group, group_rows in _included_attempts_by_group(row for row, _ in rows).items()
    }
    # The cluster is left out of the keys, since the same item can be of different clusters in two runs.
    attempts_of = {
        group: {key._replace(cluster=Cluster(key.instance)): rows for key, rows in attempts_by_item(by_key).items()}
        for group, by_key in attempts_by_sample.items()
    }
    groups = [group for group in rank_by_merit(estimates) if group in attempts_of]
    groups = [
        group
        for group in groups
        if any(attempts_of[group].keys() & attempts_of[other].keys() for other in groups if other != group)
    ]
    best_attempt_of = {
        group: {key: _best_attempt(attempts, metric) for key, attempts in attempts_of[group].items()}
        for group in groups
    }
    order = {key: (key.level, row.index, key) for group in groups for key, row in best_attempt_of[group].items()}
    keys = sorted(order, key=lambda key: order[key])

    def item_score(group: RunKey, key: ItemKey) -> float | None:
        value = best_attempt_of[group][key].metrics[metric.name] if key in best_attempt_of[group] else None
        return None if value is None else round(value, 4)

    def solved_flag(group: RunKey, key: ItemKey) -> int | None:
        attempts = attempts_of[group].get(key)
        return None if attempts is None else int(any(row.end == End.SOLVED for row in attempts))

    def replay_number(group: RunKey, key: ItemKey) -> int | None:
        row = best_attempt_of[group].get(key)
        return page_number_of_row[id(row)] if row else None

    names, comparisons = labels(groups), verdicts.comparisons_among(groups)
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
        "replays": [[replay_number(group, key) for key in keys] for group in groups],
        # Over samples: where all are of one item, the interval is over its attempts.
        "differences": _mean_differences(
            groups,
            {
                group: {key: _best_attempt(attempts, metric) for key, attempts in attempts_by_sample[group].items()}
                for group in groups
            },
            metric,
        ),
        "alike": [verdicts.matched_set(group) for group in groups],
        "verdicts": _verdict_sentences(groups, comparisons),
        "words": {
            "item": presentation.item,
            "items": presentation.items,
            "lower": metric.better == "lower",
            "best": view.env.scoring.best_of,
        },
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    most = MOST if verdicts.has_omitted_pairs(groups) else None
    return ComparePage(
        metric=metric_heading(metric),
        lower=metric.better == "lower",
        # Without "<", no text of a log can end the script element in which the data are.
        data=Markup(text.replace("<", "\\u003c")),
        table=model_comparison_table(comparisons, names, view, most),
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
    """Return the tasks that have a page of two models side by side: those with an item that two groups attempted."""
    n_groups_by_item: dict[ScoreKey, Counter[tuple[int, str, str]]] = defaultdict(Counter)
    for group, group_rows in _included_attempts_by_group(rows).items():
        items = {(row.level, row.item, row.instance) for row in group_rows}
        n_groups_by_item[group.env, group.separate_by].update(items)
    return {task for task, n_groups in n_groups_by_item.items() if max(n_groups.values()) > 1}


def _included_attempts_by_group(rows: Iterable[Row]) -> dict[RunKey, list[Row]]:
    """Return the rows whose scores can be compared: not excluded, without a teacher, and from no adaptive search."""
    return group_by(
        (row for row in without_searches(rows) if row.is_included and not row.guided), lambda row: row.group
    )


def _best_attempt(attempts: Sequence[Row], metric: Metric) -> Row:
    """Return the attempt with the best value, the first of several; without values, the first attempt."""
    sign = -1 if metric.better == "lower" else 1

    def sort_key(row: Row) -> tuple[bool, float, int]:
        value = row.metrics[metric.name]
        return value is not None, sign * (value or 0.0), -row.attempt

    return max(attempts, key=sort_key)


def _mean_differences(
    groups: Sequence[RunKey], best_attempts: Mapping[RunKey, Mapping[ItemKey, Row]], metric: Metric
) -> dict[str, tuple[int, list[str]]]:
    """Return for each ordered pair of models the number of shared items, and texts of the difference and its interval.

    Pairs are named by two numbers, as "0 3"; pairs without shared items are left out.
    """
    scores = {
        group: scores_from_values(
            group, metric, {key: value for key, row in rows.items() if (value := row.metrics[metric.name]) is not None}
        )
        for group, rows in best_attempts.items()
    }
    differences: dict[str, tuple[int, list[str]]] = {}
    for (first_number, first), (second_number, second) in combinations(enumerate(groups), 2):
        if comparison := compare(scores[first], scores[second], MODEL):
            difference = comparison.difference
            ends = known_ends(difference, comparison.metric, is_change=True) or ()
            swapped = [-difference.value, *(-end for end in reversed(ends))]
            for pair, values in (
                (f"{first_number} {second_number}", [difference.value, *ends]),
                (f"{second_number} {first_number}", swapped),
            ):
                differences[pair] = comparison.items, [change_text(value, comparison.metric) for value in values]
    return differences

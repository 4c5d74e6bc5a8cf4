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
from waybench.reporting.tables import Table, model_table
from waybench.results import Estimate, Row
from waybench.results.comparisons import (
    MODEL,
    Comparison,
    ItemScores,
    compare,
    compare_pairs,
    comparison_cells,
    comparison_json,
    comparison_lines,
    item_scores,
    matched,
    values_of,
)
from waybench.results.estimates import measure, ranked
from waybench.results.formatting import change_text, one_line
from waybench.results.results import Cluster, Group, ItemKey, at_items, differing, fixed, grouped, labels, whole_items

MOST = 12  # models that were given the same, up to which each two of them are compared


class Verdicts:
    """The comparisons of a report: of each two models that were given the same, up to `MOST` of them.

    Where there are more, each is compared with the best one and with its neighbours in rank.
    """

    def __init__(self, rows: Iterable[Row], estimates: Sequence[Estimate]) -> None:
        """Compare.

        Args:
            rows: All rows.
            estimates: All estimates by level.
        """
        own = grouped(rows, lambda row: row.group)
        given = {group: found for group in ranked(estimates) if (found := _scores(own.get(group, ())))}
        alike = matched(given)
        self._alike = {group: number for number, some in enumerate(alike) for group in some}
        self._bounded = {number for number, some in enumerate(alike) if len(some) > MOST}
        pairs = [pair for some in alike for pair in chosen(some)]
        self._found = compare_pairs((given[one], given[other]) for one, other in pairs)

    def among(self, groups: Sequence[Group]) -> list[Comparison]:
        """Return the comparisons of each two of some groups, the better ranked one first."""
        wanted = set(groups)
        return [each for each in self._found if wanted.issuperset(each.groups)]

    def alike(self, group: Group) -> int | None:
        """Return a number that groups share which were given the same; None without anything to compare."""
        return self._alike.get(group)

    def bounded(self, groups: Iterable[Group]) -> bool:
        """Return whether some groups are among so many that not each two of them are compared."""
        return any(self._alike.get(group) in self._bounded for group in groups)

    def to_json(self, pages: Mapping[Group, str]) -> list[dict[str, Any]]:
        """Return the comparisons as JSON values, with the groups' pages in place of the groups.

        Args:
            pages: File names of the groups' pages.
        """
        return [_to_json(each, pages) for each in self._found]


def chosen(some: Sequence[Group]) -> list[tuple[Group, Group]]:
    """Return which of some groups are compared.

    Args:
        some: The groups, the best one first.
    """
    if len(some) <= MOST:
        return list(combinations(some, 2))
    best, *others = some
    return [*((best, other) for other in others), *pairwise(others)]


def sentences(comparison: Comparison) -> list[str]:
    """Return the statements about a comparison, the first one being the verdict with its test."""
    verdict, *rest = comparison_lines(comparison, settings=False)
    lines = [verdict[0].upper() + verdict[1:], *rest]
    if comparison.family_size > 1:
        adjusted = f"After Holm's procedure over the {comparison.family_size} comparisons of this report: p "
        lines.insert(1, f"{adjusted}{comparison_cells(comparison).p}.")
    return lines


def _scores(rows: Iterable[Row]) -> ItemScores | None:
    """Return a group's scores; None where nothing is included, or where its headline is no item's value."""
    try:
        return next(iter(item_scores(rows)), None)
    except UsageError:
        return None


def _to_json(one: Comparison, pages: Mapping[Group, str]) -> dict[str, Any]:
    found: dict[str, Any] = comparison_json(one)
    for side, group in zip(("first", "second"), one.groups, strict=True):
        # There are many of them, so pages stand for the groups.
        kept = {name: value for name, value in found[side].items() if name not in ("model", "task", "settings")}
        found[side] = {"page": f"results/{pages[group]}", **kept}
    return {**found, "metric": found["metric"]["name"], "together": one.family_size}


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


def comparison(
    view: TaskView, rows: Sequence[tuple[Row, int]], estimates: Sequence[Estimate], verdicts: Verdicts
) -> ComparePage:
    """Return the page of a task of `comparable_tasks`.

    Args:
        view: The task.
        rows: All rows of it, each with the number of its page, negative where the replay has none.
        estimates: Its estimates by level.
        verdicts: The comparisons of the report.
    """
    presentation = view.presentation
    numbers = {id(row): number for row, number in rows}
    metric = measure(view.env, guided=False).metric
    drawn = {group: at_items(own) for group, own in _by_group(row for row, _ in rows).items()}
    tried = {group: _by_item(items) for group, items in drawn.items()}
    groups = _comparable(tried, estimates)
    best = {group: {key: _best(some, metric) for key, some in tried[group].items()} for group in groups}
    places = {key: (key.level, row.index, key) for group in groups for key, row in best[group].items()}
    keys = sorted(places, key=lambda key: places[key])
    names, judged = labels(groups), verdicts.among(groups)
    data = {
        "models": [
            {
                "name": names[group],
                "settings": [one_line(part, 80) for part in differing(group, groups)],
                "page": view.pages[group],
                "embedded": group.embedded,
            }
            for group in groups
        ],
        "items": [[one_line(key.item, 40), key.level] for key in keys],
        "scores": [[_score(best[group].get(key), metric) for key in keys] for group in groups],
        "solved": [[_solved(tried[group].get(key)) for key in keys] for group in groups],
        "replays": [[numbers[id(row)] if (row := best[group].get(key)) else None for key in keys] for group in groups],
        # Over what was drawn: attempts, where there is one item.
        "differences": _differences(
            groups, {one: {key: _best(some, metric) for key, some in drawn[one].items()} for one in groups}, metric
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
    most = MOST if verdicts.bounded(groups) else None
    return ComparePage(
        metric=heading(metric),
        lower=metric.better == "lower",
        data=Markup(text.replace("<", "\\u003c")),
        table=model_table(judged, names, view, most),
    )


def _verdicts(groups: Sequence[Group], some: Sequence[Comparison]) -> dict[str, list[str]]:
    """Return the statements about each pair of models, by their numbers; the first is A."""
    place = {group: number for number, group in enumerate(groups)}
    found: dict[str, list[str]] = {}
    for each in some:
        one, other = (place[group] for group in each.groups)
        found |= {f"{one} {other}": sentences(each), f"{other} {one}": sentences(each.swapped)}
    return found


def comparable_tasks(rows: Iterable[Row]) -> set[ScoreKey]:
    """Return the tasks that have such a page: those at which two groups have an attempt at the same item."""
    given: dict[ScoreKey, Counter[tuple[int, str, str]]] = defaultdict(Counter)
    for group, own in _by_group(rows).items():
        given[group.env, group.apart].update({(row.level, row.item, row.instance) for row in own})
    return {key for key, items in given.items() if max(items.values()) > 1}


def _by_group(rows: Iterable[Row]) -> dict[Group, list[Row]]:
    """Return the attempts of each group that count."""
    return grouped((row for row in fixed(rows) if row.is_included and not row.guided), lambda row: row.group)


def _comparable(tried: Mapping[Group, Mapping[ItemKey, Any]], estimates: Sequence[Estimate]) -> list[Group]:
    """Return the groups that share items with others, the best one first."""
    groups = [group for group in ranked(estimates) if group in tried]
    return [one for one in groups if any(tried[one].keys() & tried[other].keys() for other in groups if other != one)]


def _by_item(drawn: Mapping[ItemKey, Sequence[Row]]) -> dict[ItemKey, list[Row]]:
    """Return attempts by item, without the cluster of each: what two models were given in common are items."""
    return {key._replace(cluster=Cluster(key.instance)): some for key, some in whole_items(drawn).items()}


def _best(some: Sequence[Row], metric: Metric) -> Row:
    """Return the best attempt at an item."""
    sign = -1 if metric.better == "lower" else 1

    def merit(row: Row) -> tuple[bool, float, int]:
        value = row.metrics[metric.name]
        return value is not None, sign * (value or 0.0), -row.attempt

    return max(some, key=merit)


def _score(row: Row | None, metric: Metric) -> float | None:
    value = row.metrics[metric.name] if row else None
    return None if value is None else round(value, 4)


def _solved(some: Sequence[Row] | None) -> int | None:
    return None if some is None else int(any(row.end == End.SOLVED for row in some))


def _differences(
    groups: Sequence[Group], best: Mapping[Group, Mapping[ItemKey, Row]], metric: Metric
) -> dict[str, tuple[int, list[str]]]:
    """Return for each two models at how many items both have scores, their mean difference, and its interval."""
    scores = {
        group: values_of(
            group, metric, {key: value for key, row in some.items() if (value := row.metrics[metric.name]) is not None}
        )
        for group, some in best.items()
    }
    found: dict[str, tuple[int, list[str]]] = {}
    for (number, one), (other_number, other) in combinations(enumerate(groups), 2):
        if made := compare(scores[one], scores[other], MODEL):
            found[f"{number} {other_number}"] = made.items, _ends(made)
            found[f"{other_number} {number}"] = made.items, _ends(made.swapped)
    return found


def _ends(made: Comparison) -> list[str]:
    mean = made.difference
    return [change_text(value, made.metric) for value in (mean.value, mean.low, mean.high) if value is not None]

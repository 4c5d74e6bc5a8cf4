"""Agreement between people on the same items: mean square errors, as in MANGO's Table 13."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from waybench.core import Json, Metric
from waybench.results.comparisons._item_scores import comparison_key
from waybench.results.formatting import NOTHING, align_columns
from waybench.results.logs import is_human
from waybench.results.results import ItemKey, Row, RunKey, group_by, group_by_item, metric_values
from waybench.results.stats import CONFIDENCE, IntervalEstimate, clustered_mean


@dataclass(frozen=True, slots=True)
class Agreement:
    """The mean square error of a metric between people.

    Attributes:
        group: The task, as the first person played it.
        error: The mean over items of the square of the difference of two people, with its interval; of more than two
            people at an item, the mean over their pairs.
        people: The number of people who answered one of these items.
    """

    group: RunKey
    metric: Metric
    error: IntervalEstimate
    people: int

    def to_json(self) -> dict[str, Json]:
        """Return the agreement as JSON values."""
        error = self.error
        return {
            **{"task": self.group.task, "env": self.group.env, "metric": self.metric.name, "people": self.people},
            **{"items": error.n, "mean_square_error": error.value, "low": error.low, "high": error.high},
        }


def agreements(all_rows: Iterable[Row], metric: str = "") -> list[Agreement]:
    """Return how far people agree on the items that several of them answered.

    Args:
        all_rows: The rows; those of models, and those that are excluded, are ignored.
        metric: Its name; by default all with the bounds 0 and 1 of which one direction is better. Ratios over a set
            (`Metric.per`) are left out, and metrics of which no item has values of several people.
    """
    rows = [row for row in all_rows if row.is_included and is_human(row.group.model)]
    by_test = group_by(rows, lambda row: (row.group.task, comparison_key(row.group)))
    return [agreement for test_rows in by_test.values() for agreement in _agreements_of_test(test_rows, metric)]


def _agreements_of_test(rows: Sequence[Row], name: str) -> Iterable[Agreement]:
    """Yield the agreement of people on one set of items, for each metric (or the one with this name)."""
    rows_by_person = group_by(rows, lambda row: row.group.model)
    group = rows[0].group
    metrics = group.environment.scoring.metrics
    for metric in metrics:
        is_chosen = metric.name == name if name else metric.bounds == (0, 1) and bool(metric.better)
        if not is_chosen or metric.per is not None:
            continue
        values_of_people = [
            metric_values(group_by_item(person_rows), metrics[0], metric).values
            for person_rows in rows_by_person.values()
        ]
        errors = _square_errors(values_of_people)
        low, high = metric.bounds
        greatest = None if low is None or high is None else (high - low) ** 2
        mean = clustered_mean(list(errors.values()), [key.cluster for key in errors], 0.0, greatest)
        if mean is not None:
            n_people = sum(not values.keys().isdisjoint(errors) for values in values_of_people)
            yield Agreement(group, metric, mean, n_people)


def _square_errors(values_of_people: Sequence[Mapping[ItemKey, float]]) -> dict[ItemKey, float]:
    """Return the mean square of the differences of all pairs of people, by item that several of them answered."""
    errors: dict[ItemKey, float] = {}
    for key in sorted({key for values in values_of_people for key in values}):
        values = [person_values[key] for person_values in values_of_people if key in person_values]
        if len(values) > 1:
            errors[key] = fmean((first - second) ** 2 for first, second in combinations(values, 2))
    return errors


def agreements_text(results: Sequence[Agreement]) -> str:
    """Return agreements as a table of plain text."""
    lines = [["", "people", "items", "mean square error", f"{100 * CONFIDENCE:.0f} % interval"]]
    for result in results:
        error = result.error
        ends = NOTHING if error.low is None or error.high is None else f"{error.low:.4f} to {error.high:.4f}"
        name = f"{result.group.task}: {result.metric.title}"
        lines.append([name, f"{result.people}", f"{error.n:,}", f"{error.value:.4f}", ends])
    note = "The mean over items of the square of the difference of two people: 0 where they agree."
    return f"{align_columns(lines)}\n\n{note}"

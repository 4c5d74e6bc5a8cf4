"""Comparisons of models at the same test, also at tasks that are not ours, and assumptions on power from a pilot."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, cast

from waybench.core import TURN_LIMIT, UNPARSED, FailureKind, Json, Metric
from waybench.core._metrics import OVERFLOW, REFUSED, TRUNCATED, WRONG
from waybench.results.comparisons._comparison import Comparison, adjust_comparisons, compare, with_inferred_bounds
from waybench.results.comparisons._item_scores import MODEL, ItemScores, match_groups, scores_from_values
from waybench.results.logs import Skipped, is_embedded, newest_samples, read_samples
from waybench.results.logs._inspect import Log, Seen, as_number, logs_by_run, print_problem
from waybench.results.logs._settings import settings_of_foreign_run
from waybench.results.results import Cluster, ItemKey, Row, group_by, group_by_item, metric_values, with_observed_bounds
from waybench.results.stats import PowerAssumptions
from waybench.results.stats._power import FEWEST_ITEMS, pilot_assumptions
from waybench.results.stats._verdicts import MARGIN

# The parts of a sample that are not read with its output.
_UNUSED_FIELDS = {"events", "timelines", "messages", "store", "attachments", "events_data", "metadata"}
_KIND_BY_STOP_REASON = {"max_tokens": TRUNCATED, "model_length": OVERFLOW, "content_filter": REFUSED}
_NO_ANSWER = "N"  # Inspect's score of a sample without an answer
# What pairs of scores have in common, the closest relation first (`compare_sides`).
_RELATIONS: tuple[Callable[[ItemScores], Hashable], ...] = (
    lambda scores: (scores.model, scores.settings_key),
    lambda scores: scores.settings_key,
    lambda scores: scores.model,
    lambda scores: None,
)


class _Scored(NamedTuple):
    """A sample with the log that it is in, and its scores by name; scores that are no numbers are None."""

    log: Log
    seen: Seen
    numbers: Mapping[str, float | None]


def foreign_scores(*directories: Path, on_problem: Callable[[Skipped], None] | None = None) -> list[ItemScores]:
    """Read the scores of models at tasks that are not ours, from all of Inspect's logs in some directories.

    Each score is a test of its own, and so is each entry of a score that holds several. Samples of one id are one item:
    their epochs are averaged. A sample that ended with an error is missing; one that was scored counts, whatever limit
    it ran into. Of several runs of one model with the same settings, the last one in which a sample has ended without
    an error gives it. An item fails in an epoch that is scored below 1, where all scores of the test are from 0 to 1.

    Args:
        *directories: Folders with logs, in any depth.
        on_problem: Is called with each file that is skipped, and the reason; prints to stderr by default.

    Raises:
        UsageError: If a directory does not exist.
    """
    by_run: dict[tuple[str, str, str], dict[ItemKey, list[_Scored]]] = defaultdict(dict)
    headers: dict[tuple[str, str, str], Any] = {}
    for logs in logs_by_run(directories, on_problem or print_problem):
        header = logs[-1].header
        run = str(header.eval.model), str(header.eval.task), repr(sorted(settings_of_foreign_run(header).items()))
        samples = (
            _Scored(log, seen, {} if seen.error else dict(_numeric_scores(seen)))
            for log, log_samples in newest_samples(logs)
            for seen in log_samples
            if not seen.ours
        )
        for item, attempts in group_by(samples, lambda sample: str(sample.seen.id)).items():
            key = ItemKey(0, item, "", Cluster(item))
            old_attempts = by_run[run].get(key, [])
            # Errors do not replace the results of an older run.
            if not all(sample.seen.error for sample in attempts) or all(sample.seen.error for sample in old_attempts):
                by_run[run][key] = attempts
            headers[run] = header
    return [scores for run, items in by_run.items() if items for scores in _scorer_scores(headers[run], items)]


def _scorer_scores(header: Any, items: Mapping[ItemKey, Sequence[_Scored]]) -> Iterator[ItemScores]:
    """Yield the scores of one run by each of its scorers, from its samples by item."""
    all_samples = [sample for samples in items.values() for sample in samples]
    task, stops = str(header.eval.task), _stop_kinds(all_samples)
    for name in dict.fromkeys(name for sample in all_samples for name in sample.numbers):
        numbers = {
            key: [number for sample in samples if (number := sample.numbers.get(name)) is not None]
            for key, samples in items.items()
        }
        values = {key: fmean(item_numbers) for key, item_numbers in numbers.items() if item_numbers}
        missing = frozenset(key for key, samples in items.items() if all(sample.seen.error for sample in samples))
        is_share = all(0 <= number <= 1 for item_numbers in numbers.values() for number in item_numbers)
        yield ItemScores(
            model=str(header.eval.model),
            task=task,
            test=(task, name),
            name=task,
            settings=settings_of_foreign_run(header),
            metric=Metric(name=name, of=lambda record: None, title=name, doc="A score of another package's task."),
            inferred=True,
            values=values,
            missing=missing,
            undefined=frozenset(items.keys() - values.keys() - missing),
            failures={
                key: [
                    _failure_kind(stops, sample)
                    for sample in samples
                    if is_share and _is_failure(sample.numbers.get(name))
                ]
                for key, samples in items.items()
            },
            attempts={key: len(item_numbers) for key, item_numbers in numbers.items()},
            inputs={key: samples[0].seen.input_hash for key, samples in items.items()},
            logs=frozenset(sample.log.location for sample in all_samples),
        )


def _is_failure(number: float | None) -> bool:
    """Return whether a score counts as a failure: it is below 1."""
    return number is not None and number < 1


def _numeric_scores(seen: Seen) -> Iterator[tuple[str, float | None]]:
    """Yield a sample's scores by name, as numbers; None for other values."""
    for scorer, value in seen.scores.items():
        if isinstance(value, dict):
            for name, entry in cast(Mapping[str, Json], value).items():
                yield f"{scorer}/{name}", as_number(entry)
        elif isinstance(value, list):
            for number, entry in enumerate(cast(Sequence[Json], value), start=1):
                yield f"{scorer}/{number}", as_number(entry)
        else:
            yield scorer, as_number(value)


def _failure_kind(stops: Mapping[tuple[str, Any, int], FailureKind], sample: _Scored) -> FailureKind:
    """Return the kind of a sample's failure, by its stop reason (`_stop_kinds`), limit or answer."""
    seen = sample.seen
    if kind := stops.get((sample.log.location, seen.id, seen.epoch)):
        return kind
    if seen.limit:
        return TURN_LIMIT
    return UNPARSED if _NO_ANSWER in seen.scores.values() else WRONG


def _stop_kinds(samples: Iterable[_Scored]) -> dict[tuple[str, Any, int], FailureKind]:
    """Return the failures that are cut-off or refused replies, by log, id and epoch."""
    failed = (sample for sample in samples if any(map(_is_failure, sample.numbers.values())))
    kinds: dict[tuple[str, Any, int], FailureKind] = {}
    for location, log_samples in group_by(failed, lambda sample: sample.log.location).items():
        ids_and_epochs = [(sample.seen.id, sample.seen.epoch) for sample in log_samples]
        outputs: list[Any] = []
        with suppress(Exception):  # a damaged sample: how the others ended is then not known either, their scores are
            outputs = read_samples(location, ids_and_epochs, _UNUSED_FIELDS)
        for sample in outputs:
            stop_reason = str(sample.output.stop_reason) if sample.output and sample.output.choices else ""
            if stop_reason in _KIND_BY_STOP_REASON:
                kinds[location, sample.id, sample.epoch] = _KIND_BY_STOP_REASON[stop_reason]
    return kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpaired:
    """Scores that could not be compared, with the reason; `first` says whether they are of the first side."""

    scores: ItemScores
    first: bool
    why: str


def compare_sides(
    first: Sequence[ItemScores], second: Sequence[ItemScores], margin: float = MARGIN
) -> tuple[list[Comparison], list[Unpaired]]:
    """Compare two sides at all tests that both were given; all comparisons are one family.

    Where a side has several groups of scores at a test, those are paired that have the same model and settings,
    otherwise the same settings, otherwise the same model, and otherwise those of which there is one left on either
    side. `margin` is the greatest difference in a tie, as a share of the metric's range.

    Returns:
        The comparisons, in the first side's order, and the scores that could not be compared.
    """
    comparisons: list[Comparison] = []
    unpaired: list[Unpaired] = []
    first_tests, second_tests = (group_by(side, lambda scores: scores.test) for side in (first, second))
    names = _test_names([*first, *second])
    for test in dict.fromkeys([*first_tests, *second_tests]):
        pairs, without_pair = _match_sides(first_tests.get(test, []), second_tests.get(test, []))
        unpaired += without_pair
        for first_scores, other in pairs:
            comparison = compare(first_scores, other, MODEL, name=names[test], margin=margin)
            if comparison is None:
                are_common = first_scores.item_keys & other.item_keys
                why = "no item at which both have a value" if are_common else "no items in common"
                unpaired.append(Unpaired(scores=first_scores, first=True, why=why))
            else:
                comparisons.append(comparison)
    return adjust_comparisons(comparisons), unpaired


def compare_pairs(pairs: Iterable[tuple[ItemScores, ItemScores]]) -> list[Comparison]:
    """Compare pairs of models, each with all its settings.

    All comparisons of models are one family, at whatever test: of many equal models, at most one report in twenty shows
    any of them as better. Comparisons with embedded players are a family of their own, since their number says nothing
    of the models. Each pair is of the same test; one without an item at which both have a value is left out.
    """
    all_pairs = list(pairs)
    names = _test_names(scores for pair in all_pairs for scores in pair)
    comparisons: list[Comparison | None] = []
    for first, second in all_pairs:
        has_embedded = is_embedded(first.model) or is_embedded(second.model)
        comparisons.append(compare(first, second, MODEL, name=names[first.test], family=has_embedded))
    return adjust_comparisons(comparisons)


def compare_all_pairs(all_rows: Iterable[Row], metric_names: Sequence[str]) -> list[Comparison]:
    """Compare all pairs of groups on their common items, by some metrics, untested (MANGO, Tables 1, 9, 11 and 12).

    The pairs are in order of first appearance; a pair without a common item is left out. Items are the same if their
    level, id and instance are. Metrics that an environment does not have are left out, and so are ratios
    (`Metric.per`), for which a single item has no weight of its own.
    """
    by_group = {group: group_by_item(rows) for group, rows in group_by(all_rows, lambda row: row.group).items()}
    comparisons: list[Comparison] = []
    for groups in match_groups(by_group):
        metrics = groups[0].environment.scoring.metrics
        played = [row for group in groups for item in by_group[group].values() for row in item]
        for metric in metrics:
            if metric.name not in metric_names or metric.per is not None:
                continue
            bounded_metric = with_observed_bounds(metric, played)
            scores = [
                scores_from_values(group, bounded_metric, metric_values(by_group[group], metrics[0], metric).values)
                for group in groups
            ]
            pairs = (compare(first, second, MODEL) for first, second in combinations(scores, 2))
            comparisons += [comparison for comparison in pairs if comparison]
    return comparisons


def _test_names(scores: Iterable[ItemScores]) -> dict[Hashable, str]:
    """Return a name for each test: its title, with details if several tests share it."""
    names_by_test: dict[Hashable, str] = {}
    for title, same_title_scores in group_by(scores, lambda side: side.name).items():
        details_by_test = {side.test: side.details for side in same_title_scores}
        names = dict.fromkeys(name for details in details_by_test.values() for name in details)
        differing = [name for name in names if len({details.get(name) for details in details_by_test.values()}) > 1]
        for test, details in details_by_test.items():
            words = [f"{name.replace('_', ' ')}: {details[name]}" for name in differing if name in details]
            names_by_test[test] = ", ".join([title, *words])
    return names_by_test


def _match_sides(
    first: Sequence[ItemScores], second: Sequence[ItemScores]
) -> tuple[list[tuple[ItemScores, ItemScores]], list[Unpaired]]:
    """Return the pairs of scores to compare at one test, and the scores without a partner."""
    pairs: list[tuple[ItemScores, ItemScores]] = []
    first_remaining, second_remaining = list(first), list(second)
    for relation in _RELATIONS:
        first_by_key, second_by_key = group_by(first_remaining, relation), group_by(second_remaining, relation)
        for key, first_scores in first_by_key.items():
            second_scores = second_by_key.get(key, [])
            if len(first_scores) == len(second_scores) == 1:
                pairs.append((first_scores[0], second_scores[0]))
        paired_ids = {id(scores) for pair in pairs for scores in pair}
        first_remaining = [scores for scores in first_remaining if id(scores) not in paired_ids]
        second_remaining = [scores for scores in second_remaining if id(scores) not in paired_ids]
    why = "several match, with different settings: compare models by name, or give --task"
    missing = "the other side has no such task with these settings"
    sides = ((first_remaining, second_remaining or second, True), (second_remaining, first_remaining or first, False))
    without_pair = [
        Unpaired(scores=scores, first=is_first, why=why if rivals else missing)
        for side, rivals, is_first in sides
        for scores in side
    ]
    return pairs, without_pair


def assumptions_from_pilot(
    scores: Sequence[ItemScores], correlation: float
) -> tuple[list[PowerAssumptions], list[str]]:
    """Return assumptions about power from the results of a pilot, one for each test (`pilot_assumptions`).

    Args:
        scores: The models' scores.
        correlation: The correlation between two models that is assumed for tests that a single model was given.

    Returns:
        The assumptions, and a line on each test that gives none.
    """
    assumptions: list[PowerAssumptions] = []
    problems: list[str] = []
    for sides in group_by(scores, lambda side: side.test).values():
        name = f"{sides[0].name}: {sides[0].metric.title}"
        metric = with_inferred_bounds(sides)
        low, high = (None, None) if metric.far_bounds else (metric.low, metric.high)
        if low is None or high is None or low == high:
            problems.append(
                f"{name}: its values are unbounded, or far from their bounds, so a difference cannot be given as a "
                f"share of their range; give another --metric, for example solved"
            )
        elif max(len(side.values) for side in sides) < FEWEST_ITEMS:
            problems.append(f"{name}: too few items (at least {FEWEST_ITEMS} are needed)")
        else:
            values = [{key: (value - low) / (high - low) for key, value in side.values.items()} for side in sides]
            single = all(n_attempts <= 1 for side in sides for n_attempts in side.attempts.values())
            assumptions.append(pilot_assumptions(name, values, lambda key: key.cluster, correlation, single=single))
    return assumptions, problems

"""Comparisons of models at the same test, also at tasks that are not ours, and what a pilot says of their power."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, cast

from waybench.core import (
    OVERFLOW,
    REFUSED,
    TRUNCATED,
    TURN_LIMIT,
    UNPARSED,
    WRONG,
    EpisodeRecord,
    FailureKind,
    Json,
    Metric,
)
from waybench.envs import registry
from waybench.results.comparisons._comparison import MARGIN, Comparison, bounded, compare, with_tests
from waybench.results.comparisons._item_scores import MODEL, ItemScores, matched, values_of
from waybench.results.logs import (
    Log,
    Seen,
    Skipped,
    as_number,
    is_embedded,
    newest,
    read_samples,
    runs,
    settings_of_any,
    to_stderr,
)
from waybench.results.results import Cluster, ItemKey, Row, at_items, grouped, measured, over
from waybench.results.stats import FEWEST_ITEMS, PowerAssumptions, pilot_assumptions

# All that a sample's output is read without.
_UNUSED = {"events", "timelines", "messages", "store", "attachments", "events_data", "metadata"}
_STOPS = {
    "max_tokens": TRUNCATED,
    "model_length": OVERFLOW,
    "content_filter": REFUSED,
}
_NO_ANSWER = "N"


class _Scored(NamedTuple):
    """A sample with the log that it is in."""

    log: Log
    seen: Seen


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
    for logs in runs(directories, on_problem or to_stderr):
        header = logs[-1].header
        of = str(header.eval.model), str(header.eval.task), repr(sorted(settings_of_any(header).items()))
        own = _samples(logs)
        for key, some in own.items():
            before = by_run[of].get(key, [])
            if not before or any(not one.seen.error for one in some) or all(one.seen.error for one in before):
                by_run[of][key] = some
        if own:
            headers[of] = header
    return [one for of, items in by_run.items() if items for one in _of_scorers(headers[of], items)]


def _samples(logs: Sequence[Log]) -> dict[ItemKey, list[_Scored]]:
    found: dict[ItemKey, list[_Scored]] = defaultdict(list)
    for log, samples in newest(logs):
        for seen in samples:
            if not seen.ours:
                found[ItemKey(0, str(seen.id), "", Cluster(str(seen.id)))].append(_Scored(log, seen))
    return dict(found)


def _of_scorers(header: Any, items: Mapping[ItemKey, Sequence[_Scored]]) -> Iterator[ItemScores]:
    numbers = {
        key: [dict(_numbers(one.seen)) if not one.seen.error else {} for one in some] for key, some in items.items()
    }
    names = dict.fromkeys(name for some in numbers.values() for each in some for name in each)
    if not names:
        return
    stops = _stops(items, numbers)
    task = str(header.eval.task)
    for name in names:
        known = {
            key: [number for each in some if (number := each.get(name)) is not None] for key, some in numbers.items()
        }
        values = {key: fmean(some) for key, some in known.items() if some}
        missing = frozenset(key for key, some in items.items() if all(one.seen.error for one in some))
        share = all(0 <= number <= 1 for some in known.values() for number in some)
        yield ItemScores(
            model=str(header.eval.model),
            task=task,
            test=(task, name),
            name=task,
            settings=settings_of_any(header),
            metric=Metric(name=name, of=_none, title=name, doc="A score of another package's task."),
            inferred=True,
            values=values,
            missing=missing,
            undefined=frozenset(items.keys() - values.keys() - missing),
            failures={
                key: [
                    _kind(stops, one)
                    for one, each in zip(some, numbers[key], strict=True)
                    if share and _fails(each.get(name))
                ]
                for key, some in items.items()
            },
            attempts={key: len(some) for key, some in known.items()},
            inputs={key: some[0].seen.input_hash for key, some in items.items()},
            logs=frozenset(one.log.location for some in items.values() for one in some),
        )


def _none(record: EpisodeRecord) -> None:
    return None


def _fails(number: float | None) -> bool:
    return number is not None and number < 1


def _numbers(seen: Seen) -> Iterator[tuple[str, float | None]]:
    """Yield a sample's scores by name, those that are no numbers as None."""
    for scorer, value in seen.scores.items():
        if isinstance(value, dict):
            parts = cast(Mapping[str, Json], value)
            yield from ((f"{scorer}/{name}", as_number(each)) for name, each in parts.items())
        elif isinstance(value, list):
            listed = cast(Sequence[Json], value)
            yield from ((f"{scorer}/{number}", as_number(each)) for number, each in enumerate(listed, start=1))
        else:
            yield scorer, as_number(value)


def _kind(stops: Mapping[tuple[str, Any, int], FailureKind], one: _Scored) -> FailureKind:
    """Return how a sample failed: by how its last reply ended, or else by a limit, or without an answer."""
    seen = one.seen
    if stopped := stops.get((one.log.location, seen.id, seen.epoch)):
        return stopped
    if seen.limit:
        return TURN_LIMIT
    return UNPARSED if _NO_ANSWER in seen.scores.values() else WRONG


def _stops(
    items: Mapping[ItemKey, Sequence[_Scored]], numbers: Mapping[ItemKey, Sequence[Mapping[str, float | None]]]
) -> dict[tuple[str, Any, int], FailureKind]:
    """Return which of the samples that failed were cut off or refused, by log, id and epoch."""
    failed: dict[str, list[tuple[Any, int]]] = defaultdict(list)
    for key, some in items.items():
        for one, each in zip(some, numbers[key], strict=True):
            if any(map(_fails, each.values())):
                failed[one.log.location].append((one.seen.id, one.seen.epoch))
    found: dict[tuple[str, Any, int], FailureKind] = {}
    for location, some in failed.items():
        for sample in _outputs(location, some):
            stop = str(sample.output.stop_reason) if sample.output and sample.output.choices else ""
            if stop in _STOPS:
                found[location, sample.id, sample.epoch] = _STOPS[stop]
    return found


def _outputs(location: str, some: Sequence[tuple[Any, int]]) -> list[Any]:
    try:
        return read_samples(location, some, _UNUSED)
    except Exception:  # a damaged sample: how the others ended is then not known either, their scores are
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpaired:
    """Scores that could not be compared.

    Attributes:
        scores: The scores.
        first: Whether they are the first side's.
        why: Why.
    """

    scores: ItemScores
    first: bool
    why: str


def compare_sides(
    first: Sequence[ItemScores], second: Sequence[ItemScores], margin: float = MARGIN
) -> tuple[list[Comparison], list[Unpaired]]:
    """Compare two sides at all tests that both were given; all comparisons are one family.

    Where a side has several groups of scores at a test, those belong together that have the same model and settings,
    otherwise the same settings, otherwise the same model, and otherwise those of which there is one left on either
    side.

    Args:
        first: The one side.
        second: The other.
        margin: What counts as a tie, as a share of the metric's range.

    Returns:
        The comparisons, in the first side's order, and what could not be compared.
    """
    found: list[Comparison] = []
    left: list[Unpaired] = []
    mine, theirs = (grouped(side, lambda scores: scores.test) for side in (first, second))
    names = _names([*first, *second])
    for test in dict.fromkeys([*mine, *theirs]):
        pairs, rest = _sides_matched(mine.get(test, []), theirs.get(test, []))
        left += rest
        for one, other in pairs:
            made = compare(one, other, MODEL, name=names[test], margin=margin)
            if made is None:
                left += [Unpaired(scores=one, first=True, why=_nothing(one, other))]
            else:
                found.append(made)
    return with_tests(found), left


def compare_pairs(pairs: Iterable[tuple[ItemScores, ItemScores]]) -> list[Comparison]:
    """Compare pairs of models, each with all its settings.

    All comparisons of models are one family, at whatever test: of many equal models, at most one report in twenty shows
    any of them as better. Comparisons with embedded players are a family of their own, since their number says nothing
    of the models.

    Args:
        pairs: Scores of the same test. Those without an item at which both have a value are left out.
    """
    listed = list(pairs)
    names = _names(one for pair in listed for one in pair)
    return with_tests(
        compare(one, other, MODEL, name=names[one.test], family=_has_embedded(one, other)) for one, other in listed
    )


def pairs(all_rows: Iterable[Row], names: Sequence[str]) -> list[Comparison]:
    """Compare all pairs of groups that can be compared, by some metrics and untested (MANGO, Tables 1, 9, 11 and 12).

    They are in order of first appearance, and a pair without a common item is left out. Items are the same if their
    level, id and instance are; a question about another prefix of a walkthrough is another one.

    Args:
        all_rows: The rows.
        names: The metrics; those that an environment does not have are left out, and so are shares
            (`Metric.per`), for which a single item has no weight of its own.
    """
    own = {group: at_items(some) for group, some in grouped(all_rows, lambda row: row.group).items()}
    found: list[Comparison] = []
    for some in matched(own):
        metrics = registry.load(some[0].env).scoring.metrics
        played = [row for group in some for item in own[group].values() for row in item]
        for metric in (over(one, played) for one in metrics if one.name in names and one.per is None):
            scores = {
                group: values_of(group, metric, measured(own[group], metrics[0], metric).values) for group in some
            }
            for first, second in combinations(some, 2):
                if comparison := compare(scores[first], scores[second], MODEL):
                    found.append(comparison)
    return found


def _names(scores: Iterable[ItemScores]) -> dict[Hashable, str]:
    """Return a name for each test, with what distinguishes it from the others of its title."""
    found: dict[Hashable, str] = {}
    for title, some in grouped(scores, lambda one: one.name).items():
        details = {one.test: one.details for one in some}
        names = dict.fromkeys(name for each in details.values() for name in each)
        differing = [name for name in names if len({each.get(name) for each in details.values()}) > 1]
        for test, each in details.items():
            rest = [f"{name.replace('_', ' ')}: {each[name]}" for name in differing if name in each]
            found[test] = ", ".join([title, *rest])
    return found


def _sides_matched(
    first: Sequence[ItemScores], second: Sequence[ItemScores]
) -> tuple[list[tuple[ItemScores, ItemScores]], list[Unpaired]]:
    """Return the pairs of scores to compare at one test, and the scores without a pair."""
    pairs: list[tuple[ItemScores, ItemScores]] = []
    mine, theirs = list(first), list(second)
    for same in _SAME:
        ours, others = grouped(mine, same), grouped(theirs, same)
        for key, (one, *more) in ours.items():
            if not more and len(others.get(key, ())) == 1:
                pairs.append((one, others[key][0]))
        taken = {id(one) for pair in pairs for one in pair}
        mine = [one for one in mine if id(one) not in taken]
        theirs = [one for one in theirs if id(one) not in taken]
    why = "several match, with different settings: compare models by name, or give --task"
    missing = "the other side has no such task with these settings"
    sides = ((mine, theirs or second, True), (theirs, mine or first, False))
    left = [
        Unpaired(scores=one, first=is_first, why=why if rivals else missing)
        for some, rivals, is_first in sides
        for one in some
    ]
    return pairs, left


def _has_embedded(one: ItemScores, other: ItemScores) -> bool:
    return is_embedded(one.model) or is_embedded(other.model)


_SAME: tuple[Callable[[ItemScores], Hashable], ...] = (
    lambda scores: (scores.model, scores.settings_key),
    lambda scores: scores.settings_key,
    lambda scores: scores.model,
    lambda scores: None,
)


def _nothing(one: ItemScores, other: ItemScores) -> str:
    if not one.item_keys & other.item_keys:
        return "no items in common"
    return "no item at which both have a value"


def pilots(scores: Sequence[ItemScores], correlation: float) -> tuple[list[PowerAssumptions], list[str]]:
    """Return assumptions from models' results in a pilot, one for each test (`pilot_assumptions`).

    Args:
        scores: The models' scores.
        correlation: The correlation for tests that a single model was given.

    Returns:
        The assumptions, and a line on each test that gives none.
    """
    found: list[PowerAssumptions] = []
    problems: list[str] = []
    for some in grouped(scores, lambda one: one.test).values():
        name = f"{some[0].name}: {some[0].metric.title}"
        values, size = _scaled(some)
        if not size:
            problems.append(
                f"{name}: its values are unbounded, or far from their bounds, so a difference cannot be given as a "
                f"share of their range; give another --metric, for example solved"
            )
        elif max(map(len, values)) < FEWEST_ITEMS:
            problems.append(f"{name}: too few items (at least {FEWEST_ITEMS} are needed)")
        else:
            single = all(count <= 1 for one in some for count in one.attempts.values())
            found.append(pilot_assumptions(name, values, lambda key: key.cluster, correlation, single=single))
    return found, problems


def _scaled(some: Sequence[ItemScores]) -> tuple[list[dict[ItemKey, float]], float]:
    """Return the scores of one test on a scale from 0 to 1, and their range; 0 if it has no bounds."""
    metric = bounded(some)
    if metric.low is None or metric.high is None or metric.far_bounds:
        return [], 0.0
    low, size = metric.low, metric.high - metric.low
    return [{key: (value - low) / size for key, value in one.values.items()} for one in some], size

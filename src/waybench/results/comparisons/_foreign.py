"""Scores in the logs of tasks that are not ours, as Inspect has them."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from waybench.results.comparisons._item_scores import ItemScores
from waybench.results.logs import Log, Seen, Skipped, as_number, newest, read_samples, runs, settings_of_any, to_stderr
from waybench.results.results import Cluster, ItemKey

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

"""The samples of a task: all of them where they are fixed, otherwise the source that chooses them from results."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from inspect_ai.dataset import Sample

from waybench.core import End, EpisodeRecord
from waybench.eval import AdaptiveSampleSource, to_sample
from waybench.tasks._entry import TaskEntry
from waybench.tasks._horizon import horizon_search
from waybench.tasks._items import TaskItem, task_items
from waybench.tasks._ladder import best_of_ladder, ladder

Samples = Iterator[Sample] | AdaptiveSampleSource[Any]


def task_samples(entry: TaskEntry, given: Mapping[str, Any]) -> Samples:
    """Return the samples of a task: an iterator, or a source if results decide which samples follow.

    Args:
        entry: The task.
        given: Its parameters, checked.

    Raises:
        UsageError: If a parameter is unfit.
    """
    if entry.climb is not None:
        return ladder(entry, given)
    if entry.searches:
        return horizon_search(entry, given)
    return item_samples(task_items(entry.parts, given))


def item_samples(items: Iterable[TaskItem]) -> Samples:
    """Return the samples of some items, as `task_samples`.

    Args:
        items: The items, in their order.
    """
    items = iter(items)
    first = next(items, None)
    if first is None:
        return iter(())
    listed = chain([first], items)
    if first.environment.scoring.best_of:  # no task plays such an environment together with others
        return best_of_ladder(list(listed))
    return (
        to_sample(environment, item, options, attempt)
        for environment, options, item, attempts in listed
        for attempt in range(1, attempts + 1)
    )


def implied_samples(samples: Samples, player: str, result: Callable[[str], EpisodeRecord | None]) -> Iterator[Sample]:
    """Yield the samples that a task plays with a player, given the results.

    This is the set that the engine plays, whatever the order in which episodes finish.

    Args:
        samples: The task's samples.
        player: The model.
        result: Function from a sample's id to its record; None if there is none. It is called after the sample was
            yielded.
    """
    if not isinstance(samples, AdaptiveSampleSource):
        yield from samples
        return
    state = samples.begin(player)
    waiting = deque(samples.initial_samples())
    while waiting:
        sample = waiting.popleft()
        yield sample
        record = result(str(sample.id))
        if record is not None and record.end not in (None, End.INFRASTRUCTURE):
            waiting += samples.follow(state, str(sample.id), record)

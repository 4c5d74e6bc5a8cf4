"""The samples of a task: a fixed set, a ladder of levels, or the source that chooses the next ones."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

from inspect_ai.dataset import Sample

from waybench.core import GENERATED, End, Environment, EpisodeRecord, Item, Json, UsageError
from waybench.envs import registry
from waybench.evaluation import AdaptiveSampleSource, Ladder, to_sample
from waybench.evaluation.tasks._entry import TaskEntry
from waybench.evaluation.tasks._horizon import horizon_search
from waybench.evaluation.tasks._items import TaskItem, isomorphic, open_source, task_items
from waybench.evaluation.tasks._parameters import ISOMORPH, parameters


def ladder(entry: TaskEntry, given: Mapping[str, Any]) -> Ladder:
    """Return the samples of a ladder.

    The levels of a file are those of its items, from the first to the last that the parameters name.

    Args:
        entry: The task.
        given: Its parameters, checked.

    Raises:
        UsageError: If the first level does not exist, or a file has no level from the first to the last.
    """
    climb = entry.climb
    assert climb is not None
    first, last = given[climb.first], given[climb.last]
    if first > last:
        raise UsageError(f"{climb.first}={first} is above {climb.last}={last}")
    environment = registry.load(entry.envs[0])
    options = environment.resolve_options({option.name: given[option.name] for option in environment.play_options})
    if given["source"] != GENERATED:
        by_level = _items_by_level(environment, given)
        levels = [level for level in sorted(by_level) if first <= level <= last]
        if not levels:
            found = ", ".join(map(str, sorted(by_level)))
            raise UsageError(
                f"source={given['source']}: its items are of level {found}, and none is from {climb.first}={first} to "
                f"{climb.last}={last}"
            )
        return _ladder(environment, options, lambda: levels, by_level.__getitem__, given["attempts"])
    style = {option.name: given[option.name] for option in environment.items.options}

    @cache
    def items(level: int) -> list[Item[Any]]:
        source = environment.source(given["key"], level, **style)
        return isomorphic(environment, source, given[ISOMORPH.name]).head(given["limit"] or climb.items)

    items(first)  # a level that does not exist is refused here, before anything is run
    return _ladder(environment, options, lambda: range(first, last + 1, climb.step), items, given["attempts"])


def _items_by_level(environment: Environment[Any, Any, Any], given: Mapping[str, Any]) -> dict[int, list[Item[Any]]]:
    """Return the items of a file by level, at most `limit` of each level."""
    defaults = {name: option.default for name, option in parameters(environment).items()}
    _, source = open_source(environment, {**defaults, **given, "limit": None})
    found: dict[int, list[Item[Any]]] = {}
    for item in source.head(source.space or 0):
        found.setdefault(item.level, []).append(item)
    return {level: items[: given["limit"]] for level, items in found.items()}


def best_of_ladder(items: Sequence[TaskItem]) -> Ladder:
    """Return the samples of items whose attempts end with the first perfect one, as a ladder of one level.

    Args:
        items: The items, of one environment and with the same options and attempts.
    """
    environment, options, _, attempts = items[0]
    return _ladder(environment, dict(options), lambda: (0,), lambda level: [each.item for each in items], attempts)


def _ladder(
    environment: Environment[Any, Any, Any],
    options: dict[str, Json],
    levels: Callable[[], Iterable[int]],
    items: Callable[[int], list[Item[Any]]],
    attempts: int,
) -> Ladder:
    score = environment.scoring.metrics[0]
    return Ladder(
        environment,
        options,
        levels=levels,
        items=items,
        attempts=attempts,
        perfect=lambda record: score.of(record) == score.high,
        passed=lambda record: record.end == "solved",
    )


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

"""Tasks that climb: the next level is played if any item of this one was solved."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from waybench.core import Environment, Item, Json, UsageError
from waybench.envs import registry
from waybench.eval import Ladder
from waybench.tasks._entry import TaskEntry
from waybench.tasks._items import Played


def ladder(entry: TaskEntry, given: Mapping[str, Any]) -> Ladder:
    """Return the samples of a task that climbs.

    Args:
        entry: The task.
        given: Its parameters, checked.

    Raises:
        UsageError: If there is no level between the first and the last one, or the first one does not exist.
    """
    climb = entry.climb
    assert climb is not None
    first, last = given[climb.first], given[climb.last]
    if first > last:
        raise UsageError(f"{climb.first}={first} is above {climb.last}={last}")
    environment = registry.load(entry.envs[0])
    options = environment.resolve_options({option.name: given[option.name] for option in environment.options})
    style = {option.name: given[option.name] for option in environment.source_options}

    @cache
    def items(level: int) -> list[Item[Any]]:
        return environment.source(given["key"], level, **style).head(given["limit"])

    items(first)  # a level that does not exist is refused here, before anything is run
    return _ladder(environment, options, lambda: range(first, last + 1, climb.step), items, given["attempts"])


def one_rung(played: Sequence[Played]) -> Ladder:
    """Return the samples of items whose attempts end with a perfect one, whatever their levels.

    Args:
        played: The items, of one environment and with the same options and attempts.
    """
    environment, options, _, attempts = played[0]
    return _ladder(environment, dict(options), lambda: (0,), lambda level: [each.item for each in played], attempts)


def _ladder(
    environment: Environment[Any, Any, Any],
    options: dict[str, Json],
    levels: Callable[[], Iterable[int]],
    items: Callable[[int], list[Item[Any]]],
    attempts: int,
) -> Ladder:
    score = environment.metrics[0]
    return Ladder(
        environment,
        options,
        levels=levels,
        items=items,
        attempts=attempts,
        perfect=lambda record: score.of(record) == score.high,
        passed=lambda record: record.end == "solved",
    )

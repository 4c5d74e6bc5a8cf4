"""From a line of the list of tasks to the task."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from waybench.core import resolve
from waybench.tasks._entry import TaskEntry
from waybench.tasks._items import played_parts
from waybench.tasks._keys import with_key


def load_task(entry: TaskEntry) -> Any:
    """Return a task's function; the engine then also knows the embedded players, installed or not."""
    import_module("waybench.tasks._registry")
    from waybench.tasks._declare import declared  # which needs the evaluation engine

    return declared(entry)


def quote(entry: TaskEntry, args: Mapping[str, Any], model: str) -> str:
    """Return what the search of a task for a model's horizon may cost, in a line.

    Args:
        entry: A task with a precision that it goes on to.
        args: All its parameters, checked.
        model: The model.

    Raises:
        UsageError: If a parameter is unfit, or the budget is in dollars and the model's price is not known.
    """
    from waybench.tasks._horizon import horizon_quote  # which needs the evaluation engine

    return horizon_quote(entry, with_key(args), model)


def count_episodes(entry: TaskEntry, args: Mapping[str, Any]) -> int | None:
    """Return how many episodes of a task each model plays; None where that depends on how it goes.

    Args:
        entry: The task.
        args: Parameters that are given, checked.

    Raises:
        UsageError: If a parameter is unfit, or the data set that it names is not here.
    """
    if entry.climb is not None or entry.horizon is not None:
        return None
    given = with_key(resolve(entry.options, args, f"parameter of {entry.name}"))
    return sum(played.attempts for played in played_parts(entry.parts, given))

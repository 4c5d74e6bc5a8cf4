"""Inspect tasks from task entries; the evaluation engine is imported when one is needed."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from waybench.core import SHARD, Price, PromptKinds
from waybench.evaluation.tasks._entry import TaskEntry, resolve_key
from waybench.evaluation.tasks._items import prompt_kinds, task_items


def load_task(entry: TaskEntry) -> Any:
    """Return the Inspect task function of an entry, and register the embedded players with Inspect."""
    import_module("waybench.evaluation.tasks._registry")
    from waybench.evaluation.tasks._declare import task_function  # which needs the evaluation engine

    return task_function(entry)


def quote(entry: TaskEntry, args: Mapping[str, Any], model: str, price: Price | None = None) -> str:
    """Return in a line what a task asks of a model at most, and about how many tokens that takes.

    Args:
        entry: The task.
        args: Parameters that are given, checked.
        model: The model.
        price: The model's price; None if it is not known.

    Raises:
        UsageError: If a parameter is unfit, a data set is not here, or the budget is in dollars and the model's price
            is not known.
    """
    from waybench.evaluation.tasks._estimate import TaskQuote  # which needs the evaluation engine

    return TaskQuote(entry, args).text(model, price)


def count_episodes(entry: TaskEntry, args: Mapping[str, Any]) -> int | None:
    """Return the number of episodes of a task per model; None for ladders and searches, where results decide.

    Args:
        entry: The task.
        args: Parameters that are given, checked.

    Raises:
        UsageError: If a parameter is unfit, or the data set that it names is not here.
    """
    if entry.is_adaptive:
        return None
    return sum(item.attempts for item in task_items(entry.parts, resolve_key(entry.resolve(args))))


def shards_of(entry: TaskEntry, args: Mapping[str, Any], count: int) -> list[Mapping[str, Any]]:
    """Return the parameters of each job if several share the items of a task.

    Args:
        entry: The task. Ladders and searches are one job, since their results decide what comes next.
        args: Parameters that are given, checked.
        count: Number of shards; there are fewer if there are fewer items.

    Raises:
        UsageError: If a parameter is unfit, or the data set that it names is not here.
    """
    if count == 1 or entry.is_adaptive or args.get(SHARD) is not None:
        return [args]
    items = sum(1 for _ in task_items(entry.parts, resolve_key(entry.resolve(args))))
    count = min(count, items)
    return [{**args, SHARD: f"{number}/{count}"} for number in range(1, count + 1)] if count > 1 else [args]


def task_prompts(entry: TaskEntry, args: Mapping[str, Any]) -> PromptKinds:
    """Return what a model has to take for a task beside texts of the user.

    Args:
        entry: The task.
        args: Parameters that are given, checked.

    Raises:
        UsageError: If a parameter is unfit.
    """
    return prompt_kinds(entry.parts, entry.resolve(args))

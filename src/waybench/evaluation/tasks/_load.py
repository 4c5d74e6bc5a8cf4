"""Inspect tasks by name. The evaluation engine is imported when one is loaded."""

from importlib import import_module
from typing import Any

from waybench.evaluation.tasks._entry import TaskEntry


def load_task(entry: TaskEntry) -> Any:
    """Return the Inspect task function of a task, and register the embedded players with Inspect."""
    import_module("waybench.evaluation.tasks._registry")
    from waybench.evaluation.tasks._samples import inspect_task_function

    return inspect_task_function(entry)


def preset(name: str, **parameters: Any) -> Any:
    """Return the Inspect task with a name and parameters.

    Raises:
        UsageError: If there is no such task, or a parameter is unfit.
    """
    from waybench.evaluation.tasks._catalogue import find_task

    return load_task(find_task(name))(**parameters)

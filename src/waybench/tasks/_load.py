"""From a line of the list of tasks to the task."""

from importlib import import_module
from typing import Any

from waybench.tasks._index import TaskEntry


def load_task(entry: TaskEntry) -> Any:
    """Return a task's function; the engine then also knows the embedded players, installed or not."""
    import_module("waybench.tasks._registry")
    module, _, name = entry.target.partition(":")
    return getattr(import_module(module), name)

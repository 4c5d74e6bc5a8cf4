"""The tasks that users name; their functions, which load the evaluation engine, are imported when they are run."""

from waybench.tasks._index import TASKS, TaskEntry
from waybench.tasks._load import load_task, quote

__all__ = ["TASKS", "TaskEntry", "load_task", "quote"]

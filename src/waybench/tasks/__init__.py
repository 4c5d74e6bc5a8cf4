"""The tasks that users name; their functions, which load the evaluation engine, are imported when they are run."""

from waybench.tasks._index import TASKS, TaskEntry

__all__ = ["TASKS", "TaskEntry"]

"""The tasks that users name; their functions, which load the evaluation engine, are imported when they are run."""

from waybench.tasks._entry import TaskEntry
from waybench.tasks._index import TASKS
from waybench.tasks._load import load_task, quote
from waybench.tasks._scales import HORIZONS

__all__ = ["HORIZONS", "TASKS", "TaskEntry", "load_task", "quote"]

"""Tasks: what users name, and how each becomes an Inspect task. The evaluation engine is imported when a task runs."""

from waybench.tasks._derived import TASKS, all_tasks, find_task
from waybench.tasks._entry import TaskEntry
from waybench.tasks._environments import environment_names, resolve_environment
from waybench.tasks._items import TaskItem, task_items
from waybench.tasks._keys import resolve_key
from waybench.tasks._load import count_episodes, load_task, quote
from waybench.tasks._presets import DEMO, DEMO_HORIZON

__all__ = [
    "DEMO",
    "DEMO_HORIZON",
    "TASKS",
    "TaskEntry",
    "TaskItem",
    "all_tasks",
    "count_episodes",
    "environment_names",
    "find_task",
    "load_task",
    "quote",
    "resolve_environment",
    "resolve_key",
    "task_items",
]

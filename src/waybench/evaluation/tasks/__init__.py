"""Tasks: what users name, and how each becomes an Inspect task. The evaluation engine is imported when a task runs."""

from waybench.evaluation.tasks._catalogue import (
    TASKS,
    count_episodes,
    find_task,
    resolve_environment,
    task_prompts,
)
from waybench.evaluation.tasks._entry import TaskEntry, resolve_key
from waybench.evaluation.tasks._items import TaskItem
from waybench.evaluation.tasks._load import load_task

__all__ = [
    "TASKS",
    "TaskEntry",
    "TaskItem",
    "count_episodes",
    "find_task",
    "load_task",
    "resolve_environment",
    "resolve_key",
    "task_prompts",
]

"""Tasks: what users name, and how each becomes an Inspect task. The evaluation engine is imported when a task runs."""

from typing import TYPE_CHECKING

from waybench._late import late_names
from waybench.evaluation.tasks._catalogue import (
    TASKS,
    all_tasks,
    count_episodes,
    environment_names,
    find_task,
    load_task,
    resolve_environment,
    shards_of,
    task_prompts,
)
from waybench.evaluation.tasks._entry import TaskEntry, missing_shards, resolve_key
from waybench.evaluation.tasks._items import TaskItem, task_items
from waybench.evaluation.tasks._presets import DEMO, DEMO_HORIZON, DEMO_MODEL

if TYPE_CHECKING:
    from waybench.evaluation.tasks._estimate import TaskQuote
    from waybench.evaluation.tasks._samples import Samples, implied_samples, task_samples

__all__ = [
    "DEMO",
    "DEMO_HORIZON",
    "DEMO_MODEL",
    "TASKS",
    "Samples",
    "TaskEntry",
    "TaskItem",
    "TaskQuote",
    "all_tasks",
    "count_episodes",
    "environment_names",
    "find_task",
    "implied_samples",
    "load_task",
    "missing_shards",
    "resolve_environment",
    "resolve_key",
    "shards_of",
    "task_items",
    "task_prompts",
    "task_samples",
]

__getattr__ = late_names(
    __name__,
    {
        "_estimate": ("TaskQuote",),
        "_samples": (
            "Samples",
            "implied_samples",
            "task_samples",
        ),
    },
)

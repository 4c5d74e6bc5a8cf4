"""The tasks that users name; their functions, which load the evaluation engine, are imported when they are run."""

from waybench.tasks._derived import TASKS, all_tasks, find_task
from waybench.tasks._entry import TaskEntry
from waybench.tasks._environments import environment_names, resolve_environment
from waybench.tasks._items import Played, played_items
from waybench.tasks._keys import with_key
from waybench.tasks._load import count_episodes, load_task, quote
from waybench.tasks._presets import DEMO, DEMO_HORIZON

__all__ = [
    "DEMO",
    "DEMO_HORIZON",
    "TASKS",
    "Played",
    "TaskEntry",
    "all_tasks",
    "count_episodes",
    "environment_names",
    "find_task",
    "load_task",
    "played_items",
    "quote",
    "resolve_environment",
    "with_key",
]

"""Parts of a run: which logs and journals in a folder they continue, and which tasks another program has selected."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from inspect_ai._eval.eval_set_selection import (  # the protocol is for other programs, so it has no public name
    eval_set_selection_requested,
    read_eval_set_selection,
)
from inspect_ai.log import read_eval_log

from waybench.core import SHARD
from waybench.eval._function import engine_name
from waybench.eval._run_journals import SUFFIX, plain_name


def part_files(
    tasks: Collection[tuple[str, Mapping[str, Any]]], models: Collection[str], locate: Callable[[str], str]
) -> Callable[[str], bool]:
    """Return a function that says by its name whether a part of a run may need a file.

    Args:
        tasks: Names of tasks, and their parameters.
        models: Names of models.
        locate: Returns the path or URL of a file.
    """
    endings = [f"_{plain_name(task.rpartition('/')[2]).replace('_', '-')}_" for task, _ in tasks]
    shards = {args.get(SHARD) for _, args in tasks}
    names = {engine_name(model) for model in models}
    journals = tuple(f"_{plain_name(name)}_" for name in names)

    def is_needed(name: str) -> bool:
        if name.endswith(SUFFIX):
            return any(part in name for part in journals)
        if not any(part in name for part in endings):
            return False
        try:
            spec = read_eval_log(locate(name), header_only=True).eval
            return str(spec.model) in names and spec.task_args.get(SHARD) in shards
        except Exception:  # not a log, or one that was cut off: nothing to continue
            return False

    return is_needed


def selected_tasks() -> int:
    """Return how many tasks with a model another program has selected by INSPECT_EVAL_SET_SELECTION; 0 if none has.

    Raises:
        PrerequisiteError: If the file that the variable names is no selection.
    """
    path = eval_set_selection_requested()
    return len(read_eval_set_selection(path).tasks) if path else 0

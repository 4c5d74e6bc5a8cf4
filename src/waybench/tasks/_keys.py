"""The parameter `key` of tasks: it is read from where it is, and what a log has in its place is no secret."""

from collections.abc import Mapping
from typing import Any

from waybench.core import is_public_key, key_for_log, read_key
from waybench.envs import registry
from waybench.tasks._entry import TaskEntry

KEY = "key"


def with_key(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the key itself in the place of a reference to it.

    Raises:
        UsageError: If it cannot be read.
    """
    return {**given, KEY: read_key(given[KEY])} if given.get(KEY) is not None else dict(given)


def hide_key(parameters: dict[str, Any], entry: TaskEntry) -> None:
    """Put into parameters what may stand in a log for a key.

    Args:
        parameters: A task's, with the key as it was given; they are changed.
        entry: The task.
    """
    key = parameters.get(KEY)
    if key is not None and not any(is_public_key(str(key), registry.load(env).public_key) for env in entry.envs):
        parameters[KEY] = key_for_log(str(key))

"""The parameter `key` of tasks: references are resolved, and logs get a label in place of a private key."""

from collections.abc import Mapping
from typing import Any

from waybench.core import is_public_key, key_for_log, read_key
from waybench.envs import registry
from waybench.tasks._entry import TaskEntry

KEY = "key"


def resolve_key(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the key itself in place of a reference ("env:NAME", "file:PATH").

    Raises:
        UsageError: If the key cannot be read.
    """
    return {**given, KEY: read_key(given[KEY])} if given.get(KEY) is not None else dict(given)


def hide_key(parameters: dict[str, Any], entry: TaskEntry) -> None:
    """Replace a private key in a task's parameters by its label for logs, in place.

    Args:
        parameters: The task's parameters, with the key as the user gave it.
        entry: The task.
    """
    key = parameters.get(KEY)
    if key is not None and not any(is_public_key(str(key), registry.load(env).items.public_key) for env in entry.envs):
        parameters[KEY] = key_for_log(str(key))

"""Environments by name."""

from typing import Any

from waybench.core import Environment
from waybench.envs import registry


def find_environment(name: str) -> Environment[Any, Any, Any]:
    """Load an environment by any of its names (`waybench.evaluation.tasks.resolve_environment`).

    Raises:
        UsageError: If there is none, or the name is of a task that plays several.
    """
    if any(entry.id == name.partition("@")[0] for entry in registry.built_in):
        return registry.load(name)  # without the list of tasks, for which all environments are imported
    from waybench.evaluation.tasks import resolve_environment

    return resolve_environment(name)

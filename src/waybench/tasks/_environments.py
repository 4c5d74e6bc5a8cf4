"""Environments by the names that users type."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from waybench.core import Environment, Json, Option, UsageError, unknown
from waybench.envs import registry
from waybench.tasks._derived import all_tasks, environment_names
from waybench.tasks._entry import TaskEntry


def resolve_environment(name: str) -> Environment[Any, Any, Any]:
    """Load an environment by its id, its family's name, or the name of a task that plays no other environment.

    Args:
        name: The name. A suffix "@1" requires that version; a prefix "waybench/" is ignored.

    Returns:
        The environment. Under the name of a task, the values that the task fixes are defaults of its options, and
        the task's level is its smallest level.

    Raises:
        UsageError: If no environment has this name, or the task plays several; the message names the choices.
    """
    plain, at, version = name.removeprefix("waybench/").partition("@")
    names = environment_names()
    if plain in names:
        return registry.load(names[plain] + at + version)
    tasks = {task.name: task for task in all_tasks()}
    if plain not in tasks:
        raise UsageError(unknown("environment", plain, names.values(), also=(*names, *tasks)))
    task = tasks[plain]
    env_id, *others = task.envs
    if others:
        raise UsageError(f"{plain} plays several environments: choose one of {', '.join(task.envs)}")
    return _as_in_task(registry.load(env_id + at + version), task)


def _as_in_task(environment: Environment[Any, Any, Any], task: TaskEntry) -> Environment[Any, Any, Any]:
    """Return an environment with a task's values as its defaults."""
    values: dict[str, Json] = {option.name: option.default for option in task.options if option.default is not None}
    values |= {} if task.horizon is None else task.horizon.source_options
    for part in task.parts[:1] if len(task.parts) == 1 else ():
        values |= part.fixed
    level = values.get("level", environment.items.smallest_level)
    items, playing = environment.items, environment.playing
    if level != items.smallest_level:
        items = replace(items, sample_levels=(level,))
    return replace(
        environment,
        items=replace(items, options=_with_defaults(items.options, values)),
        playing=replace(playing, options=_with_defaults(playing.options, values)),
    )


def _with_defaults(options: Iterable[Option], values: Mapping[str, Json]) -> tuple[Option, ...]:
    return tuple(replace(option, default=values.get(option.name, option.default)) for option in options)

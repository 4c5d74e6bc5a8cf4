"""All tasks by name: presets of the published benchmarks, and those of environments."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from waybench.core import (
    AGENT,
    SHARD,
    CatalogueWarning,
    Entry,
    Environment,
    Json,
    Option,
    PromptKinds,
    UsageError,
    unknown_name_message,
)
from waybench.envs import registry
from waybench.evaluation.tasks._entry import (
    TaskEntry,
    TaskPart,
    environment_parameters,
    horizon_parameters,
    resolve_key,
)
from waybench.evaluation.tasks._items import check_programs, prompt_kinds, task_items
from waybench.evaluation.tasks._presets import PRESETS


def default_task(entry: Entry, name: str) -> TaskEntry:
    """Return the task that plays an environment with all of its parameters."""
    return TaskEntry(
        name=name,
        summary=entry.summary,
        declare=lambda: tuple(environment_parameters(registry.load(entry.id)).values()),
        parts=(TaskPart(env=entry.id),),
    )


def horizon_task(entry: Entry, name: str) -> TaskEntry:
    """Return the task `name` that searches for a model's horizon in an environment, which has a `HorizonSpec`."""

    def declare() -> tuple[Option, ...]:
        """Return the task's parameters; this loads the environment's code."""
        environment = registry.load(entry.id)
        assert environment.difficulty.horizon is not None  # as the catalogue says
        return horizon_parameters(environment, environment.difficulty.horizon)

    summary = f"adaptive search for the horizon: {entry.horizon}"
    return TaskEntry(name=name, summary=summary, declare=declare, parts=(TaskPart(env=entry.id),), searches=True)


def _tasks_of_environments(
    entries: Iterable[Entry], tasks_by_name: dict[str, TaskEntry], environments_per_family: Mapping[str, int]
) -> tuple[TaskEntry, ...]:
    """Return default tasks, then horizon tasks, of environments, and add them to `tasks_by_name`.

    A task is named after its environment's family if that has one environment (by `environments_per_family`), and
    otherwise after the variant, the second part of the id. No default task is added where a preset named so plays it.
    """
    defaults: list[TaskEntry] = []
    horizons: list[TaskEntry] = []
    for entry in entries:
        family, _, variant = entry.id.partition("/")
        id_parts = [family, variant] if environments_per_family.get(family) == 1 else [variant, family]
        names = [entry.task] if entry.task else id_parts
        if not any(entry.id in tasks_by_name[name].envs for name in names if name in tasks_by_name):
            name = next((name for name in names if name not in tasks_by_name), entry.id)
            if name != names[0]:
                _warn_of_catalogue(
                    f"environment {entry.id}: a task {names[0]} exists already; this one is named {name}"
                )
            tasks_by_name[name] = default_task(entry, name)
            defaults.append(tasks_by_name[name])
        if entry.horizon:
            name = entry.horizon_task or f"horizon_{names[0]}"
            if name in tasks_by_name:
                _warn_of_catalogue(
                    f"environment {entry.id}: a task {name} exists already, so there is no search for the horizon"
                )
                continue
            tasks_by_name[name] = horizon_task(entry, name)
            horizons.append(tasks_by_name[name])
    return *defaults, *horizons


def _warn_of_catalogue(message: str) -> None:
    """Warn of a task's name that is taken; the warning points at the line of `all_tasks`."""
    warnings.warn(message, CatalogueWarning, stacklevel=4)  # past three functions: here, and two that gather tasks


@cache
def _built_in_tasks() -> tuple[TaskEntry, ...]:
    """Return the presets, and the tasks of waybench's own environments."""
    presets_by_name = {preset.name: preset for preset in PRESETS}
    by_id = {entry.id: entry for entry in registry.built_in}
    played_ids = [env_id for preset in PRESETS for env_id in preset.envs]
    ids = dict.fromkeys([*played_ids, *by_id])  # in the order of the benchmarks, then the other environments
    return *PRESETS, *_tasks_of_environments((by_id[id_] for id_ in ids), presets_by_name, {})


TASKS = _built_in_tasks()


def all_tasks() -> tuple[TaskEntry, ...]:
    """Return all tasks, those of environments in other installed packages included."""
    return *TASKS, *_tasks_of_packages(tuple(entry for entry in registry.entries if entry not in registry.built_in))


@cache  # so that each warning is given once
def _tasks_of_packages(entries: tuple[Entry, ...]) -> tuple[TaskEntry, ...]:
    """Return the tasks of environments in other installed packages."""
    families = Counter(_family_of(entry) for entry in (*registry.built_in, *entries))
    return _tasks_of_environments(entries, {entry.name: entry for entry in TASKS}, families)


def _family_of(entry: Entry) -> str:
    """Return the first part of an environment's id."""
    return entry.id.partition("/")[0]


def environment_names() -> dict[str, str]:
    """Return the ids of environments by the names that users can give: the id, or the family.

    An environment of another package has the second part of its id, too, where nothing else has this name.
    """
    names: dict[str, str] = {}
    for entry in registry.entries:
        names.setdefault(_family_of(entry), entry.id)
        names[entry.id] = entry.id
    task_names = {task.name for task in TASKS}
    variants = Counter(entry.id.partition("/")[2] for entry in registry.entries)
    for entry in registry.entries:
        variant = entry.id.partition("/")[2]
        if entry not in registry.built_in and variants[variant] == 1 and variant not in task_names:
            names.setdefault(variant, entry.id)
    return names


def find_task(name: str) -> TaskEntry:
    """Return a task by its name, or the default task of an environment by its id or family.

    A prefix "waybench/" is ignored.

    Raises:
        UsageError: If no task or environment has this name.
    """
    name = name.removeprefix("waybench/")
    tasks = {entry.name: entry for entry in TASKS}
    if name not in tasks:
        tasks = {entry.name: entry for entry in all_tasks()}
    if name in tasks:
        return tasks[name]
    env_id = environment_names().get(name)
    if env_id is None:
        raise UsageError(
            unknown_name_message("task", name, tasks, also=environment_names(), meant=_similar_horizon_task(name))
        )
    return environment_task(registry.find_entry(env_id))


def _similar_horizon_task(name: str) -> str:
    """Return the name of the horizon task that "horizon_NAME" may mean, for a task or environment NAME; else ""."""
    if not name.startswith("horizon_"):
        return ""
    task_name = name.removeprefix("horizon_")
    envs = next((entry.envs for entry in all_tasks() if entry.name == task_name), (environment_names().get(task_name),))
    return next((entry.name for entry in all_tasks() if entry.searches and entry.envs[0] in envs), "")


@cache
def environment_task(entry: Entry) -> TaskEntry:
    """Return the default task of an environment, under its short name if it has one, otherwise under its id."""
    default_tasks = (task for task in all_tasks() if task not in PRESETS and not task.searches)
    return next((task for task in default_tasks if task.envs == (entry.id,)), None) or default_task(entry, entry.id)


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
    plain, at_sign, version = name.removeprefix("waybench/").partition("@")
    names = environment_names()
    if plain in names:
        return registry.load(names[plain] + at_sign + version)
    tasks = {task.name: task for task in all_tasks()}
    if plain not in tasks:
        raise UsageError(unknown_name_message("environment", plain, names.values(), also=(*names, *tasks)))
    task = tasks[plain]
    env_id, *others = task.envs
    if others:
        raise UsageError(f"{plain} plays several environments: choose one of {', '.join(task.envs)}")
    return _with_task_defaults(registry.load(env_id + at_sign + version), task)


def _with_task_defaults(environment: Environment[Any, Any, Any], task: TaskEntry) -> Environment[Any, Any, Any]:
    """Return an environment whose options have a task's values as defaults."""
    values: dict[str, Json] = {option.name: option.default for option in task.options if option.default is not None}
    values |= {} if task.horizon is None else task.horizon.source_options
    if len(task.parts) == 1:  # several parts can fix different values of one option
        values |= task.parts[0].fixed
    level = values.get("level", environment.items.smallest_level)
    items, playing = environment.items, environment.playing
    if level != items.smallest_level:
        items = replace(items, sample_levels=(level,))
    return replace(
        environment,
        items=replace(items, options=_options_with_defaults(items.options, values)),
        playing=replace(playing, options=_options_with_defaults(playing.options, values)),
    )


def _options_with_defaults(options: Iterable[Option], values: Mapping[str, Json]) -> tuple[Option, ...]:
    """Return options with some of their defaults replaced."""
    return tuple(replace(option, default=values.get(option.name, option.default)) for option in options)


def count_episodes(entry: TaskEntry, args: Mapping[str, Any]) -> int | None:
    """Return the number of episodes of a task per model; None where results decide (`TaskEntry.is_adaptive`).

    Raises:
        UsageError: If a parameter is unfit, or the data set that it names is not here.
    """
    if entry.is_adaptive:
        return None
    return sum(item.attempts for item in task_items(entry.parts, resolve_key(entry.resolve(args))))


def check_playable(entry: TaskEntry, args: Mapping[str, Any]) -> None:
    """Raise a UsageError if a parameter is unfit, or a file or program is missing, without starting anything."""
    resolved = resolve_key(entry.resolve(args))
    check_programs(entry.parts, resolved)
    prompt_kinds(entry.parts, resolved)
    if not entry.is_adaptive:
        all_items = {**resolved, SHARD: None}  # a shard may have no item of some parts
        for part in entry.parts:
            next(iter(task_items([part], all_items)), None)


def split_args_into_shards(entry: TaskEntry, args: Mapping[str, Any], count: int) -> list[Mapping[str, Any]]:
    """Return a task's parameters once for each of `count` shards of its items, so that several jobs can share them.

    There are fewer shards if there are fewer items. The parameters are returned as they are if they name a shard, or
    if results decide what comes next, as in ladders.

    Raises:
        UsageError: If a parameter is unfit, or the data set that it names is not here.
    """
    if count == 1 or entry.is_adaptive or args.get(SHARD) is not None:
        return [args]
    n_items = sum(1 for _ in task_items(entry.parts, resolve_key(entry.resolve(args))))
    count = min(count, n_items)
    return [{**args, SHARD: f"{number}/{count}"} for number in range(1, count + 1)] if count > 1 else [args]


def task_prompts(entry: TaskEntry, args: Mapping[str, Any]) -> PromptKinds:
    """Return which kinds of prompts a task sends: pictures, tools, system messages.

    Raises:
        UsageError: If a parameter is unfit.
    """
    resolved = entry.resolve(args)
    kinds, agent = prompt_kinds(entry.parts, resolved), resolved[AGENT]
    if agent is None:
        return kinds
    from waybench.evaluation._agents import agent_gives_tools  # with the engine, which takes long to load

    return kinds._replace(agent_with_tools=agent if agent_gives_tools(agent) else "")

"""Inspect tasks from task entries, and their samples: a fixed set, a ladder of levels, or a search."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter, Signature
from itertools import chain
from typing import Any

from inspect_ai import SampleSource, Task, task
from inspect_ai._eval.registry import task_create  # neither this nor what a log says of a task has public names
from inspect_ai._eval.task.constants import TASK_ALL_PARAMS_ATTR
from inspect_ai._util.registry import RegistryInfo, registry_add, registry_info, registry_name, registry_params
from inspect_ai.dataset import Dataset, MemoryDataset, Sample

from waybench.core import (
    AGENT,
    DIFFICULTY_INDEX,
    INTERFACE,
    LANGUAGE,
    PLAY_EXTENSIONS,
    PROBE,
    TOOLS,
    WORDING,
    End,
    Environment,
    EpisodeRecord,
    Item,
    Option,
    UsageError,
    is_template_name,
)
from waybench.core._datasets import GENERATED
from waybench.core._designs import levels_design
from waybench.core._texts import ENGLISH_NAME
from waybench.envs import registry
from waybench.evaluation._adaptive import AdaptiveSampleSource, HorizonSearch, Ladder
from waybench.evaluation._agents import agent_sandbox, one_line_errors
from waybench.evaluation._sample import read_plan, to_sample
from waybench.evaluation._solver import episode, play
from waybench.evaluation.tasks._entry import ISOMORPH, TaskEntry, hide_key, parameters, read_index, resolve_key
from waybench.evaluation.tasks._horizon import horizon_config
from waybench.evaluation.tasks._items import TaskItem, isomorphic_source, open_source, task_items
from waybench.results.stats._adaptive import SEARCH_REVISION


def ladder(entry: TaskEntry, args: Mapping[str, Any]) -> Ladder:
    """Return the samples of a ladder for its parameters.

    The levels of a file are those of its items, from the first to the last that the parameters name.
    """
    climb = entry.climb
    assert climb is not None
    first, last = args[climb.first], args[climb.last]
    if first > last:
        raise UsageError(f"{climb.first}={first} is above {climb.last}={last}")
    environment = registry.load(entry.envs[0])
    options = environment.resolve_options({option.name: args[option.name] for option in environment.play_options})
    if args["source"] != GENERATED:
        by_level = _items_by_level(environment, args)
        levels = [level for level in sorted(by_level) if first <= level <= last]
        if not levels:
            names = ", ".join(map(str, sorted(by_level)))
            raise UsageError(
                f"source={args['source']}: its items are of level {names}, and none is from {climb.first}={first} to "
                f"{climb.last}={last}"
            )
        return Ladder(
            environment, options, lambda: levels, by_level.__getitem__, args["attempts"], levels_design(levels)
        )
    style = {option.name: args[option.name] for option in environment.items.options}

    @cache
    def items(level: int) -> list[Item[Any]]:
        source = environment.source(args["key"], level, **style)
        return isomorphic_source(environment, source, args[ISOMORPH.name]).head(args["limit"] or climb.items)

    items(first)  # a level that does not exist is refused here, before anything is run
    all_levels = range(first, last + 1, climb.step)
    return Ladder(environment, options, lambda: all_levels, items, args["attempts"], levels_design(all_levels))


def _items_by_level(environment: Environment[Any, Any, Any], args: Mapping[str, Any]) -> dict[int, list[Item[Any]]]:
    """Return the items of a file by level, at most `limit` of each level."""
    defaults = {name: option.default for name, option in parameters(environment).items()}
    _, source = open_source(environment, {**defaults, **args, "limit": None})
    by_level: dict[int, list[Item[Any]]] = {}
    for item in source.head(source.space or 0):
        by_level.setdefault(item.level, []).append(item)
    return {level: items[: args["limit"]] for level, items in by_level.items()}


def best_of_ladder(items: Sequence[TaskItem]) -> Ladder:
    """Return the samples of items whose attempts end with the first perfect one, as a ladder of one level."""
    environment, options, _, attempts = items[0]
    return Ladder(environment, options, lambda: (0,), lambda level: [played.item for played in items], attempts)


Samples = Iterator[Sample] | AdaptiveSampleSource[Any]


def task_samples(entry: TaskEntry, args: Mapping[str, Any]) -> Samples:
    """Return the samples of a task: an iterator, or a source if results decide which samples follow.

    Raises:
        UsageError: If a parameter is unfit.
    """
    if entry.climb is not None:
        return ladder(entry, args)
    if entry.searches:
        return HorizonSearch(horizon_config(entry, args))
    return item_samples(task_items(entry.parts, args))


def item_samples(items: Iterable[TaskItem]) -> Samples:
    """Return the samples of some items, as `task_samples`."""
    items = iter(items)
    first = next(items, None)
    if first is None:
        return iter(())
    all_items = chain([first], items)
    if first.environment.scoring.best_of:  # no task plays such an environment together with others
        return best_of_ladder(list(all_items))
    return (
        to_sample(environment, item, options, attempt)
        for environment, options, item, attempts in all_items
        for attempt in range(1, attempts + 1)
    )


def implied_samples(samples: Samples, player: str, result: Callable[[str], EpisodeRecord | None]) -> Iterator[Sample]:
    """Yield the samples that a task plays with a player, given the results.

    This is the set that the engine plays, whatever the order in which episodes finish.

    Args:
        samples: The task's samples.
        player: The model.
        result: Function from a sample's id to its record; None if there is none. It is called after the sample was
            yielded.
    """
    if not isinstance(samples, AdaptiveSampleSource):
        yield from samples
        return
    state = samples.begin(player)
    waiting = deque(samples.initial_samples())
    while waiting:
        sample = waiting.popleft()
        yield sample
        record = result(str(sample.id))
        if record is not None and record.end not in (None, End.INFRASTRUCTURE):
            waiting += samples.follow(state, str(sample.id), record)


def announce(entry: TaskEntry) -> None:
    """Make a task known to the engine by its name; the code of its environments is loaded when it is created."""

    def create(**args: Any) -> Task:
        task_function(entry)  # takes this function's place
        return task_create(name, **args)

    name = registry_name(create, entry.name)
    registry_add(create, RegistryInfo(type="task", name=name, metadata={"attribs": {}, "params": []}))


def task_function(entry: TaskEntry) -> Callable[..., Task]:
    """Return the Inspect task function of an entry; its signature has the entry's parameters."""

    def run(**args: Any) -> Task:
        with one_line_errors():
            checked = resolve_key(entry.resolve(args))
            version = max(registry.load(env_id).version for env_id in entry.envs)
            # Another version of the search would continue an unfinished one with other items.
            version += entry.horizon.revision + SEARCH_REVISION if entry.horizon is not None else 0
            agent = checked[AGENT]
            if agent is not None and checked[INTERFACE] == TOOLS:
                raise UsageError(f"agent={agent[:60]}: an agent writes its replies; leave out interface=tools")
            probe = checked.get(PROBE)
            if probe is not None:
                _check_probe(entry, checked, probe)
            samples = task_samples(entry, checked)
            dataset = samples if isinstance(samples, SampleSource) else MemoryDataset(list(samples))
            return inspect_task(dataset, version, agent, probe)

    run.__name__ = run.__qualname__ = entry.name
    run.__doc__ = f"{entry.summary}.\n\nArgs:\n" + "\n".join(f"    {o.name}: {o.doc}" for o in entry.options)
    # The engine reads a task's parameters from its signature.
    run.__signature__ = Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [_parameter(option) for option in entry.options], return_annotation=Task
    )
    registered = task(run)

    @wraps(registered)
    def run_hiding_key(**given: Any) -> Task:
        created = registered(**given)
        # The engine writes both to the log, and knows by the first one which task it is that it resumes.
        for args in (registry_params(created), getattr(created, TASK_ALL_PARAMS_ATTR)):
            hide_key(args, entry)
            for extension in PLAY_EXTENSIONS:
                if extension.for_log is not None:
                    args.update(extension.for_log(registry.load(entry.envs[0]), args))
            if args.get(DIFFICULTY_INDEX) is not None:
                # Another content of the file is another task. The task can be repeated without the file.
                args[DIFFICULTY_INDEX] = read_index(args[DIFFICULTY_INDEX], registry.load(entry.envs[0])).dumps()
        return created

    # `inspect eval` finds it by its name.
    registry_add(run_hiding_key, registry_info(registered))
    return run_hiding_key


def _check_probe(entry: TaskEntry, checked: Mapping[str, Any], probe: str) -> None:
    """Refuse probes that cannot be read, or that nobody could answer, before anything is spent."""
    read_plan(probe)
    if checked[AGENT] is not None:
        raise UsageError(f"probe={probe[:60]}: an agent has a conversation of its own; leave out agent or probe")
    if is_template_name(str(checked.get(WORDING))):
        raise UsageError(f"probe={probe[:60]}: nobody knows what your own template shows; choose another wording")
    if checked.get(LANGUAGE, ENGLISH_NAME) != ENGLISH_NAME:
        raise UsageError(f"probe={probe[:60]}: its questions are in English; leave out probe or language")


def inspect_task(
    dataset: Dataset | SampleSource, version: int, agent: str | None = None, probe: str | None = None
) -> Task:
    """Return the Inspect task that plays every sample of a data set to its end, by an agent or with probes if named."""
    return Task(
        dataset=dataset,
        solver=play() if agent is None and probe is None else play(agent, probe),
        sandbox=None if agent is None else agent_sandbox(agent),
        scorer=episode(),
        version=version,
        # A failed sample does not lose the others: the run ends as unfinished and can be resumed.
        fail_on_error=True,
        continue_on_fail=True,
        score_on_error=True,  # so that the score says how many attempts it lacks
    )


def _parameter(option: Option) -> Parameter:
    kind = option.type | None if option.default is None else option.type | int if option.or_number else option.type
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=kind)

"""Inspect tasks from task entries, and their samples: a fixed set, a ladder of levels, or a search."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache, wraps
from inspect import Parameter, Signature
from itertools import chain
from typing import Any

from inspect_ai import SampleSource, Task, task
from inspect_ai._eval.registry import task_create  # neither this nor what a log says of a task has public names
from inspect_ai._eval.task.constants import TASK_ALL_PARAMS_ATTR
from inspect_ai._util.registry import RegistryInfo, registry_add, registry_info, registry_name, registry_params
from inspect_ai.dataset import Dataset, MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric
from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesSort, TaskSamplesView, ViewerConfig

from waybench.core import (
    AGENT,
    DIFFICULTY_INDEX,
    INTERFACE,
    LANGUAGE,
    PLAY_EXTENSIONS,
    PROBE,
    STREAM,
    TOOLS,
    WORDING,
    End,
    Environment,
    EpisodeRecord,
    Item,
    Option,
    UsageError,
    is_file_name,
)
from waybench.core._datasets import GENERATED
from waybench.core._designs import ladder_design
from waybench.core._texts import ENGLISH_NAME
from waybench.envs import registry
from waybench.evaluation._adaptive import AdaptiveSampleSource, HorizonSearch, Tokens, estimate_episode_tokens
from waybench.evaluation._agents import agent_sandbox, one_line_errors
from waybench.evaluation._ladders import Ladder, Ladders, SampleGroup, WithinBudget
from waybench.evaluation._sample import parse_probe_plan, to_sample
from waybench.evaluation._scores import episode, solved
from waybench.evaluation._solver import play
from waybench.evaluation.tasks._entry import (
    ISOMORPH,
    TaskEntry,
    TaskPart,
    environment_parameters,
    read_difficulty_index,
    replace_private_key_by_label,
    resolve_key,
)
from waybench.evaluation.tasks._horizon import horizon_config
from waybench.evaluation.tasks._items import (
    TaskItem,
    isomorphic_source,
    non_default_item_options,
    open_source,
    task_items,
    with_task_item_id,
)
from waybench.evaluation.tasks._presets import paper_of_task
from waybench.evaluation.tasks._stream import ComparisonSettings, comparison_source
from waybench.results.stats._adaptive import SEARCH_REVISION


def ladders_of_task(entry: TaskEntry, args: Mapping[str, Any]) -> list[Ladder]:
    """Return the ladders of a task, one for each part.

    The levels of a file are those of its items, from the first to the last that the parameters name.
    """
    return [_ladder_of_part(entry, part, {**args, **part.fixed}) for part in entry.parts]


def _ladder_of_part(entry: TaskEntry, part: TaskPart, args: Mapping[str, Any]) -> Ladder:
    """Return the ladder of one part of a task."""
    climb = entry.climb
    assert climb is not None
    levels = climb.levels(args)
    environment = registry.load(part.env)
    options = environment.resolve_options({option.name: args[option.name] for option in environment.play_options})
    item_options = {option.name: args[option.name] for option in environment.items.options}
    items_by_level = _file_items_by_level(environment, args) if args["source"] != GENERATED else None
    if items_by_level is not None:
        listed_levels = [level for level in sorted(items_by_level) if levels[0] <= level <= levels[-1]]
        if not listed_levels:
            level_names = ", ".join(map(str, sorted(items_by_level)))
            raise UsageError(
                f"source={args['source']}: its items are of level {level_names}, and none is from "
                f"{climb.first}={levels[0]} to {climb.last}={levels[-1]}"
            )
        levels = listed_levels

    @cache
    def items_of_level(level: int) -> list[Item[Any]]:
        """Return a level's items, with their ids in the task."""
        if items_by_level is not None:
            items = items_by_level[level]
        else:
            source = environment.source(args["key"], level, **item_options)
            items = isomorphic_source(environment, source, args[ISOMORPH.name]).head(args["limit"] or climb.items)
        return [with_task_item_id(part, item) for item in items]

    items_of_level(levels[0])  # a level that does not exist is refused here, before anything is run
    return Ladder(
        environment,
        options,
        lambda: levels,
        items_of_level,
        args["attempts"],
        ladder_design(levels),
        non_default_item_options(environment, args),
    )


def _file_items_by_level(
    environment: Environment[Any, Any, Any], args: Mapping[str, Any]
) -> dict[int, list[Item[Any]]]:
    """Return the items of the file that `args` name by level, at most `limit` of each level."""
    defaults = {name: option.default for name, option in environment_parameters(environment).items()}
    _, source = open_source(environment, {**defaults, **args, "limit": None})
    items_by_level: dict[int, list[Item[Any]]] = {}
    n_items = source.space or 0  # of a file the number of items is always known
    for item in source.head(n_items):
        items_by_level.setdefault(item.level, []).append(item)
    return {level: items[: args["limit"]] for level, items in items_by_level.items()}


Samples = Iterator[Sample] | AdaptiveSampleSource[Any]
_comparison: ContextVar[ComparisonSettings | None] = ContextVar("waybench_comparison", default=None)


def as_comparison(make_task: Callable[[], Task], settings: ComparisonSettings) -> Callable[[], Task]:
    """Return a function that makes a task as a comparison of models, which ends when it is decided."""

    def make_compared_task() -> Task:
        """Make the task, which finds the settings in a context variable."""
        token = _comparison.set(settings)
        try:
            return make_task()
        finally:
            _comparison.reset(token)

    return make_compared_task


def task_samples(entry: TaskEntry, args: Mapping[str, Any]) -> Samples:
    """Return the samples of a task: an iterator, or a source if results decide which samples follow.

    Raises:
        UsageError: If a parameter is unfit.
    """
    if entry.climb is not None:
        all_ladders = ladders_of_task(entry, args)
        if len(all_ladders) == 1:
            return all_ladders[0]
        names = (part.item_id.partition("-")[0] for part in entry.parts)
        return Ladders(dict(zip(names, all_ladders, strict=True)))
    if entry.searches:
        return HorizonSearch(horizon_config(entry, args))
    if entry.further:
        first_groups, further_groups = (
            [_sample_group_of_part(part, args) for part in parts] for parts in (entry.parts, entry.further)
        )
        return WithinBudget(first_groups, further_groups, entry.budget)
    return item_samples(task_items(entry.parts, args))


def _sample_group_of_part(part: TaskPart, args: Mapping[str, Any]) -> SampleGroup:
    """Return the samples of a part of a task as a group, with token estimates from its first item."""
    items = list(task_items([part], args))
    environment, options, item, _, _ = items[0]

    def lazy_episode_tokens(player: str) -> Callable[[], Tokens]:
        """Return a function that estimates a player's tokens when it is first called."""
        return cache(lambda: estimate_episode_tokens(environment, options, [item], player))

    return SampleGroup(list(_samples_of_attempts(items)), lazy_episode_tokens("oracle"), lazy_episode_tokens("random"))


def item_samples(items: Iterable[TaskItem]) -> Samples:
    """Return the samples of items; a ladder of one level if the best of several attempts at an item counts."""
    items = iter(items)
    first = next(items, None)
    if first is None:
        return iter(())
    environment, options, _, attempts, drawn = first
    if environment.scoring.best_of:  # no task plays such an environment together with others
        items_of_level = [task_item.item for task_item in (first, *items)]
        return Ladder(environment, options, lambda: (0,), lambda level: items_of_level, attempts, drawn=drawn)
    return _samples_of_attempts(chain([first], items))


def _samples_of_attempts(items: Iterable[TaskItem]) -> Iterator[Sample]:
    """Yield a sample for each attempt at each item."""
    return (
        to_sample(environment, item, options, attempt, drawn=drawn)
        for environment, options, item, attempts, drawn in items
        for attempt in range(1, attempts + 1)
    )


def implied_samples(
    samples: Samples, player: str, find_record: Callable[[str], EpisodeRecord | None]
) -> Iterator[Sample]:
    """Yield the samples that a player plays in a task, given its results.

    This is the set that the engine plays, whatever the order in which episodes finish. `find_record` returns the record
    of a sample's id, or None; it is called after the sample was yielded.
    """
    if not isinstance(samples, AdaptiveSampleSource):
        yield from samples
        return
    state = samples.initial_state(player)
    remaining_samples = deque(samples.initial_samples())
    while remaining_samples:
        sample = remaining_samples.popleft()
        yield sample
        record = find_record(str(sample.id))
        if record is not None and record.end not in (None, End.INFRASTRUCTURE):
            remaining_samples += samples.samples_after(state, str(sample.id), record)


def register_task_by_name(entry: TaskEntry) -> None:
    """Register a task with Inspect by its name; its environments are loaded when it is created."""

    def create(**args: Any) -> Task:
        """Replace this function by the task's own, and create the task by that."""
        inspect_task_function(entry)
        return task_create(name, **args)

    name = registry_name(create, entry.name)
    registry_add(create, RegistryInfo(type="task", name=name, metadata={"attribs": {}, "params": []}))


def inspect_task_function(entry: TaskEntry) -> Callable[..., Task]:
    """Return a task's Inspect task function, whose signature has the task's parameters."""

    def run(**args: Any) -> Task:
        """Return the Inspect task for a task's parameters."""
        with one_line_errors():
            resolved = resolve_key(entry.resolve(args))
            version = max(registry.load(env_id).version for env_id in entry.envs)
            # Another version of the search would continue an unfinished one with other items.
            version += entry.horizon.revision + SEARCH_REVISION if entry.horizon is not None else 0
            agent = resolved[AGENT]
            if agent is not None and resolved[INTERFACE] == TOOLS:
                raise UsageError(f"agent={agent[:60]}: an agent writes its replies; leave out interface=tools")
            probe = resolved.get(PROBE)
            if probe is not None:
                _refuse_unfit_probe(entry, resolved, probe)
            settings = _comparison.get()
            samples = (
                task_samples(entry, resolved) if settings is None else comparison_source(entry, resolved, settings)
            )
            name = f"waybench/{entry.name}"
            dataset = samples if isinstance(samples, SampleSource) else MemoryDataset(list(samples), name=name)
            return inspect_task(dataset, version, agent, probe, entry)

    run.__name__ = run.__qualname__ = entry.name
    run.__doc__ = f"{entry.summary}.\n\nArgs:\n" + "\n".join(f"    {o.name}: {o.doc}" for o in entry.options)
    # The engine reads a task's parameters from its signature.
    run.__signature__ = Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [_signature_parameter(option) for option in entry.options], return_annotation=Task
    )
    registered = task(run)

    @wraps(registered)
    def run_hiding_key(**given: Any) -> Task:
        """Return the Inspect task, with private keys and files replaced in the parameters that logs have."""
        created = registered(**given)
        # The engine writes both mappings to the log, and finds the log of a task to resume by the first.
        for args in (registry_params(created), getattr(created, TASK_ALL_PARAMS_ATTR)):
            replace_private_key_by_label(args, entry)
            for extension in PLAY_EXTENSIONS:
                if extension.for_log is not None:
                    args.update(extension.for_log(registry.load(entry.envs[0]), args))
            if args.get(DIFFICULTY_INDEX) is not None:
                # Another content of the file is another task. The task can be repeated without the file.
                index = read_difficulty_index(args[DIFFICULTY_INDEX], registry.load(entry.envs[0]))
                args[DIFFICULTY_INDEX] = index.dumps()
            if (settings := _comparison.get()) is not None:
                args[STREAM] = settings.over  # another task than the one that plays all items
        return created

    # `inspect eval` finds it by its name.
    registry_add(run_hiding_key, registry_info(registered))
    return run_hiding_key


def _refuse_unfit_probe(entry: TaskEntry, resolved: Mapping[str, Any], probe: str) -> None:
    """Refuse belief probes that cannot be parsed, or that do not go with the other parameters."""
    parse_probe_plan(probe)
    if resolved[AGENT] is not None:
        raise UsageError(f"probe={probe[:60]}: an agent has a conversation of its own; leave out agent or probe")
    if is_file_name(str(resolved.get(WORDING))):
        raise UsageError(f"probe={probe[:60]}: nobody knows what your own template shows; choose another wording")
    if resolved.get(LANGUAGE, ENGLISH_NAME) != ENGLISH_NAME:
        raise UsageError(f"probe={probe[:60]}: its questions are in English; leave out probe or language")


def inspect_task(
    dataset: Dataset | SampleSource,
    version: int,
    agent: str | None = None,
    probe: str | None = None,
    entry: TaskEntry | None = None,
) -> Task:
    """Return an Inspect task of samples, played by the model, or by an agent or with belief probes if given.

    What a task entry says of itself is in its logs: the data set's name, a description, tags, and its environments.
    """
    description, tags, metadata = ("", [], {}) if entry is None else _log_description(entry)
    created = Task(
        dataset=dataset,
        solver=play() if agent is None and probe is None else play(agent, probe),
        sandbox=None if agent is None else agent_sandbox(agent),
        scorer=[episode(), solved()],
        version=version,
        # A failed sample does not lose the others: the run ends as unfinished and can be resumed.
        fail_on_error=True,
        continue_on_fail=True,
        score_on_error=True,  # so that the score says how many attempts it lacks
        headline_metric=HeadlineMetric(scorer=_EPISODE, metric="score"),
        viewer=_VIEWER,
        description=description or None,
        tags=tags or None,
        metadata=metadata or None,
    )
    if entry is not None and isinstance(dataset, SampleSource):
        # The engine's data set of a source has its first samples and no name.
        created.dataset = MemoryDataset(list(created.dataset), name=f"waybench/{entry.name}")
    return created


_EPISODE, _SOLVED = "episode", "solved"  # the scorers
_VIEWER = ViewerConfig(
    task_samples_view=TaskSamplesView(
        name="Episodes, the worst first",
        columns=[
            TaskSamplesColumn(id="sampleStatus"),
            TaskSamplesColumn(id="sampleId"),
            TaskSamplesColumn.score(_EPISODE),
            TaskSamplesColumn.score(_SOLVED),
            TaskSamplesColumn(id="answer"),
            TaskSamplesColumn(id="tokens"),
            *(TaskSamplesColumn(id=name, visible=False) for name in ("input", "target", "epoch")),
        ],
        sort=[TaskSamplesSort.score(_EPISODE)],
        multiline=False,
        score_labels={_EPISODE: "Score 0-100", _SOLVED: "Solved"},
        score_color_scales={_EPISODE: ScoreColorScale(palette="good-high", min=0, max=100)},
    )
)


def _log_description(entry: TaskEntry) -> tuple[str, list[str], dict[str, Any]]:
    """Return a task's description, tags and metadata for logs."""
    environments = [registry.load(env_id) for env_id in entry.envs]
    headline_metrics = {env.id: env.scoring.metrics[0] for env in environments}
    names = "; ".join(f"{metric.title} of {env_id}" for env_id, metric in headline_metrics.items())
    if entry.searches:
        about = "The score is the mean over the items that the search chose: it is no result; the horizon is."
    else:
        about = (
            f"The score is {names}, from 0 to 100, higher is better: 0 is the best player without a model and 100 the "
            "oracle, where their scores are stored with waybench; otherwise 0 is the worst value possible and 100 the "
            "best. Standard error and 95 % interval are over independent clusters of items."
        )
        about += "" if entry.climb is None else " It is over the levels that the model reached."
    metadata: dict[str, Any] = {
        "task": entry.name,  # which a file of the catalogue gives another name
        "environments": {env.id: env.version for env in environments},
        "headline": {env_id: metric.name for env_id, metric in headline_metrics.items()},
        "scale": [0, 100],
        **({"paper": paper} if (paper := paper_of_task(entry)) else {}),
    }
    return f"{entry.summary}. {about}", ["waybench", *entry.envs], {"waybench": metadata}


def _signature_parameter(option: Option) -> Parameter:
    """Return an option as a parameter of a function's signature."""
    kind = option.type | None if option.default is None else option.type | int if option.or_number else option.type
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=kind)

"""The items of a task, from the data set that its parameter `source` names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from waybench.core import (
    NOTHING,
    SHARD,
    Dataset,
    Environment,
    Episode,
    IsomorphicSource,
    Item,
    Json,
    Picture,
    PromptKinds,
    Source,
    UsageError,
    has_images,
)
from waybench.core._conversation import options_that_repeat_replies
from waybench.core._datasets import GENERATED
from waybench.core._designs import SHOWN
from waybench.core._errors import reraise_as_defect
from waybench.data import LocalFiles
from waybench.envs import registry
from waybench.evaluation.tasks._entry import (
    GENERATED_ITEMS,
    ISOMORPH,
    TaskEntry,
    TaskPart,
    environment_parameters,
    items_of_shard,
)


class TaskItem(NamedTuple):
    """An item of a task: options of play, most attempts, and the options with which it was drawn (`drawn`)."""

    environment: Environment[Any, Any, Any]
    options: Mapping[str, Json]
    item: Item[Any]
    attempts: int
    drawn: Mapping[str, Json] = NOTHING


def task_items(
    parts: Sequence[TaskPart], args: Mapping[str, Any], default_limit: int | None = None
) -> Iterable[TaskItem]:
    """Return the items of a task for its parameters, part by part, or those of its shard.

    Without the parameter `limit`, each part has `default_limit` generated items; None for the usual number.
    """
    return items_of_shard(_items_of_parts(parts, args, default_limit), args.get(SHARD))


def items_of_all_levels(task: TaskEntry, args: Mapping[str, Any]) -> Iterator[TaskItem]:
    """Yield the items of a task that does not search; for a ladder, those of all levels."""
    if task.climb is None:
        yield from task_items(task.parts, args)
        return
    limit = args["limit"] or task.climb.items
    for level in task.climb.levels(args):
        yield from task_items(task.parts, {**args, "level": level, "limit": limit})


def chosen_datasets(parts: Sequence[TaskPart], args: Mapping[str, Any]) -> list[Dataset]:
    """Return the data set that each part of a task takes its items from."""
    datasets: list[Dataset] = []
    for part in parts:
        environment = registry.load(part.env)
        datasets.append(_dataset_for(environment, _part_parameters(part, environment, args)))
    return datasets


def _items_of_parts(
    parts: Sequence[TaskPart], args: Mapping[str, Any], default_limit: int | None
) -> Iterator[TaskItem]:
    """Yield the items of a task's parts, as `task_items` without a shard."""
    for part in parts:
        environment = registry.load(part.env)
        parameters = _part_parameters(part, environment, args)
        options = _play_options(environment, parameters)
        with reraise_as_defect(environment.id):
            items, attempts = _items_and_attempts(environment, parameters, part.trials, default_limit)
        for item in items:
            yield TaskItem(
                environment,
                options,
                with_task_item_id(part, item),
                attempts,
                non_default_item_options(environment, args),
            )


def non_default_item_options(environment: Environment[Any, Any, Any], args: Mapping[str, Any]) -> dict[str, Json]:
    """Return the parameters that decide how items are drawn or shown, without those at their defaults."""
    defaults = {**dict.fromkeys(SHOWN), **{option.name: option.default for option in environment.items.options}}
    return {name: value for name, value in args.items() if name in defaults and value != defaults[name]}


def with_task_item_id(part: TaskPart, item: Item[Any]) -> Item[Any]:
    """Return an item with its id in a task."""
    return replace(item, id=part.item_id.format(id=item.id, index=item.index))


class EndlessPart(NamedTuple):
    """A part of a task whose items are drawn one by one, each independent of the others, as many as one likes."""

    part: TaskPart
    environment: Environment[Any, Any, Any]
    options: Mapping[str, Json]
    source: Source[Any]
    attempts: int

    def item(self, index: int) -> TaskItem:
        """Return the item with an index, from 0."""
        return TaskItem(
            self.environment, self.options, with_task_item_id(self.part, self.source.item(index)), self.attempts
        )


def endless_parts(parts: Sequence[TaskPart], args: Mapping[str, Any]) -> list[EndlessPart]:
    """Return the parts of a task if each can generate any number of independent items; otherwise none."""
    endless: list[EndlessPart] = []
    for part in parts:
        environment = registry.load(part.env)
        parameters = _part_parameters(part, environment, args)
        with reraise_as_defect(environment.id):
            dataset, source = open_source(environment, parameters)
        has_limit = any(option.name == "limit" for option in dataset.options)
        if dataset.name != GENERATED or has_limit or source.space is not None or environment.items.cluster is not None:
            return []
        endless.append(
            EndlessPart(part, environment, _play_options(environment, parameters), source, parameters["attempts"])
        )
    return endless


def prompt_kinds(parts: Sequence[TaskPart], args: Mapping[str, Any]) -> PromptKinds:
    """Return which kinds of prompts the parts of a task send: pictures, tools, system messages."""
    kinds = PromptKinds()
    for part in parts:
        environment = registry.load(part.env)
        options = _play_options(environment, _part_parameters(part, environment, args))
        wording = environment.play_with(options).wording
        picture: Picture | None = None
        if kinds.picture is None and has_images(options):
            picture = Episode(environment, environment.source().item(0), options).messages[-1].picture
        notes = () if wording.repeats_replies else _history_notes(environment, options)
        kinds |= PromptKinds(picture, wording.acts_by_tools, wording.rules_role == "system", notes=notes)
    return kinds


def _history_notes(environment: Environment[Any, Any, Any], options: Mapping[str, Json]) -> tuple[str, ...]:
    """Return a note if prompts do not repeat the model's earlier replies, though an episode has several."""
    repeating_options = options_that_repeat_replies(environment, options)
    if repeating_options is None:
        return ()
    advice = f"-T {' or '.join(repeating_options)} repeats them" if repeating_options else "no option of it does"
    return (
        f"{environment.id}: with these options a prompt does not repeat the model's replies of earlier steps as they "
        f"came, and so none of their reasoning; {advice} (docs/howto/reasoning.md)",
    )


def check_programs(parts: Sequence[TaskPart], args: Mapping[str, Any]) -> None:
    """Raise a UsageError if a program that a task's parameters name is not installed."""
    for part in parts:
        environment = registry.load(part.env)
        parameters = _part_parameters(part, environment, args)
        for program in environment.playing.programs:
            if program.name in parameters.values() and program.find() is None:
                raise UsageError(f"{program.name} is not installed here: {program.advice}")


def _part_parameters(
    part: TaskPart, environment: Environment[Any, Any, Any], args: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all parameters of a part's environment, for a task's parameters."""
    options = environment_parameters(environment)
    parameters = {name: option.default for name, option in options.items()}
    parameters |= {name: value for name, value in args.items() if name in options}
    return {**parameters, **part.fixed, **part.further_parameters(args)}


def _play_options(environment: Environment[Any, Any, Any], parameters: Mapping[str, Any]) -> dict[str, Json]:
    """Return an environment's resolved options of play, out of all parameters."""
    return environment.resolve_options({option.name: parameters[option.name] for option in environment.play_options})


def _items_and_attempts(
    environment: Environment[Any, Any, Any], args: Mapping[str, Any], trials: int | None, default_limit: int | None
) -> tuple[Sequence[Item[Any]], int]:
    """Return the items of an environment's default task, and the number of attempts at each.

    If `trials` are asked for and there is only one item, it is attempted as often.
    """
    dataset, source = open_source(environment, args)
    if source.space is not None and any(option.name == "limit" for option in dataset.options):
        return source.head(source.space), args["attempts"]
    n_wanted = args["limit"] or (default_limit if dataset.name == GENERATED else None) or trials
    if n_wanted is None:
        n_wanted = GENERATED_ITEMS if dataset.name == GENERATED or source.space is None else source.space
    n_items = n_wanted if source.space is None else min(n_wanted, source.space)
    is_repeated = trials and source.space == 1
    return source.head(n_items), args["attempts"] * (n_wanted if is_repeated else 1)


def open_source(environment: Environment[Any, Any, Any], args: Mapping[str, Any]) -> tuple[Dataset, Source[Any]]:
    """Return the data set that the parameter `source` names, and the source of its items."""
    dataset = _dataset_for(environment, args)
    source = dataset.open(args, LocalFiles(args.get("data_dir")))
    if args["key"] is not None and "key" in _dataset_parameters(environment, dataset):
        source = environment.items.mark_private(source, args["key"])
    return dataset, isomorphic_source(environment, source, args.get(ISOMORPH.name, 0))


def isomorphic_source(environment: Environment[Any, Any, Any], source: Source[Any], number: int) -> Source[Any]:
    """Return a source's isomorphic set of a number; the source itself for 0."""
    if not number or environment.items.isomorph is None:
        return source
    return IsomorphicSource(source, environment.items.isomorph, environment.items.prove, number)


def _dataset_for(environment: Environment[Any, Any, Any], args: Mapping[str, Any]) -> Dataset:
    """Return the data set that the parameter `source` names; refuse parameters of other data sets."""
    by_name = {dataset.name: dataset for dataset in environment.all_datasets}
    dataset = by_name.get(args["source"], by_name["file"])
    refused: dict[tuple[str, ...], list[str]] = {}  # names of data sets -> parameters that only they take
    for parameter, option in environment_parameters(environment).items():
        takers = tuple(name for name in by_name if parameter in _dataset_parameters(environment, by_name[name]))
        if takers and dataset.name not in takers and args[parameter] not in (option.default, None):
            refused.setdefault(takers, []).append(parameter)
    if refused:
        takers, parameters = next(iter(refused.items()))
        text = _refusal_text(takers, dataset.name, by_name[takers[0]].items)
        raise UsageError(f"{', '.join(parameters)}: only for {text}")
    return dataset


def _refusal_text(takers: tuple[str, ...], chosen_name: str, items: str) -> str:
    """Return which data sets take a refused parameter, and what to do; `items` is their word for items."""
    if takers == ("generated",):
        return f"generated {items}; remove it, or remove source"
    if takers == ("published",):
        advice = "add source=published, or remove it" if chosen_name == "generated" else "remove it"
        return f"published {items}; {advice}"
    return f"published {items} or your own; remove it, or add source"


def _dataset_parameters(environment: Environment[Any, Any, Any], dataset: Dataset) -> set[str]:
    """Return the names of the parameters that a data set takes."""
    item_parameters = {"key", "level", *(option.name for option in environment.items.options)}
    return {
        *(option.name for option in dataset.options),
        *dataset.shared,
        *(item_parameters if dataset.name == "generated" else ()),
    }

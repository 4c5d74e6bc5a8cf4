"""The items that `play` and `generate` take: of an environment by key and level, or as a task chooses them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from waybench.cli._options import ItemSettings
from waybench.cli._parameters import assignments
from waybench.core import Environment, Item, Json, Source, UsageError, read_key, resolve
from waybench.evaluation.tasks import (
    TaskEntry,
    all_tasks,
    environment_names,
    find_task,
    resolve_environment,
    resolve_key,
    task_items,
)
from waybench.ext.train import SplitSource


class ItemChoice(NamedTuple):
    """What a command plays.

    Attributes:
        task: The task's name, as in the logs of `waybench run`.
        environment: The environment of the item.
        options: Options of play.
        item: The item.
        settings: How the item was generated, for the record; nothing that is a default.
    """

    task: str
    environment: Environment[Any, Any, Any]
    options: Mapping[str, Json]
    item: Item[Any]
    settings: Mapping[str, Json]


class ItemChoices:
    """The items of a task or an environment, as the options of a command choose them.

    Args:
        name: An environment, its family or a task.
        settings: Which of its items.
        split: The split whose items are meant; all items if None.
        protocol: The protocol for which that source generates items; the one that is played if None.

    Attributes:
        task: The task.
        play_options: The options of play that are given for an environment; parameters of a task are not among them.

    Raises:
        UsageError: If a name or a value is unfit.
    """

    def __init__(
        self,
        name: str,
        settings: ItemSettings,
        protocol: str | None = None,
        split: str | None = None,
    ) -> None:
        of_play, of_source = _environment_options(name, settings.parameters)
        if of_play or of_source:
            options, source_options = (*settings.options, *of_play), (*settings.settings, *of_source)
            settings = replace(settings, options=options, settings=source_options, parameters=())
        if settings.parameters:
            if split is not None:
                raise UsageError("--split divides the items of a key and level: leave the task's parameters out")
            self.task = _task(name)
            self.play_options: tuple[str, ...] = ()
            given = _given(self.task, settings)
            self._played = list(task_items(self.task.parts, given))
            self._source: Source[Any] | None = None
            self._settings: Mapping[str, Json] = given
        else:
            environment = resolve_environment(name)
            self.task = _task(name)
            self._environment = environment
            given = assignments(settings.options, "-O")
            self.play_options = tuple(given)
            self._options = environment.resolve_options(given)
            played = str(self._options["protocol"]) if protocol is None else protocol
            self._source = _source(environment, settings, played)
            if split is not None:
                self._source = SplitSource(self._source, split)
            self._settings = {
                **{option.name: option.default for option in environment.items.options},
                **resolve(environment.items.options, assignments(settings.settings, "-S"), "source option"),
            }

    @property
    def is_list(self) -> bool:
        """Whether there are no more items than `space`; a source repeats them instead."""
        return self._source is None

    @property
    def space(self) -> int | None:
        """The number of different items, where that is known."""
        return len(self._played) if self._source is None else self._source.space

    def choose(self, index: int) -> ItemChoice:
        """Return the item of a number.

        Raises:
            UsageError: If there is none.
        """
        if self._source is not None:
            return self._choice(self._environment, self._options, self._source.item(index))
        if index >= len(self._played):
            raise UsageError(
                f"item {index}: these parameters of {self.task.name} give {len(self._played)}, from 0; choose a "
                "smaller number or change -T limit"
            )
        chosen = self._played[index]
        return self._choice(chosen.environment, chosen.options, chosen.item)

    def _choice(
        self, environment: Environment[Any, Any, Any], options: Mapping[str, Json], item: Item[Any]
    ) -> ItemChoice:
        own = {option.name: option.default for option in environment.items.options}
        settings = {name: value for name, value in self._settings.items() if name in own and value is not None}
        return ItemChoice(self.task.name, environment, options, item, settings)


def _source(environment: Environment[Any, Any, Any], settings: ItemSettings, protocol: str) -> Source[Any]:
    """Return the source of the items that are to be played in a protocol."""
    reference = settings.key_reference
    key = environment.items.public_key if reference is None else read_key(reference)
    source = environment.items.make_source(
        key,
        environment.items.smallest_level if settings.level is None else settings.level,
        environment.items.options_for(
            protocol, resolve(environment.items.options, assignments(settings.settings, "-S"), "source option")
        ),
    )
    return environment.items.marked(source, key)


def _task(name: str) -> TaskEntry:
    """Return the task of a name: of an environment, the one that plays it alone and fixes nothing."""
    plain = name.removeprefix("waybench/").partition("@")[0]
    env_id = environment_names().get(plain)
    if env_id is None:
        return find_task(plain)
    alone = [task for task in all_tasks() if task.envs == (env_id,) and not task.searches]
    return next((task for task in alone if not any(part.fixed for part in task.parts)), None) or find_task(env_id)


def _environment_options(name: str, parameters: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the texts of -T that are options of play, and those that are options of the source.

    Both are empty if the name is a task's, or a parameter is one that only tasks have, such as `source`: these choose
    the items.
    """
    given = assignments(parameters, "-T", "key=value")
    if not given or name.removeprefix("waybench/").partition("@")[0] not in environment_names():
        return [], []
    environment = resolve_environment(name)
    of_play = {option.name for option in environment.play_options}
    of_source = {option.name for option in environment.items.options}
    if not given.keys() <= of_play | of_source:
        return [], []
    texts = [f"{key}={value}" for key, value in given.items()]
    return (
        [text for text in texts if text.partition("=")[0] in of_play],
        [text for text in texts if text.partition("=")[0] not in of_play],
    )


def _given(task: TaskEntry, settings: ItemSettings) -> Mapping[str, Any]:
    """Return the task's parameters, checked; what -O, -S, --key and --level name are parameters, too."""
    level = settings.level
    given = {**assignments(settings.options, "-O"), **assignments(settings.settings, "-S")}
    given |= {name: value for name, value in (("key", settings.key_reference), ("level", level)) if value is not None}
    given |= assignments(settings.parameters, "-T", "key=value")
    if task.searches:
        raise UsageError(f"{task.name} chooses its items while it runs: name one of {', '.join(task.envs)}")
    if task.climb is not None and level is not None:  # of all its levels, the one that is asked for
        del given["level"]
    checked = resolve_key(task.resolve(given))
    if task.climb is not None:
        checked["level"] = checked[task.climb.first] if level is None else level
    return checked

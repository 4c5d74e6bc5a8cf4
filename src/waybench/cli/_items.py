"""The items that `play` and `generate` take: of an environment by key and level, or as a task chooses them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from waybench.cli._choice import assignments, source_of
from waybench.core import Environment, Item, Json, Source, UsageError, resolve
from waybench.tasks import (
    TaskEntry,
    all_tasks,
    environment_names,
    find_task,
    played_items,
    resolve_environment,
    with_key,
)


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
        key: The set's key, or where it is; None if not given.
        level: The level; None if not given.
        source_options: Texts of -S.
        options: Texts of -O.
        parameters: Texts of -T, the task's parameters. Without any, the items are those of the environment's source.
        protocol: The protocol for which that source generates items; the one that is played if None.

    Raises:
        UsageError: If a name or a value is unfit.
    """

    def __init__(
        self,
        name: str,
        key: str | None,
        level: int | None,
        source_options: Sequence[str],
        options: Sequence[str],
        parameters: Sequence[str],
        protocol: str | None = None,
    ) -> None:
        if parameters:
            self.task = _task(name)
            given = _given(self.task, key, level, source_options, options, parameters)
            self._played = played_items(self.task, given)
            self._source: Source[Any] | None = None
            self._settings: Mapping[str, Json] = given
        else:
            environment = resolve_environment(name)
            self.task = _task(name)
            self._environment = environment
            self._options = environment.resolve_options(assignments(options, "-O"))
            played = str(self._options["protocol"]) if protocol is None else protocol
            self._source = source_of(environment, key, level, source_options, played)
            self._settings = {
                **{option.name: option.default for option in environment.source_options},
                **resolve(environment.source_options, assignments(source_options, "-S"), "source option"),
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
        own = {option.name: option.default for option in environment.source_options}
        settings = {name: value for name, value in self._settings.items() if name in own and value is not None}
        return ItemChoice(self.task.name, environment, options, item, settings)


def _task(name: str) -> TaskEntry:
    """Return the task of a name: of an environment, the one that plays it alone and fixes nothing."""
    plain = name.removeprefix("waybench/").partition("@")[0]
    env_id = environment_names().get(plain)
    if env_id is None:
        return find_task(plain)
    alone = [task for task in all_tasks() if task.envs == (env_id,) and task.horizon is None]
    return next((task for task in alone if not any(part.fixed for part in task.parts)), None) or find_task(env_id)


def _given(
    task: TaskEntry,
    key: str | None,
    level: int | None,
    source_options: Sequence[str],
    options: Sequence[str],
    parameters: Sequence[str],
) -> Mapping[str, Any]:
    """Return the task's parameters, checked; what -O, -S, --key and --level name are parameters, too."""
    given = {**assignments(options, "-O"), **assignments(source_options, "-S")}
    given |= {name: value for name, value in (("key", key), ("level", level)) if value is not None}
    given |= assignments(parameters, "-T")
    if task.horizon is not None:
        raise UsageError(f"{task.name} chooses its items while it runs: name one of {', '.join(task.envs)}")
    checked = with_key(resolve(task.options, given, f"parameter of {task.name}"))
    if task.climb is not None:  # the first of its levels
        checked["level"] = checked[task.climb.first]
    return checked

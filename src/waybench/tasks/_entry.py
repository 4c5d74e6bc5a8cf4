"""Task entries: the data that a task is built from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from waybench.core import HorizonSpec, Json, Option, resolve
from waybench.envs import registry
from waybench.tasks._shard import SHARD_OPTION


def no_parameters(given: Mapping[str, Any]) -> Mapping[str, Json]:
    """Return no further parameters."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One environment of a task, with the parameters that the task fixes.

    Attributes:
        env: The environment's id.
        fixed: Fixed values of its parameters.
        follows: Function from the task's parameters to further parameters of the environment.
        trials: Number of episodes if the user gives no `limit`; None for the environment's own number.
        item_id: Format of an item's id in the task, with the fields "id" and "index" of the item.
    """

    env: str
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    follows: Callable[[Mapping[str, Any]], Mapping[str, Json]] = no_parameters
    trials: int | None = None
    item_id: str = "{id}"


@dataclass(frozen=True, slots=True)
class Climb:
    """The levels of a ladder, which goes on to the next level if any item of this one was solved.

    Attributes:
        first: Name of the parameter that has the first level.
        last: Name of the parameter that has the last level.
        step: Difference between a level and the next.
        items: Number of generated items per level if `limit` is not given.
    """

    first: str
    last: str
    step: int
    items: int


@dataclass(frozen=True, kw_only=True)
class TaskEntry:
    """A task: its name, its parameters, and the environments that it plays, whose code is loaded for its parameters.

    Attributes:
        name: Name on the command line.
        summary: One line for listings.
        declare: Returns its parameters.
        parts: Its environments.
        climb: The levels of a ladder; a ladder has one part.
        searches: Whether it searches for the horizon of its one environment.
    """

    name: str
    summary: str
    declare: Callable[[], tuple[Option, ...]]
    parts: tuple[Part, ...]
    climb: Climb | None = None
    searches: bool = False

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Its parameters."""
        return self.declare() if self.is_adaptive else (*self.declare(), SHARD_OPTION)

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all of its parameters: those that are given, checked, and the defaults of the others.

        Raises:
            UsageError: For an unknown parameter or an unfit value.
        """
        return resolve(self.options, given, f"parameter of {self.name}")

    @property
    def is_adaptive(self) -> bool:
        """Whether results decide which items follow, as in ladders and searches."""
        return self.climb is not None or self.searches

    @property
    def horizon(self) -> HorizonSpec | None:
        """The levels of a search for a horizon; None for other tasks."""
        return registry.load(self.parts[0].env).difficulty.horizon if self.searches else None

    @property
    def envs(self) -> tuple[str, ...]:
        """Ids of its environments, each once."""
        return tuple(dict.fromkeys(part.env for part in self.parts))

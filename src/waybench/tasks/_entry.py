"""A line of the list of tasks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from waybench.core import HorizonSpec, Json, Option


def nothing(given: Mapping[str, Any]) -> Mapping[str, Json]:
    """Return no parameter."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An environment as a task plays it.

    Attributes:
        env: The environment's id.
        fixed: Its parameters that the task fixes.
        follows: Parameters of the task -> further parameters of the environment.
        trials: Episodes if the user gives no `limit`; of an environment's own number if None.
        item_id: Form of an item's name in the task; "id" and "index" are the item's.
    """

    env: str
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    follows: Callable[[Mapping[str, Any]], Mapping[str, Json]] = nothing
    trials: int | None = None
    item_id: str = "{id}"


@dataclass(frozen=True, slots=True)
class Climb:
    """The levels of a task that goes on to the next one if the player has reached this one.

    Attributes:
        first: The parameter that names the first level.
        last: The parameter that names the last one.
        step: How far it is to the next level.
        items: How many generated items of each level are played if the task's `limit` is not given.
    """

    first: str
    last: str
    step: int
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEntry:
    """One line of the list of tasks.

    Attributes:
        name: What the user types.
        summary: One line for listings.
        options: Its parameters.
        parts: What it plays.
        climb: Its levels, if it goes from one to the next; its only part is then played by generated items.
        horizon: What the search is, if it searches for a horizon.
    """

    name: str
    summary: str
    options: tuple[Option, ...]
    parts: tuple[Part, ...]
    climb: Climb | None = None
    horizon: HorizonSpec | None = None

    @property
    def envs(self) -> tuple[str, ...]:
        """The environments that it plays."""
        return tuple(dict.fromkeys(part.env for part in self.parts))

"""The rules of a game of single steps, which the agent protocol wraps."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from waybench.core import NOTHING, End, Field, Json, Outcome, Stream

I = TypeVar("I")  # noqa: E741  the instance
W = TypeVar("W")  # the world: frozen and hashable


class Step(NamedTuple, Generic[W]):
    """The effect of an action.

    Attributes:
        world: The world afterwards. It remembers the last action as far as the observation tells of it.
        reward: The step's reward.
        events: Further events, as JSON values.
        outcome: OK, ILLEGAL or UNPRODUCTIVE.
    """

    world: W
    reward: float = 0.0
    events: Mapping[str, Json] = NOTHING
    outcome: Outcome = Outcome.OK


class Rules(ABC, Generic[I, W]):
    """A game of single steps: its rules and its words, with no question, no history and no limit in them.

    Args:
        published: Whether it is the published game, defects included; otherwise that of `sound`.

    Attributes:
        deterministic: Whether `step` ignores its random stream.
        lists_actions: Whether the list of actions follows the manual.
        manual_fields: Pieces of the manual that templates can name and pictures can take the place of.
        scene_fields: Pieces of the description of a world, likewise.
    """

    deterministic: bool = True
    lists_actions: bool = True
    manual_fields: Sequence[Field[I]] = ()
    scene_fields: Sequence[Field[W]] = ()

    def __init__(self, *, published: bool) -> None:
        self._published = published

    @abstractmethod
    def begin(self, instance: I) -> W:
        """Return the world at the start."""

    def before(self, world: W) -> Sequence[str]:
        """Return the observations before the start, the oldest first, where the history begins with them."""
        return ()

    @abstractmethod
    def actions(self, instance: I) -> Sequence[str]:
        """Return the names of all actions, in the order in which the manual lists them."""

    def legal(self, world: W) -> Sequence[int] | None:
        """Return the numbers of the actions that are no mistake in this world; None if all are."""
        return None

    @abstractmethod
    def step(self, world: W, action: int, rng: Stream) -> Step[W]:
        """Carry out an action by its number; never changes the world that it is given."""

    def over(self, world: W) -> End | None:
        """Return SOLVED or FAILED if the game is over by its own rules; by default it never is."""
        return None

    @abstractmethod
    def score(self, world: W) -> float:
        """Return the score so far, as the benchmark defines it for this game."""

    @abstractmethod
    def manual(self, instance: I) -> str:
        """Return the manual, without the list of actions."""

    @abstractmethod
    def observe(self, world: W) -> str:
        """Return the description of a world and of the action that led to it."""

"""The rules of an environment: games, transitions and the outcomes of turns and episodes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from waybench.core._random import Stream

Json = Any  # what the json module reads and writes

I = TypeVar("I")  # noqa: E741  an environment's instance
S = TypeVar("S")  # its state
A = TypeVar("A")  # its action

NOTHING: Mapping[str, Json] = MappingProxyType({})


def evenly_chosen(values: Sequence[A], most: int) -> list[A]:
    """Return at most so many values of a sequence, evenly spaced from the first one; all of them if there are few.

    The sequence is not copied: a game's legal actions can be a `range` of more numbers than fit in memory.

    Args:
        values: The sequence.
        most: The number, at least 1.
    """
    return [values[at] for at in range(0, len(values), max(1, -(-len(values) // most)))]


class Outcome(StrEnum):
    """The outcome of one turn; each turn has exactly one."""

    OK = "ok"
    UNPARSED = "unparsed"
    ILLEGAL = "illegal"
    UNPRODUCTIVE = "unproductive"
    TRUNCATED = "truncated"
    OVERFLOW = "overflow"
    REFUSED = "refused"


class End(StrEnum):
    """How an episode ended; `INFRASTRUCTURE` is never the player's failure."""

    SOLVED = "solved"
    FAILED = "failed"
    TURN_LIMIT = "turn_limit"
    INVALID_LIMIT = "invalid_limit"
    INFRASTRUCTURE = "infrastructure_error"


class Transition(NamedTuple, Generic[S]):
    """The effect of an action.

    Attributes:
        state: The state afterwards.
        reward: The reward of this step, within the game's `Facts.reward`.
        events: What happened, as JSON values; metrics and wordings read it.
        outcome: OK, ILLEGAL or UNPRODUCTIVE; UNPARSED where the reply named no action, for which a published protocol
            prescribes one.
    """

    state: S
    reward: float = 0.0
    events: Mapping[str, Json] = NOTHING
    outcome: Outcome = Outcome.OK


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts that a game declares; the contract tests check them.

    Attributes:
        deterministic: Whether `apply` ignores its random stream.
        turns: The longest episode under default limits, in turns; None if unbounded.
        reward: Smallest and largest sum of rewards of one episode.
    """

    deterministic: bool
    turns: int | None
    reward: tuple[float, float] = (0.0, 1.0)


class Game(ABC, Generic[I, S, A]):
    """The rules, with no text, no model and no input or output in them.

    States are frozen, slotted and hashable, and `apply` never changes its input; that gives replay, exhaustive
    oracles, forks and property tests for nothing.
    """

    facts: Facts

    @abstractmethod
    def start(self, instance: I) -> S:
        """Return the first state of an instance."""

    @abstractmethod
    def legal(self, state: S) -> Sequence[A]:
        """Return the elementary legal actions, in a fixed order; empty exactly if the state is terminal.

        Where an action is a plan of several moves, these are the plans of one move; `apply` takes longer ones too.
        Where there are very many, the sequence makes them on demand, as `range` does: callers take its
        length and single elements (`evenly_chosen`), and never list all.
        """

    @abstractmethod
    def apply(self, state: S, action: A, rng: Stream) -> Transition[S]:
        """Carry out an action; an illegal one gives a transition with outcome ILLEGAL, never an exception."""

    @abstractmethod
    def terminal(self, state: S) -> End | None:
        """Return SOLVED or FAILED if the game is over in this state, otherwise None."""

    @abstractmethod
    def encode(self, action: A) -> Json:
        """Return an action as a JSON value."""

    @abstractmethod
    def decode(self, action: Json) -> A:
        """Return the action that `encode` wrote.

        Raises:
            DataError: If it wrote no such thing.
        """

    def forfeit(self, state: S) -> S:
        """Return the state after a reply that was not carried out; by default nothing happens."""
        return state

    def cut(self, action: A, steps: int) -> tuple[A, int]:
        """Return the first steps of an action, and their number, for a prefix that ends within a plan.

        By default an action is one step. A game whose actions are plans cuts them where the first part of a plan and
        then the rest, each as a plan, have the same effect as the whole.

        Args:
            action: The action.
            steps: Most steps, at least 1.
        """
        return action, 1

    def perturb(self, state: S, action: A, rate: float, rng: Stream) -> A:
        """Spoil an action with a given rate of error, for a `NoisyPolicy`.

        By default the whole action is replaced by a random legal one with probability `rate`; a game whose actions
        are plans spoils each move with that probability.
        """
        return rng.choice(self.legal(state)) if rng.random() < rate else action


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an episode, and the cost of an invalid reply.

    Attributes:
        turns: Most turns of an episode; invalid replies count where `invalid` is "turn".
        invalid: "turn": an invalid reply uses up its turn; "retry": it is forgiven, up to `retries` in a row, and
            costs no turn; "end": it ends the episode.
        retries: Invalid replies in a row that "retry" forgives; one more ends the episode.
        illegal: Whether an illegal action costs what an invalid reply does; by default it is a turn like any other.
    """

    turns: int
    invalid: str = "turn"
    retries: int = field(default=0)
    illegal: bool = False

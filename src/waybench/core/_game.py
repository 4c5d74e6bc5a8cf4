"""The rules of an environment, and the random numbers by key that games and items draw."""

import hashlib
import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

Json = Any  # what the json module reads and writes
I = TypeVar("I")  # noqa: E741  an environment's instance
S = TypeVar("S")  # its state
A = TypeVar("A")  # its action
T = TypeVar("T")

NOTHING: Mapping[str, Json] = MappingProxyType({})
_WORDS_OF_BLOCK = 8  # 64-bit words in one SHA-512 block
_BLOCK = struct.Struct(f"<{_WORDS_OF_BLOCK}Q")
_MANY_ITEMS = 32  # with more, a shuffle is faster if its words are drawn at once
_WORD_RANGE = 1 << 64
# Fast path of `below`: a word below `_UNBIASED_LIMIT` can be reduced modulo any n up to `_SMALL_RANGE`. Higher words,
# one in 2**32, take the exact test of `_below_any_limit`, which for n favours no remainder.
_SMALL_RANGE = 1 << 32
_UNBIASED_LIMIT = _WORD_RANGE - _SMALL_RANGE


class Stream:
    """A stream of random numbers that a key determines.

    The k-th block of the stream is SHA-512(SHA-512(key) || k), read as eight big-endian 64-bit words. Python's `random`
    is not used, since its sampling methods may change between versions. Streams of neighbouring keys have nothing in
    common, unlike those of neighbouring seeds ("seed + index").

    Args:
        *key: Strings and integers; their types and boundaries are part of the key.
    """

    __slots__ = ("_block", "_key", "_parent", "_parts", "_text", "_words")

    def __init__(self, *key: str | int) -> None:
        self._parts = key
        self._parent: Stream | None = None
        self._text = ""
        # Number of the next block; -1 before the key's digest is known, which is not computed before the first number
        # is drawn: most streams of a game are never read.
        self._block = -1
        self._words: list[int] = []  # drawn and not yet used, the next one last

    def child(self, *more: str | int) -> "Stream":
        """Return the stream whose key extends this one's key by `more` parts."""
        stream = Stream(*more)
        stream._parent = self
        return stream

    def _key_as_text(self) -> str:
        """Return the key with those of its parents as one unambiguous text."""
        if not self._text:
            text = self._parent._key_as_text() if self._parent is not None else ""
            for part in self._parts:
                text += _key_part_text(part)
            self._text = text
        return self._text

    def key_digest(self) -> bytes:
        """Return the SHA-512 of the key, from which all blocks of the stream follow."""
        return hashlib.sha512(self._key_as_text().encode("utf-8", "surrogatepass")).digest()

    def _draw_block(self) -> int:
        """Draw a block of eight random words and return the first."""
        if self._block < 0:
            self._key, self._block = self.key_digest(), 0
        digest = hashlib.sha512(self._key + self._block.to_bytes(8, "big")).digest()
        self._block += 1
        words = self._words
        words.extend(_BLOCK.unpack(digest[::-1]))  # little-endian words of the reversed digest: the first word last
        return words.pop()

    def _draw_blocks(self, count: int) -> None:
        """Draw all blocks for `count` words at once, in two thirds of the time of single draws."""
        if self._block < 0:
            self._words.append(self._draw_block())
        key, first, words = self._key, self._block, self._words
        n_blocks = max(0, math.ceil((count - len(words)) / _WORDS_OF_BLOCK))
        self._block = end = first + n_blocks
        digests = b"".join([hashlib.sha512(key + block.to_bytes(8, "big")).digest() for block in range(first, end)])
        words[:0] = struct.unpack(f"<{_WORDS_OF_BLOCK * n_blocks}Q", digests[::-1])

    def word(self) -> int:
        """Return the next 64 random bits as an integer in [0, 2**64)."""
        return self._words.pop() if self._words else self._draw_block()

    def below(self, n: int) -> int:
        """Return a uniform integer in [0, n); raise a ValueError if n < 1."""
        if 0 < n <= _SMALL_RANGE:
            value = self._words.pop() if self._words else self._draw_block()
            if value < _UNBIASED_LIMIT:
                return value % n
            self._words.append(value)  # put back for the exact test
        if n < 1:
            raise ValueError(f"below({n}): n must be at least 1")
        return self._below_any_limit(n)

    def _below_any_limit(self, n: int) -> int:
        """Return a uniform integer in [0, n), from as many words as n needs."""
        n_words = 1 if n < _WORD_RANGE else (n.bit_length() + 63) // 64
        limit = (1 << 64 * n_words) // n * n  # values from here on would favour the small remainders
        while True:
            value = 0
            for _ in range(n_words):
                value = value << 64 | self.word()
            if value < limit:
                return value % n

    def random(self) -> float:
        """Return a uniform float in [0, 1) with 53 random bits."""
        # The word is taken here and not by `word`, which would be a slow call in each step of games of chance.
        return ((self._words.pop() if self._words else self._draw_block()) >> 11) * 2.0**-53

    def choice(self, items: Sequence[T]) -> T:
        """Return one item, each with equal probability."""
        return items[self.below(len(items))]

    def distinct(self, total: int, count: int) -> list[int]:
        """Return up to `count` distinct integers in [0, total), in random order."""
        # A Fisher-Yates shuffle of range(total), of which only numbers that were moved are stored.
        moved: dict[int, int] = {}  # position -> number there
        numbers: list[int] = []
        for position in range(min(total, count)):
            chosen_position = position + self.below(total - position)
            numbers.append(moved.get(chosen_position, chosen_position))
            moved[chosen_position] = moved.pop(position, position)
        return numbers

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Put the items into a uniformly random order, in place (Fisher-Yates)."""
        if len(items) > _MANY_ITEMS:
            self._draw_blocks(len(items) - 1)
        words = self._words
        for i in range(len(items) - 1, 0, -1):
            value = words.pop() if words else self._draw_block()  # as in `below`, without a call
            if value < _UNBIASED_LIMIT:
                j = value % (i + 1)
            else:
                words.append(value)
                j = self._below_any_limit(i + 1)
            items[i], items[j] = items[j], items[i]


@lru_cache(maxsize=1024)  # the names of purposes and the numbers of turns and items come again and again
def _key_part_text(part: str | int) -> str:
    """Return a part of a key as text with its type and length, so that keys are unambiguous."""
    return f"{'s' if isinstance(part, str) else 'i'}{len(str(part))}:{part}"


def evenly_spaced_values(values: Sequence[A], max_values: int) -> list[A]:
    """Return at most `max_values` (at least 1) values of a sequence, evenly spaced from the first one.

    The sequence is not copied: a game's legal actions can be a `range` of more numbers than fit in memory.
    """
    stride = max(1, -(-len(values) // max_values))  # rounded up, in exact integers
    return [values[index] for index in range(0, len(values), stride)]


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
        reward: The reward of this step, within the game's `GameProperties.reward`.
        events: What happened, as JSON values; metrics and wordings read it.
        outcome: OK, ILLEGAL or UNPRODUCTIVE. UNPARSED for an action that a published protocol carries out in place of a
            reply that names none.
    """

    state: S
    reward: float = 0.0
    events: Mapping[str, Json] = NOTHING
    outcome: Outcome = Outcome.OK


@dataclass(frozen=True, slots=True)
class GameProperties:
    """Properties that a game declares; the contract tests check them.

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

    States are frozen, slotted and hashable, and `apply` never changes its input. Therefore records can be replayed,
    oracles can search, and episodes can be forked, without further code.
    """

    properties: GameProperties

    @abstractmethod
    def start(self, instance: I) -> S:
        """Return the first state of an instance."""

    @abstractmethod
    def legal(self, state: S) -> Sequence[A]:
        """Return the elementary legal actions, in a fixed order; empty exactly if the state is terminal.

        Where an action is a plan of several moves, these are the plans of one move; `apply` takes longer plans, too.
        Very many actions are made on demand, as by `range`: callers use the sequence's length and single elements
        (`evenly_spaced_values`), and never list all actions.
        """

    @abstractmethod
    def apply(self, state: S, action: A, rng: Stream) -> Transition[S]:
        """Return the effect of an action; for an illegal one a transition with outcome ILLEGAL, never an exception."""

    @abstractmethod
    def terminal(self, state: S) -> End | None:
        """Return SOLVED or FAILED if the game is over in this state, otherwise None."""

    @abstractmethod
    def encode(self, action: A) -> Json:
        """Return an action as a JSON value."""

    @abstractmethod
    def decode(self, action: Json) -> A:
        """Return the action that `encode` wrote; raise a DataError for anything else."""

    def forfeit(self, state: S) -> S:
        """Return the state after a reply that was not carried out; by default the same state."""
        return state

    def cut(self, action: A, steps: int) -> tuple[A, int]:
        """Return the first steps of an action, at most `steps`, and their number, for a prefix that ends within a plan.

        By default an action is one step. A game whose actions are plans cuts a plan where its first part and then its
        rest, carried out as two plans, have the same effect as the whole plan.
        """
        return action, 1

    def perturb(self, state: S, action: A, rate: float, rng: Stream) -> A:
        """Return an action with errors at a given rate, for a `NoisyPolicy`.

        By default the whole action is replaced by a random legal action with probability `rate`; a game whose actions
        are plans changes each move with that probability.
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
        illegal: Whether an illegal action has the cost of an invalid reply; by default it is a turn like any other.
    """

    turns: int
    invalid: str = "turn"
    retries: int = field(default=0)
    illegal: bool = False

"""Guessing a number: the case, the rules and the scripted players."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from waybench.core import (
    DataError,
    End,
    FailureKind,
    Game,
    GameProperties,
    Instance,
    Json,
    Outcome,
    Stream,
    Transition,
    check_known_fields,
    is_object,
)

LARGEST = 2**62  # of a range's upper end
SPARE = 5  # interactions beyond the optimum, as in both published modes (20 for 15, 30 for 25)


@dataclass(frozen=True, slots=True)
class Number(Instance):
    """A number to be guessed, from `low` to `high`, which is above `low`."""

    target: int
    low: int
    high: int

    @property
    def level(self) -> int:
        """The whole part of the binary logarithm of high - low: 15 in EASY mode, 25 in HARD mode."""
        return (self.high - self.low).bit_length() - 1

    def canonical(self) -> str:
        return f"{self.target} {self.low} {self.high}"

    def to_json(self) -> Json:
        """Return {"target": ..., "min": ..., "max": ...}."""
        return {"target": self.target, "min": self.low, "max": self.high}


def decode(data: Json) -> Number:
    """Read {"target": 777, "min": 32, "max": 32800}; raise DataError for anything else."""
    check_known_fields(data, ("target", "min", "max"))
    values = [data.get(name) for name in ("target", "min", "max")] if is_object(data) else []
    match values:
        case [int(target), int(low), int(high)] if bool not in map(type, values):
            if 0 <= low <= target <= high <= LARGEST and low < high:
                return Number(target, low, high)
            raise DataError("instance: the target must be from min to max, which are from 0 to 2**62 and differ")
        case _:
            raise DataError('instance: give {"target": 777, "min": 32, "max": 32800}, whole numbers')


class Guessing(NamedTuple):
    """The range of numbers that are still possible after the feedback, and whether the number was guessed."""

    case: Number
    low: int
    high: int
    found: bool = False


class GuessGame(Game[Number, Guessing, int]):
    """Each guess is answered with bigger, smaller or right. Event: `guess`.

    A guess that earlier feedback has excluded is unproductive; one outside the range is illegal.
    """

    properties = GameProperties(deterministic=True, turns=None, reward=(0.0, 1.0))

    def start(self, instance: Number) -> Guessing:
        return Guessing(instance, instance.low, instance.high)

    def legal(self, state: Guessing) -> Sequence[int]:
        return () if state.found else range(state.case.low, state.case.high + 1)

    def apply(self, state: Guessing, action: int, rng: Stream) -> Transition[Guessing]:
        case, low, high, _ = state
        if not low <= action <= high:
            is_in_range = case.low <= action <= case.high
            return Transition(state, 0.0, {"guess": action}, Outcome.UNPRODUCTIVE if is_in_range else Outcome.ILLEGAL)
        if action == case.target:
            return Transition(Guessing(case, action, action, True), 1.0, {"guess": action})
        next_state = Guessing(case, action + 1, high) if action < case.target else Guessing(case, low, action - 1)
        return Transition(next_state, 0.0, {"guess": action})

    def terminal(self, state: Guessing) -> End | None:
        return End.SOLVED if state.found else None

    def encode(self, action: int) -> Json:
        return action

    def decode(self, action: Json) -> int:
        return read_whole_number(action)


def read_whole_number(action: Json) -> int:
    """Read an action that is a whole number; raise DataError for anything else."""
    if type(action) is not int:
        raise DataError("action: give a whole number")
    return action


def bisect(state: Guessing, rng: Stream) -> int:
    """Bisect the half-open range, the published optimal policy.

    Its ends are the largest guess that was too small (at first the least number) and the smallest guess that was too
    large (at first the greatest number plus 1).
    """
    low = state.low - 1 if state.low > state.case.low else state.low
    return (low + state.high + 1) // 2


def textbook(state: Guessing, rng: Stream) -> int:
    """Bisect as textbooks do: the lower middle of what is still possible."""
    return (state.low + state.high) // 2


def linear(state: Guessing, rng: Stream) -> int:
    """Try the least number that is still possible."""
    return state.low


PLAYERS = {"oracle": bisect, "heuristic": textbook, "bisection": textbook, "linear": linear}


def optimal_steps(case: Number) -> int:
    """Return the number of guesses of the optimal policy."""
    low, high, steps = case.low, case.high + 1, 1
    while (guess := (low + high) // 2) != case.target:
        low, high = (guess, high) if guess < case.target else (low, guess)
        steps += 1
    return steps


def prove(case: Number) -> dict[str, Json]:
    """Return the optimal policy's number of steps as "minimum"."""
    return {"minimum": optimal_steps(case)}


def default_max_steps(case: Number) -> int:
    """Return the default number of interactions: 20 in EASY mode, 30 in HARD mode."""
    return case.level + SPARE


FORGOT = FailureKind("forgot", "forgotten answers", "The guess is one that earlier answers exclude.")
UNEVEN = FailureKind("uneven", "guesses off the middle", "The guess is possible, but not a middle of what is left.")


class Bisection:
    """A bisection, which guesses the teacher's middle, or with `any_middle` either middle of an even number."""

    def __init__(self, case: Number, any_middle: bool) -> None:
        self._case = case
        self._low, self._high = case.low, case.high
        self._any_middle = any_middle

    def is_next_answer(self, answer: int) -> bool:
        """Return whether a bisection can guess this number now."""
        if self._any_middle:
            return (self._low + self._high) // 2 <= answer <= (self._low + self._high + 1) // 2
        return answer == bisect(Guessing(self._case, self._low, self._high), _UNUSED_RANDOMNESS)

    def classify_error(self, answer: int) -> FailureKind:
        """Return what is wrong with a guess that does not follow the bisection."""
        return UNEVEN if self._low <= answer <= self._high else FORGOT

    def add_answer(self, answer: int) -> None:
        """Narrow the range by a guess."""
        if answer < self._case.target:
            self._low = max(self._low, answer + 1)
        elif answer > self._case.target:
            self._high = min(self._high, answer - 1)


_UNUSED_RANDOMNESS = Stream("search", "no chance")  # the teacher does not draw from it

"""The first answer that does not follow the algorithm."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from waybench.core import End, EpisodeRecord, FailureKind, FirstErrors, Instance, Step, unread
from waybench.envs.search import _game_number, _game_walk
from waybench.envs.search._answers import BREADTH, DEPTH, NUMBERS, VALID, Scores, protocol_of

I = TypeVar("I", bound=Instance)  # noqa: E741

FORGOT = FailureKind("forgot", "forgotten answers", "The guess is one that earlier answers exclude.")
UNEVEN = FailureKind("uneven", "guesses off the middle", "The guess is possible, but not a middle of what is left.")
INVALID = FailureKind("invalid", "invalid answers", "The answer is not allowed, and ends the episode.")
TURNED_BACK = FailureKind(
    "turned_back", "turning back too early", "It leaves a node that has unvisited neighbours for a visited one."
)
WAY_BACK = FailureKind(
    "way_back", "losing the way back", "It does not go back to the node from which the current one was entered."
)
REVISIT = FailureKind("revisit", "revisits", "It visits a node again.")
LEVEL = FailureKind("level", "nodes of a later level", "It visits a new node while nodes of an earlier level are left.")


class _Guesses:
    """What is wrong with a guess that does not follow the bisection."""

    def __init__(self, case: _game_number.Number) -> None:
        self._case, self._low, self._high = case, case.low, case.high

    def take(self, answer: int) -> None:
        """Go on after a guess."""
        if answer < self._case.target:
            self._low = answer + 1
        else:
            self._high = answer - 1

    def error(self, answer: int) -> FailureKind:
        """Return the kind of error."""
        return UNEVEN if self._low <= answer <= self._high else FORGOT


class _Visits:
    """What is wrong with a visit that does not follow the algorithm."""

    def __init__(self, case: _game_walk.Terrain, depth_first: bool) -> None:
        self._graph, self._depth_first = case.graph, depth_first
        self._at, self._visited = 0, 1

    def take(self, answer: int) -> None:
        """Go on after a visit."""
        self._at, self._visited = answer, self._visited | 1 << answer

    def error(self, answer: int) -> FailureKind:
        """Return the kind of error."""
        if self._depth_first:
            return TURNED_BACK if self._graph.masks[self._at] & ~self._visited else WAY_BACK
        return REVISIT if self._visited >> answer & 1 else LEVEL


def _steps(scores: Scores[I], kinds: Callable[[I], _Guesses | _Visits]) -> Callable[[EpisodeRecord], Iterator[Step]]:
    """Return what yields an episode's answers; invalid ones that were forgiven are no steps."""

    def steps(record: EpisodeRecord) -> Iterator[Step]:
        case, _ = scores.read(record)
        algorithm, kind = scores.algorithm(case, protocol_of(record)), kinds(case)
        for number, turn in enumerate(record.turns):
            if "coached" in turn.events:
                continue
            if turn.executed is None and turn.outcome not in VALID:
                if number == len(record.turns) - 1 and record.end is End.INVALID_LIMIT:
                    yield Step(number, unread(turn) if turn.action is None else INVALID)
                continue
            answer = turn.carried_out
            if turn.executed is None:
                follows = algorithm.follows(answer)
                yield Step(number, None if follows else kind.error(answer))
                if not follows:
                    return
            algorithm.take(answer)
            kind.take(answer)

    return steps


NUMBER_ERRORS = FirstErrors((FORGOT, UNEVEN, INVALID), _steps(NUMBERS, _Guesses))
DEPTH_ERRORS = FirstErrors((TURNED_BACK, WAY_BACK, INVALID), _steps(DEPTH, partial(_Visits, depth_first=True)))
BREADTH_ERRORS = FirstErrors((LEVEL, REVISIT, INVALID), _steps(BREADTH, partial(_Visits, depth_first=False)))

"""What follows from knowing how far each state is from its solution: players, errors, dead ends and potentials.

`Searched` knows it for games whose positions can be listed. For larger games, write a subclass of `Solutions` with a
solver.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

from waybench.core._choices import ChoiceGame
from waybench.core._errors import DataError, WaybenchError
from waybench.core._game import A, End, Game, Json, Outcome, S, Stream
from waybench.core._items import Instance
from waybench.core._metrics import (
    ILLEGAL,
    NO_ANSWER,
    FailureKind,
    FirstErrors,
    Step,
    general_failure,
    unparsed_kind,
)
from waybench.core._parts import Player
from waybench.core._record import EpisodeRecord

I = TypeVar("I", bound=Instance)  # noqa: E741

DEAD_END = FailureKind("dead_end", "moves into a dead end", "No solution was left at the end.")
INTO_DEAD_END = FailureKind("dead_end", "moves into a dead end", "The action left no solution.")
DETOUR = FailureKind("detour", "moves off the best solutions", "The action begins no best solution.")
NOT_POSSIBLE = FailureKind("illegal", "illegal actions", "The action is not possible.")


def unit_cost(before: object, after: object) -> int:
    """Return 1: the cost of a solution is the number of its actions."""
    return 1


class RecordStep(NamedTuple, Generic[S]):
    """A turn of a record that is simulated again.

    Attributes:
        number: The number of the turn, from 0.
        before: The state before it.
        after: The state after it; None if it named no action or one that is not possible.
    """

    number: int
    before: S
    after: S | None


class Solutions(ABC, Generic[I, S, A]):
    """The cost of a best solution from any state of a game without chance, and what follows from it.

    Args:
        game: The game.
        decode: JSON -> instance, as `Items.decode`.
        cost: (state, state after an action) -> the cost of the action, above 0; by default 1.
    """

    def __init__(
        self, game: Game[I, S, A], decode: Callable[[Json], I], cost: Callable[[S, S], int] = unit_cost
    ) -> None:
        self.game, self.decode, self.cost = game, decode, cost

    @abstractmethod
    def remaining(self, state: S) -> int | None:
        """Return the cost of a best solution from a state: 0 if it is solved, None if there is no solution.

        Raises:
            DataError: If that is too much work.
        """

    def successors(self, state: S) -> Iterator[tuple[A, S]]:
        """Yield each legal action with the state after it."""
        game = self.game
        for action in game.legal(state):
            yield action, game.apply(state, action, Stream("successors")).state

    def following(self, state: S) -> list[S]:
        """Return the states after each legal action."""
        game = self.game
        if isinstance(game, ChoiceGame):  # the same without transitions
            return [] if game.is_solved(state) else game.following(state)
        return [after for _, after in self.successors(state)]

    def best_actions(self, state: S) -> list[A]:
        """Return the actions that begin a best solution; none if there is no solution."""
        known = self.remaining(state)
        return [
            action
            for action, after in self.successors(state)
            if (left := self.remaining(after)) is not None and left + self.cost(state, after) == known
        ]

    def oracle(self, state: S, rng: Stream) -> A:
        """Return the first action of a best solution; in a dead end any action."""
        best = self.best_actions(state)
        return best[0] if best else rng.choice(self.game.legal(state))

    def erring(self, rate: float) -> Player[S, A]:
        """Return the oracle that takes a random action at a rate, from 0 to 1, for a heuristic player."""

        def player(state: S, rng: Stream) -> A:
            return rng.choice(self.game.legal(state)) if rng.random() < rate else self.oracle(state, rng)

        player.__doc__ = f"Return the oracle's action, or at a rate of {100 * rate:g} % any action."
        return player

    def check(self, start: S) -> int:
        """Check a solution by playing it: it ends solved, and each of its actions costs what `remaining` falls by.

        Args:
            start: A state with a solution.

        Returns:
            The number of its actions.

        Raises:
            WaybenchError: If it is no solution of this cost.
        """
        state, actions = start, 0
        while self.game.terminal(state) is not End.SOLVED:
            following = self.best_actions(state)
            if not following:
                raise WaybenchError(f"after {actions} actions of a solution none leads on")
            state = self.game.apply(state, following[0], Stream("check")).state
            actions += 1
        return actions

    def simulate(self, record: EpisodeRecord) -> Iterator[RecordStep[S]]:
        """Yield the turns of a record with the states around them."""
        game = self.game
        state = game.start(self.decode(record.instance))
        for number, turn in enumerate(record.turns):
            if turn.carried_out is None:
                yield RecordStep(number, state, None)
                state = game.forfeit(state)
                continue
            transition = game.apply(state, game.decode(turn.carried_out), Stream("simulate"))
            yield RecordStep(number, state, None if transition.outcome is Outcome.ILLEGAL else transition.state)
            state = transition.state

    def failure(self, record: EpisodeRecord) -> FailureKind:
        """Return why an episode failed: a dead end at its end, where most replies were actions; see `DEAD_END`."""
        general = general_failure(record)
        if general in (*NO_ANSWER, ILLEGAL):
            return general
        states = [step.after for step in self.simulate(record) if step.after is not None]
        return DEAD_END if states and self.remaining(states[-1]) is None else general

    @property
    def first_errors(self) -> FirstErrors:
        """The first error of an episode is its first action that begins no best solution."""
        return FirstErrors((INTO_DEAD_END, DETOUR, NOT_POSSIBLE), self._steps)

    def _steps(self, record: EpisodeRecord) -> Iterator[Step]:
        for number, before, after in self.simulate(record):
            turn = record.turns[number]
            if after is None:
                yield Step(number, unparsed_kind(turn) if turn.carried_out is None else NOT_POSSIBLE)
                return
            left = self.remaining(after)
            if left is None:
                yield Step(number, INTO_DEAD_END)
                return
            if left + self.cost(before, after) != self.remaining(before):
                yield Step(number, DETOUR)
                return
            yield Step(number)


class Searched(Solutions[I, S, A]):
    """The solutions of a game whose positions can be listed.

    The first time that it meets a state, it lists all positions that can be reached from there, and finds the cost of
    a best solution from each of them, backwards from those that are solved. States have all that the rules need, so
    that instances with the same states share what is known.

    Args:
        game: The game.
        decode: JSON -> instance, as `Items.decode`.
        cost: (state, state after an action) -> the cost of the action, above 0; by default 1.
        most: Most positions that are listed at once.
        memory: Most positions that are remembered; the lists that were made first are forgotten.
    """

    def __init__(
        self,
        game: Game[I, S, A],
        decode: Callable[[Json], I],
        cost: Callable[[S, S], int] = unit_cost,
        *,
        most: int = 60_000,
        memory: int = 300_000,
    ) -> None:
        super().__init__(game, decode, cost)
        self._most, self._memory = most, memory
        self._tables = deque[dict[S, int | None]]()  # the one that was made first comes first
        self._table_of: dict[S, dict[S, int | None]] = {}  # for each position of these
        self._count = 0  # of positions in all of them

    def table(self, state: S) -> dict[S, int | None]:
        """Return what is known of the positions that can be reached from a state, itself the first of them.

        Raises:
            DataError: If there are more than `most` positions.
        """
        known = self._table_of.get(state)
        if known is not None:
            return known
        table = self._costs_of_reachable(state)
        self._tables.append(table)
        self._table_of.update(dict.fromkeys(table, table))
        self._count += len(table)
        while len(self._tables) > 1 and self._count > self._memory:
            oldest = self._tables.popleft()
            self._count -= len(oldest)
            for position in oldest:
                if self._table_of.get(position) is oldest:
                    self._table_of.pop(position, None)
        return table

    def remaining(self, state: S) -> int | None:
        """Return the cost of a best solution from a state: 0 if it is solved, None if there is no solution.

        Raises:
            DataError: If more than `most` positions can be reached from it.
        """
        return self.table(state)[state]

    def _from_start(self, state: S) -> list[S]:
        """Return the states after each action: a solved position leads nowhere, unless the list begins with it."""
        game = self.game
        return game.following(state) if isinstance(game, ChoiceGame) else self.following(state)

    def _costs_of_reachable(self, start: S) -> dict[S, int | None]:
        numbers, states = {start: 0}, [start]
        reached_from: list[list[tuple[int, int]]] = [[]]  # of each position: (the one before it, the cost of the step)
        for number, state in enumerate(states):  # the list grows meanwhile
            for after in self.following(state) if number else self._from_start(state):
                if after not in numbers:
                    if len(states) == self._most:
                        raise DataError(f"more than {self._most:,} positions can be reached: give a smaller instance")
                    numbers[after] = len(states)
                    states.append(after)
                    reached_from.append([])
                reached_from[numbers[after]].append((number, self.cost(state, after)))
        remaining: list[int | None] = [None] * len(states)
        waiting = [(0, number) for number, state in enumerate(states) if self.game.terminal(state) is End.SOLVED]
        while waiting:
            known, number = heappop(waiting)
            if remaining[number] is not None:
                continue
            remaining[number] = known
            for before, cost in reached_from[number]:
                if remaining[before] is None:
                    heappush(waiting, (known + cost, before))
        return dict(zip(states, remaining, strict=True))

    def check(self, start: S) -> int:
        """Check all positions that can be reached from a state, by the rules alone.

        The costs are those of best solutions exactly if a solved position has 0, and any other one the least sum of
        an action's cost and what remains after it (Bellman's equation); costs are above 0.

        Returns:
            The number of positions.

        Raises:
            WaybenchError: If a position's cost is wrong.
        """
        table = self.table(start)
        for state, known in table.items():
            costs = [
                left + self.cost(state, after) for after in self.following(state) if (left := table[after]) is not None
            ]
            least = 0 if self.game.terminal(state) is End.SOLVED else min(costs, default=None)
            if known != least:
                raise WaybenchError(f"a position has the cost {known}, and its actions give {least}")
        return len(table)

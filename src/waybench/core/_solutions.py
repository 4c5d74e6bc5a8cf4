"""Players, errors and dead ends that follow from the cost of a best solution from each state.

`Searched` finds it for games whose positions can be listed. For larger games, write a subclass of `Solutions` with a
solver.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

from waybench.core._choices import ChoiceGame, ChoiceWording, choice_typing
from waybench.core._datasets import HorizonSpec
from waybench.core._environment import Environment
from waybench.core._errors import DataError, WaybenchError
from waybench.core._game import A, End, Game, Json, Limits, Outcome, S, Stream
from waybench.core._items import Instance
from waybench.core._metrics import (
    ILLEGAL,
    NO_ANSWER,
    FailureKind,
    FirstErrors,
    Metric,
    Step,
    general_failure_kind,
    proof_axis,
    unread_reply_kind,
)
from waybench.core._parts import Difficulty, Items, Player, Players, Playing, Scoring
from waybench.core._play import Option, Play
from waybench.core._presentation import Presentation
from waybench.core._question_kit import DrawnSource, Q
from waybench.core._record import EpisodeRecord

I = TypeVar("I", bound=Instance)  # noqa: E741

DEAD_END = FailureKind("dead_end", "moves into a dead end", "No solution was left at the end.")
INTO_DEAD_END = FailureKind("dead_end", "moves into a dead end", "The action left no solution.")
DETOUR = FailureKind("detour", "moves off the best solutions", "The action begins no best solution.")
NOT_POSSIBLE = FailureKind("illegal", "illegal actions", "The action is not possible.")


def cost_of_one(before: object, after: object) -> int:
    """Return 1, so that a solution costs as much as it has actions."""
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
    """The cost of a best solution from any state of a game without chance; players and errors that follow from it.

    Args:
        decode: JSON -> instance, as `Items.decode`.
        cost: (state, state after an action) -> the cost of the action, above 0; by default 1.
    """

    def __init__(
        self, game: Game[I, S, A], decode: Callable[[Json], I], cost: Callable[[S, S], int] = cost_of_one
    ) -> None:
        self.game, self.decode, self.cost = game, decode, cost

    @abstractmethod
    def remaining(self, state: S) -> int | None:
        """Return the cost of a best solution from a state: 0 if it is solved, None if there is no solution.

        Raises:
            DataError: If the search exceeds the solver's limit.
        """

    def successors(self, state: S) -> Iterator[tuple[A, S]]:
        """Yield each legal action with the state after it."""
        game = self.game
        for action in game.legal(state):
            yield action, game.apply(state, action, Stream("successors")).state

    def states_after_each_action(self, state: S) -> list[S]:
        """Return the state after each legal action; [] for a solved state."""
        game = self.game
        if isinstance(game, ChoiceGame):  # the same states, without the cost of transitions
            return [] if game.is_solved(state) else game.states_after_each_action(state)
        return [after for _, after in self.successors(state)]

    def best_actions(self, state: S) -> list[A]:
        """Return the first actions of all best solutions; [] if there is no solution."""
        least_cost = self.remaining(state)
        return [
            action
            for action, after in self.successors(state)
            if (cost_after := self.remaining(after)) is not None and cost_after + self.cost(state, after) == least_cost
        ]

    def oracle(self, state: S, rng: Stream) -> A:
        """Return the first action of a best solution; in a dead end any action."""
        best_actions = self.best_actions(state)
        return best_actions[0] if best_actions else rng.choice(self.game.legal(state))

    def erring(self, rate: float) -> Player[S, A]:
        """Return a player that takes a random action at a rate, from 0 to 1, and the oracle's action otherwise."""

        def player(state: S, rng: Stream) -> A:
            return rng.choice(self.game.legal(state)) if rng.random() < rate else self.oracle(state, rng)

        player.__doc__ = f"Return the oracle's action, or at a rate of {100 * rate:g} % any action."
        return player

    def check(self, start: S) -> int:
        """Play a best solution from `start`, check its end and costs, and return its number of actions.

        Raises:
            WaybenchError: If at some state no action has the cost that is left.
        """
        state, n_actions = start, 0
        while self.game.terminal(state) is not End.SOLVED:
            best_actions = self.best_actions(state)
            if not best_actions:
                raise WaybenchError(f"after {n_actions} actions of a solution none leads on")
            state = self.game.apply(state, best_actions[0], Stream("check")).state
            n_actions += 1
        return n_actions

    def simulate(self, record: EpisodeRecord) -> Iterator[RecordStep[S]]:
        """Yield each turn of a record with the states before and after it, by playing its actions again."""
        game = self.game
        state = game.start(self.decode(record.instance))
        for number, turn in enumerate(record.turns):
            if turn.carried_out is None:  # the reply was not understood
                yield RecordStep(number, state, None)
                state = game.forfeit(state)
                continue
            transition = game.apply(state, game.decode(turn.carried_out), Stream("simulate"))
            yield RecordStep(number, state, None if transition.outcome is Outcome.ILLEGAL else transition.state)
            state = transition.state

    def failure(self, record: EpisodeRecord) -> FailureKind:
        """Return the failure of a record: `DEAD_END` if its last state has no solution, or a general kind.

        Where unreadable replies or illegal actions explain the failure, they are its kind, even in a dead end.
        """
        general_kind = general_failure_kind(record)
        if general_kind in (*NO_ANSWER, ILLEGAL):
            return general_kind
        states = [step.after for step in self.simulate(record) if step.after is not None]
        return DEAD_END if states and self.remaining(states[-1]) is None else general_kind

    @property
    def first_errors(self) -> FirstErrors:
        """The first error of an episode: its first action that begins no best solution."""
        return FirstErrors((INTO_DEAD_END, DETOUR, NOT_POSSIBLE), self._steps_to_first_error)

    def _steps_to_first_error(self, record: EpisodeRecord) -> Iterator[Step]:
        """Yield the steps of a record up to the first error."""
        for number, before, after in self.simulate(record):
            turn = record.turns[number]
            if after is None:
                yield Step(number, unread_reply_kind(turn) if turn.carried_out is None else NOT_POSSIBLE)
                return
            cost_after = self.remaining(after)
            if cost_after is None:
                yield Step(number, INTO_DEAD_END)
                return
            if cost_after + self.cost(before, after) != self.remaining(before):
                yield Step(number, DETOUR)
                return
            yield Step(number)


class Searched(Solutions[I, S, A]):
    """The solutions of a game whose positions can be listed.

    When it is asked for a state that it does not know, it lists all positions that can be reached from there, and finds
    the cost of a best solution from each of them, backwards from those that are solved. These costs are kept in a
    table. States have all that the rules need, so that instances with the same states share tables.

    Args:
        most: Most positions of a table.
        memory: Most positions of all tables that are kept; the oldest tables are dropped.
    """

    def __init__(
        self,
        game: Game[I, S, A],
        decode: Callable[[Json], I],
        cost: Callable[[S, S], int] = cost_of_one,
        *,
        most: int = 60_000,
        memory: int = 300_000,
    ) -> None:
        super().__init__(game, decode, cost)
        self._most, self._memory = most, memory
        self._tables = deque[dict[S, int | None]]()  # the oldest first
        self._table_of: dict[S, dict[S, int | None]] = {}  # position -> the newest table that has it
        self._n_positions = 0  # in all tables

    def cost_by_reachable_state(self, state: S) -> dict[S, int | None]:
        """Return the cost of a best solution for each state reachable from `state`; None without a solution.

        Raises:
            DataError: If there are more than `most` positions.
        """
        if (kept_table := self._table_of.get(state)) is not None:
            return kept_table
        table = self._search_reachable_costs(state)
        self._tables.append(table)
        self._table_of.update(dict.fromkeys(table, table))
        self._n_positions += len(table)
        while len(self._tables) > 1 and self._n_positions > self._memory:
            oldest = self._tables.popleft()
            self._n_positions -= len(oldest)
            for position in oldest:
                if self._table_of.get(position) is oldest:  # a newer table can have the position, too
                    del self._table_of[position]
        return table

    def remaining(self, state: S) -> int | None:
        """Return the cost of a best solution from a state: 0 if it is solved, None if there is no solution.

        Raises:
            DataError: If more than `most` positions can be reached from the state.
        """
        return self.cost_by_reachable_state(state)[state]

    def _states_after_start(self, state: S) -> list[S]:
        """Return the states after each action, in a `ChoiceGame` even if the first state is solved."""
        game = self.game
        return (
            game.states_after_each_action(state)
            if isinstance(game, ChoiceGame)
            else self.states_after_each_action(state)
        )

    def _search_reachable_costs(self, start: S) -> dict[S, int | None]:
        """Return the costs by a breadth-first listing of states and Dijkstra's algorithm backwards."""
        numbers, states = {start: 0}, [start]
        reached_from: list[list[tuple[int, int]]] = [[]]  # by position: (number of a position before it, cost of step)
        for number, state in enumerate(states):  # `states` grows meanwhile
            for after in self.states_after_each_action(state) if number else self._states_after_start(state):
                if after not in numbers:
                    if len(states) == self._most:
                        raise DataError(f"more than {self._most:,} positions can be reached: give a smaller instance")
                    numbers[after] = len(states)
                    states.append(after)
                    reached_from.append([])
                reached_from[numbers[after]].append((number, self.cost(state, after)))
        remaining: list[int | None] = [None] * len(states)
        queue = [(0, number) for number, state in enumerate(states) if self.game.terminal(state) is End.SOLVED]
        while queue:
            least_cost, number = heappop(queue)
            if remaining[number] is not None:  # it came from the queue before, at a lower cost
                continue
            remaining[number] = least_cost
            for before, cost in reached_from[number]:
                if remaining[before] is None:
                    heappush(queue, (least_cost + cost, before))
        return dict(zip(states, remaining, strict=True))

    def check(self, start: S) -> int:
        """Check by Bellman's equation the costs of all states reachable from `start`, and return the number of states.

        Costs are those of best solutions exactly if a solved position has 0, and each other position the least sum of
        an action's cost and the cost of a best solution after it, since actions cost more than 0.

        Raises:
            WaybenchError: If a position's cost is wrong.
        """
        table = self.cost_by_reachable_state(start)
        for state, cost in table.items():
            costs = [
                cost_after + self.cost(state, after)
                for after in self.states_after_each_action(state)
                if (cost_after := table[after]) is not None
            ]
            least = 0 if self.game.terminal(state) is End.SOLVED else min(costs, default=None)
            if cost != least:
                raise WaybenchError(f"a position has the cost {cost}, and its actions give {least}")
        return len(table)


def puzzle_environment(
    solutions: Solutions[Q, S, str],
    wording: ChoiceWording[Q, S],
    draw: Callable[[Stream, int], Q],
    level_of: Callable[[Q], int],
    *,
    id: str,
    title: str,
    about: str,
    sample_levels: tuple[int, ...],
    highest_level: int,
    public_key: str,
    turns: int,
    level: str,
    item: str,
    horizon: tuple[int, ...],
    version: int = 1,
) -> Environment[Q, S, str]:
    """Return the environment of a puzzle whose actions have names and whose best solutions are known.

    The score is the turns of a shortest solution divided by the player's turns; an item's proof has the former as
    "minimum". The heuristic player errs in a quarter of its turns. Failures after a dead end are a kind of their own.
    Change parts of the environment with `dataclasses.replace`.

    Args:
        solutions: The best solutions by number of actions, such as `Searched(game, decode)` of a `ChoiceGame`; `decode`
            refuses with a `DataError` what cannot be solved.
        wording: The wording, with the texts of all languages.
        draw: (stream of random numbers, level) -> an instance of this level that can be solved.
        level_of: Instance -> its level.
        id: "family/variant".
        title: Its name for people.
        about: What it measures and how.
        sample_levels: A few levels for tests and demonstrations, the easiest of all first.
        highest_level: The hardest level.
        public_key: The key of its public set.
        turns: Most turns.
        level: What the level counts, in the plural if it counts something: "moves".
        item: What an item is called: "room".
        horizon: The levels on which a model's horizon is searched for, by the turns of shortest solutions.
        version: Raised whenever a score can move.

    Raises:
        TypeError: If the game of the solutions is no `ChoiceGame`.
    """
    game = solutions.game
    if not isinstance(game, ChoiceGame):
        raise TypeError(f"{type(game).__name__} is no ChoiceGame")

    def prove_minimum(instance: Q) -> dict[str, Json]:
        return {"minimum": solutions.remaining(game.start(instance))}

    def play_with_options(options: Mapping[str, Json]) -> Play[Q, S, str]:
        return Play(game, wording, Limits(turns=int(options["turns"])))

    score = Metric(
        name="score",
        of=_solution_efficiency,
        title="Score",
        doc="Turns of a shortest solution by turns; 0 if failed.",
        low=0,
        high=1,
    )
    return Environment(
        id=id,
        version=version,
        title=title,
        about=about,
        items=Items(
            sample_levels=sample_levels,
            highest_level=highest_level,
            public_key=public_key,
            make_source=lambda key, level, options: DrawnSource(id, draw, level_of, key, level, prove_minimum),
            decode=solutions.decode,
            level_of=level_of,
            prove=prove_minimum,
        ),
        playing=Playing(
            play=play_with_options,
            options=(Option(name="turns", default=turns, low=1, high=turns, doc="Maximum number of turns."),),
            texts=wording.tables,
        ),
        scoring=Scoring(
            metrics=(score,),
            failures=(DEAD_END,),
            failure=solutions.failure,
            first_errors=solutions.first_errors,
        ),
        difficulty=Difficulty(
            axes=(proof_axis("minimum", "Shortest solution", "Turns of a shortest solution."),),
            success="the item is solved in at most twice the turns of a shortest solution",
            competent=lambda record: _solution_efficiency(record) >= 0.5,  # a random player seldom counts
            horizon=HorizonSpec(levels=horizon),
        ),
        players=Players(
            policies={"oracle": solutions.oracle, "heuristic": solutions.erring(0.25)},
            oracle_is_ceiling=lambda record: True,
        ),
        typing=choice_typing(game.actions),
        presentation=Presentation(level=level, levels=level, item=item, metrics=("score",)),
    )


def _solution_efficiency(record: EpisodeRecord) -> float:
    """Return the turns of a shortest solution divided by the player's; 0 if the puzzle is not solved."""
    return float(record.proof["minimum"]) / len(record.turns) if record.end is End.SOLVED else 0.0

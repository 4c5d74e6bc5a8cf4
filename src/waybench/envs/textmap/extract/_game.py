"""The game of extractions, its reference players, and the answers of a search in the triplets."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

from waybench.core import End, Facts, Game, Outcome, Player, Stream, Transition, normal_name
from waybench.envs.textmap.extract._instance import EXAMPLES, Extraction
from waybench.envs.textmap.map import Difficulty, Edge, reached, seen_names
from waybench.envs.textmap.questions import (
    PAPER,
    Hop,
    Question,
    Rules,
    Trajectory,
    TrajectoryAnswers,
    move_index,
    success,
)
from waybench.envs.textmap.worlds import opposite

PlayerTriplets = tuple[Hop | None, ...]
"""The triplets of a player in the order of the steps; None where no triplet could be read."""


class TripletGraph:
    """The graph of triplets; names are compared after normalization.

    Args:
        triplets: Place before, action, place after. Triplets that end where they start are ignored.
        opposites: Whether to add the opposite move of each triplet, unless a triplet says where it leads.
    """

    def __init__(self, triplets: Iterable[Hop], *, opposites: bool) -> None:
        self._ways: dict[str, dict[str, list[Hop]]] = {}
        moves = [hop for hop in triplets if normal_name(hop.before) != normal_name(hop.after)]
        for hop in moves:
            self._add(hop)
        stated = {(normal_name(hop.before), normal_name(hop.action)) for hop in moves}
        for before, action, after in moves if opposites else ():
            back = opposite(normal_name(action))
            if back is not None and (normal_name(after), back) not in stated:
                self._add(Hop(after, back, before))

    def _add(self, hop: Hop) -> None:
        ways = self._ways.setdefault(normal_name(hop.before), {}).setdefault(normal_name(hop.action), [])
        if all(normal_name(hop.after) != normal_name(known.after) for known in ways):
            ways.append(hop)

    @property
    def edges(self) -> frozenset[tuple[str, str, str]]:
        """All moves, with normalized names."""
        hops = (hop for ways in self._ways.values() for leads in ways.values() for hop in leads)
        return frozenset((normal_name(hop.before), normal_name(hop.action), normal_name(hop.after)) for hop in hops)

    def answer(self, question: Question) -> Trajectory:
        """Return a shortest route, or the path of the given moves; empty if the graph has none."""
        return self._follow(question) if question.actions else self._route(question)

    def _route(self, question: Question) -> Trajectory:
        source, target = normal_name(question.source), normal_name(question.target)
        arrivals: dict[str, Hop] = {}
        queue = deque([source])
        while queue and target not in arrivals:
            ways = self._ways.get(queue.popleft(), {})
            for hop in (hop for leads in ways.values() for hop in leads):
                after = normal_name(hop.after)
                if after != source and after not in arrivals:
                    arrivals[after] = hop
                    queue.append(after)
        way: list[Hop] = []
        while target in arrivals:
            way.append(arrivals[target])
            target = normal_name(arrivals[target].before)
        return tuple(reversed(way))

    def _follow(self, question: Question) -> Trajectory:
        """Return a path of the given moves; if a move can lead to several places, one from which all can be made."""
        ways: dict[str, Trajectory] = {normal_name(question.source): ()}
        for action in question.actions:
            longer: dict[str, Trajectory] = {}
            for place, way in ways.items():
                for hop in self._ways.get(place, {}).get(normal_name(action), ()):
                    longer.setdefault(normal_name(hop.after), (*way, hop))
            ways = longer
        return next(iter(ways.values()), ())


class QuestionResult(NamedTuple):
    """The result of one question.

    Attributes:
        kind: "route" or "destination".
        difficulty: Difficulty for a reader of the prefix.
        success: Success of the answer in the graph with opposite moves.
        success_without_opposites: Success of the answer in the graph of the triplets alone.
    """

    kind: str
    difficulty: Difficulty | None
    success: float
    success_without_opposites: float


class ExtractionResult(NamedTuple):
    """The result of an extraction.

    Attributes:
        questions: Result of each question.
        triplets: Share of the steps with a right triplet.
        moving: Share of the steps to another place with a right triplet; None if there is no such step.
        precision: Share of the graph's moves that are moves of the map; None if the graph has no move.
        recall: Share of the moves known to a reader that the graph has; None if no move is known.
    """

    questions: tuple[QuestionResult, ...]
    triplets: float
    moving: float | None
    precision: float | None
    recall: float | None

    @property
    def success(self) -> float:
        """Mean success of all questions."""
        return fmean(question.success for question in self.questions)


def expected_triplets(instance: Extraction, mode: str) -> Trajectory:
    """Return the true triplets of the steps that the player has to give."""
    return instance.truth[EXAMPLES:] if mode == "steps" else instance.truth


@lru_cache(maxsize=256)
def result(instance: Extraction, triplets: PlayerTriplets, mode: str, rules: Rules) -> ExtractionResult:
    """Return the result of triplets.

    In mode "steps", the graph also has the triplets of the examples, unless the player gave none at all.

    Args:
        instance: The extraction.
        triplets: The triplets of the player.
        mode: "steps" or "whole".
        rules: The scoring rules. In mode "whole", `PAPER` compares triplets and steps by position, so a missing triplet
            makes all that follow wrong.
    """
    readable = [hop for hop in triplets if hop is not None]
    graph_triplets = [*instance.truth[:EXAMPLES], *readable] if mode == "steps" and readable else readable
    graph, plain_graph = TripletGraph(graph_triplets, opposites=True), TripletGraph(graph_triplets, opposites=False)
    question_results = tuple(
        QuestionResult(
            "destination" if question.path else "route",
            question.labels.difficulty(question.cutoff),
            _question_success(instance, question, graph, rules),
            _question_success(instance, question, plain_graph, rules),
        )
        for question in instance.questions
    )
    right = triplet_scores(expected_triplets(instance, mode), triplets, in_place=mode == "steps" or rules is PAPER)
    moves = [number for number, hop in enumerate(expected_triplets(instance, mode)) if hop.before != hop.after]
    map_moves = frozenset(_names(edge) for edge in instance.map.edges)
    known_moves = frozenset(_names(edge) for edge in instance.map.edges if reached(edge.known, instance.cutoff))
    given_moves = graph.edges
    return ExtractionResult(
        question_results,
        fmean(right),
        fmean(right[number] for number in moves) if moves else None,
        len(given_moves & map_moves) / len(given_moves) if given_moves else None,
        len(given_moves & known_moves) / len(known_moves) if known_moves else None,
    )


def _names(edge: Edge) -> tuple[str, str, str]:
    return normal_name(edge.source), normal_name(edge.action), normal_name(edge.target)


def same_triplet(first: Hop, second: Hop) -> bool:
    """Return whether two triplets are equal after normalization."""
    return all(normal_name(mine) == normal_name(yours) for mine, yours in zip(first, second, strict=True))


def triplet_scores(truth: Trajectory, triplets: PlayerTriplets, *, in_place: bool) -> list[float]:
    """Return 1 or 0 for each step: whether its triplet was given, for this step if `in_place`, otherwise for any.

    Only as many triplets count as there are steps, so that listing all possible triplets does not help.
    """
    if in_place:
        padded = [*triplets[: len(truth)], *[None] * (len(truth) - len(triplets))]
        return [float(hop is not None and same_triplet(hop, true)) for true, hop in zip(truth, padded, strict=True)]
    remaining = Counter(tuple(map(normal_name, hop)) for hop in triplets[: len(truth)] if hop is not None)
    right: list[float] = []
    for hop in truth:
        key = tuple(map(normal_name, hop))
        right.append(float(remaining[key] > 0))
        remaining[key] -= 1
    return right


def _question_success(instance: Extraction, question: Question, graph: TripletGraph, rules: Rules) -> float:
    answer: Sequence[Hop] = graph.answer(question)
    return success(instance.map, question, answer, rules, any_reached=not rules.similar) if answer else 0.0


MODES = ("steps", "whole")
BEFORE = ("told", "own")


@dataclass(frozen=True, slots=True)
class ExtractionState:
    """An extraction and the triplets so far.

    Attributes:
        task: The extraction.
        mode: "steps": one triplet in each turn, the first five being examples; "whole": all in one answer.
        before: The place that the prompt gives as the place before a step: "told" for the true place, "own" for the end
            of the player's last triplet.
        triplets: The triplets so far; None for a step whose triplet could not be read.
        end: None before the last triplet.
    """

    task: Extraction
    mode: str
    before: str
    triplets: PlayerTriplets = ()
    end: End | None = None

    @property
    def step(self) -> int:
        """Number of the next step; of the first step in mode "whole"."""
        return 1 + len(self.triplets) + (EXAMPLES if self.mode == "steps" else 0)

    @property
    def place(self) -> str:
        """The place that the prompt gives as the place before the next step."""
        last = next((hop.after for hop in reversed(self.triplets) if hop is not None), None)
        if self.before == "own" and last is not None:
            return last
        # Before the first triplet, the place is the end of the examples.
        return self.task.truth[self.step - 1 - (len(self.triplets) if self.before == "own" else 0)].before


class ExtractionRules(TrajectoryAnswers, Game[Extraction, ExtractionState, Trajectory]):
    """The player gives triplets, one for each step or all at once; then their graph answers the questions.

    The reward of a right triplet is one divided by the number of triplets. The game is solved if the graph answers all
    questions.

    Args:
        mode: "steps" or "whole".
        before: "told" or "own"; see `ExtractionState`.
        rules: The scoring rules.
    """

    def __init__(self, mode: str, before: str, rules: Rules) -> None:
        self.facts = Facts(deterministic=True, turns=None if mode == "steps" else 1)
        self._mode, self._before, self._rules = mode, before, rules

    def start(self, instance: Extraction) -> ExtractionState:
        """Return the extraction before the first triplet."""
        return ExtractionState(instance, self._mode, self._before)

    def legal(self, state: ExtractionState) -> Sequence[Trajectory]:
        """Return one triplet for each place that the next step could lead to."""
        if state.end is not None:
            return ()
        true = state.task.truth[state.step - 1]
        return [(Hop(true.before, true.action, place),) for place in state.task.map.places]

    def apply(self, state: ExtractionState, action: Trajectory, rng: Stream) -> Transition[ExtractionState]:
        """Score a triplet, or all of them."""
        if state.mode == "steps" and len(action) != 1:
            return Transition(self.forfeit(state), outcome=Outcome.ILLEGAL)
        after = self._with(state, action)
        truth = expected_triplets(state.task, state.mode)
        if state.mode == "steps":
            share = float(same_triplet(action[0], truth[len(state.triplets)]))
            reward = share / len(truth)
        else:
            share = reward = result(state.task, action, state.mode, self._rules).triplets
        places = move_index(state.task.map)
        strange = any(places.find_place(hop.before) is None or places.find_place(hop.after) is None for hop in action)
        wrong = Outcome.ILLEGAL if strange else Outcome.UNPRODUCTIVE
        return Transition(after, reward, {"right": share}, Outcome.OK if share == 1 else wrong)

    def forfeit(self, state: ExtractionState) -> ExtractionState:
        """Continue without a triplet for the step, or end without any."""
        return self._with(state, (None,) if state.mode == "steps" else ())

    def _with(self, state: ExtractionState, more: PlayerTriplets) -> ExtractionState:
        triplets = (*state.triplets, *more)
        if state.mode == "steps" and len(triplets) < len(expected_triplets(state.task, state.mode)):
            return replace(state, triplets=triplets)
        solved = result(state.task, triplets, state.mode, self._rules).success == 1
        return replace(state, triplets=triplets, end=End.SOLVED if solved else End.FAILED)

    def terminal(self, state: ExtractionState) -> End | None:
        """Return whether the graph answers all questions, after the last triplet."""
        return state.end

    def perturb(self, state: ExtractionState, action: Trajectory, rate: float, rng: Stream) -> Trajectory:
        """Replace the end of each triplet by a random place with the given probability."""
        places = state.task.map.places
        return tuple(hop._replace(after=rng.choice(places)) if rng.random() < rate else hop for hop in action)


def _predict(state: ExtractionState, after: Callable[[int, str], str]) -> Trajectory:
    """Return triplets whose end is a function of the step number and the place before, as the player knows it."""
    truth, before = state.task.truth, state.place
    triplets: list[Hop] = []
    for number in range(state.step, state.step + 1 if state.mode == "steps" else len(truth) + 1):
        triplets.append(Hop(before, truth[number - 1].action, after(number, before)))
        before = triplets[-1].after
    return tuple(triplets)


def oracle(state: ExtractionState, rng: Stream) -> Trajectory:
    """Give the true triplets."""
    truth = state.task.truth
    return (truth[state.step - 1],) if state.mode == "steps" else truth


def headings(state: ExtractionState, rng: Stream) -> Trajectory:
    """Take the first line of an observation as the place if it is a name; otherwise assume no move."""
    task = state.task
    names = {normal_name(place): place for place in seen_names(task.map, task.cutoff).places}

    def after(number: int, before: str) -> str:
        lines = task.map.steps[number].observation.strip().splitlines()
        return names.get(normal_name(lines[0]), before) if lines else before

    return _predict(state, after)


def staying(state: ExtractionState, rng: Stream) -> Trajectory:
    """Assume that no step leads anywhere."""
    return _predict(state, lambda number, before: before)


def random(state: ExtractionState, rng: Stream) -> Trajectory:
    """Choose a random place after each step."""
    return _predict(state, lambda number, before: rng.choice(state.task.map.places))


PLAYERS: Mapping[str, Player[ExtractionState, Trajectory]] = {
    "heuristic": headings,
    "oracle": oracle,
    "headings": headings,
    "staying": staying,
    "random": random,
}

"""Extractions: walkthroughs to write as triplets, questions for their graph, and its answers (MANGO, section C.4)."""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, zip_longest
from statistics import fmean
from typing import NamedTuple

from waybench.core import DataError, Json, Stream, UsageError, check_known_fields, is_array, is_object, normalize_name
from waybench.envs.textmap._answers import (
    MOST_HOPS,
    PAPER,
    Hop,
    MatchingRules,
    ScoredQuestion,
    Trajectory,
    answer_success,
)
from waybench.envs.textmap._game import rename_question, renaming_of_places
from waybench.envs.textmap._instances import (
    Locate,
    MapInstance,
    insert_published_map,
    read_map,
    read_number,
    truncate_map,
)
from waybench.envs.textmap._items import MapQuestion, decode_destination_on_map, decode_route_on_map
from waybench.envs.textmap._map_environment import LONGEST, sample_questions_on_map
from waybench.envs.textmap._place_map import PlaceMap, normalize_action
from waybench.envs.textmap._prefix import PUBLISHED_STEPS, EasyOrHard, is_reached, places_after_steps
from waybench.envs.textmap.worlds._data import opposite_action

VERSION = 1  # of the questions that are sampled by default
EXAMPLES = 5  # steps whose triplets are shown
LEAST_CUTOFF = EXAMPLES + 1
QUESTIONS, MOST_QUESTIONS = 4, 1_000


@dataclass(frozen=True, slots=True)
class Extraction(MapInstance):
    """A walkthrough whose steps the player writes as triplets, and questions for their graph."""

    questions: tuple[MapQuestion, ...] = field(hash=False)  # each would hash the whole map again

    @property
    def truth(self) -> Trajectory:
        """The triplet of each step from 1 on: place before, action, place after; the same place if nothing changes."""
        return true_triplets(self.map, self.cutoff)

    def question_json(self) -> dict[str, Json]:
        return {
            "cutoff": self.cutoff,
            "questions": [question.question_json_without_cutoff() for question in self.questions],
        }


def rename_extraction(extraction: Extraction, key: str, number: int) -> Extraction:
    """Return an isomorphic extraction: all places have new names, also in the walkthrough and the questions."""
    questions = tuple(rename_question(question, key, number) for question in extraction.questions)
    return replace(
        extraction, map=renaming_of_places(extraction, key, number).rename_map(extraction.map), questions=questions
    )


@lru_cache(maxsize=64)
def true_triplets(place_map: PlaceMap, cutoff: int) -> Trajectory:
    """Return the true triplets of the steps from 1 to `cutoff`."""
    places = places_after_steps(place_map, cutoff)
    return tuple(
        Hop(places[number - 1], normalize_action(place_map.steps[number].action), places[number])
        for number in range(1, cutoff + 1)
    )


def make_extractions(
    place_map: PlaceMap,
    cutoff: int,
    questions: int,
    stream: Stream,
    *,
    longest: int = LONGEST,
) -> list[Extraction]:
    """Return a list with the extraction of a map's walkthrough; an empty list if the prefix has no question.

    There are at most as many route questions as `questions` says, and at most as many destination questions, whose
    paths have at most `longest` moves. `cutoff` is at most 70 for a published map, which has no positions after that.
    Raises a UsageError if the map has too many paths to sample from.
    """
    cutoff = min(cutoff, place_map.last_step, MOST_HOPS)
    prefix = truncate_map(place_map, cutoff)
    if cutoff < LEAST_CUTOFF or not any(edge.forward <= cutoff for edge in place_map.edges):
        return []
    sample = sample_questions_on_map(prefix, "route", cutoff, questions, stream)
    sample += sample_questions_on_map(prefix, "destination", cutoff, questions, stream, longest=longest)
    return [Extraction(prefix, cutoff, tuple(sample))] if sample else []


def decode_extraction(data: Json) -> Extraction:
    """Read an extraction. "questions" is optional; by default, they are sampled."""
    if not is_object(data):
        raise DataError('instance: give an extraction, {"map": {...}, "cutoff": 70, "questions": [{"src": ...}, ...]}')
    check_known_fields(data, ("map", "game", "cutoff", "questions"))
    full_map = read_map(data)
    if full_map.last_step < LEAST_CUTOFF:
        raise DataError(
            f"map: steps: the walkthrough ends at step {full_map.last_step}; give one of {LEAST_CUTOFF} or more"
        )
    last_shown = read_number(data, "cutoff", LEAST_CUTOFF, MOST_HOPS, "the last step shown")
    cutoff = min(last_shown, full_map.last_step)
    place_map = truncate_map(full_map, cutoff)
    try:
        true_triplets(place_map, cutoff)
        if "questions" not in data:
            return _sample_extraction(place_map, cutoff)
    except UsageError as error:
        raise DataError(ascii(str(error))[1:-1][:500]) from None
    rows = data["questions"]
    if not is_array(rows) or not 1 <= len(rows) <= MOST_QUESTIONS:
        raise DataError(f"questions: give a list of 1 to {MOST_QUESTIONS}")
    questions = [_read_question(place_map, cutoff, row, number) for number, row in enumerate(rows)]
    return Extraction(place_map, cutoff, tuple(questions))


def _sample_extraction(place_map: PlaceMap, cutoff: int) -> Extraction:
    """Return the extraction with the default sample of questions."""
    stream = Stream("textmap/extract", VERSION, place_map.name, place_map.steps[0].observation, cutoff)
    for extraction in make_extractions(place_map, cutoff, QUESTIONS, stream):
        return extraction
    raise DataError("cutoff: the walkthrough up to this step has no answerable question; show more of it")


def _read_question(place_map: PlaceMap, cutoff: int, data: Json, number: int) -> MapQuestion:
    """Read question `number` of a list about one map; errors name it."""
    where = f"questions: record {number}"
    if not is_object(data):
        raise DataError(f'{where}: give {{"src": ..., "dst": ...}}, or {{"src": ..., "actions": [...]}}')
    for name in ("map", "game", "cutoff"):
        if name in data:
            raise DataError(f"{where}: {name} belongs beside the questions")
    try:
        question = (decode_destination_on_map if "actions" in data else decode_route_on_map)(place_map, cutoff, data)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    if question.labels.difficulty(cutoff) is None:
        raise DataError(f"{where}: the question cannot be answered from the steps shown")
    return question


def resolve_extraction(data: Json, locate: Locate) -> Json:
    """Return an extraction with the map of a published game in place of the game's name (field "game").

    Data without that field, or with a map already, is returned unchanged.
    """
    if is_object(data) and "game" in data and "map" not in data:
        read_number(data, "cutoff", LEAST_CUTOFF, PUBLISHED_STEPS, "the last step shown")
    return insert_published_map(data, locate)


PlayerTriplets = tuple[Hop | None, ...]
"""The triplets of a player in the order of the steps; None where no triplet could be read."""


def normalize_hop(hop: Hop) -> Hop:
    """Return a triplet with normalized names."""
    return Hop(*map(normalize_name, hop))


class TripletGraph:
    """The graph of triplets; names are compared after normalization.

    Triplets that end where they start are ignored. With `opposites`, the opposite move of each triplet is added, unless
    a triplet says where it leads.
    """

    def __init__(self, triplets: Iterable[Hop], *, opposites: bool) -> None:
        self._hops: dict[str, dict[str, list[Hop]]] = {}  # place before -> action -> moves
        moves = [hop for hop in triplets if normalize_name(hop.before) != normalize_name(hop.after)]
        for hop in moves:
            self._add_hop(hop)
        stated_moves = {(normalize_name(hop.before), normalize_name(hop.action)) for hop in moves}
        for before, action, after in moves if opposites else ():
            opposite = opposite_action(normalize_name(action))
            if opposite is not None and (normalize_name(after), opposite) not in stated_moves:
                self._add_hop(Hop(after, opposite, before))

    def _add_hop(self, hop: Hop) -> None:
        """Add a move, unless there is one with the same normalized names."""
        hops = self._hops.setdefault(normalize_name(hop.before), {}).setdefault(normalize_name(hop.action), [])
        if all(normalize_name(hop.after) != normalize_name(other.after) for other in hops):
            hops.append(hop)

    @property
    def edges(self) -> frozenset[Hop]:
        """All moves, with normalized names."""
        hops = chain.from_iterable(chain.from_iterable(by_action.values()) for by_action in self._hops.values())
        return frozenset(map(normalize_hop, hops))

    def answer_question(self, question: ScoredQuestion) -> Trajectory:
        """Return a shortest route, or the path of the given moves; empty if the graph has none."""
        return self._follow_actions(question) if question.actions else self._find_shortest_route(question)

    def _find_shortest_route(self, question: ScoredQuestion) -> Trajectory:
        """Return a shortest route from source to target; empty if there is none."""
        source, target = normalize_name(question.source), normalize_name(question.target)
        arrivals: dict[str, Hop] = {}
        queue = deque([source])
        while queue and target not in arrivals:
            for hop in chain.from_iterable(self._hops.get(queue.popleft(), {}).values()):
                after = normalize_name(hop.after)
                if after != source and after not in arrivals:
                    arrivals[after] = hop
                    queue.append(after)
        reversed_route: list[Hop] = []
        while target in arrivals:
            reversed_route.append(arrivals[target])
            target = normalize_name(arrivals[target].before)
        return tuple(reversed(reversed_route))

    def _follow_actions(self, question: ScoredQuestion) -> Trajectory:
        """Return a path of the given actions from the source; empty if there is none."""
        path_by_end: dict[str, Trajectory] = {normalize_name(question.source): ()}
        for action in question.actions:
            longer_paths: dict[str, Trajectory] = {}
            for place, path in path_by_end.items():
                for hop in self._hops.get(place, {}).get(normalize_name(action), ()):
                    longer_paths.setdefault(normalize_name(hop.after), (*path, hop))
            path_by_end = longer_paths
        return next(iter(path_by_end.values()), ())


class QuestionResult(NamedTuple):
    """The success of a "route" or "destination" question (`kind`) in the graphs with and without opposite moves."""

    kind: str
    difficulty: EasyOrHard | None
    success: float
    success_without_opposites: float


class ExtractionResult(NamedTuple):
    """The result of an extraction.

    `triplets` is the share of the steps with a right triplet, and `moving` the same for steps to another place.
    `precision` is the share of the graph's moves that are on the map, `recall` the share of the moves known to a reader
    that the graph has. A share of nothing is None.
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
def score_triplets(instance: Extraction, triplets: PlayerTriplets, mode: str, rules: MatchingRules) -> ExtractionResult:
    """Return the result of a player's triplets.

    In mode "steps", the graph also has the triplets of the examples, unless the player gave none at all. In mode
    "whole", `PAPER` compares triplets and steps by position, so a missing triplet makes all that follow wrong.
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
    truth = expected_triplets(instance, mode)
    marks = right_triplet_marks(truth, triplets, in_place=mode == "steps" or rules is PAPER)
    moving_marks = [mark for mark, hop in zip(marks, truth, strict=True) if hop.before != hop.after]
    map_moves = {edge: normalize_hop(Hop(edge.source, edge.action, edge.target)) for edge in instance.map.edges}
    known_moves = {hop for edge, hop in map_moves.items() if is_reached(edge.known_step, instance.cutoff)}
    given_moves = graph.edges
    return ExtractionResult(
        question_results,
        fmean(marks),
        fmean(moving_marks) if moving_marks else None,
        len(given_moves.intersection(map_moves.values())) / len(given_moves) if given_moves else None,
        len(given_moves & known_moves) / len(known_moves) if known_moves else None,
    )


def right_triplet_marks(truth: Trajectory, triplets: PlayerTriplets, *, in_place: bool) -> list[float]:
    """Return 1 or 0 for each step: whether its triplet was given, for this step if `in_place`, otherwise for any.

    Only as many triplets count as there are steps, so that listing all possible triplets does not help.
    """
    if in_place:
        return [
            float(hop is not None and normalize_hop(hop) == normalize_hop(true_hop))
            for true_hop, hop in zip_longest(truth, triplets[: len(truth)])
        ]
    remaining = Counter(normalize_hop(hop) for hop in triplets[: len(truth)] if hop is not None)
    marks: list[float] = []
    for true_hop in map(normalize_hop, truth):
        marks.append(float(remaining[true_hop] > 0))
        remaining[true_hop] -= 1
    return marks


def _question_success(
    instance: Extraction, question: ScoredQuestion, graph: TripletGraph, rules: MatchingRules
) -> float:
    """Return the success of the graph's answer to a question; 0 if it has none."""
    answer = graph.answer_question(question)
    # In the paper's formula only the question's target is right.
    return answer_success(instance.map, question, answer, rules, any_reached=not rules.similar) if answer else 0.0

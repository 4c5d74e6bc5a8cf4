"""Route and destination questions: rules, isomorphic questions and reference players."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from statistics import fmean

from waybench.core import AnswerState, DataError, Json, Judgement, OneAnswerGame, Outcome, Player, Stream, is_array
from waybench.envs.textmap._answers import (
    MOST_HOPS,
    PAPER,
    SOUND,
    Hop,
    MatchingRules,
    Trajectory,
    answer_success,
    is_reasoning_right,
    move_index,
    path_length_weight,
)
from waybench.envs.textmap._instances import LONGEST_NAME, MapInstance, Renaming, draw_renaming, name_similarity
from waybench.envs.textmap._items import MapQuestion
from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap, normalize_action
from waybench.envs.textmap._prefix import places_after_steps
from waybench.envs.textmap.worlds._data import draw_name, opposite_action

_LONGEST_WALK = 2  # most moves of a random route, as a multiple of the shortest path


def renaming_of_places(instance: MapInstance, key: str, number: int) -> Renaming:
    """Return the new names of a map's places, the same for all questions about it in an isomorphic set."""
    return draw_renaming(instance.map.places, draw_name, key, instance.map.name, number)


def rename_question(question: MapQuestion, key: str, number: int) -> MapQuestion:
    """Return a question with new names for all places, in the walkthrough, too. Moves and steps stay."""
    names = renaming_of_places(question, key, number)
    return replace(
        question,
        map=names.rename_map(question.map),
        source=names.rename_place(question.source),
        target=names.rename_place(question.target),
        path=tuple(map(names.rename_edge, question.path)),
    )


class TrajectoryAnswers:
    """JSON encoding of trajectories as the actions of a game."""

    def encode(self, action: Trajectory) -> Json:
        """Return [place before, action, place after] for each move."""
        return [list(hop) for hop in action]

    def decode(self, action: Json) -> Trajectory:
        """Read a trajectory from JSON; see `read_hops`."""
        return read_hops(action)


class QuestionGame(TrajectoryAnswers, OneAnswerGame[MapQuestion, Trajectory]):
    """A game whose answer is a trajectory.

    The events have the score by the rules `sound` in any case, so that a run with the rules `paper` gives both scores.
    """

    def __init__(self, rules: MatchingRules) -> None:
        self._rules = rules

    def answers(self, instance: MapQuestion) -> Sequence[Trajectory]:
        """Return answers of one move: each move that leaves the source, or each place as a destination."""
        if instance.path:
            return [(Hop(instance.source, instance.actions[0], place),) for place in instance.map.places]
        edges = [edge for edge in instance.map.edges if edge.source == instance.source]
        moves = [(Hop(edge.source, edge.action, edge.target),) for edge in edges]
        # From a place without a move, every action leads nowhere.
        return moves or [(Hop(instance.source, action, instance.source),) for action in instance.map.actions]

    def judge(self, instance: MapQuestion, answer: Trajectory) -> Judgement:
        """Score an answer by the game's rules; the events have its other scores."""
        place_map, rules, index = instance.map, self._rules, move_index(instance.map)
        strict = answer_success(place_map, instance, answer, SOUND)
        # In the paper's formula only the question's target is right; in `sound` any place that the moves can lead to.
        value = answer_success(place_map, instance, answer, PAPER, any_reached=False) if rules is PAPER else strict
        events: dict[str, Json] = {
            "strict": strict,
            "weight": path_length_weight(place_map, instance, answer),
            "reasoning": is_reasoning_right(place_map, instance, answer, rules),
            "moves": len(answer),
            "invented": sum(not index.has_move(hop.before, hop.action, hop.after) for hop in answer),
        }
        return Judgement(value, events, Outcome.OK if value == 1 else self._failure_outcome(instance, answer))

    def _failure_outcome(self, question: MapQuestion, hops: Trajectory) -> Outcome:
        """Return ILLEGAL for moves or places that the map does not have, UNPRODUCTIVE for a wrong end."""
        index = move_index(question.map)
        if question.path:
            return Outcome.ILLEGAL if index.find_place(hops[-1].after) is None else Outcome.UNPRODUCTIVE
        end_places = index.places_after_actions(question.source, [hop.action for hop in hops], self._rules)
        return Outcome.UNPRODUCTIVE if end_places else Outcome.ILLEGAL

    def perturb(self, state: AnswerState[MapQuestion], action: Trajectory, rate: float, rng: Stream) -> Trajectory:
        """Replace the action and the end of each move by random ones with the given probability."""
        places, actions = state.instance.map.places, state.instance.map.actions
        return tuple(
            Hop(hop.before, rng.choice(actions), rng.choice(places)) if rng.random() < rate else hop for hop in action
        )


def read_hops(data: Json) -> Trajectory:
    """Read moves of an answer from JSON: [place before, action, place after] for each."""
    if not is_array(data) or not 1 <= len(data) <= MOST_HOPS:
        raise DataError("an answer is a list of moves")
    for move in data:
        if (
            not is_array(move)
            or len(move) != len(Hop._fields)
            or not all(isinstance(text, str) and len(text) <= LONGEST_NAME for text in move)
        ):
            raise DataError("a move is a list of three texts")
    return tuple(Hop(*move) for move in data)  # pyright: ignore[reportArgumentType]


def oracle(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Return the path of the question, or a shortest one on the whole map."""
    question = state.instance
    return _hops_of_edges(
        question.path or shortest_path_by_edges(question, question.map.edges) or _placeholder_move(question)
    )


def walk_made_moves(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Answer as a player that knows the moves that the walkthrough makes, and nothing that follows from them.

    A route is a shortest path of these moves; if there is none, a made-up move straight to the destination. Given moves
    that were never made lead nowhere.
    """
    question = state.instance
    walked_edges = [edge for edge in question.map.edges if edge.forward <= question.cutoff]
    if question.path:
        return _follow_known_moves(question, {(edge.source, edge.action): edge.target for edge in walked_edges})
    return _hops_of_edges(shortest_path_by_edges(question, walked_edges) or _placeholder_move(question))


def reverse(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Retrace the walkthrough.

    A route goes along the walkthrough from where it was at the source to where it was at the destination, forward or
    backward, whichever is nearer. Given moves lead where the walkthrough made them, or back where it made their
    opposites, by the words alone.
    """
    question = state.instance
    if not question.path:
        return _retrace_walkthrough(question) or _hops_of_edges(_placeholder_move(question))
    walked_edges = [edge for edge in question.map.edges if edge.forward <= question.cutoff]
    known_moves = {
        (edge.target, opposite): edge.source for edge in walked_edges if (opposite := opposite_action(edge.action))
    }
    known_moves |= {(edge.source, edge.action): edge.target for edge in walked_edges}
    return _follow_known_moves(question, known_moves)


def random(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Walk at random by moves of the map; or say a random place of the list."""
    question = state.instance
    if question.path:
        return (Hop(question.source, question.actions[0], rng.choice(question.map.places)),)
    path: list[Edge] = []
    current_place = question.source
    for _ in range(1 + rng.below(_LONGEST_WALK * (question.shortest or 1))):
        edges = [edge for edge in question.map.edges if edge.source == current_place]
        if not edges:
            break
        path.append(rng.choice(edges))
        current_place = path[-1].target
    return _hops_of_edges(path or _placeholder_move(question))


def constant(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Give an answer that is the same for all questions about a map: the best one made of the map's own names.

    A destination is the place whose name is most similar to all places' names on average; a route is the most frequent
    action of the map. In "paper", a letter that is equally close to several actions can do a little better.
    """
    question = state.instance
    place, action = _best_constant_names(question.map)
    if question.path:
        return (Hop(question.source, question.actions[0], place),)
    return (Hop(question.source, action, question.target),)


PLAYERS: Mapping[str, Player[AnswerState[MapQuestion], Trajectory]] = {
    "heuristic": reverse,
    "oracle": oracle,
    "walked": walk_made_moves,
    "reverse": reverse,
    "random": random,
    "constant": constant,
}


def _hops_of_edges(edges: Iterable[Edge]) -> Trajectory:
    """Return moves of the map as the moves of an answer."""
    return tuple(Hop(edge.source, edge.action, edge.target) for edge in edges)


def _placeholder_move(question: MapQuestion) -> Sequence[Edge]:
    """Return a made-up move from the source to the destination, as an answer if no path is known."""
    actions_from_source = (edge.action for edge in question.map.edges if edge.source == question.source)
    action = next(actions_from_source, question.map.actions[0])
    return [Edge(question.source, question.target, action, NEVER, NEVER, NEVER, NEVER)]


def shortest_path_by_edges(question: MapQuestion, edges: Iterable[Edge]) -> list[Edge]:
    """Return a shortest path that uses the given moves, the first in their order; empty if there is none."""
    edges_by_source: dict[str, list[Edge]] = {}
    for edge in edges:
        edges_by_source.setdefault(edge.source, []).append(edge)
    arrivals: dict[str, Edge | None] = {question.source: None}  # place -> the move that reaches it first
    queue = deque([question.source])
    while queue and question.target not in arrivals:
        for edge in edges_by_source.get(queue.popleft(), ()):
            if edge.target not in arrivals:
                arrivals[edge.target] = edge
                queue.append(edge.target)
    reversed_path: list[Edge] = []
    arrival = arrivals.get(question.target)
    while arrival is not None:
        reversed_path.append(arrival)
        arrival = arrivals[arrival.source]
    return reversed_path[::-1]


def _follow_known_moves(question: MapQuestion, known_moves: Mapping[tuple[str, str], str]) -> Trajectory:
    """Return an answer that follows the given actions; `known_moves` are (place, action) -> place after it.

    An action that is not known at a place leads nowhere.
    """
    current_place = question.source
    hops: list[Hop] = []
    for action in question.actions:
        place_after = known_moves.get((current_place, action), current_place)
        hops.append(Hop(current_place, action, place_after))
        current_place = place_after
    return tuple(hops)


def _retrace_walkthrough(question: MapQuestion) -> Trajectory:
    """Return the walkthrough's moves between source and target, reversed if that is shorter; () if there are none."""
    last_step = min(question.cutoff, question.map.last_step)
    if not any(edge.forward <= last_step for edge in question.map.edges):
        return ()
    places = places_after_steps(question.map, last_step)
    starts = [number for number, place in enumerate(places) if place == question.source]
    ends = [number for number, place in enumerate(places) if place == question.target]
    if not starts or not ends:
        return ()
    start, end = min(product(starts, ends), key=lambda pair: (abs(pair[1] - pair[0]), pair[1] < pair[0]))
    actions = [normalize_action(step.action) for step in question.map.steps]
    if start < end:
        hops = [Hop(places[number - 1], actions[number], places[number]) for number in range(start + 1, end + 1)]
    else:
        hops = [
            Hop(places[number], opposite_action(actions[number]) or actions[number], places[number - 1])
            for number in range(start, end, -1)
        ]
    return tuple(hop for hop in hops if hop.before != hop.after)


@lru_cache(maxsize=256)
def _best_constant_names(place_map: PlaceMap) -> tuple[str, str]:
    """Return the place and the action that `constant` answers with."""

    def mean_similarity(place: str) -> float:
        """Return the mean similarity of a place's name to all places' names."""
        return fmean(name_similarity(place, other) for other in place_map.places)

    [(action, _)] = Counter(edge.action for edge in place_map.edges).most_common(1)
    return max(place_map.places, key=mean_similarity), action

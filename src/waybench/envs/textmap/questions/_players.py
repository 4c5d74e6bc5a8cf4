"""Reference players."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean

from waybench.core import AnswerState, Player, Stream
from waybench.envs.textmap.map import NEVER, Edge, PlaceMap, similarity, track
from waybench.envs.textmap.questions._answer import Hop, Trajectory
from waybench.envs.textmap.questions._instance import MapQuestion
from waybench.envs.textmap.worlds import opposite

_LONGEST_WALK = 2  # most moves of a random route, as a multiple of the shortest path


def oracle(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Return the path of the question, or a shortest one on the whole map."""
    question = state.instance
    return _hops(question.path or shortest_way(question, question.map.edges) or _placeholder_move(question))


def walked(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Know the moves that the walkthrough makes, and nothing that follows from them.

    A route is a shortest one by these moves; without one, it goes straight to the destination by whatever leaves the
    source. Given moves that were never made lead nowhere.
    """
    question = state.instance
    walked_edges = [edge for edge in question.map.edges if edge.forward <= question.cutoff]
    if question.path:
        return _follow(question, {(edge.source, edge.action): edge.target for edge in walked_edges})
    return _hops(shortest_way(question, walked_edges) or _placeholder_move(question))


def reverse(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Retrace the walkthrough.

    A route goes along the walkthrough from where it was at the source to where it was at the destination, forward or
    backward, whichever is nearer. Given moves lead where the walkthrough made them, or back where it made their
    opposites, by the words alone.
    """
    question = state.instance
    if not question.path:
        return _retrace(question) or _hops(_placeholder_move(question))
    leads = {
        (edge.target, back): edge.source
        for edge in question.map.edges
        if edge.forward <= question.cutoff and (back := opposite(edge.action))
    }
    leads |= {(edge.source, edge.action): edge.target for edge in question.map.edges if edge.forward <= question.cutoff}
    return _follow(question, leads)


def random(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Walk at random by moves of the map; or say a random place of the list."""
    question = state.instance
    if question.path:
        return (Hop(question.source, question.actions[0], rng.choice(question.map.places)),)
    way: list[Edge] = []
    here = question.source
    for _ in range(1 + rng.below(_LONGEST_WALK * (question.shortest or 1))):
        ways = [edge for edge in question.map.edges if edge.source == here]
        if not ways:
            break
        way.append(rng.choice(ways))
        here = way[-1].target
    return _hops(way or _placeholder_move(question))


def constant(state: AnswerState[MapQuestion], rng: Stream) -> Trajectory:
    """Give an answer that is the same for all questions about a map: the best one made of the map's own names.

    Of a destination it is the place that is most similar to all places on average; of a route, the move that leads
    from one place to another most often. In "paper", a letter that is equally close to several actions can do a little
    better.
    """
    question = state.instance
    place, action = _best_constant(question.map)
    if question.path:
        return (Hop(question.source, question.actions[0], place),)
    return (Hop(question.source, action, question.target),)


PLAYERS: Mapping[str, Player[AnswerState[MapQuestion], Trajectory]] = {
    "heuristic": reverse,
    "oracle": oracle,
    "walked": walked,
    "reverse": reverse,
    "random": random,
    "constant": constant,
}


def _hops(edges: Iterable[Edge]) -> Trajectory:
    return tuple(Hop(edge.source, edge.action, edge.target) for edge in edges)


def _placeholder_move(question: MapQuestion) -> Sequence[Edge]:
    """Return a made-up move from the source to the destination, as an answer if no path is known."""
    action = next((edge.action for edge in question.map.edges if edge.source == question.source), None)
    unknown = (NEVER,) * 4
    return [Edge(question.source, question.target, action or question.map.actions[0], *unknown)]


def shortest_way(question: MapQuestion, edges: Iterable[Edge]) -> list[Edge]:
    """Return a shortest path that uses the given moves, the first in their order; empty if there is none."""
    ways: dict[str, list[Edge]] = {}
    for edge in edges:
        ways.setdefault(edge.source, []).append(edge)
    arrivals: dict[str, Edge | None] = {question.source: None}
    queue = deque([question.source])
    while queue and question.target not in arrivals:
        for edge in ways.get(queue.popleft(), ()):
            if edge.target not in arrivals:
                arrivals[edge.target] = edge
                queue.append(edge.target)
    way: list[Edge] = []
    last = arrivals.get(question.target)
    while last is not None:
        way.append(last)
        last = arrivals[last.source]
    return way[::-1]


def _follow(question: MapQuestion, leads: Mapping[tuple[str, str], str]) -> Trajectory:
    """Return the given moves with the places that they are known to lead to; other moves lead nowhere."""
    here = question.source
    hops: list[Hop] = []
    for action in question.actions:
        there = leads.get((here, action), here)
        hops.append(Hop(here, action, there))
        here = there
    return tuple(hops)


def _retrace(question: MapQuestion) -> Trajectory:
    """Return the part of the walkthrough between two places, reversed if that is shorter."""
    last = min(question.cutoff, question.map.last_step)
    if not any(edge.forward <= last for edge in question.map.edges):
        return ()
    places = track(question.map, last)
    positions: dict[str, list[int]] = {}
    for number, place in enumerate(places):
        positions.setdefault(place, []).append(number)
    pairs = [(begin, end) for begin in positions.get(question.source, ()) for end in positions.get(question.target, ())]
    if not pairs:
        return ()
    begin, end = min(pairs, key=lambda pair: (abs(pair[1] - pair[0]), pair[1] < pair[0]))
    actions = [step.action.strip().lower() for step in question.map.steps]
    hops: list[Hop] = []
    if begin < end:
        steps = ((places[number - 1], actions[number], places[number]) for number in range(begin + 1, end + 1))
    else:
        steps = (
            (places[number], opposite(actions[number]) or actions[number], places[number - 1])
            for number in range(begin, end, -1)
        )
    for before, action, after in steps:
        if before != after:
            hops.append(Hop(before, action, after))
    return tuple(hops)


@lru_cache(maxsize=256)
def _best_constant(place_map: PlaceMap) -> tuple[str, str]:
    def mean_similarity(place: str) -> float:
        return fmean(similarity(place, other) for other in place_map.places)

    return max(place_map.places, key=mean_similarity), Counter(edge.action for edge in place_map.edges).most_common(1)[
        0
    ][0]

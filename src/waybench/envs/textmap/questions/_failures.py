"""Failure kinds of route and destination answers: invalid moves or places, and wrong ends."""

from collections.abc import Callable

from waybench.core import NO_ANSWER, EpisodeRecord, FailureKind, Json, general_failure
from waybench.envs.textmap.questions._answer import Trajectory
from waybench.envs.textmap.questions._game import read_hops
from waybench.envs.textmap.questions._instance import MapQuestion, decode_destination, decode_route
from waybench.envs.textmap.questions._score import RULES, move_index

UNANSWERABLE = FailureKind(
    "unanswerable",
    "questions without an answer",
    "The question cannot be answered from the steps shown; it is excluded from all scores.",
)
NO_MOVE = FailureKind("no_move", "moves that are not on the map", "A move of the route cannot be made there.")
NO_PLACE = FailureKind("no_place", "places that do not exist", "The answer names a place that is not on the map.")
PASSED = FailureKind("passed", "routes past the destination", "The route reaches the destination and then continues.")
SHORT = FailureKind(
    "stops_short", "stopping short", "The answer follows the right path but ends before the destination."
)
ELSEWHERE = FailureKind("elsewhere", "ending at a wrong place", "The answer ends at another place of the map.")

ROUTE_FAILURES = (UNANSWERABLE, NO_MOVE, PASSED, SHORT, ELSEWHERE)
DESTINATION_FAILURES = (UNANSWERABLE, NO_PLACE, SHORT, ELSEWHERE)


def _classifier(
    own: Callable[[MapQuestion, Trajectory, EpisodeRecord], FailureKind], decode: Callable[[Json], MapQuestion]
) -> Callable[[EpisodeRecord], FailureKind]:
    """Return the failure function of an environment; `own` classifies answers to answerable questions."""

    def failure(record: EpisodeRecord) -> FailureKind:
        general = general_failure(record)
        if general in NO_ANSWER or not record.turns or record.turns[-1].action is None:
            return general
        if not record.proof["answerable"]:
            return UNANSWERABLE
        return own(decode(record.instance), read_hops(record.turns[-1].action), record)

    return failure


def _route(question: MapQuestion, hops: Trajectory, record: EpisodeRecord) -> FailureKind:
    index = move_index(question.map)
    rules = RULES[record.options["protocol"]]
    actions = [hop.action for hop in hops]
    ends = [index.follow(question.source, actions[:count], rules) for count in range(1, len(actions) + 1)]
    if not ends[-1]:
        return NO_MOVE
    if any(question.target in places for places in ends):
        return PASSED
    from waybench.envs.textmap.map import routes  # imports numpy, so only when it is needed

    shortest, table = question.shortest, routes(question.map)
    rest = [table.shortest(place, question.target) for place in ends[-1] if place != question.target]
    on_the_way = shortest is not None and shortest - len(hops) in rest
    return SHORT if on_the_way else ELSEWHERE


def _destination(question: MapQuestion, hops: Trajectory, record: EpisodeRecord) -> FailureKind:
    place = move_index(question.map).find_place(hops[-1].after)
    if place is None:
        return NO_PLACE
    return SHORT if place in (question.source, *(edge.target for edge in question.path[:-1])) else ELSEWHERE


route_failure = _classifier(_route, decode_route)
destination_failure = _classifier(_destination, decode_destination)

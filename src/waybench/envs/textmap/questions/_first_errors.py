"""The first move of an answer that is not on the way."""

from collections.abc import Callable, Iterator, Sequence

from waybench.core import EpisodeRecord, FailureKind, FirstErrors, Json, Step, unread
from waybench.envs.textmap.questions._answer import Hop
from waybench.envs.textmap.questions._game import read_hops
from waybench.envs.textmap.questions._instance import MapQuestion, decode_destination, decode_route
from waybench.envs.textmap.questions._score import RULES, SOUND, move_index

NO_MOVE = FailureKind("no_move", "moves that are not on the map", "The move cannot be made there.")
DETOUR = FailureKind("direction", "moves off the shortest routes", "The move leads away from the destination.")
NO_PLACE = FailureKind("no_place", "places that do not exist", "The place is not on the map.")
LOST = FailureKind("lost", "wrong places on the way", "The place is not the one that the moves so far lead to.")
STOPPED = FailureKind("stopped", "stopping short", "The answer ends before the destination.")


def _route(question: MapQuestion, hops: Sequence[Hop], record: EpisodeRecord) -> Iterator[FailureKind | None]:
    from waybench.envs.textmap.map import routes  # imports numpy, so only when it is needed

    index, table = move_index(question.map), routes(question.map)
    rules = RULES[record.options["protocol"]]
    shortest = question.shortest or 0
    for count in range(1, len(hops) + 1):
        places = index.follow(question.source, [hop.action for hop in hops[:count]], rules)
        if not places:
            yield NO_MOVE
            return
        left = [0 if place == question.target else table.shortest(place, question.target) for place in places]
        yield None if shortest - count in left else DETOUR
    yield STOPPED


def _destination(question: MapQuestion, hops: Sequence[Hop], record: EpisodeRecord) -> Iterator[FailureKind | None]:
    index = move_index(question.map)
    for count, hop in enumerate(hops, start=1):
        place = index.find_place(hop.after)
        right = index.follow(question.source, question.actions[:count], SOUND)
        yield NO_PLACE if place is None else None if place in right else LOST
    yield STOPPED


def _steps(
    moves: Callable[[MapQuestion, Sequence[Hop], EpisodeRecord], Iterator[FailureKind | None]],
    decode: Callable[[Json], MapQuestion],
) -> Callable[[EpisodeRecord], Iterator[Step]]:
    """Return what yields the moves of an episode's answer; `moves` judges those of answerable questions."""

    def steps(record: EpisodeRecord) -> Iterator[Step]:
        if not record.turns or not record.proof["answerable"]:
            return
        number = len(record.turns) - 1
        action = record.turns[number].action
        if action is None:
            yield Step(number, unread(record.turns[number]))
            return
        for error in moves(decode(record.instance), read_hops(action), record):
            yield Step(number, error)

    return steps


ROUTE_ERRORS = FirstErrors((DETOUR, NO_MOVE, STOPPED), _steps(_route, decode_route))
DESTINATION_ERRORS = FirstErrors((LOST, NO_PLACE, STOPPED), _steps(_destination, decode_destination))

"""How answers about maps fail: by what they name that is not there, and by where they end."""

from collections import Counter
from collections.abc import Callable, Iterator

from waybench.core import NO_ANSWER, EpisodeRecord, FailureKind, Json, Outcome, general_failure, main_cause
from waybench.envs.textmap._answer import Hop, Trajectory
from waybench.envs.textmap._extract import Extraction
from waybench.envs.textmap._game import read_hops
from waybench.envs.textmap._instance import MapQuestion, decode_destination, decode_route
from waybench.envs.textmap._score import PAPER, SOUND, ground, normal
from waybench.envs.textmap._shares import event
from waybench.envs.textmap._sketch import Said, same, wanted

UNANSWERABLE = FailureKind(
    "unanswerable",
    "questions without an answer",
    "The question cannot be answered from what was shown; it is in no score, and no answer to it is right or wrong.",
)
NO_MOVE = FailureKind("no_move", "moves that the map does not have", "A move of the route cannot be made there.")
NO_PLACE = FailureKind("no_place", "places that do not exist", "The answer names a place that the map does not have.")
PASSED = FailureKind("passed", "routes that go on past the destination", "The route leads there and then goes on.")
SHORT = FailureKind(
    "stops_short", "stopping short", "The answer is on the right way, and ends at a place before the destination."
)
ELSEWHERE = FailureKind("elsewhere", "ending at a wrong place", "The answer ends at another place of the map.")

ROUTE_FAILURES = (UNANSWERABLE, NO_MOVE, PASSED, SHORT, ELSEWHERE)
DESTINATION_FAILURES = (UNANSWERABLE, NO_PLACE, SHORT, ELSEWHERE)


def _answered(
    own: Callable[[MapQuestion, Trajectory, EpisodeRecord], FailureKind], decode: Callable[[Json], MapQuestion]
) -> Callable[[EpisodeRecord], FailureKind]:
    """Return the function that says how an answer failed: by the question if it has no answer, otherwise by `own`."""

    def failure(record: EpisodeRecord) -> FailureKind:
        general = general_failure(record)
        if general in NO_ANSWER or not record.turns or record.turns[-1].action is None:
            return general
        if not record.proof["answerable"]:
            return UNANSWERABLE
        return own(decode(record.instance), read_hops(record.turns[-1].action), record)

    return failure


def _route(question: MapQuestion, hops: Trajectory, record: EpisodeRecord) -> FailureKind:
    here = ground(question.map)
    rules = PAPER if record.options["protocol"] == PAPER.name else SOUND
    said = [hop.action for hop in hops]
    ends = [here.follow(question.source, said[:count], rules) for count in range(1, len(said) + 1)]
    if not ends[-1]:
        return NO_MOVE
    if any(question.target in places for places in ends):
        return PASSED
    from waybench.envs.textmap._routes import routes  # numpy is loaded where there is something to count

    shortest, table = question.shortest, routes(question.map)
    rest = [table.shortest(place, question.target) for place in ends[-1] if place != question.target]
    on_the_way = shortest is not None and shortest - len(hops) in rest
    return SHORT if on_the_way else ELSEWHERE


def _destination(question: MapQuestion, hops: Trajectory, record: EpisodeRecord) -> FailureKind:
    place = ground(question.map).named(hops[-1].after)
    if place is None:
        return NO_PLACE
    return SHORT if place in (question.source, *(edge.target for edge in question.path[:-1])) else ELSEWHERE


route_failure = _answered(_route, decode_route)
destination_failure = _answered(_destination, decode_destination)

SAME_PLACE = FailureKind("same_place", "another move to the same place", "The action leads where the walkthrough goes.")
NOT_MOVING = FailureKind(
    "not_moving", "actions that do not lead away", "The action leads nowhere, as the map knows it."
)
BACK = FailureKind("back", "moves to places visited before", "The action leads back to a place of the walkthrough.")
AHEAD = FailureKind("ahead", "moves to other new places", "The action leads to another place that is new.")
MINIGAME_FAILURES = (
    FailureKind("illegal", "actions that are not listed", "The action is none of the list."),
    SAME_PLACE,
    NOT_MOVING,
    BACK,
    AHEAD,
)


def minigame_failure(record: EpisodeRecord) -> FailureKind:
    """Return where a wrong action leads."""
    if event(record, "moving") is None or record.turns[-1].outcome is Outcome.ILLEGAL:
        return general_failure(record)
    if event(record, "arrives"):
        return SAME_PLACE
    if not event(record, "moving"):
        return NOT_MOVING
    return BACK if event(record, "visited") else AHEAD


STAYING = FailureKind("staying", "moves taken for no move", "Most wrong triplets say that a step leads nowhere.")
WRONG_TRIPLET = FailureKind("wrong_triplet", "wrong triplets", "Most wrong triplets lead from or to a wrong place.")
MISSING = FailureKind("missing", "missing triplets", "Most steps without the right triplet have none.")
CEILING = FailureKind(
    "ceiling",
    "questions that right triplets do not answer",
    "All triplets are right, and the graph does not answer every question.",
)
EXTRACT_FAILURES = (NO_PLACE, STAYING, WRONG_TRIPLET, MISSING, CEILING)


def extract_failure(record: EpisodeRecord, task: Extraction, said: Said) -> FailureKind:
    """Return what is wrong with most of the triplets that are not right.

    Args:
        record: The record.
        task: Its walkthrough.
        said: The triplets that were said.
    """
    general = general_failure(record)
    if general in NO_ANSWER:
        return general
    mode = record.options["mode"]
    found = _wrong(task, said, mode)
    return main_cause(found, EXTRACT_FAILURES) or CEILING


def _wrong(task: Extraction, said: Said, mode: str) -> Iterator[FailureKind]:
    truth = wanted(task, mode)
    if mode == "steps":
        pairs = zip(truth, (*said, *[None] * (len(truth) - len(said))), strict=True)
        wrong = [hop for true, hop in pairs if hop is None or not same(hop, true)]
    else:
        # A triplet that is left out must not make all that follow wrong.
        read = [hop for hop in said if hop is not None]
        left = Counter(tuple(map(normal, hop)) for hop in truth)
        wrong = list[Hop | None]()
        for hop in read:
            names = tuple(map(normal, hop))
            if left[names] > 0:
                left[names] -= 1
            else:
                wrong.append(hop)
        wrong += [None] * (left.total() - len(wrong))
    places = ground(task.map)
    for hop in wrong:
        if hop is None:
            yield MISSING
        elif places.named(hop.before) is None or places.named(hop.after) is None:
            yield NO_PLACE
        else:
            yield STAYING if normal(hop.before) == normal(hop.after) else WRONG_TRIPLET

"""The first move that is not one of a shortest solution."""

from collections.abc import Iterator

from waybench.core import EpisodeRecord, FailureKind, FirstErrors, Step, unread
from waybench.envs.hanoi._instance import decode
from waybench.envs.hanoi._metrics import is_forbidden
from waybench.envs.hanoi._solve import best_moves, moved, position_of, stacks

FORBIDDEN = FailureKind("illegal", "illegal moves", "The move is not allowed.")
REVISIT = FailureKind("revisit", "moves back", "The move leads back to a position where the player has been.")
DIRECTION = FailureKind("direction", "moves off the shortest solution", "The move leads away from the goal.")


def steps(record: EpisodeRecord) -> Iterator[Step]:
    """Yield the moves up to the first that is not one of a shortest solution."""
    start, goal = decode(record.instance).positions
    rods = stacks(start)
    seen = {position_of(rods)}
    for number, turn in enumerate(record.turns):
        if "score" not in turn.events:
            if turn.action is None and turn.reason is not None:
                yield Step(number, unread(turn))
                return
            continue  # a thought
        if turn.action is None or turn.events.get("named") is False:
            yield Step(number, unread(turn))
            return
        action = turn.action[0]
        following = moved(rods, action)
        if following is None or is_forbidden(turn):
            yield Step(number, FORBIDDEN)
            return
        if action not in best_moves(rods, goal):
            yield Step(number, REVISIT if position_of(following) in seen else DIRECTION)
            return
        yield Step(number)
        rods = following
        seen.add(position_of(rods))


FIRST_ERRORS = FirstErrors((DIRECTION, REVISIT, FORBIDDEN), steps)

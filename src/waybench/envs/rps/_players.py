"""Players of Rock Paper Scissors."""

from collections.abc import Sequence

from waybench.core import Stream
from waybench.envs.rps._game import Rounds, values
from waybench.envs.rps._instance import Match
from waybench.envs.rps._strategies import beats


def oracle(match: Match, world: Rounds, rng: Stream) -> int:
    """Make the choice with the highest expected score against what the opponent is about to do, which it knows."""
    return world.best


def learner(match: Match, world: Rounds, rng: Stream) -> int:
    """Learn the opponent's frequencies: the best response to how often it has made each choice, plus once each."""
    return _response(world.theirs, match)


def predictor(match: Match, world: Rounds, rng: Stream) -> int:
    """Learn how the opponent follows up: the best response to what it has done after such a last round, plus once each.

    That is what opponents of level 2 can be read by.
    """
    if world.last is None:
        return learner(match, world, rng)
    place = 9 * world.last[0] + 3 * world.last[1]
    return _response(world.replies[place : place + 3], match)


def _response(counts: Sequence[int], match: Match) -> int:
    rounds = sum(counts) + 3
    return values([(count + 1) / rounds for count in counts], match.wins)[0]


def beat_last(match: Match, world: Rounds, rng: Stream) -> int:
    """Choose what beats the opponent's last choice."""
    return 0 if world.last is None else beats(world.last[1])


PLAYERS = {"oracle": oracle, "learner": learner, "predictor": predictor, "heuristic": beat_last}

"""Players of Rock Paper Scissors."""

from waybench.core import Stream
from waybench.envs.rps._instance import Match
from waybench.envs.rps._rules import Rounds, values
from waybench.envs.rps._strategies import beats


def oracle(match: Match, world: Rounds, rng: Stream) -> int:
    """Make the choice with the highest expected score against what the opponent is about to do, which it knows."""
    return world.best


def learner(match: Match, world: Rounds, rng: Stream) -> int:
    """Learn the opponent's frequencies: the best response to how often it has made each choice, plus once each."""
    rounds = sum(world.theirs) + 3
    return values([(count + 1) / rounds for count in world.theirs], match.wins)[0]


def beat_last(match: Match, world: Rounds, rng: Stream) -> int:
    """Choose what beats the opponent's last choice."""
    return 0 if world.last is None else beats(world.last[1])


PLAYERS = {"oracle": oracle, "learner": learner, "heuristic": beat_last}

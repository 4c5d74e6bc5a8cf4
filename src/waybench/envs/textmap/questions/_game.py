"""The rules: one question, one answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from waybench.core import DataError, End, Facts, Game, Json, Outcome, Stream, Transition, is_array
from waybench.envs.textmap.map import LONGEST_NAME
from waybench.envs.textmap.questions._answer import MOST_HOPS, Hop, Trajectory
from waybench.envs.textmap.questions._instance import MapQuestion
from waybench.envs.textmap.questions._score import PAPER, SOUND, Rules, ground, length_weight, reasoning, success


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and how it was answered.

    Attributes:
        question: What is asked.
        end: None before the answer.
    """

    question: MapQuestion
    end: End | None = None


class QuestionGame(Game[MapQuestion, Asked, Trajectory]):
    """A trajectory is the answer, and it is solved if that is fully right.

    What it comes to by the rules of `sound` is in the events, too, so that a run by those of `paper` gives both scores.

    Args:
        rules: By which rules it counts.
    """

    facts = Facts(deterministic=True, turns=1)

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def start(self, instance: MapQuestion) -> Asked:
        """Return the question, unanswered."""
        return Asked(instance)

    def legal(self, state: Asked) -> Sequence[Trajectory]:
        """Return the answers of one move: each move that leaves the source, or each place as a destination."""
        question = state.question
        if state.end is not None:
            return ()
        if question.path:
            return [(Hop(question.source, question.actions[0], place),) for place in question.map.places]
        ways = [edge for edge in question.map.edges if edge.source == question.source]
        moves = [(Hop(edge.source, edge.action, edge.target),) for edge in ways]
        return moves or [(Hop(question.source, action, question.source),) for action in question.map.actions]

    def apply(self, state: Asked, action: Trajectory, rng: Stream) -> Transition[Asked]:
        """Score an answer."""
        question, rules = state.question, self._rules
        strict = success(question.map, question, action, SOUND)
        # The paper's formula takes the question's own place for right; `sound` each that the given moves can lead to.
        value = success(question.map, question, action, PAPER, any_reached=False) if rules is PAPER else strict
        events: dict[str, Json] = {
            "success": value,
            "strict": strict,
            "weight": length_weight(question.map, question, action),
            "reasoning": reasoning(question.map, question, action, rules),
            "moves": len(action),
            "invented": _invented(question, action),
        }
        end = End.SOLVED if value == 1 else End.FAILED
        return Transition(Asked(question, end), value, events, self._outcome(question, action, value))

    def _outcome(self, question: MapQuestion, hops: Trajectory, value: float) -> Outcome:
        """Return ILLEGAL for what the map does not have, UNPRODUCTIVE for what leads elsewhere."""
        if value == 1:
            return Outcome.OK
        here = ground(question.map)
        if question.path:
            return Outcome.ILLEGAL if here.named(hops[-1].after) is None else Outcome.UNPRODUCTIVE
        reached = here.follow(question.source, [hop.action for hop in hops], self._rules)
        return Outcome.UNPRODUCTIVE if reached else Outcome.ILLEGAL

    def forfeit(self, state: Asked) -> Asked:
        """Take an answer that cannot be read for a wrong one: nobody is asked twice."""
        return Asked(state.question, End.FAILED)

    def terminal(self, state: Asked) -> End | None:
        """Return how it was answered."""
        return state.end

    def encode(self, action: Trajectory) -> Json:
        """Return [place before, action, place after] for each move."""
        return hops_json(action)

    def decode(self, action: Json) -> Trajectory:
        """Read what `encode` wrote.

        Raises:
            DataError: If it is something else.
        """
        return read_hops(action)

    def perturb(self, state: Asked, action: Trajectory, rate: float, rng: Stream) -> Trajectory:
        """Spoil each move with the given rate: another action, and another place where it ends."""
        places, actions = state.question.map.places, state.question.map.actions
        return tuple(
            Hop(hop.before, rng.choice(actions), rng.choice(places)) if rng.random() < rate else hop for hop in action
        )


def _invented(question: MapQuestion, hops: Trajectory) -> int:
    """Count the moves of an answer that are none of the map's."""
    here = ground(question.map)
    return sum(not here.has(hop.before, hop.action, hop.after) for hop in hops)


def hops_json(hops: Trajectory) -> Json:
    """Return [place before, action, place after] for each move."""
    return [list(hop) for hop in hops]


def read_hops(data: Json) -> Trajectory:
    """Read what `hops_json` wrote.

    Raises:
        DataError: If it is something else.
    """
    if not is_array(data) or not 1 <= len(data) <= MOST_HOPS:
        raise DataError("an answer is a list of moves")
    return tuple(_hop(move) for move in data)


def _hop(move: Any) -> Hop:
    if (
        not is_array(move)
        or len(move) != len(Hop._fields)
        or not all(isinstance(text, str) and len(text) <= LONGEST_NAME for text in move)
    ):
        raise DataError("a move is a list of three texts")
    return Hop(*move)

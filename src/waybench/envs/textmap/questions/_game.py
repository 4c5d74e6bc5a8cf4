"""The game of route and destination questions: one question, one answer."""

from collections.abc import Sequence
from typing import Any

from waybench.core import AnswerState, DataError, Json, Judgement, OneAnswerGame, Outcome, Stream, is_array
from waybench.envs.textmap.map import LONGEST_NAME
from waybench.envs.textmap.questions._answer import MOST_HOPS, Hop, Trajectory
from waybench.envs.textmap.questions._instance import MapQuestion
from waybench.envs.textmap.questions._score import PAPER, SOUND, Rules, length_weight, move_index, reasoning, success


class TrajectoryAnswers:
    """JSON encoding of trajectories as the actions of a game."""

    def encode(self, action: Trajectory) -> Json:
        """Return [place before, action, place after] for each move."""
        return [list(hop) for hop in action]

    def decode(self, action: Json) -> Trajectory:
        """Read what `encode` wrote.

        Raises:
            DataError: If it is something else.
        """
        return read_hops(action)


class QuestionGame(TrajectoryAnswers, OneAnswerGame[MapQuestion, Trajectory]):
    """A game whose answer is a trajectory.

    The events have the score by the rules `sound` in any case, so a run with the rules `paper` gives both scores.

    Args:
        rules: The scoring rules.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def answers(self, instance: MapQuestion) -> Sequence[Trajectory]:
        """Return answers of one move: each move that leaves the source, or each place as a destination."""
        if instance.path:
            return [(Hop(instance.source, instance.actions[0], place),) for place in instance.map.places]
        ways = [edge for edge in instance.map.edges if edge.source == instance.source]
        moves = [(Hop(edge.source, edge.action, edge.target),) for edge in ways]
        return moves or [(Hop(instance.source, action, instance.source),) for action in instance.map.actions]

    def judge(self, instance: MapQuestion, answer: Trajectory) -> Judgement:
        """Score an answer."""
        place_map, rules = instance.map, self._rules
        strict = success(place_map, instance, answer, SOUND)
        # In the paper's formula only the question's target is right; in `sound` any place that the moves can lead to.
        value = success(place_map, instance, answer, PAPER, any_reached=False) if rules is PAPER else strict
        events: dict[str, Json] = {
            "strict": strict,
            "weight": length_weight(place_map, instance, answer),
            "reasoning": reasoning(place_map, instance, answer, rules),
            "moves": len(answer),
            "invented": _invented(instance, answer),
        }
        return Judgement(value, events, Outcome.OK if value == 1 else self._failure_outcome(instance, answer))

    def _failure_outcome(self, question: MapQuestion, hops: Trajectory) -> Outcome:
        """Return ILLEGAL for moves or places that the map does not have, UNPRODUCTIVE for a wrong end."""
        index = move_index(question.map)
        if question.path:
            return Outcome.ILLEGAL if index.find_place(hops[-1].after) is None else Outcome.UNPRODUCTIVE
        reached = index.follow(question.source, [hop.action for hop in hops], self._rules)
        return Outcome.UNPRODUCTIVE if reached else Outcome.ILLEGAL

    def perturb(self, state: AnswerState[MapQuestion], action: Trajectory, rate: float, rng: Stream) -> Trajectory:
        """Replace the action and the end of each move by random ones with the given probability."""
        places, actions = state.instance.map.places, state.instance.map.actions
        return tuple(
            Hop(hop.before, rng.choice(actions), rng.choice(places)) if rng.random() < rate else hop for hop in action
        )


def _invented(question: MapQuestion, hops: Trajectory) -> int:
    """Count the moves of an answer that the map does not have."""
    index = move_index(question.map)
    return sum(not index.has(hop.before, hop.action, hop.after) for hop in hops)


def read_hops(data: Json) -> Trajectory:
    """Read [place before, action, place after] for each move.

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

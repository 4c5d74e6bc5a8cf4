"""The game of minigames, and its reference players."""

from collections.abc import Mapping, Sequence

from waybench.core import AnswerState, DataError, Json, Judgement, OneAnswerGame, Outcome, Player, Stream
from waybench.envs.textmap.map import LONGEST_NAME, normalize_action
from waybench.envs.textmap.minigame._instance import Minigame, outgoing_moves
from waybench.envs.textmap.worlds import DIRECTIONS, MOVING_VERBS, opposite


class MinigameRules(OneAnswerGame[Minigame, str]):
    """The player chooses an action; it is right if it is the next action of the walkthrough."""

    def answers(self, instance: Minigame) -> Sequence[str]:
        """Return the actions that are listed."""
        return instance.actions

    def judge(self, instance: Minigame, answer: str) -> Judgement:
        """Compare an action with the walkthrough."""
        ends = {edge.target for edge in outgoing_moves(instance) if edge.action == answer}
        events: dict[str, Json] = {
            "moving": bool(ends),
            "arrives": instance.move.target in ends,
            "visited": bool(ends & set(instance.places)) if ends else None,
        }
        outcome = Outcome.UNPRODUCTIVE if answer in instance.actions else Outcome.ILLEGAL
        return Judgement(float(answer == instance.move.action), events, outcome)

    def encode(self, action: str) -> Json:
        """Return the action."""
        return action

    def decode(self, action: Json) -> str:
        """Read what `encode` wrote.

        Raises:
            DataError: If it is not an action.
        """
        if not isinstance(action, str) or not 1 <= len(action) <= LONGEST_NAME or not action.isprintable():
            raise DataError("an action is a text in one line")
        return action


def oracle(state: AnswerState[Minigame], rng: Stream) -> str:
    """Choose the action of the walkthrough."""
    return state.instance.move.action


def explorer(state: AnswerState[Minigame], rng: Stream) -> str:
    """Choose a move not yet made from here; among several, first one that the observations here mention."""
    game = state.instance
    ways = [action for action in game.actions if _moves(action)] or list(game.actions)
    places = game.places
    here = [number for number, place in enumerate(places) if place == places[-1]]
    observations = " ".join(game.map.steps[number].observation.lower() for number in here)
    tried_actions = {normalize_action(game.map.steps[number + 1].action) for number in here[:-1]} | {
        edge.action for edge in game.nearby
    }
    return min(ways, key=lambda action: (action in tried_actions, action not in observations))


def reverse(state: AnswerState[Minigame], rng: Stream) -> str:
    """Choose the opposite of the last move; if it is not listed, choose like `explorer`."""
    back = opposite(_last_move(state.instance))
    return back if back in state.instance.actions else explorer(state, rng)


def straight(state: AnswerState[Minigame], rng: Stream) -> str:
    """Repeat the last move; if it is not listed, choose like `explorer`."""
    last = _last_move(state.instance)
    return last if last in state.instance.actions else explorer(state, rng)


def nearby(state: AnswerState[Minigame], rng: Stream) -> str:
    """Choose a random known move from here; if there is none, choose any action."""
    game = state.instance
    known = [edge.action for edge in game.nearby if edge.action in game.actions]
    return rng.choice(known or game.actions)


PLAYERS: Mapping[str, Player[AnswerState[Minigame], str]] = {
    "heuristic": explorer,
    "oracle": oracle,
    "explorer": explorer,
    "reverse": reverse,
    "straight": straight,
    "nearby": nearby,
}


def _moves(action: str) -> bool:
    """Return whether an action reads like a move."""
    return action in (*DIRECTIONS, "in", "out") or action.split()[0] in MOVING_VERBS


def _last_move(game: Minigame) -> str:
    """Return the action of the last step that led to another place; "" if there is none."""
    places = game.places
    moved = (number for number in range(game.cutoff, 0, -1) if places[number] != places[number - 1])
    return next((normalize_action(game.map.steps[number].action) for number in moved), "")

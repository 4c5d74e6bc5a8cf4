"""The rules of minigames, and players that are no models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waybench.core import DataError, End, Facts, Game, Json, Outcome, Player, Stream, Transition
from waybench.envs.textmap.map import LONGEST_NAME, typed
from waybench.envs.textmap.minigame._instance import Minigame, leaving
from waybench.envs.textmap.worlds import DIRECTIONS, MOVING_VERBS, opposite


@dataclass(frozen=True, slots=True)
class Choosing:
    """A minigame, and what came of the choice.

    Attributes:
        game: What is to be chosen from.
        end: None before the choice.
    """

    game: Minigame
    end: End | None = None


class MinigameRules(Game[Minigame, Choosing, str]):
    """An action is chosen, and it is right if the walkthrough goes on with it."""

    facts = Facts(deterministic=True, turns=1)

    def start(self, instance: Minigame) -> Choosing:
        """Return the minigame before the choice."""
        return Choosing(instance)

    def legal(self, state: Choosing) -> Sequence[str]:
        """Return the actions that are listed."""
        return () if state.end else state.game.actions

    def apply(self, state: Choosing, action: str, rng: Stream) -> Transition[Choosing]:
        """Compare an action with the walkthrough."""
        game = state.game
        value = float(action == game.move.action)
        ends = {edge.target for edge in leaving(game) if edge.action == action}
        before = set(game.places)
        events: dict[str, Json] = {
            "success": value,
            "moving": bool(ends),
            "arrives": game.move.target in ends,
            "visited": bool(ends & before) if ends else None,
        }
        end = End.SOLVED if value else End.FAILED
        listed = Outcome.UNPRODUCTIVE if action in game.actions else Outcome.ILLEGAL
        return Transition(Choosing(game, end), value, events, Outcome.OK if value else listed)

    def forfeit(self, state: Choosing) -> Choosing:
        """Take it for a wrong choice."""
        return Choosing(state.game, End.FAILED)

    def terminal(self, state: Choosing) -> End | None:
        """Return what came of the choice."""
        return state.end

    def encode(self, action: str) -> Json:
        """Return the action."""
        return action

    def decode(self, action: Json) -> str:
        """Read what `encode` wrote.

        Raises:
            DataError: If it is something else.
        """
        if not isinstance(action, str) or not 1 <= len(action) <= LONGEST_NAME or not action.isprintable():
            raise DataError("an action is a text in one line")
        return action


def oracle(state: Choosing, rng: Stream) -> str:
    """Do what the walkthrough does."""
    return state.game.move.action


def explorer(state: Choosing, rng: Stream) -> str:
    """Go where nobody has gone from here; of several such ways, first one that was told of here."""
    game = state.game
    ways = [action for action in game.actions if _moves(action)] or list(game.actions)
    places = game.places
    here = [number for number, place in enumerate(places) if place == places[-1]]
    told = " ".join(game.map.steps[number].observation.lower() for number in here)
    tried = {typed(game.map.steps[number + 1].action) for number in here[:-1]} | {edge.action for edge in game.nearby}
    return min(ways, key=lambda action: (action in tried, action not in told))


def reverse(state: Choosing, rng: Stream) -> str:
    """Go back by the opposite of the last move; without one among the actions, go where nobody has gone."""
    back = opposite(_last_move(state.game))
    return back if back in state.game.actions else explorer(state, rng)


def straight(state: Choosing, rng: Stream) -> str:
    """Make the last move again; if it is not among the actions, go where nobody has gone."""
    last = _last_move(state.game)
    return last if last in state.game.actions else explorer(state, rng)


def nearby(state: Choosing, rng: Stream) -> str:
    """Make a random move of those that a reader knows from here; without one, choose any action."""
    game = state.game
    known = [edge.action for edge in game.nearby if edge.action in game.actions]
    return rng.choice(known or game.actions)


PLAYERS: Mapping[str, Player[Choosing, str]] = {
    "heuristic": explorer,
    "oracle": oracle,
    "explorer": explorer,
    "reverse": reverse,
    "straight": straight,
    "nearby": nearby,
}


def _moves(action: str) -> bool:
    """Whether an action sounds like a move."""
    return action in (*DIRECTIONS, "in", "out") or action.split()[0] in MOVING_VERBS


def _last_move(game: Minigame) -> str:
    """Return the action of the last step that led to another place; "" if there is none."""
    places = game.places
    moved = (number for number in range(game.cutoff, 0, -1) if places[number] != places[number - 1])
    return next((typed(game.map.steps[number].action) for number in moved), "")

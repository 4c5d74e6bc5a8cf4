"""Teacher guiding: the optimal policy's steps in place of the player's, and refusals of those that leave it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.core import Game, Outcome, Player, Stream, TurnRecord
from waybench.envs.search._answers import VALID, Algorithm

_NO_CHANCE = Stream("search", "coach")  # the games leave nothing to it


@dataclass(frozen=True, slots=True)
class Teacher:
    """Carries out the optimal policy's answers, in the whole episode or in its first steps.

    Attributes:
        game: The rules.
        player: The optimal policy.
        steps: Number of its steps; None for the whole episode. The step that would reach the goal is never among them,
            so that there is always a free one to be scored.
    """

    game: Game[Any, Any, int]
    player: Player[Any, int]
    steps: int | None

    def __call__(self, state: Any, rng: Stream, turns: Sequence[TurnRecord]) -> int | None:
        """Return the teacher's answer; None where the player plays freely."""
        action = self.player(state, rng)
        if self.steps is None:
            return action
        # Once it has stopped it does not begin again, wherever the player has gone.
        if len(turns) >= self.steps or (turns and turns[-1].executed is None):
            return None
        return action if self.game.terminal(self.game.apply(state, action, rng).state) is None else None


@dataclass(frozen=True, slots=True)
class Coach:
    """Refuses what does not follow the algorithm, so many times in a row; the next reply is taken, and none checked.

    The published program also ended an episode, with no answer, at a refused reply that happened to be the target.
    That is not repeated: it is refused like any other.

    Attributes:
        game: The rules; illegal actions are left to the game.
        algorithm: State -> what answers are compared with.
        refuse: State -> the message to the player.
        chances: Refusals in a row.
    """

    game: Game[Any, Any, int]
    algorithm: Callable[[Any], Algorithm]
    refuse: Callable[[Any], str]
    chances: int

    def __call__(self, state: Any, action: int, turns: Sequence[TurnRecord]) -> str | None:
        """Return why an action is refused; None to let it pass."""
        algorithm, refused = self.algorithm(state), 0
        for turn in turns:
            if "coached" in turn.events:
                refused += 1
            elif turn.outcome in VALID:
                if refused >= self.chances:
                    return None
                algorithm.take(turn.action)
                refused = 0
        if refused >= self.chances or self.game.apply(state, action, _NO_CHANCE).outcome is Outcome.ILLEGAL:
            return None
        return None if algorithm.follows(action) else self.refuse(state)

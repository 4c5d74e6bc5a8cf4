"""Weak teacher guiding: valid replies that leave the algorithm are refused, a number of times."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.core import Game, Outcome, Stream, TurnRecord
from waybench.envs.search._metrics import VALID, Algorithm

_NO_CHANCE = Stream("search", "coach")  # the games leave nothing to it


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

"""How an agent fails, thoughts and actions that the protocol took in its place left out."""

from collections.abc import Callable

from waybench.core import NO_ANSWER, TURN_LIMIT, UNPARSED, EpisodeRecord, FailureKind, general_failure
from waybench.smartplay._metrics import action_turns, steps_of

UNNAMED = FailureKind(
    "unnamed",
    "replies that name no action",
    'In "paper", where such replies take the first action: at least half of the steps, or most replies without effect, '
    "name no action.",
)

OwnFailure = Callable[[EpisodeRecord, FailureKind], FailureKind | None]


def agent_failure(game_failure: OwnFailure) -> Callable[[EpisodeRecord], FailureKind | None]:
    """Return the function that says how an episode of the agent protocol failed.

    Where most replies name an action, it is the game's own kind.

    Args:
        game_failure: (record, the general kind by the turns in which an action was requested) -> the game's kind.
    """

    def failure(record: EpisodeRecord) -> FailureKind | None:
        general = general_failure(record, action_turns(record))
        steps = steps_of(record)
        unnamed = sum(step["named"] is False for step in steps)
        if general in NO_ANSWER:
            return UNNAMED if unnamed and general is UNPARSED else general
        if steps and 2 * unnamed >= len(steps):
            return UNNAMED
        return game_failure(record, general)

    return failure


def endless(record: EpisodeRecord, general: FailureKind) -> FailureKind | None:
    """Say that a game of a fixed length has not failed by coming to its end."""
    return None if general is TURN_LIMIT else general

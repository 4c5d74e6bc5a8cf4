"""How an agent fails: its thoughts count in nothing, and a reply that names no action is none."""

from collections.abc import Callable

from waybench.core import NO_ANSWER, TURN_LIMIT, EpisodeRecord, FailureKind, general_failure
from waybench.smartplay._metrics import action_turns, steps_of

UNNAMED = FailureKind(
    "unnamed",
    "replies that name no action",
    'At least half of the steps were made by replies that name no action, for which "paper" takes the first one.',
)

OwnFailure = Callable[[EpisodeRecord, FailureKind], FailureKind | None]


def agent_failure(own: OwnFailure) -> Callable[[EpisodeRecord], FailureKind | None]:
    """Return the function that says how an episode of the agent protocol failed.

    Where most replies name an action, it is the game's own kind.

    Args:
        own: (record, the general kind by the turns in which an action was asked for) -> the game's kind.
    """

    def failure(record: EpisodeRecord) -> FailureKind | None:
        general = general_failure(record, action_turns(record))
        if general in NO_ANSWER:
            return general
        steps = steps_of(record)
        if steps and 2 * sum(step["named"] is False for step in steps) >= len(steps):
            return UNNAMED
        return own(record, general)

    return failure


def endless(record: EpisodeRecord, general: FailureKind) -> FailureKind | None:
    """Say that a game of a fixed length has not failed by coming to its end."""
    return None if general is TURN_LIMIT else general

"""What a person types or presses in place of a model's reply."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Episode, TypedAction

LONGEST = 100_000  # characters of a reply


def typed_actions(episode: Episode[Any, Any, Any]) -> Sequence[TypedAction]:
    """Return the actions that a person can choose from now; empty where the environment lists none."""
    listed = episode.environment.typing.actions
    return () if listed is None or episode.done else listed(episode.state)


def reply_for(typed: str, episode: Episode[Any, Any, Any]) -> str | None:
    """Return the reply that a typed line stands for.

    What a list of actions shows comes first: a number of it is the action that it is beside, whatever the protocol
    would read in the number. A line that the wording understands is a reply as it is. So is one with a brace, even if
    it turns out to be malformed: that costs a person what it costs a model. Any other line is for the environment's
    `parse_typed`, if it has one.

    Args:
        typed: The line.
        episode: The episode it is for.

    Returns:
        The reply; None if the line is neither, and the person should try again at no cost.
    """
    wording, parse_typed, state = episode.play.wording, episode.environment.typing.parse, episode.state
    if len(typed) > LONGEST:
        return None
    if parse_typed is not None and any(typed.strip() == action.typed for action in typed_actions(episode)):
        action = parse_typed(typed, state)
        if action is not None:
            return wording.render(action, state)
    if "{" in typed or wording.understands(typed, state):
        return typed
    action = None if parse_typed is None else parse_typed(typed, state)
    return None if action is None else wording.render(action, state)

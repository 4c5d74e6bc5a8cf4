"""What a person types in place of a model's reply."""

from typing import Any

from waybench.core import Episode, Invalid


def reply_for(typed: str, episode: Episode[Any, Any, Any]) -> str | None:
    """Return the reply that a typed line stands for.

    A line that the wording can parse is a reply as it is. So is one with a brace, even if it turns out to be malformed:
    that costs a person what it costs a model. Any other line is for the environment's `parse_typed`.

    Args:
        typed: The line.
        episode: The episode it is for.

    Returns:
        The reply; None if the line is neither, and the person should try again at no cost.
    """
    wording, parse_typed = episode.play.wording, episode.environment.parse_typed
    if "{" in typed or parse_typed is None or not isinstance(wording.parse(typed, episode.state), Invalid):
        return typed
    action = parse_typed(typed, episode.state)
    return None if action is None else wording.render(action, episode.state)

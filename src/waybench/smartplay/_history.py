"""The history that an agent is shown: its last observations (SmartPlay, section 4.1; shared/specs/smartplay.md, 1)."""

from collections.abc import Sequence


def history_entry(number: int, observation: str) -> str:
    """Return an observation as the history has it.

    Args:
        number: Its number; that of the first of all is 0.
        observation: What was seen.
    """
    return f"Player Observation Step {number}:\n{observation}"


def history_text(entries: Sequence[str]) -> str:
    """Return the history as SmartPlay writes it; the present observation is never part of it.

    Args:
        entries: The last observations as `history_entry` gives them, the oldest first.
    """
    if not entries:
        return ""
    listed = "\n\n".join(entries)
    return f"Most recent {len(entries)} steps of the player's in-game observation:\n\n{listed}".strip()


def manual_text(manual: str, actions: Sequence[str]) -> str:
    """Return a manual with its list of actions, as SmartPlay writes it."""
    listed = "\n".join(f"{number}. {name}" for number, name in enumerate(actions, 1))
    return f"{manual}\n\nList of all actions:\n{listed}"

"""The history that an agent is shown: its last observations (SmartPlay, section 4.1; shared/specs/smartplay.md, 1)."""

from collections.abc import Sequence


def history_text(observations: Sequence[str], stored: int) -> str:
    """Return the history as SmartPlay writes it; the present observation is never part of it.

    Args:
        observations: The last observations, the oldest first.
        stored: How many there have been so far; the first of all has the number 0.
    """
    if not observations:
        return ""
    first = stored - len(observations)
    parts = "".join(
        f"Player Observation Step {first + number}:\n{text}\n\n" for number, text in enumerate(observations)
    )
    return f"Most recent {len(observations)} steps of the player's in-game observation:\n\n{parts}".strip()


def manual_text(manual: str, actions: Sequence[str]) -> str:
    """Return a manual with its list of actions, as SmartPlay writes it."""
    listed = "\n".join(f"{number}. {name}" for number, name in enumerate(actions, 1))
    return f"{manual}\n\nList of all actions:\n{listed}"

"""The line with a room's name in what a game tells."""

import re
from collections.abc import Collection

_LONGEST = 70  # characters
_FRAMED = re.compile(r"-= (.+) =-")  # as TextWorld writes it
_POSTURE = re.compile(r" \((?:in|on|as) [^()]*\)$")  # how the player is there: "Bedroom (in bed)"
_SENTENCE_ENDS = frozenset(".!?:;,\"'>")
_DARK = re.compile(r"(?:in )?(?:the |total |utter |pitch )*(?:dark|darkness|black|blackness)|too dark to see")


def title_of(looked: str) -> str | None:
    """Return the name of the room, out of what a game answers to "look".

    It is a framed line or, if there is none, the first line, unless that is a sentence.

    Args:
        looked: The answer.

    Returns:
        The name in lower case, without what it says of how the player is there; None if there is none.
    """
    lines = [line.strip() for line in looked.splitlines()]
    for line in lines:
        if _FRAMED.fullmatch(line):
            return plain(line)
    # A line in brackets tells what the game did first, such as "(getting out of the boat)".
    first = next((line for line in lines if line and not (line[0] == "(" and line[-1] == ")")), "")
    if not first or len(first) > _LONGEST or first[-1] in _SENTENCE_ENDS or not first.isprintable():
        return None
    return plain(first) or None


def plain(line: str) -> str:
    """Return a line as names are compared: in lower case, without a frame, a posture or blanks that say nothing."""
    text = " ".join(line.split())
    framed = _FRAMED.fullmatch(text)
    return as_name(_POSTURE.sub("", framed[1] if framed else text))


def as_name(text: str) -> str:
    """Return a name as maps have it: in lower case, without blanks that say nothing."""
    return " ".join(text.lower().split())


def tells(text: str, names: Collection[str]) -> bool:
    """Return whether one of some names, each as `plain` has it, stands in a line of its own."""
    return any(plain(line) in names for line in text.splitlines())


def is_dark(title: str) -> bool:
    """Return whether what stands in a name's place says only that nothing can be seen."""
    return _DARK.fullmatch(title) is not None

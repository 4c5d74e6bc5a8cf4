"""Which action a reply names."""

import re
from collections.abc import Sequence
from functools import lru_cache

from waybench.core import Invalid, without_reasoning

LONGEST_REPLY = 1_000_000  # characters


def published_match(reply: str, actions: Sequence[str]) -> int | None:
    """Return the number of the action whose name comes first in a reply, case aside; None if none does.

    Of names that begin at the same place the first of the list counts (shared/specs/smartplay.md, 10). So a name within
    a word counts, and the published program took the first action where this gives None.
    """
    text = reply.lower()
    places = [(place, number) for number, name in enumerate(actions) if (place := text.find(name.lower())) >= 0]
    return min(places)[1] if places else None


def sound_match(reply: str, actions: Sequence[str]) -> int | Invalid:
    """Return the number of the one action that a reply names; reasoning blocks in it are left out.

    A name has to stand by itself, whatever marks are around it; case, blanks and a period at its end are no matter. No
    other action may be named; the same one may be, several times. Of names that are part of each other the longer one
    is meant.
    """
    if len(reply) > LONGEST_REPLY:
        return Invalid(f"The reply has {len(reply)} characters; at most {LONGEST_REPLY} are read.")
    pattern, numbers = _pattern(tuple(actions))
    found = {numbers[_plain(match[0])] for match in pattern.finditer(_plain(without_reasoning(reply)))}
    if len(found) == 1:
        return found.pop()
    if not found:
        return Invalid("The reply names no action of the list.")
    return Invalid("The reply names more than one action: name exactly one.")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


@lru_cache(maxsize=64)
def _pattern(actions: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int]]:
    numbers = {_plain(name).removesuffix("."): number for number, name in enumerate(actions)}
    longest_first = sorted(numbers, key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest_first))})(?![^\W_])"), numbers

"""Which action a reply names."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, permutations

from waybench.core import Invalid, normal_name

LONGEST_REPLY = 1_000_000  # characters
_MOST_APART = 32  # names; more are searched for together


def published_match(reply: str, actions: Sequence[str]) -> int | None:
    """Return the number of the action whose name comes first in a reply, case aside; None if none does.

    Of names that begin at the same place the first of the list counts (shared/specs/smartplay.md, 10). So a name within
    a word counts, and the published program took the first action where this gives None.
    """
    pattern, numbers = _lower_names(tuple(actions))
    match = pattern.search(reply.lower())
    return None if match is None else numbers[match[0]]


def sound_match(reply: str, actions: Sequence[str]) -> int | Invalid:
    """Return the number of the one action that a reply names.

    A name has to stand by itself, whatever marks are around it; case, width, blanks, typography and a period at its
    end do not matter. No
    other action may be named; the same one may be, several times. Of names that are part of each other the longer one
    is meant.
    """
    if len(reply) > LONGEST_REPLY:
        return Invalid(f"The reply has {len(reply)} characters; at most {LONGEST_REPLY} are read.")
    indexes = _names(tuple(actions)).found(normal_name(reply))
    if len(indexes) == 1:
        return indexes.pop()
    if not indexes:
        return Invalid("The reply names no action of the list.")
    return Invalid("The reply names more than one action: name exactly one.")


class _Names:
    """The names of actions, for being found in a text.

    Args:
        actions: The names.
    """

    def __init__(self, actions: Sequence[str]) -> None:
        self._numbers = {normal_name(name).removesuffix("."): number for number, name in enumerate(actions)}
        names = sorted(self._numbers, key=len, reverse=True)
        # A pattern that begins with letters is searched for several times as fast as one that begins with an assertion.
        self._patterns = {
            name: re.compile(rf"{re.escape(name)}(?<![^\W_]{re.escape(name)})(?![^\W_])") for name in names
        }
        self._any = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, names))})(?![^\W_])")
        few = len(names) <= _MOST_APART
        self._apart = few and not any(_can_share(one, other) for one, other in permutations(names, 2))

    def found(self, text: str) -> set[int]:
        """Return the numbers of the names that stand by themselves in a text; of more than two only two."""
        if not self._apart:
            return {self._numbers[name] for name in set(self._any.findall(text))}
        here = (name for name, pattern in self._patterns.items() if name in text and pattern.search(text))
        return {self._numbers[name] for name in islice(here, 2)}


def _can_share(first: str, second: str) -> bool:
    """Return whether another name can begin within a name, so that both stand by themselves and have a part in common.

    Then the one that begins first counts, and of those that begin together the longer one.
    """
    for at in range(len(first)):
        if at == 0 or not _is_in_word(first[at - 1]):
            short, long = sorted((first[at:], second), key=len)
            if long.startswith(short) and not _is_in_word(long[len(short) : len(short) + 1]):
                return True
    return False


def _is_in_word(sign: str) -> bool:
    return sign.isalnum()


@lru_cache(maxsize=64)
def _lower_names(actions: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int]]:
    """Return a pattern that prefers the earlier ones of names that begin at the same place, and the names' numbers."""
    numbers = {name.lower(): number for number, name in reversed(list(enumerate(actions)))}  # the first of equal ones
    return re.compile("|".join(re.escape(name.lower()) for name in actions)), numbers


@lru_cache(maxsize=64)
def _names(actions: tuple[str, ...]) -> _Names:
    return _Names(actions)

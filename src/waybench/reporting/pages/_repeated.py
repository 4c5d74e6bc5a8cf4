"""What a message repeats of an earlier one: prompts with a history or a map show most of it again each time."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from waybench.reporting._format import SHORT

_PARAGRAPH = re.compile(r".*?\n(?:[ \t]*\n)+|.+\Z", re.DOTALL)
_MOST_UNITS = 400  # of a message: comparing takes the product of two messages' units


class Divided(NamedTuple):
    """A message, divided at the long parts that an earlier message has already.

    Attributes:
        parts: What is new up to each of these, "" for nothing, and the part itself.
        rest: What is new after the last of them.
    """

    parts: list[tuple[str, str]]
    rest: str


def divide(before: str, message: str) -> Divided:
    """Divide a message at the runs of paragraphs that an earlier message has, too.

    A history that prompts repeat loses its oldest steps and is numbered or headed anew, so what repeats can begin
    anywhere in either. A message without paragraphs is divided by its lines, at the longest run alone. Runs of at most
    `SHORT` characters count as new, and nothing is divided where nothing would be new.

    Args:
        before: The earlier message.
        message: The message; its parts together are the message.
    """
    new = _PARAGRAPH.findall(message)
    has_paragraphs = len(new) > 1
    if has_paragraphs:
        old = _PARAGRAPH.findall(before)
    else:
        old, new = before.splitlines(keepends=True), message.splitlines(keepends=True)
    if max(len(old), len(new)) > _MOST_UNITS:
        return Divided([], message)
    matcher = SequenceMatcher(None, [unit.rstrip() for unit in old], [unit.rstrip() for unit in new], autojunk=False)
    runs = [(block.b, block.b + block.size) for block in matcher.get_matching_blocks()]
    # Units differ in length: the longest text counts, not the most units.
    lengths = {(start, stop): sum(map(len, new[start:stop])) for start, stop in runs}
    if not has_paragraphs:
        runs = [run for run in [max(runs, key=lengths.__getitem__)] if not _cuts_a_map(new, *run)]
    parts: list[tuple[str, str]] = []
    end = 0
    for start, stop in runs:
        if lengths[start, stop] > SHORT:
            parts.append(("".join(new[end:start]), "".join(new[start:stop])))
            end = stop
    rest = "".join(new[end:])
    return Divided(parts, rest) if rest or any(head for head, _ in parts) else Divided([], message)


def _cuts_a_map(lines: Sequence[str], start: int, stop: int) -> bool:
    """Return whether a run of lines that begins within a text ends or begins between two rows of a map."""
    return start > 0 and any(
        len(lines[row - 1].rstrip()) == len(lines[row].rstrip()) > 1 for row in (start, stop) if row < len(lines)
    )

"""What a message repeats of an earlier one: prompts with a history or a map show most of it again each time."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from waybench.reporting._format import SHORT

_PARAGRAPH = re.compile(r".*?\n(?:[ \t]*\n)+|.+\Z", re.DOTALL)
_MOST_UNITS = 400  # of a message: comparing takes the product of two messages' units


class Divided(NamedTuple):
    """A message, divided at the longest part that an earlier message has already."""

    head: str
    repeated: str
    rest: str


def divide(before: str, message: str) -> Divided:
    """Divide a message at the longest run of paragraphs that an earlier message has, too.

    A history that prompts repeat loses its oldest steps and is numbered or headed anew, so what repeats can begin
    anywhere in either. A message without paragraphs is divided by its lines. Nothing is divided where at most `SHORT`
    characters repeat, or where nothing would be new.

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
        return Divided("", "", message)
    matcher = SequenceMatcher(None, [unit.rstrip() for unit in old], [unit.rstrip() for unit in new], autojunk=False)
    # Units differ in length: the longest text counts, not the most units.
    blocks = [new[block.b : block.b + block.size] for block in matcher.get_matching_blocks()]
    starts = [block.b for block in matcher.get_matching_blocks()]
    start, block = max(zip(starts, blocks, strict=True), key=lambda each: sum(map(len, each[1])))
    repeated = "".join(block)
    cuts_a_map = not has_paragraphs and _cuts_a_map(new, start, start + len(block))
    if len(repeated) <= SHORT or len(block) == len(new) or cuts_a_map:
        return Divided("", "", message)
    return Divided("".join(new[:start]), repeated, "".join(new[start + len(block) :]))


def _cuts_a_map(lines: Sequence[str], start: int, stop: int) -> bool:
    """Return whether a run of lines that begins within a text ends or begins between two rows of a map."""
    return start > 0 and any(
        len(lines[row - 1].rstrip()) == len(lines[row].rstrip()) > 1 for row in (start, stop) if row < len(lines)
    )

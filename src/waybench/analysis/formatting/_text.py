"""Makes text from outside safe to show on a page and in a terminal."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from itertools import accumulate

# What has no look of its own or changes the look of what follows: control characters other than tab and newline, soft
# hyphen, marks and overrides of writing direction, zero-width and invisible signs, line separators, tags, halves of
# surrogate pairs, and code points that are no characters. Joiners (U+200C, U+200D) stay: scripts and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Return a text with all that is invisible or moves other text written out: U+202E becomes "⟨U+202E⟩".

    Control characters become their pictures (NUL becomes "␀"), so that a terminal is not steered by them either. The
    result can always be encoded as UTF-8.
    """
    if text.isascii() and text.isprintable():  # as nearly all of a page's texts are
        return text
    return _HIDDEN.sub(_picture, text.replace("\r\n", "\n"))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def one_line(text: str, limit: int) -> str:
    """Return a visible text on one line, cut in the middle to at most `limit` columns; both ends tell names apart."""
    flat = visible(" ".join(text[: 4 * limit].split()) if len(text) <= 4 * limit else f"{text[:limit]}…{text[-limit:]}")
    if flat.isascii() and len(flat) <= limit and flat.isprintable():
        return flat
    flat = flat.replace("\n", "␊").replace("\t", "␉")
    widths = [0, *accumulate(map(_columns, flat))]  # of the first 0, 1, ... characters
    if widths[-1] <= limit:
        return flat
    half = (limit - 1) // 2
    head = flat[: bisect_right(widths, limit - 1 - half) - 1]
    return f"{head}…{flat[bisect_left(widths, widths[-1] - half) :]}"


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide letters take two, combining marks none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(sign: str) -> int:
    return 0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1

"""Names as they are compared: without differences of case, width, blanks and typography."""

import unicodedata
from functools import lru_cache

_LONGEST_WORD = 100
_DELETED = "\u00ad\u200b\u2060\ufeff"  # soft hyphen, zero-width space, word joiner, byte order mark
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_TWINS = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\uff02",
    "...": "\u2026",
    "..": "\u2025",
    "": _DELETED,
}
# What word processors and models put in the place of an ASCII character. NFKC knows width and blanks, and few of these.
_FOLDED = str.maketrans({twin: sign for sign, twins in _TWINS.items() for twin in twins})
_WITH_DASHES = _FOLDED | dict.fromkeys(map(ord, _DASHES), "-")
_INVISIBLE = dict.fromkeys(map(ord, _DELETED))


def without_invisible(text: str) -> str:
    """Return a text without soft hyphens and characters of no width."""
    return text if text.isascii() else text.translate(_INVISIBLE)


def is_minus(sign: str) -> bool:
    """Return whether a character is a hyphen, a dash or a minus sign."""
    return sign == "-" or (sign != "" and sign in _DASHES)


def normal_name(name: str, *, dashes: bool = True) -> str:
    """Return a name as it is compared with others, without differences of case, width, blanks and typography.

    It is for both sides of a comparison, not for what is stored. Long words keep their width, since normalizing many
    marks on one letter is slow.

    Args:
        name: The name, or a text that is searched for names.
        dashes: Whether all dashes are hyphens. In a text they are not, unless a name that it is searched for has one:
            a dash between two words would make one of them.
    """
    return _short_name(name, dashes) if len(name) <= _LONGEST_WORD else _normal(name, dashes)


def fold_typography(text: str, *, dashes: bool = True) -> str:
    """Return a text without differences of width and typography, with one blank for several."""
    if text.isascii():
        return " ".join(text.split())
    folded = text.translate(_WITH_DASHES if dashes else _FOLDED)
    words = (word if len(word) > _LONGEST_WORD else unicodedata.normalize("NFKC", word) for word in folded.split())
    return " ".join(" ".join(words).split())


def _normal(text: str, dashes: bool) -> str:
    return " ".join(fold_typography(text, dashes=dashes).casefold().split())


_short_name = lru_cache(maxsize=8192)(_normal)  # the same names come again and again

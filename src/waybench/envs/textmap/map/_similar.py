"""How similar two names are: the edit distance, and the published score made of it."""

from functools import lru_cache

LONGEST = 1_000  # characters of a name; the parsers of replies refuse longer ones


def distance(one: str, other: str) -> int:
    """Return the Levenshtein distance: how many characters have to be put in, left out or exchanged.

    The table of the textbook, a column at a time: the bits of two numbers say where a column grows and where it shrinks
    from a row to the next (Myers 1999, Hyyrö 2003). So the time is that of the shorter name, nearly whatever the
    length of the longer one.
    """
    long, short = (one, other) if len(one) >= len(other) else (other, one)
    if not short:
        return len(long)
    where: dict[str, int] = {}
    for place, character in enumerate(long):
        where[character] = where.get(character, 0) | 1 << place
    every = (1 << len(long)) - 1
    last = 1 << (len(long) - 1)
    grows, shrinks, edits = every, 0, len(long)
    for character in short:
        same = where.get(character, 0)
        diagonal = (((same & grows) + grows) ^ grows) | same | shrinks
        up = shrinks | (every & ~(diagonal | grows))
        down = grows & diagonal
        edits += bool(up & last) - bool(down & last)
        up = (up << 1 | 1) & every
        grows = ((down << 1) & every) | (every & ~(diagonal | up))
        shrinks = up & diagonal
    return edits


@lru_cache(maxsize=4096)
def similarity(one: str, other: str) -> float:
    """Return 1 - d / l: d the edit distance in small letters, l the length of the longer one (spec, section 5.2).

    Neither blanks nor brackets are left out. Two empty names have 0, as published. A name of more than 1,000
    characters has 0 with any other: a guard, for no place is called so.
    """
    one, other = one.lower(), other.lower()
    longer = max(len(one), len(other))
    if longer == 0 or longer > LONGEST:
        return 0.0
    return 1 - distance(one, other) / longer

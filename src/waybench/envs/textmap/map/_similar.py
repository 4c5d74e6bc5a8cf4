"""How similar two names are: the edit distance, and the published score made of it."""

from functools import lru_cache

LONGEST = 1_000  # characters of a name; the parsers of replies refuse longer ones


def distance(first: str, second: str) -> int:
    """Return the Levenshtein distance: how many characters have to be put in, left out or exchanged.

    The table of the textbook, a column at a time: the bits of two numbers say where a column grows and where it shrinks
    from a row to the next (Myers 1999, Hyyrö 2003). So the time is that of the shorter name, nearly whatever the
    length of the longer one.
    """
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    if not short:
        return len(long)
    positions: dict[str, int] = {}
    for index, character in enumerate(long):
        positions[character] = positions.get(character, 0) | 1 << index
    mask = (1 << len(long)) - 1
    last = 1 << (len(long) - 1)
    grows, shrinks, edits = mask, 0, len(long)
    for character in short:
        matches = positions.get(character, 0)
        diagonal = (((matches & grows) + grows) ^ grows) | matches | shrinks
        up = shrinks | (mask & ~(diagonal | grows))
        down = grows & diagonal
        edits += bool(up & last) - bool(down & last)
        up = (up << 1 | 1) & mask
        grows = ((down << 1) & mask) | (mask & ~(diagonal | up))
        shrinks = up & diagonal
    return edits


@lru_cache(maxsize=4096)
def similarity(first: str, second: str) -> float:
    """Return 1 - d / l: d the edit distance in small letters, l the length of the longer one (spec, section 5.2).

    Neither blanks nor brackets are left out. Two empty names have 0, as published. A name of more than 1,000
    characters has 0 with any other: a guard, for no place is called so.
    """
    first, second = first.lower(), second.lower()
    longer = max(len(first), len(second))
    if longer == 0 or longer > LONGEST:
        return 0.0
    return 1 - distance(first, second) / longer

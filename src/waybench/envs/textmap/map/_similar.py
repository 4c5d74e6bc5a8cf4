"""Similarity of names: the edit distance and the published score based on it."""

from functools import lru_cache

LONGEST = 1_000  # characters of a name; parsers of replies reject longer names


def distance(first: str, second: str) -> int:
    """Return the Levenshtein distance: the least number of characters to insert, delete or substitute.

    Computes the dynamic programming table column by column, with the differences between adjacent rows as bits of two
    integers (Myers 1999, Hyyrö 2003). The time depends on the length of the shorter name only, in practice.
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
    """Return 1 - d / l, with d the edit distance in lower case and l the longer length (spec, section 5.2).

    Spaces and brackets count. Two empty names have similarity 0, as published. Names of more than 1,000 characters have
    similarity 0 with any name, to bound the time.
    """
    first, second = first.lower(), second.lower()
    longer = max(len(first), len(second))
    if longer == 0 or longer > LONGEST:
        return 0.0
    return 1 - distance(first, second) / longer

"""Strategies of opponents that do not choose at random. Rock is 0, Paper 1 and Scissors 2."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


def beats(choice: int) -> int:
    """Return what beats a choice."""
    return (choice + 1) % 3


@dataclass(frozen=True, slots=True)
class Strategy:
    """An opponent's way to choose.

    Attributes:
        level: What it looks at: 1 nothing, 2 the last round, 3 all rounds.
        choose: (the player's last choice, its own, how often the player has chosen each) -> its next choice.
        doc: What it does, as the end of a sentence.
    """

    level: int
    choose: Callable[[int, int, Sequence[int]], int]
    doc: str


def _stay_or_shift(mine: int, theirs: int, counts: Sequence[int]) -> int:
    return beats(mine) if mine == beats(theirs) else theirs


def _most_frequent(mine: int, theirs: int, counts: Sequence[int]) -> int:
    return beats(counts.index(max(counts)))


FIXED = "fixed"
STRATEGIES = {
    FIXED: Strategy(1, lambda mine, theirs, counts: theirs, "draws every choice from the same probabilities"),
    "copy_last": Strategy(2, lambda mine, theirs, counts: mine, "repeats the player's last choice"),
    "beat_last": Strategy(2, lambda mine, theirs, counts: beats(mine), "chooses what beats the player's last choice"),
    "win_stay": Strategy(
        2, _stay_or_shift, "keeps its choice unless it has lost, and then chooses what would have won"
    ),
    "cycle": Strategy(
        2, lambda mine, theirs, counts: beats(theirs), "chooses what beats its own last choice: Rock, Paper, Scissors"
    ),
    "frequency": Strategy(
        3, _most_frequent, "chooses what beats the player's most frequent choice, the first in the list of several"
    ),
}

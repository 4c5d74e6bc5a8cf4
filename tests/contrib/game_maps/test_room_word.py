"""The word of memory that tells the room, found among words that nearly do."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from waybench.core import UsageError
from waybench.ext.author.game_maps._story import find_room_word

GLOBALS = 101  # the table begins at an odd address, as it may
SIZE = 1_200
ROOM, REAL_ROOM, SEAT, TITLE, BEFORE, TURNS, COUNT = (GLOBALS + 2 * number for number in (9, 4, 2, 0, 1, 5, 6))
ELSEWHERE = 900  # beyond the global variables
THE_DARK = 19

# Rooms 31 and 32 are both halls; 33 and 34 are dark without the lamp of 30.
WAYS = {
    30: {"north": 31, "east": 33},
    31: {"south": 30, "north": 32},
    32: {"south": 31, "east": 35},
    33: {"west": 30, "north": 34},
    34: {"south": 33},
    35: {"west": 32},
}
TITLES = {30: "Foyer", 31: "Hall", 32: "Hall", 33: "Cave", 34: "Grotto", 35: "Attic"}
WALK = ("n", "n", "e", "w", "s", "sit", "look", "stand", "s", "e", "n", "s", "w", "lamp", "e", "n", "wait")
FULL = {"n": "north", "s": "south", "e": "east", "w": "west"}


class Rooms:
    """A game with some words of memory.

    Args:
        words: For each address what is there: "room", "lit room", "seat", "title", "before", "turns", "moves".
        titles: What rooms are called.
    """

    def __init__(self, words: Mapping[int, str], titles: Mapping[int, str] = TITLES) -> None:
        self._words, self._titles = words, titles
        self.reset()

    def reset(self) -> str:
        self._room, self._before, self._turns, self._moves, self._lit, self._sits = 30, 0, 0, 0, False, False
        return self.act("look")

    def act(self, command: str) -> str:
        self._turns += 1
        there = WAYS[self._room].get(FULL.get(command, command))
        if there:
            self._room, self._before, self._moves = there, self._room, self._moves + 1
        self._lit = self._lit or command == "lamp"
        self._sits = command == "sit" or (self._sits and command not in ("stand", "lamp") and not there)
        if not there and command != "look":
            return "Yes.\n"
        if self._dark():
            return "Darkness\nIt is pitch dark.\n"
        return f"\n{self._titles[self._room]}{' (on the bench)' if self._sits else ''}\nIt is a room.\n"

    def _dark(self) -> bool:
        return self._room in (33, 34) and not self._lit

    def save(self) -> Any:
        return dict(vars(self))

    def restore(self, saved: Any) -> None:
        vars(self).update(saved)

    def memory(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        values = {
            "room": self._room,
            "lit room": THE_DARK if self._dark() else self._room,
            "seat": 50 if self._sits else self._room,
            "title": 1000 + sorted(set(self._titles.values())).index(self._titles[self._room]),
            "before": self._before,
            "turns": self._turns,
            "moves": self._moves,
        }
        memory = np.zeros(SIZE, dtype=np.uint8)
        for address, kind in self._words.items():
            memory[address : address + 2] = divmod(values[kind], 256)
        return memory

    @property
    def done(self) -> bool:
        return False


NOISE = {BEFORE: "before", TURNS: "turns", COUNT: "moves"}


def found(words: Mapping[int, str], walk: tuple[str, ...] = WALK, titles: Mapping[int, str] = TITLES) -> int:
    return find_room_word(Rooms(words, titles), walk, GLOBALS)


def test_the_room_is_found_among_counters() -> None:
    assert found({**NOISE, ROOM: "room"}) == ROOM


def test_rooms_of_one_title_are_told_apart_where_possible() -> None:
    assert found({**NOISE, TITLE: "title", ROOM: "room"}) == ROOM
    assert found({**NOISE, TITLE: "title"}) == TITLE


def test_a_seat_is_no_room() -> None:
    assert found({**NOISE, SEAT: "seat", ROOM: "room"}) == ROOM


def test_dark_rooms_are_told_apart_where_possible() -> None:
    assert found({**NOISE, REAL_ROOM: "lit room", ROOM: "room"}) == ROOM
    assert found({**NOISE, REAL_ROOM: "room", ROOM: "lit room"}) == REAL_ROOM
    # Also on a walk that never has a light.
    dark = WALK[: WALK.index("lamp")]
    assert found({**NOISE, REAL_ROOM: "lit room", ROOM: "room"}, dark) == ROOM
    assert found({**NOISE, REAL_ROOM: "room", ROOM: "lit room"}, dark) == REAL_ROOM


def test_the_room_may_lie_beyond_the_global_variables() -> None:
    assert found({**NOISE, ELSEWHERE: "room"}) in (ELSEWHERE - 1, ELSEWHERE, ELSEWHERE + 1)
    assert found({**NOISE, ELSEWHERE: "room", ROOM: "room"}) == ROOM


def test_a_short_walk_suffices() -> None:
    assert found({**NOISE, ROOM: "room"}, ("n",)) == ROOM


def test_no_word_is_said() -> None:
    with pytest.raises(UsageError, match="no part of its memory follows the rooms' titles; give --commands"):
        found(NOISE)


def test_a_walk_within_one_room_is_said() -> None:
    with pytest.raises(UsageError, match="this walk shows 1; give --commands that walk through several rooms"):
        found({ROOM: "room"}, ("wait",), dict.fromkeys(TITLES, "Nowhere"))


def test_a_title_that_changes_once_does_no_harm() -> None:
    class Moody(Rooms):
        def act(self, command: str) -> str:
            return super().act(command).replace("Attic", "Old Attic" if self._turns > 4 else "Attic")

    assert find_room_word(Moody({**NOISE, ROOM: "room", TITLE: "title"}), WALK * 8, GLOBALS) in (ROOM, TITLE)

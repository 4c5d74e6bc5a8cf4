"""A text world of our own as a game, and a game that is a table."""

from collections.abc import Mapping
from typing import Any

from waybench.envs.textmap.worlds._data import TextWorld
from waybench.envs.textmap.worlds._play import WorldEngine


class WorldGame:
    """A text world, played as if it were a game file."""

    def __init__(self, world: TextWorld) -> None:
        self._play = WorldEngine(world)
        self._now = self._play.begin().after

    def reset(self) -> str:
        turn = self._play.begin()
        self._now = turn.after
        return turn.text

    def act(self, command: str) -> str:
        turn = self._play.act(self._now, command)
        self._now = turn.after
        return turn.text

    def place(self) -> int:
        return self._now.place

    def name(self) -> None:
        return None

    def save(self) -> Any:
        return self._now

    def restore(self, saved: Any) -> None:
        self._now = saved

    @property
    def done(self) -> bool:
        return False


_SHORT = {"n": "north", "s": "south", "e": "east", "w": "west", "d": "down"}


class TableEngine:
    """A game that is a table.

    Args:
        ways: For each place its ways; a way to -1 is the end of the game, and place 0 has no id.
        titles: What is told of each place.
        tables: What the game's own table calls each place, if it has one.
        silent: Places whose titles are told on looking only.
        first: Where the game begins.
    """

    def __init__(
        self,
        ways: Mapping[int, Mapping[str, int]],
        titles: Mapping[int, str],
        tables: Mapping[int, str] | None = None,
        silent: tuple[int, ...] = (),
        first: int = 1,
    ) -> None:
        self._ways, self._titles, self._tables, self._silent = ways, titles, tables, silent
        self._first, self._here, self._last = first, first, ""
        self.typed: list[str] = []

    def reset(self) -> str:
        self._here, self._last = self._first, ""
        return f"A game.\n\n{self._titles[self._first]}\nIt is a place.\n"

    def act(self, command: str) -> str:
        assert not self.done, "a game that is over cannot be played"
        self.typed.append(command)
        words = command.removeprefix("go ")
        command = self._last if words in ("g", "again") else _SHORT.get(words, words)
        self._last = command
        there = self._ways.get(self._here, {}).get(command)
        if command == "look":
            return f"\n{self._titles[self._here]}\nIt is a place.\n"
        if there is None:
            return "Nothing happens.\n"
        self._here = there
        if self.done:
            return "*** The End ***\n"
        return "You go.\n" if there in self._silent else f"{self._titles[there]}\nIt is a place.\n"

    def place(self) -> int | None:
        return self._here if self._here > 0 else None

    def name(self) -> str | None:
        return None if self._tables is None else self._tables.get(self._here)

    def save(self) -> Any:
        return self._here, self._last

    def restore(self, saved: Any) -> None:
        self._here, self._last = saved

    @property
    def done(self) -> bool:
        return self._here < 0

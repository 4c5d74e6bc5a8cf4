"""Game files for the Z-machine, played by jericho; in games that jericho does not know, the room is found in memory."""

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from waybench.core import DataError, UsageError
from waybench.envs.textmap.worlds._data import DIRECTIONS
from waybench.ext.author.game_maps._words import (
    LONGEST,
    LOOK,
    Playable,
    expand_command,
    is_darkness_title,
    is_movement,
    opposite_actions,
    room_title,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Counts = NDArray[np.int64]

_MOST_STEPS = 2_000  # steps of the walk that are used
_MOST_ROOMS = 30  # rooms in which all directions are tried
_TRIED = (*DIRECTIONS, "in", "out")
_SPARED = 50  # one in so many tests may fail: a room can change its title, a monster carry the player off
_MOST_FINALISTS = 2_000  # addresses that are ranked
_GLOBALS = 240  # variables of two bytes that every game has in a table

_LARGEST = 1 << 20  # bytes; the format's own limit is half of that
_HEADER = 64  # bytes
_SCALE = {1: 2, 2: 2, 3: 2, 4: 4, 5: 4, 6: 8, 7: 8, 8: 8}  # by version: the unit of the length in the header
_OTHERS = {b"FORM": "a Blorb archive: extract the game from it", b"Glul": "a Glulx game", b"TADS": "a TADS game"}
# The rest of the status line that jericho leaves at the end of an answer, and the prompt before it.
_STATUS = re.compile(r"[ ]{40,}[^ \n][^\n]*\Z")
_PROMPT = re.compile(r"\n>[ ]*\Z")
_OVER = re.compile(r"^ *\*{3,}[^*\n]+\*{3,} *$.*\bRESTART\b", re.MULTILINE | re.DOTALL)


class GameMemory(Playable, Protocol):
    """A game whose memory can be read."""

    def memory(self) -> "Bytes":
        """Return a copy of the game's writable memory."""
        ...


@dataclass(slots=True)
class _Evidence:
    """The evidence of a walk about each word of two bytes; shapes (bytes - 1,), by the address of its first byte.

    Attributes:
        failed: Number of tests that the word fails: it changes though the room is the same, or the other way round.
        shifts: Number of changes of the word after commands that do not move the player.
        tests: Number of tests of each word.
        sights: (title, memory) at moments of the walk and beside it; the title is None in the dark or without any.
    """

    failed: "Counts"
    shifts: "Counts"
    tests: int = 0
    sights: list[tuple[str | None, "Bytes"]] = field(default_factory=list[tuple[str | None, "Bytes"]])

    def add_test(self, failed: "NDArray[np.bool_]") -> None:
        """Count a test; `failed` says for each address whether the word there failed the test."""
        self.tests += 1
        self.failed += failed


def find_room_word(game: GameMemory, commands: Sequence[str], global_table: int) -> int:
    """Return the address of the two-byte word in a game's memory that identifies the player's room.

    The game is played by the commands, and in each new room all directions are tried and taken back. The word does not
    change by looking around, differs between rooms of different titles, and is the same again after a step there and
    back. Among such words, those are preferred that change by fewer other commands (sitting down, lighting a lamp),
    then those that distinguish more rooms, also rooms with the same title and in the dark. The table of the game's
    global variables, where games keep the room, is searched first.

    Raises:
        UsageError: If there is no such word, or the walk shows too few rooms.
    """
    import numpy as np

    evidence = _gather_evidence(game, commands)
    titles = {title for title, _ in evidence.sights if title}
    if len(titles) < 2:
        raise UsageError(
            "jericho does not support this game, and its rooms cannot be distinguished by their titles: this walk "
            f"shows {len(titles)}; give --commands that walk through several rooms"
        )
    most_failures = evidence.tests // _SPARED
    global_addresses = range(global_table, global_table + 2 * _GLOBALS, 2)
    finalists = np.argsort(evidence.failed, kind="stable")[:_MOST_FINALISTS].tolist()
    for addresses in ([address for address in global_addresses if address < len(evidence.failed)], finalists):
        passing = (address for address in addresses if evidence.failed[address] <= most_failures)
        sort_keys = [rank for address in passing if (rank := _sort_key(evidence, address)) is not None]
        if sort_keys:
            return min(sort_keys)[-1]
    raise UsageError(
        "jericho does not support this game, and no part of its memory follows the rooms' titles; "
        "give --commands that walk through more rooms"
    )


def _gather_evidence(game: GameMemory, commands: Sequence[str]) -> _Evidence:
    """Play the game by its commands, and try all directions in each room with a new title."""
    import numpy as np

    game.reset()
    memory = game.memory()
    zeros = np.zeros(len(memory) - 1, dtype=np.int64)
    evidence = _Evidence(zeros, zeros.copy())
    tried_titles: set[str] = set()
    for command in ("", *commands[:_MOST_STEPS]):
        if command:
            game.act(command)
        if game.done:
            break
        memory_before, memory, saved = memory, game.memory(), game.save()
        title = _title_in_light(game)
        evidence.add_test(_changed_words(memory, game.memory()))
        if command and not is_movement(expand_command(command)):
            evidence.shifts += _changed_words(memory_before, memory)
        evidence.sights.append((title, memory))
        if title and title not in tried_titles and len(tried_titles) < _MOST_ROOMS:
            tried_titles.add(title)
            _try_directions(game, evidence, saved, title, memory)
        game.restore(saved)
    return evidence


def _try_directions(game: GameMemory, evidence: _Evidence, saved_state: Any, title: str, memory: "Bytes") -> None:
    """Go from a room in every direction and back, and add the observations to the evidence."""
    for direction in _TRIED:
        game.restore(saved_state)
        game.act(direction)
        memory_there, state_there = game.memory(), game.save()
        other_title = _title_in_light(game)
        if game.done or not other_title or other_title == title:
            continue
        evidence.add_test(~_changed_words(memory, memory_there))
        evidence.sights.append((other_title, memory_there))
        game.restore(state_there)
        game.act(opposite_actions(direction)[0])
        memory_back = game.memory()
        if not game.done and _title_in_light(game) == title:
            evidence.add_test(_changed_words(memory, memory_back))


def _title_in_light(game: GameMemory) -> str | None:
    """Return the title of the player's room; None in the dark or without a title."""
    title = room_title(game.act(LOOK))
    return None if title is None or is_darkness_title(title) else title


def _changed_words(before: "Bytes", after: "Bytes") -> "NDArray[np.bool_]":
    """Return for each address whether the two-byte word that starts there differs."""
    changed = before != after
    return changed[:-1] | changed[1:]


def _sort_key(evidence: _Evidence, address: int) -> tuple[bool, int, int, int, int, int, int] | None:
    """Return the sort key of a word, lower for better candidates and with the address last; None if it does not fit."""
    sights = evidence.sights
    titles_and_words = [(title, int(memory[address]) << 8 | int(memory[address + 1])) for title, memory in sights]
    titles_by_word: dict[int, Counter[str]] = {}
    for title, word in titles_and_words:
        if title:
            titles_by_word.setdefault(word, Counter())[title] += 1
    n_wrong = sum(title_counts.total() - max(title_counts.values()) for title_counts in titles_by_word.values())
    if len(titles_by_word) < 2 or n_wrong > len(titles_and_words) // _SPARED:
        return None
    # In the dark, the right word has a value that it has in the light as well.
    n_dark = sum(1 for title, word in titles_and_words if not title and word in titles_by_word)
    n_words, n_failed = len({word for _, word in titles_and_words}), int(evidence.failed[address]) + n_wrong
    is_zero = 0 in titles_by_word  # a word that is 0 at times is hardly the number of a room
    return is_zero, int(evidence.shifts[address]), -len(titles_by_word), -n_dark, -n_words, n_failed, address


class GameFile:
    """A game file.

    Raises:
        UsageError: If it cannot be read, or jericho is not installed.
        DataError: If it is no game for the Z-machine, or incomplete.
    """

    def __init__(self, path: Path) -> None:
        self._global_table = _check_game_file(path)
        try:
            jericho: Any = import_module("jericho")  # takes half a second; has no types
        except ModuleNotFoundError as error:
            if error.name != "jericho":
                raise
            raise UsageError("playing game files needs jericho: pip install 'waybench[jericho]'") from None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of games that are not supported: see `supported`
            try:
                self._env: Any = jericho.FrotzEnv(str(path))
            except UnicodeEncodeError:
                raise UsageError(f"jericho cannot open a file with this name: rename {str(path)!a}") from None
        self.supported = bool(self._env.is_fully_supported)

    @property
    def walkthrough(self) -> tuple[str, ...]:
        """The commands that solve the game, if jericho knows them."""
        return tuple(self._env.get_walkthrough()) if self.supported and self._env.bindings else ()

    def open_game(self, walkthrough: Sequence[str]) -> "SupportedGame | OtherGame":
        """Return the game, ready to be played.

        In a game that jericho does not support, the walkthrough serves to find the room's address in its memory.

        Raises:
            UsageError: If the address cannot be found.
            DataError: If the interpreter cannot start the game.
        """
        if self.supported:
            return SupportedGame(self._env)
        game = OtherGame(self._env)
        game.reset()
        if game.done:
            raise DataError("the interpreter cannot start the game: the file is damaged")
        game.room_word = find_room_word(game, walkthrough, self._global_table)
        return game


class _Game:
    """A game in the interpreter, supported by jericho or not."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self._over = False

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self._over

    def reset(self) -> str:
        """Start the game again; return its first text."""
        text, _ = self._env.reset()
        return self._update_done(text, False)

    def act(self, command: str) -> str:
        """Type a command; return the game's answer, "" once the game is over."""
        if self._over:
            return ""
        text, _, over, _ = self._env.step(command[:LONGEST])
        return self._update_done(text, over)

    def save(self) -> Any:
        """Return the state for `restore`."""
        return self._env.get_state(), self._over

    def restore(self, saved: Any) -> None:
        """Return to a saved state."""
        state, self._over = saved
        if self._env._emulator_halted():  # after a game's error or end, the interpreter needs a reset
            self._env.reset()
        self._env.set_state(state)

    def _update_done(self, text: str, over: bool) -> str:
        """Note whether the game is over, and return its text for players."""
        self._over = bool(over) or bool(self._env._emulator_halted()) or _OVER.search(text) is not None
        return text


class SupportedGame(_Game):
    """A game whose player and places jericho knows."""

    def place(self) -> int | None:
        """Return the number of the object that the player is in; None without such an object."""
        location = self._env.get_player_location()
        return None if location is None or location.num <= 0 else int(location.num)

    def name(self) -> str | None:
        """Return the short name of the object that the player is in; None without a name."""
        location = self._env.get_player_location()
        return None if location is None or not location.name.strip() else str(location.name)


class OtherGame(_Game):
    """A game that jericho can play but not analyse; its room is read from its memory.

    Attributes:
        room_word: The address of the two bytes that identify the room.
    """

    room_word = 0

    def place(self) -> int | None:
        """Return the word of the game's memory that identifies the room."""
        high, low = self.memory()[self.room_word : self.room_word + 2].tolist()
        return high << 8 | low

    def name(self) -> None:
        """Return None: the game's table of objects cannot be read."""
        return None

    def memory(self) -> "Bytes":
        """Return a copy of the game's writable memory."""
        return self._env._get_ram()

    def _update_done(self, text: str, over: bool) -> str:
        super()._update_done(text, over)
        return _PROMPT.sub("\n", _STATUS.sub("", text))


def _check_game_file(path: Path) -> int:
    """Check by its header that a file is a complete Z-machine game; return the address of its global variables.

    The interpreter, which is written in C, would end the whole process for a bad file.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise DataError(f"{path}: larger than {_LARGEST >> 10} KiB, so it is not a Z-machine game")
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; give a game file such as zork1.z5") from None
    if data[:4] in _OTHERS:
        raise DataError(f"{path}: it is {_OTHERS[data[:4]]}; only Z-machine games (.z3 to .z8) can be played")
    version = data[0] if data else 0
    if len(data) < _HEADER or version not in _SCALE:
        raise DataError(f"{path}: not a Z-machine game (.z3 to .z8)")
    program, dictionary, objects, global_table, static = (
        int.from_bytes(data[address : address + 2]) for address in (0x04, 0x08, 0x0A, 0x0C, 0x0E)
    )
    length = _SCALE[version] * int.from_bytes(data[0x1A:0x1C])
    if length > len(data):
        raise DataError(f"{path}: the file should have {length:,} bytes but has {len(data):,}: download it again")
    if not all(_HEADER <= address < len(data) for address in (program, dictionary, objects, global_table, static)):
        raise DataError(f"{path}: not a Z-machine game: its header has addresses outside the file")
    return global_table

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

_MOST_STEPS = 2_000  # of the walk that are looked at
_MOST_ROOMS = 30  # where all directions are tried
_TRIED = (*DIRECTIONS, "in", "out")
_SPARED = 50  # one in so many tests may fail: a room can change its title, a monster carry the player off
_MOST_FINALISTS = 2_000
_GLOBALS = 240  # variables of two bytes that every game has in a table

_LARGEST = 1 << 20  # bytes; the format's own limit is half of that
_HEADER = 64  # bytes
_SCALE = {1: 2, 2: 2, 3: 2, 4: 4, 5: 4, 6: 8, 7: 8, 8: 8}  # by version: the unit of the length in the header
_OTHERS = {b"FORM": "a Blorb archive: extract the game from it", b"Glul": "a Glulx game", b"TADS": "a TADS game"}
# What jericho leaves of the status line at the end of an answer, and the prompt before it.
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
    """The evidence of a walk about each two neighbouring bytes; shapes (bytes - 1,), by the first one's address.

    Attributes:
        failed: How many tests the two bytes fail: they differ though the room is the same, or the other way round.
        shifts: How often they differ after a command which is not one that moves.
        tests: Number of tests of each.
        sights: Moments of the walk and beside it: the title printed there, None where it is dark or none is printed,
            and the memory.
    """

    failed: "Counts"
    shifts: "Counts"
    tests: int = 0
    sights: list[tuple[str | None, "Bytes"]] = field(default_factory=list[tuple[str | None, "Bytes"]])

    def add_test(self, failed: "NDArray[np.bool_]") -> None:
        """Count a test; `failed` says for each address whether the word there failed it."""
        self.tests += 1
        self.failed += failed


def find_room_word(game: GameMemory, commands: Sequence[str], global_table: int) -> int:
    """Return the address of the two-byte word in a game's memory that identifies the player's room.

    The game is played by the commands, and in each room that is new all directions are tried and taken back. The word
    does not change by looking around; it differs between rooms of different titles; and it is the same again after a
    step there and back. Among the words of which that is true, one is preferred that changes by fewer other commands
    (not by sitting down or lighting a lamp), then one that tells more rooms apart, those with the same title and those
    in the dark too. The table of the game's global variables, where games keep the room, is looked at first.

    Raises:
        UsageError: If there is no such word, or the walk says too little.
    """
    import numpy as np

    evidence = _gather_evidence(game, commands)
    rooms = {title for title, _ in evidence.sights if title}
    if len(rooms) < 2:
        raise UsageError(
            "jericho does not support this game, and its rooms cannot be distinguished by their titles: this walk "
            f"shows {len(rooms)}; give --commands that walk through several rooms"
        )
    spared = evidence.tests // _SPARED
    aligned = range(global_table, global_table + 2 * _GLOBALS, 2)
    passing = [address for address in aligned if address < len(evidence.failed) and evidence.failed[address] <= spared]
    order = np.argsort(evidence.failed, kind="stable")[:_MOST_FINALISTS].tolist()
    for addresses in (passing, [address for address in order if evidence.failed[address] <= spared]):
        ranked = [rank for address in addresses if (rank := _sort_key(evidence, address)) is not None]
        if ranked:
            return min(ranked)[-1]
    raise UsageError(
        "jericho does not support this game, and no part of its memory follows the rooms' titles; "
        "give --commands that walk through more rooms"
    )


def _gather_evidence(game: GameMemory, commands: Sequence[str]) -> _Evidence:
    """Play the game by its commands, and try all directions in each room with a new title."""
    import numpy as np

    game.reset()
    memory = game.memory()
    nothing = np.zeros(len(memory) - 1, dtype=np.int64)
    evidence = _Evidence(nothing, nothing.copy())
    tried: set[str] = set()
    for command in ("", *commands[:_MOST_STEPS]):
        if command:
            game.act(command)
        if game.done:
            break
        before, memory, saved = memory, game.memory(), game.save()
        title = _title_in_light(game)
        evidence.add_test(_changed_words(memory, game.memory()))
        if command and not is_movement(expand_command(command)):
            evidence.shifts += _changed_words(before, memory)
        evidence.sights.append((title, memory))
        if title and title not in tried and len(tried) < _MOST_ROOMS:
            tried.add(title)
            _try_directions(game, evidence, saved, title, memory)
        game.restore(saved)
    return evidence


def _try_directions(game: GameMemory, evidence: _Evidence, saved_state: Any, title: str, memory: "Bytes") -> None:
    """Go from a room in every direction and back, and add the observations to the evidence."""
    for way in _TRIED:
        game.restore(saved_state)
        game.act(way)
        there, away = game.memory(), game.save()
        other_title = _title_in_light(game)
        if game.done or not other_title or other_title == title:
            continue
        evidence.add_test(~_changed_words(memory, there))
        evidence.sights.append((other_title, there))
        game.restore(away)
        game.act(opposite_actions(way)[0])
        back = game.memory()
        if not game.done and _title_in_light(game) == title:
            evidence.add_test(_changed_words(memory, back))


def _title_in_light(game: GameMemory) -> str | None:
    """Return the title of the player's room; None in the dark or without a title."""
    title = room_title(game.act(LOOK))
    return None if title is None or is_darkness_title(title) else title


def _changed_words(before: "Bytes", after: "Bytes") -> "NDArray[np.bool_]":
    """Return for each address whether the two-byte word that starts there differs."""
    changed = before != after
    return changed[:-1] | changed[1:]


def _sort_key(evidence: _Evidence, address: int) -> tuple[bool, int, int, int, int, int, int] | None:
    """Return the sort key of a word, the best candidate first, which ends in the address; None if it does not fit."""
    words = [(title, int(memory[address]) << 8 | int(memory[address + 1])) for title, memory in evidence.sights]
    titles: dict[int, Counter[str]] = {}
    for title, word in words:
        if title:
            titles.setdefault(word, Counter())[title] += 1
    wrong = sum(counted.total() - max(counted.values()) for counted in titles.values())
    if len(titles) < 2 or wrong > len(words) // _SPARED:
        return None
    # In the dark, the better word still tells the room, as is seen where there is light another time.
    in_the_dark = sum(1 for title, word in words if not title and word in titles)
    n_words, failed = len({word for _, word in words}), int(evidence.failed[address]) + wrong
    # What is 0 at times is hardly the number of a room.
    return 0 in titles, int(evidence.shifts[address]), -len(titles), -in_the_dark, -n_words, failed, address


class GameFile:
    """A game file.

    Raises:
        UsageError: If it cannot be read, or jericho is not installed.
        DataError: If it is no game for the Z-machine, or not all of one.
    """

    def __init__(self, path: Path) -> None:
        self._global_table = _check_game_file(path)
        try:
            jericho: Any = import_module("jericho")  # half a second; carries no types
        except ModuleNotFoundError as error:
            if error.name != "jericho":
                raise
            raise UsageError("playing game files needs jericho: pip install 'waybench[jericho]'") from None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the game is not supported, which is asked for below
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

        With a game that jericho does not support, the walkthrough serves to find where in its memory the room is.

        Raises:
            UsageError: If that cannot be found.
            DataError: If the interpreter gives the game up.
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
    """A game in the interpreter: what both kinds of games have in common."""

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
        if self._env._emulator_halted():  # after a game's own error or end only a new beginning sets it going again
            self._env.reset()
        self._env.set_state(state)

    def _update_done(self, text: str, over: bool) -> str:
        """Note whether the game is over, and return its text for players."""
        self._over = bool(over) or bool(self._env._emulator_halted()) or _OVER.search(text) is not None
        return text


class SupportedGame(_Game):
    """A game whose player and places jericho knows."""

    def place(self) -> int | None:
        """Return the number of the object that the player is in; None if there is none."""
        location = self._env.get_player_location()
        return None if location is None or location.num <= 0 else int(location.num)

    def name(self) -> str | None:
        """Return the short name of the object that the player is in; None if there is none."""
        location = self._env.get_player_location()
        return None if location is None or not location.name.strip() else str(location.name)


class OtherGame(_Game):
    """A game that jericho can play but not look into; its room is read from its memory.

    Attributes:
        room_word: The address of the two bytes that tell the room.
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

    The interpreter is no Python: it ends the whole process when a file disappoints it.
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
        int.from_bytes(data[at : at + 2]) for at in (0x04, 0x08, 0x0A, 0x0C, 0x0E)
    )
    length = _SCALE[version] * int.from_bytes(data[0x1A:0x1C])
    if length > len(data):
        raise DataError(f"{path}: the file should have {length:,} bytes but has {len(data):,}: download it again")
    if not all(_HEADER <= at < len(data) for at in (program, dictionary, objects, global_table, static)):
        raise DataError(f"{path}: not a Z-machine game: its header has addresses outside the file")
    return global_table

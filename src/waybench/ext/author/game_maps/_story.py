"""Game files for the Z-machine, played by jericho."""

import re
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waybench.core import DataError, UsageError
from waybench.ext.author.game_maps._room_word import find_room_word
from waybench.ext.author.game_maps._words import LONGEST

if TYPE_CHECKING:
    from waybench.ext.author.game_maps._room_word import Bytes

_LARGEST = 1 << 20  # bytes; the format's own limit is half of that
_HEADER = 64  # bytes
_SCALE = {1: 2, 2: 2, 3: 2, 4: 4, 5: 4, 6: 8, 7: 8, 8: 8}  # by version: the unit of the length in the header
_OTHERS = {b"FORM": "a Blorb archive: extract the game from it", b"Glul": "a Glulx game", b"TADS": "a TADS game"}
# What jericho leaves of the status line at the end of an answer, and the prompt before it.
_STATUS = re.compile(r"[ ]{40,}[^ \n][^\n]*\Z")
_PROMPT = re.compile(r"\n>[ ]*\Z")
_OVER = re.compile(r"^ *\*{3,}[^*\n]+\*{3,} *$.*\bRESTART\b", re.MULTILINE | re.DOTALL)


class Story:
    """A game file.

    Args:
        path: The file.

    Raises:
        UsageError: If it cannot be read, or jericho is not installed.
        DataError: If it is no game for the Z-machine, or not all of one.
    """

    def __init__(self, path: Path) -> None:
        self._global_table = _checked(path)
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

    def engine(self, commands: Sequence[str]) -> "SupportedGame | OtherGame":
        """Return the game, to be played.

        Args:
            commands: A walk through it. With a game that jericho does not support, it serves to find where in its
                memory the room is.

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
        game.room_word = find_room_word(game, commands, self._global_table)
        return game


class _Game:
    """What both kinds of games have in common.

    Args:
        env: The interpreter.
    """

    def __init__(self, env: Any) -> None:
        self._env = env
        self._over = False

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self._over

    def reset(self) -> str:
        """Begin the game anew; return what it tells."""
        text, _ = self._env.reset()
        return self._heard(text, False)

    def act(self, command: str) -> str:
        """Type a command; return what the game answers. A game that is over answers nothing."""
        if self._over:
            return ""
        text, _, over, _ = self._env.step(command[:LONGEST])
        return self._heard(text, over)

    def save(self) -> Any:
        """Return what `restore` needs."""
        return self._env.get_state(), self._over

    def restore(self, saved: Any) -> None:
        """Come back to a saved situation."""
        state, self._over = saved
        if self._env._emulator_halted():  # after a game's own error or end only a new beginning sets it going again
            self._env.reset()
        self._env.set_state(state)

    def _heard(self, text: str, over: bool) -> str:
        self._over = bool(over) or bool(self._env._emulator_halted()) or _OVER.search(text) is not None
        return text


class SupportedGame(_Game):
    """A game whose player and places jericho knows."""

    def place(self) -> int | None:
        """Return the number of the object that the player is in."""
        found = self._env.get_player_location()
        return None if found is None or found.num <= 0 else int(found.num)

    def name(self) -> str | None:
        """Return that object's short name."""
        found = self._env.get_player_location()
        return None if found is None or not found.name.strip() else str(found.name)


class OtherGame(_Game):
    """A game that jericho can play but not look into; its room is read from its memory.

    Attributes:
        room_word: The address of the two bytes that tell the room.
    """

    room_word = 0

    def place(self) -> int | None:
        """Return the word of the game's memory that tells the room."""
        high, low = self.memory()[self.room_word : self.room_word + 2].tolist()
        return high << 8 | low

    def name(self) -> None:
        """Return nothing: the game's table of objects is closed to us."""
        return None

    def memory(self) -> "Bytes":
        """Return a copy of all bytes that the game can change."""
        return self._env._get_ram()

    def _heard(self, text: str, over: bool) -> str:
        super()._heard(text, over)
        return _PROMPT.sub("\n", _STATUS.sub("", text))


def _checked(path: Path) -> int:
    """Check that a file is a whole game for the Z-machine, as far as its header tells; return where its globals are.

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

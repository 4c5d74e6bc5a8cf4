"""Game files, as far as that goes without an interpreter, and a stand-in for one that supports a game."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from waybench.core import DataError, UsageError
from waybench.envs.textmap._place_map import NEVER
from waybench.ext.author.game_maps._command import map_game
from waybench.ext.author.game_maps._story import GameFile, OtherGame, SupportedGame


def header(version: int = 5, length: int = 1_000, size: int = 1_000, **words: int) -> bytes:
    """Return a file that begins as a game does."""
    data = bytearray(size)
    data[0] = version
    scale = {3: 2, 5: 4, 8: 8}.get(version, 4)
    fields = {"start": 4, "dictionary": 8, "objects": 10, "globals": 12, "static": 14}
    for name, at in fields.items():
        data[at : at + 2] = words.get(name, 500 + at).to_bytes(2)
    data[0x1A:0x1C] = (length // scale).to_bytes(2)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "not a Z-machine game"),
        (b"north\nsouth\n" * 20, "not a Z-machine game"),
        (header()[:63], "not a Z-machine game"),
        (header(version=9), "not a Z-machine game"),
        (header(length=4_000), "the file should have 4,000 bytes but has 1,000: download it again"),
        (header(globals=5_000), "its header has addresses outside the file"),
        (header(static=10), "its header has addresses outside the file"),
        (b"FORM\0\0\0\0IFRS" + bytes(100), "it is a Blorb archive"),
        (b"Glul" + bytes(100), "it is a Glulx game"),
        (bytes(1 << 20 | 1), "larger than 1024 KiB"),
    ],
)
def test_what_is_no_game_is_refused(data: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "game.z5"
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        GameFile(path)
    assert str(caught.value).startswith(f"{path}: ") and told in str(caught.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*: No such file or directory; give a game file"):
        GameFile(tmp_path / "none.z5")
    with pytest.raises(UsageError, match=r"cannot read .*: Is a directory"):
        GameFile(tmp_path)


def test_without_jericho_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jericho", None)
    (tmp_path / "game.z5").write_bytes(header())
    with pytest.raises(UsageError, match=r"pip install 'waybench\[jericho\]'"):
        GameFile(tmp_path / "game.z5")


WAYS = {(27, "stand up"): 25, (25, "south"): 44, (44, "north"): 25, (25, "s"): 44, (25, "drive"): 67}
NAMES = {27: "bed", 25: "Bedroom", 44: "Bathroom", 67: "Driving"}
TITLES = {27: "Bedroom (in bed)", 25: "Bedroom", 44: "Bathroom", 67: "Driving"}


class Interpreter:
    """What jericho is to us, for a game of three rooms: a bed within the bedroom counts as a place of its own."""

    is_fully_supported = True
    bindings: Mapping[str, str] = {"walkthrough": ""}

    def __init__(self, path: str = "") -> None:
        self._here = 27
        self.halted = False

    def get_walkthrough(self) -> list[str]:
        return ["stand up", "s", "north", "drive", "wait"]

    def reset(self) -> tuple[str, dict[str, int]]:
        self._here, self.halted = 27, False
        return "The phone rings.\n\nBedroom (in bed)\nIt is spare.\n", {}

    def step(self, command: str) -> tuple[str, int, bool, dict[str, int]]:
        if self.halted:
            return "Emulator halted due to runtime error.\n", 0, False, {}
        there = WAYS.get((self._here, command))
        self._here = there or self._here
        self.halted = command == "exit"
        text = f"\n{TITLES[self._here]}\nIt is a room.\n" if there or command == "look" else "No.\n"
        return text, 0, self._here == 67, {}

    def get_state(self) -> Any:
        return self._here

    def set_state(self, state: Any) -> None:
        self._here = state

    def get_player_location(self) -> Any:
        return SimpleNamespace(num=self._here, name=NAMES[self._here])

    def _emulator_halted(self) -> bool:
        return self.halted


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GameFile:
    module = ModuleType("jericho")
    vars(module)["FrotzEnv"] = Interpreter
    monkeypatch.setitem(sys.modules, "jericho", module)
    (tmp_path / "905.z5").write_bytes(header())
    return GameFile(tmp_path / "905.z5")


def test_a_supported_game_is_walked_by_its_own_walkthrough(story: GameFile) -> None:
    engine = story.open_game(story.walkthrough)
    assert isinstance(engine, SupportedGame)
    found = map_game(engine, story.walkthrough, "905", names={"27": "bedroom", "25": "bedroom"})
    assert {edge[:5] for edge in found.place_map.edges} == {
        ("bedroom", "bathroom", "south", 2, 3),
        ("bathroom", "bedroom", "north", 3, 2),
        ("bedroom", "driving", "drive", 4, NEVER),
    }
    assert found.codes == {"bathroom": ("44",), "bedroom": ("27", "25"), "driving": ("67",)}
    assert found.unused == 1


def test_without_names_the_objects_names_are_taken(story: GameFile) -> None:
    found = map_game(story.open_game(()), story.walkthrough, "905")
    assert found.codes.keys() == {"bed", "bedroom", "bathroom", "driving"}
    first = found.place_map.edges[0]
    assert first[:3] == ("bed", "bedroom", "stand up") and first.forward_named == 1


def test_a_game_that_breaks_off_in_a_trial_goes_on() -> None:
    game = SupportedGame(Interpreter())
    game.reset()
    saved = game.save()
    game.act("exit")
    assert game.done and game.act("look") == ""
    game.restore(saved)
    assert not game.done and "Bedroom" in game.act("look")


class Screen(Interpreter):
    """A game that is not supported: a status line at the end of what is told, and memory."""

    is_fully_supported = False

    def step(self, command: str) -> tuple[str, int, bool, dict[str, int]]:
        text, *rest = super().step(command)
        if command == "die":
            text = "You fall.\n\n    *** You have died ***\n\nWould you like to RESTART, RESTORE or QUIT?\n"
        return f"{text}\n>{' ' * 128}{NAMES[self._here]}Score: 0Moves: 1", *rest

    def _get_ram(self) -> Any:
        memory = np.zeros(600, dtype=np.uint8)
        memory[301] = self._here
        return memory


def test_the_status_line_is_not_told() -> None:
    game = OtherGame(Screen())
    game.reset()
    assert game.act("look") == "\nBedroom (in bed)\nIt is a room.\n\n"


def test_the_room_is_read_from_memory() -> None:
    game = OtherGame(Screen())
    game.room_word = 300
    game.reset()
    assert (game.place(), game.name()) == (27, None)
    game.act("stand up")
    assert game.place() == 25


def test_last_words_end_a_game() -> None:
    game = OtherGame(Screen())
    game.reset()
    assert not game.done
    game.act("die")
    assert game.done

from pathlib import Path

import pytest

from waybench.core import DataError, UsageError, WaybenchError
from waybench.ext.author.game_maps._words import read_commands, read_place_names


def test_commands_are_lines(tmp_path: Path) -> None:
    (tmp_path / "walk").write_text("\ufeffnorth\r\n\r\n  Take lamp \n\ng", encoding="utf-8")
    assert read_commands(tmp_path / "walk") == ("north", "Take lamp", "g")


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("n. take lamp. s", ["n", "take lamp", "s"]),
        ("n, take lamp, s.", ["n", "take lamp", "s"]),
        ("open window then go in and then take the sack", ["open window", "go in", "take the sack"]),
        ("n.n..ne, and e", ["n", "n", "ne", "e"]),
        # A comma between objects, or after the name of somebody, is no end of a command.
        ("take lamp, sword, and rope. n", ["take lamp, sword, and rope", "n"]),
        ("robot, go east", ["robot, go east"]),
        ('say "hello. then, sailor" then e', ['say "hello. then, sailor"', "e"]),
        ("read authentication. take then-and-now", ["read authentication", "take then-and-now"]),
        (" . , ", []),
    ],
)
def test_a_line_is_split_as_games_split_it(line: str, commands: list[str], tmp_path: Path) -> None:
    (tmp_path / "walk").write_text(f"look\n{line}\nwait")
    assert list(read_commands(tmp_path / "walk")) == ["look", *commands, "wait"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\n  \n", "the file has no commands; write one per line"),
        ("north\n" + "x" * 121, "line 2: a command is at most 120 printable ASCII characters"),
        ("go\x00north", "line 1: a NUL character"),
        ("nörth", "line 1: a command"),
    ],
)
def test_what_is_no_list_of_commands_is_refused(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "walk").write_text(text, encoding="utf-8")
    with pytest.raises(WaybenchError) as caught:
        read_commands(tmp_path / "walk")
    assert str(caught.value).startswith(f"{tmp_path / 'walk'}: {told}") and "\n" not in str(caught.value)


def test_names_are_an_object(tmp_path: Path) -> None:
    (tmp_path / "names").write_text('{"27": "bedroom", "25": "bedroom"}')
    assert read_place_names(tmp_path / "names") == {"27": "bedroom", "25": "bedroom"}


@pytest.mark.parametrize("text", ["", "[]", '{"27": 1}', '{"27": " "}', '{"27": "bed\\nroom"}', "[" * 100_000, "\x00"])
def test_what_are_no_names_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "names").write_text(text)
    with pytest.raises(DataError) as caught:
        read_place_names(tmp_path / "names")
    assert str(caught.value).startswith(f"{tmp_path / 'names'}: ") and "\n" not in str(caught.value)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    for read in (read_commands, read_place_names):
        with pytest.raises(UsageError, match="cannot read"):
            read(tmp_path / "none")
        (tmp_path / "latin").write_bytes(b"\xe9")
        with pytest.raises(DataError, match=r"is not UTF-8 \(byte 0xe9 at position 0, line 1\)"):
            read(tmp_path / "latin")

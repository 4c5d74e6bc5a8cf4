"""Files as editors on Windows, on old Macs and elsewhere write them, and files that contradict themselves."""

import codecs
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.envs.textmap import HOUSE
from tests.tasks.test_search import heads, refused
from waybench.core import DataError, UsageError, numbered_json_lines, read_json_file, read_text_file, user_path
from waybench.core._user_files import decode_text
from waybench.envs.textmap._instances import map_json

ROWS: list[str] = ["000X0", "01110", "01010", "01110", "01000"]
ONE, TWO = json.dumps({"maze": ROWS}), json.dumps({"id": "two", "maze": ROWS})
MAZE: dict[str, Any] = {"maze": ROWS}
HOUSE_JSON: Any = map_json(HOUSE)


def ids(path: Path) -> list[Any]:
    return [head.item["id"] for head in heads("alicia", source=str(path))]


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (f"{ONE}\r\n{TWO}\r\n", ["0", "two"]),
        (f"{ONE}\r{TWO}", ["0", "two"]),
        (f"{TWO}\r\n\r{ONE}\n\n", ["two", "1"]),
        (f"\ufeff{ONE}\n\ufeff{TWO}", ["0", "two"]),
        (f"{ONE}\r\n\x1a", ["0"]),
        (f"{ONE}\r\n{TWO}".encode("utf-16"), ["0", "two"]),
        (codecs.BOM_UTF16_BE + f"{ONE}\n{TWO}".encode("utf-16-be"), ["0", "two"]),
        (ONE.encode("utf-16-le"), ["0"]),
        (f"[{ONE},\n{TWO}]".encode("utf-16-be"), ["0", "two"]),
        (json.dumps([json.loads(ONE), json.loads(TWO)], indent=2), ["0", "two"]),
        (json.dumps(MAZE, indent=1) + "\r\n" + json.dumps(json.loads(TWO), indent=1), ["0", "two"]),
        (json.dumps(ROWS), ["0"]),
        (json.dumps({"maze": [row + "\r\n" for row in ROWS]}), ["0"]),
        (TWO.replace("two", "a\u2028b\x85c\x7f") + "\n" + TWO, ["a\u2028b\x85c\x7f", "two"]),
        (json.dumps({"id": 7, "instance": MAZE}), ["7"]),
    ],
)
def test_items_are_read_whatever_wrote_them(tmp_path: Path, content: str | bytes, wanted: list[str]) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert ids(path) == wanted


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"id": "caf\xe9"}', "mine.json is not UTF-8 (byte 0xe9 at position 11, line 1): save it as UTF-8"),
        (ONE.encode() + b"\r\r\n\x92", f"(byte 0x92 at position {len(ONE) + 3}, line 3)"),
        (codecs.BOM_UTF16_LE + b"{\0\x22", "is neither UTF-8 nor whole UTF-16: save it as UTF-8"),
        (gzip.compress(ONE.encode(), mtime=0), "mine.json is a gzip file: decompress it first"),
        (b"PK\3\4 and more", "mine.json is a zip file: decompress it first"),
        (ONE.encode() + b"\n\0", "mine.json: line 2: a NUL character"),
        (f"{ONE},\n{TWO},\n", "line 1: not JSON: a comma follows the value"),
        (f"{ONE}\n{ONE[:-1]}\n", "line 2: not JSON (Expecting ',' delimiter at line 3"),
        (f"[\n{ONE}\n{ONE}]", "not JSON (Expecting ',' delimiter at line 3, column 1)"),
        ('{"maze": [], "maze": []}', "line 1: it has 'maze' twice in one object"),
        ('{"maze": Infinity}', "line 1: Infinity is not JSON"),
        ("[" * 100_000, "line 1: not JSON that can be read (too many nested brackets)"),
        ('{"maze": 1' + "0" * 5000 + "}", "line 1: not JSON that can be read (a number has too many digits)"),
        ("\r\n\r\n", "the file has no items"),
        ("[]", "the file has no items"),
        (f"{TWO}\n\n{TWO}", "line 3: id: 'two' occurs twice, first in line 1"),
        (f'{ONE}\n{{"id": "0", "maze": {json.dumps(ROWS)}}}', "line 2: id: '0' occurs twice, first in line 1"),
        (json.dumps([MAZE | {"id": ["a"]}]), "record 0: id: ['a'] is neither a text nor a whole number"),
        (json.dumps({"id": "\ud800", **MAZE}), "id: '\\ud800' is neither a text nor a whole number"),
        (json.dumps(MAZE | {"mazes": 1}), "line 1: instance: unknown field 'mazes': did you mean 'maze'?"),
        (json.dumps(MAZE | {"level": 5}), "line 1: instance: 'level' belongs beside \"instance\""),
        (json.dumps({"instance": MAZE | {"id": "a"}}), "instance: 'id' belongs beside \"instance\""),
        (json.dumps([{"instance": MAZE, "note": 1}]), "record 0: unknown field 'note' beside \"instance\""),
        (json.dumps({"instance": MAZE, "hash": "0" * 64}), 'line 1: "hash" does not match this instance'),
        (json.dumps(MAZE | {"env": "maze/explore"}), "line 1: it is of 'maze/explore', not of maze/alicia"),
    ],
)
def test_what_is_no_file_of_items_is_named_in_one_line(tmp_path: Path, content: str | bytes, problem: str) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    message = refused("alicia", source=str(path))
    assert problem in message
    assert "\n" not in message


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mine.jsonl").write_text(TWO)
    assert ids(Path("~/mine.jsonl")) == ["two"]
    assert user_path("~no-such-user/x") == Path("~no-such-user/x")
    assert "cannot be read (No such file" in refused("alicia", source="~no-such-user/x")
    assert "cannot be read (Is a directory)" in refused("alicia", source="~")


@pytest.mark.parametrize(
    ("env_id", "instance", "field"),
    [
        ("search/guessnum", {"target": 40, "min": 32, "max": 64, "mim": 3}, "mim"),
        ("search/dfs", {"nodes": [0, 1], "edges": [[0, 1]], "start": 1}, "start"),
        ("hanoi/rods", {"start": "AAA", "goal": "CCC", "disks": 3}, "disks"),
        ("bandit/arms", {"arms": [[0.8, 1], [0.2, 1]], "drift": 0, "draw": 7, "seed": 1}, "seed"),
        (
            "rps/rounds",
            {"chances": [1, 0, 0], "wins": [1, 1, 1], "opponent": "fixed", "rate": 0, "draw": 1, "win": 1},
            "win",
        ),
        (
            "messenger/roles",
            {"stage": 1, "size": 10, "actors": [], "agent": {}, "sentences": [], "manual": []},
            "manual",
        ),
        ("crafter/survival", {"seed": 1, "sed": 1}, "sed"),
        ("voxel/find", {"engine": "", "seed": "1", "goal": "", "x": 0, "z": 0, "yaw": 0, "y": 0}, "y"),
        ("graph/paths", {"question": "path", "distances": 3}, "distances"),
        ("tilemap/gtb", {"environment": "@.", "objectives": [[0, 1]], "walkable": "."}, "walkable"),
        ("textmap/extract", {"map": {}, "cutof": 1}, "cutof"),
        ("textmap/route", {"map": HOUSE_JSON, "cutoff": 9, "source": "hall"}, "source"),
        ("textmap/destination", {"map": {**HOUSE_JSON, "moves": []}, "cutoff": 9}, "moves"),
        ("textmap/minigame", {"map": {}, "step": 1, "cutoff": 1}, "cutoff"),
    ],
)
def test_each_family_names_a_field_that_it_does_not_know(env_id: str, instance: dict[str, Any], field: str) -> None:
    with pytest.raises(DataError, match=f"^(instance|graph|map): unknown field '{field}': "):
        waybench.load(env_id).item(instance)


def lines(content: str | bytes, longest: int = 1 << 20) -> list[tuple[int, bytes | None]]:
    data = content if isinstance(content, bytes) else content.encode()
    return [
        (number, None if line is None else line.strip())
        for number, line in numbered_json_lines(io.BytesIO(data), longest, "mine")
        if line is None or line.strip()
    ]


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ('{"a": 1}\r{"a": 2}\r\n\n{"a": 3}', [(1, b'{"a": 1}'), (2, b'{"a": 2}'), (4, b'{"a": 3}')]),
        ('[{"a": "],\\""},\r\n {"b": [1, {}]}]\n', [(1, b'{"a": "],\\""}'), (2, b'{"b": [1, {}]}')]),
        ('{\n"a": 1\n}\n{\n"b": {}\n}\n', [(1, b'{\n"a": 1\n}'), (2, b'{\n"b": {}\n}')]),
        ('{"a": 1}\n{"b": 2}'.encode("utf-16"), [(1, b'{"a": 1}'), (2, b'{"b": 2}')]),
        ("[]", []),
        ("[1,, 2,] x", [(1, b"1"), (2, b","), (3, b"2"), (4, b"]"), (5, b"x")]),  # all that is no JSON is there
        ('[{"a": 1}, {"b"', [(1, b'{"a": 1}'), (2, b'{"b"')]),
        ("{\n", [(1, b"{")]),
        ('{"a": 1}\n[2]\n{', [(1, b'{"a": 1}'), (2, b"[2]"), (3, b"{")]),
    ],
)
def test_stored_lines_are_lines_or_the_elements_of_a_list(content: str | bytes, wanted: list[Any]) -> None:
    assert lines(content) == wanted


def test_what_is_too_long_is_not_read() -> None:
    assert lines("12\n" + "3" * 50 + "\n45", 8) == [(1, b"12"), (2, None), (3, b"45")]
    assert lines("[1, 2, 3]", 8) == [(1, None)]
    with pytest.raises(DataError, match="mine is a gzip file"):
        lines(gzip.compress(b"{}"))
    with pytest.raises(DataError, match=r"byte 0xe9 at position 1, line 1"):
        lines(b"[\xe9]")


def test_texts_have_line_feeds(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("\ufeff\ufeffé\r\nb\rc\x0b\u2028\n".encode("utf-16-be"))
    assert read_text_file(path, 100, "a text") == "é\nb\nc\x0b\u2028\n"
    assert decode_text(codecs.BOM_UTF8 + b"a\r\n", "mine") == "a\n"
    with pytest.raises(DataError, match="larger than 0 MiB, so it is not a text"):
        read_text_file(path, 5, "a text")
    with pytest.raises(UsageError, match=r"cannot read .*: Is a directory; give a text"):
        read_text_file(tmp_path, 5, "a text")
    path.write_text("1 2")
    with pytest.raises(DataError, match="it has 2 values; give a number"):
        read_json_file(path, 100, "a number")

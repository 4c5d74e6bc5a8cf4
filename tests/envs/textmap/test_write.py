import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.envs.textmap import HOUSE, edge, of_edges, square
from waybench.core import UsageError
from waybench.envs.textmap._place_map import load_map
from waybench.envs.textmap._questions import write_map

KINDS = {"edges.json", "locations.json", "actions.json", "walkthrough", "all2all.jsonl", "all_pairs.jsonl"}


def records(path: Path) -> Counter[Any]:
    """Return what a file lists, whatever the order, as text in which nothing of JSON's spelling is left."""
    text = path.read_text(encoding="utf-8")
    data = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    return Counter(json.dumps(each, sort_keys=True) for each in data)


def compare(published: Path, folder: Path) -> tuple[int, list[str]]:
    """Write a published map again; return the number of records, and which files differ from the published ones."""
    name = published.name
    written = write_map(folder, load_map(published, name))
    assert {path.name for path in written.files} == {f"{name}.{kind}" for kind in KINDS} and not written.left_out
    number, different = 0, []
    for path in written.files:
        theirs = published / path.name
        if path.suffix == ".walkthrough":
            same = path.read_bytes() == theirs.read_bytes()
        else:
            found, expected = records(path), records(theirs)
            same, number = found == expected, number + found.total()
        different += [] if same else [path.name]
    return number, different


@pytest.mark.slow
def test_all_published_maps_are_written_as_they_were(
    data_dir: Callable[..., Path], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    games = [path for path in sorted(data_dir("mango").iterdir()) if path.is_dir()]
    found = {path.name: compare(path, tmp_path / path.name) for path in games}
    assert len(found) == 53
    assert {name: different for name, (_, different) in found.items() if different} == {}
    record_property("golden textmap records of published files", sum(number for number, _ in found.values()))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_map(tmp_path / "new" / "folder", HOUSE)
    assert load_map(tmp_path / "new" / "folder", "house") == HOUSE


def test_codes_stand_in_two_files(tmp_path: Path) -> None:
    written = write_map(tmp_path, HOUSE, {"hall": ["7", "12"], "attic": ["3"]})
    assert len(written.files) == 8
    assert json.loads((tmp_path / "house.anno2code.json").read_text()) == {"hall": ["7", "12"], "attic": ["3"]}
    assert json.loads((tmp_path / "house.code2anno.json").read_text()) == {"7": "hall", "12": "hall", "3": "attic"}


def test_too_many_paths_are_left_out_and_said(tmp_path: Path) -> None:
    written = write_map(tmp_path, HOUSE, most_paths=15)
    assert written.left_out == (
        "house.all2all.jsonl not written: it would have 16 lines, one for each simple path; the limit is 15",
    )
    assert not (tmp_path / "house.all2all.jsonl").exists()
    assert len((tmp_path / "house.all_pairs.jsonl").read_text().splitlines()) == 4 * 3


@pytest.mark.slow
def test_paths_beyond_counting_leave_the_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.envs.textmap._paths.BUDGET", 1000)
    place_map = square(7)
    written = write_map(tmp_path, place_map)
    assert (written.destinations, written.routes) == (None, None)
    assert [line.partition(" not written: ")[0] for line in written.left_out] == [
        "square 7.all_pairs.jsonl",
        "square 7.all2all.jsonl",
    ]
    assert load_map(tmp_path, "square 7") == place_map


def test_questions_are_counted(tmp_path: Path) -> None:
    # Of three places in a row, the second step made and the first way back inferred.
    row = of_edges("row", [edge("a", "east", "b", 1), edge("b", "west", "a", reverse=1), edge("b", "east", "c", 2)])
    written = write_map(tmp_path, row)
    assert written.destinations == (3, 1) and written.routes == (3, 1)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write .*choose another folder"):
        write_map(tmp_path / "file", HOUSE)


def test_what_breaks_off_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Any:
        yield "one"
        raise KeyboardInterrupt

    monkeypatch.setattr("waybench.envs.textmap._questions._path_record_lines", broken)
    with pytest.raises(KeyboardInterrupt):
        write_map(tmp_path, HOUSE)
    assert not list(tmp_path.glob("house.all2all.*")) and (tmp_path / "house.all_pairs.jsonl").exists()

"""Reading maps: what is none is refused in one line that names the field."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.envs.tilemap.maps import GTB, RECORD
from waybench.core import DataError, UsageError, play_to_end, policy
from waybench.envs.tilemap._instance import TileMap, objectives_outside, tile_list, tour_leg_lengths
from waybench.envs.tilemap._items import MapFile


def changed(**fields: Any) -> dict[str, Any]:
    return {**RECORD, **fields}


BAD: dict[str, tuple[Any, str]] = {
    "no object": ([], "give a record"),
    "ragged": (changed(environment="@aa\naa"), "environment: row 1 has 2 characters, row 0 has 3"),
    "no player": (changed(environment="aaa\naaa"), 'environment: it has 0 players; give exactly one "@"'),
    "two players": (changed(environment="@a@\naaa"), "environment: it has 2 players"),
    "empty": (changed(environment=""), "environment: 1 row of 0 characters"),
    "no text": (changed(environment=7), "environment: missing, or not a string"),
    "half a surrogate": (changed(environment="@\ud800"), "environment: it has an unpaired surrogate"),
    "no tiles": (changed(tile_mapping=None), "tile_mapping: give an object"),
    "tiles twice": (changed(tile_mapping=[["a", "b"], ["a", "c"]]), "tile_mapping: 'a' occurs twice"),
    "no list": (changed(walkable_tiles="a, b"), "walkable_tiles: give a list of single characters"),
    "a program": (changed(walkable_tiles="__import__('os')"), "walkable_tiles: give a list of single characters"),
    "no length": (changed(path_length="9"), "path_length: give a whole number"),
    "no objectives": (changed(objectives={}), "objectives: give from 1 to 1000"),
    "strange objective": (changed(objectives={"x": ["a", 1]}), "objectives: 'x': give"),
    "far objective": (changed(objectives={"x": ["a", 10**9, 0]}), "too far away"),
    "boolean row": (changed(objectives={"x": ["a", True, 0]}), "objectives: 'x': give"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_map(name: str) -> None:
    record, message = BAD[name]
    with pytest.raises(DataError) as caught:
        GTB.items.decode(record)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["environment", "objectives"])
def test_a_missing_field_is_named(field: str) -> None:
    with pytest.raises(DataError, match=f"^{field}: "):
        GTB.items.decode({name: value for name, value in RECORD.items() if name != field})


def test_a_map_survives_json_whatever_the_order_of_its_keys() -> None:
    case = GTB.items.decode(RECORD)
    assert GTB.items.decode(json.loads(json.dumps(case.to_json(), sort_keys=True))) == case
    assert GTB.items.decode({**RECORD, "story": "another", "experiment_id": "other"}).hash == case.hash
    assert GTB.items.decode(changed(path_length=10)).hash != case.hash


def test_lists_with_comments_are_read_without_them() -> None:
    assert tile_list("['a', # and b\n 'c']") == "ac"


def test_the_shortest_tour_leaves_out_what_cannot_be_reached() -> None:
    walled = changed(environment="@awga\naawga\naawaa\naawaq")
    assert GTB.item(walled).proof == {"minimum": 3, "legs": [None, 3], "unreachable": [0]}
    assert tour_leg_lengths(GTB.items.decode(RECORD), "ga") == [5, 6]
    assert objectives_outside(GTB.items.decode(changed(objectives={"x": ["a", 4, 0], "y": ["a", 0, -1]}))) == [0, 1]


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "maps.json"
    path.write_text(text)
    return path


def test_a_file_of_records_or_of_lines(tmp_path: Path) -> None:
    whole = MapFile(file(tmp_path, json.dumps([RECORD])), "mine")
    lines = MapFile(file(tmp_path, json.dumps({"instance": RECORD}) + "\n\n"), "mine")
    assert whole.space == lines.space == 1
    item = whole.item(0)
    assert item == lines.item(0)
    assert isinstance(item.instance, TileMap)
    assert (item.id, item.key, item.index) == ("test", "mine", 0)
    with pytest.raises(UsageError, match="it has only 1"):
        whole.item(1)


def test_a_file_s_error_names_the_record_and_the_field(tmp_path: Path) -> None:
    bad = {
        json.dumps([RECORD, changed(experiment_id="two", environment="@a\na")]): "record 1 ('two'): environment: row 1",
        json.dumps([changed(objectives={"x": ["a", 4, 0]})]): "objectives: 'x' is at row 4, column 0, outside the map",
        json.dumps([RECORD, RECORD]): "experiment_id: 'test' occurs twice",
        json.dumps([changed(environment="@" + "a" * 2_000_000)]): "environment: it has 2000001 characters",
        "[]": "the file has no maps",
        "[{": "not JSON",
    }
    for text, message in bad.items():
        with pytest.raises(DataError) as caught:
            MapFile(file(tmp_path, text), "mine")
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="cannot read"):
        MapFile(tmp_path / "none.json", "mine")


@pytest.mark.slow
def test_a_row_of_a_hundred_megabytes(tmp_path: Path) -> None:
    path = file(tmp_path, json.dumps([changed(environment="@" + "a" * 100_000_000)]))
    with pytest.raises(DataError, match="record 0 \\('test'\\): environment: it has 100000001 characters"):
        MapFile(path, "mine")


GRID = ["@..#.", ".#...", ".#.#."]


def test_a_grid_and_objectives_are_enough() -> None:
    whole = GTB.items.decode(
        {
            "environment": "\n".join(GRID),
            "tile_mapping": {},
            "walkable_tiles": "['.']",
            "interactive_object_tiles": "[]",
            "path_length": 13,  # right 2, down, right, right, up: 6 moves; and 9 back around the walls, less 2 to spare
            "objectives": {"gate": [".", 0, 4], "well": [".", 2, 0]},
        }
    )
    found = GTB.items.decode({"environment": GRID, "objectives": {"gate": [0, 4], "well": [".", 2, 0]}})
    assert replace(found, path_length=13) == whole
    assert found.path_length == 6 + 8
    assert GTB.items.decode(found.to_json()) == found, "all that is computed is in the record"
    for rows in ("\n".join(GRID), [list(row) for row in GRID]):
        assert GTB.items.decode({"environment": rows, "objectives": {"gate": [0, 4], "well": [2, 0]}}) == found
    unnamed = GTB.items.decode({"environment": GRID, "objectives": [[0, 4], [2, 0]]})
    assert [objective.name for objective in unnamed.objectives] == ["Objective 1", "Objective 2"]
    assert [objective[1:] for objective in unnamed.objectives] == [objective[1:] for objective in found.objectives]


@pytest.mark.parametrize("tiles", [["g", "a"], "['g', 'a']", "ga"])
def test_walkable_tiles_are_a_list_or_a_text(tiles: object) -> None:
    assert GTB.items.decode({**RECORD, "walkable_tiles": tiles}) == GTB.items.decode(RECORD)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"environment": ["@a", 3]}, "environment: row 1: give a text, or a list of single characters"),
        ({"environment": ["@a", ["aa"]]}, "environment: row 1: give a text, or a list of single characters"),
        ({"environment": []}, "environment: 1 row of 0 characters; give 1 to"),
        ({"walkable_tiles": ["ga"]}, 'walkable_tiles: give a list of single characters, such as ["a", "b"]'),
        ({"walkable_tiles": "[g"}, "walkable_tiles: give a list of single characters"),
        ({"path_length": None}, "path_length: give a whole number of at least 0, or leave it out"),
        ({"objectives": {"gate": [9, 9]}}, "objectives: 'gate': give [\"tile\", row, column], or the [row, column] of"),
    ],
)
def test_mistakes_in_maps_of_one_s_own(fields: dict[str, object], message: str) -> None:
    with pytest.raises(DataError) as caught:
        GTB.items.decode({**RECORD, **fields})
    assert str(caught.value).startswith(message)


def test_the_examples_of_the_description_are_maps(tmp_path: Path) -> None:
    block = GTB.about.split("```json\n")[1].split("```")[0]
    path = tmp_path / "maps.jsonl"
    path.write_text(block)
    [small, whole] = MapFile(path, "key").head(2)
    assert (small.id, small.instance.path_length, small.instance.walkable) == ("0", 14, "['.']")
    assert (whole.id, whole.instance.path_length, whole.proof["minimum"]) == ("mine", 3, 3)
    for item in (small, whole):
        assert play_to_end(GTB, item, policy("oracle")).end_reason == "solved"


def test_a_mistake_in_a_line_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "maps.jsonl"
    path.write_text(f"{json.dumps(RECORD)}\n\n{json.dumps({**RECORD, 'objectives': 3})}\n")
    with pytest.raises(DataError, match=r"maps\.jsonl: line 3 \('test'\): objectives: "):
        MapFile(path, "key")
    path.write_text(f"{json.dumps(RECORD)}\n{{\n")
    with pytest.raises(DataError, match=r"maps\.jsonl: line 2: not JSON"):
        MapFile(path, "key")


@pytest.mark.parametrize(
    "environment",
    ["@..#.\r\n.#...\r\n.#.#.", "@..#.\r.#...\r.#.#.", "@..#.\n.#...\r\n.#.#.\n\r\n", [row + "\r\n" for row in GRID]],
)
def test_a_line_break_of_any_system_is_a_line_break(environment: object) -> None:
    given = {"environment": environment, "objectives": [[2, 0]]}
    assert GTB.items.decode(given) == GTB.items.decode({"environment": GRID, "objectives": [[2, 0]]})


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ([["@", "\r"], [".", "."]], "environment: row 0: give a text, or a list of single characters"),
        (["@.", ".\r."], "environment: row 1: give a text, or a list of single characters"),
        ("@.\n.\x85", "environment: row 1, column 1: '\\x85' is no sign for a tile"),
        ("@\u2028\n..", "environment: row 0, column 1: '\\u2028' is no sign for a tile"),
        ("@\t\n..", "environment: row 0, column 1: '\\t' is no sign for a tile"),
        ("\n@.\n..", "environment: row 0 is empty; remove the line break at the beginning"),
        (["@.", "..", ""], "environment: the last row is empty; remove it"),
    ],
)
def test_what_cannot_be_seen_is_no_tile(environment: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        GTB.items.decode({"environment": environment, "objectives": [[0, 0]]})
    assert str(caught.value).startswith(message)


OWN: dict[str, object] = {"environment": ["@....", ".#..C", "....."], "objectives": {"chest": ["C", 1, 4]}}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"objectives": {"chest": ["C", 2, 1]}},
            "'chest': the map has '.' at row 2, column 1, and 'C' at row 1, column 4",
        ),
        (
            {"objectives": {"chest": ["C", 0, 0]}},
            "has '@' at row 0, column 0, where the player starts, and 'C' at row 1",
        ),
        ({"objectives": {"chest": ["D", 1, 4]}}, "the map has 'C' at row 1, column 4, and no 'D' anywhere"),
        (
            {"objectives": {"chest": [".", 1, 4]}},
            "and '.' at row 0, column 1 and row 0, column 2 and row 0, column 3 and e",
        ),
        (
            {"objectives": {"chest": ["C", -2, 4]}},
            "objectives: 'chest' is at row -2, column 4, outside the map of 3 rows",
        ),
        ({"objectives": [["a", ["C", 1, 4]], ["a", [0, 1]]]}, "objectives: 'a' occurs twice"),
        ({"width": 4}, "width: it is 4, but the map has 5 columns"),
        ({"height": "5"}, "height: it is 5, but the map has 3 rows"),
        ({"hash": "0" * 64}, "instance: 'hash' belongs beside \"instance\""),
        ({"id": "mine", "env": "maze/alicia"}, "it is of 'maze/alicia', not of tilemap/gtb or tilemap/state or"),
    ],
)
def test_a_map_that_contradicts_itself_is_named(tmp_path: Path, fields: dict[str, object], message: str) -> None:
    whole = MapFile(file(tmp_path, json.dumps([{**OWN, "id": "mine", "width": 5, "height": 3}])), "mine")
    assert whole.item(0).id == "mine"
    with pytest.raises(DataError) as caught:
        MapFile(file(tmp_path, json.dumps([{**OWN, **fields}])), "mine")
    assert str(caught.value).startswith(f"{tmp_path / 'maps.json'}: record 0: ")
    assert message in str(caught.value)


def test_a_published_map_that_was_generated_as_a_line_keeps_its_quirks(tmp_path: Path) -> None:
    quirk = GTB.items.decode({**OWN, "objectives": {"chest": ["C", 2, 1]}})
    line = {"instance": quirk.to_json(), "id": "x", "hash": quirk.hash}
    assert MapFile(file(tmp_path, json.dumps(line)), "mine").item(0).instance == quirk

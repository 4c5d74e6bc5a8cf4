import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.envs.textmap import HOUSE
from waybench.core import DataError, UsageError, WaybenchError
from waybench.envs.textmap._place_map import (
    NEVER,
    Edge,
    PlaceMap,
    WalkthroughStep,
    load_map,
    read_walkthrough,
    walkthrough_text,
)


def as_record(edge: Edge) -> dict[str, Any]:
    return {
        **{"src_node": edge.source, "dst_node": edge.target, "action": edge.action},
        **{"seen_in_forward": edge.forward, "seen_in_reversed": edge.reverse, "edge_min_step": edge.known_step},
        **{"seen_in_forward_answerable": edge.forward_named, "seen_in_reversed_answerable": edge.reverse_named},
        "edge_min_step_answerable": edge.named_step,
    }


def write(folder: Path, place_map: PlaceMap) -> None:
    files = {
        "edges": [as_record(edge) for edge in place_map.edges],
        "locations": place_map.places,
        "actions": place_map.actions,
    }
    for kind, data in files.items():
        Path(folder, f"{place_map.name}.{kind}.json").write_text(json.dumps(data), encoding="utf-8")
    Path(folder, f"{place_map.name}.walkthrough").write_bytes(walkthrough_text(place_map.steps).encode())


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(tmp_path, HOUSE)
    assert load_map(tmp_path, "house") == HOUSE


def changed(folder: Path, kind: str, change: Callable[[Any], Any]) -> str:
    """Write the house with one file changed, and return the message that it gives."""
    write(folder, HOUSE)
    path = Path(folder, f"house.{kind}")
    before = path.read_text(encoding="utf-8")
    after = json.dumps(change(json.loads(before))) if kind.endswith("json") else change(before)
    path.write_text(after, encoding="utf-8", newline="")
    with pytest.raises(DataError) as caught:
        load_map(folder, "house")
    message = str(caught.value)
    assert "\n" not in message and len(message) < 400 + len(str(folder))
    where, description = message.split(": ", 1)
    assert where == str(path)
    return description


def field(key: str, value: Any) -> Callable[[Any], Any]:
    """Return what gives the third edge's field a value."""

    def change(records: Any) -> Any:
        records[2][key] = value
        return records

    return change


def without(key: str) -> Callable[[Any], Any]:
    return lambda records: [{k: v for k, v in record.items() if k != key} for record in records]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda records: {"edges": records}, "not a list"),
        (lambda records: [*records, ["hall"]], "record 8: not an object"),
        (without("src_node"), "record 0: src_node is missing"),
        (without("edge_min_step"), "record 0: edge_min_step is missing"),
        (field("src_node", 7), "record 2: src_node: expected a name, found '7'"),
        (field("action", " "), "record 2: action: expected a name, found ' '"),
        (field("action", "\ud800"), "record 2: action: '\\ud800' has an unpaired surrogate"),
        (field("src_node", "attik"), "record 2: src_node: 'attik' is not among the locations"),
        (field("dst_node", "hell"), "record 2: dst_node: 'hell' is not among the locations"),
        (field("action", "fly"), "record 2: action: 'fly' is not among the actions"),
        (field("action", "down"), "record 2: 'down' from 'attic' to 'hall' occurs twice, first as record 1"),
        (field("seen_in_forward", 0), "record 2: seen_in_forward: 0 is neither a step from 1 to 9 nor 9999"),
        (field("seen_in_forward", 10), "record 2: seen_in_forward: 10 is neither a step from 1 to 9 nor 9999"),
        (field("seen_in_forward", True), "record 2: seen_in_forward: True is neither a step"),
        (field("seen_in_reversed", "6"), "record 2: seen_in_reversed: 6 is neither a step"),
        (field("seen_in_reversed", 6.0), "record 2: seen_in_reversed: 6.0 is neither a step"),
        (field("seen_in_reversed", 5), "record 2: edge_min_step: it is 6, but the lesser of its two steps is 5"),
        (
            field("edge_min_step_answerable", 7),
            "record 2: edge_min_step_answerable: it is 7, but the lesser of its two steps is 6",
        ),
        (
            lambda records: [{k: v if isinstance(v, str) else NEVER for k, v in each.items()} for each in records],
            "record 0: the move is never made or inferred: all steps are 9999",
        ),
    ],
)
def test_wrong_edges(tmp_path: Path, change: Callable[[Any], Any], expected: str) -> None:
    assert changed(tmp_path, "edges.json", change).startswith(expected)


@pytest.mark.parametrize(
    "saved",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.rstrip("\n").encode("utf-8-sig"),
        lambda text: (text + "\n\n").encode("utf-16"),
    ],
)
def test_files_of_any_editor_are_the_same_map(tmp_path: Path, saved: Callable[[str], bytes]) -> None:
    write(tmp_path, HOUSE)
    for path in tmp_path.iterdir():
        path.write_bytes(saved(path.read_text(encoding="utf-8")))
    assert load_map(tmp_path, "house") == HOUSE


@pytest.mark.parametrize(
    ("act", "forward", "expected"),
    [
        ("up", 3, "record 3: seen_in_forward: step 3 of the walkthrough is 'up', not 'out'"),
        ("again", 3, ""),
        ("jump", 2, "record 1: seen_in_forward: step 2 of the walkthrough is 'jump', not 'down'"),
    ],
)
def test_a_walkthrough_that_makes_other_moves(tmp_path: Path, act: str, forward: int, expected: str) -> None:
    steps = [step._replace(action=act) if step.number == forward else step for step in HOUSE.steps]
    write(tmp_path, replace(HOUSE, steps=tuple(steps)))
    if not expected:
        assert load_map(tmp_path, "house").steps == tuple(steps)
        return
    with pytest.raises(DataError, match=expected):
        load_map(tmp_path, "house")


def test_a_step_that_is_two_moves(tmp_path: Path) -> None:
    edges = (*HOUSE.edges[:-1], HOUSE.edges[-1]._replace(forward=1, forward_named=1))
    steps = [step._replace(action="up") if step.number == 1 else step for step in HOUSE.steps]
    write(tmp_path, replace(HOUSE, edges=edges, steps=tuple(steps)))
    with pytest.raises(
        DataError, match="record 7: seen_in_forward: step 1 of the walkthrough is already the move of rec"
    ):
        load_map(tmp_path, "house")


@pytest.mark.parametrize("kind", ["locations.json", "actions.json"])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda names: "hall", "not a list"),
        (lambda names: [*names, None], "expected a name, found 'None'"),
        (lambda names: [*names, ""], "expected a name, found ''"),
        (lambda names: [*names, names[1]], "occurs twice, first as record 1"),
    ],
)
def test_wrong_names(tmp_path: Path, kind: str, change: Callable[[Any], Any], expected: str) -> None:
    assert expected in changed(tmp_path, kind, change)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: "", "it must begin and end with a line of eleven '='"),
        (lambda text: text + "more", "it must begin and end with a line of eleven '='"),
        (lambda text: "Hello\n" + text, "it must begin and end with a line of eleven '='"),
        (lambda text: "===========\n", "the file has no steps"),
        (lambda text: text.replace("NUM: 3", "NUM: 4"), "block 3: its step is 4; steps are numbered 0, 1, 2"),
        (lambda text: text.replace("NUM: 3", "NUM: 03"), "block 3: its step is 03"),
        (lambda text: text.replace("NUM: 3", "NUM: three"), "block 3: it is not '==>STEP NUM: ', '==>ACT: ' and"),
        (lambda text: text.replace("Tick 3.", "\n===========\nTick"), "block 4: it is not"),
        (lambda text: text.replace("==>OBS", "==>LOOK AROUND: \n==>OBS"), "block 0: it is not"),
    ],
)
def test_wrong_walkthroughs(tmp_path: Path, change: Callable[[str], str], expected: str) -> None:
    assert changed(tmp_path, "walkthrough", change).startswith(expected)


@pytest.mark.parametrize("kind", ["edges.json", "locations.json", "actions.json", "walkthrough"])
def test_files_that_cannot_be_read(tmp_path: Path, kind: str) -> None:
    path = Path(tmp_path, f"house.{kind}")

    def message(kind_of_error: type[WaybenchError]) -> str:
        with pytest.raises(kind_of_error) as caught:
            load_map(tmp_path, "house")
        assert str(path) in str(caught.value)
        return str(caught.value)

    write(tmp_path, HOUSE)
    path.write_bytes(b'["Kuche\xfc"]')
    assert "is not UTF-8 (byte 0xfc at position 7, line 1)" in message(DataError)
    path.unlink()
    assert (
        message(UsageError) == f"cannot read {path}: No such file or directory; give a map's file: a map is four files "
        "with the same name"
    )
    path.mkdir()
    assert message(UsageError).startswith(f"cannot read {path}: ")
    path.rmdir()
    with path.open("wb") as stream:
        stream.truncate((1 << 28) + 1)
    assert "larger than 256 MiB" in message(DataError)


@pytest.mark.parametrize("text", ["", "[", '{"a": }', "[" * 100_000])
def test_what_is_no_json(tmp_path: Path, text: str) -> None:
    write(tmp_path, HOUSE)
    path = Path(tmp_path, "house.edges.json")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="not JSON"):
        load_map(tmp_path, "house")


_TEXT = st.text().filter(lambda text: "=" * 11 not in text)


@given(st.lists(st.tuples(_TEXT.filter(lambda text: "\n" not in text), _TEXT), min_size=1))
def test_walkthroughs_keep_every_byte(pairs: list[tuple[str, str]]) -> None:
    steps = tuple(WalkthroughStep(number, action, observation) for number, (action, observation) in enumerate(pairs))
    text = walkthrough_text(steps)
    assert read_walkthrough(text, "text") == steps
    for upto in range(len(steps)):
        part = walkthrough_text(steps, upto)
        assert text.startswith(part)
        assert read_walkthrough(part, "part") == steps[: upto + 1]

"""GameTraversalBenchmark's tasks: which maps are played."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.envs.tilemap.maps import RECORD
from tests.tasks.test_search import ENTRIES, heads, ids, refused
from waybench.tasks import load_task


@pytest.mark.parametrize("name", ["gtb", "gtb_stepwise", "gtb_state"])
def test_generated_maps(name: str) -> None:
    made = heads(name, limit=2, attempts=2)
    assert [head.attempt for head in made] == [1, 2, 1, 2]
    assert {head.env for head in made} == set(ENTRIES[name].envs)
    assert {head.item["level"] for head in made} == {3}
    assert len({head.instance_hash for head in made}) == 2
    assert heads(name, limit=1, level=5)[0].item["level"] == 5


def test_the_published_maps(data_dir: Any) -> None:
    folder = str(data_dir("gtb").parent)
    whole = ids("gtb", source="published", data_dir=folder)
    assert len(whole) == 151
    assert ids("gtb", source="published", data_dir=folder, skip=2) == whole[2:]
    assert ids("gtb", source="published", data_dir=folder, skip=2, limit=3) == whole[2:5]
    # On one of them no objective can be reached, so that there is nothing to do.
    assert len(ids("gtb", source="published", data_dir=folder, protocol="sound")) == 150


def test_a_file_of_one_s_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([RECORD]))
    [head] = heads("gtb", source=str(path))
    assert (head.item["id"], head.item["index"]) == ("test", 0)
    assert head.item["key"].startswith("mine.json-")
    path.write_text(json.dumps([{**RECORD, "objectives": {"x": ["a", 4, 0]}}]))
    assert "record 0 ('test'): objectives: 'x' is at row 4" in refused("gtb", source=str(path))


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    assert "a file of maps" in refused("gtb", source="gnerated")
    assert "level: only for generated maps" in refused("gtb", source="published", level=3)
    assert "waybench data fetch gtb" in refused("gtb", source="published", data_dir=str(tmp_path))
    path = tmp_path / "one.json"
    path.write_text(json.dumps([RECORD]))
    assert "skip=1: the number of maps is 1; lower skip" in refused("gtb", source=str(path), skip=1)


def test_the_public_names_of_the_tasks() -> None:
    for name in ("gtb", "gtb_stepwise", "gtb_state"):
        assert load_task(ENTRIES[name]).__name__ == name

"""AQA-Bench's tasks: which cases are played, and which examples go before them."""

import json
from pathlib import Path
from typing import Any

import pytest

import waybench
from waybench.core import EpisodeRecord
from waybench.evaluation.tasks import TASKS, load_task

ENTRIES = {entry.name: entry for entry in TASKS}
SIX = ("guessnum", "coin", "dfs", "cavedfs", "bfs", "cavebfs")


def heads(name: str, **given: Any) -> list[EpisodeRecord]:
    """Return what is known of every sample of a task before the first reply."""
    return [
        EpisodeRecord.from_parts(sample.metadata["waybench"]) for sample in load_task(ENTRIES[name])(**given).dataset
    ]


def ids(name: str, **given: Any) -> list[str]:
    return [str(sample.id) for sample in load_task(ENTRIES[name])(**given).dataset]


def refused(name: str, **given: Any) -> str:
    from waybench.evaluation._agents import PrerequisiteError

    with pytest.raises(PrerequisiteError) as caught:
        load_task(ENTRIES[name])(**given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("mode", ["easy", "hard"])
@pytest.mark.parametrize("name", SIX)
def test_modes_are_levels(name: str, mode: str) -> None:
    level = {"guessnum": (15, 25), "coin": (15, 25), "dfs": (8, 13), "cavedfs": (8, 13)}.get(name, (15, 25))
    [head] = heads(name, mode=mode, limit=1)
    assert head.env == f"search/{name}"
    assert head.item["level"] == level[mode == "hard"]


def test_as_many_cases_as_published() -> None:
    assert len(ids("guessnum")) == 400
    assert len(ids("guessnum", mode="hard")) == 1500


def test_all_six_at_once_with_ids_of_their_own() -> None:
    made = ids("aqa", limit=2, attempts=2)
    assert len(made) == len(set(made)) == 6 * 2 * 2
    assert made[:4] == ["guessnum-15-0-1", "guessnum-15-0-2", "guessnum-15-1-1", "guessnum-15-1-2"]


def test_sets_have_keys_of_their_own_and_share_no_case() -> None:
    made = heads("dfs", sets=3, limit=4, mode="hard")
    keys = [head.item["key"] for head in made]
    assert keys == ["search-v1"] * 4 + ["search-v1/2"] * 4 + ["search-v1/3"] * 4
    assert len({head.instance_hash for head in made}) == 12
    assert len(set(ids("dfs", sets=3, limit=4, mode="hard"))) == 12


def test_published_examples_are_the_cases_just_before(data_dir: Any) -> None:
    folder = data_dir("aqa").parent
    cases = json.loads((folder / "aqa" / "dfs_0.json").read_bytes())
    made = heads("dfs", source="published", data_dir=str(folder), icl=2, limit=4)
    assert [head.instance["edges"] for head in made] == [case["edges"] for case in cases[:4]]
    shown = [[example["edges"] for example in head.examples] for head in made]
    window = [cases[-2]["edges"], cases[-1]["edges"], *(case["edges"] for case in cases[:4])]
    assert shown == [window[i : i + 2] for i in range(4)]


def test_published_cases_have_the_mode_s_range(data_dir: Any) -> None:
    folder = str(data_dir("aqa").parent)
    for mode, high in (("easy", 32800), ("hard", 33554464)):
        [head] = heads("coin", source="published", data_dir=folder, mode=mode, limit=1)
        assert (head.instance["min"], head.instance["max"]) == (32, high)
        assert head.item["key"] == f"aqa-{mode}"


def test_generated_examples_of_paper_are_a_window_over_the_set() -> None:
    made = heads("bfs", icl=2, limit=3)
    instances = [head.instance for head in made]
    source = waybench.load("search/bfs").source(level=15)
    after = [source.item(index).instance.to_json() for index in (10**9 - 2, 10**9 - 1)]
    assert [list(head.examples) for head in made] == [
        after,
        [after[1], instances[0]],
        instances[:2],
    ]


def test_examples_of_sound_belong_to_their_item_alone() -> None:
    three, five = (heads("guessnum", icl=3, limit=limit, protocol="sound", level=3) for limit in (3, 5))
    assert [head.examples for head in three] == [head.examples for head in five[:3]]
    for head in five:
        assert len({json.dumps(example) for example in [*head.examples, head.instance]}) == 4
    assert "does not have enough different cases" in refused("guessnum", icl=9, limit=1, protocol="sound", level=3)


def test_examples_of_sound_have_the_range_of_a_published_case(data_dir: Any) -> None:
    folder = str(data_dir("aqa").parent)
    given = {"source": "published", "data_dir": folder, "limit": 2, "icl": 1, "protocol": "sound", "mode": "hard"}
    for head in heads("guessnum", **given):
        assert [(e["min"], e["max"]) for e in head.examples] == [(32, 33554464)]


def test_a_file_of_one_s_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('[{"nodes": [0, 1, 2], "edges": [[0, 1], [1, 2]]}]')
    [head] = heads("dfs", source=str(path))
    assert head.instance["edges"] == [[0, 1], [1, 2]]
    assert head.item["key"].startswith("mine.json-")
    assert "it has only 1" in refused("dfs", source=str(path), limit=2)
    path.write_text('[{"nodes": [0, 1, 2], "edges": [[0, 1]]}]')
    assert "record 0: instance: not every node can be reached" in refused("dfs", source=str(path))


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    assert "give generated, published or a file of cases" in refused("dfs", source="gnerated")
    assert "sets: only for generated cases" in refused("dfs", source="published", sets=2)
    assert "shape: only for generated cases" in refused("dfs", source="published", shape="star")
    assert "data_dir: only for published cases" in refused("dfs", data_dir=str(tmp_path))
    assert "waybench data fetch aqa" in refused("dfs", source="published", data_dir=str(tmp_path))
    assert "is of level 9, not 15" in refused("guessnum", span=1000)
    assert [head.instance["max"] for head in heads("guessnum", span=1000, level=9, lowest=0, limit=1)] == [1000]

"""GameTraversalBenchmark's tasks: which maps are played."""

import json
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.envs.tilemap.maps import RECORD
from tests.tasks.test_search import ENTRIES, heads, ids, refused
from waybench.core import Episode, play_to_end, policy, replay
from waybench.evaluation.tasks import load_task


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


@pytest.mark.parametrize("name", ["gtb", "gtb_stepwise", "gtb_state"])
def test_solved_examples(name: str) -> None:
    alone = heads(name, limit=3, level=1)
    made = heads(name, limit=3, level=1, icl=1)
    assert [head.instance_hash for head in made] == [head.instance_hash for head in alone]
    assert [head.examples for head in alone] == [()] * 3
    assert [head.examples for head in made[1:]] == [(head.instance,) for head in made[:2]], "the map just before it"
    environment = waybench.load(ENTRIES[name].envs[0])
    item = environment.item(made[1].instance, made[1].examples)
    episode = play_to_end(environment, item, policy("oracle"))
    assert episode.end_reason == "solved"
    example = play_to_end(environment, environment.item(made[0].instance), policy("oracle"))
    said = [message.text for message in episode.record().opening if message.role == "assistant"]
    assert said == [turn.reply for turn in example.turns]
    opening = [message.text for message in episode.record().opening]
    assert opening[1] == example.record().opening[1].text
    assert opening[-1].endswith(Episode(environment, environment.item(made[1].instance)).messages[-1].text)
    # Each later prompt has them again, for nothing of earlier ones is repeated.
    assert [message.text for message in episode.messages[:-1]] == opening[:-1]
    assert replay(environment, episode.record()).record() == episode.record()


def test_solved_examples_of_one_s_own_and_in_sound(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([{**RECORD, "experiment_id": name, "story": name} for name in "abc"]))
    given: dict[str, Any] = {"source": str(path), "icl": 2}
    assert [[example["story"] for example in head.examples] for head in heads("gtb", **given)] == [
        ["b", "c"],
        ["c", "a"],
        ["a", "b"],
    ]
    assert "icl=3: the file has only 3 maps; lower icl" in refused("gtb", source=str(path), icl=3)
    for head in heads("gtb", **given, protocol="sound"):
        examples = [waybench.load("tilemap/gtb").items.decode(example) for example in head.examples]
        assert len({head.instance_hash, *(example.hash for example in examples)}) == 3
        assert {example.level for example in examples} == {head.item["level"]}


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

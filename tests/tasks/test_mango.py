"""MANGO's tasks: which questions are asked."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.envs.textmap import HOUSE
from tests.envs.textmap.test_instance import write
from tests.tasks.test_search import ENTRIES, heads, ids, refused
from waybench.core import UsageError, load_tokenizer
from waybench.core._tokens import CharacterTokens
from waybench.evaluation.tasks import load_task

TASKS = ("mango_route", "mango_destination")


def difficulties(found: list[Any]) -> Counter[str]:
    return Counter(head.proof["difficulty"] for head in found)


@pytest.mark.parametrize("name", TASKS)
def test_generated_worlds(name: str) -> None:
    found = heads(name, worlds=3, limit=4, attempts=2)
    assert [head.attempt for head in found] == [1, 2] * 12
    assert {head.env for head in found} == set(ENTRIES[name].envs)
    assert {head.item["level"] for head in found} == {3}
    assert len({head.instance_hash for head in found}) == 12
    assert len({head.instance["map"]["name"] for head in found}) == 3
    assert difficulties(found) == {"easy": 12, "hard": 12}
    # The same as those of `waybench generate`.
    environment = waybench.load(ENTRIES[name].envs[0])
    assert [head.instance_hash for head in found[::2]] == [
        item.instance.hash for item in environment.source(level=3, questions=4).head(12)
    ]


def test_thirty_worlds_with_ten_questions_each() -> None:
    assert len(ids("mango_route")) == len(set(ids("mango_route"))) == 300


def test_questions_of_one_map_have_the_same_beginning() -> None:
    found = heads("mango_route", worlds=2, limit=6)
    begins = Counter(head.opening[0].text.partition("!!! Can you find")[0] for head in found)
    assert sorted(begins.values()) == [6, 6]


@pytest.mark.parametrize("name", TASKS)
def test_published_games(name: str, data_dir: Any) -> None:
    folder = str(data_dir("mango").parent)
    found = heads(name, source="published", data_dir=folder, limit=4)
    maps = Counter(head.instance["map"]["name"] for head in found)
    assert len(maps) == 53
    assert max(maps.values()) == 4
    assert {head.instance["cutoff"] for head in found} == {70}
    assert all(head.proof["answerable"] for head in found)
    assert len({head.item["id"] for head in found}) == len(found)
    told = difficulties(found)
    # Some games have few hard questions, or none: their place is taken by easy ones.
    assert told["easy"] > told["hard"] > len(found) / 4
    assert found[0].opening[0].text.startswith("!!! Here is a walkthrough of a text game:\n")


def test_all_questions_of_a_game(data_dir: Any) -> None:
    folder = str(data_dir("mango").parent)
    for name, file in (("mango_route", "all_pairs"), ("mango_destination", "all2all")):
        lines = data_dir("mango", "night", f"night.{file}.jsonl").read_text().splitlines()
        known = [record for record in map(json.loads, lines) if record["min_step_total_answerable"] <= 30]
        found = heads(name, source="published", data_dir=folder, games="night", limit=10**6, prefix_steps=30)
        assert len(found) == len(known) > 100
        asked = Counter((head.instance["src"], head.instance["dst"]) for head in found)
        assert asked == Counter((record["src_node"], record["dst_node"]) for record in known)


def test_routes_can_be_labelled_as_the_papers_tables_count_them(data_dir: Any) -> None:
    published = {"source": "published", "data_dir": str(data_dir("mango")), "games": "zork1", "limit": 10**6}
    found = {labels: heads("mango_route", labels=labels, **published) for labels in ("released", "paper")}
    # shared/specs/mango.md, section 2: the data's 324 easy and no hard ones, and the paper's 279 and 45.
    assert difficulties(found["released"]) == {"easy": 324}
    assert difficulties(found["paper"]) == {"easy": 279, "hard": 45}
    assert [head.instance_hash for head in heads("mango_route", **published)] == [
        head.instance_hash for head in found["released"]
    ]
    hard = heads("mango_route", labels="paper", difficulty="hard", **published)
    assert len(hard) == 45 and {head.proof["easy_from"] for head in hard} == {9999}
    assert "labels" in refused("mango_destination", labels="paper", **published)


def test_a_budget_of_tokens(data_dir: Any) -> None:
    folder = str(data_dir("mango").parent)
    given = {"source": "published", "data_dir": folder, "games": "zork1,905", "limit": 2}
    for protocol in ("paper", "sound"):
        found = heads("mango_route", prefix_tokens=1000, protocol=protocol, **given)
        cutoffs = {head.instance["map"]["name"]: head.instance["cutoff"] for head in found}
        zork = next(head for head in found if head.instance["map"]["name"] == "zork1")
        shown = zork.opening[0].text.partition("\n\nThe allowed actions")[0]
        assert 3_000 < len(shown) < 4_000 + len("!!! Here is a walkthrough of a text game:\n")
        assert cutoffs["zork1"] < 30
        assert cutoffs["905"] <= 23
    # As published, the cutoff is the limit where the walkthrough is shorter.
    assert {head.instance["cutoff"] for head in heads("mango_route", **(given | {"games": "905"}))} == {70}
    generated = heads("mango_route", prefix_tokens=400, worlds=1, limit=2)
    assert {head.instance["cutoff"] for head in generated} == {generated[0].instance["cutoff"]}
    assert generated[0].instance["cutoff"] < heads("mango_route", worlds=1, limit=1)[0].instance["cutoff"]


def test_a_folder_of_maps(tmp_path: Path) -> None:
    write(HOUSE, tmp_path / "maps" / "house")
    found = heads("mango_destination", source=str(tmp_path / "maps"), limit=100)
    assert {head.instance["map"]["name"] for head in found} == {"house"}
    assert {head.item["key"] for head in found} == {"maps"}
    assert found[0].instance["cutoff"] == 9
    assert "cannot read" in refused("mango_route", source=str(tmp_path / "maps"), names="ids")
    write(HOUSE, tmp_path / "maps" / "other")
    assert "there is a map 'house' in" in refused("mango_route", source=str(tmp_path / "maps"))
    shutil.rmtree(tmp_path / "maps" / "other")
    places = {place: [number] for number, place in enumerate(HOUSE.places)}
    (tmp_path / "maps" / "house" / "house.anno2code.json").write_text(json.dumps(places))
    named = heads("mango_route", source=str(tmp_path / "maps"), names="ids")
    assert all(head.instance["src"].endswith(")") for head in named)


def test_names_with_mangos_own_files_of_ids(tmp_path: Path, data_dir: Any) -> None:
    home = shutil.copytree(data_dir("mango", "905"), tmp_path / "905")
    given = {"source": "published", "data_dir": str(tmp_path), "games": "905", "names": "ids", "limit": 4}
    assert (
        "905.anno2code.json: No such file or directory; give a file of ids; places have no ids without it"
        in refused("mango_route", **given)
    )
    # The form of MANGO's folder data-intermediate: names as annotated, and codes with the ids in brackets.
    places = json.loads((home / "905.locations.json").read_text())
    codes = {place.title(): [f"{place} (obj{20 + number})"] for number, place in enumerate(places)}
    (home / "905.anno2code.json").write_text(json.dumps(codes))
    named = heads("mango_route", **given)
    assert set(named[0].instance["map"]["places"]) == {
        f"{place} (obj{20 + number})" for number, place in enumerate(places)
    }


def test_what_makes_no_sense_is_refused(tmp_path: Path, data_dir: Any) -> None:
    folder = str(data_dir("mango").parent)
    published = {"source": "published", "data_dir": folder}
    assert "did you mean 'zork3'" in refused("mango_route", games="zork9", **published)
    assert "name each game once" in refused("mango_route", games="zork1,zork1", **published)
    assert "games: only for published maps or your own" in refused("mango_route", games="zork1")
    assert "level: only for generated worlds" in refused("mango_route", level=3, **published)
    assert "doors: only for generated worlds" in refused("mango_route", doors=0.5, **published)
    assert "waybench data fetch mango" in refused("mango_route", source="published", data_dir=str(tmp_path))
    assert "a folder with maps" in refused("mango_route", source=str(tmp_path))
    assert "data_dir: only for published" in refused("mango_route", data_dir=folder)
    assert "60 tokens are too few for one step" in refused("mango_route", games="zork1", prefix_tokens=60, **published)
    assert "no answerable question of this kind" in refused(
        "mango_route", games="zork1", prefix_steps=1, difficulty="hard", **published
    )
    for task in ("mango_route", "mango_minigames", "mango_extract"):
        assert "the published maps have no positions" in refused(task, games="zork1", prefix_steps=71, **published)
    # After 70 steps of zork1 every pair of places is easy.
    assert "or choose other questions" in refused("mango_route", games="zork1", difficulty="hard", **published)


def test_tokenizers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = CharacterTokens().encode("nine char")
    assert pieces == ["nine", " cha", "r"]
    assert CharacterTokens().decode(pieces[:2]) == "nine cha"
    assert "give characters, tiktoken/ENCODING" in refused("mango_route", prefix_tokens=100, tokenizer="words")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UsageError, match="tokenizer"):
        load_tokenizer(str(tmp_path / "tokenizer.json"))
    # A tokenizer of tiktoken's that needs no file from elsewhere.
    import tiktoken
    from tiktoken import Encoding

    letters = Encoding(
        "letters",
        pat_str=r".|\n",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={},
    )
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: {"letters": letters}[name])
    assert load_tokenizer("tiktoken/letters").encode("ab") == [97, 98]
    by_letters = heads("mango_route", prefix_tokens=1600, tokenizer="tiktoken/letters", worlds=1, limit=1)
    by_estimate = heads("mango_route", prefix_tokens=400, worlds=1, limit=1)
    assert abs(by_letters[0].instance["cutoff"] - by_estimate[0].instance["cutoff"]) <= 1
    assert "tiktoken/none" in refused("mango_route", prefix_tokens=100, tokenizer="tiktoken/none")


@pytest.mark.slow
def test_minigames(data_dir: Any) -> None:
    folder = str(data_dir("mango").parent)
    found = heads("mango_minigames", source="published", data_dir=folder, limit=100_000)
    assert len(found) == len({head.item["id"] for head in found}) > 1_000
    known = heads("mango_minigames", source="published", data_dir=folder, limit=100_000, moves="known", local_map=True)
    assert 284 < len(known) < len(found)  # the published selection is a part of these
    assert all(head.proof["known"] for head in known)
    assert sum("Small local map info" in head.opening[0].text for head in known) == len(known)
    assert not any("Small local map info" in head.opening[0].text for head in found)
    worlds = heads("mango_minigames", worlds=3, limit=4, choices=5)
    assert len(worlds) == 12
    assert {head.proof["choices"] for head in worlds} <= {5, 6}


def test_extractions(data_dir: Any) -> None:
    folder = str(data_dir("mango").parent)
    games = "zork1,night,partyfoul,plundered,spirit,temple"  # the paper's six
    found = heads("mango_extract", source="published", data_dir=folder, games=games, limit=3)
    assert [head.instance["map"]["name"] for head in found] == games.split(",")
    assert all(2 <= len(head.instance["questions"]) <= 6 for head in found)
    assert len(heads("mango_extract", worlds=4, limit=2, mode="whole", attempts=2)) == 8


def test_the_public_names_of_the_tasks() -> None:
    for name in (*TASKS, "mango_minigames", "mango_extract"):
        assert load_task(ENTRIES[name]).__name__ == name

"""SmartPlay's tasks: settings, trials and sentences."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

import waybench
from tests.tasks.test_search import ENTRIES, heads, ids, refused
from waybench.cli import main
from waybench.evaluation.tasks import load_task
from waybench.evaluation.tasks._presets import SMARTPLAY

# Table 1 of the paper: trials, history, most steps.
TABLE_1 = {
    "bandit_deterministic": (20, 50, 50),
    "bandit_high_low": (20, 50, 50),
    "bandit_high_high": (20, 50, 50),
    "bandit_low_low": (20, 50, 50),
    "rps_basic": (20, 50, 50),
    "rps_different_score": (20, 50, 50),
    "hanoi_3": (10, 30, 30),
    "hanoi_4": (10, 30, 30),
    "messenger_l1": (100, 2, 4),
    "messenger_l2": (100, 2, 64),
    "messenger_l3": (100, 2, 128),
    "voxel_find": (20, 2, 200),
    "crafter": (10, 5, 9_999),  # the first of the 10,000 is the game's own
}
SETTINGS = {
    "bandit_deterministic": "BanditTwoArmedDeterministicFixed",
    "bandit_high_low": "BanditTwoArmedHighLowFixed",
    "bandit_high_high": "BanditTwoArmedHighHighFixed",
    "bandit_low_low": "BanditTwoArmedLowLowFixed",
    "rps_basic": "RockPaperScissorBasic",
    "rps_different_score": "RockPaperScissorDifferentScore",
    "hanoi_3": "Hanoi3Disk",
    "hanoi_4": "Hanoi4Disk",
    "messenger_l1": "MessengerL1",
    "messenger_l2": "MessengerL2",
    "messenger_l3": "MessengerL3",
    "crafter": "Crafter",
    "voxel_find": None,  # only Minecraft has
}


def environment_of(name: str) -> Any:
    [env_id] = ENTRIES[name].envs
    return waybench.load(env_id)


@pytest.mark.parametrize("name", TABLE_1)
def test_each_setting_is_as_in_table_1(name: str) -> None:
    trials, history, steps = TABLE_1[name]
    made = heads(name)
    environment = environment_of(name)
    assert len(made) == trials
    assert {head.options["history"] for head in made} == {history}
    play = environment.playing.play(environment.resolve_options({}))
    turns = {play.turns(environment.items.decode(head.instance)) for head in made}  # a thought and an action each
    assert turns == {2 * steps}
    assert environment.scoring.published_setting is not None
    assert {environment.scoring.published_setting(head) for head in made} == {SETTINGS[name]}


def test_a_puzzle_that_is_always_the_same_is_tried_again() -> None:
    made = heads("hanoi_3", limit=3, attempts=2)
    assert [head.attempt for head in made] == [1, 2, 3, 4, 5, 6]
    assert len({head.instance_hash for head in made}) == 1
    drawn = heads("bandit_high_low", limit=3, attempts=2)
    assert [head.attempt for head in drawn] == [1, 2] * 3
    assert len({head.instance_hash for head in drawn}) == 3


def test_smartplay_has_every_recorded_setting() -> None:
    made = heads("smartplay")
    counts = Counter((head.env, head.item["level"]) for head in made)
    assert sorted(counts.values()) == [10, 10, 20, 20, 20, 100, 100]
    assert len(ids("smartplay")) == len(set(ids("smartplay"))) == 280
    found = {
        environment_of(name).scoring.published_setting(head) for name in SMARTPLAY for head in heads(name, limit=1)
    }
    environments = {"bandit/arms", "rps/rounds", "hanoi/rods", "messenger/roles", "crafter/survival", "voxel/find"}
    assert {head.env for head in made} == environments
    assert {head.instance["goal"] for head in made if head.env == "voxel/find"} == {"plains"}
    assert found == {SETTINGS[name] for name in SMARTPLAY}
    assert {head.options["wording"] for head in heads("smartplay", limit=1, wording="chat")} == {"chat"}


# shared/specs/smartplay.md, section 2: all goals in Minecraft that the published program registers.
GOALS = {
    "voxel_plains": "MinedojoCreative0",
    "voxel_forest": "MinedojoCreative1",
    "voxel_ocean": "MinedojoCreative2",
    "voxel_beach": "MinedojoCreative4",
    "voxel_taiga": "MinedojoCreative5",
    "voxel_ice_spikes": "MinedojoCreative7",
    "voxel_jungle": "MinedojoCreative8",
    "voxel_desert": "MinedojoCreative9",
}


@pytest.mark.parametrize("name", GOALS)
def test_each_goal_in_minecraft_is_a_task(name: str) -> None:
    goal = name.removeprefix("voxel_").replace("_", " ")
    (head, other) = heads(name, limit=2)
    assert head.instance["goal"] == other.instance["goal"] == goal
    in_minecraft = replace(head, instance={**head.instance, "engine": "minedojo"})
    setting = environment_of(name).scoring.published_setting
    assert (setting(in_minecraft), setting(head)) == (GOALS[name], None)
    (part,) = ENTRIES[name].parts
    assert part.trials == 20
    assert [head, other] == heads("voxel_find", goal=goal, limit=2)
    listed = " ".join(CliRunner().invoke(main, ["list"]).output.split())
    assert f"{name} find {goal}, after SmartPlay's {GOALS[name]}" in listed


def test_a_goal_is_the_engines_own_counterpart() -> None:
    (part,) = ENTRIES["voxel_ice_spikes"].parts
    assert [part.further_parameters({"engine": engine}) for engine in ("own", "luanti", "minedojo")] == [
        {"goal": "ice spikes"},
        {"goal": "icesheet"},
        {"goal": "ice spikes"},
    ]


def test_free_parameters() -> None:
    assert {len(head.instance["arms"]) for head in heads("bandit", level=7, drift=0.1, limit=3)} == {7}
    assert {head.instance["opponent"] for head in heads("rps", level=2, opponent="beat_last", limit=2)} == {"beat_last"}
    made = heads("hanoi", level=5, positions="free", limit=4)
    assert len({head.instance_hash for head in made}) == 4
    assert {head.instance["size"] for head in heads("messenger", level=3, size=14, decoys=3, limit=2)} == {14}
    assert "give a stage" in refused("messenger", level=4)


def test_published_sentences(data_dir: Any, tmp_path: Any) -> None:
    folder = str(data_dir("smartplay").parent)
    published = heads("messenger_l2", source="published", data_dir=folder, limit=5)
    texts = json.loads(data_dir("smartplay", "text_test.json").read_text(encoding="utf-8"))
    listed = {text for roles in texts.values() for kinds in roles.values() for each in kinds.values() for text in each}
    assert all(sentence in listed for head in published for sentence in head.instance["sentences"])
    own = heads("messenger_l2", limit=5)
    assert not listed & {sentence for head in own for sentence in head.instance["sentences"]}
    # They are estimated apart: the groups of an analysis are told apart by the key.
    assert {head.item["key"] for head in published} == {"messenger-v1-published-test"}
    assert {head.item["key"] for head in own} == {"messenger-v1"}
    assert "waybench data fetch smartplay" in refused("messenger_l1", source="published", data_dir=str(tmp_path))
    assert "data_dir: only for published" in refused("messenger_l1", data_dir=folder)


def test_the_public_names_of_the_tasks() -> None:
    for name in (*TABLE_1, "bandit", "rps", "hanoi", "messenger", "smartplay"):
        assert load_task(ENTRIES[name]).__name__ == name

"""The published descriptions of voxel worlds, replayed (shared/specs/smartplay.md, sections 8 and 13)."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.conftest import shared
from waybench.envs.smartplay._game import manual_text
from waybench.envs.voxel._wording import ACTIONS, MANUAL, Raw, description_text, direction_text, location_text, turn_bin
from waybench.envs.voxel.engines._terrain import GOALS, counts_as_goal

Compared = Callable[[str, str, int], None]
GOLDEN = ("WAYBENCH_GOLDEN", "golden", "smartplay")
PATTERN = "minedojo_descriptor*.json"


@cache
def golden(name: str) -> Any:
    return json.loads(shared(*GOLDEN, name).read_text(encoding="utf-8"))


def found() -> list[str]:
    """Return the names of golden files; where there are none the pattern, so that a test asks for it and says so."""
    try:
        home = shared(*GOLDEN)
    except (pytest.skip.Exception, pytest.fail.Exception):
        return [PATTERN]
    return sorted(path.name for path in home.glob(PATTERN)) or [PATTERN]


FILES = found()


@pytest.mark.parametrize("name", FILES)
def test_turns(name: str, compared: Compared) -> None:
    table = golden(name)["turn_table_act_yaw_camerabin"]
    assert [turn_bin(action, yaw) for action, yaw, _ in table] == [turned for _, _, turned in table]
    compared("smartplay", "voxel turns", len(table))


@pytest.mark.parametrize("name", FILES)
def test_directions(name: str, compared: Compared) -> None:
    table = golden(name)["direction_table_yaw_pitch_text"]
    assert [direction_text(yaw, pitch, published=True) for yaw, pitch, _ in table] == [text for _, _, text in table]
    compared("smartplay", "voxel directions", len(table))


@pytest.mark.parametrize("name", FILES)
def test_locations(name: str, compared: Compared) -> None:
    table = golden(name)["location_table_yaw_pitch_text"]
    at = (-253.12, 71.75, 248.64)  # as in the paper's example, which the table takes
    assert [location_text(at, yaw, pitch) for yaw, pitch, _ in table] == [text for _, _, text in table]
    compared("smartplay", "voxel locations", len(table))


def sorted_names(names: list[str], *codes: Any) -> tuple[list[str], list[Any]]:
    """Return names in alphabetical order, and what is written with their numbers."""
    ordered = sorted(names)
    renumbered = np.array([ordered.index(name) for name in names])
    return ordered, [renumbered[np.array(each)] for each in codes]


def raw_of(case: dict[str, Any]) -> Raw:
    blocks, (voxels, rays) = sorted_names(case["block_vocab"], case["voxels_xyz"], case["ray_blocks"])
    beings, (met,) = sorted_names(case["entity_vocab"], case["ray_entities"])
    distances, met_distances = np.array(case["ray_block_distance"]), np.array(case["ray_entity_distance"])
    return Raw(
        tuple(case["pos"]), case["yaw"], case["pitch"], blocks, voxels, rays, distances, beings, met, met_distances
    )


@pytest.mark.parametrize("name", FILES)
def test_descriptions(name: str, compared: Compared) -> None:
    cases = golden(name)["cases"]
    for case in cases:
        assert description_text(raw_of(case), published=True) == case["text"]
    compared("smartplay", "voxel descriptions", len(cases))


@pytest.mark.parametrize("name", FILES)
def test_manuals(name: str, compared: Compared) -> None:
    data = golden(name)
    assert list(ACTIONS) == data["action_list"]
    for task in data["tasks"].values():
        assert manual_text(MANUAL.format(goal=task["goal_text"]), ACTIONS) == task["manual"]
    compared("smartplay", "voxel manuals", len(data["tasks"]))


@pytest.mark.parametrize("name", FILES)
def test_goals(name: str, compared: Compared) -> None:
    """Of all biomes that are named for any task, each task's are those whose names contain its word."""
    tasks = golden(name)["tasks"].values()
    named = {biome for task in tasks for biome in task["goal_biomes"]}
    for task in tasks:
        assert {biome for biome in named if counts_as_goal(task["goal_text"], biome)} == set(task["goal_biomes"])
    assert {task["goal_text"] for task in tasks} <= set(GOALS)
    compared("smartplay", "voxel goals", len(tasks))

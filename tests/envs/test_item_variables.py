"""Explanatory variables of items: by hand on small items, and declared properly by every environment that has some."""

from dataclasses import replace
from math import isfinite
from typing import Any

import pytest

from waybench.core import Episode
from waybench.envs import registry

MAZE = ["000X000", "0111010", "0101010", "0101010", "0101010", "0111110", "0000010"]
STAR = {"nodes": [0, 1, 2, 3, 4, 5], "edges": [[0, 1], [1, 2], [1, 3], [1, 4], [4, 5]]}


def variables(env_id: str, instance: Any) -> dict[str, float | None]:
    """Return the variables of an item."""
    env = registry.load(env_id)
    record = Episode(env, env.item(env.items.decode(instance).to_json())).record()
    return {each.name: each.of(record) for each in env.difficulty.item_variables}


def declared() -> list[str]:
    return [entry.id for entry in registry.built_in if registry.load(entry.id).difficulty.item_variables]


def test_maze() -> None:
    # Five cells down, two to the right, one down. The loop on the left opens to the path in its first and its fifth
    # cell; above the corner is a dead end.
    assert variables("maze/alicia", {"maze": MAZE}) == {
        "minimum": 8,
        "turns": 2,
        "dead_ends": 1,
        "wrong_ways": 3,
        "junctions": 3,
    }


def test_puzzle() -> None:
    found = variables("hanoi/rods", {"start": "ABB", "goal": "CBB"})
    assert found == {"minimum": 1, "misplaced": 1, "towers": 4}


def test_number() -> None:
    assert variables("search/guessnum", {"target": 20, "min": 0, "max": 32})["off_middle"] == pytest.approx(0.25)
    assert variables("search/coin", {"target": 0, "min": 0, "max": 32})["off_middle"] == 1


@pytest.mark.parametrize("env", ["search/dfs", "search/cavebfs"])
def test_graph(env: str) -> None:
    found = variables(env, STAR)
    assert (found["leaves"], found["depth"], found["most_neighbours"]) == (4, 3, 4)


def test_tile_map() -> None:
    env = registry.load("tilemap/gtb")
    record = Episode(env, env.source(level=1).item(0)).record()
    found = {each.name: each.of(record) for each in env.difficulty.item_variables}
    rows = record.instance["environment"].splitlines()
    assert found["cells"] == len(rows) * len(rows[0])
    assert found["objectives"] == len(record.proof["legs"])
    assert found["longest_leg"] == max(record.proof["legs"])
    # A record from before the legs were known has no longest one.
    bare = replace(record, proof={})
    assert {each.name: each.of(bare) for each in env.difficulty.item_variables}["longest_leg"] is None


@pytest.mark.parametrize("env_id", declared())
def test_every_declared_variable(env_id: str) -> None:
    env = registry.load(env_id)
    assert len({each.name for each in env.difficulty.item_variables}) == len(env.difficulty.item_variables)
    assert env.difficulty.axes, "an index needs a level"
    assert env.difficulty.axes[0].name not in {each.name for each in env.difficulty.item_variables}
    levels = env.items.sample_levels[:2]
    for level in levels:
        record = Episode(env, env.source(level=level).item(1)).record()
        for each in env.difficulty.item_variables:
            value = each.of(record)
            assert value is not None and isfinite(value) and value >= 0, each.name
            assert each.title and each.doc.endswith(".")

"""The terrain: the same whoever asks, wherever and in whatever order."""

import hashlib
import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.conftest import PATIENCE
from waybench.core import UsageError
from waybench.envs.voxel._game import SearchSource
from waybench.envs.voxel.engines import _generate
from waybench.envs.voxel.engines._engines import open_charted_world, open_terrain
from waybench.envs.voxel.engines._own import OwnTerrain, goal_mask
from waybench.envs.voxel.engines._terrain import (
    BIOME_NUMBER,
    BIOMES,
    BLOCKS,
    ENGINES,
    GOALS,
    GROUND,
    SOLID,
    TREES,
    number_tables,
)

SEED = 20_231_001
# Of a key that nothing else draws from.
CHOICES: Any = ("worlds in play", 1, {"goal": "any", "engine": "own", "start": "any"})
PLACES = [(x, z) for x in (-90, -17, -16, -1, 0, 15, 16, 200) for z in (-33, 0, 31)]


def print_of(world: OwnTerrain, places: list[tuple[int, int]]) -> str:
    columns = (f"{x} {z} {world.biome(x, z)} {[world.block(x, y, z) for y in range(128)]}" for x, z in sorted(places))
    return hashlib.sha256("\n".join(columns).encode()).hexdigest()


def test_other_processes_make_the_same_world() -> None:
    code = "from tests.envs.voxel.test_terrain import *; print(print_of(OwnTerrain(SEED), PLACES))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert other.stdout.strip() == print_of(OwnTerrain(SEED), PLACES)


def test_the_world_is_pinned() -> None:
    assert print_of(OwnTerrain(SEED), PLACES)[:16] == "23132f41bffd4e1e"


def test_the_order_in_which_chunks_are_made_does_not_matter() -> None:
    forwards, backwards = OwnTerrain(SEED), OwnTerrain(SEED)
    near = list(product(range(-24, 24), range(-24, 24), range(60, 80)))
    one = [forwards.block(x, y, z) for x, z, y in near]
    for x, z, y in reversed(near):
        backwards.block(x, y, z)
    for away in (256, 512, -256):  # chunks that have the same slot
        backwards.block(away, 70, away)
    assert [backwards.block(x, y, z) for x, z, y in near] == one


def test_other_seeds_make_other_worlds() -> None:
    assert len({print_of(OwnTerrain(seed), PLACES) for seed in range(5)}) == 5


def test_trees_are_whole_across_chunks() -> None:
    """Every trunk has its crown on all sides, wherever the chunk ends."""
    world, found = OwnTerrain(SEED), 0
    for index in range(400):
        near = world.nearest(index * 700, 0, ("birch forest",), 1500)
        if near is None:
            continue
        for x, z in product(range(near.x - 24, near.x + 24), range(near.z - 24, near.z + 24)):
            top = world.ground(x, z) + 1
            while world.block(x, top, z) == "birch wood":
                top += 1
            if top > world.ground(x, z) + 3:
                around = [world.block(x + dx, top - 1, z + dz) for dx, dz in ((1, 0), (-1, 0), (0, 1), (0, -1))]
                assert "air" not in around
                found += 1
        if found > 50:
            return
    pytest.fail(f"only {found} birches were found")


def test_numbers_of_biomes_are_those_of_the_compiled_loop() -> None:
    for name, number in BIOME_NUMBER.items():
        assert getattr(_generate, name.upper().replace(" ", "_")) == number


def test_tables_are_complete() -> None:
    ground, biomes, trees = number_tables()
    assert list(BLOCKS) == sorted(BLOCKS)
    assert [BLOCKS[number] for number in ground] == list(GROUND)
    assert (len(biomes), len(trees)) == (len(BIOMES), len(TREES))
    assert {BLOCKS[number] for number, solid in enumerate(SOLID) if not solid} >= {"air", "water", "grass"}


def test_biomes_are_those_of_cells_of_four_blocks() -> None:
    world = OwnTerrain(SEED)
    for x, z in product(range(-40, 40, 4), range(-400, 400, 40)):
        assert len({world.biome(x + dx, z + dz) for dx, dz in product(range(4), repeat=2)}) == 1


def test_ground_water_and_plants_are_where_they_belong() -> None:
    world = OwnTerrain(SEED)
    seas = 0
    for x, z in product(range(-3000, 3000, 251), repeat=2):
        height = world.ground(x, z)
        assert world.block(x, 0, z) == "bedrock" == world.block(x, -1, z)
        assert world.block(x, 500, z) == "air"
        assert SOLID[BLOCKS.index(world.block(x, height, z))]
        above = [world.block(x, y, z) for y in range(height + 1, 63)]
        assert set(above) <= {"water", "ice"}
        if world.biome(x, z).endswith("ocean"):
            assert height <= 63  # the middle of its cell is sea
        if world.biome(x, z).endswith("ocean") and height < 62:
            seas += 1
            assert (world.block(x, 62, z) == "ice") == (world.biome(x, z) == "frozen ocean")
    assert seas > 20


@pytest.mark.parametrize("goal", GOALS)
def test_the_nearest_goal_is_the_nearest(goal: str) -> None:
    """Against looking at every cell of a square."""
    goals = ENGINES["own"].matching_biomes(goal)
    for seed in range(6):
        world = OwnTerrain(seed)
        x, z = 37 * seed - 90, 11 - 53 * seed
        cells = product(range((x - 300) // 4, (x + 300) // 4), range((z - 300) // 4, (z + 300) // 4))
        middles = [(4 * i + 2, 4 * j + 2) for i, j in cells]
        away = [(a - x) ** 2 + (b - z) ** 2 for a, b in middles if world.biome(a, b) in goals]
        near = world.nearest(x, z, goals, 290)
        if away and min(away) <= 290**2:
            assert near is not None
            assert near.away**2 == pytest.approx(min(away))
            assert world.biome(near.x, near.z) in goals
        else:
            assert near is None


def test_who_walks_is_told_the_same_as_who_just_came() -> None:
    """What was looked up before saves looking again, and changes nothing: there, back, far away, another goal."""
    world, places = OwnTerrain(SEED), [(9 * step, 40 - 7 * step) for step in range(12)]
    places = [*places, *reversed(places), (5000, -3000), (5003, -3001), (0, 0)]
    found = 0
    for number, (x, z) in enumerate(places):
        goals = ENGINES["own"].matching_biomes(GOALS[number // 5 % 2])
        most = 400 if number % 7 else 20
        near = world.nearest(x, z, goals, most)
        assert near == OwnTerrain(SEED).nearest(x, z, goals, most)
        found += near is not None
    assert 0 < found < len(places)


def test_every_biome_is_in_the_world() -> None:
    world = OwnTerrain(SEED)
    for name in BIOMES:
        assert world.nearest(0, 0, (name,), 20_000) is not None, name


def test_goals_contain_the_word() -> None:
    assert ENGINES["own"].matching_biomes("plains") == ("plains", "ice plains")
    assert ENGINES["own"].matching_biomes("ice spikes") == ("ice spikes",)
    assert list(np.nonzero(goal_mask(ENGINES["own"].matching_biomes("beach")))[0]) == [
        _generate.BEACH,
        _generate.COLD_BEACH,
    ]


def test_there_is_no_other_engine() -> None:
    with pytest.raises(UsageError, match="give one of own"):
        open_terrain("other", 1)


def test_drawing_items_costs_no_chunks_and_no_world_that_is_in_play(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    init = OwnTerrain.__init__

    def counted(self: OwnTerrain, seed: int) -> None:
        opened.append(seed)
        init(self, seed)

    monkeypatch.setattr(OwnTerrain, "__init__", counted)
    worlds = [open_charted_world("own", seed) for seed in range(8)]
    item = SearchSource(*CHOICES).item(0)
    assert len(opened) > 8  # several places were tried
    drawn = len(opened)
    assert [open_charted_world("own", seed) for seed in range(8)] == worlds
    assert len(opened) == drawn
    assert SearchSource(*CHOICES).item(0) == item
    assert len(opened) == drawn  # the second episode of a group draws nothing
    assert SearchSource(*CHOICES).draw_search(0) == item.instance != SearchSource(*CHOICES).draw_search(1)
    assert len(opened) > drawn


def test_a_map_alone_takes_no_memory_for_chunks() -> None:
    world = OwnTerrain(7)
    assert world.biome(0, 0) and world.nearest(0, 0, ("ocean",), 500) is not None
    assert "_pool" not in vars(world)
    assert world.block(0, 0, 0) == "bedrock" and "_pool" in vars(world)

"""How the walker moves, in small worlds that are built for it."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from waybench.core import Stream
from waybench.envs.voxel.engines._engines import open_terrain
from waybench.envs.voxel.engines._own import OwnTerrain, walk_ticks
from waybench.envs.voxel.engines._terrain import AIR, BLOCKS, NUMBER, SOLID, WATER, Body

SOUTH, EAST = (0.0, 1.0), (1.0, 0.0)
AHEAD_JUMPING, AHEAD_SPRINTING, LEFT, RIGHT = 0, 4, 2 + 4, 3 + 4
FLOOR = 10  # feet are at this height


def world(blocks: Iterable[tuple[int, int, int, str]] = ()) -> Any:
    """Return a pool of one chunk's width that wraps around: a floor of stone below FLOOR, and what is given."""
    pool = np.full((1, 1, 16, 16, 64), AIR, dtype=np.uint8)
    pool[..., :FLOOR] = NUMBER["stone"]
    for x, y, z, name in blocks:
        pool[0, 0, x, z, y] = NUMBER[name]
    return pool


def walk(
    pool: Any, ticks: list[int], ahead: tuple[float, float] = SOUTH, at: tuple[float, ...] = (8.5, FLOOR, 2.5, 0.0)
) -> tuple[list[float], float]:
    place, goals = np.array(at), np.zeros((9, 9), dtype=np.uint8)
    solid = np.array(SOLID, dtype=np.uint8)
    done = np.array(ticks, dtype=np.uint8)
    _, _, length = walk_ticks(pool, WATER, solid, goals, place, np.array(ahead), done)
    return place.tolist(), length


def wall(y: Iterable[int], name: str = "stone", z: int = 6) -> list[tuple[int, int, int, str]]:
    return [(x, layer, z, name) for x in range(16) for layer in y]


def test_sprinting_on_flat_ground() -> None:
    (x, y, z, _), length = walk(world(), [AHEAD_SPRINTING] * 10)
    assert (x, y) == (8.5, FLOOR)
    assert z - 2.5 == pytest.approx(2.806) == length


def test_walking_and_jumping() -> None:
    heights = [walk(world(), [AHEAD_JUMPING] * count)[0][1] - FLOOR for count in range(1, 13)]
    assert 1.2 < max(heights) < 1.3
    assert heights[-1] == pytest.approx(0, abs=1e-9)  # and down again
    assert walk(world(), [AHEAD_JUMPING] * 10)[1] == pytest.approx(2.158)


@pytest.mark.parametrize(
    ("ahead", "side", "east", "south"), [(SOUTH, LEFT, 1, 1), (SOUTH, RIGHT, -1, 1), (EAST, LEFT, 1, -1)]
)
def test_to_the_side(ahead: tuple[float, float], side: int, east: int, south: int) -> None:
    (x, _, z, _), length = walk(world(), [side] * 5, ahead, (8.5, FLOOR, 8.5, 0.0))
    assert length == pytest.approx(1.403)  # no faster than straight ahead
    assert (x - 8.5, z - 8.5) == pytest.approx((east * 0.992, south * 0.992), abs=0.001)


def test_one_block_is_jumped_over_and_two_are_not() -> None:
    assert walk(world(wall([FLOOR])), [AHEAD_JUMPING] * 40)[0][2] > 7
    assert walk(world(wall([FLOOR, FLOOR + 1])), [AHEAD_JUMPING] * 40)[0][2] < 6 - 0.3
    assert walk(world(wall([FLOOR])), [AHEAD_SPRINTING] * 40)[0][2] < 6 - 0.3  # who does not jump stays before it


def test_plants_are_no_obstacle_and_leaves_are() -> None:
    assert walk(world(wall([FLOOR, FLOOR + 1], "grass")), [AHEAD_SPRINTING] * 20)[0][2] > 7
    assert walk(world(wall([FLOOR, FLOOR + 1], "oak leaves")), [AHEAD_SPRINTING] * 20)[0][2] < 6 - 0.3


def test_a_ceiling_stops_a_jump() -> None:
    low = world([(x, FLOOR + 2, z, "stone") for x in range(16) for z in range(16)])
    heights = [walk(low, [AHEAD_JUMPING] * count)[0][1] for count in range(1, 8)]
    assert FLOOR < max(heights) < FLOOR + 0.2


def test_falling_ends_on_the_ground() -> None:
    (_, y, _, rise), _ = walk(world(), [AHEAD_SPRINTING] * 60, at=(8.5, FLOOR + 20.0, 2.5, 0.0))
    assert (y, rise) == (FLOOR, 0.0)


def test_swimming() -> None:
    pool = world([(x, y, z, "water") for x in range(16) for z in range(16) for y in range(4, FLOOR)])
    (_, y, z, _), length = walk(pool, [AHEAD_SPRINTING] * 45, at=(8.5, 4.0, 2.5, 0.0))
    assert length == pytest.approx(z - 2.5)
    assert length < 7  # slower than on land: a tenth of a block in each tick under water
    assert FLOOR - 1.0 < y < FLOOR + 0.5  # it has come up, and is at the surface
    shore = world([(x, y, z, "water") for x in range(16) for z in range(8) for y in range(FLOOR - 3, FLOOR)])
    (_, y, z, _), _ = walk(shore, [AHEAD_JUMPING] * 150, at=(8.5, FLOOR - 2.0, 2.5, 0.0))
    assert z > 9 or y >= FLOOR  # and out of the water


def test_a_goal_ends_the_walk() -> None:
    place, goals = np.array((8.5, FLOOR, 2.5, 0.0)), np.zeros((9, 9), dtype=np.uint8)
    goals[4, 5] = 1  # the next cell to the south begins at z = 4
    made, arrived, _ = walk_ticks(
        world(),
        WATER,
        np.array(SOLID, dtype=np.uint8),
        goals,
        place,
        np.array(SOUTH),
        np.full(50, 4, dtype=np.uint8),
    )
    assert (made, arrived) == (6, True)  # 6 * 0.2806 > 1.5
    assert place[2] == pytest.approx(2.5 + 6 * 0.2806)


def test_nothing_is_walked_into_anywhere() -> None:
    """Wherever chance leads, the walker is never in anything solid."""
    for seed in range(6):
        rng, engine = Stream("walk", seed), open_terrain("own", seed)
        body = engine.stand(seed * 500, -seed * 300)
        for _ in range(30):
            body = engine.walk(body._replace(yaw=rng.below(360) - 180), bytes(rng.below(8) for _ in range(50)), ()).body
            for x, y, z in ((dx, dy, dz) for dx in (-0.3, 0.3) for dy in (0.0, 0.9, 1.8) for dz in (-0.3, 0.3)):
                there = engine.block(*(int(np.floor(each)) for each in (body.x + x, body.y + y, body.z + z)))
                assert not SOLID[BLOCKS.index(there)]


@pytest.mark.slow
def test_threads_do_not_disturb_each_other() -> None:
    """Two walks far apart need the same slots for their chunks, again and again."""
    shared = OwnTerrain(9)

    def gone(engine: OwnTerrain, away: int) -> Body:
        rng, body = Stream("threads", away), engine.stand(away, 0)
        for _ in range(60):
            body = engine.walk(body._replace(yaw=rng.below(360) - 180), bytes(rng.below(8) for _ in range(50)), ()).body
            engine.view(body)
        return body

    places = [256 * number for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda away: gone(shared, away), places))
    assert together == [gone(OwnTerrain(9), away) for away in places]

"""Rays against small steps, and components against a plain flood."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

from waybench.core import Stream
from waybench.envs.voxel._look import connected_components
from waybench.envs.voxel.engines._engines import open_terrain
from waybench.envs.voxel.engines._own import OwnTerrain, heading_vector
from waybench.envs.voxel.engines._terrain import Body

WORLDS = [(1, 0, 0), (2, 400, -300), (3, -1200, 77), (4, 90, 2500), (5, -600, -601)]


def hit(
    world: Any, eye: tuple[float, float, float], way: tuple[float, float, float], longest: float
) -> tuple[str, float]:
    """Return what a ray hits, going in small steps; the block in which the eye is does not count."""
    here = tuple(math.floor(each) for each in eye)
    inside = world.block(*here)
    passed = {"air", "water"} if inside == "water" else {"air"}
    for step in range(1, round(longest * 300)):
        place = tuple(math.floor(a + b * step / 300) for a, b in zip(eye, way, strict=True))
        if place != here and (name := world.block(*place)) not in passed:
            return name, step / 300
    return "air", longest


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "x", "z"), WORLDS)
def test_rays(seed: int, x: int, z: int) -> None:
    world = open_terrain("own", seed)
    body = world.stand(x, z)._replace(yaw=37 * seed % 360 - 180)
    raw, clipped = world.view(body), 0
    angles = [(0, 0), *product(range(-48, 49, 6), range(-48, 49, 6))]
    assert len(raw.rays) == len(angles) == 290
    for number, (tilt, turn) in list(enumerate(angles))[::11]:
        flat, yaw = math.cos(math.radians(tilt)), math.radians(body.yaw + turn)
        way = (-math.sin(yaw) * flat, math.sin(math.radians(tilt)), math.cos(yaw) * flat)
        name, away = hit(world, (body.x, body.y + 1.62, body.z), way, 65.0 if number else 3.0)
        ours = raw.blocks[raw.rays[number]]
        if ours != name:  # the small steps jump over corners
            clipped += 1
            continue
        assert raw.distances[number] == pytest.approx(away, abs=0.004)
    assert clipped <= 1


def test_what_is_around_is_what_is_there() -> None:
    world = open_terrain("own", 5)
    body = world.stand(-600, -601)
    raw = world.view(body)
    for i, j, k in product(range(9), repeat=3):
        there = world.block(math.floor(body.x) + i - 4, math.floor(body.y) + j - 4, math.floor(body.z) + k - 4)
        assert raw.blocks[raw.voxels[i, j, k]] == there


def test_directions_are_those_of_the_compass() -> None:
    assert [tuple(map(round, heading_vector(yaw))) for yaw in (0, 90, -180, -90)] == [(0, 1), (-1, 0), (0, -1), (1, 0)]


def test_high_above_everything_there_is_only_what_is_below() -> None:
    world = OwnTerrain(3)
    raw = world.view(Body(0.5, 150.0, 0.5, 0))
    assert {raw.blocks[code] for code in raw.rays[1 + 8 * 17 :]} == {"air"}
    assert {raw.blocks[code] for code in raw.voxels.ravel()} == {"air"}


def flooded(codes: Any, corners: bool, background: int | None) -> list[tuple[int, frozenset[tuple[int, ...]]]]:
    """Return code and places of the components, in the order of their first places, the background before them."""
    places = list(product(*(range(size) for size in codes.shape)))
    found: list[tuple[int, frozenset[tuple[int, ...]]]] = []
    left = set(places)
    if background is not None:
        group = frozenset(place for place in places if codes[place] == background)
        found.append((background, group))
        left -= group
    for first in places:
        if first not in left:
            continue
        group, todo = {first}, [first]
        while todo:
            here = todo.pop()
            for other in left - group:
                apart = [abs(a - b) for a, b in zip(here, other, strict=True)]
                near = max(apart) == 1 if corners else sum(apart) == 1
                if near and codes[other] == codes[first]:
                    group.add(other)
                    todo.append(other)
        left -= group
        found.append((int(codes[first]), frozenset(group)))
    return found


@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("shape", [(1, 7, 6), (4, 3, 5)])
def test_components(shape: tuple[int, ...], grouped: bool) -> None:
    rng, corners = Stream("components", str(shape)), shape[0] == 1
    for _ in range(40):
        codes = np.array([3 + rng.below(3) for _ in range(math.prod(shape))]).reshape(shape)
        near = np.array([float(rng.below(9)) for _ in range(codes.size)]).reshape(shape) if corners else None
        expected = flooded(codes, corners, int(codes.min()) if grouped else None)
        ours = list(connected_components(codes, near, grouped=grouped))
        assert len(ours) == len(expected)
        for (code, cells, x, y, z, row, column, away), (wanted, group) in zip(ours, expected, strict=True):
            assert (code, cells) == (wanted, len(group))
            assert (x, y, z) == tuple(sum(place[axis] for place in group) for axis in range(3))
            if near is not None:
                assert (away, row, column) == min((near[place], place[1], place[2]) for place in group)

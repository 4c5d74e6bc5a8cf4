"""The world of blocks: what is seen from it, what a chunk costs, and what a long walk takes."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks._textmaps import peak_of_this
from benchmarks._timing import Comparison, Memory, compare
from waybench.core import Stream
from waybench.envs.voxel._wording import description_text
from waybench.envs.voxel.engines._engines import is_drawable, open_charted_world, open_terrain
from waybench.envs.voxel.engines._generate import HEIGHT, SIDE, biome_number, ground_height, write_chunk
from waybench.envs.voxel.engines._own import OwnTerrain
from waybench.envs.voxel.engines._terrain import number_tables

SEEN, STEPS, CHUNKS = 2_000, 100, 500
FAR = 10_000  # blocks


def voxel() -> Iterator[Comparison | Memory]:
    """Describe places, walk, make chunks, and walk far."""
    yield _observations()
    if is_drawable("luanti"):
        yield _real_observations()
    yield _steps()
    yield _chunks()
    near, far, alone = (_peak(blocks) for blocks in (FAR // 10, FAR, 0))
    told = f"voxel/find: a walk of {FAR:,} blocks with an observation every ten"
    yield Memory(told, far - alone, near - alone, f"a walk of {FAR // 10:,} blocks")


def _observations() -> Comparison:
    world, rng = open_terrain("own", 7), Stream("bench")
    bodies = [world.stand(rng.below(60), rng.below(60))._replace(yaw=rng.below(360) - 180) for _ in range(SEEN)]

    def whole() -> None:
        for body in bodies:
            description_text(world.view(body), published=True)

    def rays() -> None:
        for body in bodies:
            world.view(body)

    return compare(
        "voxel/find: observations as text, from 290 rays and 729 blocks, in a part of the world that is there "
        "(2,000 a second are wanted)",
        whole,
        rays,
        against="rays and blocks without the text",
        count=SEEN,
        unit="observations",
    )


def _real_observations() -> Comparison:
    worlds = {engine: open_charted_world(engine, 7) for engine in ("luanti", "own")}
    seen = SEEN // 10

    def looked(engine: str) -> None:
        world, rng = worlds[engine], Stream("bench")
        for _ in range(seen):
            body = world.stand(rng.below(60), rng.below(60))._replace(yaw=rng.below(360) - 180)
            description_text(world.view(body), published=True)

    return compare(
        "voxel/find: observations as text in Luanti's world, by its server's rays, in a part that is there",
        lambda: looked("luanti"),
        lambda: looked("own"),
        against="in our own world",
        count=seen,
        unit="observations",
    )


def _steps() -> Comparison:
    ticks = [bytes(rng.below(8) for _ in range(50)) for rng in [Stream("bench", "ticks")] for _ in range(STEPS)]

    def walked(*, looks: bool) -> None:
        world = OwnTerrain(11)  # in which nothing is there yet
        body = world.stand(0, 0)._replace(yaw=-90)
        for tick in ticks:
            body = world.walk(body, tick, ()).body
            if looks:
                description_text(world.view(body), published=True)

    return compare(
        "voxel/find: steps into a part of the world that is made on the way, each with its observation",
        lambda: walked(looks=True),
        lambda: walked(looks=False),
        against="walking blindly",
        count=STEPS,
        unit="steps",
    )


def _chunks() -> Comparison:
    ground, biomes, trees = (np.array(table, dtype=np.int64) for table in number_tables())
    blocks = np.zeros((SIDE, SIDE, HEIGHT), dtype=np.uint8)

    def made() -> None:
        for number in range(CHUNKS):
            write_chunk(7, number * 3, number, ground, biomes, trees, blocks)

    def asked() -> None:
        for number in range(CHUNKS):
            for column in range(SIDE * SIDE):
                x, z = number * 3 * SIDE + column % SIDE, number * SIDE + column // SIDE
                ground_height(7, x, z)
                biome_number(7, x, z)

    return compare(
        "voxel/find: chunks of 16 by 16 by 128 blocks (200 a second are wanted)",
        made,
        asked,
        against="heights and biomes of their columns alone, asked one by one",
        count=CHUNKS,
        unit="chunks",
        rounds=3,
    )


def _peak(blocks: int) -> int:
    code = f"from benchmarks._voxel import walk_far; walk_far({blocks})"
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def walk_far(blocks: int) -> None:
    """Walk so many blocks to the east, and print the greatest size of the process in bytes.

    Args:
        blocks: How far; 0 to see where one stands and no more.
    """
    world, rng = OwnTerrain(21), Stream("bench", "far")
    body = world.stand(0, 0)._replace(yaw=-90)
    description_text(world.view(world.walk(body, bytes(50), ()).body), published=True)
    while body.x < blocks:
        after: Any = world.walk(body, bytes(rng.below(8) for _ in range(50)), ()).body
        stuck = after.x - body.x < 1  # behind what is in the way
        body = world.stand(int(body.x) + 20, int(body.z))._replace(yaw=-90) if stuck else after
        description_text(world.view(body), published=True)
    print(peak_of_this())

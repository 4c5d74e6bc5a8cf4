"""The drawing, read back."""

import re
from typing import Any

import pytest

from tests.drawings import parts, read
from waybench.core import play_to_end, policy
from waybench.envs.voxel import FIND
from waybench.envs.voxel.engines._engines import open_terrain
from waybench.envs.voxel.engines._terrain import BIOMES

draw, draw_frames = FIND.presentation.draw, FIND.presentation.draw_frames
assert draw is not None and draw_frames is not None


def biomes(svg: str) -> list[tuple[str, Any]]:
    """Return the biomes of a map with their paths."""
    return [(path_group[0].text or "", path_group[1]) for path_group in read(svg).iter("g") if len(path_group) == 2]


@pytest.mark.slow
def test_the_way_is_the_one_that_was_gone() -> None:
    for player, rings in (("oracle", 1), ("null", 0)):
        item = FIND.source("draw", 2).item(0)
        options = {"wording": "one_question", "protocol": "sound", "steps": 60}
        turns = play_to_end(FIND, item, policy(player), options).record().turns
        svg = draw(item.instance, turns)
        made = [turn.events["at"] for turn in turns if "at" in turn.events]
        assert len(parts(svg, "voxel-end")) == rings
        (start,) = parts(svg, "tiles-start")
        assert (float(start.get("cx")), float(start.get("cz", start.get("cy")))) == (
            item.instance.x + 0.5,
            item.instance.z + 0.5,
        )
        for line in parts(svg, "tiles-trail"):
            drawn = [(float(x), float(z)) for x, z in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", line.get("d"))]
            assert drawn[1:] == [(round(x, 2), round(z, 2)) for x, _, z in made]


def test_the_map_is_the_world() -> None:
    search = FIND.source("draw", 1).item(1).instance
    world, svg, squares = open_terrain(search.engine, search.seed), draw(search), 0
    for name, path in biomes(svg):
        assert path.get("fill") == BIOMES[name].colour
        for x, z, length, side in re.findall(r"M(-?\d+) (-?\d+)h(\d+)v(\d+)", path.get("d")):
            for column in range(int(x), int(x) + int(length), int(side)):
                assert world.biome(column + int(side) // 2, int(z) + int(side) // 2) == name
                squares += 1
    wide, high = map(int, re.findall(r"Map of (\d+) by (\d+) blocks", svg)[0])
    assert squares * 16 == wide * high


def test_one_line_is_around_the_goal_biomes() -> None:
    item = FIND.source("draw", 2).item(0)
    turns = play_to_end(FIND, item, policy("oracle"), {"wording": "one_question", "steps": 60}).record().turns
    svg = draw(item.instance, turns)
    goal, squares = set[tuple[int, int]](), set[tuple[int, int]]()
    for name, path in biomes(svg):
        for x, z, length, side in re.findall(r"M(-?\d+) (-?\d+)h(\d+)v(\d+)", path.get("d")):
            run = {(column, int(z)) for column in range(int(x), int(x) + int(length), int(side))}
            squares |= run
            goal |= run if name in item.instance.goals else set()
    assert goal and goal < squares
    edges = {
        ((x + step, z), (x + step, z + step)) if right else ((x, z + step), (x + step, z + step))
        for step in (int(side),)
        for x, z in squares
        for right in (True, False)
        if (other := (x + step, z) if right else (x, z + step)) in squares and ((x, z) in goal) != (other in goal)
    }
    (line,) = parts(svg, "voxel-goals")
    drawn = {
        ((int(x), int(z)), (int(x) + int(length), int(z)) if way == "h" else (int(x), int(z) + int(length)))
        for x, z, way, length in re.findall(r"M(-?\d+) (-?\d+)([hv])(\d+)", line.get("d"))
    }
    assert drawn == edges
    assert not any(path.get("stroke") for path in parts(svg, "voxel-biome"))


def test_frames_have_the_map_of_the_whole_way() -> None:
    item = FIND.source("draw", 2).item(0)
    turns = play_to_end(FIND, item, policy("oracle"), {"wording": "one_question", "steps": 60}).record().turns
    made = list(draw_frames(item.instance, turns, range(len(turns) + 1)))
    assert made[-1] == draw(item.instance, turns)
    assert draw(item.instance, turns[:1]) != made[1]  # by itself, a step has a smaller map
    for count, svg in enumerate(made):
        drawn = [len(re.findall("[ML]", line.get("d"))) for line in parts(svg, "tiles-trail")]
        assert drawn == [count + 1] * (count > 0)

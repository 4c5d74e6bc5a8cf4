"""The maze's drawing, read back."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.analysis.episodes import MAZE, detour, item, said
from tests.drawings import drawer
from waybench.core import Episode, play_to_end, policy
from waybench.envs.maze._drawing import turn_legs
from waybench.envs.maze._game import Maze
from waybench.envs.spaces._lattice import DIRECTIONS

draw = drawer("maze/alicia")


def cells_of(path: str, size: int) -> set[int]:
    """Return the cells that the lines of a path of width 1 cover."""
    found: set[int] = set()
    for row in re.findall(r"[^M]+", path):
        start, *moves = re.findall(r"^[\d.]+ [\d.]+|[hm]\d+", row)
        x, y = (int(float(number)) for number in start.split())
        for move in moves:
            found.update(y * size + x + step for step in range(int(move[1:])) if move[0] == "h")
            x += int(move[1:])
    return found


def part(svg: str, name: str) -> list[dict[str, str]]:
    return [
        element.attrib for element in ElementTree.fromstring(svg).iter() if name in element.get("class", "").split()
    ]


def walked(maze: Maze, path: str) -> list[int]:
    """Return the cells along a trail, from the first to the last."""
    start = re.match(r"M(\d+)\.5 (\d+)\.5", path)
    assert start is not None
    cells = [int(start[2]) * maze.size + int(start[1])]
    ways = {"v-": "up", "v": "down", "h-": "left", "h": "right"}
    for way, count in re.findall(r"([vh]-?)(\d+)", path):
        dx, dy = DIRECTIONS[ways[way]]
        for _ in range(int(count)):
            cells.append(cells[-1] + dx + dy * maze.size)
    return cells


@pytest.mark.parametrize("level", [5, 7, 21, 101])
def test_floor_is_the_open_cells(level: int) -> None:
    maze = item(level).instance
    (floor,) = part(draw(maze), "maze-floor")
    assert cells_of(floor["d"], level) == {cell for cell, open_ in enumerate(maze.lattice.cells) if open_}


@pytest.mark.parametrize("player", ["oracle", "random", "heuristic", "noisy-0.3"])
@pytest.mark.parametrize("level", [5, 13])
def test_trail_ends_where_the_episode_ends(player: str, level: int) -> None:
    for number in range(5):
        episode = play_to_end(MAZE, item(level, number), policy(player))
        maze = item(level, number).instance
        drawn = [walked(maze, leg["d"]) for leg in part(draw(maze, episode.turns), "maze-trail")]
        steps = sum(len(cells) - 1 for cells in drawn)
        assert steps == sum(turn.events["moved"] for turn in episode.turns)
        assert all(maze.lattice.cells[cell] for cells in drawn for cell in cells)
        if drawn:
            assert drawn[0][0] == maze.entrance
            assert drawn[-1][-1] == episode.state.at


def test_a_plan_beyond_the_exit_is_drawn_to_the_exit() -> None:
    maze = item(5)
    record = detour(maze, 0)
    reply = record.turns[0].reply.replace("]}", ', {"direction": "up", "cells": 1}]}')
    episode: Episode[Any, Any, Any] = Episode(MAZE, maze)
    episode.step(reply)
    (leg,) = part(draw(maze.instance, episode.turns), "maze-trail")
    assert walked(maze.instance, leg["d"])[-1] == maze.instance.exit


def test_shortest_path_is_one() -> None:
    maze = item(21)
    (path,) = part(draw(maze.instance), "reference")
    cells = walked(maze.instance, path["d"])
    assert (cells[0], cells[-1], len(cells) - 1) == (maze.instance.entrance, maze.instance.exit, maze.proof["minimum"])


def test_illegal_movements_are_marked_where_they_hit() -> None:
    # A maze whose exit is not straight ahead, so that 99 cells down must end at a wall.
    number = next(n for n in range(10) if len(item(5, n).proof["solution"]) > 1)
    maze = item(5, number)
    record = said(
        [
            '{"movements": [{"direction": "up", "cells": 2}]}',  # out of the maze at once
            '{"movements": [{"direction": "down", "cells": 1}, {"direction": "down", "cells": 99}]}',
            "nothing",
        ],
        level=5,
        number=number,
    )
    legs = list(turn_legs(maze.instance, record.turns))
    x = maze.instance.entrance
    below = maze.instance.lattice.count_free_ahead(x + 5, "down")
    assert [(leg.start, leg.moves, leg.to_obstacle) for leg in legs] == [
        (x, (), ("up", 0)),
        (x, (("down", 1),), ("down", below)),
    ]
    hits = part(draw(maze.instance, record.turns), "maze-hit")
    assert len(hits) == 4  # a dotted line and a cross each
    assert hits[1]["d"].startswith(f"M{x}.5 0.1m")
    assert hits[3]["d"].startswith(f"M{x}.5 {1 + below}.9m")


def test_what_is_walked_twice_is_underlaid() -> None:
    maze = item(7)
    assert not part(draw(maze.instance, detour(maze, 0).turns), "maze-again")
    turns = detour(maze, 4).turns  # two steps there and back, always over the same edge, and then the way itself
    (again,) = part(draw(maze.instance, turns), "maze-again")
    cells = walked(maze.instance, again["d"])
    (leg,) = part(draw(maze.instance, turns), "maze-trail")
    assert sorted(cells) == sorted(walked(maze.instance, leg["d"])[:2])


def test_same_walls_are_drawn_once() -> None:
    maze = item(7).instance
    first, again = draw(maze, board_id="b"), draw(maze, board_id="b", reuse=True)
    assert '<g id="b">' in first
    assert '<use href="#b"/>' in again
    assert "maze-floor" not in again

"""Mazes for tests, and a way through them that owes nothing to the code under test."""

import heapq
from typing import Any

import waybench
from waybench.core import Episode, Item, TurnRecord
from waybench.envs.maze._game import Maze

ALICIA = waybench.load("maze/alicia")

# Maze 501 of AliciaBench's description.
ROWS_501 = [
    [0, 0, 0, "X", 0],
    [0, 1, 1, 1, 0],
    [0, 1, 0, 1, 0],
    [0, 1, 1, 1, 0],
    [0, 1, 0, 0, 0],
]
MAZE_501: Item[Maze] = ALICIA.item({"maze": ROWS_501})

# A long corridor from left to right, with a dead end above its middle.
CORRIDOR: Item[Maze] = ALICIA.item(
    {
        "maze": [
            [0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 0, 0],
            [0, 0, 0, 1, 0, 0, 0],
            ["X", 1, 1, 1, 1, 1, 1],
            [0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 0],
        ]
    }
)


def reply(*movements: tuple[str, object]) -> str:
    """Return a reply of movements, written as a model might."""
    listed = ", ".join(f'{{"direction": "{direction}", "cells": {cells}}}' for direction, cells in movements)
    return f'{{"movements": [{listed}]}}'


def after(*replies: str, item: Item[Maze] = MAZE_501, **options: object) -> Episode[Any, Any, Any]:
    """Return an episode after some replies."""
    episode: Episode[Any, Any, Any] = Episode(ALICIA, item, options)
    for text in replies:
        episode.step(text)
    return episode


def metrics(episode: Episode[Any, Any, Any]) -> dict[str, float | None]:
    """Return all metrics of an episode by name."""
    record = episode.record()
    return {metric.name: metric.of(record) for metric in ALICIA.scoring.metrics}


def only_turn(text: str, item: Item[Maze] = MAZE_501) -> TurnRecord:
    """Return the turn that one reply gives."""
    return after(text, item=item).turns[0]


def open_cells(maze: Maze) -> set[tuple[int, int]]:
    """Return (column, row) of the paths, read off the matrix."""
    return {(x, y) for y, row in enumerate(maze.rows()) for x, cell in enumerate(row) if cell != 0}


def border(size: int) -> set[tuple[int, int]]:
    """Return (column, row) of the cells of the border."""
    return {(x, y) for x in range(size) for y in range(size) if {x, y} & {0, size - 1}}


def dijkstra(cells: set[tuple[int, int]], start: tuple[int, int]) -> dict[tuple[int, int], int]:
    """Return the length of the shortest way from a cell to every cell that can be reached."""
    far = {start: 0}
    todo = [(0, start)]
    while todo:
        distance, (x, y) = heapq.heappop(todo)
        for near in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if near in cells and distance + 1 < far.get(near, 10**9):
                far[near] = distance + 1
                heapq.heappush(todo, (far[near], near))
    return far

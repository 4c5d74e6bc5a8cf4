from typing import Any

import click

import waybench
from waybench.core import Episode


def drawn(instance: dict[str, Any], columns: int, *replies: str) -> list[str]:
    environment = waybench.load("maze/alicia")
    episode: Episode[Any, Any, Any] = Episode(environment, environment.item(instance))
    for reply in replies:
        episode.step(reply)
    board = environment.presentation.board
    assert board is not None
    return click.unstyle(board(episode.state, columns)).splitlines()


def test_a_maze(maze_501: dict[str, Any]) -> None:
    assert drawn(maze_501, 80) == [
        "     0 1 2 3 4 ",
        "   0 ██████()██",
        "   1 ██      ██",
        "   2 ██  ██  ██",
        "   3 ██      ██",
        "   4 ██><██████",
    ]
    moved = drawn(maze_501, 80, '{"movements": [{"direction": "down", "cells": 1}]}')
    assert moved[1:3] == ["   0 ██████  ██", "   1 ██    ()██"]


def test_narrow_terminals_get_narrow_cells() -> None:
    instance = waybench.load("maze/alicia").source(level=21).item(0).instance.to_json()
    assert {len(row) for row in drawn(instance, 30)} == {26}
    wide = drawn(instance, 47)
    assert {len(row) for row in wide} == {47}
    assert len(wide) == 22


def test_what_does_not_fit_is_cut_out_around_the_player() -> None:
    item = waybench.load("maze/alicia").source(level=101).item(0)
    picture = drawn(item.instance.to_json(), 45)
    assert max(map(len, picture[:-1])) == 45
    assert sum("@" in row for row in picture) == 1
    assert picture[-1].endswith("rows 0 to 39 of 101 x 101.")


def test_what_is_seen_first_has_colours(maze_501: dict[str, Any]) -> None:
    environment = waybench.load("maze/alicia")
    board = environment.presentation.board
    assert board is not None
    picture = board(Episode(environment, environment.item(maze_501)).state, 80)
    assert click.style("()", fg="bright_yellow", bold=True) in picture
    assert click.style("><", fg="green", bold=True) in picture
    assert click.style("██", dim=True) in picture

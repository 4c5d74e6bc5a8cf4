"""The published prompt of AliciaBench, repeated by a template (shared/papers/aliciabench.txt, maze 501)."""

from pathlib import Path

import waybench
from waybench.core import Episode

PUBLISHED = """\
I need to navigate through a maze, give me directions to help me find the exit.
<Maze map>
{maze}
</Maze map>
The maze is a matrix, where cells represented by "1" are paths and cells represented by "0" are walls. I am the "X" \
symbol.
Each element of the matrix is a row of the maze, ordered from top to bottom.
The maze has only one entrance and one exit. The entrance is located at position {entrance} using a coordinate system \
[x,y], where the cell located in the upper left corner is [0,0].
Help me move towards the exit, considering that:
- I can only move in one direction: horizontal or vertical, but not diagonally
- I can move multiple cells in a single movement
Return a JSON containing information about the movements I should make to reach the exit. The JSON must have the \
following format: {"movements": [{"direction": <direction>, "cells": <cells>}, {"direction": <direction>, "cells": \
<cells>}]}, where
- direction: up, down, right, or left
- cells: number of cells I should move in each movement
Return only the JSON.
"""
LATER = """\
{feedback}
<Maze map>
{maze}
</Maze map>
Give me directions from where I am now to the exit. Return only the JSON, in the same format as before.
"""


def test_the_published_prompt_as_a_template_gives_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "published.toml"
    path.write_text(f"rules = '''\n{PUBLISHED}'''\nobservation = '''\n{LATER}'''\n")
    environment = waybench.load("maze/alicia")
    for level in (5, 9):
        item = environment.source(level=level).item(0)
        mine, own = (Episode(environment, item, {"wording": name}) for name in (f"file:{path}", "matrix"))
        for reply in ("no JSON", '{"movements": [{"direction": "down", "cells": 1}]}'):
            for episode in (mine, own):
                episode.step(reply)
        assert [(m.role, m.text) for m in mine.messages] == [(m.role, m.text) for m in own.messages]
        assert len(own.messages) == 5

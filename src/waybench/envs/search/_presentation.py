"""The six environments for people: titles, legends and drawings."""

from dataclasses import replace

from waybench.core import Presentation
from waybench.envs.search._drawing_number import draw_number
from waybench.envs.search._drawing_walk import draw_breadth, draw_depth
from waybench.envs.search._people import number_board, walk_board

_BASE = "search/guessnum", "search/dfs", "search/bfs"
_EMBODIED = "search/coin", "search/cavedfs", "search/cavebfs"


_FAMILY = Presentation(
    title="Algorithmic search (AQA-Bench)",
    lead=(
        "Binary, depth-first and breadth-first search, each in a plain wording and as a story. The goal metric "
        "measures how close to the goal a player came, the sum of its gaps how fast, and ACC how long it followed the "
        "algorithm. Players that give up early have small sums, so the goal metric comes first."
    ),
    item="case",
    metrics=("err_min", "err_sum", "g_min", "g_sum", "acc"),
    parts={"Base environments": _BASE, "Embodied environments": _EMBODIED},
    modes={
        mode: dict(zip((*_BASE, *_EMBODIED), levels * 2, strict=True))
        for mode, levels in (("EASY mode", (15, 8, 15)), ("HARD mode", (25, 13, 25)))
    },
)
NUMBER_PRESENTATION = replace(
    _FAMILY,
    draw=draw_number,
    board=number_board,
    legend=(
        "The upper line is the whole range, with the possible numbers shaded, the guesses above it and the number "
        "itself below. Each row is a guess: the numbers possible before it are shaded, by distance from the number on "
        "a logarithmic scale. A bold cross is a guess that earlier answers exclude, a thin cross an invalid guess."
    ),
    reference="where the teacher bisects the possible numbers (dashed)",
)
_WALKS = replace(
    _FAMILY,
    board=walk_board,
    legend=(
        "Visited nodes are filled, with the order of their first visits beside them; the last one has a green ring. "
        "Nodes with an edge were shown to the player, pale nodes were not. The path starts at node 0. Orange edges, "
        "rings and numbers mark steps that deviate from the algorithm. A dashed line leads to a node that was named "
        "but not visited, with a cross if the step was not allowed."
    ),
    reference="the algorithm's order of first visits (amber)",
)
DEPTH_PRESENTATION = replace(_WALKS, draw=draw_depth)
BREADTH_PRESENTATION = replace(_WALKS, draw=draw_breadth)

"""What belief probes ask a player of the mazes: where it is."""

from functools import partial
from typing import Any

from waybench.core import Belief, read_numbers

POSITION: Belief[Any] = Belief(  # of any state with a maze and a cell, here and in partly seen mazes
    name="position",
    title="position",
    doc="The player's cell.",
    question="At which position [x,y] am I now? The cell in the upper left corner is [0,0].",
    form="[<x>, <y>]",
    expected=lambda state: list(state.maze.lattice.position(state.at)),
    read=partial(read_numbers, count=2),
)

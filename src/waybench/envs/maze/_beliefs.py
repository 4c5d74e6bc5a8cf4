"""What a player of the mazes can be asked aside: where it is."""

from functools import partial
from typing import Protocol

from waybench.core import Belief, read_numbers
from waybench.envs.maze._instance import Maze


class _Placed(Protocol):
    @property
    def maze(self) -> Maze: ...

    @property
    def at(self) -> int: ...


POSITION: Belief[_Placed] = Belief(
    name="position",
    title="position",
    doc="The player's cell.",
    question="At which position [x,y] am I now? The cell in the upper left corner is [0,0].",
    form="[<x>, <y>]",
    expected=lambda state: list(state.maze.lattice.position(state.at)),
    read=partial(read_numbers, count=2),
)

"""A picture that is a part of a message."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DrawState = Callable[[Any, bool], str]
"""(state, grid) -> SVG of what the messages tell of a state, with a view box from 0 0.

It shows nothing that the text of the same message, with those before it, does not tell. With `grid` it also has lines
between cells and the numbers of rows and columns.
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """What a message tells of a state, as a drawing. It is drawn when it is needed, so records need no pixels.

    Attributes:
        state: The state.
        size: Pixels of the longer side.
        grid: Whether it has lines between cells, and numbers of rows and columns.
        draw: Draws it.
    """

    state: Any
    size: int
    grid: bool
    draw: DrawState

    @property
    def svg(self) -> str:
        """The drawing."""
        return self.draw(self.state, self.grid)

"""A picture that is a part of a message."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Picture:
    """What a message tells of a state, as a drawing. It is drawn when it is needed, so records need no pixels.

    Attributes:
        state: The state.
        size: Pixels of the longer side.
        grid: Whether it has lines between cells, and numbers of rows and columns.
        draw: Draws it.
        texts: The texts that it takes the place of, as pairs of a field's name and its text.
    """

    state: Any
    size: int
    grid: bool
    draw: "DrawPicture"
    texts: tuple[tuple[str, str], ...] = ()

    def text(self, field: str) -> str:
        """Return the text of a field that it takes the place of; "" if the message has none."""
        return dict(self.texts).get(field, "")

    @property
    def svg(self) -> str:
        """The drawing."""
        return self.draw(self)


DrawPicture = Callable[[Picture], str]
"""(picture) -> SVG of what the messages tell of its state, with a view box from 0 0.

It shows nothing that the text of the same message, with those before it, does not tell.
"""

"""A picture that is a part of a message."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_ROOT = re.compile(r'<svg [^>]*viewBox="0 0 ([0-9.]+) ([0-9.]+)"[^>]*>')


@dataclass(frozen=True, slots=True)
class Picture:
    """The drawing of a state as a message describes it. It is drawn when it is needed, so records need no pixels.

    Attributes:
        size: Pixels of the longer side.
        grid: Whether it has lines between cells, and numbers of rows and columns.
        texts: The texts that it takes the place of, as pairs of a field's name and its text.
    """

    state: Any
    size: int
    grid: bool
    draw: "DrawPicture"
    texts: tuple[tuple[str, str], ...] = ()

    def replaced_text(self, field: str) -> str:
        """Return the text of a field that the picture replaces; "" if the message has none."""
        return dict(self.texts).get(field, "")

    @property
    def svg(self) -> str:
        """The drawing as an SVG element."""
        return self.draw(self)


DrawPicture = Callable[[Picture], str]
"""(picture) -> SVG of what the messages tell of its state, with a view box from 0 0.

It shows nothing that the text of the same message, with those before it, does not tell.
"""


def standalone_svg_document(svg: str, size: int) -> str:
    """Return a drawing as an SVG document on white, `size` pixels on its longer side.

    Raises:
        ValueError: If it is not drawn with a view box from 0 0.
    """
    root = _ROOT.match(svg)
    if root is None:
        raise ValueError("a drawing begins with <svg ...> and a view box from 0 0")
    width, height = float(root[1]), float(root[2])
    scale = size / max(width, height)
    across, down = max(round(width * scale), 1), max(round(height * scale), 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif">'
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>{svg[root.end() :]}'
    )

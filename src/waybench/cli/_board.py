"""Pictures of states for people. Players that are models never see them."""

from collections.abc import Callable
from typing import Any

import click

_MARGIN = 5  # characters for the row numbers


def board(state: Any, columns: int) -> str | None:
    """Draw a state.

    Args:
        state: The state of a game.
        columns: Width of the terminal, in characters.

    Returns:
        Lines with colours, which `click.echo` leaves out where there are none; None if no picture is known for states
        of this type.
    """
    painter = _PAINTERS.get(type(state).__name__)
    return None if painter is None else painter(state, columns)


def _maze(state: Any, columns: int) -> str:
    """Draw a maze with its coordinates; one that is too wide is cut out around the player."""
    maze, size = state.maze, int(state.maze.size)
    room = max(columns - _MARGIN, 10)
    scale = 2 if 2 * size <= room else 1  # two characters make a square
    shown = min(size, room // scale)
    left, top = (min(max(at - shown // 2, 0), size - shown) for at in maze.lattice.position(state.at))
    signs = {"wall": click.style("█" * scale, dim=True), "path": " " * scale}
    signs["exit"] = click.style("><"[:scale], fg="green", bold=True)
    signs["player"] = click.style("()" if scale == 2 else "@", fg="bright_yellow", bold=True)

    def sign(x: int, y: int) -> str:
        cell = y * size + x
        if cell == state.at:
            return signs["player"]
        if cell == maze.exit:
            return signs["exit"]
        return signs["path" if maze.lattice.cells[cell] else "wall"]

    ruler = "".join(f"{x % 10:<{scale}}" for x in range(left, left + shown))
    lines = [" " * _MARGIN + click.style(ruler, dim=True)]
    for y in range(top, top + shown):
        lines.append(
            click.style(f"{y:>{_MARGIN - 1}} ", dim=True) + "".join(sign(x, y) for x in range(left, left + shown))
        )
    if shown < size:
        lines.append(f"Columns {left} to {left + shown - 1} and rows {top} to {top + shown - 1} of {size} x {size}.")
    return "\n".join(lines)


# By the name of the state's type, so that no environment is loaded but the one that is played.
_PAINTERS: dict[str, Callable[[Any, int], str]] = {"MazeState": _maze}

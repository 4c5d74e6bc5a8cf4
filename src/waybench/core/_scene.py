"""What a drawing shows, and its form as SVG, as the frames of a replay and as a picture in messages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from waybench.core._record import TurnRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """An episode so far, or a state, as it is drawn.

    No text of a reply may get into it, since replies may be hostile.

    Attributes:
        classes: CSS classes of the drawing.
        label: A description, for those who cannot see the drawing.
        width: Its width in units of its own.
        height: Its height.
        corner: x and y of its upper left corner.
        below: Shapes below the board, as SVG.
        board: Shapes that all scenes of an instance share, such as its map. A page that shows many attempts at one
            instance holds them once.
        parts: Shapes above the board.
        sized: Whether a unit is a pixel wherever a page does not say otherwise.
    """

    classes: str
    label: str
    width: float
    height: float
    corner: tuple[float, float] = (0, 0)
    below: Iterable[str] = ()
    board: Iterable[str] = ()
    parts: Iterable[str] = ()
    sized: bool = False

    def svg(self, *, board_id: str = "", reuse: bool = False) -> str:
        """Return the drawing, an `<svg>` element.

        Args:
            board_id: An id in the page for the board.
            reuse: Whether the page has a board with this id already, which is shown again.
        """
        board = "".join(self.board)
        if board and reuse:
            board = f'<use href="#{board_id}"/>'
        elif board:
            identity = f' id="{board_id}"' if board_id else ""
            board = f"<g{identity}>{board}</g>"
        size = f' width="{self.width:g}" height="{self.height:g}"' if self.sized else ""
        x, y = self.corner
        return (
            f'<svg class="{self.classes}"{size} viewBox="{x} {y} {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{escape(self.label)}" font-family="sans-serif">{"".join(self.below)}{board}'
            f"{''.join(self.parts)}</svg>"
        )


MakeScene = Callable[[Any, Sequence[TurnRecord]], Scene]
"""(instance, turns) -> the scene after these turns, which a simulation has confirmed."""

MakeScenes = Callable[[Any, Sequence[TurnRecord], Sequence[int]], Iterable[Scene]]
"""(instance, turns, counts) -> the scene after each number of turns in `counts`, which rise.

It receives all turns, so that it simulates them once and draws everything to one scale.
"""


def prefix_scenes(scene: MakeScene) -> MakeScenes:
    """Return what makes each scene of an episode from the turns so far."""
    return lambda instance, turns, counts: (scene(instance, turns[:count]) for count in counts)


def draw_last(
    scenes: MakeScenes, instance: Any, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False
) -> str:
    """Return the drawing of an episode after all its turns; see `Scene.svg`."""
    (scene,) = scenes(instance, turns, [len(turns)])
    return scene.svg(board_id=board_id, reuse=reuse)


def draw_all(scenes: MakeScenes, instance: Any, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[str]:
    """Return the drawings of an episode after each number of turns."""
    return (scene.svg() for scene in scenes(instance, turns, counts))

"""Scenes: the content of drawings, which become SVG, the frames of a replay, or pictures in messages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar

from waybench.core._board import Board
from waybench.core._game import Game, Outcome, Stream
from waybench.core._picture import Picture
from waybench.core._record import TurnRecord

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scene:
    """An episode so far, or a state, as it is drawn.

    No text of a reply may get into it, since replies may be hostile.

    Attributes:
        classes: CSS classes of the drawing.
        label: A description, for those who cannot see the drawing.
        size: Its width and height in units of its own.
        parts: Shapes, as SVG.
        board: Shapes below the parts that all scenes of an instance share, such as its map. A page that shows many
            attempts at one instance holds them once.
        below: Shapes below the board.
        corner: x and y of the upper left corner.
        in_pixels: Whether a unit is a pixel wherever a page does not say otherwise.
    """

    classes: str
    label: str
    size: tuple[float, float]
    parts: Iterable[str]
    board: Iterable[str] = ()
    below: Iterable[str] = ()
    corner: tuple[int, int] = (0, 0)
    in_pixels: bool = False

    def svg(self, *, board_id: str = "", reuse: bool = False) -> str:
        """Return the drawing as an `<svg>` element.

        With `reuse`, the page has a board with the id `board_id` already, which is shown again.
        """
        (width, height), (x, y), board = self.size, self.corner, "".join(self.board)
        if board and reuse:
            board = f'<use href="#{board_id}"/>'
        elif board:
            identity = f' id="{board_id}"' if board_id else ""
            board = f"<g{identity}>{board}</g>"
        pixels = f' width="{width:g}" height="{height:g}"' if self.in_pixels else ""
        return (
            f'<svg class="{self.classes}"{pixels} viewBox="{x} {y} {width:g} {height:g}" role="img" '
            f'aria-label="{escape(self.label)}" font-family="sans-serif">{"".join(self.below)}{board}'
            f"{''.join(self.parts)}</svg>"
        )


MakeScene = Callable[[Any, Sequence[TurnRecord]], Scene]
"""(instance, turns) -> the scene after these turns, which a simulation has confirmed."""

MakeScenes = Callable[[Any, Sequence[TurnRecord], Sequence[int]], Iterable[Scene]]
"""(instance, turns, counts) -> the scene after each number of turns in `counts`, which rise.

It receives all turns, so that it simulates them once and draws everything to one scale.
"""


def make_after_each_count(
    make: Callable[[Any, Sequence[TurnRecord]], T],
) -> Callable[[Any, Sequence[TurnRecord], Sequence[int]], Iterator[T]]:
    """Return the function (instance, turns, counts) that calls `make` on the first turns, for each count."""
    return lambda instance, turns, counts: (make(instance, turns[:count]) for count in counts)


def draw_last_scene(
    scenes: MakeScenes, instance: Any, turns: Sequence[TurnRecord] = (), *, board_id: str = "", reuse: bool = False
) -> str:
    """Return the SVG of an episode after all its turns; see `Scene.svg`."""
    (scene,) = scenes(instance, turns, [len(turns)])
    return scene.svg(board_id=board_id, reuse=reuse)


def draw_scenes(scenes: MakeScenes, instance: Any, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[str]:
    """Return the SVG of an episode after each number of turns in `counts`."""
    return (scene.svg() for scene in scenes(instance, turns, counts))


def board_scene(board: Board, label: str) -> Scene:
    """Return the scene of a board, with a square for each cell and without its notes."""
    squares: dict[str, str] = {}
    texts: list[str] = []
    for y, row in enumerate(board.rows):
        for x, tile in enumerate(row):
            if tile.colour:
                squares[tile.colour] = f"{squares.get(tile.colour, '')}M{x} {y}h1v1h-1z"
            if tile.text:
                texts.append(f'<text x="{x}.5" y="{y}.75">{escape(tile.text)}</text>')
    shapes = [f'<path fill="{colour}" d="{data}"/>' for colour, data in squares.items()]
    letters = f'<g fill="currentColor" font-size="0.7" text-anchor="middle">{"".join(texts)}</g>' if texts else ""
    width = max(map(len, board.rows), default=1)
    return Scene("board", label, (width, max(len(board.rows), 1)), [*shapes, letters])


def states_after_turn_counts(
    game: Game[Any, Any, Any], instance: Any, turns: Sequence[TurnRecord], counts: Sequence[int]
) -> Iterator[Any]:
    """Yield the state of a game without chance after each number of turns in `counts`, which rise."""
    state, played = game.start(instance), 0
    for count in counts:
        for turn in turns[played:count]:
            if turn.carried_out is None:
                state = game.forfeit(state)
            elif turn.outcome is not Outcome.ILLEGAL:
                state = game.apply(state, game.decode(turn.carried_out), Stream("scenes")).state
        played = count
        yield state


def board_scenes_maker(
    game: Game[Any, Any, Any], board: Callable[[Any, Sequence[TurnRecord]], Board], label: str
) -> MakeScenes:
    """Return a function that makes the scenes of a game without chance from the boards of its states.

    The game is the same with all options of play. `board` is (state, turns so far) -> what a person sees of the state.
    """

    def make_scenes(instance: Any, turns: Sequence[TurnRecord], counts: Sequence[int]) -> Iterator[Scene]:
        for count, state in zip(counts, states_after_turn_counts(game, instance, turns, counts), strict=True):
            yield board_scene(board(state, turns[:count]), label)

    return make_scenes


def board_picture_drawer(board: Callable[[Any, Sequence[TurnRecord]], Board], label: str) -> Callable[[Picture], str]:
    """Return a function that draws a state for models (`Images.draw`) from its board; see `board_scenes_maker`.

    The board shows nothing that the messages do not tell.
    """
    return lambda picture: board_scene(board(picture.state, ()), label).svg()

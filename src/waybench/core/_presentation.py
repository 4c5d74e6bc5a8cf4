"""How an environment is described, tabulated and drawn for people."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any, NamedTuple, TypeVar

from waybench.core._game import Game, Outcome, Stream
from waybench.core._record import TurnRecord
from waybench.core._wording import Picture


class Tile(NamedTuple):
    """A cell of a board.

    Attributes:
        text: A few characters in it.
        colour: Its colour as "#rrggbb"; "" for the colour of the page.
        narrow: Its text where a cell has room for one character; by default the first of `text`.
    """

    text: str = ""
    colour: str = ""
    narrow: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A state as a person sees it, in a terminal or in a browser.

    It shows no solution and nothing that is hidden from the player. It can be more exact than the messages: a position
    where they give a distance and a direction.

    Attributes:
        rows: The cells, row by row.
        at: (row, column) of the player. A window that is too small for the board shows the part around it.
        numbered: Whether rows and columns have numbers, from 0.
        width: Characters of a cell in a terminal.
        notes: Lines below the board.
    """

    rows: Sequence[Sequence[Tile]] = ()
    at: tuple[int, int] | None = None
    numbered: bool = False
    width: int = 2
    notes: Sequence[str] = ()


def board_text(board: Board) -> str:
    """Return a board as text without colours: one character a cell, or `width` characters where cells hold words."""
    width = board.width if board.width > 2 else 1  # two characters make a cell square, where colours fill it
    rows = ("".join(padded_cell_text(tile, width) for tile in row).rstrip() for row in board.rows)
    return "\n".join([*rows, *board.notes])


def padded_cell_text(tile: Tile, width: int) -> str:
    """Return a cell's text, cut or padded to `width` characters."""
    text = (tile.narrow or tile.text[:1]) if width == 1 else tile.text
    return text[:width].ljust(width)


class TypedAction(NamedTuple):
    """An action that a person can choose from a list or by a key.

    Attributes:
        typed: What is typed for it, which `Typing.parse` or the wording reads.
        label: What it is called; "" if `typed` is its name.
        key: The key for it: "up", "down", "left", "right", "space" or one character; "" for none.
        is_reply: Whether it is a whole reply. Otherwise it is a part of a reply: several parts, with commas between
            them, are sent together.
    """

    typed: str
    label: str = ""
    key: str = ""
    is_reply: bool = True

    @property
    def name(self) -> str:
        """The label, or the text that is typed if there is no label."""
        return self.label or self.typed


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scene:
    """An episode so far, or a state, as it is drawn.

    Its shapes and its label contain no text of a reply, since replies may be hostile.

    Attributes:
        classes: CSS classes of the drawing.
        label: A description, for those who cannot see the drawing.
        size: Width and height of the view box.
        parts: Shapes, as SVG.
        board: Shapes beneath the parts that all scenes of an instance share, such as its map. A page that shows many
            attempts at one instance contains these shapes once.
        below: Shapes beneath the board.
        corner: x and y of the upper left corner.
        in_pixels: Whether the drawing declares a width and height in pixels, one for each unit.
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

        With `reuse`, the drawing refers to the board that the page already contains with the id `board_id`.
        """
        (width, height), (x, y), board = self.size, self.corner, "".join(self.board)
        if board and reuse:
            board = f'<use href="#{board_id}"/>'
        elif board:
            id_attribute = f' id="{board_id}"' if board_id else ""
            board = f"<g{id_attribute}>{board}</g>"
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
    squares: dict[str, str] = {}  # colour -> the path of all squares with it
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
    state, n_played = game.start(instance), 0
    for count in counts:
        for turn in turns[n_played:count]:
            if turn.carried_out is None:  # the reply was not understood
                state = game.forfeit(state)
            elif turn.outcome is not Outcome.ILLEGAL:
                state = game.apply(state, game.decode(turn.carried_out), Stream("scenes")).state
        n_played = count
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


Draw = Callable[..., str]
"""(instance, turns, *, board_id, reuse) -> SVG.

A page that shows many attempts at one instance draws its board once: the first drawing has it with the id `board_id`,
and the others refer to it (`reuse`). A drawing that has no such part ignores both. No text of a reply may get into a
drawing, since replies may be hostile.
"""

DrawFrames = Callable[[Any, Sequence[TurnRecord], Sequence[int]], Iterator[str]]
"""(instance, turns, counts) -> an SVG after each number of turns in `counts`, which rise.

It receives all turns, so that it simulates them once and draws everything to one scale. No text of a reply may get
into a drawing.
"""


class _DerivedDrawing(partial[Any]):
    """A `draw` or `draw_frames` that `Presentation` has made from its scenes or from `draw`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """An environment's words and drawings for reports and terminals.

    Everything has a default, so an environment declares what it wants to improve. Environments of one family (the part
    of the id before the slash) usually share one presentation; then reports show them together under its title.

    Attributes:
        title: The family's heading in reports; the environment's own title if empty.
        family: The family's name in summaries, where other environments have the same first part of the id; by default
            that part.
        lead: One or two sentences on what the family measures, below the heading.
        level: What a level is called.
        levels: Its plural; by default `level` with an "s".
        item: What an item is called.
        items: Its plural; by default `item` with an "s".
        cluster: What several items belong to, such as a map with many questions; "" if items are independent.
        clusters: Its plural; by default `cluster` with an "s".
        metrics: Names of the metrics and aggregates in the family's table, the headline metric first; each environment
            shows those that it has. Without any there is no such table.
        parts: Title of a table -> ids of the environments that stand side by side in it. Environments in no part
            share a table of their own.
        modes: Name of a mode -> environment id -> level, for levels of different environments that belong together.
            All other levels are matched by number.
        legend: What a drawing shows, in a few sentences.
        reference: What a drawing shows in addition to the player's actions, in shapes of the CSS class "reference": the
            label of a switch that hides them. "" if nothing.
        scene: Makes the `Scene` of an episode so far; None if there is no drawing, or `scenes` makes it.
        scenes: Makes the scenes of a replay, each of the same size. None if `scene` makes each of them from the turns
            so far.
        draw: Draws an episode (see `Draw`). It draws the scene if there is one.
        draw_frames: Draws the frames of a replay (see `DrawFrames`). By default it draws the scenes, or what `draw`
            draws of the turns so far, which must always have the same view box.
        draw_cluster: (instance) -> SVG, with a size, of the instance's whole cluster, such as its map, for the
            cluster's page; None if clusters are not drawn.
        cluster_legend: What the drawing of a cluster shows, in a few sentences.
        board: (state, turns so far) -> what a person who plays sees of the state (see `Board`).
        pairs: Title of a table that compares models in pairs -> names of the metrics below and above its diagonal.
        panels: Title of a chart -> names of the metrics that are its panels, such as success at easy and at hard
            questions. The chart has a bar for each player. If items belong to clusters, there are further charts of one
            model against another, with a point for each cluster.
        by_cluster: Names of the metrics that a page of results shows for each cluster.
        shared: Name of the metric that measures how much of a prompt is a prefix of other prompts, too; "" without one.
        undefined: Why a value may be undefined although nothing went wrong, in one sentence.
    """

    title: str = ""
    family: str = ""
    lead: str = ""
    level: str = "level"
    levels: str = ""
    item: str = "item"
    items: str = ""
    cluster: str = ""
    clusters: str = ""
    metrics: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    modes: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    legend: str = ""
    reference: str = ""
    scene: MakeScene | None = None
    scenes: MakeScenes | None = None
    draw: Draw | None = None
    draw_frames: DrawFrames | None = None
    draw_cluster: Callable[[Any], str] | None = None
    cluster_legend: str = ""
    board: Callable[[Any, Sequence[TurnRecord]], Board] | None = None
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    by_cluster: tuple[str, ...] = ()
    shared: str = ""
    undefined: str = ""

    def __post_init__(self) -> None:
        """Fill in plurals, and the functions that draw scenes where they are not given."""
        # A copy (`dataclasses.replace`) derives its drawings again: they follow from its own scenes.
        draw = None if isinstance(self.draw, _DerivedDrawing) else self.draw
        draw_frames = None if isinstance(self.draw_frames, _DerivedDrawing) else self.draw_frames
        make_scenes = self.scenes if self.scene is None else make_after_each_count(self.scene)
        if draw_frames is None:
            if draw is not None:
                draw_frames = _DerivedDrawing(make_after_each_count(draw))
            elif make_scenes is not None:
                draw_frames = _DerivedDrawing(draw_scenes, self.scenes or make_scenes)
        if draw is None and make_scenes is not None:
            draw = _DerivedDrawing(draw_last_scene, make_scenes)
        object.__setattr__(self, "draw", draw)
        object.__setattr__(self, "draw_frames", draw_frames)
        for noun in ("level", "item", "cluster"):
            singular, plural_noun = getattr(self, noun), getattr(self, f"{noun}s")
            if singular and not plural_noun:
                object.__setattr__(self, f"{noun}s", f"{singular}s")

    @property
    def sampling_units(self) -> str:
        """The plural of the independently drawn units: clusters if there are any, otherwise items."""
        return self.clusters or self.items

    def level_title(self, env_id: str, level: int | None) -> str:
        """Return the title of an environment's level in tables; of all levels for None."""
        if level is None:
            return f"all {self.items}"
        mode_names = (name for name, levels in self.modes.items() if levels.get(env_id) == level)
        return next(mode_names, f"{self.level.capitalize()} {level}")

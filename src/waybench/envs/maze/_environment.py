"""AliciaBench's mazes as an environment: mazes by key, options, and the catalogue's value."""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from itertools import combinations, product
from statistics import fmean
from typing import Any

from waybench._package_data import read_text
from waybench.core import (
    EASIER,
    Contrast,
    Difficulty,
    Environment,
    HorizonSpec,
    Images,
    Item,
    Items,
    Json,
    Limits,
    Option,
    Play,
    Players,
    Playing,
    Presentation,
    Scoring,
    Source,
    Stream,
    Typing,
    UsageError,
    level_axis,
)
from waybench.envs.maze import _game
from waybench.envs.maze._drawing import board, draw_picture, scene, typed_actions
from waybench.envs.maze._game import (
    LARGEST,
    PLAYERS,
    POTENTIALS,
    SMALLEST,
    Maze,
    MazeGame,
    MazeState,
    MovePlan,
    decode,
    double_lines,
    isomorph,
    noisy_success,
    prove,
    reasoning,
)
from waybench.envs.maze._measures import (
    FAILURES,
    FIRST_ERRORS,
    JUNCTIONS,
    METRICS,
    MINIMUM,
    POSITION,
    VARIABLES,
    failure,
    is_competent,
)
from waybench.envs.maze._texts import TEXTS
from waybench.envs.maze._wording import REPRESENTATIONS, TYPED_HELP, MazeWording, format_typed, parse_typed, plan_route
from waybench.envs.spaces import TREES, spanning_tree
from waybench.envs.spaces._lattice import Lattice

GENERATOR = 1  # raised whenever the same key would give other mazes
PER_DIMENSION = 10
SIDES = ("top", "bottom", "left", "right")
PAIRS = tuple(f"{a}-{b}" for a in SIDES for b in SIDES if a != b)

_ENUMERATED = 7  # up to this dimension a level's mazes can be listed, and a set is a shuffle of the list
_DEALT = 64  # beyond it, this many items in a row (or as many as there are) have different openings

STYLE_OPTIONS = (
    Option(
        name="loops",
        effect=EASIER,
        default=0.05,
        low=0,
        high=1,
        doc="Share of the spanning tree's walls that are opened; above 0, at least one is. If fewer than ten mazes "
        "have that many loops, as at dimension 5 between two given sides, any number of loops is possible, even 0.",
    ),
    Option(
        name="algorithm",
        default="backtracker",
        choices=tuple(sorted(TREES)),
        doc="Algorithm that draws the spanning tree; it affects the difficulty (see the table in the documentation).",
    ),
    Option(
        name="sides",
        default="top-bottom",
        choices=("any", *PAIRS),
        doc='Sides of entrance and exit; "any": two different ones, drawn for each maze. From top to bottom there are '
        "20 mazes at dimension 5 and 1476 at dimension 7 (with the default loops), so the sets of two keys overlap.",
    ),
)

OPTIONS = (
    *STYLE_OPTIONS,
    Option(
        name="aspect",
        default=1.0,
        low=0.1,
        high=10,
        doc="Width of the matrix divided by its height: 1 is a square, 2 twice as wide as high, 0.5 twice as high as "
        f"wide. The dimension is the longer side; the shorter one has at least {SMALLEST} cells.",
    ),
)

_KERNEL = "waybench.envs.maze._kernel"
_COMPILED_FROM = 4_000_000  # cells drawn in a process, which took longer than it takes to load the kernel
_drawn = Counter[str]()

Passages = tuple[tuple[int, int], ...]
Shape = tuple[int, int]
"""Number of rows and of columns."""


class MazeSource(Source[Maze]):
    """Mazes of one key, dimension and style.

    Rooms lie at odd rows and columns; a spanning tree joins them, some more walls are opened, and one opening in each
    of two sides is entrance and exit. Where a side is even, one of the lines between rooms is there twice. The first
    ten mazes of a level differ from each other for certain: up to dimension 7 a set is a shuffle of all mazes of its
    level, beyond it no two of the first ten have the same openings (nor of the first 16, 25, 36, ... up to 64, as many
    as the rooms allow). Where a level holds fewer than ten mazes with the requested loops (dimension 5, top to bottom:
    4), any number of loops is used (20 mazes), and where a level holds fewer mazes than requested, they repeat from the
    start.

    Raises:
        UsageError: If the dimension is out of range.
    """

    def __init__(self, key: str, size: int, options: Mapping[str, Json]) -> None:
        if not SMALLEST <= size <= LARGEST:
            raise UsageError(f"level {size}: a maze's dimension is from {SMALLEST} to {LARGEST}")
        self.key, self.size = key, size
        aspect: float = options.get("aspect", 1.0)
        shorter = max(SMALLEST, round(size * min(aspect, 1 / aspect)))
        rows, columns = (shorter, size) if aspect > 1 else (size, shorter)
        # The odd shape that is drawn; an even side has one line more.
        self._shape: Shape = (rows - 1 + rows % 2, columns - 1 + columns % 2)
        self._is_even = rows % 2 == 0, columns % 2 == 0
        self._loops: float = options["loops"]
        self._algorithm: str = options["algorithm"]
        self._sides: str = options["sides"]
        self._style = f"{self._loops:g} {self._algorithm} {self._sides}{f' {aspect:g}' if aspect != 1 else ''}"
        self._items = Stream(*self._stream_key("item"))
        # The rows, and the columns, one of which is there twice; 0 alone where the side is odd.
        self._lines = [
            range(2, side - 1, 2) if even else (0,) for side, even in zip(self._shape, self._is_even, strict=True)
        ]
        self._dealt = min(_count_opening_pairs(self._shape, self._sides), _DEALT)
        self._opened = _count_loops(self._loops, (self._shape[0] // 2 - 1) * (self._shape[1] // 2 - 1))

    @property
    def space(self) -> int | None:
        """The number of different mazes of this level; None where they cannot be listed (dimension 9 and up)."""
        return len(self._enumerated_mazes) * len(self._line_pairs) if self._is_enumerated else None

    def item(self, index: int) -> Item[Maze]:
        """Return a maze with its proof; ids are the dimension and the number from 01: 501, 502, ..."""
        kernel = None if self._is_enumerated else _kernel_if_worthwhile(self._shape)
        maze = self._draw_maze(index, kernel)
        number = f"{self.size}{index + 1:02d}" if index < 99 else f"{self.size}-{index + 1}"
        return Item(maze, number, self.size, self.key, index, (kernel or _game).prove(maze))

    def _stream_key(self, *names: str | int) -> tuple[str | int, ...]:
        """Return the key of one of this level's random streams."""
        return "maze", GENERATOR, self.key, self.size, self._style, *names

    def _draw_maze(self, index: int, kernel: Any) -> Maze:
        """Draw the maze of an index, in compiled code if the kernel module is given."""
        shape, rng = self._shape, self._items.child(index)
        if self._is_enumerated:
            space = len(self._enumerated_mazes) * len(self._line_pairs)
            card = _shuffled_numbers(self._stream_key("order"), space, space)[index % space]
            return double_lines(
                build_maze(shape, *self._enumerated_mazes[card // len(self._line_pairs)]),
                *self._line_pairs[card % len(self._line_pairs)],
            )
        # Entrance and exit are dealt from a shuffled pack, so that items differ even where all walls are opened.
        number, card = divmod(index, self._dealt)
        ends = _shuffled_opening_pairs(self._stream_key("openings", number), shape, self._sides)[card]
        if kernel is not None:
            return double_lines(*kernel.draw_maze(rng, shape, self._algorithm, self._opened, ends, self._lines))
        tree, walls = spanning_tree(shape[1] // 2, shape[0] // 2, self._algorithm, rng)
        rng.shuffle(walls)
        maze = build_maze(shape, (*tree, *walls[: self._opened]), *ends)
        return double_lines(maze, *(rng.choice(lines) for lines in self._lines)) if any(self._is_even) else maze

    @property
    def _is_enumerated(self) -> bool:
        """Whether all mazes of this level can be listed."""
        return max(self._shape) <= _ENUMERATED

    @property
    def _enumerated_mazes(self) -> list[tuple[Passages, int, int]]:
        """All mazes of this level as (passages, entrance, exit), before lines are doubled."""
        return _enumerate_mazes(self._shape, self._loops, self._sides)

    @property
    def _line_pairs(self) -> list[tuple[int, ...]]:
        """All (row, column) that can be doubled, 0 for none."""
        return list(product(*self._lines))


def _kernel_if_worthwhile(shape: Shape) -> Any:
    """Count the cells to draw; return the compiled kernel once it is imported or worth loading, else None."""
    _drawn["cells"] += shape[0] * shape[1]
    return import_module(_KERNEL) if _drawn["cells"] > _COMPILED_FROM or _KERNEL in sys.modules else None


def _count_rooms_along(shape: Shape, side: str) -> int:
    return shape[1 if side in ("top", "bottom") else 0] // 2


def _count_opening_pairs(shape: Shape, sides: str) -> int:
    """Return the number of different pairs of an entrance and an exit."""
    pairs = (pair.split("-") for pair in (PAIRS if sides == "any" else (sides,)))
    return sum(_count_rooms_along(shape, a) * _count_rooms_along(shape, b) for a, b in pairs)


def _opening_pair(shape: Shape, sides: str, number: int) -> tuple[int, int]:
    """Return the cell numbers of entrance and exit of the pair with a number, counted from 0."""
    for pair in PAIRS if sides == "any" else (sides,):
        count = _count_opening_pairs(shape, pair)
        if number < count:
            a, b = pair.split("-")
            i, j = divmod(number, _count_rooms_along(shape, b))
            return opening_cell(shape, a, i), opening_cell(shape, b, j)
        number -= count
    raise ValueError(f"there are no openings {number}")


@lru_cache(maxsize=32)  # the items of a set follow one another
def _shuffled_opening_pairs(stream_key: tuple[str | int, ...], shape: Shape, sides: str) -> list[tuple[int, int]]:
    """Return the first pairs of entrance and exit in random order, at most `_DEALT`."""
    pack = _count_opening_pairs(shape, sides)
    return [_opening_pair(shape, sides, card) for card in _shuffled_numbers(stream_key, pack, min(pack, _DEALT))]


@lru_cache(maxsize=32)  # the items of a set follow one another
def _shuffled_numbers(stream_key: tuple[str | int, ...], size: int, count: int) -> list[int]:
    """Return the first `count` of the numbers 0 to `size` - 1 in a random order."""
    return Stream(*stream_key).distinct(size, count)


def _count_loops(share: float, walls: int) -> int:
    """Return how many walls a share of them is, at least 1 if the share is above 0."""
    return max(1, round(share * walls)) if share > 0 else 0


def opening_cell(shape: Shape, side: str, room: int) -> int:
    """Return the cell number of the opening beside the n-th room of a side, counted from 0."""
    (rows, columns), along = shape, 2 * room + 1
    if side in ("top", "bottom"):
        return along if side == "top" else columns * (rows - 1) + along
    return columns * along if side == "left" else columns * along + columns - 1


def build_maze(shape: Shape, passages: Passages, entrance: int, exit_: int) -> Maze:
    """Return the maze of a shape with these passages (pairs of room numbers) and openings (cell numbers)."""
    closed, rooms = _closed_rooms(shape)
    cells = bytearray(closed)
    for a, b in passages:
        cells[(rooms[a] + rooms[b]) // 2] = 1
    cells[entrance] = cells[exit_] = 1
    return Maze(Lattice(shape[1], shape[0], bytes(cells)), entrance, exit_)


@lru_cache(maxsize=4)  # the items of a set follow one another
def _closed_rooms(shape: Shape) -> tuple[bytes, list[int]]:
    """Return the cells of a maze without passages, and the cell numbers of its rooms."""
    rows, columns = shape
    rooms = [y * columns + x for y in range(1, rows, 2) for x in range(1, columns, 2)]
    return bytes(y & x & 1 for y in range(rows) for x in range(columns)), rooms


@lru_cache(maxsize=32)
def _enumerate_mazes(shape: Shape, loops: float, sides: str) -> list[tuple[Passages, int, int]]:
    """Return all mazes of a shape and style as (passages, entrance, exit)."""
    rows, columns = shape[0] // 2, shape[1] // 2
    rooms, passages = rows * columns, neighbouring_rooms(rows, columns)
    walls = len(passages) - (rooms - 1)  # that are left by a spanning tree
    openings = [_opening_pair(shape, sides, card) for card in range(_count_opening_pairs(shape, sides))]

    def passage_sets(opened: int) -> list[Passages]:
        """Return all sets of passages that connect the rooms with this number of loops."""
        return [chosen for chosen in combinations(passages, rooms - 1 + opened) if connects_all_rooms(chosen, rooms)]

    all_shapes = passage_sets(_count_loops(loops, walls))
    if len(all_shapes) * len(openings) < PER_DIMENSION:
        all_shapes = [shape for opened in range(walls + 1) for shape in passage_sets(opened)]
    return [(shape, *ends) for shape in all_shapes for ends in openings]


def neighbouring_rooms(rows: int, columns: int) -> list[tuple[int, int]]:
    """Return all pairs of neighbouring rooms, numbered row by row, in order."""
    tree, walls = spanning_tree(columns, rows, "kruskal", Stream("any tree"))
    return sorted(tree + walls)


def connects_all_rooms(passages: Passages, n_rooms: int) -> bool:
    """Return whether passages connect all of `n_rooms` rooms."""
    piece = list(range(n_rooms))
    for a, b in passages:
        if piece[a] != piece[b]:
            piece = [piece[a] if p == piece[b] else p for p in piece]
    return len(set(piece)) == 1


PLAY_OPTIONS = (
    Option(
        name="protocol",
        default="paper",
        choices=("paper", "sound"),
        doc='"paper": the prompt as published; "sound": the prompt also says where the exit is, which the description '
        "treats as known and the published prompt omits.",
    ),
    Option(
        name="wording",
        default="matrix",
        choices=tuple(REPRESENTATIONS),
        doc="Presentation of the maze: the published matrix, a drawing, a list of coordinates, or prose.",
    ),
    Option(
        name="exit_hint",
        effect=EASIER,
        default=None,
        kind=bool,
        doc="Whether the prompt says where the exit is; by default the protocol decides.",
    ),
    Option(
        name="frame",
        default="map",
        choices=("map", "body"),
        doc="What the directions of movements refer to. map: the map as it is written (up, down, left, right), as "
        "published; body: the player's body, which turns and walks straight on.",
    ),
    Option(name="requests", effect=EASIER, default=3, low=1, high=1000, doc="Maximum requests per attempt."),
)


def _play(options: Mapping[str, Json]) -> Play[Maze, MazeState, MovePlan]:
    """Return the game, wording and limits that the options of play select."""
    hint = options["protocol"] == "sound" if options["exit_hint"] is None else bool(options["exit_hint"])
    requests = int(options["requests"])
    wording = MazeWording(REPRESENTATIONS[options["wording"]], hint, body=options["frame"] == "body")
    return Play(MazeGame(requests), wording, Limits(turns=requests))


PRESENTATION = Presentation(
    title="Mazes (AliciaBench)",
    level="dimension",
    item="maze",
    scene=scene,
    board=board,
    legend=(
        "The ring is the entrance, the square the exit. The line is the walked path; wide pale parts were walked more "
        "than once. A dot marks where a request ended, a cross where a movement hit a wall or the edge (such a "
        "movement is not carried out)."
    ),
    reference="a shortest path (dashed)",
)

IMAGES = Images(
    draw=draw_picture,
    legend=TEXTS["en"]["picture.legend"],
    replaces=("maze",),
    legend_field="legend",
    bases=tuple(REPRESENTATIONS),
    grid=True,
)

_HORIZON_LEVELS = (5, 7, 9, 11, 13, 15, 17, 21, 25, 29, 35, 41, 49, 57, 69, 81, 101)

ALICIA: Environment[Maze, MazeState, MovePlan] = Environment(
    id="maze/alicia",
    version=1,
    title="Mazes (AliciaBench)",
    about=read_text(__file__, "about.md"),
    items=Items(
        options=OPTIONS,
        sample_levels=(5, 7, 9, 21),
        public_key="alicia-v1",
        make_source=MazeSource,
        decode=decode,
        level_of=lambda maze: maze.size,
        prove=prove,
        isomorph=isomorph,
    ),
    playing=Playing(options=PLAY_OPTIONS, play=_play, images=IMAGES, takes_context=True, texts=TEXTS),
    scoring=Scoring(
        metrics=METRICS,
        failures=FAILURES,
        failure=failure,
        first_errors=FIRST_ERRORS,
        best_of=True,
        contrasts=(Contrast("frame", "map", "body", "turning with the body"),),
    ),
    difficulty=Difficulty(
        horizon=HorizonSpec(
            levels=_HORIZON_LEVELS,
            oracle_horizon=lambda rate: known_horizon(rate, _HORIZON_LEVELS),
            revision=1,
        ),
        axes=(level_axis("dimension", "Cells along the longer side."), MINIMUM, JUNCTIONS),
        explanatory_variables=VARIABLES,
        success="the exit is reached within one and a half times the steps of a shortest path",
        competent=is_competent,
        token_budgets=True,
    ),
    players=Players(policies=PLAYERS, reasoning=reasoning, potentials=POTENTIALS),
    probes=(POSITION,),
    typing=Typing(parse=parse_typed, format=format_typed, help=TYPED_HELP, actions=typed_actions, route=plan_route),
    presentation=PRESENTATION,
)


def known_horizon(rate: float, dimensions: Iterable[int], mazes: int = 100) -> float:
    """Return the dimension at which an oracle that errs at a rate solves half of the mazes with a single plan.

    It is interpolated between two dimensions on a logarithmic scale, from the mean probability of success over so many
    mazes of each dimension, the smallest first. The rate is the probability of an error in each step.

    Raises:
        ValueError: If the oracle solves half of the mazes of the largest dimension.
    """
    below, share = 0, 1.0
    for dimension in dimensions:
        here = fmean(noisy_success(item.instance, rate) for item in ALICIA.source(level=dimension).head(mazes))
        if here < 0.5 and below:
            return below * (dimension / below) ** ((share - 0.5) / (share - here))
        below, share = dimension, here
    raise ValueError(f"{rate} is too small a rate: half of the largest mazes are solved")

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
SIDE_PAIRS = tuple(f"{a}-{b}" for a in SIDES for b in SIDES if a != b)

_LARGEST_LISTED = 7  # up to this dimension all mazes of a level are listed, and a set is a shuffle of the list
_MOST_OPENINGS = 64  # beyond it, so many items in a row (or as many as there are) have different openings

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
        choices=("any", *SIDE_PAIRS),
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
"""Pairs of room numbers."""
Openings = tuple[int, int]
"""Cell numbers of entrance and exit."""
Shape = tuple[int, int]
"""Number of rows and of columns."""


class MazeSource(Source[Maze]):
    """Mazes of one key, dimension and style.

    Rooms lie at odd rows and columns; a spanning tree joins them, some more walls are opened, and one opening in each
    of two sides is entrance and exit. A maze with an even number of rows or columns is one of the next smaller odd
    number, with a row or column between rooms doubled. The first ten mazes of a level always differ: up to dimension 7
    a set is a shuffle of all mazes of its level, beyond it no two of the first ten have the same openings (nor of the
    first 16, 25, 36, ... up to 64, as many as the rooms allow). Where a level holds fewer than ten mazes with the
    requested loops (dimension 5, top to bottom: 4), any number of loops is used (20 mazes), and where a level holds
    fewer mazes than requested, they repeat from the start.

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
        self._shape: Shape = (rows - 1 + rows % 2, columns - 1 + columns % 2)  # odd; lines are doubled afterwards
        are_even = rows % 2 == 0, columns % 2 == 0
        self._doubles_lines = any(are_even)
        self._loops: float = options["loops"]
        self._algorithm: str = options["algorithm"]
        self._sides: str = options["sides"]
        self._style = f"{self._loops:g} {self._algorithm} {self._sides}{f' {aspect:g}' if aspect != 1 else ''}"
        self._items = Stream(*self._stream_key("item"))
        # The rows, and the columns, of which one is doubled; only 0, which doubles none, where their number is odd.
        self._lines = [
            range(2, count - 1, 2) if is_even else (0,) for count, is_even in zip(self._shape, are_even, strict=True)
        ]
        self._pack_size = min(_count_opening_pairs(self._shape, self._sides), _MOST_OPENINGS)
        wall_count = (self._shape[0] // 2 - 1) * (self._shape[1] // 2 - 1)  # between rooms, beside a spanning tree
        self._loop_count = _count_loops(self._loops, wall_count)

    @property
    def space(self) -> int | None:
        """The number of different mazes of this level; None where they cannot be listed (dimension 9 and up)."""
        return len(self._listed_mazes) * len(self._line_pairs) if self._is_listed else None

    def item(self, index: int) -> Item[Maze]:
        """Return a maze with its proof; ids are the dimension and the number from 01: 501, 502, ..."""
        kernel = None if self._is_listed else _kernel_if_worthwhile(self._shape)
        maze = self._draw_maze(index, kernel)
        item_id = f"{self.size}{index + 1:02d}" if index < 99 else f"{self.size}-{index + 1}"
        return Item(maze, item_id, self.size, self.key, index, (kernel or _game).prove(maze))

    def _stream_key(self, *names: str | int) -> tuple[str | int, ...]:
        """Return the key of one of this level's random streams."""
        return "maze", GENERATOR, self.key, self.size, self._style, *names

    def _draw_maze(self, index: int, kernel: Any) -> Maze:
        """Draw the maze of an index, in compiled code if the kernel module is given."""
        shape, rng = self._shape, self._items.child(index)
        if self._is_listed:
            space = len(self._listed_mazes) * len(self._line_pairs)
            card = _shuffled_numbers(self._stream_key("order"), space, space)[index % space]
            maze_number, line_number = divmod(card, len(self._line_pairs))
            return double_lines(build_maze(shape, *self._listed_mazes[maze_number]), *self._line_pairs[line_number])
        # Entrance and exit are dealt from shuffled packs, so that items differ even where all walls are opened.
        pack, card = divmod(index, self._pack_size)
        openings = _shuffled_opening_pairs(self._stream_key("openings", pack), shape, self._sides)[card]
        if kernel is not None:
            return double_lines(*kernel.draw_maze(rng, shape, self._algorithm, self._loop_count, openings, self._lines))
        tree, walls = spanning_tree(shape[1] // 2, shape[0] // 2, self._algorithm, rng)
        rng.shuffle(walls)
        maze = build_maze(shape, (*tree, *walls[: self._loop_count]), *openings)
        return double_lines(maze, *(rng.choice(lines) for lines in self._lines)) if self._doubles_lines else maze

    @property
    def _is_listed(self) -> bool:
        """Whether the level is so small that all its mazes are listed."""
        return max(self._shape) <= _LARGEST_LISTED

    @property
    def _listed_mazes(self) -> list[tuple[Passages, int, int]]:
        """All mazes of this level as (passages, entrance, exit), before lines are doubled."""
        return _list_mazes(self._shape, self._loops, self._sides)

    @property
    def _line_pairs(self) -> list[tuple[int, ...]]:
        """All (row, column) that can be doubled; 0 doubles none."""
        return list(product(*self._lines))


def _kernel_if_worthwhile(shape: Shape) -> Any:
    """Count the cells to draw; return the compiled kernel once it is imported or worth loading, else None."""
    _drawn["cells"] += shape[0] * shape[1]
    return import_module(_KERNEL) if _drawn["cells"] > _COMPILED_FROM or _KERNEL in sys.modules else None


def _count_rooms_along(shape: Shape, side: str) -> int:
    rows, columns = shape
    return (columns if side in ("top", "bottom") else rows) // 2


def _count_opening_pairs(shape: Shape, sides: str) -> int:
    """Return the number of different pairs of an entrance and an exit."""
    pairs = (pair.split("-") for pair in (SIDE_PAIRS if sides == "any" else (sides,)))
    return sum(_count_rooms_along(shape, a) * _count_rooms_along(shape, b) for a, b in pairs)


def _opening_pair(shape: Shape, sides: str, number: int) -> Openings:
    """Return the pair of entrance and exit with a number, counted from 0 over all pairs of sides."""
    for pair in SIDE_PAIRS if sides == "any" else (sides,):
        count = _count_opening_pairs(shape, pair)
        if number < count:
            entrance_side, exit_side = pair.split("-")
            entrance_room, exit_room = divmod(number, _count_rooms_along(shape, exit_side))
            return opening_cell(shape, entrance_side, entrance_room), opening_cell(shape, exit_side, exit_room)
        number -= count
    raise ValueError(f"there are no openings {number}")


@lru_cache(maxsize=32)  # the items of a set follow one another
def _shuffled_opening_pairs(stream_key: tuple[str | int, ...], shape: Shape, sides: str) -> list[Openings]:
    """Return pairs of entrance and exit in random order, at most 64."""
    count = _count_opening_pairs(shape, sides)
    cards = _shuffled_numbers(stream_key, count, min(count, _MOST_OPENINGS))
    return [_opening_pair(shape, sides, card) for card in cards]


@lru_cache(maxsize=32)  # the items of a set follow one another
def _shuffled_numbers(stream_key: tuple[str | int, ...], size: int, count: int) -> list[int]:
    """Return the first `count` of the numbers 0 to `size` - 1 in a random order."""
    return Stream(*stream_key).distinct(size, count)


def _count_loops(share: float, walls: int) -> int:
    """Return how many of `walls` walls are opened for a share of loops, at least 1 if the share is above 0."""
    return max(1, round(share * walls)) if share > 0 else 0


def opening_cell(shape: Shape, side: str, room: int) -> int:
    """Return the cell number of the opening beside the n-th room of a side, counted from 0."""
    (rows, columns), line = shape, 2 * room + 1  # the room's row or column
    if side in ("top", "bottom"):
        return line if side == "top" else columns * (rows - 1) + line
    return columns * line if side == "left" else columns * line + columns - 1


def build_maze(shape: Shape, passages: Passages, entrance: int, exit_: int) -> Maze:
    """Return the maze of a shape with these passages (pairs of room numbers) and openings (cell numbers)."""
    closed, rooms = _closed_rooms(shape)
    cells = bytearray(closed)
    for a, b in passages:
        cells[(rooms[a] + rooms[b]) // 2] = 1  # the cell half way between two rooms
    cells[entrance] = cells[exit_] = 1
    return Maze(Lattice(shape[1], shape[0], bytes(cells)), entrance, exit_)


@lru_cache(maxsize=4)  # the items of a set follow one another
def _closed_rooms(shape: Shape) -> tuple[bytes, list[int]]:
    """Return the cells of a maze without passages, and the cell numbers of its rooms."""
    rows, columns = shape
    rooms = [y * columns + x for y in range(1, rows, 2) for x in range(1, columns, 2)]
    return bytes(y & x & 1 for y in range(rows) for x in range(columns)), rooms


@lru_cache(maxsize=32)
def _list_mazes(shape: Shape, loops: float, sides: str) -> list[tuple[Passages, int, int]]:
    """Return all mazes of a shape and style as (passages, entrance, exit)."""
    rows, columns = shape[0] // 2, shape[1] // 2  # of rooms
    n_rooms, passages = rows * columns, neighbouring_rooms(rows, columns)
    n_walls = len(passages) - (n_rooms - 1)  # that are left by a spanning tree
    opening_pairs = [_opening_pair(shape, sides, card) for card in range(_count_opening_pairs(shape, sides))]

    def passage_sets(n_loops: int) -> list[Passages]:
        """Return all sets of passages that connect the rooms with this number of loops."""
        candidates = combinations(passages, n_rooms - 1 + n_loops)
        return [candidate for candidate in candidates if connects_all_rooms(candidate, n_rooms)]

    mazes = passage_sets(_count_loops(loops, n_walls))
    if len(mazes) * len(opening_pairs) < PER_DIMENSION:  # too few, so that any number of loops is used
        mazes = [maze for n_loops in range(n_walls + 1) for maze in passage_sets(n_loops)]
    return [(maze, *openings) for maze in mazes for openings in opening_pairs]


def neighbouring_rooms(rows: int, columns: int) -> list[tuple[int, int]]:
    """Return all pairs of neighbouring rooms, numbered row by row, in order."""
    tree, walls = spanning_tree(columns, rows, "kruskal", Stream("any tree"))
    return sorted(tree + walls)


def connects_all_rooms(passages: Passages, n_rooms: int) -> bool:
    """Return whether passages connect all of `n_rooms` rooms."""
    component_of_room = list(range(n_rooms))
    for a, b in passages:
        first, second = component_of_room[a], component_of_room[b]
        component_of_room = [first if component == second else component for component in component_of_room]
    return len(set(component_of_room)) == 1


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

    The value is interpolated between two of `dimensions`, which rise, on a logarithmic scale, from the mean probability
    of success over `mazes` mazes of each dimension. `rate` is the probability of an error in each step.

    Raises:
        ValueError: If the oracle solves half of the mazes of the largest dimension.
    """
    lower, lower_success = 0, 1.0
    for dimension in dimensions:
        success = fmean(noisy_success(item.instance, rate) for item in ALICIA.source(level=dimension).head(mazes))
        if success < 0.5 and lower:
            return lower * (dimension / lower) ** ((lower_success - 0.5) / (lower_success - success))
        lower, lower_success = dimension, success
    raise ValueError(f"{rate} is too small a rate: half of the largest mazes are solved")

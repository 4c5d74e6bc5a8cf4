"""AliciaBench's mazes as an environment: mazes by key, options, and the catalogue's value."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import combinations
from statistics import fmean

from waybench._package_data import read_text
from waybench.core import (
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
from waybench.envs.maze._wording import REPRESENTATIONS, TYPED_HELP, MazeWording, format_typed, parse_typed
from waybench.envs.spaces import TREES, spanning_tree
from waybench.envs.spaces._lattice import Lattice

GENERATOR = 1  # raised whenever the same key would give other mazes
PER_DIMENSION = 10
SIDES = ("top", "bottom", "left", "right")
PAIRS = tuple(f"{a}-{b}" for a in SIDES for b in SIDES if a != b)

_ENUMERATED = 7  # up to this dimension a level's mazes can be listed, and a set is a shuffle of the list
_DEALT = 64  # beyond it, this many items in a row (or as many as there are) have different openings

OPTIONS = (
    Option(
        name="loops",
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

Passages = tuple[tuple[int, int], ...]


class MazeSource(Source[Maze]):
    """Mazes of one key, dimension and style.

    Rooms lie at odd rows and columns; a spanning tree joins them, some more walls are opened, and one opening in each
    of two sides is entrance and exit. The first ten mazes of a level differ from each other for certain: up to
    dimension 7 a set is a shuffle of all mazes of its level, beyond it no two of the first ten have the same openings
    (nor of the first 16, 25, 36, ... up to 64, as many as the rooms allow). Where a level holds fewer than ten mazes
    with the requested loops (dimension 5, top to bottom: 4), any number of loops is used (20 mazes), and where a level
    holds fewer mazes than requested, they repeat from the start.

    Raises:
        UsageError: If the dimension is even or out of range.
    """

    def __init__(self, key: str, size: int, options: Mapping[str, Json]) -> None:
        if size % 2 == 0 or not SMALLEST <= size <= LARGEST:
            raise UsageError(f"level {size}: a maze's dimension is odd and from {SMALLEST} to {LARGEST}")
        self.key, self.size = key, size
        self._loops: float = options["loops"]
        self._algorithm: str = options["algorithm"]
        self._sides: str = options["sides"]
        self._style = f"{self._loops:g} {self._algorithm} {self._sides}"
        self._items = Stream(*self._purpose("item"))

    @property
    def space(self) -> int | None:
        """The number of different mazes of this level; None where they cannot be listed (dimension 9 and up)."""
        return len(_enumerate_mazes(self.size, self._loops, self._sides)) if self.size <= _ENUMERATED else None

    def item(self, index: int) -> Item[Maze]:
        """Return a maze with its proof; ids are the dimension and the number from 01: 501, 502, ..."""
        maze = self._maze(index)
        number = f"{self.size}{index + 1:02d}" if index < 99 else f"{self.size}-{index + 1}"
        return Item(maze, number, self.size, self.key, index, prove(maze))

    def _purpose(self, *purpose: str | int) -> tuple[str | int, ...]:
        return "maze", GENERATOR, self.key, self.size, self._style, *purpose

    def _maze(self, index: int) -> Maze:
        if self.size <= _ENUMERATED:
            mazes = _enumerate_mazes(self.size, self._loops, self._sides)
            order = _cards(self._purpose("order"), len(mazes), len(mazes))
            return build(self.size, *mazes[order[index % len(mazes)]])
        rng, rooms = self._items.child(index), self.size // 2
        tree, walls = spanning_tree(rooms, rooms, self._algorithm, rng)
        rng.shuffle(walls)
        # Entrance and exit are dealt from a shuffled pack, so that items differ even where all walls are opened.
        number, card = divmod(index, min(_pack(self.size, self._sides), _DEALT))
        ends = _deal(self._purpose("openings", number), self.size, self._sides)[card]
        return build(self.size, (*tree, *walls[: _loop_count(self._loops, len(walls))]), *ends)


def _pack(size: int, sides: str) -> int:
    """Return the number of different openings, pairs of an entrance and an exit."""
    return (len(PAIRS) if sides == "any" else 1) * (size // 2) ** 2


def _openings(size: int, sides: str, card: int) -> tuple[int, int]:
    """Return the cell numbers of the entrance and the exit that a card of the pack stands for."""
    pair, rooms = divmod(card, (size // 2) ** 2)
    a, b = (PAIRS[pair] if sides == "any" else sides).split("-")
    i, j = divmod(rooms, size // 2)
    return opening(size, a, i), opening(size, b, j)


@lru_cache(maxsize=32)  # the items of a set follow one another
def _deal(purpose: tuple[str | int, ...], size: int, sides: str) -> list[tuple[int, int]]:
    pack = _pack(size, sides)
    return [_openings(size, sides, card) for card in _cards(purpose, pack, min(pack, _DEALT))]


@lru_cache(maxsize=32)  # the items of a set follow one another
def _cards(purpose: tuple[str | int, ...], pack: int, count: int) -> list[int]:
    """Return the first cards of a shuffled pack of the cards 0, 1, ..., shuffling no further than those."""
    rng, moved = Stream(*purpose), dict[int, int]()
    cards: list[int] = []
    for i in range(count):
        j = i + rng.below(pack - i)
        cards.append(moved.get(j, j))
        moved[j] = moved.get(i, i)
    return cards


def _loop_count(share: float, walls: int) -> int:
    return max(1, round(share * walls)) if share > 0 else 0


def opening(size: int, side: str, room: int) -> int:
    """Return the cell number of the opening beside a room on a side, rooms counted from 0."""
    along = 2 * room + 1
    if side in ("top", "bottom"):
        return along if side == "top" else size * (size - 1) + along
    return size * along if side == "left" else size * along + size - 1


def build(size: int, passages: Passages, entrance: int, exit_: int) -> Maze:
    """Return the maze with these passages, which are pairs of rooms, and openings."""
    closed, rooms = _rooms(size)
    cells = bytearray(closed)
    for a, b in passages:
        cells[(rooms[a] + rooms[b]) // 2] = 1
    cells[entrance] = cells[exit_] = 1
    return Maze(Lattice(size, size, bytes(cells)), entrance, exit_)


@lru_cache(maxsize=4)  # the items of a set follow one another
def _rooms(size: int) -> tuple[bytes, list[int]]:
    """Return the cells of a maze whose rooms are all closed, and the cell numbers of the rooms."""
    rooms = [y * size + x for y in range(1, size, 2) for x in range(1, size, 2)]
    return bytes(y & x & 1 for y in range(size) for x in range(size)), rooms


@lru_cache(maxsize=32)
def _enumerate_mazes(size: int, loops: float, sides: str) -> list[tuple[Passages, int, int]]:
    rooms = size // 2
    passages = walls_between(rooms)
    walls = len(passages) - (rooms * rooms - 1)  # that are left by a spanning tree
    openings = [_openings(size, sides, card) for card in range(_pack(size, sides))]

    def shapes(opened: int) -> list[Passages]:
        return [shape for shape in combinations(passages, rooms * rooms - 1 + opened) if connects(shape, rooms * rooms)]

    all_shapes = shapes(_loop_count(loops, walls))
    if len(all_shapes) * len(openings) < PER_DIMENSION:
        all_shapes = [shape for opened in range(walls + 1) for shape in shapes(opened)]
    return [(shape, *ends) for shape in all_shapes for ends in openings]


def walls_between(rooms: int) -> list[tuple[int, int]]:
    """Return the pairs of neighbouring rooms of a square with so many rooms along each side, in order."""
    tree, walls = spanning_tree(rooms, rooms, "kruskal", Stream("any tree"))
    return sorted(tree + walls)


def connects(passages: Passages, rooms: int) -> bool:
    """Return whether passages connect all of the rooms."""
    piece = list(range(rooms))
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
        default=None,
        kind=bool,
        doc="Whether the prompt says where the exit is; by default the protocol decides.",
    ),
    Option(name="requests", default=3, low=1, high=1000, doc="Maximum requests per attempt."),
)


def _play(options: Mapping[str, Json]) -> Play[Maze, MazeState, MovePlan]:
    hint = options["protocol"] == "sound" if options["exit_hint"] is None else bool(options["exit_hint"])
    requests = int(options["requests"])
    wording = MazeWording(REPRESENTATIONS[options["wording"]], hint)
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
    scoring=Scoring(metrics=METRICS, failures=FAILURES, failure=failure, first_errors=FIRST_ERRORS, best_of=True),
    difficulty=Difficulty(
        horizon=HorizonSpec(
            levels=_HORIZON_LEVELS,
            oracle_horizon=lambda rate: known_horizon(rate, _HORIZON_LEVELS),
            revision=1,
        ),
        axes=(level_axis("dimension", "Cells along each side."), MINIMUM, JUNCTIONS),
        explanatory_variables=VARIABLES,
        success="the exit is reached within one and a half times the steps of a shortest path",
        competent=is_competent,
    ),
    players=Players(policies=PLAYERS, reasoning=reasoning, potentials=POTENTIALS),
    probes=(POSITION,),
    typing=Typing(parse=parse_typed, format=format_typed, help=TYPED_HELP, actions=typed_actions),
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

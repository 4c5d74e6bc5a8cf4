"""A map as one way of playing reads it: tiles, the player's position, walkers and enemies."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from waybench.core import Json, Stream
from waybench.envs.spaces import Floor
from waybench.envs.tilemap._instance import PLAYER, TileMap, legs_on, tile_list
from waybench.envs.tilemap._protocol import PROTOCOLS, Protocol, moves_per_point

MOVES: Mapping[str, tuple[int, int]] = {
    "move_up": (-1, 0),
    "move_down": (1, 0),
    "move_left": (0, -1),
    "move_right": (0, 1),
}
"""Name -> (rows, columns)."""

# Characters for what is not of the record's map, the first that it does not use.
_SIGNS = "&%!$*?+=~^;:<>|_/0123456789"


class Crew(NamedTuple):
    """The numbers of beings and traps added to a map; none as published.

    Attributes:
        walkers: Wander about, and stand in the way.
        enemies: Come nearer at every other step, and end the map where they meet the player.
        hazards: Cells that end the map when the player steps on them.
    """

    walkers: int = 0
    enemies: int = 0
    hazards: int = 0


class Style(NamedTuple):
    """The form of requests and replies, and the beings on the map.

    Attributes:
        protocol: How the rules are read.
        single: Whether a plan is one action.
        predicts: Whether a plan has a drawing of the map as the player expects it afterwards.
        crew: Beings and traps.
    """

    protocol: Protocol
    single: bool = False
    predicts: bool = False
    crew: Crew = Crew()


def style_of(options: Mapping[str, Json], *, single: bool = False, predicts: bool = False) -> Style:
    """Return the form of requests and replies.

    Args:
        options: The options of play.
        single: Whether a plan is one action.
        predicts: Whether a plan has a drawing of the map.
    """
    crew = Crew(int(options["walkers"]), int(options["enemies"]), int(options["hazards"]))
    return Style(PROTOCOLS[options["protocol"]], single, predicts, crew)


class MovePlan(NamedTuple):
    """The plan in a reply.

    Attributes:
        names: Names of actions, any texts.
        drawing: The map as the player expects it afterwards; None where it was not requested.
    """

    names: tuple[str, ...]
    drawing: str | None = None


@dataclass(frozen=True, slots=True)
class Board:
    """A map as one way of playing reads it.

    Attributes:
        case: The map.
        style: The way of playing.
        walkable: The characters that can be walked on.
        goals: The objectives that are played, as (row, column).
        numbers: Their numbers in the record, from 0.
        ground: The tile that is put where the player stood at first, or where an object was: the most frequent of
            those that can be walked on, the first in reading order of several.
        fenced: The map with a border of closed cells, a byte for each cell: 1 where one can stand.
        beings: Cells of the fenced map where the walkers, and after them the enemies, are at first.
        hazards: Cells of the fenced map that end the map.
        signs: The characters of walkers, enemies and hazards.
        bare: The map's rows without the player and the beings, hazards drawn.
        length: Moves of the shortest tour of the goals, around the hazards and as if there were no beings.
        seed: The map's hash, on which the luck of beings depends; "" without any.
    """

    case: TileMap
    style: Style
    walkable: str
    goals: tuple[tuple[int, int], ...]
    numbers: tuple[int, ...]
    ground: str = field(compare=False)
    fenced: bytes = field(compare=False, repr=False)
    beings: tuple[int, ...] = field(default=(), compare=False)
    hazards: frozenset[int] = field(default=frozenset(), compare=False)
    signs: str = field(default="", compare=False)
    bare: tuple[str, ...] = field(default=(), compare=False, repr=False)
    length: int = field(default=0, compare=False)
    seed: str = field(default="", compare=False, repr=False)

    @property
    def per_point(self) -> int:
        """The number of moves that cost one point."""
        return moves_per_point(self.length) if self.style.protocol.scaled_moves else 1


@lru_cache(maxsize=1024)
def board(case: TileMap, style: Style) -> Board:
    """Return a map as a way of playing reads it."""
    protocol = style.protocol
    signs = "".join(case.rows)
    walkable = case.walkable if protocol.substring else tile_list(case.walkable)
    walkable = "".join(dict.fromkeys(sign for sign in signs if sign in walkable))
    counts = Counter(sign for sign in signs if sign in walkable)
    ground = counts.most_common(1)[0][0] if counts else PLAYER
    legs = legs_on(case, case.floor(walkable))
    numbers = [number for number, leg in enumerate(legs) if leg is not None or protocol.unreachable]
    closed = b"\0"
    stand = set(walkable) | {PLAYER}
    inner = b"".join(closed + bytes(sign in stand for sign in row) + closed for row in case.rows)
    edge = closed * (case.width + 2)
    goals = tuple((case.objectives[number].row, case.objectives[number].column) for number in numbers)
    bare = tuple(row.replace(PLAYER, ground) for row in case.rows)
    length = sum(leg or 0 for leg in legs)
    result = Board(case, style, walkable, goals, tuple(numbers), ground, edge + inner + edge, bare=bare, length=length)
    return _with_crew(result) if any(style.crew) else result


def _with_crew(unpeopled: Board) -> Board:
    """Put beings and traps on a map, for each map at the same places; no trap closes the way to a goal."""
    case, crew = unpeopled.case, unpeopled.style.crew
    seed = case.hash
    rng = Stream("tilemap", "crew", seed, *crew)
    floor = case.floor(unpeopled.walkable)
    goals = {row * case.width + column for row, column in unpeopled.goals}
    cells = [cell for cell in range(case.width * case.height) if floor.open >> cell & 1]
    cells = [cell for cell in cells if cell not in goals and cell != case.start]
    rng.shuffle(cells)
    hazards: list[int] = []
    reachable = [goal for goal in goals if floor.reached_from(case.start) >> goal & 1]
    for cell in cells:
        if len(hazards) == crew.hazards:
            break
        without = Floor(case.width, case.height, floor.open & ~(1 << cell))
        cells_left = without.reached_from(case.start)
        if all(cells_left >> goal & 1 for goal in reachable):
            hazards.append(cell)
            floor = without
    rest = [cell for cell in cells if cell not in hazards]
    far = [cell for cell in rest if sum(map(abs, _between(cell, case.start, case.width))) > _SAFE] or rest
    beings = rest[: crew.walkers] + [cell for cell in far if cell not in rest[: crew.walkers]][: crew.enemies]
    signs_used = set("".join(case.rows)) | {sign for _, sign in case.tiles}
    signs = "".join(sign for sign in _SIGNS if sign not in signs_used)[:3].ljust(3, "?")
    width, bare = case.width, list(unpeopled.bare)
    for cell in hazards:
        bare[cell // width] = _with_sign(bare[cell // width], cell % width, signs[2])
    return replace(
        unpeopled,
        bare=tuple(bare),
        beings=tuple(_fenced_cell(cell, width) for cell in beings),
        hazards=frozenset(_fenced_cell(cell, width) for cell in hazards),
        signs=signs,
        length=sum(leg or 0 for leg in legs_on(case, floor)),
        seed=seed,
    )


_SAFE = 4  # cells between the player and an enemy at first


def _between(cell: int, target: int, width: int) -> tuple[int, int]:
    return cell // width - target // width, cell % width - target % width


def _fenced_cell(cell: int, width: int) -> int:
    return (cell // width + 1) * (width + 2) + cell % width + 1


class LastPlan(NamedTuple):
    """The last plan that was carried out.

    Attributes:
        goal: Which goal it was for, from 0.
        actions: Number of names in it.
        rows: Rows between its end and the goal.
        columns: Columns.
    """

    goal: int
    actions: int
    rows: int
    columns: int


class Location(NamedTuple):
    """The state of an episode: the player's place and the goals that are left.

    Attributes:
        board: The map.
        goal: Which goal is next, from 0.
        row: The player's row.
        column: Its column.
        reached: Number of goals at which a plan ended.
        misses: Replies in a row for this goal that could not be read.
        tries: Plans carried out for this goal.
        removed: Cells whose object has become ground, as (row, column).
        last: The last plan; None at the start.
        over: Whether the map was ended before its last goal.
        beings: Cells of the fenced map where walkers and enemies are.
        tick: Number of actions that beings have answered with a step; 0 without beings.
        death: What has met the player and ended the map, "enemy" or "hazard"; "" for nothing.
    """

    board: Board
    goal: int
    row: int
    column: int
    reached: int = 0
    misses: int = 0
    tries: int = 0
    removed: tuple[tuple[int, int], ...] = ()
    last: LastPlan | None = None
    over: bool = False
    beings: tuple[int, ...] = ()
    tick: int = 0
    death: str = ""

    @property
    def cell(self) -> int:
        """The player's cell of the fenced map."""
        return _fenced_cell(self.row * self.board.case.width + self.column, self.board.case.width)

    def rows(self) -> list[str]:
        """Return the map as it is now, with the player on it."""
        lines = list(self.board.bare)
        for row, column in self.removed:
            lines[row] = _with_sign(lines[row], column, self.board.ground)
        width = self.board.case.width + 2
        for number, cell in enumerate(self.beings):
            sign = self.board.signs[number >= self.board.style.crew.walkers]
            lines[cell // width - 1] = _with_sign(lines[cell // width - 1], cell % width - 1, sign)
        lines[self.row] = _with_sign(lines[self.row], self.column, PLAYER)
        return lines


def _with_sign(row: str, column: int, sign: str) -> str:
    return f"{row[:column]}{sign}{row[column + 1 :]}"


def start(case: TileMap, style: Style) -> Location:
    """Return the player where the map has it, and the beings where they are at first."""
    case_board = board(case, style)
    row, column = divmod(case.start, case.width)
    return Location(case_board, 0, row, column, beings=case_board.beings)


def step_beings(
    board: Board, fenced: bytes, at: int, beings: tuple[int, ...], tick: int
) -> tuple[tuple[int, ...], bool]:
    """Let every being make a step after the player's action.

    A walker takes a random one of its four ways or stays where that is closed. An enemy comes nearer half of the time
    and wanders otherwise. Two beings are never in one place, and none steps on a hazard. Their luck depends on the map,
    their numbers and how many actions were taken: every player and every attempt meets the same.

    Args:
        board: The map.
        fenced: Its cells with a border of closed ones, a byte for each: 1 where one can stand.
        at: The player's cell of the fenced map, after its action.
        beings: Cells of walkers and, after them, of enemies.
        tick: Number of actions before this one.

    Returns:
        Their new cells, and whether an enemy has met the player.
    """
    crew = board.style.crew
    walkers, width = crew.walkers, board.case.width + 2
    if at in beings[walkers:]:
        return beings, True
    now = list(beings)
    for number, (way, nearer) in enumerate(_luck(board.seed, walkers, len(beings), tick)):
        cell = now[number]
        if nearer:
            rows, columns = at // width - cell // width, at % width - cell % width
            way = (rows > 0) if abs(rows) > abs(columns) else 2 + (columns > 0)
        target = cell + (-width, width, -1, 1)[way]
        free = fenced[target] and target not in now and target not in board.hazards
        if free and (target != at or number >= walkers):
            now[number] = target
            if target == at:
                return tuple(now), True
    return tuple(now), False


@lru_cache(maxsize=1 << 16)
def _luck(seed: str, walkers: int, count: int, tick: int) -> tuple[tuple[int, bool], ...]:
    """Return for each being a random way (up, down, left, right) and whether it comes nearer instead."""
    rng = Stream("tilemap", "beings", seed, walkers, count - walkers, tick)
    return tuple((rng.below(4), number >= walkers and rng.below(2) == 1) for number in range(count))

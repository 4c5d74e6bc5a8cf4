"""A map as one way of playing reads it, and the state of an episode on it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from string import ascii_letters, digits
from typing import NamedTuple

from waybench.core import Json, Stream
from waybench.envs.spaces._lattice import Floor
from waybench.envs.tilemap._instance import PLAYER, TileMap, leg_lengths_on_floor, tile_list
from waybench.envs.tilemap._locks import LOCK_ACTIONS, Lock, TourNode, gone_bits, place_locks, shortest_locked_tour
from waybench.envs.tilemap._protocols import MOVES, PROTOCOLS, TileProtocol, moves_per_point

# Characters for what is not of the record's map, the first that it does not use.
_SIGNS = "&%!$*?+=~^;:<>|_/0123456789"
_SAFE = 4  # cells between the player and an enemy at first


class Crew(NamedTuple):
    """The numbers of beings and traps added to a map; none as published.

    Attributes:
        walkers: Wander about, and stand in the way.
        enemies: Come nearer at half of their steps, drawn at random, and end the map where they meet the player.
        hazards: Cells that end the map when the player steps on them.
    """

    walkers: int = 0
    enemies: int = 0
    hazards: int = 0


class Style(NamedTuple):
    """The way of playing: the reading of the rules, the form of replies, and the beings and doors on the map.

    A plan is one action if it is `single`; if it `predicts`, it has a drawing of the map as the player expects it
    afterwards.
    """

    protocol: TileProtocol
    single: bool = False
    predicts: bool = False
    crew: Crew = Crew()
    doors: int = 0

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of all actions that the player is told of."""
        return (*MOVES, *LOCK_ACTIONS) if self.doors else tuple(MOVES)


def play_style(options: Mapping[str, Json], *, single: bool = False, predicts: bool = False) -> Style:
    """Return the way of playing that the options of play select; see `Style`."""
    crew = Crew(int(options["walkers"]), int(options["enemies"]), int(options["hazards"]))
    return Style(PROTOCOLS[options["protocol"]], single, predicts, crew, int(options.get("doors", 0)))


class MovePlan(NamedTuple):
    """The plan in a reply: names of actions, any texts, and the map expected afterwards if it was requested."""

    names: tuple[str, ...]
    drawing: str | None = None


@dataclass(frozen=True, slots=True)
class TileBoard:
    """A map as one way of playing reads it.

    Attributes:
        walkable: The characters that can be walked on.
        goals: The objectives that are played, as (row, column).
        numbers: Their numbers in the record, from 0.
        ground: The tile that is put where the player stood at first, or where an object was: the most frequent of
            those that can be walked on, the first in reading order of several.
        fenced: The map with a border of closed cells, a byte for each cell: 1 where one can stand.
        beings: Cells of the fenced map where the walkers, and after them the enemies, are at first.
        hazards: Cells of the fenced map that end the map.
        signs: The characters of walkers, enemies and hazards.
        locks: The doors, and the keys to them.
        bars: The character of the bars around locked goals.
        tour: With doors, a shortest tour of the goals; see `legs_of_locked_tour`.
        bare: The map's rows without the player and the beings, with hazards, keys, doors and bars.
        length: Actions of the shortest tour of the goals, around the hazards and as if there were no beings.
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
    locks: tuple[Lock, ...] = field(default=(), compare=False)
    bars: str = field(default="", compare=False)
    tour: Mapping[TourNode, tuple[str, ...]] = field(
        default_factory=dict[TourNode, tuple[str, ...]], compare=False, repr=False
    )
    bare: tuple[str, ...] = field(default=(), compare=False, repr=False)
    length: int = field(default=0, compare=False)
    seed: str = field(default="", compare=False, repr=False)

    @property
    def per_point(self) -> int:
        """Number of moves that cost one point."""
        return moves_per_point(self.length) if self.style.protocol.scaled_moves else 1

    @property
    def safe_fence(self) -> bytes:
        """The fenced map with its hazards closed."""
        return bytes(free and cell not in self.hazards for cell, free in enumerate(self.fenced))

    @property
    def goal_cells(self) -> list[int | None]:
        """The goals' cells of the fenced map; None for a goal out of reach."""
        legs = leg_lengths_on_floor(self.case, self.case.floor(self.walkable))
        goals = zip(self.goals, self.numbers, strict=True)
        width = self.case.width
        return [None if legs[n] is None else _fenced_cell(row * width + column, width) for (row, column), n in goals]


@lru_cache(maxsize=1024)
def board_of_map(case: TileMap, style: Style) -> TileBoard:
    """Return the board of a map in a way of playing."""
    protocol = style.protocol
    signs = "".join(case.rows)
    walkable = case.walkable if protocol.substring else tile_list(case.walkable)
    walkable = "".join(dict.fromkeys(sign for sign in signs if sign in walkable))
    counts = Counter(sign for sign in signs if sign in walkable)
    ground = counts.most_common(1)[0][0] if counts else PLAYER
    legs = leg_lengths_on_floor(case, case.floor(walkable))
    numbers = [number for number, leg in enumerate(legs) if leg is not None or protocol.unreachable]
    closed = b"\0"
    stand = set(walkable) | {PLAYER}
    inner = b"".join(closed + bytes(sign in stand for sign in row) + closed for row in case.rows)
    edge = closed * (case.width + 2)
    goals = tuple((case.objectives[number].row, case.objectives[number].column) for number in numbers)
    bare = tuple(row.replace(PLAYER, ground) for row in case.rows)
    length = sum(leg or 0 for leg in legs)
    result = TileBoard(
        case, style, walkable, goals, tuple(numbers), ground, edge + inner + edge, bare=bare, length=length
    )
    if any(style.crew):
        result = _with_crew(result)
    return _with_locks(result) if style.doors else result


def _with_crew(unpeopled: TileBoard) -> TileBoard:
    """Put beings and hazards on a board, on each map at the same places; no hazard closes the way to a goal."""
    case, crew = unpeopled.case, unpeopled.style.crew
    seed = case.hash
    rng = Stream("tilemap", "crew", seed, *crew)
    floor = case.floor(unpeopled.walkable)
    goals = {row * case.width + column for row, column in unpeopled.goals}
    cells = [cell for cell in range(case.width * case.height) if floor.open >> cell & 1]
    cells = [cell for cell in cells if cell not in goals and cell != case.start]
    rng.shuffle(cells)
    hazards: list[int] = []
    reachable = [goal for goal in goals if floor.reachable_from(case.start) >> goal & 1]
    for cell in cells:
        if len(hazards) == crew.hazards:
            break
        without = Floor(case.width, case.height, floor.open & ~(1 << cell))
        cells_left = without.reachable_from(case.start)
        if all(cells_left >> goal & 1 for goal in reachable):
            hazards.append(cell)
            floor = without
    row, column = divmod(case.start, case.width)
    free = [cell for cell in cells if cell not in hazards]
    far = [cell for cell in free if abs(cell // case.width - row) + abs(cell % case.width - column) > _SAFE] or free
    walkers = free[: crew.walkers]
    beings = walkers + [cell for cell in far if cell not in walkers][: crew.enemies]
    signs = _unused_signs(case)[:3].ljust(3, "?")
    width, bare = case.width, list(unpeopled.bare)
    for cell in hazards:
        bare[cell // width] = _row_with_sign(bare[cell // width], cell % width, signs[2])
    return replace(
        unpeopled,
        bare=tuple(bare),
        beings=tuple(_fenced_cell(cell, width) for cell in beings),
        hazards=frozenset(_fenced_cell(cell, width) for cell in hazards),
        signs=signs,
        length=sum(leg or 0 for leg in leg_lengths_on_floor(case, floor)),
        seed=seed,
    )


def _unused_signs(case: TileMap) -> str:
    """Return characters that a map and its list of tiles do not use."""
    signs_used = set("".join(case.rows)) | {sign for _, sign in case.tiles}
    return "".join(sign for sign in _SIGNS if sign not in signs_used)


def _with_locks(unlocked: TileBoard) -> TileBoard:
    """Put doors, bars and keys on a board, on each map at the same places."""
    case, count = unlocked.case, unlocked.style.doors
    signs = _unused_signs(case)[len(unlocked.signs) :]
    signs += "".join(sign for sign in ascii_letters + digits if sign not in case.canonical())
    bars, *lock_signs = signs.ljust(1 + 2 * count, "?")[: 1 + 2 * count]
    start, goals = _fenced_cell(case.start, case.width), [cell for cell in unlocked.goal_cells if cell is not None]
    rng = Stream("tilemap", "doors", case.hash, count)
    fence, width = unlocked.safe_fence, case.width + 2
    locks, barred = place_locks(fence, width, start, goals, "".join(lock_signs), count, rng)
    fenced, bare = bytearray(unlocked.fenced), list(unlocked.bare)
    signs_by_cell = dict.fromkeys(barred, bars)
    for lock in locks:
        signs_by_cell |= {lock.key: lock.key_sign, lock.door: lock.door_sign}
    for cell, sign in signs_by_cell.items():
        row, column = cell // width - 1, cell % width - 1
        bare[row] = _row_with_sign(bare[row], column, sign)
    for cell in (*barred, *(lock.door for lock in locks)):
        fenced[cell] = 0
    locked = replace(unlocked, fenced=bytes(fenced), bare=tuple(bare), locks=locks, bars=bars)
    tour = legs_of_locked_tour(locked, TourNode(0, start, 0))
    return replace(locked, tour=tour, length=len(tour))


def legs_of_locked_tour(
    board: TileBoard, start: TourNode, removed: Iterable[tuple[int, int]] = ()
) -> dict[TourNode, tuple[str, ...]]:
    """Return a shortest tour of the goals within reach: each of its states -> the actions to the next goal.

    `removed` are the cells, as (row, column), whose object has become ground.
    """
    goals, width = [cell for cell in board.goal_cells if cell is not None], board.case.width
    fenced = bytearray(board.safe_fence)
    for row, column in removed:
        fenced[_fenced_cell(row * width + column, width)] = 1
    legs: dict[TourNode, tuple[str, ...]] = {}
    following: tuple[int, tuple[str, ...]] = (-1, ())
    for node, name in reversed(shortest_locked_tour(bytes(fenced), width + 2, board.locks, start, goals)):
        following = node.done, (name, *(following[1] if following[0] == node.done else ()))
        legs[node] = following[1]
    return legs


def _fenced_cell(cell: int, width: int) -> int:
    """Return the number of a map's cell on the fenced map, which has a border."""
    return (cell // width + 1) * (width + 2) + cell % width + 1


class LastPlan(NamedTuple):
    """The last plan that was carried out: its goal, number of names, and the distance between its end and the goal."""

    goal: int
    actions: int
    rows: int
    columns: int


class TileState(NamedTuple):
    """The state of an episode: the player's place and the goals that are left.

    Attributes:
        goal: Which goal is next, from 0.
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

    board: TileBoard
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

    @property
    def gone_locks(self) -> int:
        """The keys and doors that have become ground, as bits (`gone_bits`)."""
        width = self.board.case.width
        removed = {_fenced_cell(row * width + column, width) for row, column in self.removed}
        return gone_bits(self.board.locks, removed)

    @property
    def keys(self) -> str:
        """The signs of the keys that the player carries."""
        gone = self.gone_locks
        return "".join(lock.key_sign for number, lock in enumerate(self.board.locks) if gone >> 2 * number & 1)

    def rows(self) -> list[str]:
        """Return the rows of the map as it is now, with the player on it."""
        lines = list(self.board.bare)
        for row, column in self.removed:
            lines[row] = _row_with_sign(lines[row], column, self.board.ground)
        width = self.board.case.width + 2
        for number, cell in enumerate(self.beings):
            sign = self.board.signs[number >= self.board.style.crew.walkers]
            lines[cell // width - 1] = _row_with_sign(lines[cell // width - 1], cell % width - 1, sign)
        lines[self.row] = _row_with_sign(lines[self.row], self.column, PLAYER)
        return lines


def _row_with_sign(row: str, column: int, sign: str) -> str:
    return f"{row[:column]}{sign}{row[column + 1 :]}"


def start_state(case: TileMap, style: Style) -> TileState:
    """Return the state at the beginning of an episode."""
    case_board = board_of_map(case, style)
    row, column = divmod(case.start, case.width)
    return TileState(case_board, 0, row, column, beings=case_board.beings)


def step_beings(
    board: TileBoard, fenced: bytes, at: int, beings: tuple[int, ...], tick: int
) -> tuple[tuple[int, ...], bool]:
    """Let every being make a step after the player's action.

    A walker takes a random one of its four ways or stays where that is closed. An enemy comes nearer half of the time
    and wanders otherwise. Two beings are never in one place, and none steps on a hazard. Their luck depends on the map,
    their numbers and how many actions were taken (`tick`): every player and every attempt meets the same. `fenced` is
    the map with a border of closed cells, a byte for each: 1 where one can stand; `at` and `beings` are cells of it.

    Returns:
        Their new cells, and whether an enemy has met the player.
    """
    crew = board.style.crew
    walkers, width = crew.walkers, board.case.width + 2
    if at in beings[walkers:]:
        return beings, True
    now = list(beings)
    for number, (way, nearer) in enumerate(_random_being_steps(board.seed, walkers, len(beings), tick)):
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
def _random_being_steps(seed: str, walkers: int, count: int, tick: int) -> tuple[tuple[int, bool], ...]:
    """Return for each being a random way (up, down, left, right) and whether it approaches instead."""
    rng = Stream("tilemap", "beings", seed, walkers, count - walkers, tick)
    return tuple((rng.below(4), number >= walkers and rng.below(2) == 1) for number in range(count))

"""A map as one way of playing reads it, and the state of an episode on it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from string import ascii_letters, digits
from typing import NamedTuple

from waybench.core import Json, Stream
from waybench.envs.spaces._lattice import Floor
from waybench.envs.tilemap._instance import PLAYER, TileMap, leg_lengths_on_floor, tile_list
from waybench.envs.tilemap._locks import LOCK_ACTIONS, Lock, TourNode, gone_bits, place_locks, shortest_locked_tour
from waybench.envs.tilemap._protocols import MOVES, PROTOCOLS, TileProtocol, moves_per_point

# Characters for creatures, hazards and doors: those are used that the record's map does not have.
_SIGNS = "&%!$*?+=~^;:<>|_/0123456789"
_SAFE_DISTANCE = 4  # cells between the player and an enemy at the start, if there is room


class Crew(NamedTuple):
    """The numbers of beings and traps added to a map; none as published.

    Attributes:
        walkers: Number of beings that wander about, and stand in the way.
        enemies: Number of beings that come nearer at half of their steps, and end the map if they meet the player.
        hazards: Number of cells that end the map when the player steps on them.
    """

    walkers: int = 0
    enemies: int = 0
    hazards: int = 0


class Style(NamedTuple):
    """The way of playing: the reading of the rules, the form of replies, and the beings and doors on the map.

    With `single` a plan is one action; with `predicts` it has a drawing of the map as the player expects it afterwards.
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
    """The plan in a reply: names, which need not be actions, and the map expected afterwards, if it was requested."""

    names: tuple[str, ...]
    drawing: str | None = None


@dataclass(frozen=True, slots=True)
class TileBoard:
    """A map as one way of playing reads it.

    Attributes:
        walkable: The characters that can be walked on.
        goals: The objectives that are played, as (row, column).
        numbers: The goals' numbers in the record, from 0.
        ground: The tile that replaces the player at its start, and objects: the most frequent walkable tile, the
            first in reading order of several.
        fenced: The map with a border of closed cells, a byte for each cell: 1 where one can stand.
        beings: Cells of the fenced map where the walkers, and after them the enemies, start.
        hazards: Cells of the fenced map that end the episode.
        signs: The characters of walkers, enemies and hazards.
        locks: The doors, and the keys to them.
        bars: The character of the bars around locked goals.
        tour: With doors, a shortest tour of the goals; see `legs_of_locked_tour`.
        bare: The map's rows without the player and the beings, with hazards, keys, doors and bars.
        length: Actions of the shortest tour of the goals, around the hazards and as if there were no beings.
        seed: The map's hash, on which the random steps of beings depend; "" without beings.
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
        width = self.case.width
        return [
            None if legs[number] is None else _fenced_cell(row * width + column, width)
            for (row, column), number in zip(self.goals, self.numbers, strict=True)
        ]


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
    open_signs = set(walkable) | {PLAYER}
    inner = b"".join(closed + bytes(sign in open_signs for sign in row) + closed for row in case.rows)
    edge = closed * (case.width + 2)
    goals = tuple((case.objectives[number].row, case.objectives[number].column) for number in numbers)
    bare = tuple(row.replace(PLAYER, ground) for row in case.rows)
    length = sum(leg or 0 for leg in legs)
    board = TileBoard(
        case, style, walkable, goals, tuple(numbers), ground, edge + inner + edge, bare=bare, length=length
    )
    if any(style.crew):
        board = _with_crew(board)
    return _with_locks(board) if style.doors else board


def _with_crew(unpeopled: TileBoard) -> TileBoard:
    """Put beings and hazards on a board, on each map in the same cells; no hazard closes the way to a goal."""
    case, width, crew = unpeopled.case, unpeopled.case.width, unpeopled.style.crew
    seed = case.hash
    rng = Stream("tilemap", "crew", seed, *crew)
    floor = case.floor(unpeopled.walkable)
    goals = {row * width + column for row, column in unpeopled.goals}
    cells = [cell for cell in range(width * case.height) if floor.open >> cell & 1]
    cells = [cell for cell in cells if cell not in goals and cell != case.start]
    rng.shuffle(cells)
    hazards, floor = _choose_hazards(floor, case.start, goals, cells, crew.hazards)
    row, column = divmod(case.start, width)
    free_cells = [cell for cell in cells if cell not in hazards]
    far_cells = [cell for cell in free_cells if abs(cell // width - row) + abs(cell % width - column) > _SAFE_DISTANCE]
    walkers = free_cells[: crew.walkers]
    enemies = [cell for cell in far_cells or free_cells if cell not in walkers][: crew.enemies]
    signs = _unused_signs(case)[:3].ljust(3, "?")
    bare = list(unpeopled.bare)
    for cell in hazards:
        bare[cell // width] = _row_with_sign(bare[cell // width], cell % width, signs[2])
    return replace(
        unpeopled,
        bare=tuple(bare),
        beings=tuple(_fenced_cell(cell, width) for cell in walkers + enemies),
        hazards=frozenset(_fenced_cell(cell, width) for cell in hazards),
        signs=signs,
        length=sum(leg or 0 for leg in leg_lengths_on_floor(case, floor)),
        seed=seed,
    )


def _choose_hazards(
    floor: Floor, start: int, goals: Collection[int], candidates: Iterable[int], count: int
) -> tuple[list[int], Floor]:
    """Return the first candidates, up to `count`, that close no way to a goal, and the floor without them."""
    hazards: list[int] = []
    reachable_goals = [goal for goal in goals if floor.reachable_from(start) >> goal & 1]
    for cell in candidates:
        if len(hazards) == count:
            break
        floor_without = Floor(floor.width, floor.height, floor.open & ~(1 << cell))
        reachable_cells = floor_without.reachable_from(start)
        if all(reachable_cells >> goal & 1 for goal in reachable_goals):
            hazards.append(cell)
            floor = floor_without
    return hazards, floor


def _unused_signs(case: TileMap) -> str:
    """Return characters that a map and its list of tiles do not use."""
    signs_used = set("".join(case.rows)) | {sign for _, sign in case.tiles}
    return "".join(sign for sign in _SIGNS if sign not in signs_used)


def _with_locks(unlocked: TileBoard) -> TileBoard:
    """Put doors, bars and keys on a board, on each map in the same cells."""
    case, count = unlocked.case, unlocked.style.doors
    signs = _unused_signs(case)[len(unlocked.signs) :]  # the first ones are those of beings and hazards
    signs += "".join(sign for sign in ascii_letters + digits if sign not in case.canonical())
    n_signs = 1 + 2 * count  # of bars, keys and doors
    bar_sign, *lock_signs = signs.ljust(n_signs, "?")[:n_signs]
    start, goals = _fenced_cell(case.start, case.width), [cell for cell in unlocked.goal_cells if cell is not None]
    rng = Stream("tilemap", "doors", case.hash, count)
    width = case.width + 2
    locks, bar_cells = place_locks(unlocked.safe_fence, width, start, goals, "".join(lock_signs), count, rng)
    fenced, bare = bytearray(unlocked.fenced), list(unlocked.bare)
    signs_by_cell = dict.fromkeys(bar_cells, bar_sign)
    for lock in locks:
        signs_by_cell |= {lock.key: lock.key_sign, lock.door: lock.door_sign}
    for cell, sign in signs_by_cell.items():
        row, column = cell // width - 1, cell % width - 1
        bare[row] = _row_with_sign(bare[row], column, sign)
    for cell in (*bar_cells, *(lock.door for lock in locks)):
        fenced[cell] = 0
    locked = replace(unlocked, fenced=bytes(fenced), bare=tuple(bare), locks=locks, bars=bar_sign)
    tour = legs_of_locked_tour(locked, TourNode(0, start, 0))
    return replace(locked, tour=tour, length=len(tour))


def legs_of_locked_tour(
    board: TileBoard, start: TourNode, removed: Iterable[tuple[int, int]] = ()
) -> dict[TourNode, tuple[str, ...]]:
    """Return a shortest tour of the goals within reach: each of its states -> the actions to the next goal.

    `removed` has the cells (row, column) whose object has become ground.
    """
    goals, width = [cell for cell in board.goal_cells if cell is not None], board.case.width
    fenced = bytearray(board.safe_fence)
    for row, column in removed:
        fenced[_fenced_cell(row * width + column, width)] = 1
    legs: dict[TourNode, tuple[str, ...]] = {}
    last_done, leg = -1, tuple[str, ...]()
    for node, name in reversed(shortest_locked_tour(bytes(fenced), width + 2, board.locks, start, goals)):
        leg = (name, *leg) if node.done == last_done else (name,)  # a new leg, where one more goal is done afterwards
        last_done = node.done
        legs[node] = leg
    return legs


def _fenced_cell(cell: int, width: int) -> int:
    """Return the number of a map's cell on the fenced map, which has a border."""
    return (cell // width + 1) * (width + 2) + cell % width + 1


class LastPlan(NamedTuple):
    """The last plan that was carried out: its goal, number of names, and rows and columns from its end to the goal."""

    goal: int
    actions: int
    rows: int
    columns: int


class TileState(NamedTuple):
    """The state of an episode: the player's cell and the goals that are left.

    Attributes:
        goal: Index of the next goal in the board's `goals`.
        reached: Number of goals at which a plan ended.
        misses: Unreadable replies in a row for this goal.
        tries: Plans carried out for this goal.
        removed: Cells whose object has become ground, as (row, column).
        last: The last plan; None at the start.
        over: Whether the episode ended before the last goal.
        beings: Cells of the fenced map where walkers and enemies are.
        tick: Number of steps that beings have made, one after each action; 0 without beings.
        death: What has met the player and ended the episode, "enemy" or "hazard"; "" for nothing.
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
        removed_cells = {_fenced_cell(row * width + column, width) for row, column in self.removed}
        return gone_bits(self.board.locks, removed_cells)

    @property
    def keys(self) -> str:
        """The signs of the keys that the player carries."""
        gone = self.gone_locks
        return "".join(lock.key_sign for number, lock in enumerate(self.board.locks) if gone >> 2 * number & 1)

    def rows(self) -> list[str]:
        """Return the rows of the map as it is now, with the player on it."""
        rows = list(self.board.bare)
        for row, column in self.removed:
            rows[row] = _row_with_sign(rows[row], column, self.board.ground)
        width = self.board.case.width + 2
        for number, cell in enumerate(self.beings):
            row, column = cell // width - 1, cell % width - 1
            is_enemy = number >= self.board.style.crew.walkers
            rows[row] = _row_with_sign(rows[row], column, self.board.signs[is_enemy])
        rows[self.row] = _row_with_sign(rows[self.row], self.column, PLAYER)
        return rows


def _row_with_sign(row: str, column: int, sign: str) -> str:
    """Return a row with another character in a column."""
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

    A walker makes a step in a random direction, or stays if that cell is closed. An enemy comes nearer half of the time
    and wanders otherwise. Two beings are never in one cell, and none steps on a hazard. The random steps depend on the
    map, the numbers of beings and the number of actions taken (`tick`): they are the same for every player and attempt.
    `fenced` is the map with a border of closed cells, a byte for each: 1 where one can stand; `at` (the player's) and
    `beings` are cells of this map.

    Returns:
        The beings' new cells, and whether an enemy has met the player.
    """
    n_walkers, width = board.style.crew.walkers, board.case.width + 2
    if at in beings[n_walkers:]:
        return beings, True
    cells = list(beings)
    for number, (direction, approaches) in enumerate(_random_being_steps(board.seed, n_walkers, len(beings), tick)):
        cell, is_enemy = cells[number], number >= n_walkers
        if approaches:  # along the longer side
            rows, columns = at // width - cell // width, at % width - cell % width
            direction = (rows > 0) if abs(rows) > abs(columns) else 2 + (columns > 0)
        target = cell + (-width, width, -1, 1)[direction]
        is_free = fenced[target] and target not in cells and target not in board.hazards
        if is_free and (target != at or is_enemy):
            cells[number] = target
            if target == at:
                return tuple(cells), True
    return tuple(cells), False


@lru_cache(maxsize=1 << 16)
def _random_being_steps(seed: str, n_walkers: int, count: int, tick: int) -> tuple[tuple[int, bool], ...]:
    """Return for each being a random direction (up, down, left, right: 0 to 3) and whether it approaches instead."""
    rng = Stream("tilemap", "beings", seed, n_walkers, count - n_walkers, tick)
    return tuple((rng.below(4), number >= n_walkers and rng.below(2) == 1) for number in range(count))

"""The two readings of the rules, and a map as one way of playing reads it."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from waybench.core import Json, Stream
from waybench.envs.spaces._lattice import Floor
from waybench.envs.tilemap._instance import PLAYER, TileMap, leg_lengths, tile_list

GIVEN_UP = 100  # points for a goal that was given up or is lost; one given up costs the path length as well
_RINGS = ((0, 200), (1, 100), (3, 50), (5, 25), (8, -50))
_LEAST_LOSS = 100  # points that a plan loses at least that does not end on its objective, by both tables of rewards
# Characters for what is not of the record's map, the first that it does not use.
_SIGNS = "&%!$*?+=~^;:<>|_/0123456789"
_SAFE = 4  # cells between the player and an enemy at first


class Worth(NamedTuple):
    """The reward for ending at a distance from the goal, and whether it counts for Top-0, Top-1 and Top-5."""

    reward: int
    top: tuple[int, int, int]


def published_worth(rows: int, columns: int) -> Worth:
    """Return what the published program gives for ending so many rows and columns away.

    Its conditions are not exclusive and leave gaps: 9 rows and 6 columns away cost 150, 3 and 3 nothing at all, and
    straight 3 to 5 away is worth 50 where the prompt promises 25. Top-0, Top-1 and Top-5 exclude each other.
    """
    far, near = max(rows, columns), min(rows, columns)
    reward = 0
    if far > 8:
        reward -= 100
    if 5 < rows < 8 or 5 < columns < 8:
        reward -= 50
    if near >= 4 and far <= 5:
        reward += 25
    if rows == columns == 2:
        reward += 50
    cross = near <= 1 and 2 <= far <= 5
    beside = far == 1
    there = far == 0
    reward += 50 * cross + 100 * beside + 200 * there
    return Worth(reward, (int(there), int(beside), int(cross)))


def ring_worth(rows: int, columns: int) -> Worth:
    """Return what the published prompt promises: rings of a distance that counts diagonals as one.

    200 for the place itself, 100 beside it, 50 up to 3 away, 25 up to 5, -50 up to 8, -100 beyond. Top-1 holds what is
    in Top-0, and Top-5 what is in Top-1.
    """
    far = max(rows, columns)
    reward = next((points for limit, points in _RINGS if far <= limit), -100)
    return Worth(reward, (int(far == 0), int(far <= 1), int(far <= 5)))


def moves_per_point(length: int) -> int:
    """Return how many moves cost one point, so that a shortest tour of this length is worth more than any other play.

    It is the first of 1, 2, 5, 10, 20, 50, ... for which the whole tour costs less than 100 points. A play that misses
    an objective loses at least 100 points there, and saves at most what all moves of the tour cost. A play that misses
    none has at least as many moves as the shortest tour. The coarse steps keep the tour's exact length out of the
    prompt, which names the cost of a move.
    """
    power = 1
    while True:
        for digit in (1, 2, 5):
            if length < _LEAST_LOSS * digit * power:
                return digit * power
        power *= 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TileProtocol:
    """One reading of the rules.

    Attributes:
        substring: A tile can be walked on if its character occurs anywhere in the text of the list, comments included;
            otherwise if the list names it.
        literal: The reply's first innermost {...} that is a Python literal counts, whatever it is; otherwise its last
            JSON object with "action".
        crashes: An "action" that is no sequence of plain values ends the map, as the published program's error did,
            with the reward so far; otherwise it is an unparsed reply.
        objects: pick_object and hit_enemy are carried out, though the prompt does not name them; otherwise they are
            unknown actions.
        unreachable: Objectives that cannot be reached are requested too; otherwise they are left out.
        stored_length: The score is scaled by the record's path length; otherwise by the shortest tour's.
        scaled_moves: The cost of a move falls with the length of the map's shortest tour (see `moves_per_point`);
            otherwise every move costs 1 point.
        clipped: The score is cut at 0 and 100.
        explains: The prompt says what coordinates and directions mean.
        worth: (rows, columns) away -> what it is worth.
    """

    substring: bool = False
    literal: bool = False
    crashes: bool = False
    objects: bool = False
    unreachable: bool = False
    stored_length: bool = False
    scaled_moves: bool = False
    clipped: bool = False
    explains: bool = False
    worth: Callable[[int, int], Worth]


PROTOCOLS = {
    "paper": TileProtocol(
        substring=True,
        literal=True,
        crashes=True,
        objects=True,
        unreachable=True,
        stored_length=True,
        worth=published_worth,
    ),
    "sound": TileProtocol(scaled_moves=True, clipped=True, explains=True, worth=ring_worth),
}


MOVES: Mapping[str, tuple[int, int]] = {
    "move_up": (-1, 0),
    "move_down": (1, 0),
    "move_left": (0, -1),
    "move_right": (0, 1),
}
"""Name -> (rows, columns)."""


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
    """The way of playing: the reading of the rules, the form of replies, and the beings on the map.

    A plan is one action if it is `single`; if it `predicts`, it has a drawing of the map as the player expects it
    afterwards.
    """

    protocol: TileProtocol
    single: bool = False
    predicts: bool = False
    crew: Crew = Crew()


def play_style(options: Mapping[str, Json], *, single: bool = False, predicts: bool = False) -> Style:
    """Return the form of requests and replies by the options of play; see `Style`."""
    crew = Crew(int(options["walkers"]), int(options["enemies"]), int(options["hazards"]))
    return Style(PROTOCOLS[options["protocol"]], single, predicts, crew)


class MovePlan(NamedTuple):
    """The plan in a reply: names of actions, any texts, and the map expected afterwards if it was requested."""

    names: tuple[str, ...]
    drawing: str | None = None


@dataclass(frozen=True, slots=True)
class TileBoard:
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
def board(case: TileMap, style: Style) -> TileBoard:
    """Return a map as a way of playing reads it."""
    protocol = style.protocol
    signs = "".join(case.rows)
    walkable = case.walkable if protocol.substring else tile_list(case.walkable)
    walkable = "".join(dict.fromkeys(sign for sign in signs if sign in walkable))
    counts = Counter(sign for sign in signs if sign in walkable)
    ground = counts.most_common(1)[0][0] if counts else PLAYER
    legs = leg_lengths(case, case.floor(walkable))
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
    return _with_crew(result) if any(style.crew) else result


def _with_crew(unpeopled: TileBoard) -> TileBoard:
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
    row, column = divmod(case.start, case.width)
    free = [cell for cell in cells if cell not in hazards]
    far = [cell for cell in free if abs(cell // case.width - row) + abs(cell % case.width - column) > _SAFE] or free
    walkers = free[: crew.walkers]
    beings = walkers + [cell for cell in far if cell not in walkers][: crew.enemies]
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
        length=sum(leg or 0 for leg in leg_lengths(case, floor)),
        seed=seed,
    )


def _fenced_cell(cell: int, width: int) -> int:
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


def start(case: TileMap, style: Style) -> TileState:
    """Return the player where the map has it, and the beings where they are at first."""
    case_board = board(case, style)
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

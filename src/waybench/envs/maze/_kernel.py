"""The drawing and the proof of mazes in compiled code: the same mazes as in Python, for processes that make many.

The random numbers are those of a `Stream`, block by block. hashlib cannot be called from compiled code, so that SHA-512
(FIPS 180-4) is written out for the one message that is needed: 72 bytes, a stream's key digest and a block's number.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any, cast

import numpy as np

from waybench._compile import compiled
from waybench.core import Json, Stream
from waybench.envs.maze._game import Maze
from waybench.envs.spaces._lattice import DIRECTIONS, Lattice

_LARGEST = np.uint64(2**64 - 1)
_EVEN = np.uint64(2**64 - 2**32)  # no number below 2**32 has remainders that words below this one favour
_NUMBER, _LEFT, _WORDS, _SCHEDULE = 8, 9, 10, 18  # where a stream's array has them, after the key digest
_ALGORITHMS = {"backtracker": 0, "kruskal": 1, "prim": 2, "wilson": 3}
_NAMES = tuple(DIRECTIONS)


def _root_fractions(count: int, degree: int) -> list[int]:
    """Return the first 64 fractional bits of the roots of the first primes, the constants of SHA-512."""
    primes = (n for n in range(2, 410) if all(n % divisor for divisor in range(2, n)))
    fractions: list[int] = []
    for prime in islice(primes, count):
        root = 0
        for bit in range(67, -1, -1):
            root |= (1 << bit) * ((root | 1 << bit) ** degree <= prime << 64 * degree)
        fractions.append(root % 2**64)
    return fractions


_START = tuple(map(np.uint64, _root_fractions(8, 2)))
_ROUNDS = np.array(_root_fractions(80, 3), np.uint64)


@compiled
def _xor_of_rotations(word: Any, a: Any, b: Any, c: Any) -> Any:  # pragma: no cover  compiled
    """Return the exclusive or of a word's rotations to the right by a, b and c bits."""
    first = word >> np.uint64(a) | word << np.uint64(64 - a)
    second = word >> np.uint64(b) | word << np.uint64(64 - b)
    return first ^ second ^ (word >> np.uint64(c) | word << np.uint64(64 - c))


@compiled
def _xor_of_rotations_and_shift(word: Any, a: Any, b: Any, c: Any) -> Any:  # pragma: no cover  compiled
    """Return the exclusive or of a word's rotations to the right by a and b bits, and its shift by c."""
    first = word >> np.uint64(a) | word << np.uint64(64 - a)
    return first ^ (word >> np.uint64(b) | word << np.uint64(64 - b)) ^ word >> np.uint64(c)


@compiled
def _refill_words(stream: Any) -> None:  # pragma: no cover  compiled
    """Replace a stream's words by those of its next block, the first one last."""
    schedule = stream[_SCHEDULE:]
    for place in range(16):  # slices and ranges as arrays take seconds to compile
        schedule[place] = stream[place] if place < 9 else np.uint64(0)
    schedule[9], schedule[15] = np.uint64(1) << np.uint64(63), np.uint64(8 * 72)
    a, b, c, d, e, f, g, h = _START
    for place in range(80):
        if place > 15:
            schedule[place % 16] += (
                _xor_of_rotations_and_shift(schedule[(place - 15) % 16], 1, 8, 7)
                + schedule[(place - 7) % 16]
                + _xor_of_rotations_and_shift(schedule[(place - 2) % 16], 19, 61, 6)
            )
        h += _xor_of_rotations(e, 14, 18, 41) + ((e & f) ^ (~e & g)) + _ROUNDS[place] + schedule[place % 16]
        total = h + _xor_of_rotations(a, 28, 34, 39) + ((a & b) ^ (a & c) ^ (b & c))
        a, b, c, d, e, f, g, h = total, a, b, c, d + h, e, f, g
    for place, word in enumerate((h, g, f, e, d, c, b, a)):
        stream[_WORDS + place] = word + _START[7 - place]
    stream[_NUMBER] += np.uint64(1)
    stream[_LEFT] = np.uint64(8)


@compiled
def _random_below(stream: Any, n: Any) -> Any:  # pragma: no cover  compiled
    """Return a uniform random number in [0, n), as `Stream.below`."""
    divisor = np.uint64(n)
    while True:
        if stream[_LEFT] == 0:
            _refill_words(stream)
        stream[_LEFT] -= np.uint64(1)
        word = stream[_WORDS + np.int64(stream[_LEFT])]
        if divisor & (divisor - np.uint64(1)) == 0:  # a division takes as long as the rest together
            return np.int64(word & (divisor - np.uint64(1)))
        if word < _EVEN:
            return np.int64(word % divisor)
        rest = _LARGEST % divisor + np.uint64(1)  # words, the last ones, that would favour some numbers
        if word <= _LARGEST - rest:
            return np.int64(word % divisor)


@compiled
def _shuffle(stream: Any, numbers: Any) -> None:  # pragma: no cover  compiled
    for last in range(len(numbers) - 1, 0, -1):
        other = _random_below(stream, last + 1)
        numbers[last], numbers[other] = numbers[other], numbers[last]


@compiled
def _arange(count: Any) -> Any:  # pragma: no cover  compiled
    """Return the numbers 0 to `count` - 1; `np.arange` takes seconds to compile."""
    numbers = np.empty(count, np.int64)
    for number in range(count):
        numbers[number] = number
    return numbers


@compiled
def _set_neighbours(room: Any, columns: Any, rows: Any, neighbours: Any) -> Any:  # pragma: no cover  compiled
    """Write the rooms above, below, left and right of a room; return their number."""
    count, x = 0, room % columns
    if room >= columns:
        neighbours[count] = room - columns
        count += 1
    if room < columns * (rows - 1):
        neighbours[count] = room + columns
        count += 1
    if x > 0:
        neighbours[count] = room - 1
        count += 1
    if x < columns - 1:
        neighbours[count] = room + 1
        count += 1
    return count


@compiled
def _wall_between(a: Any, b: Any, columns: Any) -> Any:  # pragma: no cover  compiled
    """Return the cell between two rooms."""
    width = 2 * columns + 1
    return (a // columns + b // columns + 1) * width + a % columns + b % columns + 1


@compiled
def _closed_walls(columns: Any, rows: Any, cells: Any) -> Any:  # pragma: no cover  compiled
    """Return the closed walls between rooms, in the order of the rooms."""
    walls, width, count = np.empty(2 * columns * rows, np.int64), 2 * columns + 1, 0
    for y in range(1, 2 * rows, 2):
        for room in range(y * width + 1, (y + 1) * width, 2):
            if room + 2 < (y + 1) * width and not cells[room + 1]:
                walls[count] = room + 1
                count += 1
            if y + 2 < 2 * rows and not cells[room + width]:
                walls[count] = room + width
                count += 1
    return walls[:count]


@compiled
def _open_backtracker_tree(stream: Any, columns: Any, rows: Any, cells: Any) -> None:  # pragma: no cover  compiled
    """Open the passages of a random spanning tree, as the backtracker of `spaces.TREES`."""
    rooms = columns * rows
    visited, trail = np.zeros(rooms, np.bool_), np.empty(rooms, np.int64)
    near, fresh = np.empty(4, np.int64), np.empty(4, np.int64)
    trail[0] = _random_below(stream, rooms)
    visited[trail[0]] = True
    length, found = 1, 1
    while found < rooms:
        here, count = trail[length - 1], 0
        for place in range(_set_neighbours(here, columns, rows, near)):
            if not visited[near[place]]:
                fresh[count] = near[place]
                count += 1
        if count == 0:
            length -= 1
            continue
        pick = 0
        if count > 1:
            pick = _random_below(stream, count)
        room = fresh[pick]
        visited[room] = True
        cells[_wall_between(here, room, columns)] = 1
        trail[length] = room
        length += 1
        found += 1


@compiled
def _find_root(parents: Any, room: Any) -> Any:  # pragma: no cover  compiled
    """Return the root of a room's set of connected rooms (union-find with path halving)."""
    while parents[room] != room:
        parents[room] = parents[parents[room]]
        room = parents[room]
    return room


@compiled
def _open_kruskal_tree(stream: Any, columns: Any, rows: Any, cells: Any) -> None:  # pragma: no cover  compiled
    """Open the passages of a random spanning tree, as Kruskal's of `spaces.TREES`."""
    width = 2 * columns + 1
    walls, parents = _closed_walls(columns, rows, cells), _arange(columns * rows)
    _shuffle(stream, walls)
    for wall in walls:
        y, x = wall // width, wall % width
        # The rooms on both sides of a wall: of one in a row of rooms beside it, otherwise above and below.
        first = (y - 1) // 2 * columns + (x - 1) // 2
        a, b = _find_root(parents, first), _find_root(parents, first + (1 if y % 2 else columns))
        if a != b:
            parents[a] = b
            cells[wall] = 1


@compiled
def _open_prim_tree(stream: Any, columns: Any, rows: Any, cells: Any) -> None:  # pragma: no cover  compiled
    """Open the passages of a random spanning tree, as Prim's of `spaces.TREES`."""
    rooms = columns * rows
    inside, near = np.zeros(rooms, np.bool_), np.empty(4, np.int64)
    homes, frontier, count = np.empty(4 * rooms, np.int64), np.empty(4 * rooms, np.int64), 0
    room = _random_below(stream, rooms)
    while True:
        inside[room] = True
        for place in range(_set_neighbours(room, columns, rows, near)):
            if not inside[near[place]]:
                homes[count], frontier[count] = room, near[place]
                count += 1
        while True:
            if count == 0:
                return
            pick = _random_below(stream, count)
            count -= 1
            home, room = homes[pick], frontier[pick]
            homes[pick], frontier[pick] = homes[count], frontier[count]
            if not inside[room]:
                cells[_wall_between(home, room, columns)] = 1
                break


@compiled
def _open_wilson_tree(stream: Any, columns: Any, rows: Any, cells: Any) -> None:  # pragma: no cover  compiled
    """Open the passages of a random spanning tree, as Wilson's of `spaces.TREES`."""
    rooms = columns * rows
    inside, leaves = np.zeros(rooms, np.bool_), np.empty(rooms, np.int64)
    order = _arange(rooms)
    near, counts = np.empty((rooms, 4), np.int64), np.empty(rooms, np.int64)
    for room in range(rooms):
        counts[room] = _set_neighbours(room, columns, rows, near[room])
    _shuffle(stream, order)
    inside[order[0]] = True
    for start in order:
        room = start
        while not inside[room]:
            leaves[room] = near[room, _random_below(stream, counts[room])]
            room = leaves[room]
        room = start
        while not inside[room]:
            inside[room] = True
            cells[_wall_between(room, leaves[room], columns)] = 1
            room = leaves[room]


@compiled
def _draw_cells(
    key: Any, algorithm: Any, columns: Any, rows: Any, opened: Any, doubled: Any, cells: Any
) -> Any:  # pragma: no cover  compiled
    """Open the rooms and the passages of a maze, and return which row and which column are there twice.

    `key` has the bytes of the stream's key digest, `algorithm` is a number of `_ALGORITHMS`, `columns` and `rows` count
    rooms, `opened` walls opened beside the tree, and `doubled` the rows and columns of which one is there twice, 1 for
    none. `cells`, all 0, are written.
    """
    stream = np.zeros(_SCHEDULE + 16, np.uint64)
    for place in range(64):
        stream[place // 8] = stream[place // 8] << np.uint64(8) | np.uint64(key[place])
    if algorithm == 0:
        _open_backtracker_tree(stream, columns, rows, cells)
    elif algorithm == 1:
        _open_kruskal_tree(stream, columns, rows, cells)
    elif algorithm == 2:
        _open_prim_tree(stream, columns, rows, cells)
    else:
        _open_wilson_tree(stream, columns, rows, cells)
    walls = _closed_walls(columns, rows, cells)
    _shuffle(stream, walls)
    for place in range(opened):
        cells[walls[place]] = 1
    for y in range(rows):
        for x in range(columns):
            cells[(2 * y + 1) * (2 * columns + 1) + 2 * x + 1] = 1
    return _random_below(stream, doubled[0]), _random_below(stream, doubled[1])


@compiled
def _neighbour_cell(cell: Any, direction: Any, width: Any, count: Any) -> Any:  # pragma: no cover  compiled
    """Return the cell above, below, left or right of a cell; -1 for none."""
    if direction == 0:
        return max(cell - width, -1)
    if direction == 1:
        return cell + width if cell + width < count else -1
    if direction == 2:
        return cell - 1 if cell % width else -1
    return cell + 1 if (cell + 1) % width else -1


@compiled
def _proof_numbers(cells: Any, width: Any, entrance: Any, exit_: Any) -> Any:  # pragma: no cover  compiled
    """Return steps, loops and junctions of the proof, and (direction, cells) along `Lattice.shortest_path`."""
    count = len(cells)
    far, queue = np.empty(count, np.int32), np.empty(count, np.int32)
    for cell in range(count):
        far[cell] = -1
    far[exit_], queue[0] = 0, exit_
    reached, at, ways, junctions = 1, 0, 0, 0
    while at < reached:
        cell, open_ = queue[at], 0
        at += 1
        for direction in range(4):
            near = _neighbour_cell(cell, direction, width, count)
            if near >= 0 and cells[near]:
                open_ += 1
                if far[near] < 0:
                    far[near] = far[cell] + 1
                    queue[reached] = near
                    reached += 1
        ways += open_
        junctions += open_ > 2
    steps = far[entrance]
    numbers = np.empty(3 + 2 * steps, np.int32)
    numbers[0], numbers[1], numbers[2] = steps, ways // 2 - reached + 1, junctions
    end, last, cell = 3, -1, entrance
    for nearer in range(steps - 1, -1, -1):
        direction, near = -1, -1
        while near < 0 or far[near] != nearer:
            direction += 1
            near = _neighbour_cell(cell, direction, width, count)
        if direction != last:
            numbers[end], numbers[end + 1], last = direction, 0, direction
            end += 2
        numbers[end - 1] += 1
        cell = near
    return numbers[:end]


def draw_maze(
    rng: Stream, shape: tuple[int, int], algorithm: str, opened: int, ends: tuple[int, int], lines: list[Sequence[int]]
) -> tuple[Maze, int, int]:
    """Draw a maze from a stream that nothing was drawn from; return it, and of each of `lines` the one chosen last.

    `shape` has the numbers of rows and columns, both odd; `algorithm` is a name in `waybench.envs.spaces.TREES`,
    `opened` the number of walls opened beside the tree, and `ends` has the cell numbers of entrance and exit.
    """
    rows, columns = shape
    key, cells = np.frombuffer(rng.key_digest(), np.uint8), np.zeros(rows * columns, np.uint8)
    doubled = len(lines[0]), len(lines[1])
    chosen = _draw_cells(key, _ALGORITHMS[algorithm], columns // 2, rows // 2, opened, doubled, cells)
    row, column = cast(tuple[int, int], chosen)
    cells[ends[0]] = cells[ends[1]] = 1
    return Maze(Lattice(columns, rows, cells.tobytes()), *ends), lines[0][row], lines[1][column]


def prove(maze: Maze) -> dict[str, Json]:
    """Return the proof of a maze whose exit can be reached, as `_game.prove` does."""
    cells = np.frombuffer(maze.lattice.cells, np.uint8)
    steps, loops, junctions, *ways = cast(
        list[int], _proof_numbers(cells, maze.lattice.width, maze.entrance, maze.exit).tolist()
    )
    solution = [[_NAMES[way], length] for way, length in zip(ways[::2], ways[1::2], strict=True)]
    return {"minimum": steps, "solution": solution, "loops": loops, "junctions": junctions}

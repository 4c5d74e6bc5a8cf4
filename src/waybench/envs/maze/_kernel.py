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
_SAFE = np.uint64(2**64 - 2**32)  # words below it are never rejected, for numbers up to 2**32
# A stream is an array: 8 words of the key digest, the number of the next block, the number of unused words, the 8 words
# of a block, and the 16 words of SHA-512's message schedule.
_BLOCK_NUMBER, _N_UNUSED, _WORDS, _SCHEDULE = 8, 9, 10, 18
_ALGORITHMS = {"backtracker": 0, "kruskal": 1, "prim": 2, "wilson": 3}
_DIRECTION_NAMES = tuple(DIRECTIONS)


def _root_fractions(count: int, degree: int) -> list[int]:
    """Return the first 64 fractional bits of the roots of the first primes, the constants of SHA-512."""
    primes = (n for n in range(2, 410) if all(n % divisor for divisor in range(2, n)))  # 409 is the 80th
    fractions: list[int] = []
    for prime in islice(primes, count):
        root = 0  # times 2**64
        for bit in range(67, -1, -1):  # bit by bit: the largest number whose power is not above the prime
            if (root | 1 << bit) ** degree <= prime << 64 * degree:
                root |= 1 << bit
        fractions.append(root % 2**64)
    return fractions


_INITIAL_HASH = tuple(map(np.uint64, _root_fractions(8, 2)))
_ROUND_CONSTANTS = np.array(_root_fractions(80, 3), np.uint64)


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
    """Replace a stream's words by those of its next block, in reverse order: the last one is used first."""
    schedule = stream[_SCHEDULE:]
    for index in range(16):  # slices and ranges as arrays take seconds to compile
        schedule[index] = stream[index] if index < 9 else np.uint64(0)  # key digest and block number
    schedule[9], schedule[15] = np.uint64(1) << np.uint64(63), np.uint64(8 * 72)  # padding: a bit, and the length
    a, b, c, d, e, f, g, h = _INITIAL_HASH
    for number in range(80):  # rounds
        if number > 15:
            schedule[number % 16] += (
                _xor_of_rotations_and_shift(schedule[(number - 15) % 16], 1, 8, 7)
                + schedule[(number - 7) % 16]
                + _xor_of_rotations_and_shift(schedule[(number - 2) % 16], 19, 61, 6)
            )
        h += _xor_of_rotations(e, 14, 18, 41) + ((e & f) ^ (~e & g)) + _ROUND_CONSTANTS[number] + schedule[number % 16]
        new_a = h + _xor_of_rotations(a, 28, 34, 39) + ((a & b) ^ (a & c) ^ (b & c))
        a, b, c, d, e, f, g, h = new_a, a, b, c, d + h, e, f, g
    for index, word in enumerate((h, g, f, e, d, c, b, a)):
        stream[_WORDS + index] = word + _INITIAL_HASH[7 - index]
    stream[_BLOCK_NUMBER] += np.uint64(1)
    stream[_N_UNUSED] = np.uint64(8)


@compiled
def _random_below(stream: Any, n: Any) -> Any:  # pragma: no cover  compiled
    """Return a uniform random number in [0, n), as `Stream.below`."""
    divisor = np.uint64(n)
    while True:
        if stream[_N_UNUSED] == 0:
            _refill_words(stream)
        stream[_N_UNUSED] -= np.uint64(1)
        word = stream[_WORDS + np.int64(stream[_N_UNUSED])]
        if divisor & (divisor - np.uint64(1)) == 0:  # a power of 2 needs no division, which takes half of the time
            return np.int64(word & (divisor - np.uint64(1)))
        if word < _SAFE:
            return np.int64(word % divisor)
        n_rejected = _LARGEST % divisor + np.uint64(1)  # the last words, which would favour some numbers
        if word <= _LARGEST - n_rejected:
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
    """Return the cells of the closed walls between rooms, in the order of the rooms."""
    walls, width, count = np.empty(2 * columns * rows, np.int64), 2 * columns + 1, 0
    for y in range(1, 2 * rows, 2):
        for cell in range(y * width + 1, (y + 1) * width, 2):  # of a room
            if cell + 2 < (y + 1) * width and not cells[cell + 1]:
                walls[count] = cell + 1
                count += 1
            if y + 2 < 2 * rows and not cells[cell + width]:
                walls[count] = cell + width
                count += 1
    return walls[:count]


@compiled
def _open_backtracker_tree(stream: Any, columns: Any, rows: Any, cells: Any) -> None:  # pragma: no cover  compiled
    """Open the passages of a random spanning tree, as the backtracker of `spaces.TREES`."""
    n_rooms = columns * rows
    visited, trail = np.zeros(n_rooms, np.bool_), np.empty(n_rooms, np.int64)
    neighbours, unvisited = np.empty(4, np.int64), np.empty(4, np.int64)
    trail[0] = _random_below(stream, n_rooms)
    visited[trail[0]] = True
    trail_length, n_visited = 1, 1
    while n_visited < n_rooms:
        here, n_unvisited = trail[trail_length - 1], 0
        for index in range(_set_neighbours(here, columns, rows, neighbours)):
            if not visited[neighbours[index]]:
                unvisited[n_unvisited] = neighbours[index]
                n_unvisited += 1
        if n_unvisited == 0:
            trail_length -= 1
            continue
        pick = 0
        if n_unvisited > 1:  # a single neighbour takes no random number
            pick = _random_below(stream, n_unvisited)
        room = unvisited[pick]
        visited[room] = True
        cells[_wall_between(here, room, columns)] = 1
        trail[trail_length] = room
        trail_length += 1
        n_visited += 1


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
        # A wall in a row of rooms has a room on its left and one on its right, any other wall one above and one below.
        first = (y - 1) // 2 * columns + (x - 1) // 2
        a, b = _find_root(parents, first), _find_root(parents, first + (1 if y % 2 else columns))
        if a != b:
            parents[a] = b
            cells[wall] = 1


@compiled
def _open_prim_tree(stream: Any, columns: Any, rows: Any, cells: Any) -> None:  # pragma: no cover  compiled
    """Open the passages of a random spanning tree, as Prim's of `spaces.TREES`."""
    n_rooms = columns * rows
    in_tree, neighbours = np.zeros(n_rooms, np.bool_), np.empty(4, np.int64)
    # The passages out of the tree: from a room in it to a room that was not in it yet.
    sources, targets, n_passages = np.empty(4 * n_rooms, np.int64), np.empty(4 * n_rooms, np.int64), 0
    room = _random_below(stream, n_rooms)
    while True:
        in_tree[room] = True
        for index in range(_set_neighbours(room, columns, rows, neighbours)):
            if not in_tree[neighbours[index]]:
                sources[n_passages], targets[n_passages] = room, neighbours[index]
                n_passages += 1
        while True:
            if n_passages == 0:
                return
            pick = _random_below(stream, n_passages)
            n_passages -= 1
            source, room = sources[pick], targets[pick]
            sources[pick], targets[pick] = sources[n_passages], targets[n_passages]
            if not in_tree[room]:
                cells[_wall_between(source, room, columns)] = 1
                break


@compiled
def _open_wilson_tree(stream: Any, columns: Any, rows: Any, cells: Any) -> None:  # pragma: no cover  compiled
    """Open the passages of a random spanning tree, as Wilson's of `spaces.TREES`."""
    n_rooms = columns * rows
    in_tree, next_rooms = np.zeros(n_rooms, np.bool_), np.empty(n_rooms, np.int64)
    order = _arange(n_rooms)
    neighbours, neighbour_counts = np.empty((n_rooms, 4), np.int64), np.empty(n_rooms, np.int64)
    for room in range(n_rooms):
        neighbour_counts[room] = _set_neighbours(room, columns, rows, neighbours[room])
    _shuffle(stream, order)
    in_tree[order[0]] = True
    for start in order:
        room = start
        while not in_tree[room]:  # a random walk; a room's last step counts, which erases loops
            next_rooms[room] = neighbours[room, _random_below(stream, neighbour_counts[room])]
            room = next_rooms[room]
        room = start
        while not in_tree[room]:
            in_tree[room] = True
            cells[_wall_between(room, next_rooms[room], columns)] = 1
            room = next_rooms[room]


@compiled
def _draw_cells(
    key: Any, algorithm: Any, columns: Any, rows: Any, loop_count: Any, line_counts: Any, cells: Any
) -> Any:  # pragma: no cover  compiled
    """Write the open cells of a maze into `cells`, all 0; return the indexes of the row and the column to double.

    `key` has the bytes of the stream's key digest, `algorithm` is a number of `_ALGORITHMS`, `columns` and `rows` count
    rooms, `loop_count` the walls opened beside the tree, and `line_counts` the rows and columns to choose from.
    """
    stream = np.zeros(_SCHEDULE + 16, np.uint64)
    for index in range(64):
        stream[index // 8] = stream[index // 8] << np.uint64(8) | np.uint64(key[index])
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
    for index in range(loop_count):
        cells[walls[index]] = 1
    for y in range(rows):
        for x in range(columns):
            cells[(2 * y + 1) * (2 * columns + 1) + 2 * x + 1] = 1
    return _random_below(stream, line_counts[0]), _random_below(stream, line_counts[1])


@compiled
def _neighbour_cell(cell: Any, direction: Any, width: Any, count: Any) -> Any:  # pragma: no cover  compiled
    """Return the cell above, below, left or right (0 to 3) of a cell; -1 for none."""
    if direction == 0:
        return max(cell - width, -1)
    if direction == 1:
        return cell + width if cell + width < count else -1
    if direction == 2:
        return cell - 1 if cell % width else -1
    return cell + 1 if (cell + 1) % width else -1


@compiled
def _proof_numbers(cells: Any, width: Any, entrance: Any, exit_: Any) -> Any:  # pragma: no cover  compiled
    """Return steps, loops and junctions of the proof, and (direction, cells) along `Lattice.shortest_path`, flat."""
    count = len(cells)
    distances, queue = np.empty(count, np.int32), np.empty(count, np.int32)
    for cell in range(count):
        distances[cell] = -1
    distances[exit_], queue[0] = 0, exit_
    tail, head, n_open_sides, n_junctions = 1, 0, 0, 0
    while head < tail:
        cell, n_open = queue[head], 0
        head += 1
        for direction in range(4):
            neighbour = _neighbour_cell(cell, direction, width, count)
            if neighbour >= 0 and cells[neighbour]:
                n_open += 1
                if distances[neighbour] < 0:
                    distances[neighbour] = distances[cell] + 1
                    queue[tail] = neighbour
                    tail += 1
        n_open_sides += n_open
        n_junctions += n_open > 2
    steps = distances[entrance]
    numbers = np.empty(3 + 2 * steps, np.int32)
    # A graph has edges - nodes + 1 loops; both cells of an edge have counted it, and the queue has held all nodes.
    numbers[0], numbers[1], numbers[2] = steps, n_open_sides // 2 - tail + 1, n_junctions
    end, last_direction, cell = 3, -1, entrance
    for distance in range(steps - 1, -1, -1):
        direction, neighbour = -1, -1
        while neighbour < 0 or distances[neighbour] != distance:
            direction += 1
            neighbour = _neighbour_cell(cell, direction, width, count)
        if direction != last_direction:
            numbers[end], numbers[end + 1], last_direction = direction, 0, direction
            end += 2
        numbers[end - 1] += 1
        cell = neighbour
    return numbers[:end]


def draw_maze(
    rng: Stream,
    shape: tuple[int, int],
    algorithm: str,
    loop_count: int,
    openings: tuple[int, int],
    lines: list[Sequence[int]],
) -> tuple[Maze, int, int]:
    """Draw a maze from an unused stream; return the maze, and the row and the column to double.

    `shape` has the numbers of rows and columns, both odd; `algorithm` is a name in `waybench.envs.spaces.TREES`,
    `loop_count` the number of walls opened beside the tree, `openings` has the cell numbers of entrance and exit, and
    `lines` the rows and the columns to choose from.
    """
    rows, columns = shape
    key, cells = np.frombuffer(rng.key_digest(), np.uint8), np.zeros(rows * columns, np.uint8)
    line_counts = len(lines[0]), len(lines[1])
    indexes = _draw_cells(key, _ALGORITHMS[algorithm], columns // 2, rows // 2, loop_count, line_counts, cells)
    row, column = cast(tuple[int, int], indexes)
    for cell in openings:
        cells[cell] = 1
    return Maze(Lattice(columns, rows, cells.tobytes()), *openings), lines[0][row], lines[1][column]


def prove(maze: Maze) -> dict[str, Json]:
    """Return the proof of a maze whose exit can be reached, as `_game.prove` does."""
    cells = np.frombuffer(maze.lattice.cells, np.uint8)
    steps, loops, junctions, *movements = cast(
        list[int], _proof_numbers(cells, maze.lattice.width, maze.entrance, maze.exit).tolist()
    )
    pairs = zip(movements[::2], movements[1::2], strict=True)
    solution = [[_DIRECTION_NAMES[direction], length] for direction, length in pairs]
    return {"minimum": steps, "solution": solution, "loops": loops, "junctions": junctions}

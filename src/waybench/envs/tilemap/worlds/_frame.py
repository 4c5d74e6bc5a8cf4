"""A rectangle to build in, whichever way it faces, and the rooms that it can be divided into."""

from dataclasses import dataclass

from waybench.envs.tilemap.worlds._board import Board


@dataclass(slots=True)
class Location:
    """Somewhere that has a name, or can have one.

    Attributes:
        kind: What it is, as names of places and phrases go by it.
        cells: Its cells that can be stood on, and that something may be found at.
        door: The cell before it, to which a road leads.
        indoor: Whether it is furnished.
    """

    kind: str
    cells: list[int]
    door: int
    indoor: bool = False


class Frame:
    """A rectangle of the board that can be drawn in without regard to the side that its front is on.

    In its own coordinates the front is the last row. Rows and columns just outside it are those of the board.

    Args:
        board: The board.
        top: Its first row on the board.
        left: Its first column on the board.
        size: Its height and width on the board.
        turn: How it lies, from 0 to 7: 1 turns it upside down, 2 left to right, 4 swaps rows and columns.
    """

    __slots__ = ("_across", "_down", "_first", "_high", "_left", "_top", "_wide", "board", "height", "turn", "width")

    def __init__(self, board: Board, top: int, left: int, size: tuple[int, int], turn: int) -> None:
        self.board, self.turn = board, turn
        self._top, self._left, (self._high, self._wide) = top, left, size
        self.height, self.width = size[::-1] if turn & 4 else size
        at = [row * board.width + column for row, column in map(self._on_board, (0, 1, 0), (0, 0, 1))]
        self._first, self._down, self._across = at[0], at[1] - at[0], at[2] - at[0]

    def cell(self, row: int, column: int) -> int:
        """Return the number of a cell, by its own coordinates."""
        return self._first + row * self._down + column * self._across

    def _on_board(self, row: int, column: int) -> tuple[int, int]:
        if self.turn & 4:
            row, column = column, row
        if self.turn & 1:
            row = self._high - 1 - row
        if self.turn & 2:
            column = self._wide - 1 - column
        return self._top + row, self._left + column

    def put(self, row: int, column: int, kind: int) -> None:
        """Lay a tile."""
        self.board.cells[self._first + row * self._down + column * self._across] = kind

    def solid(self, row: int, column: int) -> bool:
        """Say whether a cell cannot be walked on, or is outside the map."""
        board, (row, column) = self.board, self._on_board(row, column)
        if not (0 <= row < board.height and 0 <= column < board.width):
            return True
        return not board.palette.walkable[board.cells[row * board.width + column]]

    def part(self, row: int, column: int, height: int, width: int, back: bool = False) -> "Frame":
        """Return a rectangle within this one, with its front on the same side, or on the opposite one."""
        first_corner, second_corner = self.cell(row, column), self.cell(row + height - 1, column + width - 1)
        rows, columns = zip(
            divmod(first_corner, self.board.width), divmod(second_corner, self.board.width), strict=True
        )
        size = (abs(rows[0] - rows[1]) + 1, abs(columns[0] - columns[1]) + 1)
        flip = (2 if self.turn & 4 else 1) if back else 0
        return Frame(self.board, min(rows), min(columns), size, self.turn ^ flip)

    def fill(self, kind: int) -> None:
        """Lay a tile everywhere."""
        for row in range(self._top, self._top + self._high):
            start = row * self.board.width + self._left
            self.board.cells[start : start + self._wide] = bytes([kind]) * self._wide

    def ring(self, kind: int) -> None:
        """Lay a tile along all four sides."""
        for row in range(self.height):
            for column in (0, self.width - 1) if 0 < row < self.height - 1 else range(self.width):
                self.put(row, column, kind)

    def roundness(self, row: int, column: int, front: bool = True) -> int:
        """Return how far out a cell is: 0 in the middle, 100 on the largest ellipse; in whole numbers.

        Args:
            row: Its row.
            column: Its column.
            front: Whether the front half is round as well; otherwise its sides are straight.
        """
        across, down = (2 * column + 1 - self.width) * self.height, (2 * row + 1 - self.height) * self.width
        if down > 0 and not front:
            down = 0
        return 100 * (across * across + down * down) // (self.height * self.width) ** 2

    def claim(self, is_building: bool = True) -> None:
        """Keep other buildings away from it, and roads too if it is built upon."""
        self.board.claim(self._top, self._left, self._high, self._wide, is_building)


def partition(frame: Frame, area: tuple[int, int, int, int], most: int, wall: int, door: int) -> list[list[int]]:
    """Divide an area, walled in on all sides, into rooms with a door in each wall between two of them.

    Args:
        frame: Where it is.
        area: Its first row and column, and those after its last ones.
        most: Largest number of cells of a room; sides are at least 2, so that a room may be larger.
        wall: The walls' tile.
        door: The doors' tile.

    Returns:
        The cells of each room.
    """
    rng, rooms, rest = frame.board.rng, list[list[int]](), [area]
    while rest:
        top, left, bottom, right = rest.pop()
        high, wide = bottom - top, right - left
        lines = _lines(frame, (top, left, bottom, right)) if high * wide > most else []
        if not lines:
            rooms.append([frame.cell(row, column) for row in range(top, bottom) for column in range(left, right)])
            continue
        upright = wide > high
        middle = (left + right) // 2 if upright else (top + bottom) // 2
        # The more even one of two lines, so that there are few slivers.
        line = min((rng.choice(lines) for _ in range(2)), key=lambda line: abs(line - middle))
        gap = top + rng.below(high) if upright else left + rng.below(wide)
        if upright:
            for row in range(top, bottom):
                frame.put(row, line, door if row == gap else wall)
            rest += [(top, left, bottom, line), (top, line + 1, bottom, right)]
        else:
            for column in range(left, right):
                frame.put(line, column, door if column == gap else wall)
            rest += [(top, left, line, right), (line + 1, left, bottom, right)]
    return rooms


def _lines(frame: Frame, area: tuple[int, int, int, int]) -> list[int]:
    """Return where a wall can go across the longer side: not next to another, nor with an end at a door."""
    top, left, bottom, right = area
    if right - left > bottom - top:
        return [x for x in range(left + 2, right - 2) if frame.solid(top - 1, x) and frame.solid(bottom, x)]
    return [y for y in range(top + 2, bottom - 2) if frame.solid(y, left - 1) and frame.solid(y, right)]

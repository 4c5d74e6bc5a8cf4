"""Places out of doors: caves, camps, standing stones, orchards, groves, mazes and gardens; and a list of all kinds."""

from collections.abc import Callable

from waybench.envs.tilemap.worlds._frame import Frame, Location
from waybench.envs.tilemap.worlds._houses import house, ruin, shrine, tower, village
from waybench.spaces import spanning_tree


def cave(frame: Frame) -> list[Location]:
    """Dig a cave: a rock with a winding passage into it."""
    board, rng = frame.board, frame.board.rng
    rock, inside = board.palette.one("cliff"), board.rng.choice(board.palette.roles["floor"])
    high, wide = frame.height, frame.width
    for row in range(high):
        for column in range(wide):
            if frame.roundness(row, column, front=False) < 100:
                frame.put(row, column, rock)
    mouth = wide // 2 + rng.below(3) - 1
    row, column, dug = high - 1, mouth, dict[int, None]()
    for _ in range(high * wide):
        frame.put(row, column, inside)
        dug[frame.cell(row, column)] = None
        down, right = rng.choice(((-1, 0), (-1, 0), (0, 1), (0, -1), (0, 1), (0, -1), (1, 0)))
        if 1 <= row + down <= high - 2 and 2 <= column + right <= wide - 3:
            row, column = row + down, column + right
        if len(dug) * 3 > high * wide:
            break
    frame.claim()
    deep = list(dug)
    return [Location("cave", deep[len(deep) // 2 :], frame.cell(high, mouth), indoor=True)]


def camp(frame: Frame) -> list[Location]:
    """Pitch tents around an open space."""
    board, rng = frame.board, frame.board.rng
    tent = rng.choice(board.palette.roles.get("deco") or board.palette.roles["wall"])
    patch = rng.choice(board.palette.roles.get("patch") or board.palette.roles["ground"])
    high, wide = frame.height, frame.width
    for row in range(1, high - 1):
        for column in range(1, wide - 1):
            frame.put(row, column, patch)
    for column in range(0, wide, 2):
        frame.put(0, column, tent)
    for row in range(2, high - 1, 2):
        frame.put(row, 0, tent)
        frame.put(row, wide - 1, tent)
    frame.claim()
    cells = [frame.cell(row, column) for row in range(1, high) for column in range(1, wide - 1)]
    return [Location("camp", cells, frame.cell(high, rng.below(wide)))]


def circle(frame: Frame) -> list[Location]:
    """Set up standing stones in a ring."""
    board, rng = frame.board, frame.board.rng
    stone = rng.choice(board.palette.roles.get("deco") or board.palette.roles["cliff"])
    high, wide = frame.height, frame.width
    inner: list[int] = []
    for row in range(high):
        for column in range(wide):
            far = frame.roundness(row, column)
            if far < 36:
                inner.append(frame.cell(row, column))
            elif far < 121 and (row + column) % 2 == 0:
                frame.put(row, column, stone)
    frame.claim()
    return [Location("circle", inner, frame.cell(high, wide // 2))]


def orchard(frame: Frame) -> list[Location]:
    """Plant rows behind a fence, each with one way past it."""
    board, rng, roles = frame.board, frame.board.rng, frame.board.palette.roles
    fence, crop = roles["cliff"][0], rng.choice(roles["solid"])
    patch = rng.choice(roles.get("patch") or roles["ground"])
    frame.fill(patch)
    frame.ring(fence)
    high, wide = frame.height, frame.width
    side = rng.below(2)
    for row in range(2, high - 2, 2):
        for column in range(1, wide - 1):
            frame.put(row, column, crop)
        gap = 1 + rng.below(2) if side else wide - 2 - rng.below(2)
        frame.put(row, gap, patch)
        side = 1 - side
    gate = 1 + rng.below(wide - 2)
    frame.put(high - 1, gate, roles["door"][0])
    frame.put(high - 2, gate, patch)
    frame.claim()
    cells = [frame.cell(row, column) for row in range(1, high - 1, 2) for column in range(1, wide - 1)]
    return [Location("orchard", [cell for cell in cells if board.cells[cell] == patch], frame.cell(high, gate))]


def grove(frame: Frame) -> list[Location]:
    """Let trees close around a clearing, with one way in."""
    board, roles = frame.board, frame.board.palette.roles
    high, wide = frame.height, frame.width
    patch, tree = board.rng.choice(roles.get("patch") or roles["ground"]), roles["solid"][0]
    inner: list[int] = []
    for row in range(high):
        for column in range(wide):
            far = frame.roundness(row, column)
            if far < 30:
                frame.put(row, column, patch)
                inner.append(frame.cell(row, column))
            elif far < 115:
                frame.put(row, column, tree)
    middle = wide // 2
    for row in range(high // 2, high):
        frame.put(row, middle, patch)
    frame.claim()
    return [Location("grove", inner or [frame.cell(high - 1, middle)], frame.cell(high, middle))]


def labyrinth(frame: Frame) -> list[Location]:
    """Grow a small maze of hedges or walls; its rooms are at odd rows and columns."""
    rng, roles = frame.board.rng, frame.board.palette.roles
    wall, floor = rng.choice([roles["solid"][0], roles["wall"][0]]), rng.choice(roles.get("patch") or roles["ground"])
    frame.fill(wall)
    down, across = (frame.height - 1) // 2, (frame.width - 1) // 2
    rooms = [(2 * (room // across) + 1, 2 * (room % across) + 1) for room in range(down * across)]
    passages, _ = spanning_tree(across, down, "backtracker", rng)
    for row, column in rooms:
        frame.put(row, column, floor)
    for start, end in passages:
        frame.put((rooms[start][0] + rooms[end][0]) // 2, (rooms[start][1] + rooms[end][1]) // 2, floor)
    entry = 2 * rng.below(across) + 1
    for row in range(2 * down, frame.height):  # two rows if the height is even
        frame.put(row, entry, floor)
    frame.claim()
    return [Location("labyrinth", [frame.cell(*room) for room in rooms], frame.cell(frame.height, entry))]


def garden(frame: Frame) -> list[Location]:
    """Lay out a garden around a pond, behind a hedge."""
    roles, rng = frame.board.palette.roles, frame.board.rng
    patches = roles.get("patch") or roles["ground"]
    high, wide = frame.height, frame.width
    one, two = rng.choice(patches), rng.choice(patches)
    cells: list[int] = []
    for row in range(1, high - 1):
        for column in range(1, wide - 1):
            middle = 3 <= row < high - 3 and 3 <= column < wide - 3
            frame.put(row, column, roles["water"][0] if middle else (one, two)[(row + column) % 2])
            if not middle:
                cells.append(frame.cell(row, column))
    frame.ring(roles["solid"][-1])
    gate = 1 + rng.below(wide - 2)
    frame.put(high - 1, gate, roles["door"][0])
    frame.claim()
    return [Location("garden", cells, frame.cell(high, gate))]


# Kind -> (least height and width, greatest height and width, how it is built).
SITES: dict[str, tuple[tuple[int, int], tuple[int, int], Callable[[Frame], list[Location]]]] = {
    "camp": ((4, 5), (6, 8), camp),
    "cave": ((6, 7), (9, 12), cave),
    "circle": ((5, 5), (8, 9), circle),
    "cottage": ((4, 4), (6, 8), lambda frame: house(frame, "cottage")),
    "garden": ((7, 8), (10, 13), garden),
    "grove": ((6, 7), (9, 11), grove),
    "inn": ((6, 8), (9, 13), lambda frame: house(frame, "inn")),
    "labyrinth": ((7, 9), (11, 15), labyrinth),
    "orchard": ((5, 6), (9, 13), orchard),
    "ruin": ((5, 6), (9, 12), ruin),
    "shrine": ((5, 5), (8, 9), shrine),
    "tower": ((5, 5), (7, 7), tower),
    "village": ((11, 14), (14, 28), village),
}

"""Houses and what is made of them: towers, shrines, ruins and whole villages."""

from waybench.envs.tilemap.worlds._frame import Frame, Location, partition


def house(frame: Frame, kind: str = "house", most: int = 14) -> list[Location]:
    """Build a house with its door in front; `most` is the size of a room that is still divided, in cells."""
    board, roles = frame.board, frame.board.palette.roles
    wall, floor, door = board.rng.choice(roles["wall"]), board.rng.choice(roles["floor"]), roles["door"][0]
    frame.fill(floor)
    frame.ring(wall)
    high, wide = frame.height, frame.width
    rooms = partition(frame, (1, 1, high - 1, wide - 1), most + board.rng.below(most), wall, door)
    entries = [column for column in range(1, wide - 1) if not frame.solid(high - 2, column)]
    entry = board.rng.choice(entries)
    frame.put(high - 1, entry, door)
    frame.claim()
    cells = [cell for room in rooms for cell in room]
    return [Location(kind, cells, frame.cell(high, entry), indoor=True)]


def tower(frame: Frame) -> list[Location]:
    """Build a round tower."""
    places, ground = house(frame, "tower", most=1000), frame.board.palette.one("ground")
    last_row, last_column = frame.height - 1, frame.width - 1
    for row, column in ((0, 0), (0, last_column), (last_row, 0), (last_row, last_column)):
        frame.put(row, column, ground)
    return places


def shrine(frame: Frame) -> list[Location]:
    """Build a hall with its door in the middle and pillars along both sides."""
    places, wall = house(frame, "shrine", most=1000), frame.board.cells[frame.cell(0, 0)]
    last, middle = frame.height - 1, frame.width // 2
    floor = frame.board.cells[frame.cell(1, 1)]
    for column in range(frame.width):
        frame.put(last, column, wall)
    frame.put(last, middle, frame.board.palette.one("door"))
    places[0].door = frame.cell(last + 1, middle)
    for row in range(2, last - 1, 2):
        for column in (2, frame.width - 3):
            if frame.width >= 7 and frame.board.cells[frame.cell(row, column)] == floor:
                frame.put(row, column, wall)
    places[0].cells = [cell for cell in places[0].cells if frame.board.cells[cell] == floor]
    return places


def ruin(frame: Frame) -> list[Location]:
    """Build a house, and let it fall to ruin."""
    places, rng, palette = house(frame, "ruin", most=24), frame.board.rng, frame.board.palette
    walls, ground, rubble = frozenset(palette.roles["wall"]), palette.one("ground"), palette.one("cliff")
    door = palette.one("door")
    for row in range(frame.height):
        for column in range(frame.width):
            kind = frame.board.cells[frame.cell(row, column)]
            if kind in walls and not rng.below(6):
                frame.put(row, column, rubble if rng.below(3) == 0 else ground)
            elif kind == door or (kind not in walls and not rng.below(3)):
                frame.put(row, column, ground)
    return places


def village(frame: Frame) -> list[Location]:
    """Build a street with houses on both sides and a square beside its middle."""
    rng, road = frame.board.rng, frame.board.palette.one("road")
    frame.claim(is_building=False)
    street, square = frame.height // 2, 2 + rng.below(frame.width - 6)
    houses = _row(frame, street, range(0), back=False) + _row(frame, street, range(square, square + 4), back=True)
    paved = [(street, column) for column in range(frame.width)]
    paved += [(street + row, column) for row in (1, 2, 3) for column in range(square, square + 4)]
    for row, column in paved:
        frame.put(row, column, road)
    cells = [frame.cell(row, column) for row, column in paved]
    return [Location("village", cells, frame.cell(street, rng.below(2) * (frame.width - 1))), *houses]


def _row(frame: Frame, street: int, free: range, back: bool) -> list[Location]:
    """Build houses along one side of a street, with a path from each door to it.

    Args:
        frame: The village.
        street: The street's row.
        free: Columns that are left free.
        back: Whether it is the side behind the street.
    """
    rng, locations, column = frame.board.rng, list[Location](), frame.board.rng.below(2)
    room = frame.height - street - 2 if back else street - 1
    while column + 4 <= frame.width:
        wide, high = 4 + rng.below(4), 4 + rng.below(max(1, room - 3))
        if column + wide <= frame.width and not (free and column <= free[-1] and column + wide > free[0]):
            row = street + 2 if back else street - 1 - high
            locations += house(frame.part(row, column, high, wide, back), "cottage")
            frame.board.cells[locations[-1].door] = frame.board.palette.one("road")
        column += wide + 1 + rng.below(2)
    return locations

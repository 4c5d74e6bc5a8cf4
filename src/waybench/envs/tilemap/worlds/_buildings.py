"""Built-up space: houses and other places, towns, and halls."""

from itertools import product

from waybench.envs.tilemap.worlds._board import (
    Area,
    BoardArea,
    NamedLocation,
    WorldBoard,
    areas_beside_strip,
    divide_into_rooms,
)


def build_house(frame: BoardArea, kind: str, most: int = 14) -> list[NamedLocation]:
    """Build a house with its door in front; rooms of more than `most` to twice as many cells are divided."""
    board, roles = frame.board, frame.board.palette.roles
    wall, floor, door = board.rng.choice(roles["wall"]), board.rng.choice(roles["floor"]), roles["door"][0]
    frame.fill(floor)
    frame.fill_edge(wall)
    high, wide = frame.height, frame.width
    rooms = divide_into_rooms(frame, (1, 1, high - 1, wide - 1), most + board.rng.below(most), wall, door)
    entry = board.rng.choice([column for column in range(1, wide - 1) if not frame.is_solid(high - 2, column)])
    frame.put_tile(high - 1, entry, door)
    frame.claim()
    cells = [cell for room in rooms for cell in room]
    return [NamedLocation(kind, cells, frame.cell(high, entry), indoor=True)]


def build_tower(frame: BoardArea) -> list[NamedLocation]:
    """Build a tower: one room, without the corners of its walls."""
    places, ground = build_house(frame, "tower", most=1000), frame.board.palette.first_kind("ground")
    for row, column in product((0, frame.height - 1), (0, frame.width - 1)):
        frame.put_tile(row, column, ground)
    return places


def build_shrine(frame: BoardArea) -> list[NamedLocation]:
    """Build a hall with its door in the middle and pillars along both sides."""
    places, wall = build_house(frame, "shrine", most=1000), frame.board.cells[frame.cell(0, 0)]
    last, middle = frame.height - 1, frame.width // 2
    floor = frame.board.cells[frame.cell(1, 1)]
    for column in range(frame.width):
        frame.put_tile(last, column, wall)
    frame.put_tile(last, middle, frame.board.palette.first_kind("door"))
    places[0].door = frame.cell(last + 1, middle)
    for row, column in product(range(2, last - 1, 2), (2, frame.width - 3)):
        if frame.width >= 7 and frame.board.cells[frame.cell(row, column)] == floor:  # the aisle is three cells wide
            frame.put_tile(row, column, wall)
    places[0].cells = [cell for cell in places[0].cells if frame.board.cells[cell] == floor]
    return places


def build_ruin(frame: BoardArea) -> list[NamedLocation]:
    """Build a house with gaps in its walls and rubble."""
    places, rng, palette = build_house(frame, "ruin", most=24), frame.board.rng, frame.board.palette
    ground, rubble, door = map(palette.first_kind, ("ground", "cliff", "door"))
    walls = frozenset(palette.roles["wall"])
    for row, column in product(range(frame.height), range(frame.width)):
        kind = frame.board.cells[frame.cell(row, column)]
        if kind in walls and not rng.below(6):
            frame.put_tile(row, column, rubble if rng.below(3) == 0 else ground)
        elif kind == door or (kind not in walls and not rng.below(3)):
            frame.put_tile(row, column, ground)
    return places


def build_village(frame: BoardArea) -> list[NamedLocation]:
    """Build a street with houses on both sides and a square beside its middle."""
    rng, road = frame.board.rng, frame.board.palette.first_kind("road")
    frame.claim(is_building=False)
    street, square = frame.height // 2, 2 + rng.below(frame.width - 6)
    houses = _build_street_side(frame, street, range(0), back=False)
    houses += _build_street_side(frame, street, range(square, square + 4), back=True)
    paved = [(street, column) for column in range(frame.width)]
    paved += [(street + row, column) for row in (1, 2, 3) for column in range(square, square + 4)]
    for row, column in paved:
        frame.put_tile(row, column, road)
    cells = [frame.cell(row, column) for row, column in paved]
    street_end = frame.cell(street, rng.below(2) * (frame.width - 1))
    return [NamedLocation("village", cells, street_end), *houses]


def _build_street_side(frame: BoardArea, street: int, free_columns: range, back: bool) -> list[NamedLocation]:
    """Build houses along one side of a street with paths to their doors, except in the free columns."""
    rng, locations, column = frame.board.rng, list[NamedLocation](), frame.board.rng.below(2)
    depth = frame.height - street - 2 if back else street - 1  # rows between the path to a door and the area's edge
    while column + 4 <= frame.width:
        wide, high = 4 + rng.below(4), 4 + rng.below(max(1, depth - 3))
        if column + wide <= frame.width and not set(free_columns).intersection(range(column, column + wide)):
            row = street + 2 if back else street - 1 - high
            locations += build_house(frame.sub_area(row, column, high, wide, back), "cottage")
            frame.board.cells[locations[-1].door] = frame.board.palette.first_kind("road")
        column += wide + 1 + rng.below(2)
    return locations


def _area_frame(board: WorldBoard, area: Area, turn: int) -> BoardArea:
    top, left, bottom, right = area
    return BoardArea(board, top, left, (bottom - top, right - left), turn)


def _area_cells(board: WorldBoard, area: Area) -> list[int]:
    top, left, bottom, right = area
    return [row * board.width + column for row in range(top, bottom) for column in range(left, right)]


def _walkable_among(board: WorldBoard, cells: list[int]) -> list[int]:
    """Return the cells that can be walked on."""
    walkable = board.palette.walkable
    return [cell for cell in cells if walkable[board.cells[cell]]]


def lay_out_town(board: WorldBoard) -> list[NamedLocation]:
    """Lay out a town: streets all over it, houses and gardens between them, perhaps a canal and a wall around."""
    rng, palette, width, height = board.rng, board.palette, board.width, board.height
    board.cells[:] = bytes([palette.first_kind("road")]) * (width * height)
    rim = 1
    if height >= 14 and rng.below(3) == 0:
        _build_town_wall(board)
        rim = 2
    areas = [(rim, rim, height - rim, width - rim)]
    if width >= 24 and height >= 10 and rng.below(2):
        areas = _dig_canal(board, areas[0])
    blocks = [block for area in areas for block in _divide_into_blocks(board, area)]
    if len(blocks) == 1:
        return _build_terrace(board, blocks[0])
    return [building for block in blocks for building in _build_on_block(board, block)]


def _build_town_wall(board: WorldBoard) -> None:
    """Put a wall around the town, with a gate or two on each side."""
    width, height, rng, road = board.width, board.height, board.rng, board.palette.first_kind("road")
    _area_frame(board, (0, 0, height, width), 0).fill_edge(board.palette.first_kind("cliff"))
    for row in (0, height - 1):
        board.cells[row * width + 2 + rng.below(width - 4)] = road
    for column in (0, width - 1):
        board.cells[(2 + rng.below(height - 4)) * width + column] = road


def _dig_canal(board: WorldBoard, area: Area) -> list[Area]:
    """Dig a canal from top to bottom with quays and bridges; return the areas on both sides of it."""
    top, left, bottom, right = area
    rng, palette, width = board.rng, board.palette, board.width
    canal_width = 1 + rng.below(2) + (board.width >= 80)
    first = left + (right - left) * (35 + rng.below(30)) // 100  # column, in the middle third or so
    end = first + canal_width
    bridge_rows = {top + rng.below(bottom - top) for _ in range(1 + (bottom - top) // 14)}
    for row in range(board.height):
        if palette.kinds[board.cells[row * width + first]].role == "cliff":  # the town's wall
            continue
        for column in range(first, end):
            board.cells[row * width + column] = palette.first_kind("bridge" if row in bridge_rows else "water")
        for column in (first - 1, end):
            board.cells[row * width + column] = palette.first_kind("road" if row in bridge_rows else "shore")
    return [(top, left, bottom, first - 1), (top, end + 1, bottom, right)]


def _divide_into_blocks(board: WorldBoard, area: Area) -> list[Area]:
    """Divide an area into blocks by streets."""
    rng, blocks, areas = board.rng, list[Area](), [area]
    most_high, most_wide = 8 + rng.below(5), 12 + rng.below(10)
    while areas:
        area = top, left, bottom, right = areas.pop()
        high, wide = bottom - top, right - left
        if high <= most_high and wide <= most_wide:
            blocks.append(area)
            continue
        street = 2 if high * wide > 1500 or rng.below(5) == 0 else 1  # its width
        is_upright = wide * most_high > high * most_wide and wide >= 11
        first, length = (left, wide) if is_upright else (top, high)
        if length < 11:  # each of two blocks has at least five rows or columns
            blocks.append(area)
            continue
        line = first + 5 + (length - 10 - street) * (25 + rng.below(51)) // 100
        areas += areas_beside_strip(area, is_upright, line, line + street)
    return blocks


def _build_on_block(board: WorldBoard, block: Area) -> list[NamedLocation]:
    """Build a square, a park, a great hall or, most often, houses on a block; return the places."""
    top, left, bottom, right = block
    rng, high, wide = board.rng, bottom - top, right - left
    chance = rng.below(10)
    if high < 4 or wide < 4 or chance == 0:
        return [_pave_square(board, block)]
    if chance <= 2 and high >= 5 and wide >= 5:
        return [_plant_park(board, block)]
    if chance == 3 and high >= 6 and wide >= 8:
        return build_house(_area_frame(board, block, rng.below(4)), "hall", most=24)
    return _build_terrace(board, block)


def _build_terrace(board: WorldBoard, block: Area) -> list[NamedLocation]:
    """Build houses side by side, in one row, or in two rows back to back; neighbours share a wall."""
    top, left, bottom, right = block
    rng, locations = board.rng, list[NamedLocation]()
    middle = (top + bottom) // 2
    rows = [(top, middle + 1, 1), (middle, bottom, 0)] if bottom - top >= 9 else [(top, bottom, rng.below(2))]
    for first_row, end_row, turn in rows:
        column = left
        while right - column >= 4:
            wide = min(5 + rng.below(5), right - column)
            if right - column - wide < 3:  # no room for another house: this one fills the row
                wide = right - column
            lot = (first_row, column, end_row, column + wide)
            if wide > 4 and rng.below(9) == 0:
                _lay_lawn(board, (first_row, column + bool(locations), end_row, column + wide - 1))
            else:
                locations += build_house(_area_frame(board, lot, turn), "house", most=20)
            column += wide - 1  # the next house shares the wall
    return locations


def _fill_area(board: WorldBoard, area: Area, kind: int) -> None:
    for cell in _area_cells(board, area):
        board.cells[cell] = kind


def _lay_lawn(board: WorldBoard, area: Area) -> None:
    """Fill an area with ground or a random patch."""
    roles = board.palette.roles
    _fill_area(board, area, board.rng.choice([roles["ground"][0], *roles.get("patch", [])]))


def _pave_square(board: WorldBoard, block: Area) -> NamedLocation:
    """Pave a square, with stalls or lamps in rows if there is room for them."""
    rng, roles = board.rng, board.palette.roles
    top, left, bottom, right = block
    _lay_lawn(board, block)
    stall = rng.choice(roles.get("deco") or roles["solid"])
    step = 2 + rng.below(2)
    for row, column in product(range(top + 1, bottom - 1, step), range(left + 1, right - 1, step)):
        board.cells[row * board.width + column] = stall
    cells = _walkable_among(board, _area_cells(board, block))
    return NamedLocation("square", cells, cells[0])


def _plant_park(board: WorldBoard, block: Area) -> NamedLocation:
    """Plant a park behind a hedge or railing, with a pond or a few trees in it."""
    rng, roles, width = board.rng, board.palette.roles, board.width
    top, left, bottom, right = block
    _lay_lawn(board, block)
    fence, trees = rng.choice(roles["solid"]), roles["solid"]
    for cell in _area_cells(board, block):
        row, column = divmod(cell, width)
        if row in (top, bottom - 1) or column in (left, right - 1):
            board.cells[cell] = fence
        elif rng.below(7) == 0:
            board.cells[cell] = rng.choice(trees)
    if bottom - top >= 7 and right - left >= 8:
        _fill_area(board, (top + 2, left + 2, bottom - 2, right - 2), roles["water"][0])
        for cell in _area_cells(board, (top + 1, left + 1, top + 2, right - 1)):
            board.cells[cell] = roles["shore"][0] if rng.below(2) else roles["ground"][0]
    park = _area_frame(board, block, rng.below(8))
    gate = 1 + rng.below(park.width - 2)
    for row in (park.height - 1, park.height - 2):
        park.put_tile(row, gate, roles["road"][0])
    cells = _walkable_among(board, _area_cells(board, (top + 1, left + 1, bottom - 1, right - 1)))
    return NamedLocation("park", cells, park.cell(park.height - 1, gate))


def lay_out_halls(board: WorldBoard) -> list[NamedLocation]:
    """Lay out one great building: rooms with doors between them, some with pillars, pools, carpets or gardens."""
    rng, palette, width, height = board.rng, board.palette, board.width, board.height
    wall, door = palette.first_kind("wall"), palette.first_kind("door")
    size, building = width * height, _area_frame(board, (0, 0, height, width), 0)
    rim = int(size >= 280)  # a small building has no outer walls, for which it has no room
    if rim:
        building.fill_edge(wall)
    most = 22 + rng.below(20) + size // (90 + rng.below(120))  # cells of a room
    places = [
        _lay_out_room(board, cells)
        for area in _lead_passages(board, (rim, rim, height - rim, width - rim))
        for cells in divide_into_rooms(building, area, min(110, most), wall, door)
    ]
    _add_doors(board, size // 150)
    for room in places:
        room.cells = _walkable_among(board, room.cells)
    return places


def _lead_passages(board: WorldBoard, area: Area) -> list[Area]:
    """Lead walled passages through a large area; return the areas between them."""
    rng, wall, rooms, areas = board.rng, board.palette.first_kind("wall"), list[Area](), [area]
    while areas:
        area = top, left, bottom, right = areas.pop()
        high, wide = bottom - top, right - left
        if min(high, wide) < 15 or high * wide < 420 + rng.below(500):
            rooms.append(area)
            continue
        passage_width, is_upright = 2 + rng.below(2), wide > high
        first_wall = (left if is_upright else top) + (wide if is_upright else high) * (35 + rng.below(31)) // 100
        second_wall = first_wall + passage_width + 1
        areas += areas_beside_strip(area, is_upright, first_wall, second_wall + 1)
        for line in (first_wall, second_wall):
            _fill_area(board, (top, line, bottom, line + 1) if is_upright else (line, left, line + 1, right), wall)
    return rooms


def _lay_out_room(board: WorldBoard, cells: list[int]) -> NamedLocation:
    """Lay out a room: bare, with another floor, or if it is large with pillars, a pool or a carpet."""
    rng, roles, width = board.rng, board.palette.roles, board.width
    top, left = divmod(cells[0], width)
    bottom, right = divmod(cells[-1], width)
    styles = ["bare"] * 2 + ["floor"] * (1 + rng.below(2))
    if bottom - top >= 4 and right - left >= 4:
        styles += ["pillars", "pool", "carpet"]
    style = rng.choice(styles)
    kind = {
        "bare": roles["ground"][0],
        "floor": rng.choice([*roles["floor"], *roles.get("patch", [])]),
        "pillars": rng.choice(roles["solid"]),
        "pool": roles["water"][0],
        "carpet": roles["road"][0],
    }[style]
    for cell in cells:
        row, column = divmod(cell, width)
        is_inside = top < row < bottom and left < column < right
        is_pillar = (row - top) % 2 == (column - left) % 2 == 1
        if style in ("bare", "floor") or (is_inside and (style != "pillars" or is_pillar)):
            board.cells[cell] = kind
    return NamedLocation("room", cells, cells[0], indoor=True)


def _add_doors(board: WorldBoard, count: int) -> None:
    """Break up to `count` further doors into walls between walkable cells, so that there is more than one way."""
    rng, width, palette = board.rng, board.width, board.palette
    walkable, walls = palette.walkable, palette.roles["wall"]
    for _ in range(count * 8):
        cell = (1 + rng.below(board.height - 2)) * width + 1 + rng.below(width - 2)
        up, right, down, left = (walkable[board.cells[cell + step]] for step in (-width, 1, width, -1))
        # The wall goes on to two opposite sides, and one can walk on the other two.
        if board.cells[cell] in walls and (up, left) == (down, right) and up != left:
            board.cells[cell] = palette.first_kind("door")
            count -= 1
        if count <= 0:
            return

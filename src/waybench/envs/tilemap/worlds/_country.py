"""Open country: woods, waters, ridges, caves, groves and roads between them."""

from collections.abc import Callable
from itertools import product

import numpy as np

from waybench.envs.spaces import spanning_tree
from waybench.envs.tilemap.worlds._board import (
    NOISE_VALUES,
    BoardArea,
    NamedLocation,
    Values,
    WorldBoard,
    cells_of_mask,
    smooth_noise,
    top_share_threshold,
)
from waybench.envs.tilemap.worlds._buildings import build_house, build_ruin, build_shrine, build_tower, build_village
from waybench.envs.tilemap.worlds._tiles import Biome

_TRIES = 25  # to find room for one place
_SMALL, _LARGE = 280, 8000  # cells: maps with few waters; maps with twice as many ridges and rivers
_SLOPE = 100_000  # of the ground towards the sea, over the whole map, in units of the noise
_CELLS_PER_PLACE = 190  # on a small map; on a large map places are farther apart


def dig_cave(frame: BoardArea) -> list[NamedLocation]:
    """Dig a cave: a rock with a winding passage into it."""
    board, rng = frame.board, frame.board.rng
    rock, floor = board.palette.first_kind("cliff"), board.rng.choice(board.palette.roles["floor"])
    high, wide = frame.height, frame.width
    for row, column in product(range(high), range(wide)):
        if frame.roundness(row, column, front=False) < 100:
            frame.put_tile(row, column, rock)
    mouth = wide // 2 + rng.below(3) - 1
    row, column, dug_cells = high - 1, mouth, dict[int, None]()  # in the order in which they are dug
    for _ in range(high * wide):  # a random walk that goes in more often than out
        frame.put_tile(row, column, floor)
        dug_cells[frame.cell(row, column)] = None
        down, right = rng.choice(((-1, 0), (-1, 0), (0, 1), (0, -1), (0, 1), (0, -1), (1, 0)))
        if 1 <= row + down <= high - 2 and 2 <= column + right <= wide - 3:
            row, column = row + down, column + right
        if len(dug_cells) * 3 > high * wide:
            break
    frame.claim()
    deep_cells = list(dug_cells)[len(dug_cells) // 2 :]
    return [NamedLocation("cave", deep_cells, frame.cell(high, mouth), indoor=True)]


def pitch_camp(frame: BoardArea) -> list[NamedLocation]:
    """Pitch tents around an open space."""
    board, rng = frame.board, frame.board.rng
    tent = rng.choice(board.palette.roles.get("deco") or board.palette.roles["wall"])
    patch = rng.choice(board.palette.roles.get("patch") or board.palette.roles["ground"])
    high, wide = frame.height, frame.width
    for row, column in product(range(1, high - 1), range(1, wide - 1)):
        frame.put_tile(row, column, patch)
    for row, column in (*product((0,), range(0, wide, 2)), *product(range(2, high - 1, 2), (0, wide - 1))):
        frame.put_tile(row, column, tent)
    frame.claim()
    cells = [frame.cell(row, column) for row in range(1, high) for column in range(1, wide - 1)]
    return [NamedLocation("camp", cells, frame.cell(high, rng.below(wide)))]


def set_up_circle(frame: BoardArea) -> list[NamedLocation]:
    """Set up standing stones in a ring."""
    board, rng = frame.board, frame.board.rng
    stone = rng.choice(board.palette.roles.get("deco") or board.palette.roles["cliff"])
    high, wide = frame.height, frame.width
    inner: list[int] = []
    for row, column in product(range(high), range(wide)):
        roundness = frame.roundness(row, column)
        if roundness < 36:
            inner.append(frame.cell(row, column))
        elif roundness < 121 and (row + column) % 2 == 0:
            frame.put_tile(row, column, stone)
    frame.claim()
    return [NamedLocation("circle", inner, frame.cell(high, wide // 2))]


def plant_orchard(frame: BoardArea) -> list[NamedLocation]:
    """Plant rows of trees or crops behind a fence, each with a gap, in turns on the left and on the right."""
    board, rng, roles = frame.board, frame.board.rng, frame.board.palette.roles
    fence, crop = roles["cliff"][0], rng.choice(roles["solid"])
    patch = rng.choice(roles.get("patch") or roles["ground"])
    frame.fill(patch)
    frame.fill_edge(fence)
    high, wide = frame.height, frame.width
    gap_is_left = rng.below(2)
    for row in range(2, high - 2, 2):
        for column in range(1, wide - 1):
            frame.put_tile(row, column, crop)
        gap = 1 + rng.below(2) if gap_is_left else wide - 2 - rng.below(2)
        frame.put_tile(row, gap, patch)
        gap_is_left = not gap_is_left
    gate = 1 + rng.below(wide - 2)
    frame.put_tile(high - 1, gate, roles["door"][0])
    frame.put_tile(high - 2, gate, patch)
    frame.claim()
    cells = [frame.cell(row, column) for row in range(1, high - 1, 2) for column in range(1, wide - 1)]
    return [NamedLocation("orchard", [cell for cell in cells if board.cells[cell] == patch], frame.cell(high, gate))]


def plant_grove(frame: BoardArea) -> list[NamedLocation]:
    """Plant trees around a clearing, with one path into it."""
    board, roles = frame.board, frame.board.palette.roles
    high, wide = frame.height, frame.width
    patch, tree = board.rng.choice(roles.get("patch") or roles["ground"]), roles["solid"][0]
    inner: list[int] = []
    for row, column in product(range(high), range(wide)):
        roundness = frame.roundness(row, column)
        if roundness < 30:
            frame.put_tile(row, column, patch)
            inner.append(frame.cell(row, column))
        elif roundness < 115:
            frame.put_tile(row, column, tree)
    middle = wide // 2
    for row in range(high // 2, high):
        frame.put_tile(row, middle, patch)
    frame.claim()
    return [NamedLocation("grove", inner or [frame.cell(high - 1, middle)], frame.cell(high, middle))]


def grow_labyrinth(frame: BoardArea) -> list[NamedLocation]:
    """Grow a small maze of hedges or walls; its rooms are at odd rows and columns."""
    rng, roles = frame.board.rng, frame.board.palette.roles
    wall, floor = rng.choice([roles["solid"][0], roles["wall"][0]]), rng.choice(roles.get("patch") or roles["ground"])
    frame.fill(wall)
    down, across = (frame.height - 1) // 2, (frame.width - 1) // 2
    rooms = [(2 * (room // across) + 1, 2 * (room % across) + 1) for room in range(down * across)]
    passages, _ = spanning_tree(across, down, "backtracker", rng)
    for row, column in rooms:
        frame.put_tile(row, column, floor)
    for start, end in passages:
        frame.put_tile((rooms[start][0] + rooms[end][0]) // 2, (rooms[start][1] + rooms[end][1]) // 2, floor)
    entry = 2 * rng.below(across) + 1
    for row in range(2 * down, frame.height):  # two rows if the height is even
        frame.put_tile(row, entry, floor)
    frame.claim()
    return [NamedLocation("labyrinth", [frame.cell(*room) for room in rooms], frame.cell(frame.height, entry))]


def lay_out_garden(frame: BoardArea) -> list[NamedLocation]:
    """Lay out a garden around a pond, behind a hedge."""
    roles, rng = frame.board.palette.roles, frame.board.rng
    patches = roles.get("patch") or roles["ground"]
    high, wide = frame.height, frame.width
    beds = rng.choice(patches), rng.choice(patches)
    cells: list[int] = []
    for row, column in product(range(1, high - 1), range(1, wide - 1)):
        is_pond = 3 <= row < high - 3 and 3 <= column < wide - 3
        frame.put_tile(row, column, roles["water"][0] if is_pond else beds[(row + column) % 2])
        if not is_pond:
            cells.append(frame.cell(row, column))
    frame.fill_edge(roles["solid"][-1])
    gate = 1 + rng.below(wide - 2)
    frame.put_tile(high - 1, gate, roles["door"][0])
    frame.claim()
    return [NamedLocation("garden", cells, frame.cell(high, gate))]


# Kind of place -> (least height and width, greatest height and width, the function that builds it).
SITES: dict[str, tuple[tuple[int, int], tuple[int, int], Callable[[BoardArea], list[NamedLocation]]]] = {
    "camp": ((4, 5), (6, 8), pitch_camp),
    "cave": ((6, 7), (9, 12), dig_cave),
    "circle": ((5, 5), (8, 9), set_up_circle),
    "cottage": ((4, 4), (6, 8), lambda frame: build_house(frame, "cottage")),
    "garden": ((7, 8), (10, 13), lay_out_garden),
    "grove": ((6, 7), (9, 11), plant_grove),
    "inn": ((6, 8), (9, 13), lambda frame: build_house(frame, "inn")),
    "labyrinth": ((7, 9), (11, 15), grow_labyrinth),
    "orchard": ((5, 6), (9, 13), plant_orchard),
    "ruin": ((5, 6), (9, 12), build_ruin),
    "shrine": ((5, 5), (8, 9), build_shrine),
    "tower": ((5, 5), (7, 7), build_tower),
    "village": ((11, 14), (14, 28), build_village),
}


def lay_out_country(board: WorldBoard, biome: Biome) -> list[NamedLocation]:
    """Lay out open country on an empty board; return its places."""
    pitch = max(3, min(11, 2 + board.height // 5) * biome.grain // 10)  # cells: the size of woods and lakes
    is_small, factor = len(board.cells) < _SMALL, 1 + len(board.cells) // _LARGE
    _plant_woods(board, biome, pitch)
    for _ in range(biome.ridges * factor):
        if board.rng.below(3):
            _raise_ridge(board, pitch)
    river_count = sum(board.rng.below(3) > 0 for _ in range(biome.rivers * factor))
    if is_small:
        river_count = min(river_count, board.rng.below(2))
    if not river_count or not is_small or biome.shore != "lakes":  # a small map has no room for rivers and lakes
        _fill_waters(board, biome, pitch)
    for _ in range(river_count):
        _dig_river(board)
    sites = _build_sites(board, biome)
    _connect_by_roads(board, [locations[0].door for locations in sites])
    return [location for locations in sites for location in locations]


def _board_noise(board: WorldBoard, pitch: int) -> Values:
    return smooth_noise(board.rng, board.width, board.height, pitch)


def _draw_between(board: WorldBoard, bounds: tuple[int, int]) -> int:
    """Return a random whole number between two bounds, both included."""
    low, high = bounds
    return low + board.rng.below(high - low + 1)


def _plant_woods(board: WorldBoard, biome: Biome, pitch: int) -> None:
    """Put woods on a board: regions of one species of tree each, about `pitch` cells wide, with a few strays."""
    rng, trees = board.rng, board.palette.roles["solid"]
    coarse, fine = _board_noise(board, pitch), _board_noise(board, max(2, pitch // 2))
    values = 2 * coarse + fine
    is_wood = values >= top_share_threshold(values, _draw_between(board, biome.woods))
    species_of_regions = _board_noise(board, pitch)[is_wood] * len(trees) // NOISE_VALUES
    for cell, species in zip(np.flatnonzero(is_wood).tolist(), species_of_regions.tolist(), strict=True):
        board.cells[cell] = trees[species if rng.below(7) else rng.below(len(trees))]  # one of seven is a stray


def _raise_ridge(board: WorldBoard, pitch: int) -> None:
    """Raise a line of cliffs, a contour of random noise, with gaps where it crosses a contour of other noise."""
    heights, other_heights = _board_noise(board, pitch * 2), _board_noise(board, pitch * 2)
    gaps = board.contour_cells(other_heights, top_share_threshold(other_heights, 50))
    ridge = board.contour_cells(heights, top_share_threshold(heights, 30 + board.rng.below(40)))
    board.paint(ridge & ~board.neighbours_of_cells(gaps) & ~gaps, board.palette.first_kind("cliff"))


def _fill_waters(board: WorldBoard, biome: Biome, pitch: int) -> None:
    """Fill lakes, or the sea on one side, and give them a shore."""
    width, height, palette = board.width, board.height, board.palette
    values, side = _board_noise(board, pitch), board.rng.below(4)  # of the sea: below, right, above or left
    if biome.shore == "sea":
        length = (height, width)[side % 2]
        rise = np.arange(length) * _SLOPE // length
        slope = _SLOPE - rise if side >= 2 else rise
        values = values + (np.tile(slope, height) if side % 2 else np.repeat(slope, width))
    water = cells_of_mask(values >= top_share_threshold(values, _draw_between(board, biome.water)))
    board.paint(water, palette.first_kind("water"))
    shore = board.neighbours_of_cells(water)
    if biome.shore == "sea" and height > 15:  # a beach two cells wide
        shore |= board.neighbours_of_cells(shore)
    board.paint(shore & ~water & board.cells_of_kinds([palette.first_kind("ground")]), palette.first_kind("shore"))


def _dig_river(board: WorldBoard) -> None:
    """Dig a river from top to bottom or, less often, from side to side, or into another river."""
    rng, width, height = board.rng, board.width, board.height
    river, lake = board.palette.first_kind("river"), board.palette.first_kind("water")
    runs_down = rng.below(3) > 0
    length, breadth = (height, width) if runs_down else (width, height)  # of the map, along and across the river
    river_width = 1 + (breadth >= 40) * rng.below(2) + (breadth >= 90) * rng.below(2)
    bends: list[int] = smooth_noise(rng, length, 1, max(3, length // 4)).tolist()
    swing = min(breadth, length) // 2
    start = breadth // 5 + rng.below(max(1, breadth * 3 // 5)) - swing // 2
    last_bank = None
    for step, bend in enumerate(bends):
        bank = max(1, min(breadth - 1 - river_width, start + bend * swing // NOISE_VALUES))
        low, high = (bank, bank) if last_bank is None else (min(bank, last_bank), max(bank, last_bank))  # connected
        cells = [step * width + side if runs_down else side * width + step for side in range(low, high + river_width)]
        if step > 4 and river in (board.cells[cell] for cell in cells):
            break  # it has reached another river, and is one of its arms
        for cell in cells:
            if board.cells[cell] != lake:
                board.cells[cell] = river
        last_bank = bank


def _build_sites(board: WorldBoard, biome: Biome) -> list[list[NamedLocation]]:
    """Build places apart from each other wherever there is room; return them by site."""
    rng, size = board.rng, board.width * board.height
    site_count = 1 + size // (_CELLS_PER_PLACE + size // 60)
    site_count += rng.below(1 + site_count // 3)
    sites, water = list[list[NamedLocation]](), board.cells_of_kinds(_water_kinds(board))
    for _ in range(site_count):
        kind = rng.choice(biome.sites)
        least, most, build = SITES[kind]
        height, width = (low + rng.below(high - low + 1) for low, high in zip(least, most, strict=True))
        turn = rng.below(8) if kind != "village" else rng.below(4)  # a village's street runs from left to right
        if turn & 4:
            height, width = width, height
        # Where the map is too small for this place, there is a cottage.
        if (height + 2) * (width + 2) > size * 2 // 3 or height + 2 > board.height or width + 2 > board.width:
            (height, width), build, turn = (4, 4 + rng.below(2)), SITES["cottage"][2], turn & 3
        corner = _free_corner(board, water, height, width)
        if corner is None and not sites:  # a map has at least one place: if need be, the land is drained
            corner = _free_corner(board, 0, height, width)
        if corner is not None:
            _clear_ground(board, corner, height, width)
            sites.append(build(BoardArea(board, *corner, (height, width), turn)))
    return sites


def _free_corner(board: WorldBoard, water: int, height: int, width: int) -> tuple[int, int] | None:
    """Return top and left of a random free rectangle without water in and around it; None if 25 tries find none."""
    rng, claimed = board.rng, board.claimed_cells(with_margins=True)
    inside, with_margin = board.rectangle_cells(height, width), board.rectangle_cells(height + 2, width + 2)
    for _ in range(_TRIES):
        top, left = 1 + rng.below(board.height - height - 1), 1 + rng.below(board.width - width - 1)
        start = top * board.width + left
        if not (claimed >> start & inside or water >> start - board.width - 1 & with_margin):
            return top, left
    return None


def _clear_ground(board: WorldBoard, corner: tuple[int, int], height: int, width: int) -> None:
    """Turn a rectangle, given by top and left, and the cells around it into ground."""
    ground, (top, left) = board.palette.first_kind("ground"), corner
    for row in range(top - 1, top + height + 1):
        start = row * board.width + left - 1
        board.cells[start : start + width + 2] = bytes([ground]) * (width + 2)


def _connect_by_roads(board: WorldBoard, doors: list[int]) -> None:
    """Lay a road from each door to the nearest door before it, a few more between doors, and a few off the map."""
    rng, width, height = board.rng, board.width, board.height
    buildings, values = board.claimed_cells(with_margins=False), _board_noise(board, 3)
    rough = cells_of_mask(values >= top_share_threshold(values, 45))

    def distance(cell: int, other: int) -> int:
        return abs(cell // width - other // width) + abs(cell % width - other % width)

    pairs = [(door, min(doors[:i], key=lambda other: distance(door, other))) for i, door in enumerate(doors) if i]
    pairs += [(rng.choice(doors), rng.choice(doors)) for _ in range(len(doors) // 4)]
    for _ in range(1 + len(doors) // 8 if doors else 0):
        is_far_side = rng.below(2)  # below or on the right
        row_edge_cell = rng.below(width) + is_far_side * (height - 1) * width
        column_edge_cell = rng.below(height) * width + is_far_side * (width - 1)
        pairs.append((rng.choice(doors), rng.choice((row_edge_cell, column_edge_cell))))
    for start, goal in pairs:
        _lay_road(board, board.route(start, 1 << goal, _road_costs(board, buildings, rough)))


def _road_costs(board: WorldBoard, buildings: int, rough: int) -> list[tuple[int, int]]:
    """Return (cells, cost) for `WorldBoard.route`: roads avoid rough land, woods and, most, waters; no buildings."""
    roles = board.palette.roles
    roads = board.cells_of_kinds([roles["road"][0], roles["bridge"][0]]) & ~buildings
    land = board.walkable_cells() & ~roads & ~buildings
    waters = board.cells_of_kinds(_water_kinds(board)) & ~buildings
    woods = board.all & ~buildings & ~waters & ~land & ~roads
    return [(roads, 1), (land & ~rough, 2), (land & rough, 3), (woods, 5), (waters, 9)]


def _water_kinds(board: WorldBoard) -> set[int]:
    """Return the kinds of water; none if the palette uses a solid tile for water."""
    roles = board.palette.roles
    return {roles["water"][0], roles["river"][0]} - set(roles["solid"])


def _lay_road(board: WorldBoard, path: list[int]) -> None:
    """Make the cells of a path a road, with bridges over water."""
    palette, waters = board.palette, _water_kinds(board)
    bridge = palette.first_kind("bridge")
    for cell in path:
        kind = board.cells[cell]
        if kind != bridge:
            board.cells[cell] = bridge if kind in waters else palette.first_kind("road")

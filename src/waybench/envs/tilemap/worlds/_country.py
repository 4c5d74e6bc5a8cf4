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
_SMALL, _LARGE = 280, 8000  # cells: few waters, and more ridges and rivers
_SLOPE = 100_000  # of the ground towards the sea, in units of the noise
_PER_PLACE = 190  # cells on a small map; on a large one places are farther apart


def dig_cave(frame: BoardArea) -> list[NamedLocation]:
    """Dig a cave: a rock with a winding passage into it."""
    board, rng = frame.board, frame.board.rng
    rock, inside = board.palette.first_kind("cliff"), board.rng.choice(board.palette.roles["floor"])
    high, wide = frame.height, frame.width
    for row, column in product(range(high), range(wide)):
        if frame.roundness(row, column, front=False) < 100:
            frame.put_tile(row, column, rock)
    mouth = wide // 2 + rng.below(3) - 1
    row, column, dug = high - 1, mouth, dict[int, None]()
    for _ in range(high * wide):
        frame.put_tile(row, column, inside)
        dug[frame.cell(row, column)] = None
        down, right = rng.choice(((-1, 0), (-1, 0), (0, 1), (0, -1), (0, 1), (0, -1), (1, 0)))
        if 1 <= row + down <= high - 2 and 2 <= column + right <= wide - 3:
            row, column = row + down, column + right
        if len(dug) * 3 > high * wide:
            break
    frame.claim()
    deep = list(dug)
    return [NamedLocation("cave", deep[len(deep) // 2 :], frame.cell(high, mouth), indoor=True)]


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
        far = frame.roundness(row, column)
        if far < 36:
            inner.append(frame.cell(row, column))
        elif far < 121 and (row + column) % 2 == 0:
            frame.put_tile(row, column, stone)
    frame.claim()
    return [NamedLocation("circle", inner, frame.cell(high, wide // 2))]


def plant_orchard(frame: BoardArea) -> list[NamedLocation]:
    """Plant rows behind a fence, each with one way past it."""
    board, rng, roles = frame.board, frame.board.rng, frame.board.palette.roles
    fence, crop = roles["cliff"][0], rng.choice(roles["solid"])
    patch = rng.choice(roles.get("patch") or roles["ground"])
    frame.fill(patch)
    frame.fill_edge(fence)
    high, wide = frame.height, frame.width
    side = rng.below(2)
    for row in range(2, high - 2, 2):
        for column in range(1, wide - 1):
            frame.put_tile(row, column, crop)
        gap = 1 + rng.below(2) if side else wide - 2 - rng.below(2)
        frame.put_tile(row, gap, patch)
        side = 1 - side
    gate = 1 + rng.below(wide - 2)
    frame.put_tile(high - 1, gate, roles["door"][0])
    frame.put_tile(high - 2, gate, patch)
    frame.claim()
    cells = [frame.cell(row, column) for row in range(1, high - 1, 2) for column in range(1, wide - 1)]
    return [NamedLocation("orchard", [cell for cell in cells if board.cells[cell] == patch], frame.cell(high, gate))]


def plant_grove(frame: BoardArea) -> list[NamedLocation]:
    """Let trees close around a clearing, with one way in."""
    board, roles = frame.board, frame.board.palette.roles
    high, wide = frame.height, frame.width
    patch, tree = board.rng.choice(roles.get("patch") or roles["ground"]), roles["solid"][0]
    inner: list[int] = []
    for row, column in product(range(high), range(wide)):
        far = frame.roundness(row, column)
        if far < 30:
            frame.put_tile(row, column, patch)
            inner.append(frame.cell(row, column))
        elif far < 115:
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
        middle = 3 <= row < high - 3 and 3 <= column < wide - 3
        frame.put_tile(row, column, roles["water"][0] if middle else beds[(row + column) % 2])
        if not middle:
            cells.append(frame.cell(row, column))
    frame.fill_edge(roles["solid"][-1])
    gate = 1 + rng.below(wide - 2)
    frame.put_tile(high - 1, gate, roles["door"][0])
    frame.claim()
    return [NamedLocation("garden", cells, frame.cell(high, gate))]


# Kind -> (least height and width, greatest height and width, how it is built).
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
    pitch = max(3, min(11, 2 + board.height // 5) * biome.grain // 10)
    _plant_woods(board, biome, pitch)
    for _ in range(biome.ridges * (1 + len(board.cells) // _LARGE)):
        if board.rng.below(3):
            _raise_ridge(board, pitch)
    rivers = sum(board.rng.below(3) > 0 for _ in range(biome.rivers * (1 + len(board.cells) // _LARGE)))
    if len(board.cells) < _SMALL:  # no room for both lakes and rivers
        rivers = min(rivers, board.rng.below(2))
    if not rivers or len(board.cells) >= _SMALL or biome.shore != "lakes":
        _fill_waters(board, biome, pitch)
    for _ in range(rivers):
        _dig_river(board)
    sites = _build_sites(board, biome)
    _connect_by_roads(board, [locations[0].door for locations in sites])
    return [location for locations in sites for location in locations]


def _board_noise(board: WorldBoard, pitch: int) -> Values:
    return smooth_noise(board.rng, board.width, board.height, pitch)


def _draw_between(board: WorldBoard, bounds: tuple[int, int]) -> int:
    """Return a random whole number between two bounds, both included."""
    return bounds[0] + board.rng.below(bounds[1] - bounds[0] + 1)


def _plant_woods(board: WorldBoard, biome: Biome, pitch: int) -> None:
    """Put woods on a board: regions of one species of tree each, about `pitch` cells wide, with a few strays."""
    rng, trees = board.rng, board.palette.roles["solid"]
    coarse, fine = _board_noise(board, pitch), _board_noise(board, max(2, pitch // 2))
    values = 2 * coarse + fine
    wooded = values >= top_share_threshold(values, _draw_between(board, biome.woods))
    regions = _board_noise(board, pitch)[wooded] * len(trees) // NOISE_VALUES
    for cell, region in zip(np.flatnonzero(wooded).tolist(), regions.tolist(), strict=True):
        species = region if rng.below(7) else rng.below(len(trees))
        board.cells[cell] = trees[species]


def _raise_ridge(board: WorldBoard, pitch: int) -> None:
    """Raise a line of cliffs, with gaps."""
    lines, cuts = _board_noise(board, pitch * 2), _board_noise(board, pitch * 2)
    gaps = board.contour_cells(cuts, top_share_threshold(cuts, 50))  # where the line crosses another one
    ridge = board.contour_cells(lines, top_share_threshold(lines, 30 + board.rng.below(40)))
    board.paint(ridge & ~board.neighbours_of_cells(gaps) & ~gaps, board.palette.first_kind("cliff"))


def _fill_waters(board: WorldBoard, biome: Biome, pitch: int) -> None:
    """Fill lakes, or the sea on one side, and give them a shore."""
    width, height, palette = board.width, board.height, board.palette
    values, side = _board_noise(board, pitch), board.rng.below(4)
    if biome.shore == "sea":
        length = (height, width)[side % 2]
        ahead = np.arange(length) * _SLOPE // length
        far = _SLOPE - ahead if side >= 2 else ahead
        values = values + (np.tile(far, height) if side % 2 else np.repeat(far, width))
    water = cells_of_mask(values >= top_share_threshold(values, _draw_between(board, biome.water)))
    board.paint(water, palette.first_kind("water"))
    reach = board.neighbours_of_cells(water)
    if biome.shore == "sea" and height > 15:
        reach |= board.neighbours_of_cells(reach)
    board.paint(reach & ~water & board.cells_of_kinds([palette.first_kind("ground")]), palette.first_kind("shore"))


def _dig_river(board: WorldBoard) -> None:
    """Dig a river from top to bottom or, less often, from side to side, or into another river."""
    rng, width, height = board.rng, board.width, board.height
    kind, lake = board.palette.first_kind("river"), board.palette.first_kind("water")
    down = rng.below(3) > 0
    length, across = (height, width) if down else (width, height)
    broad = 1 + (across >= 40) * rng.below(2) + (across >= 90) * rng.below(2)
    bends: list[int] = smooth_noise(rng, length, 1, max(3, length // 4)).tolist()
    swing = min(across, length) // 2
    start = across // 5 + rng.below(max(1, across * 3 // 5)) - swing // 2
    before = None
    for step, bend in enumerate(bends):
        at = max(1, min(across - 1 - broad, start + bend * swing // NOISE_VALUES))
        low, high = (at, at) if before is None else (min(at, before), max(at, before))
        cells = [step * width + side if down else side * width + step for side in range(low, high + broad)]
        if step > 4 and kind in (board.cells[cell] for cell in cells):
            break  # it has reached another river, and is one of its arms
        for cell in cells:
            if board.cells[cell] != lake:
                board.cells[cell] = kind
        before = at


def _build_sites(board: WorldBoard, biome: Biome) -> list[list[NamedLocation]]:
    """Build places apart from each other wherever there is room; return them by site."""
    rng, size = board.rng, board.width * board.height
    site_count = 1 + size // (_PER_PLACE + size // 60)
    site_count += rng.below(1 + site_count // 3)
    kinds, locations = list(biome.sites), list[list[NamedLocation]]()
    wet = board.cells_of_kinds(_water_kinds(board))
    for _ in range(site_count):
        kind = rng.choice(kinds)
        least, most, build = SITES[kind]
        high, wide = (low + rng.below(top - low + 1) for low, top in zip(least, most, strict=True))
        turn = rng.below(8) if kind != "village" else rng.below(4)
        if turn & 4:
            high, wide = wide, high
        if (high + 2) * (wide + 2) > size * 2 // 3 or high + 2 > board.height or wide + 2 > board.width:
            (high, wide), build, turn = (4, 4 + rng.below(2)), SITES["cottage"][2], turn & 3
        # The first place has to be: if need be the land is drained.
        spot = _free_spot(board, wet, (high, wide)) or (None if locations else _free_spot(board, 0, (high, wide)))
        if spot is not None:
            _clear_ground(board, spot, (high, wide))
            locations.append(build(BoardArea(board, *spot, (high, wide), turn)))
    return locations


def _free_spot(board: WorldBoard, wet: int, size: tuple[int, int]) -> tuple[int, int] | None:
    """Return top and left of a random spot of a size that is dry and free; None if tries find none."""
    rng, width, claimed = board.rng, board.width, board.claimed_cells()
    high, wide = size
    lot, yard = board.rectangle_cells(high, wide), board.rectangle_cells(high + 2, wide + 2)
    for _ in range(_TRIES):
        top, left = 1 + rng.below(board.height - high - 1), 1 + rng.below(width - wide - 1)
        start = top * width + left
        if not (claimed >> start & lot or wet >> start - width - 1 & yard):
            return top, left
    return None


def _clear_ground(board: WorldBoard, spot: tuple[int, int], size: tuple[int, int]) -> None:
    """Turn a spot and the cells around it into ground."""
    ground, width = board.palette.first_kind("ground"), board.width
    for row in range(spot[0] - 1, spot[0] + size[0] + 1):
        start = row * width + spot[1] - 1
        board.cells[start : start + size[1] + 2] = bytes([ground]) * (size[1] + 2)


def _connect_by_roads(board: WorldBoard, ends: list[int]) -> None:
    """Lay roads between places, each to the nearest of those before it, and a few that lead on or off the map."""
    rng, width, height = board.rng, board.width, board.height
    buildings, values = board.building_cells(), _board_noise(board, 3)
    rough = cells_of_mask(values >= top_share_threshold(values, 45))

    def steps_between(cell: int, other: int) -> int:
        return abs(cell // width - other // width) + abs(cell % width - other % width)

    pairs = [(end, min(ends[:i], key=lambda other: steps_between(end, other))) for i, end in enumerate(ends) if i]
    pairs += [(rng.choice(ends), rng.choice(ends)) for _ in range(len(ends) // 4)]
    for _ in range(1 + len(ends) // 8 if ends else 0):
        far = rng.below(2)
        rim = rng.below(width) + far * (height - 1) * width, rng.below(height) * width + far * (width - 1)
        pairs.append((rng.choice(ends), rng.choice(rim)))
    for start, goal in pairs:
        _lay_road(board, board.route(start, 1 << goal, _road_costs(board, buildings, rough)))


def _road_costs(board: WorldBoard, buildings: int, rough: int) -> list[tuple[int, int]]:
    """Return (cells, cost) for `WorldBoard.route`: no road enters `buildings`, and `rough` cells cost more."""
    roles = board.palette.roles
    roads = board.cells_of_kinds([roles["road"][0], roles["bridge"][0]]) & ~buildings
    land = board.walkable_cells() & ~roads & ~buildings
    waters = board.cells_of_kinds(_water_kinds(board)) & ~buildings
    woods = board.all & ~buildings & ~waters & ~land & ~roads
    return [(roads, 1), (land & ~rough, 2), (land & rough, 3), (woods, 5), (waters, 9)]


def _water_kinds(board: WorldBoard) -> set[int]:
    """Return the kinds of water, without those for which a solid tile stands in."""
    roles = board.palette.roles
    return {roles["water"][0], roles["river"][0]} - set(roles["solid"])


def _lay_road(board: WorldBoard, path: list[int]) -> None:
    """Make cells a road, with bridges over water."""
    palette, waters = board.palette, _water_kinds(board)
    bridge = palette.first_kind("bridge")
    for cell in path:
        kind = board.cells[cell]
        if kind != bridge:
            board.cells[cell] = bridge if kind in waters else palette.first_kind("road")

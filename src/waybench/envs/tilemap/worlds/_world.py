"""Generated worlds: connected, decorated until every tile is in use, with places, a quest and its story."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from waybench.core import Stream
from waybench.envs.tilemap._instance import Objective, TileMap
from waybench.envs.tilemap.worlds._board import NamedLocation, WorldBoard, cells_of_mask, smooth_noise
from waybench.envs.tilemap.worlds._buildings import lay_out_halls, lay_out_town
from waybench.envs.tilemap.worlds._country import lay_out_country
from waybench.envs.tilemap.worlds._tiles import (
    BIOMES,
    FOE,
    FOES,
    HERO,
    HEROES,
    INTERACTIVE_ROLES,
    SOLID_ROLES,
    Kind,
    Words,
    draw_palette,
    draw_signs,
)

LEAST, MOST = 56, 89  # walkable cells, per cent: a little inside what is promised
_POCKET = 3  # a part of the map that is no larger than this is filled, not joined
# What gives way where there is too little room, one after the other.
_SOFT = (("solid",), ("water", "river"), ("cliff",), ("wall",))
_DRAWS = 6  # of which the first that is far enough is taken
_FINDS = frozenset(("thing", "fixture", "person"))
_FIXED_ROLES = frozenset(("bridge", "door", *_FINDS))
_MASSES = frozenset(("solid", "cliff", "wall", "water", "river"))
_IRREPLACEABLE_ROLES = frozenset(("door", "bridge", "thing", "person", "hero", "foe"))  # never replaced by another tile
_NEVER_FORCED = frozenset(("road", "bridge", "wall", "floor", "door", "cliff", "shore", "water", "river", "furniture"))
_AREAS = frozenset(("ground", "patch", "floor", "solid", "cliff", "water", "river", "wall"))
_FLOORS = frozenset(("ground", "patch", "floor", "road", "shore"))
_ROCKS = _AREAS & SOLID_ROLES
_CROWDED = 60  # walkable cells, per cent, below which a solid tile takes the place of another one
_FEW = 2  # of a kind of which there are no more than this, none is replaced


def _cells_of_roles(board: WorldBoard, *roles: str) -> int:
    """Return the cells with a tile of these roles."""
    return board.cells_of_kinds(number for number, kind in enumerate(board.palette.kinds) if kind.role in roles)


def connect_components(board: WorldBoard) -> None:
    """Connect all walkable cells: break doors, build bridges, cut glades, fill pockets."""
    main, *parts = board.connected_components()
    kinds, roles = board.palette.kinds, board.palette.roles
    for part in parts:
        if part & main:  # a way that was made for another part has met it
            main |= part
            continue
        cells = board.cell_numbers(part)
        if len(cells) <= _POCKET:
            for cell in cells:
                beside = [board.cells[neighbour] for neighbour in board.neighbours(cell)]
                board.cells[cell] = next((kind for kind in beside if not kinds[kind].walkable), roles["solid"][0])
            continue
        walkable, walls, waters = (
            board.walkable_cells(),
            _cells_of_roles(board, "wall"),
            _cells_of_roles(board, "water", "river"),
        )
        soft = board.all & ~walkable & ~waters & ~walls
        path = board.route(cells[0], main, [(walkable, 1), (soft, 4), (waters, 6), (walls, 8)])
        for cell in path:
            kind = kinds[board.cells[cell]]
            if not kind.walkable:
                stand_in = {"wall": "door", "water": "bridge", "river": "bridge"}.get(kind.role, "ground")
                board.cells[cell] = roles[stand_in][0]
        main |= part | sum(1 << cell for cell in path)


def clear_until_walkable(board: WorldBoard, least_percent: int) -> None:
    """Clear edges of woods, waters and walls, never a kind's last tile, until enough cells are walkable."""
    size, ground = board.width * board.height, board.palette.first_kind("ground")
    for roles in _SOFT:
        while (missing := -(-size * least_percent // 100) - (walkable := board.walkable_cells()).bit_count()) > 0:
            edge = board.cell_numbers(board.neighbours_of_cells(walkable) & _cells_of_roles(board, *roles))
            board.rng.shuffle(edge)
            before = missing
            for cell in edge[: max(1, len(edge) // 3)]:
                if missing and board.cells.count(board.cells[cell]) > 1:
                    board.cells[cell], missing = ground, missing - 1
            if missing == before:
                break


def plant_until_walkable(board: WorldBoard, max_percent: int) -> None:
    """Plant single trees that part nothing until at most `max_percent` of the cells can be walked on."""
    rng, size, palette = board.rng, board.width * board.height, board.palette
    grounds = {palette.first_kind("ground"), *palette.roles.get("patch", [])}
    spare = board.walkable_cells().bit_count() - size * max_percent // 100
    cells = [cell for cell in range(size) if board.cells[cell] in grounds] if spare > 0 else []
    rng.shuffle(cells)
    for cell in cells:
        if spare <= 0:
            return
        if board.cells.count(board.cells[cell]) > 1 and board.can_be_filled(cell):
            board.cells[cell], spare = rng.choice(palette.roles["solid"]), spare - 1


def lay_patches(board: WorldBoard, plan: str) -> None:
    """Vary the ground: by regions in open country, by spots everywhere."""
    rng, ground, size = board.rng, board.palette.first_kind("ground"), len(board.cells)
    patches = board.palette.roles.get("patch", [])
    if plan == "wild" and patches:
        values = smooth_noise(rng, board.width, board.height, max(3, min(8, board.height // 3)))
        ranked = np.sort(values)
        for number, patch in enumerate(patches):
            # A band of values makes an area with a hole in it, or a strip; it has a twentieth of the cells or so.
            low = size * (10 + 80 * number // len(patches)) // 100
            band = (values >= ranked[low]) & (values < ranked[low + size // 20])
            board.paint(cells_of_mask(band) & board.cells_of_kinds([ground]), patch)
    for patch in patches:
        for _ in range(1 + size // 900):
            _lay_spot(board, patch, (rng.below(board.height), rng.below(board.width)))


def _lay_spot(board: WorldBoard, patch: int, middle: tuple[int, int]) -> None:
    """Put a small spot of a kind of ground around a cell."""
    rng, ground = board.rng, board.palette.first_kind("ground")
    high, wide = 1 + rng.below(2), 1 + rng.below(3)
    for row in range(max(0, middle[0] - high), min(board.height, middle[0] + high + 1)):
        for column in range(max(0, middle[1] - wide), min(board.width, middle[1] + wide + 1)):
            cell = row * board.width + column
            corner = abs(row - middle[0]) == high and abs(column - middle[1]) == wide
            if board.cells[cell] == ground and not corner and rng.below(5):
                board.cells[cell] = patch


def put_furniture(board: WorldBoard, places: list[NamedLocation]) -> None:
    """Put furniture along the walls of rooms, and solid things out of doors."""
    rng, palette, size = board.rng, board.palette, len(board.cells)
    furniture, deco = palette.roles.get("furniture"), palette.roles.get("deco")
    if furniture:
        walls = frozenset(palette.roles["wall"])
        for cells in (location.cells for location in places if location.indoor and location.cells):
            for _ in range(rng.below(2 + len(cells) // 7)):
                cell = rng.choice(cells)
                if any(board.cells[neighbour] in walls for neighbour in board.neighbours(cell)):
                    _put_solid_tile(board, cell, rng.choice(furniture))
    if deco:
        grounds = frozenset((palette.first_kind("ground"), *palette.roles.get("patch", [])))
        for _ in range(size // 130):
            cell = rng.below(size)
            if board.cells[cell] in grounds:
                _put_solid_tile(board, cell, rng.choice(deco))


def _put_solid_tile(board: WorldBoard, cell: int, kind: int) -> None:
    """Put a solid tile on a cell, unless it would be in the way."""
    now = board.palette.kinds[board.cells[cell]]
    if now.role not in _IRREPLACEABLE_ROLES and now.walkable and board.can_be_filled(cell):
        board.cells[cell] = kind


def put_objects_and_people(board: WorldBoard, places: list[NamedLocation]) -> None:
    """Put objects and people into places with room for them."""
    rng, palette, kinds = board.rng, board.palette, board.palette.kinds
    more, open_places = 1 + len(board.cells) // 1500, [location for location in places if location.cells]
    for role in ("thing", "fixture", "person") if open_places else ():
        for kind in palette.roles.get(role, []):
            for _ in range(1 + rng.below(more)):
                cell = rng.choice(rng.choice(open_places).cells)
                now = kinds[board.cells[cell]]
                if role == "fixture":
                    _put_solid_tile(board, cell, kind)
                elif now.walkable and now.role not in _IRREPLACEABLE_ROLES:
                    board.cells[cell] = kind


def place_missing_kinds(board: WorldBoard) -> None:
    """Place a tile of each kind that is nowhere yet; spare kinds replace those that have no place on the map."""
    palette = board.palette
    for number in range(2, len(palette.kinds)):
        if number in board.cells:
            continue
        role = palette.kinds[number].role
        if role not in _NEVER_FORCED and _place_kind(board, number):
            continue
        while palette.spare:
            kind = palette.spare.pop(0)
            if kind.role not in _NEVER_FORCED and _place_kind(board, palette.add_kind(kind)):
                break
        else:
            _place_kind(board, number)


def _place_kind(board: WorldBoard, number: int) -> bool:
    """Put one tile of a kind where it fits best; return whether there is a place for it."""
    kinds, cells, walkable = board.palette.kinds, board.cells, board.palette.walkable
    role, solid = kinds[number].role, not walkable[number]
    choices = [_AREAS & {role}, _FLOORS]
    if solid:
        choices.insert(1 if board.walkable_percent() < _CROWDED else 2, _ROCKS)
    for roles in choices:
        choice = {other for other, kind in enumerate(kinds) if kind.role in roles and cells.count(other) > _FEW}
        for cell in board.random_cells() if choice else ():
            if cells[cell] not in choice:
                continue
            # On open ground it blocks no path, and among tiles like it it can be seen.
            beside = (walkable[cells[neighbour]] for neighbour in board.neighbours(cell))
            if not solid or (board.can_be_filled(cell) if walkable[cells[cell]] else any(beside)):
                cells[cell] = number
                return True
    return False


_DIRECTIONS = (
    *("north-western", "northern", "north-eastern", "western", "central", "eastern"),
    *("south-western", "southern", "south-eastern"),
)


class Goal(NamedTuple):
    """One objective, as yet without a name, at a cell of a place with this number.

    `find` is the cell of what it is about, that cell or one beside it; None if it is about the place alone.
    """

    cell: int
    place: int
    find: int | None = None


def landmarks(board: WorldBoard, plan: str) -> list[NamedLocation]:
    """Return places that are not buildings: banks, bridges, crossroads and, last, the map's nine regions."""
    rng, kinds, locations = board.rng, board.palette.kinds, list[NamedLocation]()
    streets = "street" if plan == "town" else "crossroads"
    for role, name in (("shore", "shore"), ("bridge", "bridge"), ("road", streets)) if plan != "halls" else ():
        kind_numbers = [number for number, kind in enumerate(kinds) if kind.role == role]
        cells = board.cell_numbers(board.cells_of_kinds(kind_numbers))
        for _ in range(min(len(cells) // 4, 1 + len(board.cells) // 1000)):
            cell = rng.choice(cells)
            if (
                role != "road"
                or sum(board.cells[neighbour] in kind_numbers for neighbour in board.neighbours(cell)) >= 3
            ):
                locations.append(NamedLocation(name, [cell], cell))
    cells, walkable, width, below = board.cells, board.palette.walkable, board.width, rng.below
    # Such that `_region_number` finds the same number: the first row is the least one with 3 * row // height == number.
    rows, columns = ([-(-length * at // 3) for at in range(4)] for length in (board.height, width))
    for number, direction in enumerate(_DIRECTIONS):
        row, column = divmod(number, 3)
        first = rows[row] * width + columns[column]
        high, wide = rows[row + 1] - rows[row], columns[column + 1] - columns[column]
        lots = [first + below(high) * width + below(wide) for _ in range(12)]
        locations.append(NamedLocation(f"region {direction}", [cell for cell in lots if walkable[cells[cell]]], 0))
    return locations


def _region_number(board: WorldBoard, cell: int) -> int:
    """Return the number of the region that a cell is in, from 0 to 8, row by row."""
    row, column = divmod(cell, board.width)
    return row * 3 // board.height * 3 + column * 3 // board.width


class Quest:
    """Chooses where everything happens, on a board that is finished but for the player and the antagonist.

    Both are put on the board, which is joined up. The regions are the last of its places.
    """

    def __init__(self, board: WorldBoard, places: list[NamedLocation], count: int) -> None:
        self._board, self._places = board, places
        self._place_of: dict[int, int] = {}
        for number, location in enumerate(places[:-9]):
            self._place_of.update(dict.fromkeys(location.cells, number))
        kinds = board.palette.kinds
        self._finds = board.cell_numbers(
            board.cells_of_kinds(number for number, kind in enumerate(kinds) if kind.role in _FINDS)
        )
        start, _ = self._put_being(HERO, self._can_start)
        self._used_cells = {start}
        foe, lair = self._put_being(FOE, self._can_lurk)
        self.goals: list[Goal] = []
        at, last = start, list[Goal]()
        if count > 1 and board.rng.below(3):
            last.append(Goal(board.rng.choice(self._free_neighbours(foe)), lair, foe))
            self._used_cells.add(last[0].cell)
        while len(self.goals) + len(last) < count:
            goal = self._draw_far_goal(at)
            if goal.find in self._finds:
                self._finds.remove(goal.find)
            self.goals.append(goal)
            at = goal.cell
            self._used_cells.add(at)
        self.goals += last

    def _put_being(self, kind: int, fits: Callable[[int], bool]) -> tuple[int, int]:
        """Put the player or the antagonist on the first fitting cell; return the cell and its place's number."""
        for cell, number in self._candidate_cells():
            if self._board.cells.count(self._board.cells[cell]) > 1 and fits(cell):
                self._board.cells[cell] = kind
                return cell, number
        raise AssertionError("a world has ground of which there is more than one cell")

    def _candidate_cells(self) -> Iterator[tuple[int, int]]:
        """Yield random cells with their places' numbers: some of each place, then the whole board."""
        rng, places = self._board.rng, [n for n, location in enumerate(self._places) if location.cells]
        rng.shuffle(places)
        for number in places:
            for _ in range(_DRAWS):
                yield rng.choice(self._places[number].cells), number
        for cell in self._board.random_cells():
            yield cell, self._place_number(cell)

    def _place_number(self, cell: int) -> int:
        """Return the number of a cell's place, or of its region."""
        return self._place_of.get(cell, len(self._places) - 9 + _region_number(self._board, cell))

    def _free_neighbours(self, cell: int) -> list[int]:
        """Return the walkable neighbours of a cell that are not used yet."""
        cells, walkable = self._board.cells, self._board.palette.walkable
        return [n for n in self._board.neighbours(cell) if walkable[cells[n]] and n not in self._used_cells]

    def _can_start(self, cell: int) -> bool:
        kind = self._board.palette.kinds[self._board.cells[cell]]
        return kind.walkable and kind.role not in _FIXED_ROLES

    def _can_lurk(self, cell: int) -> bool:
        """Return whether the antagonist can be on a cell: off every path, or in place of a rock beside one."""
        kind = self._board.palette.kinds[self._board.cells[cell]]
        if kind.role in _FIXED_ROLES or not self._free_neighbours(cell):
            return False
        return (
            self._board.can_be_filled(cell) and cell not in self._used_cells if kind.walkable else kind.role in _MASSES
        )

    def _draw_far_goal(self, at: int) -> Goal:
        """Draw the next goal: the first candidate that is far from a cell, else the farthest."""
        board, best, most = self._board, None, -1
        row, column = divmod(at, board.width)
        for _ in range(_DRAWS):
            goal = self._draw_goal()
            if goal is None:
                continue
            far = abs(goal.cell // board.width - row) + abs(goal.cell % board.width - column)
            if far > most:
                best, most = goal, far
            if far * 5 >= board.width + board.height:
                break
        if best is not None:
            return best
        free = [cell for cell in board.cell_numbers(board.walkable_cells()) if cell not in self._used_cells]
        cell = board.rng.choice(free)
        return Goal(cell, self._place_number(cell))

    def _draw_goal(self) -> Goal | None:
        """Draw a candidate for a goal, a thing or less often a place; None if its cell cannot be used."""
        board, rng, find = self._board, self._board.rng, None
        if self._finds and rng.below(5) < 3:
            cell = find = rng.choice(self._finds)
            place = self._place_number(cell)
            if not board.palette.walkable[board.cells[cell]]:
                cell = rng.choice(self._free_neighbours(cell) or [cell])
        else:
            named_places = len(self._places) - 9  # of which regions are the last resort, but not the last place
            place = rng.below(named_places) if named_places and rng.below(5) else named_places + rng.below(9)
            cell = rng.choice(self._places[place].cells or [0])
        walkable = board.palette.walkable[board.cells[cell]]
        return Goal(cell, place, find) if walkable and cell not in self._used_cells else None


def make_world(size: tuple[int, int], biome: str, tiles: int, objectives: int, name: str, rng: Stream) -> TileMap:
    """Return a generated world in which all walkable cells are connected, with 0 as its path length.

    `size` has at least 7 rows and 10 columns, `biome` is one of `BIOMES`, `tiles` the number of kinds of tiles with the
    player and the antagonist, at least 7, and `objectives` from 1 to 11.
    """
    about = BIOMES[biome]
    hero, foe = rng.choice(HEROES), rng.choice(FOES)
    board = WorldBoard(size[1], size[0], draw_palette(about, tiles, hero, foe, rng), rng)
    places = (
        lay_out_country(board, about)
        if about.plan == "wild"
        else (lay_out_town if about.plan == "town" else lay_out_halls)(board)
    )
    connect_components(board)
    clear_until_walkable(board, LEAST + 3)
    lay_patches(board, about.plan)
    put_furniture(board, places)
    put_objects_and_people(board, places)
    place_missing_kinds(board)
    clear_until_walkable(board, LEAST)
    plant_until_walkable(board, MOST)
    places += landmarks(board, about.plan)
    quest = Quest(board, places, objectives)
    return _tile_map_of_world(board, quest, [location.kind for location in places], Words(biome, about.age, rng), name)


def _tile_map_of_world(board: WorldBoard, quest: Quest, places: list[str], words: Words, name: str) -> TileMap:
    """Return a finished world as a map; `places` are the kinds of its places."""
    palette, width = board.palette, board.width
    present = [number for number in range(len(palette.kinds)) if number in board.cells]
    kinds = [palette.kinds[number] for number in present]
    signs = draw_signs(kinds, board.rng)
    text = board.cells.decode("latin-1").translate(dict(zip(present, signs, strict=True)))
    place_names: dict[int, str] = {}
    objectives: list[Objective] = []
    for cell, place, find in quest.goals:
        if place not in place_names:
            place_names[place] = words.name_place(places[place])
        about = Kind("", "") if find is None else palette.kinds[board.cells[find]]
        title = words.name_objective(about.role, about.name, place_names[place])
        objectives.append(Objective(title, text[cell], *divmod(cell, width)))
    hero, foe, *other_tiles = [(kind.name, sign) for kind, sign in zip(kinds, signs, strict=True)]
    pairs = list(zip(kinds, signs, strict=True))[2:]
    walkable = [sign for kind, sign in pairs if kind.walkable]
    return TileMap(
        rows=tuple(text[start : start + width] for start in range(0, len(text), width)),
        tiles=(*other_tiles, hero, foe),
        walkable=str(walkable),
        interactive=str([sign for kind, sign in pairs if kind.role in INTERACTIVE_ROLES]),
        objectives=tuple(objectives),
        path_length=0,
        id=name,
        story=words.tell_story(hero[0], foe[0], [objective.name for objective in objectives]),
    )

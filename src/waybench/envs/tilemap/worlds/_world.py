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

LEAST, MOST = 56, 89  # walkable cells, per cent: a little within the bounds that are documented
_POCKET = 3  # cells: a component of the map that is no larger is filled, not connected
# Roles whose tiles are cleared where there is too little room, one after the other.
_CLEARED_ROLES = (("solid",), ("water", "river"), ("cliff",), ("wall",))
_DRAWS = 6  # candidates for a goal, of which the first is taken that is far enough
_FIND_ROLES = frozenset(("thing", "fixture", "person"))  # what an objective can be about
_FIXED_ROLES = frozenset(("bridge", "door", *_FIND_ROLES))
_MASS_ROLES = frozenset(("solid", "cliff", "wall", "water", "river"))
_IRREPLACEABLE_ROLES = frozenset(("door", "bridge", "thing", "person", "hero", "foe"))  # never replaced by another tile
# Single tiles of these roles, in any cell where they fit, would make no sense.
_NEVER_FORCED = frozenset(("road", "bridge", "wall", "floor", "door", "cliff", "shore", "water", "river", "furniture"))
_AREA_ROLES = frozenset(("ground", "patch", "floor", "solid", "cliff", "water", "river", "wall"))
_FLOOR_ROLES = frozenset(("ground", "patch", "floor", "road", "shore"))
_SOLID_AREA_ROLES = _AREA_ROLES & SOLID_ROLES
_CROWDED = 60  # walkable cells, per cent, below which a solid tile takes the place of another solid tile
_FEW = 2  # tiles of a kind, up to which none is replaced
_N_REGIONS = 9


def _cells_of_roles(board: WorldBoard, *roles: str) -> int:
    """Return the cells with a tile of these roles."""
    return board.cells_of_kinds(number for number, kind in enumerate(board.palette.kinds) if kind.role in roles)


def connect_components(board: WorldBoard) -> None:
    """Connect all walkable cells: break doors, build bridges, cut glades, fill pockets."""
    main, *components = board.connected_components()
    kinds, roles = board.palette.kinds, board.palette.roles
    for component in components:
        if component & main:  # a path that was made for another component has met it
            main |= component
            continue
        cells = board.cell_numbers(component)
        if len(cells) <= _POCKET:
            for cell in cells:
                kinds_beside = [board.cells[neighbour] for neighbour in board.neighbours(cell)]
                board.cells[cell] = next((kind for kind in kinds_beside if not kinds[kind].walkable), roles["solid"][0])
            continue
        walkable, walls = board.walkable_cells(), _cells_of_roles(board, "wall")
        waters = _cells_of_roles(board, "water", "river")
        others = board.all & ~walkable & ~waters & ~walls
        path = board.route(cells[0], main, [(walkable, 1), (others, 4), (waters, 6), (walls, 8)])
        for cell in path:
            kind = kinds[board.cells[cell]]
            if not kind.walkable:
                stand_in = {"wall": "door", "water": "bridge", "river": "bridge"}.get(kind.role, "ground")
                board.cells[cell] = roles[stand_in][0]
        main |= component | sum(1 << cell for cell in path)


def clear_until_walkable(board: WorldBoard, least_percent: int) -> None:
    """Clear edges of woods, waters and walls, never a kind's last tile, until enough cells are walkable."""
    least_count = -(-board.width * board.height * least_percent // 100)
    for roles in _CLEARED_ROLES:
        while True:
            walkable = board.walkable_cells()
            missing = least_count - walkable.bit_count()
            if missing <= 0:
                return
            edge = board.cell_numbers(board.neighbours_of_cells(walkable) & _cells_of_roles(board, *roles))
            board.rng.shuffle(edge)
            n_cleared = 0
            for cell in edge[: max(1, len(edge) // 3)]:  # the next round has a new edge
                if n_cleared < missing and board.cells.count(board.cells[cell]) > 1:
                    board.cells[cell] = board.palette.first_kind("ground")
                    n_cleared += 1
            if not n_cleared:  # there is nothing more to clear of these roles
                break


def plant_until_walkable(board: WorldBoard, max_percent: int) -> None:
    """Plant single trees that part nothing until at most `max_percent` of the cells can be walked on."""
    rng, size, palette = board.rng, board.width * board.height, board.palette
    grounds = {palette.first_kind("ground"), *palette.roles.get("patch", [])}
    excess = board.walkable_cells().bit_count() - size * max_percent // 100
    cells = [cell for cell in range(size) if board.cells[cell] in grounds] if excess > 0 else []
    rng.shuffle(cells)
    for cell in cells:
        if excess <= 0:
            return
        if board.cells.count(board.cells[cell]) > 1 and board.can_be_filled(cell):
            board.cells[cell], excess = rng.choice(palette.roles["solid"]), excess - 1


def lay_patches(board: WorldBoard, plan: str) -> None:
    """Vary the ground: by regions in open country, by spots everywhere."""
    rng, ground, size = board.rng, board.palette.first_kind("ground"), len(board.cells)
    patches = board.palette.roles.get("patch", [])
    if plan == "wild" and patches:
        values = smooth_noise(rng, board.width, board.height, max(3, min(8, board.height // 3)))
        sorted_values = np.sort(values)
        for number, patch in enumerate(patches):
            # A band of values makes an area with a hole in it, or a strip; it has a twentieth of the cells or so.
            low = size * (10 + 80 * number // len(patches)) // 100
            band = (values >= sorted_values[low]) & (values < sorted_values[low + size // 20])
            board.paint(cells_of_mask(band) & board.cells_of_kinds([ground]), patch)
    for patch in patches:
        for _ in range(1 + size // 900):
            _lay_spot(board, patch, rng.below(board.height), rng.below(board.width))


def _lay_spot(board: WorldBoard, patch: int, middle_row: int, middle_column: int) -> None:
    """Put a small spot of a kind of ground around a cell."""
    rng, ground = board.rng, board.palette.first_kind("ground")
    most_down, most_across = 1 + rng.below(2), 1 + rng.below(3)
    for row in range(max(0, middle_row - most_down), min(board.height, middle_row + most_down + 1)):
        for column in range(max(0, middle_column - most_across), min(board.width, middle_column + most_across + 1)):
            cell = row * board.width + column
            is_corner = abs(row - middle_row) == most_down and abs(column - middle_column) == most_across
            if board.cells[cell] == ground and not is_corner and rng.below(5):
                board.cells[cell] = patch


def put_furniture(board: WorldBoard, places: list[NamedLocation]) -> None:
    """Put furniture along the walls of rooms, and solid things out of doors."""
    rng, palette, size = board.rng, board.palette, len(board.cells)
    furniture, deco = palette.roles.get("furniture"), palette.roles.get("deco")
    if furniture:
        walls = frozenset(palette.roles["wall"])
        for location in places:
            cells = location.cells if location.indoor else []
            for _ in range(rng.below(2 + len(cells) // 7) if cells else 0):
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
    """Put a solid tile on a replaceable, walkable cell, unless it would part its walkable neighbours."""
    if _is_replaceable(board, cell) and board.can_be_filled(cell):
        board.cells[cell] = kind


def _is_replaceable(board: WorldBoard, cell: int) -> bool:
    """Return whether a cell's tile can be walked on, and can be replaced."""
    kind = board.palette.kinds[board.cells[cell]]
    return kind.walkable and kind.role not in _IRREPLACEABLE_ROLES


def put_objects_and_people(board: WorldBoard, places: list[NamedLocation]) -> None:
    """Put objects and people into places with room for them."""
    rng, most = board.rng, 1 + len(board.cells) // 1500  # of a kind
    open_places = [location for location in places if location.cells]
    for role in ("thing", "fixture", "person") if open_places else ():
        for kind in board.palette.roles.get(role, []):
            for _ in range(1 + rng.below(most)):
                cell = rng.choice(rng.choice(open_places).cells)
                if role == "fixture":
                    _put_solid_tile(board, cell, kind)
                elif _is_replaceable(board, cell):
                    board.cells[cell] = kind


def place_missing_kinds(board: WorldBoard) -> None:
    """Place a tile of each kind that is nowhere yet; spare kinds replace kinds that have no place on the map."""
    palette = board.palette
    for number in range(2, len(palette.kinds)):  # without the player and the antagonist
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
    is_solid = not walkable[number]
    # Roles whose tiles it can replace, the best first: its own, floors and, for a solid tile, others that are solid.
    role_sets = [_AREA_ROLES & {kinds[number].role}, _FLOOR_ROLES]
    if is_solid:
        role_sets.insert(1 if board.walkable_percent() < _CROWDED else 2, _SOLID_AREA_ROLES)
    for roles in role_sets:
        replaceable = {other for other, kind in enumerate(kinds) if kind.role in roles and cells.count(other) > _FEW}
        for cell in board.random_cells() if replaceable else ():
            if cells[cell] not in replaceable:
                continue
            if not is_solid:
                fits = True
            elif walkable[cells[cell]]:
                fits = board.can_be_filled(cell)
            else:  # it takes no room, but has to be beside a walkable cell
                fits = any(walkable[cells[neighbour]] for neighbour in board.neighbours(cell))
            if fits:
                cells[cell] = number
                return True
    return False


_DIRECTIONS = (
    *("north-western", "northern", "north-eastern", "western", "central", "eastern"),
    *("south-western", "southern", "south-eastern"),
)


class Goal(NamedTuple):
    """An objective without a name, at a cell of a place with this number.

    `find` is the cell of the thing, fixture or person that it is about, `cell` itself or a neighbour; None if it is
    about the place alone.
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
            road_count = sum(board.cells[neighbour] in kind_numbers for neighbour in board.neighbours(cell))
            if role != "road" or road_count >= 3:  # of roads only where they meet
                locations.append(NamedLocation(name, [cell], cell))
    # The regions of `_region_number`: the first row of each is the least with 3 * row // height == number.
    first_rows, first_columns = ([-(-length * i // 3) for i in range(4)] for length in (board.height, board.width))
    for number, direction in enumerate(_DIRECTIONS):
        row, column = divmod(number, 3)
        top, left = first_rows[row], first_columns[column]
        height, width = first_rows[row + 1] - top, first_columns[column + 1] - left
        samples = [(top + rng.below(height)) * board.width + left + rng.below(width) for _ in range(12)]
        cells = [cell for cell in samples if board.palette.walkable[board.cells[cell]]]
        locations.append(NamedLocation(f"region {direction}", cells, 0))
    return locations


def _region_number(board: WorldBoard, cell: int) -> int:
    """Return the number of the region that a cell is in, from 0 to 8, row by row."""
    row, column = divmod(cell, board.width)
    return row * 3 // board.height * 3 + column * 3 // board.width


class Quest:
    """Puts the player and the antagonist on a finished board, and chooses `count` goals.

    All walkable cells of the board are connected. The regions are the last nine of its places.
    """

    def __init__(self, board: WorldBoard, places: list[NamedLocation], count: int) -> None:
        self._board, self._places = board, places
        self._place_of_cell: dict[int, int] = {}
        for number, location in enumerate(places[:-_N_REGIONS]):
            self._place_of_cell.update(dict.fromkeys(location.cells, number))
        self._find_cells = board.cell_numbers(_cells_of_roles(board, *_FIND_ROLES))
        start, _ = self._put_being(HERO, self._can_start)
        self._used_cells = {start}
        foe, foe_place = self._put_being(FOE, self._can_lurk)
        self.goals: list[Goal] = []
        at, last_goals = start, list[Goal]()
        if count > 1 and board.rng.below(3):  # in two of three worlds the last goal is the antagonist
            last_goals.append(Goal(board.rng.choice(self._free_neighbours(foe)), foe_place, foe))
            self._used_cells.add(last_goals[0].cell)
        while len(self.goals) + len(last_goals) < count:
            goal = self._draw_far_goal(at)
            if goal.find in self._find_cells:
                self._find_cells.remove(goal.find)
            self.goals.append(goal)
            at = goal.cell
            self._used_cells.add(at)
        self.goals += last_goals

    def _put_being(self, kind: int, fits: Callable[[int], bool]) -> tuple[int, int]:
        """Put the player or the antagonist on the first fitting cell; return the cell and its place's number."""
        for cell, place in self._candidate_cells():
            if self._board.cells.count(self._board.cells[cell]) > 1 and fits(cell):  # never a kind's last tile
                self._board.cells[cell] = kind
                return cell, place
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
        return self._place_of_cell.get(cell, len(self._places) - _N_REGIONS + _region_number(self._board, cell))

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
        if kind.walkable:
            return self._board.can_be_filled(cell) and cell not in self._used_cells
        return kind.role in _MASS_ROLES

    def _draw_far_goal(self, at: int) -> Goal:
        """Draw the next goal: the first candidate that is far from a cell, else the farthest."""
        board, farthest, greatest = self._board, None, -1
        row, column = divmod(at, board.width)
        for _ in range(_DRAWS):
            goal = self._draw_goal()
            if goal is None:
                continue
            distance = abs(goal.cell // board.width - row) + abs(goal.cell % board.width - column)
            if distance > greatest:
                farthest, greatest = goal, distance
            if distance * 5 >= board.width + board.height:
                break
        if farthest is not None:
            return farthest
        free_cells = [cell for cell in board.cell_numbers(board.walkable_cells()) if cell not in self._used_cells]
        cell = board.rng.choice(free_cells)
        return Goal(cell, self._place_number(cell))

    def _draw_goal(self) -> Goal | None:
        """Draw a candidate for a goal, three of five things or people, the others places; None if it is unusable."""
        board, rng, find = self._board, self._board.rng, None
        if self._find_cells and rng.below(5) < 3:
            cell = find = rng.choice(self._find_cells)
            place = self._place_number(cell)
            if not board.palette.walkable[board.cells[cell]]:
                cell = rng.choice(self._free_neighbours(cell) or [cell])
        else:
            n_places = len(self._places) - _N_REGIONS
            is_region = not n_places or not rng.below(5)  # regions are rare, where there are other places
            place = n_places + rng.below(_N_REGIONS) if is_region else rng.below(n_places)
            cell = rng.choice(self._places[place].cells or [0])
        is_walkable = board.palette.walkable[board.cells[cell]]
        return Goal(cell, place, find) if is_walkable and cell not in self._used_cells else None


def make_world(size: tuple[int, int], biome: str, tiles: int, objectives: int, name: str, rng: Stream) -> TileMap:
    """Return a generated world in which all walkable cells are connected, with 0 as its path length.

    `size` is at least 7 rows and 10 columns, `biome` a name in `BIOMES`, `tiles` the number of kinds of tiles with the
    player and the antagonist, at least 7, and `objectives` from 1 to 11.
    """
    (height, width), about = size, BIOMES[biome]
    hero, foe = rng.choice(HEROES), rng.choice(FOES)
    board = WorldBoard(width, height, draw_palette(about, tiles, hero, foe, rng), rng)
    if about.plan == "wild":
        places = lay_out_country(board, about)
    else:
        places = lay_out_town(board) if about.plan == "town" else lay_out_halls(board)
    connect_components(board)
    clear_until_walkable(board, LEAST + 3)  # furniture and the like take some of it
    lay_patches(board, about.plan)
    put_furniture(board, places)
    put_objects_and_people(board, places)
    place_missing_kinds(board)
    clear_until_walkable(board, LEAST)
    plant_until_walkable(board, MOST)
    places += landmarks(board, about.plan)
    quest = Quest(board, places, objectives)
    return _tile_map_of_world(board, quest, [location.kind for location in places], Words(biome, about.age, rng), name)


def _tile_map_of_world(board: WorldBoard, quest: Quest, place_kinds: list[str], words: Words, name: str) -> TileMap:
    """Return a finished world as a map; draws characters, names and the story."""
    palette, width = board.palette, board.width
    kind_numbers = [number for number in range(len(palette.kinds)) if number in board.cells]
    kinds = [palette.kinds[number] for number in kind_numbers]
    signs = draw_signs(kinds, board.rng)
    text = board.cells.decode("latin-1").translate(dict(zip(kind_numbers, signs, strict=True)))
    place_names: dict[int, str] = {}
    objectives: list[Objective] = []
    for cell, place, find in quest.goals:
        if place not in place_names:
            place_names[place] = words.name_place(place_kinds[place])
        kind_found = Kind("", "") if find is None else palette.kinds[board.cells[find]]
        title = words.name_objective(kind_found.role, kind_found.name, place_names[place])
        objectives.append(Objective(title, text[cell], *divmod(cell, width)))
    hero, foe, *other_tiles = [(kind.name, sign) for kind, sign in zip(kinds, signs, strict=True)]
    other_kinds = list(zip(kinds, signs, strict=True))[2:]
    walkable = [sign for kind, sign in other_kinds if kind.walkable]
    return TileMap(
        rows=tuple(text[start : start + width] for start in range(0, len(text), width)),
        tiles=(*other_tiles, hero, foe),
        walkable=str(walkable),
        interactive=str([sign for kind, sign in other_kinds if kind.role in INTERACTIVE_ROLES]),
        objectives=tuple(objectives),
        path_length=0,
        id=name,
        story=words.tell_story(hero[0], foe[0], [objective.name for objective in objectives]),
    )

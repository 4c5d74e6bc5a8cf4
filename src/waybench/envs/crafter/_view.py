"""A world as a scripted player sees it: the true map, the beings and their locations, and ways to targets."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from waybench._late import LateModule
from waybench.envs.crafter._ids import (
    ARROW,
    ASLEEP,
    COAL,
    DIAMOND,
    DO,
    EAST,
    EAST_OF,
    GRASS,
    IRON,
    IRON_PICKAXE,
    KIND,
    LAVA,
    NORTH,
    PATH,
    PLACE_STONE,
    PLANT,
    SAND,
    SIZE,
    SOUTH,
    SOUTH_OF,
    STONE,
    STONE_PICKAXE,
    STONES,
    TABLE,
    TREE,
    WATER,
    WEST,
    WOOD_PICKAXE,
    X,
    Y,
)
from waybench.envs.crafter._world import World, beings_of, body_of, daylight

FAR = 1_000_000  # as in `_routes`
WALKABLE = (GRASS, SAND, PATH)
STEPS = {WEST: (-1, 0), EAST: (1, 0), NORTH: (0, -1), SOUTH: (0, 1)}
BACK = {WEST: EAST, EAST: WEST, NORTH: SOUTH, SOUTH: NORTH}
_WALK, _DIG, _BRIDGE, _PASS = 1, 3, 5, 6  # what it costs to enter free ground, rock, water, and a being's place

routes: Any = LateModule("waybench.envs.crafter._routes")
numpy: Any = LateModule("numpy")

Cell = tuple[int, int]


class View:
    """A world, taken apart.

    Args:
        world: The world.
    """

    def __init__(self, world: World) -> None:
        self.land = world.land
        self.body = body_of(world)
        self.light = daylight(world)
        rows = beings_of(world)
        self.at: Cell = rows[0][X], rows[0][Y]
        self.beings = {(row[X], row[Y]): row for row in rows[1:]}
        self.facing = self.body[EAST_OF], self.body[SOUTH_OF]
        self.asleep = bool(self.body[ASLEEP])

    @property
    def front(self) -> Cell:
        """The cell in front."""
        return self.at[0] + self.facing[0], self.at[1] + self.facing[1]

    def ground(self, cell: Cell) -> int:
        """Return what a cell is; 0 outside of the map."""
        x, y = cell
        return self.land[x * SIZE + y] if 0 <= x < SIZE and 0 <= y < SIZE else 0

    def kind(self, cell: Cell) -> int:
        """Return the kind of the being in a cell, 0 if there is none."""
        being = self.beings.get(cell)
        return being[KIND] if being else 0

    def free(self, cell: Cell) -> bool:
        """Whether one can walk into a cell now, and live."""
        return self.ground(cell) in WALKABLE and cell not in self.beings

    def digs(self, cell: Cell) -> bool:
        """Whether what is in a cell can be collected, so that it leaves free ground."""
        return self.ground(cell) in self.soft and cell not in self.beings

    @cached_property
    def soft(self) -> set[int]:
        """The kinds of cells that the player's tools can dig away."""
        body, kinds = self.body, {TREE}
        if body[WOOD_PICKAXE]:
            kinds |= {STONE, COAL}
        if body[STONE_PICKAXE]:
            kinds.add(IRON)
        if body[IRON_PICKAXE]:
            kinds.add(DIAMOND)
        return kinds

    @cached_property
    def costs(self) -> Any:
        """The cost of entering each cell."""
        by_kind = [0] * 13
        for kind in WALKABLE:
            by_kind[kind] = _WALK
        for kind in self.soft:
            by_kind[kind] = _DIG
        if self.body[STONES]:
            by_kind[WATER] = _BRIDGE
        costs = numpy.array(by_kind, numpy.int32)[numpy.frombuffer(self.land, numpy.uint8)]
        for (x, y), row in self.beings.items():
            costs[x * SIZE + y] = 0 if row[KIND] == PLANT else _PASS
        return costs

    def cells(self, *kinds: int) -> list[int]:
        """Return the places of all cells that are of some kinds, without those where a being stands."""
        land = numpy.frombuffer(self.land, numpy.uint8)
        cells_of_kind = numpy.flatnonzero(numpy.isin(land, kinds)).tolist()
        return [place for place in cells_of_kind if divmod(place, SIZE) not in self.beings]

    def mask(self, *kinds: int) -> Any:
        """Return for each cell, by column and row, whether it is of some kinds."""
        return numpy.isin(numpy.frombuffer(self.land, numpy.uint8).reshape(SIZE, SIZE), kinds)

    def field(self, targets: Iterable[int]) -> Any:
        """Return for each cell what it costs to get to the nearest target."""
        return routes.distances(self.costs, numpy.fromiter(targets, numpy.int32))

    def around(self, cell: Cell) -> Iterator[tuple[int, Cell]]:
        """Yield the four directions, and the cells there that are on the map."""
        for action, (dx, dy) in STEPS.items():
            neighbour = cell[0] + dx, cell[1] + dy
            if self.ground(neighbour):
                yield action, neighbour

    def toward(self, targets: Iterable[int]) -> tuple[int, Cell, int] | None:
        """Return the way to the nearest target: the first direction, the cell there, and what it costs."""
        target_cells = list(targets)
        if not target_cells:
            return None
        field, aims = self.field(target_cells), set(target_cells)
        options = [(FAR, WEST, self.at)]
        for action, cell in self.around(self.at):
            place = cell[0] * SIZE + cell[1]
            enter = _WALK if place in aims else int(self.costs[place])
            if enter:
                turned = STEPS[action] != self.facing
                options.append((2 * (int(field[place]) + enter) + turned, action, cell))
        cost, action, cell = min(options)
        return None if cost >= FAR else (action, cell, cost // 2)

    def use(self, targets: Iterable[int]) -> int | None:
        """Return the action that leads to doing something to the nearest target; None if none can be reached."""
        aims = set(targets)
        step = self.toward(aims)
        if step is None:
            return None
        action, cell, _ = step
        if cell[0] * SIZE + cell[1] in aims:
            return DO if self.front == cell else action
        return self.enter(action, cell)

    def go(self, targets: Iterable[int]) -> int | None:
        """Return the action that leads to standing on the nearest target; None if none can be reached."""
        step = self.toward(targets)
        return None if step is None else self.enter(step[0], step[1])

    def enter(self, action: int, cell: Cell) -> int | None:
        """Return the action that leads into the next cell; None if it is lava or cannot be cleared."""
        ground = self.ground(cell)
        if ground == LAVA:
            return None
        if self.free(cell):
            return action
        if self.front != cell:
            return action  # something is in the way, so that this only turns
        if self.kind(cell) == ARROW:
            return action
        return PLACE_STONE if ground == WATER and cell not in self.beings else DO

    def near(self, cell: Cell, kind: int) -> bool:
        """Whether something of a kind is in the three by three cells around one, as tools are made by."""
        x, y = cell
        if x == 0 or y == 0:
            return False
        return any(self.ground((x + dx, y + dy)) == kind for dx in (-1, 0, 1) for dy in (-1, 0, 1))

    @property
    def by_table(self) -> bool:
        """Whether a table is nearby."""
        return self.near(self.at, TABLE)

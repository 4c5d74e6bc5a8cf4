"""Worlds as immutable values: created from a seed, changed by an action, drawn by key, and seen by scripted players."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from waybench._late import LazyModule
from waybench.core import DataError, Instance, Json, KeyedSource, Stream, UsageError, check_known_fields
from waybench.envs.crafter import _ids as ids

SEEDS = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Wilds(Instance):
    """A world by its random seed, from 0 to 2**31 - 2, which also determines everything that happens by chance."""

    seed: int

    def canonical(self) -> str:
        return f"crafter {self.seed}"

    def to_json(self) -> Json:
        """Return {"seed": 1}."""
        return {"seed": self.seed}


def decode(data: Json) -> Wilds:
    """Read the data of `Wilds.to_json`; raise DataError for anything else."""
    check_known_fields(data, ("seed",))
    match data:
        case {"seed": int(seed), **rest} if not rest and type(seed) is int and 0 <= seed < SEEDS:
            return Wilds(seed)
        case _:
            raise DataError(f'instance: give {{"seed": 1}}, a whole number from 0 to {SEEDS - 1}')


# Random words that the published program draws for its picture of a step in the dark (two for each of 63 x 49 pixels);
# they are skipped, so that all later draws are the same.
RENDERED = 2 * 63 * 49
_MOST_DRAWS = 6 * ids.AREA  # uniform numbers with which a world is generated


class CrafterWorld(NamedTuple):
    """A world after some steps. Everything is in bytes, which numpy reads with the types named here.

    Attributes:
        land: The kind of each cell, by x * SIZE + y; uint8.
        beings: A row of numbers for each being, the player's first and then in the order in which they came; int32.
        body: The player's numbers, which `_ids` names: items, achievements, counters; int32.
        key: The words of the random generator, MT19937; uint32.
        score: Number of achievements, summed over the steps.
        reward: The reward of the last step.
    """

    land: bytes
    beings: bytes
    body: bytes
    key: bytes
    score: int = 0
    reward: float = 0.0


# What takes long to import is imported when a world is made.
numpy: Any = LazyModule("numpy")
terrain: Any = LazyModule("waybench.envs.crafter._terrain")
life: Any = LazyModule("waybench.envs.crafter._life")


def player_numbers(world: CrafterWorld) -> list[int]:
    """Return the player's numbers, which `_ids` names."""
    return memoryview(world.body).cast("i").tolist()


def being_numbers(world: CrafterWorld) -> list[list[int]]:
    """Return the numbers of each being, which `_ids` names, the player first."""
    numbers = memoryview(world.beings).cast("i").tolist()
    return [numbers[start : start + ids.BEING] for start in range(0, len(numbers), ids.BEING)]


def nearest_in_view(world: CrafterWorld) -> list[list[int]]:
    """Return [offset east, offset south, distance] of the nearest cell of each kind in view.

    See `_terrain.nearest_of_each_kind`; element 0 begins with the kind of the cell that the player faces.
    """
    body = player_numbers(world)
    land, beings = numpy.frombuffer(world.land, numpy.uint8), numpy.frombuffer(world.beings, numpy.int32)
    return terrain.nearest_of_each_kind(
        land, beings.reshape(-1, ids.BEING), body[ids.EAST_OF], body[ids.SOUTH_OF]
    ).tolist()


def daylight(world: CrafterWorld) -> float:
    """Return the daylight, from 0 (night) to 1."""
    return 1 - abs(math.cos(math.pi * (player_numbers(world)[ids.CLOCK] / 300 % 1 + 0.3))) ** 3


def published_seed(seed: int, episode: int) -> int:
    """Return the published program's random seed: Python's hash of its seed and the episode's number, from 1."""
    bits, mask = 0x27D4EB2F165667C5, (1 << 64) - 1  # the hash of a tuple of small whole numbers, since Python 3.8
    for number in (seed, episode):
        bits = bits + number * 0xC2B2AE3D27D4EB4F & mask
        bits = (bits << 31 | bits >> 33) * 0x9E3779B185EBCA87 & mask
    bits = bits + (2 ^ 0x27D4EB2F165667C5 ^ 3527539) & mask
    return (bits - (1 << 64) if bits >> 63 else bits) % SEEDS


def create_world(seed: int) -> CrafterWorld:
    """Return the world of a seed before any step."""
    body = numpy.zeros(ids.BODY, numpy.int32)
    body[:4] = ids.MOST
    body[ids.LAST_HEALTH], body[ids.SOUTH_OF] = ids.MOST, 1
    generator = numpy.random.RandomState(seed)  # as the published engine; its later draws are in compiled code
    noise = generator.randint(SEEDS)
    state = generator.get_state()
    land, inhabitants = numpy.zeros(ids.AREA, numpy.uint8), numpy.zeros(ids.AREA, numpy.uint8)
    n_draws = terrain.generate_world(noise, generator.random_sample(_MOST_DRAWS), land, inhabitants)
    generator.set_state(state)  # back, to draw only the numbers that were used
    generator.random_sample(n_draws)
    _, key, body[ids.DRAWN], *_ = generator.get_state()
    inhabitants[ids.SIZE // 2 * ids.SIZE + ids.SIZE // 2] = 0
    beings = life.initial_beings(inhabitants, body)
    return CrafterWorld(land.tobytes(), beings.tobytes(), body.tobytes(), key.tobytes())


@lru_cache(maxsize=16)  # every attempt at an item, and every check of its record, begins with this world
def begin_world(seed: int) -> CrafterWorld:
    """Return the world of a seed after one step without an action, as in the published program."""
    return advance_world(create_world(seed), ids.NOOP)


def advance_world(world: CrafterWorld, action: int) -> CrafterWorld:
    """Return the world after a step with the player's action."""
    from_buffer, numbers = numpy.frombuffer, numpy.int32
    land, key = from_buffer(world.land, numpy.uint8).copy(), from_buffer(world.key, numpy.uint32).copy()
    body, rows_before = from_buffer(world.body, numbers).copy(), from_buffer(world.beings, numbers)
    n_beings = len(rows_before) // ids.BEING
    # Room for the beings that can come in one step: an arrow of each being, a plant, and three in each chunk.
    beings = numpy.empty((2 * n_beings + 1 + 3 * ids.CHUNKS * ids.CHUNKS, ids.BEING), numbers)
    beings.ravel()[: len(rows_before)] = rows_before
    n_beings, health_gained, n_unlocked, has_new = life.make_step(land, beings, body, key, n_beings, action, RENDERED)
    reward = health_gained / 10 + 1.0 if has_new else health_gained / 10
    return CrafterWorld(
        land.tobytes(), beings[:n_beings].tobytes(), body.tobytes(), key.tobytes(), world.score + n_unlocked, reward
    )


VERSION = 1  # of the generator; part of every item's key
LEVEL = 1


class Worlds(KeyedSource[Wilds]):
    """Worlds of the published size, drawn by key; there is only level 1 (UsageError for another)."""

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if level != LEVEL:
            raise UsageError(f"level {level}: Crafter has one level, {LEVEL}")
        super().__init__(key, level)

    def instance(self, index: int) -> Wilds:
        return Wilds(Stream("crafter", VERSION, self.key, LEVEL, index).below(SEEDS))


FAR = 1_000_000  # as in `_terrain`
WALKABLE = (ids.GRASS, ids.SAND, ids.PATH)
STEPS = {ids.WEST: (-1, 0), ids.EAST: (1, 0), ids.NORTH: (0, -1), ids.SOUTH: (0, 1)}
BACK = {ids.WEST: ids.EAST, ids.EAST: ids.WEST, ids.NORTH: ids.SOUTH, ids.SOUTH: ids.NORTH}
_WALK, _DIG, _BRIDGE, _PASS = 1, 3, 5, 6  # costs of entering free ground, rock, water, and a being's cell

Cell = tuple[int, int]


def cell_number(cell: Cell) -> int:
    """Return the number of a cell in the bytes of the land."""
    return cell[0] * ids.SIZE + cell[1]


class Way(NamedTuple):
    """A way to a target: its first action, the cell to which this action leads, and the cost of the whole way."""

    action: int
    cell: Cell
    cost: int


class PlayerView:
    """A world as a scripted player sees it: the true map, the beings and their locations, and ways to targets."""

    def __init__(self, world: CrafterWorld) -> None:
        self.land = world.land
        self.body = player_numbers(world)
        self.light = daylight(world)
        rows = being_numbers(world)
        self.at: Cell = rows[0][ids.X], rows[0][ids.Y]
        self.beings = {(row[ids.X], row[ids.Y]): row for row in rows[1:]}
        self.facing = self.body[ids.EAST_OF], self.body[ids.SOUTH_OF]
        self.asleep = bool(self.body[ids.ASLEEP])

    @property
    def front(self) -> Cell:
        """The cell that the player faces."""
        return self.at[0] + self.facing[0], self.at[1] + self.facing[1]

    def ground_of(self, cell: Cell) -> int:
        """Return the kind of ground of a cell; 0 outside of the map."""
        x, y = cell
        return self.land[x * ids.SIZE + y] if 0 <= x < ids.SIZE and 0 <= y < ids.SIZE else 0

    def being_kind(self, cell: Cell) -> int:
        """Return the kind of the being in a cell; 0 without one."""
        being = self.beings.get(cell)
        return being[ids.KIND] if being else 0

    def is_free(self, cell: Cell) -> bool:
        """Return whether the player can walk into a cell now, and survives it."""
        return self.ground_of(cell) in WALKABLE and cell not in self.beings

    def is_diggable(self, cell: Cell) -> bool:
        """Return whether a cell can be collected, which leaves free ground."""
        return self.ground_of(cell) in self.diggable_kinds and cell not in self.beings

    @cached_property
    def diggable_kinds(self) -> set[int]:
        """The kinds of cells that the player's tools can dig away."""
        body, kinds = self.body, {ids.TREE}
        if body[ids.WOOD_PICKAXE]:
            kinds |= {ids.STONE, ids.COAL}
        if body[ids.STONE_PICKAXE]:
            kinds.add(ids.IRON)
        if body[ids.IRON_PICKAXE]:
            kinds.add(ids.DIAMOND)
        return kinds

    @cached_property
    def costs(self) -> Any:
        """The cost of entering each cell, 0 for a cell that cannot be entered."""
        cost_by_kind = [0] * 13
        for kind in WALKABLE:
            cost_by_kind[kind] = _WALK
        for kind in self.diggable_kinds:
            cost_by_kind[kind] = _DIG
        if self.body[ids.STONES]:
            cost_by_kind[ids.WATER] = _BRIDGE
        costs = numpy.array(cost_by_kind, numpy.int32)[numpy.frombuffer(self.land, numpy.uint8)]
        for cell, row in self.beings.items():
            costs[cell_number(cell)] = 0 if row[ids.KIND] == ids.PLANT else _PASS
        return costs

    def cells_of_kinds(self, *kinds: int) -> list[int]:
        """Return the numbers of all cells of some kinds of ground without a being."""
        numbers = numpy.flatnonzero(self.mask_of_kinds(*kinds)).tolist()
        return [number for number in numbers if divmod(number, ids.SIZE) not in self.beings]

    def mask_of_kinds(self, *kinds: int) -> Any:
        """Return for each cell whether it is of these kinds of ground; a mask of shape (columns, rows)."""
        return numpy.isin(numpy.frombuffer(self.land, numpy.uint8).reshape(ids.SIZE, ids.SIZE), kinds)

    def neighbours(self, cell: Cell) -> Iterator[tuple[int, Cell]]:
        """Yield the four directions' actions, each with the neighbour of the cell to which it leads."""
        for action, (dx, dy) in STEPS.items():
            neighbour = cell[0] + dx, cell[1] + dy
            if self.ground_of(neighbour):
                yield action, neighbour

    def missing_items(self, *items: int) -> list[int]:
        """Return which of these items the player does not have."""
        return [item for item in items if not self.body[item]]

    def way_to_nearest(self, targets: Iterable[int]) -> Way | None:
        """Return the way to the nearest target, a number of a cell; None if none can be reached."""
        target_numbers = list(targets)
        if not target_numbers:
            return None
        path_costs = terrain.path_costs(self.costs, numpy.array(target_numbers, numpy.int32))
        target_set = set(target_numbers)
        options = [(FAR, ids.WEST, self.at)]
        for action, cell in self.neighbours(self.at):
            number = cell_number(cell)
            entry_cost = _WALK if number in target_set else int(self.costs[number])
            if entry_cost:
                turns = STEPS[action] != self.facing  # counts half, so that of equal ways the straight one is taken
                options.append((2 * (int(path_costs[number]) + entry_cost) + turns, action, cell))
        cost, action, cell = min(options)
        return None if cost >= FAR else Way(action, cell, cost // 2)

    def go_and_use(self, targets: Iterable[int]) -> int | None:
        """Return the next action to reach and use the nearest target; None if none can be reached."""
        target_set = set(targets)
        way = self.way_to_nearest(target_set)
        if way is None:
            return None
        action, cell, _ = way
        if cell_number(cell) in target_set:
            return ids.DO if self.front == cell else action
        return self.enter_cell(action, cell)

    def go_and_collect(self, kind: int) -> int | None:
        """Return the next action to reach and use the nearest cell of a kind; None if none can be reached."""
        return self.go_and_use(self.cells_of_kinds(kind))

    def go_to(self, targets: Iterable[int]) -> int | None:
        """Return the next action on the way onto the nearest target; None if none can be reached."""
        way = self.way_to_nearest(targets)
        return None if way is None else self.enter_cell(way.action, way.cell)

    def enter_cell(self, action: int, cell: Cell) -> int | None:
        """Return the next action to enter a neighbour; None if it is lava."""
        ground = self.ground_of(cell)
        if ground == ids.LAVA:
            return None
        if self.is_free(cell):
            return action
        if self.front != cell:
            return action  # the cell is not free, so that the action only turns
        if self.being_kind(cell) == ids.ARROW:
            return action  # wait until it has flown on
        return ids.PLACE_STONE if ground == ids.WATER and cell not in self.beings else ids.DO

    def is_near(self, cell: Cell, kind: int) -> bool:
        """Return whether a kind of ground is in the 3 x 3 cells around a cell."""
        x, y = cell
        if x == 0 or y == 0:
            return False  # as in the published engine, which finds nothing there
        return any(self.ground_of((x + dx, y + dy)) == kind for dx in (-1, 0, 1) for dy in (-1, 0, 1))

    @property
    def is_near_table(self) -> bool:
        """Whether the player can make tools here that need a table."""
        return self.is_near(self.at, ids.TABLE)

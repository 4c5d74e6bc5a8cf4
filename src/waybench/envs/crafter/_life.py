"""The effect of a step: the published rules of the player, and what all beings do in their turn. Compiled.

All functions write into the arrays that they are given: `land` (the kind of each cell, by x * SIZE + y), `row_at` (the
row of the being in each cell; -1 without one), `beings` (a row for each being, the player's first), `body` (the
player's numbers) and `generator` (the words of the random generator, MT19937). Bare numbers are the published rules'.

The functions are one module, long as it is: numba compiles a cached function again when its own file changes, and not
when the file of a function that it calls does.
"""

import math

import numpy as np
from numpy.typing import NDArray

from waybench._compile import compiled
from waybench.envs.crafter import _ids as ids

Bytes = NDArray[np.uint8]
Shorts = NDArray[np.int16]
Ints = NDArray[np.int32]
Words = NDArray[np.uint32]

_WORDS, _SHIFT = 624, 397  # words of the generator, and how far apart the words are that it combines
BY_ZOMBIE, BY_ARROW, BY_LAVA, BY_NEED = 1, 2, 3, 4
_LAND, _LAND_AND_LAVA, _ALL_BUT_ROCK = range(3)  # ground that beings, the player and arrows can enter


@compiled
def _random_word(generator: Words, body: Ints) -> int:
    """Return the next 32 random bits."""
    _renew_words(generator, body)
    body[ids.DRAWN] += 1
    return _tempered_word(int(generator[body[ids.DRAWN] - 1]))


@compiled
def _tempered_word(word: int) -> int:
    """Return a word of the generator as a random number, by the tempering of MT19937."""
    word ^= word >> 11
    word ^= (word << 7) & 0x9D2C5680
    word ^= (word << 15) & 0xEFC60000
    return word ^ (word >> 18)


@compiled
def _renew_words(generator: Words, body: Ints) -> None:
    """Replace all words of the generator once they are drawn: MT19937's step, in three stretches for speed."""
    if body[ids.DRAWN] < _WORDS:
        return
    body[ids.DRAWN] = 0
    high, low, mix = np.uint32(0x80000000), np.uint32(0x7FFFFFFF), np.uint32(0x9908B0DF)
    one = np.uint32(1)
    for i in range(_WORDS - _SHIFT):
        bits = (generator[i] & high) | (generator[i + 1] & low)
        generator[i] = generator[i + _SHIFT] ^ (bits >> one) ^ (mix * (bits & one))
    for i in range(_WORDS - _SHIFT, _WORDS - 1):
        bits = (generator[i] & high) | (generator[i + 1] & low)
        generator[i] = generator[i + _SHIFT - _WORDS] ^ (bits >> one) ^ (mix * (bits & one))
    bits = (generator[_WORDS - 1] & high) | (generator[0] & low)
    generator[_WORDS - 1] = generator[_SHIFT - 1] ^ (bits >> one) ^ (mix * (bits & one))


@compiled
def skip_words(generator: Words, body: Ints, words: int) -> None:
    """Pass over a number of random words."""
    while words > 0:
        _renew_words(generator, body)
        skipped = min(words, _WORDS - body[ids.DRAWN])
        body[ids.DRAWN] += skipped
        words -= skipped


@compiled
def random_uniform(generator: Words, body: Ints) -> float:
    """Return a random number from 0 to 1, as numpy's old generator draws it."""
    high_bits = _random_word(generator, body) >> 5
    return (high_bits * 2.0**26 + (_random_word(generator, body) >> 6)) / 2.0**53


@compiled
def random_below(generator: Words, body: Ints, count: int) -> int:
    """Return a random whole number from 0 to count - 1, as numpy's old generator draws it."""
    if count == 1:
        return 0
    mask = 1
    while mask < count - 1:
        mask = mask << 1 | 1
    while True:
        word = _random_word(generator, body) & mask
        if word < count:
            return word


@compiled
def _chunk_number(x: int, y: int) -> int:
    return x // ids.CHUNK * ids.CHUNKS + y // ids.CHUNK


@compiled
def _note_entry(beings: Ints, body: Ints, row: int) -> None:
    """Note when a being has come into its chunk and, if no being has been in the chunk before, the chunk's rank."""
    beings[row, ids.SINCE] = body[ids.ENTERED]
    body[ids.ENTERED] += 1
    chunk = _chunk_number(beings[row, ids.X], beings[row, ids.Y])
    if body[ids.RANKS + chunk] == 0:
        body[ids.KNOWN_CHUNKS] += 1
        body[ids.RANKS + chunk] = body[ids.KNOWN_CHUNKS]


@compiled
def initial_beings(inhabitants: Bytes, body: Ints) -> Ints:
    """Return the rows of a new world's beings: the player in the middle, and the `inhabitants`, one kind by cell."""
    n_beings = 1
    for cell in range(len(inhabitants)):
        n_beings += inhabitants[cell] > 0
    beings = np.zeros((n_beings, ids.BEING), np.int32)
    beings[0, ids.KIND], beings[0, ids.X], beings[0, ids.Y] = ids.PLAYER, ids.SIZE // 2, ids.SIZE // 2
    _note_entry(beings, body, 0)
    row = 0
    for cell in range(len(inhabitants)):
        if inhabitants[cell]:
            row += 1
            beings[row, ids.KIND] = inhabitants[cell]
            beings[row, ids.X], beings[row, ids.Y] = cell // ids.SIZE, cell % ids.SIZE
            beings[row, ids.LIFE] = 5 if inhabitants[cell] == ids.ZOMBIE else 3
            _note_entry(beings, body, row)
    return beings


@compiled
def add_being(row_at: Shorts, beings: Ints, body: Ints, n_beings: int, kind: int, x: int, y: int, life: int) -> int:
    """Add a being to the `n_beings`; return the new number of beings."""
    for field in range(ids.BEING):  # one by one: assigning a row takes seconds to compile
        beings[n_beings, field] = 0
    beings[n_beings, ids.KIND], beings[n_beings, ids.LIFE] = kind, life
    beings[n_beings, ids.X], beings[n_beings, ids.Y] = x, y
    row_at[x * ids.SIZE + y] = n_beings
    _note_entry(beings, body, n_beings)
    return n_beings + 1


@compiled
def remove_being(row_at: Shorts, beings: Ints, row: int) -> None:
    """Remove a being; its row stays, with kind 0."""
    row_at[beings[row, ids.X] * ids.SIZE + beings[row, ids.Y]] = -1
    beings[row, ids.KIND] = 0


@compiled
def _can_enter(land: Bytes, row_at: Shorts, x: int, y: int, terrain: int) -> bool:
    """Return whether a being can enter a cell; `terrain` is `_LAND`, `_LAND_AND_LAVA` or `_ALL_BUT_ROCK`."""
    if not (0 <= x < ids.SIZE and 0 <= y < ids.SIZE) or row_at[x * ids.SIZE + y] >= 0:
        return False
    ground = land[x * ids.SIZE + y]
    is_firm = ground in (ids.GRASS, ids.SAND, ids.PATH)
    can_enter_lava, can_enter_water = terrain >= _LAND_AND_LAVA, terrain == _ALL_BUT_ROCK
    return is_firm or (ground == ids.LAVA and can_enter_lava) or (ground == ids.WATER and can_enter_water)


@compiled
def move_being(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, row: int, dx: int, dy: int, terrain: int) -> bool:
    """Move a being by one cell if `_can_enter`, and return whether it can; a removed being stays."""
    x, y = beings[row, ids.X], beings[row, ids.Y]
    if not _can_enter(land, row_at, x + dx, y + dy, terrain):
        return False
    if beings[row, ids.KIND]:
        row_at[x * ids.SIZE + y] = -1
        row_at[(x + dx) * ids.SIZE + y + dy] = row
        beings[row, ids.X], beings[row, ids.Y] = x + dx, y + dy
        if _chunk_number(x, y) != _chunk_number(x + dx, y + dy):
            _note_entry(beings, body, row)
    return True


@compiled
def take_health(beings: Ints, body: Ints, row: int, damage: int, harm: int) -> None:
    """Take health from a being; for the player, note the cause `harm`."""
    if row == 0:
        body[ids.HEALTH] = max(0, body[ids.HEALTH] - damage)
        body[ids.HARM] = harm
    else:
        beings[row, ids.LIFE] = max(0, beings[row, ids.LIFE] - damage)


@compiled
def distance_to_player(beings: Ints, row: int) -> int:
    """Return the distance of a being from the player, in moves."""
    return abs(beings[0, ids.X] - beings[row, ids.X]) + abs(beings[0, ids.Y] - beings[row, ids.Y])


@compiled
def _direction_to_player(beings: Ints, row: int, long_axis: bool) -> tuple[int, int]:
    """Return the direction (dx, dy) to the player along the longer axis of the distance, or the shorter axis."""
    dx, dy = beings[0, ids.X] - beings[row, ids.X], beings[0, ids.Y] - beings[row, ids.Y]
    if (abs(dx) > abs(dy)) == long_axis:
        return int(dx > 0) - int(dx < 0), 0
    return 0, int(dy > 0) - int(dy < 0)


@compiled
def move_at_random(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, row: int) -> None:
    """Move a being in a random direction."""
    direction = random_below(generator, body, 4)
    dx, dy = (1 if direction == 1 else -1, 0) if direction < 2 else (0, 1 if direction == 3 else -1)
    move_being(land, row_at, beings, body, row, dx, dy, _LAND)


@compiled
def move_zombie(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, row: int) -> None:
    """Let a zombie approach or move at random, and hit the player when it is near."""
    if distance_to_player(beings, row) <= 8 and random_uniform(generator, body) < 0.9:
        dx, dy = _direction_to_player(beings, row, random_uniform(generator, body) < 0.8)
        move_being(land, row_at, beings, body, row, dx, dy, _LAND)
    else:
        move_at_random(land, row_at, beings, body, generator, row)
    if distance_to_player(beings, row) <= 1:
        if beings[row, ids.WAIT]:
            beings[row, ids.WAIT] -= 1
        else:
            take_health(beings, body, 0, 7 if body[ids.ASLEEP] else 2, BY_ZOMBIE)
            beings[row, ids.WAIT] = 5


@compiled
def move_skeleton(
    land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, n_beings: int, row: int
) -> int:
    """Let a skeleton retreat, shoot, approach or move at random; return the number of beings."""
    beings[row, ids.WAIT] = max(0, beings[row, ids.WAIT] - 1)
    distance = distance_to_player(beings, row)
    if distance <= 3:
        dx, dy = _direction_to_player(beings, row, random_uniform(generator, body) < 0.6)
        if move_being(land, row_at, beings, body, row, -dx, -dy, _LAND):
            return n_beings
    if distance <= 5 and random_uniform(generator, body) < 0.5:
        dx, dy = _direction_to_player(beings, row, True)
        x, y = beings[row, ids.X] + dx, beings[row, ids.Y] + dy
        if beings[row, ids.WAIT] == 0 and (dx or dy) and _can_enter(land, row_at, x, y, _ALL_BUT_ROCK):
            beings[row, ids.WAIT] = 4
            n_beings = add_being(row_at, beings, body, n_beings, ids.ARROW, x, y, 0)
            beings[n_beings - 1, ids.DX], beings[n_beings - 1, ids.DY] = dx, dy
    elif distance <= 8 and random_uniform(generator, body) < 0.3:
        dx, dy = _direction_to_player(beings, row, random_uniform(generator, body) < 0.6)
        move_being(land, row_at, beings, body, row, dx, dy, _LAND)
    elif random_uniform(generator, body) < 0.2:
        move_at_random(land, row_at, beings, body, generator, row)
    return n_beings


@compiled
def move_arrow(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, row: int) -> None:
    """Let an arrow fly on, hit a being, or break, with a table or furnace that it hits."""
    dx, dy = beings[row, ids.DX], beings[row, ids.DY]
    x, y = beings[row, ids.X] + dx, beings[row, ids.Y] + dy
    inside = 0 <= x < ids.SIZE and 0 <= y < ids.SIZE
    if inside and row_at[x * ids.SIZE + y] >= 0:
        take_health(beings, body, int(row_at[x * ids.SIZE + y]), 2, BY_ARROW)
        remove_being(row_at, beings, row)
    elif not move_being(land, row_at, beings, body, row, dx, dy, _ALL_BUT_ROCK):
        remove_being(row_at, beings, row)
        if inside and (land[x * ids.SIZE + y] == ids.TABLE or land[x * ids.SIZE + y] == ids.FURNACE):
            land[x * ids.SIZE + y] = ids.PATH


@compiled
def grow_plant(row_at: Shorts, beings: Ints, row: int) -> None:
    """Let a plant grow, and lose life to a cow, zombie or skeleton next to it."""
    beings[row, ids.WAIT] += 1
    x, y = beings[row, ids.X], beings[row, ids.Y]
    for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if 0 <= x + dx < ids.SIZE and 0 <= y + dy < ids.SIZE:
            neighbour = row_at[(x + dx) * ids.SIZE + y + dy]
            if neighbour >= 0 and ids.COW <= beings[neighbour, ids.KIND] <= ids.SKELETON:
                beings[row, ids.LIFE] -= 1
                break
    if beings[row, ids.LIFE] <= 0:
        remove_being(row_at, beings, row)


@compiled
def balance_chunk(
    land: Bytes,
    row_at: Shorts,
    beings: Ints,
    body: Ints,
    generator: Words,
    n_beings: int,
    chunk: int,
    kind: int,
    light: float,
) -> int:
    """Add or remove a being of a kind in a chunk by chance; return the number of beings."""
    west, north = chunk // ids.CHUNKS * ids.CHUNK, chunk % ids.CHUNKS * ids.CHUNK
    east, south = min(west + ids.CHUNK, ids.SIZE), min(north + ids.CHUNK, ids.SIZE)
    ground = ids.PATH if kind == ids.SKELETON else ids.GRASS
    n_cells, n_in_chunk = 0, 0
    for x in range(west, east):
        for y in range(north, south):
            n_cells += land[x * ids.SIZE + y] == ground
    for row in range(1, n_beings):
        n_in_chunk += beings[row, ids.KIND] == kind and _chunk_number(beings[row, ids.X], beings[row, ids.Y]) == chunk
    if kind == ids.ZOMBIE:  # more in the dark
        fewest, most = 0.0 if n_cells < 50 else 3.5 - 3 * light, 3.5 - 3 * light
        spawn_distance, removal_distance, spawn_chance, removal_chance = 6, 0, 0.3, 0.4
    elif kind == ids.SKELETON:
        fewest, most = 0.0 if n_cells < 6 else 1.0, 2.0
        spawn_distance, removal_distance, spawn_chance, removal_chance = 7, 7, 0.1, 0.1
    else:
        fewest, most = 0.0 if n_cells < 30 else 1.0, 1.5 + light
        spawn_distance, removal_distance, spawn_chance, removal_chance = 5, 5, 0.01, 0.1
    if n_in_chunk < int(fewest) and random_uniform(generator, body) < spawn_chance:
        x, y = _nth_cell(land, ground, west, east, north, south, random_below(generator, body, n_cells))
        distance = abs(beings[0, ids.X] - x) + abs(beings[0, ids.Y] - y)
        if row_at[x * ids.SIZE + y] < 0 and distance >= spawn_distance:
            n_beings = add_being(row_at, beings, body, n_beings, kind, x, y, 5 if kind == ids.ZOMBIE else 3)
    elif n_in_chunk > int(most) and random_uniform(generator, body) < removal_chance:
        row = _nth_being(beings, n_beings, kind, chunk, random_below(generator, body, n_in_chunk))
        if distance_to_player(beings, row) >= removal_distance:
            remove_being(row_at, beings, row)
    return n_beings


@compiled
def _nth_cell(land: Bytes, ground: int, west: int, east: int, north: int, south: int, number: int) -> tuple[int, int]:
    """Return x and y of the n-th cell of a kind of ground in a chunk, from 0, column by column."""
    for x in range(west, east):
        for y in range(north, south):
            if land[x * ids.SIZE + y] == ground:
                if number == 0:
                    return x, y
                number -= 1
    return west, north


@compiled
def _nth_being(beings: Ints, n_beings: int, kind: int, chunk: int, number: int) -> int:
    """Return the row of the n-th being of a kind in a chunk, from 0, in the order in which they came into it."""
    last_since = -1
    row_found = 0
    for _ in range(number + 1):
        row_found = 0
        for row in range(1, n_beings):
            if beings[row, ids.KIND] == kind and _chunk_number(beings[row, ids.X], beings[row, ids.Y]) == chunk:
                since = beings[row, ids.SINCE]
                if since > last_since and (row_found == 0 or since < beings[row_found, ids.SINCE]):
                    row_found = row
        last_since = beings[row_found, ids.SINCE]
    return row_found


_REACH = 18  # beings at this distance or further from the player do nothing
# Achievements are at MADE + their index in `ACHIEVEMENTS`.
_DEFEAT_SKELETON, _DEFEAT_ZOMBIE, _EAT_COW, _EAT_PLANT = ids.MADE + 7, ids.MADE + 8, ids.MADE + 9, ids.MADE + 10
_PLACE_PLANT, _WAKE_UP = ids.MADE + 18, ids.MADE + 21
# By the kind of cell: the item collected, the item needed (-1: none), the ground that is left, and the achievement.
_COLLECT = (
    (0, -1, 0, 0),
    (ids.DRINK, -1, ids.WATER, ids.MADE + 2),
    (ids.SAPLING, -1, ids.GRASS, ids.MADE + 4),
    (ids.STONES, ids.WOOD_PICKAXE, ids.PATH, ids.MADE + 5),
    (0, -1, 0, 0),
    (0, -1, 0, 0),
    (ids.WOOD, -1, ids.GRASS, ids.MADE + 6),
    (0, -1, 0, 0),
    (ids.COALS, ids.WOOD_PICKAXE, ids.PATH, ids.MADE),
    (ids.IRONS, ids.STONE_PICKAXE, ids.PATH, ids.MADE + 3),
    (ids.DIAMONDS, ids.IRON_PICKAXE, ids.PATH, ids.MADE + 1),
    (0, -1, 0, 0),
    (0, -1, 0, 0),
)
# By the action, from PLACE_STONE on: the item, how many are needed, the ground that is placed, and the achievement.
_PLACE = (
    (ids.STONES, 1, ids.STONE, ids.MADE + 19),
    (ids.WOOD, 2, ids.TABLE, ids.MADE + 20),
    (ids.STONES, 4, ids.FURNACE, ids.MADE + 17),
)
# By the tool, from the pickaxe of wood on: the achievement.
_MAKE = (ids.MADE + 15, ids.MADE + 13, ids.MADE + 11, ids.MADE + 16, ids.MADE + 14, ids.MADE + 12)


@compiled
def _make_tool(land: Bytes, beings: Ints, body: Ints, tool: int) -> None:
    """Make a pickaxe (0 to 2) or a sword (3 to 5) of wood, stone or iron, if the player can."""
    x, y, table, furnace = beings[0, ids.X], beings[0, ids.Y], False, False
    if x > 0 and y > 0:  # in the first column and the first row the published engine finds nothing nearby
        for i in range(x - 1, min(x + 2, ids.SIZE)):
            for j in range(y - 1, min(y + 2, ids.SIZE)):
                table = table or land[i * ids.SIZE + j] == ids.TABLE
                furnace = furnace or land[i * ids.SIZE + j] == ids.FURNACE
    n_stones, n_metals = int(tool % 3 == 1), int(tool % 3 == 2)  # metals: coal and iron, as many of each
    if not table or (n_metals and not furnace):
        return
    if body[ids.WOOD] < 1 or body[ids.STONES] < n_stones or body[ids.COALS] < n_metals or body[ids.IRONS] < n_metals:
        return
    body[ids.WOOD] -= 1
    body[ids.STONES] -= n_stones
    body[ids.COALS] -= n_metals
    body[ids.IRONS] -= n_metals
    body[ids.WOOD_PICKAXE + tool] += 1
    body[_MAKE[tool]] += 1


@compiled
def _place_thing(
    land: Bytes, row_at: Shorts, beings: Ints, body: Ints, n_beings: int, placed: int, x: int, y: int
) -> int:
    """Place a stone, a table, a furnace (0 to 2) or a plant (3) in a cell if possible; return the number of beings."""
    ground = land[x * ids.SIZE + y]
    if placed == 3:
        if ground == ids.GRASS and body[ids.SAPLING] >= 1:
            body[ids.SAPLING] -= 1
            body[_PLACE_PLANT] += 1
            return add_being(row_at, beings, body, n_beings, ids.PLANT, x, y, 1)
        return n_beings
    item, amount, new_ground, achievement = _PLACE[placed]
    is_firm = ground in (ids.GRASS, ids.SAND, ids.PATH)
    if (is_firm or (placed == 0 and (ground in (ids.WATER, ids.LAVA)))) and body[item] >= amount:
        body[item] -= amount
        land[x * ids.SIZE + y] = new_ground
        body[achievement] += 1
    return n_beings


@compiled
def _strike_being(beings: Ints, body: Ints, row: int) -> None:
    """Hit a being, or eat a ripe plant."""
    kind = beings[row, ids.KIND]
    if kind == ids.PLANT:
        if beings[row, ids.WAIT] > 300:
            beings[row, ids.WAIT] = 0
            body[ids.FOOD] += 4
            body[_EAT_PLANT] += 1
        return
    if kind == ids.ARROW:
        return
    damage = 5 if body[ids.IRON_SWORD] else 3 if body[ids.STONE_SWORD] else 2 if body[ids.WOOD_SWORD] else 1
    take_health(beings, body, row, damage, 0)
    if beings[row, ids.LIFE] <= 0:
        if kind == ids.COW:
            body[ids.FOOD] += 6
            body[ids.HUNGER] = 0
            body[_EAT_COW] += 1
        else:
            body[_DEFEAT_ZOMBIE if kind == ids.ZOMBIE else _DEFEAT_SKELETON] += 1


@compiled
def _collect_material(land: Bytes, body: Ints, generator: Words, x: int, y: int) -> None:
    """Collect what a cell is, if the player has the tool for it."""
    ground = land[x * ids.SIZE + y]
    item, tool, remains, achievement = _COLLECT[int(ground)]
    if ground == ids.WATER:
        body[ids.THIRST] = 0
    if remains == 0 or (tool >= 0 and body[tool] < 1):  # nothing to collect, or no tool
        return
    land[x * ids.SIZE + y] = remains
    if random_uniform(generator, body) <= (0.1 if ground == ids.GRASS else 1.0):
        body[item] += 1
        body[achievement] += 1


@compiled
def _carry_out_action(
    land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, n_beings: int, action: int
) -> int:
    """Carry out the player's action; return the number of beings."""
    x, y = beings[0, ids.X] + body[ids.EAST_OF], beings[0, ids.Y] + body[ids.SOUTH_OF]
    inside = 0 <= x < ids.SIZE and 0 <= y < ids.SIZE
    if ids.WEST <= action <= ids.SOUTH:
        body[ids.EAST_OF] = (action == ids.EAST) - (action == ids.WEST)
        body[ids.SOUTH_OF] = (action == ids.SOUTH) - (action == ids.NORTH)
        move_being(land, row_at, beings, body, 0, body[ids.EAST_OF], body[ids.SOUTH_OF], _LAND_AND_LAVA)
        if land[beings[0, ids.X] * ids.SIZE + beings[0, ids.Y]] == ids.LAVA:
            take_health(beings, body, 0, ids.MOST, BY_LAVA)
    elif action == ids.DO and inside:
        row = int(row_at[x * ids.SIZE + y])
        if row >= 0:
            _strike_being(beings, body, row)
        else:
            _collect_material(land, body, generator, x, y)
    elif action == ids.SLEEP:
        if body[ids.ENERGY] < ids.MOST:
            body[ids.ASLEEP] = 1
    elif ids.PLACE_STONE <= action <= ids.PLACE_PLANT and inside and row_at[x * ids.SIZE + y] < 0:
        return _place_thing(land, row_at, beings, body, n_beings, action - ids.PLACE_STONE, x, y)
    elif action >= ids.MAKE_WOOD_PICKAXE:
        _make_tool(land, beings, body, action - ids.MAKE_WOOD_PICKAXE)
    return n_beings


@compiled
def _update_needs(body: Ints) -> None:
    """Change hunger, thirst, fatigue and health by one step.

    Hunger, thirst and recovery are counted in halves of the published counters, so that they are whole numbers.
    """
    is_asleep = body[ids.ASLEEP] == 1
    pace = 1 if is_asleep else 2
    body[ids.HUNGER] += pace
    if body[ids.HUNGER] > 50:
        body[ids.HUNGER] = 0
        body[ids.FOOD] -= 1
    body[ids.THIRST] += pace
    if body[ids.THIRST] > 40:
        body[ids.THIRST] = 0
        body[ids.DRINK] -= 1
    body[ids.FATIGUE] = min(body[ids.FATIGUE] - 1, 0) if is_asleep else body[ids.FATIGUE] + 1
    if body[ids.FATIGUE] < -10:
        body[ids.FATIGUE] = 0
        body[ids.ENERGY] += 1
    if body[ids.FATIGUE] > 30:
        body[ids.FATIGUE] = 0
        body[ids.ENERGY] -= 1
    if body[ids.FOOD] > 0 and body[ids.DRINK] > 0 and (body[ids.ENERGY] > 0 or is_asleep):
        body[ids.RECOVER] += 4 if is_asleep else 2
    else:
        body[ids.RECOVER] -= pace
    if body[ids.RECOVER] > 50:
        body[ids.RECOVER] = 0
        body[ids.HEALTH] += 1
    if body[ids.RECOVER] < -30:
        body[ids.RECOVER] = 0
        body[ids.HEALTH] = max(0, body[ids.HEALTH] - 1)
        body[ids.HARM] = BY_NEED


@compiled
def _update_player(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, n_beings: int) -> int:
    """Let the player act or sleep, and update its needs; return the number of beings."""
    action = body[ids.ACTED]
    if body[ids.ASLEEP]:
        if body[ids.ENERGY] < ids.MOST:
            action = ids.SLEEP
        else:
            body[ids.ASLEEP] = 0
            body[_WAKE_UP] += 1
    n_beings = _carry_out_action(land, row_at, beings, body, generator, n_beings, action)
    _update_needs(body)
    for item in range(ids.MADE):
        body[item] = max(0, min(body[item], ids.MOST))
    if body[ids.HEALTH] < body[ids.LAST_HEALTH]:
        body[ids.ASLEEP] = 0
    body[ids.LAST_HEALTH] = body[ids.HEALTH]
    return n_beings


@compiled
def _update_being(
    land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, n_beings: int, row: int
) -> int:
    """Let a being act; return the number of beings."""
    kind = beings[row, ids.KIND]
    if kind == ids.PLAYER:
        return _update_player(land, row_at, beings, body, generator, n_beings)
    if kind == ids.ARROW:
        move_arrow(land, row_at, beings, body, row)
    elif kind == ids.PLANT:
        grow_plant(row_at, beings, row)
    elif kind >= ids.COW:
        # A killed being is removed now, and acts once more all the same, as published; it cannot move.
        if beings[row, ids.LIFE] <= 0:
            remove_being(row_at, beings, row)
        if kind == ids.ZOMBIE:
            move_zombie(land, row_at, beings, body, generator, row)
        elif kind == ids.SKELETON:
            return move_skeleton(land, row_at, beings, body, generator, n_beings, row)
        elif random_uniform(generator, body) < 0.5:
            move_at_random(land, row_at, beings, body, generator, row)
    return n_beings


@compiled
def _count_unlocked(body: Ints) -> int:
    """Return the number of achievements that were made at least once."""
    count = 0
    for number in range(ids.MADE, ids.CLOCK):
        count += body[number] > 0
    return count


@compiled
def make_step(
    land: Bytes, beings: Ints, body: Ints, generator: Words, n_beings: int, action: int, n_words: int
) -> tuple[int, int, int, bool]:
    """Make a step of the world, which changes all arrays: the actions of the player and of the beings.

    `beings` has `n_beings` rows in use, and room for more. `n_words` random words are skipped at the end of a step in
    the dark.

    Returns:
        The number of beings after the step, the health that was gained, the number of achievements unlocked so far,
        and whether one of these is new.
    """
    health_before, n_unlocked_before = body[ids.HEALTH], _count_unlocked(body)
    row_at = np.full(ids.AREA, -1, np.int16)
    for row in range(n_beings):
        row_at[beings[row, ids.X] * ids.SIZE + beings[row, ids.Y]] = row
    body[ids.CLOCK] += 1
    light = 1 - abs(math.cos(math.pi * (body[ids.CLOCK] / 300 % 1 + 0.3))) ** 3  # as in `_world.daylight`
    body[ids.ACTED] = action
    for row in range(n_beings):
        if distance_to_player(beings, row) < _REACH:
            n_beings = _update_being(land, row_at, beings, body, generator, n_beings, row)
    if body[ids.CLOCK] % 10 == 0:
        chunk_by_rank = np.zeros(ids.CHUNKS * ids.CHUNKS + 1, np.int64)
        for chunk in range(ids.CHUNKS * ids.CHUNKS):
            chunk_by_rank[body[ids.RANKS + chunk]] = chunk
        for rank in range(1, body[ids.KNOWN_CHUNKS] + 1):
            for kind in (ids.ZOMBIE, ids.SKELETON, ids.COW):
                n_beings = balance_chunk(
                    land, row_at, beings, body, generator, n_beings, chunk_by_rank[rank], kind, light
                )
    if light < 0.5:
        skip_words(generator, body, n_words)
    n_survivors = 0
    for row in range(n_beings):
        if beings[row, ids.KIND]:
            for field in range(ids.BEING):
                beings[n_survivors, field] = beings[row, field]
            n_survivors += 1
    n_unlocked = _count_unlocked(body)
    return n_survivors, body[ids.HEALTH] - health_before, n_unlocked, n_unlocked > n_unlocked_before

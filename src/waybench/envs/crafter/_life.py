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
from waybench.envs.crafter._ids import (
    ACTED,
    AREA,
    ARROW,
    ASLEEP,
    BEING,
    CHUNK,
    CHUNKS,
    CLOCK,
    COALS,
    COW,
    DIAMONDS,
    DO,
    DRAWN,
    DRINK,
    DX,
    DY,
    EAST,
    EAST_OF,
    ENERGY,
    ENTERED,
    FATIGUE,
    FOOD,
    FURNACE,
    GRASS,
    HARM,
    HEALTH,
    HUNGER,
    IRON_PICKAXE,
    IRON_SWORD,
    IRONS,
    KIND,
    KNOWN_CHUNKS,
    LAST_HEALTH,
    LAVA,
    LIFE,
    MADE,
    MAKE_WOOD_PICKAXE,
    MOST,
    NORTH,
    PATH,
    PLACE_PLANT,
    PLACE_STONE,
    PLANT,
    PLAYER,
    RANKS,
    RECOVER,
    SAND,
    SAPLING,
    SINCE,
    SIZE,
    SKELETON,
    SLEEP,
    SOUTH,
    SOUTH_OF,
    STONE,
    STONE_PICKAXE,
    STONE_SWORD,
    STONES,
    TABLE,
    THIRST,
    WAIT,
    WATER,
    WEST,
    WOOD,
    WOOD_PICKAXE,
    WOOD_SWORD,
    ZOMBIE,
    X,
    Y,
)

Bytes = NDArray[np.uint8]
Shorts = NDArray[np.int16]
Ints = NDArray[np.int32]
Words = NDArray[np.uint32]

_WORDS, _SHIFT = 624, 397  # words of the generator, and how far apart the words are that it combines
BY_ZOMBIE, BY_ARROW, BY_LAVA, BY_NEED = 1, 2, 3, 4


@compiled
def _random_word(generator: Words, body: Ints) -> int:
    """Return the next 32 random bits."""
    _renew_words(generator, body)
    body[DRAWN] += 1
    return _tempered_word(int(generator[body[DRAWN] - 1]))


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
    if body[DRAWN] < _WORDS:
        return
    body[DRAWN] = 0
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
        skipped = min(words, _WORDS - body[DRAWN])
        body[DRAWN] += skipped
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
    return x // CHUNK * CHUNKS + y // CHUNK


@compiled
def _note_entry(beings: Ints, body: Ints, row: int) -> None:
    """Note when a being has come into its chunk and, if no being has been in the chunk before, the chunk's rank."""
    beings[row, SINCE] = body[ENTERED]
    body[ENTERED] += 1
    chunk = _chunk_number(beings[row, X], beings[row, Y])
    if body[RANKS + chunk] == 0:
        body[KNOWN_CHUNKS] += 1
        body[RANKS + chunk] = body[KNOWN_CHUNKS]


@compiled
def initial_beings(inhabitants: Bytes, body: Ints) -> Ints:
    """Return the rows of a new world's beings: the player in the middle, and the `inhabitants`, one kind by cell."""
    n_beings = 1
    for cell in range(len(inhabitants)):
        n_beings += inhabitants[cell] > 0
    beings = np.zeros((n_beings, BEING), np.int32)
    beings[0, KIND], beings[0, X], beings[0, Y] = PLAYER, SIZE // 2, SIZE // 2
    _note_entry(beings, body, 0)
    row = 0
    for cell in range(len(inhabitants)):
        if inhabitants[cell]:
            row += 1
            beings[row, KIND], beings[row, X], beings[row, Y] = inhabitants[cell], cell // SIZE, cell % SIZE
            beings[row, LIFE] = 5 if inhabitants[cell] == ZOMBIE else 3
            _note_entry(beings, body, row)
    return beings


@compiled
def add_being(row_at: Shorts, beings: Ints, body: Ints, n_beings: int, kind: int, x: int, y: int, life: int) -> int:
    """Add a being to the `n_beings`; return the new number of beings."""
    for field in range(BEING):  # one by one: assigning a row takes seconds to compile
        beings[n_beings, field] = 0
    beings[n_beings, KIND], beings[n_beings, X], beings[n_beings, Y], beings[n_beings, LIFE] = kind, x, y, life
    row_at[x * SIZE + y] = n_beings
    _note_entry(beings, body, n_beings)
    return n_beings + 1


@compiled
def remove_being(row_at: Shorts, beings: Ints, row: int) -> None:
    """Remove a being; its row stays, with kind 0."""
    row_at[beings[row, X] * SIZE + beings[row, Y]] = -1
    beings[row, KIND] = 0


@compiled
def _can_enter(land: Bytes, row_at: Shorts, x: int, y: int, further: int) -> bool:
    """Return whether a being can enter a cell; lava too if `further` is 1 (the player), also water if 2 (arrows)."""
    if not (0 <= x < SIZE and 0 <= y < SIZE) or row_at[x * SIZE + y] >= 0:
        return False
    ground = land[x * SIZE + y]
    is_firm = ground in (GRASS, SAND, PATH)
    return is_firm or (ground == LAVA and further > 0) or (ground == WATER and further > 1)


@compiled
def move_being(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, row: int, dx: int, dy: int, further: int) -> bool:
    """Move a being by one cell if the cell can be entered, and return whether it can; a removed being stays."""
    x, y = beings[row, X], beings[row, Y]
    if not _can_enter(land, row_at, x + dx, y + dy, further):
        return False
    if beings[row, KIND]:
        row_at[x * SIZE + y] = -1
        row_at[(x + dx) * SIZE + y + dy] = row
        beings[row, X], beings[row, Y] = x + dx, y + dy
        if _chunk_number(x, y) != _chunk_number(x + dx, y + dy):
            _note_entry(beings, body, row)
    return True


@compiled
def take_health(beings: Ints, body: Ints, row: int, damage: int, harm: int) -> None:
    """Take health from a being; for the player, note the cause `harm`."""
    if row == 0:
        body[HEALTH] = max(0, body[HEALTH] - damage)
        body[HARM] = harm
    else:
        beings[row, LIFE] = max(0, beings[row, LIFE] - damage)


@compiled
def distance_to_player(beings: Ints, row: int) -> int:
    """Return the distance of a being from the player, in moves."""
    return abs(beings[0, X] - beings[row, X]) + abs(beings[0, Y] - beings[row, Y])


@compiled
def _direction_to_player(beings: Ints, row: int, long_axis: bool) -> tuple[int, int]:
    """Return the direction (dx, dy) to the player along the longer axis of the distance, or the shorter axis."""
    dx, dy = beings[0, X] - beings[row, X], beings[0, Y] - beings[row, Y]
    if (abs(dx) > abs(dy)) == long_axis:
        return int(dx > 0) - int(dx < 0), 0
    return 0, int(dy > 0) - int(dy < 0)


@compiled
def move_at_random(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, row: int) -> None:
    """Move a being in a random direction."""
    direction = random_below(generator, body, 4)
    dx, dy = (1 if direction == 1 else -1, 0) if direction < 2 else (0, 1 if direction == 3 else -1)
    move_being(land, row_at, beings, body, row, dx, dy, 0)


@compiled
def move_zombie(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, row: int) -> None:
    """Let a zombie approach or move at random, and hit the player when it is near."""
    if distance_to_player(beings, row) <= 8 and random_uniform(generator, body) < 0.9:
        dx, dy = _direction_to_player(beings, row, random_uniform(generator, body) < 0.8)
        move_being(land, row_at, beings, body, row, dx, dy, 0)
    else:
        move_at_random(land, row_at, beings, body, generator, row)
    if distance_to_player(beings, row) <= 1:
        if beings[row, WAIT]:
            beings[row, WAIT] -= 1
        else:
            take_health(beings, body, 0, 7 if body[ASLEEP] else 2, BY_ZOMBIE)
            beings[row, WAIT] = 5


@compiled
def move_skeleton(
    land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, n_beings: int, row: int
) -> int:
    """Let a skeleton retreat, shoot or approach; return the number of beings."""
    beings[row, WAIT] = max(0, beings[row, WAIT] - 1)
    distance = distance_to_player(beings, row)
    if distance <= 3:
        dx, dy = _direction_to_player(beings, row, random_uniform(generator, body) < 0.6)
        if move_being(land, row_at, beings, body, row, -dx, -dy, 0):
            return n_beings
    if distance <= 5 and random_uniform(generator, body) < 0.5:
        dx, dy = _direction_to_player(beings, row, True)
        x, y = beings[row, X] + dx, beings[row, Y] + dy
        if beings[row, WAIT] == 0 and (dx or dy) and _can_enter(land, row_at, x, y, 2):
            beings[row, WAIT] = 4
            n_beings = add_being(row_at, beings, body, n_beings, ARROW, x, y, 0)
            beings[n_beings - 1, DX], beings[n_beings - 1, DY] = dx, dy
    elif distance <= 8 and random_uniform(generator, body) < 0.3:
        dx, dy = _direction_to_player(beings, row, random_uniform(generator, body) < 0.6)
        move_being(land, row_at, beings, body, row, dx, dy, 0)
    elif random_uniform(generator, body) < 0.2:
        move_at_random(land, row_at, beings, body, generator, row)
    return n_beings


@compiled
def move_arrow(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, row: int) -> None:
    """Let an arrow fly on, hit a being, or break, with a table or furnace that it hits."""
    dx, dy = beings[row, DX], beings[row, DY]
    x, y = beings[row, X] + dx, beings[row, Y] + dy
    inside = 0 <= x < SIZE and 0 <= y < SIZE
    if inside and row_at[x * SIZE + y] >= 0:
        take_health(beings, body, int(row_at[x * SIZE + y]), 2, BY_ARROW)
        remove_being(row_at, beings, row)
    elif not move_being(land, row_at, beings, body, row, dx, dy, 2):
        remove_being(row_at, beings, row)
        if inside and (land[x * SIZE + y] == TABLE or land[x * SIZE + y] == FURNACE):
            land[x * SIZE + y] = PATH


@compiled
def grow_plant(row_at: Shorts, beings: Ints, row: int) -> None:
    """Let a plant grow, and lose life to a cow, zombie or skeleton next to it."""
    beings[row, WAIT] += 1
    x, y = beings[row, X], beings[row, Y]
    for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if 0 <= x + dx < SIZE and 0 <= y + dy < SIZE:
            neighbour = row_at[(x + dx) * SIZE + y + dy]
            if neighbour >= 0 and COW <= beings[neighbour, KIND] <= SKELETON:
                beings[row, LIFE] -= 1
                break
    if beings[row, LIFE] <= 0:
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
    west, north = chunk // CHUNKS * CHUNK, chunk % CHUNKS * CHUNK
    east, south = min(west + CHUNK, SIZE), min(north + CHUNK, SIZE)
    ground = PATH if kind == SKELETON else GRASS
    n_cells, n_in_chunk = 0, 0
    for x in range(west, east):
        for y in range(north, south):
            n_cells += land[x * SIZE + y] == ground
    for row in range(1, n_beings):
        n_in_chunk += beings[row, KIND] == kind and _chunk_number(beings[row, X], beings[row, Y]) == chunk
    if kind == ZOMBIE:  # more in the dark
        fewest, most = 0.0 if n_cells < 50 else 3.5 - 3 * light, 3.5 - 3 * light
        spawn_distance, removal_distance, spawn_chance, removal_chance = 6, 0, 0.3, 0.4
    elif kind == SKELETON:
        fewest, most = 0.0 if n_cells < 6 else 1.0, 2.0
        spawn_distance, removal_distance, spawn_chance, removal_chance = 7, 7, 0.1, 0.1
    else:
        fewest, most = 0.0 if n_cells < 30 else 1.0, 1.5 + light
        spawn_distance, removal_distance, spawn_chance, removal_chance = 5, 5, 0.01, 0.1
    if n_in_chunk < int(fewest) and random_uniform(generator, body) < spawn_chance:
        x, y = _nth_cell(land, ground, west, east, north, south, random_below(generator, body, n_cells))
        distance = abs(beings[0, X] - x) + abs(beings[0, Y] - y)
        if row_at[x * SIZE + y] < 0 and distance >= spawn_distance:
            n_beings = add_being(row_at, beings, body, n_beings, kind, x, y, 5 if kind == ZOMBIE else 3)
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
            if land[x * SIZE + y] == ground:
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
            if beings[row, KIND] == kind and _chunk_number(beings[row, X], beings[row, Y]) == chunk:
                since = beings[row, SINCE]
                if since > last_since and (row_found == 0 or since < beings[row_found, SINCE]):
                    row_found = row
        last_since = beings[row_found, SINCE]
    return row_found


_REACH = 18  # beings at this distance or further from the player do nothing
# Achievements are at MADE + their index in `ACHIEVEMENTS`.
_DEFEAT_SKELETON, _DEFEAT_ZOMBIE, _EAT_COW, _EAT_PLANT = MADE + 7, MADE + 8, MADE + 9, MADE + 10
_PLACE_PLANT, _WAKE_UP = MADE + 18, MADE + 21
# By the kind of cell: the item collected, the item needed (-1: none), the ground that is left, and the achievement.
_COLLECT = (
    (0, -1, 0, 0),
    (DRINK, -1, WATER, MADE + 2),
    (SAPLING, -1, GRASS, MADE + 4),
    (STONES, WOOD_PICKAXE, PATH, MADE + 5),
    (0, -1, 0, 0),
    (0, -1, 0, 0),
    (WOOD, -1, GRASS, MADE + 6),
    (0, -1, 0, 0),
    (COALS, WOOD_PICKAXE, PATH, MADE),
    (IRONS, STONE_PICKAXE, PATH, MADE + 3),
    (DIAMONDS, IRON_PICKAXE, PATH, MADE + 1),
    (0, -1, 0, 0),
    (0, -1, 0, 0),
)
# By the action, from PLACE_STONE on: the item, how many are needed, the ground that is placed, and the achievement.
_PLACE = ((STONES, 1, STONE, MADE + 19), (WOOD, 2, TABLE, MADE + 20), (STONES, 4, FURNACE, MADE + 17))
# By the tool, from the pickaxe of wood on: the achievement.
_MAKE = (MADE + 15, MADE + 13, MADE + 11, MADE + 16, MADE + 14, MADE + 12)


@compiled
def _make_tool(land: Bytes, beings: Ints, body: Ints, tool: int) -> None:
    """Make a pickaxe (0 to 2) or a sword (3 to 5) of wood, stone or iron, if the player can."""
    x, y, table, furnace = beings[0, X], beings[0, Y], False, False
    if x > 0 and y > 0:  # in the first column and the first row the published engine finds nothing nearby
        for i in range(x - 1, min(x + 2, SIZE)):
            for j in range(y - 1, min(y + 2, SIZE)):
                table = table or land[i * SIZE + j] == TABLE
                furnace = furnace or land[i * SIZE + j] == FURNACE
    n_stones, n_metals = int(tool % 3 == 1), int(tool % 3 == 2)  # metals: coal and iron, as many of each
    if not table or (n_metals and not furnace):
        return
    if body[WOOD] < 1 or body[STONES] < n_stones or body[COALS] < n_metals or body[IRONS] < n_metals:
        return
    body[WOOD] -= 1
    body[STONES] -= n_stones
    body[COALS] -= n_metals
    body[IRONS] -= n_metals
    body[WOOD_PICKAXE + tool] += 1
    body[_MAKE[tool]] += 1


@compiled
def _place_thing(
    land: Bytes, row_at: Shorts, beings: Ints, body: Ints, n_beings: int, placed: int, x: int, y: int
) -> int:
    """Place a stone, a table, a furnace (0 to 2) or a plant (3) in a cell if possible; return the number of beings."""
    ground = land[x * SIZE + y]
    if placed == 3:
        if ground == GRASS and body[SAPLING] >= 1:
            body[SAPLING] -= 1
            body[_PLACE_PLANT] += 1
            return add_being(row_at, beings, body, n_beings, PLANT, x, y, 1)
        return n_beings
    item, amount, new_ground, achievement = _PLACE[placed]
    is_firm = ground in (GRASS, SAND, PATH)
    if (is_firm or (placed == 0 and (ground in (WATER, LAVA)))) and body[item] >= amount:
        body[item] -= amount
        land[x * SIZE + y] = new_ground
        body[achievement] += 1
    return n_beings


@compiled
def _strike_being(beings: Ints, body: Ints, row: int) -> None:
    """Hit a being, or eat a ripe plant."""
    kind = beings[row, KIND]
    if kind == PLANT:
        if beings[row, WAIT] > 300:
            beings[row, WAIT] = 0
            body[FOOD] += 4
            body[_EAT_PLANT] += 1
        return
    if kind == ARROW:
        return
    damage = 5 if body[IRON_SWORD] else 3 if body[STONE_SWORD] else 2 if body[WOOD_SWORD] else 1
    take_health(beings, body, row, damage, 0)
    if beings[row, LIFE] <= 0:
        if kind == COW:
            body[FOOD] += 6
            body[HUNGER] = 0
            body[_EAT_COW] += 1
        else:
            body[_DEFEAT_ZOMBIE if kind == ZOMBIE else _DEFEAT_SKELETON] += 1


@compiled
def _collect_material(land: Bytes, body: Ints, generator: Words, x: int, y: int) -> None:
    """Collect what a cell is, if the player has the tool for it."""
    ground = land[x * SIZE + y]
    item, tool, remains, achievement = _COLLECT[int(ground)]
    if ground == WATER:
        body[THIRST] = 0
    if remains == 0 or (tool >= 0 and body[tool] < 1):  # nothing to collect, or no tool
        return
    land[x * SIZE + y] = remains
    if random_uniform(generator, body) <= (0.1 if ground == GRASS else 1.0):
        body[item] += 1
        body[achievement] += 1


@compiled
def _carry_out_action(
    land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, n_beings: int, action: int
) -> int:
    """Carry out the player's action; return the number of beings."""
    x, y = beings[0, X] + body[EAST_OF], beings[0, Y] + body[SOUTH_OF]
    inside = 0 <= x < SIZE and 0 <= y < SIZE
    if WEST <= action <= SOUTH:
        body[EAST_OF] = (action == EAST) - (action == WEST)
        body[SOUTH_OF] = (action == SOUTH) - (action == NORTH)
        move_being(land, row_at, beings, body, 0, body[EAST_OF], body[SOUTH_OF], 1)
        if land[beings[0, X] * SIZE + beings[0, Y]] == LAVA:
            take_health(beings, body, 0, MOST, BY_LAVA)
    elif action == DO and inside:
        row = int(row_at[x * SIZE + y])
        if row >= 0:
            _strike_being(beings, body, row)
        else:
            _collect_material(land, body, generator, x, y)
    elif action == SLEEP:
        if body[ENERGY] < MOST:
            body[ASLEEP] = 1
    elif PLACE_STONE <= action <= PLACE_PLANT and inside and row_at[x * SIZE + y] < 0:
        return _place_thing(land, row_at, beings, body, n_beings, action - PLACE_STONE, x, y)
    elif action >= MAKE_WOOD_PICKAXE:
        _make_tool(land, beings, body, action - MAKE_WOOD_PICKAXE)
    return n_beings


@compiled
def _update_needs(body: Ints) -> None:
    """Change hunger, thirst, fatigue and health by one step.

    Hunger, thirst and recovery are counted in halves of the published counters, so that they are whole numbers.
    """
    is_asleep = body[ASLEEP] == 1
    pace = 1 if is_asleep else 2
    body[HUNGER] += pace
    if body[HUNGER] > 50:
        body[HUNGER] = 0
        body[FOOD] -= 1
    body[THIRST] += pace
    if body[THIRST] > 40:
        body[THIRST] = 0
        body[DRINK] -= 1
    body[FATIGUE] = min(body[FATIGUE] - 1, 0) if is_asleep else body[FATIGUE] + 1
    if body[FATIGUE] < -10:
        body[FATIGUE] = 0
        body[ENERGY] += 1
    if body[FATIGUE] > 30:
        body[FATIGUE] = 0
        body[ENERGY] -= 1
    if body[FOOD] > 0 and body[DRINK] > 0 and (body[ENERGY] > 0 or is_asleep):
        body[RECOVER] += 4 if is_asleep else 2
    else:
        body[RECOVER] -= pace
    if body[RECOVER] > 50:
        body[RECOVER] = 0
        body[HEALTH] += 1
    if body[RECOVER] < -30:
        body[RECOVER] = 0
        body[HEALTH] = max(0, body[HEALTH] - 1)
        body[HARM] = BY_NEED


@compiled
def _update_player(land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, n_beings: int) -> int:
    """Let the player act or sleep, and update its needs; return the number of beings."""
    action = body[ACTED]
    if body[ASLEEP]:
        if body[ENERGY] < MOST:
            action = SLEEP
        else:
            body[ASLEEP] = 0
            body[_WAKE_UP] += 1
    n_beings = _carry_out_action(land, row_at, beings, body, generator, n_beings, action)
    _update_needs(body)
    for item in range(MADE):
        body[item] = max(0, min(body[item], MOST))
    if body[HEALTH] < body[LAST_HEALTH]:
        body[ASLEEP] = 0
    body[LAST_HEALTH] = body[HEALTH]
    return n_beings


@compiled
def _update_being(
    land: Bytes, row_at: Shorts, beings: Ints, body: Ints, generator: Words, n_beings: int, row: int
) -> int:
    """Let a being act; return the number of beings."""
    kind = beings[row, KIND]
    if kind == PLAYER:
        return _update_player(land, row_at, beings, body, generator, n_beings)
    if kind == ARROW:
        move_arrow(land, row_at, beings, body, row)
    elif kind == PLANT:
        grow_plant(row_at, beings, row)
    elif kind >= COW:
        # A killed being is removed now, and acts once more all the same, as published; it cannot move.
        if beings[row, LIFE] <= 0:
            remove_being(row_at, beings, row)
        if kind == ZOMBIE:
            move_zombie(land, row_at, beings, body, generator, row)
        elif kind == SKELETON:
            return move_skeleton(land, row_at, beings, body, generator, n_beings, row)
        elif random_uniform(generator, body) < 0.5:
            move_at_random(land, row_at, beings, body, generator, row)
    return n_beings


@compiled
def _count_unlocked(body: Ints) -> int:
    """Return the number of achievements that were made at least once."""
    count = 0
    for number in range(MADE, CLOCK):
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
    health_before, n_unlocked_before = body[HEALTH], _count_unlocked(body)
    row_at = np.full(AREA, -1, np.int16)
    for row in range(n_beings):
        row_at[beings[row, X] * SIZE + beings[row, Y]] = row
    body[CLOCK] += 1
    light = 1 - abs(math.cos(math.pi * (body[CLOCK] / 300 % 1 + 0.3))) ** 3  # as in `_world.daylight`
    body[ACTED] = action
    for row in range(n_beings):
        if distance_to_player(beings, row) < _REACH:
            n_beings = _update_being(land, row_at, beings, body, generator, n_beings, row)
    if body[CLOCK] % 10 == 0:
        chunk_by_rank = np.zeros(CHUNKS * CHUNKS + 1, np.int64)
        for chunk in range(CHUNKS * CHUNKS):
            chunk_by_rank[body[RANKS + chunk]] = chunk
        for rank in range(1, body[KNOWN_CHUNKS] + 1):
            for kind in (ZOMBIE, SKELETON, COW):
                n_beings = balance_chunk(
                    land, row_at, beings, body, generator, n_beings, chunk_by_rank[rank], kind, light
                )
    if light < 0.5:
        skip_words(generator, body, n_words)
    n_survivors = 0
    for row in range(n_beings):
        if beings[row, KIND]:
            for field in range(BEING):
                beings[n_survivors, field] = beings[row, field]
            n_survivors += 1
    n_unlocked = _count_unlocked(body)
    return n_survivors, body[HEALTH] - health_before, n_unlocked, n_unlocked > n_unlocked_before

"""The effect of a step: the published rules of the player, and what all beings do in their turn. Compiled.

All functions write into the arrays that they are given: `land` (what each cell is), `here` (the row of the being in
each cell; -1 where there is none), `beings` (one row each, the player's first), `body` (the player's numbers) and `key`
(the words of the random generator, MT19937). They are one module, long as it is: what numba keeps of a function on the
disk is renewed when the function's own file changes, and not when that of a function that it calls does.
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
    COW,
    DO,
    DRAWN,
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
    KIND,
    KNOWN_CHUNKS,
    LAST_HEALTH,
    LAVA,
    LIFE,
    MADE,
    MOST,
    NORTH,
    PATH,
    PLANT,
    PLAYER,
    RANKS,
    RECOVER,
    SAND,
    SINCE,
    SIZE,
    SKELETON,
    SLEEP,
    SOUTH,
    SOUTH_OF,
    TABLE,
    THIRST,
    WAIT,
    WATER,
    WEST,
    ZOMBIE,
    X,
    Y,
)

Bytes = NDArray[np.uint8]
Shorts = NDArray[np.int16]
Ints = NDArray[np.int32]
Words = NDArray[np.uint32]

_WORDS = 624  # of the generator
BY_ZOMBIE, BY_ARROW, BY_LAVA, BY_NEED = 1, 2, 3, 4


@compiled
def _random_word(key: Words, body: Ints) -> int:
    """Return the next 32 random bits."""
    _renew_words(key, body)
    body[DRAWN] += 1
    return _tempered_word(int(key[body[DRAWN] - 1]))


@compiled
def _tempered_word(y: int) -> int:
    """Return a word of the generator as a random number, by the tempering of MT19937."""
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return y ^ (y >> 18)


@compiled
def _renew_words(key: Words, body: Ints) -> None:
    """Replace all words of the generator by the next ones once they are drawn, in three stretches for speed."""
    if body[DRAWN] < _WORDS:
        return
    body[DRAWN] = 0
    high, low, mix = np.uint32(0x80000000), np.uint32(0x7FFFFFFF), np.uint32(0x9908B0DF)
    one_word = np.uint32(1)
    for i in range(_WORDS - 397):
        y = (key[i] & high) | (key[i + 1] & low)
        key[i] = key[i + 397] ^ (y >> one_word) ^ (mix * (y & one_word))
    for i in range(_WORDS - 397, _WORDS - 1):
        y = (key[i] & high) | (key[i + 1] & low)
        key[i] = key[i + 397 - _WORDS] ^ (y >> one_word) ^ (mix * (y & one_word))
    y = (key[_WORDS - 1] & high) | (key[0] & low)
    key[_WORDS - 1] = key[396] ^ (y >> one_word) ^ (mix * (y & one_word))


@compiled
def skip_words(key: Words, body: Ints, words: int) -> None:
    """Pass over some random words."""
    while words > 0:
        _renew_words(key, body)
        skipped = min(words, _WORDS - body[DRAWN])
        body[DRAWN] += skipped
        words -= skipped


@compiled
def random_uniform(key: Words, body: Ints) -> float:
    """Return a random number from 0 to 1, as numpy's old generator draws it."""
    high = _random_word(key, body) >> 5
    return (high * 67108864.0 + (_random_word(key, body) >> 6)) / 9007199254740992.0


@compiled
def random_below(key: Words, body: Ints, count: int) -> int:
    """Return a random whole number from 0 to count - 1, as numpy's old generator draws it."""
    if count == 1:
        return 0
    mask = 1
    while mask < count - 1:
        mask = mask << 1 | 1
    while True:
        word = _random_word(key, body) & mask
        if word < count:
            return word


@compiled
def _chunk_number(x: int, y: int) -> int:
    return x // CHUNK * CHUNKS + y // CHUNK


@compiled
def _note_entry(beings: Ints, body: Ints, row: int) -> None:
    """Note that a being has come into a chunk and, if it is the first one ever, the chunk."""
    beings[row, SINCE] = body[ENTERED]
    body[ENTERED] += 1
    chunk = _chunk_number(beings[row, X], beings[row, Y])
    if body[RANKS + chunk] == 0:
        body[KNOWN_CHUNKS] += 1
        body[RANKS + chunk] = body[KNOWN_CHUNKS]


@compiled
def initial_beings(inhabitants: Bytes, body: Ints) -> Ints:
    """Return the beings of a new world: the player in the middle, and the inhabitants of cells."""
    count = 1
    for cell in range(len(inhabitants)):
        count += inhabitants[cell] > 0
    beings = np.zeros((count, BEING), np.int32)
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
def add_being(here: Shorts, beings: Ints, body: Ints, count: int, kind: int, x: int, y: int, life: int) -> int:
    """Add a being; return the number of beings."""
    for field in range(BEING):  # of a row, the compiler takes seconds for the check of its length
        beings[count, field] = 0
    beings[count, KIND], beings[count, X], beings[count, Y], beings[count, LIFE] = kind, x, y, life
    here[x * SIZE + y] = count
    _note_entry(beings, body, count)
    return count + 1


@compiled
def remove_being(here: Shorts, beings: Ints, row: int) -> None:
    """Remove a being; its row stays, with kind 0."""
    here[beings[row, X] * SIZE + beings[row, Y]] = -1
    beings[row, KIND] = 0


@compiled
def _can_enter(land: Bytes, here: Shorts, x: int, y: int, further: int) -> bool:
    """Return whether a being can enter a cell; `further` is 1 to include lava (the player), 2 also water (arrows)."""
    if not (0 <= x < SIZE and 0 <= y < SIZE) or here[x * SIZE + y] >= 0:
        return False
    ground = land[x * SIZE + y]
    firm = ground in (GRASS, SAND, PATH)
    return firm or (ground == LAVA and further > 0) or (ground == WATER and further > 1)


@compiled
def move_being(land: Bytes, here: Shorts, beings: Ints, body: Ints, row: int, dx: int, dy: int, further: int) -> bool:
    """Move a being by one cell if it can, and return whether it can; a removed being does not move."""
    x, y = beings[row, X], beings[row, Y]
    if not _can_enter(land, here, x + dx, y + dy, further):
        return False
    if beings[row, KIND]:
        here[x * SIZE + y] = -1
        here[(x + dx) * SIZE + y + dy] = row
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
    """Return the direction to the player along the longer axis of the distance, or the shorter one."""
    dx, dy = beings[0, X] - beings[row, X], beings[0, Y] - beings[row, Y]
    if (abs(dx) > abs(dy)) == long_axis:
        return int(dx > 0) - int(dx < 0), 0
    return 0, int(dy > 0) - int(dy < 0)


@compiled
def move_at_random(land: Bytes, here: Shorts, beings: Ints, body: Ints, key: Words, row: int) -> None:
    """Move a being in a random direction."""
    way = random_below(key, body, 4)
    dx, dy = (1 if way == 1 else -1, 0) if way < 2 else (0, 1 if way == 3 else -1)
    move_being(land, here, beings, body, row, dx, dy, 0)


@compiled
def move_zombie(land: Bytes, here: Shorts, beings: Ints, body: Ints, key: Words, row: int) -> None:
    """Let a zombie approach or move at random, and hit the player when it is near."""
    if distance_to_player(beings, row) <= 8 and random_uniform(key, body) < 0.9:
        dx, dy = _direction_to_player(beings, row, random_uniform(key, body) < 0.8)
        move_being(land, here, beings, body, row, dx, dy, 0)
    else:
        move_at_random(land, here, beings, body, key, row)
    if distance_to_player(beings, row) <= 1:
        if beings[row, WAIT]:
            beings[row, WAIT] -= 1
        else:
            take_health(beings, body, 0, 7 if body[ASLEEP] else 2, BY_ZOMBIE)
            beings[row, WAIT] = 5


@compiled
def move_skeleton(land: Bytes, here: Shorts, beings: Ints, body: Ints, key: Words, count: int, row: int) -> int:
    """Let a skeleton retreat, shoot or approach; return the number of beings."""
    beings[row, WAIT] = max(0, beings[row, WAIT] - 1)
    away = distance_to_player(beings, row)
    if away <= 3:
        dx, dy = _direction_to_player(beings, row, random_uniform(key, body) < 0.6)
        if move_being(land, here, beings, body, row, -dx, -dy, 0):
            return count
    if away <= 5 and random_uniform(key, body) < 0.5:
        dx, dy = _direction_to_player(beings, row, True)
        x, y = beings[row, X] + dx, beings[row, Y] + dy
        if beings[row, WAIT] == 0 and (dx or dy) and _can_enter(land, here, x, y, 2):
            beings[row, WAIT] = 4
            count = add_being(here, beings, body, count, ARROW, x, y, 0)
            beings[count - 1, DX], beings[count - 1, DY] = dx, dy
    elif away <= 8 and random_uniform(key, body) < 0.3:
        dx, dy = _direction_to_player(beings, row, random_uniform(key, body) < 0.6)
        move_being(land, here, beings, body, row, dx, dy, 0)
    elif random_uniform(key, body) < 0.2:
        move_at_random(land, here, beings, body, key, row)
    return count


@compiled
def move_arrow(land: Bytes, here: Shorts, beings: Ints, body: Ints, row: int) -> None:
    """Let an arrow fly on, hit a being, or break, with a table or furnace that it hits."""
    dx, dy = beings[row, DX], beings[row, DY]
    x, y = beings[row, X] + dx, beings[row, Y] + dy
    inside = 0 <= x < SIZE and 0 <= y < SIZE
    if inside and here[x * SIZE + y] >= 0:
        take_health(beings, body, int(here[x * SIZE + y]), 2, BY_ARROW)
        remove_being(here, beings, row)
    elif not move_being(land, here, beings, body, row, dx, dy, 2):
        remove_being(here, beings, row)
        if inside and (land[x * SIZE + y] == TABLE or land[x * SIZE + y] == FURNACE):
            land[x * SIZE + y] = PATH


@compiled
def grow_plant(here: Shorts, beings: Ints, row: int) -> None:
    """Let a plant grow, or be eaten by a being next to it."""
    beings[row, WAIT] += 1
    x, y = beings[row, X], beings[row, Y]
    for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        if 0 <= x + dx < SIZE and 0 <= y + dy < SIZE:
            neighbour = here[(x + dx) * SIZE + y + dy]
            if neighbour >= 0 and COW <= beings[neighbour, KIND] <= SKELETON:
                beings[row, LIFE] -= 1
                break
    if beings[row, LIFE] <= 0:
        remove_being(here, beings, row)


@compiled
def balance_chunk(
    land: Bytes,
    here: Shorts,
    beings: Ints,
    body: Ints,
    key: Words,
    count: int,
    chunk: int,
    kind: int,
    light: float,
) -> int:
    """Add or remove a being of a kind in a chunk by chance; return the number of beings."""
    west, north = chunk // CHUNKS * CHUNK, chunk % CHUNKS * CHUNK
    east, south = min(west + CHUNK, SIZE), min(north + CHUNK, SIZE)
    ground = PATH if kind == SKELETON else GRASS
    space, there = 0, 0
    for x in range(west, east):
        for y in range(north, south):
            space += land[x * SIZE + y] == ground
    for row in range(1, count):
        there += beings[row, KIND] == kind and _chunk_number(beings[row, X], beings[row, Y]) == chunk
    if kind == ZOMBIE:
        least, most = 0.0 if space < 50 else 3.5 - 3 * light, 3.5 - 3 * light
        near, keep, come, go = 6, 0, 0.3, 0.4
    elif kind == SKELETON:
        least, most = 0.0 if space < 6 else 1.0, 2.0
        near, keep, come, go = 7, 7, 0.1, 0.1
    else:
        least, most = 0.0 if space < 30 else 1.0, 1.5 + light
        near, keep, come, go = 5, 5, 0.01, 0.1
    if there < int(least) and random_uniform(key, body) < come:
        x, y = _nth_cell(land, ground, west, east, north, south, random_below(key, body, space))
        away = abs(beings[0, X] - x) + abs(beings[0, Y] - y)
        if here[x * SIZE + y] < 0 and away >= near:
            count = add_being(here, beings, body, count, kind, x, y, 5 if kind == ZOMBIE else 3)
    elif there > int(most) and random_uniform(key, body) < go:
        row = _nth_being(beings, count, kind, chunk, random_below(key, body, there))
        if distance_to_player(beings, row) >= keep:
            remove_being(here, beings, row)
    return count


@compiled
def _nth_cell(land: Bytes, ground: int, west: int, east: int, north: int, south: int, number: int) -> tuple[int, int]:
    """Return the n-th cell of a kind of ground in a chunk, from 0, column by column."""
    for x in range(west, east):
        for y in range(north, south):
            if land[x * SIZE + y] == ground:
                if number == 0:
                    return x, y
                number -= 1
    return west, north


@compiled
def _nth_being(beings: Ints, count: int, kind: int, chunk: int, number: int) -> int:
    """Return the row of the n-th being of a kind in a chunk, from 0, in the order in which they came into it."""
    before = -1
    row_found = 0
    for _ in range(number + 1):
        row_found = 0
        for row in range(1, count):
            if beings[row, KIND] == kind and _chunk_number(beings[row, X], beings[row, Y]) == chunk:
                since = beings[row, SINCE]
                if since > before and (row_found == 0 or since < beings[row_found, SINCE]):
                    row_found = row
        before = beings[row_found, SINCE]
    return row_found


_REACH = 18  # beings at this distance or further from the player do nothing
_DRINK, _SAPLING, _WOOD, _STONE, _COAL, _IRON, _DIAMOND = 2, 4, 5, 6, 7, 8, 9
_PICKAXES, _SWORDS = 10, 13  # wood, stone, iron
_DEFEAT_SKELETON, _DEFEAT_ZOMBIE, _EAT_COW, _EAT_PLANT = MADE + 7, MADE + 8, MADE + 9, MADE + 10
_WAKE_UP = MADE + 21
# By what is collected: the item, the item needed for it (-1: none), what is left, and the achievement.
_COLLECT = (
    (0, -1, 0, 0),
    (_DRINK, -1, WATER, MADE + 2),
    (_SAPLING, -1, GRASS, MADE + 4),
    (_STONE, _PICKAXES, PATH, MADE + 5),
    (0, -1, 0, 0),
    (0, -1, 0, 0),
    (_WOOD, -1, GRASS, MADE + 6),
    (0, -1, 0, 0),
    (_COAL, _PICKAXES, PATH, MADE),
    (_IRON, _PICKAXES + 1, PATH, MADE + 3),
    (_DIAMOND, _PICKAXES + 2, PATH, MADE + 1),
    (0, -1, 0, 0),
    (0, -1, 0, 0),
)
# By the action, from placing a stone on: the item, how many of it, what is placed, and the achievement.
_PLACE = ((_STONE, 1, 3, MADE + 19), (_WOOD, 2, TABLE, MADE + 20), (_STONE, 4, FURNACE, MADE + 17))
_PLACE_PLANT = MADE + 18
# By the item made, from the pickaxe of wood on.
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
    grade = tool % 3
    stone, metal = int(grade == 1), int(grade == 2)
    if not table or (metal and not furnace):
        return
    if body[_WOOD] < 1 or body[_STONE] < stone or body[_COAL] < metal or body[_IRON] < metal:
        return
    body[_WOOD] -= 1
    body[_STONE] -= stone
    body[_COAL] -= metal
    body[_IRON] -= metal
    body[_PICKAXES + tool] += 1
    body[_MAKE[tool]] += 1


@compiled
def _place_thing(land: Bytes, here: Shorts, beings: Ints, body: Ints, count: int, placed: int, x: int, y: int) -> int:
    """Place a stone, a table, a furnace (0 to 2) or a plant (3), if possible; return the number of beings."""
    ground = land[x * SIZE + y]
    if placed == 3:
        if ground == GRASS and body[_SAPLING] >= 1:
            body[_SAPLING] -= 1
            body[_PLACE_PLANT] += 1
            return add_being(here, beings, body, count, PLANT, x, y, 1)
        return count
    item, amount, thing, achievement = _PLACE[placed]
    firm = ground in (GRASS, SAND, PATH)
    if (firm or (placed == 0 and (ground in (WATER, LAVA)))) and body[item] >= amount:
        body[item] -= amount
        land[x * SIZE + y] = thing
        body[achievement] += 1
    return count


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
    damage = 5 if body[_SWORDS + 2] else 3 if body[_SWORDS + 1] else 2 if body[_SWORDS] else 1
    take_health(beings, body, row, damage, 0)
    if beings[row, LIFE] <= 0:
        if kind == COW:
            body[FOOD] += 6
            body[HUNGER] = 0
            body[_EAT_COW] += 1
        else:
            body[_DEFEAT_ZOMBIE if kind == ZOMBIE else _DEFEAT_SKELETON] += 1


@compiled
def _collect_material(land: Bytes, body: Ints, key: Words, x: int, y: int) -> None:
    """Collect what a cell is, if the player has the tool for it."""
    ground = land[x * SIZE + y]
    item, tool, remains, achievement = _COLLECT[int(ground)]
    if ground == WATER:
        body[THIRST] = 0
    if remains == 0 or (tool >= 0 and body[tool] < 1):
        return
    land[x * SIZE + y] = remains
    if random_uniform(key, body) <= (0.1 if ground == GRASS else 1.0):
        body[item] += 1
        body[achievement] += 1


@compiled
def _carry_out_action(land: Bytes, here: Shorts, beings: Ints, body: Ints, key: Words, count: int, action: int) -> int:
    """Carry out the player's action; return the number of beings."""
    x, y = beings[0, X] + body[EAST_OF], beings[0, Y] + body[SOUTH_OF]
    inside = 0 <= x < SIZE and 0 <= y < SIZE
    if WEST <= action <= SOUTH:
        body[EAST_OF] = (action == EAST) - (action == WEST)
        body[SOUTH_OF] = (action == SOUTH) - (action == NORTH)
        move_being(land, here, beings, body, 0, body[EAST_OF], body[SOUTH_OF], 1)
        if land[beings[0, X] * SIZE + beings[0, Y]] == LAVA:
            take_health(beings, body, 0, MOST, BY_LAVA)
    elif action == DO and inside:
        row = int(here[x * SIZE + y])
        if row >= 0:
            _strike_being(beings, body, row)
        else:
            _collect_material(land, body, key, x, y)
    elif action == SLEEP:
        if body[ENERGY] < MOST:
            body[ASLEEP] = 1
    elif 7 <= action <= 10 and inside and here[x * SIZE + y] < 0:
        return _place_thing(land, here, beings, body, count, action - 7, x, y)
    elif action >= 11:
        _make_tool(land, beings, body, action - 11)
    return count


@compiled
def _update_needs(body: Ints) -> None:
    """Change hunger, thirst, fatigue and health by one step. Counters are in halves."""
    asleep = body[ASLEEP] == 1
    pace = 1 if asleep else 2
    body[HUNGER] += pace
    if body[HUNGER] > 50:
        body[HUNGER] = 0
        body[FOOD] -= 1
    body[THIRST] += pace
    if body[THIRST] > 40:
        body[THIRST] = 0
        body[_DRINK] -= 1
    body[FATIGUE] = min(body[FATIGUE] - 1, 0) if asleep else body[FATIGUE] + 1
    if body[FATIGUE] < -10:
        body[FATIGUE] = 0
        body[ENERGY] += 1
    if body[FATIGUE] > 30:
        body[FATIGUE] = 0
        body[ENERGY] -= 1
    if body[FOOD] > 0 and body[_DRINK] > 0 and (body[ENERGY] > 0 or asleep):
        body[RECOVER] += 4 if asleep else 2
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
def _update_player(land: Bytes, here: Shorts, beings: Ints, body: Ints, key: Words, count: int) -> int:
    """Let the player act or sleep, and update its needs; return the number of beings."""
    action = body[ACTED]
    if body[ASLEEP]:
        if body[ENERGY] < MOST:
            action = SLEEP
        else:
            body[ASLEEP] = 0
            body[_WAKE_UP] += 1
    count = _carry_out_action(land, here, beings, body, key, count, action)
    _update_needs(body)
    for item in range(MADE):
        body[item] = max(0, min(body[item], MOST))
    if body[HEALTH] < body[LAST_HEALTH]:
        body[ASLEEP] = 0
    body[LAST_HEALTH] = body[HEALTH]
    return count


@compiled
def _update_being(land: Bytes, here: Shorts, beings: Ints, body: Ints, key: Words, count: int, row: int) -> int:
    """Let a being act; return the number of beings."""
    kind = beings[row, KIND]
    if kind == PLAYER:
        return _update_player(land, here, beings, body, key, count)
    if kind == ARROW:
        move_arrow(land, here, beings, body, row)
    elif kind == PLANT:
        grow_plant(here, beings, row)
    elif kind >= COW:
        # One that was killed disappears now, and yet does once more what it would, as far as that needs no body.
        if beings[row, LIFE] <= 0:
            remove_being(here, beings, row)
        if kind == ZOMBIE:
            move_zombie(land, here, beings, body, key, row)
        elif kind == SKELETON:
            return move_skeleton(land, here, beings, body, key, count, row)
        elif random_uniform(key, body) < 0.5:
            move_at_random(land, here, beings, body, key, row)
    return count


@compiled
def _count_unlocked(body: Ints) -> int:
    """Return the number of achievements that were made at least once."""
    count = 0
    for number in range(MADE, CLOCK):
        count += body[number] > 0
    return count


@compiled
def make_step(
    land: Bytes, beings: Ints, body: Ints, key: Words, count: int, action: int, drawn: int
) -> tuple[int, int, int, bool]:
    """Make a step of the world, which changes all arrays: the player's action, and those of the beings.

    There are `count` beings, and room for more. `drawn` random words are skipped at the end of a step in the dark.

    Returns:
        The number of beings then, the health that was gained, the number of achievements unlocked so far, and whether
        one of these is new.
    """
    health, unlocked = body[HEALTH], _count_unlocked(body)
    here = np.full(AREA, -1, np.int16)
    for row in range(count):
        here[beings[row, X] * SIZE + beings[row, Y]] = row
    body[CLOCK] += 1
    light = 1 - abs(math.cos(math.pi * (body[CLOCK] / 300 % 1 + 0.3))) ** 3
    body[ACTED] = action
    for row in range(count):
        if distance_to_player(beings, row) < _REACH:
            count = _update_being(land, here, beings, body, key, count, row)
    if body[CLOCK] % 10 == 0:
        order = np.zeros(CHUNKS * CHUNKS + 1, np.int64)
        for chunk in range(CHUNKS * CHUNKS):
            order[body[RANKS + chunk]] = chunk
        for rank in range(1, body[KNOWN_CHUNKS] + 1):
            for kind in (ZOMBIE, SKELETON, COW):
                count = balance_chunk(land, here, beings, body, key, count, order[rank], kind, light)
    if light < 0.5:
        skip_words(key, body, drawn)
    survivors = 0
    for row in range(count):
        if beings[row, KIND]:
            for field in range(BEING):
                beings[survivors, field] = beings[row, field]
            survivors += 1
    now = _count_unlocked(body)
    return survivors, body[HEALTH] - health, now, now > unlocked

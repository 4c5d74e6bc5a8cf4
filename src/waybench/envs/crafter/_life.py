"""The effect of a step: the published rules of the player, and what all beings do in their turn. Compiled.

The arrays are those of `_beings`.
"""

import math

import numpy as np

from waybench._compile import compiled
from waybench.envs.crafter._beings import (
    BY_LAVA,
    BY_NEED,
    Bytes,
    Ints,
    Shorts,
    Words,
    add,
    balance,
    distance_to_player,
    grow_plant,
    hurt,
    move,
    move_arrow,
    move_skeleton,
    move_zombie,
    remove,
    skip,
    stroll,
    uniform,
)
from waybench.envs.crafter._ids import (
    ACTED,
    AREA,
    ARROW,
    ASLEEP,
    BEING,
    CHUNKS,
    CLOCK,
    COW,
    DO,
    EAST,
    EAST_OF,
    ENERGY,
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
def _make(land: Bytes, beings: Ints, body: Ints, tool: int) -> None:
    """Make a pickaxe (0 to 2) or a sword (3 to 5) of wood, stone or iron."""
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
def _place(land: Bytes, here: Shorts, beings: Ints, body: Ints, count: int, placed: int, x: int, y: int) -> int:
    """Place a stone, a table, a furnace (0 to 2) or a plant (3), and return how many beings there are then."""
    ground = land[x * SIZE + y]
    if placed == 3:
        if ground == GRASS and body[_SAPLING] >= 1:
            body[_SAPLING] -= 1
            body[_PLACE_PLANT] += 1
            return add(here, beings, body, count, PLANT, x, y, 1)
        return count
    item, amount, thing, achievement = _PLACE[placed]
    firm = ground in (GRASS, SAND, PATH)
    if (firm or (placed == 0 and (ground in (WATER, LAVA)))) and body[item] >= amount:
        body[item] -= amount
        land[x * SIZE + y] = thing
        body[achievement] += 1
    return count


@compiled
def _strike(beings: Ints, body: Ints, row: int) -> None:
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
    hurt(beings, body, row, damage, 0)
    if beings[row, LIFE] <= 0:
        if kind == COW:
            body[FOOD] += 6
            body[HUNGER] = 0
            body[_EAT_COW] += 1
        else:
            body[_DEFEAT_ZOMBIE if kind == ZOMBIE else _DEFEAT_SKELETON] += 1


@compiled
def _collect(land: Bytes, body: Ints, key: Words, x: int, y: int) -> None:
    ground = land[x * SIZE + y]
    item, tool, remains, achievement = _COLLECT[int(ground)]
    if ground == WATER:
        body[THIRST] = 0
    if remains == 0 or (tool >= 0 and body[tool] < 1):
        return
    land[x * SIZE + y] = remains
    if uniform(key, body) <= (0.1 if ground == GRASS else 1.0):
        body[item] += 1
        body[achievement] += 1


@compiled
def _act(land: Bytes, here: Shorts, beings: Ints, body: Ints, key: Words, count: int, action: int) -> int:
    """Carry out the player's action, and return how many beings there are then."""
    x, y = beings[0, X] + body[EAST_OF], beings[0, Y] + body[SOUTH_OF]
    inside = 0 <= x < SIZE and 0 <= y < SIZE
    if WEST <= action <= SOUTH:
        body[EAST_OF] = (action == EAST) - (action == WEST)
        body[SOUTH_OF] = (action == SOUTH) - (action == NORTH)
        move(land, here, beings, body, 0, body[EAST_OF], body[SOUTH_OF], 1)
        if land[beings[0, X] * SIZE + beings[0, Y]] == LAVA:
            hurt(beings, body, 0, MOST, BY_LAVA)
    elif action == DO and inside:
        row = int(here[x * SIZE + y])
        if row >= 0:
            _strike(beings, body, row)
        else:
            _collect(land, body, key, x, y)
    elif action == SLEEP:
        if body[ENERGY] < MOST:
            body[ASLEEP] = 1
    elif 7 <= action <= 10 and inside and here[x * SIZE + y] < 0:
        return _place(land, here, beings, body, count, action - 7, x, y)
    elif action >= 11:
        _make(land, beings, body, action - 11)
    return count


@compiled
def _needs(body: Ints) -> None:
    """Let the player become hungry, thirsty and tired, and gain or lose health by that. Counters are in halves."""
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
def _live(land: Bytes, here: Shorts, beings: Ints, body: Ints, key: Words, count: int) -> int:
    """Let the player do what it wants, or sleep, and return how many beings there are then."""
    action = body[ACTED]
    if body[ASLEEP]:
        if body[ENERGY] < MOST:
            action = SLEEP
        else:
            body[ASLEEP] = 0
            body[_WAKE_UP] += 1
    count = _act(land, here, beings, body, key, count, action)
    _needs(body)
    for item in range(MADE):
        body[item] = max(0, min(body[item], MOST))
    if body[HEALTH] < body[LAST_HEALTH]:
        body[ASLEEP] = 0
    body[LAST_HEALTH] = body[HEALTH]
    return count


@compiled
def _update(land: Bytes, here: Shorts, beings: Ints, body: Ints, key: Words, count: int, row: int) -> int:
    """Let a being do what it does, and return how many there are then."""
    kind = beings[row, KIND]
    if kind == PLAYER:
        return _live(land, here, beings, body, key, count)
    if kind == ARROW:
        move_arrow(land, here, beings, body, row)
    elif kind == PLANT:
        grow_plant(here, beings, row)
    elif kind >= COW:
        # One that was killed disappears now, and yet does once more what it would, as far as that needs no body.
        if beings[row, LIFE] <= 0:
            remove(here, beings, row)
        if kind == ZOMBIE:
            move_zombie(land, here, beings, body, key, row)
        elif kind == SKELETON:
            return move_skeleton(land, here, beings, body, key, count, row)
        elif uniform(key, body) < 0.5:
            stroll(land, here, beings, body, key, row)
    return count


@compiled
def _unlocked(body: Ints) -> int:
    """Return the number of achievements that were made at least once."""
    count = 0
    for number in range(MADE, CLOCK):
        count += body[number] > 0
    return count


@compiled
def step(
    land: Bytes, beings: Ints, body: Ints, key: Words, count: int, action: int, drawn: int
) -> tuple[int, int, int, bool]:
    """Make a step of the world, which changes all arrays: the player's action, and what the beings do.

    There are `count` beings, and room for more. `drawn` random words are skipped at the end of a step in the dark.

    Returns:
        The number of beings then, the health that was gained, the number of achievements unlocked so far, and whether
        one of these is new.
    """
    health, unlocked = body[HEALTH], _unlocked(body)
    here = np.full(AREA, -1, np.int16)
    for row in range(count):
        here[beings[row, X] * SIZE + beings[row, Y]] = row
    body[CLOCK] += 1
    light = 1 - abs(math.cos(math.pi * (body[CLOCK] / 300 % 1 + 0.3))) ** 3
    body[ACTED] = action
    for row in range(count):
        if distance_to_player(beings, row) < _REACH:
            count = _update(land, here, beings, body, key, count, row)
    if body[CLOCK] % 10 == 0:
        order = np.zeros(CHUNKS * CHUNKS + 1, np.int64)
        for chunk in range(CHUNKS * CHUNKS):
            order[body[RANKS + chunk]] = chunk
        for rank in range(1, body[KNOWN_CHUNKS] + 1):
            for kind in (ZOMBIE, SKELETON, COW):
                count = balance(land, here, beings, body, key, count, order[rank], kind, light)
    if light < 0.5:
        skip(key, body, drawn)
    survivors = 0
    for row in range(count):
        if beings[row, KIND]:
            for field in range(BEING):
                beings[survivors, field] = beings[row, field]
            survivors += 1
    now = _unlocked(body)
    return survivors, body[HEALTH] - health, now, now > unlocked

"""What a person who plays sees of a world: the cells around, the status and the inventory."""

from collections.abc import Sequence
from typing import Any

from waybench.core import Board, Tile, TurnRecord
from waybench.envs.crafter._engine import World, beings_of, body_of
from waybench.envs.crafter._ids import (
    ACHIEVEMENTS,
    ACROSS,
    ARROW,
    ASLEEP,
    COAL,
    COW,
    DIAMOND,
    DOWN,
    EAST_OF,
    FURNACE,
    GRASS,
    IRON,
    ITEMS,
    KIND,
    LAVA,
    MADE,
    NAMES,
    PATH,
    PLANT,
    SAND,
    SIZE,
    SKELETON,
    SOUTH_OF,
    STONE,
    TABLE,
    TREE,
    WATER,
    ZOMBIE,
    X,
    Y,
)
from waybench.smartplay import AgentState

KEYS = {
    **{"Do": "space", "Sleep": "z", "Noop": "n", "Place Stone": "p", "Place Table": "t", "Place Furnace": "f"},
    **{"Place Plant": "v", "Make Wood Pickaxe": "u", "Make Stone Pickaxe": "i", "Make Iron Pickaxe": "o"},
    **{"Make Wood Sword": "j", "Make Stone Sword": "k", "Make Iron Sword": "l"},
}

_TILES = {
    WATER: Tile("~", "#56b4e9"),
    GRASS: Tile("", "#b7d89a"),
    STONE: Tile("", "#9a9a9a"),
    PATH: Tile("", "#ded3bd"),
    SAND: Tile("", "#f3e3a1"),
    TREE: Tile("♣", "#2f7d4f"),
    LAVA: Tile("!", "#d55e00"),
    COAL: Tile("c", "#333333"),
    IRON: Tile("i", "#e69f00"),
    DIAMOND: Tile("d", "#ffffff"),
    TABLE: Tile("T", "#8a5a2b"),
    FURNACE: Tile("F", "#5b4a6f"),
}
_BEINGS = {
    COW: Tile("C", "#7a4b2a"),
    ZOMBIE: Tile("Z", "#a33c00"),
    SKELETON: Tile("S", "#a33c00"),
    ARROW: Tile("-", "#a33c00"),
    PLANT: Tile("P", "#009e73"),
}
_OUTSIDE = Tile("", "#000000")
_ARROWS = {(-1, 0): "◀", (1, 0): "▶", (0, -1): "▲", (0, 1): "▼"}


def board(state: AgentState[Any, World], turns: Sequence[TurnRecord]) -> Board:
    """Return the cells that the observation is about, with the player in the middle."""
    world = state.world
    body, beings = body_of(world), beings_of(world)
    x, y = beings[0][X], beings[0][Y]
    there = {(row[X], row[Y]): _BEINGS[row[KIND]] for row in beings[1:] if row[KIND] in _BEINGS}
    there[x, y] = Tile(_ARROWS.get((body[EAST_OF], body[SOUTH_OF]), "@"), "#0072b2")

    def tile(column: int, row: int) -> Tile:
        inside = 0 <= column < SIZE and 0 <= row < SIZE
        return there.get((column, row)) or (
            _TILES.get(world.land[column * SIZE + row], _OUTSIDE) if inside else _OUTSIDE
        )

    rows = [
        [tile(column, row) for column in range(x - ACROSS, x + ACROSS + 1)] for row in range(y - DOWN, y + DOWN + 1)
    ]
    owned = ", ".join(
        f"{name.replace('_', ' ')} {count}" for name, count in zip(ITEMS[4:], body[4:MADE], strict=True) if count
    )
    made = sum(1 for count in body[MADE : MADE + len(ACHIEVEMENTS)] if count)
    notes = [
        ", ".join(f"{name} {count}" for name, count in zip(ITEMS[:4], body, strict=False))
        + (", asleep" if body[ASLEEP] else ""),
        f"Inventory: {owned or 'nothing'}. Achievements: {made} of {len(ACHIEVEMENTS)}.",
        ", ".join(f"{each.text} {NAMES[kind]}" for kind, each in {**_TILES, **_BEINGS}.items() if each.text),
    ]
    return Board(rows=rows, at=(DOWN, ACROSS), width=3, notes=notes)

"""The oracle's plan to unlock one achievement after the other."""

from waybench.envs.crafter._ids import (
    COAL,
    COALS,
    COW,
    DIAMOND,
    DO,
    FURNACE,
    GRASS,
    HEALTH,
    IRON,
    IRON_PICKAXE,
    IRON_SWORD,
    IRONS,
    MAKE_WOOD_PICKAXE,
    PATH,
    PLACE_FURNACE,
    PLACE_STONE,
    PLACE_TABLE,
    SAND,
    SAPLING,
    SKELETON,
    STONE,
    STONE_PICKAXE,
    STONE_SWORD,
    STONES,
    TABLE,
    TREE,
    WATER,
    WOOD,
    WOOD_PICKAXE,
    WOOD_SWORD,
    ZOMBIE,
)
from waybench.envs.crafter._plans import NEAR, is_unlocked, places, sow
from waybench.envs.crafter._view import View


def progress(view: View) -> int | None:
    """Go for the next achievement."""
    for step in (_sapling, _first_tools, _stone_tools, _iron_tools, _diamond, _hunt):
        action = step(view)
        if action is not None:
            return action
    return None


def _sapling(view: View) -> int | None:
    if not is_unlocked(view, "collect_sapling"):
        return view.use(view.cells(GRASS))
    return sow(view) if not is_unlocked(view, "place_plant") and view.body[SAPLING] else None


def _first_tools(view: View) -> int | None:
    body = view.body
    missing = [item for item in (WOOD_PICKAXE, WOOD_SWORD) if not body[item]]
    if not missing:
        return None
    return _at_table(view, wood=len(missing)) or _make(missing[0])


def _make(item: int) -> int:
    return MAKE_WOOD_PICKAXE + item - WOOD_PICKAXE


def _stone_tools(view: View) -> int | None:
    body = view.body
    missing = [item for item in (STONE_PICKAXE, STONE_SWORD) if not body[item]]
    if not is_unlocked(view, "place_stone") and body[STONES]:
        return _put(view, PLACE_STONE)
    if not missing:
        return None
    if body[WOOD] < 6 and not (view.by_table and body[STONES] and body[WOOD]) and _woods(view, 15):
        return view.use(view.cells(TREE))
    if body[STONES] < len(missing):
        return _mine(view, STONE)
    return _at_table(view, wood=len(missing)) or _make(missing[0])


def _woods(view: View, most: int) -> bool:
    way = view.toward(view.cells(TREE))
    return way is not None and way[2] <= most


def _mine(view: View, kind: int) -> int | None:
    return view.use(view.cells(kind))


def _iron_tools(view: View) -> int | None:
    body = view.body
    missing = [item for item in (IRON_PICKAXE, IRON_SWORD) if not body[item]]
    if body[STONES] >= 4 and not is_unlocked(view, "place_furnace"):
        return _put(view, PLACE_FURNACE)
    for kind, item in ((COAL, COALS), (IRON, IRONS)):
        known = "collect_coal" if kind == COAL else "collect_iron"
        if body[item] < len(missing) or not is_unlocked(view, known):
            action = _mine(view, kind)
            if action is not None:
                return action
    if not missing or not body[COALS] or not body[IRONS]:
        return None
    if body[STONES] < 5 and not view.near(view.at, FURNACE):
        return _mine(view, STONE)
    action = _at_table(view, wood=min(len(missing), body[IRONS], body[COALS]))
    if action is not None:
        return action
    return _make(missing[0]) if view.near(view.at, FURNACE) else _put(view, PLACE_FURNACE)


def _at_table(view: View, wood: int) -> int | None:
    """Get some wood, and to a table, the nearest or a new one; None if all that is done."""
    if view.by_table:
        return view.use(view.cells(TREE)) if view.body[WOOD] < 1 else None
    tables = view.cells(TABLE)
    way = view.toward(tables)
    if way is not None and way[2] <= NEAR and view.body[WOOD] >= wood:
        return view.enter(way[0], way[1]) if way[2] > 1 else way[0]
    if view.body[WOOD] < wood + 2:
        return view.use(view.cells(TREE))
    return _put(view, PLACE_TABLE)


def _put(view: View, action: int) -> int | None:
    """Place something in front, or turn to where it can be placed; a table nearby is not left."""
    if view.ground(view.front) in (GRASS, SAND, PATH) and view.front not in view.beings:
        return action
    if view.digs(view.front):
        return DO
    stays, leaves = list[int](), list[int]()
    for way, cell in view.around(view.at):
        if view.digs(cell):
            stays.append(way)
        elif view.free(cell):
            (stays if not view.by_table or view.near(cell, TABLE) else leaves).append(way)
    return (stays + leaves or [None])[0]


def _diamond(view: View) -> int | None:
    if is_unlocked(view, "collect_diamond") or not view.body[IRON_PICKAXE]:
        return None
    return _mine(view, DIAMOND)


def _hunt(view: View) -> int | None:
    """Go for what has not been met by the way: water, cows, zombies, skeletons."""
    if not is_unlocked(view, "collect_drink"):
        action = view.use(view.cells(WATER))
        if action is not None:
            return action
    for name, kind in (("eat_cow", COW), ("defeat_skeleton", SKELETON), ("defeat_zombie", ZOMBIE)):
        if not is_unlocked(view, name) and view.body[HEALTH] > 4:
            action = view.use(places(view, kind))
            if action is not None:
                return action
    return None

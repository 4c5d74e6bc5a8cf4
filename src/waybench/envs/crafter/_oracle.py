"""The oracle's plans: to stay alive, and to unlock one achievement after the other."""

from collections.abc import Iterator

from waybench.envs.crafter._ids import (
    ACHIEVEMENTS,
    COAL,
    COALS,
    COW,
    DIAMOND,
    DO,
    DRINK,
    ENERGY,
    FOOD,
    FURNACE,
    GRASS,
    HEALTH,
    IRON,
    IRON_PICKAXE,
    IRON_SWORD,
    IRONS,
    KIND,
    LAVA,
    MADE,
    MAKE_WOOD_PICKAXE,
    MOST,
    NOOP,
    PATH,
    PLACE_FURNACE,
    PLACE_PLANT,
    PLACE_STONE,
    PLACE_TABLE,
    PLANT,
    SAND,
    SAPLING,
    SIZE,
    SKELETON,
    SLEEP,
    STONE,
    STONE_PICKAXE,
    STONE_SWORD,
    STONES,
    TABLE,
    TREE,
    WAIT,
    WATER,
    WOOD,
    WOOD_PICKAXE,
    WOOD_SWORD,
    ZOMBIE,
)
from waybench.envs.crafter._view import BACK, FAR, STEPS, Cell, View

_LOW = 3  # of food, drink or health: something has to be done
_RIPE = 300  # a plant can be eaten once it has grown for longer
NEAR = 12  # from a plant, so that it goes on growing: beings further than 17 away do nothing
_DARK = 0.6  # daylight below which zombies are many
_GRASSY = 60  # of 121 cells


def place(cell: Cell) -> int:
    """Return the place of a cell in the map."""
    return cell[0] * SIZE + cell[1]


def places(view: View, kind: int) -> list[int]:
    """Return the places of all beings of a kind."""
    return [place(cell) for cell, row in view.beings.items() if row[KIND] == kind]


def is_unlocked(view: View, name: str) -> bool:
    """Whether an achievement was unlocked."""
    return view.body[MADE + ACHIEVEMENTS.index(name)] > 0


def rest(view: View) -> int | None:
    """Sleep on: nothing else can be done."""
    return NOOP if view.asleep else None


def fight(view: View) -> int | None:
    """Hit a zombie or a skeleton that stands next to the player."""
    for action, cell in view.around(view.at):
        if view.kind(cell) in (ZOMBIE, SKELETON):
            return DO if view.front == cell else action
    return None


def survive(view: View) -> int | None:
    """Drink or eat when it is time to, and recover in a shelter."""
    body = view.body
    if view.ground(view.front) == WATER and view.front not in view.beings and body[DRINK] < MOST - 1:
        return DO
    if body[DRINK] <= _LOW or (body[DRINK] < 6 and _close(view, view.cells(WATER), 4)):
        action = view.use(view.cells(WATER))
        if action is not None:
            return action
    if body[FOOD] <= _LOW or (body[FOOD] < 5 and _close(view, places(view, COW), 5)):
        action = view.use([*places(view, COW), *ripe(view)])
        if action is not None:
            return action
    if body[HEALTH] <= _LOW or (body[HEALTH] < 7 and _sealed(view)):
        return shelter(view)
    return None


def _close(view: View, targets: list[int], most: int) -> bool:
    x, y = view.at
    return any(abs(target // SIZE - x) + abs(target % SIZE - y) <= most for target in targets)


def ripe(view: View) -> list[int]:
    """Return the places of plants that can be eaten."""
    return [place(cell) for cell, row in view.beings.items() if row[KIND] == PLANT and row[WAIT] > _RIPE]


# Shelters: two cells in a row with nothing to walk on at their sides, the ends of which are closed with stones.


def _solid(view: View, cell: Cell) -> bool:
    """Whether neither somebody nor an arrow can come from a cell."""
    return view.ground(cell) not in (GRASS, SAND, PATH, WATER, LAVA) or view.kind(cell) == PLANT


def _rooms(view: View) -> Iterator[tuple[Cell, Cell, int]]:
    """Yield the rooms that the player's cell is in: the other cell, the end on this side, the way to the other."""
    x, y = view.at
    for action, (dx, dy) in STEPS.items():
        neighbour = x + dx, y + dy
        sides = ((x + dy, y + dx), (x - dy, y - dx), (x + dx + dy, y + dy + dx), (x + dx - dy, y + dy - dx))
        if all(_solid(view, side) for side in sides) and (view.free(neighbour) or view.digs(neighbour)):
            yield neighbour, (x - dx, y - dy), action


def _sealed(view: View) -> bool:
    """Whether no being can reach the player."""
    visited, todo = {view.at}, [view.at]
    while todo:
        for _, cell in view.around(todo.pop()):
            if cell not in visited and not _solid(view, cell):
                if len(visited) == 3 or view.kind(cell):
                    return False
                visited.add(cell)
                todo.append(cell)
    return True


def shelter(view: View) -> int | None:
    """Get behind walls, and sleep there if that is possible; None if there is no place or no stone."""
    if _sealed(view):
        return SLEEP if view.body[ENERGY] < MOST else NOOP
    if not view.body[STONES]:
        return _stones(view) if view.body[WOOD_PICKAXE] else None
    for neighbour, end, action in sorted(_rooms(view), key=lambda room: _solid(view, room[1]) + 0, reverse=True):
        if view.front == end and _open(view, end):
            return PLACE_STONE
        return view.enter(action, neighbour)
    return view.go(_candidates(view))


def _stones(view: View) -> int | None:
    """Get a stone, but none from the walls of a room that one is in."""
    x, y = view.at
    walls = set[int]()
    if any(_rooms(view)):
        walls = {place((x + dx, y + dy)) for dx in range(-2, 3) for dy in range(-2, 3) if abs(dx) + abs(dy) <= 2}
    return view.use(cell for cell in view.cells(STONE) if cell not in walls)


def _open(view: View, cell: Cell) -> bool:
    return not _solid(view, cell) and cell not in view.beings


def _candidates(view: View) -> list[int]:
    """Return the places of cells that are part of a room, or can be made so with the tools at hand."""
    walls, inside = view.mask(GRASS, SAND, PATH, WATER, LAVA) == 0, view.mask(GRASS, SAND, PATH, *view.soft)
    aims = list[int]()
    for turned in (False, True):  # rooms from west to east, then from north to south
        wall, room = (walls.T, inside.T) if turned else (walls, inside)
        between = room[1:-1, 1:-1] & wall[1:-1, :-2] & wall[1:-1, 2:]
        for x, y in zip(*(between[:-1] & between[1:]).nonzero(), strict=True):
            for cell in ((int(x) + 1, int(y) + 1), (int(x) + 2, int(y) + 1)):
                aims.append(place((cell[1], cell[0]) if turned else cell))
    return aims


def _in_the_open(view: View) -> bool:
    """Whether there is much grass around, on which zombies appear."""
    x, y = view.at
    grass = view.mask(GRASS)[max(x - 5, 0) : x + 6, max(y - 5, 0) : y + 6]
    return int(grass.sum()) > _GRASSY


def shelter_at_night(view: View) -> int | None:
    """Sleep when tired, when it is dark, or to wake up for the first time."""
    energy, body = view.body[ENERGY], view.body
    ready = body[WOOD_PICKAXE] and body[STONES] >= 2
    sealed = _sealed(view)
    dark = view.light < _DARK and ready and (energy < 7 or sealed or _in_the_open(view))
    first = not is_unlocked(view, "wake_up") and energy < MOST and ready and is_unlocked(view, "place_stone")
    if energy <= _LOW - 1 or dark or first or (sealed and energy < MOST):
        action = shelter(view)
        if action is None and energy == 0:
            return SLEEP
        return action
    return None


# Plants: one is put somewhere, and stones are put around it.


def _plants(view: View) -> list[Cell]:
    return [cell for cell, row in view.beings.items() if row[KIND] == PLANT]


def tend(view: View) -> int | None:
    """Eat a ripe plant, close the gaps around one that is not, and plant one if there is none."""
    if is_unlocked(view, "eat_plant"):
        return None
    targets = ripe(view)
    if targets:
        return view.use(targets)
    plants = _plants(view)
    if view.body[STONES] >= 1 and plants:
        x, y = view.at
        near = [cell for cell in plants if abs(cell[0] - x) + abs(cell[1] - y) <= NEAR]
        for plant in near[:1]:
            gaps = [cell for _, cell in view.around(plant) if view.ground(cell) in (GRASS, SAND, PATH)]
            for gap in gaps:
                action = _wall(view, gap)
                if action is not None:
                    return action
    if not plants and view.body[SAPLING] and (view.body[STONES] >= 4 or not is_unlocked(view, "place_plant")):
        return sow(view)
    return None


def sow(view: View) -> int | None:
    """Put a sapling on the nearest grass."""
    if view.ground(view.front) == GRASS and view.front not in view.beings:
        return PLACE_PLANT
    return view.use(view.cells(GRASS))


def _wall(view: View, gap: Cell) -> int | None:
    """Put a stone into a cell: from a cell next to it, which has to be entered in its direction."""
    if gap in view.beings:
        return None
    best: tuple[int, int] | None = None
    for action, (dx, dy) in STEPS.items():
        near, behind = (gap[0] - dx, gap[1] - dy), (gap[0] - 2 * dx, gap[1] - 2 * dy)
        if not (view.free(near) or view.digs(near) or near == view.at):
            continue
        if near == view.at and view.front == gap:
            return PLACE_STONE
        if not (view.free(behind) or view.digs(behind) or behind == view.at):
            continue
        if behind == view.at:
            option = 1, view.enter(action, near)
        elif near == view.at:
            option = 2, view.enter(BACK[action], behind)
        else:
            way = view.toward([place(behind)])
            option = (FAR, None) if way is None else (way[2] + 2, view.enter(way[0], way[1]))
        if option[1] is not None and (best is None or option[0] < best[0]):
            best = option[0], option[1]
    return best[1] if best else None


def wait_for_plant(view: View) -> int | None:
    """Stay near a plant until it is ripe, or get another sapling."""
    if is_unlocked(view, "eat_plant"):
        return None
    plants = _plants(view)
    if not plants:
        if view.body[SAPLING]:
            return view.use(view.cells(STONE)) if view.body[STONES] < 4 else sow(view)
        return view.use(view.cells(GRASS))
    x, y = view.at
    if min(abs(cell[0] - x) + abs(cell[1] - y) for cell in plants) > NEAR:
        return view.use(map(place, plants))
    return shelter(view)


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

"""Scripted players, and the oracle's plans: to stay alive, and to unlock one achievement after the other."""

from collections.abc import Callable, Iterable, Iterator

from waybench.core import Stream
from waybench.envs.crafter import _ids as ids
from waybench.envs.crafter._game import ACTIONS
from waybench.envs.crafter._world import BACK, STEPS, WALKABLE, Cell, CrafterWorld, PlayerView, Wilds, cell_number

_LOW = 3  # food, drink or health at which the player acts
_RIPE = 300  # a plant can be eaten once it has grown for more steps
NEAR = 12  # cells from a plant, so that it goes on growing: beings further than 17 away do nothing
_DARK = 0.6  # daylight below which zombies are many
_GRASSY = 60  # cells of grass among the 121 around the player
_NEAR_TREE = 15  # cost of a way, in cells
# Other bare numbers are thresholds with which the oracle scored well.


def _cells_of_beings(view: PlayerView, kind: int) -> list[int]:
    """Return the numbers of all cells with a being of a kind."""
    return [cell_number(cell) for cell, row in view.beings.items() if row[ids.KIND] == kind]


def _is_unlocked(view: PlayerView, achievement: str) -> bool:
    return view.body[ids.MADE + ids.ACHIEVEMENTS.index(achievement)] > 0


def _first_action(view: PlayerView, plans: Iterable[Callable[[PlayerView], int | None]]) -> int | None:
    """Return the action of the first plan that has one."""
    return next((action for plan in plans if (action := plan(view)) is not None), None)


def sleep_on(view: PlayerView) -> int | None:
    """Wait while the player sleeps."""
    return ids.NOOP if view.asleep else None


def fight(view: PlayerView) -> int | None:
    """Hit a zombie or a skeleton that stands next to the player."""
    for action, cell in view.neighbours(view.at):
        if view.being_kind(cell) in (ids.ZOMBIE, ids.SKELETON):
            return ids.DO if view.front == cell else action
    return None


def survive(view: PlayerView) -> int | None:
    """Drink or eat when it is time to, and recover in a shelter."""
    items = view.body
    if view.ground_of(view.front) == ids.WATER and view.front not in view.beings and items[ids.DRINK] < ids.MOST - 1:
        return ids.DO
    action = None
    # Earlier than necessary if water or a cow is near.
    if items[ids.DRINK] <= _LOW or (items[ids.DRINK] < 6 and _is_any_near(view, view.cells_of_kinds(ids.WATER), 4)):
        action = view.go_and_collect(ids.WATER)
    if action is None and (
        items[ids.FOOD] <= _LOW or (items[ids.FOOD] < 5 and _is_any_near(view, _cells_of_beings(view, ids.COW), 5))
    ):
        action = view.go_and_use([*_cells_of_beings(view, ids.COW), *_ripe_plants(view)])
    if action is not None:
        return action
    if items[ids.HEALTH] <= _LOW or (items[ids.HEALTH] < 7 and _is_enclosed(view)):
        return shelter(view)
    return None


def _is_any_near(view: PlayerView, targets: list[int], max_distance: int) -> bool:
    """Return whether any target, a number of a cell, is within a distance of the player."""
    x, y = view.at
    return any(abs(target // ids.SIZE - x) + abs(target % ids.SIZE - y) <= max_distance for target in targets)


def _ripe_plants(view: PlayerView) -> list[int]:
    """Return the numbers of all cells with a plant that can be eaten."""
    return [
        cell_number(cell) for cell, row in view.beings.items() if row[ids.KIND] == ids.PLANT and row[ids.WAIT] > _RIPE
    ]


# Shelters: two cells in a row with nothing to walk on at their sides, the ends of which are closed with stones.


def _is_wall(view: PlayerView, cell: Cell) -> bool:
    """Return whether neither a being nor an arrow can come from a cell."""
    return view.ground_of(cell) not in (*WALKABLE, ids.WATER, ids.LAVA) or view.being_kind(cell) == ids.PLANT


def _rooms_around(view: PlayerView) -> Iterator[tuple[Cell, Cell, int]]:
    """Yield the rooms that the player's cell can be part of.

    Each is given by its other cell, the cell beyond its end on the player's side, and the action to the other cell.
    """
    x, y = view.at
    for action, (dx, dy) in STEPS.items():
        neighbour = x + dx, y + dy
        walls = ((x + dy, y + dx), (x - dy, y - dx), (x + dx + dy, y + dy + dx), (x + dx - dy, y + dy - dx))
        if all(_is_wall(view, side) for side in walls) and (view.is_free(neighbour) or view.is_diggable(neighbour)):
            yield neighbour, (x - dx, y - dy), action


def _is_enclosed(view: PlayerView) -> bool:
    """Return whether no being can reach the player."""
    visited, stack = {view.at}, [view.at]
    while stack:
        for _, cell in view.neighbours(stack.pop()):
            if cell not in visited and not _is_wall(view, cell):
                if len(visited) == 3 or view.being_kind(cell):  # too large for a shelter, or shared
                    return False
                visited.add(cell)
                stack.append(cell)
    return True


def shelter(view: PlayerView) -> int | None:
    """Get behind walls, and sleep there if tired, otherwise wait; None if no room can be reached or closed."""
    if _is_enclosed(view):
        return ids.SLEEP if view.body[ids.ENERGY] < ids.MOST else ids.NOOP
    if not view.body[ids.STONES]:
        return _collect_stone(view) if view.body[ids.WOOD_PICKAXE] else None
    room = max(_rooms_around(view), key=lambda room: _is_wall(view, room[1]), default=None)
    if room is None:
        return view.go_to(_room_cells(view))
    neighbour, end, action = room
    if view.front == end and not _is_wall(view, end) and end not in view.beings:
        return ids.PLACE_STONE
    return view.enter_cell(action, neighbour)


def _collect_stone(view: PlayerView) -> int | None:
    """Get a stone, but not from the walls of the player's room."""
    x, y = view.at
    walls = set[int]()
    if any(_rooms_around(view)):
        walls = {cell_number((x + dx, y + dy)) for dx in range(-2, 3) for dy in range(-2, 3) if abs(dx) + abs(dy) <= 2}
    return view.go_and_use(cell for cell in view.cells_of_kinds(ids.STONE) if cell not in walls)


def _room_cells(view: PlayerView) -> list[int]:
    """Return the numbers of cells that are part of a room, or can become part of a room with the tools at hand."""
    wall_mask = view.mask_of_kinds(*WALKABLE, ids.WATER, ids.LAVA) == 0
    inside_mask = view.mask_of_kinds(*WALKABLE, *view.diggable_kinds)
    cells = list[int]()
    for is_transposed in (False, True):  # rooms from west to east, then from north to south
        is_wall, is_inside = (wall_mask.T, inside_mask.T) if is_transposed else (wall_mask, inside_mask)
        is_corridor = is_inside[1:-1, 1:-1] & is_wall[1:-1, :-2] & is_wall[1:-1, 2:]
        for x, y in zip(*(is_corridor[:-1] & is_corridor[1:]).nonzero(), strict=True):
            for cell in ((int(x) + 1, int(y) + 1), (int(x) + 2, int(y) + 1)):
                cells.append(cell_number((cell[1], cell[0]) if is_transposed else cell))
    return cells


def shelter_at_night(view: PlayerView) -> int | None:
    """Sleep when tired, when it is dark, or to wake up for the first time."""
    (x, y), energy, body = view.at, view.body[ids.ENERGY], view.body
    has_means = body[ids.WOOD_PICKAXE] and body[ids.STONES] >= 2
    is_enclosed = _is_enclosed(view)
    grass_around = view.mask_of_kinds(ids.GRASS)[max(x - 5, 0) : x + 6, max(y - 5, 0) : y + 6]  # zombies appear on it
    is_dark = view.light < _DARK and has_means and (energy < 7 or is_enclosed or int(grass_around.sum()) > _GRASSY)
    is_first_night = (
        not _is_unlocked(view, "wake_up") and energy < ids.MOST and has_means and _is_unlocked(view, "place_stone")
    )
    if energy <= _LOW - 1 or is_dark or is_first_night or (is_enclosed and energy < ids.MOST):
        action = shelter(view)
        return ids.SLEEP if action is None and energy == 0 else action  # exhausted, so that it sleeps anywhere
    return None


# Plants: one is put somewhere, and stones are put around it.


def tend_plant(view: PlayerView) -> int | None:
    """Eat a ripe plant, wall up a plant that is not ripe, and plant a sapling if there is no plant."""
    if _is_unlocked(view, "eat_plant"):
        return None
    ripe_plants = _ripe_plants(view)
    if ripe_plants:
        return view.go_and_use(ripe_plants)
    plants = _cells_of_beings(view, ids.PLANT)
    if view.body[ids.STONES]:
        near = next((plant for plant in plants if _is_any_near(view, [plant], NEAR)), None)
        neighbours = () if near is None else view.neighbours(divmod(near, ids.SIZE))
        walls = (_wall_up(view, cell) for _, cell in neighbours if view.ground_of(cell) in WALKABLE)
        action = next((action for action in walls if action is not None), None)
        if action is not None:
            return action
    if not plants and view.body[ids.SAPLING] and (view.body[ids.STONES] >= 4 or not _is_unlocked(view, "place_plant")):
        return _plant_sapling(view)
    return None


def _plant_sapling(view: PlayerView) -> int | None:
    """Put a sapling on the nearest grass."""
    if view.ground_of(view.front) == ids.GRASS and view.front not in view.beings:
        return ids.PLACE_PLANT
    return view.go_and_collect(ids.GRASS)


def _wall_up(view: PlayerView, gap: Cell) -> int | None:
    """Put a stone into a cell, from the cell beside it that is entered in its direction; None if it cannot be done.

    Entering a cell turns the player: so it goes to the cell behind first, and from there to the cell beside.
    """
    if gap in view.beings:
        return None
    if view.front == gap:
        return ids.PLACE_STONE
    cheapest: tuple[int, int] | None = None
    for action, (dx, dy) in STEPS.items():
        beside, behind = (gap[0] - dx, gap[1] - dy), (gap[0] - 2 * dx, gap[1] - 2 * dy)
        if not all(view.is_free(cell) or view.is_diggable(cell) or cell == view.at for cell in (beside, behind)):
            continue
        if behind == view.at:
            cost, next_action = 1, view.enter_cell(action, beside)
        elif beside == view.at:
            cost, next_action = 2, view.enter_cell(BACK[action], behind)
        elif (way := view.way_to_nearest([cell_number(behind)])) is not None:
            cost, next_action = way.cost + 2, view.enter_cell(way.action, way.cell)
        else:
            continue
        if next_action is not None and (cheapest is None or cost < cheapest[0]):
            cheapest = cost, next_action
    return cheapest[1] if cheapest else None


def wait_for_plant(view: PlayerView) -> int | None:
    """Stay near a plant until it is ripe, or get another sapling."""
    if _is_unlocked(view, "eat_plant"):
        return None
    plants = _cells_of_beings(view, ids.PLANT)
    if plants:
        return shelter(view) if _is_any_near(view, plants, NEAR) else view.go_and_use(plants)
    if view.body[ids.SAPLING]:
        return view.go_and_collect(ids.STONE) if view.body[ids.STONES] < 4 else _plant_sapling(view)
    return view.go_and_collect(ids.GRASS)


def unlock_next(view: PlayerView) -> int | None:
    """Go for the next achievement."""
    return _first_action(
        view, (_unlock_sapling, _make_wood_tools, _make_stone_tools, _make_iron_tools, _collect_diamond, _seek_unmet)
    )


def _unlock_sapling(view: PlayerView) -> int | None:
    """Collect and place the first sapling."""
    if not _is_unlocked(view, "collect_sapling"):
        return view.go_and_collect(ids.GRASS)
    return _plant_sapling(view) if not _is_unlocked(view, "place_plant") and view.body[ids.SAPLING] else None


def _make_wood_tools(view: PlayerView) -> int | None:
    """Make the missing tools of wood at a table."""
    missing = view.missing_items(ids.WOOD_PICKAXE, ids.WOOD_SWORD)
    return _go_to_table(view, wood=len(missing)) or _making_action(missing[0]) if missing else None


def _making_action(item: int) -> int:
    """Return the action that makes a tool; actions and tools are in the same order."""
    return ids.MAKE_WOOD_PICKAXE + item - ids.WOOD_PICKAXE


def _make_stone_tools(view: PlayerView) -> int | None:
    """Place a first stone, and make the missing tools of stone."""
    body, missing = view.body, view.missing_items(ids.STONE_PICKAXE, ids.STONE_SWORD)
    if not _is_unlocked(view, "place_stone") and body[ids.STONES]:
        return _place_in_front(view, ids.PLACE_STONE)
    if not missing:
        return None
    # Collect wood for later tools on the way, unless a tool can be made at once.
    if body[ids.WOOD] < 6 and not (view.is_near_table and body[ids.STONES] and body[ids.WOOD]):
        way = view.way_to_nearest(view.cells_of_kinds(ids.TREE))
        if way is not None and way.cost <= _NEAR_TREE:
            return view.go_and_collect(ids.TREE)
    if body[ids.STONES] < len(missing):
        return view.go_and_collect(ids.STONE)
    return _go_to_table(view, wood=len(missing)) or _making_action(missing[0])


def _make_iron_tools(view: PlayerView) -> int | None:
    """Place a furnace, collect coal and iron, and make the missing tools of iron."""
    body, missing = view.body, view.missing_items(ids.IRON_PICKAXE, ids.IRON_SWORD)
    if body[ids.STONES] >= 4 and not _is_unlocked(view, "place_furnace"):
        return _place_in_front(view, ids.PLACE_FURNACE)
    for kind, item, achievement in ((ids.COAL, ids.COALS, "collect_coal"), (ids.IRON, ids.IRONS, "collect_iron")):
        if body[item] < len(missing) or not _is_unlocked(view, achievement):
            action = view.go_and_collect(kind)
            if action is not None:
                return action
    if not missing or not body[ids.COALS] or not body[ids.IRONS]:
        return None
    if body[ids.STONES] < 5 and not view.is_near(view.at, ids.FURNACE):
        return view.go_and_collect(ids.STONE)
    action = _go_to_table(view, wood=min(len(missing), body[ids.IRONS], body[ids.COALS]))
    if action is not None:
        return action
    return (
        _making_action(missing[0]) if view.is_near(view.at, ids.FURNACE) else _place_in_front(view, ids.PLACE_FURNACE)
    )


def _go_to_table(view: PlayerView, wood: int) -> int | None:
    """Get some wood, and go to the nearest table or place a new table; None once at a table with wood."""
    if view.is_near_table:
        return view.go_and_collect(ids.TREE) if view.body[ids.WOOD] < 1 else None
    way = view.way_to_nearest(view.cells_of_kinds(ids.TABLE))
    if way is not None and way.cost <= NEAR and view.body[ids.WOOD] >= wood:
        return view.enter_cell(way.action, way.cell) if way.cost > 1 else way.action
    # A table costs two pieces of wood.
    return view.go_and_collect(ids.TREE) if view.body[ids.WOOD] < wood + 2 else _place_in_front(view, ids.PLACE_TABLE)


def _place_in_front(view: PlayerView, action: int) -> int | None:
    """Place something in front, or turn to a cell where it can be placed, if possible without leaving a table."""
    if view.is_free(view.front):
        return action
    if view.is_diggable(view.front):
        return ids.DO
    turns_at_table, turns_away = list[int](), list[int]()
    for turn, cell in view.neighbours(view.at):
        if view.is_diggable(cell):
            turns_at_table.append(turn)
        elif view.is_free(cell):
            keeps_table = not view.is_near_table or view.is_near(cell, ids.TABLE)
            (turns_at_table if keeps_table else turns_away).append(turn)
    return (turns_at_table + turns_away or [None])[0]


def _collect_diamond(view: PlayerView) -> int | None:
    """Collect the first diamond, once there is an iron pickaxe."""
    is_next = view.body[ids.IRON_PICKAXE] and not _is_unlocked(view, "collect_diamond")
    return view.go_and_collect(ids.DIAMOND) if is_next else None


def _seek_unmet(view: PlayerView) -> int | None:
    """Seek water, cows, zombies and skeletons for the achievements that they give."""
    action = None if _is_unlocked(view, "collect_drink") else view.go_and_collect(ids.WATER)
    for achievement, kind in (("eat_cow", ids.COW), ("defeat_skeleton", ids.SKELETON), ("defeat_zombie", ids.ZOMBIE)):
        if action is None and not _is_unlocked(view, achievement) and view.body[ids.HEALTH] > 4:
            action = view.go_and_use(_cells_of_beings(view, kind))
    return action


def oracle(case: Wilds, world: CrafterWorld, rng: Stream) -> int:
    """Do what is most urgent: fight, drink, eat, tend a plant, sleep behind walls, and else the next achievement."""
    view = PlayerView(world)
    plans = (sleep_on, fight, survive, tend_plant, shelter_at_night, unlock_next, wait_for_plant, shelter)
    return _without_lava(view, _first_action(view, plans))


def forage(case: Wilds, world: CrafterWorld, rng: Stream) -> int:
    """Go to what is missed most, of water, cows and trees, and use it; make nothing and never hide."""
    view = PlayerView(world)
    body = view.body
    wants_and_targets = [
        (body[ids.DRINK], view.cells_of_kinds(ids.WATER)),
        (body[ids.FOOD], _cells_of_beings(view, ids.COW)),
        (7, view.cells_of_kinds(ids.TREE)),
    ]
    for _, targets in sorted(wants_and_targets, key=lambda pair: pair[0]):
        action = view.go_and_use(targets)
        if action is not None:
            return _without_lava(view, action)
    return rng.choice((ids.DO, *STEPS))


def _without_lava(view: PlayerView, action: int | None) -> int:
    """Return the action, or waiting if there is none or it leads into lava."""
    dx, dy = STEPS.get(-1 if action is None else action, (0, 0))
    into_lava = view.ground_of((view.at[0] + dx, view.at[1] + dy)) == ids.LAVA
    return ids.NOOP if action is None or into_lava else action


def random_action(case: Wilds, world: CrafterWorld, rng: Stream) -> int:
    """Take any action."""
    return rng.below(len(ACTIONS))


def noop(case: Wilds, world: CrafterWorld, rng: Stream) -> int:
    """Do nothing."""
    return ids.NOOP


PLAYERS = {"oracle": oracle, "heuristic": forage, "random": random_action, "noop": noop}

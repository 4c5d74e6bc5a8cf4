"""The words of Crafter: what is seen, the status and the inventory (SmartPlay, appendix C.5).

Protocol text as the published program writes it (shared/specs/smartplay.md, 7), unless it is said to be ours.
"""

from functools import lru_cache

from waybench.envs.crafter._engine import World, beings_of, body_of, nearest_of
from waybench.envs.crafter._ids import (
    ACROSS,
    ACTED,
    ASLEEP,
    CLOCK,
    DOWN,
    HARM,
    HARMS,
    HEALTH,
    ITEMS,
    MOST,
    NAMES,
    PLAYER,
    X,
    Y,
)

ACTIONS = (
    *("Noop", "Move West", "Move East", "Move North", "Move South", "Do", "Sleep"),
    *("Place Stone", "Place Table", "Place Furnace", "Place Plant"),
    *("Make Wood Pickaxe", "Make Stone Pickaxe", "Make Iron Pickaxe"),
    *("Make Wood Sword", "Make Stone Sword", "Make Iron Sword"),
)
OUTSIDE = "Error, you are out of the map."
_ACTION_SENTENCES = tuple(f"You took action {name.lower().replace(' ', '_')}." for name in ACTIONS)
_SLEEPING = "You are sleeping, and will not be able take actions until energy is full."
_DEAD = "You died."
FIRST = f"{_ACTION_SENTENCES[0]}\n\n"  # stands before what is seen first, in the history alone
_NEEDS = 4  # the first items, which the status line lists

# Ours.
_ASLEEP = "You are sleeping, and will not be able to take actions until energy is full."
_DEATHS = {
    "": "You died.",
    "zombie": "You died: a zombie hit you.",
    "arrow": "You died: an arrow hit you.",
    "lava": "You died: you walked into lava.",
    "need": "You died: you had nothing left to eat, to drink, or no energy.",
}
_EDGE = "You face the edge of the map."


def observation(world: World, *, published: bool) -> str:
    """Return the description of a world.

    Args:
        world: The world.
        published: Whether with the published program's mistakes: near the western and the northern edge, and where
            the edge of the map is faced, the text is an error message, and sleep or death is reported right after the
            action.
    """
    body, player, nearest = body_of(world), beings_of(world)[0], nearest_of(world)
    faced = nearest[0][0]
    if published and (player[X] < ACROSS or player[Y] < DOWN or faced < 0):
        return OUTSIDE
    front = _EDGE if faced < 0 else f"You face {NAMES[faced]} at your front."
    header = _header(body, published=published)
    return f"{header}You see:\n{seen(world)}\n\n{front}\n\n{_status(tuple(body[: len(ITEMS)]))}"


def seen(world: World) -> str:
    """Return a line for each kind of thing that is in view, with where the nearest one is."""
    return "\n".join(
        f"- {NAMES[kind]} {away} steps to your {_direction(east, south)}"
        for kind, (east, south, away) in enumerate(nearest_of(world))
        if away >= 0 and kind != PLAYER
    )


def _header(body: list[int], *, published: bool) -> str:
    """Return the sentences before the view, with their blank lines."""
    if body[CLOCK] <= 1:
        return ""
    action = _ACTION_SENTENCES[body[ACTED]]
    dead = body[HEALTH] <= 0
    if published:
        condition = f"{_SLEEPING}\n\n" if body[ASLEEP] else f"{_DEAD}\n\n" if dead else ""
        return f"{action}{condition}\n\n"
    more = _DEATHS[HARMS[body[HARM]]] if dead else _ASLEEP if body[ASLEEP] else ""
    return f"{action}\n\n{more}\n\n" if more else f"{action}\n\n"


@lru_cache(maxsize=4096)  # the same for many steps
def _status(items: tuple[int, ...]) -> str:
    status = "\n".join(f"- {name}: {count}/{MOST}" for name, count in zip(ITEMS[:_NEEDS], items, strict=False))
    owned = "\n".join(f"- {name}: {count}" for name, count in zip(ITEMS[_NEEDS:], items[_NEEDS:], strict=True) if count)
    inventory = f"Your inventory:\n{owned}" if owned else "You have nothing in your inventory."
    return f"Your status:\n{status}\n\n{inventory}"


def _direction(east: int, south: int) -> str:
    parts = ("north" if south < 0 else "south" if south > 0 else "", "west" if east < 0 else "east" if east > 0 else "")
    return "-".join(part for part in parts if part)

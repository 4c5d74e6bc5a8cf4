"""Crafter as a game of single steps, with its words: observations, status, inventory and manual."""

from collections.abc import Sequence
from functools import lru_cache

from waybench.core import End, Field, Json, Outcome, Stream
from waybench.envs.crafter import _world
from waybench.envs.crafter._ids import (
    ACHIEVEMENTS,
    ACROSS,
    ACTED,
    ASLEEP,
    CLOCK,
    COW,
    DO,
    DOWN,
    EAST_OF,
    GRASS,
    HARM,
    HARMS,
    HEALTH,
    ITEMS,
    MADE,
    MOST,
    NAMES,
    NOOP,
    PLAYER,
    SKELETON,
    SLEEP,
    SOUTH,
    SOUTH_OF,
    WEST,
    ZOMBIE,
    X,
    Y,
)
from waybench.envs.crafter._world import Wilds, World, beings_of, body_of, nearest_of
from waybench.envs.smartplay import SEEN, Rules, Step

MANUAL = """\
Write all information helpful for the game in a numbered list.\x20
1. Collect resources such as wood, stone, and iron to craft tools and weapons.
2. Build shelters to protect yourself from monsters at night.
3. Use tools and weapons to defend yourself against monsters.
4. Build bridges to cross lakes and rivers.
5. Dig tunnels to surprise monsters and outsmart them.
6. Plant saplings and defend them against monsters to ensure a steady food supply.
7. Eat Cow to restore health.
8. Collect Drink to restore thirst.
9. Place a Plant to eat for health.
10. Make a Wood Pickaxe to collect Stone.
11. Make a Wood Sword to defeat Zombies.
12. Make a Stone Pickaxe to collect Iron.
13. Make a Stone Sword to defeat Skeletons.
14. Place a Furnace to smelt Iron.
15. Collect Coal to smelt Iron.
16. Collect Iron to make an Iron Pickaxe and Sword.
17. Make an Iron Pickaxe to collect Diamond.
18. Make an Iron Sword to defeat Zombies and Skeletons.
19. Collect Diamond to progress further.
20. Unlock achievements to receive rewards.
21. Wake Up to start the episode.

In plain text. List all objects I need to interact/avoid to survive in the game. Use \
"I would like to X object Y" in each step. Replace Y by the actual object, X by the actual interaction.
I would like to avoid zombies, skeletons, and spiders.
I would like to collect saplings.
I would like to craft a wood pickaxe.
I would like to collect wood.
I would like to craft a stone pickaxe.
I would like to collect stone.
I would like to craft a furnace.
I would like to collect coal.
I would like to collect iron.
I would like to craft an iron pickaxe.
I would like to collect diamonds.
I would like to craft an iron sword.
I would like to chase cows.
I would like to grow fruits.
I would like to drink from a lake.
I would like to sleep in a safe place.
I would like to craft a table.
I would like to eat food.
I would like to drink water.
I would like to rest.
I would like to build stone tools to defend myself against monsters.
I would like to build bridges to cross lakes.
I would like to dig tunnels to hide from monsters.
I would like to block arrows with stones.
I would like to dig through walls to surprise skeletons.
I would like to seek shelter in caves.
I would like to build plantations of saplings and defend them against monsters.
I would like to eat the growing fruits to ensure a steady food supply.
I would like to place a table.
I would like to eat a cow.
I would like to place a plant.
I would like to defeat a zombie.
I would like to place stone.
I would like to eat a plant.
I would like to defeat a skeleton.
I would like to wake up.
I would like to place a furnace.

Write all game objectives numbered list. For each objective, list its requirements.\x20
1. Collect Wood: No requirements
2. Place Table: Requires Collect Wood
3. Eat Cow: No requirements
4. Collect Sampling: No requirements
5. Collect Drink: No requirements
6. Make Wood Pickaxe: Requires Place Table
7. Make Wood Sword: Requires Place Table
8. Place Plant: Requires Collect Sampling
9. Defeat Zombie: No requirements
10. Collect Stone: Requires Make Wood Pickaxe
11. Place Stone: Requires Collect Stone
12. Eat Plant: Requires Place Plant
13. Defeat Skeleton: No requirements
14. Make Stone Pickaxe: Requires Collect Stone
15. Make Stone Sword: Requires Collect Stone
16. Wake Up: No requirements
17. Place Furnace: Requires Collect Stone
18. Collect Coal: Requires Make Wood Pickaxe
19. Collect Iron: Requires Make Stone Pickaxe
20. Make Iron Pickaxe: Requires Place Furnace, Collect Coal, and Collect Iron
21. Make Iron Sword: Requires Place Furnace, Collect Coal, and Collect Iron
22. Collect Diamond: Requires Make Iron Pickaxe

Write all actions as a numbered list. For each action, list its requirements.\x20
1. Move West: Flat ground west of the agent.
2. Move East: Flat ground east of the agent.
3. Move North: Flat ground north of the agent.
4. Move South: Flat ground south of the agent.
5. Do: Facing creature or material; have necessary tool.
6. Sleep: Energy level is below maximum.
7. Place Stone: Stone in inventory.
8. Place Table: Wood in inventory.
9. Place Furnace: Stone in inventory.
10. Place Plant: Sapling in inventory.
11. Make Wood Pickaxe: Nearby table; wood in inventory.
12. Make Stone Pickaxe: Nearby table; wood, stone in inventory.
13. Make Iron Pickaxe: Nearby table, furnace; wood, coal, iron an inventory.
14. Make Wood Sword: Nearby table; wood in inventory.
15. Make Stone Sword: Nearby table; wood, stone in inventory.
16. Make Iron Sword: Nearby table, furnace; wood, coal, iron in inventory.
17. Noop: Always applicable."""


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


_MAY_NEED_RETRIES = (GRASS, COW, ZOMBIE, SKELETON)  # it may take several tries until something comes of these


class SurvivalRules(Rules[Wilds, World]):
    """Crafter as a game of single steps.

    Events: `at` (the player's column and row), `health`, `unlocked` (names of achievements, where there are new ones),
    and `death` (what took the last health, where it did).

    Args:
        published: Whether observations are as the published program writes them, and the manual has no list of
            actions.
    """

    # The stream that a step is given is ignored: all chance is that of the world's own generator, which the seed
    # determines. Yet no player can know what it draws, so this is a game of chance.
    deterministic = False

    def __init__(self, *, published: bool) -> None:
        super().__init__(published=published)
        self.lists_actions = not published
        doc = "What is in view, one kind of thing in each line; none where an error stands in its place."
        self.scene_fields = (Field[World](SEEN, doc, seen),)

    def begin(self, instance: Wilds) -> World:
        """Return the world at the start: the published program lets one step pass before."""
        return _world.begin(instance.seed)

    def before(self, world: World) -> Sequence[str]:
        """Return what was seen in the step before the start, which the published history begins with."""
        return (FIRST + self.observe(world),) if self._published else ()

    def actions(self, instance: Wilds) -> Sequence[str]:
        """Return the seventeen actions."""
        return ACTIONS

    def step(self, world: World, action: int, rng: Stream) -> Step[World]:
        """Carry out an action; what neither moves, turns nor changes anything is unproductive."""
        after = _world.advance(world, action)
        old, new = body_of(world), body_of(after)
        events: dict[str, Json] = {"at": _place(after), "health": new[HEALTH]}
        unlocked: list[Json] = [
            name for number, name in enumerate(ACHIEVEMENTS, MADE) if new[number] and not old[number]
        ]
        if unlocked:
            events["unlocked"] = unlocked
        if new[HEALTH] <= 0:
            events["death"] = HARMS[new[HARM]]
        return Step(after, after.reward, events, Outcome.UNPRODUCTIVE if _idle(world, after, action) else Outcome.OK)

    def over(self, world: World) -> End | None:
        """Return FAILED once the player is dead."""
        return End.FAILED if body_of(world)[HEALTH] <= 0 else None

    def score(self, world: World) -> float:
        """Return the published score: the number of achievements unlocked so far, summed over the steps."""
        return world.score

    def manual(self, instance: Wilds) -> str:
        """Return the published manual."""
        return MANUAL

    def observe(self, world: World) -> str:
        """Return what is seen, the status and the inventory."""
        return observation(world, published=self._published)


def _place(world: World) -> list[Json]:
    player = beings_of(world)[0]
    return [player[X], player[Y]]


def _idle(before: World, after: World, action: int) -> bool:
    """Whether an action other than waiting and sleeping had no effect."""
    old, new = body_of(before), body_of(after)
    if action in (NOOP, SLEEP):
        return False
    if WEST <= action <= SOUTH:
        turned = (old[EAST_OF], old[SOUTH_OF]) != (new[EAST_OF], new[SOUTH_OF])
        return not turned and _place(before) == _place(after)
    if action == DO and nearest_of(before)[0][0] in _MAY_NEED_RETRIES:
        return False
    return old[MADE:CLOCK] == new[MADE:CLOCK]  # whatever is collected, placed or made is counted

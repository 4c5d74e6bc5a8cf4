"""Crafter as a game of single steps, with its words: observations, status, inventory and manual."""

from collections.abc import Sequence
from functools import lru_cache

from waybench._package_data import read_toml
from waybench.core import End, Field, Json, Outcome, Stream
from waybench.envs.crafter import _ids as ids
from waybench.envs.crafter import _world
from waybench.envs.crafter._world import CrafterWorld, Wilds, being_numbers, nearest_in_view, player_numbers
from waybench.envs.smartplay import SEEN, ActionEffect, Rules, direction_name

MANUAL: str = read_toml(__file__, "manual.toml")["manual"]
ACTIONS = (
    *("Noop", "Move West", "Move East", "Move North", "Move South", "Do", "Sleep"),
    *("Place Stone", "Place Table", "Place Furnace", "Place Plant"),
    *("Make Wood Pickaxe", "Make Stone Pickaxe", "Make Iron Pickaxe"),
    *("Make Wood Sword", "Make Stone Sword", "Make Iron Sword"),
)
OUTSIDE = "Error, you are out of the map."
_ACTION_SENTENCES = tuple(f"You took action {name.lower().replace(' ', '_')}." for name in ACTIONS)
_SLEEPING = "You are sleeping, and will not be able take actions until energy is full."
FIRST = f"{_ACTION_SENTENCES[0]}\n\n"  # begins the first observation of the published history
_NEEDS = 4  # the first items, which the status line lists

# Our own wording.
_ASLEEP = "You are sleeping, and will not be able to take actions until energy is full."
_DEATHS = {
    "": "You died.",
    "zombie": "You died: a zombie hit you.",
    "arrow": "You died: an arrow hit you.",
    "lava": "You died: you walked into lava.",
    "need": "You died: you had nothing left to eat, to drink, or no energy.",
}
_EDGE = "You face the edge of the map."


def observation_text(world: CrafterWorld, *, published: bool) -> str:
    """Return the description of a world.

    If `published`, the text has the mistakes of the published program: near the western and northern edge of the
    world, and where the player faces the edge, it is an error message, and sleep or death is reported right after the
    action.
    """
    body, player, nearest = player_numbers(world), being_numbers(world)[0], nearest_in_view(world)
    faced_kind = nearest[0][0]  # below 0 beyond the edge of the world
    if published and (player[ids.X] < ids.ACROSS or player[ids.Y] < ids.DOWN or faced_kind < 0):
        return OUTSIDE
    front = _EDGE if faced_kind < 0 else f"You face {ids.NAMES[faced_kind]} at your front."
    header = _header_text(body, published=published)
    status_and_inventory = _status_and_inventory(tuple(body[: len(ids.ITEMS)]))
    return f"{header}You see:\n{visible_lines(world)}\n\n{front}\n\n{status_and_inventory}"


def visible_lines(world: CrafterWorld) -> str:
    """Return a line for each kind of thing in view, with the direction of the nearest one."""
    return "\n".join(
        f"- {ids.NAMES[kind]} {away} steps to your {direction_name(east, south)}"
        for kind, (east, south, away) in enumerate(nearest_in_view(world))
        if away >= 0 and kind != ids.PLAYER
    )


def _header_text(body: list[int], *, published: bool) -> str:
    """Return the sentences before the view: the last action, sleep and death."""
    if body[ids.CLOCK] <= 1:
        return ""
    action = _ACTION_SENTENCES[body[ids.ACTED]]
    is_dead = body[ids.HEALTH] <= 0
    if published:
        condition = f"{_SLEEPING}\n\n" if body[ids.ASLEEP] else "You died.\n\n" if is_dead else ""
        return f"{action}{condition}\n\n"
    condition = f"{_DEATHS[ids.HARMS[body[ids.HARM]]]}\n\n" if is_dead else f"{_ASLEEP}\n\n" if body[ids.ASLEEP] else ""
    return f"{action}\n\n{condition}"


@lru_cache(maxsize=4096)  # the same for many steps
def _status_and_inventory(items: tuple[int, ...]) -> str:
    """Return the lists of the player's needs and of its inventory, from the counts of `ITEMS` (cached)."""
    status = "\n".join(f"- {name}: {count}/{ids.MOST}" for name, count in zip(ids.ITEMS[:_NEEDS], items, strict=False))
    owned = "\n".join(
        f"- {name}: {count}" for name, count in zip(ids.ITEMS[_NEEDS:], items[_NEEDS:], strict=True) if count
    )
    inventory = f"Your inventory:\n{owned}" if owned else "You have nothing in your inventory."
    return f"Your status:\n{status}\n\n{inventory}"


_MAY_NEED_RETRIES = (ids.GRASS, ids.COW, ids.ZOMBIE, ids.SKELETON)  # to have an effect on these may take several tries


class SurvivalRules(Rules[Wilds, CrafterWorld]):
    """Crafter as a game of single steps.

    Events: `at` (the player's column and row), `health`, `unlocked` (names of achievements, where there are new ones),
    and `death` (what took the last health, where it did).

    Args:
        published: Whether observations are as the published program writes them, and the manual has no list of
            actions.
    """

    # All chance comes from the world's own generator, which the seed determines; the stream of a step is ignored. Yet
    # no player can predict the draws, so this is a game of chance.
    deterministic = False

    def __init__(self, *, published: bool) -> None:
        super().__init__(published=published)
        self.lists_actions = not published
        doc = "What is in view, one kind of thing in each line; none where an error stands in its place."
        self.scene_fields = (Field[CrafterWorld](SEEN, doc, visible_lines),)

    def begin(self, instance: Wilds) -> CrafterWorld:
        """Return the world at the start, after one step without an action as published."""
        return _world.begin_world(instance.seed)

    def before(self, world: CrafterWorld) -> Sequence[str]:
        """Return the observation of the step before the start, with which the published history begins."""
        return (FIRST + self.observe(world),) if self._published else ()

    def actions(self, instance: Wilds) -> Sequence[str]:
        return ACTIONS

    def step(self, world: CrafterWorld, action: int, rng: Stream) -> ActionEffect[CrafterWorld]:
        """Carry out an action; an action without effect is unproductive."""
        after = _world.advance_world(world, action)
        body_before, body = player_numbers(world), player_numbers(after)
        events: dict[str, Json] = {"at": _player_location(after), "health": body[ids.HEALTH]}
        unlocked: list[Json] = [
            name for number, name in enumerate(ids.ACHIEVEMENTS, ids.MADE) if body[number] and not body_before[number]
        ]
        if unlocked:
            events["unlocked"] = unlocked
        if body[ids.HEALTH] <= 0:
            events["death"] = ids.HARMS[body[ids.HARM]]
        outcome = Outcome.UNPRODUCTIVE if _had_no_effect(world, after, action) else Outcome.OK
        return ActionEffect(after, after.reward, events, outcome)

    def ending(self, world: CrafterWorld) -> End | None:
        return End.FAILED if player_numbers(world)[ids.HEALTH] <= 0 else None

    def score(self, world: CrafterWorld) -> float:
        """Return the published score: the number of achievements unlocked so far, summed over the steps."""
        return world.score

    def manual(self, instance: Wilds) -> str:
        return MANUAL

    def observe(self, world: CrafterWorld) -> str:
        return observation_text(world, published=self._published)


def _player_location(world: CrafterWorld) -> list[Json]:
    """Return the player's column and row, as JSON."""
    player = being_numbers(world)[0]
    return [player[ids.X], player[ids.Y]]


def _had_no_effect(before: CrafterWorld, after: CrafterWorld, action: int) -> bool:
    """Return whether an action had no effect; False for waiting, sleeping and what may need several tries."""
    body_before, body_after = player_numbers(before), player_numbers(after)
    if action in (ids.NOOP, ids.SLEEP):
        return False
    if ids.WEST <= action <= ids.SOUTH:
        has_turned = (body_before[ids.EAST_OF], body_before[ids.SOUTH_OF]) != (
            body_after[ids.EAST_OF],
            body_after[ids.SOUTH_OF],
        )
        return not has_turned and _player_location(before) == _player_location(after)
    if action == ids.DO and nearest_in_view(before)[0][0] in _MAY_NEED_RETRIES:
        return False
    return (
        body_before[ids.MADE : ids.CLOCK] == body_after[ids.MADE : ids.CLOCK]
    )  # each collecting, placing or making is counted there

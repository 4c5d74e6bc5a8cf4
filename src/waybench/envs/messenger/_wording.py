"""The published words: context, advice, actions and observations.

From the paper's Appendix C.4 (shared/papers/smartplay.txt) and shared/specs/smartplay.md, section 6; where they differ
in an apostrophe or a minus, as in the latter. What is said in "sound" alone is our own.
"""

from collections.abc import Iterator

from waybench.envs.messenger._engine import WON, World
from waybench.envs.messenger._instance import Case, numbers_of

ACTIONS = ("Move North", "Move South", "Move West", "Move East", "Do Nothing")
CONTEXT = (
    "In the game, MESSENGER, each entity can take on one of three roles: an enemy, message, or goal. The agent’s "
    "objective is to bring the message to the goal while avoiding the enemies. If the agent encounters an enemy at "
    "any point in the game, or the goal without first obtaining the message, it loses the game and obtains a reward "
    "of −1."
)
ADVICE = (
    "To solve a game, you may find it helpful to list the objects that you see. Then for each object, match it with "
    "an entity description, and identify whether it is good or bad to interact with the object.\n"
    "The name specifications of in-game objects may not be exact matches. Please try identifying with synonyms."
)
WITHOUT, WITH = "You (agent) don't have the message.", "You (agent) already have the message."
DEAD = "Environment Error."

_ENDS = {
    "enemy": "You met the enemy, the {name}, and lost the game.",
    "decoy": "You met the {name} that is an enemy, and lost the game.",
    "goal": "You met the goal, the {name}, without the message, and lost the game.",
    "message": "You met the {name} and its message, though you had one already, and lost the game.",
    WON: "You met the {name}, as you should, and won the game.",
}


def manual(case: Case) -> str:
    """Return a game's manual, without the list of actions."""
    return "\n\n".join((CONTEXT, "\n".join(case.sentences), ADVICE))


def observation(world: World, *, published: bool) -> str:
    """Return what the agent sees.

    Args:
        world: The position.
        published: Whether only the nearest of those that look alike is named, and death in stages 2 and 3 reads
            "Environment Error."; otherwise all are named, and the end is reported.
    """
    died = world.fate not in ("", WON)
    if died and published and world.case.stage > 1:
        return DEAD
    paragraphs = [] if world.last is None else [f"You took action {ACTIONS[world.last]}."]
    if world.fate and not published:
        paragraphs.append(_ENDS[world.fate].format(name=world.case.actors[world.touched].name))
    paragraphs.append(WITH if world.carries else WITHOUT)
    lines = seen(world, published=published)
    paragraphs.append(f"You see:\n{lines}" if lines else "You see nothing away from you.")
    return "\n\n".join(paragraphs)


def seen(world: World, *, published: bool) -> str:
    """Return a line for each entity that is named.

    Args:
        world: The position.
        published: Whether only the nearest of those that look alike is named.
    """
    return "\n".join(_visible_lines(world, include_all=not published))


def _visible_lines(world: World, *, include_all: bool) -> Iterator[str]:
    """Yield a line for each entity, by its number, the nearest first; ties by the northernmost, then westernmost."""
    x, y = world.agent[0] // 2, world.agent[1] // 2
    entities: list[tuple[int, int, int, int, str]] = []
    for number, actor, place in zip(numbers_of(world.case), world.case.actors, world.places, strict=True):
        if place is not None:
            east, south = place[0] // 2 - x, place[1] // 2 - y
            entities.append((number, abs(east) + abs(south), south, east, actor.name))
    entities.sort()
    before = 0
    for number, away, south, east, name in entities:
        if include_all or number != before:
            yield f"- {name} {away} steps to your {_direction(east, south)}" if away else f"- {name} 0 steps with you"
        before = number


def _direction(east: int, south: int) -> str:
    parts = ("north" if south < 0 else "south" if south > 0 else "", "west" if east < 0 else "east" if east > 0 else "")
    return "-".join(part for part in parts if part)

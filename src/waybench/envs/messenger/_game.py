"""Messenger as a game of single steps, with its published words."""

from collections.abc import Iterator, Sequence

from waybench.core import End, Field, Json, Outcome, Stream
from waybench.envs.messenger import _world
from waybench.envs.messenger._world import WON, Case, World, numbers_of
from waybench.envs.smartplay import SEEN, Rules, Step

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


class RoleRules(Rules[Case, World]):
    """Messenger as a game of single steps.

    Events: `at` (the agent, in half cells), `places` (the actors), `carries`, `fate` where the game is over.

    Args:
        published: Whether observations are as the published program writes them: of entities that look alike only
            the nearest is named, and the agent's death in stages 2 and 3 reads "Environment Error.".
    """

    deterministic = False

    def __init__(self, *, published: bool) -> None:
        super().__init__(published=published)
        doc = "The entities that are seen, one in each line; none where nothing is."
        self.scene_fields = (Field[World](SEEN, doc, lambda world: seen(world, published=published)),)

    def begin(self, instance: Case) -> World:
        """Return the position at the start."""
        return _world.begin(instance)

    def actions(self, instance: Case) -> Sequence[str]:
        """Return the five actions."""
        return ACTIONS

    def step(self, world: World, action: int, rng: Stream) -> Step[World]:
        """Move everything, then see what collides; a move against the edge is unproductive."""
        after = _world.advance(world, action, rng)
        events: dict[str, Json] = {
            "at": list(after.agent),
            "places": [place and list(place) for place in after.places],
            "carries": after.carries,
        }
        if after.fate:
            events["fate"] = after.fate
        stuck = action != _world.REST and after.agent == world.agent
        return Step(after, after.reward, events, Outcome.UNPRODUCTIVE if stuck else Outcome.OK)

    def over(self, world: World) -> End | None:
        """Return SOLVED once the task is done, FAILED once the agent is dead."""
        return None if not world.fate else End.SOLVED if world.fate == _world.WON else End.FAILED

    def score(self, world: World) -> float:
        """Return the last step's reward, which is the published score."""
        return world.reward

    def manual(self, instance: Case) -> str:
        """Return context, sentences and advice."""
        return manual(instance)

    def observe(self, world: World) -> str:
        """Return what is seen from where the agent is."""
        return observation(world, published=self._published)

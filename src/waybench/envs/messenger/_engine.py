"""Movement, collisions and their effects (shared/specs/smartplay.md, section 6).

Positions are in half cells, which the published program calls pixels. Everything fills a square of two by two; the
agent moves by two, all others by one, so that they can overlap by half a cell, which counts as a collision.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from waybench.envs.messenger._cast import CHASER, FLEEING, IMMOVABLE
from waybench.envs.messenger._instance import Case, role_name

Location = tuple[int, int]  # (x, y) of the north-western corner, in half cells

UP, LEFT, DOWN, RIGHT, STAY = (0, -1), (-1, 0), (0, 1), (1, 0), (0, 0)
_MOVES = (UP, DOWN, LEFT, RIGHT, STAY)  # the agent's actions, in the manual's order
_ALL = (UP, LEFT, DOWN, RIGHT)  # the order in which a mover considers them
REST = _MOVES.index(STAY)
WON = "won"


def _options(kind: str, east: int, south: int) -> tuple[Location, ...]:
    """Return what a mover chooses from.

    Args:
        kind: Chaser or fleeing.
        east: 1 if the mover is east of the agent, -1 if west, 0 if neither.
        south: The same for south and north.
    """
    nearer = {UP: south > 0, LEFT: east > 0, DOWN: south < 0, RIGHT: east < 0}
    options = tuple(move for move in _ALL if nearer[move] == (kind == CHASER))
    return options or _ALL


# Every step of one half cell changes the Manhattan distance, so that a step leads either nearer or away.
OPTIONS = {
    kind: {(east, south): _options(kind, east, south) for east in (-1, 0, 1) for south in (-1, 0, 1)}
    for kind in (CHASER, FLEEING)
}


class Chooser(Protocol):
    """The origin of movers' choices: a stream, or in tests the published program's choices."""

    def choice(self, items: Sequence[Location], /) -> Location:
        """Return one of the items."""
        ...


class World(NamedTuple):
    """A position.

    Attributes:
        case: The game.
        agent: Where the agent is, or was when it died.
        places: Where the actors are, in their order; None for what has been picked up or reached.
        carries: Whether the agent has the message.
        last: Number of the last action; None at the start.
        reward: The last step's reward.
        fate: "" while the game goes on; "won"; what killed the agent ("enemy", "decoy" or "goal"); "message" where
            the agent, in stage 1, touched the message though it had it.
        touched: Number of the actor that this was; -1 otherwise.
    """

    case: Case
    agent: Location
    places: tuple[Location | None, ...]
    carries: bool
    last: int | None = None
    reward: float = 0.0
    fate: str = ""
    touched: int = -1


def begin(case: Case) -> World:
    """Return the position at the start."""
    places = tuple((2 * actor.x, 2 * actor.y) for actor in case.actors)
    return World(case, (2 * case.x, 2 * case.y), places, case.carries)


def moved(case: Case, agent: Location, places: Sequence[Location | None], rng: Chooser) -> list[Location | None]:
    """Return where the actors are after they have moved, knowing where the agent was before.

    Each mover draws once, also where there is one choice alone; what would leave the board stays where it is.
    """
    x, y = agent
    edge = 2 * case.size - 2
    after: list[Location | None] = []
    for actor, place in zip(case.actors, places, strict=True):
        if place is None or actor.kind == IMMOVABLE:
            after.append(place)
            continue
        column, row = place
        options = OPTIONS[actor.kind][(column > x) - (column < x), (row > y) - (row < y)]
        east, south = rng.choice(options)
        column, row = column + east, row + south
        after.append((column, row) if 0 <= column <= edge and 0 <= row <= edge else place)
    return after


def walked(case: Case, agent: Location, action: int) -> Location:
    """Return where an action leads the agent: two half cells, or nowhere at the edge of the board."""
    east, south = _MOVES[action]
    x, y = agent[0] + 2 * east, agent[1] + 2 * south
    edge = 2 * case.size - 2
    return (x, y) if 0 <= x <= edge and 0 <= y <= edge else agent


def collide(place: Location | None, other_place: Location) -> bool:
    """Whether two squares overlap, if by half a cell only."""
    return place is not None and -2 < place[0] - other_place[0] < 2 and -2 < place[1] - other_place[1] < 2


def advance(world: World, action: int, rng: Chooser) -> World:
    """Return the position after a step."""
    case = world.case
    places = moved(case, world.agent, world.places, rng)
    agent = walked(case, world.agent, action)
    contacts = [number for number, place in enumerate(places) if collide(place, agent)]
    after = World(case, agent, tuple(places), world.carries, action)
    if not contacts:
        return after
    return _decided(after, contacts) if case.stage == 1 else _collided(after, contacts)


def _decided(world: World, contacts: Sequence[int]) -> World:
    """Stage 1: the first actor in contact with the agent decides."""
    number = contacts[0]
    role = role_name(number)
    if role == ("goal" if world.carries else "message"):
        return world._replace(reward=1.0, fate=WON, touched=number)
    return world._replace(reward=-1.0, fate=role, touched=number)


def _collided(world: World, contacts: Sequence[int]) -> World:
    """Stages 2 and 3: enemy and decoys, then the goal, and then the message.

    Enemy and decoys are looked for before anything has an effect, so that each of several costs 1. The goal comes
    before the message, so that touching both at once without the message loses.
    """
    deadly = [number for number in contacts if role_name(number) in ("enemy", "decoy")]
    if deadly:
        killer = deadly[0]
        return world._replace(reward=-1.0 * len(deadly), fate=role_name(killer), touched=killer)
    if 2 in contacts and not world.carries:
        return world._replace(reward=-1.0, fate="goal", touched=2)
    places, reward = list(world.places), 0.0
    if 1 in contacts:
        places[1], reward = None, 0.0 if world.carries else 0.5
    if 2 in contacts:
        places[2], reward = None, 1.0
        return world._replace(places=tuple(places), reward=reward, fate=WON, touched=2)
    return world._replace(places=tuple(places), reward=reward, carries=True)

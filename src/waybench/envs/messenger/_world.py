"""The world of Messenger: entities, instances, movement and collisions."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

from waybench._package_data import read_toml
from waybench.core import DataError, Instance, Json, is_array
from waybench.envs.smartplay import field_values

CHASER, FLEEING, IMMOVABLE = KINDS = ("chaser", "fleeing", "immovable")
ENEMY, MESSAGE, GOAL = ROLES = ("enemy", "message", "goal")

_CASTS = read_toml(__file__, "sentences.toml")["casts"]
PUBLISHED: tuple[str, ...] = _CASTS["published"]  # in the published order, by which an observation lists entities
FURTHER: tuple[str, ...] = _CASTS["further"]
# 14 is a wall, 15 and 16 are the agent without and with the message.
NUMBERS = {name: number for number, name in enumerate(PUBLISHED, 2)} | {
    name: number for number, name in enumerate(FURTHER, 17)
}
CASTS = {"published": PUBLISHED, "further": FURTHER, "both": PUBLISHED + FURTHER}


SIZE = 10  # cells along each side, as published
SMALLEST, LARGEST = 8, 100
STAGES = (1, 2, 3)
_STEPS = {1: 4, 2: 64, 3: 128}  # most steps, as published
_MOST_DECOYS = 4
_MOST_SENTENCES, _LONGEST_SENTENCE = 20, 1000


class Actor(NamedTuple):
    """One entity on the board.

    Attributes:
        kind: How it moves: "chaser", "fleeing" or "immovable".
        x: Its first column, from 0 in the west.
        y: Its first row, from 0 in the north.
    """

    name: str
    kind: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Case(Instance):
    """One game.

    Attributes:
        stage: 1, 2 or 3. In stage 1 the first thing touched decides; otherwise the message has to be delivered.
        size: Cells along each side of the board.
        actors: The enemy, the message and the goal, in this order, and then decoys, which are enemies that look like
            the message or the goal.
        x: The agent's first column.
        y: The agent's first row.
        carries: Whether the agent has the message from the start.
        sentences: What the manual says of the entities, in the order in which it says it.
    """

    stage: int
    size: int
    actors: tuple[Actor, ...]
    x: int
    y: int
    carries: bool
    sentences: tuple[str, ...]

    @property
    def steps(self) -> int:
        """Most steps, as published; larger boards have more in proportion."""
        published = _STEPS[self.stage]
        return published if self.stage == 1 else max(published, -(-published * self.size // SIZE))

    @property
    def published(self) -> bool:
        """Whether size and number of decoys are as published, so that scores compare with the published ones."""
        return self.size == SIZE and len(self.actors) == (5 if self.stage == 3 else 3)

    def canonical(self) -> str:
        return json.dumps(self.to_json(), sort_keys=True)

    def to_json(self) -> Json:
        """Return the attributes; actors as objects with their role."""
        return {
            "stage": self.stage,
            "size": self.size,
            "actors": [{"role": role_name(number), **actor._asdict()} for number, actor in enumerate(self.actors)],
            "agent": {"x": self.x, "y": self.y, "carries": self.carries},
            "sentences": list(self.sentences),
        }


def role_name(number: int) -> str:
    """Return the role of an actor by its number in `Case.actors`: enemy, message, goal or decoy."""
    return ROLES[number] if number < len(ROLES) else "decoy"


def decode(data: Json) -> Case:
    """Read what `Case.to_json` wrote; raise DataError for anything else."""
    stage, size, actor_data, agent, sentences = field_values(
        data,
        ("stage", "size", "actors", "agent", "sentences"),
        "instance: give stage, size, actors, agent and sentences, and nothing else",
    )
    if type(stage) is not int or stage not in STAGES:
        raise DataError("instance: the stage is 1, 2 or 3")
    if type(size) is not int or not SMALLEST <= size <= LARGEST:
        raise DataError(f"instance: the size is a whole number from {SMALLEST} to {LARGEST}")
    match agent:
        case {"x": int(x), "y": int(y), "carries": bool(carries), **rest} if not rest:
            _require_cell(x, y, size)
        case _:
            raise DataError('instance: give agent as {"x": 5, "y": 5, "carries": false}')
    actors = _read_actors(actor_data, stage, size)
    cells = [(x, y), *((actor.x, actor.y) for actor in actors)]
    if len(set(cells)) != len(cells):
        raise DataError("instance: two of the actors and the agent start in the same cell; give each its own cell")
    return Case(stage, size, actors, x, y, carries, _read_sentences(sentences))


def _require_cell(x: int, y: int, size: int) -> None:
    """Raise a DataError unless a cell lies on the board."""
    if type(x) is not int or type(y) is not int or not (0 <= x < size and 0 <= y < size):
        raise DataError(f"instance: x and y are whole numbers from 0 to {size - 1}")


def _read_actors(data: Json, stage: int, board_size: int) -> tuple[Actor, ...]:
    """Read the actors of a game: enemy, message, goal, and in stage 3 decoys of the last two."""
    most = len(ROLES) + (_MOST_DECOYS if stage == 3 else 0)
    if not is_array(data) or not len(ROLES) <= len(data) <= most:
        raise DataError(f"instance: a game of stage {stage} has {len(ROLES)} to {most} actors")
    actors: list[Actor] = []
    for number, actor in enumerate(data):
        match actor:
            case {"role": str(role), "name": str(name), "kind": str(kind), "x": int(x), "y": int(y), **rest} if (
                role == role_name(number) and name in NUMBERS and kind in KINDS and not rest
            ):
                _require_cell(x, y, board_size)
                actors.append(Actor(name, kind, x, y))
            case _:
                raise DataError(f"instance: actor {number} is not a {role_name(number)} with name, kind, x and y")
    names = [actor.name for actor in actors]
    if len(set(names[:3])) != len(ROLES) or not set(names[3:]) <= set(names[1:3]):
        raise DataError("instance: enemy, message and goal differ, and decoys look like the message or the goal")
    if stage == 1 and any(actor.kind != IMMOVABLE for actor in actors):
        raise DataError("instance: in stage 1 everything is immovable")
    return tuple(actors)


def _read_sentences(data: Json) -> tuple[str, ...]:
    """Read the sentences of a manual."""
    if not is_array(data) or not 1 <= len(data) <= _MOST_SENTENCES:
        raise DataError(f"instance: give 1 to {_MOST_SENTENCES} sentences")
    for sentence in data:
        if not isinstance(sentence, str) or not is_sentence(sentence):
            raise DataError(
                f"instance: a sentence is a printable line of text of at most {_LONGEST_SENTENCE} characters"
            )
    return tuple(data)


def is_sentence(text: str) -> bool:
    """Return whether a text can be a sentence of a manual: one printable line that is not too long."""
    return 0 < len(text) <= _LONGEST_SENTENCE and text.isprintable() and bool(text.strip())


@lru_cache(maxsize=4096)
def actor_numbers(case: Case) -> tuple[int, ...]:
    """Return for each actor the number of its name, by which observations are sorted."""
    return tuple(NUMBERS[actor.name] for actor in case.actors)


Location = tuple[int, int]  # (x, y) of the north-western corner, in half cells

UP, LEFT, DOWN, RIGHT, STAY = (0, -1), (-1, 0), (0, 1), (1, 0), (0, 0)
_AGENT_MOVES = (UP, DOWN, LEFT, RIGHT, STAY)  # by the number of an action, in the manual's order
_ACTOR_MOVES = (UP, LEFT, DOWN, RIGHT)  # the order in which a moving actor considers them
REST = _AGENT_MOVES.index(STAY)
WON = "won"


def _movement_options(kind: str, east: int, south: int) -> tuple[Location, ...]:
    """Return the moves that an actor chooses from: nearer to the agent for a chaser, otherwise away from it.

    `east` is 1 if the actor is to the east of the agent, -1 to the west, 0 in its column; `south` is alike.
    """
    leads_nearer = {UP: south > 0, LEFT: east > 0, DOWN: south < 0, RIGHT: east < 0}
    options = tuple(move for move in _ACTOR_MOVES if leads_nearer[move] == (kind == CHASER))
    return options or _ACTOR_MOVES  # a chaser at the agent's location has none


# Every step of one half cell changes the Manhattan distance, so that a step leads either nearer or away.
OPTIONS = {
    kind: {(east, south): _movement_options(kind, east, south) for east in (-1, 0, 1) for south in (-1, 0, 1)}
    for kind in (CHASER, FLEEING)
}


class Chooser(Protocol):
    """The origin of actors' choices: a stream, or in tests the published program's choices."""

    def choice(self, items: Sequence[Location], /) -> Location:
        """Return one of some moves."""
        ...


class MessengerWorld(NamedTuple):
    """A position.

    Attributes:
        agent: Where the agent is, or was when it died.
        places: The actors' locations, in their order; None for an actor that has been picked up or reached.
        carries: Whether the agent has the message.
        last: Number of the last action; None at the start.
        fate: "" while the game goes on; "won"; what killed the agent ("enemy", "decoy" or "goal"); "message" where
            the agent, in stage 1, touched the message though it had it.
        touched: Number of the actor that ended the game; -1 while it goes on.
    """

    case: Case
    agent: Location
    places: tuple[Location | None, ...]
    carries: bool
    last: int | None = None
    reward: float = 0.0
    fate: str = ""
    touched: int = -1


def start_world(case: Case) -> MessengerWorld:
    """Return the position before the first step."""
    places = tuple((2 * actor.x, 2 * actor.y) for actor in case.actors)
    return MessengerWorld(case, (2 * case.x, 2 * case.y), places, case.carries)


def move_actors(case: Case, agent: Location, places: Sequence[Location | None], rng: Chooser) -> list[Location | None]:
    """Return the actors' locations after they have moved; `agent` is the agent's location before its own move.

    Each actor that moves draws once, even from a single choice; a move off the board leaves it where it is.
    """
    x, y = agent
    edge = 2 * case.size - 2
    after: list[Location | None] = []
    for actor, location in zip(case.actors, places, strict=True):
        if location is None or actor.kind == IMMOVABLE:
            after.append(location)
            continue
        column, row = location
        options = OPTIONS[actor.kind][(column > x) - (column < x), (row > y) - (row < y)]
        east, south = rng.choice(options)
        column, row = column + east, row + south
        after.append((column, row) if 0 <= column <= edge and 0 <= row <= edge else location)
    return after


def walk_agent(case: Case, agent: Location, action: int) -> Location:
    """Return the agent's location after an action: two half cells away, or the same at the edge of the board."""
    east, south = _AGENT_MOVES[action]
    x, y = agent[0] + 2 * east, agent[1] + 2 * south
    edge = 2 * case.size - 2
    return (x, y) if 0 <= x <= edge and 0 <= y <= edge else agent


def collide(location: Location | None, other: Location) -> bool:
    """Return whether two squares overlap, even by half a cell."""
    return location is not None and -2 < location[0] - other[0] < 2 and -2 < location[1] - other[1] < 2


def advance_world(world: MessengerWorld, action: int, rng: Chooser) -> MessengerWorld:
    """Return the position after a step: actors and agent move, and contacts take effect."""
    case = world.case
    places = move_actors(case, world.agent, world.places, rng)
    agent = walk_agent(case, world.agent, action)
    contacts = [number for number, location in enumerate(places) if collide(location, agent)]
    after = MessengerWorld(case, agent, tuple(places), world.carries, action)
    if not contacts:
        return after
    return _end_at_contact(after, contacts) if case.stage == 1 else _apply_contacts(after, contacts)


def _end_at_contact(world: MessengerWorld, contacts: Sequence[int]) -> MessengerWorld:
    """Return the position after contacts in stage 1: the first actor in contact decides."""
    number = contacts[0]
    role = role_name(number)
    if role == ("goal" if world.carries else "message"):
        return world._replace(reward=1.0, fate=WON, touched=number)
    return world._replace(reward=-1.0, fate=role, touched=number)


def _apply_contacts(world: MessengerWorld, contacts: Sequence[int]) -> MessengerWorld:
    """Return the position after contacts in stages 2 and 3: each enemy costs 1; then the goal, then the message."""
    message, goal = ROLES.index(MESSAGE), ROLES.index(GOAL)
    enemies = [number for number in contacts if role_name(number) in ("enemy", "decoy")]
    if enemies:
        killer = enemies[0]
        return world._replace(reward=-1.0 * len(enemies), fate=role_name(killer), touched=killer)
    if goal in contacts and not world.carries:
        return world._replace(reward=-1.0, fate="goal", touched=goal)
    places, reward = list(world.places), 0.0
    if message in contacts:
        places[message], reward = None, 0.0 if world.carries else 0.5
    if goal in contacts:
        places[goal] = None
        return world._replace(places=tuple(places), reward=1.0, fate=WON, touched=goal)
    return world._replace(places=tuple(places), reward=reward, carries=True)

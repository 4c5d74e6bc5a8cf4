"""One game of Messenger: the board, the entities on it, and the manual's sentences about them."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from waybench.core import DataError, Instance, Json, check_fields, is_array, is_object
from waybench.envs.messenger._cast import IMMOVABLE, KINDS, NUMBERS, ROLES

SIZE = 10  # cells along each side, as published
SMALLEST, LARGEST = 8, 100
STAGES = (1, 2, 3)
_STEPS = {1: 4, 2: 64, 3: 128}  # most steps, as published
_MOST_DECOYS = 4
_MOST_SENTENCES, _LONGEST_SENTENCE = 20, 1000


class Actor(NamedTuple):
    """One entity on the board.

    Attributes:
        name: Its name.
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
        """Whether board and decoys are the published ones, so that published scores are for comparison."""
        return self.size == SIZE and len(self.actors) == (5 if self.stage == 3 else 3)

    def canonical(self) -> str:
        """Return the JSON text."""
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
    """Return what an actor is, by its number: enemy, message, goal or decoy."""
    return ROLES[number] if number < len(ROLES) else "decoy"


def decode(data: Json) -> Case:
    """Read what `Case.to_json` wrote.

    Raises:
        DataError: If it is no game.
    """
    check_fields(data, ("stage", "size", "actors", "agent", "sentences"))
    if not is_object(data) or set(data) != {"stage", "size", "actors", "agent", "sentences"}:
        raise DataError("instance: give stage, size, actors, agent and sentences, and nothing else")
    stage, size = data["stage"], data["size"]
    if type(stage) is not int or stage not in STAGES:
        raise DataError("instance: the stage is 1, 2 or 3")
    if type(size) is not int or not SMALLEST <= size <= LARGEST:
        raise DataError(f"instance: the size is a whole number from {SMALLEST} to {LARGEST}")
    match data["agent"]:
        case {"x": int(x), "y": int(y), "carries": bool(carries), **rest} if not rest:
            _require_cell(x, y, size)
        case _:
            raise DataError('instance: give agent as {"x": 5, "y": 5, "carries": false}')
    actors = _actors(data["actors"], stage, size)
    cells = [(x, y), *((actor.x, actor.y) for actor in actors)]
    if len(set(cells)) != len(cells):
        raise DataError("instance: two of the actors and the agent start in the same cell; give each its own cell")
    return Case(stage, size, actors, x, y, carries, _sentences(data["sentences"]))


def _require_cell(x: int, y: int, size: int) -> None:
    if type(x) is not int or type(y) is not int or not (0 <= x < size and 0 <= y < size):
        raise DataError(f"instance: x and y are whole numbers from 0 to {size - 1}")


def _actors(data: Json, stage: int, size: int) -> tuple[Actor, ...]:
    most = len(ROLES) + (_MOST_DECOYS if stage == 3 else 0)
    if not is_array(data) or not len(ROLES) <= len(data) <= most:
        raise DataError(f"instance: a game of stage {stage} has {len(ROLES)} to {most} actors")
    actors: list[Actor] = []
    for number, actor in enumerate(data):
        match actor:
            case {"role": str(role), "name": str(name), "kind": str(kind), "x": int(x), "y": int(y), **rest} if (
                role == role_name(number) and name in NUMBERS and kind in KINDS and not rest
            ):
                _require_cell(x, y, size)
                actors.append(Actor(name, kind, x, y))
            case _:
                raise DataError(f"instance: actor {number} is not a {role_name(number)} with name, kind, x and y")
    names = [actor.name for actor in actors]
    if len(set(names[:3])) != len(ROLES) or not set(names[3:]) <= set(names[1:3]):
        raise DataError("instance: enemy, message and goal differ, and decoys look like the message or the goal")
    if stage == 1 and any(actor.kind != IMMOVABLE for actor in actors):
        raise DataError("instance: in stage 1 everything is immovable")
    return tuple(actors)


def _sentences(data: Json) -> tuple[str, ...]:
    if not is_array(data) or not 1 <= len(data) <= _MOST_SENTENCES:
        raise DataError(f"instance: give 1 to {_MOST_SENTENCES} sentences")
    for sentence in data:
        if not isinstance(sentence, str) or not is_sentence(sentence):
            raise DataError(
                f"instance: a sentence is a printable line of text of at most {_LONGEST_SENTENCE} characters"
            )
    return tuple(data)


def is_sentence(text: str) -> bool:
    """Whether a text can be a sentence of a manual."""
    return 0 < len(text) <= _LONGEST_SENTENCE and text.isprintable() and bool(text.strip())


@lru_cache(maxsize=4096)
def numbers_of(case: Case) -> tuple[int, ...]:
    """Return the actors' numbers, by which an observation is sorted."""
    return tuple(NUMBERS[actor.name] for actor in case.actors)

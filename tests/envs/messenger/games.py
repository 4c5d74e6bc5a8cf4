"""Small games for tests, and what is done with them."""

from collections.abc import Sequence
from typing import Any

import waybench
from waybench.core import Episode, EpisodeRecord
from waybench.envs.messenger._world import Actor, Case, MessengerWorld

ENV = waybench.load("messenger/roles")
NORTH, SOUTH, WEST, EAST, STAY = range(5)
KINDS = ("chaser", "fleeing", "immovable")
ROLES = ("enemy", "message", "goal")
# Far from each other and from the agent in the middle of the board.
CORNERS = ((0, 0), (9, 0), (0, 9), (9, 9), (0, 5))
NAMES = ("ship", "bird", "robot", "bird", "robot")


class First:
    """Chooses the first option, and remembers all options that it was given."""

    def __init__(self) -> None:
        self.asked: list[list[Any]] = []

    def choice(self, items: Sequence[Any]) -> Any:
        self.asked.append(list(items))
        return items[0]


def case(
    *kinds: str,
    stage: int = 2,
    cells: Sequence[tuple[int, int]] = CORNERS,
    at: tuple[int, int] = (5, 5),
    carries: bool = False,
    size: int = 10,
) -> Case:
    """Return a game whose actors, immovable if nothing else is said, are far away."""
    number = 5 if stage == 3 else 3
    kinds = kinds or ("immovable",) * number
    actors = tuple(Actor(name, kind, *cell) for name, kind, cell in zip(NAMES, kinds, cells, strict=False))[:number]
    return Case(stage, size, actors, *at, carries, ("The ship is your foe.",))


def at(world: MessengerWorld, agent: tuple[int, int], **places: tuple[int, int]) -> MessengerWorld:
    """Return a position with the agent and some actors put elsewhere, in half cells."""
    numbers = ("enemy", "message", "goal", "decoy_message", "decoy_goal")
    moved = tuple(places.get(role, place) for role, place in zip(numbers, world.places, strict=False))
    return world._replace(agent=agent, places=moved)


def played(item: Any, *replies: str, **options: Any) -> EpisodeRecord:
    """Return the record of an episode with given replies; the item may be an instance."""
    item = ENV.item(item.to_json()) if isinstance(item, Case) else item
    episode: Episode[Any, Any, Any] = Episode(ENV, item, {"wording": "one_question", **options})
    for reply in replies:
        episode.step(reply)
    return episode.record()


def value(record: EpisodeRecord, name: str) -> float | None:
    return next(metric.of(record) for metric in ENV.scoring.metrics if metric.name == name)

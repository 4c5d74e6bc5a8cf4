"""Scripted players, which know the true roles and movements."""

from collections.abc import Iterator
from functools import lru_cache
from heapq import heappop, heappush
from typing import NamedTuple

from waybench.core import Stream
from waybench.envs.messenger._world import (
    CHASER,
    FLEEING,
    IMMOVABLE,
    OPTIONS,
    REST,
    Case,
    Location,
    World,
    collide,
    walked,
)

ACTIONS = range(REST + 1)
_MOST = 400  # plans that are looked at before the best of them is taken
_AHEAD = 6  # steps for which a way has to be safe, if it does not arrive


class _Sets(NamedTuple):
    """Possible places of things, one bit for each place of half cells, by kind of movement."""

    chasers: int
    fleeing: int
    fixed: int


class _Board:
    """Sets of places on a board of a size, each as the bits of one number."""

    def __init__(self, size: int) -> None:
        self.wide = wide = 2 * size - 1
        self._row = (1 << wide) - 1
        self._all = (1 << wide * wide) - 1
        first = sum(1 << wide * row for row in range(wide))
        self._columns = [first * ((1 << column) - 1) for column in range(wide + 1)]  # those west of a column

    def bit(self, place: Location) -> int:
        return 1 << place[1] * self.wide + place[0]

    def around(self, place: Location) -> int:
        """Return the places at which something collides with what is at a place."""
        x, y = place
        west, east = max(x - 1, 0), min(x + 1, self.wide - 1)
        line = (1 << east + 1) - (1 << west)
        return sum(line << self.wide * row for row in range(max(y - 1, 0), min(y + 1, self.wide - 1) + 1))

    def after(self, sets: _Sets, agent: Location) -> _Sets:
        """Return where things can be after they have moved, the agent having been at a place."""
        return _Sets(self._chased(sets.chasers, agent), self._fled(sets.fleeing, agent), sets.fixed)

    def _chased(self, places: int, agent: Location) -> int:
        if not places:
            return 0
        x, y = agent
        wide, columns = self.wide, self._columns
        north, west = (1 << wide * y) - 1, columns[x]
        after = (places & north) << wide | (places & west) << 1
        after |= (places & ~((1 << wide * (y + 1)) - 1)) >> wide
        after |= (places & ~columns[x + 1]) >> 1
        return after | self._anywhere(places & self.bit(agent))

    def _fled(self, places: int, agent: Location) -> int:
        if not places:
            return 0
        x, y = agent
        wide, columns = self.wide, self._columns
        up, left = places & ((1 << wide * (y + 1)) - 1), places & columns[x + 1]
        down, right = places & ~((1 << wide * y) - 1), places & ~columns[x]
        top, bottom = self._row, self._row << wide * (wide - 1)
        first, last = columns[1], self._all & ~columns[wide - 1]
        after = (up & ~top) >> wide | (left & ~first) >> 1 | (down & ~bottom) << wide | (right & ~last) << 1
        return after | up & top | left & first | down & bottom | right & last

    def _anywhere(self, places: int) -> int:
        """Return the places next to some; at the edge, staying is one of them."""
        return self._fled(places, (0, 0)) | self._fled(places, (self.wide - 1, self.wide - 1)) if places else 0


@lru_cache(maxsize=8)
def _board(size: int) -> _Board:
    return _Board(size)


def target(world: World) -> int:
    """Return the number of the actor to reach now: the message, or with it the goal."""
    return 2 if world.carries else 1


def dangers(world: World) -> Iterator[int]:
    """Yield the numbers of the actors that must not be touched now."""
    goal = target(world)
    for number, place in enumerate(world.places):
        if place is not None and number != goal and not (number == 1 and world.case.stage > 1):
            yield number


def towards(case: Case, world: World, rng: Stream) -> int:
    """Go straight for the message, and then for the goal, whatever is in the way."""
    place = world.places[target(world)]
    return REST if place is None else _nearest(world, place, ACTIONS)


def _nearest(world: World, place: Location, actions: Iterator[int] | range | list[int]) -> int:
    def away(action: int) -> int:
        x, y = walked(world.case, world.agent, action)
        return max(abs(x - place[0]), abs(y - place[1])) + abs(x - place[0]) + abs(y - place[1])

    return min(actions, key=away)


class _SearchNode(NamedTuple):
    """A way that is safe whatever the others do."""

    cost: float
    steps: int
    number: int  # tells plans of the same cost apart
    agent: Location
    first: int
    dangers: _Sets
    targets: _Sets


def search(case: Case, world: World, rng: Stream) -> int:
    """Take the first step of a shortest way to the target on which no danger can be, however it moves.

    Where no such way is found among the first few hundred, it is the step to the way that stays safe for longest, and
    of several to where most chance is left: a goal and an enemy that chase from the same place have to be parted.
    Where no step is safe, it is the one that is most probably survived.
    """
    place = world.places[target(world)]
    if place is None:
        return REST
    kind = case.actors[target(world)].kind
    start = _SearchNode(0.0, 0, 0, world.agent, REST, _sets(world, list(dangers(world))), _sets(world, [target(world)]))
    queue, visited, best, number = [start], set[tuple[int, Location]](), start, 0
    board = _board(case.size)
    for _ in range(_MOST):
        if not queue:
            break
        node = heappop(queue)
        if _room(node) > _room(best):
            best = node
        unsafe, target_sets = board.after(node.dangers, node.agent), board.after(node.targets, node.agent)
        deadly, reached = unsafe[0] | unsafe[1] | unsafe[2], target_sets[0] | target_sets[1] | target_sets[2]
        steps = node.steps + 1
        for action in ACTIONS:
            agent = walked(case, node.agent, action)
            if (steps, agent) in visited:
                continue
            near = board.around(agent)
            if near & deadly:
                continue
            first = node.first if node.steps else action
            if near & reached:
                return first
            visited.add((steps, agent))
            number += 1
            heappush(
                queue, _SearchNode(steps + _left(agent, place, kind), steps, number, agent, first, unsafe, target_sets)
            )
    return best.first if best.steps else _safest(world, place)


def _room(node: _SearchNode) -> tuple[int, int, int]:
    """Return how good an unfinished plan is: how long it is safe, and in how many places the target can be."""
    return min(node.steps, _AHEAD), sum(places.bit_count() for places in node.targets), node.steps


def _left(agent: Location, place: Location, kind: str) -> float:
    """Return an estimate of the number of steps to the target."""
    distance = abs(agent[0] - place[0]) + abs(agent[1] - place[1])
    return distance / (3 if kind == CHASER else 2)


def _sets(world: World, numbers: list[int]) -> _Sets:
    board, actors = _board(world.case.size), world.case.actors
    places = {kind: 0 for kind in (CHASER, FLEEING, IMMOVABLE)}
    for number in numbers:
        place = world.places[number]
        if place is not None:
            places[actors[number].kind] |= board.bit(place)
    return _Sets(places[CHASER], places[FLEEING], places[IMMOVABLE])


def _safest(world: World, place: Location) -> int:
    risks = {action: _risk(world, action) for action in ACTIONS}
    least = min(risks.values())
    return _nearest(world, place, [action for action in ACTIONS if risks[action] <= least])


def _risk(world: World, action: int) -> float:
    """Return the probability of dying in the next step."""
    agent, survival = walked(world.case, world.agent, action), 1.0
    for number in dangers(world):
        place, kind = world.places[number], world.case.actors[number].kind
        assert place is not None
        survival *= 1 - _collision_chance(world, place, kind, agent)
    return 1 - survival


def _collision_chance(world: World, place: Location, kind: str, agent: Location) -> float:
    if kind == IMMOVABLE:
        return float(collide(place, agent))
    x, y = world.agent
    options = OPTIONS[kind][(place[0] > x) - (place[0] < x), (place[1] > y) - (place[1] < y)]
    edge = 2 * world.case.size - 2
    collisions = 0
    for east, south in options:
        column, row = place[0] + east, place[1] + south
        inside = 0 <= column <= edge and 0 <= row <= edge
        collisions += collide((column, row) if inside else place, agent)
    return collisions / len(options)


def at_random(case: Case, world: World, rng: Stream) -> int:
    """Take any action."""
    return rng.choice(ACTIONS)


def rest(case: Case, world: World, rng: Stream) -> int:
    """Do nothing."""
    return REST


PLAYERS = {"oracle": search, "heuristic": towards, "random": at_random, "noop": rest}

"""Messenger as a game of single steps: its published words, its rules, and players that know the true roles."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import NamedTuple

from waybench.core import End, Field, Json, Outcome, Stream
from waybench.envs.messenger import _world
from waybench.envs.messenger._world import (
    CHASER,
    FLEEING,
    IMMOVABLE,
    OPTIONS,
    REST,
    WON,
    Case,
    Location,
    MessengerWorld,
    actor_numbers,
    collide,
    walk_agent,
)
from waybench.envs.smartplay import SEEN, ActionEffect, Rules, direction_name

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


def manual_text(case: Case) -> str:
    """Return the context, the sentences about the entities, and the advice."""
    return "\n\n".join((CONTEXT, "\n".join(case.sentences), ADVICE))


def observation_text(world: MessengerWorld, *, published: bool) -> str:
    """Return what the agent sees.

    As published, only the nearest of those that look alike is named, and death in stages 2 and 3 reads "Environment
    Error."; otherwise all are named, and the end is reported.
    """
    died = world.fate not in ("", WON)
    if died and published and world.case.stage > 1:
        return DEAD
    paragraphs = [] if world.last is None else [f"You took action {ACTIONS[world.last]}."]
    if world.fate and not published:
        paragraphs.append(_ENDS[world.fate].format(name=world.case.actors[world.touched].name))
    paragraphs.append(WITH if world.carries else WITHOUT)
    lines = describe_entities(world, published=published)
    paragraphs.append(f"You see:\n{lines}" if lines else "You see nothing away from you.")
    return "\n\n".join(paragraphs)


def describe_entities(world: MessengerWorld, *, published: bool) -> str:
    """Return a line for each entity, sorted by its number and distance; ties by the northernmost, then westernmost.

    As published, only the nearest of those that look alike is named.
    """
    x, y = world.agent[0] // 2, world.agent[1] // 2
    entities: list[tuple[int, int, int, int, str]] = []
    for number, actor, location in zip(actor_numbers(world.case), world.case.actors, world.places, strict=True):
        if location is not None:
            east, south = location[0] // 2 - x, location[1] // 2 - y
            entities.append((number, abs(east) + abs(south), south, east, actor.name))
    lines: list[str] = []
    before = 0
    for number, away, south, east, name in sorted(entities):
        if not published or number != before:
            direction = f"to your {direction_name(east, south)}" if away else "with you"
            lines.append(f"- {name} {away} steps {direction}")
        before = number
    return "\n".join(lines)


class RoleRules(Rules[Case, MessengerWorld]):
    """Messenger as a game of single steps.

    Events: `at` (the agent, in half cells), `places` (the actors), `carries`, `fate` where the game is over.

    Args:
        published: Whether observations are as the published program writes them; see `observation_text`.
    """

    deterministic = False

    def __init__(self, *, published: bool) -> None:
        super().__init__(published=published)
        doc = "The entities that are seen, one in each line; none where nothing is."
        self.scene_fields = (
            Field[MessengerWorld](SEEN, doc, lambda world: describe_entities(world, published=published)),
        )

    def begin(self, instance: Case) -> MessengerWorld:
        return _world.start_world(instance)

    def actions(self, instance: Case) -> Sequence[str]:
        return ACTIONS

    def step(self, world: MessengerWorld, action: int, rng: Stream) -> ActionEffect[MessengerWorld]:
        """Move everything, then apply collisions; a move against the edge is unproductive."""
        after = _world.advance_world(world, action, rng)
        events: dict[str, Json] = {
            "at": list(after.agent),
            "places": [location and list(location) for location in after.places],
            "carries": after.carries,
        }
        if after.fate:
            events["fate"] = after.fate
        stuck = action != _world.REST and after.agent == world.agent
        return ActionEffect(after, after.reward, events, Outcome.UNPRODUCTIVE if stuck else Outcome.OK)

    def ending(self, world: MessengerWorld) -> End | None:
        """Return SOLVED once the task is done, FAILED once the agent is dead."""
        return None if not world.fate else End.SOLVED if world.fate == _world.WON else End.FAILED

    def score(self, world: MessengerWorld) -> float:
        return world.reward

    def manual(self, instance: Case) -> str:
        return manual_text(instance)

    def observe(self, world: MessengerWorld) -> str:
        return observation_text(world, published=self._published)


_NUMBERS = range(REST + 1)
_MOST = 400  # plans that are looked at before the best of them is taken
_AHEAD = 6  # steps for which a way has to be safe, if it does not arrive


class _Sets(NamedTuple):
    """Possible locations of things, one bit for each location of half cells, by kind of movement."""

    chasers: int
    fleeing: int
    fixed: int

    @property
    def union(self) -> int:
        """All locations, of any kind of movement."""
        return self.chasers | self.fleeing | self.fixed


class _Board:
    """Sets of places on a board of a size, each as the bits of one number."""

    def __init__(self, size: int) -> None:
        self.wide = wide = 2 * size - 1
        self._row = (1 << wide) - 1
        self._all = (1 << wide * wide) - 1
        first = sum(1 << wide * row for row in range(wide))
        self._columns = [first * ((1 << column) - 1) for column in range(wide + 1)]  # those west of a column

    def location_bit(self, location: Location) -> int:
        """Return the number whose only bit is that of a location."""
        return 1 << location[1] * self.wide + location[0]

    def colliding_locations(self, location: Location) -> int:
        """Return the locations, as bits, at which an entity collides with one at the given location."""
        x, y = location
        west, east = max(x - 1, 0), min(x + 1, self.wide - 1)
        line = (1 << east + 1) - (1 << west)
        return sum(line << self.wide * row for row in range(max(y - 1, 0), min(y + 1, self.wide - 1) + 1))

    def spread_movers(self, sets: _Sets, agent: Location) -> _Sets:
        """Return where entities can be after a step, with the agent at a location before it."""
        return _Sets(self._spread_chasers(sets.chasers, agent), self._spread_fleeing(sets.fleeing, agent), sets.fixed)

    def _spread_chasers(self, places: int, agent: Location) -> int:
        """Return where chasers can be after a step."""
        if not places:
            return 0
        x, y = agent
        wide, columns = self.wide, self._columns
        north, west = (1 << wide * y) - 1, columns[x]
        after = (places & north) << wide | (places & west) << 1
        after |= (places & ~((1 << wide * (y + 1)) - 1)) >> wide
        after |= (places & ~columns[x + 1]) >> 1
        return after | self._adjacent_locations(places & self.location_bit(agent))

    def _spread_fleeing(self, places: int, agent: Location) -> int:
        """Return where fleeing entities can be after a step."""
        if not places:
            return 0
        x, y = agent
        wide, columns = self.wide, self._columns
        northern, western = places & ((1 << wide * (y + 1)) - 1), places & columns[x + 1]
        southern, eastern = places & ~((1 << wide * y) - 1), places & ~columns[x]
        top, bottom = self._row, self._row << wide * (wide - 1)
        first, last = columns[1], self._all & ~columns[wide - 1]
        after = (
            (northern & ~top) >> wide | (western & ~first) >> 1 | (southern & ~bottom) << wide | (eastern & ~last) << 1
        )
        return after | northern & top | western & first | southern & bottom | eastern & last

    def _adjacent_locations(self, places: int) -> int:
        """Return the locations next to any of `places`; at the edge, the location itself is one of them."""
        return (
            self._spread_fleeing(places, (0, 0)) | self._spread_fleeing(places, (self.wide - 1, self.wide - 1))
            if places
            else 0
        )


@lru_cache(maxsize=8)
def _cached_board(size: int) -> _Board:
    return _Board(size)


def target_number(world: MessengerWorld) -> int:
    """Return the number of the actor to reach now: the message, or with it the goal."""
    return 2 if world.carries else 1


def danger_numbers(world: MessengerWorld) -> Iterator[int]:
    """Yield the numbers of the actors that the agent must not touch now."""
    goal = target_number(world)
    for number, location in enumerate(world.places):
        if location is not None and number != goal and not (number == 1 and world.case.stage > 1):
            yield number


def towards(case: Case, world: MessengerWorld, rng: Stream) -> int:
    """Go straight for the message, and then for the goal, whatever is in the way."""
    location = world.places[target_number(world)]
    return REST if location is None else _step_toward(world, location, _NUMBERS)


def _step_toward(world: MessengerWorld, location: Location, actions: Iterator[int] | range | list[int]) -> int:
    """Return the action that leads nearest to a location."""

    def distance_after(action: int) -> int:
        """Return a measure of the distance from the location after an action."""
        x, y = walk_agent(world.case, world.agent, action)
        return max(abs(x - location[0]), abs(y - location[1])) + abs(x - location[0]) + abs(y - location[1])

    return min(actions, key=distance_after)


class _SearchNode(NamedTuple):
    """A way that is safe whatever the others do."""

    cost: float
    steps: int
    number: int  # tells plans of the same cost apart
    agent: Location
    first: int
    dangers: _Sets
    targets: _Sets


def search(case: Case, world: MessengerWorld, rng: Stream) -> int:
    """Take the first step of a shortest way to the target on which no danger can be, however it moves.

    Where no such way is found among the first few hundred, it is the step to the way that stays safe for longest, and
    of several to where most chance is left: a goal and an enemy that chase from the same place have to be parted.
    Where no step is safe, it is the one that is most probably survived.
    """
    location = world.places[target_number(world)]
    if location is None:
        return REST
    kind = case.actors[target_number(world)].kind
    start = _SearchNode(
        0.0,
        0,
        0,
        world.agent,
        REST,
        _location_sets(world, list(danger_numbers(world))),
        _location_sets(world, [target_number(world)]),
    )
    queue, visited, best, number = [start], set[tuple[int, Location]](), start, 0
    board = _cached_board(case.size)
    for _ in range(_MOST):
        if not queue:
            break
        node = heappop(queue)
        if _unfinished_plan_rank(node) > _unfinished_plan_rank(best):
            best = node
        unsafe, target_sets = (
            board.spread_movers(node.dangers, node.agent),
            board.spread_movers(node.targets, node.agent),
        )
        steps = node.steps + 1
        for action in _NUMBERS:
            agent = walk_agent(case, node.agent, action)
            if (steps, agent) in visited:
                continue
            near = board.colliding_locations(agent)
            if near & unsafe.union:
                continue
            first = node.first if node.steps else action
            if near & target_sets.union:
                return first
            visited.add((steps, agent))
            number += 1
            # The estimated number of steps to the target is added.
            distance = abs(agent[0] - location[0]) + abs(agent[1] - location[1])
            cost = steps + distance / (3 if kind == CHASER else 2)
            heappush(queue, _SearchNode(cost, steps, number, agent, first, unsafe, target_sets))
    if best.steps:
        return best.first
    risks = {action: _collision_risk(world, action) for action in _NUMBERS}
    least = min(risks.values())
    return _step_toward(world, location, [action for action in _NUMBERS if risks[action] <= least])


def _unfinished_plan_rank(node: _SearchNode) -> tuple[int, int, int]:
    """Return a sort key: how long a plan is safe, and in how many locations the target can be."""
    return min(node.steps, _AHEAD), sum(places.bit_count() for places in node.targets), node.steps


def _location_sets(world: MessengerWorld, numbers: list[int]) -> _Sets:
    """Return the locations of some actors by their kind of movement."""
    board, actors = _cached_board(world.case.size), world.case.actors
    places = {kind: 0 for kind in (CHASER, FLEEING, IMMOVABLE)}
    for number in numbers:
        location = world.places[number]
        if location is not None:
            places[actors[number].kind] |= board.location_bit(location)
    return _Sets(places[CHASER], places[FLEEING], places[IMMOVABLE])


def _collision_risk(world: MessengerWorld, action: int) -> float:
    """Return the probability that an action ends in a collision with a danger."""
    agent, survival = walk_agent(world.case, world.agent, action), 1.0
    for number in danger_numbers(world):
        location, kind = world.places[number], world.case.actors[number].kind
        assert location is not None
        survival *= 1 - _collision_chance(world, location, kind, agent)
    return 1 - survival


def _collision_chance(world: MessengerWorld, location: Location, kind: str, agent: Location) -> float:
    """Return the probability that one actor collides with the agent after its next move."""
    if kind == IMMOVABLE:
        return float(collide(location, agent))
    x, y = world.agent
    options = OPTIONS[kind][(location[0] > x) - (location[0] < x), (location[1] > y) - (location[1] < y)]
    edge = 2 * world.case.size - 2
    collisions = 0
    for east, south in options:
        column, row = location[0] + east, location[1] + south
        inside = 0 <= column <= edge and 0 <= row <= edge
        collisions += collide((column, row) if inside else location, agent)
    return collisions / len(options)


def random_action(case: Case, world: MessengerWorld, rng: Stream) -> int:
    """Take any action."""
    return rng.choice(_NUMBERS)


def rest(case: Case, world: MessengerWorld, rng: Stream) -> int:
    """Do nothing."""
    return REST


PLAYERS = {"oracle": search, "heuristic": towards, "random": random_action, "noop": rest}

"""Messenger as a game of single steps: its published words, its rules, and players that know the true roles."""

from collections.abc import Iterable, Iterator, Sequence
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

    As published, only the nearest of entities that look alike is named, and death in stages 2 and 3 reads "Environment
    Error."; otherwise all entities are named, and the end is reported.
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
    """Return a line for each entity, sorted by the number of its name and by distance, then from north and from west.

    As published, only the nearest of entities that look alike is named.
    """
    x, y = cell_of_location(world.agent)
    entities: list[tuple[int, int, int, int, str]] = []  # in the order by which they are sorted
    for number, actor, location in zip(actor_numbers(world.case), world.case.actors, world.places, strict=True):
        if location is not None:
            column, row = cell_of_location(location)
            east, south = column - x, row - y
            entities.append((number, abs(east) + abs(south), south, east, actor.name))
    lines: list[str] = []
    last_number = 0
    for number, distance, south, east, name in sorted(entities):
        if not published or number != last_number:
            direction = f"to your {direction_name(east, south)}" if distance else "with you"
            lines.append(f"- {name} {distance} steps {direction}")
        last_number = number
    return "\n".join(lines)


def cell_of_location(location: Location) -> tuple[int, int]:
    """Return the cell (column, row) with the north-western corner of a location in half cells."""
    return location[0] // 2, location[1] // 2


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
        is_stuck = action != REST and after.agent == world.agent
        return ActionEffect(after, after.reward, events, Outcome.UNPRODUCTIVE if is_stuck else Outcome.OK)

    def ending(self, world: MessengerWorld) -> End | None:
        """Return SOLVED once the task is done, FAILED once the agent is dead."""
        if not world.fate:
            return None
        return End.SOLVED if world.fate == WON else End.FAILED

    def score(self, world: MessengerWorld) -> float:
        return world.reward

    def manual(self, instance: Case) -> str:
        return manual_text(instance)

    def observe(self, world: MessengerWorld) -> str:
        return observation_text(world, published=self._published)


_ACTION_NUMBERS = range(REST + 1)
_MOST_NODES = 400  # of a search that are expanded before the best unfinished plan is taken
_SAFE_STEPS = 6  # of an unfinished plan; more do not make it better than others
_MESSAGE, _GOAL = 1, 2  # numbers of actors


class _LocationSets(NamedTuple):
    """Possible locations of entities by their kind of movement; each set is a number with a bit for each location."""

    chasers: int
    fleeing: int
    fixed: int

    @property
    def union(self) -> int:
        """All locations, of any kind of movement."""
        return self.chasers | self.fleeing | self.fixed


class _Board:
    """Sets of locations on a board of `size` cells a side; the bits of a set run from west to east, row by row."""

    def __init__(self, size: int) -> None:
        self._width = width = 2 * size - 1  # in half cells
        self._all = (1 << width * width) - 1
        first_column = sum(1 << width * row for row in range(width))
        self._west_of = [first_column * ((1 << column) - 1) for column in range(width + 1)]
        self._north_of = [(1 << width * row) - 1 for row in range(width + 1)]

    def location_bit(self, location: Location) -> int:
        """Return the set of a single location."""
        return 1 << location[1] * self._width + location[0]

    def colliding_locations(self, location: Location) -> int:
        """Return the set of locations at which an entity collides with an entity at the given location."""
        x, y = location
        last = self._width - 1
        west, east = max(x - 1, 0), min(x + 1, last)
        row_bits = (1 << east + 1) - (1 << west)
        return sum(row_bits << self._width * row for row in range(max(y - 1, 0), min(y + 1, last) + 1))

    def spread_movers(self, sets: _LocationSets, agent: Location) -> _LocationSets:
        """Return where entities can be after a step, with the agent at a location before it."""
        chasers, fleeing, fixed = sets
        return _LocationSets(self._spread_chasers(chasers, agent), self._spread_fleeing(fleeing, agent), fixed)

    def _spread_chasers(self, locations: int, agent: Location) -> int:
        """Return where chasers can be after a step nearer to the agent."""
        if not locations:
            return 0
        x, y = agent
        width, west_of, north_of = self._width, self._west_of, self._north_of
        after = (locations & north_of[y]) << width | (locations & west_of[x]) << 1
        after |= (locations & ~north_of[y + 1]) >> width | (locations & ~west_of[x + 1]) >> 1
        return after | self._adjacent_locations(locations & self.location_bit(agent))  # there, any step is a choice

    def _spread_fleeing(self, locations: int, agent: Location) -> int:
        """Return where fleeing entities can be after a step away from the agent, or at the edge without a step."""
        if not locations:
            return 0
        x, y = agent
        width, west_of, north_of = self._width, self._west_of, self._north_of
        # Who is in the agent's row or column can go to both sides.
        northern, western = locations & north_of[y + 1], locations & west_of[x + 1]
        southern, eastern = locations & ~north_of[y], locations & ~west_of[x]
        top, bottom = north_of[1], self._all & ~north_of[width - 1]
        left, right = west_of[1], self._all & ~west_of[width - 1]
        after = (northern & ~top) >> width | (southern & ~bottom) << width
        after |= (western & ~left) >> 1 | (eastern & ~right) << 1
        return after | northern & top | western & left | southern & bottom | eastern & right

    def _adjacent_locations(self, locations: int) -> int:
        """Return the locations next to any of `locations`; at the edge, the location itself is included."""
        last = self._width - 1
        return self._spread_fleeing(locations, (0, 0)) | self._spread_fleeing(locations, (last, last))


@lru_cache(maxsize=8)
def _cached_board(size: int) -> _Board:
    return _Board(size)


def target_number(world: MessengerWorld) -> int:
    """Return the number of the actor to reach now: the message, or with it the goal."""
    return _GOAL if world.carries else _MESSAGE


def danger_numbers(world: MessengerWorld) -> Iterator[int]:
    """Yield the numbers of the actors that the agent must not touch now."""
    target = target_number(world)
    for number, location in enumerate(world.places):
        is_harmless = number == _MESSAGE and world.case.stage > 1  # a second touch of the message changes nothing
        if location is not None and number != target and not is_harmless:
            yield number


def towards(case: Case, world: MessengerWorld, rng: Stream) -> int:
    """Go straight for the message, and then for the goal, whatever is in the way."""
    location = world.places[target_number(world)]
    return REST if location is None else _step_toward(world, location, _ACTION_NUMBERS)


def _step_toward(world: MessengerWorld, location: Location, actions: Iterable[int]) -> int:
    """Return the action that leads nearest to a location."""

    def distance_after(action: int) -> int:
        """Return a measure of the distance from the location after an action."""
        x, y = walk_agent(world.case, world.agent, action)
        across, along = abs(x - location[0]), abs(y - location[1])
        return max(across, along) + across + along  # the longer side counts twice, so that it is shortened first

    return min(actions, key=distance_after)


class _SearchNode(NamedTuple):
    """A plan of some steps that is safe whatever the other entities do.

    Attributes:
        cost: Its steps and the estimated number of steps from its end to the target.
        number: The order in which plans are found, which decides between plans of equal cost and steps.
        agent: The agent's location at the end of the plan.
        first_action: The first action of the plan.
        dangers: Where entities that must not be touched can be by then.
        targets: Where the target can be by then.
    """

    cost: float
    steps: int
    number: int
    agent: Location
    first_action: int
    dangers: _LocationSets
    targets: _LocationSets


def search(case: Case, world: MessengerWorld, rng: Stream) -> int:
    """Take the first step of a shortest way to the target on which no danger can be, however it moves.

    Where 400 plans do not reach the target, it is the first step of the plan that stays safe for longest, and of equal
    plans that at whose end the target can be in most locations: a goal and an enemy that chase from the same location
    have to be parted. Where no step is safe, it is the step with the lowest risk.
    """
    target = target_number(world)
    target_location = world.places[target]
    if target_location is None:
        return REST
    dangers, targets = _location_sets(world, danger_numbers(world)), _location_sets(world, [target])
    start = _SearchNode(0.0, 0, 0, world.agent, REST, dangers, targets)
    queue, visited, best, node_count = [start], set[tuple[int, Location]](), start, 0
    board = _cached_board(case.size)
    # The distance in half cells shrinks by 2 in a step of the agent, and by 1 more in a step of a target that chases.
    approach = 3 if case.actors[target].kind == CHASER else 2
    for _ in range(_MOST_NODES):
        if not queue:
            break
        node = heappop(queue)
        if _unfinished_plan_rank(node) > _unfinished_plan_rank(best):
            best = node
        dangers, targets = (board.spread_movers(sets, node.agent) for sets in (node.dangers, node.targets))
        steps = node.steps + 1
        for action in _ACTION_NUMBERS:
            agent = walk_agent(case, node.agent, action)
            if (steps, agent) in visited:
                continue
            colliding = board.colliding_locations(agent)
            if colliding & dangers.union:
                continue
            first_action = node.first_action if node.steps else action
            if colliding & targets.union:
                return first_action
            visited.add((steps, agent))
            node_count += 1
            distance = abs(agent[0] - target_location[0]) + abs(agent[1] - target_location[1])
            cost = steps + distance / approach
            heappush(queue, _SearchNode(cost, steps, node_count, agent, first_action, dangers, targets))
    return best.first_action if best.steps else _least_risky_action(world, target_location)


def _least_risky_action(world: MessengerWorld, target: Location) -> int:
    """Return the action with the lowest risk of a collision, and of several the one that leads nearest to a target."""
    risks = {action: _collision_risk(world, action) for action in _ACTION_NUMBERS}
    return _step_toward(world, target, [action for action in risks if risks[action] <= min(risks.values())])


def _unfinished_plan_rank(node: _SearchNode) -> tuple[int, int, int]:
    """Return a sort key: how long a plan is safe, up to a limit, in how many locations the target can be, its steps."""
    location_count = sum(locations.bit_count() for locations in node.targets)
    return min(node.steps, _SAFE_STEPS), location_count, node.steps


def _location_sets(world: MessengerWorld, numbers: Iterable[int]) -> _LocationSets:
    """Return the locations of some actors by their kind of movement."""
    board, actors = _cached_board(world.case.size), world.case.actors
    sets = {kind: 0 for kind in (CHASER, FLEEING, IMMOVABLE)}
    for number in numbers:
        location = world.places[number]
        if location is not None:
            sets[actors[number].kind] |= board.location_bit(location)
    return _LocationSets(sets[CHASER], sets[FLEEING], sets[IMMOVABLE])


def _collision_risk(world: MessengerWorld, action: int) -> float:
    """Return the probability that an action ends in a collision with a danger."""
    agent_after, survival = walk_agent(world.case, world.agent, action), 1.0
    for number in danger_numbers(world):
        location, kind = world.places[number], world.case.actors[number].kind
        assert location is not None
        survival *= 1 - _collision_chance(world, location, kind, agent_after)
    return 1 - survival


def _collision_chance(world: MessengerWorld, location: Location, kind: str, agent: Location) -> float:
    """Return the probability that an actor's next move makes it collide with the agent, moved to `agent`."""
    if kind == IMMOVABLE:
        return float(collide(location, agent))
    x, y = world.agent
    options = OPTIONS[kind][(location[0] > x) - (location[0] < x), (location[1] > y) - (location[1] < y)]
    edge = 2 * world.case.size - 2
    collisions = 0
    for east, south in options:
        column, row = location[0] + east, location[1] + south
        is_on_board = 0 <= column <= edge and 0 <= row <= edge
        collisions += collide((column, row) if is_on_board else location, agent)
    return collisions / len(options)


def random_action(case: Case, world: MessengerWorld, rng: Stream) -> int:
    """Take any action."""
    return rng.choice(_ACTION_NUMBERS)


def rest(case: Case, world: MessengerWorld, rng: Stream) -> int:
    """Do nothing."""
    return REST


PLAYERS = {"oracle": search, "heuristic": towards, "random": random_action, "noop": rest}

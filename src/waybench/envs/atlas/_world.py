"""A world of places on a lattice: what it is, how far its places are apart, and what is known of its solutions."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import inf
from types import MappingProxyType
from typing import NamedTuple

from waybench._package_data import read_text
from waybench.core import DataError, DataInstance, Json, Stream

DIRECTIONS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
)
"""Name -> what a move in this direction adds to x and y; y grows to the south."""

WORDS = tuple(read_text(__file__, "words.txt").split())
MOST_PLACES = len(WORDS)
_MOST_COORDINATE = 1_000
_MOST_STEPS = 20  # of a story, and of the budget of an exploration, for each passage
_SYMMETRIES = tuple((flip, turns) for flip in (False, True) for turns in range(4))
Exits = Mapping[str, int]
"""Direction -> the number of a passage."""


class Passage(NamedTuple):
    """A passage between two neighbouring cells.

    Attributes:
        source: The place from which it is described.
        target: The other place.
        one_way: Whether it leads to the target only.
    """

    source: int
    target: int
    one_way: bool

    def other_end(self, place: int) -> int:
        """Return the end of the passage that is not the given place."""
        return self.target if place == self.source else self.source


class Closure(NamedTuple):
    """Where `detour` closes a passage: see `Plan.find_closure`.

    Attributes:
        distance: Moves to the goal from the place where the passage is tried.
        passage: Number of the passage that the shortest route meets.
        detour: Moves of the shortest route to the goal that meets this passage first.
    """

    distance: int
    passage: int
    detour: int


@dataclass(frozen=True, slots=True)
class World(DataInstance):
    """A world with a start, a goal and a story; all conditions of play have the same one.

    Attributes:
        cells: The cell of each place, as x and y.
        passages: (source, target, one way) of each passage, in the order and from the end in which lists name it.
        start: Number of the place where the player starts.
        goal: Number of the place to reach.
        story: A walk that crosses each passage, as the numbers of its places.
        exploration: Most moves until the goal is found, where nothing is known of the world.
    """

    names: tuple[str, ...]
    cells: tuple[tuple[int, int], ...]
    passages: tuple[tuple[int, int, bool], ...]
    start: int
    goal: int
    story: tuple[int, ...]
    exploration: int

    @property
    def level(self) -> int:
        """The number of moves of a shortest route."""
        return plan_of(self).to_goal[self.start]


class Plan:
    """The passages of a world as a graph, with the distances to its goal.

    Args:
        cells: The (x, y) of each place.
        passages: Of each passage two indices of places, and whether it leads from the first to the second only.
        start: Index of the start.
        goal: Index of the goal.
    """

    def __init__(
        self, cells: Sequence[tuple[int, int]], passages: Iterable[tuple[int, int, bool]], start: int, goal: int
    ) -> None:
        self.passages = tuple(Passage(*passage) for passage in passages)
        self.start, self.goal = start, goal
        self.exits: list[dict[str, int]] = [{} for _ in cells]
        names = {step: name for name, step in DIRECTIONS.items()}
        for number, (source, target, one_way) in enumerate(self.passages):
            (x, y), (to_x, to_y) = cells[source], cells[target]
            self.exits[source][names[to_x - x, to_y - y]] = number
            if not one_way:
                self.exits[target][names[x - to_x, y - to_y]] = number
        # In the order of directions, so that nothing depends on how a world lists its passages.
        self.exits = [{name: exits[name] for name in DIRECTIONS if name in exits} for exits in self.exits]
        # Place -> (neighbour, number of the passage) for each exit, and for each passage that leads to the place.
        self._leads_to = [
            [(self.passages[number].other_end(place), number) for number in exits.values()]
            for place, exits in enumerate(self.exits)
        ]
        self.comes_from: list[list[tuple[int, int]]] = [[] for _ in cells]
        for place, exits_of_place in enumerate(self._leads_to):
            for after, number in exits_of_place:
                self.comes_from[after].append((place, number))
        self.walks: dict[tuple[int, int], list[tuple[int, int]]] = {}  # results of `continue_walk`
        self.to_goal = self.distances(goal)

    def with_start_and_goal(self, start: int, goal: int) -> "Plan":
        """Return the same passages with another start and goal."""
        plan = copy(self)
        plan.start, plan.goal, plan.to_goal = start, goal, self.distances(goal)
        return plan

    def place_after(self, place: int, direction: str) -> int:
        """Return the place after a move, all passages being open; the same place if no passage leads there."""
        number = self.exits[place].get(direction)
        return place if number is None else self.passages[number].other_end(place)

    def neighbours(self, place: int) -> list[int]:
        """Return the places that passages lead to from a place."""
        return [after for after, _ in self._leads_to[place]]

    def continue_walk(self, before: int, place: int) -> list[tuple[int, int]]:
        """Return (place, next place) for each next move of a walk that turns straight back in dead ends only."""
        if (before, place) not in self.walks:
            neighbours = self.neighbours(place)
            onward = [after for after in neighbours if after != before] or neighbours
            self.walks[before, place] = [(place, after) for after in onward]
        return self.walks[before, place]

    def distances(self, goal: int, closed: int = -1, known: Collection[int] | None = None) -> list[int]:
        """Return the number of moves from each place to a goal; -1 where there is no way.

        `closed` is the number of a passage that is closed both ways, and `known` has the numbers of the passages that
        can be used; None for all.
        """
        distances = [-1] * len(self.exits)
        distances[goal] = 0
        queue = deque([goal])
        while queue:
            place = queue.popleft()
            for before, number in self.comes_from[place]:
                if distances[before] < 0 and number != closed and (known is None or number in known):
                    distances[before] = distances[place] + 1
                    queue.append(before)
        return distances

    def route(self, start: int, distances: Sequence[int], closed: int = -1) -> list[str]:
        """Return the moves of a shortest route by the distances to its goal; ties go to the first direction."""
        moves: list[str] = []
        place = start
        while distances[place] > 0:
            direction, place = next(
                (direction, after)
                for direction, number in self.exits[place].items()
                if number != closed and distances[after := self.passages[number].other_end(place)] < distances[place]
            )
            moves.append(direction)
        return moves

    def exit_to(self, place: int, after: int) -> tuple[str, int]:
        """Return the direction and number of the passage from a place to a neighbour; raise LookupError without one."""
        for direction, number in self.exits[place].items():
            if self.passages[number].other_end(place) == after:
                return direction, number
        raise LookupError(f"no passage from {place} to {after}")

    def passage_to(self, place: int, after: int) -> int:
        """Return the number of the passage from a place to a neighbour; see `exit_to`."""
        return self.exit_to(place, after)[1]

    def count_routes(self) -> int:
        """Return the number of shortest routes from the start to the goal."""
        counts = {self.start: 1}
        for distance in range(self.to_goal[self.start], 0, -1):
            following: dict[int, int] = {}
            for place, count in counts.items():
                for after in self.neighbours(place):
                    if self.to_goal[after] == distance - 1:
                        following[after] = following.get(after, 0) + count
            counts = following
        return counts.get(self.goal, 0)

    def is_connected(self) -> bool:
        """Return whether each place can be reached from each other place."""
        reached, queue = {self.goal}, [self.goal]
        while queue:
            place = queue.pop()
            queue += [after for after in self.neighbours(place) if after not in reached]
            reached.update(queue)
        return len(reached) == len(self.exits) and -1 not in self.to_goal

    def find_closure(self) -> Closure | None:
        """Return where `detour` closes a passage, so that no walk to the goal can miss it; None if no k fits.

        The first passage that is tried from distance k to distance k - 1 is closed. A move lowers the distance by at
        most 1, so each walk meets one closure. k is as near to the middle of the route as possible, and such that the
        goal can still be reached after each possible closure.
        """
        length = self.to_goal[self.start]
        for k in sorted(range(1, length + 1), key=lambda k: (abs(2 * k - length - 1), k)):
            closure = self._closure_at_distance(k)
            if closure is not None:
                return closure
        return None

    def _closure_at_distance(self, k: int) -> Closure | None:
        """Return the closure of `find_closure` for one k; None if a walk can meet a closure that cuts off the goal."""
        length, to_goal = self.to_goal[self.start], self.to_goal
        farther, stack = {self.start}, [self.start]  # places that walks reach before any closure
        closable: list[tuple[int, int]] = []  # (place, passage)
        while stack:
            place = stack.pop()
            for number in self.exits[place].values():
                after = self.passages[number].other_end(place)
                if to_goal[after] == k - 1:
                    closable.append((place, number))
                elif after not in farther:
                    farther.add(after)
                    stack.append(after)
        moves_left = {(at, number): self.distances(self.goal, closed=number)[at] for at, number in closable}
        if -1 in moves_left.values():
            return None
        place = self.start
        for _ in range(length - k):
            place = min(self.neighbours(place), key=to_goal.__getitem__)
        after = min(self.neighbours(place), key=to_goal.__getitem__)
        number = self.passage_to(place, after)
        return Closure(k, number, length - k + 1 + moves_left[place, number])  # the move that meets the closure counts


@lru_cache(maxsize=512)
def plan_of(world: World) -> Plan:
    """Return the passages of a world as a graph, with its start and goal (cached)."""
    return Plan(world.cells, world.passages, world.start, world.goal)


def random_walk_success(plan: Plan, moves: int, limit: float = inf) -> float:
    """Return the probability that a random walk reaches the goal within a number of moves.

    The walk chooses among all exits but the exit to where it has just been, which it takes in dead ends only. Once the
    probability is above `limit`, counting stops.
    """
    probabilities: dict[tuple[int, int], float] = {(-1, plan.start): 1.0}  # of the last two places
    success = 0.0
    for _ in range(moves):
        if success > limit:
            break
        following: dict[tuple[int, int], float] = {}
        for last_places, probability in probabilities.items():
            continuations = plan.walks.get(last_places) or plan.continue_walk(*last_places)
            share = probability / len(continuations)
            for continuation in continuations:
                if continuation[1] == plan.goal:
                    success += share
                else:
                    following[continuation] = following.get(continuation, 0.0) + share
        probabilities = following
    return success


@lru_cache(maxsize=512)
def prove(world: World) -> dict[str, Json]:
    """Return the certificate of a world.

    It has the moves of the shortest route and the number of such routes; the success of a random walk within twice as
    many moves (`random_walk_success`); the `Closure`, and the moves to the goal where the closed passage is known from
    the start; the moves from the goal back to the start; and the moves of the story.

    Raises:
        DataError: If a closed passage can cut off the goal (see `Plan.find_closure`).
    """
    plan = plan_of(world)
    closure = plan.find_closure()
    if closure is None:
        raise DataError("world: each way round a closed passage has to lead to the goal")
    return {
        "shortest": world.level,
        "routes": plan.count_routes(),
        "random_walk": random_walk_success(plan, 2 * world.level),
        "closure": closure.distance,
        "closed": closure.passage,
        "detour": closure.detour,
        "known": plan.distances(world.goal, closed=closure.passage)[world.start],
        "back": plan.distances(world.start)[world.goal],
        "story": len(world.story) - 1,
    }


def _require(condition: object, problem: str) -> None:
    """Raise a DataError that names the problem, unless the condition is true."""
    if not condition:
        raise DataError(f"world: {problem}")


def decode(data: Json) -> World:
    """Read a world.

    Raises:
        DataError: If the data is no world: if passages do not join neighbours, places cannot be reached, there are two
            shortest routes, no closure leaves a way, or the story is no walk that crosses each passage.
    """
    world = World.from_json(data, "world")
    size, passages, cells = len(world.names), world.passages, world.cells
    _require(4 <= size <= MOST_PLACES and len(cells) == size, f"give 4 to {MOST_PLACES} names, and as many cells")
    _require(len(set(world.names)) == size, "give each place a name of its own")
    _require(all(name.isascii() and name.isalpha() and len(name) <= 20 for name in world.names), "a name is one word")
    _require(not {name.lower() for name in world.names} & DIRECTIONS.keys(), "no place is called like a direction")
    _require(len(set(cells)) == size, "give each place a cell of its own")
    _require(all(0 <= number <= _MOST_COORDINATE for cell in cells for number in cell), "coordinates are 0 to 1000")
    places = (*world.story, world.start, world.goal, *(end for passage in passages for end in passage[:2]))
    _require(all(0 <= place < size for place in places), "places are numbered from 0")
    _require(
        all(abs(cells[a][0] - cells[b][0]) + abs(cells[a][1] - cells[b][1]) == 1 for a, b, _ in passages),
        "passages join cells that have a side in common",
    )
    _require(len({frozenset(passage[:2]) for passage in passages}) == len(passages), "two places have one passage")
    _require(world.start != world.goal, "start and goal are two places")
    plan = plan_of(world)
    _require(plan.is_connected(), "each place can be reached from each other one")
    _require(plan.count_routes() == 1, "there is one shortest route")
    _require(plan.find_closure() is not None, "each way round a closed passage has to lead to the goal")
    most = _MOST_STEPS * len(passages)
    back = plan.distances(world.start)[world.goal]  # moves from the goal to the start
    _require(max(world.level, back) <= world.exploration <= most, f"exploration is up to {most} moves, and long enough")
    _require(1 < len(world.story) <= most and crosses_all_passages(plan, world.story), "the story crosses each passage")
    return world


def crosses_all_passages(plan: Plan, walk: Sequence[int]) -> bool:
    """Return whether a walk follows passages, and crosses each passage of the world."""
    try:
        return len({plan.passage_to(*pair) for pair in pairwise(walk)}) == len(plan.passages)
    except LookupError:
        return False


def draw_names(count: int, rng: Stream) -> tuple[str, ...]:
    """Draw distinct names of places."""
    words = list(WORDS)
    rng.shuffle(words)
    return tuple(word.capitalize() for word in words[:count])


def isomorph(world: World, key: str, number: int) -> World:
    """Return the world turned or mirrored, with other names; its story and the order of its passages stay."""
    rng = Stream("atlas isomorph", key, world.hash, number)
    flip, turns = rng.choice(_SYMMETRIES[1:])
    cells = [_transform_cell(cell, flip, turns) for cell in world.cells]
    left, top = min(x for x, _ in cells), min(y for _, y in cells)
    return replace(world, names=draw_names(len(world.names), rng), cells=tuple((x - left, y - top) for x, y in cells))


def _transform_cell(cell: tuple[int, int], flip: bool, turns: int) -> tuple[int, int]:
    """Return a cell mirrored, if `flip`, and turned by a number of right angles about (0, 0)."""
    x, y = cell
    x = -x if flip else x
    for _ in range(turns):
        x, y = -y, x
    return x, y

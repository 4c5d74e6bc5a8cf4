"""Players of worlds: an oracle, walks without a map, and players that each lack one ability."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from waybench.core import Player, Stream
from waybench.envs.atlas._game import Condition, Moves, Walk, shortest_way_to_target
from waybench.envs.atlas._generate import greedy_move
from waybench.envs.atlas._world import DIRECTIONS, Passage, World, plan_of, prove

_OPPOSITE = dict(zip(DIRECTIONS, ("south", "west", "north", "east"), strict=True))
_NAMES = tuple(DIRECTIONS)
_UNKNOWN = -1  # where an exit leads that was seen and not used
Chart = dict[int, dict[str, int]]
"""What a player believes: place -> direction -> place, or `_UNKNOWN`."""


class Ability(NamedTuple):
    """How well a reference player does what worlds demand.

    Attributes:
        list: Share of the passages that it misreads in a list.
        story: The same in a story.
        drawing: The same in a drawing.
        slips: Share of its moves that are replaced by a random direction.
        lost: Share of its moves after which it believes that it has not moved, if it sees only whether it moved.
        lost_on_paper: The same while it writes a route.
        memory: Moves of a walk or sentences of a story that it remembers, the last ones; None for all.
        depth: Moves that it looks ahead; None for any number.
        replans: Whether it takes note of a passage that turns out to be closed.
        nearest: Whether it explores from the nearest place with an unused exit, and not from any.
    """

    list: float = 0.012
    story: float = 0.012
    drawing: float = 0.012
    slips: float = 0.012
    lost: float = 0.004
    lost_on_paper: float = 0.0
    memory: int | None = None
    depth: int | None = None
    replans: bool = True
    nearest: bool = True


ABILITIES: Mapping[str, Ability] = {
    "able": Ability(),
    "misreads-list": Ability(list=0.06),
    "misreads-story": Ability(story=0.06),
    "misreads-drawing": Ability(drawing=0.06),
    "misreads-all": Ability(list=0.06, story=0.06, drawing=0.06),
    "forgets": Ability(memory=25),
    "plans-4": Ability(depth=4),
    "slips": Ability(slips=0.08),
    "lost-blind": Ability(lost=0.08),
    "lost-on-paper": Ability(lost=0.06, lost_on_paper=0.06),
    "never-replans": Ability(replans=False),
    "random-frontier": Ability(nearest=False),
}
"""Players with a mild error of every kind, all but the first with one deficit as well."""


class ReferencePlayer:
    """A player with given abilities, which uses only what the messages show; its name is a part of its random keys."""

    def __init__(self, name: str, ability: Ability) -> None:
        self._name, self._ability = name, ability
        self._chart_of = lru_cache(maxsize=64)(self._read_chart)
        self.__doc__ = "Errs a little in everything, and lacks one ability." if name != "able" else "Errs a little."

    def __call__(self, state: Walk, rng: Stream) -> Moves:
        """Return the player's next reply."""
        if state.is_reading_story:
            return ()
        if not state.condition.steps:
            moves = list(self._write_route(state))
        elif state.condition.shows_place:
            moves = [self._next_move(state)]
        else:
            moves = [self._blind_move(state)]
        slips = self._ability.slips
        return tuple(rng.choice(_NAMES) if rng.random() < slips else move for move in moves)

    def _random_stream(self, world: World, *purpose: str | int) -> Stream:
        """Return the random stream of this player for a purpose in a world."""
        return Stream("atlas player", self._name, world.hash, *purpose)

    def _read_chart(self, world: World, condition: Condition) -> Chart:
        """Return the player's chart of the passages that the rules describe, some of them misread."""
        ability, chart = self._ability, Chart()
        if not condition.description:
            return chart
        rate = {"list": ability.list, "story": ability.story, "drawing": ability.drawing}[condition.description]
        rng, plan = self._random_stream(world, "reads", condition.description), plan_of(world)
        misreadings = {number: rng.choice(_NAMES) for number in range(len(plan.passages)) if rng.random() < rate}
        walk = world.story
        if condition.parts and ability.memory is not None:  # only a story in parts has to be remembered
            walk = walk[-ability.memory - 1 :]
        story_passages = {plan.passage_to(*pair) for pair in pairwise(walk)}
        for place, exits in enumerate(plan.exits):
            for direction, number in exits.items():
                passage = plan.passages[number]
                if condition.description == "story" and number not in story_passages:
                    continue
                if number in misreadings:
                    direction = misreadings[number] if passage.source == place else _OPPOSITE[misreadings[number]]
                chart.setdefault(place, {}).setdefault(direction, passage.other_end(place))
        if condition.announces:
            _remove_passage(chart, plan.passages[int(prove(world)["closed"])])
        return chart

    def _write_route(self, state: Walk) -> Iterator[str]:
        """Yield the moves of a route, planned without feedback."""
        world = state.world
        chart = self._chart_of(world, state.condition)
        rng = self._random_stream(world, "writes", state.condition.name)
        place, visits = state.place, {state.place: 1}
        for _ in range(2 * state.moves_left):  # a player that is lost does not count its moves
            if place == world.goal:
                return
            move = self._choose_move(chart, world, world.goal, visits, place, rng)
            yield move
            if rng.random() >= self._ability.lost_on_paper:
                place = chart.get(place, {}).get(move, place)
            visits[place] = visits.get(place, 0) + 1

    def _next_move(self, state: Walk) -> str:
        """Return the next move in a condition whose messages show the place."""
        world, ability, condition, trail = state.world, self._ability, state.condition, state.trail
        chart = {place: dict(exits) for place, exits in self._chart_of(world, condition).items()}
        if ability.memory is not None and not condition.description and not condition.shows_chart:
            trail = trail[-ability.memory :]
        self._add_observations(chart, state, trail)
        rng = self._random_stream(world, condition.name, len(state.trail))
        return self._choose_move(chart, world, state.target, Counter(trail), state.place, rng)

    def _add_observations(self, chart: Chart, state: Walk, trail: Sequence[int]) -> None:
        """Add to a chart what a walk has shown: the exits of the places, and where the used exits lead."""
        plan, closed = state.plan, state.closed if self._ability.replans else -1
        for place in trail:  # exits that were seen replace those that were read, and keep where these lead
            targets = chart.get(place, {})
            chart[place] = {
                direction: targets.get(direction, _UNKNOWN)
                for direction, number in plan.exits[place].items()
                if number != closed
            }
        for place, after in pairwise(trail):
            for here, there in ((place, after), (after, place)):
                for direction, number in plan.exits[here].items():
                    if plan.passages[number].other_end(here) == there and direction in chart.get(here, {}):
                        chart[here][direction] = there
        if closed >= 0:
            _remove_passage(chart, plan.passages[closed])

    def _blind_move(self, state: Walk) -> str:
        """Return the next move where messages show only whether the last move succeeded: walk again, in mind."""
        world = state.world
        chart = {place: dict(exits) for place, exits in self._chart_of(world, state.condition).items()}
        place, visits = world.start, {world.start: 1}
        for turn, (before, after) in enumerate([*pairwise(state.trail), (-1, -1)]):
            rng = self._random_stream(world, state.condition.name, turn)
            move = self._choose_move(chart, world, world.goal, visits, place, rng)
            if before < 0:
                return move
            if before == after:
                chart.get(place, {}).pop(move, None)
            elif rng.random() >= self._ability.lost:
                place = chart.get(place, {}).get(move, place)
            visits[place] = visits.get(place, 0) + 1
        raise AssertionError  # the last pair returns

    def _choose_move(
        self, chart: Chart, world: World, goal: int, visits: Mapping[int, int], place: int, rng: Stream
    ) -> str:
        """Return the first move to the goal by a chart; else to an unused exit; else to a little visited place."""
        ways = _shortest_ways_on_chart(chart, place, self._ability.depth)
        if goal in ways:  # an empty way: the player is at the goal by its chart, but the walk goes on
            return ways[goal][0] if ways[goal] else rng.choice(_NAMES)
        ways_to_frontier = [way for near, way in ways.items() if _UNKNOWN in chart.get(near, {}).values()]
        if ways_to_frontier:
            length = min(map(len, ways_to_frontier))
            way = rng.choice([way for way in ways_to_frontier if not self._ability.nearest or len(way) == length])
            if way:
                return way[0]
            return rng.choice([direction for direction, after in chart[place].items() if after == _UNKNOWN])
        goal_x, goal_y = world.cells[goal]

        def visits_and_distance(after: int) -> tuple[int, int]:
            """Return how often a place was visited, and its distance from the goal."""
            x, y = world.cells[after]
            return visits.get(after, 0), abs(x - goal_x) + abs(y - goal_y)

        reachable = [after for after, way in ways.items() if way]
        return ways[min(reachable, key=visits_and_distance)][0] if reachable else rng.choice(_NAMES)


def _remove_passage(chart: Chart, passage: Passage) -> None:
    """Remove a passage from a chart, both ways."""
    for here, there in ((passage.source, passage.target), (passage.target, passage.source)):
        chart[here] = {direction: after for direction, after in chart.get(here, {}).items() if after != there}


def _shortest_ways_on_chart(chart: Chart, start: int, depth: int | None) -> dict[int, tuple[str, ...]]:
    """Return the moves of a shortest way by a chart to each place, or to each place within `depth` moves."""
    ways: dict[int, tuple[str, ...]] = {start: ()}
    frontier = [start]
    while frontier and (depth is None or len(ways[frontier[0]]) < depth):
        next_frontier: list[int] = []
        for place in frontier:
            for direction, after in chart.get(place, {}).items():
                if after != _UNKNOWN and after not in ways:
                    ways[after] = (*ways[place], direction)
                    next_frontier.append(after)
        frontier = next_frontier
    return ways


def oracle(state: Walk, rng: Stream) -> Moves:
    """Return a shortest way to the target, or its first move."""
    if state.is_reading_story:
        return ()
    moves = shortest_way_to_target(state)
    return tuple(moves[:1]) if state.condition.steps else tuple(moves)


def random(state: Walk, rng: Stream) -> Moves:
    """Walk at random, without turning straight back unless there is no other exit."""

    def choose_exit(trail: Sequence[int], exits: Sequence[str]) -> str:
        onward = [name for name in exits if len(trail) < 2 or state.plan.place_after(trail[-1], name) != trail[-2]]
        return rng.choice(onward or exits)

    return _choose_moves(state, choose_exit)


def heuristic(state: Walk, rng: Stream) -> Moves:
    """Go to the exit to the least visited place, and of these to the one nearest to the goal by air."""

    def choose_exit(trail: Sequence[int], exits: Sequence[str]) -> str:
        return greedy_move(state.plan, state.world.cells, trail[-1], Counter(trail), exits)

    return _choose_moves(state, choose_exit)


def _choose_moves(state: Walk, choose_exit: Callable[[Sequence[int], Sequence[str]], str]) -> Moves:
    """Return the next moves of a player whose `choose_exit` chooses by the places so far and the open exits."""
    if state.is_reading_story:
        return ()
    trail, moves = list(state.trail), list[str]()
    most_moves = 1 if state.condition.steps else state.moves_left
    while len(moves) < most_moves and not (moves and trail[-1] == state.target):
        moves.append(choose_exit(trail, state.open_exits_of(trail[-1]) or _NAMES))
        trail.append(state.plan.place_after(trail[-1], moves[-1]))
    return tuple(moves)


POLICIES: Mapping[str, Player[Walk, Moves]] = {
    "heuristic": heuristic,
    "oracle": oracle,
    "random": random,
    **{name: ReferencePlayer(name, ability) for name, ability in ABILITIES.items()},
}

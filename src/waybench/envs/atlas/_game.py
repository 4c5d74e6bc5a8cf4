"""The conditions in which a world is met, and the one rule of movement that they share."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from waybench.core import DataError, End, Game, GameProperties, Json, Outcome, Stream, Transition, is_array
from waybench.envs.atlas._world import DIRECTIONS, Plan, World, plan_of, prove

Moves = tuple[str, ...]
"""Directions: a whole route, a single move, or none, which only lets the story go on."""

CONDITION = "condition"  # the option of play that has it
MOST_MOVES = 10_000  # of a route
SENTENCES = 12  # of the story in a turn of `recall`


class Condition(NamedTuple):
    """What a player of a world receives, and what it answers.

    Attributes:
        name: Value of the option `condition`.
        doc: What the player receives and what it answers, in a phrase.
        description: What the rules say of the passages: "list", "drawing", "story", or "" for nothing.
        steps: Whether the player makes one move a turn and sees its effect; otherwise it answers with the whole route.
        parts: Whether the story comes in parts, one a turn, before the question.
        shows_place: Whether messages to a player of single moves say where it is and which exits are there.
        closes: Whether a passage is closed when it is tried for the first time.
        announces: Whether a passage is closed from the start, as the rules say.
        explores: Whether the player has to find the goal, return to the start, and reach the goal once more.
        shows_chart: Whether each turn lists the passages that were crossed so far.
    """

    name: str
    doc: str
    description: str = "list"
    steps: bool = False
    parts: bool = False
    shows_place: bool = True
    closes: bool = False
    announces: bool = False
    explores: bool = False
    shows_chart: bool = False

    @property
    def targets(self) -> int:
        """Number of targets that have to be reached, one after another."""
        return 3 if self.explores else 1


CONDITIONS: Mapping[str, Condition] = MappingProxyType(
    {
        condition.name: condition
        for condition in (
            Condition("plan", "the list of passages is given, and the answer is a whole route"),
            Condition("map", "a drawing of the passages is given, and the answer is a whole route", "drawing"),
            Condition("read", "a story tells of each passage, and the answer is a whole route", "story"),
            Condition("recall", "the story comes in parts, and the question after them", "story", parts=True),
            Condition("act", "the list is given; one move a turn, which shows where it leads", steps=True),
            Condition(
                "blind",
                "the list is given; one move a turn, which shows only whether it moved",
                steps=True,
                shows_place=False,
            ),
            Condition("detour", "as act, and one passage turns out to be closed", steps=True, closes=True),
            Condition("explore", "only the place and its exits; there, back, there again", "", True, explores=True),
            Condition(
                "chart", "as explore, with the passages crossed so far", "", True, explores=True, shows_chart=True
            ),
            Condition("known", "as act, and the rules say which passage is closed", steps=True, announces=True),
        )
    }
)
Floors = Mapping[float, float]
# Level -> success of a random walk that turns back in dead ends only, in worlds of the usual size: without a closure
# the mean of 300 certificates, otherwise of four walks through each of these worlds. Neighbouring levels are pooled
# where sampling made the rate rise (`python -m tests.gate floors` measures again).
_WALK: Floors = {3: 0.286, 4: 0.094, 6: 0.040, 8: 0.037, 11: 0.032, 14: 0.027, 18: 0.021, 24: 0.012}
_DETOUR: Floors = {3: 0.217, 4: 0.057, 6: 0.019, 8: 0.019, 11: 0.019, 14: 0.016, 18: 0.013, 24: 0.006}
_KNOWN: Floors = {3: 0.304, 4: 0.177, 6: 0.048, 8: 0.040, 11: 0.030, 14: 0.030, 18: 0.022, 24: 0.012}
_EXPLORE: Floors = {3: 0.087, 4: 0.055, 6: 0.008, 8: 0.008, 11: 0.008, 14: 0.006, 18: 0.001, 24: 0.001}


def guess_rates_by_level(condition: Condition) -> Floors:
    """Return by level the share of worlds in which a random walk succeeds."""
    if condition.explores:
        return _EXPLORE
    return _DETOUR if condition.closes else _KNOWN if condition.announces else _WALK


MAIN_CONDITIONS = tuple(name for name in CONDITIONS if name not in ("chart", "known"))


class Walk(NamedTuple):
    """A walk through a world so far.

    Attributes:
        trail: The places after each move, the start first; a move that led nowhere repeats the place.
        part: Number of the part of the story that the player is reading, from 1; one more with the question.
        targets_reached: Number of targets reached so far.
        moves_left: Moves left on this leg.
        closed: Number of the passage known to be closed; -1 if none is.
    """

    world: World
    condition: Condition
    trail: tuple[int, ...]
    part: int
    targets_reached: int
    moves_left: int
    closed: int = -1

    @property
    def place(self) -> int:
        """The number of the place where the player is."""
        return self.trail[-1]

    @property
    def plan(self) -> Plan:
        """The passages of the world as a graph."""
        return plan_of(self.world)

    @property
    def target(self) -> int:
        """The number of the place to reach on this leg of the way."""
        return self.world.start if self.targets_reached == 1 else self.world.goal

    @property
    def is_reading_story(self) -> bool:
        """Whether the player is shown a part of the story, so that its reply only lets the story go on."""
        return self.condition.parts and self.part <= len(story_parts(self.world))

    def open_exits_of(self, place: int) -> list[str]:
        """Return the directions of the exits of a place, without the passage that was found closed, if any."""
        return [direction for direction, passage in self.plan.exits[place].items() if passage != self.closed]


@lru_cache(maxsize=256)
def story_parts(world: World) -> tuple[tuple[int, ...], ...]:
    """Return the parts of the story as walks (cached); each begins where the one before it ends."""
    story = world.story
    return tuple(story[start : start + SENTENCES + 1] for start in range(0, len(story) - 1, SENTENCES))


def crossed_passages(plan: Plan, trail: Sequence[int]) -> dict[int, None]:
    """Return the numbers of the passages that a walk crosses, as keys in the order of their first crossings."""
    return dict.fromkeys(plan.passage_to(a, b) for a, b in pairwise(trail) if a != b)


def first_leg_budget(world: World, condition: Condition) -> int:
    """Return the budget of the first leg: twice the moves of the shortest route, or that of an exploration."""
    if condition.explores:
        return world.exploration
    proof = prove(world)
    return 2 * int(proof["detour" if condition.closes else "known" if condition.announces else "shortest"])


class WorldGame(Game[World, Walk, Moves]):
    """A move is a direction; where no open passage leads that way, the player stays, and the move counts.

    Success is to reach the goal within the budget, in `explore` three targets within the budget of each. The events of
    a turn are its `moves`, how many of them led nowhere (`blocked`) or away from the target (`away`), and whether it
    has `arrived` at a target or found a passage `closed`. A turn that reads a part of a story has its number, `part`.
    Each turn has the `condition`.
    """

    properties = GameProperties(deterministic=True, turns=None)

    def __init__(self, condition: Condition) -> None:
        self._condition = condition

    def start(self, instance: World) -> Walk:
        condition = self._condition
        closed = int(prove(instance)["closed"]) if condition.announces else -1
        budget = first_leg_budget(instance, condition)
        return Walk(instance, condition, (instance.start,), int(condition.parts), 0, budget, closed)

    def legal(self, state: Walk) -> Sequence[Moves]:
        """Return each direction, with or without a passage: moves that lead nowhere count like others."""
        if self.terminal(state) is not None:
            return ()
        return ((),) if state.is_reading_story else tuple((direction,) for direction in DIRECTIONS)

    def apply(self, state: Walk, action: Moves, rng: Stream) -> Transition[Walk]:
        if state.is_reading_story:
            part_events: dict[str, Json] = {"condition": state.condition.name, "part": state.part}
            return Transition(state._replace(part=state.part + 1), events=part_events)
        if self._condition.steps:
            action = action[:1]
        state_before, counts = state, {"moves": 0, "blocked": 0, "away": 0}
        for direction in action:
            if self.terminal(state) is not None:
                break
            state, effect = self.make_move(state, direction)
            counts["moves"] += 1
            if effect:
                counts[effect] += 1
        if not self._condition.steps:
            state = state._replace(moves_left=0)  # the route is all that is asked for
        events: dict[str, Json] = {
            "condition": state.condition.name,
            **counts,
            "arrived": state.targets_reached > state_before.targets_reached,
            "closed": state.closed != state_before.closed,
        }
        solved = self.terminal(state) is End.SOLVED
        moved = counts["moves"] > counts["blocked"]
        return Transition(state, float(solved), events, Outcome.OK if moved or solved else Outcome.UNPRODUCTIVE)

    def make_move(self, state: Walk, direction: str) -> tuple[Walk, str]:
        """Return the state after a move, and its effect: "blocked", "away" from the target, or ""."""
        plan, place = state.plan, state.place
        number = plan.exits[place].get(direction)
        after, closed = place, state.closed
        if number is not None and number != closed:  # an open passage leads that way
            after = plan.passages[number].other_end(place)
            closure = prove(state.world)["closure"]
            meets_closure = plan.to_goal[place] == closure and plan.to_goal[after] == closure - 1
            if self._condition.closes and closed < 0 and meets_closure:
                after, closed = place, number
        next_state = state._replace(trail=(*state.trail, after), moves_left=state.moves_left - 1, closed=closed)
        if after == place:
            effect = "" if closed != state.closed else "blocked"
        else:
            effect = "away" if leads_away_from_target(state, after) else ""
        return (self._start_next_leg(next_state) if after == state.target else next_state), effect

    def _start_next_leg(self, state: Walk) -> Walk:
        """Return the state at the start of the next leg: twice the shortest way over crossed passages are left."""
        state = state._replace(targets_reached=state.targets_reached + 1)
        if not self._condition.explores:
            return state
        known = crossed_passages(state.plan, state.trail)
        shortest = state.plan.distances(state.target, known=known)[state.place]
        return state._replace(moves_left=2 * shortest if shortest > 0 else state.world.exploration)

    def terminal(self, state: Walk) -> End | None:
        if state.targets_reached == self._condition.targets:
            return End.SOLVED
        return None if state.moves_left > 0 else End.FAILED

    def forfeit(self, state: Walk) -> Walk:
        """Count an invalid reply as a move that leads nowhere, or end on an invalid route; a story goes on."""
        if state.is_reading_story:
            return state._replace(part=state.part + 1)
        if self._condition.steps:
            return state._replace(trail=(*state.trail, state.place), moves_left=state.moves_left - 1)
        return state._replace(moves_left=0)

    def encode(self, action: Moves) -> Json:
        return list(action)

    def decode(self, action: Json) -> Moves:
        if not is_array(action) or len(action) > MOST_MOVES or not all(name in DIRECTIONS for name in map(str, action)):
            raise DataError(f"action: give a list of at most {MOST_MOVES} of {', '.join(DIRECTIONS)}")
        if not all(isinstance(name, str) for name in action):
            raise DataError("action: directions are texts")
        return tuple(action)

    def perturb(self, state: Walk, action: Moves, rate: float, rng: Stream) -> Moves:
        names = tuple(DIRECTIONS)
        return tuple(rng.choice(names) if rng.random() < rate else name for name in action)


def leads_away_from_target(state: Walk, after: int) -> bool:
    """Return whether a move to the place `after` leads no nearer to the target, by what the player can know.

    In `explore` it knows nothing on the first leg, so that no move leads away, and later the passages that it crossed.
    """
    if not state.condition.explores:
        distances = _cached_distances(state.world, state.target, state.closed)
    elif state.targets_reached == 0:
        return False
    else:
        distances = state.plan.distances(state.target, known=crossed_passages(state.plan, state.trail))
    return distances[after] < 0 or distances[after] >= distances[state.place] >= 0


@lru_cache(maxsize=512)
def _cached_distances(world: World, target: int, closed: int) -> list[int]:
    """Return the number of moves from each place to a target (cached); -1 where there is no way."""
    return plan_of(world).distances(target, closed)


def shortest_way_to_target(state: Walk) -> list[str]:
    """Return the moves of a shortest way to the target of this leg, over passages that are open."""
    distances = _cached_distances(state.world, state.target, state.closed)
    return state.plan.route(state.place, distances, state.closed)

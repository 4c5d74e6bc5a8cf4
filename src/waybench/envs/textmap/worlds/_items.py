"""Walkthroughs of text worlds, the maps learned from them, and generated sets of questions about them."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Protocol, TypeVar

from waybench.core import Item, Json, Option, Source, Stream, UsageError, number_option
from waybench.envs.textmap._instances import MapInstance
from waybench.envs.textmap._place_map import NEVER, Move, PlaceMap, Traversal, WalkthroughStep, edges_of_traversals
from waybench.envs.textmap._prefix import with_machine_ids
from waybench.envs.textmap.worlds._data import (
    DIRECTIONS,
    EXITS,
    LEAST_PLACES,
    Exit,
    TextWorld,
    WorldStyle,
    opposite_action,
)
from waybench.envs.textmap.worlds._play import CommandResult, WorldEngine
from waybench.envs.textmap.worlds._world import make_world

VERSION = 1  # of the generator; part of every item's key
LOWEST_LEVEL, HIGHEST_LEVEL = LEAST_PLACES, 400  # numbers of places
LOWEST_CLASS, HIGHEST_CLASS = 1, 7
MOST_STEPS = 5_000  # fewer than the number that stands for "never"
_LONGEST_TRIP = 4  # moves away from the route before turning back
_MOST_EXTRA_WORLDS = 1_000  # to try if a world has too few instances
_MOST_EMPTY_WORLDS = 30  # consecutive worlds without instances before giving up
_LAMP_SPARE = 6  # spare steps from which the lamp may be put out, since it has to be lit again
IDLE = ("wait", "listen", "smell", "look", "inventory", "jump")

T = TypeVar("T")
M = TypeVar("M", bound=MapInstance)
Q = TypeVar("Q", bound=MapInstance, covariant=True)
CutoffFunction = Callable[[PlaceMap], int]  # map -> last step that is shown


def draw_walkthrough(
    engine: WorldEngine, rng: Stream, steps: int, *, visit_all: bool = False
) -> tuple[tuple[str, CommandResult], ...]:
    """Generate a walkthrough of a world: its opening as "Init", and `steps` commands with their results.

    It visits all places if the number of steps suffices; with `visit_all`, steps are added, up to `MOST_STEPS`, if it
    does not. The other steps are detours and commands without effect, such as looking, waiting and blocked moves. Some
    exits are never taken. After entering a dark place without a light, the player lights the lamp before leaving.
    """
    if not 1 <= steps <= MOST_STEPS:
        raise UsageError(f"steps is {steps}: give a number of steps from 1 to {MOST_STEPS}")
    return tuple(_Walker(engine, rng, steps).make_walkthrough(visit_all))


def _path_to_nearest(
    exits_of: Callable[[int], Iterable[Exit]], start: int, is_target: Callable[[int], bool]
) -> list[Exit]:
    """Return a shortest path from a place to a different place that is a target; empty if there is none."""
    arrivals: dict[int, Exit | None] = {start: None}  # place -> the exit that reaches it first
    queue = deque([start])
    while queue:
        for exit_ in exits_of(queue.popleft()):
            if exit_.target in arrivals:
                continue
            arrivals[exit_.target] = exit_
            if is_target(exit_.target):
                reversed_path = [exit_]
                while (arrival := arrivals[reversed_path[-1].source]) is not None:
                    reversed_path.append(arrival)
                return reversed_path[::-1]
            queue.append(exit_.target)
    return []


class _Walker:
    """Generator of one walkthrough."""

    def __init__(self, engine: WorldEngine, rng: Stream, steps: int) -> None:
        self._engine, self._rng, self._limit = engine, rng, steps
        self._world = world = engine.world
        self._exits: list[list[Exit]] = [[] for _ in world.places]  # of each place
        for exit_ in world.exits:
            self._exits[exit_.source].append(exit_)
        for exits in self._exits:
            rng.shuffle(exits)
        result = self._engine.begin()
        self._now = result.after
        self._visited = {self._now.place}
        self._turns = [("Init", result)]
        self._route = self._find_route()
        self._n_route_moves_left = len(self._route)
        # Bit mask of the doors on the route.
        self._route_doors = sum(1 << door for door in {exit_.door for exit_ in self._route} if door is not None)
        unused_exits = self._choose_unused_exits()
        self._detour_exits = [[exit_ for exit_ in exits if exit_ not in unused_exits] for exits in self._exits]

    def make_walkthrough(self, visit_all: bool) -> list[tuple[str, CommandResult]]:
        """Make all steps, and more if needed to visit all places; return the commands with their results."""
        if visit_all and self._spare_steps < 0:
            self._limit = min(self._limit - self._spare_steps, MOST_STEPS)
        for exit_ in self._route:
            self._take_lamp()
            # On average, spare steps are spread evenly over the stops left: `share` each, and one more at `extra`.
            n_stops = self._n_route_moves_left + 1
            share, extra = divmod(max(0, self._spare_steps), n_stops)
            self._make_detours(self._rng.below(2 * share + 1) + (self._rng.below(n_stops) < extra))
            self._make_route_move(exit_)
            self._n_route_moves_left -= 1
        self._take_lamp()
        self._make_detours(self._steps_left)
        return self._turns

    def _find_route(self) -> list[Exit]:
        """Return a route to every place: first to the lamp, then always to the nearest new place."""
        place, visited = self._now.place, {self._now.place}
        route: list[Exit] = []
        lamp_place = self._world.things[self._world.lamp].place if self._world.lamp >= 0 else -1
        if lamp_place not in (-1, place):  # a lamp that is not carried lies at the first place or at a neighbour
            exits_to_lamp = (exit_ for exit_ in self._exits[place] if exit_.target == lamp_place and exit_.door is None)
            route = [next(exits_to_lamp)]
            visited.add(lamp_place)
        while len(visited) < len(self._world.places):
            place = route[-1].target if route else place
            route += _path_to_nearest(self._exits.__getitem__, place, lambda target: target not in visited)
            visited.add(route[-1].target)
        return route

    def _choose_unused_exits(self) -> set[Exit]:
        """Draw the exits that are never taken: half of the exits that the route does not use."""
        route = set(self._route)
        candidates = [exit_ for exits in self._exits for exit_ in exits if exit_ not in route]
        self._rng.shuffle(candidates)
        # Keep one exit of the last place usable, so that detours are possible there.
        kept_exit = next((exit_ for exit_ in candidates if exit_.source == self._route[-1].target), None)
        candidates.sort(key=lambda exit_: exit_ is kept_exit)
        return set(candidates[: (len(candidates) + 1) // 2])

    @property
    def _steps_left(self) -> int:
        """Number of remaining steps."""
        return self._limit + 1 - len(self._turns)

    @property
    def _spare_steps(self) -> int:
        """Number of steps that the route does not need; negative if the route is too long."""
        n_closed_doors = (self._route_doors & ~self._now.opened).bit_count()
        lamp = self._world.lamp
        # Taking the lamp and lighting it.
        n_lamp_commands = 0 if lamp < 0 else (not self._now.lit) + (not self._now.taken >> lamp & 1)
        return self._steps_left - self._n_route_moves_left - n_closed_doors - n_lamp_commands

    def _execute(self, action: str) -> None:
        """Execute a command, if there are steps left."""
        if self._steps_left:
            result = self._engine.act(self._now, action)
            self._now = result.after
            self._visited.add(self._now.place)
            self._turns.append((action, result))

    def _take_lamp(self) -> None:
        """Take the lamp, if it is here."""
        lamp = self._world.lamp
        if lamp >= 0 and self._world.things[lamp].place == self._now.place and not self._now.taken >> lamp & 1:
            self._execute(f"take {self._world.things[lamp].name}")

    def _make_route_move(self, exit_: Exit) -> None:
        """Make a move of the route, with the commands that it needs."""
        if exit_.door is not None and not self._now.opened >> exit_.door & 1:
            if self._spare_steps > 0 and self._rng.below(3) == 0:
                self._execute(exit_.action)  # finds the door closed
            self._execute(f"open {self._world.doors[exit_.door]}")
        lamp = self._world.things[self._world.lamp].name if self._world.lamp >= 0 else ""
        unlit = self._world.places[exit_.target].dark and not self._now.lit
        if unlit and (self._steps_left < 2 or self._rng.below(4) == 0):
            self._execute(f"light {lamp}")
        self._execute(exit_.action)
        if self._engine.dark(self._now):
            for _ in range(min(self._rng.below(3), max(0, self._spare_steps))):
                self._execute(self._random_command_without_move())
            self._execute(f"light {lamp}")
        elif self._now.lit and self._spare_steps >= _LAMP_SPARE and self._rng.below(2):
            self._execute(f"extinguish {lamp}")  # so that the next dark place is dark again

    def _make_detours(self, count: int) -> None:
        """Make about `count` steps off the route, and no more than the spare steps."""
        n_turns = len(self._turns) + count
        while len(self._turns) < n_turns and self._spare_steps > 0:
            if self._rng.below(2) or not self._make_round_trip():
                self._execute(self._random_command_without_move())

    def _exits_for_detours(self, place: int) -> list[Exit]:
        """Return the exits that a detour can take: to visited places, not into the dark, without closed doors."""
        return [
            exit_
            for exit_ in self._detour_exits[place]
            if exit_.target in self._visited
            and (self._now.lit or not self._world.places[exit_.target].dark)
            and (exit_.door is None or self._now.opened >> exit_.door & 1)
        ]

    def _make_round_trip(self) -> bool:
        """Make a round trip from the current place and back to it; return whether that was possible."""
        start = place = self._now.place
        trip: list[Exit] = []
        for _ in range(1 + self._rng.below(_LONGEST_TRIP)):
            exits = self._exits_for_detours(place)
            if not exits:
                break
            trip.append(self._rng.choice(exits))
            place = trip[-1].target
        if place != start:
            path_back = _path_to_nearest(self._exits_for_detours, place, lambda target: target == start)
            if not path_back:
                return False
            trip += path_back
        if not trip or len(trip) > self._spare_steps:
            return False
        for exit_ in trip:
            self._execute(exit_.action)
        return True

    def _random_command_without_move(self) -> str:
        """Return a command that leads nowhere."""
        draw = self._rng.below(10)  # of 10: 4 about a thing, 1 about a door, 2 blocked moves, 3 idle
        things = [] if self._engine.dark(self._now) else self._engine.names_of_things_here(self._now)
        exits = self._exits[self._now.place]
        doors = [exit_.door for exit_ in exits if exit_.door is not None]
        if draw < 4 and things:
            thing = self._rng.choice(things)
            return f"{self._rng.choice(('examine', 'examine', 'take', 'search'))} {thing}"
        if draw == 4 and doors:
            return f"open {self._world.doors[self._rng.choice(doors)]}"
        if draw < 7:
            actions = {exit_.action for exit_ in exits}
            blocked_directions = [direction for direction in DIRECTIONS if direction not in actions]
            if blocked_directions:
                return self._rng.choice(blocked_directions)
        return self._rng.choice(IDLE)


def learn_map(engine: WorldEngine, turns: Sequence[tuple[str, CommandResult]]) -> PlaceMap:
    """Return the map that can be learned from a walkthrough of a world, by `draw_walkthrough`.

    After each move that has an opposite, such as "north" or "enter hut", the opposite is tried; if it leads back, the
    map has it as a move that can be inferred. Names are in lower case, as in the published maps. Places and actions are
    in random order, so that the order gives no information.
    """
    names = [place.name.lower() for place in engine.world.places]
    (_, opening), *later_turns = turns
    now, named_at = opening.after, [0 if opening.shows_name else NEVER]  # the step that names the place of each stay
    places = {names[now.place]}
    traversals: list[Traversal] = []
    inferred: dict[Move, int] = {}
    tried_moves: set[Move] = set()
    for number, (action, result) in enumerate(later_turns, 1):
        before, now = now, result.after
        if now.place != before.place:
            source, target = names[before.place], names[now.place]
            move = (source, action, target)
            traversals.append(Traversal(number, move, (len(named_at) - 1, len(named_at))))
            named_at.append(NEVER)
            places.add(target)
            opposite = None if move in tried_moves else opposite_action(action)
            tried_moves.add(move)
            if opposite is not None and engine.place_after_move(now, opposite) == before.place:
                inferred[target, opposite, source] = len(traversals) - 1
        if result.shows_name:
            named_at[-1] = min(named_at[-1], number)
    edges = edges_of_traversals(traversals, named_at, inferred)
    rng = Stream("textmap/order", engine.world.seed)
    place_names = sorted(places)
    actions = sorted({edge.action for edge in edges})
    rng.shuffle(place_names)
    rng.shuffle(actions)
    steps = [WalkthroughStep(number, action, result.text) for number, (action, result) in enumerate(turns)]
    return PlaceMap(engine.world.name, tuple(place_names), tuple(actions), edges, tuple(steps))


def _share_option(name: str, doc: str) -> Option:
    """Return an option from 0 to 1 that is drawn by default."""
    return Option(name=name, default=None, kind=float, low=0, high=1, doc=f"{doc} By default drawn for each world.")


WORLD_OPTIONS = (
    _share_option("one_way", "Share of links between places whose opposite move does not lead back."),
    _share_option("doors", "Share of links with a door, which starts closed."),
    _share_option("dark", "Share of dark places, whose name needs a lamp to be seen."),
    _share_option("special", "Share of links without a direction, such as entering, climbing or crawling."),
    _share_option("confusable", "Share of places with a name similar to another place's."),
    number_option(
        "prose",
        0,
        3,
        "Length of descriptions, from 0 (names alone) to 3 (long descriptions that distract); by default drawn.",
    ),
    Option(
        name="exits",
        default="any",
        choices=("any", *EXITS),
        doc="Description of exits; any draws one for each world.",
    ),
    number_option(
        "steps",
        1,
        MOST_STEPS,
        "Length of the walkthrough in steps; by default about 2.5 times the number of places, at least 20, and "
        "enough to visit them all. A shorter one shows fewer places, and the item's level is that of the map shown.",
    ),
)
# Values that options are drawn from if they are not given; shares are in percent.
_DEFAULTS = {
    "one_way": (0, 5, 5, 10, 10, 15, 20, 30),
    "doors": (0, 5, 10, 10, 15, 20),
    "dark": (0, 0, 5, 10, 10, 15, 25),
    "special": (0, 5, 10, 10, 15, 20, 30),
    "confusable": (0, 0, 10, 20, 30, 50),
    "prose": (0, 1, 1, 1, 2, 2, 2, 2, 3, 3),
}


def world_item(key: str, level: int, options: Mapping[str, Json], index: int) -> tuple[PlaceMap, TextWorld]:
    """Generate a world with `level` places and the map of a walkthrough of it; `options` has all `WORLD_OPTIONS`."""
    if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
        raise UsageError(f"level {level}: give a number of places from {LOWEST_LEVEL} to {HIGHEST_LEVEL}")
    option_texts = [f"{option.name}={options[option.name]!r}" for option in WORLD_OPTIONS]
    rng = Stream("textmap/world", VERSION, key, level, *option_texts, index)
    # Defaults are always drawn, so that options do not change the rest of the world.
    defaults = {name: rng.choice(values) for name, values in _DEFAULTS.items()}
    exits, brief = rng.choice(("list", "none", "prose", "prose")), rng.below(2) == 1
    shares = {name: _value_or_default(options[name], defaults[name] / 100) for name in _DEFAULTS if name != "prose"}
    prose = _value_or_default(options["prose"], defaults["prose"])
    exits = exits if options["exits"] == "any" else str(options["exits"])
    style = WorldStyle(places=level, **shares, prose=prose, exits=exits, brief=brief)
    default_steps = max(20, level * (230 + rng.below(41)) // 100)  # 2.3 to 2.7 times the number of places
    engine = WorldEngine(make_world(rng, style, f"{level}-{index}"))
    n_steps = _value_or_default(options["steps"], default_steps)
    turns = draw_walkthrough(engine, rng, n_steps, visit_all=options["steps"] is None)
    return learn_map(engine, turns), engine.world


def _value_or_default(value: Json, default: T) -> T:
    """Return a value if it has the type of the default, otherwise the default."""
    return value if isinstance(value, type(default)) else default


class Ask(Protocol[Q]):
    """A function that makes the instances about one map."""

    def __call__(
        self,
        place_map: PlaceMap,
        cutoff: int,
        count: int,
        stream: Stream,
        options: Mapping[str, Any],
        world: TextWorld | None,
        /,
    ) -> Sequence[Q]:
        """Return at most `count` instances about a map; `world` is its generated world, if any."""
        ...


class WorldItems(Source[M]):
    """Instances about worlds generated by key.

    Worlds of level k have at least 2 ** (k + 1) and fewer than 2 ** (k + 2) places. `options` has a value for each of
    `WORLD_OPTIONS`, "prefix_steps", "questions", and what `ask` needs; `purpose` begins the keys of the random streams
    for `ask`. `cutoff` returns the last step that is shown of a map; None for "prefix_steps". A world is one item for
    each question, or with `is_one_item` one with all questions.
    """

    def __init__(
        self,
        key: str,
        level: int,
        options: Mapping[str, Json],
        cutoff: CutoffFunction | None,
        *,
        ask: Ask[M],
        purpose: tuple[str, ...],
        prove: Callable[[M], Mapping[str, Json]],
        is_one_item: bool = False,
    ) -> None:
        if not LOWEST_CLASS <= level <= HIGHEST_CLASS:
            raise UsageError(f"level {level}: give a size class from {LOWEST_CLASS} to {HIGHEST_CLASS}")
        self._key, self._level, self._prove = key, level, prove
        self._items_per_world = 1 if is_one_item else int(options["questions"])
        cutoff_function = cutoff or _cutoff_by_steps(options["prefix_steps"])
        self._instances: Callable[[int, int], Sequence[M]] = partial(
            _cached_instances, ask, purpose, cutoff_function, key, level, tuple(options.items())
        )

    def item(self, index: int) -> Item[M]:
        """Return the item with this number; a UsageError if worlds with these options have too few instances."""
        world, number = divmod(index, self._items_per_world)
        instances = self._instances(world, 0)
        n_extra = n_empty = 0
        # A small world can have fewer questions than required; additional worlds supply the rest.
        while number >= len(instances):
            number -= len(instances)
            n_extra += 1
            n_empty = 0 if instances else n_empty + 1
            if n_extra > _MOST_EXTRA_WORLDS or n_empty > _MOST_EMPTY_WORLDS:
                raise UsageError(f"level {self._level}: these worlds have no such question; change their options")
            instances = self._instances(world, n_extra)
        instance = instances[number]
        name = f"{self._level}-{index}"
        return Item(instance, name, instance.level, self._key, index, self._prove(instance))


@lru_cache(maxsize=96)  # in training, an item is played by a group of episodes, each with a source of its own
def _cached_instances(
    ask: Ask[Any],
    purpose: tuple[str, ...],
    cutoff: CutoffFunction,
    key: str,
    level: int,
    options: tuple[tuple[str, Json], ...],
    index: int,
    extra: int,
) -> Sequence[Any]:
    """Return the instances about a world of a set, or about an additional world in place of it (`extra` above 0)."""
    settings = dict(options)
    place_map, world = draw_world(key, level, settings, index, extra)
    stream = Stream(*purpose, key, level, index, extra)
    return ask(place_map, cutoff(place_map), int(settings["questions"]), stream, settings, world)


def draw_world(key: str, level: int, options: Mapping[str, Json], index: int, extra: int) -> tuple[PlaceMap, TextWorld]:
    """Generate a world of a set and its map; `extra` above 0 is the number of an additional world in place of it.

    `options` has a value for each of `WORLD_OPTIONS`, and perhaps "names".
    """
    rng = Stream("textmap/size", key, level, index, extra)
    least = 2 << level
    n_places = least + rng.below(min(2 * least, HIGHEST_LEVEL + 1) - least)
    world_options = {option.name: options[option.name] for option in WORLD_OPTIONS}
    # The number of an additional world is beyond those of the set.
    place_map, world = world_item(key, n_places, world_options, index + (extra << 32))
    if options.get("names", "plain") == "plain":
        return place_map, world
    numbers = list(range(1, 4 * len(world.places)))  # more than there are places, so that they do not tell how many
    rng.shuffle(numbers)
    ids = {place: f"obj{number}" for place, number in zip(place_map.places, numbers, strict=False)}
    return with_machine_ids(place_map, ids), world


@lru_cache(maxsize=64)
def _cutoff_by_steps(steps: int | None) -> CutoffFunction:
    """Return the function from a map to its last shown step for a number of steps; None for all."""
    return lambda place_map: place_map.last_step if steps is None else min(int(steps), place_map.last_step)

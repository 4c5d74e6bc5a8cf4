"""Walkthroughs of text worlds, and the maps learned from them."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from waybench.core import Stream, UsageError
from waybench.envs.textmap.map import NEVER, Move, PlaceMap, Step, Traversal, edges_of_traversals
from waybench.envs.textmap.worlds._data import DIRECTIONS, Exit, opposite
from waybench.envs.textmap.worlds._play import Play, Turn

MOST_STEPS = 5_000  # fewer than the number that stands for "never"

_LONGEST_TRIP = 4  # moves away from the route before turning back
IDLE = ("wait", "listen", "smell", "look", "inventory", "jump")


def walk(play: Play, rng: Stream, steps: int, *, visit_all: bool = False) -> tuple[tuple[str, Turn], ...]:
    """Generate a walkthrough of a world.

    It visits all places if the number of steps suffices. The other steps are detours and commands without effect, such
    as looking, waiting and blocked moves. Some exits are never taken. After entering a dark place without a light, the
    player lights the lamp before leaving.

    Args:
        play: The world's engine.
        rng: Random stream.
        steps: Number of steps after the first, which has the number 0.
        visit_all: Whether to add steps, up to `MOST_STEPS`, if they do not suffice for all places.

    Returns:
        Each command with its result; the opening is that of "Init".

    Raises:
        UsageError: If the number of steps is not from 1 to `MOST_STEPS`.
    """
    if not 1 <= steps <= MOST_STEPS:
        raise UsageError(f"steps is {steps}: give a number of steps from 1 to {MOST_STEPS}")
    walker = _Walker(play, rng, steps)
    walker.walk(visit_all)
    return tuple(walker.turns)


def _nearest(ways: Callable[[int], Iterable[Exit]], begin: int, is_target: Callable[[int], bool]) -> list[Exit]:
    """Return a shortest path from a place to a different place that is a target; empty if there is none."""
    arrivals: dict[int, Exit | None] = {begin: None}
    queue = deque([begin])
    while queue:
        for way in ways(queue.popleft()):
            if way.target in arrivals:
                continue
            arrivals[way.target] = way
            if is_target(way.target):
                path = [way]
                while (last := arrivals[path[-1].source]) is not None:
                    path.append(last)
                return path[::-1]
            queue.append(way.target)
    return []


class _Walker:
    """Generator of one walkthrough.

    Args:
        play: The world's engine.
        rng: Random stream.
        steps: Number of steps.
    """

    def __init__(self, play: Play, rng: Stream, steps: int) -> None:
        self._play, self._rng, self._limit = play, rng, steps
        self._world = world = play.world
        self._ways: list[list[Exit]] = [[] for _ in world.places]
        for way in world.exits:
            self._ways[way.source].append(way)
        for ways in self._ways:
            rng.shuffle(ways)
        turn = self._play.begin()
        self._now = turn.after
        self._visited = {self._now.place}
        self.turns = [("Init", turn)]
        self._route = self._find_route()
        self._ahead = len(self._route)  # remaining moves of the route
        # Bit mask of the doors on the route.
        self._doors = sum(1 << door for door in {way.door for way in self._route} if door is not None)
        unused = self._choose_unused_exits()
        self._detours = [[way for way in ways if way not in unused] for ways in self._ways]

    def walk(self, whole: bool) -> None:
        """Make all steps, and more if needed to visit all places."""
        if whole and self._spare < 0:
            self._limit = min(self._limit - self._spare, MOST_STEPS)
        for way in self._route:
            self._take_lamp()
            share, rest = divmod(max(0, self._spare), self._ahead + 1)
            self._stray(self._rng.below(2 * share + 1) + (self._rng.below(self._ahead + 1) < rest))
            self._go(way)
            self._ahead -= 1
        self._take_lamp()
        self._stray(self._steps_left)

    def _find_route(self) -> list[Exit]:
        """Return a route to every place: first to the lamp, then always to the nearest new place."""
        place, visited = self._now.place, {self._now.place}
        route: list[Exit] = []
        lamp = self._world.things[self._world.lamp].place if self._world.lamp >= 0 else -1
        if lamp not in (-1, place):
            route = [next(way for way in self._ways[place] if way.target == lamp and way.door is None)]
            visited.add(lamp)
        while len(visited) < len(self._world.places):
            place = route[-1].target if route else place
            route += _nearest(self._ways.__getitem__, place, lambda target: target not in visited)
            visited.add(route[-1].target)
        return route

    def _choose_unused_exits(self) -> set[Exit]:
        """Draw the exits that are never taken, among those that the route does not use."""
        route = set(self._route)
        unused = [way for ways in self._ways for way in ways if way not in route]
        self._rng.shuffle(unused)
        # Keep one exit of the last place usable, so that detours are possible there.
        last = next((way for way in unused if way.source == self._route[-1].target), None)
        unused.sort(key=lambda way: way is last)
        return set(unused[: (len(unused) + 1) // 2])

    @property
    def _steps_left(self) -> int:
        """Number of remaining steps."""
        return self._limit + 1 - len(self.turns)

    @property
    def _spare(self) -> int:
        """Number of steps that the route does not need; negative if the route is too long."""
        closed = (self._doors & ~self._now.opened).bit_count()
        lamp = self._world.lamp
        light = 0 if lamp < 0 else (not self._now.lit) + (not self._now.taken >> lamp & 1)
        return self._steps_left - self._ahead - closed - light

    def _do(self, action: str) -> None:
        if self._steps_left:
            turn = self._play.act(self._now, action)
            self._now = turn.after
            self._visited.add(self._now.place)
            self.turns.append((action, turn))

    def _take_lamp(self) -> None:
        lamp = self._world.lamp
        if lamp >= 0 and self._world.things[lamp].place == self._now.place and not self._now.taken >> lamp & 1:
            self._do(f"take {self._world.things[lamp].name}")

    def _go(self, way: Exit) -> None:
        """Make a move of the route, with the commands that it needs."""
        if way.door is not None and not self._now.opened >> way.door & 1:
            if self._spare > 0 and self._rng.below(3) == 0:
                self._do(way.action)  # finds the door closed
            self._do(f"open {self._world.doors[way.door]}")
        lamp = self._world.things[self._world.lamp].name if self._world.lamp >= 0 else ""
        unlit = self._world.places[way.target].dark and not self._now.lit
        if unlit and (self._steps_left < 2 or self._rng.below(4) == 0):
            self._do(f"light {lamp}")
        self._do(way.action)
        if self._play.dark(self._now):
            for _ in range(min(self._rng.below(3), max(0, self._spare))):
                self._do(self._idle())
            self._do(f"light {lamp}")
        elif self._now.lit and self._spare >= 6 and self._rng.below(2):
            self._do(f"extinguish {lamp}")  # so that the next dark place is dark again

    def _stray(self, count: int) -> None:
        """Make about `count` steps that the route does not need, and no more than are spare."""
        end = len(self.turns) + count
        while len(self.turns) < end and self._spare > 0:
            if self._rng.below(2) or not self._trip():
                self._do(self._idle())

    def _usable(self, place: int) -> list[Exit]:
        """Return the exits that a detour can take: to visited places, not into the dark, without closed doors."""
        return [
            way
            for way in self._detours[place]
            if way.target in self._visited
            and (self._now.lit or not self._world.places[way.target].dark)
            and (way.door is None or self._now.opened >> way.door & 1)
        ]

    def _trip(self) -> bool:
        """Make a round trip; return whether that was possible."""
        home = place = self._now.place
        out: list[Exit] = []
        for _ in range(1 + self._rng.below(_LONGEST_TRIP)):
            ways = self._usable(place)
            if not ways:
                break
            out.append(self._rng.choice(ways))
            place = out[-1].target
        back = [] if place == home else _nearest(self._usable, place, lambda target: target == home)
        if not out or len(out) + len(back) > self._spare or (place != home and not back):
            return False
        for way in out + back:
            self._do(way.action)
        return True

    def _idle(self) -> str:
        """Return a command that leads nowhere."""
        draw = self._rng.below(10)
        things = [] if self._play.dark(self._now) else self._play.here(self._now)
        doors = [way.door for way in self._ways[self._now.place] if way.door is not None]
        if draw < 4 and things:
            thing = self._rng.choice(things)
            return f"{self._rng.choice(('examine', 'examine', 'take', 'search'))} {thing}"
        if draw == 4 and doors:
            return f"open {self._world.doors[self._rng.choice(doors)]}"
        if draw < 7:
            ways = {way.action for way in self._ways[self._now.place]}
            blocked = [direction for direction in DIRECTIONS if direction not in ways]
            if blocked:
                return self._rng.choice(blocked)
        return self._rng.choice(IDLE)


def learn_map(play: Play, turns: Sequence[tuple[str, Turn]]) -> PlaceMap:
    """Return the map that can be learned from a walkthrough of a world.

    After each move that has an opposite, such as "north" or "enter hut", the opposite is tried, and only if it leads
    back, the map has it as a move that can be inferred. Names are in lower case, as in the published maps. Places and
    actions are in random order, so that the order gives no information.

    Args:
        play: The world's engine.
        turns: The walkthrough: each command with its result, the opening as that of "Init".
    """
    traversals, named_at, places, inferred = _moves(play, turns)
    edges = edges_of_traversals(traversals, named_at, inferred)
    rng = Stream("textmap/order", play.world.seed)
    place_names = sorted(places)
    actions = sorted({edge.action for edge in edges})
    rng.shuffle(place_names)
    rng.shuffle(actions)
    steps = [Step(number, action, turn.text) for number, (action, turn) in enumerate(turns)]
    return PlaceMap(play.world.name, tuple(place_names), tuple(actions), edges, tuple(steps))


def _moves(
    play: Play, turns: Sequence[tuple[str, Turn]]
) -> tuple[list[Traversal], list[int], set[str], dict[Move, int]]:
    """Return what a walkthrough shows of the map.

    Returns:
        The moves; the step at which the name of the place is shown for each stay; the places; and the inferred moves,
        each with the number of the move that it is inferred from.
    """
    turn, names = turns[0][1], [place.name.lower() for place in play.world.places]
    now, named_at, places = turn.after, [0 if turn.shows_name else NEVER], {names[turn.after.place]}
    traversals: list[Traversal] = []
    inferred: dict[Move, int] = {}
    tried_moves: set[Move] = set()
    for number, (action, turn) in enumerate(turns[1:], 1):
        before, now = now, turn.after
        if now.place != before.place:
            source, target = names[before.place], names[now.place]
            move = (source, action, target)
            traversals.append(Traversal(number, move, (len(named_at) - 1, len(named_at))))
            named_at.append(NEVER)
            places.add(target)
            back = None if move in tried_moves else opposite(action)
            tried_moves.add(move)
            if back is not None and play.leads_to(now, back) == before.place:
                inferred[target, back, source] = len(traversals) - 1
        if turn.shows_name:
            named_at[-1] = min(named_at[-1], number)
    return traversals, named_at, places, inferred

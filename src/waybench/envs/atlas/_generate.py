"""Worlds by key: their passages, a start and a goal that luck seldom joins, a story, and the budget of exploring."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, permutations, product
from math import ceil, sqrt

from waybench.core import Json, KeyedSource, Stream, number_option
from waybench.envs.atlas._world import (
    DIRECTIONS,
    MOST_PLACES,
    Plan,
    World,
    draw_names,
    prove,
    random_walk_success,
)

SAMPLE_LEVELS = (3, 4, 6)
LADDER = (3, 4, 6, 8, 11, 14, 18, 24)
HIGHEST_LEVEL = 36
OPTIONS = (
    number_option(
        "places", 12, MOST_PLACES, "Number of places; by default four for each move of the shortest route, and 8."
    ),
)

_FILLED = 0.55  # share of the box's cells that are places
_PAIRS, _STORIES, _EXPLORATIONS, _RANDOM_TIES = 40, 40, 30, 40  # how many are tried for each world
_LOOPS, _LOOPS_OF_LONG_ROUTES, _LONG_ROUTE = 0.25, 0.2, 18  # loops for each place, and from 18 moves on
_LEAST_LOOP = 5  # moves between two places that a loop links
_ONE_WAY = 0.08  # share of the passages
_LEAST_DECOYS = 3  # places like the goal, about as far from the start
_BUDGET_RUN = 28  # of the sorted explorations, from 0: the moves of the 29th of 30 are the budget
# Level from which they hold -> most success of a random walk, and least share of greedy walks that fail.
_LUCK = ((6, 0.05, 0.95), (4, 0.12, 0.8), (3, 1.0, 0.0))
_ORDERS = tuple(permutations(DIRECTIONS))

Cell = tuple[int, int]
Passages = list[tuple[int, int, bool]]


def draw_world(rng: Stream, level: int, places: int) -> World:
    """Draw a world with a number of places, in which the shortest route has `level` moves."""
    while True:
        cells, passages = _draw_cells_and_passages(rng, level, places)
        plan = _draw_start_and_goal(rng, cells, passages, level)
        if plan is not None:
            break
    left, top = min(x for x, _ in cells), min(y for _, y in cells)
    lengths = sorted(_draw_exploration_length(plan, rng) for _ in range(_EXPLORATIONS))
    return World(
        names=draw_names(places, rng),
        cells=tuple((x - left, y - top) for x, y in cells),
        passages=tuple(passages),
        start=plan.start,
        goal=plan.goal,
        story=_draw_story(rng, plan, level),
        exploration=lengths[_BUDGET_RUN],
    )


def _draw_cells_and_passages(rng: Stream, level: int, places: int) -> tuple[list[Cell], Passages]:
    """Draw the cells of places and the passages between them: a tree, loops, and passages that lead one way only."""
    side = ceil(sqrt(places / _FILLED))
    cells: list[Cell] = []
    place_by_cell: dict[Cell, int] = {}
    free_cells_beside: list[list[Cell]] = []  # by place

    def add_place(cell: Cell) -> None:
        """Make a free cell the next place."""
        place_by_cell[cell] = len(cells)
        cells.append(cell)
        adjacent_cells = _adjacent_cells(side)[cell]
        free_cells_beside.append([adjacent for adjacent in adjacent_cells if adjacent not in place_by_cell])
        for adjacent in adjacent_cells:
            if adjacent in place_by_cell:
                free_cells_beside[place_by_cell[adjacent]].remove(cell)

    add_place((rng.below(side), rng.below(side)))
    pairs: list[tuple[int, int]] = []  # linked places
    while len(cells) < places:
        parent = len(cells) - 1 if rng.below(2) else rng.below(len(cells))
        if not free_cells_beside[parent]:
            parent = rng.choice([place for place, free_cells in enumerate(free_cells_beside) if free_cells])
        pairs.append((parent, len(cells)))
        add_place(rng.choice(free_cells_beside[parent]))
    neighbours = [
        (place, place_by_cell[adjacent])
        for (x, y), place in place_by_cell.items()
        for adjacent in ((x + 1, y), (x, y + 1))
        if adjacent in place_by_cell
    ]
    loops_per_place = _LOOPS_OF_LONG_ROUTES if level >= _LONG_ROUTE else _LOOPS
    _add_loops(rng, pairs, neighbours, places, round(loops_per_place * places))
    rng.shuffle(pairs)
    passages: Passages = [(b, a, False) if rng.below(2) else (a, b, False) for a, b in pairs]
    _make_one_way(rng, places, passages)
    return cells, passages


@lru_cache(maxsize=8)
def _adjacent_cells(side: int) -> Mapping[Cell, Sequence[Cell]]:
    """Return for each cell of a square box the cells of the box on its four sides (cached)."""
    box = set(product(range(side), repeat=2))
    return {(x, y): [near for dx, dy in DIRECTIONS.values() if (near := (x + dx, y + dy)) in box] for x, y in box}


def _add_loops(
    rng: Stream, pairs: list[tuple[int, int]], neighbours: list[tuple[int, int]], places: int, count: int
) -> None:
    """Add to the linked `pairs` up to `count` pairs of neighbours that are far apart by the passages so far."""
    linked: list[list[int]] = [[] for _ in range(places)]
    for a, b in pairs:
        linked[a].append(b)
        linked[b].append(a)
    rng.shuffle(neighbours)
    for a, b in neighbours:
        if count == 0:
            return
        if b not in linked[a] and not _is_reachable_within(linked, a, b, _LEAST_LOOP - 1):
            linked[a].append(b)
            linked[b].append(a)
            pairs.append((a, b))
            count -= 1


def _is_reachable_within(linked: Sequence[Sequence[int]], start: int, goal: int, moves: int) -> bool:
    """Return whether a goal can be reached from a start in at most a number of moves."""
    reached, frontier = {start}, {start}
    for _ in range(moves):
        frontier = {after for place in frontier for after in linked[place]} - reached
        if goal in frontier or not frontier:
            return goal in frontier
        reached |= frontier
    return False


def _make_one_way(rng: Stream, places: int, passages: Passages) -> None:
    """Make a share of the passages one-way, where each place can still be reached from each other place."""
    count, order = round(_ONE_WAY * len(passages)), list(range(len(passages)))
    linked: list[list[int]] = [[] for _ in range(places)]
    for source, target, _ in passages:
        linked[source].append(target)
        linked[target].append(source)
    rng.shuffle(order)
    for number in order:
        if count == 0:
            return
        source, target, _ = passages[number]
        linked[target].remove(source)
        if _is_reachable_within(linked, target, source, places):  # by other passages
            passages[number] = source, target, True
            count -= 1
        else:
            linked[target].append(source)


def _draw_start_and_goal(rng: Stream, cells: Sequence[Cell], passages: Passages, level: int) -> Plan | None:
    """Draw a start and a goal `level` moves apart that random and greedy walks seldom join; None if no pair fits."""
    graph = Plan(cells, passages, 0, 0)
    sources = _sources_by_move_limit(graph, level + 1)
    pairs = [
        (start, goal)
        for goal in range(len(cells))
        for start in _set_bit_positions(sources[level][goal] & ~sources[level - 1][goal])
    ]
    rng.shuffle(pairs)
    walk_limit, greedy_limit = next(limits for least_level, *limits in _LUCK if level >= least_level)
    n_exits = list(map(len, graph.exits))
    for start, goal in pairs[:_PAIRS]:
        n_decoys = sum(  # places with as many exits as the goal, level - 1 to level + 1 moves from the start
            (sources[level + 1][place] & ~sources[level - 2][place]) >> start & 1
            for place in range(len(cells))
            if n_exits[place] == n_exits[goal] and place not in (start, goal)
        )
        if n_decoys < _LEAST_DECOYS:
            continue
        plan = graph.with_start_and_goal(start, goal)
        if plan.count_routes() != 1 or random_walk_success(plan, 2 * level, walk_limit) > walk_limit:
            continue
        closure = plan.find_closure()
        has_short_detour = closure is not None and closure.detour <= 2 * level + 2
        if has_short_detour and _do_greedy_walks_fail(rng, plan, cells, greedy_limit):
            return plan
    return None


def _sources_by_move_limit(graph: Plan, moves: int) -> list[list[int]]:
    """Return `sources`: bit s of `sources[m][p]` is 1 if place p can be reached from place s in at most m moves."""
    sources = [[1 << place for place in range(len(graph.exits))]]
    for _ in range(moves):
        nearer = sources[-1]
        farther = nearer.copy()
        for place, entrances in enumerate(graph.comes_from):
            for before, _ in entrances:
                farther[place] |= nearer[before]
        sources.append(farther)
    return sources


def _set_bit_positions(bits: int) -> Iterator[int]:
    """Yield the positions of the bits of a number that are 1, in increasing order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def greedy_move(
    plan: Plan, cells: Sequence[Cell], place: int, visits: Mapping[int, int], directions: Sequence[str]
) -> str:
    """Return the direction to the least visited place; of several, to the nearest to the goal by air, then the first.

    `visits` has the number of visits of each place visited so far.
    """
    goal_x, goal_y = cells[plan.goal]

    def visits_and_distance(direction: str) -> tuple[int, int]:
        """Return how often a neighbour was visited, and its squared distance from the goal by air."""
        after = plan.place_after(place, direction)
        x, y = cells[after]
        return visits.get(after, 0), (x - goal_x) ** 2 + (y - goal_y) ** 2

    return min(directions, key=visits_and_distance)


def _do_greedy_walks_fail(rng: Stream, plan: Plan, cells: Sequence[Cell], least_share: float) -> bool:
    """Return whether walks by `greedy_move` fail: with each fixed order of directions, and most with random orders."""
    if not least_share:
        return True  # nothing is required of worlds of this level
    moves = 2 * plan.to_goal[plan.start]
    if any(_does_greedy_walk_succeed(plan, cells, [order] * moves) for order in _ORDERS):
        return False
    n_failed = sum(
        not _does_greedy_walk_succeed(plan, cells, [rng.choice(_ORDERS) for _ in range(moves)])
        for _ in range(_RANDOM_TIES)
    )
    return n_failed >= least_share * _RANDOM_TIES


def _does_greedy_walk_succeed(plan: Plan, cells: Sequence[Cell], orders: Sequence[Sequence[str]]) -> bool:
    """Return whether a walk by `greedy_move` reaches the goal; `orders` has for each move the order of directions."""
    place, visits = plan.start, {plan.start: 1}
    for order in orders:
        exits = [direction for direction in order if direction in plan.exits[place]]
        place = plan.place_after(place, greedy_move(plan, cells, place, visits, exits))
        if place == plan.goal:
            return True
        visits[place] = visits.get(place, 0) + 1
    return False


def _explore(plan: Plan, place: int, rng: Stream) -> Iterator[int]:
    """Yield the places of an explorer that goes to a nearest exit not used yet, until it has used all passages."""
    used_passages: set[int] = set()
    while len(used_passages) < len(plan.passages):
        for direction in _way_to_unused_exit(plan, place, used_passages, rng):
            used_passages.add(plan.exits[place][direction])
            place = plan.place_after(place, direction)
            yield place


def _draw_exploration_length(plan: Plan, rng: Stream) -> int:
    """Return the number of moves in which an explorer finds the goal from the start."""
    places = _explore(plan, plan.start, rng)
    return next(moves for moves, place in enumerate(places, start=1) if place == plan.goal)


def _way_to_unused_exit(plan: Plan, start: int, used_passages: set[int], rng: Stream) -> list[str]:
    """Return the moves by used passages to a random nearest unused passage, and through it; [] if all are used."""
    last_moves: dict[int, tuple[int, str]] = {start: (start, "")}  # place -> the place before it, and the move to it
    frontier = [start]
    while frontier:
        unused_exits = [
            (place, direction)
            for place in frontier
            for direction, number in plan.exits[place].items()
            if number not in used_passages
        ]
        if unused_exits:
            place, direction = rng.choice(unused_exits)
            reversed_moves = [direction]
            while place != start:
                place, direction = last_moves[place]
                reversed_moves.append(direction)
            return reversed_moves[::-1]
        next_frontier: list[int] = []
        for place in frontier:
            exits = list(plan.exits[place].items())
            rng.shuffle(exits)
            for direction, number in exits:
                after = plan.passages[number].other_end(place)
                if number in used_passages and after not in last_moves:
                    last_moves[after] = place, direction
                    next_frontier.append(after)
        frontier = next_frontier
    return []


def _draw_story(rng: Stream, plan: Plan, level: int) -> tuple[int, ...]:
    """Draw walks through all passages, and return the walk that shows least of the route."""
    starts = (rng.below(len(plan.exits)) for _ in range(_STORIES))
    walks = ((start, *_explore(plan, start, rng)) for start in starts)
    return min(walks, key=lambda walk: _leak_rank(plan, walk, level))


def story_leak(plan: Plan, walk: Sequence[int]) -> tuple[int, int, int]:
    """Return how much of the route a story shows.

    Returns:
        The moves of the shortest piece of the story between start and goal, in either direction; the moves of the
        shortest piece from the start to the goal with its loops left out (both `len(walk)` without such a piece); and
        the most moves of the route that the story tells one after another, in either direction.
    """
    visits = [(index, place) for index, place in enumerate(walk) if place in (plan.start, plan.goal)]
    pieces = [walk[a : b + 1] for (a, first), (b, second) in pairwise(visits) if first != second]
    default = len(walk) + 1
    fewest_moves = min(map(len, pieces), default=default) - 1
    forward_lengths = (len(_without_loops(piece)) for piece in pieces if piece[0] == plan.start)
    fewest_without_loops = min(forward_lengths, default=default) - 1
    route = [plan.start]
    for direction in plan.route(plan.start, plan.to_goal):
        route.append(plan.place_after(route[-1], direction))
    longest_run = max(_longest_run_of_moves(walk, list(pairwise(places))) for places in (route, route[::-1]))
    return fewest_moves, fewest_without_loops, longest_run


def _leak_rank(plan: Plan, walk: Sequence[int], level: int) -> tuple[bool, bool, int, int]:
    """Return a sort key that is lower for a story that shows less of a route of `level` moves."""
    fewest_moves, fewest_without_loops, longest_run = story_leak(plan, walk)
    budget = 2 * level  # a piece that is no longer solves the world if it is copied
    return fewest_moves <= budget, fewest_without_loops <= budget, longest_run, len(walk)


def _without_loops(walk: Sequence[int]) -> list[int]:
    """Return the places of a walk, with what lies between two visits of a place left out."""
    places: list[int] = []
    for place in walk:
        if place in places:
            del places[places.index(place) :]
        places.append(place)
    return places


def _longest_run_of_moves(walk: Sequence[int], moves: list[tuple[int, int]]) -> int:
    """Return the greatest number of consecutive moves that a walk has in common with a route."""
    next_move_of_route = dict(pairwise([*moves, None]))
    longest = run = 0
    expected: tuple[int, int] | None = None
    for move in pairwise(walk):
        run = run + 1 if move == expected else int(move in next_move_of_route)
        expected = next_move_of_route.get(move)
        longest = max(longest, run)
    return longest


class WorldSource(KeyedSource[World]):
    """Worlds by key, level (moves of the shortest route) and number."""

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        super().__init__(key, level, prove)
        self._places: int = options["places"] or 4 * level + 8

    def instance(self, index: int) -> World:
        return _cached_world(self.key, self.level, self._places, index)


@lru_cache(maxsize=1024)  # each condition has the same worlds
def _cached_world(key: str, level: int, places: int, index: int) -> World:
    """Draw the world of a set by its number (cached)."""
    return draw_world(Stream("atlas/world", key, level, places, index), level, places)

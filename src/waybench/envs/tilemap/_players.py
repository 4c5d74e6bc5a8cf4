"""Scripted players of tile maps, the best tour among beings, and proofs that a tour is best."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from typing import NamedTuple

from waybench.core import End, EpisodeRecord, Stream
from waybench.envs.spaces._lattice import Floor
from waybench.envs.tilemap._board import (
    MovePlan,
    TileBoard,
    TileState,
    legs_of_locked_tour,
    play_style,
    start_state,
    step_beings,
)
from waybench.envs.tilemap._game import current_fence, make_plan
from waybench.envs.tilemap._instance import TileMap, decode, tile_list
from waybench.envs.tilemap._locks import TourNode, cell_distances
from waybench.envs.tilemap._metrics import SINGLE_MOVES, count_episode
from waybench.envs.tilemap._protocols import GIVEN_UP, MOVES

_REACHED_POINTS = 200  # for ending on an objective, by both tables of rewards
LIMIT = 20_000  # states that one search expands
_SINGLE_DIVISOR = 10  # so many times fewer for single moves, as the search begins anew with each of them
_HASTE = 3  # weight of the moves that are still to be made, where the first search has found no tour
_NAMES_BY_STEP = {step: name for name, step in MOVES.items()}
LONGEST_RANDOM = 90  # moves; 264 for a published map then, where the published player of this kind has 278


def is_tour_best(board: TileBoard, fenced: bytes, at: int, goals: Sequence[int], moves: int) -> bool:
    """Return whether no play that misses a goal is worth more than a tour of all goals in `moves`."""
    if moves < GIVEN_UP * board.per_point:
        return True  # a missed goal costs more than all moves together
    return moves <= least_cost_of_missing(board, fenced, at, goals)


def least_cost_of_missing(board: TileBoard, fenced: bytes, at: int, goals: Sequence[int]) -> int:
    """Return the least cost, in moves, of a play that misses at least one of the goals.

    Each move costs 1, and each plan that ends off its goal costs the moves that the lost points would pay for. The
    bound is exact without beings. With beings, plays can only cost more.
    """
    width = board.case.width + 2
    reached_costs, missed_costs = {at: 0}, dict[int, int]()  # cell -> least cost of being there after the goals so far
    for goal in goals:
        row, column = board.goals[goal]
        target = (row + 1) * width + column + 1

        def cost_of_missing_at(cell: int, row: int = row, column: int = column) -> int:
            """Return what ending at a cell costs compared with the goal, in moves."""
            points = board.style.protocol.worth(abs(cell // width - 1 - row), abs(cell % width - 1 - column)).reward
            # A goal can also be given up, which limits the cost.
            return min(_REACHED_POINTS - points, _REACHED_POINTS + GIVEN_UP) * board.per_point

        # Either this goal is the first that is missed, or one was missed before, and this goal may be reached.
        walked = _walking_costs(board, fenced, reached_costs)
        end_costs = {cell: cost + cost_of_missing_at(cell) for cell, cost in walked.items() if cell != target}
        for cell, cost in _walking_costs(board, fenced, missed_costs).items():
            end_cost = cost + cost_of_missing_at(cell)
            end_costs[cell] = min(end_cost, end_costs.get(cell, end_cost))
        reached_costs, missed_costs = {target: walked[target]}, end_costs
    return min(missed_costs.values())


def _walking_costs(board: TileBoard, fenced: bytes, costs: Mapping[int, int]) -> dict[int, int]:
    """Return the least cost of being at each cell, from the costs of the cells to begin at."""
    width = board.case.width + 2
    cells_by_cost = defaultdict[int, list[int]](list)
    for cell, cost in costs.items():
        cells_by_cost[cost].append(cell)
    least_costs: dict[int, int] = {}
    while cells_by_cost:
        cost = min(cells_by_cost)
        for cell in cells_by_cost.pop(cost):
            if cell in least_costs:
                continue
            least_costs[cell] = cost
            for neighbour in (cell - width, cell + width, cell - 1, cell + 1):
                if fenced[neighbour] and neighbour not in least_costs and neighbour not in board.hazards:
                    cells_by_cost[cost + 1].append(neighbour)
    return least_costs


class Tour(NamedTuple):
    """A tour of the rest of a map: names of moves for each goal, from the present goal on.

    `is_best` is whether no other play from here is worth more: the tour reaches every goal, no tour is shorter, and
    all of its moves cost less than missing a single goal.
    """

    plans: tuple[tuple[str, ...], ...]
    is_best: bool


class _Node(NamedTuple):
    """A node of the search: number of goals reached, number of actions so far, cells of the player and the beings."""

    reached: int
    tick: int
    cell: int
    beings: tuple[int, ...]


def foresee_tour_of_state(state: TileState) -> Tour:
    """Return a shortest tour of all goals that avoids enemies and hazards, given how the beings will move.

    If the search stops after `LIMIT` states, it is any tour of a hasty search, or the play that comes nearest to the
    last goal.
    """
    return foresee_tour(state.board, state.removed, state.goal, state.cell, state.beings, state.tick)


@lru_cache(maxsize=1024)
def foresee_tour(
    board: TileBoard, removed: tuple[tuple[int, int], ...], goal: int, at: int, beings: tuple[int, ...], tick: int
) -> Tour:
    """Return the tour of `foresee_tour_of_state` for the parts of a state that it depends on."""
    world = _search_map(board, removed)
    reachable = [number for number in range(goal, len(board.goals)) if at in world.distances[number]]
    search = _Search(
        world, [world.cells[number] for number in reachable], [world.distances[number] for number in reachable]
    )
    start = _Node(search.count_reached(0, at), tick, at, beings)
    result = shortest = search.find_tour(start, 1)
    if not shortest.complete:
        result = min(search.find_tour(start, _HASTE), shortest, key=lambda result: result.order)
    plans: list[tuple[str, ...]] = [() for _ in range(goal, len(board.goals))]
    for number, names in zip(reachable, result.legs, strict=True):
        plans[number - goal] = tuple(names)
    move_count = sum(map(len, plans))
    reaches_all = shortest.complete and len(reachable) == len(plans)
    is_best = reaches_all and is_tour_best(board, world.fenced, at, reachable, move_count)
    return Tour(tuple(plans), is_best)


class _SearchMap(NamedTuple):
    """A map for searches: the cells of goals, 0 outside the map, and the distances to each goal from all cells."""

    board: TileBoard
    fenced: bytes
    cells: list[int]
    distances: list[dict[int, int]]


@lru_cache(maxsize=64)
def _search_map(board: TileBoard, removed: tuple[tuple[int, int], ...]) -> _SearchMap:
    """Return a map with removed objects as searches read it."""
    fenced = current_fence(board, removed)
    width = board.case.width + 2
    cells = [
        (row + 1) * width + column + 1 if 0 <= row < board.case.height and 0 <= column < board.case.width else 0
        for row, column in board.goals
    ]
    distances = [distances_to(board, fenced, cell) if fenced[cell] else {} for cell in cells]
    return _SearchMap(board, fenced, cells, distances)


@lru_cache(maxsize=64)
def distances_to(board: TileBoard, fenced: bytes, goal: int) -> dict[int, int]:
    """Return the moves to a cell of the fenced map, around hazards, from each cell with a path to it."""
    free = bytearray(fenced)
    for hazard in board.hazards:
        free[hazard] = 0
    return cell_distances(free, board.case.width + 2, goal)


class _SearchResult(NamedTuple):
    """The result of a search; the smaller its order, the further it has come.

    `order` has the goals that are not reached, and the least number of moves from the end to the last goal. `legs` are
    names of moves to each goal; without a tour, the last leg ends at the furthest node.
    """

    complete: bool
    order: tuple[int, int]
    legs: list[list[str]]


class _Search:
    """A search for a tour of some goals, by the distances to each of them from every cell."""

    def __init__(self, world: _SearchMap, goals: Sequence[int], distances: Sequence[dict[int, int]]) -> None:
        self._world, self._goals, self._distances = world, goals, distances
        self._limit = LIMIT // (_SINGLE_DIVISOR if world.board.style.single else 1)
        width = world.board.case.width + 2
        self._offsets = [(name, rows * width + columns) for name, (rows, columns) in MOVES.items()]
        legs = (distances[number].get(goals[number - 1], 0) for number in range(len(goals) - 1, 0, -1))
        self._moves_after = list(accumulate(legs, initial=0))[::-1]  # from each goal to the end
        self._predecessors: dict[_Node, tuple[_Node, str]] = {}

    def count_reached(self, count: int, cell: int) -> int:
        """Return the number of goals reached after entering a cell; `count` is the number before."""
        while count < len(self._goals) and self._goals[count] == cell:
            count += 1
        return count

    def _order(self, node: _Node) -> tuple[int, int]:
        """Return how far a node is from the end of the tour: goals left, moves left at least."""
        return len(self._goals) - node.reached, self._moves_left(node)

    def _moves_left(self, node: _Node) -> int:
        """Return the least number of moves from a node to the last goal."""
        count = node.reached
        if count == len(self._goals):
            return 0
        return self._distances[count][node.cell] + self._moves_after[count]

    def find_tour(self, start: _Node, weight: int) -> _SearchResult:
        """Return a tour, or the path to the furthest node; a shortest tour if the moves to come have `weight` 1."""
        self._predecessors = {start: (start, "")}
        moves_left = self._moves_left(start)
        queue = [(moves_left * weight, moves_left, 0, start)]
        node_count, furthest = 0, start
        for _ in range(self._limit):
            if not queue:
                break
            *_, node = heappop(queue)
            if self._order(node) < self._order(furthest):
                furthest = node
            if node.reached == len(self._goals):
                break
            for name, successor in self._successors(node):
                if successor not in self._predecessors:  # all paths to a node have the same length, its tick
                    self._predecessors[successor] = node, name
                    moves_left = self._moves_left(successor)
                    node_count += 1
                    ticks = successor.tick - start.tick
                    heappush(queue, (ticks + moves_left * weight, moves_left, node_count, successor))
        complete = furthest.reached == len(self._goals)
        return _SearchResult(complete, self._order(furthest), self._legs_to(start, furthest))

    def _successors(self, node: _Node) -> list[tuple[str, _Node]]:
        """Return the actions that the player survives, with the nodes after them."""
        world = self._world
        board, fenced = world.board, world.fenced
        walkers = node.beings[: board.style.crew.walkers]
        successors: list[tuple[str, _Node]] = []
        has_waited = False
        for name, offset in self._offsets:
            cell = node.cell + offset
            if not fenced[cell] or cell in walkers:
                if has_waited:
                    continue  # one move that leads nowhere is as good as another
                cell, has_waited = node.cell, True
            elif cell in board.hazards:
                continue
            beings, caught = step_beings(board, fenced, cell, node.beings, node.tick)
            if not caught:
                successors.append((name, _Node(self.count_reached(node.reached, cell), node.tick + 1, cell, beings)))
        return successors

    def _legs_to(self, start: _Node, end: _Node) -> list[list[str]]:
        """Return the actions from `start` to `end`, a list for each goal that is reached on the way."""
        legs: list[list[str]] = [[] for _ in self._goals]
        node = end
        while node != start:
            node, name = self._predecessors[node]
            legs[node.reached].append(name)
        return [leg[::-1] for leg in legs]


@lru_cache(maxsize=1024)
def _listed_floor(case: TileMap) -> Floor:
    """Return the cells whose tiles the list of walkable tiles names.

    That is the list that the player sees, also where the rules take more tiles for walkable.
    """
    return case.floor(tile_list(case.walkable))


def _moves_to_goal(state: TileState) -> list[str]:
    """Return the moves of a shortest path to the goal; [] if there is none."""
    board, case = state.board, state.board.case
    row, column = board.goals[state.goal]
    if not (0 <= row < case.height and 0 <= column < case.width):
        return []
    floor = _listed_floor(case)
    for hazard in board.hazards:
        hazard_row, hazard_column = divmod(hazard, case.width + 2)
        hazard_bit = 1 << (hazard_row - 1) * case.width + hazard_column - 1
        floor = Floor(case.width, case.height, floor.open & ~hazard_bit)
    start = state.row * case.width + state.column
    path = floor.shortest_path(start, row * case.width + column) or []
    positions = [divmod(cell, case.width) for cell in (start, *path)]
    return [_NAMES_BY_STEP[row - before[0], column - before[1]] for before, (row, column) in pairwise(positions)]


def oracle(state: TileState, rng: Stream) -> MovePlan:
    """Take a shortest path, or stay where there is none. Among beings or doors, take the next leg of a best tour."""
    if state.board.locks:
        return make_plan(state, _leg_among_locks(state))
    return make_plan(state, foresee_tour_of_state(state).plans[0] if state.beings else _moves_to_goal(state))


def _leg_among_locks(state: TileState) -> tuple[str, ...]:
    """Return the next leg of a best tour on a map with doors."""
    cells = state.board.goal_cells
    if cells[state.goal] in (None, state.cell):  # out of reach, or already reached
        return ()
    node = TourNode(sum(cell is not None for cell in cells[: state.goal]), state.cell, state.gone_locks)
    tour = state.board.tour
    return tour[node] if node in tour else _tour_from(state.board, node, state.removed)[node]


@lru_cache(maxsize=256)
def _tour_from(
    board: TileBoard, start: TourNode, removed: tuple[tuple[int, int], ...]
) -> Mapping[TourNode, tuple[str, ...]]:
    """Return a best tour on a map with doors from a state; see `legs_of_locked_tour`."""
    return legs_of_locked_tour(board, start, removed)


def stay(state: TileState, rng: Stream) -> MovePlan:
    """Make no move."""
    return make_plan(state, [])


def greedy(state: TileState, rng: Stream) -> MovePlan:
    """Go straight for the target, rows first, and stop at the first obstacle in both ways."""
    board, at = state.board, (state.row, state.column)
    target = board.goals[state.goal]
    width = board.case.width + 2
    names: list[str] = []
    while at != target:
        rows, columns = target[0] - at[0], target[1] - at[1]
        for step in (((rows > 0) - (rows < 0), 0), (0, (columns > 0) - (columns < 0))):
            row, column = at[0] + step[0], at[1] + step[1]
            if step != (0, 0) and board.fenced[(row + 1) * width + column + 1]:
                names.append(_NAMES_BY_STEP[step])
                at = (row, column)
                break
        else:
            break
    return make_plan(state, names)


def random_fixed(state: TileState, rng: Stream) -> MovePlan:
    """Make as many random moves as the record's path length allows for each objective (Random-FP)."""
    count = state.board.case.path_length // max(1, len(state.board.case.objectives))
    return make_plan(state, [rng.choice(tuple(MOVES)) for _ in range(count)])


def random_length(state: TileState, rng: Stream) -> MovePlan:
    """Make a random number of random moves, from 1 to 90 (Random-RP)."""
    return make_plan(state, [rng.choice(tuple(MOVES)) for _ in range(1 + rng.below(LONGEST_RANDOM))])


PLAYERS = {
    "oracle": oracle,
    "heuristic": greedy,
    "greedy": greedy,
    "stay": stay,
    "random": random_fixed,
    "random-fp": random_fixed,
    "random-rp": random_length,
}


def oracle_is_ceiling(record: EpisodeRecord) -> bool:
    """Return whether no play has a better score than the oracle's finished episode.

    It is not known where beings are so many that the search for the best tour was given up. In "paper" it does not hold
    where walking to an objective costs more than the objective is worth, where an objective cannot be reached, so that
    ending near it would be better than staying, and where comments in the list of walkable tiles open a shorter path.
    """
    if record.end is not End.SOLVED:
        return False
    state = start_state(decode(record.instance), play_style(record.options, single=record.env == SINGLE_MOVES))
    moves = count_episode(record).actions
    if not state.beings:
        board = state.board
        # Doors only make plays longer: the map with all doors open gives a lower bound for the cost of a miss.
        fenced = bytearray(board.fenced)
        for lock in board.locks:
            fenced[lock.door] = 1
        goals = range(len(board.goals))
        return moves == board.length and is_tour_best(board, bytes(fenced), state.cell, goals, moves)
    tour = foresee_tour_of_state(state)
    return tour.is_best and moves == sum(map(len, tour.plans))

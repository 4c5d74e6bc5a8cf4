"""Walking through an unknown graph: the case, the rules of both disciplines and the scripted players."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from waybench.core import (
    DataError,
    End,
    FailureKind,
    Game,
    GameProperties,
    Instance,
    Json,
    Outcome,
    Stream,
    Transition,
    check_known_fields,
    is_array,
    is_object,
)
from waybench.envs.search._number import read_whole_number
from waybench.envs.spaces._graph import Graph

LARGEST = 10_000  # nodes
SPARE = 5  # interactions beyond the optimum of a breadth-first search, as in both published modes (20 for 15 nodes)
SPARE_DEPTH = 4  # the same for a depth-first search, beyond twice the nodes (20 for 8 nodes, 30 for 13)


@dataclass(frozen=True, slots=True)
class WalkGraph(Instance):
    """A connected graph to be visited from node 0 on; neighbours are shown in the order of its edges."""

    graph: Graph

    @property
    def level(self) -> int:
        """Number of nodes: 8 (depth first) and 15 (breadth first) in EASY mode, 13 and 25 in HARD mode."""
        return self.graph.size

    def canonical(self) -> str:
        return "\n".join(" ".join(map(str, nodes)) for nodes in self.graph.neighbours)

    def to_json(self) -> Json:
        """Return {"nodes": [0, 1, ...], "edges": [[u, v], ...]}."""
        return {"nodes": list(range(self.graph.size)), "edges": [list(edge) for edge in self.graph.edges]}


def decode(data: Json) -> WalkGraph:
    """Read what `WalkGraph.to_json` wrote; DataError if it is not connected, or for loops or double edges."""
    check_known_fields(data, ("nodes", "edges"))
    nodes, edges = (data.get("nodes"), data.get("edges")) if is_object(data) else (None, None)
    if not is_array(nodes) or not is_array(edges):
        raise DataError('instance: give {"nodes": [0, 1, 2], "edges": [[0, 2], [1, 2]]}')
    size = len(nodes)
    if not 2 <= size <= LARGEST:
        raise DataError(f"instance: it has {size} nodes; from 2 to {LARGEST} can be played")
    if set(map(type, nodes)) != {int} or list(nodes) != list(range(size)):
        raise DataError("instance: the nodes are the numbers 0, 1, 2, ... in this order")
    pairs: list[tuple[int, int]] = []
    for number, edge in enumerate(edges):
        match edge:
            case [int(u), int(v)] if type(u) is type(v) is int and 0 <= u < size and 0 <= v < size and u != v:
                pairs.append((u, v))
            case _:  # pyright: ignore[reportUnknownVariableType]
                raise DataError(f"instance: edge {number} is not a pair of two different nodes")
    if len({frozenset(edge) for edge in pairs}) < len(pairs):
        raise DataError("instance: an edge occurs twice")
    graph = Graph(size, tuple(pairs))
    if graph.count_reachable_from(0) < size:
        raise DataError("instance: not every node can be reached from node 0")
    return WalkGraph(graph)


class VisitedNodes(NamedTuple):
    """The nodes that the player has visited.

    Attributes:
        at: The node visited last.
        before: The node visited before `at`; -1 at the start.
        order: All visited nodes in the order of their first visit.
        parents: Of each node in `order`, the node from which a walker entered it first; -1 for node 0, and for all
            nodes of a breadth-first search, which does not walk.
        visited_mask: The visited nodes as bits of a number.
    """

    graph: Graph
    at: int
    before: int
    order: tuple[int, ...]
    parents: tuple[int, ...]
    visited_mask: int

    @property
    def case(self) -> WalkGraph:
        """The graph as an instance."""
        return WalkGraph(self.graph)

    @property
    def fringe(self) -> tuple[int, ...]:
        """The nodes that were shown and not visited, in the order in which they were shown first."""
        nodes = dict.fromkeys(neighbour for node in self.order for neighbour in self.graph.neighbours[node])
        return tuple(node for node in nodes if not self.visited_mask >> node & 1)


class WalkGame(Game[WalkGraph, VisitedNodes, int]):
    """Each action visits a node, and all have to be visited. Events: `node`, and `new` for a first visit.

    Args:
        depth_first: Whether the player walks, from a node to its neighbours. Otherwise it can visit every node that is
            visited already or is a neighbour of a visited node. A revisit is unproductive, for a walker only where the
            node that it left had unvisited neighbours.
    """

    properties = GameProperties(deterministic=True, turns=None, reward=(0.0, 1.0))

    def __init__(self, depth_first: bool) -> None:
        self._depth_first = depth_first

    def start(self, instance: WalkGraph) -> VisitedNodes:
        return VisitedNodes(instance.graph, 0, -1, (0,), (-1,), 1)

    def legal(self, state: VisitedNodes) -> Sequence[int]:
        graph, order = state.graph, state.order
        if len(order) == graph.size:
            return ()
        return graph.neighbours[state.at] if self._depth_first else (*order, *state.fringe)

    def apply(self, state: VisitedNodes, action: int, rng: Stream) -> Transition[VisitedNodes]:
        graph, at, _, order, parents, visited_mask = state
        if not 0 <= action < graph.size:
            return Transition(state, 0.0, _NOWHERE, Outcome.ILLEGAL)
        is_visited = visited_mask >> action & 1
        if self._depth_first:
            is_legal = graph.masks[at] >> action & 1
        else:
            is_legal = is_visited or graph.masks[action] & visited_mask
        if not is_legal:
            return Transition(state, 0.0, _NOWHERE, Outcome.ILLEGAL)
        if is_visited:
            is_wasted = not self._depth_first or graph.masks[at] & ~visited_mask
            outcome = Outcome.UNPRODUCTIVE if is_wasted else Outcome.OK
            next_state = VisitedNodes(graph, action, at, order, parents, visited_mask)
            return Transition(next_state, 0.0, {"node": action, "new": False}, outcome)
        parent = at if self._depth_first else -1
        order = (*order, action)
        next_state = VisitedNodes(graph, action, at, order, (*parents, parent), visited_mask | 1 << action)
        return Transition(next_state, float(len(order) == graph.size), {"node": action, "new": True})

    def terminal(self, state: VisitedNodes) -> End | None:
        return End.SOLVED if len(state.order) == state.graph.size else None

    def encode(self, action: int) -> Json:
        return action

    def decode(self, action: Json) -> int:
        return read_whole_number(action)


_NOWHERE: dict[str, Json] = {"node": None, "new": False}


def depth_first(state: VisitedNodes, rng: Stream) -> int:
    """Visit the first unvisited neighbour in the order shown, or go back to where the node was entered from.

    This is the published optimal policy. If no ancestor has an unvisited neighbour, after an earlier mistake, it takes
    a shortest path to the nearest unvisited node.
    """
    graph, at, visited_mask = state.graph, state.at, state.visited_mask
    if graph.masks[at] & ~visited_mask:
        return next(node for node in graph.neighbours[at] if not visited_mask >> node & 1)
    parents = dict(zip(state.order, state.parents, strict=True))
    ancestor = parents[at]
    while ancestor >= 0:
        if graph.masks[ancestor] & ~visited_mask:
            return parents[at]
        ancestor = parents[ancestor]
    return _first_step_to_unvisited(state)


def _first_step_to_unvisited(state: VisitedNodes) -> int:
    """Return the first node on a shortest path over any nodes to the nearest unvisited node."""
    first_steps = {state.at: state.at}
    queue = [state.at]
    for node in queue:
        for neighbour in state.graph.neighbours[node]:
            if neighbour not in first_steps:
                first_steps[neighbour] = neighbour if node == state.at else first_steps[node]
                if not state.visited_mask >> neighbour & 1:
                    return first_steps[neighbour]
                queue.append(neighbour)
    raise ValueError("every node is visited")


def breadth_first(state: VisitedNodes, rng: Stream) -> int:
    """Visit, of the unvisited neighbours of the earliest visited node that has any, the first in the order shown.

    This is the published optimal policy, a first-in-first-out queue.
    """
    unvisited_mask = ~state.visited_mask
    for node in state.order:
        if state.graph.masks[node] & unvisited_mask:
            return next(neighbour for neighbour in state.graph.neighbours[node] if unvisited_mask >> neighbour & 1)
    raise ValueError("every node is visited")


def forgetful(state: VisitedNodes, rng: Stream) -> int:
    """Visit a random neighbour of the node visited last, but the one before it only where there is no other."""
    nodes_ahead = [node for node in state.graph.neighbours[state.at] if node != state.before]
    return rng.choice(nodes_ahead or state.graph.neighbours[state.at])


DEPTH_PLAYERS = {"oracle": depth_first, "heuristic": forgetful, "forgetful": forgetful}
BREADTH_PLAYERS = {"oracle": breadth_first, "heuristic": forgetful, "forgetful": forgetful}


TURNED_BACK = FailureKind(
    "turned_back", "turning back too early", "It leaves a node that has unvisited neighbours for a visited one."
)
WAY_BACK = FailureKind(
    "way_back", "losing the way back", "It does not go back to the node from which the current one was entered."
)
REVISIT = FailureKind("revisit", "revisits", "It visits a node again.")
LEVEL = FailureKind("level", "nodes of a later level", "It visits a new node while nodes of an earlier level are left.")


class DepthFirst:
    """A depth-first search: it visits any unvisited neighbour while there is one, and otherwise goes back."""

    def __init__(self, case: WalkGraph) -> None:
        self._graph = case.graph
        self._stack = [0]
        self._visited_mask = 1

    def is_next_answer(self, answer: int) -> bool:
        """Return whether a depth-first search can visit this node now."""
        unvisited = self._unvisited_neighbours()
        if unvisited:
            return bool(unvisited >> answer & 1)
        return len(self._stack) > 1 and answer == self._stack[-2]

    def _unvisited_neighbours(self) -> int:
        """Return the unvisited neighbours of the current node, as bits of a number."""
        return self._graph.masks[self._stack[-1]] & ~self._visited_mask

    def classify_error(self, answer: int) -> FailureKind:
        """Return what is wrong with a visit that does not follow the algorithm."""
        return TURNED_BACK if self._unvisited_neighbours() else WAY_BACK

    def add_answer(self, answer: int) -> None:
        """Go on after a visit."""
        if len(self._stack) > 1 and answer == self._stack[-2]:
            self._stack.pop()
        else:
            self._stack.append(answer)
        self._visited_mask |= 1 << answer


class BreadthFirst:
    """A breadth-first search: it visits level by level, in any order within a level, as published."""

    def __init__(self, case: WalkGraph) -> None:
        self._graph = case.graph
        self._visited_mask = 1
        self._level = self._graph.masks[0]  # unvisited nodes of the current level, as bits
        self._next_level = 0

    def is_next_answer(self, answer: int) -> bool:
        """Return whether a breadth-first search can visit this node now."""
        return bool(self._level >> answer & 1)

    def classify_error(self, answer: int) -> FailureKind:
        """Return what is wrong with a visit that does not follow the algorithm."""
        return REVISIT if self._visited_mask >> answer & 1 else LEVEL

    def add_answer(self, answer: int) -> None:
        """Go on after a visit."""
        self._visited_mask |= 1 << answer
        self._level &= ~(1 << answer)
        self._next_level |= self._graph.masks[answer] & ~self._visited_mask & ~self._level
        if not self._level:
            self._level, self._next_level = self._next_level, 0


def depth_first_steps(case: WalkGraph) -> int:
    """Return the number of steps of the published depth-first search, in time linear in the graph's size."""
    neighbours, visited, n_steps = case.graph.neighbours, {0}, 0
    stack = [iter(neighbours[0])]  # for each node on the way back, its neighbours that are still to be tried
    while len(visited) < case.graph.size:
        next_node = next((node for node in stack[-1] if node not in visited), None)
        n_steps += 1
        if next_node is None:
            stack.pop()
            continue
        visited.add(next_node)
        stack.append(iter(neighbours[next_node]))
    return n_steps


def breadth_first_steps(case: WalkGraph) -> int:
    """Return the number of steps of the published breadth-first search, which visits nothing twice."""
    return case.graph.size - 1


def prove(case: WalkGraph, steps: Callable[[WalkGraph], int]) -> dict[str, Json]:
    """Return the number of steps of the optimal policy ("minimum") and of independent cycles ("cycles")."""
    return {"minimum": steps(case), "cycles": case.graph.cycle_count}


def default_max_steps_depth_first(case: WalkGraph) -> int:
    """Return the default number of interactions of a depth-first search: 20 for 8 nodes, 30 for 13."""
    return 2 * case.graph.size + SPARE_DEPTH


def default_max_steps_breadth_first(case: WalkGraph) -> int:
    """Return the default number of interactions of a breadth-first search: 20 for 15 nodes, 30 for 25."""
    return case.graph.size + SPARE

"""Worlds of Atlas against a graph library: one shortest route, the certificate, and no shape twice."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import networkx
import numpy as np

from tests.gate._rate import Rate
from waybench.core import End, play_to_end, policy
from waybench.envs import registry
from waybench.envs.atlas._game import CONDITIONS, guess_rates_by_level
from waybench.envs.atlas._generate import WorldSource
from waybench.envs.atlas._world import World, decode, prove

KEY = "gate"
nx: Any = networkx


class WorldCheck(NamedTuple):
    """What was found of worlds of one level.

    Attributes:
        confirmed: How many the library confirms.
        repeated: How many have the shape of an earlier one.
    """

    confirmed: Rate
    repeated: Rate


def graph_of(world: World, closed: int = -1) -> Any:
    """Return a world as a graph, without a passage that is closed; each edge has the number of its passage."""
    graph: Any = nx.DiGraph()
    graph.add_nodes_from(range(len(world.names)))
    for number, (source, target, one_way) in enumerate(world.passages):
        if number != closed:
            graph.add_edge(source, target, passage=number)
            if not one_way:
                graph.add_edge(target, source, passage=number)
    return graph


def disagreements(world: World, level: int) -> list[str]:
    """Return where the library disagrees with a world or its certificate."""
    graph, proof = graph_of(world), prove(world)
    paths = list(nx.all_shortest_paths(graph, world.start, world.goal))
    steps = list(zip(world.story, world.story[1:], strict=False))
    around = graph_of(world, proof["closed"])
    checks = {
        "connected": nx.is_strongly_connected(graph),
        "one shortest route": len(paths) == 1 == proof["routes"],
        "its length": len(paths[0]) - 1 == level == proof["shortest"],
        "the way back": proof["back"] == nx.shortest_path_length(graph, world.goal, world.start),
        "the way round": proof["known"] == nx.shortest_path_length(around, world.start, world.goal),
        "the closure": _detours(world, graph, proof["closure"], paths[0]) == (proof["closed"], proof["detour"]),
        "the random walk": abs(_random_walk(world, graph, 2 * len(paths[0]) - 2) - proof["random_walk"]) < 1e-9,
        "places": len(world.names) == 4 * level + 8 == len(set(world.cells)) == len(set(world.names)),
        "the story's moves": all(graph.has_edge(*step) for step in steps),
        "the story's passages": {frozenset(step) for step in steps} == {frozenset(end[:2]) for end in world.passages},
        "JSON": decode(world.to_json()) == world,
    }
    return [name for name, is_so in checks.items() if not is_so]


def _detours(world: World, graph: Any, k: int, route: list[int]) -> tuple[int, int] | None:
    """Return the passage of the shortest route that is closed at distance k, and the moves with it.

    Returns:
        None if the goal cannot be reached after some passage from distance k to k - 1 is found closed.
    """
    far = dict(nx.single_target_shortest_path_length(graph, world.goal))
    outside = graph.subgraph([place for place in graph if far[place] >= k])
    reachable = nx.descendants(outside, world.start) | {world.start}
    onward: dict[int, int] = {}
    for here, there, number in graph.edges(reachable, data="passage"):
        if far[there] == k - 1:
            rest = nx.restricted_view(graph, [], [(here, there), (there, here)])
            if not nx.has_path(rest, here, world.goal):
                return None
            if route[-k - 1 : len(route) - k + 1] == [here, there]:
                onward[number] = len(route) - k + nx.shortest_path_length(rest, here, world.goal)
    [closure] = onward.items()
    return closure


def _random_walk(world: World, graph: Any, moves: int) -> float:
    """Return the success of a walk that turns straight back in dead ends only, from the powers of a matrix."""
    edges = list(graph.edges)
    numbers = {edge: number for number, edge in enumerate(edges)}
    step = np.zeros((len(edges) + 1, len(edges) + 1))  # the last state is the start, which no edge leads to at first
    for number, (before, place) in enumerate([*edges, (None, world.start)]):
        if place == world.goal:
            step[number, number] = 1
            continue
        onward = [after for after in graph[place] if after != before] or list(graph[place])
        step[number, [numbers[place, after] for after in onward]] = 1 / len(onward)
    state = np.zeros(len(edges) + 1)
    state[-1] = 1
    for _ in range(moves):
        state = state @ step
    return float(sum(state[number] for number, edge in enumerate(edges) if edge[1] == world.goal))


def shape(world: World) -> Hashable:
    """Return what a world has whatever its names, where it lies, and the order in which its passages are listed."""
    left, top = (min(side) for side in zip(*world.cells, strict=True))
    cells = [(x - left, y - top) for x, y in world.cells]
    edges: frozenset[Any] = frozenset(
        (cells[source], cells[target]) for source, target in list[Any](graph_of(world).edges)
    )
    return edges, cells[world.start], cells[world.goal]


def check_worlds(level: int, indices: Iterable[int]) -> WorldCheck:
    """Check the worlds with some numbers, of one level."""
    source, shapes = WorldSource(KEY, level, {"places": None}), set[int]()
    count = confirmed = 0
    for index in indices:
        world = source.instance(index)
        count += 1
        confirmed += not disagreements(world, level)
        shapes.add(hash(shape(world)))  # a hash of 64 bits: no two of 10^5 shapes are likely to share one
    return WorldCheck(Rate(confirmed, count), Rate(count - len(shapes), count))


def floor_rates(level: int, worlds: int, walks: int = 4) -> Iterator[tuple[str, Rate, float]]:
    """Yield condition, how often a random walk succeeds in worlds of a level, and the floor that horizons use."""
    env = registry.load("atlas/world")
    items = [env.source("floors", level).item(index) for index in range(worlds)]
    for condition in ("act", "detour", "known", "explore"):
        solved = sum(
            play_to_end(env, item, policy("random"), {"condition": condition}, attempt=walk + 1).end_reason
            is End.SOLVED
            for item in items
            for walk in range(walks)
        )
        yield condition, Rate(solved, worlds * walks), guess_rates_by_level(CONDITIONS[condition])[level]

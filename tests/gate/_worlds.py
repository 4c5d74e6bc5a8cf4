"""Worlds of Atlas against a graph library: one shortest route, the certificate, and no shape twice."""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import networkx

from tests.gate._rate import Rate
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
    """Return a world as a graph, without a passage that is closed."""
    graph: Any = nx.DiGraph()
    graph.add_nodes_from(range(len(world.names)))
    for number, (source, target, one_way) in enumerate(world.passages):
        if number != closed:
            graph.add_edge(source, target)
            if not one_way:
                graph.add_edge(target, source)
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
        "places": len(world.names) == 4 * level + 8 == len(set(world.cells)) == len(set(world.names)),
        "the story's moves": all(graph.has_edge(*step) for step in steps),
        "the story's passages": {frozenset(step) for step in steps} == {frozenset(end[:2]) for end in world.passages},
        "JSON": decode(world.to_json()) == world,
    }
    return [name for name, is_so in checks.items() if not is_so]


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

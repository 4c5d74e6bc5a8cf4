"""Maps of places: all simple paths, against the libraries that list them too."""

import hashlib
import json
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import igraph
import networkx as nx
import rustworkx as rx

from benchmarks._timing import Comparison, Memory, compare
from waybench._scoring import score_line
from waybench.core import Stream, UsageError, play_to_end, policy
from waybench.data import locate_file
from waybench.envs import registry
from waybench.envs.textmap._instances import published_map
from waybench.envs.textmap._paths import PathCounts, Paths
from waybench.envs.textmap._place_map import Edge, PlaceMap
from waybench.envs.textmap._questions import destination_questions

_LINES = 200

PART = 10_000  # paths of a large map of which questions are made


def textmaps() -> Iterator[Comparison | Memory]:
    """Count, list and draw paths of a published map, of a made-up one of the size of the largest, and of a grid."""
    large, grid = _large(), _grid(5)
    yield _counted(large)
    yield _drawn(large)
    yield _asked(large)
    small = _published("zork1")
    for place_map in small:  # networkx is too slow for larger maps
        yield _against_networkx(place_map)
    for place_map in [*small, large, grid]:
        yield _against_rustworkx(place_map)
        yield _against_igraph(place_map)
    yield _memory(large)
    yield _scored()


def _published(name: str) -> list[PlaceMap]:
    try:
        return [published_map(name, locate_file)]
    except UsageError:  # not fetched
        return []


def _map(name: str, joins: list[tuple[int, int]]) -> PlaceMap:
    """Return a map of numbered places, each join of which can be gone both ways."""
    edges = [
        Edge(f"place {source}", f"place {target}", f"to {target}", 1, 1, 1, 1)
        for join in joins
        for source, target in (join, join[::-1])
    ]
    places = tuple(sorted({edge.source for edge in edges}))
    return PlaceMap(name, places, tuple(sorted({edge.action for edge in edges})), tuple(edges), ())


def _grid(size: int) -> PlaceMap:
    joins = [(at, at + size) for at in range(size * (size - 1))]
    joins += [(at, at + 1) for at in range(size * size) if (at + 1) % size]
    return _map(f"grid {size} × {size}", joins)


def _large() -> PlaceMap:
    return _stand_in("stand-in", 114, 2_600_000)


def _stand_in(key: str, size: int, most: int) -> PlaceMap:
    """Return a map like those of games: a tree with some further joins nearby, as long as it has not too many paths."""
    rng = Stream("bench", key)
    joins = [(number, max(0, number - 1 - rng.below(4))) for number in range(1, size)]
    place_map = _map(key, joins)
    refused = 0
    while refused < 20:
        first = rng.below(size - 8)
        join = (first, first + 2 + rng.below(6))
        if join in joins or join[::-1] in joins:
            continue
        larger = _map(key, [*joins, join])
        try:
            total = Paths(larger, budget=most).count_paths().total
        except UsageError:
            refused += 1
            continue
        place_map, joins = larger, [*joins, join]
        if total > 0.9 * most:
            break
    return place_map


def _told(place_map: PlaceMap) -> str:
    return f"{place_map.name} ({len(place_map.places)} places, {len(place_map.edges)} moves)"


def _listed(place_map: PlaceMap) -> int:
    """List paths move by move, and return the number of moves."""
    return sum(len(block.moves) for block in Paths(place_map).blocks())


def _rounds(count: int) -> int:
    """Return how often to list so many paths."""
    return 2 if count > PART else 20


def _against_networkx(place_map: PlaceMap) -> Comparison:
    graph = nx.MultiDiGraph()
    for number, edge in enumerate(place_map.edges):
        graph.add_edge(edge.source, edge.target, number)
    counts, names = Paths(place_map).count_paths().pairs, place_map.places
    pairs = [(names[i], names[j]) for i, j in zip(*counts.nonzero(), strict=True)]

    def theirs() -> int:
        return sum(len(path) for pair in pairs for path in nx.all_simple_edge_paths(graph, *pair))

    assert _listed(place_map) == theirs()
    told = f"listing the moves of the paths of all pairs, {_told(place_map)}"
    against, count = "networkx, pair by pair", int(counts.sum())
    return compare(told, lambda: _listed(place_map), theirs, against=against, count=count, unit="paths")


def _against_rustworkx(place_map: PlaceMap) -> Comparison:
    graph = _as_rustworkx(place_map)

    def theirs() -> int:
        all_paths = rx.all_pairs_all_simple_paths(graph)
        return sum(len(paths) for targets in all_paths.values() for paths in targets.values())

    told = f"listing the moves of all paths, {_told(place_map)}"
    count = theirs()
    assert count == Paths(place_map).count_paths().total
    against = "rustworkx (compiled), places instead of moves"
    return compare(
        told, lambda: _listed(place_map), theirs, against=against, count=count, unit="paths", rounds=_rounds(count)
    )


def _as_rustworkx(place_map: PlaceMap) -> rx.PyDiGraph[str, None]:
    graph: rx.PyDiGraph[str, None] = rx.PyDiGraph()
    number = {name: number for number, name in enumerate(place_map.places)}
    graph.add_nodes_from(place_map.places)
    graph.add_edges_from([(number[edge.source], number[edge.target], None) for edge in place_map.edges])
    return graph


def _against_igraph(place_map: PlaceMap) -> Comparison:
    number = {name: number for number, name in enumerate(place_map.places)}
    joins = [(number[edge.source], number[edge.target]) for edge in place_map.edges]
    graph = igraph.Graph(len(number), joins, directed=True)

    def theirs() -> int:
        return sum(len(graph.get_all_simple_paths(node, mode="out")) for node in range(len(number)))

    # It takes moves between the same two places for one, so that it lists fewer paths where there are such.
    count = Paths(place_map).count_paths().total
    assert theirs() <= count
    against, told = "igraph (compiled), places instead of moves", f"listing the moves of all paths, {_told(place_map)}"
    return compare(
        told, lambda: _listed(place_map), theirs, against=against, count=count, unit="paths", rounds=_rounds(count)
    )


def _scored() -> Comparison:
    """Score stored replies of the oracle, as `waybench score` does."""
    environment = registry.load("textmap/route")
    lines: list[bytes] = []
    for item in environment.source("bench", 3).head(_LINES):
        reply = play_to_end(environment, item, policy("oracle")).turns[0].reply
        instance = item.instance.to_json()
        lines.append(json.dumps({"env": environment.id, "instance": instance, "replies": [reply]}).encode())

    def ours() -> int:
        return sum(score_line(line, 1)["metrics"]["success"] for line in lines)

    def theirs() -> int:
        return sum(len(json.loads(line)) for line in lines)

    assert ours() == len(lines)
    return compare(
        f"scoring {_LINES} stored answers about maps of 16 to 31 places, each with its whole map",
        ours,
        theirs,
        against="parsing the lines as JSON alone",
        count=len(lines),
        unit="answers",
    )


def _memory(place_map: PlaceMap) -> Memory:
    """Compare the memory of passing through all paths of a map with that of holding them all, as rustworkx does."""
    alone, ours, rustworkx = (_peak(way) for way in ("import", "waybench", "rustworkx"))
    told = f"passing through all {Paths(place_map).count_paths().total:,} paths, move by move, {_told(place_map)}"
    return Memory(told, ours - alone, rustworkx - alone, "rustworkx, which holds them all")


def _peak(way: str) -> int:
    """Return the greatest size of a process of its own, in bytes, that lists the paths in one way."""
    code = f"from benchmarks._textmaps import list_all; list_all({way!r})"
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def list_all(way: str) -> None:
    """List the paths of the large map in one way, and print the greatest size of the process in bytes.

    Args:
        way: "waybench", "rustworkx", or "import" for what both begin with.
    """
    place_map = _large()
    if way == "waybench":
        _listed(place_map)
    if way == "rustworkx":
        rx.all_pairs_all_simple_paths(_as_rustworkx(place_map))
    print(peak_of_this())


def peak_of_this() -> int:
    """Return the greatest size of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # Unlike getrusage, it does not begin with the size of the process that started this one.
        (kibibytes,) = re.findall(r"VmHWM:\s+(\d+)", status.read_text(encoding="utf-8"))
        return 1024 * int(kibibytes)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _counted(place_map: PlaceMap) -> Comparison:
    total = Paths(place_map).count_paths().total
    told, against = f"counting all {total:,} paths, {_told(place_map)}", "listing their moves"

    def ours() -> PathCounts:
        return Paths(place_map).count_paths()

    return compare(told, ours, lambda: _listed(place_map), against=against, count=total, unit="paths")


def _drawn(place_map: PlaceMap) -> Comparison:
    total = Paths(place_map).count_paths().total
    told, against = f"drawing 100 of {total:,} paths, {_told(place_map)}", "listing them"

    def ours() -> object:
        return Paths(place_map).sample_paths(100, Stream("bench"))

    return compare(told, ours, lambda: _listed(place_map), against=against, count=total, unit="paths passed")


def _asked(place_map: PlaceMap) -> Comparison:
    """Make questions, with their ids and labels, of the first paths of a map."""

    def ours() -> int:
        return sum(1 for _ in islice(destination_questions(place_map), PART))

    def theirs() -> int:
        paths = (path.tolist() for block in Paths(place_map).blocks() for path in block)
        edges = ([place_map.edges[number] for number in path] for path in islice(paths, PART))
        texts = (json.dumps([edge._asdict() for edge in path]) for path in edges)
        return sum(len(hashlib.sha256(text.encode()).hexdigest()) for text in texts)

    told = f"questions with ids and labels of {PART:,} paths, {_told(place_map)}"
    return compare(told, ours, theirs, against="JSON and hash alone", count=PART, unit="questions")

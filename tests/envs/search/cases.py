"""Cases for tests, and searches that owe nothing to the code under test."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

import waybench
from waybench.core import Episode, Reply

NUMBERS = ("guessnum", "coin")
WALKS = ("dfs", "cavedfs", "bfs", "cavebfs")
PROTOCOLS = ("paper", "sound")

Data = dict[str, Any]
Edges = Sequence[tuple[int, int]]
Choose = Callable[[list[int]], int]


def number(target: int, low: int = 32, high: int = 32800) -> Data:
    """Return a number to be guessed, of EASY mode by default."""
    return {"target": target, "min": low, "max": high}


def graph(*edges: tuple[int, int]) -> Data:
    """Return a graph of all nodes up to the greatest one in its edges."""
    return {"nodes": list(range(max(map(max, edges)) + 1)), "edges": [list(edge) for edge in edges]}


# 0 - 4 - 3 and 0 - 2 - (1, 5); the neighbours of 0 are shown as "4, 2".
TREE = graph((0, 4), (0, 2), (1, 2), (2, 5), (3, 4))
# A square 0 - 1 - 2 - 3 - 0 with a tail 2 - 4.
SQUARE = graph((0, 1), (1, 2), (2, 3), (0, 3), (2, 4))
EASY = number(5022)


def data_of(env: str) -> Data:
    """Return a case of an environment."""
    return EASY if env in NUMBERS else TREE


def after(env: str, data: Data, *replies: Reply | str, examples: Sequence[Data] = (), **options: Any) -> Any:
    """Return an episode after some replies."""
    environment = waybench.load(f"search/{env}")
    episode: Episode[Any, Any, Any] = Episode(environment, environment.item(data, examples), options)
    for reply in replies:
        episode.step(reply)
    return episode


def outcomes(episode: Any) -> list[str]:
    """Return what each turn came to."""
    return [str(turn.outcome) for turn in episode.turns]


def measured(episode: Any) -> dict[str, Any]:
    """Return the metrics."""
    record = episode.record()
    return {metric.name: metric.of(record) for metric in episode.environment.scoring.metrics}


def solved(env: str, data: Data, walk: Sequence[int], **options: Any) -> Any:
    """Return an episode after visits or guesses, with no other limit than their number."""
    return after(env, data, *map(str, walk), examples=(), **{"max_steps": 10**6, **options})


@st.composite
def trees(draw: st.DrawFn, most: int = 14, extra: int = 0) -> Data:
    """Draw a tree with random names for its nodes, in random order, and up to so many edges beyond it."""
    size = draw(st.integers(2, most))
    names = draw(st.permutations(range(size)))
    pairs = {frozenset((names[node], names[draw(st.integers(0, node - 1))])) for node in range(1, size)}
    node = st.integers(0, size - 1)
    pairs |= {frozenset(pair) for pair in draw(st.lists(st.tuples(node, node), max_size=extra)) if pair[0] != pair[1]}
    edges = draw(st.permutations(sorted(sorted(pair) for pair in pairs)))
    return {"nodes": list(range(size)), "edges": edges}


def neighbours(data: Data) -> list[list[int]]:
    """Return each node's neighbours in the order of the edges."""
    found: list[list[int]] = [[] for _ in data["nodes"]]
    edges: Edges = data["edges"]
    for u, v in edges:
        found[u].append(v)
        found[v].append(u)
    return found


def depth_first(data: Data, choose: Choose) -> Iterator[int]:
    """Walk depth first until every node is visited, to a chosen one of the unvisited neighbours."""
    beside, stack, seen = neighbours(data), [0], {0}
    while len(seen) < len(beside):
        new = [node for node in beside[stack[-1]] if node not in seen]
        if new:
            stack.append(choose(new))
            seen.add(stack[-1])
        else:
            stack.pop()
        yield stack[-1]


def breadth_first(data: Data, choose: Choose) -> Iterator[int]:
    """Visit level by level, in a chosen order within each."""
    beside, seen, level = neighbours(data), {0}, [0]
    while level:
        level = list(dict.fromkeys(other for node in level for other in beside[node] if other not in seen))
        seen |= set(level)
        left = list(level)
        while left:
            left.remove(node := choose(left))
            yield node


def depths(data: Data) -> list[int]:
    """Return each node's distance from node 0."""
    beside, found = neighbours(data), {0: 0}
    for node in (queue := [0]):
        for other in beside[node]:
            if other not in found:
                found[other] = found[node] + 1
                queue.append(other)
    return [found[node] for node in data["nodes"]]

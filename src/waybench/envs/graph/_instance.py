"""A question about a graph, as data: the graph follows from a few numbers."""

import json
import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from waybench.core import DataError, Instance, Json, Stream, check_fields, is_object
from waybench.envs.graph._component import component

VERSION = 1  # of the generator; part of every seed
QUESTIONS = ("path", "reachable")
LEAST_DISTANCE, MOST_DISTANCE = 2, 10
MOST_NODES = 600_000
FIRST_NAME, NAMES = 100_000, 900_000  # names of nodes have six digits each, so that every edge is as long as any other
MOST_LEVEL = 2_000
_SEED = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Question(Instance):
    """A question about two nodes of a graph.

    Attributes:
        question: "path" or "reachable".
        seed: 32 hexadecimal digits, from which names and order follow.
        distance: Edges of the shortest path, or of the one there would be.
        components: Number of components of the graph.
        reachable: Whether there is a path.
        level: The greatest number of tokens of the prompt, in thousands.
        tokenizer: The name of the tokenizer.
        tokens: The prompt's number of tokens.
    """

    question: str
    seed: str
    distance: int
    components: int
    reachable: bool
    level: int
    tokenizer: str
    tokens: int

    def canonical(self) -> str:
        """Return the JSON text with sorted keys."""
        return json.dumps(self.to_json(), sort_keys=True)

    def to_json(self) -> Json:
        """Return the fields."""
        return asdict(self)

    @property
    def ends(self) -> tuple[int, int]:
        """The names of the two nodes: of the first component's start, and of its goal or the second one's."""
        graph, shape = graph_of(self), component(self.distance)
        return graph.names[0], graph.names[shape.shortest[-1] + (0 if self.reachable else shape.nodes)]

    @property
    def shortest(self) -> tuple[int, ...]:
        """The shortest path, in names of nodes; without one, the way to the node that stands in the goal's place."""
        names = graph_of(self).names
        return tuple(names[node] for node in component(self.distance).shortest)


class Graph(NamedTuple):
    """A graph of equal components.

    Attributes:
        names: The names of all nodes, component by component.
        number: Name -> the node's number among all.
    """

    names: tuple[int, ...]
    number: dict[int, int]


@lru_cache(maxsize=4)
def _graph(seed: str, nodes: int) -> Graph:
    stream = Stream("graph", VERSION, seed, "names")
    number: dict[int, int] = {}
    while len(number) < nodes:
        name = FIRST_NAME + stream.below(NAMES)
        if name not in number:
            number[name] = len(number)
    return Graph(tuple(number), number)


def graph_of(question: Question) -> Graph:
    """Return the graph. The names of a component are the same however many components follow it."""
    return _graph(question.seed, question.components * component(question.distance).nodes)


def neighbours(question: Question, name: int) -> tuple[int, ...]:
    """Return the names of a node's neighbours; none for a name that no node has."""
    graph, shape = graph_of(question), component(question.distance)
    number = graph.number.get(name)
    if number is None:
        return ()
    first = number - number % shape.nodes
    return tuple(graph.names[first + node] for node in shape.neighbours[number - first])


@lru_cache(maxsize=2)
def edge_lines(seed: str, distance: int, components: int) -> str:
    """Return the lines of the edges, in random order, the two names of each in random order."""
    shape = component(distance)
    names = _graph(seed, components * shape.nodes).names
    stream = Stream("graph", VERSION, seed, "order", components)
    edges = [
        (names[first + one], names[first + other])
        for first in range(0, len(names), shape.nodes)
        for one, other in shape.edges
    ]
    stream.shuffle(edges)
    lines: list[str] = []
    for start in range(0, len(edges), 64):  # a word has the bits of 64 edges
        bits = stream.word()
        for one, other in edges[start : start + 64]:
            lines.append(f"{one} {other}" if bits & 1 else f"{other} {one}")
            bits >>= 1
    return "\n".join(lines)


def decode(data: Json) -> Question:
    """Read a question.

    Raises:
        DataError: If it is none.
    """
    check_fields(data, tuple(Question.__slots__), "graph")
    if not is_object(data):
        raise DataError("graph: not an object")
    values: dict[str, Any] = data
    if values.keys() != set(Question.__slots__):
        raise DataError(f"graph: needs exactly the fields {', '.join(Question.__slots__)}")
    numbers = {"distance": (LEAST_DISTANCE, MOST_DISTANCE), "level": (1, MOST_LEVEL), "tokens": (1, 1_000 * MOST_LEVEL)}
    for name, (low, high) in {**numbers, "components": (2, MOST_NODES)}.items():
        if type(values[name]) is not int or not low <= values[name] <= high:
            raise DataError(f"graph: {name} is no whole number from {low} to {high}")
    if values["question"] not in QUESTIONS:
        raise DataError(f"graph: question is none of {', '.join(QUESTIONS)}")
    if not isinstance(values["seed"], str) or not _SEED.fullmatch(values["seed"]):
        raise DataError("graph: seed is not 32 hexadecimal digits")
    if not isinstance(values["reachable"], bool) or (values["question"] == "path" and not values["reachable"]):
        raise DataError("graph: reachable is not true or false, or there is no path to find")
    if not isinstance(values["tokenizer"], str) or not 1 <= len(values["tokenizer"]) <= 200:
        raise DataError("graph: tokenizer is no name of at most 200 characters")
    if values["components"] * component(values["distance"]).nodes > MOST_NODES:
        raise DataError(f"graph: more than {MOST_NODES:,} nodes")
    return Question(**values)

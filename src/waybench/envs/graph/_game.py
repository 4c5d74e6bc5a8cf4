"""Questions about a graph: instances, rules, wording and players."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, cast

from waybench.core import (
    ActionTool,
    AnswerState,
    DataError,
    DataInstance,
    Field,
    Invalid,
    Json,
    Judgement,
    OneAnswerGame,
    OneAnswerWording,
    Outcome,
    Player,
    Stream,
    ToolCall,
    json_excerpt,
    last_json_object,
)

CHAIN = 2  # nodes of the dead end at each node of the two paths
_WORD_BITS = 64  # of a number from `Stream.word`


class Component(NamedTuple):
    """A connected graph of nodes from 0 with two paths between two of them; `shortest` has the shorter path's nodes."""

    nodes: int
    edges: tuple[tuple[int, int], ...]
    shortest: tuple[int, ...]
    neighbours: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=16)
def make_component(distance: int) -> Component:
    """Return the component whose ends are a distance of at least 1 apart.

    One path between the ends has `distance` edges, and one has two more. At each node of both begins a dead end of two
    nodes, so every node of a path has three neighbours, the ends included. The component has 6 * (distance + 1) nodes,
    and as many edges.
    """
    shortest = tuple(range(distance + 1))
    longer = (0, *range(distance + 1, 2 * distance + 2), distance)
    edges = [*pairwise(shortest), *pairwise(longer)]
    n_path_nodes = 2 * distance + 2
    for node in range(n_path_nodes):
        first = n_path_nodes + CHAIN * node
        edges += pairwise((node, *range(first, first + CHAIN)))
    n_nodes = n_path_nodes * (1 + CHAIN)
    neighbours: list[list[int]] = [[] for _ in range(n_nodes)]
    for start, end in edges:
        neighbours[start].append(end)
        neighbours[end].append(start)
    return Component(n_nodes, tuple(edges), shortest, tuple(tuple(sorted(others)) for others in neighbours))


VERSION = 1  # of the generator; part of every seed
QUESTIONS = ("path", "reachable")
LEAST_DISTANCE, MOST_DISTANCE = 2, 10
MOST_NODES = 600_000
FIRST_NAME, N_NAMES = 100_000, 900_000  # names have six digits each, so that every edge is as long as any other
MOST_LEVEL = 2_000
_SEED = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class GraphQuestion(DataInstance):
    """A question about two nodes of a graph.

    Attributes:
        question: "path" or "reachable".
        seed: 32 hexadecimal digits, from which names and order follow.
        distance: Edges of the shortest path, or of the one there would be.
        reachable: Whether there is a path.
        level: The greatest number of tokens of the prompt, in thousands.
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

    @property
    def end_names(self) -> tuple[int, int]:
        """The names of the two nodes asked about: a start, and its goal, in the next component if unreachable."""
        names, component = graph_of(self).names, make_component(self.distance)
        goal = component.shortest[-1]
        return names[0], names[goal if self.reachable else component.nodes + goal]

    @property
    def shortest_path(self) -> tuple[int, ...]:
        """The names of the nodes of the first component's shortest path, which leads to the goal if it is reachable."""
        names = graph_of(self).names
        return tuple(names[node] for node in make_component(self.distance).shortest)


class ComponentGraph(NamedTuple):
    """The names of all nodes of a graph of equal components, component by component, and their numbers by name."""

    names: tuple[int, ...]
    number: dict[int, int]


@lru_cache(maxsize=4)
def _draw_graph(seed: str, nodes: int) -> ComponentGraph:
    """Draw distinct names for the nodes of a graph."""
    stream = Stream("graph", VERSION, seed, "names")
    number: dict[int, int] = {}
    while len(number) < nodes:
        name = FIRST_NAME + stream.below(N_NAMES)
        if name not in number:
            number[name] = len(number)
    return ComponentGraph(tuple(number), number)


def graph_of(question: GraphQuestion) -> ComponentGraph:
    """Return the graph of a question; a component's names are the same however many components follow it."""
    return _draw_graph(question.seed, question.components * make_component(question.distance).nodes)


def neighbours(question: GraphQuestion, name: int) -> tuple[int, ...]:
    """Return the names of a node's neighbours; () if no node has this name."""
    graph, component = graph_of(question), make_component(question.distance)
    number = graph.number.get(name)
    if number is None:
        return ()
    first = number - number % component.nodes  # the first node of the node's component
    return tuple(graph.names[first + node] for node in component.neighbours[number - first])


@lru_cache(maxsize=2)
def edge_lines(seed: str, distance: int, components: int) -> str:
    """Return the edges as text, a line each, in random order and with the two names of each in random order."""
    component = make_component(distance)
    names = _draw_graph(seed, components * component.nodes).names
    stream = Stream("graph", VERSION, seed, "order", components)
    edges = [
        (names[first + start], names[first + end])
        for first in range(0, len(names), component.nodes)
        for start, end in component.edges
    ]
    stream.shuffle(edges)
    lines: list[str] = []
    for start in range(0, len(edges), _WORD_BITS):  # a bit of a word for the order of each edge's names
        bits = stream.word()
        for first_name, second_name in edges[start : start + _WORD_BITS]:
            lines.append(f"{first_name} {second_name}" if bits & 1 else f"{second_name} {first_name}")
            bits >>= 1
    return "\n".join(lines)


def decode(data: Json) -> GraphQuestion:
    """Read a question; raise DataError for anything else."""
    question = GraphQuestion.from_json(data, "graph")
    numbers = {"distance": (LEAST_DISTANCE, MOST_DISTANCE), "level": (1, MOST_LEVEL), "tokens": (1, 1_000 * MOST_LEVEL)}
    for name, (low, high) in {**numbers, "components": (2, MOST_NODES)}.items():
        if not low <= getattr(question, name) <= high:
            raise DataError(f"graph: {name} is no whole number from {low} to {high}")
    if question.question not in QUESTIONS:
        raise DataError(f"graph: question is none of {', '.join(QUESTIONS)}")
    if not _SEED.fullmatch(question.seed):
        raise DataError("graph: seed is not 32 hexadecimal digits")
    if question.question == "path" and not question.reachable:
        raise DataError("graph: there is no path to find")
    if not 1 <= len(question.tokenizer) <= 200:
        raise DataError("graph: tokenizer is no name of at most 200 characters")
    if question.components * make_component(question.distance).nodes > MOST_NODES:
        raise DataError(f"graph: more than {MOST_NODES:,} nodes")
    return question


Answer = tuple[int, ...] | bool
GraphState = AnswerState[GraphQuestion]
LONGEST = 10_000  # nodes of an answer


class GraphGame(OneAnswerGame[GraphQuestion, Answer]):
    """A question about a graph, with one answer."""

    def answers(self, instance: GraphQuestion) -> Sequence[Answer]:
        """Return yes and no, or the paths of one edge from the start."""
        if instance.question == "reachable":
            return (True, False)
        start, _ = instance.end_names
        return [(start, node) for node in neighbours(instance, start)]

    def judge(self, instance: GraphQuestion, answer: Answer) -> Judgement:
        """Judge an answer; the events say whether the ends of a path are right ("ends") and what its steps are.

        "invented" counts steps that are no edges, and "excess" the edges of a path between the right ends beyond the
        shortest.
        """
        if instance.question == "reachable":
            return Judgement(float(answer is instance.reachable), outcome=Outcome.OK)
        path = answer if isinstance(answer, tuple) else ()
        has_right_ends = len(path) >= 2 and (path[0], path[-1]) == instance.end_names
        n_invented = sum(after not in neighbours(instance, before) for before, after in pairwise(path))
        events: dict[str, Json] = {"ends": has_right_ends, "invented": n_invented}
        if has_right_ends and not n_invented:
            events["excess"] = len(path) - 1 - instance.distance
        return Judgement(float(events.get("excess") == 0), events, Outcome.OK)

    def encode(self, action: Answer) -> Json:
        return list(action) if isinstance(action, tuple) else action

    def decode(self, action: Json) -> Answer:
        """Read an answer from JSON; DataError if it is none."""
        if isinstance(action, bool):
            return action
        if isinstance(action, list | tuple):
            nodes = cast("Sequence[Any]", action)
            if len(nodes) <= LONGEST and all(type(node) is int for node in nodes):
                return tuple(nodes)
        raise DataError("graph: an answer is true, false or a list of nodes")

    def perturb(self, state: GraphState, action: Answer, rate: float, rng: Stream) -> Answer:
        """Redirect each step of a path to any neighbour with the given rate; negate a yes or no with that rate."""
        if not isinstance(action, tuple):
            return (not action) if rng.random() < rate else action
        path = list(action)
        for number in range(1, len(path)):
            if rng.random() < rate:
                path[number] = rng.choice(neighbours(state.instance, path[number - 1]) or (path[number],))
        return tuple(path)


_INTRODUCTION = (
    "The lines below are the edges of an undirected graph. The nodes are numbers of six digits, and each line has the "
    "two nodes that an edge joins."
)
_QUESTION_TEXTS = {
    "path": "What is a shortest path from node {0} to node {1}? A path goes from node to node along edges. Reply with "
    'a JSON object that has all nodes of the path in order: {{"path": [{0}, ..., {1}]}}',
    "reachable": "Is there a path along edges from node {0} to node {1}? Reply with a JSON object: "
    '{{"reachable": true}} or {{"reachable": false}}',
}

_TOOLS = {
    "path": ActionTool(
        "answer_path",
        "Answer with a path.",
        {
            "path": {
                "type": "array",
                "items": {"type": "integer"},
                "maxItems": LONGEST,
                "description": "All nodes of the path in order, from the first node to the second.",
            }
        },
    ),
    "reachable": ActionTool(
        "answer_reachable",
        "Answer whether there is a path.",
        {"reachable": {"type": "string", "enum": ["yes", "no"], "description": "Whether there is a path."}},
    ),
}


def question_text(question: GraphQuestion) -> str:
    """Return the question with the form of the reply."""
    return _QUESTION_TEXTS[question.question].format(*question.end_names)


def prompt(question: GraphQuestion) -> str:
    """Return the whole prompt: the introduction, the edges and the question."""
    lines = edge_lines(question.seed, question.distance, question.components)
    return f"{_INTRODUCTION}\n\n{lines}\n\n{question_text(question)}"


class EdgeList(OneAnswerWording[GraphQuestion, Answer]):
    """The graph as a list of edges."""

    name = "edges"
    rule_fields: Sequence[Field[GraphQuestion]] = (
        Field("introduction", "What the lines mean.", lambda question: _INTRODUCTION),
        Field(
            "edges",
            "The edges, a line each.",
            lambda question: edge_lines(question.seed, question.distance, question.components),
        ),
        Field("question", "The question, and the form of the reply.", question_text),
        Field("start", "The first of the two nodes.", lambda question: str(question.end_names[0])),
        Field("goal", "The second of the two nodes.", lambda question: str(question.end_names[1])),
    )

    def rules(self, instance: GraphQuestion) -> str:
        return prompt(instance)

    def parse(self, reply: str, state: GraphState) -> Answer | Invalid:
        key = state.instance.question
        reply_object = last_json_object(reply, key)
        if isinstance(reply_object, Invalid):
            return reply_object
        if reply_object.duplicate is not None:
            return Invalid(f'The object has the key "{reply_object.duplicate[:40]}" twice.')
        return _read_answer(key, reply_object[key])

    def tools(self, state: GraphState) -> Sequence[ActionTool]:
        return (_TOOLS[state.instance.question],)

    def parse_call(self, call: ToolCall, state: GraphState) -> Answer | Invalid:
        key = state.instance.question
        value = call.arguments[key]
        return value == "yes" if key == "reachable" else _read_answer(key, value)

    def render_call(self, action: Answer, state: GraphState) -> ToolCall:
        key = state.instance.question
        value = list(action) if isinstance(action, tuple) else ("yes" if action else "no")
        return ToolCall(_TOOLS[key].name, {key: value})

    def render(self, action: Answer, state: GraphState) -> str:
        if isinstance(action, tuple):
            return f'{{"path": [{", ".join(map(str, action))}]}}'
        return f'{{"reachable": {"true" if action else "false"}}}'


def _read_answer(key: str, value: Json) -> Answer | Invalid:
    """Read the value of an answer's key: a yes or no, or a path."""
    if key == "reachable":
        return (
            value if isinstance(value, bool) else Invalid(f'"reachable" is {json_excerpt(value)}, not true or false.')
        )
    if not isinstance(value, list):
        return Invalid(f'"path" is {json_excerpt(value)}, not a list of nodes.')
    nodes = cast("list[Any]", value)
    if len(nodes) > LONGEST:
        return Invalid(f"The path has {len(nodes):,} nodes; at most {LONGEST:,} are read.")
    for node in nodes:
        if type(node) is not int:
            return Invalid(f'"path" has {json_excerpt(node)}, which is no node.')
    return tuple(nodes)


_LONGEST = 1_000  # steps of a walk at random


def oracle(state: GraphState, rng: Stream) -> Answer:
    """Return the right answer."""
    question = state.instance
    return question.shortest_path if question.question == "path" else question.reachable


def heuristic(state: GraphState, rng: Stream) -> Answer:
    """Return the path that a depth-first search finds, lower numbers first; whether it is the shortest is chance.

    The answer to a question whether there is a path is always yes.
    """
    question = state.instance
    if question.question == "reachable":
        return True
    start, goal = question.end_names
    parents, stack = {start: start}, [start]
    while stack and goal not in parents:
        node = stack.pop()
        for name in sorted(neighbours(question, node), reverse=True):
            if name not in parents:
                parents[name] = node
                stack.append(name)
    reversed_path = [goal]
    while reversed_path[-1] != start:
        reversed_path.append(parents[reversed_path[-1]])
    return tuple(reversed(reversed_path))


def random(state: GraphState, rng: Stream) -> Answer:
    """Return a walk at random up to the goal, or yes or no at random."""
    question = state.instance
    if question.question == "reachable":
        return bool(rng.below(2))
    start, goal = question.end_names
    walk = [start]
    while walk[-1] != goal and len(walk) <= _LONGEST:
        walk.append(rng.choice(neighbours(question, walk[-1])))
    return tuple(walk)


PLAYERS: Mapping[str, Player[GraphState, Answer]] = {"oracle": oracle, "heuristic": heuristic, "random": random}

"""The drawing of a question: the component of its start, the shortest path, and the path of the answer."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from waybench._svg import Point, box, circle, line, path, texts
from waybench.core import Scene, TurnRecord
from waybench.envs.graph._game import CHAIN, GraphGame, GraphQuestion, component, graph_of

_SPACE, _CHAIN, _MARGIN = 64, 26, 40  # pixels: between nodes of a way, in a dead end, around


def _positions(distance: int) -> list[Point]:
    """Return where the nodes of a component are: the two ways above each other, their dead ends outwards."""
    top, bottom = _MARGIN + CHAIN * _CHAIN, _MARGIN + CHAIN * _CHAIN + _SPACE
    ways: list[Point] = [(_MARGIN + _SPACE * step, y) for y in (top, bottom) for step in range(distance + 1)]
    # In the order of `component`.
    ends = [(x, y + (step if y == bottom else -step) * _CHAIN) for x, y in ways for step in range(1, CHAIN + 1)]
    return [*ways, *ends]


def scene(question: GraphQuestion, turns: Sequence[TurnRecord]) -> Scene:
    """Draw the component of the start; the names of a path that lead out of it are not drawn."""
    shape, graph, positions = component(question.distance), graph_of(question), _positions(question.distance)
    number = {name: node for node, name in enumerate(graph.names[: shape.nodes])}

    def lines(pairs: Iterable[Sequence[int]]) -> list[str]:
        return [line([positions[start], positions[end]]) for start, end in pairs]

    answer = GraphGame().decode(turns[-1].carried_out) if turns and turns[-1].carried_out is not None else ()
    names = [number.get(name) for name in answer] if isinstance(answer, tuple) else []
    steps = [(a, b) for a, b in pairwise(names) if a is not None and b is not None]
    edges = [step for step in steps if step[1] in shape.neighbours[step[0]]]
    start, (goal_x, goal_y) = shape.shortest[0], positions[shape.shortest[-1]]
    ways = 2 * question.distance + 2
    labels = [
        (x, y + 18 if node <= question.distance else y - 8, graph.names[node])
        for node, (x, y) in enumerate(positions[:ways])
    ]
    shortest = lines(pairwise(shape.shortest)) if question.reachable else []
    parts = [
        path("textmap-shortest reference", "#e69f00", 9, shortest, 'stroke-opacity="0.55"'),
        path("textmap-edge", "#8a8f98", 1.5, lines(shape.edges)),
        path("textmap-way", "#0072b2", 3.5, lines(edges)),
        path(
            "textmap-wrong",
            "#d55e00",
            2.5,
            lines(step for step in steps if step not in edges),
            'stroke-dasharray="5 4"',
        ),
        *(circle("textmap-place", "#5b6069", 0, at, 4) for at in positions),
        circle("textmap-start", "#009e73", 2.5, positions[start], 8),
        box("textmap-goal", "#009e73", 2.5, (goal_x - 8, goal_y - 8), (16, 16)) if question.reachable else "",
        texts("textmap-name", labels, 10),
    ]
    others = question.components - 1
    label = f"Graph of {question.components * shape.nodes:,} nodes; the part with the start, without {others:,} others"
    width = 2 * _MARGIN + _SPACE * question.distance
    return Scene("textmap", label, (width, 2 * _MARGIN + _SPACE + 2 * CHAIN * _CHAIN), parts)

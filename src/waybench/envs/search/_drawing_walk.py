"""A walk through a graph as a scene, and as a picture in messages."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import hypot
from typing import NamedTuple

from waybench._svg import ROUND, circle, cross, group, line, path, point, text, texts
from waybench.core import Images, Outcome, Picture, Scene, Stream, TurnRecord, ineffective_turns_text, plural
from waybench.envs.search._walk import (
    BreadthFirst,
    DepthFirst,
    VisitedNodes,
    WalkGame,
    WalkGraph,
    breadth_first,
    depth_first,
)
from waybench.envs.spaces._graph import Graph

ACROSS = 34  # units from node to node in a layer
AHEAD = 37  # units both ways where layers stand upright
_LEAST, _MOST = 42, 100  # units from layer to layer, otherwise; the more the wider the drawing is
_TALL = 1.5  # how many times as many layers as nodes across there may be before the layers stand upright


class Layout(NamedTuple):
    """A drawing's geometry.

    Attributes:
        places: Of each node, x and y of its middle, in whole numbers.
        width: How far the nodes are apart across, at most.
        height: How far they are apart downwards, at most.
        layers: Of each node, its distance from node 0.
    """

    places: tuple[tuple[int, int], ...]
    width: int
    height: int
    layers: tuple[int, ...]

    def shifted_by(self, x: int, y: int) -> "Layout":
        """Return the layout with all nodes moved to the right and down."""
        return self._replace(places=tuple((across + x, down + y) for across, down in self.places))


@lru_cache(maxsize=8)  # an episode is drawn again and again, step by step
def layer_nodes(graph: Graph) -> Layout:
    """Place the nodes of a connected graph in layers by their distance from node 0, from (0, 0) on.

    Deep graphs grow to the right in place of downwards.
    """
    order, children, depth = _spanning_tree(graph)
    across = [0.0] * graph.size
    leaves = 0
    todo = [0]
    while todo:
        node = todo.pop()
        if not children[node]:
            across[node] = leaves
            leaves += 1
        todo += reversed(children[node])
    for node in reversed(order):
        if children[node]:
            across[node] = (across[children[node][0]] + across[children[node][-1]]) / 2
    layers, widest = depth[order[-1]], leaves - 1
    if layers + 1 > _TALL * leaves:
        places = [(AHEAD * y, round(AHEAD * x)) for x, y in zip(across, depth, strict=True)]
        return Layout(tuple(places), AHEAD * layers, AHEAD * widest, tuple(depth))
    down = min(max(_LEAST, ACROSS * widest // 2 // layers), _MOST)
    places = [(round(ACROSS * x), down * y) for x, y in zip(across, depth, strict=True)]
    return Layout(tuple(places), ACROSS * widest, down * layers, tuple(depth))


def _spanning_tree(graph: Graph) -> tuple[list[int], list[list[int]], list[int]]:
    """Return the nodes in the order of a breadth-first search from node 0, their children in it, and their depths."""
    order, children, depth = [0], [list[int]() for _ in range(graph.size)], [-1] * graph.size
    depth[0] = 0
    for node in order:
        for neighbour in graph.neighbours[node]:
            if depth[neighbour] < 0:
                depth[neighbour] = depth[node] + 1
                children[node].append(neighbour)
                order.append(neighbour)
    return order, children, depth


MOST_NODES = 1000  # of larger graphs nothing is drawn but how many nodes were visited
MOST_LABELLED = 150  # nodes of a graph in which they have numbers
LARGE = 10
_MARGIN = 24
_NARROWEST = 250  # what is written below needs so much
_TEXT_HEIGHT = 40  # and this height, where the drawing is not wider than that
_NO_CHANCE = Stream("search", "drawing")  # neither oracle leaves anything to it


class TurnEffect(NamedTuple):
    """The effect of one turn.

    Attributes:
        start: The node where the player stood.
        node: The node that was visited; None if none was.
        new: Whether that was its first visit.
        source: The visited node that it was entered from; None if that cannot be said of a revisit.
        follows: Whether the algorithm goes there, too.
        rejected: A node that was named and not visited; None if there is none.
        illegal: Whether it could not be visited.
    """

    start: int
    node: int | None
    new: bool
    source: int | None
    follows: bool
    rejected: int | None
    illegal: bool


def walk_scene(depth: bool, case: WalkGraph, turns: Sequence[TurnRecord]) -> Scene:
    """Return a graph with the visits of an episode, whose turns a simulation has confirmed.

    With `depth`, the player walks from neighbour to neighbour, and depth first is right; otherwise breadth first is.
    Nothing of a reply reaches the scene but nodes of the graph that it named.
    """
    size = case.graph.size
    steps = list(effects_of_turns(depth, case, turns))
    visits = [step for step in steps if step.node is not None]
    deviations = sum(not step.follows for step in visits)
    astray = f"{plural(deviations, 'deviation')} from the algorithm" if deviations else ""
    summary = [
        f"{1 + sum(step.new for step in visits)} of {size} nodes visited, {plural(len(visits), 'step')}",
        ", ".join(filter(None, (astray, ineffective_turns_text(turns)))),
    ]
    width, height, parts = _NARROWEST, _TEXT_HEIGHT, list[str]()
    if size <= MOST_NODES:
        layout = layer_nodes(case.graph)
        width = max(layout.width + 2 * _MARGIN, _NARROWEST)
        height = layout.height + 2 * _MARGIN + _TEXT_HEIGHT * width // _NARROWEST
        parts += _graph_shapes(depth, case, steps, layout.shifted_by((width - layout.width) // 2, _MARGIN))
    unit = width / _NARROWEST  # what is written is as large as the drawing is wide
    lines = ((words, height - (24 - 16 * number) * unit) for number, words in enumerate(summary))
    return Scene(
        "tiles maze-large walk" if size > LARGE else "tiles walk",
        f"{'Depth' if depth else 'Breadth'}-first search: {', '.join(filter(None, summary))}",
        (width, height),
        parts=[*parts, *(text("walk-told", 6 * unit, y, words, 11 * unit) for words, y in lines)],
    )


depth_scene, breadth_scene = partial(walk_scene, True), partial(walk_scene, False)


def effects_of_turns(depth: bool, case: WalkGraph, turns: Iterable[TurnRecord]) -> Iterator[TurnEffect]:
    """Yield the effect of each turn that visited or named a node; with `depth`, depth first is right."""
    algorithm = DepthFirst(case) if depth else BreadthFirst(case)
    rank, at = {0: 0}, 0
    for turn in turns:
        node: int | None = turn.events.get("node")
        rejected: int | None = None if turn.action == node else turn.action
        if node is None:
            if rejected is not None:
                yield TurnEffect(at, None, False, None, False, rejected, turn.outcome is Outcome.ILLEGAL)
            continue
        new, source = node not in rank, at if depth else None
        if new and not depth:
            source = min(
                (neighbour for neighbour in case.graph.neighbours[node] if neighbour in rank), key=rank.__getitem__
            )
        yield TurnEffect(
            at, node, new, source, algorithm.is_next_answer(node), rejected, turn.outcome is Outcome.ILLEGAL
        )
        algorithm.add_answer(node)
        rank.setdefault(node, len(rank))
        at = node


@lru_cache(maxsize=8)
def first_visit_order(depth: bool, case: WalkGraph) -> tuple[int, ...]:
    """Return the nodes in the order in which the algorithm visits them first."""
    game, choose = WalkGame(depth), depth_first if depth else breadth_first
    state = game.start(case)
    while game.terminal(state) is None:
        state = game.apply(state, choose(state, _NO_CHANCE), _NO_CHANCE).state
    return state.order


def _graph_shapes(depth: bool, case: WalkGraph, steps: Sequence[TurnEffect], layout: Layout) -> Iterator[str]:
    """Yield all shapes of a graph and its visits."""
    first: dict[int, bool] = {0: True}  # of each visited node, whether the algorithm would have gone there then
    at = 0
    for step in steps:
        if step.node is not None:
            first.setdefault(step.node, step.follows)
            at = step.node
    dashed, crosses = _rejected_node_paths(layout, steps)
    yield from _edge_paths(case, layout, steps)
    yield dashed
    yield from _node_paths(case, layout, first, [step.node for step in steps if step.source is None])
    yield circle("walk-current", "#009e73", 2.5, layout.places[at], 14.5)
    yield crosses
    if case.graph.size <= MOST_LABELLED:
        yield from _label_texts(layout, first)
        yield _reference_order_shapes(layout, first_visit_order(depth, case))


def _edge_line(layout: Layout, start: int, end: int, *, apart: bool = False) -> str:
    """Return the line between two nodes, bent if it is `apart` from edges or passes other nodes of its layer."""
    (x, y), (to_x, to_y) = layout.places[start], layout.places[end]
    far = hypot(to_x - x, to_y - y)
    if apart or (layout.layers[start] == layout.layers[end] and far > AHEAD + 1):
        aside = AHEAD / far
        middle_x, middle_y = (x + to_x) / 2 - (to_y - y) * aside, (y + to_y) / 2 + (to_x - x) * aside
        return f"M{x} {y}Q{middle_x:.0f} {middle_y:.0f} {to_x} {to_y}"
    return f"M{x} {y}L{to_x} {to_y}"


def _svg_path(name: str, colour: str, width: float, lines: Iterable[str], attributes: str = "") -> str:
    """Return a path without repeated lines and with round ends: a line without a length is a dot."""
    return path(f"walk-{name}", colour, width, dict.fromkeys(lines), f'stroke-linecap="round"{attributes}')


def _edge_paths(case: WalkGraph, layout: Layout, steps: Sequence[TurnEffect]) -> Iterator[str]:
    """Yield all edges, the walked ones, and above them those walked against the algorithm."""
    yield _svg_path("edge", "#aaa", 1.2, (_edge_line(layout, min(edge), max(edge)) for edge in case.graph.edges))
    walked = [
        (step.follows, _edge_line(layout, min(step.source, step.node), max(step.source, step.node)))
        for step in steps
        if step.node is not None and step.source is not None
    ]
    yield _svg_path("walked", "#0072b2", 4.5, (line for _, line in walked))
    yield _svg_path("astray", "#d55e00", 4.5, (line for follows, line in walked if not follows))


def _rejected_node_paths(layout: Layout, steps: Iterable[TurnEffect]) -> tuple[str, str]:
    """Return dashed lines to the nodes named and not visited, and crosses on those that cannot be visited."""
    lines, crosses = list[str](), list[str]()
    for step in steps:
        if step.rejected is None:
            continue
        x, y = layout.places[step.start]
        if step.rejected != step.start and 0 <= step.rejected < len(layout.places):
            line = _edge_line(layout, step.start, step.rejected, apart=True)
            bend_x, bend_y = map(int, line[line.index("Q") + 1 :].split()[:2])
            to_x, to_y = layout.places[step.rejected]
            cross_x, cross_y = (x + 2 * bend_x + to_x) // 4, (y + 2 * bend_y + to_y) // 4
        else:  # there is no such node, or the player is there
            cross_x, cross_y = x - 10, y - 18
            line = f"M{x} {y}L{cross_x} {cross_y}"
        lines.append(line)
        if step.illegal:
            crosses.append(f"M{cross_x} {cross_y}{cross(4)}")
    dashed = _svg_path("tried", "#d55e00", 1.6, lines, ' stroke-dasharray="4 4"')
    return dashed, _svg_path("illegal", "#d55e00", 2.4, crosses)


def _node_paths(
    case: WalkGraph, layout: Layout, first: Collection[int], revisited: Iterable[int | None]
) -> Iterator[str]:
    """Yield the nodes as dots, those of a kind in one path; wider dots below others are their outlines."""
    graph = case.graph
    adjacent = {neighbour for node in first for neighbour in graph.neighbours[node]}
    fringe = [node for node in range(graph.size) if node in adjacent and node not in first]
    unseen = [node for node in range(graph.size) if node not in adjacent and node not in first]
    for name, colour, width, nodes in (
        ("unseen", "#e8e8e8", 20, unseen),
        ("outline", "#111", 22, fringe),
        ("frontier", "#fff", 18, fringe),
        ("again", "#d55e00", 27, revisited),
        ("visited", "#0072b2", 20, first),
    ):
        places = (layout.places[node] for node in nodes if node is not None)
        yield _svg_path(name, colour, width, (f"M{x} {y}h0" for x, y in places))


def _label_texts(layout: Layout, first: Mapping[int, bool]) -> Iterator[str]:
    """Yield the numbers of the nodes, and the order of first visits beside them."""
    rank = {node: number for number, node in enumerate(first)}
    unvisited = [node for node in range(len(layout.places)) if node not in first]
    inside = 'transform="translate(0 4)"'
    beside = 'font-weight="bold" stroke="#fff" stroke-width="2" paint-order="stroke" transform="translate(9 -9)"'
    for name, colour, nodes in (("inside", "#fff", list(first)), ("label", "#111", unvisited)):
        yield texts(f"walk-{name}", _numbers_at_nodes(layout, nodes, nodes), 11, colour=colour, more=inside)
    for name, colour, follows in (("order", "#111", True), ("wrong", "#a33c00", False)):
        nodes = [node for node in first if node and first[node] is follows]
        numbers = [rank[node] for node in nodes]
        yield texts(f"walk-{name}", _numbers_at_nodes(layout, nodes, numbers), 9, "start", colour=colour, more=beside)


def _numbers_at_nodes(layout: Layout, nodes: Iterable[int], numbers: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (x, y, number) for each node."""
    return ((*layout.places[node], number) for node, number in zip(nodes, numbers, strict=True))


def _reference_order_shapes(layout: Layout, order: Sequence[int]) -> str:
    """Return the algorithm's order of first visits, as numbers below the nodes."""
    numbers = range(1, len(order))
    grounds = [(x, y, 2 * len(str(number)) - 1) for x, y, number in _numbers_at_nodes(layout, order[1:], numbers)]
    shapes = [
        _svg_path("best", "#e69f00", 9, (f"M{x - half} {y}h{2 * half}" for x, y, half in grounds)),
        texts(
            "walk-rank",
            _numbers_at_nodes(layout, order[1:], numbers),
            8,
            colour="#111",
            more='transform="translate(0 3)"',
        ),
    ]
    return group("reference", shapes, 'transform="translate(10 10)"')


_PICTURE_MARGIN = 26


def draw_picture(picture: Picture) -> str:
    """Draw the visited nodes, their neighbours, and the edges between them, as the answers have named them.

    Nodes are placed by what has been seen alone, so that nothing in the picture depends on the rest of the graph.
    """
    state: VisitedNodes = picture.state
    neighbours = state.graph.neighbours
    seen = list(dict.fromkeys(node for visited in state.order for node in (visited, *neighbours[visited])))
    number = {node: index for index, node in enumerate(seen)}
    edges = dict.fromkeys(
        (min(number[node], number[other]), max(number[node], number[other]))
        for node in state.order
        for other in neighbours[node]
    )
    layout = layer_nodes(Graph(len(seen), tuple(edges))).shifted_by(_PICTURE_MARGIN, _PICTURE_MARGIN)
    at, visited = {node: layout.places[index] for node, index in number.items()}, set(state.order)
    straight = (line((layout.places[start], layout.places[end])) for start, end in edges)
    parts = [path("walk-edge", "#888", 1.5, straight)]
    for name, colour, wide, nodes in (
        ("walk-outline", "#111", 25, seen),
        ("walk-frontier", "#fff", 22, [node for node in seen if node not in visited]),
        ("walk-visited", "#0072b2", 22, state.order),
    ):
        parts.append(path(name, colour, wide, (f"M{point(at[node])}h0" for node in nodes), ROUND))
    parts.append(circle("walk-current", "#d55e00", 3.5, at[state.at], 15))
    for name, colour, is_visited in (("walk-inside", "#fff", True), ("walk-label", "#111", False)):
        labels = ((at[node][0], at[node][1] + 4.3, node) for node in seen if (node in visited) == is_visited)
        parts.append(texts(name, labels, 12, colour=colour))
    width, height = layout.width + 2 * _PICTURE_MARGIN, layout.height + 2 * _PICTURE_MARGIN
    label = f"{plural(len(seen), 'node')} seen"
    return Scene("walk", label, (width, height), parts).svg()


IMAGES = Images(
    draw=draw_picture,
    legend="The picture has all that has been seen so far: visited ones are blue, others that are adjacent to them are "
    "white, a line joins two that are adjacent, and the current one has an orange ring.",
    replaces=("adjacent",),
    bases=("appendix", "code"),
)

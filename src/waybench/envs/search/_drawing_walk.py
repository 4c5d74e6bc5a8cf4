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
_LEAST_DOWN, _MOST_DOWN = 42, 100  # units from layer to layer, otherwise; the more the wider the drawing is
_TALL = 1.5  # how many times as many layers as nodes across there may be before the layers stand upright
_CONTROL_SHIFT = AHEAD  # units from a straight line to the control point of its curve


class Layout(NamedTuple):
    """A drawing's geometry.

    Attributes:
        places: Of each node, x and y of its middle, in whole numbers.
        width: Greatest x of a node less the least one.
        height: Greatest y of a node less the least one.
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

    Leaves of the spanning tree stand beside each other, and other nodes in the middle of their children. Deep graphs
    grow to the right in place of downwards.
    """
    order, children, depths = _spanning_tree(graph)
    columns = [0.0] * graph.size
    n_leaves = 0
    stack = [0]
    while stack:
        node = stack.pop()
        if not children[node]:
            columns[node] = n_leaves
            n_leaves += 1
        stack += reversed(children[node])
    for node in reversed(order):
        if children[node]:
            columns[node] = (columns[children[node][0]] + columns[children[node][-1]]) / 2
    deepest, last_column = depths[order[-1]], n_leaves - 1
    if deepest + 1 > _TALL * n_leaves:
        places = [(AHEAD * depth, round(AHEAD * column)) for column, depth in zip(columns, depths, strict=True)]
        return Layout(tuple(places), AHEAD * deepest, AHEAD * last_column, tuple(depths))
    down = min(max(_LEAST_DOWN, ACROSS * last_column // 2 // deepest), _MOST_DOWN)  # half as high as wide, if allowed
    places = [(round(ACROSS * column), down * depth) for column, depth in zip(columns, depths, strict=True)]
    return Layout(tuple(places), ACROSS * last_column, down * deepest, tuple(depths))


def _spanning_tree(graph: Graph) -> tuple[list[int], list[list[int]], list[int]]:
    """Return the nodes in the order of a breadth-first search from node 0, their children in it, and their depths."""
    order, children, depths = [0], [list[int]() for _ in range(graph.size)], [-1] * graph.size
    depths[0] = 0
    for node in order:  # which grows
        for neighbour in graph.neighbours[node]:
            if depths[neighbour] < 0:
                depths[neighbour] = depths[node] + 1
                children[node].append(neighbour)
                order.append(neighbour)
    return order, children, depths


MOST_NODES = 1000  # a larger graph is not drawn; its scene has only the numbers of nodes and steps
MOST_LABELLED = 150  # nodes of a graph in which they have numbers
LARGE = 10  # nodes; a larger graph's scene has the page's class for large drawings
_MARGIN = 24
_NARROWEST = 250  # units of width that the text below the drawing needs
_TEXT_HEIGHT = 40  # of this text in a drawing as narrow as that
_UNUSED_RANDOMNESS = Stream("search", "drawing")  # neither the game nor the two algorithms draw from it


class TurnEffect(NamedTuple):
    """The effect of one turn.

    Attributes:
        start: The node where the player stood.
        node: The node that was visited; None if none was.
        new: Whether that was the node's first visit.
        source: The visited node from which the node was entered; None without a visit, and for a revisit in breadth
            first search, which enters from anywhere.
        follows: Whether the algorithm visits the node, too.
        rejected: A node that was named and not visited; None if there is none.
        illegal: Whether the turn was illegal; a legal node is rejected if the teacher replaces or refuses it.
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
    The scene has nothing of a reply but the number of the node that it named.
    """
    size = case.graph.size
    steps = list(effects_of_turns(depth, case, turns))
    visits = [step for step in steps if step.node is not None]
    n_deviations = sum(not step.follows for step in visits)
    deviations = f"{plural(n_deviations, 'deviation')} from the algorithm" if n_deviations else ""
    summary = [
        f"{1 + sum(step.new for step in visits)} of {size} nodes visited, {plural(len(visits), 'step')}",
        ", ".join(filter(None, (deviations, ineffective_turns_text(turns)))),
    ]
    width, height, shapes = _NARROWEST, _TEXT_HEIGHT, list[str]()
    if size <= MOST_NODES:
        layout = layer_nodes(case.graph)
        width = max(layout.width + 2 * _MARGIN, _NARROWEST)
        height = layout.height + 2 * _MARGIN + _TEXT_HEIGHT * width // _NARROWEST
        shapes += _graph_shapes(depth, case, steps, layout.shifted_by((width - layout.width) // 2, _MARGIN))
    unit = width / _NARROWEST  # the text grows with the drawing's width
    lines = ((words, height - (24 - 16 * number) * unit) for number, words in enumerate(summary))
    return Scene(
        "tiles maze-large walk" if size > LARGE else "tiles walk",
        f"{'Depth' if depth else 'Breadth'}-first search: {', '.join(filter(None, summary))}",
        (width, height),
        parts=[*shapes, *(text("walk-told", 6 * unit, y, words, 11 * unit) for words, y in lines)],
    )


depth_scene, breadth_scene = partial(walk_scene, True), partial(walk_scene, False)


def effects_of_turns(depth: bool, case: WalkGraph, turns: Iterable[TurnRecord]) -> Iterator[TurnEffect]:
    """Yield the effect of each turn that visited or named a node; with `depth`, depth first is right."""
    algorithm = DepthFirst(case) if depth else BreadthFirst(case)
    visit_ranks, current = {0: 0}, 0
    for turn in turns:
        node: int | None = turn.events.get("node")
        rejected: int | None = None if turn.action == node else turn.action
        illegal = turn.outcome is Outcome.ILLEGAL
        if node is None:
            if rejected is not None:
                yield TurnEffect(current, None, False, None, False, rejected, illegal)
            continue
        new, source = node not in visit_ranks, current if depth else None
        if new and not depth:
            visited_neighbours = [other for other in case.graph.neighbours[node] if other in visit_ranks]
            source = min(visited_neighbours, key=visit_ranks.__getitem__)
        yield TurnEffect(current, node, new, source, algorithm.is_next_answer(node), rejected, illegal)
        algorithm.add_answer(node)
        visit_ranks.setdefault(node, len(visit_ranks))
        current = node


@lru_cache(maxsize=8)
def first_visit_order(depth: bool, case: WalkGraph) -> tuple[int, ...]:
    """Return the nodes in the order in which the algorithm visits them first."""
    game, choose = WalkGame(depth), depth_first if depth else breadth_first
    state = game.start(case)
    while game.terminal(state) is None:
        state = game.apply(state, choose(state, _UNUSED_RANDOMNESS), _UNUSED_RANDOMNESS).state
    return state.order


def _graph_shapes(depth: bool, case: WalkGraph, steps: Sequence[TurnEffect], layout: Layout) -> Iterator[str]:
    """Yield all shapes of a graph and its visits."""
    follows_by_node: dict[int, bool] = {0: True}  # of each visited node, whether its first visit follows the algorithm
    current = 0
    for step in steps:
        if step.node is not None:
            follows_by_node.setdefault(step.node, step.follows)
            current = step.node
    dashed_lines, crosses = _rejected_node_paths(layout, steps)
    yield from _edge_paths(case, layout, steps)
    yield dashed_lines
    yield from _node_paths(case, layout, follows_by_node, [step.node for step in steps if step.source is None])
    yield circle("walk-current", "#009e73", 2.5, layout.places[current], 14.5)
    yield crosses
    if case.graph.size <= MOST_LABELLED:
        yield from _label_texts(layout, follows_by_node)
        yield _reference_order_shapes(layout, first_visit_order(depth, case))


def _edge_line(layout: Layout, start: int, end: int) -> str:
    """Return the path data of the line between two nodes, bent if it passes other nodes of its layer."""
    (x, y), (to_x, to_y) = layout.places[start], layout.places[end]
    if layout.layers[start] == layout.layers[end] and hypot(to_x - x, to_y - y) > AHEAD + 1:
        return _curve_data(layout, start, end)
    return f"M{x} {y}L{to_x} {to_y}"


def _curve_data(layout: Layout, start: int, end: int) -> str:
    """Return the path data of a curve between two different nodes."""
    (x, y), (to_x, to_y) = layout.places[start], layout.places[end]
    control_x, control_y = _control_point(layout, start, end)
    return f"M{x} {y}Q{control_x:.0f} {control_y:.0f} {to_x} {to_y}"


def _control_point(layout: Layout, start: int, end: int) -> tuple[float, float]:
    """Return the control point of the curve between two nodes, beside the middle of the straight line."""
    (x, y), (to_x, to_y) = layout.places[start], layout.places[end]
    shift = _CONTROL_SHIFT / hypot(to_x - x, to_y - y)
    return (x + to_x) / 2 - (to_y - y) * shift, (y + to_y) / 2 + (to_x - x) * shift


def _svg_path(name: str, colour: str, width: float, lines: Iterable[str], attributes: str = "") -> str:
    """Return a path without repeated lines and with round ends: a line without a length is a dot."""
    return path(f"walk-{name}", colour, width, dict.fromkeys(lines), f'stroke-linecap="round"{attributes}')


def _edge_paths(case: WalkGraph, layout: Layout, steps: Sequence[TurnEffect]) -> Iterator[str]:
    """Yield the paths of all edges, of the walked ones, and of those walked against the algorithm."""
    yield _svg_path("edge", "#aaa", 1.2, (_edge_line(layout, min(edge), max(edge)) for edge in case.graph.edges))
    walked = [
        (step.follows, _edge_line(layout, min(step.source, step.node), max(step.source, step.node)))
        for step in steps
        if step.node is not None and step.source is not None
    ]
    yield _svg_path("walked", "#0072b2", 4.5, (line for _, line in walked))
    yield _svg_path("astray", "#d55e00", 4.5, (line for follows, line in walked if not follows))


def _rejected_node_paths(layout: Layout, steps: Iterable[TurnEffect]) -> tuple[str, str]:
    """Return dashed lines to the nodes named and not visited, and crosses on the lines of illegal turns."""
    lines, crosses = list[str](), list[str]()
    for step in steps:
        if step.rejected is None:
            continue
        x, y = layout.places[step.start]
        if step.rejected != step.start and 0 <= step.rejected < len(layout.places):
            lines.append(_curve_data(layout, step.start, step.rejected))
            control_x, control_y = map(round, _control_point(layout, step.start, step.rejected))
            to_x, to_y = layout.places[step.rejected]
            # The middle of a quadratic Bezier curve.
            cross_x, cross_y = (x + 2 * control_x + to_x) // 4, (y + 2 * control_y + to_y) // 4
        else:  # there is no such node, or the player is there: a short stub, up and to the left
            cross_x, cross_y = x - 10, y - 18
            lines.append(f"M{x} {y}L{cross_x} {cross_y}")
        if step.illegal:
            crosses.append(f"M{cross_x} {cross_y}{cross(4)}")
    dashed_path = _svg_path("tried", "#d55e00", 1.6, lines, ' stroke-dasharray="4 4"')
    return dashed_path, _svg_path("illegal", "#d55e00", 2.4, crosses)


def _node_paths(
    case: WalkGraph, layout: Layout, visited: Collection[int], revisited: Iterable[int | None]
) -> Iterator[str]:
    """Yield the nodes as dots, those of a kind in one path; wider dots below others are their outlines."""
    graph = case.graph
    adjacent = {neighbour for node in visited for neighbour in graph.neighbours[node]}
    frontier = [node for node in range(graph.size) if node in adjacent and node not in visited]
    unseen = [node for node in range(graph.size) if node not in adjacent and node not in visited]
    for name, colour, width, nodes in (
        ("unseen", "#e8e8e8", 20, unseen),
        ("outline", "#111", 22, frontier),
        ("frontier", "#fff", 18, frontier),
        ("again", "#d55e00", 27, revisited),
        ("visited", "#0072b2", 20, visited),
    ):
        places = (layout.places[node] for node in nodes if node is not None)
        yield _svg_path(name, colour, width, (f"M{x} {y}h0" for x, y in places))


def _label_texts(layout: Layout, follows_by_node: Mapping[int, bool]) -> Iterator[str]:
    """Yield the numbers of the nodes, and beside visited nodes their rank in the order of first visits."""
    ranks = {node: rank for rank, node in enumerate(follows_by_node)}
    unvisited = [node for node in range(len(layout.places)) if node not in ranks]
    inside_attributes = 'transform="translate(0 4)"'
    beside_attributes = (
        'font-weight="bold" stroke="#fff" stroke-width="2" paint-order="stroke" transform="translate(9 -9)"'
    )
    for name, colour, nodes in (("inside", "#fff", list(ranks)), ("label", "#111", unvisited)):
        yield texts(f"walk-{name}", _numbers_at_nodes(layout, nodes, nodes), 11, colour=colour, more=inside_attributes)
    for name, colour, follows in (("order", "#111", True), ("wrong", "#a33c00", False)):
        nodes = [node for node in ranks if node and follows_by_node[node] is follows]  # node 0 has no number
        numbers = [ranks[node] for node in nodes]
        yield texts(
            f"walk-{name}", _numbers_at_nodes(layout, nodes, numbers), 9, "start", colour=colour, more=beside_attributes
        )


def _numbers_at_nodes(layout: Layout, nodes: Iterable[int], numbers: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (x, y, number) for each node."""
    return ((*layout.places[node], number) for node, number in zip(nodes, numbers, strict=True))


def _reference_order_shapes(layout: Layout, order: Sequence[int]) -> str:
    """Return the algorithm's order of first visits, as numbers on a coloured ground below the nodes."""
    labels = list(_numbers_at_nodes(layout, order[1:], range(1, len(order))))
    half_widths = [2 * len(str(number)) - 1 for *_, number in labels]
    grounds = (f"M{x - half} {y}h{2 * half}" for (x, y, _), half in zip(labels, half_widths, strict=True))
    shapes = [
        _svg_path("best", "#e69f00", 9, grounds),
        texts("walk-rank", labels, 8, colour="#111", more='transform="translate(0 3)"'),
    ]
    return group("reference", shapes, 'transform="translate(10 10)"')


_PICTURE_MARGIN = 26


def draw_picture(picture: Picture) -> str:
    """Draw the visited nodes, their neighbours, and the edges between them, as the answers have named them.

    Nodes are placed by the seen nodes alone, so that nothing in the picture depends on the rest of the graph.
    """
    state: VisitedNodes = picture.state
    neighbours = state.graph.neighbours
    seen_nodes = list(dict.fromkeys(node for visited in state.order for node in (visited, *neighbours[visited])))
    indices = {node: index for index, node in enumerate(seen_nodes)}
    edges = dict.fromkeys(
        (min(indices[node], indices[other]), max(indices[node], indices[other]))
        for node in state.order
        for other in neighbours[node]
    )
    layout = layer_nodes(Graph(len(seen_nodes), tuple(edges))).shifted_by(_PICTURE_MARGIN, _PICTURE_MARGIN)
    places, visited_nodes = dict(zip(seen_nodes, layout.places, strict=True)), set(state.order)
    straight_lines = (line((layout.places[start], layout.places[end])) for start, end in edges)
    shapes = [path("walk-edge", "#888", 1.5, straight_lines)]
    for name, colour, width, nodes in (
        ("walk-outline", "#111", 25, seen_nodes),
        ("walk-frontier", "#fff", 22, [node for node in seen_nodes if node not in visited_nodes]),
        ("walk-visited", "#0072b2", 22, state.order),
    ):
        shapes.append(path(name, colour, width, (f"M{point(places[node])}h0" for node in nodes), ROUND))
    shapes.append(circle("walk-current", "#d55e00", 3.5, places[state.at], 15))
    for name, colour, is_visited in (("walk-inside", "#fff", True), ("walk-label", "#111", False)):
        nodes = [node for node in seen_nodes if (node in visited_nodes) == is_visited]
        labels = ((places[node][0], places[node][1] + 4.3, node) for node in nodes)  # 4.3 down to the base line
        shapes.append(texts(name, labels, 12, colour=colour))
    width, height = layout.width + 2 * _PICTURE_MARGIN, layout.height + 2 * _PICTURE_MARGIN
    label = f"{plural(len(seen_nodes), 'node')} seen"
    return Scene("walk", label, (width, height), shapes).svg()


IMAGES = Images(
    draw=draw_picture,
    legend="The picture has all that has been seen so far: visited ones are blue, others that are adjacent to them are "
    "white, a line joins two that are adjacent, and the current one has an orange ring.",
    replaces=("adjacent",),
    bases=("appendix", "code"),
)

"""A walk through a graph as a picture in messages: the part of the graph that the player knows."""

from waybench._svg import drawing, path, texts
from waybench.core import Images, Picture, plural
from waybench.envs.search._game_walk import Walk
from waybench.envs.search._layout import layered
from waybench.spaces import Graph

_MARGIN = 26


def draw_picture(picture: Picture) -> str:
    """Draw the visited nodes, their neighbours, and the edges between them, as the answers have named them.

    Nodes are placed by what has been seen alone, so that nothing in the picture depends on the rest of the graph.
    """
    state: Walk = picture.state
    neighbours = state.graph.neighbours
    seen = list(dict.fromkeys(node for visited in state.order for node in (visited, *neighbours[visited])))
    number = {node: place for place, node in enumerate(seen)}
    edges = dict.fromkeys(
        (min(number[node], number[other]), max(number[node], number[other]))
        for node in state.order
        for other in neighbours[node]
    )
    layout = layered(Graph(len(seen), tuple(edges))).moved(_MARGIN, _MARGIN)
    visited, places = set(state.order), layout.places
    x, y = places[number[state.at]]
    parts = [path("walk-edge", "#888", 1.5, (_line(places[start], places[end]) for start, end in edges))]
    for name, colour, wide, some in (
        ("walk-outline", "#111", 25, seen),
        ("walk-frontier", "#fff", 22, [node for node in seen if node not in visited]),
        ("walk-visited", "#0072b2", 22, state.order),
    ):
        dots = (f"M{places[number[node]][0]} {places[number[node]][1]}h0" for node in some)
        parts.append(path(name, colour, wide, dots, 'stroke-linecap="round"'))
    ring = f'<circle class="walk-current" fill="none" stroke="#d55e00" stroke-width="3.5" cx="{x}" cy="{y}" r="15"/>'
    parts.append(ring)
    for name, colour, is_visited in (("walk-inside", "#fff", True), ("walk-label", "#111", False)):
        labels = ((*_below(places[number[node]]), node) for node in seen if (node in visited) == is_visited)
        parts.append(texts(name, labels, 12, colour=colour))
    width, height = layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN
    return drawing("walk", width, height, f"{plural(len(seen), 'node')} seen", parts)


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    return f"M{start[0]} {start[1]}L{end[0]} {end[1]}"


def _below(place: tuple[int, int]) -> tuple[float, float]:
    return place[0], place[1] + 4.3


IMAGES = Images(
    draw=draw_picture,
    legend="The picture has all that has been seen so far: visited ones are blue, others that are adjacent to them are "
    "white, a line joins two that are adjacent, and the current one has an orange ring.",
    replaces=("adjacent",),
    bases=("appendix", "code"),
)

"""The whole map of a game as one drawing, and its layout in panels."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import atan2, hypot, pi
from textwrap import wrap
from typing import NamedTuple

from waybench._svg import box as rectangle
from waybench._svg import group, path, point, text, texts, with_tooltip
from waybench.core import Scene
from waybench.envs.textmap._instances import MapInstance
from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap
from waybench.envs.textmap.drawing._layout import (
    Box,
    Curve,
    Point,
    arrow_head_corners,
    clip_name,
    direction_and_certainty,
    lay_out_places,
    point_on_curve,
)

LETTER, LINE = 6.9, 15  # width of a letter, height of a line
_COLUMNS = 18  # letters of a line in a box
_MOST_LINES = 4
_LONGEST = 60  # letters of a name
_TAG = 24  # letters of a line about a move to another panel
_PAD = 7  # between a box and its text
_BETWEEN: Point = (56, 46)  # between neighbouring boxes
_MARGIN, _HEAD = 26, 30  # around a panel; height of its heading
_FEWEST = 3  # smaller parts join a neighbour
_WIDEST = 1500  # of a row of panels, unless one alone is wider
_VERTICAL = frozenset(("up", "down", "u", "d"))


class PlaceBox(NamedTuple):
    """A place on a sheet: the lines of its name, lines about its moves to other panels, and its box."""

    name: tuple[str, ...]
    tags: tuple[str, ...]
    box: Box

    @property
    def centre(self) -> Point:
        """The centre of the box."""
        left, top, right, bottom = self.box
        return (left + right) / 2, (top + bottom) / 2


@dataclass(slots=True)
class Panel:
    """A part of a map.

    Attributes:
        title: Its heading.
        edges: The moves within it.
        boxes: Its places.
        origin: Its upper left corner on the sheet.
    """

    title: str
    edges: tuple[Edge, ...]
    boxes: dict[str, PlaceBox]
    width: float
    height: float
    origin: Point = (0, 0)


class Sheet(NamedTuple):
    """A map split into panels, in the order in which the walkthrough reaches them."""

    panels: list[Panel]
    width: float
    height: float


def make_sheet(place_map: PlaceMap) -> Sheet:
    """Return the layout of a whole map: a panel for each level, and for each part without a connection to the rest."""
    parts = split_into_panels(place_map)
    number = {location: at for at, part in enumerate(parts) for location in part}
    panels = [_make_panel(place_map, part, number, len(parts)) for part in parts]
    # Panels stand side by side in rows.
    widest = max(_WIDEST, *(panel.width for panel in panels), 0)
    x = y = row_height = width = 0.0
    for panel in panels:
        if x and x + panel.width > widest:
            x, y, row_height = 0.0, y + row_height, 0.0
        panel.origin = (x, y)
        x, row_height = x + panel.width, max(row_height, panel.height)
        width = max(width, x)
    return Sheet(panels, width, y + row_height)


def split_into_panels(place_map: PlaceMap) -> list[list[str]]:
    """Return the places of each panel.

    Places belong together if a move other than up or down connects them, so that the storeys of a house are panels.
    A part of fewer than three places joins the part that it has most moves to.
    """
    # Places without a step of their own come last.
    seen: dict[str, int] = {}
    for edge in place_map.edges:
        for location in (edge.source, edge.target):
            seen[location] = min(seen.get(location, NEVER), edge.known_step)
    group = {location: location for location in place_map.places}

    def join_parts(first: str, second: str) -> None:
        """Put two places, and all places connected to them, in one part."""
        head, joined_head = group[first], group[second]
        if head != joined_head:
            group.update((location, head) for location, part_head in group.items() if part_head == joined_head)

    for edge in place_map.edges:
        if _VERTICAL.isdisjoint(edge.action.lower().split()):
            join_parts(edge.source, edge.target)
    while True:
        parts = _locations_by_head(group)
        small = [head for head in parts if len(parts[head]) < _FEWEST]
        for head in sorted(small, key=lambda head: (len(parts[head]), place_map.places.index(head))):
            moves = ({group[edge.source], group[edge.target]} for edge in place_map.edges)
            near = Counter((heads - {head}).pop() for heads in moves if head in heads and len(heads) == 2)
            if near:
                join_parts(max(near, key=lambda other: (near[other], len(parts[other]), other)), head)
                break
        else:
            break
    return sorted(parts.values(), key=lambda part: (min(seen.get(location, NEVER) for location in part), part))


def _locations_by_head(group: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the places of each group, by the place that stands for the group."""
    parts: dict[str, list[str]] = {}
    for location, head in group.items():
        parts.setdefault(head, []).append(location)
    return parts


def _make_panel(place_map: PlaceMap, places: Sequence[str], number: Mapping[str, int], parts: int) -> Panel:
    """Return the layout of some places as a panel, with a heading if there are several."""
    inside = frozenset(places)
    edges = tuple(edge for edge in place_map.edges if edge.source in inside and edge.target in inside)
    cells = dict(zip(places, lay_out_places(tuple(places), edges), strict=True))
    texts = {
        location: (_wrapped_name_lines(location), _panel_link_lines(place_map, location, number)) for location in places
    }
    sizes = {location: _box_size(*text) for location, text in texts.items()}
    (columns, width), (rows, height) = (
        _cell_middles_and_length(
            ((cells[location][axis], sizes[location][axis]) for location in places), _BETWEEN[axis]
        )
        for axis in (0, 1)
    )
    head = _HEAD if parts > 1 else 0
    boxes: dict[str, PlaceBox] = {}
    for location, (column, row) in cells.items():
        wide, high = sizes[location]
        left = _MARGIN + columns[column] - wide / 2
        top = _MARGIN + head + rows[row] - high / 2
        boxes[location] = PlaceBox(*texts[location], (left, top, left + wide, top + high))
    number_of = f"{number[places[0]] + 1}: " if parts > 1 else ""
    title = f"{number_of}{len(places)} {'place' if len(places) == 1 else 'places'}"
    # The heading must fit above a narrow panel, too.
    width = max(width, len(title) * LETTER * 1.1)
    return Panel(title, edges, boxes, width + 2 * _MARGIN, height + 2 * _MARGIN + head)


def _cell_middles_and_length(sizes: Iterable[tuple[int, float]], gap: float) -> tuple[dict[int, float], float]:
    """Return the middle of each column or row, as wide as its largest box, and their total length."""
    extents: dict[int, float] = {}
    for index, size in sizes:
        extents[index] = max(extents.get(index, 0), size)
    middles, at = dict[int, float](), 0.0
    for index, extent in sorted(extents.items()):
        middles[index] = at + extent / 2
        at += extent + gap
    return middles, at - gap


def _wrapped_name_lines(location: str) -> tuple[str, ...]:
    """Return the lines of a place's name in its box."""
    lines = wrap(clip_name(location, _LONGEST), _COLUMNS) or ["(no name)"]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], clip_name(" ".join(lines[_MOST_LINES - 1 :]), _COLUMNS)]
    return tuple(lines)


def _panel_link_lines(place_map: PlaceMap, location: str, number: Mapping[str, int]) -> tuple[str, ...]:
    """Return a line for each move to another panel: its action, the panel's number and the place there."""
    tags: dict[str, None] = {}
    for edge in place_map.edges:
        if edge.source == location and number[edge.target] != number[location]:
            words = clip_name(edge.action, 10)
            tags[clip_name(f"{words} → {number[edge.target] + 1}: {edge.target}", _TAG)] = None
    return tuple(tags)


def _box_size(name: Sequence[str], tags: Sequence[str]) -> Point:
    """Return width and height of the box of a place with such lines."""
    letters = max(max(map(len, name)) * LETTER, max(map(len, tags), default=0) * LETTER * 0.88)
    return max(46, letters + 2 * _PAD), (len(name) + len(tags)) * LINE + 2 * _PAD - 2


Pair = tuple[str, str]

_BENDS = (0.0, 34.0, -34.0, 68.0, -68.0, 110.0, -110.0)  # how far a line may bend to pass beside boxes
_LABEL = 11  # font size of actions
_WORDS = 16  # letters of an action


def draw_map(instance: MapInstance) -> str:
    """Return the whole map of an instance as an `<svg>` element in pixels, whatever a question shows of it."""
    place_map, map_sheet = instance.map, make_sheet(instance.map)
    parts = [
        rectangle("textmap-floor", "#fff", 0, (0, 0), (map_sheet.width, map_sheet.height)),
        *(_panel_svg(panel, place_map.edges, len(map_sheet.panels) > 1) for panel in map_sheet.panels),
    ]
    label = f"Map of {len(place_map.places)} places and {len(place_map.edges)} moves."
    width, height = round(map_sheet.width), round(map_sheet.height)
    return Scene("map-sheet", label, (width, height), parts, in_pixels=True).svg()


def _panel_svg(panel: Panel, edges: Iterable[Edge], framed: bool) -> str:
    """Return a panel as an SVG group."""
    by_pair: dict[Pair, list[Edge]] = {}
    for edge in panel.edges:
        by_pair.setdefault((edge.source, edge.target), []).append(edge)
    # Two places with moves in both directions have one line.
    pairs = dict.fromkeys((min(pair), max(pair)) for pair in by_pair if pair[0] != pair[1])
    lines = {pair: _best_curve(panel, pair) for pair in pairs}
    frame = rectangle("textmap-part", "#d8d4ca", 1, (6, 6), (panel.width - 12, panel.height - 12))
    shapes = [frame, text("textmap-told", 18, 28, panel.title, 14)] if framed else []
    shapes += [
        *_move_shapes(panel, lines, by_pair),
        _action_labels(panel, lines, by_pair),
        _place_box_shapes(panel, edges),
    ]
    return group("textmap-panel", shapes, f'transform="translate({point(panel.origin)})"')


def _best_curve(panel: Panel, pair: Pair) -> Curve:
    """Return the line between two places that passes fewest other boxes, and bends least."""
    start, end = (panel.boxes[location].centre for location in pair)
    others = [box.box for location, box in panel.boxes.items() if location not in pair]
    length = hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    across = (start[1] - end[1]) / length, (end[0] - start[0]) / length
    curves = [(start, (middle[0] + 2 * bend * across[0], middle[1] + 2 * bend * across[1]), end) for bend in _BENDS]

    def covered_boxes_and_bend(at: int) -> tuple[int, int]:
        """Return a sort key: points of a curve in boxes or out of the panel, then how much it bends."""
        points = [point_on_curve(curves[at], step / 24) for step in range(1, 24)]
        inside = sum(0 <= x <= panel.width and 0 <= y <= panel.height for x, y in points) < len(points)
        return sum(_is_inside(point, box, 3) for box in others for point in points) + 8 * inside, at

    return curves[min(range(len(curves)), key=covered_boxes_and_bend)]


def _reversed_curve(curve: Curve) -> Curve:
    """Return the same curve from its end to its start."""
    start, control, end = curve
    return end, control, start


def _is_inside(point: Point, box: Box, gap: float = 0) -> bool:
    """Return whether a point lies in a box, or nearer to it than the gap."""
    left, top, right, bottom = box
    return left - gap < point[0] < right + gap and top - gap < point[1] < bottom + gap


def _move_shapes(panel: Panel, lines: dict[Pair, Curve], by_pair: dict[Pair, list[Edge]]) -> Iterator[str]:
    """Yield the lines: the half next to a place is the move from there, solid if walked and dashed if inferred."""
    solid: list[str] = []
    dashed: list[str] = []
    heads: list[str] = []
    for (first, second), curve in lines.items():
        both = ((first, second), curve), ((second, first), _reversed_curve(curve))
        ways = [(pair, way) for pair, way in both if pair in by_pair]
        for pair, way in ways:
            walked = any(edge.forward < NEVER for edge in by_pair[pair])
            middle = _visible_middle(way, panel.boxes[pair[0]].box, panel.boxes[pair[1]].box)
            (solid if walked else dashed).append(_curve_path_data(way, middle if len(ways) > 1 else 1))
            if len(ways) == 1:
                heads.append("M" + "L".join(f"{x:.5g} {y:.5g}" for x, y in arrow_head_corners(way, middle, 6)) + "z")
    yield path("textmap-walked", "#5a6372", 1.6, solid)
    yield path("textmap-imputed", "#5a6372", 1.6, dashed, 'stroke-dasharray="4 4"')
    yield path("textmap-head", "#5a6372", 0, heads)


def _visible_middle(curve: Curve, first: Box, last: Box) -> float:
    """Return the part (0 to 1) of a curve in the middle of what the boxes at its ends do not hide."""
    parts = [step / 60 for step in range(61)]
    seen = [part for part in parts if not any(_is_inside(point_on_curve(curve, part), box) for box in (first, last))]
    return (seen[0] + seen[-1]) / 2 if seen else 0.5


def _curve_path_data(curve: Curve, end: float) -> str:
    """Return the path data of a curve up to a part of it."""
    (x, y), (bent_x, bent_y), _ = curve
    column, row = point_on_curve(curve, end)
    bent_x, bent_y = x + end * (bent_x - x), y + end * (bent_y - y)
    return f"M{x:.5g} {y:.5g}Q{bent_x:.5g} {bent_y:.5g} {column:.5g} {row:.5g}"


def _action_labels(panel: Panel, lines: dict[Pair, Curve], by_pair: dict[Pair, list[Edge]]) -> str:
    """Return the labels of actions that a line's direction does not show, each beside its line if there is room."""
    taken = [box.box for box in panel.boxes.values()]
    labels: list[tuple[float, float, str]] = []
    for (first, second), curve in lines.items():
        for pair, way in (((first, second), curve), ((second, first), _reversed_curve(curve))):
            words = " / ".join(
                dict.fromkeys(edge.action for edge in by_pair.get(pair, ()) if not _is_shown_by_direction(edge, way))
            )
            if not words:
                continue
            label = clip_name(words, _WORDS)
            free = next((box for box in _candidate_label_boxes(label, way, panel) if _is_free(box, taken)), None)
            if free is not None:
                taken.append(free)
                left, top, right, _ = free
                labels.append(((left + right) / 2, top + _LABEL - 1, label))
    look = 'stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
    return texts("textmap-name", labels, _LABEL, colour="#5a6372", more=look)


def _is_shown_by_direction(edge: Edge, way: Curve) -> bool:
    """Return whether a line leaves its place in the direction that its move names."""
    heading, certainty = direction_and_certainty(edge.action)
    if certainty < 1:
        return False
    (x, y), _, (column, row) = way
    turn = abs(atan2(row - y, column - x) - atan2(heading[1], heading[0]))
    # Cells are wider than high, so that a move to the northeast is drawn rather flat.
    straight = 0 in heading
    return min(turn, 2 * pi - turn) < (pi / 16 if straight else pi / 6)


def _candidate_label_boxes(label: str, way: Curve, panel: Panel) -> Iterator[Box]:
    """Yield boxes for a label beside a line, the best place first."""
    wide, high = len(label) * LETTER * _LABEL / 12 + 4, _LABEL + 3
    # Nearer to the place that the move leaves than to the other end.
    for part in (0.36, 0.3, 0.42, 0.25, 0.47, 0.2):
        x, y = point_on_curve(way, part)
        for east, south in ((0, 0), (0, -0.7), (0, 0.7), (0.55, 0), (-0.55, 0), (0.55, -0.7), (-0.55, 0.7)):
            left, top = x + east * wide - wide / 2, y + south * high - high / 2
            if left >= 0 and top >= 0 and left + wide <= panel.width and top + high <= panel.height:
                yield left, top, left + wide, top + high


def _is_free(box: Box, taken: Iterable[Box]) -> bool:
    """Return whether a box overlaps none of the taken ones."""
    left, top, right, bottom = box
    return not any(left < end and begin < right and top < low and high < bottom for begin, high, end, low in taken)


def _place_box_shapes(panel: Panel, edges: Iterable[Edge]) -> str:
    """Return the boxes of the places, with all their moves as tooltips."""
    ways: dict[str, list[str]] = {}
    for edge in edges:
        how = f"walked at step {edge.forward}" if edge.forward < NEVER else f"inferred at step {edge.reverse}"
        ways.setdefault(edge.source, []).append(f"{edge.action}: {edge.target} ({how})")
    shapes: list[str] = []
    for location, element in panel.boxes.items():
        left, top, right, bottom = element.box
        middle, first = (left + right) / 2, top + 18
        below = first + len(element.name) * LINE
        names = ((middle, first + number * LINE, words) for number, words in enumerate(element.name))
        tags = ((middle, below + number * LINE, words) for number, words in enumerate(element.tags))
        edge = 'stroke="#5a6372" rx="5"'
        shapes.append(
            with_tooltip(
                "\n".join([clip_name(location, 200), *(clip_name(way, 200) for way in ways.get(location, ()))]),
                rectangle("textmap-box", "#fff", 0, (left, top), (right - left, bottom - top), edge),
                texts("textmap-told", names, 12, colour="#1c2230"),
                texts("textmap-tag", tags, 10.5, colour="#5a6372"),
            )
        )
    return "".join(shapes)

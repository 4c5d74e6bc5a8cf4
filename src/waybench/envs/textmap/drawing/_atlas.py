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
_LINE_LETTERS, _MOST_LINES = 18, 4  # of a name in a box
_NAME_LETTERS = 60
_TAG_LETTERS = 24  # of a line about a move to another panel
_TAG_SCALE = 0.88  # tags are written smaller than names
_PAD = 7  # between a box and its text
_NARROWEST_BOX = 46
_BOX_GAPS: Point = (56, 46)  # between neighbouring boxes, across and down
_MARGIN, _HEADING_HEIGHT = 26, 30  # around a panel
_FEWEST_PLACES = 3  # smaller parts join a neighbour
_ROW_WIDTH = 1500  # of panels side by side, unless one alone is wider
_VERTICAL = frozenset(("up", "down", "u", "d"))


class PlaceBox(NamedTuple):
    """A place on a sheet: the lines of its name, its tags (lines about its moves to other panels), and its box."""

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
    """A part of a map: its heading, the moves within it, its places, and its upper left corner on the sheet."""

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
    panel_indices = {location: index for index, part in enumerate(parts) for location in part}
    panels = [_make_panel(place_map, part, panel_indices, len(parts)) for part in parts]
    row_width = max(_ROW_WIDTH, *(panel.width for panel in panels), 0)
    x = y = row_height = width = 0.0
    for panel in panels:
        if x and x + panel.width > row_width:  # a new row
            x, y, row_height = 0.0, y + row_height, 0.0
        panel.origin = (x, y)
        x, row_height = x + panel.width, max(row_height, panel.height)
        width = max(width, x)
    return Sheet(panels, width, y + row_height)


def split_into_panels(place_map: PlaceMap) -> list[list[str]]:
    """Return the places of each panel, the panel first that the walkthrough reaches first.

    Places belong together if a move other than up or down connects them, so that the storeys of a house are panels.
    A part of fewer than three places joins the part that it has most moves to.
    """
    first_steps = dict.fromkeys(place_map.places, NEVER)
    for edge in place_map.edges:
        for location in (edge.source, edge.target):
            first_steps[location] = min(first_steps[location], edge.known_step)
    heads = {location: location for location in place_map.places}  # the place that stands for each place's part

    def join_parts(first: str, second: str) -> None:
        """Put two places, and all places connected to them, in one part."""
        head, joined_head = heads[first], heads[second]
        heads.update((location, head) for location, part_head in heads.items() if part_head == joined_head)

    for edge in place_map.edges:
        if _VERTICAL.isdisjoint(edge.action.lower().split()):
            join_parts(edge.source, edge.target)
    while True:
        parts: dict[str, list[str]] = {}
        for location, head in heads.items():
            parts.setdefault(head, []).append(location)
        small_parts = [head for head in parts if len(parts[head]) < _FEWEST_PLACES]
        for head in sorted(small_parts, key=lambda head: (len(parts[head]), place_map.places.index(head))):
            end_heads = ({heads[edge.source], heads[edge.target]} for edge in place_map.edges)
            move_counts = Counter((ends - {head}).pop() for ends in end_heads if head in ends and len(ends) == 2)
            if move_counts:
                join_parts(max(move_counts, key=lambda other: (move_counts[other], len(parts[other]), other)), head)
                break  # the parts have changed
        else:
            break
    return sorted(parts.values(), key=lambda part: (min(first_steps[location] for location in part), part))


def _make_panel(place_map: PlaceMap, places: Sequence[str], panel_indices: Mapping[str, int], n_panels: int) -> Panel:
    """Return the layout of some places as a panel, with a heading if the map has several panels."""
    place_set = frozenset(places)
    edges = tuple(edge for edge in place_map.edges if edge.source in place_set and edge.target in place_set)
    cells = dict(zip(places, lay_out_places(tuple(places), edges), strict=True))
    box_lines = {
        location: (_wrapped_name_lines(location), _panel_link_lines(place_map, location, panel_indices))
        for location in places
    }
    sizes = {location: _box_size(*lines) for location, lines in box_lines.items()}
    (columns, width), (rows, height) = (
        _cell_middles_and_length(
            ((cells[location][axis], sizes[location][axis]) for location in places), _BOX_GAPS[axis]
        )
        for axis in (0, 1)
    )
    heading_height = _HEADING_HEIGHT if n_panels > 1 else 0
    boxes: dict[str, PlaceBox] = {}
    for location, (column, row) in cells.items():
        box_width, box_height = sizes[location]
        left = _MARGIN + columns[column] - box_width / 2
        top = _MARGIN + heading_height + rows[row] - box_height / 2
        boxes[location] = PlaceBox(*box_lines[location], (left, top, left + box_width, top + box_height))
    number = f"{panel_indices[places[0]] + 1}: " if n_panels > 1 else ""
    title = f"{number}{len(places)} {'place' if len(places) == 1 else 'places'}"
    width = max(width, len(title) * LETTER * 1.1)  # the heading, in larger letters, must fit above a narrow panel
    return Panel(title, edges, boxes, width + 2 * _MARGIN, height + 2 * _MARGIN + heading_height)


def _cell_middles_and_length(sizes: Iterable[tuple[int, float]], gap: float) -> tuple[dict[int, float], float]:
    """Return the middle of each column or row, and the length of all with gaps between them.

    `sizes` are (index of column or row, size of a box in it); a column or row is as wide as its largest box.
    """
    extents: dict[int, float] = {}
    for index, size in sizes:
        extents[index] = max(extents.get(index, 0), size)
    middles, offset = dict[int, float](), 0.0
    for index, extent in sorted(extents.items()):
        middles[index] = offset + extent / 2
        offset += extent + gap
    return middles, offset - gap


def _wrapped_name_lines(location: str) -> tuple[str, ...]:
    """Return the lines of a place's name in its box."""
    lines = wrap(clip_name(location, _NAME_LETTERS), _LINE_LETTERS) or ["(no name)"]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], clip_name(" ".join(lines[_MOST_LINES - 1 :]), _LINE_LETTERS)]
    return tuple(lines)


def _panel_link_lines(place_map: PlaceMap, location: str, panel_indices: Mapping[str, int]) -> tuple[str, ...]:
    """Return a line for each move to another panel: its action, the panel's number and the place there."""
    tags: dict[str, None] = {}
    for edge in place_map.edges:
        panel_index = panel_indices[edge.target]
        if edge.source == location and panel_index != panel_indices[location]:
            tags[clip_name(f"{clip_name(edge.action, 10)} → {panel_index + 1}: {edge.target}", _TAG_LETTERS)] = None
    return tuple(tags)


def _box_size(name: Sequence[str], tags: Sequence[str]) -> Point:
    """Return width and height of the box of a place, whose name and tags (see `PlaceBox`) have these lines."""
    text_width = max(max(map(len, name)) * LETTER, max(map(len, tags), default=0) * LETTER * _TAG_SCALE)
    # Below the last line is room for letters such as g already, so that the lower pad can be 2 less.
    return max(_NARROWEST_BOX, text_width + 2 * _PAD), (len(name) + len(tags)) * LINE + 2 * _PAD - 2


Pair = tuple[str, str]

_BENDS = (0.0, 34.0, -34.0, 68.0, -68.0, 110.0, -110.0)  # how far a line may bend to pass beside boxes
_LABEL = 11  # font size of actions
_ACTION_LETTERS = 16


def draw_map(instance: MapInstance) -> str:
    """Return the whole map of an instance as an `<svg>` element in pixels, whatever a question shows of it."""
    place_map, sheet = instance.map, make_sheet(instance.map)
    shapes = [
        rectangle("textmap-floor", "#fff", 0, (0, 0), (sheet.width, sheet.height)),
        *(_panel_svg(panel, place_map.edges, len(sheet.panels) > 1) for panel in sheet.panels),
    ]
    label = f"Map of {len(place_map.places)} places and {len(place_map.edges)} moves."
    return Scene("map-sheet", label, (round(sheet.width), round(sheet.height)), shapes, in_pixels=True).svg()


def _panel_svg(panel: Panel, edges: Iterable[Edge], framed: bool) -> str:
    """Return a panel as an SVG group; `edges` are the moves of the whole map, and a frame goes with the heading."""
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
    other_boxes = [box.box for location, box in panel.boxes.items() if location not in pair]
    (x, y), (end_x, end_y) = start, end
    length = hypot(end_x - x, end_y - y) or 1.0
    middle_x, middle_y = (x + end_x) / 2, (y + end_y) / 2
    across_x, across_y = (y - end_y) / length, (end_x - x) / length
    # A curve reaches half as far as its control point.
    curves = [(start, (middle_x + 2 * bend * across_x, middle_y + 2 * bend * across_y), end) for bend in _BENDS]

    def n_covered_points(curve: Curve) -> int:
        """Return how many of 23 points of a curve lie in boxes; leaving the panel counts as 8 such points."""
        points = [point_on_curve(curve, step / 24) for step in range(1, 24)]
        leaves_panel = not all(0 <= x <= panel.width and 0 <= y <= panel.height for x, y in points)
        return sum(_is_inside(point, box, 3) for box in other_boxes for point in points) + 8 * leaves_panel

    return min(curves, key=n_covered_points)  # the first of equal ones bends least


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
        directions = ((first, second), curve), ((second, first), _reversed_curve(curve))
        curves = {pair: directed_curve for pair, directed_curve in directions if pair in by_pair}
        for (start, end), directed_curve in curves.items():
            walked = any(edge.forward < NEVER for edge in by_pair[start, end])
            middle = _visible_middle(directed_curve, panel.boxes[start].box, panel.boxes[end].box)
            (solid if walked else dashed).append(_curve_path_data(directed_curve, middle if len(curves) > 1 else 1))
            if len(curves) == 1:  # with moves in both directions, the halves show which is which
                corners = arrow_head_corners(directed_curve, middle, 6)
                heads.append("M" + "L".join(f"{x:.5g} {y:.5g}" for x, y in corners) + "z")
    yield path("textmap-walked", "#5a6372", 1.6, solid)
    yield path("textmap-imputed", "#5a6372", 1.6, dashed, 'stroke-dasharray="4 4"')
    yield path("textmap-head", "#5a6372", 0, heads)


def _visible_middle(curve: Curve, first: Box, last: Box) -> float:
    """Return where the middle of a curve's visible part is, from 0 (start) to 1 (end); boxes hide its ends."""
    samples = [step / 60 for step in range(61)]
    visible = [at for at in samples if not any(_is_inside(point_on_curve(curve, at), box) for box in (first, last))]
    return (visible[0] + visible[-1]) / 2 if visible else 0.5


def _curve_path_data(curve: Curve, end: float) -> str:
    """Return the path data of a curve up to `end`, from 0 to 1 (the whole curve)."""
    (x, y), (control_x, control_y), _ = curve
    end_x, end_y = point_on_curve(curve, end)
    control_x, control_y = x + end * (control_x - x), y + end * (control_y - y)
    return f"M{x:.5g} {y:.5g}Q{control_x:.5g} {control_y:.5g} {end_x:.5g} {end_y:.5g}"


def _action_labels(panel: Panel, lines: dict[Pair, Curve], by_pair: dict[Pair, list[Edge]]) -> str:
    """Return the labels of actions that a line's direction does not show, each beside its line if there is room."""
    occupied = [box.box for box in panel.boxes.values()]
    labels: list[tuple[float, float, str]] = []
    for (first, second), curve in lines.items():
        for pair, directed_curve in (((first, second), curve), ((second, first), _reversed_curve(curve))):
            words = " / ".join(
                dict.fromkeys(
                    edge.action for edge in by_pair.get(pair, ()) if not _is_shown_by_direction(edge, directed_curve)
                )
            )
            if not words:
                continue
            label = clip_name(words, _ACTION_LETTERS)
            for box in _candidate_label_boxes(label, directed_curve, panel):
                if not _overlaps_any(box, occupied):
                    occupied.append(box)
                    left, top, right, _ = box
                    labels.append(((left + right) / 2, top + _LABEL - 1, label))
                    break
    label_attributes = 'stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
    return texts("textmap-name", labels, _LABEL, colour="#5a6372", more=label_attributes)


def _is_shown_by_direction(edge: Edge, curve: Curve) -> bool:
    """Return whether a line leads from its place in the compass direction that the move's action names."""
    (east, south), certainty = direction_and_certainty(edge.action)
    if certainty < 1:  # no compass direction
        return False
    (x, y), _, (end_x, end_y) = curve
    turn = abs(atan2(end_y - y, end_x - x) - atan2(south, east))
    # Cells are wider than high, so that a move to the northeast is drawn rather flat.
    is_diagonal = east != 0 and south != 0
    return min(turn, 2 * pi - turn) < (pi / 6 if is_diagonal else pi / 16)


def _candidate_label_boxes(label: str, curve: Curve, panel: Panel) -> Iterator[Box]:
    """Yield boxes for a label beside a line, the preferred position first."""
    width, height = len(label) * LETTER * _LABEL / 12 + 4, _LABEL + 3
    # Nearer to the place that the move leaves than to the other end.
    for at in (0.36, 0.3, 0.42, 0.25, 0.47, 0.2):
        x, y = point_on_curve(curve, at)
        for east, south in ((0, 0), (0, -0.7), (0, 0.7), (0.55, 0), (-0.55, 0), (0.55, -0.7), (-0.55, 0.7)):
            left, top = x + east * width - width / 2, y + south * height - height / 2
            if left >= 0 and top >= 0 and left + width <= panel.width and top + height <= panel.height:
                yield left, top, left + width, top + height


def _overlaps_any(box: Box, others: Iterable[Box]) -> bool:
    """Return whether a box overlaps any of the others."""
    left, top, right, bottom = box
    return any(
        left < other_right and other_left < right and top < other_bottom and other_top < bottom
        for other_left, other_top, other_right, other_bottom in others
    )


def _place_box_shapes(panel: Panel, edges: Iterable[Edge]) -> str:
    """Return the boxes of the places of a panel, with all their moves as tooltips."""
    move_lines: dict[str, list[str]] = {}
    for edge in edges:
        origin = f"walked at step {edge.forward}" if edge.forward < NEVER else f"inferred at step {edge.reverse}"
        move_lines.setdefault(edge.source, []).append(f"{edge.action}: {edge.target} ({origin})")
    shapes: list[str] = []
    for location, place_box in panel.boxes.items():
        left, top, right, bottom = place_box.box
        lines = [
            ((left + right) / 2, top + 18 + number * LINE, words)  # 18 to the base line of the first line
            for number, words in enumerate((*place_box.name, *place_box.tags))
        ]
        n_name_lines = len(place_box.name)
        shapes.append(
            with_tooltip(
                "\n".join(clip_name(words, 200) for words in (location, *move_lines.get(location, ()))),
                rectangle(
                    "textmap-box", "#fff", 0, (left, top), (right - left, bottom - top), 'stroke="#5a6372" rx="5"'
                ),
                texts("textmap-told", lines[:n_name_lines], 12, colour="#1c2230"),
                texts("textmap-tag", lines[n_name_lines:], 10.5, colour="#5a6372"),
            )
        )
    return "".join(shapes)

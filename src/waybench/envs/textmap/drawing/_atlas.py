"""The whole map of a game as one drawing, and its layout in panels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import atan2, hypot, pi
from textwrap import wrap

from waybench._svg import box as rectangle
from waybench._svg import group, path, point, text, texts, title
from waybench.core import Scene
from waybench.envs.textmap._instances import MapInstance
from waybench.envs.textmap._place_map import NEVER, Edge, PlaceMap
from waybench.envs.textmap.drawing._layout import Box, Curve, Point, arrow_head, bearing, layout, point_on, shown

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


@dataclass(frozen=True, slots=True)
class PlaceBox:
    """A place on a sheet.

    Attributes:
        name: The lines of its name.
        tags: Lines about its moves to other panels.
        box: Left, top, right, bottom.
    """

    name: tuple[str, ...]
    tags: tuple[str, ...]
    box: Box

    @property
    def centre(self) -> Point:
        """Its middle."""
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
        width: Its width.
        height: Its height.
    """

    title: str
    edges: tuple[Edge, ...]
    boxes: dict[str, PlaceBox]
    width: float
    height: float
    origin: Point = (0, 0)


@dataclass(slots=True)
class Sheet:
    """A map split into panels.

    Attributes:
        panels: The panels, in the order in which the walkthrough reaches them.
        width: Width of the sheet.
        height: Height of the sheet.
    """

    panels: list[Panel] = field(default_factory=list[Panel])
    width: float = 0
    height: float = 0


def sheet(place_map: PlaceMap) -> Sheet:
    """Return the layout of a whole map: a panel for each level, and for each part without a connection to the rest."""
    parts = split(place_map)
    number = {place: at for at, part in enumerate(parts) for place in part}
    panels = [_panel(place_map, part, number, len(parts)) for part in parts]
    width, height = _pack(panels)
    return Sheet(panels, width, height)


def split(place_map: PlaceMap) -> list[list[str]]:
    """Return the places of each panel.

    Places belong together if a move other than up or down connects them, so that the storeys of a house are panels.
    A part of fewer than three places joins the part that it has most moves to.
    """
    # Places without a step of their own come last.
    seen: dict[str, int] = {}
    for edge in place_map.edges:
        for place in (edge.source, edge.target):
            seen[place] = min(seen.get(place, NEVER), edge.known)
    group = {place: place for place in place_map.places}

    def join(one: str, other: str) -> None:
        kept, lost = group[one], group[other]
        if kept != lost:
            group.update((place, kept) for place, own in group.items() if own == lost)

    for edge in place_map.edges:
        if not _is_vertical(edge):
            join(edge.source, edge.target)
    while True:
        parts = _grouped(group)
        joined = False
        for head in sorted(parts, key=lambda head: (len(parts[head]), place_map.places.index(head))):
            if len(parts[head]) >= _FEWEST:
                break
            near: dict[str, int] = {}
            for edge in place_map.edges:
                ends = {group[edge.source], group[edge.target]}
                if head in ends and len(ends) == 2:
                    (other,) = ends - {head}
                    near[other] = near.get(other, 0) + 1
            if near:
                join(max(near, key=lambda other: (near[other], len(parts[other]), other)), head)
                joined = True
                break
        if not joined:
            break
    found = list(_grouped(group).values())
    return sorted(found, key=lambda part: (min(seen.get(place, NEVER) for place in part), part))


def _grouped(group: Mapping[str, str]) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {}
    for place, head in group.items():
        parts.setdefault(head, []).append(place)
    return parts


def _is_vertical(edge: Edge) -> bool:
    words = edge.action.lower().split()
    return any(word in _VERTICAL for word in words)


def _panel(place_map: PlaceMap, places: Sequence[str], number: Mapping[str, int], parts: int) -> Panel:
    inside = frozenset(places)
    edges = tuple(edge for edge in place_map.edges if edge.source in inside and edge.target in inside)
    cells = dict(zip(places, layout(tuple(places), edges), strict=True))
    texts = {place: (_name_lines(place), _tags(place_map, place, number)) for place in places}
    sizes = {place: _size(*text) for place, text in texts.items()}
    # Each column is as wide as its widest box, and each row as high as its highest.
    wide = _extents((cells[place][0], sizes[place][0]) for place in places)
    high = _extents((cells[place][1], sizes[place][1]) for place in places)
    lefts, width = _offsets(wide, _BETWEEN[0])
    tops, height = _offsets(high, _BETWEEN[1])
    head = _HEAD if parts > 1 else 0
    boxes: dict[str, PlaceBox] = {}
    for place, (column, row) in cells.items():
        (own_width, own_height), (name, tags) = sizes[place], texts[place]
        left = _MARGIN + lefts[column] + (wide[column] - own_width) / 2
        top = _MARGIN + head + tops[row] + (high[row] - own_height) / 2
        boxes[place] = PlaceBox(name, tags, (left, top, left + own_width, top + own_height))
    number_of = f"{number[places[0]] + 1}: " if parts > 1 else ""
    title = f"{number_of}{len(places)} {'place' if len(places) == 1 else 'places'}"
    # The heading must fit above a narrow panel, too.
    width = max(width, len(title) * LETTER * 1.1)
    return Panel(title, edges, boxes, width + 2 * _MARGIN, height + 2 * _MARGIN + head)


def _extents(sized: Iterable[tuple[int, float]]) -> dict[int, float]:
    found: dict[int, float] = {}
    for index, size in sized:
        found[index] = max(found.get(index, 0), size)
    return found


def _offsets(sizes: Mapping[int, float], gap: float) -> tuple[dict[int, float], float]:
    """Return where each column or row begins, and the length of all."""
    found: dict[int, float] = {}
    at = 0.0
    for index in sorted(sizes):
        found[index] = at
        at += sizes[index] + gap
    return found, at - gap


def _name_lines(place: str) -> tuple[str, ...]:
    lines = wrap(shown(place, _LONGEST), _COLUMNS) or ["(no name)"]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], shown(" ".join(lines[_MOST_LINES - 1 :]), _COLUMNS)]
    return tuple(lines)


def _tags(place_map: PlaceMap, place: str, number: Mapping[str, int]) -> tuple[str, ...]:
    """Return a line for each move to another panel: what is typed, the panel's number, and the place there."""
    found: dict[str, None] = {}
    for edge in place_map.edges:
        if edge.source == place and number[edge.target] != number[place]:
            words = shown(edge.action, 10)
            found[shown(f"{words} → {number[edge.target] + 1}: {edge.target}", _TAG)] = None
    return tuple(found)


def _size(name: Sequence[str], tags: Sequence[str]) -> Point:
    letters = max(max(map(len, name)) * LETTER, max(map(len, tags), default=0) * LETTER * 0.88)
    return max(46, letters + 2 * _PAD), (len(name) + len(tags)) * LINE + 2 * _PAD - 2


def _pack(panels: Sequence[Panel]) -> tuple[float, float]:
    """Put panels side by side in rows; return the width and the height of all."""
    most = max(_WIDEST, *(panel.width for panel in panels), 0)
    x = y = row = width = 0.0
    for panel in panels:
        if x and x + panel.width > most:
            x, y, row = 0.0, y + row, 0.0
        panel.origin = (x, y)
        x, row = x + panel.width, max(row, panel.height)
        width = max(width, x)
    return width, y + row


def heading_of(edge: Edge) -> tuple[int, int] | None:
    """Return the compass direction of a move as (columns, rows); None for other moves."""
    cell, weight = bearing(edge.action)
    return cell if weight == 1 else None


Pair = tuple[str, str]

_BENDS = (0.0, 34.0, -34.0, 68.0, -68.0, 110.0, -110.0)  # how far a line may bend to pass beside boxes
_LABEL = 11  # font size of actions
_WORDS = 16  # letters of an action


def draw_map(instance: MapInstance) -> str:
    """Draw the whole map of an instance: all places with their names, and all moves, whatever a question shows.

    Args:
        instance: A question about the map.

    Returns:
        An `<svg>` element with a size in pixels.
    """
    place_map, whole = instance.map, sheet(instance.map)
    parts = [
        rectangle("textmap-floor", "#fff", 0, (0, 0), (whole.width, whole.height)),
        *(_panel_svg(panel, place_map.edges, len(whole.panels) > 1) for panel in whole.panels),
    ]
    label = f"Map of {len(place_map.places)} places and {len(place_map.edges)} moves."
    width, height = round(whole.width), round(whole.height)
    return Scene(classes="map-sheet", label=label, width=width, height=height, parts=parts, sized=True).svg()


def _panel_svg(panel: Panel, edges: Iterable[Edge], framed: bool) -> str:
    lines = {pair: _curve(panel, pair) for pair in _pairs(panel)}
    by_pair: dict[Pair, list[Edge]] = {}
    for edge in panel.edges:
        by_pair.setdefault((edge.source, edge.target), []).append(edge)
    frame = rectangle("textmap-part", "#d8d4ca", 1, (6, 6), (panel.width - 12, panel.height - 12))
    shapes = [frame, text("textmap-told", 18, 28, panel.title, 14)] if framed else []
    shapes += [*_lines(panel, lines, by_pair), _actions(panel, lines, by_pair), _boxes(panel, edges)]
    return group("textmap-panel", shapes, f'transform="translate({point(panel.origin)})"')


def _pairs(panel: Panel) -> dict[Pair, None]:
    """Return each pair of different places with a move in either direction once."""
    pairs = ((edge.source, edge.target) for edge in panel.edges if edge.source != edge.target)
    return dict.fromkeys((min(pair), max(pair)) for pair in pairs)


def _curve(panel: Panel, pair: Pair) -> Curve:
    """Return the line between two places that passes fewest other boxes, and bends least."""
    start, end = (panel.boxes[place].centre for place in pair)
    others = [box.box for place, box in panel.boxes.items() if place not in pair]
    length = hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    across = (start[1] - end[1]) / length, (end[0] - start[0]) / length
    curves = [(start, (middle[0] + 2 * bend * across[0], middle[1] + 2 * bend * across[1]), end) for bend in _BENDS]

    def cost(at: int) -> tuple[int, int]:
        points = [point_on(curves[at], step / 24) for step in range(1, 24)]
        inside = sum(0 <= x <= panel.width and 0 <= y <= panel.height for x, y in points) < len(points)
        return sum(_within(point, box, 3) for box in others for point in points) + 8 * inside, at

    return curves[min(range(len(curves)), key=cost)]


def _reversed(curve: Curve) -> Curve:
    start, control, end = curve
    return end, control, start


def _within(point: Point, box: Box, gap: float = 0) -> bool:
    left, top, right, bottom = box
    return left - gap < point[0] < right + gap and top - gap < point[1] < bottom + gap


def _lines(panel: Panel, lines: dict[Pair, Curve], by_pair: dict[Pair, list[Edge]]) -> Iterator[str]:
    """Yield the lines: the half next to a place is the move from there, solid if walked and dashed if inferred."""
    solid: list[str] = []
    dashed: list[str] = []
    heads: list[str] = []
    for (first, second), curve in lines.items():
        both = ((first, second), curve), ((second, first), _reversed(curve))
        ways = [(pair, way) for pair, way in both if pair in by_pair]
        for pair, way in ways:
            walked = any(edge.forward < NEVER for edge in by_pair[pair])
            middle = _middle(way, panel.boxes[pair[0]].box, panel.boxes[pair[1]].box)
            (solid if walked else dashed).append(_data(way, middle if len(ways) > 1 else 1))
            if len(ways) == 1:
                heads.append("M" + "L".join(f"{x:.5g} {y:.5g}" for x, y in arrow_head(way, middle, 6)) + "z")
    yield path("textmap-walked", "#5a6372", 1.6, solid)
    yield path("textmap-imputed", "#5a6372", 1.6, dashed, 'stroke-dasharray="4 4"')
    yield path("textmap-head", "#5a6372", 0, heads)


def _middle(curve: Curve, first: Box, last: Box) -> float:
    """Return the part of a curve that is in the middle of what boxes do not hide of it."""
    parts = [step / 60 for step in range(61)]
    seen = [part for part in parts if not any(_within(point_on(curve, part), box) for box in (first, last))]
    return (seen[0] + seen[-1]) / 2 if seen else 0.5


def _data(curve: Curve, end: float) -> str:
    """Return the path data of a curve up to a part of it."""
    (x, y), (bent_x, bent_y), _ = curve
    column, row = point_on(curve, end)
    bent_x, bent_y = x + end * (bent_x - x), y + end * (bent_y - y)
    return f"M{x:.5g} {y:.5g}Q{bent_x:.5g} {bent_y:.5g} {column:.5g} {row:.5g}"


def _actions(panel: Panel, lines: dict[Pair, Curve], by_pair: dict[Pair, list[Edge]]) -> str:
    """Return the actions that the direction of a line does not tell, each beside its line where there is room."""
    taken = [box.box for box in panel.boxes.values()]
    labels: list[tuple[float, float, str]] = []
    for (first, second), curve in lines.items():
        for pair, way in (((first, second), curve), ((second, first), _reversed(curve))):
            words = " / ".join(dict.fromkeys(edge.action for edge in by_pair.get(pair, ()) if not _is_told(edge, way)))
            if not words:
                continue
            label = shown(words, _WORDS)
            free = next((box for box in _label_boxes(label, way, panel) if _is_free(box, taken)), None)
            if free is not None:
                taken.append(free)
                left, top, right, _ = free
                labels.append(((left + right) / 2, top + _LABEL - 1, label))
    look = 'stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
    return texts("textmap-name", labels, _LABEL, colour="#5a6372", more=look)


def _is_told(edge: Edge, way: Curve) -> bool:
    """Return whether a line leaves its place in the very direction that its move names."""
    heading = heading_of(edge)
    if heading is None:
        return False
    (x, y), _, (column, row) = way
    turn = abs(atan2(row - y, column - x) - atan2(heading[1], heading[0]))
    # Cells are wider than high, so that a move to the northeast is drawn rather flat.
    straight = 0 in heading
    return min(turn, 2 * pi - turn) < (pi / 16 if straight else pi / 6)


def _label_boxes(label: str, way: Curve, panel: Panel) -> Iterator[Box]:
    wide, high = len(label) * LETTER * _LABEL / 12 + 4, _LABEL + 3
    # Nearer to the place that the move leaves than to the other end.
    for part in (0.36, 0.3, 0.42, 0.25, 0.47, 0.2):
        x, y = point_on(way, part)
        for east, south in ((0, 0), (0, -0.7), (0, 0.7), (0.55, 0), (-0.55, 0), (0.55, -0.7), (-0.55, 0.7)):
            left, top = x + east * wide - wide / 2, y + south * high - high / 2
            if left >= 0 and top >= 0 and left + wide <= panel.width and top + high <= panel.height:
                yield left, top, left + wide, top + high


def _is_free(box: Box, taken: Iterable[Box]) -> bool:
    left, top, right, bottom = box
    return not any(left < end and begin < right and top < low and high < bottom for begin, high, end, low in taken)


def _boxes(panel: Panel, edges: Iterable[Edge]) -> str:
    ways: dict[str, list[str]] = {}
    for edge in edges:
        how = f"walked at step {edge.forward}" if edge.forward < NEVER else f"inferred at step {edge.reverse}"
        ways.setdefault(edge.source, []).append(f"{edge.action}: {edge.target} ({how})")
    shapes: list[str] = []
    for place, element in panel.boxes.items():
        left, top, right, bottom = element.box
        middle, first = (left + right) / 2, top + 18
        below = first + len(element.name) * LINE
        names = ((middle, first + number * LINE, words) for number, words in enumerate(element.name))
        tags = ((middle, below + number * LINE, words) for number, words in enumerate(element.tags))
        edge = 'stroke="#5a6372" rx="5"'
        shapes.append(
            title(
                "\n".join([shown(place, 200), *(shown(way, 200) for way in ways.get(place, ()))]),
                rectangle("textmap-box", "#fff", 0, (left, top), (right - left, bottom - top), edge),
                texts("textmap-told", names, 12, colour="#1c2230"),
                texts("textmap-tag", tags, 10.5, colour="#5a6372"),
            )
        )
    return "".join(shapes)

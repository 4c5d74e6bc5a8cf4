"""Sheet layout: the whole map of a game, split into panels, each place a box with its name.

Boxes are as large as their names and stand in the cells of a grid, so that no two names overlap on a map of any size.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap

from waybench.envs.textmap.drawing._layout import bearing, layout
from waybench.envs.textmap.drawing._names import Box, Point, shown
from waybench.envs.textmap.map import NEVER, Edge, PlaceMap

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
    texts = {place: (_lines(place), _tags(place_map, place, number)) for place in places}
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


def _lines(place: str) -> tuple[str, ...]:
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

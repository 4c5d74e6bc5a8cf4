"""SVG shapes of a map's places, moves and names, at the same positions in every drawing of the map."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import escape
from math import hypot

from waybench._svg import path
from waybench.envs.textmap.drawing._layout import Cell, between, layout
from waybench.envs.textmap.drawing._names import FONT, LINE, Name, Names, Point, shown
from waybench.envs.textmap.map import Edge, PlaceMap, reached

Pair = tuple[str, str]
Line = tuple[Point, Point, Point]  # start, control point, end

# In pixels: a drawing is about as wide as a page. These sizes do not depend on the map.
_WIDE, _HIGH, _LEAST = 560, 470, 330
_FARTHEST: Point = (132, 74)  # between neighbours
_SIDE, _TOP, _BOTTOM = 52, 52, 34

# Styles of moves: not yet known at the cutoff, inferred from the opposite move, walked.
_KINDS = {"later": ("#bdb8ad", 1.2, "1 4"), "imputed": ("#5a6372", 1.8, "4 3"), "walked": ("#5a6372", 1.8, "")}


class Board:
    """The positions of all elements of a map drawing.

    Args:
        places: The places.
        edges: The moves.
        stretch: How many times as much room there is as in a drawing that stands in a page.

    Attributes:
        width: Width of the drawing.
        height: Height of the drawing.
        at: Position of each place.
        radius: Radius of the dots of places.
    """

    def __init__(self, places: tuple[str, ...], edges: tuple[Edge, ...], stretch: float = 1.0) -> None:
        cells = dict(zip(places, layout(places, edges), strict=True))
        last = [max(cell[axis] for cell in cells.values()) for axis in (0, 1)]
        east, south = (
            stretch * min(far, room / max(1, end))
            for far, room, end in zip(_FARTHEST, (_WIDE, _HIGH), last, strict=True)
        )
        self.width, self.height = max(_LEAST, east * last[0]) + 2 * _SIDE, south * last[1] + _TOP + _BOTTOM
        left = (self.width - east * last[0]) / 2
        self.at = {place: (left + east * x, _TOP + south * y) for place, (x, y) in cells.items()}
        self.radius = max(2.0, min(4.5, 0.16 * min(east, south)))
        self._edges, self._bend, occupied = edges, 0.55 * min(east, south), set(cells.values())
        self._thin = max(0.6, min(1.0, min(east, south) / 36))  # line width factor for dense maps
        self._pairs = dict.fromkeys((edge.source, edge.target) for edge in edges if edge.source != edge.target)
        self._bent = {pair for pair in self._pairs if _covers(cells[pair[0]], cells[pair[1]], occupied)}
        within = (2, _TOP / 2, self.width - 2, self.height - 2)
        self._names = Names(self.at, self._along(), within, self.radius)

    def _along(self) -> Iterator[Point]:
        """Yield points along all lines."""
        for source, target in self._pairs:
            if source < target or (target, source) not in self._pairs:
                line = self.line(source, target)
                count = max(2, int(hypot(line[2][0] - line[0][0], line[2][1] - line[0][1]) / 5))
                yield from (_point_at(line, number / count) for number in range(1, count))

    def line(self, source: str, target: str) -> Line:
        """Return the line from one place to another."""
        (x, y), (column, row) = self.at[source], self.at[target]
        middle = (x + column) / 2, (y + row) / 2
        if not self._bends(source, target):
            return (x, y), middle, (column, row)
        # The bend is on the same side in both directions.
        side = self._bend if (x, y) < (column, row) else -self._bend
        length = hypot(column - x, row - y)
        return (x, y), (middle[0] + side * (row - y) / length, middle[1] - side * (column - x) / length), (column, row)

    def _bends(self, source: str, target: str) -> bool:
        return (source, target) in self._bent or (target, source) in self._bent

    def path(self, source: str, target: str, *, half: bool = False) -> str:
        """Return the SVG path data of the line between two places, or of its first half."""
        line = (x, y), (bent_x, bent_y), (column, row) = self.line(source, target)
        if half:
            column, row = _point_at(line, 0.5)
            bent_x, bent_y = (x + bent_x) / 2, (y + bent_y) / 2
        bent = f"Q{bent_x:.4g} {bent_y:.4g} " if self._bends(source, target) else "L"
        return f"M{x:.4g} {y:.4g}{bent}{column:.4g} {row:.4g}"

    def move_path(self, source: str, target: str) -> str:
        """Return the SVG path data of a move: half of the line if the opposite move is drawn too."""
        return self.path(source, target, half=(target, source) in self._pairs)

    def head(self, source: str, target: str, part: float = 0.6, size: float = 5.0) -> str:
        """Return the SVG path data of an arrow head at a fraction of a line."""
        line = self.line(source, target)
        (x, y), (east, south) = _point_at(line, part), _point_at(line, part + 0.02)
        length = hypot(east - x, south - y) or 1.0
        along, across = size * (east - x) / length, size * (south - y) / length
        return (
            f"M{x + along:.4g} {y + across:.4g}L{x - along - across:.4g} {y - across + along:.4g}"
            f"L{x - along + across:.4g} {y - across - along:.4g}z"
        )

    def render(self, cutoff: int) -> str:
        """Return the shapes of moves, places and names for a reader of the steps 0 to `cutoff`."""
        rank = list(_KINDS)
        best: dict[Pair, int] = dict.fromkeys(self._pairs, 0)
        for edge in self._edges:
            if edge.source != edge.target:
                pair = edge.source, edge.target
                best[pair] = max(best[pair], rank.index(_kind(edge, cutoff)))
        parts: list[str] = []
        for number, (kind, (colour, wide, dash)) in enumerate(_KINDS.items()):
            lines = (self.move_path(*pair) for pair, best_kind in best.items() if best_kind == number)
            dashes = f'stroke-dasharray="{dash}"' if dash else ""
            parts.append(path(f"textmap-{kind}", colour, round(wide * self._thin, 2), lines, dashes))
        heads = "".join(self.head(*pair, 0.72, 4) for pair, kind in best.items() if kind and pair[::-1] not in best)
        parts.append(f'<path class="textmap-head" fill="#5a6372" d="{heads}"/>' if heads else "")
        known_places = {place for pair, kind in best.items() if kind for place in pair}
        return "".join(parts) + self._dots(known_places) + name_shapes(self._names.fitting.values())

    def _dots(self, known_places: set[str]) -> str:
        dots: dict[bool, list[str]] = {True: [], False: []}
        for place, (x, y) in self.at.items():
            name = self._names.fitting.get(place)
            whole = name is not None and " ".join(name.lines) == shown(place)
            dot = f'circle cx="{x:.4g}" cy="{y:.4g}" r="{self.radius:.2g}"'
            title = f"><title>{escape(shown(place, 100))}</title></circle>"
            dots[place in known_places].append(f"<{dot}/>" if whole else f"<{dot}{title}")
        looks = {
            True: 'class="textmap-place" fill="#5a6372"',
            False: 'class="textmap-untold" fill="#fff" stroke="#bdb8ad"',
        }
        return "".join(f"<g {looks[kind]}>{''.join(circles)}</g>" for kind, circles in dots.items() if circles)

    def names(self, places: Iterable[str]) -> dict[str, Name]:
        """Return the names of the given places, drawn above all others; see `Names.place_names`."""
        return self._names.place_names(places)


def map_board(place_map: PlaceMap) -> Board:
    """Return the board of a map; cached, since it does not depend on the cutoff."""
    return _cached_board(place_map.places, place_map.edges)


@lru_cache(maxsize=64)
def _cached_board(places: tuple[str, ...], edges: tuple[Edge, ...]) -> Board:
    return Board(places, edges)


def _kind(edge: Edge, cutoff: int) -> str:
    if reached(edge.forward, cutoff):
        return "walked"
    return "imputed" if reached(edge.reverse, cutoff) else "later"


def _covers(source: Cell, target: Cell, occupied: set[Cell]) -> bool:
    covered = between(target[0] - source[0], target[1] - source[1])
    return any((source[0] + x, source[1] + y) in occupied for x, y in covered)


def _point_at(line: Line, part: float) -> Point:
    """Return the point at a fraction of a line."""
    (x, y), (bent_x, bent_y), (column, row) = line
    start_weight, bend_weight, end_weight = (1 - part) ** 2, 2 * part * (1 - part), part**2
    return (
        start_weight * x + bend_weight * bent_x + end_weight * column,
        start_weight * y + bend_weight * bent_y + end_weight * row,
    )


def name_shapes(names: Iterable[Name], *, strong: bool = False) -> str:
    """Return the SVG text of names."""
    texts = "".join(map(_text, names))
    if not texts:
        return ""
    look = 'class="textmap-meant" fill="#1c2230" font-weight="600"' if strong else 'class="textmap-name" fill="#5a6372"'
    return (
        f'<g {look} stroke="#fff" stroke-width="{5 if strong else 3}" stroke-linejoin="round" paint-order="stroke" '
        f'font-family="sans-serif" font-size="{FONT}" text-anchor="middle">{texts}</g>'
    )


def _text(name: Name) -> str:
    x, y = name.at
    first, *more = map(escape, name.lines)
    anchor = "" if name.anchor == "middle" else f' text-anchor="{name.anchor}"'
    rest = "".join(f'<tspan x="{x:.4g}" dy="{LINE}">{line}</tspan>' for line in more)
    return f'<text x="{x:.4g}" y="{y:.4g}"{anchor}>{first}{rest}</text>'

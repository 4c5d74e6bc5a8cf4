"""Label placement: positions for place names that overlap each other and the drawing as little as possible."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom

_GAP = 6  # between a name and its place
FONT, LINE = 12, 13  # heights of letters and of lines
_LETTER = 6.9  # width
_ONE_LINE, _TWO_LINES = 24, 15  # letters
_OCCUPIED = 100  # cost of a name on a place or on another name; on a line it costs 1
_SQUARE = 40
_MOST = 60  # maps with more places show only the names that matter


class Name(NamedTuple):
    """A place's name in a drawing.

    Attributes:
        lines: The text, in one or two lines.
        at: Position of the first line.
        anchor: SVG text anchor of the position.
        box: Bounding box.
    """

    lines: tuple[str, ...]
    at: Point
    anchor: str
    box: Box


def shown(name: str, most: int = 60) -> str:
    """Return a name as one printable line, truncated to `most` characters."""
    text = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in " ".join(name.split()))
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


class Names:
    """The names of a map's places, each at its cheapest position.

    Args:
        places: Position of each place.
        lines: Points along the lines between places.
        within: Area for names.
        radius: Radius of the dots of places.
    """

    def __init__(self, places: Mapping[str, Point], lines: Iterable[Point], within: Box, radius: float) -> None:
        self._places, self._within, self._radius = places, within, radius
        self._obstacles = _Field()
        for point in places.values():
            self._obstacles.add(point, _OCCUPIED)
        for point in lines:
            self._obstacles.add(point, 1)
        self.fitting: dict[str, Name] = {}
        if len(places) <= _MOST:
            boxes = _Field()
            for place in places:
                name, cost = self._best(place, boxes)
                if cost < _OCCUPIED:
                    self.fitting[place] = name
                    boxes.fill(name.box, _OCCUPIED)

    def place_names(self, places: Iterable[str]) -> dict[str, Name]:
        """Return the names of the given places in order; names without free room may cover names of other places."""
        boxes, names = _Field(), dict[str, Name]()
        for place in dict.fromkeys(places):
            names[place] = self.fitting.get(place) or self._best(place, boxes)[0]
            boxes.fill(names[place].box, _OCCUPIED)
        return names

    def _best(self, place: str, others: "_Field") -> tuple[Name, float]:
        options = list(_options(place, self._places[place], self._radius + _GAP))
        costs = [order + self._cost(name.box, others) for order, name in enumerate(options)]
        cost = min(costs)
        return options[costs.index(cost)], cost

    def _cost(self, box: Box, others: "_Field") -> float:
        (left, top, right, bottom), edges, gap = box, self._within, self._radius
        outside = left < edges[0] or top < edges[1] or right > edges[2] or bottom > edges[3]
        wider = (left - gap, top - gap, right + gap, bottom + gap)
        return 100 * _OCCUPIED * outside + self._obstacles.weight(wider) + others.weight(wider)


def _options(place: str, at: Point, gap: float) -> Iterator[Name]:
    """Yield candidate positions of a name, the preferred one first."""
    one_line, two_lines = (shown(place, _ONE_LINE),), _wrap(shown(place))
    for lines in (one_line, two_lines) if len(one_line[0]) <= _TWO_LINES else (two_lines, one_line):
        wide, high = max(map(len, lines)) * _LETTER, len(lines) * LINE
        for across, down in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            left = at[0] + (across - 1) / 2 * wide + across * (gap if down == 0 else 0)
            top = at[1] + (down - 1) / 2 * high + down * gap
            anchor = ("end", "middle", "start")[across + 1]
            where = (left + (1 - across) / 2 * wide, top + 0.8 * FONT)
            yield Name(lines, where, anchor, (left, top, left + wide, top + high))


def _wrap(name: str) -> tuple[str, ...]:
    """Return a name wrapped to two lines and truncated."""
    words = name.split(" ")
    first = words.pop(0)
    while words and len(first) + 1 + len(words[0]) <= _TWO_LINES:
        first += " " + words.pop(0)
    return (shown(first, _TWO_LINES), shown(" ".join(words), _TWO_LINES)) if words else (shown(first, _ONE_LINE),)


class _Field:
    """Weighted points, indexed by grid square."""

    def __init__(self) -> None:
        self._squares: dict[tuple[int, int], list[tuple[float, float, float]]] = {}

    def add(self, point: Point, weight: float) -> None:
        """Add a point."""
        x, y = point
        self._squares.setdefault((int(x // _SQUARE), int(y // _SQUARE)), []).append((x, y, weight))

    def fill(self, box: Box, weight: float) -> None:
        """Fill a box with points."""
        left, top, right, bottom = box
        across, down = max(2, int((right - left) / 6)), max(2, int((bottom - top) / 6))
        for column in range(across + 1):
            for row in range(down + 1):
                self.add((left + (right - left) * column / across, top + (bottom - top) * row / down), weight)

    def weight(self, box: Box) -> float:
        """Return the weight of the points in a box."""
        left, top, right, bottom = box
        total = 0.0
        for column in range(int(left // _SQUARE), int(right // _SQUARE) + 1):
            for row in range(int(top // _SQUARE), int(bottom // _SQUARE) + 1):
                for x, y, weight in self._squares.get((column, row), ()):
                    if left <= x <= right and top <= y <= bottom:
                        total += weight
        return total

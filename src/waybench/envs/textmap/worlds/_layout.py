"""Layout of a text world: the links between places and their directions."""

from collections import deque
from dataclasses import dataclass, field

from waybench.core import Stream
from waybench.envs.textmap.worlds._data import DIRECTIONS, WorldStyle, opposite

Cell = tuple[int, int, int]

_STEPS: dict[str, Cell] = {
    "north": (0, 1, 0),
    "northeast": (1, 1, 0),
    "east": (1, 0, 0),
    "southeast": (1, -1, 0),
    "south": (0, -1, 0),
    "southwest": (-1, -1, 0),
    "west": (-1, 0, 0),
    "northwest": (-1, 1, 0),
    "up": (0, 0, 1),
    "down": (0, 0, -1),
}
_STRAIGHT = ("north", "east", "south", "west")
_FAR = 1_000  # distance between places without a direction, so that each has free cells around it


@dataclass(slots=True)
class Link:
    """A link between two places.

    Attributes:
        source: Number of a place.
        target: Number of another one.
        there: The direction from source to target; empty if the move is special.
        back: The direction back; empty if it is special as well, None if there is no way back.
        fresh: Whether this link added the target, which can then be named after it.
        one_way: Whether the opposite move does not lead back.
    """

    source: int
    target: int
    there: str
    back: str | None
    fresh: bool
    one_way: bool = False


@dataclass(slots=True)
class Layout:
    """The links between places, which are numbered from 0, the start.

    Attributes:
        regions: Number of the region of each place.
        links: All links; every place can be reached from every other.
        used: Directions of the exits of each place.
    """

    regions: list[int]
    links: list[Link] = field(default_factory=lambda: [])
    used: list[set[str]] = field(default_factory=lambda: [])


def make_layout(style: WorldStyle, regions: int, rng: Stream) -> Layout:
    """Generate the layout of a world.

    Args:
        style: Parameters of the world.
        regions: Number of regions, each of consecutive connected places.
        rng: Random stream.
    """
    count = style.places
    layout = Layout([number * regions // count for number in range(count)], used=[set() for _ in range(count)])
    extra = max(1, count * (15 + rng.below(30)) // 100)
    tree, loops = count - 1, extra
    special = _flags(tree + loops, style.special, rng)
    cells = _grow(layout, special[:tree], rng)
    _close_loops(layout, cells, special[tree:], rng)
    _make_one_way(layout, round(style.one_way * len(layout.links)), rng)
    return layout


def _flags(count: int, share: float, rng: Stream) -> list[bool]:
    """Return shuffled flags of which exactly this share (rounded) is true."""
    flags = [number < round(share * count) for number in range(count)]
    rng.shuffle(flags)
    return flags


def _neighbour(cell: Cell, direction: str) -> Cell:
    x, y, z = _STEPS[direction]
    return cell[0] + x, cell[1] + y, cell[2] + z


def _grow(layout: Layout, special: list[bool], rng: Stream) -> list[Cell]:
    """Add each place next to an earlier one; return the cells."""
    cells: list[Cell] = [(0, 0, 0)]
    taken = {cells[0]}
    slanted = rng.below(3)  # some games have no northeast at all
    directions = [*_STRAIGHT * 4, *DIRECTIONS[1:8:2] * slanted, "up", "down"]
    first: dict[int, int] = {}
    for number in range(1, len(layout.regions)):
        region = layout.regions[number]
        begin = first.setdefault(region, number)
        if special[number - 1]:
            parent = _parent(begin, number, rng)
            layout.links.append(Link(parent, number, "", "", True))
            cells.append((_FAR * number, 0, 0))
        else:
            parent, direction = _free_cell(cells, taken, directions, begin, number, rng)
            _join(layout, Link(parent, number, direction, opposite(direction), True))
            cells.append(_neighbour(cells[parent], direction))
        taken.add(cells[-1])
    return cells


def _parent(begin: int, number: int, rng: Stream) -> int:
    """Draw the parent of a place: often the last place, mostly one of the same region."""
    if rng.below(2):
        return number - 1
    return rng.below(number) if begin == number else begin + rng.below(number - begin)


def _free_cell(
    cells: list[Cell], taken: set[Cell], directions: list[str], begin: int, number: int, rng: Stream
) -> tuple[int, str]:
    while True:  # there is always a free cell at the border
        parent, direction = _parent(begin, number, rng), rng.choice(directions)
        if _neighbour(cells[parent], direction) not in taken:
            return parent, direction
        begin = max(0, begin - 1)


def _join(layout: Layout, link: Link) -> None:
    layout.links.append(link)
    layout.used[link.source].add(link.there)
    layout.used[link.target].add(link.back or "")


def _close_loops(layout: Layout, cells: list[Cell], special: list[bool], rng: Stream) -> None:
    """Add links between existing places, so that many places have several paths to them."""
    linked = {ends for link in layout.links for ends in ((link.source, link.target), (link.target, link.source))}
    where = {cell: number for number, cell in enumerate(cells)}
    near: list[tuple[int, str, int]] = []
    for source, cell in enumerate(cells):
        for direction in (*DIRECTIONS[:4], "up"):
            target = where.get(_neighbour(cell, direction))
            if target is not None and (source, target) not in linked:
                near.append((source, direction, target))
    rng.shuffle(near)
    near.sort(
        key=lambda candidate: candidate[1] not in _STRAIGHT, reverse=True
    )  # popped from the end, so straight first
    for is_special in special:
        if is_special:
            source = rng.below(len(cells))
            target = (source + 1 + rng.below(min(len(cells) - 1, 12))) % len(cells)
            layout.links.append(Link(source, target, "", "", False))
        elif near:
            source, direction, target = near.pop()
            _join(layout, Link(source, target, direction, opposite(direction), False))
        else:
            _join_far(layout, rng)


def _join_far(layout: Layout, rng: Stream) -> None:
    """Link two places by an unused direction; they need not be neighbours, since passages can wind."""
    count = len(layout.regions)
    for _ in range(200):
        source, direction = rng.below(count), rng.choice(_STRAIGHT)
        target = (source + 1 + rng.below(min(count - 1, 12))) % count
        back = opposite(direction) or ""
        if direction not in layout.used[source] and back not in layout.used[target]:
            _join(layout, Link(source, target, direction, back, False))
            return


def _make_one_way(layout: Layout, count: int, rng: Stream) -> None:
    """Make some links one-way.

    If that would cut off a place, the link gets a way back in another direction, so that every place can still be
    reached from every other.
    """
    ways: list[list[int]] = [[] for _ in layout.regions]
    for link in layout.links:
        ways[link.source].append(link.target)
        ways[link.target].append(link.source)
    links = list(layout.links)
    rng.shuffle(links)
    for link in links[:count]:
        if not link.fresh and rng.below(2):
            link.source, link.target, link.there, link.back = link.target, link.source, link.back or "", link.there
        layout.used[link.target].discard(link.back or "")
        ways[link.target].remove(link.source)
        if _reaches(ways, link.target, link.source):
            link.back, link.one_way = None, True
            continue
        ways[link.target].append(link.source)
        free = [
            direction for direction in DIRECTIONS if direction not in layout.used[link.target] | {opposite(link.there)}
        ]
        link.one_way = bool(free)
        link.back = rng.choice(free) if free else link.back
        layout.used[link.target].add(link.back or "")


def _reaches(ways: list[list[int]], source: int, target: int) -> bool:
    seen, queue = {source}, deque([source])
    while queue:
        for place in ways[queue.popleft()]:
            if place == target:
                return True
            if place not in seen:
                seen.add(place)
                queue.append(place)
    return False

"""Text worlds as data: places, exits, things, themes and names, and the links between places."""

from collections import deque
from dataclasses import dataclass, field

from waybench._package_data import read_toml
from waybench.core import Stream, UsageError

LEAST_PLACES = 4
EXITS = ("list", "none", "prose")
DIRECTIONS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest", "up", "down")
_OPPOSITES = (("enter ", "exit "), ("climb ", "descend "), ("board ", "leave "), ("crawl into ", "crawl out of "))
_BOTH_WAYS = ("squeeze through ", "swim across ", "step through ", "jump over ")
_BARE = {"in": "out", "out": "in", "up": "down", "down": "up"} | {
    direction: DIRECTIONS[(number + 4) % 8] for number, direction in enumerate(DIRECTIONS[:8])
}
# Prefix of a move -> prefix of the opposite move; no prefix is a prefix of another one.
_BACK = {
    **{there: back for there, back in _OPPOSITES},
    **{back: there for there, back in _OPPOSITES},
    **{prefix: prefix for prefix in _BOTH_WAYS},
}
ONE_WAY_VERBS = ("slide down", "jump into", "drop through", "dive into", "step onto")
MOVING_VERBS = frozenset(phrase.split()[0] for phrase in (*_BACK, *ONE_WAY_VERBS, "go "))
_STRAIGHT = ("north", "east", "south", "west")
_FAR = 1_000  # cells between places without a direction, so that each has free cells around it
_MOST_NUMBER_DISTANCE = 12  # between the numbers of places that a winding or special link joins, so that it stays local


def opposite_action(action: str) -> str | None:
    """Return the opposite of an action, judged by its words alone; None if there is none."""
    if action in _BARE:
        return _BARE[action]
    for prefix, opposite_prefix in _BACK.items():
        if action.startswith(prefix):
            return opposite_prefix + action[len(prefix) :]
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldStyle:
    """Parameters of a text world; `WORLD_OPTIONS` says what they mean.

    A `brief` world describes a place only at the first visit.
    """

    places: int
    one_way: float = 0.1
    doors: float = 0.1
    dark: float = 0.1
    special: float = 0.15
    confusable: float = 0.2
    prose: int = 2
    exits: str = "prose"
    brief: bool = False

    def __post_init__(self) -> None:
        if self.places < LEAST_PLACES:
            raise UsageError(f"places is {self.places}: give a number from {LEAST_PLACES} upwards")
        for name in ("one_way", "doors", "dark", "special", "confusable"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} is {getattr(self, name)}: give a share from 0 to 1")
        if not 0 <= self.prose <= 3 or self.exits not in EXITS:
            raise UsageError(f"prose={self.prose}, exits={self.exits}: give 0 to 3, and one of {', '.join(EXITS)}")


@dataclass(frozen=True, slots=True)
class Location:
    """One place; its name is unique, also in lower case.

    `dark` places are described only in the light of the lamp. `text` is the description, empty if there is none, and
    `ways` describes the exits without a door. `sound` answers listening. `events` happen at random and change nothing.
    """

    name: str
    dark: bool
    text: str
    ways: str
    sound: str
    smell: str
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exit:
    """A way from a place to another in one direction; its action is unique among the exits of the place."""

    source: int
    action: str
    target: int
    door: int | None = None
    travel_text: str = ""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be examined, by a unique name in its place; place -1 is the player."""

    name: str
    place: int
    portable: bool
    text: str


@dataclass(frozen=True, slots=True)
class Voice:
    """Answers of the game. "{}" stands for the thing, door or direction."""

    unknown: str
    no_way: str
    absent: str
    dark: str
    too_dark: str
    closed: str
    opened: str
    open_already: str
    taken: str
    fixed: str
    taken_already: str
    lit: str
    lit_already: str
    out: str
    out_already: str
    carrying: str
    empty_handed: str
    wait: str
    jump: str
    search: str


@dataclass(frozen=True, slots=True)
class TextWorld:
    """A text game, as played by `WorldEngine`.

    `intro` is the text before the first place, whose number is `start`. No place has two `doors` of the same name.
    `lamp` is the number of the lamp among the things; -1 if there is none, and then no place is dark. `pulse` says
    whether a random event happens in each turn; it is repeated cyclically. `seed` is for further random choices.
    """

    name: str
    intro: str
    places: tuple[Location, ...]
    exits: tuple[Exit, ...]
    doors: tuple[str, ...]
    things: tuple[Thing, ...]
    lamp: int
    start: int
    style: WorldStyle
    voice: Voice
    pulse: tuple[bool, ...]
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The words of a theme.

    `whole` are nouns for the whole region, `ways` nouns for ways in the singular, `moods` ends of sentences and
    `details` whole sentences. The fields from `enter` to `crawl` have things to enter, climb, board and crawl into.
    `shadowy` is the weight of its places in the choice of dark places.
    """

    nouns: tuple[str, ...]
    adjectives: tuple[str, ...]
    whole: tuple[str, ...]
    ways: tuple[str, ...]
    ground: tuple[str, ...]
    around: tuple[str, ...]
    moods: tuple[str, ...]
    details: tuple[str, ...]
    scenery: tuple[str, ...]
    sounds: tuple[str, ...]
    smells: tuple[str, ...]
    events: tuple[str, ...]
    enter: tuple[str, ...]
    climb: tuple[str, ...]
    board: tuple[str, ...]
    crawl: tuple[str, ...]
    shadowy: int = 1


_DATA = read_toml(__file__, "themes.toml")
_THEMES = {name: Theme(**theme) for name, theme in _DATA["themes"].items()}
COUNTRIES = tuple(tuple(_THEMES[name] for name in country) for country in _DATA["countries"])
"""Groups of themes that can occur in the same world."""


_NAMES = read_toml(__file__, "words.toml")["names"]
_COUNTRY_THEMES = tuple(dict.fromkeys(theme for country in COUNTRIES for theme in country))


def name_places(
    themes: list[Theme], fixed_names: dict[int, tuple[str, str]], confusable: float, rng: Stream
) -> list[tuple[str, str]]:
    """Return the name and the noun of each place.

    `confusable` is the share of places whose names resemble another one. `fixed_names` has names and nouns of some
    places, which they get unless theirs is confusable.
    """
    count = len(themes)
    names: dict[int, tuple[str, str]] = {}
    used = {"darkness", *(name.lower() for name, _ in fixed_names.values())}
    order = list(range(count))
    rng.shuffle(order)
    confusables = sorted(order, key=lambda number: number in fixed_names)[: round(confusable * count)]
    confusables.sort(key=lambda number: themes[number].nouns)  # groups places of one theme
    while confusables:
        if len(confusables) == 1:  # a single name cannot be confused
            confusables += [number for number in order if number not in names and number not in confusables][:1]
        size = 2 + rng.below(3)
        if len(confusables) - size == 1:
            size += 1  # no place is left over alone
        group = confusables[:size]
        for number, name in zip(group, _draw_similar_names(themes[group[0]], len(group), used, rng), strict=False):
            names[number] = name
        confusables = [number for number in confusables if number not in names]
    for number in order:
        if number not in names:
            names[number] = (
                fixed_names[number] if number in fixed_names else _draw_plain_name(themes[number], used, rng)
            )
    return [names[number] for number in range(count)]


def draw_name(rng: Stream) -> str:
    """Return a name for a place of any theme, in lower case: "mossy archive"."""
    theme = rng.choice(_COUNTRY_THEMES)
    return f"{rng.choice(theme.adjectives)} {rng.choice(theme.nouns)}".lower()


def _draw_similar_names(theme: Theme, size: int, used: set[str], rng: Stream) -> list[tuple[str, str]]:
    """Return up to `size` names that resemble each other."""
    while True:
        if rng.below(4):
            noun = rng.choice(theme.nouns)
            names = [(f"{adjective} {noun}", noun.lower()) for adjective in rng.choice(_NAMES["families"])]
        else:
            adjective = rng.choice(theme.adjectives)
            names = [(f"{adjective} {noun}", noun.lower()) for noun in rng.choice(_NAMES["endings"])]
        rng.shuffle(names)
        names = [(name, noun) for name, noun in names if name.lower() not in used]
        if len(names) > 1:
            names = names[:size]
            used.update(name.lower() for name, _ in names)
            return names


def _draw_plain_name(theme: Theme, used: set[str], rng: Stream) -> tuple[str, str]:
    """Draw a name and its noun that no other place has."""
    while True:
        noun = rng.choice(theme.nouns)
        draw = rng.below(20)  # of 20: 8 a noun alone, 11 with an adjective, 1 with an owner
        if draw < 8:
            name = noun
        elif draw < 19:
            name = f"{rng.choice(theme.adjectives)} {noun}"
        else:
            name = f"{rng.choice(_NAMES['owners'])}'s {noun}"
        if name.lower() not in used and len(set(name.split())) == len(name.split()):
            used.add(name.lower())
            return name, noun.lower()


Cell = tuple[int, int, int]

_STEPS: dict[str, Cell] = {
    **{"north": (0, 1, 0), "northeast": (1, 1, 0), "east": (1, 0, 0), "southeast": (1, -1, 0), "south": (0, -1, 0)},
    **{"southwest": (-1, -1, 0), "west": (-1, 0, 0), "northwest": (-1, 1, 0), "up": (0, 0, 1), "down": (0, 0, -1)},
}


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
class PlaceLinks:
    """The links between places, which are numbered from 0, the start; every place can be reached from every other.

    `regions` has the number of the region of each place, and `used` the directions of its exits.
    """

    regions: list[int]
    links: list[Link] = field(default_factory=lambda: [])
    used: list[set[str]] = field(default_factory=lambda: [])


def make_layout(style: WorldStyle, regions: int, rng: Stream) -> PlaceLinks:
    """Generate the layout of a world with this number of regions, each of consecutive connected places."""
    count = style.places
    layout = PlaceLinks([number * regions // count for number in range(count)], used=[set() for _ in range(count)])
    n_links = count - 1 + max(1, count * (15 + rng.below(30)) // 100)  # a tree, and 15 to 44 % of loops
    are_special = [number < round(style.special * n_links) for number in range(n_links)]
    rng.shuffle(are_special)
    cells = _place_on_grid(layout, are_special[: count - 1], rng)
    _close_loops(layout, cells, are_special[count - 1 :], rng)
    _make_one_way(layout, round(style.one_way * len(layout.links)), rng)
    return layout


def _neighbour_cell(cell: Cell, direction: str) -> Cell:
    """Return the cell next to a cell in a direction."""
    x, y, z = _STEPS[direction]
    return cell[0] + x, cell[1] + y, cell[2] + z


def _place_on_grid(layout: PlaceLinks, are_special: list[bool], rng: Stream) -> list[Cell]:
    """Add each place next to an earlier one; return the cells."""
    cells: list[Cell] = [(0, 0, 0)]
    occupied = {cells[0]}
    diagonal_weight = rng.below(3)  # some games have no northeast at all
    directions = [*_STRAIGHT * 4, *DIRECTIONS[1:8:2] * diagonal_weight, "up", "down"]
    region_starts: dict[int, int] = {}  # region -> its first place
    for number in range(1, len(layout.regions)):
        start = region_starts.setdefault(layout.regions[number], number)
        if are_special[number - 1]:
            parent = _draw_parent(start, number, rng)
            layout.links.append(Link(parent, number, "", "", True))
            cells.append((_FAR * number, 0, 0))
        else:
            parent, direction = _draw_parent(start, number, rng), rng.choice(directions)
            while _neighbour_cell(cells[parent], direction) in occupied:  # there is always a free cell at the border
                start = max(0, start - 1)
                parent, direction = _draw_parent(start, number, rng), rng.choice(directions)
            _add_link(layout, Link(parent, number, direction, opposite_action(direction), True))
            cells.append(_neighbour_cell(cells[parent], direction))
        occupied.add(cells[-1])
    return cells


def _draw_parent(start: int, number: int, rng: Stream) -> int:
    """Draw the parent of a place among earlier places: the last one in half of the cases, otherwise from `start` on.

    The first place of a region, whose number is `start`, has any earlier place as its parent.
    """
    if rng.below(2):
        return number - 1
    return rng.below(number) if start == number else start + rng.below(number - start)


def _add_link(layout: PlaceLinks, link: Link) -> None:
    """Add a link to a layout, and mark its directions as used at both places."""
    layout.links.append(link)
    layout.used[link.source].add(link.there)
    layout.used[link.target].add(link.back or "")


def _close_loops(layout: PlaceLinks, cells: list[Cell], are_special: list[bool], rng: Stream) -> None:
    """Add links between existing places, so that many places have several paths to them."""
    linked_pairs = {(link.source, link.target) for link in layout.links}
    linked_pairs |= {(link.target, link.source) for link in layout.links}
    places_by_cell = {cell: number for number, cell in enumerate(cells)}
    neighbours: list[tuple[int, str, int]] = []  # unlinked neighbouring places and the direction between them
    for source, cell in enumerate(cells):
        for direction in (*DIRECTIONS[:4], "up"):  # the other directions are these ones' opposites
            target = places_by_cell.get(_neighbour_cell(cell, direction))
            if target is not None and (source, target) not in linked_pairs:
                neighbours.append((source, direction, target))
    rng.shuffle(neighbours)
    neighbours.sort(key=lambda candidate: candidate[1] in _STRAIGHT)  # popped from the end, so straight first
    for is_special in are_special:
        if is_special:
            source = rng.below(len(cells))
            target = (source + 1 + rng.below(min(len(cells) - 1, _MOST_NUMBER_DISTANCE))) % len(cells)
            layout.links.append(Link(source, target, "", "", False))
        elif neighbours:
            source, direction, target = neighbours.pop()
            _add_link(layout, Link(source, target, direction, opposite_action(direction), False))
        else:
            _link_distant_places(layout, rng)


def _link_distant_places(layout: PlaceLinks, rng: Stream) -> None:
    """Link two places by an unused direction; they need not be neighbours, since passages can wind.

    Nothing is added if 200 draws find no such direction.
    """
    count = len(layout.regions)
    for _ in range(200):
        source, direction = rng.below(count), rng.choice(_STRAIGHT)
        target = (source + 1 + rng.below(min(count - 1, _MOST_NUMBER_DISTANCE))) % count
        back = opposite_action(direction) or ""
        if direction not in layout.used[source] and back not in layout.used[target]:
            _add_link(layout, Link(source, target, direction, back, False))
            return


def _make_one_way(layout: PlaceLinks, count: int, rng: Stream) -> None:
    """Make some links one-way.

    If that would cut off a place, the link gets a way back in another direction, so that every place can still be
    reached from every other.
    """
    neighbours: list[list[int]] = [[] for _ in layout.regions]
    for link in layout.links:
        neighbours[link.source].append(link.target)
        neighbours[link.target].append(link.source)
    links = list(layout.links)
    rng.shuffle(links)
    for link in links[:count]:
        if not link.fresh and rng.below(2):  # a place named after its fresh link keeps the way to it
            link.source, link.target, link.there, link.back = link.target, link.source, link.back or "", link.there
        layout.used[link.target].discard(link.back or "")
        neighbours[link.target].remove(link.source)
        if _is_reachable(neighbours, link.target, link.source):
            link.back, link.one_way = None, True
            continue
        neighbours[link.target].append(link.source)
        unusable_directions = layout.used[link.target] | {opposite_action(link.there)}
        free_directions = [direction for direction in DIRECTIONS if direction not in unusable_directions]
        if free_directions:
            link.back = rng.choice(free_directions)
        link.one_way = bool(free_directions)
        layout.used[link.target].add(link.back or "")


def _is_reachable(neighbours: list[list[int]], source: int, target: int) -> bool:
    """Return whether `target` can be reached from `source`, by the places that each place's exits lead to."""
    visited, queue = {source}, deque([source])
    while queue:
        for place in neighbours[queue.popleft()]:
            if place == target:
                return True
            if place not in visited:
                visited.add(place)
                queue.append(place)
    return False

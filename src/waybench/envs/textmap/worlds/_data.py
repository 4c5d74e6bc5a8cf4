"""Text worlds as data: places, exits, doors, things, themes and names."""

from dataclasses import dataclass

from waybench._package_data import read_toml
from waybench.core import Stream, UsageError

LEAST_PLACES = 4
EXITS = ("list", "none", "prose")
DIRECTIONS = (
    "north",
    "northeast",
    "east",
    "southeast",
    "south",
    "southwest",
    "west",
    "northwest",
    "up",
    "down",
)
_PAIRS = (("enter ", "exit "), ("climb ", "descend "), ("board ", "leave "), ("crawl into ", "crawl out of "))
_BOTH_WAYS = ("squeeze through ", "swim across ", "step through ", "jump over ")
_BARE = {"in": "out", "out": "in", "up": "down", "down": "up"} | {
    direction: DIRECTIONS[(number + 4) % 8] for number, direction in enumerate(DIRECTIONS[:8])
}
# Prefix of a move -> prefix of the opposite move; no prefix is a prefix of another one.
_BACK = {
    **{there: back for there, back in _PAIRS},
    **{back: there for there, back in _PAIRS},
    **{way: way for way in _BOTH_WAYS},
}
ONE_WAY_VERBS = ("slide down", "jump into", "drop through", "dive into", "step onto")
MOVING_VERBS = frozenset(way.split()[0] for way in (*_BACK, *ONE_WAY_VERBS, "go "))


def opposite(action: str) -> str | None:
    """Return the opposite of an action, judged by its words alone; None if there is none."""
    if action in _BARE:
        return _BARE[action]
    for there, back in _BACK.items():
        if action.startswith(there):
            return back + action[len(there) :]
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldStyle:
    """Parameters of a text world.

    Attributes:
        places: Number of places, 4 or more.
        one_way: Share of the links between places whose opposite move does not lead back.
        doors: Share of links with a door, closed at first.
        dark: Share of places whose name is shown only in the light of the lamp.
        special: Share of links that are not directions, such as entering, climbing or crawling.
        confusable: Share of places whose names resemble another place's.
        prose: Length of descriptions, from 0 (names alone) to 3 (long descriptions that distract).
        exits: How exits are described: "list", "prose", or "none".
        brief: Whether a place is described only at the first visit.

    Raises:
        UsageError: If a value is out of range.
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
    """One place.

    Attributes:
        name: Name, the line above the description; unique, also in lower case.
        dark: Whether it is described only in the light of the lamp.
        text: Description of one or more paragraphs; empty if there is none.
        ways: Description of the exits without a door.
        sound: Answer to listening.
        smell: The smell of the place.
        events: Random events there; they change nothing.
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
    """A one-directional way from a place to another.

    Attributes:
        source: Number of the place where it starts.
        action: The command; unique among the exits of the place.
        target: Number of the place where it ends.
        door: Number of its door, if there is one.
        travel_text: Text shown on the way; may be empty.
    """

    source: int
    action: str
    target: int
    door: int | None = None
    travel_text: str = ""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be examined.

    Attributes:
        name: Name; unique in its place.
        place: Number of its place; -1 if the player carries it from the start.
        portable: Whether it can be taken.
        text: Answer to examining it.
    """

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
class World:
    """A text game, as played by `Play`.

    Attributes:
        name: Name in its set.
        intro: Text at the start, before the first place.
        places: All places.
        exits: All exits, each in one direction.
        doors: Names of the doors; no place has two of the same name.
        things: Things that can be examined or taken, including the lamp.
        lamp: Number of the lamp among the things; -1 if there is none, and then no place is dark.
        start: Number of the first place.
        style: Parameters of the world.
        voice: Answers of the game.
        pulse: Whether a random event happens in each turn; repeated cyclically.
        seed: Seed of further random choices for this world.
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

    Attributes:
        nouns: Nouns of places.
        adjectives: Adjectives in names of places.
        whole: Nouns for the whole region, for the introduction.
        ways: Nouns for ways, in the singular.
        ground: Descriptions of the ground.
        around: Descriptions of the surroundings.
        moods: Descriptions of the mood, as ends of sentences.
        details: Whole sentences.
        scenery: Things that can be examined.
        sounds: Answers to listening.
        smells: Smells.
        events: Random events.
        enter: Things to enter.
        climb: Things to climb.
        board: Things to board.
        crawl: Things to crawl into.
        shadowy: Weight of its places in the choice of dark places.
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
COUNTRIES: tuple[tuple[Theme, ...], ...] = tuple(
    tuple(_THEMES[name] for name in country) for country in _DATA["countries"]
)
"""Groups of themes that can occur in the same world."""


_NAMES = read_toml(__file__, "words.toml")["names"]
_COUNTRY_THEMES = tuple(dict.fromkeys(theme for country in COUNTRIES for theme in country))


def name_places(
    themes: list[Theme], fixed_names: dict[int, tuple[str, str]], confusable: float, rng: Stream
) -> list[tuple[str, str]]:
    """Return the name and the noun of each place.

    Args:
        themes: The theme of each place.
        fixed_names: Names and nouns of places that are used unless the place gets a confusable name.
        confusable: Share of places whose names resemble another one.
        rng: Random stream.
    """
    count = len(themes)
    names: dict[int, tuple[str, str]] = {}
    used = {"darkness", *(name.lower() for name, _ in fixed_names.values())}
    order = list(range(count))
    rng.shuffle(order)
    alike = sorted(order, key=lambda place: place in fixed_names)[: round(confusable * count)]
    alike.sort(key=lambda place: themes[place].nouns)  # groups places of one theme
    while alike:
        if len(alike) == 1:  # a single name cannot be confused
            alike += [place for place in order if place not in names and place not in alike][:1]
        size = 2 + rng.below(3)
        group = alike[:size] if len(alike) - size != 1 else alike[: size + 1]
        for place, name in zip(group, _resembling(themes[group[0]], len(group), used, rng), strict=False):
            names[place] = name
        alike = [place for place in alike if place not in names]
    for place in order:
        if place not in names:
            names[place] = fixed_names[place] if place in fixed_names else _plain(themes[place], used, rng)
    return [names[place] for place in range(count)]


def draw_name(rng: Stream) -> str:
    """Return a name for a place of any theme, in lower case: "mossy archive"."""
    theme = rng.choice(_COUNTRY_THEMES)
    return f"{rng.choice(theme.adjectives)} {rng.choice(theme.nouns)}".lower()


def _resembling(theme: Theme, size: int, used: set[str], rng: Stream) -> list[tuple[str, str]]:
    """Return up to `size` names that resemble each other."""
    while True:
        if rng.below(4):
            noun = rng.choice(theme.nouns)
            names = [(f"{like} {noun}", noun.lower()) for like in rng.choice(_NAMES["families"])]
        else:
            like = rng.choice(theme.adjectives)
            names = [(f"{like} {noun}", noun.lower()) for noun in rng.choice(_NAMES["endings"])]
        rng.shuffle(names)
        names = [name for name in names if name[0].lower() not in used]
        if len(names) > 1:
            names = names[:size]
            used.update(name.lower() for name, _ in names)
            return names


def _plain(theme: Theme, used: set[str], rng: Stream) -> tuple[str, str]:
    while True:
        noun = rng.choice(theme.nouns)
        draw = rng.below(20)
        if draw < 8:
            name = noun
        elif draw < 19:
            name = f"{rng.choice(theme.adjectives)} {noun}"
        else:
            name = f"{rng.choice(_NAMES['owners'])}'s {noun}"
        if name.lower() not in used and len(set(name.split())) == len(name.split()):
            used.add(name.lower())
            return name, noun.lower()

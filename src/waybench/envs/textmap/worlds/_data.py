"""Data model of text worlds: places, exits, doors, things and the texts of the game."""

from dataclasses import dataclass

from waybench.core import UsageError

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

"""What a text world consists of: places, ways between them, doors, things, and how its game speaks."""

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
# What begins with these leads back by what begins with those; no beginning is the beginning of another one.
_BACK = {
    **{there: back for there, back in _PAIRS},
    **{back: there for there, back in _PAIRS},
    **{way: way for way in _BOTH_WAYS},
}
ONE_WAY_VERBS = ("slide down", "jump into", "drop through", "dive into", "step onto")
MOVING_VERBS = frozenset(way.split()[0] for way in (*_BACK, *ONE_WAY_VERBS, "go "))


def opposite(action: str) -> str | None:
    """Return the action that should lead back, by its words alone; None if there is no such action."""
    if action in _BARE:
        return _BARE[action]
    for there, back in _BACK.items():
        if action.startswith(there):
            return back + action[len(there) :]
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldStyle:
    """What a text world is to be like.

    Attributes:
        places: Number of places, 4 or more.
        one_way: Share of the links between places whose opposite move does not lead back.
        doors: Share of links with a door, closed at first.
        dark: Share of places that tell their name only by the light of the lamp.
        special: Share of links that are not directions, such as entering, climbing or crawling.
        confusable: Share of places whose names resemble another place's.
        prose: How much is told, from 0 (names alone) to 3 (long descriptions that distract).
        exits: How ways out are told: "list", "prose", or "none".
        brief: Whether a place is described at the first visit only.

    Raises:
        UsageError: If one of these is out of range.
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
        name: As in the line above its description; unlike every other place's, also in lower case.
        dark: Whether it is told only by the light of the lamp.
        text: Its description, of one or more paragraphs; empty if there is none.
        ways: What is told of its ways out but for those with a door.
        sound: What is heard on listening.
        smell: What is smelt.
        events: What happens there by itself now and then; it changes nothing.
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
    """One way from a place to another, in this direction only.

    Attributes:
        source: Number of the place where it begins.
        action: What is typed; no other exit of that place has the same.
        target: Number of the place where it ends.
        door: Number of the door in it, if there is one.
        travel_text: What is told on the way; empty if nothing.
    """

    source: int
    action: str
    target: int
    door: int | None = None
    travel_text: str = ""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be looked at.

    Attributes:
        name: What it is called; no other thing of its place has the same name.
        place: Number of the place where it is; -1 if it is carried from the beginning.
        portable: Whether it can be taken.
        text: What is told when it is examined.
    """

    name: str
    place: int
    portable: bool
    text: str


@dataclass(frozen=True, slots=True)
class Voice:
    """How the game of a world answers. "{}" stands for the thing, door or direction meant."""

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
    """A text game: all that `Play` needs to play it.

    Attributes:
        name: Its name in a set.
        intro: What is told at the beginning, before the first place.
        places: All places.
        exits: All ways, each in one direction.
        doors: Names of the doors; no place has two of the same name.
        things: What can be looked at or taken; the lamp is among them.
        lamp: Number of the lamp among the things; -1 if there is none, and then no place is dark.
        start: Number of the place where the game begins.
        style: What was asked for.
        voice: How the game answers.
        pulse: For each turn, taken in turns, whether something happens by itself.
        seed: A number for whatever else is to depend on this world alone.
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

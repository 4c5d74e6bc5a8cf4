"""Moves of a text world: commands, doors, and names of places derived from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from waybench._package_data import read_toml
from waybench.core import Stream
from waybench.envs.textmap.worlds._data import Exit
from waybench.envs.textmap.worlds._layout import Layout, Link
from waybench.envs.textmap.worlds._themes import Theme


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of special move; "{}" stands for the thing to enter or climb, "{A}" for the thing with its article."""

    there: str
    back: str | None
    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    descriptions_back: tuple[str, ...] = ()


_WORDS = read_toml(__file__, "words.toml")
_MOVES: Mapping[str, tuple[str, ...]] = _WORDS["moves"]
_BOTH_WAYS, _ONE_WAY = _WORDS["both_ways"], _WORDS["one_way"]
_SPECIAL = {name: _Kind(**kind) for name, kind in _WORDS["special"].items()}


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an" before it."""
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def sentence(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


@dataclass(slots=True)
class Moves:
    """All exits of a world, and the names derived from them.

    Attributes:
        exits: The exits.
        doors: Names of the doors.
        names: For places named after the way to them: the name and the noun.
        descriptions: Description of each special exit.
    """

    exits: list[Exit] = field(default_factory=lambda: [])
    doors: list[str] = field(default_factory=lambda: [])
    names: dict[int, tuple[str, str]] = field(default_factory=lambda: {})
    descriptions: dict[tuple[int, str], str] = field(default_factory=lambda: {})


def make_moves(layout: Layout, themes: list[Theme], doors: float, prose: int, rng: Stream) -> Moves:
    """Name the moves of a layout.

    Args:
        layout: The links.
        themes: The theme of each place.
        doors: Share of links with a door.
        prose: Length of descriptions.
        rng: Random stream.
    """
    moves = Moves()
    door_links = _choose_door_links(layout.links, round(doors * len(layout.links)), rng)
    near: list[set[str]] = [set() for _ in themes]  # names of the doors of each place
    used: set[str] = set()
    for number, link in enumerate(layout.links):
        door = None
        if number in door_links:
            door = len(moves.doors)
            moves.doors.append(_door(near[link.source] | near[link.target], rng))
            near[link.source].add(moves.doors[door])
            near[link.target].add(moves.doors[door])
        begin = len(moves.exits)
        if link.there:
            moves.exits.append(Exit(link.source, link.there, link.target))
        else:
            _special(link, moves, themes[link.source], prose, used, rng)
        if link.back:
            moves.exits.append(Exit(link.target, link.back, link.source))
        if door is not None:
            moves.exits[begin:] = [replace(way, door=door) for way in moves.exits[begin:]]
    return moves


def _choose_door_links(links: list[Link], count: int, rng: Stream) -> set[int]:
    """Draw the links with a door, preferably directions that lead both ways."""
    order = list(range(len(links)))
    rng.shuffle(order)
    order.sort(key=lambda number: not links[number].there or links[number].one_way)
    return set(order[:count])


def _door(used: set[str], rng: Stream) -> str:
    while (name := f"{rng.choice(_MOVES['door_likeness'])} {rng.choice(_MOVES['doors'])}") in used:
        pass
    return name


def _noun(nouns: tuple[str, ...], used: set[str], rng: Stream) -> str:
    """Draw a noun that no other special move of this world has."""
    name = rng.choice(nouns)
    for attempt in range(1_000):
        if name not in used:
            break
        name = f"{rng.choice(_MOVES['likeness'])} {rng.choice(nouns)}"
        if attempt > 60:
            name = f"{rng.choice(_MOVES['likeness'])} {name}"
    used.add(name)
    return name


def _special(link: Link, moves: Moves, theme: Theme, prose: int, used: set[str], rng: Stream) -> None:
    """Add the exits of a link without a direction."""
    if link.one_way:
        verb = rng.choice(sorted(_ONE_WAY["moves"]))
        move = _ONE_WAY["moves"][verb]
        noun = _noun(move["nouns"], used, rng)
        _add(link, moves, _Kind(verb, None, (move["name"],), _ONE_WAY["descriptions"]), noun, prose, rng)
    elif not link.fresh or rng.below(5) == 0:
        verb = rng.choice(sorted(_BOTH_WAYS["nouns"]))
        noun = _noun(_BOTH_WAYS["nouns"][verb], used, rng)
        _add(
            link, moves, _Kind(verb, verb, (), _BOTH_WAYS["descriptions"], _BOTH_WAYS["descriptions"]), noun, prose, rng
        )
    else:
        kinds = [(kind, getattr(theme, name)) for name, kind in _SPECIAL.items()]
        kind, nouns = rng.choice(kinds)
        noun = _noun(nouns, used, rng)
        if (
            kind is _SPECIAL["enter"]
            and rng.below(4) == 0
            and not any((way.source, way.action) == (link.source, "in") for way in moves.exits)
        ):
            kind = replace(kind, there="in", back="out")
        _add(link, moves, kind, noun, prose, rng)


def _add(link: Link, moves: Moves, kind: _Kind, noun: str, prose: int, rng: Stream) -> None:
    def descriptions(templates: tuple[str, ...]) -> str:
        article = with_article(noun)
        return rng.choice(templates).replace("{A}", sentence(article)).replace("{a}", article).format(noun)

    def travel_text(action: str) -> str:
        verb = action.removesuffix(noun).strip()
        return f"You {verb} the {noun}." if prose >= 2 and verb and verb != action else ""

    there = kind.there.format(noun)
    moves.exits.append(Exit(link.source, there, link.target, travel_text=travel_text(there)))
    moves.descriptions[link.source, there] = descriptions(kind.descriptions)
    if kind.back and link.back is not None:
        back = kind.back.format(noun)
        moves.exits.append(Exit(link.target, back, link.source, travel_text=travel_text(back)))
        moves.descriptions[link.target, back] = descriptions(kind.descriptions_back)
    if link.fresh and kind.names:
        title = " ".join(word if word in ("of", "in", "the") else sentence(word) for word in noun.split())
        moves.names[link.target] = (rng.choice(kind.names).format(title), noun)

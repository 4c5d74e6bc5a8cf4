"""Texts of text worlds: commands, descriptions and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from waybench._package_data import read_toml
from waybench.core import Stream
from waybench.envs.textmap.worlds._data import DIRECTIONS, Exit, Theme, Voice
from waybench.envs.textmap.worlds._layout import Layout, Link


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


_PROSE: Mapping[str, tuple[str, ...]] = _WORDS["prose"]
LAMPS = _PROSE["lamps"]


def make_voice(rng: Stream) -> Voice:
    """Draw the answers of a game."""
    return Voice(**{name: rng.choice(answers) for name, answers in _WORDS["voice"].items()})


def introduction(theme: Theme, prose: int, rng: Stream) -> str:
    """Return the text before the first place."""
    name = rng.choice(_PROSE["first_syllables"]) + rng.choice(_PROSE["last_syllables"])
    title = f"{rng.choice(_PROSE['titles']).format(name)}\n{rng.choice(_PROSE['subtitles'])}"
    return title if prose == 0 else f"{title}\n\n{rng.choice(_PROSE['quests']).format(whole=rng.choice(theme.whole))}"


class Deck:
    """Deals texts of a kind in random order without repetition until all have been dealt.

    Args:
        rng: Random stream.
    """

    def __init__(self, rng: Stream) -> None:
        self._rng = rng
        self._remaining: dict[tuple[str, ...], list[str]] = {}

    def deal(self, texts: tuple[str, ...]) -> str:
        """Return one of the texts."""
        remaining = self._remaining.setdefault(texts, [])
        if not remaining:
            remaining.extend(texts)
            self._rng.shuffle(remaining)
        return remaining.pop()


def describe(theme: Theme, noun: str, scenery: Sequence[str], smell: str, rumour: str, prose: int, deck: Deck) -> str:
    """Write the description of a place.

    Args:
        theme: Theme of the place.
        noun: Noun of the place.
        scenery: Things in the place.
        smell: Smell of the place.
        rumour: Name of another place to mention, with a meaningless direction; empty if none.
        prose: Length of descriptions, from 0 to 3.
        deck: Deck of phrases.
    """
    if prose == 0:
        return ""
    slots = {"noun": noun, "a": with_article(noun), "A": sentence(with_article(noun)), "smell": smell}
    for slot, choices in (("mood", theme.moods), ("ground", theme.ground), ("around", theme.around)):
        slots[slot] = deck.deal(choices)
    opening = deck.deal(_PROSE["openings"])
    sentences = [sentence(opening.format(**slots))]
    if prose == 3:
        sentences.append(sentence(deck.deal(_openings_after(opening)).format(**slots)))
    sentences += [deck.deal(theme.details)] if prose > 1 else []
    sentences += [deck.deal(_PROSE["remarks"])] if prose > 2 else []
    for thing in scenery:
        article = with_article(thing)
        sentences.append(deck.deal(_PROSE["scenery"]).format(a=article, A=sentence(article)))
    text = " ".join(sentences)
    if prose == 3 and rumour:
        directions = {"direction": deck.deal(DIRECTIONS[:8]), "direction2": deck.deal(DIRECTIONS[:8])}
        text += "\n" + deck.deal(_PROSE["rumours"]).format(name=rumour, **directions)
    return text


@cache
def _openings_after(opening: str) -> tuple[str, ...]:
    """Return the openings that have no slot in common with one of them."""
    slots = [slot for slot in ("{mood}", "{ground}", "{around}", "{a}") if slot in opening]
    return tuple(text for text in _PROSE["openings"] if not any(slot in text for slot in slots))


def examine_text(noun: str, rng: Stream) -> str:
    """Return the answer to examining a thing."""
    return rng.choice(_PROSE["examined"]).format(noun)


def draw_portable(rng: Stream) -> str:
    """Draw the name of a portable thing."""
    return rng.choice(_PROSE["portable"])


def join_items(items: Sequence[str]) -> str:
    """Join items with commas, and "and" before the last."""
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def towards(direction: str) -> str:
    """Return a direction as a phrase."""
    return {"up": "above you", "down": "below you"}.get(direction, f"to the {direction}")


def describe_exits(actions: Sequence[str], special: Sequence[str], exits: str, theme: Theme, rng: Stream) -> str:
    """Return the description of the exits without a door.

    Args:
        actions: All moves.
        special: Descriptions of the special moves.
        exits: "list", "prose", or "none".
        theme: Theme of the place.
        rng: Random stream.
    """
    if exits == "none" or not actions:
        return ""
    if exits == "list":
        return f"Exits: {', '.join(actions)}."
    directions = [action for action in actions if action in DIRECTIONS]
    sentences = list(special)
    if directions and rng.below(2):
        ways = [_way(direction, theme, rng) for direction in directions]
        sentences.insert(0, rng.choice(_PROSE["ways"]).format(list=join_items(ways)))
    elif directions:
        sentences.insert(0, rng.choice(_PROSE["going"]).format(plain=join_items(directions)))
    return " ".join(sentences)


def _way(direction: str, theme: Theme, rng: Stream) -> str:
    if direction in ("up", "down"):
        return f"a way {direction}"
    return f"{with_article(rng.choice(theme.ways))} {rng.choice(('to the ', 'leading ', 'going '))}{direction}"

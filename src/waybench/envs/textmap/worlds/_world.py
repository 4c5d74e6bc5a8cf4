"""Generator of text worlds: their texts, places and things."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from waybench._package_data import read_toml
from waybench.core import Stream
from waybench.envs.textmap.worlds._data import (
    COUNTRIES,
    DIRECTIONS,
    Exit,
    Link,
    Location,
    PlaceLinks,
    TextWorld,
    Theme,
    Thing,
    Voice,
    WorldStyle,
    make_layout,
    name_places,
)

_ORDER = {direction: number for number, direction in enumerate(DIRECTIONS)}
_PULSE = 61  # period of random events, in turns
_LARGEST_REGION = 40  # places
_MOST_NOUN_DRAWS, _PLAIN_NOUN_DRAWS = 1_000, 60  # of an unused noun; of one with a single likeness


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of special move: its actions, and templates of the target's name and of descriptions of the exits.

    "{}" stands for the thing to enter or climb, "{a}" and "{A}" for the thing with its article.
    """

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


def capitalized(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


@dataclass(slots=True)
class Moves:
    """All exits of a world, and the names derived from them.

    `names` has a name and a noun for places named after the way to them, `descriptions` a text for each special exit.
    """

    exits: list[Exit] = field(default_factory=lambda: [])
    doors: list[str] = field(default_factory=lambda: [])
    names: dict[int, tuple[str, str]] = field(default_factory=lambda: {})
    descriptions: dict[tuple[int, str], str] = field(default_factory=lambda: {})


def make_moves(layout: PlaceLinks, themes: list[Theme], doors: float, prose: int, rng: Stream) -> Moves:
    """Name the moves of a layout; `doors` is the share of links with a door, `prose` the length of descriptions."""
    moves = Moves()
    order = list(range(len(layout.links)))
    rng.shuffle(order)
    # Doors are preferably in directions that lead both ways.
    order.sort(key=lambda number: not layout.links[number].there or layout.links[number].one_way)
    door_links = set(order[: round(doors * len(order))])
    door_names: list[set[str]] = [set() for _ in themes]  # of the doors of each place
    used_nouns: set[str] = set()
    for number, link in enumerate(layout.links):
        first_exit, n_doors = len(moves.exits), len(moves.doors)
        if number in door_links:
            name = _draw_door_name(door_names[link.source] | door_names[link.target], rng)
            moves.doors.append(name)
            door_names[link.source].add(name)
            door_names[link.target].add(name)
        if link.there:
            moves.exits.append(Exit(link.source, link.there, link.target))
        else:
            _add_special_exits(link, moves, themes[link.source], prose, used_nouns, rng)
        if link.back:
            moves.exits.append(Exit(link.target, link.back, link.source))
        if number in door_links:
            moves.exits[first_exit:] = [replace(exit_, door=n_doors) for exit_ in moves.exits[first_exit:]]
    return moves


def _draw_door_name(used_names: set[str], rng: Stream) -> str:
    """Draw the name of a door that is not among the used ones."""
    while (name := f"{rng.choice(_MOVES['door_likeness'])} {rng.choice(_MOVES['doors'])}") in used_names:
        pass
    return name


def _draw_unused_noun(nouns: tuple[str, ...], used_nouns: set[str], rng: Stream) -> str:
    """Draw a noun that no other special exit of this world has, and add it to the used ones."""
    name = rng.choice(nouns)
    for attempt in range(_MOST_NOUN_DRAWS):
        if name not in used_nouns:
            break
        name = f"{rng.choice(_MOVES['likeness'])} {rng.choice(nouns)}"
        if attempt > _PLAIN_NOUN_DRAWS:
            name = f"{rng.choice(_MOVES['likeness'])} {name}"
    used_nouns.add(name)
    return name


def _add_special_exits(link: Link, moves: Moves, theme: Theme, prose: int, used_nouns: set[str], rng: Stream) -> None:
    """Add the exits of a link that have no direction, such as "enter hut"."""
    if link.one_way:
        verb = rng.choice(sorted(_ONE_WAY["moves"]))
        move = _ONE_WAY["moves"][verb]
        noun = _draw_unused_noun(move["nouns"], used_nouns, rng)
        kind = _Kind(verb, None, (move["name"],), _ONE_WAY["descriptions"])
    elif not link.fresh or rng.below(5) == 0:
        verb = rng.choice(sorted(_BOTH_WAYS["nouns"]))
        noun = _draw_unused_noun(_BOTH_WAYS["nouns"][verb], used_nouns, rng)
        kind = _Kind(verb, verb, (), _BOTH_WAYS["descriptions"], _BOTH_WAYS["descriptions"])
    else:
        name = rng.choice(list(_SPECIAL))
        kind = _SPECIAL[name]
        noun = _draw_unused_noun(getattr(theme, name), used_nouns, rng)
        if (
            name == "enter"
            and rng.below(4) == 0
            and not any((exit_.source, exit_.action) == (link.source, "in") for exit_ in moves.exits)
        ):
            kind = replace(kind, there="in", back="out")
    _add_exit_pair(link, moves, kind, noun, prose, rng)


def _add_exit_pair(link: Link, moves: Moves, kind: _Kind, noun: str, prose: int, rng: Stream) -> None:
    """Add the exits of a special link with their descriptions, and the name of a place that is named after the link."""

    def draw_description(templates: tuple[str, ...]) -> str:
        article = with_article(noun)
        return rng.choice(templates).replace("{A}", capitalized(article)).replace("{a}", article).format(noun)

    def travel_text(action: str) -> str:
        verb = action.removesuffix(noun).strip()  # the whole action if it does not name the noun, such as "in"
        return f"You {verb} the {noun}." if prose >= 2 and verb and verb != action else ""

    there = kind.there.format(noun)
    moves.exits.append(Exit(link.source, there, link.target, travel_text=travel_text(there)))
    moves.descriptions[link.source, there] = draw_description(kind.descriptions)
    if kind.back and link.back is not None:
        back = kind.back.format(noun)
        moves.exits.append(Exit(link.target, back, link.source, travel_text=travel_text(back)))
        moves.descriptions[link.target, back] = draw_description(kind.descriptions_back)
    if link.fresh and kind.names:
        title = " ".join(word if word in ("of", "in", "the") else capitalized(word) for word in noun.split())
        moves.names[link.target] = (rng.choice(kind.names).format(title), noun)


_PROSE: Mapping[str, tuple[str, ...]] = _WORDS["prose"]
LAMPS = _PROSE["lamps"]


def draw_introduction(theme: Theme, prose: int, rng: Stream) -> str:
    """Return the text before the first place."""
    name = rng.choice(_PROSE["first_syllables"]) + rng.choice(_PROSE["last_syllables"])
    title = f"{rng.choice(_PROSE['titles']).format(name)}\n{rng.choice(_PROSE['subtitles'])}"
    return title if prose == 0 else f"{title}\n\n{rng.choice(_PROSE['quests']).format(whole=rng.choice(theme.whole))}"


class Deck:
    """Deals texts of a kind in random order without repetition until all have been dealt."""

    def __init__(self, rng: Stream) -> None:
        self._rng = rng
        self._remaining: dict[tuple[str, ...], list[str]] = {}

    def draw_text(self, texts: tuple[str, ...]) -> str:
        """Return one of the texts."""
        remaining = self._remaining.setdefault(texts, [])
        if not remaining:
            remaining.extend(texts)
            self._rng.shuffle(remaining)
        return remaining.pop()


def describe_place(
    theme: Theme, noun: str, scenery: Sequence[str], smell: str, rumour: str, prose: int, deck: Deck
) -> str:
    """Return the description of a place in the length `prose`, from 0 (none) to 3.

    `rumour` is the name of another place, which is mentioned with a meaningless direction; empty for none.
    """
    if prose == 0:
        return ""
    slots = {"noun": noun, "a": with_article(noun), "A": capitalized(with_article(noun)), "smell": smell}
    for slot, choices in (("mood", theme.moods), ("ground", theme.ground), ("around", theme.around)):
        slots[slot] = deck.draw_text(choices)
    opening = deck.draw_text(_PROSE["openings"])
    sentences = [capitalized(opening.format(**slots))]
    if prose == 3:
        sentences.append(capitalized(deck.draw_text(_openings_after(opening)).format(**slots)))
    if prose > 1:
        sentences.append(deck.draw_text(theme.details))
    if prose > 2:
        sentences.append(deck.draw_text(_PROSE["remarks"]))
    for thing in scenery:
        article = with_article(thing)
        sentences.append(deck.draw_text(_PROSE["scenery"]).format(a=article, A=capitalized(article)))
    text = " ".join(sentences)
    if prose == 3 and rumour:
        directions = {"direction": deck.draw_text(DIRECTIONS[:8]), "direction2": deck.draw_text(DIRECTIONS[:8])}
        text += "\n" + deck.draw_text(_PROSE["rumours"]).format(name=rumour, **directions)
    return text


@cache
def _openings_after(opening: str) -> tuple[str, ...]:
    """Return the openings of a description that share no slot with this one."""
    slots = [slot for slot in ("{mood}", "{ground}", "{around}", "{a}") if slot in opening]
    return tuple(text for text in _PROSE["openings"] if not any(slot in text for slot in slots))


def draw_examine_text(noun: str, rng: Stream) -> str:
    """Return the answer to examining a thing."""
    return rng.choice(_PROSE["examined"]).format(noun)


def join_items(items: Sequence[str]) -> str:
    """Join items with commas, and "and" before the last."""
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def direction_phrase(direction: str) -> str:
    """Return a direction as a phrase."""
    return {"up": "above you", "down": "below you"}.get(direction, f"to the {direction}")


def describe_exits(actions: Sequence[str], special: Sequence[str], exits: str, theme: Theme, rng: Stream) -> str:
    """Return the description of the exits without a door: as a "list", as "prose", or "none"."""
    if exits == "none" or not actions:
        return ""
    if exits == "list":
        return f"Exits: {', '.join(actions)}."
    directions = [action for action in actions if action in DIRECTIONS]
    sentences = list(special)
    if directions and rng.below(2):
        phrases = [_direction_with_scenery(direction, theme, rng) for direction in directions]
        sentences.insert(0, rng.choice(_PROSE["ways"]).format(list=join_items(phrases)))
    elif directions:
        sentences.insert(0, rng.choice(_PROSE["going"]).format(plain=join_items(directions)))
    return " ".join(sentences)


def _direction_with_scenery(direction: str, theme: Theme, rng: Stream) -> str:
    """Return a direction as something that lies there, such as "a path leading north"."""
    if direction in ("up", "down"):
        return f"a way {direction}"
    return f"{with_article(rng.choice(theme.ways))} {rng.choice(('to the ', 'leading ', 'going '))}{direction}"


def make_world(rng: Stream, style: WorldStyle, name: str = "world") -> TextWorld:
    """Generate a text world.

    Every place can be reached from every other. The first place is never dark.
    """
    n_regions = 1 + max((style.places - 1) // _LARGEST_REGION, rng.below(1 + min(4, style.places // 12)))
    layout = make_layout(style, n_regions, rng)
    country = list(rng.choice((COUNTRIES[0],) * 5 + (COUNTRIES[1],)))  # the first one in five of six worlds
    rng.shuffle(country)
    themes = [country[region % len(country)] for region in layout.regions]
    moves = make_moves(layout, themes, style.doors, style.prose, rng)
    names = name_places(themes, moves.names, style.confusable, rng)
    # Any place but the first can be dark, preferably one of a shadowy theme.
    order = sorted((-(rng.below(100) * theme.shadowy), number) for number, theme in enumerate(themes) if number)
    dark_places = {number for _, number in order[: round(style.dark * style.places)]}
    things = _draw_things(themes, style.prose, rng)
    lamp = len(things) if dark_places else -1
    if dark_places:  # the player carries the lamp (-1), or it lies at the first place or beside it
        lamp_place = rng.choice((-1, 0, _neighbour_of_start(moves.exits, dark_places)))
        lamp_name = rng.choice(LAMPS)
        things.append(Thing(lamp_name, lamp_place, True, draw_examine_text(lamp_name, rng)))
    # Names that work after "the": not "Inside the Hut" or "Abel's Chapel".
    rumours = tuple(
        title for number, (title, _) in enumerate(names) if number not in moves.names and "'s " not in title
    )
    deck = Deck(rng)
    scenery: list[list[str]] = [[] for _ in themes]
    for thing in things:
        if not thing.portable:
            scenery[thing.place].append(thing.name)
    doorless_actions: list[list[str]] = [[] for _ in themes]
    for exit_ in moves.exits:
        if exit_.door is None:
            doorless_actions[exit_.source].append(exit_.action)
    places: list[Location] = []
    for number, (theme, (title, noun)) in enumerate(zip(themes, names, strict=True)):
        smell, rumour = deck.draw_text(theme.smells), deck.draw_text(rumours) if rumours else title
        while rumour == title and len(rumours) > 1:
            rumour = deck.draw_text(rumours)
        rumour = "" if rumour == title else rumour
        text = describe_place(theme, noun, scenery[number], smell, rumour, style.prose, deck)
        actions = sorted(doorless_actions[number], key=lambda action: _ORDER.get(action, len(_ORDER)))
        special = [moves.descriptions[number, action] for action in actions if (number, action) in moves.descriptions]
        exits_text = describe_exits(actions, special, style.exits, theme, rng)
        sound = deck.draw_text(theme.sounds)
        places.append(Location(title, number in dark_places, text, exits_text, sound, smell, theme.events))
    pulse = _draw_event_turns(style.prose >= 2, rng)  # texts with long descriptions have events
    intro = draw_introduction(themes[0], style.prose, rng)
    voice = Voice(**{name: rng.choice(answers) for name, answers in _WORDS["voice"].items()})
    exits, doors = tuple(moves.exits), tuple(moves.doors)
    return TextWorld(name, intro, tuple(places), exits, doors, tuple(things), lamp, 0, style, voice, pulse, rng.word())


def _draw_event_turns(has_events: bool, rng: Stream) -> tuple[bool, ...]:
    """Draw the turns with a random event, at most one in three consecutive turns; none without `has_events`."""
    event_turns = [False, False]
    for _ in range(_PULSE):
        event_turns.append(has_events and not any(event_turns[-2:]) and rng.below(5) == 0)
    return tuple(event_turns)


def _neighbour_of_start(exits: list[Exit], dark_places: set[int]) -> int:
    """Return a lit neighbour of place 0 with exits both ways and no door; 0 if there is none."""
    open_pairs = {(exit_.source, exit_.target) for exit_ in exits if exit_.door is None}
    neighbours = (target for source, target in open_pairs if source == 0 and (target, 0) in open_pairs)
    return max((place for place in neighbours if place not in dark_places), default=0)


def _draw_things(themes: list[Theme], prose: int, rng: Stream) -> list[Thing]:
    """Draw the things to examine, and some portable things."""
    things: list[Thing] = []
    used_names: set[str] = set()
    for place, theme in enumerate(themes):
        scenery = list(theme.scenery)
        rng.shuffle(scenery)
        n_scenery = rng.below(prose + 1) if prose < 3 else 1 + rng.below(3)
        things += [Thing(noun, place, False, draw_examine_text(noun, rng)) for noun in scenery[:n_scenery]]
        name = rng.choice(_PROSE["portable"])
        if rng.below(5) == 0 and name not in used_names:  # carried things must have different names
            used_names.add(name)
            things.append(Thing(name, place, True, draw_examine_text(name, rng)))
    return things

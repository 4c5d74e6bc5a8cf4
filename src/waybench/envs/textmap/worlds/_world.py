"""Generator of text worlds."""

from waybench.core import Stream
from waybench.envs.textmap.worlds._data import (
    COUNTRIES,
    DIRECTIONS,
    Exit,
    Location,
    Theme,
    Thing,
    World,
    WorldStyle,
    name_places,
)
from waybench.envs.textmap.worlds._layout import make_layout
from waybench.envs.textmap.worlds._prose import (
    LAMPS,
    Deck,
    describe,
    describe_exits,
    draw_portable,
    examine_text,
    introduction,
    make_moves,
    make_voice,
)

_ORDER = {direction: number for number, direction in enumerate(DIRECTIONS)}
_PULSE = 61  # period of random events, in turns
_LARGEST_REGION = 40


def make_world(rng: Stream, style: WorldStyle, name: str = "world") -> World:
    """Generate a text world.

    Every place can be reached from every other. The first place is never dark.

    Args:
        rng: Random stream.
        style: Parameters of the world.
        name: Name in its set.
    """
    regions = 1 + max((style.places - 1) // _LARGEST_REGION, rng.below(1 + min(4, style.places // 12)))
    layout = make_layout(style, regions, rng)
    country = list(rng.choice((COUNTRIES[0],) * 5 + (COUNTRIES[1],)))
    rng.shuffle(country)
    themes = [country[region % len(country)] for region in layout.regions]
    moves = make_moves(layout, themes, style.doors, style.prose, rng)
    names = name_places(themes, moves.names, style.confusable, rng)
    dark = _dark(themes, round(style.dark * style.places), rng)
    things = _things(themes, style.prose, rng)
    lamp = len(things) if dark else -1
    if dark:
        where = rng.choice((-1, 0, _beside(moves.exits, dark)))
        lamp_name = rng.choice(LAMPS)
        things.append(Thing(lamp_name, where, True, examine_text(lamp_name, rng)))
    # Names that work after "the": not "Inside the Hut" or "Abel's Chapel".
    plain = tuple(text for number, (text, _) in enumerate(names) if number not in moves.names and "'s " not in text)
    deck = Deck(rng)
    scenery: list[list[str]] = [[] for _ in themes]
    for thing in things:
        if not thing.portable:
            scenery[thing.place].append(thing.name)
    open_ways: list[list[str]] = [[] for _ in themes]  # without a door
    for way in moves.exits:
        if way.door is None:
            open_ways[way.source].append(way.action)
    places: list[Location] = []
    for number, (theme, (title, noun)) in enumerate(zip(themes, names, strict=True)):
        smell, rumour = deck.deal(theme.smells), deck.deal(plain) if plain else title
        while rumour == title and len(plain) > 1:
            rumour = deck.deal(plain)
        rumour = "" if rumour == title else rumour
        text = describe(theme, noun, scenery[number], smell, rumour, style.prose, deck)
        actions = sorted(open_ways[number], key=lambda action: _ORDER.get(action, len(_ORDER)))
        special = [moves.descriptions[number, action] for action in actions if (number, action) in moves.descriptions]
        ways = describe_exits(actions, special, style.exits, theme, rng)
        places.append(Location(title, number in dark, text, ways, deck.deal(theme.sounds), smell, theme.events))
    pulse = _pulse(style.prose >= 2, rng)
    intro, voice = introduction(themes[0], style.prose, rng), make_voice(rng)
    exits, doors = tuple(moves.exits), tuple(moves.doors)
    return World(name, intro, tuple(places), exits, doors, tuple(things), lamp, 0, style, voice, pulse, rng.word())


def _pulse(lively: bool, rng: Stream) -> tuple[bool, ...]:
    """Draw the turns with a random event, at most one in three consecutive turns."""
    pulse = [False, False]
    for _ in range(_PULSE):
        pulse.append(lively and not any(pulse[-2:]) and rng.below(5) == 0)
    return tuple(pulse)


def _dark(themes: list[Theme], count: int, rng: Stream) -> set[int]:
    """Draw the dark places: any but the first, preferably in shadowy themes."""
    order = [(-(rng.below(100) * theme.shadowy), place) for place, theme in enumerate(themes) if place]
    return {place for _, place in sorted(order)[:count]}


def _beside(exits: list[Exit], dark: set[int]) -> int:
    """Return a neighbour of the first place with exits both ways and no door; the first place if there is none."""
    ways = {(way.source, way.target) for way in exits if way.door is None}
    near = [target for source, target in sorted(ways) if source == 0 and target not in dark and (target, 0) in ways]
    return near[-1] if near else 0


def _things(themes: list[Theme], prose: int, rng: Stream) -> list[Thing]:
    """Draw the things to examine, and some portable things."""
    things: list[Thing] = []
    held: set[str] = set()
    for place, theme in enumerate(themes):
        scenery = list(theme.scenery)
        rng.shuffle(scenery)
        count = rng.below(prose + 1) if prose < 3 else 1 + rng.below(3)
        things += [Thing(noun, place, False, examine_text(noun, rng)) for noun in scenery[:count]]
        name = draw_portable(rng)
        if rng.below(5) == 0 and name not in held:  # unique in a world, so that carried things have different names
            held.add(name)
            things.append(Thing(name, place, True, examine_text(name, rng)))
    return things

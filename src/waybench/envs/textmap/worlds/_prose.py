"""What text worlds tell: descriptions of places, things to look at, and how a game answers."""

from collections.abc import Sequence

from waybench.core import Stream
from waybench.envs.textmap.worlds._data import DIRECTIONS, Voice
from waybench.envs.textmap.worlds._moves import sentence, with_article
from waybench.envs.textmap.worlds._themes import Theme, phrases, words

_OPENINGS = phrases(
    "This {noun} is {mood}.|You have come to {a}, {mood}.|{A}: there is nothing to it but {around}, and underfoot "
    "{ground}.|This must be {a}, {mood}.|You see {around}, and a little further on more of the same. Underfoot: "
    "{ground}.|Here is {a}, {mood}.|First you notice {ground}, then {around}.|Between you and the far side there is "
    "nothing but {ground}. The whole {noun} is {mood}.|There is a smell of {smell} about this {noun}."
)
_SCENERY = phrases(
    "There is {a} here.|{A} takes up one side.|Your eye falls on {a}.|Not far away there is {a}.|{A} has seen better "
    "days.|Next to you is {a}."
)
_RUMOURS = phrases(
    'A scrap of paper reads: "Back from the {name} before dark."|Somebody has written here: NEVER {direction}.|'
    "An arrow labelled {name} has been turned so often that it points nowhere in particular.|You are reminded of the "
    "{name}, though you could not say why.|A faded sketch shows the {name} as it may have been long ago.|There is a "
    "knot in your handkerchief. It was about the {name}, or about going {direction}.|You try to remember whether "
    "the {name} was larger than this.|Whoever scratched {direction}, {direction2}, {direction} into the surface has "
    "given no reason."
)
_REMARKS = phrases(
    "You have the feeling of having been here before, which cannot be.|It would be easy to lose an afternoon here.|"
    "Nobody has been here today, or nobody who left a trace.|A place like this must have had a use once.|You count "
    "your steps, and forget the number at once.|Something about the proportions is not right.|There are footprints, "
    "going round in a circle.|You make a cross on your map, then another one beside it.|If this has a front, you have "
    "come in at the back.|It is the kind of spot where one lowers one's voice.|A nail in the wrong place has torn your "
    "sleeve.|On another day it might be pleasant.|You would not call it large, and not small either.|One corner is "
    "brighter than the rest, for no reason that you can find.|Someone has swept here, but not well.|Half a biscuit "
    "shows that others have rested here.|The last rain, or something like it, has left a stain.|You look behind you. "
    "Nothing has changed."
)
_EXAMINED = phrases(
    "There is nothing unusual about the {}.|The {} is older than it looks.|Someone has carved initials into the {}. "
    "They are not yours.|The {} is exactly what it seems to be.|You look at the {} from all sides. It does not look "
    "back.|The {} needs a good cleaning.|The {} would fetch very little at a market.|Apart from a dent, the {} is "
    "whole.|On the {} there is a label, too faded to read."
)
_WAYS = phrases("There is {list}.|You can see {list}.|Leading on there is {list}.|From here there is {list}.")
_GOING = phrases(
    "It is possible to go {plain}.|One can leave {plain}.|Nothing stops you from going {plain}.|From here you could go "
    "{plain}."
)
_PORTABLE = words(
    "tin whistle, silver spoon, chess piece, torn map, glass marble, leather glove, brass button, playing card, blue "
    "feather, clay pipe, ball of string, bent key, pocket mirror, wooden duck, train ticket, copper coin, thimble, "
    "bottle cork, paper fan, dried rose, lump of wax, tape measure, sea shell, broken compass, red scarf, door knob"
)
LAMPS = words("lamp, lantern, oil lamp, storm lantern, carbide lamp, torch, brass lamp")
_QUESTS = phrases(
    "You were told to draw a map of every last corner of this {whole}. Nobody said why.|A letter asked you to meet "
    "someone in this {whole}. It did not say where, or whom.|You have until the evening to see all of this {whole}. "
    "Then it will be closed for good.|Your aunt has left you this {whole}, and a note: look into every corner.|You "
    "have lost your hat somewhere in this {whole}, and you are not going home without it.|The last surveyor of this "
    "{whole} came back with an empty notebook. Now it is your turn."
)
_TITLES = phrases(
    "The Surveyor of {}|A Day in {}|{} Revisited|Lost in {}|The Long Way round {}|Beyond {}|An Inventory of {}|"
    "{} after the Rain|Footnotes to {}"
)
_SUBTITLES = phrases(
    "A game of places and ways|An interactive ramble|A small adventure in prose|Please bring pencil and paper"
)
_FIRST = words("Ambel, Brack, Carrow, Dorn, Eller, Fallow, Grims, Hather, Kest, Lang, Moor, Ners, Orrin, Quill, Thorn")
_LAST = words("bury, well, stead, fold, mouth, hollow, cross, acre, wick, reach, ley, marsh, end")

_VOICE = {
    "unknown": "That is not understood.|Not understood. Try something simpler.|Your words are not understood here.",
    "no_way": "There is no way in that direction.|You cannot go there.|Nothing leads that way.",
    "absent": "There is no such thing here.|You see nothing of the kind.|Nothing here goes by that name.",
    "dark": "It is too dark to see where you are.|You have come into complete darkness.|Not a thing can be seen here "
    "without a light.",
    "too_dark": "You cannot see a thing.|Not in this darkness.|You would have to see it first.",
    "closed": "The {} is closed.|You walk against the {}, which is closed.|The {} is shut.",
    "opened": "You open the {}.|With a creak the {} opens.|The {} swings open.",
    "open_already": "The {} is open already.|Nothing more can be opened about the {}.",
    "taken": "You take the {}.|You have the {} now.|The {}: taken along.",
    "fixed": "The {} stays where it is.|You will not carry off the {}.|The {} is too heavy, or too firmly fixed.",
    "taken_already": "You carry the {} already.|The {} is with you.",
    "lit": "The {} flickers and burns.|You light the {}.|A warm light comes from the {}.",
    "lit_already": "The {} is burning already.|It could not burn any brighter.",
    "out": "You put out the {}, to save it for later.|The {} goes out.",
    "out_already": "The {} is not burning.|There is nothing to put out.",
    "carrying": "You carry: {}.|In your pockets: {}.|With you: {}.",
    "empty_handed": "You carry nothing.|Your pockets are empty.",
    "wait": "Time goes by.|You wait. Nothing comes of it.|A little while passes.",
    "jump": "You jump, and land where you were.|Up you go, and down again.|A small jump. Nobody saw it.",
    "search": "You find nothing in or on the {}.|The {} hides nothing.|You search the {}, without success.",
}


def make_voice(rng: Stream) -> Voice:
    """Draw how a game answers."""
    return Voice(**{name: rng.choice(phrases(text)) for name, text in _VOICE.items()})


def introduction(theme: Theme, prose: int, rng: Stream) -> str:
    """Return what a game tells before its first place."""
    name = rng.choice(_FIRST) + rng.choice(_LAST)
    title = f"{rng.choice(_TITLES).format(name)}\n{rng.choice(_SUBTITLES)}"
    return title if prose == 0 else f"{title}\n\n{rng.choice(_QUESTS).format(whole=rng.choice(theme.whole))}"


class Deck:
    """Deals texts so that none comes twice before all others of its kind have come.

    Args:
        rng: Random numbers.
    """

    def __init__(self, rng: Stream) -> None:
        self._rng = rng
        self._left: dict[tuple[str, ...], list[str]] = {}

    def deal(self, texts: tuple[str, ...]) -> str:
        """Return one of the texts."""
        left = self._left.setdefault(texts, [])
        if not left:
            left.extend(texts)
            self._rng.shuffle(left)
        return left.pop()


def describe(theme: Theme, noun: str, scenery: Sequence[str], smell: str, rumour: str, prose: int, deck: Deck) -> str:
    """Write the description of a place.

    Args:
        theme: The kind of country.
        noun: What the place is.
        scenery: What stands there.
        smell: What it smells of.
        rumour: Name of a place that may be mentioned, which says nothing about where it is; empty if none.
        prose: How much is told, from 0 to 3.
        deck: Where the phrases come from.
    """
    if prose == 0:
        return ""
    slots = {"noun": noun, "a": with_article(noun), "A": sentence(with_article(noun)), "smell": smell}
    for slot, choices in (("mood", theme.moods), ("ground", theme.ground), ("around", theme.around)):
        slots[slot] = deck.deal(choices)
    opening = deck.deal(_OPENINGS)
    told = [sentence(opening.format(**slots))]
    if prose == 3:
        others = [text for text in _OPENINGS if not _common(text, opening)]
        told.append(sentence(deck.deal(tuple(others)).format(**slots)))
    told += [deck.deal(theme.details)] if prose > 1 else []
    told += [deck.deal(_REMARKS)] if prose > 2 else []
    for thing in scenery:
        article = with_article(thing)
        told.append(deck.deal(_SCENERY).format(a=article, A=sentence(article)))
    text = " ".join(told)
    if prose == 3 and rumour:
        directions = {"direction": deck.deal(DIRECTIONS[:8]), "direction2": deck.deal(DIRECTIONS[:8])}
        text += "\n" + deck.deal(_RUMOURS).format(name=rumour, **directions)
    return text


def _common(text: str, other: str) -> bool:
    """Return whether two templates tell the same thing."""
    return any(slot in text and slot in other for slot in ("{mood}", "{ground}", "{around}", "{a}"))


def examined(noun: str, rng: Stream) -> str:
    """Return what is told of a thing on looking at it."""
    return rng.choice(_EXAMINED).format(noun)


def portable(rng: Stream) -> str:
    """Draw something that can be carried."""
    return rng.choice(_PORTABLE)


def listed(items: Sequence[str]) -> str:
    """Return the items as in a sentence: with commas, and "and" before the last."""
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def towards(direction: str) -> str:
    """Return where something lies in a direction, as a part of a sentence."""
    return {"up": "above you", "down": "below you"}.get(direction, f"to the {direction}")


def tell_ways(actions: Sequence[str], special: Sequence[str], exits: str, theme: Theme, rng: Stream) -> str:
    """Tell of the ways out that have no door.

    Args:
        actions: All moves.
        special: Sentences about those that are no directions.
        exits: "list", "prose", or "none".
        theme: The kind of country.
        rng: Random numbers.
    """
    if exits == "none" or not actions:
        return ""
    if exits == "list":
        return f"Exits: {', '.join(actions)}."
    directions = [action for action in actions if action in DIRECTIONS]
    told = list(special)
    if directions and rng.below(2):
        ways = [_way(direction, theme, rng) for direction in directions]
        told.insert(0, rng.choice(_WAYS).format(list=listed(ways)))
    elif directions:
        told.insert(0, rng.choice(_GOING).format(plain=listed(directions)))
    return " ".join(told)


def _way(direction: str, theme: Theme, rng: Stream) -> str:
    if direction in ("up", "down"):
        return f"a way {direction}"
    return f"{with_article(rng.choice(theme.ways))} {rng.choice(('to the ', 'leading ', 'going '))}{direction}"

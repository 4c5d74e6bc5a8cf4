"""What text worlds tell: descriptions of places, things to look at, and how a game answers."""

from collections.abc import Mapping, Sequence

from waybench._package_data import read_toml
from waybench.core import Stream
from waybench.envs.textmap.worlds._data import DIRECTIONS, Voice
from waybench.envs.textmap.worlds._moves import sentence, with_article
from waybench.envs.textmap.worlds._themes import Theme

_WORDS = read_toml(__file__, "words.toml")
_PROSE: Mapping[str, tuple[str, ...]] = _WORDS["prose"]
LAMPS = _PROSE["lamps"]


def make_voice(rng: Stream) -> Voice:
    """Draw how a game answers."""
    return Voice(**{name: rng.choice(answers) for name, answers in _WORDS["voice"].items()})


def introduction(theme: Theme, prose: int, rng: Stream) -> str:
    """Return what a game tells before its first place."""
    name = rng.choice(_PROSE["first_syllables"]) + rng.choice(_PROSE["last_syllables"])
    title = f"{rng.choice(_PROSE['titles']).format(name)}\n{rng.choice(_PROSE['subtitles'])}"
    return title if prose == 0 else f"{title}\n\n{rng.choice(_PROSE['quests']).format(whole=rng.choice(theme.whole))}"


class Deck:
    """Deals texts so that none comes twice before all others of its kind have come.

    Args:
        rng: Random numbers.
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
    opening = deck.deal(_PROSE["openings"])
    sentences = [sentence(opening.format(**slots))]
    if prose == 3:
        others = [text for text in _PROSE["openings"] if not _have_common_slot(text, opening)]
        sentences.append(sentence(deck.deal(tuple(others)).format(**slots)))
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


def _have_common_slot(text: str, other_text: str) -> bool:
    """Return whether two templates tell the same thing."""
    return any(slot in text and slot in other_text for slot in ("{mood}", "{ground}", "{around}", "{a}"))


def examine_text(noun: str, rng: Stream) -> str:
    """Return what is told of a thing on looking at it."""
    return rng.choice(_PROSE["examined"]).format(noun)


def draw_portable(rng: Stream) -> str:
    """Draw something that can be carried."""
    return rng.choice(_PROSE["portable"])


def join_items(items: Sequence[str]) -> str:
    """Return the items as in a sentence: with commas, and "and" before the last."""
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def towards(direction: str) -> str:
    """Return where something lies in a direction, as a part of a sentence."""
    return {"up": "above you", "down": "below you"}.get(direction, f"to the {direction}")


def describe_exits(actions: Sequence[str], special: Sequence[str], exits: str, theme: Theme, rng: Stream) -> str:
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

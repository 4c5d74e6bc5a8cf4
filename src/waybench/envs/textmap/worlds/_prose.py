"""Texts of text worlds: descriptions of places and things, and answers of the game."""

from collections.abc import Mapping, Sequence
from functools import cache

from waybench._package_data import read_toml
from waybench.core import Stream
from waybench.envs.textmap.worlds._data import DIRECTIONS, Voice
from waybench.envs.textmap.worlds._moves import sentence, with_article
from waybench.envs.textmap.worlds._themes import Theme

_WORDS = read_toml(__file__, "words.toml")
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

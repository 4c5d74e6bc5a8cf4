"""A grammar that writes a manual's sentences: the role of each entity, and how it moves.

Every sentence names one entity, says which of the three roles it has, and may say how it moves.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from waybench._package_data import read_toml
from waybench.core import Stream

UNKNOWN = "unknown"  # a sentence that does not say how its entity moves

_WORDS = read_toml(__file__, "sentences.toml")
NAMES: Mapping[str, tuple[str, ...]] = _WORDS["names"]
_PREDICATES: Mapping[str, tuple[str, ...]] = _WORDS["said"]
_MOVES: Mapping[str, tuple[str, ...]] = _WORDS["moves"]
_MOVING: Mapping[str, tuple[str, ...]] = _WORDS["moving"]


def sentence(name: str, role: str, kind: str, rng: Stream) -> str:
    """Write a sentence of an entity.

    Args:
        name: The entity.
        role: What it is called: "enemy", "message" or "goal".
        kind: How it is said to move: "chaser", "fleeing" or "immovable"; "unknown" to say nothing of it.
        rng: Chooses among all words alike.
    """
    kind_is_known = kind != UNKNOWN
    template = rng.choice(_WORDS["templates"]["with_movement" if kind_is_known else "without_movement"])
    return _filled(
        template,
        rng.choice(NAMES[name]),
        rng.choice(things(role)),
        rng.choice(_PREDICATES[role]),
        rng.choice(_MOVES[kind]) if kind_is_known else "",
        rng.choice(_MOVING[kind]) if kind_is_known else "",
    )


def things(role: str) -> Sequence[str]:
    """Return the ways in which a role is called."""
    words = _WORDS["things"][role]
    return [f"{words['article']} {adjective} {noun}" for adjective in words["adjectives"] for noun in words["nouns"]]


def _filled(template: str, name: str, thing: str, predicate: str, moves: str, moving: str) -> str:
    text = template.format(
        name=name,
        thing=thing,
        Thing=thing[0].upper() + thing[1:],
        said=predicate.format(thing=thing),
        moves=moves,
        moving=moving,
    )
    return _with_articles(text)


def _with_articles(text: str) -> str:
    """Write "an" where what follows begins with a vowel, which only the filled sentence shows."""
    words = text.split(" ")
    for place, (word, following) in enumerate(pairwise(words)):
        if word in ("a", "A") and following[0] in "aeiou":
            words[place] = word + "n"
    return " ".join(words)

"""A grammar of our own that writes a manual's sentences: who is what, and how it moves.

Every sentence names one entity, says which of the three roles it has, and either how it moves or nothing of that.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from waybench.core import Stream
from waybench.envs.messenger._cast import CHASER, ENEMY, FLEEING, GOAL, IMMOVABLE, MESSAGE
from waybench.envs.messenger._names import NAMES

UNKNOWN = "unknown"  # a sentence that does not say how its entity moves

# A role as a thing: "your sworn enemy".
_THINGS: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    ENEMY: (
        "your",
        ("sworn", "ruthless", "merciless", "treacherous", "fearsome", "vicious", "hostile", "cruel"),
        ("enemy", "foe", "opponent", "nemesis", "attacker", "adversary", "villain", "rival"),
    ),
    MESSAGE: (
        "the",
        ("sealed", "confidential", "coded", "urgent", "hidden", "private", "encrypted", "precious"),
        ("message", "letter", "dispatch", "note", "memo", "telegram", "report", "document"),
    ),
    GOAL: (
        "your",
        ("final", "intended", "true", "chosen", "longed-for", "all-important", "ultimate", "rightful"),
        ("goal", "destination", "target", "objective", "recipient", "addressee", "finish", "place of delivery"),
    ),
}

# A role as what is said of an entity; {thing} is the role as a thing.
_SAID: Mapping[str, tuple[str, ...]] = {
    ENEMY: (
        "is {thing}",
        "has turned out to be {thing}",
        "means you harm",
        "must not be touched at any price",
        "will end your journey if you two meet",
        "is nobody but {thing}",
        "wants to see you fail, as {thing} would",
        "brings nothing but doom",
    ),
    MESSAGE: (
        "is {thing}",
        "carries {thing}",
        "has {thing} that you are here to fetch",
        "keeps {thing} for you",
        "is in possession of {thing}",
        "will hand you {thing}",
        "holds {thing}, so pay a visit there first",
        "looks after {thing} until you come",
    ),
    GOAL: (
        "is {thing}",
        "awaits your delivery as {thing}",
        "is where your errand ends",
        "should receive what you deliver",
        "is {thing}, once you have something to deliver",
        "has to be given what you were sent to bring",
        "counts as {thing}",
        "expects you with your delivery",
    ),
}

# A movement as what is said of an entity, and as a word before its name.
_MOVES: Mapping[str, tuple[str, ...]] = {
    CHASER: (
        "comes after you",
        "keeps following you",
        "is hot on your heels",
        "draws nearer to you with every step",
        "tracks you wherever you go",
        "will not stop pursuing you",
        "heads straight for you",
        "creeps up on you",
        "closes in on you",
        "wants to catch up with you",
    ),
    FLEEING: (
        "flees from you",
        "backs away from you",
        "hurries off whenever you come near",
        "keeps slipping out of your reach",
        "shies away from you",
        "is always on the run from you",
        "tries to get as far from you as possible",
        "darts off at the sight of you",
        "makes off before you arrive",
        "avoids your company",
    ),
    IMMOVABLE: (
        "stays put",
        "never leaves the spot",
        "does not stir",
        "stands perfectly still",
        "is fixed to one place",
        "will not budge",
        "rests in the same spot all day",
        "has not moved an inch",
        "goes nowhere",
        "cannot be made to move",
    ),
}
_MOVING: Mapping[str, tuple[str, ...]] = {
    CHASER: ("pursuing", "advancing", "oncoming", "ever closer", "stalking"),
    FLEEING: ("retreating", "elusive", "runaway", "easily frightened", "escaping"),
    IMMOVABLE: ("motionless", "stationary", "unmoving", "stock-still", "firmly planted"),
}

# {name} is the entity, {said} what is said of its role, {thing} its role as a thing, {moves} and {moving} its movement.
_WITH_MOVEMENT = (
    "The {name} that {moves} {said}.",
    "The {moving} {name} {said}.",
    "The {name} {moves} and {said}.",
    "Look for a {moving} {name}: that is {thing}.",
    "One {name} {moves}; this very {name} {said}.",
    "{Thing} is the {name} that {moves}.",
    "{Thing} is the {moving} {name}.",
    "You can tell {thing} by this: the {name} {moves}.",
    "If a {name} {moves}, remember that such a {name} {said}.",
    "Watch how the {name} {moves}, for that {name} {said}.",
)
_WITHOUT_MOVEMENT = (
    "The {name} {said}.",
    "{Thing} is the {name}.",
    "Make no mistake: the {name} {said}.",
    "Look for the {name}: that is {thing}.",
    "It is said that the {name} {said}.",
    "Whoever plays this will learn that the {name} {said}.",
    "Among all that you see, the {name} {said}.",
    "Remember the {name}, for that {name} {said}.",
)


def sentence(name: str, role: str, kind: str, rng: Stream) -> str:
    """Write a sentence of an entity.

    Args:
        name: The entity.
        role: What it is called: "enemy", "message" or "goal".
        kind: How it is said to move: "chaser", "fleeing" or "immovable"; "unknown" to say nothing of it.
        rng: Chooses among all words alike.
    """
    known = kind != UNKNOWN
    template = rng.choice(_WITH_MOVEMENT if known else _WITHOUT_MOVEMENT)
    return _filled(
        template,
        rng.choice(NAMES[name]),
        rng.choice(things(role)),
        rng.choice(_SAID[role]),
        rng.choice(_MOVES[kind]) if known else "",
        rng.choice(_MOVING[kind]) if known else "",
    )


def things(role: str) -> Sequence[str]:
    """Return the ways in which a role is called."""
    article, adjectives, nouns = _THINGS[role]
    return [f"{article} {adjective} {noun}" for adjective in adjectives for noun in nouns]


def _filled(template: str, name: str, thing: str, said: str, moves: str, moving: str) -> str:
    text = template.format(
        name=name,
        thing=thing,
        Thing=thing[0].upper() + thing[1:],
        said=said.format(thing=thing),
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

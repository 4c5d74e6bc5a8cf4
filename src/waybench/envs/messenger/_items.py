"""Games by key, with generated or published sentences of their manuals."""

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

from waybench._package_data import read_toml
from waybench.core import (
    HARDER,
    DataError,
    DataFiles,
    Dataset,
    Download,
    Item,
    Json,
    KeyedSource,
    Option,
    Source,
    Stream,
    UsageError,
    is_array,
    is_object,
)
from waybench.envs.messenger._world import (
    CASTS,
    ENEMY,
    GOAL,
    IMMOVABLE,
    KINDS,
    LARGEST,
    MESSAGE,
    PUBLISHED,
    ROLES,
    SIZE,
    SMALLEST,
    STAGES,
    Actor,
    Case,
    is_sentence,
)

UNKNOWN = "unknown"  # a sentence that does not say how its entity moves

_WORDS = read_toml(__file__, "sentences.toml")
NAMES: Mapping[str, tuple[str, ...]] = _WORDS["names"]
_PREDICATES: Mapping[str, tuple[str, ...]] = _WORDS["said"]
_MOVES: Mapping[str, tuple[str, ...]] = _WORDS["moves"]
_MOVING: Mapping[str, tuple[str, ...]] = _WORDS["moving"]


def draw_sentence(name: str, role: str, kind: str, rng: Stream) -> str:
    """Draw a sentence that names an entity's role and its kind of movement, unless that is "unknown"."""
    kind_is_known = kind != UNKNOWN
    template = rng.choice(_WORDS["templates"]["with_movement" if kind_is_known else "without_movement"])
    noun, role_phrase = rng.choice(NAMES[name]), rng.choice(role_phrases(role))
    predicate = rng.choice(_PREDICATES[role])
    text = template.format(
        name=noun,
        thing=role_phrase,
        Thing=role_phrase[0].upper() + role_phrase[1:],
        said=predicate.format(thing=role_phrase),
        moves=rng.choice(_MOVES[kind]) if kind_is_known else "",
        moving=rng.choice(_MOVING[kind]) if kind_is_known else "",
    )
    return _correct_articles(text)


def role_phrases(role: str) -> Sequence[str]:
    """Return the phrases that name a role, such as an adjective with a noun."""
    words = _WORDS["things"][role]
    return [f"{words['article']} {adjective} {noun}" for adjective in words["adjectives"] for noun in words["nouns"]]


def _correct_articles(text: str) -> str:
    """Return a text with "an" in place of "a" before a vowel."""
    words = text.split(" ")
    for index, (word, following) in enumerate(pairwise(words)):
        if word in ("a", "A") and following[0] in "aeiou":
            words[index] = word + "n"
    return " ".join(words)


PUBLIC_KEY = "messenger-v1"
VERSION = 1  # of the generator; part of every item's key
DECOYS = 2  # of stage 3, as published

_CARRIES_RATE = 0.2  # probability that the agent begins stage 1 with the message
_UNKNOWN_RATE = 0.15  # probability that a sentence of stage 2 does not name the movement
_LARGEST_FILE = 1 << 24  # bytes
_SPLIT = "test"  # the published games that SmartPlay has

# First cells (column, row) on a board of ten by ten: in stage 1 of the three roles, relative to the agent, in stage 2
# of the three roles and the agent, in stage 3 of these four and of two decoys, and (not published) of further decoys.
_STAGE_1_OFFSETS = ((0, -2), (-2, 0), (2, 0), (0, 2))
_STAGE_2_CELLS = ((2, 2), (7, 2), (2, 7), (7, 7))
_STAGE_3_CELLS = ((2, 1), (8, 1), (5, 4), (1, 6), (9, 6), (5, 9))
_FURTHER_CELLS = ((1, 9), (9, 9))

# Stage 2: every movement of enemy, message and goal.
_STAGE_2_MOVEMENTS = tuple(product(KINDS, repeat=len(ROLES)))
# Stage 3: different movements of enemy, message and goal, and of a decoy of the message and a decoy of the goal, which
# move differently from each other and from the entity that they look like.
_STAGE_3_MOVEMENTS = tuple(
    (enemy, message, goal, like_message, like_goal)
    for enemy, message, goal in permutations(KINDS)
    for like_message, like_goal in permutations(KINDS, 2)
    if like_message != message and like_goal != goal
)

SOURCE_OPTIONS = (
    Option(
        name="size",
        effect=HARDER,
        default=SIZE,
        low=SMALLEST,
        high=LARGEST,
        doc="Cells along each side of the board; 10 as published.",
    ),
    Option(
        name="decoys",
        effect=HARDER,
        default=None,
        kind=int,
        low=DECOYS,
        high=DECOYS + len(_FURTHER_CELLS),
        doc="Enemies of stage 3 that look like the message or the goal; by default 2, as published.",
    ),
    Option(
        name="cast",
        default="published",
        choices=tuple(CASTS),
        doc="Entities: the twelve published ones, twelve others, or both.",
    ),
)


class _Games(KeyedSource[Case]):
    """Games drawn by key; the level is the stage, and subclasses draw the sentences about the entities.

    UsageError for a stage that does not exist, or for decoys in a stage that has none.
    """

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        if level not in STAGES:
            raise UsageError(f"level {level}: give a stage, 1, 2 or 3")
        if options["decoys"] is not None and level != 3:
            raise UsageError(f"decoys={options['decoys']}: stage {level} has no decoys; remove it, or choose stage 3")
        super().__init__(key, level)
        self._size = int(options["size"])
        self._decoy_count = int(options["decoys"] or DECOYS)

    @abstractmethod
    def _roles(self, rng: Stream) -> Sequence[str]:
        """Draw the entities that are the enemy, the message and the goal."""

    @abstractmethod
    def _sentence(self, name: str, role: str, kind: str, rng: Stream) -> str | None:
        """Draw a sentence about an entity's role and kind of movement; None if no sentence is known."""

    @abstractmethod
    def _purpose(self) -> str:
        """Return a key that distinguishes these games from others with the same set key."""

    def instance(self, index: int) -> Case:
        stage, middle = self.level, self._size // 2
        rng = Stream("messenger/roles", VERSION, self._purpose(), self.key, stage, self._size, self._decoy_count, index)
        names = self._roles(rng)
        kinds, cells = self._draw_movements_and_cells(rng)
        decoy_count = len(kinds) - len(ROLES)
        _, message, goal = names
        names = [*names, *([message, goal] * 2)[:decoy_count]]
        actors = tuple(Actor(name, kind, x, y) for name, kind, (x, y) in zip(names, kinds, cells, strict=False))
        carries = stage == 1 and rng.random() < _CARRIES_RATE
        roles = [*ROLES, *[ENEMY] * decoy_count]
        sentences = [self._actor_sentence(actor, role, rng) for actor, role in zip(actors, roles, strict=True)]
        if stage == 3:
            sentences.append(self._distracting_sentence(actors[0], rng))
        rng.shuffle(sentences)
        agent = (middle, middle) if stage == 1 else cells[-1]
        return Case(stage, self._size, actors, *agent, carries, tuple(sentences))

    def _draw_movements_and_cells(self, rng: Stream) -> tuple[Sequence[str], list[tuple[int, int]]]:
        """Draw the actors' kinds of movement, and the first cells of the actors and, last, of the agent.

        In stage 1 the last cell stays empty, as the agent is in the middle.
        """
        if self.level == 1:
            middle = self._size // 2
            kinds = [IMMOVABLE] * len(ROLES)
            cells = [(middle + x, middle + y) for x, y in _STAGE_1_OFFSETS]
        elif self.level == 2:
            kinds, cells = list(rng.choice(_STAGE_2_MOVEMENTS)), [self._scale_cell(cell) for cell in _STAGE_2_CELLS]
        else:
            kinds = self._with_further_decoys(rng.choice(_STAGE_3_MOVEMENTS))
            published_cells = (_STAGE_3_CELLS + _FURTHER_CELLS)[: len(kinds) + 1]
            cells = [self._scale_cell(cell) for cell in published_cells]
        rng.shuffle(cells)
        return kinds, cells

    def _actor_sentence(self, actor: Actor, role: str, rng: Stream) -> str:
        """Draw the sentence about an actor in its role, for the stage."""
        if self.level == 1:
            return self._immovable_sentence(actor.name, role, rng)
        is_unknown = self.level == 2 and rng.random() < _UNKNOWN_RATE
        return self._required_sentence(actor.name, role, UNKNOWN if is_unknown else actor.kind, rng)

    def _immovable_sentence(self, name: str, role: str, rng: Stream) -> str:
        """Draw a sentence about something immovable, which may leave the movement open."""
        return self._required_sentence(name, role, rng.choice((IMMOVABLE, UNKNOWN)), rng)

    def _with_further_decoys(self, kinds: tuple[str, ...]) -> list[str]:
        """Return movements of stage 3 with those of a third and a fourth decoy, if the game has as many.

        The third decoy looks like the message, and the fourth like the goal. Of the three kinds of movement, each has
        the one that no other entity of its looks has.
        """
        _, message, goal, like_message, like_goal = kinds
        further_kinds = [kind for kind in KINDS if kind not in (message, like_message)]
        further_kinds += [kind for kind in KINDS if kind not in (goal, like_goal)]
        return [*kinds, *further_kinds[: self._decoy_count - DECOYS]]

    def _distracting_sentence(self, enemy: Actor, rng: Stream) -> str:
        """Draw a sentence with a wrong role and a wrong movement for the enemy's entity."""
        roles, kind = [MESSAGE, GOAL], rng.choice([kind for kind in KINDS if kind != enemy.kind])
        rng.shuffle(roles)
        candidates = (self._sentence(enemy.name, role, kind, rng) for role in roles)  # lazy: each draws
        sentence = next((text for text in candidates if text is not None), None)
        if sentence is None:
            raise DataError(f"the sentences have none of {enemy.name} as anything else than an enemy, as {kind}")
        return sentence

    def _required_sentence(self, name: str, role: str, kind: str, rng: Stream) -> str:
        """Draw a sentence about an entity's role and kind of movement; a DataError if no sentence is known."""
        sentence = self._sentence(name, role, kind, rng)
        if sentence is None:
            raise DataError(f"the sentences have none of {name} as {role}, {kind}")
        return sentence

    def _scale_cell(self, cell: tuple[int, int]) -> tuple[int, int]:
        """Return a cell of the published board on a board of this size."""
        last, published_last = self._size - 1, SIZE - 1
        # Rounded: the floor of number * last / published_last + 1/2.
        x, y = ((2 * number * last + published_last) // (2 * published_last) for number in cell)
        return x, y


class DrawnGames(_Games):
    """Games with our own sentences, of any three entities of a cast."""

    def __init__(self, key: str, level: int, options: Mapping[str, Json]) -> None:
        super().__init__(key, level, options)
        self._cast_name = str(options["cast"])

    def _purpose(self) -> str:
        return self._cast_name

    def _roles(self, rng: Stream) -> Sequence[str]:
        names = list(CASTS[self._cast_name])
        rng.shuffle(names)
        return names[: len(ROLES)]

    def _sentence(self, name: str, role: str, kind: str, rng: Stream) -> str:
        return draw_sentence(name, role, kind, rng)


class PublishedGames(_Games):
    """Games of the published entities and sentences, with everything else drawn as published.

    Args:
        texts: The file of sentences: entity -> role -> movement -> list of sentences.
        games: The file of games: split -> list of [enemy, message, goal].
        size: Cells along each side of the board.
        decoys: Enemies of stage 3 that look like the message or the goal; 2 as published if None.

    Raises:
        UsageError: If a file cannot be read.
        DataError: If a file does not have the published form.
    """

    def __init__(
        self, texts: Path, games: Path, key: str, level: int, *, size: int = SIZE, decoys: int | None = None
    ) -> None:
        super().__init__(key, level, {"size": size, "decoys": decoys})
        self._texts, self._triples = _read_texts(texts), _read_games(games, _SPLIT)

    def item(self, index: int) -> Item[Case]:
        """Return the game of an index, under another key than the game of this index with our own sentences."""
        return replace(super().item(index), key=f"{self.key}-published-{_SPLIT}")

    def _purpose(self) -> str:
        return f"published {_SPLIT}"

    def _roles(self, rng: Stream) -> Sequence[str]:
        return rng.choice(self._triples)

    def _immovable_sentence(self, name: str, role: str, rng: Stream) -> str:
        """Draw one of all sentences for something immovable and for an unknown movement together, as published."""
        texts = [*self._texts[name, role, IMMOVABLE], *self._texts[name, role, UNKNOWN]]
        if not texts:
            raise DataError(f"the sentences have none of {name} as {role}, immovable or unknown")
        return rng.choice(texts)

    def _sentence(self, name: str, role: str, kind: str, rng: Stream) -> str | None:
        texts = self._texts[name, role, kind]
        return rng.choice(texts) if texts else None


def _read_json(path: Path, content: str) -> Json:
    """Read a published file as JSON; `content` names it in errors."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise DataError(f"{path}: larger than {_LARGEST_FILE >> 20} MiB, so it is not a file of {content}")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; give the published file of {content}") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path}: not JSON; give the published file of {content}") from None


def _read_texts(path: Path) -> dict[tuple[str, str, str], list[str]]:
    """Read the sentences by entity, role and kind of movement."""
    data = _read_json(path, "sentences")
    texts: dict[tuple[str, str, str], list[str]] = {}
    for keys in product(PUBLISHED, ROLES, (*KINDS, UNKNOWN)):
        sentences: Json = data
        for key in keys:
            sentences = sentences.get(key) if is_object(sentences) else None
        if not is_array(sentences) or not all(isinstance(text, str) and is_sentence(text) for text in sentences):
            raise DataError(f"{path}: it has no list of sentences for {', '.join(keys)}")
        texts[keys] = sentences
    return texts


def _read_games(path: Path, split: str) -> list[tuple[str, str, str]]:
    """Read (enemy, message, goal) of each game of a split from a file of published games."""
    data = _read_json(path, "games")
    split_data: Json = data.get(split) if is_object(data) else None
    if not is_array(split_data) or not split_data:
        raise DataError(f"{path}: it has no games of the split {split!r}")
    games: list[tuple[str, str, str]] = []
    for game in split_data:
        match game:
            case [str(enemy), str(message), str(goal)] if {enemy, message, goal} <= set(PUBLISHED) and len(
                {enemy, message, goal}
            ) == len(ROLES):
                games.append((enemy, message, goal))
            case _:
                raise DataError(f"{path}: a game of {split!r} is not [enemy, message, goal] of three known entities")
    return games


def _open_published(options: Mapping[str, Any], files: DataFiles) -> Source[Case]:
    """Return the published games by the options of a task."""
    texts, games = (files("smartplay", name) for name in ("text_test.json", "games.json"))
    key = PUBLIC_KEY if options["key"] is None else options["key"]
    return PublishedGames(texts, games, key, options["level"], size=options["size"], decoys=options["decoys"])


DATASETS = (
    Dataset(
        name="published",
        doc="games with the published sentences, see `waybench data fetch smartplay`",
        items="sentences",
        open=_open_published,
        download=Download.from_table(read_toml(__file__, "published.toml")),
        options=(
            Option(
                name="data_dir",
                default=None,
                kind=str,
                doc="Folder with smartplay/text_test.json and so on, for published sentences.",
            ),
        ),
        shared=("key", "level", "size", "decoys"),
    ),
)

"""The grammar: how much it can say, and that what it says can be understood."""

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import combinations, product
from pathlib import Path

import pytest

from tests.envs.messenger.games import KINDS, ROLES
from waybench.core import Stream
from waybench.envs.messenger._items import _MOVES, _MOVING, _PREDICATES, NAMES, UNKNOWN, draw_sentence, role_phrases
from waybench.envs.messenger._world import FURTHER, NUMBERS, PUBLISHED

CAST = PUBLISHED + FURTHER


@cache
def words(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z]+', text.lower()))} "


def some(name: str, role: str, kind: str, count: int = 300) -> list[str]:
    rng = Stream("test", name, role, kind)
    return [draw_sentence(name, role, kind, rng) for _ in range(count)]


def test_every_entity_has_names_and_a_number() -> None:
    assert set(NAMES) == set(NUMBERS) == set(CAST)
    assert sorted(NUMBERS.values()) == [*range(2, 14), *range(17, 29)]  # 14 to 16 are wall and agent
    assert all(NAMES[name][0] == name and len(NAMES[name]) >= 4 for name in CAST)


def test_no_name_is_part_of_another_ones() -> None:
    """So a sentence can be of one entity alone."""
    for one, other in combinations(CAST, 2):
        for mine, theirs in product(NAMES[one], NAMES[other]):
            assert words(mine) not in words(theirs) and words(theirs) not in words(mine), (mine, theirs)


def test_a_synonym_stands_alone() -> None:
    for name in CAST:
        for mine, other in product(NAMES[name], repeat=2):
            assert mine == other or words(mine) not in words(other), (mine, other)


def test_nothing_around_a_name_is_another_name() -> None:
    around = [
        *(text for table in (_PREDICATES, _MOVES, _MOVING) for texts in table.values() for text in texts),
        *(thing for role in ROLES for thing in role_phrases(role)),
    ]
    for name in CAST:
        for mine in NAMES[name]:
            assert not any(words(mine) in words(text) for text in around), mine


@pytest.mark.parametrize("kind", [*KINDS, UNKNOWN])
@pytest.mark.parametrize("role", ROLES)
def test_thousands_of_sentences_for_each_entity_role_and_movement(role: str, kind: str) -> None:
    assert len(set(some("ship", role, kind, 10_000))) > (5000 if kind != UNKNOWN else 2000)


@pytest.mark.parametrize("kind", [*KINDS, UNKNOWN])
@pytest.mark.parametrize("role", ROLES)
def test_sentences_are_of_one_entity_one_role_and_one_movement(role: str, kind: str) -> None:
    # Names can hold words such as "king", and roles such as "has"; what is looked for here are whole phrases.
    for name in PUBLISHED:
        for text in some(name, role, kind, 60):
            assert text[0].isupper() and text[-1] == "." and text.isprintable()
            assert not re.search(r"\b[Aa] [aeiou]|[{}]|\s\s|\b(\w+) \1\b", text), text
            named = {other for other in CAST for mine in NAMES[other] if words(mine) in words(text)}
            assert named == {name}, text
            used = {mine for mine in NAMES[name] if words(mine) in words(text)}
            assert len(used) == 1, text
            moves = {
                other for other in KINDS for phrase in (*_MOVES[other], *_MOVING[other]) if words(phrase) in words(text)
            }
            assert moves == ({kind} if kind != UNKNOWN else set()), text
            said = {
                other
                for other in ROLES
                for phrase in (*role_phrases(other), *(each for each in _PREDICATES[other] if "{thing}" not in each))
                if words(phrase) in words(text)
            }
            assert said == {role}, text


def test_all_names_are_used_alike() -> None:
    texts = some("ship", "goal", "fleeing", 3000)
    shares = [sum(words(mine) in words(text) for text in texts) / len(texts) for mine in NAMES["ship"]]
    assert all(0.12 < share < 0.22 for share in shares)  # a sixth each


def test_none_is_a_published_sentence(data_dir: Callable[..., Path]) -> None:
    published: set[str] = set()
    for file in ("text_test.json", "text_train.json", "text_val.json"):
        data = json.loads(data_dir("smartplay", file).read_text(encoding="utf-8"))
        published |= {
            words(text)
            for roles in data.values()
            for kinds in roles.values()
            for texts in kinds.values()
            for text in texts
        }
    assert len(published) > 3000
    for name, role, kind in product(PUBLISHED, ROLES, (*KINDS, UNKNOWN)):
        assert not published.intersection(map(words, some(name, role, kind, 200)))

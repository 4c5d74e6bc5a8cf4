"""Reading trajectories: as published, and properly; hostile replies cost moments and never raise."""

import json

import pytest

from waybench.core import Invalid
from waybench.envs.textmap._answers import PRINTED, Hop, parse_published_answer, parse_sound_answer, read_trajectory
from waybench.testing._hostile import HOSTILE_REPLIES, hostile_variants

GOOD = "[{'location_before': 'Attic', 'action': 'down', 'location_after': 'Kitchen'}]"
HOPS = (Hop("Attic", "down", "Kitchen"),)
OBJECT = {"location_before": "Attic", "action": "down", "location_after": "Kitchen"}
LEAD = "[{'location_before':"


def written(after: str) -> str:
    return json.dumps([OBJECT | {"location_after": after}])


READ_BY_BOTH = {
    "alone": GOOD,
    "JSON": json.dumps([OBJECT]),
    "prose": f"Sure!\n{GOOD}\nHope this helps.",
    "fence": f"```python\n{GOOD}\n```",
    "more keys": json.dumps([OBJECT | {"step": 1}]),
    "trailing commas": GOOD.replace("'}]", "',},]"),
    "comment": GOOD.replace("}]", "},  # that is all\n]"),
    "twice": GOOD + GOOD,
}


@pytest.mark.parametrize("name", READ_BY_BOTH)
def test_what_both_read(name: str) -> None:
    assert parse_published_answer(READ_BY_BOTH[name]) == parse_sound_answer(READ_BY_BOTH[name]) == HOPS


READ_BY_NEITHER = {
    "nothing": "",
    "prose": "I cannot find a path.",
    "empty list": "[]",
    "cut off": GOOD[:-20],
    "no list": GOOD[1:-1],
    "texts": "['down']",
    "list of lists": "[['Attic', 'down', 'Kitchen']]",
    "missing key": GOOD.replace("'action'", "'move'"),
    "null": json.dumps([OBJECT | {"action": None}]),
    "number": json.dumps([OBJECT | {"action": 5}]),
    "other keys": "[{'prev_node': 'Attic', 'action': 'down', 'node': 'Kitchen'}]",
    "apostrophe": GOOD.replace("Kitchen", "Aunt Jemima's lair"),
    "code": GOOD.replace("'down'", "str(open)"),
    "a long name": GOOD.replace("Kitchen", "K" * 1_001),
}


@pytest.mark.parametrize("name", READ_BY_NEITHER)
def test_what_neither_reads(name: str) -> None:
    for read in (parse_published_answer, parse_sound_answer):
        found = read(READ_BY_NEITHER[name])
        assert isinstance(found, Invalid)
        assert found.reason.isprintable()


def test_the_published_form_is_any_python_literal_up_to_the_first_bracket() -> None:
    assert parse_published_answer(GOOD.replace("'down'", "'do' r'wn'")) == HOPS
    assert parse_published_answer(GOOD.replace("'down'", "'''down'''")) == HOPS
    assert isinstance(parse_published_answer("See [1]. " + GOOD), Invalid)
    assert isinstance(parse_published_answer("] " + GOOD), Invalid)
    assert isinstance(parse_published_answer(f"[{GOOD}]"), Invalid)
    assert isinstance(parse_published_answer(written("Hall [west]")), Invalid)
    assert isinstance(parse_published_answer(GOOD.replace("'down'", "'do' + 'wn'")), Invalid)


def test_sound_reads_the_last_list_of_objects_whatever_its_names() -> None:
    assert parse_sound_answer("See [1]. " + GOOD + " and [2]") == HOPS
    assert parse_sound_answer(f"[{GOOD}]") == parse_sound_answer(json.dumps({"way": [OBJECT]})) == HOPS
    for name in ("Hall [west]", "]", "aunt jemima's lair", 'at "y2"', "a\\b", "é", "[{'"):
        answer = (Hop("Attic", "down", name),)
        assert parse_sound_answer(written(name)) == parse_sound_answer(repr(json.loads(written(name)))) == answer
    assert parse_sound_answer(GOOD.replace("Kitchen", "Aunt\\'s \\x41")) == (Hop("Attic", "down", "Aunt's A"),)


def test_sound_takes_the_last_word() -> None:
    other = GOOD.replace("Kitchen", "Cellar")
    assert parse_sound_answer(other + GOOD) == HOPS
    assert isinstance(parse_sound_answer(f"{GOOD} No: {other[:-4]}"), Invalid)
    assert parse_sound_answer(f"{GOOD} [{{'sorry") == HOPS
    assert isinstance(parse_sound_answer(GOOD.replace("'action'", "'location_before'")), Invalid)


def test_keys_and_lead() -> None:
    printed = "[{'prev_node': 'Attic', 'action': 'down', 'node': 'Kitchen'}]"
    for read in (parse_published_answer, parse_sound_answer):
        assert read(printed, PRINTED) == HOPS
        assert read(GOOD.removeprefix(LEAD), lead=LEAD) == HOPS
        assert isinstance(read(GOOD, PRINTED), Invalid)
    assert isinstance(parse_published_answer(GOOD, lead=LEAD), Invalid)  # the lead is part of it, whatever is said
    assert parse_sound_answer(GOOD, lead=LEAD) == HOPS


def test_half_a_surrogate_becomes_its_escape() -> None:
    assert parse_sound_answer(written("K\ud800")) == (Hop("Attic", "down", "K\\ud800"),)


def test_a_list_that_was_read_already() -> None:
    assert read_trajectory([OBJECT]) == HOPS
    for wrong in (None, 5, "x", {}, [], [None], [OBJECT, []], [OBJECT] * 1_001):
        assert isinstance(read_trajectory(wrong), Invalid)


DEEP = 10**5
OWN_HOSTILE = {
    "lists nested deep": "[" * DEEP + "{'" + "]" * DEEP,
    "objects nested deep": "[" + "{'location_before': " * DEEP + "}" * DEEP + "]",
    "lists of objects nested deep": "[{'location_before': " * DEEP + "}]" * DEEP,
    "parentheses": "[" + "(" * 9_000 + ")" * 9_000 + "]",
    "minuses": "[" + "-" * 19_000 + "1]",
    "pluses": "[" + "1+" * 9_000 + "1]",
    "nots": "[" + "not " * 4_900 + "1]",
    "attributes": "[a" + ".a" * 9_000 + "]",
    "calls": "[a" + "()" * 9_000 + "]",
    "lambdas": "[" + "lambda:" * 2_800 + "1]",
    "conditions": "[" + "1 if 1 else " * 1_600 + "1]",
    "formatted": "[" + "f'{" * 150 + "1" + "}'" * 150 + "]",
    "power": "[9**9**9**9]",
    "repetition": "['a'*10**9]",
    "unhashable": "[{{}: 1}]",
    "digits": "[{'location_before': " + "9" * 19_000 + "}]",
    "ten megabytes": "[{'location_before': '" + "a" * 10**7 + "'}]",
    "ten megabytes of apostrophes": "[{'location_before': " + "'" * 10**7,
    "apostrophes": "[{'location_before': " + "'" * 900_000,
    "half lists": "[{'location_before': " * 45_000,
    "half lists in other quotes": "[{'" * 150_000 + '[{"' * 150_000,
    "empty objects": "[" + "{}," * 300_000 + "]",
    "blanks": "[" + " " * 900_000 + "{",
    "blanks within": ("[" + " " * 1_000) * 900 + "{'",
    "comments": "[{'location_before' " + "#\n" * 400_000,
    "escapes": "[{'location_before': '" + "\\'" * 400_000,
    "null bytes": "[{'location_before': '\0', 'action': '\0', 'location_after': '\0'}]",
    "surrogates": "[{'location_before': '\ud800', 'action': '\ud800', 'location_after': '\udfff'}]",
    "brackets in names": GOOD.replace("Attic", "]" * 900).replace("Kitchen", "[" * 900),
    "many moves": "[" + GOOD[1:-1] + ("," + GOOD[1:-1]) * 10_000 + "]",
}


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("name", OWN_HOSTILE)
def test_hostile_answers(name: str) -> None:
    _check(OWN_HOSTILE[name])


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("name", HOSTILE_REPLIES)
def test_hostile_replies(name: str) -> None:
    _check(HOSTILE_REPLIES[name]())


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("good", [GOOD, json.dumps([OBJECT])])
def test_spoilt_answers(good: str) -> None:
    for _, spoilt in hostile_variants(good):
        _check(spoilt)


def _check(reply: str) -> None:
    for read in (parse_published_answer, parse_sound_answer):
        for lead in ("", LEAD):
            found = read(reply, lead=lead)
            if isinstance(found, Invalid):
                assert found.reason.isprintable()
                assert len(found.reason) < 200
            else:
                assert all(text.encode() is not None for hop in found for text in hop)

"""Reading replies: literals as published, JSON in sound; hostile ones cost moments and never raise."""

import pytest

from waybench.core import Invalid
from waybench.envs.tilemap._board import MovePlan
from waybench.envs.tilemap._wording import read_published_plan, read_sound_plan

PUBLISHED = {
    "{'action': ['move_up']} and more": MovePlan(("move_up",)),
    "{'action': ('move_up', 7, None)}": MovePlan(("move_up", "7", "None")),
    "{'action': 'up'}": MovePlan(("u", "p")),
    "{'action': ['(no name)']}": MovePlan(("(no name) ",)),
    "{'action': [(['a'],)]}": MovePlan(("(no name)",)),
    "{'action': [0x" + "f" * 5000 + "]}": MovePlan(("(a number)",)),
    "{'action': 5}": MovePlan(("(no name)",)),
    "{'action': [['move_up']]}": MovePlan(("(no name)",)),
    "{'a\\d': 1, 'action': []}": MovePlan(()),
}


@pytest.mark.parametrize("reply", PUBLISHED, ids=range(len(PUBLISHED)))
def test_literals(reply: str) -> None:
    assert read_published_plan(reply) == PUBLISHED[reply]


@pytest.mark.parametrize(
    "reply",
    ["", "{}", "{'x': 1} {'action': []}", "{'action': [move_up]}", "{'action': {'move_up'}}", "{'action': open('x')}"],
)
def test_what_is_no_plan_as_published(reply: str) -> None:
    assert isinstance(read_published_plan(reply), Invalid)


def test_json() -> None:
    assert read_sound_plan('{"action": []} {"action": ["move_up"]}', single=False, predicts=False) == MovePlan(
        ("move_up",)
    )
    assert read_sound_plan('{"action": "move_up"}', single=True, predicts=False) == MovePlan(("move_up",))
    assert read_sound_plan('{"action": ["a"], "map": ["x", "y"]}', single=False, predicts=True) == MovePlan(
        ("a",), "x\ny"
    )
    assert read_sound_plan("{'action': ['move_up',],}", single=False, predicts=False) == MovePlan(("move_up",))
    folded = read_sound_plan('{"action": ["move\u200b_up", "\uff55p"]}', single=False, predicts=False)
    assert folded == MovePlan(("move_up", "up"))
    for bad in ('{"action": "move_up"}', '{"action": [1]}', '{"action": [], "action": []}', "[]", '{"action": [null]}'):
        assert isinstance(read_sound_plan(bad, single=False, predicts=False), Invalid)


HOSTILE = {
    "braces": "{" * 1_000_000,
    "pairs": "{}" * 500_000,
    "brackets": "{'action': " + "[" * 15_000 + "]" * 15_000 + "}",
    "parentheses": "{" + "(" * 9_000 + ")" * 9_000 + "}",
    "minuses": "{'action': " + "-" * 15_000 + "1}",
    "pluses": "{'action': [" + "1+" * 9_000 + "1]}",
    "commas": "{'action': [" + "0," * 9_000 + "]}",
    "digits": "{'action': " + "9" * 19_000 + "}",
    "strings": "{'action': " + "'a'" * 6_000 + "}",
    "long": "{'action': ['" + "a" * 5_000_000 + "']}",
    "half a surrogate": "{'action': ['\ud800']}",
    "blanks": ("{'action':['a'" + " " * 19_900 + "x]}") * 200,
    "null bytes": "{'action': ['\0']}",
    "unhashable key": "{[]: 1}",
}


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_literals(name: str) -> None:
    found = read_published_plan(HOSTILE[name])
    if isinstance(found, MovePlan):
        assert sum(map(len, found.names)) <= len(HOSTILE[name])
    else:
        assert found.reason.isprintable()

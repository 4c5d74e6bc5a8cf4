"""Hostile lines: each has one clear message, and none an exception."""

import json
from typing import Any

import pytest

from tests.cli.support import plan
from waybench._scoring import score_line

MAZE = '{"maze":[[0,0,0,"X",0],[0,1,1,1,0],[0,1,0,1,0],[0,1,1,1,0],[0,1,0,0,0]]}'
DEEP = "[" * 100_000


def line(env: str = '"maze/alicia"', instance: str = MAZE, replies: str = "[]", more: str = "") -> bytes:
    return f'{{"env":{env},"instance":{instance},"replies":{replies}{more}}}'.encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"nonsense", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "must be an object"),
        (b"3", "must be an object"),
        (b"null", "must be an object"),
        (b"\xff", "not UTF-8 (byte 1)"),
        (b'{"env": "\xed\xa0\x80"}', "not UTF-8"),
        (b"\x00", "not JSON"),
        (DEEP.encode(), "too many nested brackets"),
        (b'{"a":' * 100_000, "too many nested brackets"),
        (line(instance=DEEP + "]" * len(DEEP)), "too many nested brackets"),
        (b'{"env": NaN}', "NaN, which is not valid JSON"),
        (b'{"env": -Infinity}', "-Infinity, which is not valid JSON"),
        (b'{"attempt": 1' + b"0" * 10_000 + b"}", "too many digits"),
        (b'{"env": "a", "env": "b"}', "'env' twice"),
        (b"{}", '"env" is missing'),
        (line(env="3"), '"env" must be a text, not 3'),
        (line(env="[]"), '"env" must be a text, not a list'),
        (line(env='"mase/alicia"'), "did you mean 'maze/alicia'"),
        (line(env='"mazes"'), "unknown environment 'mazes'"),
        (line(env='"smartplay"'), "smartplay plays several environments: choose one of bandit/arms, "),
        (line(env='"maze/alicia@2"'), "use maze/alicia@1"),
        (line(env='"\\ud800"'), "unknown environment"),
        (line(env='"' + "x" * 1_000_000 + '"'), "unknown environment"),
        (b'{"env": "maze/alicia", "replies": []}', '"instance" is missing'),
        (b'{"env": "maze/alicia", "instance": {}}', '"replies" is missing'),
        (line(instance="null"), "instance: give"),
        (line(instance='{"maze": [[1]]}'), "the matrix has 1 row;"),
        (line(instance=MAZE.replace("X", "\\ud800")), 'a cell is 0, 1 or "X"'),
        (line(instance=MAZE.replace("0,1,0,1,0", "0,1,0,1e999,0")), 'a cell is 0, 1 or "X"'),
        (line(instance=MAZE.replace("0,1,1,1,0", "0,0,0,0,0")), "cannot be reached"),
        (line(replies='"text"'), '"replies" must be a list'),
        (line(replies="{}"), '"replies" must be a list'),
        (line(replies='["", 3]'), "reply 1: give a text"),
        (line(replies='[{"text": 3}]'), "reply 0: give a text"),
        (line(replies='[{"stop": "stop"}]'), "reply 0: give a text"),
        (line(replies='[{"text": "", "stop": 3}]'), "reply 0: give a text"),
        (line(replies='[{"text": "", "stop": "trunkated"}]'), "did you mean 'truncated'"),
        (line(replies='[{"text": "", "stopp": "refused"}]'), "reply 0: give a text"),
        (line(more=',"options": 3'), '"options" must be an object'),
        (line(more=',"options": {"wordin": "ascii"}'), "did you mean 'wording'"),
        (line(more=',"options": {"wording": "asci"}'), "did you mean 'ascii'"),
        (line(more=',"options": {"wording": ["ascii"]}'), "give text"),
        (line(more=',"options": {"requests": 0}'), "out of range"),
        (line(more=',"options": {"requests": 1e999}'), "give a whole number"),
        (line(more=',"options": {"requests": 1' + "0" * 4_000 + "}"), "out of range"),
        (line(more=',"options": {"\\ud800": 1}'), "unknown option"),
        (line(more=',"option": {"protocol": "sound"}'), 'did you mean "options"'),
        (b'{"env": "maze/alicia", "instance": {}, "repliess": []}', 'did you mean "replies"'),
        (b'{"env": "maze/alicia", "instances": {}, "replies": []}', 'did you mean "instance"'),
        (line(more=',"attempt": 0'), '"attempt" must be from 1'),
        (line(more=',"attempt": 1.5'), '"attempt" must be a whole number'),
        (line(more=',"attempt": true'), '"attempt" must be a whole number'),
        (line(more=',"attempt": null'), '"attempt" must be a whole number'),
        (line(more=',"id": []'), '"id" must be a text or a whole number'),
        (line(more=',"version": 2'), "this is version 1"),
        (line(more=',"hash": "0"'), "one of them was changed"),
        (b'{"schema": 1, "turns": []}', "not an episode record"),
        (b'{"schema": [], "turns": 3}', "not an episode record"),
    ],
)
def test_bad_lines(data: bytes, expected: str) -> None:
    result = score_line(data, 7)
    assert result.keys() == {"line", "error"}
    assert result["line"] == 7
    assert expected in result["error"]
    assert len(result["error"]) < 500
    assert "\n" not in result["error"]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "\ud800",
        "\x00\x1b[2J",
        "{" * 100_000,
        '{"movements":' + DEEP,
        '{"movements":[{"direction":"down","cells":NaN}]}',
        '{"movements":[{"direction":"down","cells":1' + "0" * 10_000 + "}]}",
        '{"movements":[{"direction":"down","cells":٣}]}',
        "x" * 10_000_000,
    ],
)
def test_hostile_replies_are_turns(reply: str) -> None:
    result = score_line(line(replies=json.dumps([reply])), 1)
    assert [turn["outcome"] for turn in result["turns"]] == ["unparsed"]
    assert json.dumps(result).isascii()


@pytest.mark.parametrize("reply", [plan(("down", 10**9)), plan(*[("down", 1), ("up", 1)] * 10_000, ("left", 9))])
def test_long_plans_are_carried_out(reply: str) -> None:
    assert score_line(line(replies=json.dumps([reply])), 1)["turns"][0]["outcome"] == "illegal"


def test_a_byte_order_mark_is_passed_over() -> None:
    assert "error" not in score_line(b"\xef\xbb\xbf" + line(), 1)


@pytest.mark.parametrize("name", ["uid", "idx", "instance_id", "instanceId", "attempts", "hashes", "envs", "reply"])
def test_fields_of_ones_own_are_passed_over(name: str) -> None:
    assert "error" not in score_line(line(more=f',"{name}": 2'), 1)


def test_many_foreign_fields_are_passed_over() -> None:
    more: dict[str, Any] = {f"field {number}": number for number in range(10_000)}
    assert "error" not in score_line(line(more="," + json.dumps(more)[1:-1]), 1)

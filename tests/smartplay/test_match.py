"""Which action a reply names, as published and in sound."""

import pytest

from waybench.core import Invalid
from waybench.smartplay import published_match, sound_match

PULLS = [f"Pull slot machine {number}." for number in range(1, 13)]
MOVES = ["Move North", "Move South", "Do Nothing"]
SHADED = ["Noop", "Do", "Place Stone"]


@pytest.mark.parametrize(
    ("reply", "actions", "number"),
    [
        ("Not Move South but Move North", MOVES, 1),  # the first place counts, and not the first of the list
        ("move north-east", MOVES, 0),
        ("pull slot machine 2", PULLS, None),  # the final period is part of the name
        ("PULL SLOT MACHINE 12.", PULLS, 11),
        ("Shadow", SHADED, 1),  # within a word
        ("Noopdo", SHADED, 0),
        ("Do", ["Do it", "Do"], 1),
        ("Do it", ["Do it", "Do"], 0),  # at one place, the first of the list
        ("Do it", ["Do", "Do it"], 0),
        ("", MOVES, None),
    ],
)
def test_published(reply: str, actions: list[str], number: int | None) -> None:
    assert published_match(reply, actions) == number


@pytest.mark.parametrize(
    ("reply", "actions", "number"),
    [
        ("Pull slot machine 2", PULLS, 1),
        ("pull slot machine 12.", PULLS, 11),
        ("**Pull slot machine 1.**", PULLS, 0),
        ("__Pull slot machine 1__", PULLS, 0),
        ("Move  \n North!", MOVES, 0),
        ("Move North. Yes, move north.", MOVES, 0),
        ("<think>Move South? Do Nothing?</think>Move North", MOVES, 0),
        ("Do it", ["Do", "Do it"], 1),  # the longer name
    ],
)
def test_sound(reply: str, actions: list[str], number: int) -> None:
    assert sound_match(reply, actions) == number


@pytest.mark.parametrize(
    ("reply", "actions", "reason"),
    [
        ("Not Move South but Move North", MOVES, "more than one action"),
        ("Shadow", SHADED, "names no action"),
        ("Pull slot machine 13", PULLS, "names no action"),
        ("Pull slot machine 1 2", PULLS[2:], "names no action"),
        ("2", PULLS, "names no action"),
        ("", MOVES, "names no action"),
        ("<think>Move North", MOVES, "names no action"),
        ("Move North " * 100_000, MOVES, "1100000 characters"),
    ],
)
def test_sound_refuses(reply: str, actions: list[str], reason: str) -> None:
    found = sound_match(reply, actions)
    assert isinstance(found, Invalid)
    assert reason in found.reason

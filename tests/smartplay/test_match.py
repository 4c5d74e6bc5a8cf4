"""Which action a reply names, as published and in sound."""

import random
import time
from collections.abc import Callable

import pytest

from waybench.core import Invalid
from waybench.core._choices import index_of_named_action
from waybench.envs.smartplay._wording import first_named_action

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
    assert first_named_action(reply, actions) == number


@pytest.mark.parametrize(
    ("reply", "actions", "number"),
    [
        ("Pull slot machine 2", PULLS, 1),
        ("pull slot machine 12.", PULLS, 11),
        ("**Pull slot machine 1.**", PULLS, 0),
        ("__Pull slot machine 1__", PULLS, 0),
        ("Move  \n North!", MOVES, 0),
        ("Move North. Yes, move north.", MOVES, 0),
        ("Move\u00a0Nor\u200bth\u2014now", MOVES, 0),
        ("\uff2dove North", MOVES, 0),
        ("look at Ilse\u2019s well\u2011known map", ["Look at Ilse's well-known map", "Wait"], 0),
        ("look at Ilse's map", ["Look at Ilse\u2019s map", "Wait"], 0),
        ("Do it", ["Do", "Do it"], 1),  # the longer name
    ],
)
def test_sound(reply: str, actions: list[str], number: int) -> None:
    assert index_of_named_action(reply, actions) == number


@pytest.mark.parametrize(
    ("reply", "actions", "reason"),
    [
        ("Not Move South but Move North", MOVES, "more than one action"),
        ("Shadow", SHADED, "names no action"),
        ("Pull slot machine 13", PULLS, "names no action"),
        ("Pull slot machine 1 2", PULLS[2:], "names no action"),
        ("2", PULLS, "names no action"),
        ("", MOVES, "names no action"),
        ("Move North " * 100_000, MOVES, "1100000 characters"),
    ],
)
def test_sound_refuses(reply: str, actions: list[str], reason: str) -> None:
    found = index_of_named_action(reply, actions)
    assert isinstance(found, Invalid)
    assert reason in found.reason


def named_by_hand(reply: str, actions: list[str]) -> set[str]:
    """Find names from left to right, at each place the longest one first, and go on behind each."""
    text = " ".join(reply.casefold().split())
    names = sorted((name.casefold().removesuffix(".") for name in actions), key=len, reverse=True)
    found, at = set[str](), 0
    while at < len(text):
        alone = at == 0 or not text[at - 1].isalnum()
        ends = (name for name in names if text.startswith(name, at) and not text[at + len(name) :][:1].isalnum())
        name = next(ends, None) if alone else None
        found |= {name} if name else set()
        at += len(name) if name else 1
    return found


# The last five have names that share a part, so that what is found first hides another one.
@pytest.mark.parametrize(
    "actions", [PULLS, MOVES, SHADED, ["Do", "Do it"], ["a b", "b c", "c"], ["x y z", "y"], ["a", "a a"], ["a-b", "b"]]
)
def test_sound_reads_any_reply_as_a_search_by_hand_does(actions: list[str]) -> None:
    rng = random.Random(5)
    parts = [part for name in actions for part in (name, name.upper(), *name.split())]
    parts += ["and", "x", "1", "ß", "İ", "é", "_", "-", ".", ""]
    read = 0
    for _ in range(2000):
        reply = "".join(rng.choice(parts) + rng.choice(["", " ", " ", "  ", "\n", "_", "-"]) for _ in range(6))
        hand, found = named_by_hand(reply, actions), index_of_named_action(reply, actions)
        if len(hand) == 1:
            assert not isinstance(found, Invalid), reply
            assert {actions[found].casefold().removesuffix(".")} == hand, reply
            read += 1
        else:
            assert isinstance(found, Invalid), reply
            assert ("more than one" in found.reason) == (len(hand) > 1), reply
    assert read > 100


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of the fastest of a few calls."""
    taken: list[float] = []
    for _ in range(5):
        begun = time.process_time()
        call()
        taken.append(time.process_time() - begun)
    return min(taken)


def test_sound_reads_a_long_reply_in_little_more_than_its_words_take() -> None:
    # 333,000 names: looking at each of them took 8 times as long as splitting the reply into words.
    reply = "Do " * 333_333
    actions = ["Noop", "Do", "Sleep", *(f"Place {what}" for what in "abcdefg"), *(f"Make {what}" for what in "abcdefg")]
    assert index_of_named_action(reply, actions) == 1
    assert seconds(lambda: index_of_named_action(reply, actions)) < 4 * seconds(lambda: reply.casefold().split())

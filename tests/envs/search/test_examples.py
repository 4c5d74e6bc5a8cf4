"""In-context examples: whole episodes of the optimal policy as chat turns (shared/specs/aqa.md, section 6)."""

import json
from typing import Any

import pytest

import waybench
from tests.envs.search.cases import EASY, NUMBERS, PROTOCOLS, TREE, WALKS, Data, after, data_of, graph, measured, number
from waybench.core import EpisodeRecord, ReplayError, replay

EIGHT = number(3, 0, 7)
PATH = graph((0, 1), (1, 2))

GUESSES = [
    ("user", "START"),
    ("assistant", "4"),
    ("user", "The true number is smaller than 4."),
    ("assistant", "2"),
    ("user", "The true number is bigger than 2."),
    ("assistant", "3"),
    ("user", "Right answer. The true number is equal to 3."),
]
VISITS = [
    ("user", "Adjacent caves: 1."),
    ("assistant", "1"),
    ("user", "Adjacent caves: 0, 2."),
    ("assistant", "2"),
    ("user", "Well Done. You have visited all the caves. Total number of steps: 2"),
]


def shown(env: str, data: Data, *replies: str, examples: list[Data], **options: Any) -> list[tuple[str, str]]:
    """Return the chat after the rules."""
    (rules, *chat) = after(env, data, *replies, examples=examples, **options).messages
    assert rules.role == "system"
    return [(message.role, message.text) for message in chat]


def test_in_paper_an_example_ends_with_an_empty_answer() -> None:
    closed = [*GUESSES, ("assistant", "")]
    assert shown("guessnum", EASY, examples=[EIGHT], protocol="paper") == [*closed, ("user", "START")]
    assert shown("guessnum", EASY, examples=[EIGHT] * 2, protocol="paper") == [*closed, *closed, ("user", "START")]


def test_in_sound_the_last_message_and_the_next_first_one_are_one_turn() -> None:
    end = GUESSES[-1][1]
    joined = ("user", f"{end}\n\nSTART")
    assert shown("guessnum", EASY, examples=[EIGHT], protocol="sound") == [*GUESSES[:-1], joined]
    two = [*GUESSES[:-1], joined, *GUESSES[1:-1], joined]
    assert shown("guessnum", EASY, examples=[EIGHT] * 2, protocol="sound") == two


def test_a_walk_as_an_example() -> None:
    chat = shown("cavebfs", TREE, examples=[PATH], protocol="paper")
    assert chat == [*VISITS, ("assistant", ""), ("user", "Adjacent caves: 4, 2.")]
    chat = shown("cavedfs", TREE, examples=[PATH], protocol="sound")
    assert chat == [*VISITS[:-1], ("user", f"{VISITS[-1][1]}\n\nAdjacent caves: 4, 2.")]


def test_examples_come_in_their_order_and_before_the_first_reply() -> None:
    other = number(7, 0, 7)
    answers = [
        text
        for role, text in shown("guessnum", EASY, "40", examples=[other, EIGHT], protocol="sound")
        if role == "assistant"
    ]
    assert answers == ["4", "6", "7", "4", "2", "3", "40"]


@pytest.mark.parametrize("env", [*NUMBERS, *WALKS])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_roles_take_turns(env: str, protocol: str) -> None:
    data = data_of(env)
    roles = [role for role, _ in shown(env, data, "?", "4", examples=[data, data], protocol=protocol)]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]


@pytest.mark.parametrize("options", [{}, {"teacher_guided": True}, {"weak_tg_chances": 1}])
def test_examples_change_neither_the_play_nor_the_scores(options: dict[str, Any]) -> None:
    plain, shown_two = (
        after("dfs", TREE, "4", "?", "0", "3", examples=examples, **options) for examples in ([], [PATH, TREE])
    )
    assert plain.turns == shown_two.turns
    assert measured(plain) == measured(shown_two)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_record_keeps_its_examples_and_replays(protocol: str) -> None:
    for env, example in (("guessnum", EIGHT), ("bfs", PATH)):
        environment = waybench.load(f"search/{env}")
        episode = after(env, data_of(env), "4", examples=[example], protocol=protocol)
        text = episode.record().dumps()
        data = json.loads(text)
        assert data["examples"] == [example]
        again: Any = replay(environment, EpisodeRecord.from_json(data))
        assert again.record().dumps() == text
        assert again.messages == episode.messages
        data["examples"] = []
        with pytest.raises(ReplayError, match="opening"):
            replay(environment, EpisodeRecord.from_json(data))

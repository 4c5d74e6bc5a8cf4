"""Weak teacher guiding: valid replies that leave the algorithm are refused (shared/specs/aqa.md, section 6)."""

import json
from typing import Any

import pytest

import waybench
from tests.envs.search.cases import EASY, NUMBERS, TREE, WALKS, Data, after, data_of, measured, number, outcomes
from waybench.core import End, EpisodeRecord, replay


def refused(env: str, data: Data, *replies: str, chances: int = 2, **options: Any) -> str:
    """Return a letter for each reply: Refused, Taken or Invalid."""
    episode = after(env, data, *replies, weak_tg_chances=chances, **options)
    return "".join(
        "R" if "coached" in turn.events else "T" if turn.outcome in ("ok", "unproductive") else "I"
        for turn in episode.turns
    )


@pytest.mark.parametrize("env", NUMBERS)
@pytest.mark.parametrize("chances", [0, 1, 2, 3])
def test_a_guess_is_refused_so_many_times_in_a_row_then_one_is_taken_and_none_refused_again(
    env: str, chances: int
) -> None:
    replies = ["40", "41", "42", "43", "44", "45"]
    assert refused(env, EASY, *replies, chances=chances) == "R" * chances + "T" * (6 - chances)


def test_an_answer_that_follows_gives_all_chances_back() -> None:
    assert refused("guessnum", EASY, "40", "16416", "41", "8224", "42", "43", "44", "45") == "RTRTRRTT"


def test_the_answer_after_the_last_chance_is_taken_unchecked_even_if_it_follows() -> None:
    assert refused("guessnum", EASY, "40", "41", "16416", "42", "43") == "RRTTT"


def test_a_walk_is_compared_with_its_algorithm() -> None:
    assert refused("dfs", TREE, "4", "0", "3", "4", "3", "0", "2") == "TRTTRTT"
    assert refused("bfs", TREE, "0", "4", "3", "0", "2", "5", "4") == "RTRRTTT"
    assert refused("bfs", TREE, "4", "3", "2", "4", "3") == "TRTRT"


@pytest.mark.parametrize(
    ("env", "replies", "message"),
    [
        (
            "coin",
            ["40"],
            "Your output is not optimal. You should follow binary-search algorithm. You can only reply with a integer "
            "number between 32 and 32800. Try again.",
        ),
        (
            "cavedfs",
            ["4", "0"],
            "Your output is not optimal. You should follow depth-first-search algorithm. Try again. You can only reply "
            "with a integer number indicting the cave adjacent to the current cave.",
        ),
        (
            "bfs",
            ["0"],
            "Your output is not optimal. You should follow breadth-first-search algorithm. Try again. You can only "
            "reply with a integer number indicting the node adjacent to the visited node.",
        ),
    ],
)
def test_what_a_player_is_told_whose_reply_is_refused(env: str, replies: list[str], message: str) -> None:
    episode = after(env, data_of(env), *replies, weak_tg_chances=1)
    assert episode.turns[-1].message == message
    assert [turn.text for turn in episode.messages[-2:]] == [replies[-1], message]


def test_a_refused_reply_changes_nothing_and_costs_nothing() -> None:
    before = after("guessnum", EASY, "16416", weak_tg_chances=2)
    episode = after("guessnum", EASY, "16416", "41", "42", weak_tg_chances=2)
    assert (episode.state, episode.turns_left) == (before.state, before.turns_left)
    assert outcomes(episode) == ["ok", "unproductive", "unproductive"]
    assert measured(episode) == measured(before)


def test_what_is_invalid_is_not_the_coach_s_matter() -> None:
    assert refused("guessnum", EASY, "?", "99999", "40", "?", "41", "42", "?", "43") == "IIRIRTIT"


def test_a_refused_reply_does_not_interrupt_a_row_of_invalid_ones() -> None:
    episode = after("guessnum", EASY, "?", "99999", "40", "?", "41", weak_tg_chances=2)
    assert not episode.done
    episode.step("?")
    assert episode.end_reason is End.INVALID_LIMIT


def test_a_lucky_guess_is_refused_like_any_other() -> None:
    episode = after("guessnum", EASY, "5022", weak_tg_chances=1)
    assert not episode.done
    episode.step("5022")
    assert episode.end_reason is End.SOLVED
    assert measured(episode) | {"steps": 1, "err_sum": 0, "acc": 0} == measured(episode)


def test_in_sound_any_bisection_is_taken() -> None:
    eight = number(3, 0, 7)
    assert refused("guessnum", eight, "3", protocol="paper") == "R"
    assert refused("guessnum", eight, "3", protocol="sound") == "T"


def test_there_is_no_coach_beside_a_teacher() -> None:
    assert refused("guessnum", EASY, "40", "41", teacher_guided=True) == "TT"


@pytest.mark.parametrize(("protocol", "kept"), [("paper", "40"), ("sound", "I say 40.")])
def test_the_chat_keeps_a_refused_reply_as_it_keeps_any(protocol: str, kept: str) -> None:
    episode = after("guessnum", EASY, "I say 40.", protocol=protocol, weak_tg_chances=1)
    assert episode.messages[2].text == kept


@pytest.mark.parametrize("env", [*NUMBERS, *WALKS])
def test_a_record_with_refusals_replays(env: str) -> None:
    replies = ["40", "?", "16416", "41"] if env in NUMBERS else ["0", "4", "0", "3", "4"]
    episode = after(env, data_of(env), *replies, weak_tg_chances=1)
    assert any("coached" in turn.events for turn in episode.turns)
    text = episode.record().dumps()
    again: Any = replay(waybench.load(f"search/{env}"), EpisodeRecord.from_json(json.loads(text)))
    assert again.record().dumps() == text

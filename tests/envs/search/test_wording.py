"""The words of the searches: how a reply is read in both protocols, what stays in the chat, and hostile replies."""

import json
import re
from typing import Any

import pytest

import waybench
from tests.envs.search.cases import EASY, NUMBERS, PROTOCOLS, SQUARE, TREE, WALKS, after, data_of, number, outcomes
from waybench.core import Episode, EpisodeRecord, Outcome, Reply, replay

READ = [  # reply, what it stands for in paper, and in sound; None if it is unparsed
    ("500", 500, 500),
    (" 500\n", 500, 500),
    ("500.", 500, 500),
    ("**500**", 500, 500),
    ("T500!", 500, None),
    ("cave-500", 500, 500),
    ("Sure:500", 500, 500),
    ("OK...500", 500, 500),
    ("\u2212500", 500, -500),
    ("1e1", 1, None),
    ("7/7", 7, None),
    ("7\u00bd", 7, None),
    ("10\u2075", 10, None),
    ("0500 is 500", 500, 500),
    ("+500", 500, 500),
    ("00500", 500, 500),
    ("500, yes, 500", 500, 500),
    ("-500", 500, -500),
    ("500 or -500", 500, None),
    ("500 or 600", 500, None),
    ("Step 3: 500", 3, None),
    ("16,416", 16, None),
    ("416,416", 416, None),
    ("1_000", 1, None),
    ("1e4", 1, None),
    ("5.5", 5, None),
    (".5", 5, None),
    ("<think>I was at 0</think> 7", 7, 7),
    ("I was at 0</think> 7", 7, 7),
    ("<think>7", None, None),
    ("7</think>", 7, 7),
    ("5\u200b00", 5, 500),
    ("\ufeff500", 500, 500),
    ("\u2011500", 500, -500),
    ("\uff0d500", 500, -500),
    ("400\u2013500", 400, None),
    ("a cave\u20137", 7, 7),
    ("\uff15\uff10\uff10", 500, None),
    ("\u0665 500", 5, None),
    ("\u00b2", None, None),
    ("five hundred", None, None),
    ("", None, None),
    ("-", None, None),
    ("+", None, None),
]


def said(env: str, protocol: str, reply: str, **options: Any) -> tuple[object, str]:
    """Return what was read in a first reply, and how the chat shows it."""
    episode = after(env, data_of(env), reply, protocol=protocol, **options)
    return episode.turns[0].action, episode.messages[2].text


@pytest.mark.parametrize("env", [*NUMBERS, *WALKS])
@pytest.mark.parametrize(("reply", "paper", "sound"), READ)
def test_which_number_a_reply_stands_for(env: str, reply: str, paper: int | None, sound: int | None) -> None:
    assert said(env, "paper", reply)[0] == paper
    assert said(env, "sound", reply)[0] == sound


@pytest.mark.parametrize("env", [*NUMBERS, *WALKS])
@pytest.mark.parametrize(("reply", "paper"), [(reply, paper) for reply, paper, _ in READ])
def test_the_chat_shows_the_number_in_paper_and_the_player_s_words_in_sound(
    env: str, reply: str, paper: int | None
) -> None:
    assert said(env, "paper", reply)[1] == (reply if paper is None else str(paper))
    assert said(env, "sound", reply)[1] == reply


@pytest.mark.parametrize("guided", [False, True])
def test_only_a_teacher_s_answer_stands_in_the_chat_of_sound(guided: bool) -> None:
    episode = after("guessnum", EASY, "I say 40", protocol="sound", teacher_guided=guided)
    assert episode.messages[2].text == ("16416" if guided else "I say 40")


def test_a_reply_that_was_cut_off_is_read_in_paper_and_not_carried_out_in_sound() -> None:
    cut, empty = Reply("40 and so on", "truncated"), Reply("and so on", "truncated")
    assert outcomes(after("guessnum", EASY, cut, empty, protocol="paper")) == ["ok", "truncated"]
    episode = after("guessnum", EASY, cut, empty, protocol="sound", max_retries=2)
    assert outcomes(episode) == ["truncated", "truncated"]
    assert episode.turns_left == 20
    episode.step(cut)
    assert episode.done


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_refusal_is_an_invalid_reply(protocol: str) -> None:
    episode = after("guessnum", EASY, Reply("40", "refused"), protocol=protocol, max_retries=0)
    assert (outcomes(episode), episode.done) == (["refused"], True)


@pytest.mark.parametrize("env", NUMBERS)
@pytest.mark.parametrize("edition", ["code", "appendix"])
def test_a_prompt_names_the_range(env: str, edition: str) -> None:
    opening = after(env, number(7, 3, 99), wording=edition).messages
    assert [message.role for message in opening] == ["system", "user"]
    assert set(re.findall(r"\d+", opening[0].text)) == {"3", "99"}
    assert opening[1].text == "START"


@pytest.mark.parametrize("env", WALKS)
@pytest.mark.parametrize("edition", ["code", "appendix"])
def test_of_a_graph_with_cycles_the_prompt_does_not_say_that_it_has_none(env: str, edition: str) -> None:
    tree, square = (after(env, data, wording=edition).messages[0].text for data in (TREE, SQUARE))
    assert ("non-cyclic" in tree) == (env in ("dfs", "bfs"))
    assert "cyclic" not in square
    assert "  " not in square
    assert square == tree.replace("non-cyclic ", "")


def test_a_prompt_is_the_same_by_both_protocols() -> None:
    for env in (*NUMBERS, *WALKS):
        paper, sound = (after(env, data_of(env), protocol=protocol).messages for protocol in PROTOCOLS)
        assert paper == sound


MILLION = 1_000_000
HOSTILE = [  # reply, what it comes to with a number and with a walk in paper, and with both in sound
    ("", "unparsed", "unparsed", "unparsed"),
    ("-", "unparsed", "unparsed", "unparsed"),
    ("9" * 4300, "illegal", "illegal", "illegal"),
    ("9" * 4301, "unparsed", "unparsed", "unparsed"),
    ("9" * 5000, "unparsed", "unparsed", "unparsed"),
    ("9" * MILLION, "unparsed", "unparsed", "unparsed"),
    ("-" * MILLION, "unparsed", "unparsed", "unparsed"),
    ("x" * 10 * MILLION, "unparsed", "unparsed", "unparsed"),
    ("x" * 10 * MILLION + "40", "ok", "illegal", "unparsed"),
    ("1 2" * (MILLION // 3), "illegal", "illegal", "unparsed"),
    ("99 " * (MILLION // 3), "ok", "illegal", None),
    ("<think>" * (MILLION // 7) + "99", "unparsed", "unparsed", "unparsed"),
    ("</think>" * (MILLION // 8), "unparsed", "unparsed", "unparsed"),
    ("\u0664\u0660" * 3, "illegal", "illegal", "unparsed"),
    ("\U0001d7d2\U0001d7d8", "ok", "illegal", "unparsed"),  # digits beyond the basic plane
    ("\ud800 40 \udfff", "ok", "illegal", None),
    ("\x00\x1b[2J", "illegal", "ok", "unparsed"),
]


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize(("reply", "guess", "visit", "both"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_replies_are_read_or_refused(reply: str, guess: str, visit: str, both: str | None) -> None:
    for env, outcome in (("guessnum", guess), ("dfs", visit), ("bfs", visit)):
        assert outcomes(after(env, data_of(env), reply, protocol="paper")) == [outcome]
        assert outcomes(after(env, data_of(env), reply, protocol="sound")) == [both or outcome]


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("options", [{}, {"teacher_guided": True}, {"weak_tg_chances": 2}])
def test_hostile_replies_go_through_records(protocol: str, options: dict[str, Any]) -> None:
    for env in (*NUMBERS, *WALKS):
        environment = waybench.load(f"search/{env}")
        episode: Episode[Any, Any, Any] = Episode(
            environment, environment.item(data_of(env)), {"protocol": protocol, "max_retries": 99, **options}
        )
        for reply, *_ in HOSTILE:
            if len(reply) <= 5000 and not episode.done:
                episode.step(reply)
        record = EpisodeRecord.from_json(json.loads(episode.record().dumps()))
        again = replay(environment, record)
        for metric in environment.scoring.metrics:
            assert metric.of(again.record()) == metric.of(episode.record())


def test_why_a_reply_was_refused_is_told_in_one_short_line() -> None:
    for protocol in PROTOCOLS:
        for reply, *_ in HOSTILE:
            (turn,) = after("guessnum", EASY, reply, protocol=protocol).turns
            assert (turn.reason is None) == (turn.outcome is not Outcome.UNPARSED)
            assert turn.reason is None or (turn.reason.endswith(".") and len(turn.reason) < 100)

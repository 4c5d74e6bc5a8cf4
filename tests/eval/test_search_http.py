"""AQA-Bench against a real model server: what is sent is the protocol, whoever's turn stands in the chat."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.eval.model_server import Answer, ModelServer, Script, model_server
from tests.eval.play import MODEL, records, waybench_
from waybench.core import EpisodeRecord, replay
from waybench.envs import registry

RUN = ("--model", MODEL, "--rerun", "0", "--temperature", "0")
Chat = list[dict[str, Any]]


def scanner(messages: Chat, before: int) -> Answer:
    """Guess 40, 41, 42, ... in many words, and say nothing of use the second time."""
    turn = sum(message["role"] == "assistant" for message in messages)
    return Answer("I would rather not say." if turn == 1 else f"Well, **{40 + turn}** it is, of 32 to 32800.")


def walker(messages: Chat, before: int) -> Answer:
    """Visit the first neighbour of the last list that was shown."""
    for message in reversed(messages):
        if found := re.search(r"Adjacent nodes: (\d+)", message["content"]):
            return Answer(f"Node {found[1]}")
    raise AssertionError("no list was shown")


def run(script: Script, folder: Path, *arguments: str) -> tuple[ModelServer, dict[str, EpisodeRecord]]:
    with model_server(script) as server:
        done = waybench_("run", *arguments, *RUN, "--no-check", "--model-base-url", server.url, "--out", str(folder))
    assert done.returncode == 0, done.stderr
    found = records(folder)
    for record in found.values():
        replay(registry.load(record.env), record)
    return server, found


def sent(server: ModelServer) -> list[Chat]:
    return [json.loads(chat) for chat in server.asked]


@pytest.mark.slow
def test_the_number_that_was_read_stands_in_the_chat_in_paper(tmp_path: Path) -> None:
    server, found = run(scanner, tmp_path, "guessnum", "--limit", "1", "-T", "max_steps=4")
    [record] = found.values()
    assert [str(turn.outcome) for turn in record.turns] == ["ok", "unparsed", "ok", "ok", "ok"]
    assert record.end == "turn_limit"
    longest = max(sent(server), key=len)
    assert [message["role"] for message in longest[:3]] == ["system", "user", "assistant"]
    assert longest[0]["content"].startswith("You are required to guess the random number")
    assert longest[1]["content"] == "START"
    said = [message["content"] for message in longest if message["role"] == "assistant"]
    assert said == ["40", "I would rather not say.", "42", "43"]
    assert "Invalid reply. You can only reply with a integer number between 32 and 32800." in longest[5]["content"]


@pytest.mark.slow
def test_the_player_s_own_words_stay_in_sound_and_two_numbers_are_none(tmp_path: Path) -> None:
    server, found = run(scanner, tmp_path, "guessnum", "--limit", "1", "-T", "protocol=sound")
    [record] = found.values()
    assert [str(turn.outcome) for turn in record.turns] == ["unparsed"] * 4
    assert record.end == "invalid_limit"
    said = [m["content"] for m in max(sent(server), key=len) if m["role"] == "assistant"]
    assert said[0] == "Well, **40** it is, of 32 to 32800."


@pytest.mark.slow
def test_a_conversation_that_is_too_long_is_no_answer(tmp_path: Path) -> None:
    """The engine puts the provider's words in the place of a reply, and they have a number in them."""

    def full(messages: Chat, before: int) -> Answer:
        words = "This model's maximum context length is 10 tokens"
        return Answer(words, status=400, code="context_length_exceeded")

    _, found = run(full, tmp_path, "guessnum", "--limit", "1", "-T", "max_retries=0")
    [record] = found.values()
    [turn] = record.turns
    assert (turn.outcome, turn.action) == ("overflow", None)
    assert "longer than the player can read" in str(turn.reason)


@pytest.mark.slow
def test_a_teacher_s_answers_stand_in_the_chat(tmp_path: Path) -> None:
    arguments = ("dfs", "--limit", "3", "-T", "teacher_guided=true", "-T", "icl=1", "-T", "wording=code")
    server, found = run(walker, tmp_path, *arguments)
    assert len(found) == 3
    for record in found.values():
        assert len(record.turns) == record.proof["minimum"]
        assert len(record.examples) == 1
        executed = [str(turn.executed) for turn in record.turns]
        longest = max(
            (chat for chat in sent(server) if chat[: len(record.opening)] == _as_sent(record)),
            key=len,
        )
        said = [message["content"] for message in longest[len(record.opening) :] if message["role"] == "assistant"]
        assert said == executed[:-1]  # the last answer is carried out, but there is no later request that shows it
        assert [turn.reply for turn in record.turns] != executed


def _as_sent(record: EpisodeRecord) -> Chat:
    # After an example's last answer there is a message of the paper without text, which no server would take.
    return [{"role": message.role, "content": message.text or "(empty reply)"} for message in record.opening]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_examples_are_sent(tmp_path: Path, protocol: str) -> None:
    server, found = run(walker, tmp_path, "dfs", "--limit", "2", "-T", "icl=2", "-T", f"protocol={protocol}")
    for record in found.values():
        assert _as_sent(record) in [chat[: len(record.opening)] for chat in sent(server)]
        closing = [m for m in record.opening if m.role == "assistant" and not m.text]
        assert len(closing) == (2 if protocol == "paper" else 0)
        assert sum("Well Done" in message.text for message in record.opening) == 2

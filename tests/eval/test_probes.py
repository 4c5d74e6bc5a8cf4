"""Belief probes in runs: what is sent and what is not, what it changes, and what an interrupted run asks again."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.eval.model_server import Answer, ModelServer, Script, model_server
from tests.eval.play import MODEL, records, waybench_
from tests.submission.tampering import read, write
from tests.submission.test_verify import edit_log
from waybench.core import EpisodeRecord, UsageError, replay
from waybench.evaluation._progress import TaskProgress
from waybench.evaluation._sample import parse_probe_plan
from waybench.submission import verify
from waybench.submission._logs import verify_logs
from waybench.submission._pack import pack

QUESTION = "Before you go on, answer a question."
ITEMS = 3


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "sk-0123456789abcdef")


def fail(problem: Any) -> None:
    pytest.fail(str(problem))


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def is_probe(messages: Sequence[dict[str, Any]]) -> bool:
    return QUESTION in text_of(messages[-1])


def bisect(messages: list[dict[str, Any]], before: int) -> Answer:
    """Guess the middle, and answer the question for the range right only where the least number is even."""
    low, high = map(int, re.findall(r"between (\d+) and (\d+)", text_of(messages[0]))[-1])
    for message in messages:
        if match := re.search(r"is (bigger|smaller) than (\d+)\.", text_of(message)):
            low, high = (int(match[2]) + 1, high) if match[1] == "bigger" else (low, int(match[2]) - 1)
    if is_probe(messages):
        return Answer(json.dumps({"range": [low, high if low % 2 == 0 else high + 1]}))
    return Answer(str((low + high) // 2))


def run(server: ModelServer, out: Path, task: str, *arguments: str) -> Any:
    return waybench_(
        *("run", task, "--model", MODEL, "--model-base-url", server.url, "--out", str(out), "--no-check"),
        *("--rerun", "0", "--limit", str(ITEMS), "--display", "none", *arguments),
    )


def turns_of(record: EpisodeRecord) -> list[Any]:
    return [turn._replace(usage=None) for turn in record.turns]


@pytest.mark.slow
def test_a_fork_is_sent_and_never_seen_again(tmp_path: Path) -> None:
    found: dict[str, dict[str, EpisodeRecord]] = {}
    sent: dict[str, list[list[dict[str, Any]]]] = {}
    for name, probes in (("plain", ()), ("probed", ("--probe", "every:2"))):
        with model_server(bisect) as server:
            done = run(server, tmp_path / name, "guessnum", *probes)
            assert done.returncode == 0, done.stderr
        found[name], sent[name] = records(tmp_path / name), [body["messages"] for body in server.bodies]

    asked = [messages for messages in sent["probed"] if is_probe(messages)]
    rest = [messages for messages in sent["probed"] if not is_probe(messages)]
    # All other requests are those of a run without probes, so that nothing of a question or an answer is in them.
    assert sorted(map(json.dumps, rest)) == sorted(map(json.dumps, sent["plain"]))
    assert not any(QUESTION in json.dumps(messages) or '"range' in json.dumps(messages) for messages in rest)
    # A question ends the last message of a conversation that is then sent without it.
    plain = {json.dumps(messages) for messages in rest}
    for messages in asked:
        *before, last = messages
        shown, _, question = text_of(last).partition(f"\n\n{QUESTION}")
        assert last["role"] == "user" and '{"range": [<least number>, <greatest number>]}' in question
        assert json.dumps([*before, {**last, "content": shown}]) in plain

    count = 0
    for item, record in found["probed"].items():
        without = found["plain"][item]
        assert turns_of(record) == turns_of(without) and record.end == without.end and not without.probes
        assert record.tokens == without.tokens  # those of probes are apart
        assert [probe.turn + 1 for probe in record.probes] == list(range(2, len(record.turns) + 1, 2))
        for probe in record.probes:
            low, high = probe.expected
            assert probe.correct == (low % 2 == 0) and probe.answer == [low, high + low % 2]
            assert probe.usage is not None and probe.usage.input_tokens > 0 < probe.usage.output_tokens
        count += len(record.probes)
        assert replay(waybench.load("guessnum"), record).record().probes == record.probes
    assert count == len(asked) > 10
    verdict = verify_logs([tmp_path / "probed"], on_problem=fail)
    assert verdict.is_verified, verdict.text()

    def forget(sample: dict[str, Any]) -> bool:
        probes = sample["store"]["waybench"]["probes"]
        wrong = next((number for number, probe in enumerate(probes) if '"correct":false' in probe), None)
        if wrong is not None:
            probes[wrong] = probes[wrong].replace('"correct":false', '"correct":true')
        return wrong is not None

    def drop(sample: dict[str, Any]) -> bool:
        del sample["store"]["waybench"]["probes"]
        return True

    for number, change in enumerate((forget, drop)):
        edit_log(tmp_path / "probed", tmp_path / f"edited{number}", "guessnum", change)
        verdict = verify_logs([tmp_path / f"edited{number}"], on_problem=lambda problem: None)
        assert not verdict.is_verified and ("probe" in verdict.text() or "replies in the record" in verdict.text())


@pytest.mark.slow
def test_an_interrupted_run_does_not_ask_again(tmp_path: Path) -> None:
    def broken(script: Script, at: int) -> Script:
        requests = 0

        def answer(messages: list[dict[str, Any]], before: int) -> Answer:
            nonlocal requests
            requests += 1
            return Answer("no", status=400) if requests == at else script(messages, before)

        return answer

    options = ("--probe", "every:1", "--max-connections", "1", "--max-retries", "0")
    with model_server(bisect) as server:
        assert run(server, tmp_path / "whole", "guessnum", *options).returncode == 0
        whole = server.answered.copy()
    for at in (4, 5):  # a request for a reply, and one for an answer to a probe
        with model_server(broken(bisect, at)) as server:
            first = run(server, tmp_path / str(at), "guessnum", *options)
            assert first.returncode == 1 and "unfinished: guessnum" in first.stderr, first.stderr
            again = run(server, tmp_path / str(at), "guessnum", *options)
            assert again.returncode == 0, again.stderr
            assert server.answered == whole  # each conversation once
            assert is_probe(server.bodies[at - 1]["messages"]) == (at % 2 == 1)
        expected, found = records(tmp_path / "whole"), records(tmp_path / str(at))
        assert expected.keys() == found.keys()
        for item, record in found.items():
            assert turns_of(record) == turns_of(expected[item])
            assert [probe._replace(usage=None) for probe in record.probes] == [
                probe._replace(usage=None) for probe in expected[item].probes
            ]


@pytest.mark.slow
def test_with_tools_and_with_pictures(tmp_path: Path) -> None:
    def right(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer(calls=(("move", '{"movements": [{"direction": "right", "cells": 1}]}'),))

    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer('{"position": [1, 1]}') if is_probe(messages) else right(messages, before)

    with model_server(script) as server:
        done = run(server, tmp_path / "tools", "maze/alicia", "-T", "interface=tools", "--probe", "1,2,3")
        assert done.returncode == 0, done.stderr
    asked = [body for body in server.bodies if is_probe(body["messages"])]
    # Nothing can be called; after a call comes its result, which only a message of its own can follow.
    assert {body.get("tool_choice", "none") for body in asked} == {"none"}
    later = [body for body in asked if len(body["messages"]) > 1]
    assert {body["messages"][-2]["role"] for body in later} == {"tool"}
    assert {body["tool_choice"] for body in server.bodies if not is_probe(body["messages"])} == {"auto"}
    found = records(tmp_path / "tools").values()
    assert sum(len(record.probes) for record in found) == len(asked) >= ITEMS
    assert verify_logs([tmp_path / "tools"], on_problem=fail).is_verified

    with model_server(lambda messages, before: Answer('{"stack": [0]} 0' if is_probe(messages) else "0")) as server:
        done = run(server, tmp_path / "images", "search/dfs", "-T", "wording=image", "--probe", "1")
        assert done.returncode == 0, done.stderr
    asked = [body["messages"][-1]["content"] for body in server.bodies if is_probe(body["messages"])]
    assert len(asked) == ITEMS
    for content in asked:
        assert [part["type"] for part in content] == ["text", "image_url", "text"]
        assert content[-1]["text"].lstrip().startswith(QUESTION)
    assert all(probe.correct for record in records(tmp_path / "images").values() for probe in record.probes)
    assert verify_logs([tmp_path / "images"], on_problem=fail).is_verified


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "arguments", "message"),
    [
        ("guessnum", ("--probe", "every:2", "--agent", "react"), "an agent has a conversation of its own"),
        ("guessnum", ("--probe", "every:0"), "give every:N"),
        ("guessnum", ("--probe", "2,x"), "give every:N"),
        ("guessnum", ("--probe", "2", "-T", "probe=3"), "same parameter"),
        ("mango_route", ("--probe", "1"), "there are no belief probes in mango_route"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_spent(
    tmp_path: Path, task: str, arguments: tuple[str, ...], message: str
) -> None:
    with model_server(bisect) as server:
        done = run(server, tmp_path, task, *arguments)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not server.bodies


@pytest.mark.parametrize(
    "text", ["", "every:", "every:1,2", "0", "-1", "1,,2", "1.5", "every:99999999", "٣", "1," * 1001]
)
def test_plans_that_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="every:N"):
        parse_probe_plan(text)


def test_plans() -> None:
    assert [turn for turn in range(12) if parse_probe_plan("every:5").asks_before(turn)] == [4, 9]
    assert [turn for turn in range(12) if parse_probe_plan("1, 5,10").asks_before(turn)] == [0, 4, 9]


def test_a_budget_sees_what_probes_spend() -> None:
    from waybench.core import Price, Usage

    spent: list[int] = []
    progress = TaskProgress("waybench/dfs", "m", 1, price=Price(1.0, 2.0, 1.0), spent=lambda: spent.append(1))
    progress.begin_episode("1-1", 8, 20)
    progress.add_reply("1-1", Usage(100, 10), repeated=False)
    progress.add_reply(None, Usage(1000, 20), repeated=False)
    progress.add_reply(None, Usage(5000, 50), repeated=True)
    status = progress.status()
    assert (status.input_tokens, status.output_tokens, status.requests, status.repeated) == (1100, 30, 2, 1)
    assert status.cost == pytest.approx((1100 + 2 * 30) / 1e6) and len(spent) == 2


def test_submissions_have_probes_which_are_verified(tmp_path: Path) -> None:
    waybench.evaluate("dfs", "waybench/noisy-0.3", out=tmp_path / "logs", limit=3, probe="every:2")
    pack([tmp_path / "logs"], tmp_path / "x.zip", submitter="tests", on_problem=fail)
    verdict = verify(tmp_path / "x.zip")
    assert verdict.is_verified, verdict.text()
    manifest, lines = read(tmp_path / "x.zip")
    ((run, own),) = lines.items()
    assert all(line["record"]["probes"] for line in own)
    probe = next(probe for line in own for probe in line["record"]["probes"] if not probe["correct"])
    probe.update(reply=json.dumps({"stack": probe["expected"]}), answer=probe["expected"], correct=True)
    write(tmp_path / "y.zip", manifest, {run: own})
    assert not verify(tmp_path / "y.zip").is_verified  # nothing but the reason is left of it


def test_embedded_players_play_alike_with_and_without(tmp_path: Path) -> None:
    for name, probe in (("plain", None), ("probed", "every:3")):
        waybench.evaluate("hanoi_3", "waybench/noisy-0.2", out=tmp_path / name, limit=2, probe=probe)
    plain, probed = records(tmp_path / "plain"), records(tmp_path / "probed")
    assert {item: (turns_of(record), record.end, record.head_json()) for item, record in probed.items()} == {
        item: (turns_of(record), record.end, record.head_json()) for item, record in plain.items()
    }
    assert all(record.probes for record in probed.values())

"""`interface=tools` through Inspect: real calls over HTTP, transcripts that are verified, models without tools."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.eval.model_server import Answer, Script, model_server
from tests.eval.play import MAZES, MODEL, records, solution, waybench_
from tests.submission.test_verify import edit_log
from waybench.core import EpisodeRecord, Item, Outcome, PromptKinds, UsageError, calls_in_reply, replay
from waybench.evaluation._engine import open_model
from waybench.evaluation._preflight import check_models
from waybench.submission._logs import verify_logs

WALL = '{"movements": [{"direction": "up", "cells": 1}]}'
READY = Answer(calls=(("ready", '{"word": "OK"}'),))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "sk-0123456789abcdef")


def fail(problem: Any) -> None:
    pytest.fail(str(problem))


FIRST = {  # item -> the first reply, and the reason why it is not carried out
    "501": (Answer("I think so.", calls=(("move", WALL),)), None),
    "502": (Answer(WALL), "The reply has no call of a tool."),
    "503": (Answer(calls=(("fly", WALL),)), 'There is no tool "fly"; the tools are: move.'),
    "504": (Answer(calls=(("move", '{"movements": 3}'),)), "movements must be a list, not 3"),
    "505": (Answer(calls=(("move", '{"movements": [{"dir'),)), "are no valid JSON object"),
    "506": (Answer(calls=(("move", WALL), ("move", WALL))), "2 calls of tools; make one call"),
    "507": (Answer(calls=(("move", WALL[:-5]),), finish="length"), "cut off at the output limit"),
    "508": (Answer(calls=(("move", '{"movements": [{"direction": "\ud800", "cells": 1}]}'),)), "one of the listed"),
}


def scripted(items: list[Item[Any]]) -> Script:
    known = {json.dumps(each.instance.to_json()["maze"]).replace('"', "").replace(" ", ""): each for each in items}

    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        drawn = re.search(r"<Maze map>\n(.*)\n</Maze map>", str(messages[0]["content"]))
        assert drawn is not None
        item = known[drawn[1]]
        return FIRST[item.id][0] if len(messages) == 1 else Answer(calls=(("move", solution(item)),))

    return script


@pytest.mark.slow
def test_calls_over_http_and_malformed_ones(tmp_path: Path) -> None:
    items = list(MAZES.source().head(len(FIRST)))
    with model_server(scripted(items)) as server:
        run = waybench_(
            *("run", "maze/alicia", "--model", MODEL, "--model-base-url", server.url, "--out", str(tmp_path)),
            *("-T", "interface=tools", "--limit", str(len(items)), "--rerun", "0", "--no-check"),
        )
        assert run.returncode == 0, run.stderr
    found = records(tmp_path)
    for name, (answer, reason) in FIRST.items():
        first, second = found[f"{name}-1"].turns
        said = calls_in_reply(first.reply)
        assert said.text == answer.text and [call.name for call in said.calls] == [call for call, _ in answer.calls]
        assert (reason or "") in str(first.reason or "") and (reason is None) == (first.reason is None), first
        outcome = Outcome.ILLEGAL if reason is None else Outcome.TRUNCATED if name == "507" else Outcome.UNPARSED
        assert first.outcome is outcome
        assert second.outcome is Outcome.OK and found[f"{name}-1"].end == "solved"
        assert replay(MAZES, found[f"{name}-1"]).done
    # What the server was sent: the declared tool with its schema, and the answer as the result of each call.
    for body in server.bodies:
        (tool,) = body["tools"]
        schema = tool["function"]["parameters"]["properties"]["movements"]["items"]
        assert schema["properties"]["direction"]["enum"] == ["up", "down", "left", "right"]
        assert (tool["function"]["name"], body["tool_choice"]) == ("move", "auto")
        assert body["parallel_tool_calls"] is False
    later = [body["messages"] for body in server.bodies if len(body["messages"]) > 1]
    assert len(later) == len(FIRST)
    for messages in later:
        calls = messages[1].get("tool_calls") or []
        after = messages[2:]
        if not calls:
            assert [message["role"] for message in after] == ["user"]
            continue
        assert [message["tool_call_id"] for message in after] == [call["id"] for call in calls]
        assert all(message["role"] == "tool" and "<Maze map>" in message["content"] for message in after)
    verdict = verify_logs([tmp_path], on_problem=fail)
    assert verdict.is_verified, verdict.text()


def _without_usage(record: EpisodeRecord) -> dict[str, Any]:
    data = record.to_json()
    for turn in data["turns"]:
        turn.pop("usage")
    return {name: data[name] for name in ("turns", "end", "instance_hash")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "options"), [("coin", {"limit": 2}), ("hanoi_3", {"limit": 1}), ("gtb", {"limit": 1, "icl": 1})]
)
def test_embedded_players_act_and_their_logs_are_verified(task: str, options: dict[str, Any], tmp_path: Path) -> None:
    for interface in ("text", "tools"):
        waybench.evaluate(task, "waybench/noisy-0.2", out=tmp_path / interface, interface=interface, **options)
    text, tools = records(tmp_path / "text"), records(tmp_path / "tools")
    assert text.keys() == tools.keys() and tools
    for name, record in tools.items():
        played = _without_usage(record)
        for mine, theirs in zip(played["turns"], text[name].to_json()["turns"], strict=True):
            assert {**mine, "reply": ""} == {**{k: v for k, v in theirs.items() if k != "usage"}, "reply": ""}
        assert played["end"] == str(text[name].end)
    verdict = verify_logs([tmp_path / "tools"], on_problem=fail)
    assert verdict.is_verified, verdict.text()


def problem(script: Script) -> str:
    with model_server(script) as server, pytest.raises(UsageError) as caught:
        check_models([open_model(MODEL, server.url, {})], 60, prompts=PromptKinds(has_tools=True))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_server_without_tools_is_refused_before_the_run() -> None:
    refusals = []

    def refuses(messages: list[dict[str, Any]], before: int) -> Answer:
        if "Call the tool" in messages[0]["content"]:
            refusals.append(before)
            return Answer("this model does not support tools", status=400)
        return Answer("OK")

    text = problem(refuses)
    assert "it takes no tools" in text and "this model does not support tools" in text and refusals
    assert text.endswith("leave out interface=tools. Nothing was run; --no-check skips this check")
    assert "it answered without one ('Sure, OK.')" in problem(lambda messages, before: Answer("Sure, OK."))
    assert "refuses the key" in problem(lambda messages, before: Answer(status=401))
    with model_server(lambda messages, before: READY) as server:
        assert check_models([open_model(MODEL, server.url, {})], 60, prompts=PromptKinds(has_tools=True))
    assert server.asked.total() == 1 and server.bodies[0]["tool_choice"] == "required"
    with model_server(lambda messages, before: Answer(status=400)) as server:  # it says nothing of tools
        assert check_models([open_model(MODEL, server.url, {})], 60, prompts=PromptKinds(has_tools=True))


def test_a_model_of_this_machine_without_tools_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.evaluation._provider._start_server", lambda name: object())
    monkeypatch.setattr("waybench.evaluation._provider.check_local_model_installed", lambda name: None)
    with pytest.raises(UsageError, match=r"'waybench/smollm2' takes no tools: .*leave out interface=tools"):
        waybench.evaluate("coin", "waybench/smollm2", out=tmp_path, interface="tools", limit=1)


def change_call(sample: dict[str, Any]) -> bool:
    """Let the model have called with another argument than the record says."""
    events = [event for event in sample["events"] if event["event"] == "model"]
    for event in events:
        for call in event["output"]["choices"][0]["message"]["tool_calls"]:
            call["arguments"]["number"] += 1
    return bool(events)


def change_result(sample: dict[str, Any]) -> bool:
    """Give an easier answer than the record says."""
    pool = sample.get("events_data", {}).get("messages") or []
    pool += [message for event in sample["events"] for message in event.get("input") or []]
    results = [message for message in pool if message["role"] == "tool"]
    for message in results:
        message["content"] = "The number is 33."
    return bool(results)


def change_tools(sample: dict[str, Any]) -> bool:
    """Offer a tool with more in its description than the environment says."""
    events = [event for event in sample["events"] if event["event"] == "model"]
    for event in events:
        for tool in event["tools"]:
            tool["description"] = "Guess a number. It is 33."
    return bool(events)


@pytest.mark.slow
@pytest.mark.parametrize("change", [change_call, change_result, change_tools])
def test_what_was_changed_in_a_transcript_with_tools_is_found(change: Any, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    waybench.evaluate("coin", "waybench/linear", out=logs, interface="tools", limit=1)
    assert verify_logs([logs], on_problem=fail).is_verified
    edit_log(logs, tmp_path / "changed", "coin", change)
    verdict = verify_logs([tmp_path / "changed"], on_problem=fail)
    assert {kind for run in verdict.runs for kind in run.counts} == {"transcript"}, verdict.text()


@pytest.mark.slow
def test_thoughts_are_text_and_an_interrupted_episode_goes_on(tmp_path: Path) -> None:
    moves = ["Move the top disk of rod {} to the top of rod {}".format(*each) for each in ("AB", "BA")]
    broken = True

    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        if broken and len(server.bodies) > 5:
            return Answer(status=500)
        if "think step by step" in messages[-1]["content"]:
            return Answer("The smallest disk has to move.")
        assert messages[-2]["content"] == "The smallest disk has to move."  # the thought is shown with the question
        return Answer(calls=(("act", json.dumps({"action": moves["-> B" in seen(messages)]})),))

    def seen(messages: list[dict[str, Any]]) -> str:
        on_b = re.findall(r"- B: \|bottom, \[([^]]*)\], top\|", messages[-3]["content"])[-1]
        return "-> B" if on_b else ""

    run = [
        *("run", "hanoi_3", "--model", MODEL, "--out", str(tmp_path), "--max-retries", "0", "--rerun", "0"),
        *("-T", "interface=tools", "-T", "steps=4", "--limit", "1", "--no-check"),
    ]
    with model_server(script) as server:
        first = waybench_(*run, "--model-base-url", server.url)
        assert first.returncode == 1, first.stderr
        before, broken = len(server.bodies), False
        second = waybench_(*run, "--model-base-url", server.url)
        assert second.returncode == 0, second.stderr
    (record,) = records(tmp_path).values()
    assert [turn.action for turn in record.turns][::2] == ["thought"] * 4 and len(record.turns) == 8
    assert all(turn.outcome is Outcome.OK for turn in record.turns), record.turns
    assert len(server.bodies) == before + 3  # five replies of the first run are not asked for again
    for body in server.bodies:
        acts = "think step by step" not in body["messages"][-1]["content"]
        assert ("tools" in body) == ("parallel_tool_calls" in body) == acts
    verdict = verify_logs([tmp_path], on_problem=fail)
    assert verdict.is_verified, verdict.text()

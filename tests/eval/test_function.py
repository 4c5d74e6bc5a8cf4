"""A function of the user's as a model: `--model python:my_module.reply`."""

import asyncio
from pathlib import Path

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput

import waybench
from waybench.core import UsageError
from waybench.evaluation._engine import open_model
from waybench.results import read_logs

MODULE = """
import json

CALLS = []

def reply(messages):
    CALLS.append(messages)
    assert [set(message) for message in messages] == [{"role", "content"}] * len(messages)
    assert [message["role"] for message in messages][::2] == ["user"] * (len(messages) // 2 + 1)
    return "no plan" if len(messages) == 1 else json.dumps({"movements": [{"direction": "down", "cells": 4}]})

async def later(messages):
    return reply(messages)

class Player:
    def answer(self, messages):
        return reply(messages)

    def message(self, messages):
        from inspect_ai.model import ChatMessageAssistant, ContentText
        return ChatMessageAssistant(content=[ContentText(text=reply(messages))])

    def wrong(self, messages):
        return 3

player = Player()
number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_player.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_a_function_plays_sync_and_async_and_its_errors_are_no_failures(module: Path) -> None:
    methods = [f"my_player:player.{name}" for name in ("answer", "message", "wrong")]
    names = ("my_player.reply", "my_player.later", *methods)
    waybench.evaluate("maze/alicia", [f"python:{name}" for name in names], out=module / "out", limit=1, rerun=0)
    found = {each.record.player: each.record for each in read_logs(module / "out")}
    assert found.keys() == {f"python/{name}" for name in names}
    wrong = found.pop("python/my_player:player.wrong")
    assert wrong.end == "infrastructure_error"
    assert "python:my_player:player.wrong returned int: return the reply as a string" in str(wrong.error)
    for record in found.values():
        assert [str(turn.outcome) for turn in record.turns] == ["unparsed", "ok"] and record.end == "solved"
        assert record.turns[0].reply == "no plan" and record.tokens == (0, 0)


def test_what_is_no_function_is_refused_in_one_line(module: Path) -> None:
    (module / "broken.py").write_text("1 / 0")
    for name, said in {
        "reply": "give a module and a name in it",
        "my_player.missing": "has no attribute 'missing'",
        "no_such_module.reply": "No module named 'no_such_module'",
        "my_player.number": "is no function, but of type int",
        "broken.reply": "cannot be imported: ZeroDivisionError",
    }.items():
        with pytest.raises(UsageError) as caught:
            open_model(f"python:{name}", None, {})
        assert said in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(UsageError, match=r"'python/my_player\.reply' takes no tools"):
        waybench.evaluate("maze/alicia", "python:my_player.reply", out=module / "t", limit=1, interface="tools")


@pytest.mark.parametrize("said", [{"role": "assistant", "content": None}, [{"type": "thinking", "thinking": "hm"}]])
def test_a_message_without_text_is_an_empty_reply(
    said: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"silent_{type(said).__name__}"  # a module is imported once
    (tmp_path / f"{name}.py").write_text(f"def reply(messages):\n    return {said!r}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    model = open_model(f"python:{name}.reply", None, {})
    output = asyncio.run(model.api.generate([ChatMessageUser(content="Go.")], [], "none", GenerateConfig()))
    assert isinstance(output, ModelOutput) and output.completion == ""

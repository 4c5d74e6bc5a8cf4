"""Prompts and solutions of `waybench generate`, over every environment of the registry."""

import json
from typing import Any

import pytest

import waybench
from tests.cli.support import Command, lines_of, one_line_error
from waybench import Prompt
from waybench.envs import registry

IDS = [entry.id for entry in registry.entries]


class Listening:
    """A player that gives the oracle's replies and keeps the chats that it is shown, each with its reply."""

    def __init__(self, replies: list[str]) -> None:
        self.chats: list[list[dict[str, str]]] = []
        self._replies = iter(replies)

    def __call__(self, prompt: Prompt) -> str:
        reply = next(self._replies)
        self.chats.append([*prompt.messages, {"role": "assistant", "content": reply}])
        return reply


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("env_id", IDS)
def test_round_trip(command: Command, env_id: str) -> None:
    oracle = waybench.play(env_id)
    replies = [turn.reply for turn in oracle.record.turns]
    listening = Listening(replies)
    waybench.play(env_id, listening)

    [prompt] = lines_of(command("generate", env_id, "--count", 1, "--prompts"))
    assert prompt["messages"] == listening.chats[0][:-1]
    assert "proof" not in prompt
    scored = waybench.score({**prompt, "replies": replies})
    assert (scored.metrics, scored.end) == (oracle.metrics, oracle.end)

    solutions = [line["messages"] for line in lines_of(command("generate", env_id, "--count", 1, "--solutions"))]
    environment = waybench.load(env_id)
    chats = environment.play(environment.resolve_options({})).wording.memory.kind == "chat"
    assert solutions == (listening.chats[-1:] if chats else listening.chats)


def test_an_oracle_s_reply_to_a_prompt_reaches_the_ceiling(command: Command) -> None:
    for name, arguments in (("alicia", ("--level", 9)), ("mango_route", ("-T", "protocol=sound"))):
        lines = lines_of(command("generate", name, "--count", 3, "--prompts", *arguments))
        solved = lines_of(command("generate", name, "--count", 3, "--solutions", *arguments))
        by_prompt: dict[str, list[Any]] = {json.dumps(line["messages"]): line for line in lines}
        for chat in solved:
            messages = chat["messages"]
            line: Any = by_prompt[
                json.dumps(messages[: next(i for i, m in enumerate(messages) if m["role"] == "assistant")])
            ]
            line["replies"] = [message["content"] for message in messages if message["role"] == "assistant"]
        scored = lines_of(command("score", "-", stdin="\n".join(map(json.dumps, lines))))
        assert [line["end"] for line in scored] == ["solved"] * 3


def test_options_choose_the_wording(command: Command) -> None:
    [plain] = lines_of(command("generate", "maze", "--count", 1, "--prompts"))
    [drawn] = lines_of(command("generate", "maze", "--count", 1, "--prompts", "-T", "wording=ascii"))
    assert plain["hash"] == drawn["hash"]
    assert plain["options"]["wording"] != drawn["options"]["wording"] == "ascii"
    assert "[[0," in plain["messages"][0]["content"] and "###X#" in drawn["messages"][0]["content"]


def test_a_task_s_parameters_choose_the_items(command: Command) -> None:
    lines = lines_of(command("generate", "aqa", "-T", "limit=2", "--count", 99, "--prompts"))
    assert [line["env"] for line in lines[::2]] == [
        f"search/{name}" for name in ("guessnum", "coin", "dfs", "cavedfs", "bfs", "cavebfs")
    ]
    result = command("generate", "aqa", "-T", "limit=1", "--count", 99)
    assert result.stderr == "Warning: these parameters of aqa give only 6 items: wrote 6 of 99, each once\n"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["maze", "--prompts", "--solutions"], "choose one"),
        (["maze", "-T", "wording=ascii"], "add --prompts or --solutions"),
        (["tilemap", "--prompts", "--model", "openai/x"], "do not work with --model"),
        (["horizon_hanoi", "-T", "key=k"], "chooses its items while it runs"),
        (["aqa"], "plays several environments"),
    ],
)
def test_bad_input(command: Command, args: list[object], expected: str) -> None:
    assert expected in one_line_error(command("generate", *args))

"""Prompts and solutions of `waybench generate`, over every environment of the registry."""

import json
import re
from typing import Any

import pytest

import waybench
from tests.cli.support import Command, lines_of, one_line_error
from waybench import Prompt
from waybench.envs import registry

IDS = [entry.id for entry in registry.built_in]


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
    chats = environment.playing.play(environment.resolve_options({})).wording.memory.kind == "chat"
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


@pytest.mark.parametrize("name", ["maze", "guessnum", "dfs", "bfs", "hanoi"])
def test_the_reasoning_leads_to_the_reply(command: Command, name: str) -> None:
    arguments = ("generate", name, "--count", 2, "--key", "k", "--solutions")
    plain, field, think = (
        [line["messages"] for line in lines_of(command(*arguments, *more))]
        for more in ((), ("--reasoning", "field"), ("--reasoning", "think"))
    )
    assert len(plain) == len(field) == len(think) >= 2
    count = 0
    for without, beside, before in zip(plain, field, think, strict=True):
        for message, with_field, with_tag in zip(without, beside, before, strict=True):
            if "reasoning_content" not in with_field:
                assert message == with_field == with_tag
                continue
            count += 1
            thought = with_field["reasoning_content"]
            assert {**message, "reasoning_content": thought} == with_field
            assert with_tag["content"] == f"<think>\n{thought}\n</think>\n\n{message['content']}"
            if name in ("guessnum", "dfs", "bfs"):
                assert thought.rstrip(".").endswith(f" {message['content']}")
    assert count >= 4 if name != "maze" else count == 2


def test_a_maze_s_reasoning_walks_to_the_exit(command: Command) -> None:
    [line] = lines_of(command("generate", "maze", "--level", 9, "--count", 1, "--solutions", "--reasoning", "field"))
    reply = line["messages"][-1]
    steps = [way for one in json.loads(reply["content"])["movements"] for way in [one["direction"]] * one["cells"]]
    told = reply["reasoning_content"].splitlines()
    assert [re.search(r"\. (\w+) leads to", step)[1].lower() for step in told[1:]] == steps  # type: ignore[index]
    assert told[-1].endswith("moves left from there: 0.")


def test_splits_share_no_item(command: Command) -> None:
    found = {
        split: {
            line["hash"] for line in lines_of(command("generate", "maze", "--level", 9, "--key", "k", "--split", split))
        }
        for split in ("train", "validation", "test")
    }
    assert [len(hashes) for hashes in found.values()] == [10, 10, 10]
    assert len(set.union(*found.values())) == 30
    few = command("generate", "maze", "--level", 5, "--key", "k", "--split", "train", "--count", 40)
    hashes = [line["hash"] for line in lines_of(few)]
    assert len(hashes) == len(set(hashes)) < 20
    assert (
        few.stderr.startswith("Warning: the split train repeats items") and f"wrote {len(hashes)} of 40" in few.stderr
    )


def test_a_split_of_a_large_level_draws_on_until_all_are_different(command: Command) -> None:
    # The test split of this key repeats an item among its first 300.
    args = ("generate", "maze", "--level", 9, "--count", 300, "--key", "training", "--split", "test")
    first, again = command(*args), command(*args)
    assert first.stderr == "" and first.stdout == again.stdout
    assert len({line["hash"] for line in lines_of(first)}) == len(lines_of(first)) == 300


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["maze", "--reasoning", "think"], "add --solutions"),
        (["maze", "--player", "heuristic"], "add --solutions"),
        (["maze", "--prompts", "--out", "x.parquet"], "only --solutions"),
        (["maze", "--solutions", "--player", "heuristic", "--reasoning", "field"], "leave --player out"),
        (["rps", "--solutions", "--reasoning", "field"], "writes none"),
        (["alicia", "-T", "limit=3", "-T", "attempts=2", "--split", "train"], "leave the task's parameters out"),
        (["hanoi", "--level", 3, "--split", "train"], "choose another level"),
        (["maze", "--prompts", "--solutions"], "choose one"),
        (["maze", "-T", "wording=ascii"], "add --prompts or --solutions"),
        (["tilemap", "--prompts", "--model", "openai/x"], "do not work with --model"),
        (["horizon_hanoi", "-T", "key=k"], "chooses its items while it runs"),
        (["aqa"], "plays several environments"),
    ],
)
def test_bad_input(command: Command, args: list[object], expected: str) -> None:
    assert expected in one_line_error(command("generate", *args))

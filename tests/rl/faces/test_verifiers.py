import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from scripts import ENVIRONMENTS, growing, script, told
from verifiers.v1.clients import ModelContext
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.env import RunSlot
from waybench_verifiers import WaybenchTasksetConfig

from tests.eval.model_server import Answer, model_server
from waybench.core import EpisodeRecord, UsageError, replay
from waybench.envs import registry
from waybench.ext.train import Curriculum

PATIENCE = 600
BIN = Path(sys.executable).parent


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "none")
    monkeypatch.delenv("PRIME_API_KEY", raising=False)


def played(env: str, index: int, options: dict[str, Any], url: str, turns: int = 100) -> Any:
    """Play an item in process, as `vf-eval` does, and return its trace."""
    config = EvalConfig.model_validate(
        {
            "env": {
                "taskset": {
                    "id": "waybench-verifiers",
                    "env": env,
                    "split": "",
                    "options": options,
                    "items": index + 1,
                },
                "player": {"max_turns": turns},
            },
            "client": {"base_url": url, "api_key_var": "TEST_KEY"},
            "model": "test",
            "push": False,
        }
    )
    loaded = vf.load_environment(config.env)
    task = list(loaded.taskset)[index]

    async def run() -> Any:
        async with loaded.serving():
            context = ModelContext(client=config.client, model=config.model, sampling=config.sampling)
            return await loaded.run_slot(RunSlot(task), context)

    episode = asyncio.run(run())
    assert episode.ok, episode.errors
    (trace,) = episode.traces
    return trace


@pytest.mark.parametrize("env", [env for env in ENVIRONMENTS if growing(env)])
def test_the_same_replies_have_the_same_rewards_and_record(env: str) -> None:
    options = growing(env)
    expected = script(env, 2, options, hostile=False)
    with model_server(
        lambda messages, _: Answer(expected.replies[sum(message["role"] == "assistant" for message in messages)])
    ) as server:
        trace = played(env, 2, options, server.url, len(expected.replies))
    found = trace.info["waybench"]
    assert found["rewards"] == expected.rewards
    assert told(found["record"]) == json.loads(json.dumps(expected.record))
    assert trace.rewards["episode"].score == pytest.approx(sum(expected.rewards))
    # One request for each turn, with exactly the environment's own prompt.
    record = EpisodeRecord.from_json(found["record"])
    chat = [{"role": message.role, "content": message.text} for message in record.opening]
    for turn in record.turns:
        assert server.answered[json.dumps(chat)] == 1
        chat += [{"role": "assistant", "content": turn.reply}, {"role": "user", "content": turn.message}]
    assert sum(server.answered.values()) == len(record.turns)


def test_a_curriculum_chooses_tasks_and_learns_from_their_records() -> None:
    curriculum = Curriculum("search/guessnum", half_life=8, protocol="sound", split="train")
    config = EvalConfig.model_validate(
        {
            "env": {
                "taskset": {"id": "waybench-verifiers", "env": "search/guessnum", "options": {"protocol": "sound"}},
                "player": {"max_turns": 3},
            },
            "client": {"api_key_var": "TEST_KEY"},
            "model": "test",
            "push": False,
        }
    )
    with model_server(lambda messages, _: Answer("?")) as server:
        config.client.base_url = server.url
        loaded = vf.load_environment(config.env)

        async def run(task: Any) -> Any:
            async with loaded.serving():
                context = ModelContext(client=config.client, model=config.model, sampling=config.sampling)
                return await loaded.run_slot(RunSlot(task), context)

        levels = []
        for _ in range(4):
            choice = curriculum.next()
            (trace,) = asyncio.run(run(loaded.taskset.choose(choice.level, choice.index))).traces
            record = EpisodeRecord.from_json(trace.info["waybench"]["record"])
            assert record.item["level"] == choice.level
            curriculum.add(record)
            levels.append(choice.level)
    assert levels[-1] < levels[0]


def test_a_reply_that_was_cut_off_is_not_carried_out() -> None:
    answer = Answer('{"movements": [{"direction": "down", "cells": 1}]}', finish="length")
    with model_server(lambda messages, _: answer) as server:
        trace = played("maze/alicia", 0, {"requests": 1}, server.url)
    assert trace.info["waybench"]["record"]["turns"][0]["outcome"] == "truncated"


@pytest.mark.parametrize("env", [env for env in ENVIRONMENTS if not growing(env)])
def test_environments_that_write_each_prompt_anew_are_refused(env: str) -> None:
    with pytest.raises(UsageError, match="growing conversation"):
        WaybenchTasksetConfig(env=env, split="").session()


def test_vf_eval_writes_rewards_and_records_and_uploads_nothing(tmp_path: Path) -> None:
    with model_server(lambda messages, _: Answer("5")) as server:
        done = command(
            "vf-eval",
            *("waybench-verifiers", "-m", "test", "--client.base-url", server.url, "--client.api-key-var", "TEST_KEY"),
            *("--env.taskset.env", "search/guessnum", "--env.taskset.options.protocol", "sound"),
            *("-n", "3", "-r", "2", "--no-push", "--no-rich", "-o", tmp_path),
        )
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = tmp_path.rglob("traces.jsonl")
    episodes = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(episodes) == 6
    for episode in episodes:
        (trace,) = episode["traces"]
        record = EpisodeRecord.from_json(trace["info"]["waybench"]["record"])
        replay(registry.load(record.env), record)
        assert trace["rewards"]["episode"]["score"] == pytest.approx(sum(turn.reward for turn in record.turns))


def test_vf_validate_passes_with_gold_and_noop(tmp_path: Path) -> None:
    done = command(
        "vf-validate",
        *("waybench-verifiers", "--taskset.env", "maze/alicia", "--taskset.level", "9", "-n", "8"),
        *("--runtime.type", "subprocess", "--no-rich", "-o", tmp_path),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = tmp_path.rglob("results.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(rows) == 8 and all(row["reason"] == "valid" and row["noop"]["reward"] == 0 for row in rows)


def test_a_wrong_level_is_one_clear_error(tmp_path: Path) -> None:
    done = command(
        "vf-validate",
        *("waybench-verifiers", "--taskset.level", "4", "-n", "1", "--runtime.type", "subprocess", "--no-rich"),
        *("-o", tmp_path),
    )
    assert done.returncode != 0 and "1001" in done.stdout + done.stderr


def command(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / name), *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, env={**os.environ}
    )

"""The parts of the Inspect layer, and the engine's own command."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ModelCall, ModelOutput, ModelUsage, get_model
from inspect_ai.util import Store

import waybench
from tests.conftest import PATIENCE
from tests.eval.play import comparable, environment, records, waybench_
from waybench.core import Episode, play_to_end, policy, replay
from waybench.evaluation._sample import Chat, store_episode, stored_record, to_sample
from waybench.evaluation._scores import episode
from waybench.evaluation._solver import play, wrap_model
from waybench.evaluation.tasks import _registry

MAZES = waybench.load("maze/alicia")
ITEM = MAZES.source().item(0)
WALL = '{"movements": [{"direction": "up", "cells": 1}]}'


def _model(answer: Any) -> Any:
    def outputs(*_: Any) -> ModelOutput:
        output: ModelOutput = answer()
        output.usage = output.usage or ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


def _run(tmp_path: Path, answer: Any, **options: Any) -> Any:
    task = Task(dataset=[to_sample(MAZES, ITEM, MAZES.resolve_options({}), 1)], solver=play(), scorer=episode())
    [log] = eval(task, model=_model(answer), log_dir=str(tmp_path), display="none", **options)
    assert log.samples is not None
    return log.samples[0]


def test_a_sample_is_an_episode_and_its_store_has_the_record(tmp_path: Path) -> None:
    usage = ModelUsage(
        input_tokens=7, output_tokens=20, total_tokens=60, input_tokens_cache_read=30, reasoning_tokens=12
    )

    def answer() -> ModelOutput:
        output = ModelOutput.from_content("m", WALL)
        output.usage = usage
        return output

    sample = _run(tmp_path, answer)
    record = stored_record(sample.metadata, sample.store)
    replay(MAZES, record)
    assert record.end == "turn_limit" and [str(turn.outcome) for turn in record.turns] == ["illegal"] * 3
    assert record.turns[0].usage is not None
    assert (record.turns[0].usage.input_tokens, record.turns[0].usage.cached_tokens) == (37, 30)
    assert record.tokens == (111, 60) and record.turns[0].usage.reasoning_tokens == 12
    [score] = sample.scores.values()
    assert score.value == MAZES.scoring.headline_percent(record) == 0.0
    assert score.metadata["metrics"] == {metric.name: metric.of(record) for metric in MAZES.scoring.metrics}
    assert [message.role for message in sample.messages] == ["user", "assistant"] * 3 + ["user"]
    assert sample.messages[2].text == record.turns[0].message


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("max_tokens", "truncated"), ("model_length", "overflow"), ("content_filter", "refused"), ("stop", "illegal")],
)
def test_stop_reasons(tmp_path: Path, reason: Any, outcome: str) -> None:
    sample = _run(tmp_path, lambda: ModelOutput.from_content("m", WALL, stop_reason=reason))
    record = stored_record(sample.metadata, sample.store)
    assert {str(turn.outcome) for turn in record.turns} == {outcome}
    assert all((turn.action is None) == (outcome != "illegal") for turn in record.turns)


def test_turns_before_an_error_are_kept(tmp_path: Path) -> None:
    left = [WALL, WALL]

    def answer() -> ModelOutput:
        if not left:
            raise RuntimeError("the provider broke")
        return ModelOutput.from_content("m", left.pop())

    sample = _run(tmp_path, answer, fail_on_error=False)
    record = stored_record(sample.metadata, sample.store)
    assert len(record.turns) == 2 and record.end == "infrastructure_error"
    assert record.error == "RuntimeError: the provider broke"
    assert not sample.scores


def test_embedded_players_play_only_our_tasks(tmp_path: Path) -> None:
    assert _registry.waybench
    [log] = eval(Task(dataset=[Sample(input="hello")]), model="waybench/oracle", log_dir=str(tmp_path), display="none")
    assert log.status == "error" and log.error is not None and "only waybench's tasks" in log.error.message


@pytest.mark.parametrize("player", ["oracle", "random", "heuristic", "null", "noisy-0.3"])
def test_embedded_players_are_the_policies(tmp_path: Path, player: str) -> None:
    task = Task(dataset=[to_sample(MAZES, ITEM, MAZES.resolve_options({}), 2)], solver=play(), scorer=episode())
    eval(task, model=f"waybench/{player}", log_dir=str(tmp_path), display="none")
    here = play_to_end(MAZES, ITEM, policy(player), attempt=2)
    here.player = f"waybench/{player}"
    assert comparable(records(tmp_path)["501-2"]) == comparable(here.record())


@pytest.mark.slow
def test_the_engine_s_own_command(tmp_path: Path) -> None:
    result = subprocess.run(
        [
            *(sys.executable, "-m", "inspect_ai", "eval", "waybench/alicia", "--model", "waybench/noisy-0.1"),
            *("-T", "max_dimension=7", "-T", "limit=2", "--log-dir", str(tmp_path), "--display", "plain"),
        ],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
    )
    assert result.returncode == 0, result.stderr
    assert "5_best" in result.stdout and "7_mean" in result.stdout
    assert {record.item["level"] for record in records(tmp_path).values()} == {5, 7}


def test_guard_escapes_lone_surrogates_once() -> None:
    calls = []

    class Provider:
        async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
            calls.append(1)
            return ModelOutput.from_content("m", "a\ud800b"), ModelCall.create({}, {"text": ["\udfff"]})

    class FakeModel:
        api = Provider()

    model: Any = FakeModel()
    assert wrap_model(model) is wrap_model(model)
    output, call = asyncio.run(model.api.generate([], [], "none", None))
    assert len(calls) == 1
    assert output.completion == "a\\ud800b" and call.response == {"text": ["\\udfff"]}
    assert output.model_dump_json() and call.model_dump_json()


def test_chat_sends_the_model_s_own_messages_back() -> None:
    played: Episode[Any, Any, Any] = Episode(MAZES, ITEM)
    chat = Chat()
    first = chat.messages(played)
    own = ChatMessageAssistant(content=WALL, metadata={"reasoning": "kept"})
    chat.add_reply(0, own)
    played.step(WALL)
    second = chat.messages(played)
    assert second[0] is first[0] and second[1] is own
    assert second[2].text == played.turns[0].message


def test_store_grows_by_turns() -> None:
    played: Episode[Any, Any, Any] = Episode(MAZES, ITEM, player="me")
    store = Store()
    head = {"waybench": played.record().head_json()}
    assert stored_record(head, {}).turns == ()
    for _ in range(2):
        played.step(WALL)
        store_episode(store, played)
        assert stored_record(head, store) == played.record()


@pytest.mark.slow
def test_two_models_in_one_run(tmp_path: Path) -> None:
    from waybench.results import read_logs

    models = [argument for name in ("oracle", "noisy-0.2", "null") for argument in ("--model", f"waybench/{name}")]
    result = waybench_("run", "alicia", *models, "-T", "max_dimension=9", "--limit", "3", "--out", str(tmp_path))
    assert result.returncode == 0, result.stderr
    reached: dict[str, set[int]] = {}
    for logged in read_logs(tmp_path):
        reached.setdefault(logged.model, set()).add(logged.record.item["level"])
    assert reached == {"waybench/oracle": {5, 7, 9}, "waybench/noisy-0.2": {5, 7, 9}, "waybench/null": {5}}

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
from scripts import ENVIRONMENTS, growing, script, told
from test_trl import tokenizer
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import add_response_schema, qwen3_chat_template

from waybench.core import UsageError, calls_in_reply, replay
from waybench.envs import registry
from waybench.ext.train.trl import environment_factory, tool_prompts

__all__ = ["tokenizer"]


@pytest.mark.parametrize("env", [env for env in ENVIRONMENTS if growing(env)])
def test_the_same_calls_have_the_same_rewards_and_turns(env: str) -> None:
    options = growing(env)
    expected = script(env, 2, {**options, "interface": "tools"}, hostile=False)
    tools = environment_factory(env, **options)()
    prompt = tools.reset(item=2)
    assert "Act by calling a tool" in prompt
    for reply in expected.replies:
        (call,) = calls_in_reply(reply).calls
        getattr(tools, call.name)(**call.arguments)
    record = told(tools.record.to_json())
    assert tools.get_reward() == pytest.approx(sum(expected.rewards))
    assert record == expected.record
    # Never mixed with replies as text: the record names the form, and replays with it.
    assert record["options"]["wording"].startswith("tools:")
    replay(registry.load(env), tools.record)
    if record["end"]:
        assert getattr(tools, call.name)(**call.arguments) == "The episode is over."


def test_wrong_arguments_are_an_unparsed_turn() -> None:
    tools = environment_factory("maze/alicia")()
    tools.reset()
    tools.move(movements=[{"direction": "up", "cells": "x"}])
    tools.move()
    first, second = tools.record.turns
    assert (first.outcome, second.outcome) == ("unparsed", "unparsed")
    assert "movements[0].cells must be a whole number" in first.reason
    assert '"movements" is missing' in second.reason


def test_the_base_wording_is_part_of_the_name() -> None:
    assert _name("maze/alicia") == "tools:matrix"
    assert _name("maze/alicia", wording="ascii") == "tools:ascii"


def _name(env: str, **settings: Any) -> str:
    tools = environment_factory(env, **settings)()
    tools.reset()
    return str(tools.record.options["wording"])


@pytest.mark.parametrize("env", [env for env in ENVIRONMENTS if growing(env)])
def test_one_tool_with_described_arguments(env: str) -> None:
    tools = environment_factory(env, **growing(env))
    public = [name for name, _ in inspect.getmembers(tools, inspect.isfunction) if not name.startswith("_")]
    (name,) = set(public) - {"get_reward", "reset"}
    schema = get_json_schema(getattr(tools(), name))["function"]
    assert schema["name"] == name and schema["description"]
    parameters = schema["parameters"]
    assert parameters["required"] == list(parameters["properties"])
    assert all(one["description"] and one["type"] for one in parameters["properties"].values())


def test_what_cannot_be_a_tool_is_refused() -> None:
    for env in ("tilemap/gtb", "hanoi/rods"):
        with pytest.raises(UsageError, match="new prompt in each turn"):
            environment_factory(env)
    with pytest.raises(UsageError, match="unknown"):
        environment_factory("maze/alicia", wording="tools")


def test_a_step_of_grpo_calls_the_tool(tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer.chat_template = qwen3_chat_template
    tokenizer = add_response_schema(tokenizer)
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=8192,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    call = '<tool_call>\n{"name": "move", "arguments": {"movements": []}}\n</tool_call>'

    def said(self: Any, prompt_ids: Any, *rest: Any, **more: Any) -> Any:
        ids = [*tokenizer(call, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        return [ids for _ in prompt_ids], None

    monkeypatch.setattr(GRPOTrainer, "_generate_single_turn", said)
    made: list[Any] = []
    tools = environment_factory("maze/alicia", requests=2)

    def factory() -> Any:
        made.append(tools())
        return made[-1]

    trainer = GRPOTrainer(
        model=model,
        args=GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=1,
            per_device_train_batch_size=2,
            num_generations=2,
            max_completion_length=4000,
            max_tool_calling_iterations=2,
            report_to=[],
            save_strategy="no",
            logging_steps=1,
            use_cpu=True,
            bf16=False,
        ),
        train_dataset=tool_prompts(count=4),
        environment_factory=factory,
        processing_class=tokenizer,
    )
    trainer.train()
    played = [one.record for one in made if one._session.episode is not None]
    assert len(played) == 2
    for record in played:
        assert [turn.action for turn in record.turns] == [[], []]
        assert str(record.end) == "turn_limit"

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
from scripts import ENVIRONMENTS, growing, script, told
from test_trl import tokenizer
from transformers import LlamaConfig, LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import add_response_schema, qwen3_chat_template

from waybench.core import UsageError, replay
from waybench.envs import registry
from waybench.rl.trl import environment_factory, tool_prompts

__all__ = ["tokenizer"]


@pytest.mark.parametrize("env", [env for env in ENVIRONMENTS if growing(env)])
def test_the_same_replies_have_the_same_rewards_and_turns(env: str) -> None:
    options = growing(env)
    expected = script(env, 2, options)
    tools = environment_factory(env, **options)()
    prompt = tools.reset(item=2)
    assert "calling the tool act" in prompt
    for reply in expected.replies:
        tools.act(reply=reply)
    record = told(tools.record.to_json())
    assert tools.get_reward() == pytest.approx(sum(expected.rewards))
    answers = [[{**turn, "message": ""} for turn in one["turns"]] for one in (record, expected.record)]
    assert answers[0] == answers[1]
    assert (record["instance_hash"], record["end"]) == (expected.record["instance_hash"], expected.record["end"])
    # Never mixed with replies as text: the record names the form, and replays with it.
    assert record["options"]["wording"].startswith("file:tools")
    assert record["options"]["wording"] != expected.record["options"]["wording"]
    replay(registry.load(env), tools.record)
    if record["end"]:
        assert tools.act(reply="more") == "The episode is over."


def test_the_same_form_has_the_same_name() -> None:
    names = {environment_factory("maze/alicia")().reset() and _name("maze/alicia") for _ in range(2)}
    assert len(names) == 1
    assert _name("maze/alicia", wording="ascii") not in names


def _name(env: str, **settings: Any) -> str:
    tools = environment_factory(env, **settings)()
    tools.reset()
    return str(tools.record.options["wording"])


def test_one_tool_with_a_described_argument() -> None:
    tools = environment_factory("maze/alicia")
    public = [name for name, _ in inspect.getmembers(tools, inspect.isfunction) if not name.startswith("_")]
    assert public == ["act", "get_reward", "reset"]
    assert "reply:" in (inspect.getdoc(tools.act) or "")


def test_what_cannot_be_a_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="new prompt in each turn"):
        environment_factory("tilemap/gtb")
    with pytest.raises(UsageError, match="based on a wording"):
        environment_factory("maze/alicia", wording="file:/etc/passwd")


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
    call = '<tool_call>\n{"name": "act", "arguments": {"reply": "{\\"movements\\": []}"}}\n</tool_call>'

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
        assert [turn.reply for turn in record.turns] == ['{"movements": []}'] * 2
        assert str(record.end) == "turn_limit"

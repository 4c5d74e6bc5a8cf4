import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from scripts import ENVIRONMENTS, growing, script, told
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from waybench.core import EpisodeRecord, UsageError, replay
from waybench.envs import registry
from waybench.ext.train import Curriculum
from waybench.ext.train.trl import episode_reward, prompts, rollouts

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    """One token for each byte, and the marks of ChatML."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    raw.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|pad|>", clean_up_tokenization_spaces=False
    )
    made.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    made.chat_template = TEMPLATE
    return made


class Speaker:
    """In a trainer's place: says the replies of a script, turn by turn."""

    def __init__(self, tokenizer: Any, replies: list[list[str]], most: int = 10**6) -> None:
        self.processing_class = tokenizer
        self.args = SimpleNamespace(max_completion_length=most)
        self.accelerator = SimpleNamespace(num_processes=1)
        self.seen: list[list[int]] = []
        self._replies = [iter(each) for each in replies]
        self._of: dict[int, int] = {}

    def _generate_single_turn(self, ids: list[list[int]], images: None, fields: Any, n: int) -> Any:
        self.seen += ids
        assert (images, fields, n) == (None, {}, 1)
        said = []
        for number, _ in enumerate(ids):
            text = next(self._replies[number])
            said.append(
                [
                    *self.processing_class(text, add_special_tokens=False)["input_ids"],
                    self.processing_class.eos_token_id,
                ]
            )
        return said, None


@pytest.mark.parametrize("env", [env for env in ENVIRONMENTS if growing(env)])
def test_the_same_replies_have_the_same_rewards_and_record(env: str, tokenizer: Any) -> None:
    options = growing(env)
    expected = script(env, 2, options, hostile=False)
    replies = [reply for reply in expected.replies if "<|" not in reply]
    assert replies == expected.replies
    speaker = Speaker(tokenizer, [replies])
    rows = prompts(env, count=1, start=2, **options)
    played = rollouts(env, turns=len(replies), **options)([rows[0]["prompt"]], speaker)
    assert played["episode_reward"] == [pytest.approx(sum(expected.rewards))]
    assert told(played["record"][0]) == json.loads(json.dumps(expected.record))
    ids, mask = played["completion_ids"][0], played["env_mask"][0]
    assert len(ids) == len(mask)
    said = tokenizer.decode([one for one, own in zip(ids, mask, strict=True) if own], skip_special_tokens=False)
    assert said == "".join(f"{reply}<|im_end|>" for reply in replies)
    # Each prompt that the model was given is the environment's, as the template writes it.
    record = EpisodeRecord.from_json(played["record"][0])
    chat = [{"role": message.role, "content": message.text} for message in record.opening]
    for turn, seen in zip(record.turns, speaker.seen, strict=True):
        assert tokenizer.decode(seen) == tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        chat += [{"role": "assistant", "content": turn.reply}, {"role": "user", "content": turn.message}]


def test_most_environments_can_be_one_conversation() -> None:
    refused = {env for env in ENVIRONMENTS if not growing(env)}
    assert refused == {"textmap/extract"}
    for env in sorted(refused):
        with pytest.raises(UsageError, match="new prompt in each turn"):
            rollouts(env)
        with pytest.raises(UsageError, match="new prompt in each turn"):
            prompts(env, count=1)


def test_a_reply_without_an_end_is_cut_off_and_ends_the_episode(tokenizer: Any) -> None:
    rows = prompts("maze/alicia", count=1)
    played = rollouts("maze/alicia")([rows[0]["prompt"]], Speaker(tokenizer, [["x" * 300]], most=200))
    assert len(played["completion_ids"][0]) == 200 == sum(played["env_mask"][0])
    assert played["record"][0]["turns"][0]["outcome"] == "truncated"


def test_no_room_for_an_answer_ends_the_episode(tokenizer: Any) -> None:
    rows = prompts("maze/alicia", count=1)
    played = rollouts("maze/alicia")([rows[0]["prompt"]], Speaker(tokenizer, [["?"]], most=60))
    assert len(played["record"][0]["turns"]) == 1 and played["env_mask"][0] == [1, 1]


def test_a_prompt_of_nowhere_is_an_error(tokenizer: Any) -> None:
    with pytest.raises(UsageError, match=r"waybench\.ext\.train\.trl\.prompts"):
        rollouts("maze/alicia")([[{"role": "user", "content": "hello"}]], Speaker(tokenizer, [[]]))


def test_a_curriculum_chooses_the_level_of_all_rollouts_of_an_item_and_learns_from_them(tokenizer: Any) -> None:
    curriculum = Curriculum("search/guessnum", half_life=8, protocol="sound", split="train")
    rows = prompts(curriculum, count=2)
    play = rollouts(curriculum, turns=3)
    levels = []
    for _ in range(3):
        before, level = curriculum.rates(), curriculum.level()
        played = play([rows[0]["prompt"]] * 2 + [rows[1]["prompt"]] * 2, Speaker(tokenizer, [["?"] * 3] * 4))
        records = [EpisodeRecord.from_json(line) for line in played["record"]]
        assert [record.item["level"] for record in records] == [level] * 4
        assert len({record.item["id"] for record in records[:2]}) == 1 < len({record.item["id"] for record in records})
        after = curriculum.rates()
        assert all(after[level] < before[level] for level in curriculum.levels)
        levels.append(level)
    assert levels[-1] < levels[0]
    # The prompt that was played is the chosen level's, not that of the data set.
    text = tokenizer.decode(played["prompt_ids"][0])
    assert text == tokenizer.apply_chat_template(
        [{"role": message.role, "content": message.text} for message in records[0].opening],
        tokenize=False,
        add_generation_prompt=True,
    )
    several = Speaker(tokenizer, [["?"]])
    several.accelerator.num_processes = 2
    with pytest.raises(UsageError, match="one process"):
        play([rows[0]["prompt"]], several)
    with pytest.raises(UsageError, match="the curriculum has the settings"):
        rollouts(curriculum, protocol="sound")


def test_three_steps_of_grpo(tokenizer: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=4096,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    before = [one.detach().clone() for one in model.parameters()]
    settings: dict[str, Any] = {"env": "search/guessnum", "protocol": "sound"}
    seen: list[dict[str, Any]] = []
    play = rollouts(turns=3, **settings)

    def watched(given: list[Any], trainer: Any) -> dict[str, list[Any]]:
        played = play(given, trainer)
        seen.extend(played["record"])
        # A random model says nothing that can be read; so that there is something to learn, say that long replies are
        # good ones.
        played["episode_reward"] = [sum(mask) / 100 for mask in played["env_mask"]]
        return played

    trainer = GRPOTrainer(
        model=model,
        reward_funcs=episode_reward,
        args=GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=3,
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=96,
            learning_rate=1e-2,
            report_to=[],
            save_strategy="no",
            logging_steps=1,
            use_cpu=True,
            bf16=False,
            seed=1,
        ),
        train_dataset=prompts(count=8, **settings),
        rollout_func=watched,
        processing_class=tokenizer,
    )
    trainer.train()
    assert trainer.state.global_step == 3
    assert len(seen) == 12
    for line in seen:
        record = EpisodeRecord.from_json(line)
        assert record.player == "trl" and record.turns
        replay(registry.load(record.env), record)
    assert len({line["attempt"] for line in seen}) == 12
    assert any(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
    rewards = [
        entry["rewards/episode_reward/mean"]
        for entry in trainer.state.log_history
        if "rewards/episode_reward/mean" in entry
    ]
    assert len(rewards) == 3 and all(reward > 0 for reward in rewards)

"""Supervised fine-tuning on chats of the oracle, with TRL. By default it trains a small transformer from nothing.

    python train.py data/*.jsonl --out model --steps 1500
    python train.py data/*.jsonl --out model --base HuggingFaceTB/SmolLM2-135M-Instruct    # on a GPU

It needs the extra `trl` of waybench. The chats are those of `waybench generate --solutions`.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from datasets import Dataset
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

MARKS = {"user": "<|user|>", "assistant": "<|assistant|>", "system": "<|system|>"}
END, PAD = "<|end|>", "<|pad|>"
TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message.role + '|>' }}{% if message.role == 'assistant' %}"
    "{% generation %}{{ message.content + '<|end|>' }}{% endgeneration %}{% else %}{{ message.content }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def new_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer in which each cell and each digit is a token, and each sentence of the prompts one, too.

    The sentences, which are the same in all prompts, then cost next to nothing, and nothing is learned from them.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"[#.X\n\d]"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [*MARKS.values(), END, PAD]
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=3000,
            special_tokens=[AddedToken(each, special=True) for each in special],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, pad_token=PAD)
    wrapped.chat_template = TEMPLATE
    return wrapped


def new_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Return a transformer of about 1.5 million parameters without any training."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=6,
        num_attention_heads=4,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="Chats, as JSON lines.")
    parser.add_argument("--out", type=Path, required=True, help="Folder for the model.")
    parser.add_argument("--base", help="Model to start from; by default a new one.")
    parser.add_argument("--steps", type=int, default=1500, help="Steps of the optimiser.")
    parser.add_argument("--batch", type=int, default=32, help="Chats in a step.")
    parser.add_argument("--rate", type=float, default=1e-3, help="Learning rate; 1e-5 to 5e-5 for a trained base.")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    chats = [
        json.loads(line)["messages"] for path in args.data for line in path.read_text(encoding="utf-8").splitlines()
    ]
    if args.base:
        tokenizer = AutoTokenizer.from_pretrained(args.base)
        model = AutoModelForCausalLM.from_pretrained(args.base)
    else:
        tokenizer = new_tokenizer([message["content"] for chat in chats for message in chat])
        model = new_model(tokenizer)
    started, spent = time.monotonic(), time.process_time()
    trainer = SFTTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_dict({"messages": chats}),
        args=SFTConfig(
            output_dir=str(args.out),
            max_steps=args.steps,
            per_device_train_batch_size=args.batch,
            learning_rate=args.rate,
            lr_scheduler_type="cosine",
            warmup_steps=min(50, args.steps // 10),
            assistant_only_loss=True,
            max_length=2048,
            gradient_checkpointing=bool(args.base),
            logging_steps=50,
            save_strategy="no",
            report_to=[],
            seed=args.seed,
            use_cpu=not torch.cuda.is_available(),
            bf16=torch.cuda.is_available(),
        ),
    )
    trainer.train()
    trainer.save_model(str(args.out))
    tokenizer.save_pretrained(str(args.out))
    cost = {
        "parameters": sum(each.numel() for each in model.parameters()),
        "chats": len(chats),
        "steps": args.steps,
        "batch": args.batch,
        "seconds": round(time.monotonic() - started),
        "processor_seconds": round(time.process_time() - spent),
        "loss": [entry["loss"] for entry in trainer.state.log_history if "loss" in entry][-1:],
    }
    (args.out / "cost.json").write_text(json.dumps(cost) + "\n", encoding="utf-8")
    print(json.dumps(cost))


if __name__ == "__main__":
    main()

"""Plays sets of items with a fine-tuned model, one reply for each item, and writes the records as JSON lines.

    python evaluate.py model --name finetuned --out finetuned.jsonl

`waybench report` and `compare` read the records. The sets ask whether the model has learned the task or the items:

seen       mazes of the training data
rotated    the same mazes, rotated (isomorphic items)
unseen     mazes of the same size that are not in the training data
larger     mazes of dimension 9
wording    unseen mazes as a matrix, in place of a drawing
family     number guessing
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import waybench
from waybench.core import Episode, IsomorphicSource, Item
from waybench.ext.train import SplitSource

KEY, OTHER_KEY = "finetune", "finetune-test"
DRAWING = {"wording": "ascii", "requests": 1}


def items(name: str, count: int) -> tuple[Any, list[Item[Any]], dict[str, Any]]:
    """Return the environment, the items and the options of play of a set."""
    mazes = waybench.load("maze/alicia")
    seen = SplitSource(mazes.source(KEY, 7), "train")
    unseen = SplitSource(mazes.source(OTHER_KEY, 7), "test")
    sets = {
        "seen": (mazes, seen, DRAWING),
        "rotated": (mazes, IsomorphicSource(seen, mazes.items.isomorph, mazes.items.prove, 1), DRAWING),
        "unseen": (mazes, unseen, DRAWING),
        "larger": (mazes, SplitSource(mazes.source(OTHER_KEY, 9), "test"), DRAWING),
        "wording": (mazes, unseen, {"wording": "matrix", "requests": 1}),
        "family": (waybench.load("search/guessnum"), waybench.load("search/guessnum").source(OTHER_KEY, 4), {}),
    }
    environment, source, options = sets[name]
    different: dict[str, Item[Any]] = {}
    for index in range(4 * count):  # a level of few mazes repeats them
        item = source.item(index)
        different.setdefault(item.instance.hash, item)
        if len(different) == count:
            break
    return environment, list(different.values()), options


def replies(model: Any, tokenizer: Any, chats: list[Any], batch: int) -> Iterator[str]:
    """Yield the most probable reply to each chat."""
    for start in range(0, len(chats), batch):
        given = tokenizer.apply_chat_template(
            chats[start : start + batch],
            add_generation_prompt=True,
            padding=True,
            padding_side="left",
            return_tensors="pt",
            return_dict=True,
        ).to(model.device)
        with torch.inference_mode():
            made = model.generate(
                **{name: given[name] for name in ("input_ids", "attention_mask")},
                max_new_tokens=128,
                do_sample=False,
                pad_token_id=tokenizer.pad_token_id,
            )
        yield from tokenizer.batch_decode(made[:, given["input_ids"].shape[1] :], skip_special_tokens=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="Folder or name of the model.")
    parser.add_argument("--name", required=True, help="Name of the player in the records.")
    parser.add_argument("--out", type=Path, required=True, help="File for the records.")
    parser.add_argument("--count", type=int, default=100, help="Items of each set.")
    parser.add_argument("--batch", type=int, default=50, help="Items at a time.")
    parser.add_argument("--sets", nargs="*", default=["seen", "rotated", "unseen", "larger", "wording", "family"])
    args = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForCausalLM.from_pretrained(args.model).eval()
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    with args.out.open("w", encoding="utf-8") as file:
        for name in args.sets:
            environment, some, options = items(name, args.count)
            episodes = [Episode(environment, item, options, player=args.name) for item in some]
            while going := [each for each in episodes if not each.done]:
                chats = [[{"role": m.role, "content": m.text} for m in each.messages] for each in going]
                for each, reply in zip(going, replies(model, tokenizer, chats, args.batch), strict=True):
                    each.step(reply)
            solved = sum(each.end_reason == "solved" for each in episodes)
            print(f"{name}: {solved} of {len(episodes)} solved", flush=True)
            for each in episodes:
                file.write(json.dumps(each.record().to_json()) + "\n")


if __name__ == "__main__":
    main()

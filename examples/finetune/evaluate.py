"""Plays sets of items with a fine-tuned model, and writes the records as JSON lines.

    python evaluate.py model --env maze/alicia --level 7 -T wording=ascii -T requests=1 --out finetuned.jsonl

`transfer.py`, `waybench report` and `compare` read the records. The sets ask what the model has learned, the task or
the items:

seen        items of the training data (split `train` of the key)
isomorphs   the same items in another appearance, where the environment has one
unseen      items of the same level by another key (split `test`), which are not in the training data
harder      items of the next level
FAMILY/...  the easiest level of every other environment, by the other key
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import waybench
from waybench.core import Episode, IsomorphicSource, Item
from waybench.ext.train import SplitSource

OTHER_KEY = "finetune-test"
LONGEST_REPLY = 128  # tokens


def sources(args: argparse.Namespace) -> dict[str, tuple[Any, Any, Mapping[str, Any]]]:
    """Return the environment, the source and the options of play of each set, by name."""
    trained = waybench.load(args.env)
    options = dict(text.split("=", 1) for text in args.option)
    seen = SplitSource(trained.source(args.key, args.level), "train")
    sets = {"seen": (trained, seen, options)}
    if trained.items.isomorph is not None:
        sets["isomorphs"] = (trained, IsomorphicSource(seen, trained.items.isomorph, trained.items.prove, 1), options)
    sets["unseen"] = (trained, SplitSource(trained.source(OTHER_KEY, args.level), "test"), options)
    harder = next((level for level in trained.items.sample_levels if level > args.level), None)
    if harder is not None:
        sets["harder"] = (trained, SplitSource(trained.source(OTHER_KEY, harder), "test"), options)
    for entry in waybench.list_environments():
        if entry.id != args.env:
            environment = waybench.load(entry.id)
            sets[entry.id] = (environment, environment.source(OTHER_KEY, environment.items.sample_levels[0]), {})
    return sets


def different(source: Any, count: int) -> list[Item[Any]]:
    """Return so many different items of a source, or fewer where it repeats them."""
    items: dict[str, Item[Any]] = {}
    for index in range(min(4 * count, source.space or 4 * count)):
        item = source.item(index)
        items.setdefault(item.instance.hash, item)
        if len(items) == count:
            break
    return list(items.values())


def replies(model: Any, tokenizer: Any, chats: Sequence[Any], batch: int) -> Iterator[str]:
    """Yield the most probable reply to each chat; an empty one where the chat is longer than the model can read."""
    longest = model.config.max_position_embeddings - LONGEST_REPLY
    for start in range(0, len(chats), batch):
        prompts = tokenizer.apply_chat_template(list(chats[start : start + batch]), add_generation_prompt=True)
        prompts = prompts["input_ids"] if isinstance(prompts, Mapping) else prompts
        fitting = [number for number, prompt in enumerate(prompts) if len(prompt) <= longest]
        texts = [""] * len(prompts)
        if fitting:
            given = tokenizer.pad(
                {"input_ids": [prompts[number] for number in fitting]}, padding_side="left", return_tensors="pt"
            ).to(model.device)
            with torch.inference_mode():
                tokens = model.generate(
                    **{name: given[name] for name in ("input_ids", "attention_mask")},
                    max_new_tokens=LONGEST_REPLY,
                    do_sample=False,
                    pad_token_id=tokenizer.pad_token_id,
                )
            decoded = tokenizer.batch_decode(tokens[:, given["input_ids"].shape[1] :], skip_special_tokens=True)
            for number, text in zip(fitting, decoded, strict=True):
                texts[number] = text
        yield from texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="Folder or name of the model.")
    parser.add_argument("--env", required=True, help="Environment that it was trained on.")
    parser.add_argument("--level", type=int, required=True, help="Level that it was trained on.")
    parser.add_argument("--key", default="finetune", help="Key of the training data.")
    parser.add_argument("-T", dest="option", action="append", default=[], metavar="KEY=VALUE", help="Option of play.")
    parser.add_argument("--name", help="Name of the player in the records; by default that of the file.")
    parser.add_argument("--out", type=Path, required=True, help="File for the records.")
    parser.add_argument("--count", type=int, default=100, help="Items of each set of the environment.")
    parser.add_argument("--others", type=int, default=20, help="Items of each other environment.")
    parser.add_argument("--turns", type=int, default=20, help="Most replies of an episode; then it is not solved.")
    parser.add_argument("--batch", type=int, default=50, help="Items at a time.")
    parser.add_argument("--sets", nargs="*", help="Sets to play; by default all.")
    args = parser.parse_args()

    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForCausalLM.from_pretrained(args.model).eval()
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    records: list[dict[str, Any]] = []
    for name, (environment, source, options) in sources(args).items():
        if args.sets and name not in args.sets:
            continue
        items = different(source, args.others if "/" in name else args.count)
        episodes = [Episode(environment, item, options, player=args.name or args.out.stem) for item in items]
        for _ in range(args.turns):
            going = [episode for episode in episodes if not episode.done]
            chats = [[{"role": m.role, "content": m.text} for m in episode.messages] for episode in going]
            for episode, reply in zip(going, replies(model, tokenizer, chats, args.batch), strict=True):
                episode.step(reply)
        solved = sum(episode.end_reason == "solved" for episode in episodes)
        print(f"{name}: {solved} of {len(episodes)} solved", flush=True)
        records += [{**episode.record().to_json(), "task": name} for episode in episodes]
    args.out.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


if __name__ == "__main__":
    main()

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from datasets import get_dataset_config_names, load_dataset
from datasets.exceptions import NonMatchingSplitsSizesError
from test_trl import TEMPLATE, tokenizer

from waybench.ext.train import SPLITS

__all__ = ["tokenizer"]
PATIENCE = 300


def generate(*arguments: object) -> str:
    return waybench("generate", *arguments)


def waybench(*arguments: object) -> str:
    command = [sys.executable, "-m", "waybench", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ})
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_datasets_load_the_splits_and_no_item_is_in_two(form: str, tmp_path: Path, tokenizer: Any) -> None:
    files = {split: str(tmp_path / f"{split}.{form}") for split in SPLITS}
    for split, file in files.items():
        generate("alicia", "--level", 9, "--key", "k", "--count", 40, "--split", split, "--solutions", "--out", file)
    data = load_dataset("json" if form == "jsonl" else form, data_files=files, cache_dir=str(tmp_path / "cache"))
    hashes = {split: set(data[split]["hash"]) for split in SPLITS}
    assert all(len(found) == 40 for found in hashes.values())
    assert len(set.union(*hashes.values())) == 120
    assert all(set(data[split]["split"]) == {split} for split in SPLITS)
    row = data["train"][0]
    text = tokenizer.apply_chat_template(row["messages"], tokenize=False, chat_template=TEMPLATE)
    assert text.startswith("<|im_start|>user\n") and text.rstrip().endswith(
        row["messages"][-1]["content"] + "<|im_end|>"
    )


def test_both_forms_have_the_same_rows(tmp_path: Path) -> None:
    for form in ("jsonl", "parquet"):
        generate(
            *("dfs", "--level", 6, "--key", "k", "--count", 1200, "--solutions", "--reasoning", "field"),
            *("--out", tmp_path / f"x.{form}"),
        )
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    data = load_dataset("parquet", data_files=str(tmp_path / "x.parquet"), cache_dir=str(tmp_path / "cache"))["train"]

    def without_nulls(row: Any) -> Any:
        messages = [{name: value for name, value in one.items() if value is not None} for one in row["messages"]]
        return {**row, "messages": messages}

    assert len(lines) == 1200 > 1000  # more than are written at once
    assert [without_nulls(row) for row in data] == lines


def test_datasets_load_an_exported_folder_by_its_card(tmp_path: Path) -> None:
    folder, cache = tmp_path / "hub", str(tmp_path / "cache")
    waybench("export", "dfs", "alicia", "--format", "dataset", "-T", "limit=3", "--out", folder)
    assert get_dataset_config_names(str(folder)) == ["dfs", "alicia"]
    for name, count in (("dfs", 3), ("alicia", 3 * 49)):
        # Numbers of rows are compared with those of the card.
        data = load_dataset(str(folder), name, cache_dir=cache, verification_mode="all_checks")
        assert list(data) == ["test"] and data["test"].num_rows == count
        assert all(row["task"] == name and row["messages"][-1]["role"] == "user" for row in data["test"])
    card = folder / "README.md"
    card.write_text(card.read_text("utf-8").replace("num_examples: 3\n", "num_examples: 4\n"), "utf-8")
    with pytest.raises(NonMatchingSplitsSizesError):
        load_dataset(str(folder), "dfs", cache_dir=str(tmp_path / "other"), verification_mode="all_checks")

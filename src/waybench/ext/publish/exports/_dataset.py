"""A data set of the Hugging Face Hub: its card with the declaration of configs and splits, eval.yaml, and checksums."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from waybench._version import __version__
from waybench.core import Json, plural
from waybench.evaluation.tasks import TaskEntry
from waybench.ext.publish.exports._files import FileText, benchmark_file, yaml

# In every row and on the card: collectors of training texts can leave files with it out, and a model that can complete
# it has seen them.
CANARY = "waybench benchmark data must not appear in training corpora: 78f10b9c-82bb-4dff-a2ce-f5806f5ce5ee"
SPLIT = "test"
# The Hub's size categories: number of rows below which each applies.
_SIZES = (1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")
_LARGEST = "n>1M"
_SCORING = """import json, waybench

row = data[0]
if "instance" in row:
    instance = json.loads(row["instance"])
else:  # it is drawn again
    source = waybench.load(row["env"]).source(row["key"], row["level"], **json.loads(row["settings"]))
    item = source.item(row["index"])
    assert item.instance.hash == row["hash"]
    instance = item.instance.to_json()
replies = ["..."]  # yours, one a turn
stored = {"env": row["env"], "instance": instance, "options": json.loads(row["options"]), "replies": replies}
print(waybench.score(stored).metrics)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetConfig:
    """A config of the data set: the items of a task, in one split.

    Attributes:
        task: The task; the config has its name.
        parameters: The task's parameters that are not the default, as "name=value".
        environments: Id of each environment -> its version.
        levels: The levels of the items, each once.
        set_hash: SHA-256 of the items' ids and hashes (`waybench.core._items.item_set_hash`).
        n_bytes: Size of the rows in bytes, uncompressed.
    """

    task: TaskEntry
    parameters: Sequence[str]
    environments: Mapping[str, int]
    levels: Sequence[int]
    n_items: int
    set_hash: str
    n_bytes: int

    @property
    def path(self) -> str:
        """The path of its file in the folder of the data set."""
        return parquet_path(self.task)


def parquet_path(task: TaskEntry) -> str:
    """Return the path of a task's file in the folder of the data set."""
    return f"{task.name}/{SPLIT}-00000-of-00001.parquet"


def dataset_files(
    folder: Path, configs: Sequence[DatasetConfig], *, dataset: str, answers: bool, command: str
) -> Iterator[FileText]:
    """Yield README.md, eval.yaml and SHA256SUMS of a data set whose files of rows are in the folder already.

    `dataset` is its name on the Hub, "owner/name", or a text for the user to replace; `answers` says whether the rows
    have instances and answers; `command` is the command that writes the data set.
    """
    sizes = {config.path: (folder / config.path).stat().st_size for config in configs}
    files = [
        FileText("README.md", _card_text(configs, sizes, dataset=dataset, answers=answers, command=command)),
        benchmark_file((config.task.name for config in configs), split=SPLIT),
    ]
    yield from files
    digests = {path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in sizes}
    digests |= {file.path: hashlib.sha256(file.text.encode()).hexdigest() for file in files}
    yield FileText("SHA256SUMS", "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items())))


def _card_metadata(configs: Sequence[DatasetConfig], sizes: Mapping[str, int]) -> dict[str, Json]:
    """Return the metadata at the head of the data set's card."""
    total = sum(config.n_items for config in configs)
    return {
        "license": "mit",
        "language": ["en"],
        "pretty_name": "waybench",
        "task_categories": ["text-generation"],
        "tags": ["benchmark", "games", "navigation", "planning", "waybench"],
        "size_categories": [next((name for most, name in _SIZES if total < most), _LARGEST)],
        "configs": [
            {"config_name": config.task.name, "data_files": [{"split": SPLIT, "path": config.path}]}
            for config in configs
        ],
        "dataset_info": [
            {
                "config_name": config.task.name,
                "splits": [{"name": SPLIT, "num_bytes": config.n_bytes, "num_examples": config.n_items}],
                "download_size": sizes[config.path],
                "dataset_size": config.n_bytes,
            }
            for config in configs
        ],
    }


def _card_text(
    configs: Sequence[DatasetConfig], sizes: Mapping[str, int], *, dataset: str, answers: bool, command: str
) -> str:
    """Return the card of the data set; see `dataset_files`."""
    first_task = configs[0].task.name
    parameters = "".join(f" -T {text}" for text in configs[0].parameters)
    answer_columns = """| `instance`, `examples` | the item itself as JSON, and the items that the prompt shows solved |
| `proof` | what is known of the solution, as JSON, such as its least length |
| `answer` | the oracle's reply; of a task in turns all of its replies, as a JSON list. Other answers can be as good |
"""
    return f"""---
{yaml(_card_metadata(configs, sizes))}
---

# waybench: how well language models find their way

Frozen public sets of waybench {__version__}: {plural(len(configs), "task")}, \
{plural(sum(config.n_items for config in configs), "item")}. Each task is a config with the split `{SPLIT}`.

```python
from datasets import load_dataset

data = load_dataset("{dataset}", "{first_task}", split="{SPLIT}")
```

{"".join(_config_table_lines(configs))}
The set's hash is the SHA-256 of the lines `id hash` of its items; `sha256sum -c SHA256SUMS` checks the files. The same
version writes the same bytes again:

```sh
{command}
```

## Columns

| column | what it is |
|---|---|
| `id` | the item's id in the task, as in waybench's records |
| `messages` | the chat before the first reply |
| `env`, `version`, `task` | the environment with its version, and the task |
| `level`, `key`, `index`, `settings` | what the item is drawn again from; `settings` is JSON |
| `hash` | SHA-256 of the item |
| `options` | how it is played: protocol, wording and the like, as JSON |
| `canary` | the line below, in every row |
{answer_columns if answers else ""}
## How to score

No list of right answers scores these tasks: most items have many, and many tasks go on for several turns. waybench
plays the same items with any model, and scores the replies of your own program by simulation:

```sh
waybench run {first_task}{parameters} --model MODEL
```

```python
{_SCORING}```

## Contamination

{_ANSWERS_ARE_HERE if answers else _NO_ANSWERS}

Do not train on these items, and leave files with this line out of training corpora:

> {CANARY}

Train on items of another key (`waybench generate {first_task} --key mine --split train`), test on a private set
(`waybench commit --new --key-file FILE`), and compare with isomorphic items (`-T isomorph=1`), which look different and
are as hard.

## Licence

MIT, as waybench itself: it draws all of these items. Published data sets of other authors are not among them.
"""


_NO_ANSWERS = """Answers, and the items as data, are left out: a corpus that is collected from the Hub does not have
them. They are no secret, for everybody who installs waybench can make them."""
_ANSWERS_ARE_HERE = """The answers are in columns of their own: a model may know them if this file was among its
training data."""


def _config_table_lines(configs: Iterable[DatasetConfig]) -> Iterator[str]:
    """Yield the lines of the card's table of configs."""
    yield "| config | items | levels | environment, version | parameters | hash of the set |\n"
    yield "|---|---|---|---|---|---|\n"
    for config in configs:
        lowest_and_highest = sorted({min(config.levels), max(config.levels)})
        environments = ", ".join(f"`{name}` {version}" for name, version in config.environments.items())
        parameters = ", ".join(f"`{text}`" for text in config.parameters)
        levels = " to ".join(map(str, lowest_and_highest))
        cells = f"`{config.task.name}`", config.n_items, levels, environments, parameters, f"`{config.set_hash}`"
        yield f"| {' | '.join(map(str, cells))} |\n"

"""`waybench export --format dataset`: public sets of items as a data set of the Hugging Face Hub."""

import json
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._harbor import PUBLIC, TaskSetOptions
from waybench.cli._items import ItemChoice, prompt_lines
from waybench.cli._output import dumps
from waybench.cli._run_settings import read_assignments
from waybench.core import Item, Json, UsageError, make_writable_folder, play_to_end, plural, policy
from waybench.core._datasets import GENERATED
from waybench.core._items import item_set_hash
from waybench.evaluation.tasks import TaskEntry, TaskItem, find_task
from waybench.evaluation.tasks._items import chosen_datasets, items_of_all_levels

if TYPE_CHECKING:
    from waybench.ext.publish.exports._dataset import DatasetConfig

DATASET = "dataset"


def write_dataset(names: Sequence[str], out: Path, options: TaskSetOptions, *, dataset: str, answers: bool) -> None:
    """Write the public sets of some tasks as a data set of the Hub; each task is one of its configurations.

    The folder is new or empty, `dataset` is the name on the Hub for the card ("" if there is none yet), and with
    `answers` the instances, proofs and answers are written, too.

    Raises:
        UsageError: If a task searches, its items are not those of a public set, or the folder cannot be written.
    """
    from waybench.ext.publish.exports._dataset import dataset_files
    from waybench.ext.publish.exports._files import check_dataset_name, write_files

    if dataset:
        check_dataset_name(dataset)
    if options.key not in (None, PUBLIC):
        raise UsageError(f"--key: data sets hold public sets alone; leave it out, or give {PUBLIC}")
    if options.level is not None or options.count is not None:
        raise UsageError(
            "--level, --count: for harbor only; give a task's own parameters, as in -T level=7 -T limit=20"
        )
    tasks = {task.name: task for task in map(find_task, names)}
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out}: the folder is not empty; give a new one")
    args = read_assignments(options.parameters, "-T", "key=value")
    args_by_task = {name: _check_dataset_arguments(task, args) for name, task in tasks.items()}
    try:
        configs = [_write_config(tasks[name], args_by_task[name], out, answers=answers) for name in tasks]
    except BaseException:  # an incomplete set is of no use
        shutil.rmtree(out, ignore_errors=True)
        raise
    command = ["waybench", "export", *tasks, "--format", DATASET, "--out", out.name]
    command += [word for text in options.parameters for word in ("-T", text)]
    command += ["--dataset", dataset] if dataset else []
    command += ["--answers"] if answers else []
    files = dataset_files(out, configs, dataset=dataset or out.name, answers=answers, command=shlex.join(command))
    write_files(out, files)
    n_items = sum(config.n_items for config in configs)
    click.echo(
        f"export: {plural(n_items, 'item')} of {plural(len(configs), 'task')} in {out}, "
        f"with{'' if answers else 'out'} answers"
    )


def _check_dataset_arguments(task: TaskEntry, args: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a task's arguments, resolved; raise a UsageError if they are not those of a public set."""
    if task.searches:
        raise UsageError(f"{task.name} searches for a horizon: choose a task with a set of items")
    for name in ("key", "shard"):
        if args.get(name) is not None:
            raise UsageError(f"-T {name}: data sets hold whole public sets; leave it out")
    resolved = task.resolve(args)
    if any(dataset.name != GENERATED for dataset in chosen_datasets(task.parts, resolved)):
        raise UsageError(f"{task.name}: data sets hold public sets that waybench draws; leave -T source out")
    return resolved


def _write_config(task: TaskEntry, args: Mapping[str, Any], out: Path, *, answers: bool) -> "DatasetConfig":
    """Write the public set of one task as a Parquet file, and return its description."""
    from waybench.ext.publish.exports._dataset import DatasetConfig, parquet_path
    from waybench.ext.scale.shards._files import open_line_writer, uncompressed_size

    path = out / parquet_path(task)
    make_writable_folder(path.parent)
    items: list[Item[Any]] = []
    environments: dict[str, int] = {}
    with open_line_writer(path, "parquet") as write:
        for task_item in items_of_all_levels(task, args):
            write(_item_row_json(task, task_item, answers=answers))
            items.append(task_item.item)
            environments[task_item.environment.id] = task_item.environment.version
    defaults = {option.name: option.default for option in task.options}
    return DatasetConfig(
        task=task,
        parameters=[f"{name}={value}" for name, value in args.items() if value != defaults[name]],
        environments=environments,
        levels=sorted({item.level for item in items}),
        n_items=len(items),
        set_hash=item_set_hash(items),
        n_bytes=uncompressed_size(path),
    )


def _item_row_json(task: TaskEntry, task_item: TaskItem, *, answers: bool) -> str:
    """Return a row of the data set as JSON: an item's prompt and identity; with `answers` also how it is solved."""
    from waybench.ext.publish.exports._dataset import CANARY

    environment, item = task_item.environment, task_item.item
    if item.private:
        raise UsageError(f"{task.name}: its items are those of a private set, which is not exported")
    (line,) = prompt_lines(ItemChoice(task.name, environment, task_item.options, item, task_item.drawn))
    row: dict[str, Json] = json.loads(line)
    instance, examples = row.pop("instance"), row.pop("examples", [])
    row["canary"] = CANARY
    if answers:
        solution = play_to_end(environment, item, policy("oracle"), dict(task_item.options))
        replies = [turn.reply for turn in solution.turns if not turn.prefix]
        answer = replies[0] if len(replies) == 1 else dumps(replies)
        row |= {"instance": instance, "examples": examples, "proof": dict(item.proof), "answer": answer}
    return dumps(row)

"""`waybench generate`: instances as JSON lines, which sources or language models make."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._environments import EnvironmentName, refuse_local_environments
from waybench.cli._items import ItemChoice, ItemChoices, instance_line, line_writer
from waybench.cli._options import (
    ADDRESS,
    EXECUTOR,
    OUTPUT,
    GroupedCommand,
    ItemSettings,
    WholeNumber,
    argument,
    chosen_executor,
    option,
    same_option,
    with_parameters,
)
from waybench.cli._output import is_parquet, open_lines, open_parquet, to_stderr
from waybench.cli._run_settings import RUN_OPTIONS, read_assignments, read_model_arguments
from waybench.cli._shards import Request, default_shard_size, generate_shards
from waybench.core import Environment, Item, Json, UsageError, plural
from waybench.evaluation.tasks import TASKS, resolve_environment
from waybench.ext.author import AUTHORED
from waybench.ext.scale import is_url
from waybench.ext.scale._executors import executor_by_name
from waybench.ext.scale.shards._shards import FORMATS, ShardPlan
from waybench.ext.train import SPLITS

if TYPE_CHECKING:
    from waybench.core import WaybenchError
    from waybench.ext.author.authored_maps._authors import Authored, OpenAuthor


_MAX_RETRIES, _MAX_CONNECTIONS = 5, 4
_MOST_REPEATED = 100  # items in a row that were there before, after which a split counts as exhausted


@dataclass(frozen=True, slots=True)
class AuthorSettings:
    """The model that writes items and its settings: options that work as those of `waybench run`.

    They have no defaults, so that a setting that is given without a model is an error.
    """

    model: str | None = option("Model that writes the items (tile maps only), as provider/name.", "--model", "-m")
    model_base_url: str | None = same_option(RUN_OPTIONS["model_base_url"])
    model_args: tuple[str, ...] = same_option(RUN_OPTIONS["model_args"], default=())
    temperature: float | None = same_option(RUN_OPTIONS["temperature"])
    max_tokens: int | None = same_option(
        RUN_OPTIONS["max_tokens"], help="Maximum tokens of one reply.  [default: the provider's]"
    )
    max_retries: int | None = same_option(
        RUN_OPTIONS["max_retries"], help=f"Maximum retries of a request.  [default: {_MAX_RETRIES}]"
    )
    timeout: int | None = same_option(RUN_OPTIONS["timeout"])
    max_connections: int | None = same_option(
        RUN_OPTIONS["max_connections"], help=f"Maximum concurrent requests.  [default: {_MAX_CONNECTIONS}]"
    )

    def check_no_model(self) -> None:
        """Raise a UsageError if a setting of an author model is given without a model."""
        if self != AuthorSettings(model=self.model):
            raise UsageError("model settings need a model: add --model")

    def open_author(
        self, environment: Environment[Any, Any, Any], level: int | None, options: Iterable[str]
    ) -> "OpenAuthor":
        """Return the model, ready to write instances of a level, by default the smallest, with the options of -T."""
        from waybench.ext.author.authored_maps._authors import open_author

        settings = {
            "max_retries": _MAX_RETRIES if self.max_retries is None else self.max_retries,
            "max_connections": self.max_connections or _MAX_CONNECTIONS,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "attempt_timeout": self.timeout,
        }
        return open_author(
            environment.id,
            self.model or "",
            level=environment.items.smallest_level if level is None else level,
            options=read_assignments(options, "-T"),
            model_base_url=self.model_base_url,
            model_args=read_model_arguments(self.model_args),
            config={name: value for name, value in settings.items() if value is not None},
        )


def write_authored_items(
    author: "OpenAuthor",
    environment: Environment[Any, Any, Any],
    count: int,
    write: Callable[[Item[Any], Mapping[str, Json]], None],
) -> int:
    """Have a model write this many items; return how many failed, each a line on standard error."""
    n_failed = 0

    def write_result(number: int, result: "Authored | WaybenchError") -> None:
        """Write an item, or print why the model could not write it."""
        nonlocal n_failed
        if isinstance(result, Exception):
            n_failed += 1
            to_stderr(f"{number}: {' '.join(str(result).split())}")
        else:
            item = replace(environment.item(result.case.to_json()), index=number)
            write(item, {"model": str(author.model), "asked": result.requests})

    author.write_instances(count, write_result)
    return n_failed


_EXAMPLES = f"""\b
waybench generate {TASKS[0].name} --level 9 --count 100 --key mine
waybench generate {TASKS[0].name} --level 9 --count 100 --key mine --prompts --out prompts.jsonl
waybench generate {TASKS[0].name} --level 9 --count 100 --key other --solutions --out train.jsonl
waybench generate {TASKS[0].name} --level 9 --count 1e9 --out s3://bucket/items --executor ray --address auto
waybench generate {AUTHORED[0]} --model openai/gpt-4o --level 2 -T objectives=4 -T "theme=a city" --out maps.jsonl"""


_GROUPS = {
    "Items": ("count", "start", "level", "key", "key_file", "parameters", "split"),
    "Form": ("prompts", "solutions", "player", "reasoning"),
    "Where": ("out", "executor_name", "address", "shard_size", "shard", "file_format"),
    "Model that writes the items": (
        *("model", "model_base_url", "model_args", "temperature", "max_tokens", "max_connections", "max_retries"),
        "timeout",
    ),
}


@click.command(cls=GroupedCommand, groups=_GROUPS, epilog=_EXAMPLES)
@with_parameters
def generate(
    env: str = argument(type=EnvironmentName()),
    *,
    settings: ItemSettings,
    count: int = option("Number of items, such as 500 or 1e9.", "--count", "--limit", type=WholeNumber(), default="10"),
    start: int = option("Number of the first item.", type=click.IntRange(min=0), default=0),
    prompts: bool = option("Write prompts instead: the chat messages before the first reply."),
    solutions: bool = option("Write chats instead in which the oracle solves the items."),
    split: str | None = option(
        "Only items of this split; no item is in two of them, whatever the key.", type=click.Choice(list(SPLITS))
    ),
    player: str = option(
        "Who plays the chats of --solutions.", type=click.Choice(["oracle", "heuristic"]), default="oracle"
    ),
    reasoning: str = option(
        "The oracle's reasoning in --solutions: in the field reasoning_content, or before the reply as <think>.",
        type=click.Choice(["none", "field", "think"]),
        default="none",
    ),
    out: str | None = option(
        "File to write; with --solutions also FILE.parquet. With options of shards, or as a URL, the folder of the "
        "shards.  [default: standard output]",
        type=OUTPUT,
    ),
    executor_name: str | None = EXECUTOR,
    address: str = ADDRESS,
    shard_size: int | None = option("Items of a shard.  [default: 10000; 100000 from 1e7 items]", type=WholeNumber(1)),
    shard: int | None = option("Make only the shard of this number, from 0.", type=WholeNumber()),
    file_format: str | None = option(
        "Format of shards.  [default: jsonl]", "--format", type=click.Choice(list(FORMATS))
    ),
    author: AuthorSettings,
) -> None:
    """Print instances of ENV (an environment, its family or its task) as JSON lines, each with its proof.

    ENV can be an environment of yours, too: FILE.py, FILE.py:NAME or MODULE:NAME.

    If a level has fewer different items than --count, each is printed once, with a warning. With --split, items that
    come twice are replaced by those that follow.

    Add a list of "replies" to a line to score it with `waybench score`. `waybench list ENV` shows what -T takes.
    With parameters of a task, the items are those that `waybench run` plays with the same parameters.

    With --prompts, each line has the chat "messages" before the first reply, for your own program. It can be scored
    in the same way. With --solutions, each line has the "messages" of a whole chat in which the oracle solves the
    item, as fine-tuning tools take it, and which item it is; --split, --player and --reasoning say more. In
    environments that write a new prompt for each turn, each reply has a line with its own prompt. `-T protocol=sound`
    and `-T wording=...` choose the protocol and the wording.

    With --executor, --shard-size, --shard, --format, or a URL as --out, the items are written as shards, by as many
    processes or machines as there are: compressed JSON lines or Parquet, each named after its content, with a manifest.
    The same command makes what is missing and leaves what is finished; `waybench shards` verifies it.

    With --model, a language model writes the items, from a story to a map whose objectives can all be reached. Each
    takes about 5 to 25 requests. -T then takes objectives, attempts (at each of five steps) and theme.
    Items that fail are reported on standard error, and the exit status is 1.
    """
    if prompts and solutions:
        raise UsageError("--prompts and --solutions are different files: choose one")
    is_chat = prompts or solutions
    kind = "prompts" if prompts else "solutions" if solutions else "instances"
    executor = chosen_executor(executor_name, address)
    shard_options = (executor, shard_size, shard, file_format)
    in_shards = any(value is not None for value in shard_options) or is_url(out or "")
    if not solutions and (player != "oracle" or reasoning != "none"):
        raise UsageError("--player and --reasoning are for chats: add --solutions")
    if in_shards:
        refuse_local_environments([env], "shards")
        if author.model is not None:
            raise UsageError("shards and --executor do not work with --model: remove them")
        author.check_no_model()
        if out is None or out == "-":
            raise UsageError("shards are files: give their folder or its URL with --out")
        if out.endswith((".jsonl", ".jsonl.gz", ".json", ".parquet")):
            raise UsageError(
                f"--out {out}: shards are files of one folder: give a name without an ending; --format chooses"
            )
        plan = ShardPlan(start, count, shard_size or default_shard_size(count))
        request = Request(env, settings, kind, split, player, reasoning, file_format or "jsonl")
        _check_play_options(request.choices(), is_chat)
        generate_shards(request, out, plan, executor or executor_by_name("processes"), shard)
        return
    if is_parquet(out) and not solutions:
        raise UsageError(f"--out {out}: only --solutions are written as Parquet; choose a name that ends in .jsonl")
    if author.model is not None:
        if settings.key_reference is not None or start:
            raise UsageError("--key and --start have no effect on items that a model writes: remove them")
        if is_chat or settings.options:
            raise UsageError("--prompts, --solutions and options of play do not work with --model: remove them")
        environment = resolve_environment(env)
        writer = author.open_author(environment, settings.level, (*settings.settings, *settings.parameters))
        with open_lines(out) as write:
            n_failed = write_authored_items(
                writer, environment, count, lambda item, more: write(instance_line(environment, item, more))
            )
        sys.exit(1 if n_failed else 0)
    author.check_no_model()
    choices = ItemChoices(env, settings, None if is_chat else "paper", split)
    _check_play_options(choices, is_chat)
    file = open_parquet(out) if out is not None and is_parquet(out) else open_lines(out)
    with file as write:
        n_written = _write_items(choices, start, count, split, line_writer(kind, player, reasoning), write)
    if choices.space is not None and start + count > choices.space:
        reason = _too_few_items_text(choices, settings.level)
        to_stderr(f"Warning: {reason}: wrote {n_written:,} of {count:,}, each once")
    elif split is not None and n_written < count:
        reason = f"the split {split} repeats items, for the level has few different ones"
        to_stderr(f"Warning: {reason}: wrote {n_written:,} of {count:,}, each once")


def _write_items(
    choices: ItemChoices,
    start: int,
    count: int,
    split: str | None,
    lines_of_item: Callable[[ItemChoice], Iterable[str]],
    write: Callable[[str], None],
) -> int:
    """Write the lines of `count` items from an index on, or of fewer if items repeat; return the number of items."""
    is_exhausted = choices.space is not None and start + count > choices.space
    end = choices.space if is_exhausted and choices.is_list and choices.space is not None else start + count
    # A split of a large level repeats an item now and then: as many more are drawn. A small one soon only repeats.
    can_draw_more = split is not None and not is_exhausted
    # A level that holds fewer items than were asked for would repeat them: each is written once.
    skips_repeated = (is_exhausted or split is not None) and not choices.is_list
    written_hashes: set[str] = set()
    index, n_written, n_repeated_in_row = start, 0, 0
    while index < end or (can_draw_more and n_written < count and n_repeated_in_row < _MOST_REPEATED):
        choice = choices.choose(index)
        index += 1
        if skips_repeated and choice.item.instance.hash in written_hashes:
            n_repeated_in_row += 1
            continue
        n_repeated_in_row = 0
        written_hashes.add(choice.item.instance.hash)
        n_written += 1
        for line in lines_of_item(choice):
            write(line)
    return n_written


def _too_few_items_text(choices: ItemChoices, level: int | None) -> str:
    """Return how many different items there are, for the warning that there are fewer than --count."""
    assert choices.space is not None
    if choices.is_list:
        return f"these parameters of {choices.task.name} give only {plural(choices.space, 'item')}"
    smallest = choices.choose(0).environment.items.smallest_level
    return f"level {smallest if level is None else level} has only {plural(choices.space, 'different item')}"


def _check_play_options(choices: ItemChoices, is_chat: bool) -> None:
    """Raise a UsageError for options of play if only instances are written."""
    if choices.play_options and not is_chat:
        raise UsageError(
            f"{', '.join(choices.play_options)}: only for how items are played; add --prompts or --solutions, or "
            "leave it out"
        )

"""`waybench generate`: instances as JSON lines."""

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import click

from waybench.cli._author import author_parameters, check_no_model, opened, write_authored
from waybench.cli._chats import prompt_lines, solution_lines
from waybench.cli._items import ItemChoice, ItemChoices
from waybench.cli._output import dumps, lines
from waybench.cli._params import OUTPUT, item_parameters, play_parameters
from waybench.cli._rows import is_parquet, parquet
from waybench.contrib import AUTHORED
from waybench.core import NOTHING, Environment, Item, Json, UsageError, plural
from waybench.rl import SPLITS
from waybench.tasks import TASKS, resolve_environment

_EXAMPLES = f"""\b
waybench generate {TASKS[0].name} --level 9 --count 100 --key mine
waybench generate {TASKS[0].name} --level 9 --count 100 --key mine --prompts --out prompts.jsonl
waybench generate {TASKS[0].name} --level 9 --count 100 --key other --solutions --out train.jsonl
waybench generate {AUTHORED[0]} --model openai/gpt-4o --level 2 -T objectives=4 -T "theme=a city" --out maps.jsonl"""


@click.command(epilog=_EXAMPLES)
@click.argument("env")
@item_parameters
@play_parameters
@click.option("--count", type=click.IntRange(min=0), default=10, show_default=True, help="Number of items.")
@click.option("--start", type=click.IntRange(min=0), default=0, show_default=True, help="Number of the first item.")
@click.option("--prompts", is_flag=True, help="Write prompts instead: the chat messages before the first reply.")
@click.option("--solutions", is_flag=True, help="Write chats instead in which the oracle solves the items.")
@click.option(
    "--split",
    type=click.Choice(list(SPLITS)),
    help="Only items of this split; no item is in two of them, whatever the key.",
)
@click.option(
    "--player",
    type=click.Choice(["oracle", "heuristic"]),
    default="oracle",
    show_default=True,
    help="Who plays the chats of --solutions.",
)
@click.option(
    "--reasoning",
    type=click.Choice(["none", "field", "think"]),
    default="none",
    show_default=True,
    help="The oracle's reasoning in --solutions: in the field reasoning_content, or before the reply as <think>.",
)
@click.option(
    "--out", type=OUTPUT, help="File to write; with --solutions also FILE.parquet.  [default: standard output]"
)
@author_parameters
def generate(
    env: str,
    key: str | None,
    level: int | None,
    settings: tuple[str, ...],
    options: tuple[str, ...],
    parameters: tuple[str, ...],
    count: int,
    start: int,
    prompts: bool,
    solutions: bool,
    split: str | None,
    player: str,
    reasoning: str,
    out: str | None,
    model: str | None,
    **of_model: Any,
) -> None:
    """Print instances of ENV (an environment, its family or its task) as JSON lines, each with its proof.

    If a level has fewer different items than --count, each is printed once, with a warning.

    Add a list of "replies" to a line to score it with `waybench score`. `waybench list ENV` shows what -T takes.
    With parameters of a task, the items are those that `waybench run` plays with the same parameters.

    With --prompts, each line has the chat "messages" before the first reply, for your own program. It can be scored
    in the same way. With --solutions, each line has the "messages" of a whole chat in which the oracle solves the
    item, as fine-tuning tools take it, and which item it is; --split, --player and --reasoning say more. In
    environments that write a new prompt for each turn, each reply has a line with its own prompt. `-T protocol=sound`
    and `-T wording=...` choose the protocol and the wording.

    With --model, a language model writes the items, from a story to a map whose objectives can all be reached. Each
    takes about 5 to 25 requests. -T then takes objectives, attempts (at each of five steps) and theme.
    Items that fail are reported on standard error, and the exit status is 1.
    """
    if prompts and solutions:
        raise UsageError("--prompts and --solutions are different files: choose one")
    chats = prompts or solutions
    if not solutions and (player != "oracle" or reasoning != "none"):
        raise UsageError("--player and --reasoning are for chats: add --solutions")
    if is_parquet(out) and not solutions:
        raise UsageError(f"--out {out}: only --solutions are written as Parquet; choose a name that ends in .jsonl")
    if model is not None:
        if key is not None or start:
            raise UsageError("--key and --start have no effect on items that a model writes: remove them")
        if chats or options:
            raise UsageError("--prompts, --solutions and options of play do not work with --model: remove them")
        environment = resolve_environment(env)
        author = opened(environment, model, level, (*settings, *parameters), **of_model)
        with lines(out) as write:
            failed = write_authored(
                author, environment, count, lambda item, more: write(_line(environment, item, more))
            )
        sys.exit(1 if failed else 0)
    check_no_model(of_model)
    choices = ItemChoices(env, key, level, settings, options, parameters, None if chats else "paper", split)
    if choices.play_options and not chats:
        raise UsageError(
            f"{', '.join(choices.play_options)}: only for how items are played; add --prompts or --solutions, or "
            "leave it out"
        )
    solved = partial(solution_lines, player=player, reasoning=reasoning)
    write_lines = prompt_lines if prompts else solved if solutions else _instance_lines
    exhausted = choices.space is not None and start + count > choices.space
    written: set[str] = set()
    end = choices.space if exhausted and choices.is_list and choices.space is not None else start + count
    file = parquet(out) if out is not None and is_parquet(out) else lines(out)
    with file as write:
        for index in range(start, end):
            choice = choices.choose(index)
            # A level that holds fewer items than were asked for would repeat them: each is written once.
            if (exhausted or split is not None) and not choices.is_list and choice.item.instance.hash in written:
                continue
            written.add(f"{index}" if choices.is_list else choice.item.instance.hash)
            for line in write_lines(choice):
                write(line)
    if exhausted and choices.space is not None:
        click.echo(f"Warning: {_too_few(choices, level)}: wrote {len(written):,} of {count:,}, each once", err=True)
    elif split is not None and len(written) < count:
        few = f"the split {split} repeats items, for the level has few different ones"
        click.echo(f"Warning: {few}: wrote {len(written):,} of {count:,}, each once", err=True)


def _too_few(choices: ItemChoices, level: int | None) -> str:
    assert choices.space is not None
    if choices.is_list:
        return f"these parameters of {choices.task.name} give only {plural(choices.space, 'item')}"
    smallest = choices.choose(0).environment.smallest_level
    return f"level {smallest if level is None else level} has only {plural(choices.space, 'different item')}"


def _instance_lines(choice: ItemChoice) -> Iterator[str]:
    yield _line(choice.environment, choice.item)


def _line(environment: Environment[Any, Any, Any], item: Item[Any], more: Mapping[str, Json] = NOTHING) -> str:
    return dumps(
        {
            "env": environment.id,
            "version": environment.version,
            "id": item.id,
            "level": item.level,
            "key": item.key_label,
            "index": item.index,
            "instance": item.instance.to_json(),
            "hash": item.instance.hash,
            "proof": dict(item.proof),
            **more,
        }
    )

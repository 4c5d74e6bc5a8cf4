"""`waybench generate`: instances as JSON lines."""

import sys
from collections.abc import Mapping
from typing import Any

import click

from waybench.cli._author import author_parameters, check_no_model, opened, write_authored
from waybench.cli._choice import source_of
from waybench.cli._output import dumps, lines
from waybench.cli._params import OUTPUT, item_parameters
from waybench.contrib import AUTHORED
from waybench.core import NOTHING, Environment, Item, Json, UsageError, plural
from waybench.tasks import TASKS, resolve_environment

_EXAMPLES = f"""\b
waybench generate {TASKS[0].name} --level 9 --count 100 --key mine
waybench generate {AUTHORED[0]} --model openai/gpt-4o --level 2 -S objectives=4 -S "theme=a city" --out maps.jsonl"""


@click.command(epilog=_EXAMPLES)
@click.argument("env")
@item_parameters
@click.option("--count", type=click.IntRange(min=0), default=10, show_default=True, help="Number of items.")
@click.option("--start", type=click.IntRange(min=0), default=0, show_default=True, help="Number of the first item.")
@click.option("--out", type=OUTPUT, help="File to write.  [default: standard output]")
@author_parameters
def generate(
    env: str,
    key: str | None,
    level: int | None,
    settings: tuple[str, ...],
    count: int,
    start: int,
    out: str | None,
    model: str | None,
    **of_model: Any,
) -> None:
    """Print instances of ENV (an environment, its family or its task) as JSON lines, each with its proof.

    If a level has fewer different items than --count, each is printed once, with a warning.

    Add a list of "replies" to a line to score it with `waybench score`. `waybench list ENV` shows the options
    for -S.

    With --model, a language model writes the items, from a story to a map whose objectives can all be reached. Each
    takes about 5 to 25 requests. The options for -S are then objectives, attempts (at each of five steps) and theme.
    Items that fail are reported on standard error, and the exit status is 1.
    """
    environment = resolve_environment(env)
    if model is not None:
        if key is not None or start:
            raise UsageError("--key and --start have no effect on items that a model writes: remove them")
        author = opened(environment, model, level, settings, **of_model)
        with lines(out) as write:
            failed = write_authored(
                author, environment, count, lambda item, more: write(_line(environment, item, more))
            )
        sys.exit(1 if failed else 0)
    check_no_model(of_model)
    source = source_of(environment, key, level, settings)
    exhausted = source.space is not None and start + count > source.space
    written: set[str] = set()
    with lines(out) as write:
        for index in range(start, start + count):
            item = source.item(index)
            # A level that holds fewer items than were asked for would repeat them: each is written once.
            if exhausted and item.instance.hash in written:
                continue
            written.add(item.instance.hash)
            write(_line(environment, item))
    if exhausted and source.space is not None:
        what = f"level {environment.smallest_level if level is None else level}"
        different = plural(source.space, "different item")
        click.echo(f"Warning: {what} has only {different}: wrote {len(written):,} of {count:,}, each once", err=True)


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

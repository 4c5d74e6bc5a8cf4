"""Parameters that several commands share."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

from waybench.cli._keys import one_key

F = TypeVar("F", bound=Callable[..., Any])

OUTPUT = click.Path(allow_dash=True, readable=False)  # opening it says more than click's own checks


def item_parameters(command: F) -> F:
    """Add the parameters that name a source of items: key, level and the source's options.

    The command receives one `key`, whichever option has given it.
    """
    inner: Any = command

    @functools.wraps(inner)
    def with_key(*args: Any, key: str | None, key_file: str | None, **others: Any) -> Any:
        return inner(*args, key=one_key(key, key_file), **others)

    command = cast(F, with_key)
    for add in (
        click.option("-S", "settings", multiple=True, hidden=True),  # what -T says now
        click.option("--level", type=int, help="Level of difficulty.  [default: the smallest]"),
        click.option("--key-file", metavar="FILE", help="File with the key of a private set: --key file:FILE."),
        click.option("--key", help="Key of the item set: a text, env:NAME or file:PATH.  [default: the public set]"),
    ):
        command = add(command)
    return command


def play_parameters(command: F) -> F:
    """Add the options that say how items are played and, beyond `item_parameters`, which ones a task chooses."""
    for add in (
        click.option(
            "-T",
            "parameters",
            multiple=True,
            metavar="KEY=VALUE",
            help="Option of ENV or parameter of the task, as for `waybench run`; repeatable.",
        ),
        click.option("-O", "options", multiple=True, hidden=True),  # what -T says now
    ):
        command = add(command)
    return command

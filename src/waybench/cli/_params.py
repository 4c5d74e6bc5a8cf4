"""Parameters that several commands share."""

import functools
from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any, TypeVar, cast

import click

from waybench.cli._keys import one_key

F = TypeVar("F", bound=Callable[..., Any])

_MOST = 10**18  # a number of items; also keeps 1e999999999 from being written out

THINK_TAGS_FLAG = click.option(
    "--think-tags",
    nargs=2,
    metavar="OPEN CLOSE",
    help='Marks around the reasoning of a model whose own marks waybench does not know, such as "<plan>" "</plan>"; '
    "what is between them is never read as the answer.",
)
OUTPUT = click.Path(allow_dash=True, readable=False)  # opening it says more than click's own checks


class WholeNumber(click.ParamType[int]):
    """A whole number, also as 1e9 or 1_000_000.

    Args:
        least: The smallest that is allowed.
    """

    name = "number"

    def __init__(self, least: int = 0) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a number."""
        try:
            # Not by way of a float, which has no whole numbers beyond 2^53; the size of the exponent is bounded.
            exact = value if isinstance(value, int) else Decimal(str(value).strip()[:40])
            if not -1 <= exact <= _MOST:
                raise ValueError
            number = int(exact)
            if number != exact:
                raise ValueError
        except (ArithmeticError, ValueError):
            self.fail(f"{str(value)[:80]!r} is not a whole number such as 500 or 1e9", param, ctx)
        if number < self._least:
            self.fail(f"{number} is too small: give {self._least} or more", param, ctx)
        return number


class FiniteRange(click.FloatRange):
    """A number within bounds; `click.FloatRange` takes NaN, which no comparison excludes, and infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{number} is not a number such as 0.5", param, ctx)
        return number


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

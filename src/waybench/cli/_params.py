"""Parameters that several commands share."""

from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

import click

from waybench.cli._keys import one_key
from waybench.cli._options import option

_MOST = 10**18  # a number of items; also keeps 1e999999999 from being written out

THINK_TAGS_OPTION = option(
    'Marks around the reasoning of a model whose own marks waybench does not know, such as "<plan>" "</plan>"; '
    "what is between them is never read as the answer.",
    nargs=2,
    metavar="OPEN CLOSE",
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


@dataclass(frozen=True, slots=True)
class ItemSettings:
    """Which items of an environment or a task a command takes, as its options say.

    Attributes:
        key: The set's key, or where it is.
        key_file: The file with the key.
        level: The level.
        settings: Texts of -S, which -T says now.
        options: Texts of -O, which -T says now.
        parameters: Texts of -T: of an environment, its options; otherwise the task's parameters, which choose the items
            as in `waybench run`. Without the latter, the items are those of the environment's source.
    """

    key: str | None = option("Key of the item set: a text, env:NAME or file:PATH.  [default: the public set]")
    key_file: str | None = option("File with the key of a private set: --key file:FILE.", metavar="FILE")
    level: int | None = option("Level of difficulty.  [default: the smallest]")
    settings: tuple[str, ...] = option("What -T says now.", "-S", hidden=True, default=())
    options: tuple[str, ...] = option("What -T says now.", "-O", hidden=True, default=())
    parameters: tuple[str, ...] = option(
        "Option of ENV or parameter of the task, as for `waybench run`; repeatable.",
        "-T",
        metavar="KEY=VALUE",
        default=(),
    )

    @property
    def key_reference(self) -> str | None:
        """The key that --key or --key-file gives, as a text or as a reference (`one_key`)."""
        return one_key(self.key, self.key_file)

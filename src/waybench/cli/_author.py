"""`waybench generate --model`: instances that a language model writes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from waybench.cli._options import like, option
from waybench.cli._parameters import assignments, model_arguments
from waybench.cli._run_settings import RUN_OPTIONS
from waybench.core import Environment, Item, Json, UsageError

if TYPE_CHECKING:
    from waybench.core import WaybenchError
    from waybench.ext.author.authored_maps import Authored, OpenAuthor

_RETRIES, _AT_ONCE = 5, 4


@dataclass(frozen=True, slots=True)
class AuthorSettings:
    """The model that writes items and its settings: options that work as those of `waybench run`.

    They have no defaults, so that a setting that is given without a model is an error.
    """

    model: str | None = option("Model that writes the items (tile maps only), as provider/name.", "--model", "-m")
    model_base_url: str | None = like(RUN_OPTIONS["model_base_url"])
    model_args: tuple[str, ...] = like(RUN_OPTIONS["model_args"], default=())
    temperature: float | None = like(RUN_OPTIONS["temperature"])
    max_tokens: int | None = like(
        RUN_OPTIONS["max_tokens"], help="Maximum tokens of one reply.  [default: the provider's]"
    )
    max_retries: int | None = like(
        RUN_OPTIONS["max_retries"], help=f"Maximum retries of a request.  [default: {_RETRIES}]"
    )
    timeout: int | None = like(RUN_OPTIONS["timeout"])
    max_connections: int | None = like(
        RUN_OPTIONS["max_connections"], help=f"Maximum concurrent requests.  [default: {_AT_ONCE}]"
    )

    def check_no_model(self) -> None:
        """Check that no setting of a model was given.

        Raises:
            UsageError: If one was.
        """
        if self != AuthorSettings(model=self.model):
            raise UsageError("model settings need a model: add --model")

    def open(self, environment: Environment[Any, Any, Any], level: int | None, options: Iterable[str]) -> "OpenAuthor":
        """Return the model, ready to write instances.

        Args:
            environment: Whose instances.
            level: Their level; the smallest if None.
            options: Texts of -T, the options of the model's items.

        Raises:
            UsageError: If no model writes instances of this environment, for a wrong level, option or setting, or if
                the model cannot be had.
        """
        from waybench.ext.author.authored_maps import open_author  # seconds to import

        settings = {
            "max_retries": _RETRIES if self.max_retries is None else self.max_retries,
            "max_connections": self.max_connections or _AT_ONCE,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "attempt_timeout": self.timeout,
        }
        return open_author(
            environment.id,
            self.model or "",
            level=environment.items.smallest_level if level is None else level,
            options=assignments(options, "-T"),
            model_base_url=self.model_base_url,
            model_args=model_arguments(self.model_args),
            config={name: value for name, value in settings.items() if value is not None},
        )


def write_authored(
    author: "OpenAuthor",
    environment: Environment[Any, Any, Any],
    count: int,
    write: Callable[[Item[Any], Mapping[str, Json]], None],
) -> int:
    """Have a model write instances; one that cannot be had is a line on standard error.

    Args:
        author: The model.
        environment: Whose instances.
        count: How many.
        write: Gets each as an item, with what else its line says.

    Returns:
        How many could not be had.
    """
    failed = 0

    def on_result(number: int, result: "Authored | WaybenchError") -> None:
        nonlocal failed
        if isinstance(result, Exception):
            failed += 1
            click.echo(f"{number}: {' '.join(str(result).split())}", err=True)
        else:
            item = replace(environment.item(result.case.to_json()), index=number)
            write(item, {"model": str(author.model), "asked": result.requests})

    author.write(count, on_result)
    return failed

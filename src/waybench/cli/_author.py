"""`waybench generate --model`: instances that a language model writes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from waybench.cli._choice import assignments
from waybench.cli._params import FiniteRange
from waybench.core import Environment, Item, Json, UsageError

if TYPE_CHECKING:
    from waybench.contrib.authored_maps import Authored, OpenAuthor
    from waybench.core import WaybenchError

F = TypeVar("F", bound=Callable[..., Any])

_POSITIVE = click.IntRange(min=1)
_RETRIES, _AT_ONCE = 5, 4
# Without defaults, so that a setting that is given without a model is an error.
_PARAMETERS = (
    click.option("--model", "-m", help="Model that writes the items (tile maps only), as provider/name."),
    click.option("--model-base-url", metavar="URL", help="Base URL of the model's server.  [default: the provider's]"),
    click.option(
        "-M", "model_args", multiple=True, metavar="KEY=VALUE", help="Argument for the model provider; repeatable."
    ),
    click.option("--temperature", type=FiniteRange(min=0), help="Sampling temperature.  [default: the provider's]"),
    click.option("--max-tokens", type=_POSITIVE, help="Maximum tokens of one reply.  [default: the provider's]"),
    click.option(
        "--max-retries", type=click.IntRange(min=0), help=f"Maximum retries of a request.  [default: {_RETRIES}]"
    ),
    click.option("--timeout", type=_POSITIVE, help="Timeout of one request attempt, in seconds.  [default: none]"),
    click.option("--max-connections", type=_POSITIVE, help=f"Maximum concurrent requests.  [default: {_AT_ONCE}]"),
)


def author_parameters(command: F) -> F:
    """Add the parameters that name a model and its settings."""
    for add in reversed(_PARAMETERS):
        command = add(command)
    return command


def check_no_model(given: Mapping[str, Any]) -> None:
    """Check that no setting of a model was given.

    Raises:
        UsageError: If one was.
    """
    if any(value is not None and value != () for value in given.values()):
        raise UsageError("model settings need a model: add --model")


def opened(
    environment: Environment[Any, Any, Any],
    model: str,
    level: int | None,
    settings: Iterable[str],
    *,
    model_base_url: str | None,
    model_args: Iterable[str],
    timeout: int | None,
    **config: Any,
) -> "OpenAuthor":
    """Return a model that is ready to write instances.

    Args:
        environment: Whose instances.
        model: The model's name.
        level: Their level; the smallest if None.
        settings: Texts of -T, the options of the model's items.
        model_base_url: Address of the model's server.
        model_args: Values of -M.
        timeout: Seconds for one try of a request.
        **config: The engine's generation settings; None for those that were not given.

    Raises:
        UsageError: If no model writes instances of this environment, for a wrong level, option or setting, or if the
            model cannot be had.
    """
    from waybench.cli._parameters import model_arguments
    from waybench.contrib.authored_maps import open_author  # seconds to import

    given = {name: value for name, value in config.items() if value is not None}
    defaults = {"max_retries": _RETRIES, "max_connections": _AT_ONCE}
    return open_author(
        environment.id,
        model,
        level=environment.items.smallest_level if level is None else level,
        options=assignments(settings, "-T"),
        model_base_url=model_base_url,
        model_args=model_arguments(model_args),
        config={**defaults, **given, **({"attempt_timeout": timeout} if timeout else {})},
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

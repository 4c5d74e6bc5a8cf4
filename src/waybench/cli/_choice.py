"""What the commands' arguments name: options, sources of items."""

from collections.abc import Iterable
from typing import Any

from waybench.core import Environment, Json, Source, UsageError, read_key, resolve


def assignments(texts: Iterable[str], flag: str, form: str = "option=value") -> dict[str, Json]:
    """Read texts of the form option=value; the options themselves make the values' types.

    Args:
        texts: What the user gave, in order; the last value of an option counts.
        flag: The command's option that takes them, for the error.
        form: The form, in the words of the command's help.

    Raises:
        UsageError: If a text has another form, or bytes that are no UTF-8.
    """
    given: dict[str, Json] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {text[:80]!r}: write it as {form}")
        try:
            text.encode()
        except UnicodeEncodeError:  # how a command line gives the bytes that it could not read as text
            raise UsageError(f"{flag} {text[:80]!a}: this is not valid UTF-8") from None
        given[name] = value
    return given


def source_of(
    environment: Environment[Any, Any, Any],
    key: str | None,
    level: int | None,
    settings: Iterable[str],
    protocol: str = "paper",
) -> Source[Any]:
    """Return the source of items that a command's -S options, key and level name.

    Args:
        environment: Whose items.
        key: The set's key, or where it is (`read_key`); the public set if None.
        level: The level; the smallest if None.
        settings: Texts of the form option=value.
        protocol: The protocol in which the items are to be played.

    Raises:
        UsageError: For a level that does not exist, a wrong option, or a key that cannot be read.
    """
    key = environment.items.public_key if key is None else read_key(key)
    source = environment.items.make_source(
        key,
        environment.items.smallest_level if level is None else level,
        environment.items.options_for(
            protocol, resolve(environment.items.options, assignments(settings, "-S"), "source option")
        ),
    )
    return environment.items.marked(source, key)

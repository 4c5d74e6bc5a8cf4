"""What the commands' arguments name: options, sources of items."""

from collections.abc import Iterable
from typing import Any

from waybench.cli._params import ItemSettings
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


def source_of(environment: Environment[Any, Any, Any], settings: ItemSettings, protocol: str) -> Source[Any]:
    """Return the source of items that a command's -S options, key and level name.

    Args:
        environment: Whose items.
        settings: The key, the level and the options of the source.
        protocol: The protocol in which the items are to be played.

    Raises:
        UsageError: For a level that does not exist, a wrong option, or a key that cannot be read.
    """
    reference = settings.key_reference
    key = environment.public_key if reference is None else read_key(reference)
    source = environment.make_source(
        key,
        environment.smallest_level if settings.level is None else settings.level,
        environment.items_for(
            protocol, resolve(environment.source_options, assignments(settings.settings, "-S"), "source option")
        ),
    )
    return environment.marked(source, key)

"""What the tasks that read cases from a file share."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from waybench.core import Environment, UsageError


def file_key(path: Path, what: str) -> str:
    """Return the name of the set that a file holds: the file's, and the beginning of its SHA-256.

    Args:
        path: The file, as the user named it for the parameter `source`.
        what: What it should hold, in the plural.

    Raises:
        UsageError: If it cannot be read.
    """
    try:
        return f"{path.name}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
    except OSError as error:
        raise UsageError(
            f"source={str(path)[:80]!r}: cannot be read ({error.strerror}); give generated, published or a file of "
            f"{what}"
        ) from None


def refuse_for_file(
    given: Mapping[str, Any], environment: Environment[Any, Any, Any], what: str, names: Iterable[str]
) -> None:
    """Refuse parameters that say how cases are generated, where a file has its own.

    Args:
        given: The parameters.
        environment: What is played; its source options are such parameters.
        what: What the file holds, in the plural.
        names: Others that are, with None or 1 as the value of those that are not given.

    Raises:
        UsageError: If one is given.
    """
    drawn = [
        option.name for option in environment.source_options if given.get(option.name, option.default) != option.default
    ]
    wrong = [name for name in names if given.get(name) not in (None, 1)] + drawn
    if wrong:
        raise UsageError(f"{', '.join(wrong)}: for generated {what} only; leave it out, or leave source out")


def refuse_for_generated(given: Mapping[str, Any]) -> None:
    """Refuse parameters that say where a file is, where cases are generated.

    Raises:
        UsageError: If one is given.
    """
    if given["data_dir"] is not None:
        raise UsageError("data_dir: for published cases only; add source=published, or leave it out")

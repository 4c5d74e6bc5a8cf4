"""Files that an export consists of."""

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from waybench.core import Json, UsageError, prepare_folder


class FileText(NamedTuple):
    """A file of an export.

    Attributes:
        path: Its path within the export, with slashes.
        text: Its content.
    """

    path: str
    text: str


def write_files(folder: Path, files: Iterable[FileText]) -> list[Path]:
    """Write files below a folder and return their paths.

    Raises:
        UsageError: If the folder cannot be written, or a path would leave it.
    """
    prepare_folder(folder)
    written: list[Path] = []
    for one in files:
        parts = PurePosixPath(one.path).parts
        if not parts or ".." in parts or one.path.startswith("/"):
            raise UsageError(f"cannot write {one.path[:120]!r}: the path leaves the folder of the export")
        path = folder.joinpath(*parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(one.text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"cannot write {str(path)!r}: {error.strerror}") from None
        written.append(path)
    return written


def yaml(value: Json, indent: int = 0) -> str:
    """Return data as YAML: mappings and lists in blocks, and every other value as JSON, of which YAML is a superset."""
    pad = "  " * indent
    if isinstance(value, dict) and value:
        lines = [_entry(f"{pad}{name}:", one, indent) for name, one in value.items()]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return "\n".join(lines)
    if isinstance(value, list) and value:
        return "\n".join(f"{pad}- {yaml(one, indent + 1).lstrip()}" for one in value)  # pyright: ignore[reportUnknownVariableType]
    return pad + json.dumps(value)


def _entry(head: str, value: Json, indent: int) -> str:
    if isinstance(value, dict | list) and value:
        return f"{head}\n{yaml(value, indent + 1)}"  # pyright: ignore[reportUnknownArgumentType]
    return f"{head} {json.dumps(value)}"


def as_name(text: str) -> str:
    """Return a text as part of a path that every system takes: other characters than these become "-"."""
    kept = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-" for letter in text)
    return kept.strip(".-")[:100] or "unknown"

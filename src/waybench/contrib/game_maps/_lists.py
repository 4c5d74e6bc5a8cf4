"""The files that a user may give: commands, and names of places."""

import json
from pathlib import Path

from waybench.contrib.game_maps._commands import LONGEST
from waybench.contrib.game_maps._titles import as_name
from waybench.core import DataError, Json, UsageError, is_object

_LARGEST = 1 << 24  # bytes


def read_commands(path: Path) -> tuple[str, ...]:
    """Read a list of commands, one in a line; empty lines count for nothing.

    Raises:
        UsageError: If the file cannot be read, or has no command.
        DataError: If a line is no command; the message names it.
    """
    commands: list[str] = []
    for number, line in enumerate(_text(path).splitlines(), 1):
        command = line.strip()
        if len(command) > LONGEST or not command.isascii() or not (command.isprintable() or not command):
            raise DataError(f"{path}: line {number}: a command is at most {LONGEST} printable ASCII characters")
        if command:
            commands.append(command)
    if not commands:
        raise UsageError(f"{path}: the file has no commands; write one per line")
    return tuple(commands)


def read_names(path: Path) -> dict[str, str]:
    """Read a map of names: a JSON object with the ids of places and their names, as in NAME.code2anno.json.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is not of this form.
    """
    try:
        data: Json = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: the file is not JSON: {str(error)[:80]}") from None
    if not is_object(data):
        raise DataError(f'{path}: the file is not an object such as {{"27": "bedroom", "25": "bedroom"}}')
    for code, name in data.items():
        if not isinstance(name, str) or not name.isprintable() or not as_name(name):
            raise DataError(f"{path}: {code[:40]}: {str(name)[:60]!r} is not a name on one line")
    return data


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise DataError(f"{path}: larger than {_LARGEST >> 20} MiB; is it the right file?")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not valid UTF-8") from None

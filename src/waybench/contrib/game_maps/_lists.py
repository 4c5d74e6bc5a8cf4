"""The files that a user may give: commands, and names of places."""

from pathlib import Path

from waybench.contrib.game_maps._commands import LONGEST, split_line
from waybench.contrib.game_maps._titles import as_name
from waybench.core import DataError, UsageError, is_object, read_json, read_text

_LARGEST = 1 << 24  # bytes


def read_commands(path: Path) -> tuple[str, ...]:
    """Read a list of commands: one in a line, or several as one can type them ("n. take lamp. s").

    A line is split as the games split it (see `split_line`); empty lines are skipped.

    Raises:
        UsageError: If the file cannot be read, or has no command.
        DataError: If a line is no command; the message names it.
    """
    commands: list[str] = []
    for number, line in enumerate(read_text(path, _LARGEST, "a file of commands").split("\n"), 1):
        typed = line.strip()
        found = split_line(typed)
        if any(len(each) > LONGEST for each in found) or not typed.isascii() or not (typed.isprintable() or not typed):
            raise DataError(f"{path}: line {number}: a command is at most {LONGEST} printable ASCII characters")
        commands += found
    if not commands:
        raise UsageError(f"{path}: the file has no commands; write one per line")
    return tuple(commands)


def read_names(path: Path) -> dict[str, str]:
    """Read a map of names: a JSON object with the ids of places and their names, as in NAME.code2anno.json.

    Raises:
        UsageError: If the file cannot be read.
        DataError: If it is not of this form.
    """
    data = read_json(path, _LARGEST, "a file of names")
    if not is_object(data):
        raise DataError(f'{path}: the file is not an object such as {{"27": "bedroom", "25": "bedroom"}}')
    for code, name in data.items():
        if not isinstance(name, str) or not name.isprintable() or not as_name(name):
            raise DataError(f"{path}: {code[:40]}: {str(name)[:60]!r} is not a name on one line")
    return data

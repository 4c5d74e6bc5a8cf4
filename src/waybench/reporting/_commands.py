"""Command lines that reproduce an episode."""

import shlex
from collections.abc import Iterable
from pathlib import PurePosixPath

from waybench.analysis import Row
from waybench.analysis.results import Group, declared
from waybench.core import PREFIX, RECORDED, Json
from waybench.envs import registry


def play_command(row: Row) -> str:
    """Return the command with which a person plays an episode's item."""
    group = row.group
    parts = ["waybench", "play", group.env, "--level", str(row.level), "--index", str(row.index)]
    for _, value in _key(group):
        parts += ["--key", _text(value)]
    for name, value in _changed(group).items():
        parts += ["-T", f"{name}={_text(value)}"]
    prefix = dict(group.options).get(PREFIX)
    if isinstance(prefix, str) and not prefix.startswith(RECORDED):  # of a file nothing but its digest is known here
        parts += ["-T", f"{PREFIX}={prefix}"]
    return shlex.join(parts)


def view_command(row: Row) -> str:
    """Return the command that opens the folder of an episode's log in Inspect's viewer; "" without a log of Inspect."""
    path = PurePosixPath(row.log.replace("\\", "/"))
    if path.suffix not in (".eval", ".json"):
        return ""
    return shlex.join(["inspect", "view", "--log-dir", path.parent.name or "."])


def _changed(group: Group) -> dict[str, Json]:
    defaults: dict[str, Json] = {option.name: option.default for option in declared(group.env)}
    return {name: value for name, value in group.options if name in defaults and value not in (defaults[name], None)}


def _key(group: Group) -> Iterable[tuple[str, Json]]:
    return [("key", group.key)] if group.key != registry.load(group.env).items.public_key else []


def _text(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

"""Parameters of tasks that do not depend on one machine, and the episodes that a run implies."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from inspect_ai.dataset import Sample

from waybench.core import (
    LABEL,
    PLAY_EXTENSIONS,
    PREFIX,
    RECORD,
    TEMPLATE,
    WORDING,
    EpisodeRecord,
    Json,
    Option,
    UsageError,
    decode_text,
    is_public_key,
    is_template_name,
    key_label,
    label_in_log,
    user_path,
)
from waybench.envs import registry
from waybench.evaluation.tasks import Samples, TaskEntry, find_task, implied_samples, task_samples

_ITEMS = re.compile(r"items:([0-9a-f]{16})/([^/\\\x00-\x1f]{1,120})")
_LOCAL = ("data_dir",)  # parameters that only say where files are on one machine
_SMALLEST = 1_000  # items that a task may draw, whatever the number of its records


def portable(
    task: str, parameters: Mapping[str, Json], records: Sequence[EpisodeRecord], add_items: Callable[[bytes], str]
) -> dict[str, Json]:
    """Return a task's parameters as a submission has them.

    Args:
        task: The task.
        parameters: Its parameters, as the log has them.
        records: A record of the run, if there is one; it has the text of a wording from a file.
        add_items: Adds a file of items, and returns its digest.

    Raises:
        UsageError: If a file that a parameter names is not here any more.
    """
    entry = find_task(task)
    found = {name: value for name, value in parameters.items() if name not in _LOCAL}
    key = found.get("key")
    if key is not None and not _is_public(entry, str(key)):
        found["key"] = label_in_log(str(key))
    source = found.get("source")
    if source is not None and source not in _sources(entry):
        path = user_path(str(source))
        found["source"] = f"items:{add_items(_read(path, 'source'))}/{path.name}"
    if found.get("prices") is not None:
        path = user_path(str(found["prices"]))
        text = decode_text(_read(path, "prices"), str(path))
        found["prices"] = f"prices:{text}"
    if str(found.get(PREFIX)).startswith(RECORD):
        raise UsageError(
            "prefix=record: a submission has no records of other runs; submit a run with a prefix of reference players"
        )
    for option in entry.options:
        if option.local and os.path.lexists(user_path(str(found.get(option.name)))):
            raise UsageError(f"{option.name}: a submission does not have this file; submit a run without one")
    if is_template_name(found.get(WORDING)) and records:
        found[TEMPLATE] = records[0].options.get(TEMPLATE)
    return found


def usable(
    entry: TaskEntry,
    parameters: Mapping[str, Json],
    *,
    keys: Mapping[str, str],
    items: Callable[[str], bytes],
    folder: Path,
    data_dir: str | None,
) -> dict[str, Any]:
    """Return the parameters of a submission as the task takes them here, all of them checked.

    Args:
        entry: The task.
        parameters: The submission's parameters.
        keys: Keys of private sets by their labels.
        items: Returns a file of items by its digest.
        folder: A folder for files that parameters name, which the caller removes.
        data_dir: The folder of published data sets; None for the usual places.

    Raises:
        UsageError: If a parameter is unknown or unfit, or a private key or a data set is not here.
        DataError: If a file of items is not in the submission.
    """
    given = dict(parameters)
    template = given.pop(TEMPLATE, None)
    for option in entry.options:
        if _names_file(option, given.get(option.name), template):
            raise UsageError(f"{option.name}: a submission cannot name files of this machine")
    key = given.get("key")
    if key is not None and LABEL.fullmatch(str(key)):
        if str(key) not in keys:
            raise UsageError(f"{key} is a private set: give its key with --key file:PATH or --key env:NAME")
        given["key"] = keys[str(key)]
    source = given.get("source")
    if source is not None and source not in _sources(entry):
        match = _ITEMS.fullmatch(str(source))
        if match is None or match[2] in (".", ".."):
            raise UsageError(f"source={str(source)[:80]}: no data set of {entry.name}, and no file of the submission")
        content = items(match[1])
        if digest(content) != match[1]:
            raise UsageError(f"the file of items {match[1]} has another content than its name says")
        given["source"] = str(_write(folder / match[1], match[2], content))
    if given.get("prices") is not None:
        text = str(given["prices"]).removeprefix("prices:")
        given["prices"] = str(_write(folder, "prices.json", text.encode("utf-8", "replace")))
    if template is not None:
        stem = str(given.get(WORDING, "")).removeprefix("file:").rpartition("-")[0]
        content = _toml(template).encode("utf-8", "replace")
        given[WORDING] = f"file:{_write(folder, f'{_plain(stem)}.toml', content)}"
    if data_dir is not None and any(option.name == "data_dir" for option in entry.options):
        given["data_dir"] = data_dir
    return entry.resolve(given)


def _names_file(option: Option, value: Json, template: Json) -> bool:
    """Return whether a parameter of a submission names a file or a variable of the machine that verifies it."""
    text = str(value)
    options = {option.name: value, **({} if template is None else {TEMPLATE: template})}
    return (
        (option.name == "key" and text.startswith(("env:", "file:")))
        or any(extension.names_file and extension.names_file(options) for extension in PLAY_EXTENSIONS)
        or (option.local and value is not None and os.path.lexists(user_path(text)))
    )


def draws_too_much(given: Mapping[str, Any], records: int) -> bool:
    """Return whether a task would draw far more items than there are records, so that some records are missing.

    It is asked before any item is drawn: parameters from outside could keep this machine busy for days.
    """
    counts = [value for name in ("limit", "sets", "attempts", "worlds") if type(value := given.get(name)) is int]
    return any(count > max(records, _SMALLEST) for count in counts)


def levels_drawn(entry: TaskEntry, given: Mapping[str, Any]) -> list[int]:
    """Return the levels of which a task draws items before it knows any result, as its parameters name them."""
    names = ("level",) if entry.climb is None else (entry.climb.first,)
    return (
        [value for name in names if type(value := given.get(name)) is int]
        if given.get("source")
        in (
            None,
            "generated",
        )
        else []
    )


def key_labels(keys: Sequence[str]) -> dict[str, str]:
    """Return keys by their labels."""
    return {key_label(key): key for key in keys}


def digest(content: bytes) -> str:
    """Return the digest of a file of items: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(content).hexdigest()[:16]


def _is_public(entry: TaskEntry, key: str) -> bool:
    return any(is_public_key(key, registry.load(env).items.public_key) for env in entry.envs)


def _sources(entry: TaskEntry) -> set[str]:
    named = {each.name for env in entry.envs for each in registry.load(env).all_datasets} - {"file"}
    return named | {"generated", "published"}


def _read(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{name}={str(path)[:120]}: cannot be read ({error.strerror}); the submission needs this file of the run"
        ) from None


def _write(folder: Path, name: str, content: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    return path


def _plain(stem: str) -> str:
    if re.fullmatch(r"[^/\\\x00-\x1f]{1,60}", stem) is None or stem in (".", ".."):
        raise UsageError(f"wording: {stem[:40]!r} is no name of a template")
    return stem


def _toml(template: Json) -> str:
    if not isinstance(template, dict):
        raise UsageError("template: it is no object with texts")
    lines: list[str] = []
    for name, value in template.items():  # pyright: ignore[reportUnknownVariableType]
        # A basic string of TOML has the escapes of JSON; the delete character has to be one.
        text = json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")  # pyright: ignore[reportUnknownArgumentType]
        lines.append(f"{json.dumps(str(name))} = {text}")  # pyright: ignore[reportUnknownArgumentType]
    return "\n".join(lines) + "\n"


class Run(NamedTuple):
    """A run whose task can be played here.

    Attributes:
        samples: The samples of its task.
    """

    samples: Samples

    def played(self, model: str, result: Callable[[str], EpisodeRecord | None]) -> Iterator[Sample]:
        """Yield the samples that the task plays with a model, given the results (see `implied_samples`)."""
        return implied_samples(self.samples, model, result)


def open_run(
    task: str,
    parameters: Mapping[str, Json],
    *,
    keys: Mapping[str, str],
    items: Callable[[str], bytes],
    folder: Path,
    data_dir: str | None,
    records: int,
    levels: Collection[int] | None,
) -> Run:
    """Make the samples of a run's task again.

    Args:
        task: The task.
        parameters: Its parameters, as a submission has them.
        keys: Keys of private sets by their labels.
        items: Returns a file of items by its digest.
        folder: A folder for files that parameters name, which the caller removes.
        data_dir: The folder of published data sets; None for the usual places.
        records: Number of the run's records. A task that would draw far more items is refused.
        levels: Levels of records that a simulation confirms. A task that begins at another level is refused, for its
            items could be of any size; None for no such check.

    Raises:
        UsageError: If the task cannot be played with these parameters; the message says why.
        DataError: If a file of items is not in the submission.
    """
    entry = find_task(task)
    given: dict[str, Any] = usable(entry, parameters, keys=keys, items=items, folder=folder, data_dir=data_dir)
    if draws_too_much(given, records):
        raise UsageError(f"the parameters name far more items than the {records:,} records")
    if levels is not None:
        for level in levels_drawn(entry, given):
            if level not in levels:
                raise UsageError(f"no confirmed record is of level {level}, at which the task begins")
    return Run(task_samples(entry, given))

"""Parameters of tasks that do not depend on one machine, the samples of a run, and commitments to runs."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from waybench._version import __version__
from waybench.core import (
    EASIER,
    HARDER,
    LABEL,
    LANGUAGE,
    PLAY_EXTENSIONS,
    PREFIX,
    SHARD,
    STREAM,
    TEMPLATE,
    WORDING,
    EpisodeRecord,
    Json,
    Option,
    UsageError,
    is_file_name,
    is_object,
    is_public_key,
    read_json_file,
    user_path,
)
from waybench.core._languages import LANGUAGE_TEXTS
from waybench.core._prefix import RECORD
from waybench.core._secrets import key_label_in_log
from waybench.core._template import texts_as_toml
from waybench.core._user_files import decode_text
from waybench.envs import registry
from waybench.evaluation.tasks import TaskEntry, find_task, resolve_key
from waybench.evaluation.tasks._samples import Samples, task_samples
from waybench.evaluation.tasks._stream import task_stream
from waybench.results.logs._settings import follows_from_parameters, settings_from_parameters
from waybench.submission._verdict import Finding

_ITEMS = re.compile(r"items:([0-9a-f]{16})/([^/\\\x00-\x1f]{1,120})")
_LOCAL = ("data_dir",)  # parameters that only say where files are on one machine
# Options of play that can name a TOML file of texts -> the option of records that has its content.
_CONTENT_OF_FILES = {WORDING: TEMPLATE, LANGUAGE: LANGUAGE_TEXTS}
_EFFECTS = {EASIER: " (more is easier)", HARDER: " (more is harder)"}
_LONGEST_VALUE = 60  # characters of a value beside scores
_DATE = "%Y-%m-%d %H:%M UTC"
_VERSION = re.compile(r"\d{1,4}(\.\d{1,4}){1,3}([-+.]?(a|b|rc|dev|post)\d{0,6})?(\+[a-z0-9.]{1,40})?")
_SMALLEST = 1_000  # items that a task may draw, whatever the number of its records


def portable_parameters(
    task: str, parameters: Mapping[str, Json], first_records: Sequence[EpisodeRecord], add_items: Callable[[bytes], str]
) -> dict[str, Json]:
    """Return a task's parameters without paths or private keys of this machine, as a submission has them.

    Raises:
        UsageError: If a file that a parameter names is not here any more.
    """
    entry = find_task(task)
    portable_values = {name: value for name, value in parameters.items() if name not in _LOCAL}
    key = portable_values.get("key")
    if key is not None and not _is_public_key_of_task(entry, str(key)):
        portable_values["key"] = key_label_in_log(str(key))
    source = portable_values.get("source")
    if source is not None and source not in _source_names(entry):
        path = user_path(str(source))
        portable_values["source"] = f"items:{add_items(_read_parameter_file(path, 'source'))}/{path.name}"
    if portable_values.get("prices") is not None:
        path = user_path(str(portable_values["prices"]))
        text = decode_text(_read_parameter_file(path, "prices"), str(path))
        portable_values["prices"] = f"prices:{text}"
    if str(portable_values.get(PREFIX)).startswith(RECORD):
        raise UsageError(
            "prefix=record: a submission has no records of other runs; submit a run with a prefix of reference players"
        )
    for option in entry.options:
        if option.local and os.path.lexists(user_path(str(portable_values.get(option.name)))):
            raise UsageError(f"{option.name}: a submission does not have this file; submit a run without one")
    for name, content in _CONTENT_OF_FILES.items():
        if is_file_name(portable_values.get(name)) and first_records:
            portable_values[content] = first_records[0].options.get(content)
    return portable_values


def _names_local_file(option: Option, value: Json, contents: Mapping[str, Json]) -> bool:
    """Return whether a submitted parameter names a file or variable of the verifying machine."""
    text = str(value)
    options = {option.name: value, **contents}
    return (
        (option.name == "key" and text.startswith(("env:", "file:")))
        or any(extension.names_file and extension.names_file(options) for extension in PLAY_EXTENSIONS)
        or (option.local and value is not None and os.path.lexists(user_path(text)))
    )


def changed_options(task: str, parameters: Mapping[str, Json], epochs: int = 1) -> tuple[str, ...]:
    """Return the options of a run that differ from its task's defaults, as texts.

    What only says how many items are played, which key makes them and what is measured besides is not among it.
    """
    try:
        declared = {option.name: option for option in find_task(task).options}
    except UsageError:
        return (f"task: {task[:60]}",)
    words = [
        f"{name}: {_shortened_value(value)}{_EFFECTS.get(declared[name].effect, '') if name in declared else ''}"
        for name, value in sorted(parameters.items())
        if name not in declared or (declared[name].changes_play and value != declared[name].default)
    ]
    return (*words, *([f"epochs: {epochs} (more are easier)"] if epochs > 1 else []))


def _shortened_value(value: Json) -> str:
    """Return a value as text of at most 60 characters."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def run_findings(run_entry: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield disagreements within the manifest's entry of a run: settings, date and version."""
    expected = settings_from_parameters(run_entry["parameters"])
    stated = {name: value for name, value in run_entry["settings"].items() if follows_from_parameters(name)}
    for name in sorted({*expected, *stated}):
        values = [f"{values[name]!r:.60}" if name in values else "none" for values in (stated, expected)]
        if values[0] != values[1]:
            yield Finding("settings", f"{name} is {values[0]}; by the parameters it is {values[1]}")
    if not _is_date(run_entry["created"]):
        yield Finding(
            "form", f"it began at {run_entry['created'][:40]!r}, which is no time such as 2026-01-31 12:00 UTC"
        )
    if run_entry["version"] and not _VERSION.fullmatch(run_entry["version"]):
        yield Finding("form", f"{run_entry['version'][:40]!r} is no version of waybench")


def _is_date(text: str) -> bool:
    """Return whether a text is a date as manifests have it, and at most a day in the future."""
    try:
        time = datetime.strptime(text, _DATE).replace(tzinfo=UTC)
    except ValueError:
        return False
    return f"{time:{_DATE}}" == text and time < datetime.now(UTC) + timedelta(days=1)


def items_digest(content: bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a file of items."""
    return hashlib.sha256(content).hexdigest()[:16]


def _is_public_key_of_task(entry: TaskEntry, key: str) -> bool:
    """Return whether a key is public in an environment of a task."""
    return any(is_public_key(key, registry.load(env).items.public_key) for env in entry.envs)


def _source_names(entry: TaskEntry) -> set[str]:
    """Return the names of data sets that a task's parameter `source` can have."""
    named = {dataset.name for env in entry.envs for dataset in registry.load(env).all_datasets} - {"file"}
    return named | {"generated", "published"}


def _read_parameter_file(path: Path, name: str) -> bytes:
    """Return the content of the file `path`, which is the value of a run's parameter `name`; errors name both."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{name}={str(path)[:120]}: cannot be read ({error.strerror}); the submission needs this file of the run"
        ) from None


def _write_file(folder: Path, name: str, content: bytes) -> Path:
    """Write a file in a folder, which is created, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    return path


def _checked_template_name(stem: str) -> str:
    """Return a template's name after checking that it can be a file name."""
    if re.fullmatch(r"[^/\\\x00-\x1f]{1,60}", stem) is None or stem in (".", ".."):
        raise UsageError(f"wording: {stem[:40]!r} is no name of a template")
    return stem


def _template_toml(template: Json) -> str:
    """Return a template, an object of texts, as TOML."""
    if not isinstance(template, dict):
        raise UsageError("template: it is no object with texts")
    return texts_as_toml(template)  # pyright: ignore[reportUnknownArgumentType]


def make_samples_again(
    task: str,
    parameters: Mapping[str, Json],
    *,
    keys: Mapping[str, str],
    items: Callable[[str], bytes],
    folder: Path,
    data_dir: str | None,
    records: int,
    levels: Collection[int] | None,
) -> Samples:
    """Return the samples of a submitted run's task, made again from its parameters.

    The parameters are as a submission has them, `keys` are those of private sets by their labels, and `items` returns a
    file of items by its digest. Files that parameters name are written to `folder`, which the caller removes. A
    task is refused that would draw far more items than there are records, or, since items could be of any size, that
    begins at a level that is not in `levels`, those of records that a simulation confirms; None for no such check.

    Raises:
        UsageError: If the task cannot be played with these parameters; the message says why.
        DataError: If a file of items is not in the submission.
    """
    entry = find_task(task)
    over = parameters.get(STREAM)
    parameters = {name: value for name, value in parameters.items() if name != STREAM}
    args = entry.resolve(_local_parameters(entry, parameters, keys, items, folder, data_dir))
    # This is asked before any item is drawn: parameters from outside could keep this machine busy for days.
    counts = [value for name in ("limit", "sets", "attempts", "worlds") if type(value := args.get(name)) is int]
    if any(count > max(records, _SMALLEST) for count in counts):
        raise UsageError(f"the parameters name far more items than the {records:,} records")
    first = args.get("level" if entry.climb is None else entry.climb.first)
    if levels is not None and args.get("source") in (None, "generated") and type(first) is int and first not in levels:
        raise UsageError(f"no confirmed record is of level {first}, at which the task begins")
    if over is None:
        return task_samples(entry, args)
    # Of a comparison one cannot tell from one model's run where it ended: what it played is the stream's beginning.
    return islice(task_stream(entry, args, str(over)).all_samples(), records)


def _local_parameters(
    entry: TaskEntry,
    parameters: Mapping[str, Json],
    keys: Mapping[str, str],
    items: Callable[[str], bytes],
    folder: Path,
    data_dir: str | None,
) -> dict[str, Any]:
    """Return a submission's parameters with keys and files of this machine, as the task takes them."""
    args = dict(parameters)
    stored = {content: args.pop(content, None) for content in _CONTENT_OF_FILES.values()}
    contents = {content: value for content, value in stored.items() if value is not None}
    for option in entry.options:
        if _names_local_file(option, args.get(option.name), contents):
            raise UsageError(f"{option.name}: a submission cannot name files of this machine")
    key = args.get("key")
    if key is not None and LABEL.fullmatch(str(key)):
        if str(key) not in keys:
            raise UsageError(f"{key} is a private set: give its key with --key file:PATH or --key env:NAME")
        args["key"] = keys[str(key)]
    source = args.get("source")
    if source is not None and source not in _source_names(entry):
        match = _ITEMS.fullmatch(str(source))
        if match is None or match[2] in (".", ".."):
            raise UsageError(f"source={str(source)[:80]}: no data set of {entry.name}, and no file of the submission")
        content = items(match[1])
        if items_digest(content) != match[1]:
            raise UsageError(f"the file of items {match[1]} has another content than its name says")
        args["source"] = str(_write_file(folder / match[1], match[2], content))
    if args.get("prices") is not None:
        text = str(args["prices"]).removeprefix("prices:")
        args["prices"] = str(_write_file(folder, "prices.json", text.encode("utf-8", "replace")))
    for name, content in _CONTENT_OF_FILES.items():
        if content in contents:
            stem = str(args.get(name, "")).removeprefix("file:").rpartition("-")[0]
            text = _template_toml(contents[content]).encode("utf-8", "replace")
            args[name] = f"file:{_write_file(folder / name, f'{_checked_template_name(stem)}.toml', text)}"
    if data_dir is not None and any(option.name == "data_dir" for option in entry.options):
        args["data_dir"] = data_dir
    return args


_COMMITMENT_FORMAT = "waybench-run-commitment"
_COMMITMENT_SCHEMA = 1
_LARGEST_COMMITMENT = 1 << 20  # bytes
# Parameters that say where and for how much a task runs, and not what it plays.
_FREE = frozenset(("data_dir", "budget", "prices", SHARD))


def run_commitment(task: str, parameters: Mapping[str, Any], model: str, epochs: int = 1) -> dict[str, Json]:
    """Return a commitment to a run: task, items, options, model and versions.

    Raises:
        UsageError: For an unknown task or parameter, or a file that cannot be read.
    """
    entry = find_task(task)
    values = portable_parameters(entry.name, resolve_key(entry.resolve(parameters)), [], items_digest)
    return {
        "format": _COMMITMENT_FORMAT,
        "schema": _COMMITMENT_SCHEMA,
        "waybench": __version__,
        "environments": {env: registry.load(env).version for env in entry.envs},
        **_committed_fields(entry.name, values, model, epochs),
    }


def _committed_fields(task: str, parameters: Mapping[str, Json], model: str, epochs: int) -> dict[str, Json]:
    """Return the fields in which a commitment and its run must agree; parameters at their defaults are left out."""
    defaults = {option.name: option.default for option in find_task(task).options}
    chosen = {
        name: value for name, value in sorted(parameters.items()) if name not in _FREE and value != defaults.get(name)
    }
    return {"model": model, "task": task, "parameters": chosen, "epochs": epochs}


def is_commitment_to_run(
    committed: Mapping[str, Any], model: str, task: str, parameters: Mapping[str, Json], epochs: int
) -> bool:
    """Return whether a commitment is one to this run, with the environment versions that are installed."""
    try:
        identity = _committed_fields(task, parameters, model, epochs)
        versions = {env: registry.load(env).version for env in find_task(task).envs}
    except UsageError:
        return False
    return committed.get("environments") == versions and all(committed.get(name) == identity[name] for name in identity)


def read_run_commitment(path: Path) -> dict[str, Any]:
    """Return the commitment in a file that `waybench commit TASK` wrote; raise a WaybenchError if it is none."""
    data = read_json_file(path, _LARGEST_COMMITMENT, "a commitment to a run")
    if not is_object(data) or data.get("format") != _COMMITMENT_FORMAT or data.get("schema") != _COMMITMENT_SCHEMA:
        raise UsageError(f"{path.name}: this is no commitment to a run: give what `waybench commit TASK` wrote")
    return data

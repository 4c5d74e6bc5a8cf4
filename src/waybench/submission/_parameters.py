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
# Options of play that can name a TOML file of texts -> the option of records that has its content.
_CONTENT_OF_FILES = {WORDING: TEMPLATE, LANGUAGE: LANGUAGE_TEXTS}
_EFFECTS = {EASIER: " (more is easier)", HARDER: " (more is harder)"}
_LONGEST_VALUE = 60  # characters of a value beside scores
_DATE = "%Y-%m-%d %H:%M UTC"
_VERSION = re.compile(r"\d{1,4}(\.\d{1,4}){1,3}([-+.]?(a|b|rc|dev|post)\d{0,6})?(\+[a-z0-9.]{1,40})?")
_MOST_ITEMS_OF_FEW_RECORDS = 1_000  # items that a task may draw, however few records it has


def portable_parameters(
    task: str, parameters: Mapping[str, Json], first_records: Sequence[EpisodeRecord], add_items: Callable[[bytes], str]
) -> dict[str, Json]:
    """Return a task's parameters without paths or private keys of this machine, as a submission has them.

    `add_items` adds the content of a file of items to the submission, and returns its digest.

    Raises:
        UsageError: If a file that a parameter names is not here any more.
    """
    entry = find_task(task)
    portable_values = {name: value for name, value in parameters.items() if name != "data_dir"}
    key = portable_values.get("key")
    public_keys = [registry.load(env).items.public_key for env in entry.envs]
    if key is not None and not any(is_public_key(str(key), public_key) for public_key in public_keys):
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
    """Return whether a submitted parameter names a file or variable of this machine.

    `contents` has the contents of files that the submission has as parameters.
    """
    text = str(value)
    options = {option.name: value, **contents}
    return (
        (option.name == "key" and text.startswith(("env:", "file:")))
        or any(extension.names_file and extension.names_file(options) for extension in PLAY_EXTENSIONS)
        or (option.local and value is not None and os.path.lexists(user_path(text)))
    )


def changed_options(task: str, parameters: Mapping[str, Json], epochs: int = 1) -> tuple[str, ...]:
    """Return the options of a run that differ from its task's defaults, as texts.

    Options that do not change play, such as the number of items or the key, are left out.
    """
    try:
        declared = {option.name: option for option in find_task(task).options}
    except UsageError:
        return (f"task: {task[:60]}",)
    texts: list[str] = []
    for name, value in sorted(parameters.items()):
        option = declared.get(name)
        if option is None or (option.changes_play and value != option.default):
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            shortened = text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
            texts.append(f"{name}: {shortened}{_EFFECTS.get(option.effect, '') if option else ''}")
    if epochs > 1:
        texts.append(f"epochs: {epochs} (more are easier)")
    return tuple(texts)


def run_findings(run_entry: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield disagreements within the manifest's entry of a run: settings, date and version."""
    expected = settings_from_parameters(run_entry["parameters"])
    stated = {name: value for name, value in run_entry["settings"].items() if follows_from_parameters(name)}
    for name in sorted({*expected, *stated}):
        stated_text, expected_text = (
            f"{values[name]!r:.60}" if name in values else "none" for values in (stated, expected)
        )
        if stated_text != expected_text:
            yield Finding("settings", f"{name} is {stated_text}; by the parameters it is {expected_text}")
    if not _is_date(run_entry["created"]):
        yield Finding(
            "form", f"it began at {run_entry['created'][:40]!r}, which is no time such as 2026-01-31 12:00 UTC"
        )
    if run_entry["version"] and not _VERSION.fullmatch(run_entry["version"]):
        yield Finding("form", f"{run_entry['version'][:40]!r} is no version of waybench")


def _is_date(text: str) -> bool:
    """Return whether a text is a date in the form of manifests, at most a day in the future."""
    try:
        time = datetime.strptime(text, _DATE).replace(tzinfo=UTC)
    except ValueError:
        return False
    # `strptime` also reads other forms, such as numbers without leading zeros.
    return f"{time:{_DATE}}" == text and time < datetime.now(UTC) + timedelta(days=1)


def items_digest(content: bytes) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a file of items."""
    return hashlib.sha256(content).hexdigest()[:16]


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
    """Return a template's name if it can be a file name; raise UsageError otherwise."""
    if re.fullmatch(r"[^/\\\x00-\x1f]{1,60}", stem) is None or stem in (".", ".."):
        raise UsageError(f"wording: {stem[:40]!r} is no name of a template")
    return stem


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

    A task that would draw far more items than there are `records` is refused, since it could keep this machine busy for
    days. So is a task that begins at none of `levels`, the levels of confirmed records, since its items could be of any
    size; None checks no level.

    `parameters` are those of the submission (`portable_parameters`), `keys` are those of private sets by their labels,
    and `items` returns a file of items by its digest. Files that parameters name are written to `folder`, which the
    caller removes.

    Raises:
        UsageError: If the task cannot be played with these parameters; the message says why.
        DataError: If a file of items is not in the submission.
    """
    entry = find_task(task)
    stream = parameters.get(STREAM)
    parameters = {name: value for name, value in parameters.items() if name != STREAM}
    args = entry.resolve(_local_parameters(entry, parameters, keys, items, folder, data_dir))
    counts = [value for name in ("limit", "sets", "attempts", "worlds") if type(value := args.get(name)) is int]
    if any(count > max(records, _MOST_ITEMS_OF_FEW_RECORDS) for count in counts):
        raise UsageError(f"the parameters name far more items than the {records:,} records")
    first_level = args.get("level" if entry.climb is None else entry.climb.first)
    is_generated = args.get("source") in (None, "generated")
    if levels is not None and is_generated and type(first_level) is int and first_level not in levels:
        raise UsageError(f"no confirmed record is of level {first_level}, at which the task begins")
    if stream is None:
        return task_samples(entry, args)
    # A comparison ends by the results of all its models: one model's run is the beginning of the stream.
    return islice(task_stream(entry, args, str(stream)).all_samples(), records)


def _local_parameters(
    entry: TaskEntry,
    parameters: Mapping[str, Json],
    keys: Mapping[str, str],
    items: Callable[[str], bytes],
    folder: Path,
    data_dir: str | None,
) -> dict[str, Any]:
    """Return a submission's parameters with keys and files of this machine, as the task takes them.

    The arguments are those of `make_samples_again`.
    """
    args = dict(parameters)
    contents = {
        content: value for content in _CONTENT_OF_FILES.values() if (value := args.pop(content, None)) is not None
    }
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
            template = contents[content]
            if not isinstance(template, dict):
                raise UsageError("template: it is no object with texts")
            toml = texts_as_toml(template).encode("utf-8", "replace")  # pyright: ignore[reportUnknownArgumentType]
            args[name] = f"file:{_write_file(folder / name, f'{_checked_template_name(stem)}.toml', toml)}"
    if data_dir is not None and any(option.name == "data_dir" for option in entry.options):
        args["data_dir"] = data_dir
    return args


_COMMITMENT_FORMAT = "waybench-run-commitment"
_COMMITMENT_SCHEMA = 1
_LARGEST_COMMITMENT = 1 << 20  # bytes
# Parameters that do not say what a task plays, but where or at which cost, which a commitment leaves open.
_UNCOMMITTED = frozenset(("data_dir", "budget", "prices", SHARD))


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
    committed = {
        name: value
        for name, value in sorted(parameters.items())
        if name not in _UNCOMMITTED and value != defaults.get(name)
    }
    return {"model": model, "task": task, "parameters": committed, "epochs": epochs}


def is_commitment_to_run(
    committed: Mapping[str, Any], model: str, task: str, parameters: Mapping[str, Json], epochs: int
) -> bool:
    """Return whether a commitment is one to this run, with the environment versions that are installed."""
    try:
        fields = _committed_fields(task, parameters, model, epochs)
        versions = {env: registry.load(env).version for env in find_task(task).envs}
    except UsageError:
        return False
    return committed.get("environments") == versions and all(committed.get(name) == fields[name] for name in fields)


def read_run_commitment(path: Path) -> dict[str, Any]:
    """Return the commitment in a file that `waybench commit TASK` wrote; raise a WaybenchError if it is none."""
    data = read_json_file(path, _LARGEST_COMMITMENT, "a commitment to a run")
    if not is_object(data) or data.get("format") != _COMMITMENT_FORMAT or data.get("schema") != _COMMITMENT_SCHEMA:
        raise UsageError(f"{path.name}: this is no commitment to a run: give what `waybench commit TASK` wrote")
    return data

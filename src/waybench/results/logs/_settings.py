"""Episodes, and the settings of the run that they come from."""

import hashlib
import json
import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from waybench.core import (
    AGENT,
    LABEL,
    LOCAL_MODELS,
    STREAM,
    EpisodeRecord,
    Json,
    is_object,
    is_public_key,
    is_secret_name,
    private_key_label,
)
from waybench.core._designs import SHOWN, is_search_design
from waybench.envs import registry
from waybench.results.logs._guard import Skipped
from waybench.results.logs._inspect import KEY, Log, logs_by_run, print_problem

SCALARS = (str, int, float, bool, type(None))
SERVER = "server"  # the setting that names the server, where the user chose one
_TASK_PARAMETER = "game"  # of a task of Inspect's catalogue: names the task of waybench that it runs
_ROLE = "role."  # what the names of settings that say who had another role begin with
# Settings of Inspect's that decide how requests are sent, not what they say.
_TRANSPORT = {
    *("max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections"),
    *("stream_idle_timeout", "batch", "cache", "cache_prompt", "extra_headers"),
}
# What all of Inspect's providers do by default, named or not.
_DEFAULTS: Mapping[str, tuple[str, ...]] = {"reasoning_history": ("auto", "all")}
_FLAGS = ("temperature", "max_tokens", "reasoning_effort", "seed")  # of `waybench run`, named as the settings are
# Limits that end an episode as a part of the test, unlike those on time.
_LIMITS = ("token_limit", "token_limit_type", "message_limit", "turn_limit", "cost_limit")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MOST_ATTEMPTS = 1_000_000  # a log may come from outside
_USUAL_PATHS = ("", "/v1")  # of servers


class Origin(NamedTuple):
    """Where results come from.

    Attributes:
        created: The time when the run began, as "2026-01-31 12:00 UTC".
        version: The version of waybench that ran it; "" if not known.
        command: The command that runs it again.
    """

    created: str
    version: str
    command: str


@dataclass(frozen=True, slots=True)
class LoggedEpisode:
    """One episode of a run.

    Attributes:
        model: The model as the user named it; "waybench/..." for the embedded players.
        task: The task's name, without its package.
        settings: Settings that the record itself does not hold: options of the items, and the model's settings
            (temperature, reasoning effort, ...), by name.
        log: Path of the log file it comes from.
        sample: The id of its sample there.
        run: Id of its run; a run that was resumed keeps its id. "" if not known.
        design: The declared design of its run: the settings of a search for a horizon, the levels of a ladder, or the
            position of the item in the stream of a comparison; empty for other runs, and for ladders of older logs.
        attempt: The number of the attempt at the item, where the record's own number does not hold; 0 otherwise.
        origin: Date, version and command of its run; None if not known.
        epoch: The epoch of its sample, from 1; 0 where it comes from no log.
        most_attempts: Number of attempts at an item that its run allows; 0 if not known.
        reasoning: The reasoning that the provider returned, by the number of the turn from 0, as text.
    """

    model: str
    task: str
    record: EpisodeRecord
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    log: str = ""
    sample: str = ""
    run: str = ""
    design: Mapping[str, Json] = field(default_factory=dict[str, Json])
    attempt: int = 0
    origin: Origin | None = None
    epoch: int = 0
    most_attempts: int = 0
    reasoning: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def embedded(self) -> bool:
        """Whether the player is one of waybench's embedded players."""
        return is_embedded(self.model)

    @property
    def search(self) -> Mapping[str, Json]:
        """The settings of the horizon search that chose the item; empty for other runs."""
        return self.design if is_search_design(self.design) else {}


def is_embedded(model: str) -> bool:
    """Return whether a model name is that of one of waybench's embedded players."""
    return model.startswith("waybench/") and model.removeprefix("waybench/") not in LOCAL_MODELS


def is_human(model: str) -> bool:
    """Return whether a model name is that of a person: "human" or "human/NAME"."""
    return re.match(r"human(/| with hints$|$)", model) is not None


def read_settings(header: Any) -> dict[str, Json]:
    """Return the settings of a run: options of its items, model settings, and the server.

    Options of the items are recognised by name, as those that an environment declares. The settings hold nothing that
    may be a secret, and only the `server_name` of an address.
    """
    return {**settings_from_parameters(header.eval.task_args), **_json_settings(_model_settings(header))}


def settings_from_parameters(args: Mapping[str, Any]) -> dict[str, Json]:
    """Return the settings that a task's parameters imply: item options, the prefix shown, agent and stream."""
    return _json_settings(
        {
            **{name: value for name, value in args.items() if name in _item_option_names()},
            **{name: args.get(name) for name in SHOWN if args.get(SHOWN[0])},
            **{name: args[name] for name in (AGENT, STREAM) if args.get(name)},
        }
    )


def allowed_attempts(parameters: Mapping[str, Any]) -> int:
    """Return the allowed attempts at an item in a run's parameters or a sample's metadata; 0 if not known."""
    attempts = parameters.get("attempts")
    return attempts if type(attempts) is int and 0 < attempts < _MOST_ATTEMPTS else 0


def task_name(header: Any) -> str:
    """Return waybench's name of a run's task, even if the task ran under its name in Inspect's catalogue."""
    metadata = getattr(header.eval, "metadata", None)
    run_data = metadata.get(KEY) if is_object(metadata) else None
    name = run_data.get("task") if is_object(run_data) else None
    return name if isinstance(name, str) and name else str(header.eval.task).removeprefix("waybench/")


def _task_parameters(header: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that waybench's task has, for a run under the name of Inspect's catalogue, too."""
    if task_name(header) == str(header.eval.task).removeprefix("waybench/"):
        return dict(parameters)
    return {name: value for name, value in parameters.items() if name != _TASK_PARAMETER}


def follows_from_parameters(name: str) -> bool:
    """Return whether a setting is implied by a task's parameters (`settings_from_parameters`)."""
    return name in _item_option_names() or name in (*SHOWN, AGENT, STREAM)


def run_command(
    model: str,
    task: str,
    args: Mapping[str, Any],
    generation: Mapping[str, Any] = MappingProxyType({}),
    server: str = "",
) -> str:
    """Return the command that runs a task with a model again.

    Args:
        model: The model's name.
        task: The task's name.
        args: The parameters that were given; those that may be secret are left out.
        generation: Inspect's generation settings.
        server: The address of the model's server; "" for the provider's own. An address that may hold a secret is
            shown as URL.
    """
    words = ["waybench", "run", task, "--model", model]
    if server:
        words += ["--model-base-url", _harmless_address(server)]
    for name, value in _without_secrets({name: value for name, value in args.items() if name != STREAM}).items():
        words += ["-T", f"{name}={_argument_text(value)}"]
    if args.get(STREAM):  # the user has to add the other models of the comparison
        words += ["--until", "decided", "--over", str(args[STREAM])]
    for name in _FLAGS:
        if generation.get(name) is not None:
            words += [f"--{name.replace('_', '-')}", _argument_text(generation[name])]
    others = {name: value for name, value in generation.items() if name not in (*_FLAGS, *_TRANSPORT)}
    for name, value in _without_secrets(others).items():
        words += ["-G", f"{name}={_argument_text(value)}"]
    return shlex.join(words)


def _argument_text(value: Any) -> str:
    """Return a value as an argument of the command line: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def read_origin(header: Any) -> Origin:
    """Return the date, version and command of a run."""
    spec = header.eval
    created = datetime.fromisoformat(str(spec.created)).astimezone(UTC)
    args = spec.task_args_passed if spec.task_args_passed is not None else spec.task_args
    command = run_command(
        str(spec.model),
        task_name(header),
        _task_parameters(header, args),
        _generation_settings(header),
        spec.model_base_url or "",
    )
    packages: Mapping[str, Any] = spec.packages or {}
    return Origin(f"{created:%Y-%m-%d %H:%M} UTC", str(packages.get("waybench", "")), command)


def settings_of_foreign_run(header: Any) -> dict[str, Json]:
    """Return the settings of a run of another package's task: its parameters and the model's settings."""
    return _json_settings({**_without_secrets(dict(header.eval.task_args)), **_model_settings(header)})


def _generation_settings(header: Any) -> dict[str, Any]:
    """Return the generation settings of a model; those of the run override its own."""
    configs = (header.eval.model_generate_config, header.plan.config)
    return {name: value for config in configs for name, value in config.model_dump(exclude_none=True).items()}


def _model_settings(header: Any) -> dict[str, Any]:
    """Return the settings of a run's model: arguments, generation settings, limits, server and roles."""
    spec, generation = header.eval, _generation_settings(header)
    return {
        **_without_secrets({f"model.{name}": value for name, value in spec.model_args.items()}),
        **_without_secrets({name: value for name, value in generation.items() if _makes_a_difference(name, value)}),
        **{name: value for name in _LIMITS if (value := getattr(spec.config, name, None))},
        **({SERVER: server_name(spec.model_base_url)} if spec.model_base_url else {}),
        **_model_roles(spec.model_roles or {}),
    }


def _makes_a_difference(name: str, value: Any) -> bool:
    """Return whether a generation setting can change replies and does not have its default value."""
    return name not in _TRANSPORT and value not in _DEFAULTS.get(name, ())


def _json_settings(settings: Mapping[str, Any]) -> dict[str, Json]:
    """Return settings with all values but scalars as JSON text."""
    # NaN and infinite numbers, which logs can have, are shown as text: JSON and Parquet of the report have none.
    return {
        name: value
        if isinstance(value, SCALARS) and (not isinstance(value, float) or math.isfinite(value))
        else json.dumps(value, default=str)
        for name, value in settings.items()
    }


def settings_of_record(record: EpisodeRecord, settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return a run's settings for one record: without options of other environments, with its agent."""
    names = {option.name for option in registry.load(record.env).items.options}
    if settings.get(SHOWN[0]):  # another environment's items may have an option of the same name
        names.update(SHOWN)
    settings = {name: value for name, value in settings.items() if name in names or name not in _item_option_names()}
    return settings | ({AGENT: record.agent} if record.agent else {})


def with_key_label(record: EpisodeRecord, header: Any) -> EpisodeRecord:
    """Return a record with the label of a private key in place of the key (older versions recorded keys).

    Only keys that the user named, as the log's header says, are replaced, also with a suffix.
    """
    named_key, key = header.eval.task_args.get("key"), str(record.item.get("key", ""))
    is_named = named_key is not None and f"{key}/".startswith((f"{named_key}/", f"{named_key}-"))
    if not is_named or LABEL.fullmatch(key) or is_public_key(key, registry.load(record.env).items.public_key):
        return record
    return replace(record, item={**record.item, "key": private_key_label(key)})


def server_name(address: str) -> str:
    """Return a name for a server's address without secrets: "127.0.0.1:8000".

    An unusual path is shown as six digits of its hash, as in "gateway.example #1f2e3d": a gateway may have a path for
    each provider, and a path may hold a key.
    """
    try:
        parts = urlsplit(address if _ADDRESS.match(address) else f"//{address}")
        port = parts.port
    except ValueError:
        return f"#{_short_hash(address)}"
    name = parts.hostname or parts.scheme
    address = f"[{name}]" if ":" in name else name
    path = parts.path.rstrip("/")
    return f"{address}{f':{port}' if port else ''}{'' if path in _USUAL_PATHS else f' #{_short_hash(path)}'}"


def _harmless_address(address: str) -> str:
    """Return an address of scheme, host, port and a usual path unchanged; "URL" for any other."""
    harmless = [f"{scheme}://{server_name(address)}{path}" for scheme in ("http", "https") for path in _USUAL_PATHS]
    return address if address.rstrip("/") in harmless else "URL"


def _short_hash(text: str) -> str:
    """Return six hexadecimal digits of a text's hash."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]


@cache
def _item_option_names() -> frozenset[str]:
    """Return the names of all environments' item options."""
    return frozenset(option.name for entry in registry.entries for option in registry.load(entry.id).items.options)


def _without_secrets(value: Any) -> Any:
    """Return a value without parts that may be secret by their name or address."""
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {name: _without_secrets(item) for name, item in items if not is_secret_name(str(name).split(".")[-1])}
    if isinstance(value, list | tuple):
        return [_without_secrets(item) for item in cast("list[Any]", value)]
    return server_name(value) if isinstance(value, str) and _ADDRESS.match(value) else value


def _model_roles(roles: Mapping[str, Any]) -> dict[str, str]:
    """Return the models in other roles, such as a grader, as settings."""
    settings: dict[str, str] = {}
    for role, value in roles.items():
        models = cast("list[Any]", value) if isinstance(value, list) else [value]
        settings[_ROLE + role] = ", ".join(str(model.model) for model in models)
    return settings


class RunInfo(NamedTuple):
    """A run of a task with a model, as the header of its newest log describes it.

    Attributes:
        run: Its id, which its episodes have as `LoggedEpisode.run`.
        task: The task's name, without its package.
        parameters: All parameters of the task, a private key as its label.
        settings: Settings of the model and options of its items.
        subset: The options that restrict the run to some samples of its task, as "limit=5"; "" for none.
        created: The time when the newest log began, as "2026-01-31 12:00 UTC".
        version: The version of waybench that wrote it; "" if not known.
        logs: The logs, the oldest first.
    """

    run: str
    task: str
    model: str
    parameters: Mapping[str, Json]
    settings: Mapping[str, Json]
    epochs: int
    subset: str
    created: str
    version: str
    logs: Sequence[Log]


def run_infos(*places: Path, on_problem: Callable[[Skipped], None] | None = None) -> list[RunInfo]:
    """Return the runs of waybench's tasks in some folders and logs, in the order of `read_logs`.

    Args:
        *places: Folders with logs, in any depth, and logs.
        on_problem: Receives each file that is skipped; prints to stderr by default.

    Raises:
        UsageError: If a folder or log does not exist.
    """
    return [
        _run_info(logs)
        for logs in logs_by_run(places, on_problem or print_problem)
        if any(sample.ours for log in logs for sample in log.samples)
    ]


def _run_info(logs: Sequence[Log]) -> RunInfo:
    """Return the description of a run from its logs."""
    header = logs[-1].header
    spec, origin = header.eval, read_origin(header)
    config: Any = spec.config
    restrictions = {name: getattr(config, name, None) for name in ("limit", "sample_id")}
    return RunInfo(
        run=spec.task_id,
        task=task_name(header),
        model=str(spec.model),
        parameters=_task_parameters(header, spec.task_args),
        settings=read_settings(header),
        epochs=config.epochs or 1,
        subset=", ".join(f"{name}={value}" for name, value in restrictions.items() if value is not None),
        created=origin.created,
        version=origin.version,
        logs=logs,
    )

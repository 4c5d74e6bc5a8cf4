"""The settings of a run: the options of `waybench run`, and what follows from them for tasks and models."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

import click

from waybench.cli._environments import EnvironmentName
from waybench.cli._options import (
    ADDRESS,
    DEFAULT_OUT,
    EXECUTOR,
    PRICE,
    PRICES,
    THINK_TAGS_OPTION,
    FiniteRange,
    argument,
    option,
    refuse_strong_key,
    same_option,
)
from waybench.core import Json, UsageError, is_secret_name
from waybench.core._replies import join_think_tags
from waybench.evaluation.tasks import TaskEntry

_POSITIVE = click.IntRange(min=1)
_PARAMETER_OPTIONS = ("agent", "probe", "prefix", "limit", "attempts", "precision")  # parameters of tasks
_GENERATION_OPTIONS = ("temperature", "max_tokens", "reasoning_effort", "seed", "max_connections", "max_retries")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What the user says of a run: each field is an option of `waybench run`, with its help and its default."""

    tasks: tuple[str, ...] = argument("TASK...", required=True, default=(), type=EnvironmentName())
    models: tuple[str, ...] = option(
        "Model, as provider/name, or python:module.function for a function of messages to a reply; repeatable.",
        "--model",
        "-m",
        required=True,
        default=(),
    )
    parameters: tuple[str, ...] = option(
        "Task parameter (`waybench list TASK`), for those of the tasks that have it; TASK.KEY=VALUE for one task. "
        "Repeatable.",
        "-T",
        metavar="KEY=VALUE",
        default=(),
    )
    each: tuple[str, ...] = option(
        "Run once for each value of a task parameter, as in wording=matrix,ascii; repeatable.",
        metavar="KEY=VALUE,VALUE...",
        default=(),
    )
    agent: str | None = option(
        "Agent or solver of Inspect that works out each reply: react, a registered name, file.py@name or module.name.",
        metavar="NAME[:ARG=VALUE,...]",
    )
    probe: str | None = option(
        "Turns before which a belief probe asks the model what it knows of the state, as every:5 or 1,5,10.",
        metavar="every:N|TURN,...",
    )
    prefix: str | None = option(
        "Steps that reference players take before the model, such as oracle:5, oracle:-3 (all but the last three) or "
        "oracle:4+random:1.",
        metavar="PLAYER:STEPS[+...]",
    )
    think_tags: tuple[str, str] | None = same_option(THINK_TAGS_OPTION)
    limit: int | None = option(
        "Items of each level, set or map: the task's parameter `limit`, which `waybench list TASK` describes.",
        type=_POSITIVE,
    )
    attempts: int | None = option("Maximum attempts per item.  [default: the task's own]", type=_POSITIVE)
    precision: float | None = option(
        "Relative half-width of the interval at which a horizon_ task stops.  [default: 0.1]", type=FiniteRange(0.02, 1)
    )
    until: str | None = option(
        "`decided`: play one stream of items with all models, which ends as soon as one is shown to be better than the "
        "others, or they are shown to be tied.",
        type=click.Choice(["decided"]),
    )
    margin: float | None = option(
        "With --until: the greatest difference in a tie, as a share of the metric's range; fixed before the first "
        "reply.  [default: 0.05]",
        type=FiniteRange(0.01, 0.4),
    )
    max_items: int | None = option(
        "With --until: most items for each model; a later run can raise it.  [default: all listed items, or 2,000]",
        type=_POSITIVE,
    )
    over: str | None = option(
        "With --until: what the decision is about: these items, or clusters like these (maps), which takes several "
        "times as many.  [default: items]",
        type=click.Choice(["items", "clusters"]),
    )
    budget: str | None = option(
        "What this command may spend: 200k (tokens), or 5USD; `none` for no limit. A horizon_ task "
        "plans its search for each model with it. Tasks that climb have a default: for each model 1M tokens, or what "
        "an optimal player without reasoning needs up to the last level if that is more.",
        metavar="AMOUNT",
    )
    prices: Path | None = same_option(PRICES)
    price: tuple[str, ...] = same_option(PRICE, default=())
    quote_only: bool = option("Print what each task asks of each model, and exit.", "--quote", default=False)
    out: str = option(
        "Log folder, also by URL (s3://bucket/folder, gs://...); keys for it come from the environment.",
        metavar="DIR|URL",
        default=str(DEFAULT_OUT),
    )
    executor_name: str | None = same_option(EXECUTOR)
    address: str = same_option(ADDRESS, default="")
    gpus_per_model: float | None = option(
        "GPUs that each model needs; the executor finds them. A job is then a model with all tasks.",
        type=FiniteRange(min=0, min_open=True),
    )
    shards: int = option(
        "With --executor: jobs that share the items of each task with each model. Ladders and searches stay one job.",
        type=_POSITIVE,
        default=1,
    )
    model_base_url: str | None = option("Base URL of the model's server.  [default: the provider's]", metavar="URL")
    model_args: tuple[str, ...] = option(
        "Argument for the model provider; repeatable.", "-M", metavar="KEY=VALUE", default=()
    )
    temperature: float | None = option("Sampling temperature.  [default: the provider's]", type=FiniteRange(min=0))
    max_tokens: int | None = option(
        "Maximum tokens of one reply; longer replies are `truncated`.  [default: the provider's]", type=_POSITIVE
    )
    reasoning_effort: str | None = option("Reasoning effort of a reasoning model.  [default: the provider's]")
    generation: tuple[str, ...] = option(
        "Any other setting of generation, by Inspect's name: top_p=0.95, reasoning_tokens=8000, "
        '"system_message=Think first."; repeatable.',
        "-G",
        metavar="KEY=VALUE",
        default=(),
    )
    states: Path | None = option(
        "File to which the hidden states of hf/ models before each turn are appended, with labels, as JSON lines.",
        metavar="FILE",
    )
    layers: str | None = option(
        "With --states: layers, 0 for the embeddings.  [default: five at equal distances]", metavar="N,N..."
    )
    seed: int | None = option("Sampling seed, if the provider supports one.  [default: none]")
    max_connections: int | None = option(
        "Maximum concurrent requests.  [default: the provider's, mostly 10]", type=_POSITIVE
    )
    max_retries: int = option("Maximum retries of a request.", type=click.IntRange(min=0), default=5)
    timeout: int | None = option("Timeout of one request attempt, in seconds.  [default: none]", type=_POSITIVE)
    time_limit: int | None = option(
        "Seconds per episode; exceeding it is an infrastructure error.  [default: no limit]", type=_POSITIVE
    )
    token_limit: int | None = option(
        "Tokens per episode; exceeding it ends the episode.  [default: no limit]", type=_POSITIVE
    )
    rerun: int = option(
        "How often to retry episodes with infrastructure errors.", type=click.IntRange(min=0), default=1
    )
    no_check: bool = option("Do not send a short request to each model before the run.", default=False)
    levels: bool = option("Print the scores of each level, too.", default=False)
    display: str | None = option(
        "Progress display.  [default: rich on a terminal, plain elsewhere]",
        type=click.Choice(["rich", "full", "plain", "log", "none"]),
    )

    def task_parameters(self, budget: str | None) -> dict[str, Json]:
        """Return the parameters of tasks that -T and options give, with the budget of searches."""
        flags = {name: getattr(self, name) for name in _PARAMETER_OPTIONS}
        tags = self.think_tags and join_think_tags(*self.think_tags)
        return task_parameters(self.parameters, **flags, think_tags=tags, budget=budget)

    def evaluate_arguments(self) -> dict[str, Any]:
        """Return the arguments of `waybench.evaluation.evaluate` that do not depend on the tasks."""
        timeout = {"attempt_timeout": self.timeout} if self.timeout else {}
        return {
            "model_base_url": self.model_base_url,
            "model_args": read_model_arguments(self.model_args),
            "config": {**self._generation_settings(), **timeout},
            "limits": {"time_limit": self.time_limit, "token_limit": self.token_limit},
            "rerun": self.rerun,
            "check": not self.no_check,
            **({"states": (self.states, self._layer_numbers())} if self.states else {}),
        }

    def _layer_numbers(self) -> tuple[int, ...]:
        """Return the numbers of --layers; none if it is not given."""
        layers = (self.layers or "").split(",") if self.layers else []
        if not all(layer.isdecimal() and layer.isascii() for layer in layers):
            raise UsageError(f"--layers {str(self.layers)[:60]}: give numbers of layers, such as 0,8,16")
        return tuple(map(int, layers))

    def _generation_settings(self) -> dict[str, Json]:
        """Return the model's generation settings, from -G and from their own options."""
        config = {name: value for name in _GENERATION_OPTIONS if (value := getattr(self, name)) is not None}
        others = {name: json_or_text(text) for name, text in read_pairs(self.generation, "-G").items()}
        for name in others:
            if name in config:
                raise UsageError(f"-G {name}: --{name.replace('_', '-')} is given, too; give one of them")
            if name == "extra_headers" or is_secret_name(name):
                raise UsageError(
                    f"-G {name[:60]}: logs have its value; give headers and keys as -M default_headers=..."
                )
        return {**config, **others}


RUN_OPTIONS: Mapping[str, Any] = {setting.name: setting for setting in fields(RunSettings)}
"""Name of a field -> the field, for the commands that share an option with `waybench run`."""


def read_assignments(texts: Iterable[str], flag: str, form: str = "option=value") -> dict[str, Json]:
    """Return the values of texts of the form option=value, as text; the last value of an option counts."""
    values: dict[str, Json] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {text[:80]!r}: write it as {form}")
        try:
            text.encode()
        except UnicodeEncodeError:  # how a command line gives the bytes that it could not read as text
            raise UsageError(f"{flag} {text[:80]!a}: this is not valid UTF-8") from None
        values[name] = value
    return values


def read_pairs(texts: Iterable[str], flag: str) -> dict[str, Json]:
    """Return the values of texts of the form key=value, with "_" for "-" in keys; strong keys are refused."""
    values = {name.replace("-", "_"): value for name, value in read_assignments(texts, flag, "key=value").items()}
    for name, value in values.items():
        if name.rpartition(".")[2] == "key":  # also of one task, as TASK.key
            for key in str(value).split(","):
                refuse_strong_key(key)
    return values


def task_parameters(texts: Iterable[str], **flags: float | str | None) -> dict[str, Json]:
    """Return the parameters of -T and the given `flags`; raise a UsageError for one in both."""
    parameters = read_pairs(texts, "-T")
    for name, value in flags.items():
        if value is not None and name in parameters:
            raise UsageError(f"--{name.replace('_', '-')} and -T {name} are the same parameter: give one of them")
    return parameters | {name: value for name, value in flags.items() if value is not None}


def parameter_combinations(texts: Iterable[str], parameters: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return the parameters of each run: all combinations of the values of --each."""
    values_by_name = {
        name: dict.fromkeys(str(values).split(",")) for name, values in read_pairs(texts, "--each").items()
    }
    for name, values in values_by_name.items():
        if name in parameters:
            raise UsageError(f"--each {name} and -T {name} are the same parameter: give one of them")
        if "" in values:
            raise UsageError(f"--each {name}={','.join(values)[:60]}: a value is empty; write it as {name}=one,another")
    return [dict(zip(values_by_name, values, strict=True)) for values in product(*values_by_name.values())]


def plan_runs(
    entries: Sequence[TaskEntry],
    parameters: Mapping[str, Json],
    variants: Sequence[Mapping[str, Json]],
    prices: Path | None,
) -> tuple[list[tuple[TaskEntry, dict[str, Any]]], list[str]]:
    """Return the tasks to run, each with its checked arguments, and a line for each parameter of some tasks only.

    A parameter goes to those of the tasks that have it; one of the form TASK.parameter goes to that task alone.
    `variants` has one combination of the values of --each for each run, and `prices` is the file of the prices, for
    tasks that take one.
    """
    names = dict.fromkeys([*parameters, *(name for variant in variants for name in variant)])
    tasks_by_parameter = {name: list(_tasks_with_parameter(name, entries)) for name in names}
    for name, tasks in tasks_by_parameter.items():
        if not tasks:
            raise UsageError(_unknown_parameter_message(name, entries))
    runs: list[tuple[TaskEntry, dict[str, Any]]] = []
    for entry in entries:
        for values in variants:
            all_values = {**parameters, **values}
            args = {
                _without_task_name(name, entry): all_values[name]
                for name in sorted(all_values, key=lambda name: "." in name)  # TASK.parameter replaces the general one
                if entry in tasks_by_parameter[name]
            }
            if prices and "prices" in _option_names(entry):
                args["prices"] = str(prices)
            run = entry, check_task_args(entry, args)
            if run not in runs:  # a parameter with several values may not be this task's
                runs.append(run)
    notes = [
        f"{name}: only for {', '.join(entry.name for entry in tasks)}"
        for name, tasks in tasks_by_parameter.items()
        if len(tasks) < len(entries) and "." not in name
    ]
    return runs, notes


def check_task_args(entry: TaskEntry, args: dict[str, Any]) -> dict[str, Any]:
    """Return the given arguments of a task, checked and converted to the types of its options."""
    resolved = entry.resolve(args)
    return {name: resolved[name] for name in args}


def _option_names(entry: TaskEntry) -> set[str]:
    """Return the names of a task's parameters."""
    return {option.name for option in entry.options}


def _task_of_parameter(name: str, entries: Sequence[TaskEntry]) -> TaskEntry | None:
    """Return the task in a parameter of the form TASK.parameter; None for other forms."""
    return next((entry for entry in entries if name.startswith(f"{entry.name.replace('-', '_')}.")), None)


def _without_task_name(name: str, entry: TaskEntry) -> str:
    """Return "parameter" for "TASK.parameter" of this task; other names unchanged."""
    return name.removeprefix(f"{entry.name.replace('-', '_')}.")


def _tasks_with_parameter(name: str, entries: Sequence[TaskEntry]) -> Iterator[TaskEntry]:
    """Yield the tasks to which a parameter (or TASK.parameter) goes; a single task takes any."""
    named_task = _task_of_parameter(name, entries)
    for entry in entries if named_task is None else [named_task]:
        # A single task refuses what it does not know, with a message of its own.
        if _without_task_name(name, entry) in _option_names(entry) or len(entries) == 1:
            yield entry


def _unknown_parameter_message(name: str, entries: Sequence[TaskEntry]) -> str:
    """Return the message for a parameter that no task has; it suggests similar names."""
    named_task = _task_of_parameter(name, entries)
    if named_task is not None:
        named_task.resolve({_without_task_name(name, named_task): ""})  # which says what there is
    names = sorted({option for entry in entries for option in _option_names(entry)})
    similar_names = get_close_matches(name, names, 1)
    hint = f"did you mean {similar_names[0]}?" if similar_names else "`waybench list TASK` shows a task's parameters"
    tasks = ", ".join(entry.name for entry in entries)
    return f"-T {name[:60]}: none of the tasks {tasks} has this parameter; {hint}"


def read_model_arguments(texts: Iterable[str]) -> dict[str, Json]:
    """Return the values of -M, each read as JSON if it is JSON, otherwise as text."""
    return {name: json_or_text(text) for name, text in read_pairs(texts, "-M").items()}


def json_or_text(text: str) -> Json:
    """Return the value of a JSON text; the text itself if it is not JSON."""
    try:
        return json.loads(text, parse_constant=str)  # NaN and Infinity are no JSON, and no other file can have them
    except (ValueError, RecursionError):
        return text

"""The settings of a run: the options of `waybench run`, and the arguments of `evaluate` that follow from them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from waybench.cli._options import ADDRESS, DEFAULT_OUT, EXECUTOR, THINK_TAGS_OPTION, FiniteRange, argument, like, option
from waybench.cli._parameters import json_or_text, model_arguments, pairs, task_parameters
from waybench.core import Json, UsageError, joined_think_tags, may_be_secret

_POSITIVE = click.IntRange(min=1)
_FLAGS = ("agent", "probe", "prefix", "limit", "attempts", "precision")  # parameters of tasks
_GENERATION = ("temperature", "max_tokens", "reasoning_effort", "seed", "max_connections", "max_retries")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What the user says of a run: each field is an option of `waybench run`, with its help and its default."""

    tasks: tuple[str, ...] = argument("TASK...", required=True, default=())
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
    think_tags: tuple[str, str] | None = like(THINK_TAGS_OPTION)
    limit: int | None = option(
        "Items of each level, set or map: the task's parameter `limit`, which `waybench list TASK` describes.",
        type=_POSITIVE,
    )
    attempts: int | None = option("Maximum attempts per item.  [default: the task's own]", type=_POSITIVE)
    precision: float | None = option(
        "Relative half-width of the interval at which a horizon_ task stops.  [default: 0.1]", type=FiniteRange(0.02, 1)
    )
    budget: str | None = option(
        "What this command may spend: 200k (tokens), or 5USD with --prices; `none` for no limit. A horizon_ task "
        "plans its search for each model with it. Tasks that climb have a default: for each model 1M tokens, or what "
        "an optimal player without reasoning needs up to the last level if that is more.",
        metavar="AMOUNT",
    )
    prices: Path | None = option("Token prices as JSON (see `waybench prices`).", metavar="FILE")
    quote_only: bool = option("Print what each task asks of each model, and exit.", "--quote", default=False)
    out: str = option(
        "Log folder, also by URL (s3://bucket/folder, gs://...); keys for it come from the environment.",
        metavar="DIR|URL",
        default=str(DEFAULT_OUT),
    )
    executor_name: str | None = like(EXECUTOR)
    address: str = like(ADDRESS, default="")
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
        """Return the parameters that -T and the options for parameters of tasks give.

        Args:
            budget: The budget with which searches plan; None if there is none.

        Raises:
            UsageError: If a text has another form, or a parameter is given in both ways.
        """
        flags = {name: getattr(self, name) for name in _FLAGS}
        tags = self.think_tags and joined_think_tags(*self.think_tags)
        return task_parameters(self.parameters, **flags, think_tags=tags, budget=budget)

    def evaluate_arguments(self) -> dict[str, Any]:
        """Return the arguments of `waybench.evaluation.evaluate` that say how models are asked.

        Raises:
            UsageError: If a text has another form, or a generation setting is refused.
        """
        timeout = {"attempt_timeout": self.timeout} if self.timeout else {}
        return {
            "model_base_url": self.model_base_url,
            "model_args": model_arguments(self.model_args),
            "config": {**self._generation_settings(), **timeout},
            "limits": {"time_limit": self.time_limit, "token_limit": self.token_limit},
            "rerun": self.rerun,
            "check": not self.no_check,
        }

    def _generation_settings(self) -> dict[str, Json]:
        """Return the values of -G, and those of the generation settings that have an option of their own.

        Raises:
            UsageError: If a text has another form, a setting is given twice, or one may hold a secret, which logs
                would have in clear text.
        """
        config = {name: value for name in _GENERATION if (value := getattr(self, name)) is not None}
        others = {name: json_or_text(text) for name, text in pairs(self.generation, "-G").items()}
        for name in others:
            if name in config:
                raise UsageError(f"-G {name}: --{name.replace('_', '-')} is given, too; give one of them")
            if name == "extra_headers" or may_be_secret(name):
                raise UsageError(
                    f"-G {name[:60]}: logs have its value; give headers and keys as -M default_headers=..."
                )
        return {**config, **others}


RUN_OPTIONS: Mapping[str, Any] = {setting.name: setting for setting in fields(RunSettings)}
"""Name of a field -> the field, for the commands that share an option with `waybench run`."""

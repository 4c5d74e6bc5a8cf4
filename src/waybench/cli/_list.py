"""`waybench list`: what there is to evaluate and to play."""

import shutil
from collections.abc import Sequence
from typing import Any

import click

from waybench.cli._options import AS_JSON, argument, option, with_parameters
from waybench.cli._output import dumps
from waybench.core import Aggregate, Environment, Json, Metric, Option, UsageError, unknown_name_message
from waybench.core._languages import language_toml, languages_of
from waybench.core._template import template_fields
from waybench.envs import registry
from waybench.evaluation.tasks import TaskEntry, resolve_environment
from waybench.evaluation.tasks._catalogue import all_tasks, environment_names

PLAYERS = {
    "null": "sends empty replies; with protocol=paper some games then take their first action",
    "random": "takes legal actions at random",
    "heuristic": "follows a simple rule, such as keeping a hand on the wall",
    "oracle": "plays optimally; in games of chance, luck can score higher",
    "noisy-RATE": "the oracle with random errors at a rate from 0 to 1, as in noisy-0.1",
}

Rows = Sequence[tuple[str, str]]


@click.command("list")
@with_parameters
def list_(
    name: str | None = argument(),
    texts: str = option(
        "Write the texts of an environment in a language as TOML, to translate.", default="", metavar="LANGUAGE"
    ),
    as_json: bool = AS_JSON,
) -> None:
    """List the tasks, environments and embedded players.

    With NAME, show the details of one task, or of one environment (by its id or its family).
    """
    tasks = {task.name: task for task in all_tasks()}
    environments = environment_names()
    if texts:
        if name is None or name.partition("@")[0] not in environments:
            raise UsageError(f"--texts={texts[:60]}: give the id of an environment")
        click.echo(language_toml(resolve_environment(name), texts), nl=False)
    elif name is None:
        click.echo(dumps(_everything()) if as_json else _overview())
    elif name in tasks:
        click.echo(dumps(_task(tasks[name])) if as_json else _task_page(tasks[name]))
    elif name.partition("@")[0] in environments:
        environment = resolve_environment(name)
        click.echo(dumps(_environment(environment)) if as_json else _environment_page(environment))
    else:
        raise UsageError(unknown_name_message("task or environment", name, {**tasks, **environments}))


def _overview() -> str:
    return _sections(
        (
            (
                "Tasks (run one: waybench run TASK --model MODEL; details: waybench list TASK)",
                [(task.name, task.summary) for task in all_tasks()],
            ),
            (
                "Environments (details: waybench list ENV)",
                [(f"{entry.id}@{entry.version}", entry.summary) for entry in registry.entries],
            ),
            (
                "Embedded players (use as MODEL; no API key or network needed)",
                [(f"waybench/{name}", text) for name, text in PLAYERS.items()],
            ),
        )
    )


def _environment_page(environment: Environment[Any, Any, Any]) -> str:
    scoring = environment.scoring
    properties = [
        ("title", environment.title),
        ("levels", ", ".join(map(str, environment.items.sample_levels)) + ", ..."),
        ("wordings", ", ".join(_wordings(environment))),
        ("languages", ", ".join(languages_of(environment))),
        ("public key", environment.items.public_key),
        ("players", ", ".join(_players(environment))),
        ("tasks", ", ".join(task.name for task in all_tasks() if environment.id in task.envs) or "none"),
    ]
    return _sections(
        (
            (f"{environment.id}@{environment.version}", properties),
            (
                'Play options (-T of run, play and generate, and "options" of stored replies)',
                _option_rows(environment.play_options),
            ),
            ("Item options (-T of generate and play)", _option_rows(environment.items.options)),
            *((f"Fields of {part} in templates (wording=file:PATH)", rows) for part, rows in _fields(environment)),
            ("Metrics", [(metric.name, _metric_text(metric)) for metric in scoring.metrics]),
            ("At each step", [(series.name, series.doc) for series in scoring.series]),
            ("Of a set of episodes", [(aggregate.name, _metric_text(aggregate)) for aggregate in scoring.aggregates]),
        ),
        environment.about,
    )


def _task_page(task: TaskEntry) -> str:
    properties = [("plays", ", ".join(task.envs)), ("summary", task.summary)]
    return _sections(((task.name, properties), ("Parameters (run -T)", _option_rows(task.options))))


def _option_rows(options: Sequence[Option]) -> Rows:
    rows: list[tuple[str, str]] = []
    for declared in options:
        default, values = declared.default, ""
        if default is not None:
            default = f"={default if isinstance(default, str) else dumps(default)}"
        if declared.choices:
            values = f" One of: {', '.join(declared.all_choices)}."
        elif declared.low is not None:
            values = f" From {declared.low:.12g}{'' if declared.high is None else f' to {declared.high:.12g}'}."
        rows.append((declared.name + (default or ""), declared.doc + values))
    return rows


def _metric_text(metric: Metric | Aggregate) -> str:
    better = f"{metric.better.capitalize()} is better." if metric.better else ""
    between = f"Range: {metric.range_text}." if isinstance(metric, Metric) else ""
    return " ".join(filter(None, (metric.doc, better, between)))


def _wordings(environment: Environment[Any, Any, Any]) -> list[str]:
    options = environment.playing.options
    return [choice for option in options if option.name == "wording" for choice in option.all_choices]


def _fields(environment: Environment[Any, Any, Any]) -> list[tuple[str, Rows]]:
    """Return the fields of templates, for the rules and for observations, as the default wording has them."""
    defaults = environment.resolve_options({})
    return [
        (part, [(f"{{{field.name}}}", field.doc) for field in fields])
        for part, fields in template_fields(environment.playing.play(defaults).wording).items()
    ]


def _players(environment: Environment[Any, Any, Any]) -> list[str]:
    return [*PLAYERS, *sorted(environment.players.policies.keys() - PLAYERS.keys())]


def _sections(sections: Sequence[tuple[str, Rows]], preface: str = "") -> str:
    formatter = click.HelpFormatter(width=min(shutil.get_terminal_size().columns, 120))
    for title, rows in sections:
        if not rows:
            continue  # as where there are no options of items
        with formatter.section(title):
            formatter.write_dl(rows)
        if preface:
            formatter.write_paragraph()
            formatter.write(preface)
            preface = ""
    return formatter.getvalue().strip("\n")


def _everything() -> Json:
    return {
        "tasks": [_task(task) for task in all_tasks()],
        "environments": [_environment(registry.load(entry.id)) for entry in registry.entries],
        "players": PLAYERS,
    }


def _task(task: TaskEntry) -> Json:
    return {
        "name": task.name,
        "envs": task.envs,
        "summary": task.summary,
        "options": [_option(option) for option in task.options],
    }


def _environment(environment: Environment[Any, Any, Any]) -> Json:
    scoring = environment.scoring
    return {
        "id": environment.id,
        "version": environment.version,
        "title": environment.title,
        "about": environment.about,
        "smallest_level": environment.items.smallest_level,
        "sample_levels": environment.items.sample_levels,
        "wordings": _wordings(environment),
        "languages": languages_of(environment),
        "fields": {
            part: [{"name": name[1:-1], "doc": doc} for name, doc in rows] for part, rows in _fields(environment)
        },
        "public_key": environment.items.public_key,
        "players": _players(environment),
        "options": [_option(option) for option in environment.play_options],
        "source_options": [_option(option) for option in environment.items.options],
        "metrics": [_metric(metric) for metric in scoring.metrics],
        "series": [{"name": series.name, "title": series.title, "doc": series.doc} for series in scoring.series],
        "aggregates": [
            {**_metric(aggregate), "metrics": [metric.name for metric in aggregate.metrics]}
            for aggregate in scoring.aggregates
        ],
    }


def _option(option: Option) -> Json:
    values = {name: getattr(option, name) for name in ("name", "default", "choices", "low", "high", "doc")}
    values["choices"] = option.all_choices
    return {**values, "type": option.type.__name__ + (" or int" if option.or_number else "")}


def _metric(metric: Metric | Aggregate) -> Json:
    return {name: getattr(metric, name) for name in ("name", "title", "unit", "low", "high", "better", "doc")}

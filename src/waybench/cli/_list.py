"""`waybench list`: what there is to evaluate and to play."""

import shutil
from collections.abc import Sequence
from typing import Any

import click

from waybench.cli._options import argument, option, with_parameters
from waybench.cli._output import dumps
from waybench.core import Aggregate, Environment, Json, Metric, Option, UsageError, template_fields, unknown
from waybench.envs import registry
from waybench.evaluation.tasks import TaskEntry, all_tasks, environment_names, resolve_environment

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
    as_json: bool = option("Print one JSON object.", "--json"),
) -> None:
    """List the tasks, environments and embedded players.

    With NAME, show the details of one task, or of one environment (by its id or its family).
    """
    tasks = {task.name: task for task in all_tasks()}
    environments = environment_names()
    if name is None:
        click.echo(dumps(_everything()) if as_json else _overview())
    elif name in tasks:
        click.echo(dumps(_task(tasks[name])) if as_json else _task_page(tasks[name]))
    elif name.partition("@")[0] in environments:
        environment = resolve_environment(name)
        click.echo(dumps(_environment(environment)) if as_json else _environment_page(environment))
    else:
        raise UsageError(unknown("task or environment", name, {**tasks, **environments}))


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
    listed, scoring = ", ".join, environment.scoring
    facts = [
        ("title", environment.title),
        ("levels", listed(map(str, environment.items.sample_levels)) + ", ..."),
        ("wordings", listed(_wordings(environment))),
        ("public key", environment.items.public_key),
        ("players", listed(_players(environment))),
        ("tasks", listed(task.name for task in all_tasks() if environment.id in task.envs) or "none"),
    ]
    return _sections(
        (
            (f"{environment.id}@{environment.version}", facts),
            (
                'Play options (-T of run, play and generate, and "options" of stored replies)',
                _option_rows(environment.play_options),
            ),
            ("Item options (-T of generate and play)", _option_rows(environment.items.options)),
            *((f"Fields of {part} in templates (wording=file:PATH)", rows) for part, rows in _fields(environment)),
            ("Metrics", [(metric.name, _metric_text(metric)) for metric in scoring.metrics]),
            *([("At each step", [(one.name, one.doc) for one in scoring.series])] if scoring.series else []),
            *(
                [("Of a set of episodes", [(one.name, _metric_text(one)) for one in scoring.aggregates])]
                if scoring.aggregates
                else []
            ),
        ),
        environment.about,
    )


def _task_page(task: TaskEntry) -> str:
    facts = [("plays", ", ".join(task.envs)), ("summary", task.summary)]
    return _sections(((task.name, facts), ("Parameters (run -T)", _option_rows(task.options))))


def _option_rows(options: Sequence[Option]) -> Rows:
    return [(option.name + _default(option.default), _option_text(option)) for option in options]


def _option_text(option: Option) -> str:
    if option.choices:
        return f"{option.doc} One of: {', '.join(option.all_choices)}."
    if option.low is not None:
        return f"{option.doc} From {option.low:.12g}" + (f" to {option.high:.12g}." if option.high is not None else ".")
    return option.doc


def _metric_text(metric: Metric | Aggregate) -> str:
    better = f"{metric.better.capitalize()} is better." if metric.better else ""
    between = f"Range: {metric.range_text}." if isinstance(metric, Metric) else ""
    return " ".join(filter(None, (metric.doc, better, between)))


def _default(value: Json) -> str:
    return "" if value is None else f"={value if isinstance(value, str) else dumps(value)}"


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
    named = {name: getattr(task, name) for name in ("name", "envs", "summary")}
    return {**named, "options": [_option(option) for option in task.options]}


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
            {**_metric(one), "metrics": [metric.name for metric in one.metrics]} for one in scoring.aggregates
        ],
    }


def _option(option: Option) -> Json:
    named = {name: getattr(option, name) for name in ("name", "default", "choices", "low", "high", "doc")}
    named["choices"] = option.all_choices
    return {**named, "type": option.type.__name__ + (" or int" if option.or_number else "")}


def _metric(metric: Metric | Aggregate) -> Json:
    return {name: getattr(metric, name) for name in ("name", "title", "unit", "low", "high", "better", "doc")}

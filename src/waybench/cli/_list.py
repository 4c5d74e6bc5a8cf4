"""`waybench list`: what there is to evaluate and to play."""

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import Any

import click

from waybench.cli._environments import EnvironmentName
from waybench.cli._options import AS_JSON, argument, option, with_parameters
from waybench.cli._output import dumps
from waybench.core import (
    Aggregate,
    Environment,
    Episode,
    Json,
    Metric,
    Option,
    UsageError,
    WaybenchError,
    evenly_spaced_values,
    plural,
    short_count,
    unknown_name_message,
)
from waybench.core._languages import language_toml, languages_of
from waybench.core._template import template_fields
from waybench.envs import registry
from waybench.evaluation.tasks import TaskEntry, TaskItem, resolve_environment, resolve_key
from waybench.evaluation.tasks._catalogue import all_tasks, environment_names
from waybench.evaluation.tasks._items import task_items

PLAYERS = {
    "null": "sends empty replies; with protocol=paper some games then take their first action",
    "random": "takes legal actions at random",
    "heuristic": "follows a simple rule, such as keeping a hand on the wall",
    "oracle": "plays optimally; in games of chance, luck can score higher",
    "noisy-RATE": "the oracle with random errors at a rate from 0 to 1, as in noisy-0.1",
}

_COMMON = ("limit", "level", "protocol", "wording")  # parameters that matter in every task that has them
_RARE = (
    *("attempts", "interface", "prefix", "think_tags", "agent", "probe", "key", "source", "data_dir", "shard"),
    *("language", "image_base", "image_size", "context_tokens", "context_text", "context_tokenizer", "isomorph"),
)
_SAMPLED_ITEMS = 10  # of a level, from which its cost is estimated
_SHOWN = 5  # parameters and levels that are shown first
_LETTERS_PER_TOKEN = 4  # an estimate

Rows = Sequence[tuple[str, str]]


@click.command("list")
@with_parameters
def list_(
    name: str | None = argument(type=EnvironmentName()),
    texts: str = option(
        "Write the texts of an environment in a language as TOML, to translate.", default="", metavar="LANGUAGE"
    ),
    as_json: bool = AS_JSON,
) -> None:
    """List the tasks, environments and embedded players.

    With NAME, show the details of one task, or of one environment (by its id, its family, FILE.py or MODULE:NAME).
    """
    tasks = {task.name: task for task in all_tasks()}
    environments = environment_names()
    if texts:
        if name is None or name.partition("@")[0] not in environments:
            raise UsageError(f"--texts={texts[:60]}: give the id of an environment")
        click.echo(language_toml(resolve_environment(name), texts), nl=False)
    elif name is None:
        if as_json:
            tasks_json = [_task_json(task) for task in tasks.values()]
            environments_json = [_environment_json(registry.load(entry.id)) for entry in registry.entries]
            click.echo(dumps({"tasks": tasks_json, "environments": environments_json, "players": PLAYERS}))
        else:
            click.echo(_overview_text())
    elif name in tasks:
        click.echo(dumps(_task_json(tasks[name])) if as_json else _task_text(tasks[name]))
    elif name.partition("@")[0] in environments:
        environment = resolve_environment(name)
        click.echo(dumps(_environment_json(environment)) if as_json else _environment_text(environment))
    else:
        raise UsageError(unknown_name_message("task or environment", name, {**tasks, **environments}))


def _overview_text() -> str:
    """Return the tasks, environments and embedded players as text."""
    return _format_sections(
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


def _environment_text(environment: Environment[Any, Any, Any]) -> str:
    """Return the details of an environment as text: properties, options, template fields and metrics."""
    scoring = environment.scoring
    properties = [
        ("title", environment.title),
        ("levels", ", ".join(map(str, environment.items.sample_levels)) + _further_levels_text(environment)),
        ("wordings", ", ".join(_wording_names(environment))),
        ("languages", ", ".join(languages_of(environment))),
        ("public key", environment.items.public_key),
        ("players", ", ".join(_player_names(environment))),
        ("tasks", ", ".join(task.name for task in all_tasks() if environment.id in task.envs) or "none"),
    ]
    return _format_sections(
        (
            (f"{environment.id}@{environment.version}", properties),
            (
                'Play options (-T of run, play and generate, and "options" of stored replies)',
                _option_rows(environment.play_options),
            ),
            ("Item options (-T of generate and play)", _option_rows(environment.items.options)),
            *(
                (f"Fields of {part} in templates (wording=file:PATH)", rows)
                for part, rows in _template_field_rows(environment)
            ),
            ("Metrics", [(metric.name, _metric_description(metric)) for metric in scoring.metrics]),
            ("At each step", [(series.name, series.doc) for series in scoring.series]),
            (
                "Of a set of episodes",
                [(aggregate.name, _metric_description(aggregate)) for aggregate in scoring.aggregates],
            ),
        ),
        environment.about,
    )


def _further_levels_text(environment: Environment[Any, Any, Any]) -> str:
    """Return text on the levels after the sample levels, such as ", ... 40"; "" if there are none."""
    sample_levels, highest = environment.items.sample_levels, environment.items.highest_level
    if highest is None:
        return ", ..."
    return "" if highest == sample_levels[-1] else f", ... {highest}"


def _task_text(task: TaskEntry) -> str:
    """Return the details of a task as text: what it plays and costs, and its parameters."""
    properties = [("plays", ", ".join(task.envs)), ("summary", task.summary), *_cost_rows(task)]
    option_by_name = {option.name: option for option in task.options}
    free_names = [name for name, option in option_by_name.items() if len(option.choices) != 1]
    common_names = [name for name in _COMMON if name in free_names]
    special_names = [name for name in free_names if name not in _COMMON and name not in _RARE]
    first_names = [*common_names, *special_names][:_SHOWN]
    return _format_sections(
        (
            (task.name, properties),
            ("Parameters that matter most (run -T)", _option_rows([option_by_name[name] for name in first_names])),
            ("Other parameters", _option_rows([option for option in task.options if option.name not in first_names])),
        )
    )


def _cost_rows(task: TaskEntry) -> Rows:
    """Return the episodes, requests, prompt tokens and score bounds of a task at each level, from a sample of items."""
    if task.searches:  # results decide the levels and the number of episodes
        return ()
    items_by_level: dict[tuple[str, int], list[TaskItem]] = {}  # (environment's id, level) -> items
    episode_counts = Counter[tuple[str, int]]()
    args, parts = resolve_key(task.resolve({})), task.parts
    if task.climb is not None:  # it goes up level by level, one part each: only its first level is played for certain
        args |= {"level": task.climb.levels(args)[0], "limit": args["limit"] or task.climb.items}
        parts = parts[:1]
    try:
        for item in task_items(parts, args):
            env_level = item.environment.id, item.item.level
            items_by_level.setdefault(env_level, []).append(item)
            episode_counts[env_level] += item.attempts
    except WaybenchError:  # such as a data set that is not here
        return ()
    shown_levels = list(items_by_level.items())[:_SHOWN]
    has_several_environments = len({env_id for (env_id, _), _ in shown_levels}) > 1
    rows: list[tuple[str, str]] = []
    for (env_id, level), level_items in shown_levels:
        sampled, environment = evenly_spaced_values(level_items, _SAMPLED_ITEMS), level_items[0].environment
        episodes = [Episode[Any, Any, Any](environment, item.item, item.options) for item in sampled]
        prompt_letters = [sum(len(message.text) for message in episode.messages) for episode in episodes]
        prompt_tokens = [letters / _LETTERS_PER_TOKEN for letters in prompt_letters]
        turns = sorted({episode.turns_left for episode in episodes})
        climbs = " and on, while the model solves some" if task.climb is not None else ""
        fewest_turns = f"{turns[0]:,} to " if len(turns) > 1 else ""
        text = (
            f"{plural(episode_counts[env_id, level], 'episode')} at {environment.presentation.level} {level}{climbs}, "
            f"each of at most {fewest_turns}{plural(turns[-1], 'request')}, "
            f"a first prompt of about {short_count(round(mean(prompt_tokens)))} tokens"
        )
        item_by_options = {json.dumps(dict(item.options), sort_keys=True): item for item in sampled}
        bounds = {_score_bounds_text(environment, item) for item in item_by_options.values()}
        # Bounds that differ between options belong to no level as a whole.
        rows.append(
            (env_id if has_several_environments else "cost", f"{text}; {bounds.pop()}" if len(bounds) == 1 else text)
        )
    n_more = len(items_by_level) - len(shown_levels)
    more_levels = f"{plural(n_more, 'more level')}; " if n_more else ""
    return [
        *rows,
        ("in all", f"{more_levels}waybench run {task.name} --model MODEL --quote says requests, tokens and dollars"),
    ]


def _score_bounds_text(environment: Environment[Any, Any, Any], item: TaskItem) -> str:
    """Return the stored floor and ceiling of the headline metric at an item's level, or the metric's range."""
    from waybench.results.references import reference_setting  # numpy
    from waybench.results.references._stored import stored_scores

    metric = environment.scoring.metrics[0]
    stored = stored_scores(reference_setting(environment, item.item.level, item.options, {}))
    if stored is None or stored.ceiling is None:
        return f"{metric.title.lower()}: {metric.range_text}"
    best = min if metric.better == "lower" else max
    floors = [score.mean for score in (stored.silence, stored.random, stored.constant) if score is not None]
    floor = f"floor {best(floors):.3g}, " if floors else ""  # of the best player without a model
    return f"{metric.title.lower()}: {floor}ceiling {stored.ceiling.mean:.3g}"


def _option_rows(options: Sequence[Option]) -> Rows:
    """Return the name and the description of each option, with default, choices and range."""
    rows: list[tuple[str, str]] = []
    for parameter in options:
        default, values_text = parameter.default, ""
        if default is not None:
            default = f"={default if isinstance(default, str) else dumps(default)}"
        if parameter.choices:
            values_text = f" One of: {', '.join(parameter.all_choices)}."
        elif parameter.low is not None:
            values_text = f" From {parameter.low:.12g}{'' if parameter.high is None else f' to {parameter.high:.12g}'}."
        rows.append((parameter.name + (default or ""), parameter.doc + values_text))
    return rows


def _metric_description(metric: Metric | Aggregate) -> str:
    """Return what a metric measures, which values are better, and its range."""
    direction = f"{metric.better.capitalize()} is better." if metric.better else ""
    range_text = f"Range: {metric.range_text}." if isinstance(metric, Metric) else ""
    return " ".join(filter(None, (metric.doc, direction, range_text)))


def _wording_names(environment: Environment[Any, Any, Any]) -> list[str]:
    """Return the choices of an environment's option `wording`; none if it has no such option."""
    options = {option.name: option for option in environment.playing.options}
    return list(options["wording"].all_choices) if "wording" in options else []


def _template_field_rows(environment: Environment[Any, Any, Any]) -> list[tuple[str, Rows]]:
    """Return the template fields of the default wording, for rules and for observations."""
    defaults = environment.resolve_options({})
    return [
        (part, [(f"{{{field.name}}}", field.doc) for field in fields])
        for part, fields in template_fields(environment.playing.play(defaults).wording).items()
    ]


def _player_names(environment: Environment[Any, Any, Any]) -> list[str]:
    return [*PLAYERS, *sorted(environment.players.policies.keys() - PLAYERS.keys())]


def _format_sections(sections: Sequence[tuple[str, Rows]], preface: str = "") -> str:
    """Return titled tables as text, with the preface after the first one; empty tables are left out."""
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


def _task_json(task: TaskEntry) -> Json:
    return {
        "name": task.name,
        "envs": task.envs,
        "summary": task.summary,
        "options": [_option_json(option) for option in task.options],
    }


def _environment_json(environment: Environment[Any, Any, Any]) -> Json:
    """Return the details of an environment as JSON."""
    scoring = environment.scoring
    return {
        "id": environment.id,
        "version": environment.version,
        "title": environment.title,
        "about": environment.about,
        "smallest_level": environment.items.smallest_level,
        "highest_level": environment.items.highest_level,
        "sample_levels": environment.items.sample_levels,
        "wordings": _wording_names(environment),
        "languages": languages_of(environment),
        "fields": {
            part: [{"name": name[1:-1], "doc": doc} for name, doc in rows]
            for part, rows in _template_field_rows(environment)
        },
        "public_key": environment.items.public_key,
        "players": _player_names(environment),
        "options": [_option_json(option) for option in environment.play_options],
        "source_options": [_option_json(option) for option in environment.items.options],
        "metrics": [_metric_json(metric) for metric in scoring.metrics],
        "series": [{"name": series.name, "title": series.title, "doc": series.doc} for series in scoring.series],
        "aggregates": [
            {**_metric_json(aggregate), "metrics": [metric.name for metric in aggregate.metrics]}
            for aggregate in scoring.aggregates
        ],
    }


def _option_json(option: Option) -> Json:
    values = {name: getattr(option, name) for name in ("name", "default", "choices", "low", "high", "doc")}
    values["choices"] = option.all_choices
    return {**values, "type": option.type.__name__ + (" or int" if option.or_number else "")}


def _metric_json(metric: Metric | Aggregate) -> Json:
    return {name: getattr(metric, name) for name in ("name", "title", "unit", "low", "high", "better", "doc")}

"""What an embedded player comes to by a paper's command: the same items, options and estimates, without the engine."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from waybench.cli._run_settings import check_task_args
from waybench.core import Json, play_to_end, policy, resolve
from waybench.evaluation.tasks import find_task
from waybench.evaluation.tasks._items import task_items
from waybench.results import LoggedEpisode, by_level, overall
from waybench.results.papers import Embedded, PaperTable
from waybench.results.published import metric_estimate
from waybench.results.results import Row, rows


def parameters(table: PaperTable, one: Embedded) -> dict[str, Json]:
    """Return the parameters of the command that an embedded player plays; of several values the first."""
    command = table.commands[one.command]
    return {**command.parameters, **{name: values[0] for name, values in command.each.items()}, **one.parameters}


def came_out(table: PaperTable, one: Embedded) -> Mapping[str, float | None]:
    """Return the values of an embedded player's metrics."""
    measured = measured_rows(table, one)
    totals, levels = overall(measured), by_level(measured)
    # Series are of one level; several sets of one key each are averaged, as the papers do.
    estimates = levels if len(levels) == len(totals) else totals
    found = {metric: [metric_estimate(estimate, metric) for estimate in estimates] for metric in one.values}
    return {
        metric: None if None in means else fmean(mean.value for mean in means if mean)
        for metric, means in found.items()
    }


def measured_rows(table: PaperTable, one: Embedded) -> list[Row]:
    """Return the episodes of an embedded player at the items of a command."""
    [name] = [name for name in table.commands[one.command].tasks if one.env in find_task(name).envs][:1]
    entry = find_task(name)
    given: dict[str, Any] = {
        key: str(value).lower() if isinstance(value, bool) else value for key, value in parameters(table, one).items()
    }
    # A parameter of the command goes to those of its tasks that have it.
    given = {name: value for name, value in given.items() if any(option.name == name for option in entry.options)}
    checked = resolve(entry.options, check_task_args(entry, given), "parameter")
    # What a log says besides the record: how the items were drawn.
    drawn = {key: checked[key] for key in given if key not in {"source", "data_dir", "limit", "attempts"}}
    parts = [part for part in entry.parts if part.env == one.env]
    episodes = [
        LoggedEpisode(
            model=f"waybench/{one.player}",
            task=name,
            settings=drawn,
            record=play_to_end(
                played.environment, played.item, policy(one.player), dict(played.options), attempt=attempt
            ).record(),
        )
        for played in task_items(parts, checked)
        for attempt in range(1, played.attempts + 1)
    ]
    return rows(episodes)

"""The sides of a comparison: which logs and models the command line names, and their results."""

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from waybench.core import AGENT, UsageError, plural, unknown_name_message
from waybench.data import cache_folder
from waybench.ext.scale import is_url
from waybench.ext.scale._folders import download_folder

if TYPE_CHECKING:
    from waybench.core import Price
    from waybench.results import Row
    from waybench.results.comparisons import ItemScores
    from waybench.results.results import RunKey


_MOST_NAMES = 8  # of models in an error


class Side(NamedTuple):
    """One of the two things to compare.

    Attributes:
        folders: Where its logs are.
        model: The model's name, or the end of it, with " (AGENT)" for the model with this agent; "" for all models.
    """

    folders: tuple[Path, ...]
    model: str


def read_side(text: str, folders: tuple[Path, ...]) -> Side:
    """Read A or B of the command line: a folder, a file of records, FOLDER/MODEL, or a model's name."""
    if is_url(text):
        return Side((download_folder(text, cache_folder()),), "")
    path = Path(text)
    if os.path.isdir(path) or os.path.isfile(path):  # False also for a name that is too long to be one
        return Side((path.resolve(),), "")
    # FOLDER/MODEL: models' names have slashes, too, so the folder is the nearest parent with logs.
    for parent in path.parents:
        if next(parent.glob("*.eval"), None) and parent != Path():
            return Side((parent.resolve(),), path.relative_to(parent).as_posix())
    for folder in folders:
        if not os.path.isdir(folder) and not os.path.isfile(folder):
            raise UsageError(
                f"{text!r} is not a folder, and there is no folder {str(folder)!r} in which to look it up as a model: "
                "give a folder of logs with --in"
            )
    return Side(tuple(folder.resolve() for folder in folders), text)


class Player(NamedTuple):
    """The model of a side, with or without an agent.

    Attributes:
        model: The model; "" for all.
        agent: The agent around it; "" for the bare model, None for the model with and without agents.
    """

    model: str
    agent: str | None = None

    def includes(self, result: "ItemScores | RunKey") -> bool:
        """Return whether scores or rows are this player's."""
        return self.model in ("", result.model) and self.agent in (None, _agent_name(result))


def _agent_name(result: "ItemScores | RunKey") -> str:
    """Return the agent around the model of some scores or rows; "" for the bare model."""
    return str(result.settings.get(AGENT) or "")


def sides_of_two_models(side: Side, metric: str) -> tuple[Side, Side]:
    """Return the two models in a folder (or one model with and without an agent) as sides, sorted by name."""
    if side.model:
        raise UsageError(f"give B: another model or folder to compare {side.model!r} with, or a flag such as --twins")
    from waybench.results.results._groups import name_with_agent

    scores, rows = read_results(side.folders, metric)
    results = [*scores, *(row.group for row in rows)]
    models = {result.model for result in results}
    with_agents = {name_with_agent(result.model, _agent_name(result)) for result in results}
    names = sorted(models if len(models) == 2 else with_agents)
    if len(names) != 2:
        advice = "run another one, or give a second folder"
        if len(names) > 1:
            model_arguments = " ".join(map(shlex.quote, names[:2]))
            advice = f"give two of them, as in `waybench compare {model_arguments} --in {location_text(side)}`"
        raise UsageError(
            f"{location_text(side)} has results of {plural(len(names), 'model')}, {', '.join(names[:_MOST_NAMES])}"
            f"{', ...' if len(names) > _MOST_NAMES else ''}: {advice}"
        )
    return Side(side.folders, names[0]), Side(side.folders, names[1])


def location_text(side: Side) -> str:
    """Return the folders of a side, relative to the current one, as text."""
    current_folder = Path.cwd()
    return ", ".join(
        str(path.relative_to(current_folder) if path.is_relative_to(current_folder) else path) for path in side.folders
    )


def read_results(
    folders: tuple[Path, ...],
    metric: str,
    prices: "Mapping[str, Price] | None" = None,
    *,
    with_bounds: bool = False,
) -> "tuple[list[ItemScores], list[Row]]":
    """Read the scores of models at our tasks and at others, and the rows of our tasks.

    `metric` is "" for each task's headline metric. With `with_bounds` the rows have the floors and the ceilings of
    their items, for normalised scores.

    Raises:
        UsageError: If there are no scores, or none by this metric.
    """
    from waybench.results import read_logs
    from waybench.results.comparisons import item_scores
    from waybench.results.comparisons._models import foreign_scores
    from waybench.results.logs import Skipped
    from waybench.results.logs._logs import NoEpisodesError
    from waybench.results.results import measure_episodes, without_searches
    from waybench.results.results._anchors import with_reference_bounds

    reported_problems: set[Skipped] = set()

    def print_once(problem: Skipped) -> None:
        """Print a problem of the logs, unless it is printed already."""
        if problem not in reported_problems:  # the logs are read twice
            reported_problems.add(problem)
            click.echo(f"waybench: {problem}", err=True)

    foreign = foreign_scores(*folders, on_problem=print_once)
    try:
        episodes = read_logs(*folders, on_problem=print_once)
        measured_episodes, all_rows = measure_episodes(episodes, prices=prices, on_problem=print_once, confirm=True)
        if with_bounds:
            all_rows = with_reference_bounds((episode.record for episode in measured_episodes), all_rows)
    except NoEpisodesError:
        all_rows = []
    scores = [score for score in foreign if metric in ("", score.metric.name)]
    # Two searches for horizons share items by chance: they are compared by their horizons alone.
    rows_of_sets = without_searches(all_rows)
    if rows_of_sets:
        scores = [*item_scores(rows_of_sets, metric, needed=len(rows_of_sets) == len(all_rows) and not scores), *scores]
    if scores or len(rows_of_sets) < len(all_rows):
        return scores, all_rows
    if foreign:
        raise UsageError(unknown_name_message("metric", metric, {score.metric.name for score in foreign}))
    folder_names = ", ".join(map(str, folders))
    raise UsageError(
        f"no scores in {folder_names}: give a folder with logs from `waybench run` or another Inspect task"
    )


def player_of(side: Side, results: "Iterable[ItemScores | RunKey]") -> Player:
    """Return the player that a side names, out of those with results."""
    from waybench.results.results._groups import name_with_agent

    if not side.model:
        return Player("")
    player_by_name: dict[str, Player] = {}
    for result in results:
        player_by_name[result.model] = Player(result.model)
        if agent := _agent_name(result):
            player_by_name[name_with_agent(result.model, agent)] = Player(result.model, agent)
    if side.model in player_by_name:
        return player_by_name[side.model]
    matching_names = [name for name in player_by_name if name.endswith(f"/{side.model}")]
    if len(matching_names) > 1:
        raise UsageError(f"{side.model!r} is ambiguous: give one of {', '.join(sorted(matching_names))}")
    if not matching_names:
        raise UsageError(unknown_name_message("folder or model", side.model, player_by_name))
    return player_by_name[matching_names[0]]


def players_of(sides: Sequence[Side], results: "Sequence[Sequence[ItemScores | RunKey]]") -> list[Player]:
    """Return the players of both sides; a model that is compared with itself plus an agent is the bare model."""
    players = [player_of(*side) for side in zip(sides, results, strict=True)]
    first, second = players
    if sides[0].folders == sides[1].folders and first.model == second.model and first != second:
        return [player._replace(agent=player.agent or "") for player in players]
    return players

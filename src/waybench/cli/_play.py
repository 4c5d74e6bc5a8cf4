"""`waybench play`: a person in a model's place."""

import io
import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from waybench.cli._items import ItemChoice, ItemChoices
from waybench.cli._options import OUTPUT, ItemSettings, argument, option, with_parameters
from waybench.cli._output import lines
from waybench.cli._study import StudySettings, serve_study
from waybench.core import Episode, UsageError
from waybench.people import PlayedEpisode, play_lines, player_name, show_result


@click.command()
@with_parameters
def play(
    envs: tuple[str, ...] = argument("ENV...", required=True),
    *,
    settings: ItemSettings,
    index: int = option("Number of the item.", type=click.IntRange(min=0), default=0),
    prefix: str | None = option(
        "Steps that reference players take before you, such as oracle:5.", metavar="PLAYER:STEPS[+...]"
    ),
    hints: bool = option("Type `hint` to see the next move of a shortest solution."),
    record: str | None = option("Append the record to this file, as a JSON line.", type=OUTPUT),
    plain: bool = option("Play line by line, also where the terminal could show more."),
    player: str = option("Your name in the record and in reports.", default="", metavar="NAME"),
    study: StudySettings,
) -> None:
    """Play an item of ENV (an environment, its family or its task) in the terminal, or several in the browser.

    Rules, limits and records are the same as for a model. `waybench list ENV` shows what -T takes. Type `quit` to
    stop; the record is then kept without an end.

    With parameters of a task you play the items that `waybench run` gives a model: `waybench play gtb -T
    source=published`. You are not asked for thoughts: where a model is, the record has an empty reply. `waybench
    report FILE` compares the records with models. If FILE already has an attempt of yours at the item, this one is
    recorded as the next.

    With --web several people play in their browsers, each with a name or code, --items of each ENV in order: see
    docs/people.md. ENV can then be a file of JSON lines from `waybench generate`, too.
    """
    if prefix is not None:
        settings = replace(settings, options=(*settings.options, f"prefix={prefix}"))
    if study.web:
        serve_study(envs, settings, index, record, study)
        return
    if given := [f"--{name.replace('_', '-')}" for name, value in asdict(study).items() if value]:
        raise UsageError(f"{given[0]} is for --web: add --web, or leave it out")
    if len(envs) > 1:
        raise UsageError("several environments are for --web: add --web, or name one")
    chosen = ItemChoices(next(iter(envs)), settings).choose(index)
    name = player_name(player, hints=hints)
    attempt = 1 if record is None else 1 + _attempts(record, name, chosen)
    episode: Episode[Any, Any, Any] = Episode(
        chosen.environment, chosen.item, chosen.options, attempt=attempt, player=name
    )
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a block shows a question mark
    game = PlayedEpisode(episode, chosen.task, chosen.settings)
    if record is None:
        _play(game, hints, plain)
    else:
        with lines(record, append=True) as write:
            try:
                _play(game, hints, plain)
            finally:
                write(json.dumps(game.record(), sort_keys=True, separators=(",", ":")))
    show_result(game)


def _play(game: PlayedEpisode, hints: bool, plain: bool) -> None:
    """Play in a full screen where there is one, otherwise line by line."""
    if not plain and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        from waybench.people.screen import play_screen  # textual is loaded where it is needed

        play_screen(game, hints=hints)
        return
    with suppress(ImportError):
        import_module("readline")  # gives `input` its line editing, by being there
    play_lines(game, hints=hints)


def _attempts(record: str, player: str, chosen: ItemChoice) -> int:
    """Return how many attempts of a player at an item a file of records has."""
    if not os.path.isfile(record):
        return 0
    from waybench.results.logs import read_records  # which imports the analysis

    environment, item = chosen.environment, chosen.item
    options: dict[str, Any] = dict(Episode(environment, item, chosen.options).options)
    return sum(
        (each.model, each.record.env, each.record.instance_hash, each.record.item["id"], dict(each.record.options))
        == (player, environment.id, item.instance.hash, item.id, options)
        for each in read_records([Path(record)], lambda problem: None)
    )

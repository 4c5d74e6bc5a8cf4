"""`waybench play`: a person in a model's place."""

import io
import json
import os
import shutil
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any

import click

from waybench.cli._items import ItemChoice, ItemChoices
from waybench.cli._output import lines
from waybench.cli._params import OUTPUT, item_parameters, play_parameters
from waybench.cli._typed import reply_for
from waybench.core import Episode, Metric, Reply, Usage, UsageError, plural

_REPLIES = "Type the reply."
_LONGEST_NAME = 60  # characters of a player's


@click.command()
@click.argument("env")
@item_parameters
@play_parameters
@click.option("--index", type=click.IntRange(min=0), default=0, show_default=True, help="Number of the item.")
@click.option("--hints", is_flag=True, help="Type `hint` to see the next move of a shortest solution.")
@click.option("--record", type=OUTPUT, help="Append the record to this file, as a JSON line.")
@click.option("--player", default="", metavar="NAME", help="Your name in the record and in reports.")
def play(
    env: str,
    key: str | None,
    level: int | None,
    settings: tuple[str, ...],
    index: int,
    options: tuple[str, ...],
    parameters: tuple[str, ...],
    hints: bool,
    record: str | None,
    player: str,
) -> None:
    """Play an item of ENV (an environment, its family or its task) in the terminal.

    Rules, limits and records are the same as for a model. `waybench list ENV` shows the options for -O, -S and -T. Type
    `quit` to stop; the record is then kept without an end.

    With -T you play the items that `waybench run` gives a model: `waybench play gtb -T source=published`. You are not
    asked for thoughts: where a model is, the record has an empty reply. `waybench report FILE` compares the records
    with models. If FILE already has an attempt of yours at the item, this one is recorded as the next.
    """
    chosen = ItemChoices(env, key, level, settings, options, parameters).choose(index)
    name = _player(player, hints)
    attempt = 1 if record is None else 1 + _attempts(record, name, chosen)
    episode: Episode[Any, Any, Any] = Episode(
        chosen.environment, chosen.item, chosen.options, attempt=attempt, player=name
    )
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a block shows a question mark
    with suppress(ImportError):
        import_module("readline")  # gives `input` its line editing, by being there

    if record is None:
        _play(episode, hints)
    else:
        with lines(record, append=True) as write:
            try:
                _play(episode, hints)
            finally:
                data = {**episode.record().to_json(), "task": chosen.task, "settings": dict(chosen.settings)}
                write(json.dumps(data, sort_keys=True, separators=(",", ":")))
    _close(episode)


def _player(name: str, hints: bool) -> str:
    """Return what a record calls the player.

    Raises:
        UsageError: If the name is none that a table can show.
    """
    name = name.strip()
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise UsageError(f"--player {name[:40]!a}: give a name of at most {_LONGEST_NAME} printable characters")
    return f"human{f'/{name}' if name else ''}{' with hints' if hints else ''}"


def _attempts(record: str, player: str, chosen: ItemChoice) -> int:
    """Return how many attempts of a player at an item a file of records has."""
    if not os.path.isfile(record):
        return 0
    from waybench.analysis.logs import read_records  # which imports the analysis

    environment, item = chosen.environment, chosen.item
    options = environment.resolve_options(chosen.options)
    return sum(
        (each.model, each.record.env, each.record.instance_hash, each.record.item["id"], dict(each.record.options))
        == (player, environment.id, item.instance.hash, item.id, options)
        for each in read_records([Path(record)], lambda problem: None)
    )


def _play(episode: Episode[Any, Any, Any], hints: bool) -> None:
    item = episode.item
    click.secho(f"{episode.environment.id}, level {item.level}, item {item.id} of key {item.key_label}", bold=True)
    _show(episode, _without_thoughts(episode, "\n\n".join(message.text for message in episode.messages)))
    help_ = f"{episode.environment.typed_help or _REPLIES} Type quit to stop."
    click.secho(help_, dim=True)
    while not episode.done:
        started = monotonic()
        typed = _ask(episode)
        if typed is None or typed.lower() in ("quit", "q"):
            return
        if typed.lower() == "hint":
            click.echo(_hint(episode) if hints else "Hints are off: start with --hints to turn them on.")
        elif typed:
            reply = reply_for(typed, episode)
            if reply is None:
                click.echo(f"Not understood (it does not count as a reply). {help_}")
            else:
                turn = episode.step(Reply(reply, usage=Usage(seconds=monotonic() - started)))
                _show(episode, _without_thoughts(episode, turn.message))


def _without_thoughts(episode: Episode[Any, Any, Any], message: str) -> str:
    """Reply to requests for a thought with nothing, and return a message with the request for an action instead."""
    while question := episode.play.wording.thought_question(episode.state):
        message = message.removesuffix(question).rstrip()
        if episode.done:
            break
        message = f"{message}\n\n{episode.step(Reply('')).message}"
    return message


def _show(episode: Episode[Any, Any, Any], message: str) -> None:
    click.echo(f"\n{message}\n")
    # Last, for it should still be in sight while the next reply is typed, and messages are long.
    if sys.stdout.isatty() and (board := episode.environment.presentation.board) is not None:
        click.echo(board(episode.state, shutil.get_terminal_size().columns) + "\n")


def _ask(episode: Episode[Any, Any, Any]) -> str | None:
    """Return what the person types, several lines if a brace is left open; None at the end of the input."""
    left = episode.turns_left
    status = [f"{plural(left, 'request')} left"]
    status += [f"steps so far: {value:g}" for metric, value in _measured(episode) if metric.name == "steps"]
    click.secho(", ".join(status), dim=True)
    text, prompt = "", "> "
    while True:
        try:
            line = input(prompt)
        except EOFError:
            click.echo()
            return None
        if not sys.stdin.isatty():
            click.echo(line)  # a terminal shows what is typed; a transcript should too
        text = f"{text}\n{line}" if text else line
        if not line.strip() or text.count("{") <= text.count("}"):
            return text.strip()
        prompt = ". "


def _hint(episode: Episode[Any, Any, Any]) -> str:
    action = episode.environment.players["oracle"](episode.state, episode.stream("player oracle"))
    if episode.environment.format_typed is not None:
        return f"Hint: {episode.environment.format_typed(action)[0]}"
    return f"Hint: {episode.play.wording.render(action, episode.state)}"


def _close(episode: Episode[Any, Any, Any]) -> None:
    end = episode.end_reason
    click.secho("Stopped before the end." if end is None else f"{str(end).replace('_', ' ').capitalize()}.", bold=True)
    measured = _measured(episode)
    width = max((len(metric.title) for metric, _ in measured), default=0)
    for metric, value in measured:
        text = metric.labels[int(value)] if metric.labels else f"{value:g}"
        click.echo(f"  {metric.title:<{width}}  {text} {metric.unit}".rstrip())
    solution, format_typed = episode.item.proof.get("solution"), episode.environment.format_typed
    if solution and format_typed is not None:
        click.echo(f"A shortest solution: {', '.join(format_typed(episode.play.game.decode(solution)))}")


def _measured(episode: Episode[Any, Any, Any]) -> list[tuple[Metric, float]]:
    record = episode.record()
    values = [(metric, metric.of(record)) for metric in episode.environment.metrics]
    return [(metric, value) for metric, value in values if value is not None]

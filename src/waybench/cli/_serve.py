"""`waybench serve`: environments behind the protocols of other programs, on this machine."""

import os
import secrets
import signal
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from waybench.cli._options import KEY_FILE, argument, check_visible_key, option, with_parameters
from waybench.cli._parameters import assignments
from waybench.core import UsageError, plural, read_key
from waybench.envs import registry
from waybench.evaluation.tasks import resolve_environment
from waybench.ext.train import TRAINING_KEY, play_and_source_options

_FILE = click.Path(path_type=Path, dir_okay=False)
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


@click.group("serve", invoke_without_command=True)
@click.pass_context
def serve(context: click.Context) -> None:
    """Serve environments to other programs, by their protocols."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@serve.command("openenv", short_help="Serve an environment by OpenEnv's protocol.")
@with_parameters
def openenv(
    env: str = argument(),
    level: int | None = option("Level of episodes that name no split.  [default: the smallest]"),
    key: str = option("Key of the item set: a text, env:NAME or file:PATH.", default=TRAINING_KEY),
    parameters: tuple[str, ...] = option(
        "Option of ENV, as `waybench list ENV` shows them; repeatable.", "-T", metavar="KEY=VALUE"
    ),
    host: str = option("Address to listen on.", default="127.0.0.1"),
    port: int = option("Port to listen on.", type=click.IntRange(1, 65535), default=8000),
    hosts: tuple[str, ...] = option(
        "Name under which clients reach this server; repeatable. Requests under other names are refused.",
        "--allow-host",
        metavar="NAME",
    ),
    sessions: int = option("Most sessions at once.", type=click.IntRange(1, 10_000), default=16),
) -> None:
    """Serve ENV (an environment, its family or its task) for training programs that speak OpenEnv.

    `reset` takes a split and an index: "train-9" are the training items of level 9. Items of "train", "validation"
    and "test" share no instance. The server listens on this machine only, unless --host says otherwise: it asks for
    no password. Press Ctrl-C to stop.
    """
    check_visible_key(key)
    environment = resolve_environment(env)
    of_play, of_source = play_and_source_options(environment, assignments(parameters, "-T", "key=value"))
    face: Any = import_module("waybench.ext.train.openenv")
    uvicorn: Any = import_module("uvicorn")
    app = face.app(
        environment.id,
        sessions=sessions,
        hosts=(*_LOCAL, *hosts),
        key=read_key(key),
        level=level,
        source_options=of_source,
        **of_play,
    )
    click.echo(f"serve: {environment.id} at http://{host}:{port} (press Ctrl-C to stop)")
    uvicorn.run(app, host=host, port=port, log_level="warning", ws_max_size=face.LARGEST_BODY)


@serve.command("mcp", short_help="Let agent products play, by the Model Context Protocol.")
@with_parameters
def mcp(
    envs: tuple[str, ...] = argument("[ENV]..."),
    out: Path | None = option("File to which the records of episodes are appended, as JSON lines.", type=_FILE),
    player: str = option("The player's name in records.  [default: the client's]", default="", metavar="NAME"),
    key: str | None = option("Key of the item sets: a text, env:NAME or file:PATH.  [default: the public sets]"),
    key_file: str | None = KEY_FILE,
    parameters: tuple[str, ...] = option("Option of play of all episodes; repeatable.", "-T", metavar="KEY=VALUE"),
    port: int | None = option(
        "Serve HTTP on this port instead.", "--http", type=click.IntRange(1, 65535), metavar="PORT"
    ),
    token: str | None = option(
        "Token that clients have to send over HTTP: env:NAME or file:PATH.  [default: a new one]"
    ),
    sessions: int = option("Most episodes at once.", type=click.IntRange(1, 10_000), default=16),
) -> None:
    """Serve ENV... (by default all environments) to agents that speak the Model Context Protocol.

    An agent product starts this command by itself and speaks with it over standard input and output. With --http, it
    listens on this machine only, at http://127.0.0.1:PORT/mcp, and asks for a token. Episodes are separate, end after
    an hour without a request, and are recorded as those of any other player: give the file of --out to
    `waybench report`.
    """
    if key is not None and key_file is not None:
        raise UsageError("give --key or --key-file, not both")
    key = f"file:{key_file}" if key_file is not None else key
    if key is not None:
        check_visible_key(key)
    face: Any = import_module("waybench.ext.train.mcp")
    found = [resolve_environment(env).id for env in envs] or [entry.id for entry in registry.entries]
    episodes = face.AgentEpisodes(
        found,
        key=None if key is None else read_key(key),
        options=assignments(parameters, "-T", "key=value"),
        most=sessions,
        out=out,
        player=player,
    )
    made = face.server(episodes)
    try:
        if port is None:
            _stop_with(episodes.close)
            made.run("stdio")
            return
        secret = read_key(token) if token is not None else secrets.token_urlsafe(24)
        uvicorn: Any = import_module("uvicorn")
        click.echo(f"serve: {plural(len(found), 'environment')} at http://127.0.0.1:{port}/mcp (press Ctrl-C to stop)")
        if token is None:
            click.echo(f"token: {secret}")
        names = tuple(f"{name}:{port}" for name in _LOCAL)
        uvicorn.run(face.http_app(made, secret, names), host="127.0.0.1", port=port, log_level="warning")
    finally:
        episodes.close()


def _stop_with(close: Callable[[], None]) -> None:
    """End the program at Ctrl-C and SIGTERM: the thread that waits for standard input cannot be interrupted."""

    def stop(number: int, frame: object) -> None:
        close()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)

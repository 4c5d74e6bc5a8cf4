"""`waybench serve`: environments behind the protocols of other programs, on this machine."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from waybench.cli._choice import assignments
from waybench.cli._keys import check_visible_key
from waybench.core import Environment, Json, UsageError, read_key, unknown
from waybench.rl import TRAINING_KEY
from waybench.tasks import resolve_environment

_LOCAL = ("127.0.0.1", "localhost", "[::1]")


@click.group("serve", invoke_without_command=True)
@click.pass_context
def serve(context: click.Context) -> None:
    """Serve environments to other programs, by their protocols."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@serve.command("openenv", short_help="Serve an environment by OpenEnv's protocol.")
@click.argument("env")
@click.option("--level", type=int, help="Level of episodes that name no split.  [default: the smallest]")
@click.option(
    "--key",
    default=TRAINING_KEY,
    show_default=True,
    help="Key of the item set: a text, env:NAME or file:PATH.",
)
@click.option(
    "-T",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    help="Option of ENV, as `waybench list ENV` shows them; repeatable.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="Port to listen on.")
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Name under which clients reach this server; repeatable. Requests under other names are refused.",
)
@click.option(
    "--sessions", type=click.IntRange(1, 10_000), default=16, show_default=True, help="Most sessions at once."
)
def openenv(
    env: str,
    level: int | None,
    key: str,
    parameters: tuple[str, ...],
    host: str,
    port: int,
    hosts: tuple[str, ...],
    sessions: int,
) -> None:
    """Serve ENV (an environment, its family or its task) for training programs that speak OpenEnv.

    `reset` takes a split and an index: "train-9" are the training items of level 9. Items of "train", "validation"
    and "test" share no instance. The server listens on this machine only, unless --host says otherwise: it asks for
    no password. Press Ctrl-C to stop.
    """
    check_visible_key(key)
    environment = resolve_environment(env)
    of_play, of_source = _settings(environment, parameters)
    face: Any = import_module("waybench.rl.openenv")
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


def _settings(
    environment: Environment[Any, Any, Any], parameters: tuple[str, ...]
) -> tuple[Mapping[str, Json], Mapping[str, Json]]:
    """Return the options of play and those of the source that texts of -T give."""
    given = assignments(parameters, "-T", "key=value")
    of_play = {option.name for option in environment.play_options}
    of_source = {option.name for option in environment.source_options}
    for name in given:
        if name not in of_play | of_source:
            raise UsageError(unknown(f"option of {environment.id}", name, of_play | of_source))
    return (
        {name: value for name, value in given.items() if name in of_play},
        {name: value for name, value in given.items() if name in of_source},
    )

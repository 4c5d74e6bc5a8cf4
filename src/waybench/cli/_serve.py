"""`waybench serve`: environments behind the protocols of other programs, on this machine."""

import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from waybench.cli._choice import assignments
from waybench.cli._keys import check_visible_key
from waybench.cli._output import lines
from waybench.core import Json, UsageError, read_key
from waybench.rl import TRAINING_KEY, play_and_source_options
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
    of_play, of_source = play_and_source_options(environment, assignments(parameters, "-T", "key=value"))
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


@serve.command("mcp", short_help="Serve environments to agents that speak MCP.")
@click.argument("envs", nargs=-1, metavar="[ENV]...")
@click.option("--out", type=click.Path(file_okay=False), metavar="FOLDER", help="Folder for the records.")
@click.option(
    "--key", help="Key of the only set that agents play: a text, env:NAME or file:PATH.  [default: agents choose]"
)
@click.option(
    "-T",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    help="Option of each ENV that agents cannot change; repeatable.",
)
@click.option("--player", default="", metavar="NAME", help="Name of the agent in records.  [default: as it says]")
@click.option("--http", type=click.IntRange(0, 65535), metavar="PORT", help="Serve HTTP on this machine; 0: any port.")
@click.option("--sessions", type=click.IntRange(1, 1000), default=16, show_default=True, help="Most episodes at once.")
def mcp(
    envs: tuple[str, ...],
    out: str | None,
    key: str | None,
    parameters: tuple[str, ...],
    player: str,
    http: int | None,
    sessions: int,
) -> None:
    """Serve ENV (environments, their families or their tasks; all by default) to agents that speak MCP.

    An agent lists environments, starts episodes, acts by tools, and finishes. Rules, limits and records are those of
    any model. `waybench report` reads the records of --out; the player is "community/NAME", for nobody has verified the
    name that an agent gives itself.

    The server speaks over standard input and output, as agent products start it. With --http it listens on this machine
    only and shows a token, which clients send as a bearer token; the variable WAYBENCH_MCP_TOKEN sets it. See
    docs/howto/mcp.md.
    """
    if key is not None:
        check_visible_key(key)
    given = assignments(parameters, "-T", "key=value")
    if given and not envs:
        raise UsageError("-T is for environments that are named: name one")
    names = [resolve_environment(env).id for env in envs]
    face: Any = import_module("waybench.rl.mcp")
    with _records(out) as (write, attempts):
        games = face.Games(
            names,
            key=None if key is None else read_key(key),
            options=given,
            sessions=sessions,
            player=player,
            write=write,
            attempts=attempts,
        )
        try:
            if http is None:
                _stop_with(games.close)
                face.serve_stdio(games)
            else:
                _serve_http(face, games, http)
        finally:
            games.close()


def _serve_http(face: Any, games: Any, port: int) -> None:
    from waybench.view import ADDRESS, listen, new_token, serve_application

    token = os.environ.get("WAYBENCH_MCP_TOKEN") or new_token()
    listener, made = listen(port), face.server(games)
    app = face.http_app(made, games, token)
    click.echo(f"serve: http://{ADDRESS}:{listener.getsockname()[1]}/mcp (press Ctrl-C to stop)")
    click.echo(f"token: {token}")
    with suppress(KeyboardInterrupt):
        serve_application(app, listener, made.session_manager.run())


def _stop_with(close: Callable[[], None]) -> None:
    """End the program at Ctrl-C and SIGTERM, also while a thread waits for standard input."""

    def stop(number: int, frame: object) -> None:
        close()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


@contextmanager
def _records(
    out: str | None,
) -> Generator[tuple[Callable[[Mapping[str, Json]], None] | None, Mapping[Hashable, int]], None, None]:
    """Open a file of records in a folder.

    Yields:
        A function that writes a record, None without a folder; and how many attempts the folder's records have.
    """
    if out is None:
        yield None, {}
        return
    from waybench.analysis.logs import read_records  # which imports the analysis

    key: Any = import_module("waybench.rl.mcp").attempt_key
    folder = Path(out)
    attempts: Counter[Hashable] = Counter()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {out!r}: {error.strerror}; choose another folder") from None
    for each in read_records([folder], lambda problem: None):
        record = each.record
        attempts[key(each.model, record.env, record.instance_hash, record.item["id"], record.options)] += 1
    path = folder / f"mcp-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.jsonl"
    with lines(str(path), append=True) as line:
        yield lambda record: line(json.dumps(record, sort_keys=True, separators=(",", ":"))), attempts

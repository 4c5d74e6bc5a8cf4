"""`waybench play` and `waybench serve`: environments for people, in a terminal or a browser, and for other programs."""

import io
import json
import os
import secrets
import signal
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from waybench.cli._environments import EnvironmentName
from waybench.cli._items import ItemChoice, ItemChoices
from waybench.cli._options import (
    KEY_FILE,
    OUTPUT,
    ItemSettings,
    argument,
    key_reference,
    option,
    refuse_strong_key,
    with_parameters,
)
from waybench.cli._output import open_lines, to_stderr
from waybench.cli._run_settings import read_assignments
from waybench.core import (
    Episode,
    UsageError,
    is_array,
    is_object,
    open_private_file,
    plural,
    read_key,
    read_text_file,
    user_path,
)
from waybench.core._user_files import numbered_json_values
from waybench.envs import registry
from waybench.evaluation.tasks import resolve_environment
from waybench.ext.train import TRAINING_KEY
from waybench.ext.train._episode_file import EpisodeFile
from waybench.ext.train._session import split_play_and_source_options
from waybench.people import PlayedEpisode
from waybench.people._play import play_lines, recorded_player_name, show_result

_LONGEST_TEXT = 100_000  # characters of an introduction
_LARGEST_TEXT = 4 * _LONGEST_TEXT  # bytes
_LARGEST_ITEMS = 1 << 30  # bytes
_MOST_CODES, _LONGEST_CODE = 10_000, 40
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_RECORDS = click.Path(path_type=Path, dir_okay=False)
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_GRACE = 2  # seconds that a server waits for its clients when it stops
OUT = option("File to which the records of episodes are appended, as JSON lines.", type=_RECORDS)
ATTEMPTS = option("How often an item counts for a player.", type=click.IntRange(1, 1000), default=1)
TOKEN = option("Token that clients have to send over HTTP: env:NAME or file:PATH.  [default: a new one]")


@dataclass(frozen=True, slots=True)
class StudySettings:
    """A study of people, as the options of `waybench play` say."""

    web: bool = option("Play in the browser, on this machine alone; several people can.", default=False)
    attempts: int | None = option(
        "With --web: attempts at each item, one after the other.  [default: 1]", type=click.IntRange(1, 100)
    )
    items: int | None = option("With --web: number of items of each ENV.  [default: 1]", type=click.IntRange(min=1))
    codes: Path | None = option("With --web: file with a code in each line; nobody else can play.", type=_FILE)
    introduction: Path | None = option("With --web: text that people read and agree to first.", type=_FILE)
    text_only: bool = option("With --web: show the messages alone, without a board.", "--text", default=False)
    port: int | None = option("With --web: port; by default 7575 or the next free.", type=click.IntRange(0, 65535))
    open_browser: bool = option("With --web: open the page in the browser.", "--open", default=False)


@click.command()
@with_parameters
def play(
    envs: tuple[str, ...] = argument("ENV...", required=True, type=EnvironmentName()),
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

    ENV can be an environment of yours, too: FILE.py, FILE.py:NAME or MODULE:NAME.

    Rules, limits and records are the same as for a model. `waybench list ENV` shows what -T takes. Type `quit` to
    stop; the record is then kept without an end. A solution is shown after the task's last attempt at the item.

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
    if flags := [f"--{name.replace('_', '-')}" for name, value in asdict(study).items() if value]:
        raise UsageError(f"{flags[0]} is for --web: add --web, or leave it out")
    if len(envs) > 1:
        raise UsageError("several environments are for --web: add --web, or name one")
    choice = ItemChoices(next(iter(envs)), settings).choose(index)
    name = recorded_player_name(player, hints=hints)
    attempt = 1 if record is None else 1 + _count_attempts(record, name, choice)
    episode: Episode[Any, Any, Any] = Episode(
        choice.environment, choice.item, choice.options, attempt=attempt, player=name
    )
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a block shows a question mark
    game = PlayedEpisode(episode, choice.task, choice.settings)
    if record is None:
        _play_in_terminal(game, hints, plain)
    else:
        if record != "-":
            with suppress(OSError):  # `open_lines` says what is wrong
                open_private_file(Path(record), "ab").close()
        with open_lines(record, append=True) as write:
            try:
                _play_in_terminal(game, hints, plain)
            finally:
                write(json.dumps(game.record(), sort_keys=True, separators=(",", ":")))
    show_result(game, attempts_left=choice.attempts - attempt)


def _play_in_terminal(game: PlayedEpisode, hints: bool, plain: bool) -> None:
    """Play in full screen if the terminal can, otherwise line by line."""
    if not plain and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        from waybench.people.screen import play_screen

        play_screen(game, hints=hints)
        return
    with suppress(ImportError):
        import_module("readline")  # gives `input` its line editing, by being there
    play_lines(game, hints=hints)


def _count_attempts(path: str, player: str, choice: ItemChoice) -> int:
    """Return the number of a player's attempts at an item in a file of records; 0 without the file."""
    if not os.path.isfile(path):
        return 0
    from waybench.results.logs._record_files import read_records

    environment, item = choice.environment, choice.item
    options: dict[str, Any] = dict(Episode(environment, item, choice.options).options)
    return sum(
        (recorded.model, recorded.record.env, recorded.record.instance_hash, recorded.record.item["id"])
        == (player, environment.id, item.instance.hash, item.id)
        and dict(recorded.record.options) == options
        for recorded in read_records([Path(path)], lambda problem: None)
    )


def serve_study(
    envs: Sequence[str], settings: ItemSettings, index: int, record: str | None, study: StudySettings
) -> None:
    """Serve the items of some environments to people, until interrupted."""
    from waybench.people.web._app import study_application
    from waybench.people.web._study import Study
    from waybench.reporting.view._serve import address_with_token, new_token, open_listener, serve_application

    if record is None or record == "-":
        raise UsageError("--web needs a file for the records: add --record FILE")
    choices = [choice for env in envs for choice in _study_items(env, settings, index, study.items)]
    study_of_people = Study(
        choices,
        Path(record),
        codes=None if study.codes is None else _read_codes(study.codes),
        introduction="" if study.introduction is None else _read_short_text(study.introduction),
        text_only=study.text_only,
        attempts=study.attempts or 1,
    )
    listener, token = open_listener(study.port), new_token()
    url = address_with_token(listener, token)
    click.echo(f"play: {url} (press Ctrl-C to stop)")
    attempts = f" with {study.attempts} attempts each" if (study.attempts or 1) > 1 else ""
    click.echo(f"{plural(len(choices), 'item')}{attempts}; records go to {record}")
    if study.open_browser:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    try:
        serve_application(study_application(study_of_people, listener.getsockname()[1], token), listener)
    except KeyboardInterrupt:
        to_stderr(f"stopped; start again with the same options to go on, or run: waybench report {record}")


def _study_items(env: str, settings: ItemSettings, index: int, count: int | None) -> list[ItemChoice]:
    """Return the different items of an environment, a task or a file of instances, from an index on."""
    if env.endswith((".jsonl", ".json")) and user_path(env).is_file():
        source = ItemChoices(_environment_id_of_file(user_path(env)), replace(settings, parameters=(f"source={env}",)))
        count = source.space if count is None else count
    else:
        source = ItemChoices(env, settings)
    indices = range(index, index + (count or 1))
    # A set such as the three disks of SmartPlay repeats its one item for each trial; a study repeats with --attempts.
    choice_by_hash: dict[str, ItemChoice] = {}
    for choice in map(source.choose, indices):
        choice_by_hash.setdefault(choice.item.instance.hash, choice)
    if len(choice_by_hash) < len(indices):
        to_stderr(
            f"{env}: {plural(len(choice_by_hash), 'different item')} among the {len(indices)}; each is taken once"
        )
    return list(choice_by_hash.values())


def _environment_id_of_file(path: Path) -> str:
    """Return the environment id in the first line of a file of instances."""
    description = "a file of `waybench generate`"
    _, value = next(
        numbered_json_values(read_text_file(path, _LARGEST_ITEMS, description), str(path), description), (0, None)
    )
    value = value[0] if is_array(value) and value else value  # a file can be one array of instances
    if not is_object(value) or not isinstance(value.get("env"), str):
        raise UsageError(f"{path}: its first line names no environment: give a file of `waybench generate`")
    return str(value["env"])


def _read_codes(path: Path) -> list[str]:
    """Return the codes of players in a file, one a line; raise a UsageError for codes that are unfit."""
    lines = [" ".join(line.split()) for line in _read_short_text(path).splitlines()]
    codes = [line for line in lines if line]
    if not codes or len(codes) > _MOST_CODES or len(set(codes)) < len(codes):
        raise UsageError(f"{path}: give a code in each line, at most {_MOST_CODES}, none of them twice")
    for code in codes:
        if len(code) > _LONGEST_CODE or not code.isprintable():
            raise UsageError(
                f"{path}: {code[:_LONGEST_CODE]!a} is no code: use at most {_LONGEST_CODE} printable characters"
            )
    return codes


def _read_short_text(path: Path) -> str:
    """Return the text of a file; raise a UsageError if it is too long."""
    text = read_text_file(path, _LARGEST_TEXT, "a text")
    if len(text) > _LONGEST_TEXT:
        raise UsageError(f"{path}: it has more than {_LONGEST_TEXT:,} characters: shorten it")
    return text.strip()


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
    out: Path | None = OUT,
    player: str = option("The player's name in records.", default="openenv", metavar="NAME"),
    attempts: int = ATTEMPTS,
    token: str | None = TOKEN,
    no_token: bool = option("Ask for no token, on a machine that nobody else reaches.", default=False),
    web: bool = option("Show OpenEnv's page at /web, for people to play; no records.", default=False),
) -> None:
    """Serve ENV (an environment, its family or its task) for training programs that speak OpenEnv.

    `reset` takes a split and an index: "train-9" are the training items of level 9. Items of "train", "validation"
    and "test" share no instance. The server listens on this machine only, unless --host says otherwise, asks for a
    token, and refuses pages of other sites. Press Ctrl-C to stop.
    """
    if no_token and token is not None:
        raise UsageError("--no-token: leave out --token, or this")
    refuse_strong_key(key)
    environment = resolve_environment(env)
    play_options, source_options = split_play_and_source_options(
        environment, read_assignments(parameters, "-T", "key=value")
    )
    openenv_module: Any = import_module("waybench.ext.train.openenv")
    episode_file = EpisodeFile(out, attempts)
    accepted_token = None if no_token else _token(token)
    app = openenv_module.app(
        environment.id,
        token=accepted_token,
        web=web,
        file=episode_file,
        player=player,
        sessions=sessions,
        hosts=(*_LOCAL, *hosts),
        key=read_key(key),
        level=level,
        source_options=source_options,
        **play_options,
    )
    click.echo(f"serve: {environment.id} at http://{host}:{port} (press Ctrl-C to stop)")
    if token is None and accepted_token is not None:
        click.echo(f"token: {accepted_token}")
    if web:
        click.echo(
            f"page: http://{host}:{port}/web/" + ("" if token or accepted_token is None else f"?token={accepted_token}")
        )
    _serve_http(app, host, port, episode_file.end_open_episodes, ws_max_size=openenv_module.LARGEST_BODY)


@serve.command("mcp", short_help="Let agent products play, by the Model Context Protocol.")
@with_parameters
def mcp(
    envs: tuple[str, ...] = argument("[ENV]..."),
    out: Path | None = OUT,
    player: str = option("The player's name in records.  [default: the client's]", default="", metavar="NAME"),
    key: str | None = option("Key of the item sets: a text, env:NAME or file:PATH.  [default: the public sets]"),
    key_file: str | None = KEY_FILE,
    parameters: tuple[str, ...] = option("Option of play of all episodes; repeatable.", "-T", metavar="KEY=VALUE"),
    port: int | None = option(
        "Serve HTTP on this port instead.", "--http", type=click.IntRange(1, 65535), metavar="PORT"
    ),
    token: str | None = TOKEN,
    attempts: int = ATTEMPTS,
    sessions: int = option("Most episodes at once.", type=click.IntRange(1, 10_000), default=16),
) -> None:
    """Serve ENV... (by default all environments) to agents that speak the Model Context Protocol.

    An agent product starts this command by itself and speaks with it over standard input and output. With --http, it
    listens on this machine only, at http://127.0.0.1:PORT/mcp, and asks for a token. Episodes are separate, end after
    an hour without a request, and are recorded as those of any other player: give the file of --out to
    `waybench report`. An item counts once for a player (--attempts), and an episode that is left before its end counts
    as failed. No tool gives an agent a record or a solution.
    """
    key = key_reference(key, key_file)
    mcp_module: Any = import_module("waybench.ext.train.mcp")
    ids = [resolve_environment(env).id for env in envs] or [entry.id for entry in registry.entries]
    episodes = mcp_module.AgentEpisodes(
        ids,
        key=None if key is None else read_key(key),
        options=read_assignments(parameters, "-T", "key=value"),
        most=sessions,
        out=out,
        attempts=attempts,
        player=player,
    )
    server = mcp_module.server(episodes)
    if port is None:
        _close_on_signals(episodes.end_all_episodes)
        try:
            server.run("stdio")
        finally:
            episodes.end_all_episodes()
        return
    accepted_token = _token(token)
    click.echo(f"serve: {plural(len(ids), 'environment')} at http://127.0.0.1:{port}/mcp (press Ctrl-C to stop)")
    if token is None:
        click.echo(f"token: {accepted_token}")
    host_names = tuple(f"{name}:{port}" for name in _LOCAL)
    _serve_http(mcp_module.http_app(server, accepted_token, host_names), "127.0.0.1", port, episodes.end_all_episodes)


def _token(given: str | None) -> str:
    """Return a new random token, or the one that is given as a text or a reference."""
    return secrets.token_urlsafe(24) if given is None else read_key(given)


def _serve_http(app: Any, host: str, port: int, close: Callable[[], None], **settings: Any) -> None:
    """Serve an application until Ctrl-C or SIGTERM, then call `close`; open streams of clients do not delay the end."""
    uvicorn: Any = import_module("uvicorn")
    _close_on_signals(close)  # uvicorn raises the signal again when it has stopped
    try:
        uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=_GRACE, **settings)
    finally:
        close()


def _close_on_signals(close: Callable[[], None]) -> None:
    """On Ctrl-C and SIGTERM, call `close` and exit at once: a thread that waits for input cannot be interrupted.

    The exit status is 128 and the signal's number, as shells report it.
    """

    def close_and_exit(number: int, frame: object) -> None:
        close()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, close_and_exit)


@serve.command("game", short_help="Serve one item as a game, beside an agent's box.")
@with_parameters
def game(
    item: Path = option("The item, as `waybench export --format harbor` writes it.", required=True),
    record: Path = option("File of the record, which is replaced after each turn.", required=True),
    host: str = option("Address to listen on.", default="127.0.0.1"),
    port: int = option("Port to listen on.", type=click.IntRange(1, 65535), default=8000),
) -> None:
    """Serve one episode of one item: /look, /act, /mcp, /health, and /record for who has the token.

    The directories that `waybench export --format harbor` writes run the same in a box of its own.
    """
    from waybench._game import serve_item

    serve_item(item, record, host, port)

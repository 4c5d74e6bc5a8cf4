"""The Model Context Protocol: agent products play episodes through tools. Needs the extra `mcp`.

    waybench serve mcp --out agent.jsonl

The tools are `environments`, `options`, `start`, `look`, `act` and `finish`. Prompts, limits, outcomes and records
are those of any other player.
"""

import json
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, TextContent
from pydantic import Field
from starlette.types import ASGIApp

from waybench._version import __version__
from waybench.core import (
    WORDING,
    Environment,
    Json,
    ToolCall,
    UsageError,
    WaybenchError,
    is_tool_name,
    object_schema,
    unknown_name_message,
    write_calls,
)
from waybench.envs import registry
from waybench.ext.train._access import TokenAccess
from waybench.ext.train._episode_file import EpisodeFile
from waybench.ext.train._session import IDLE, LARGEST_BODY, Session, SessionTurn, play_and_source_options

_NAME = 80  # characters of a client's name in records
_REFERENCES = ("env:", "file:", "record:")  # by which values name variables and files of this machine

INSTRUCTIONS = """\
These tools play episodes of waybench, which measures how well a player finds its way. List the environments, start an \
episode, answer its prompt with `act` until it is done, and finish it. Each `act` is one reply, in the form that the \
prompt asks for; the number of replies is limited."""
# The SDK reads texts for any type but `str` as JSON where they can be read so, which a reply must never be.
_ABSENT = cast(str, None)
Name = Annotated[str, Field(description="The episode's name, as `start` gave it")]


@dataclass(slots=True)
class _Open:
    """An episode that is not finished.

    Attributes:
        session: Its session.
        turn: The last turn.
        used: When it was used last.
        is_over: Whether it has ended, and its record has been written.
    """

    session: Session
    turn: SessionTurn
    used: float
    is_over: bool = False


class AgentEpisodes:
    """Episodes by names that only the client knows that started them.

    An agent never receives a record, an instance or a solution, whichever tool it calls. All methods raise a UsageError
    for an unknown episode or environment.

    Args:
        environments: Ids of the environments that are offered.
        key: Key of the only item sets, which no client learns; if None, clients choose a key, by default the public
            set's.
        options: Options of play, which are the same for all episodes; each must belong to all environments.
        most: Most episodes at once.
        out: File to which records are appended, as JSON lines (`EpisodeFile`); None for no file.
        attempts: How often an item counts in this file for a player.
        player: The name of the player in records; by default the client's name.
        clock: Returns the time in seconds.

    Raises:
        UsageError: For an unknown environment or option, or a file that cannot be written.
    """

    def __init__(
        self,
        environments: Sequence[str],
        *,
        key: str | None = None,
        options: Mapping[str, Json] | None = None,
        most: int = 16,
        out: Path | None = None,
        attempts: int = 1,
        player: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environments: dict[str, Environment[Any, Any, Any]] = {
            name: registry.load(name) for name in dict.fromkeys(environments)
        }
        self._options = dict(options or {})
        for environment in self._environments.values():
            environment.resolve_options(self._options)
        self._key, self._most, self._player, self._clock = key, most, player, clock
        self._open: dict[str, _Open] = {}
        self._file = EpisodeFile(out, attempts)

    def __len__(self) -> int:
        """Return the number of episodes that are not finished."""
        return len(self._open)

    def environments(self) -> list[dict[str, Json]]:
        """Return the environments that are offered, with their levels."""
        return [
            {
                "environment": environment.id,
                "title": environment.title,
                "smallest_level": environment.items.smallest_level,
                "some_levels": list(environment.items.sample_levels),
                "about": " ".join(environment.about.split("\n\n", 1)[0].split())[:500],
            }
            for environment in self._environments.values()
        ]

    def options(self, environment: str) -> list[dict[str, Json]]:
        """Return the options of an environment that a client can set."""
        chosen = self._environment(environment)
        return [
            {"name": option.name, "default": option.default, "choices": list(option.choices), "about": option.doc}
            for option in (*chosen.play_options, *chosen.items.options)
            if option.name not in self._options
        ]

    def start(
        self,
        environment: str,
        level: int | None,
        index: int,
        attempt: int,
        client: str,
        *,
        key: str | None = None,
        options: Mapping[str, Json] | None = None,
    ) -> dict[str, Json]:
        """Start an episode at an item of a level (the smallest if None), for a client by its name.

        Returns:
            The episode's name and its first prompt, and where records are kept whether it counts; with tools as
            interface, also the actions.

        Raises:
            UsageError: For an unknown level, item or option, for what the server has fixed, or if there are too many
                episodes.
        """
        chosen = self._environment(environment)
        self._check_options(chosen, options or {})
        play, of_source = play_and_source_options(chosen, {**(options or {}), **self._options})
        self.free_idle()
        if len(self._open) >= self._most:
            raise UsageError(f"{len(self._open)} episodes are open, the maximum: finish one of yours, or wait")
        key = self._check_key(key) or chosen.items.public_key
        session = Session(chosen, key=key, level=level, source_options=of_source, legal_actions=0, **play)
        player = self._player or f"agent/{_printable(client) or 'unnamed'}"
        turn = session.start(index, attempt, player)
        name = secrets.token_urlsafe(16)
        self._open[name] = _Open(session, turn, self._clock())
        started = {"episode": name, "item": turn.info["item"], "level": turn.info["level"], **_turn_json(turn)}
        if self._file.path is not None:
            assert session.episode is not None
            settings: dict[str, Json] = {"interface": "mcp", "client": _printable(client)}
            started["counts"] = self._file.begin(session.episode, settings)
        if turn.done:
            self._end(self._open[name])
        return {**started, "actions": actions} if (actions := _actions(session)) else started

    def look(self, name: str) -> dict[str, Json]:
        """Return the present prompt of an episode again: all of its messages."""
        turn = self._find(name).turn
        return {"messages": turn.messages, "done": turn.done}

    def act(self, name: str, reply: str | None = None, action: Mapping[str, Json] | None = None) -> dict[str, Json]:
        """Carry out a reply, or an action that `start` has given, and return the answer to it.

        Raises:
            UsageError: If the episode is over, or not one of both is given.
        """
        opened = self._find(name)
        if (reply is None) == (action is None):
            raise UsageError("give a reply, or an action where start has given actions: one of them")
        if action is not None:
            if not _acts_by_tools(opened.session):
                raise UsageError('this episode takes replies; actions are for the option "interface": "tools"')
            reply = _call(action)
        assert reply is not None
        if len(reply) > LARGEST_BODY:
            raise UsageError(f"the reply is longer than {LARGEST_BODY:,} characters")
        opened.turn = opened.session.reply(reply)
        if opened.turn.done:
            self._end(opened)
        return _turn_json(opened.turn)

    def finish(self, name: str) -> dict[str, Json]:
        """End an episode and return its outcome. One that is not over counts as failed."""
        opened = self._find(name)
        self._free(name)
        return _turn_json(opened.turn) if opened.turn.done else {"text": "", "done": True, "end": "abandoned"}

    def close(self) -> None:
        """Free all episodes, as when the server stops; those that are not over count as failed."""
        for name in list(self._open):
            self._free(name)

    def _environment(self, name: str) -> Environment[Any, Any, Any]:
        if name not in self._environments:
            raise UsageError(unknown_name_message("environment", name, self._environments))
        return self._environments[name]

    def _check_options(self, environment: Environment[Any, Any, Any], options: Mapping[str, Json]) -> None:
        local = {option.name for option in environment.items.options if option.local}
        for name, value in options.items():
            if name in self._options:
                raise UsageError(f"the server has fixed the option {name[:60]}: leave it out")
            if name in local or (isinstance(value, str) and any(reference in value for reference in _REFERENCES)):
                raise UsageError(f"option {name[:60]}: a client cannot name files of the server")

    def _check_key(self, key: str | None) -> str | None:
        if key is not None and self._key is not None:
            raise UsageError("the items of this server are of one set: leave the key out")
        if key is not None and key.startswith(_REFERENCES):
            raise UsageError("give the key of a set itself: a client cannot name files of the server")
        return self._key if key is None else key

    def _find(self, name: str) -> _Open:
        self.free_idle()
        if name not in self._open:
            raise UsageError(f"there is no episode {name[:40]!r}: it was finished, or unused for too long; start one")
        opened = self._open[name]
        opened.used = self._clock()
        return opened

    def free_idle(self) -> None:
        """Free the episodes that nobody has used for an hour."""
        latest = self._clock() - IDLE
        for name in [name for name, opened in self._open.items() if opened.used < latest]:
            self._free(name)

    def _free(self, name: str) -> None:
        self._end(self._open.pop(name))

    def _end(self, opened: _Open) -> None:
        if not opened.is_over:
            opened.is_over = True
            assert opened.session.episode is not None
            self._file.end(opened.session.episode)


def _turn_json(turn: SessionTurn) -> dict[str, Json]:
    """Return what a player of an evaluation sees of a turn, and at the end how the episode ended.

    Outcomes of turns and their reasons stay in the record: models in an evaluation have the text alone.
    """
    names = ("end", "metrics")
    return {"text": turn.text, "done": turn.done, **{name: turn.info[name] for name in names if name in turn.info}}


def _printable(name: str) -> str:
    return "".join(sign for sign in " ".join(name.split()) if sign.isprintable())[:_NAME]


def _acts_by_tools(session: Session) -> bool:
    return is_tool_name(session.options[WORDING])


def _actions(session: Session) -> list[dict[str, Json]]:
    """Return the tools that the environment declares; none where the player replies with texts."""
    if session.episode is None or not _acts_by_tools(session):
        return []
    tools = session.episode.play.wording.tools(session.episode.state)
    return [{"name": tool.name, "about": tool.doc, "arguments": object_schema(tool.parameters)} for tool in tools]


def _call(action: Mapping[str, Json]) -> str:
    """Return the call of a tool as the raw reply of a record; whether it fits is the episode's to say."""
    name, arguments = action.get("name"), action.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict) or action.keys() - {"name", "arguments"}:
        raise UsageError('an action has the form {"name": ..., "arguments": {...}}')
    return write_calls("", [ToolCall(name, arguments)])


def server(episodes: AgentEpisodes) -> MCPServer[Any]:
    """Return the server of some episodes."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_free_idle, episodes)
            yield
            tasks.cancel_scope.cancel()

    mcp_server: MCPServer[Any] = MCPServer(
        "waybench", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR", lifespan=lifespan
    )

    @mcp_server.tool()
    async def environments() -> CallToolResult:
        """List the environments, with their levels of difficulty."""
        return _tool_result(lambda: {"environments": episodes.environments()})

    @mcp_server.tool()
    async def options(
        environment: Annotated[str, Field(description="Id of the environment, as `environments` lists it")],
    ) -> CallToolResult:
        """List the options of an environment, which `start` takes."""
        return _tool_result(lambda: {"options": episodes.options(environment)})

    @mcp_server.tool()
    async def start(
        context: Context[Any, Any],
        environment: Annotated[str, Field(description="Id of the environment, as `environments` lists it")],
        level: Annotated[int | None, Field(description="Level of difficulty; the smallest by default")] = None,
        index: Annotated[int, Field(description="Number of the item in its set, from 0")] = 0,
        attempt: Annotated[int, Field(description="Number of the attempt at the item, from 1")] = 1,
        key: Annotated[str, Field(description="Key of the item set; the public set by default")] = _ABSENT,
        options: Annotated[dict[str, Any] | None, Field(description="Options, as `options` lists them")] = None,
    ) -> CallToolResult:
        """Start an episode. Returns the prompt, the episode's name for the other tools, and whether it counts.

        An item counts once; whoever leaves an episode before its end has failed at the item.
        """
        client = _client(context)
        return _tool_result(
            lambda: episodes.start(environment, level, index, attempt, client, key=key, options=options)
        )

    @mcp_server.tool()
    async def look(episode: Name) -> CallToolResult:
        """Return the prompt for the next reply again, with all messages that belong to it."""
        return _tool_result(lambda: episodes.look(episode))

    @mcp_server.tool()
    async def act(
        episode: Name,
        reply: Annotated[str, Field(description="The reply, in the form that the prompt asks for")] = _ABSENT,
        action: Annotated[
            dict[str, Any] | None,
            Field(description='Where `start` has given actions, one of them: {"name": ..., "arguments": {...}}'),
        ] = None,
    ) -> CallToolResult:
        """Give a reply or an action. Returns the answer, and at the end how the episode ended, with its metrics."""
        return _tool_result(lambda: episodes.act(episode, reply, action))

    @mcp_server.tool()
    async def finish(episode: Name) -> CallToolResult:
        """Finish an episode and return its outcome. An episode that is not over counts as failed, for good."""
        return _tool_result(lambda: episodes.finish(episode))

    return mcp_server


def http_app(mcp_server: MCPServer[Any], token: str, hosts: tuple[str, ...]) -> ASGIApp:
    """Return the server's application for HTTP, at the path /mcp.

    Args:
        mcp_server: The server.
        token: What clients have to send as "Authorization: Bearer TOKEN".
        hosts: Host names, with their ports, that requests may use.
    """
    origins = [f"http://{host}" for host in hosts]
    security = TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins)
    app = mcp_server.streamable_http_app(max_request_body_size=LARGEST_BODY, transport_security=security)
    return TokenAccess(app, token)


async def _free_idle(episodes: AgentEpisodes) -> None:
    while True:
        await anyio.sleep(IDLE / 60)
        episodes.free_idle()


def _tool_result(work: Callable[[], Mapping[str, Json]]) -> CallToolResult:
    """Return the result of some work, or raise the error that the client shows to the agent.

    The environment's text is a block of its own, as models in an evaluation see it: a map within JSON is no map.
    """
    try:
        result = dict(work())
    except WaybenchError as error:
        raise ToolError(str(error)) from None
    texts = [result.pop("text")] if "text" in result else []
    blocks = [str(text).encode("utf-8", "backslashreplace").decode() for text in (*texts, json.dumps(result))]
    return CallToolResult(content=[TextContent(type="text", text=block) for block in blocks])


def _client(context: Context[Any, Any]) -> str:
    """Return the name of the client, as it gave it when it connected."""
    params = context.request_context.session.client_params
    return "" if params is None else params.client_info.name

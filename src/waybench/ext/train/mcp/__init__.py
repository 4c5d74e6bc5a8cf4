"""The Model Context Protocol: agent products play episodes through tools. Needs the extra `mcp`.

    waybench serve mcp --out agent.jsonl

The tools are `environments`, `options`, `start`, `look`, `act` and `finish`; the prompt `play` asks an agent to play
items, and each episode has its rules and its board as resources. Prompts, limits, outcomes and records are those of
any other player. `_episodes` has the episodes, without the protocol.
"""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, cast

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field
from starlette.types import ASGIApp

from waybench._version import __version__
from waybench.core import Json, UsageError, WaybenchError
from waybench.ext.train._access import TokenAccess
from waybench.ext.train._session import IDLE, LARGEST_BODY
from waybench.ext.train.mcp._episodes import AgentEpisodes

INSTRUCTIONS = """\
These tools play episodes of waybench, which measures how well a player finds its way. List the environments, start an \
episode, answer its prompt with `act` until it is done, and finish it. Each `act` is one reply, in the form that the \
prompt asks for; the number of replies is limited."""
# The default of optional texts: for any other type than `str`, the SDK would read a text such as "1" as JSON.
_ABSENT = cast(str, None)
Name = Annotated[str, Field(description="The episode's name, as `start` gave it")]

# Nothing outside the server is read or changed. A reply only adds to an episode; `finish` ends it for good.
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_ENDS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


class OfferedEnvironment(BaseModel):
    """An environment that the server offers."""

    environment: str = Field(description="Id, for `start` and `options`")
    title: str
    smallest_level: int
    some_levels: list[int]
    about: str = Field(description="What the player does")


class EnvironmentList(BaseModel):
    """The result of `environments`."""

    environments: list[OfferedEnvironment]


class OfferedOption(BaseModel):
    """An option of an environment."""

    name: str
    default: Any
    choices: list[Any] = Field(description="The values; an empty list for any of the default's type")
    about: str


class OptionList(BaseModel):
    """The result of `options`."""

    options: list[OfferedOption]


class ChatMessage(BaseModel):
    """A message of a prompt."""

    role: str
    content: str


class Prompt(BaseModel):
    """The result of `look`."""

    messages: list[ChatMessage] = Field(description="The prompt for the next reply")
    done: bool = Field(description="Whether the episode is over")


class Turn(BaseModel):
    """The result of `act` and `finish`."""

    text: str = Field(description="The environment's answer; at the start its prompt")
    done: bool = Field(description="Whether the episode is over")
    end: str = Field(default="", description="How the episode ended; missing before its end")
    metrics: dict[str, float | None] = Field(default={}, description="Metrics at the end; null if undefined")


class OfferedAction(BaseModel):
    """An action that `act` takes in place of a reply."""

    name: str
    about: str
    arguments: dict[str, Any] = Field(description="JSON Schema of the arguments")


class Start(Turn):
    """The result of `start`."""

    episode: str = Field(description="The episode's name, for the other tools")
    item: str = Field(description="The item's id")
    level: int
    counts: bool = Field(default=False, description="Whether the episode will be in the server's records")
    actions: list[OfferedAction] = Field(default=[], description="With the option interface=tools, for `act`")


def server(episodes: AgentEpisodes) -> MCPServer[Any]:
    """Return the MCP server of some episodes."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncGenerator[None]:
        """Free idle episodes for as long as the server runs."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_free_idle_episodes, episodes)
            yield
            tasks.cancel_scope.cancel()

    mcp_server: MCPServer[Any] = MCPServer(
        "waybench", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR", lifespan=lifespan
    )

    @mcp_server.tool(title="List environments", annotations=_READS)
    async def environments() -> Annotated[CallToolResult, EnvironmentList]:
        """List the environments, with their levels of difficulty."""
        return _tool_result(lambda: {"environments": episodes.environments()})

    @mcp_server.tool(title="List options", annotations=_READS)
    async def options(
        environment: Annotated[str, Field(description="Id of the environment, as `environments` lists it")],
    ) -> Annotated[CallToolResult, OptionList]:
        """List the options of an environment, which `start` takes."""
        return _tool_result(lambda: {"options": episodes.options(environment)})

    @mcp_server.tool(title="Start an episode", annotations=_ADDS)
    async def start(
        context: Context[Any, Any],
        environment: Annotated[str, Field(description="Id of the environment, as `environments` lists it")],
        level: Annotated[int | None, Field(description="Level of difficulty; the smallest by default")] = None,
        index: Annotated[int, Field(description="Number of the item in its set, from 0")] = 0,
        attempt: Annotated[int, Field(description="Number of the attempt at the item, from 1")] = 1,
        key: Annotated[str, Field(description="Key of the item set; the public set by default")] = _ABSENT,
        options: Annotated[dict[str, Any] | None, Field(description="Options, as `options` lists them")] = None,
    ) -> Annotated[CallToolResult, Start]:
        """Start an episode. Returns the prompt, the episode's name for the other tools, and whether it counts.

        An item counts once; whoever leaves an episode before its end has failed at the item.
        """
        client = _client_name(context)
        return _tool_result(
            lambda: episodes.start(environment, level, index, attempt, client, key=key, options=options)
        )

    @mcp_server.tool(title="Show the prompt again", annotations=_READS)
    async def look(episode: Name) -> Annotated[CallToolResult, Prompt]:
        """Return the prompt for the next reply again, with all messages that belong to it."""
        return _tool_result(lambda: episodes.prompt_of(episode))

    @mcp_server.tool(title="Reply", annotations=_ADDS)
    async def act(
        episode: Name,
        reply: Annotated[str, Field(description="The reply, in the form that the prompt asks for")] = _ABSENT,
        action: Annotated[
            dict[str, Any] | None,
            Field(description='Where `start` has given actions, one of them: {"name": ..., "arguments": {...}}'),
        ] = None,
    ) -> Annotated[CallToolResult, Turn]:
        """Give a reply or an action. Returns the answer, and at the end how the episode ended, with its metrics."""
        return _tool_result(lambda: episodes.act(episode, reply, action))

    @mcp_server.tool(title="Finish an episode", annotations=_ENDS)
    async def finish(episode: Name) -> Annotated[CallToolResult, Turn]:
        """Finish an episode and return its outcome. An episode that is not over counts as failed, for good."""
        return _tool_result(lambda: episodes.finish(episode))

    @mcp_server.prompt(title="Play items")
    async def play(
        environment: Annotated[str, Field(description="Id of the environment, as the tool `environments` lists it")],
        level: Annotated[str, Field(description="Level of difficulty; the smallest by default")] = "",
        first: Annotated[str, Field(description="Number of the first item, from 0")] = "0",
        count: Annotated[str, Field(description="Number of items")] = "1",
    ) -> str:
        """Ask the agent to play items of an environment, and to use no other tools for it."""
        return _text_or_protocol_error(lambda: episodes.request_to_play(environment, level, first, count))

    @mcp_server.resource("waybench://episodes/{episode}/rules", title="Rules", mime_type="text/plain")
    async def rules(episode: str) -> str:
        """Return the rules of an episode, as its first prompt has them."""
        return _text_or_protocol_error(lambda: episodes.rules(episode))

    @mcp_server.resource("waybench://episodes/{episode}/board", title="Board", mime_type="image/svg+xml")
    async def board(episode: str) -> str:
        """Return a picture of what the messages of an episode tell. Its record then has the setting `pictures`."""
        return _text_or_protocol_error(lambda: episodes.picture(episode))

    return mcp_server


def http_app(mcp_server: MCPServer[Any], token: str, hosts: tuple[str, ...]) -> ASGIApp:
    """Return the ASGI application of the server, at the path /mcp.

    Clients send the token as "Authorization: Bearer TOKEN". `hosts` are the hosts, with ports, that requests may use.
    """
    origins = [f"http://{host}" for host in hosts]
    security = TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins)
    app = mcp_server.streamable_http_app(max_request_body_size=LARGEST_BODY, transport_security=security)
    return TokenAccess(app, token)


async def _free_idle_episodes(episodes: AgentEpisodes) -> None:
    """Free idle episodes every minute, for ever."""
    while True:
        await anyio.sleep(IDLE / 60)
        episodes.free_idle_episodes()


def _tool_result(compute_result: Callable[[], Mapping[str, Json]]) -> CallToolResult:
    """Return a computed result as a tool's result, or raise the error that the agent is shown.

    The environment's text is a block of its own, as models in an evaluation see it: within JSON, a map of several
    lines would be unreadable.
    """
    try:
        result = _escape_surrogates(dict(compute_result()))
    except WaybenchError as error:
        raise ToolError(str(error)) from None
    structured_fields = {name: value for name, value in result.items() if name != "text"}
    text_blocks = [*([str(result["text"])] if "text" in result else []), json.dumps(structured_fields)]
    content = [TextContent(type="text", text=block) for block in text_blocks]
    return CallToolResult(content=content, structured_content=result)


def _text_or_protocol_error(compute_text: Callable[[], str]) -> str:
    """Return a computed text, or raise the protocol's error for wrong parameters."""
    try:
        return _escape_surrogates(compute_text())
    except UsageError as error:
        raise MCPError(INVALID_PARAMS, str(error)) from None


def _escape_surrogates(value: Any) -> Any:
    """Return a JSON value without lone surrogates, which no message can carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {name: _escape_surrogates(part) for name, part in value.items()}
    return [_escape_surrogates(part) for part in value] if isinstance(value, list | tuple) else value


def _client_name(context: Context[Any, Any]) -> str:
    """Return the name that the client gave when it connected."""
    params = context.request_context.session.client_params
    return "" if params is None else params.client_info.name

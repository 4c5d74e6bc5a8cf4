"""The tools of the Model Context Protocol's server, over standard input and output or HTTP."""

import json
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, cast

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, TextContent
from pydantic import Field
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from waybench._version import __version__
from waybench.core import Json, WaybenchError
from waybench.ext.train._session import IDLE, LARGEST_BODY
from waybench.ext.train.mcp._episodes import AgentEpisodes

INSTRUCTIONS = """\
These tools play episodes of waybench, which measures how well a player finds its way. List the environments, start an \
episode, answer its prompt with `act` until it is done, and finish it. Each `act` is one reply, in the form that the \
prompt asks for; the number of replies is limited."""

# The SDK reads texts for any type but `str` as JSON where they can be read so, which a reply must never be.
_ABSENT = cast(str, None)
Name = Annotated[str, Field(description="The episode's name, as `start` gave it")]


def server(episodes: AgentEpisodes) -> MCPServer[Any]:
    """Return the server of some episodes.

    Args:
        episodes: The episodes.
    """

    @asynccontextmanager
    async def freeing(_: MCPServer[Any]) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_free_idle, episodes)
            yield
            tasks.cancel_scope.cancel()

    made: MCPServer[Any] = MCPServer(
        "waybench", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR", lifespan=freeing
    )

    @made.tool()
    async def environments() -> CallToolResult:
        """List the environments, with their levels of difficulty."""
        return _said(lambda: {"environments": episodes.environments()})

    @made.tool()
    async def options(
        environment: Annotated[str, Field(description="Id of the environment, as `environments` lists it")],
    ) -> CallToolResult:
        """List the options of an environment, which `start` takes."""
        return _said(lambda: {"options": episodes.options(environment)})

    @made.tool()
    async def start(
        context: Context[Any, Any],
        environment: Annotated[str, Field(description="Id of the environment, as `environments` lists it")],
        level: Annotated[int | None, Field(description="Level of difficulty; the smallest by default")] = None,
        index: Annotated[int, Field(description="Number of the item in its set, from 0")] = 0,
        attempt: Annotated[int, Field(description="Number of the attempt at the item, from 1")] = 1,
        key: Annotated[str, Field(description="Key of the item set; the public set by default")] = _ABSENT,
        options: Annotated[dict[str, Any] | None, Field(description="Options, as `options` lists them")] = None,
    ) -> CallToolResult:
        """Start an episode. Returns the prompt, and the episode's name for the other tools."""
        client = _client(context)
        return _said(lambda: episodes.start(environment, level, index, attempt, client, key=key, options=options))

    @made.tool()
    async def look(episode: Name) -> CallToolResult:
        """Return the prompt for the next reply again, with all messages that belong to it."""
        return _said(lambda: episodes.look(episode))

    @made.tool()
    async def act(
        episode: Name,
        reply: Annotated[str, Field(description="The reply, in the form that the prompt asks for")] = _ABSENT,
        action: Annotated[
            dict[str, Any] | None,
            Field(description='Where `start` has given actions, one of them: {"name": ..., "arguments": {...}}'),
        ] = None,
    ) -> CallToolResult:
        """Give a reply or an action. Returns the answer, and at the end how the episode ended, with its metrics."""
        return _said(lambda: episodes.act(episode, reply, action))

    @made.tool()
    async def finish(episode: Name) -> CallToolResult:
        """Finish an episode and return its outcome and record. An episode that is not over counts as unfinished."""
        return _said(lambda: episodes.finish(episode))

    return made


def http_app(made: MCPServer[Any], token: str, hosts: tuple[str, ...]) -> ASGIApp:
    """Return the server's application for HTTP, at the path /mcp.

    Args:
        made: The server.
        token: What clients have to send as "Authorization: Bearer TOKEN".
        hosts: The names, with their ports, under which the server may be asked.
    """
    origins = [f"http://{host}" for host in hosts]
    security = TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins)
    app = made.streamable_http_app(max_request_body_size=LARGEST_BODY, transport_security=security)
    return _Guarded(app, token)


class _Guarded:
    """Refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._wanted = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(given, self._wanted):
                text = "Send the token that `waybench serve mcp` printed, as Authorization: Bearer TOKEN\n"
                await PlainTextResponse(text, 401)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _free_idle(episodes: AgentEpisodes) -> None:
    while True:
        await anyio.sleep(IDLE / 60)
        episodes.free_idle()


def _said(work: Callable[[], Mapping[str, Json]]) -> CallToolResult:
    """Return the result of some work, or raise the error that the client shows to the agent.

    The environment's text is a block of its own, as models in an evaluation see it: a map within JSON is no map.
    """
    try:
        found = dict(work())
    except WaybenchError as error:
        raise ToolError(str(error)) from None
    texts = [found.pop("text")] if "text" in found else []
    blocks = [str(text).encode("utf-8", "backslashreplace").decode() for text in (*texts, json.dumps(found))]
    return CallToolResult(content=[TextContent(type="text", text=block) for block in blocks])


def _client(context: Context[Any, Any]) -> str:
    """Return the name of the client, as it gave it when it connected."""
    params = context.request_context.session.client_params
    return "" if params is None else params.client_info.name

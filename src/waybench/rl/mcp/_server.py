"""The tools of the Model Context Protocol's server, over standard input and output or HTTP."""

import secrets
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from waybench._version import __version__
from waybench.core import Json, WaybenchError
from waybench.rl.mcp._episodes import AgentEpisodes

LARGEST_BODY = 1 << 20  # bytes of a request
INSTRUCTIONS = """\
These tools play episodes of waybench, which measures how well a player finds its way. List the environments, start an \
episode, answer its prompt with `act` until it is done, and finish it. Each `act` is one reply, in the form that the \
prompt asks for; the number of replies is limited."""

T = TypeVar("T")
Name = Annotated[str, Field(description="The episode's name, as `start` gave it")]


def server(episodes: AgentEpisodes) -> MCPServer[Any]:
    """Return the server of some episodes.

    Args:
        episodes: The episodes.
    """
    made: MCPServer[Any] = MCPServer("waybench", version=__version__, instructions=INSTRUCTIONS, log_level="ERROR")

    @made.tool()
    async def environments() -> list[dict[str, Json]]:
        """List the environments, with their levels of difficulty."""
        return episodes.environments()

    @made.tool()
    async def start(
        context: Context[Any, Any],
        environment: Annotated[str, Field(description="Id of the environment, as `environments` lists it")],
        level: Annotated[int | None, Field(description="Level of difficulty; the smallest by default")] = None,
        index: Annotated[int, Field(description="Number of the item in its set, from 0")] = 0,
        attempt: Annotated[int, Field(description="Number of the attempt at the item, from 1")] = 1,
    ) -> dict[str, Json]:
        """Start an episode. Returns its name, and the prompt as `text`."""
        return _said(lambda: episodes.start(environment, level, index, attempt, _client(context)))

    @made.tool()
    async def look(episode: Name) -> dict[str, Json]:
        """Return the prompt for the next reply again, with all messages that belong to it."""
        return _said(lambda: episodes.look(episode))

    @made.tool()
    async def act(
        episode: Name,
        reply: Annotated[str, Field(description="The reply, in the form that the prompt asks for")],
    ) -> dict[str, Json]:
        """Give a reply. Returns the answer as `text`, and at the end how the episode ended, with its metrics."""
        return _said(lambda: episodes.act(episode, reply))

    @made.tool()
    async def finish(episode: Name) -> dict[str, Json]:
        """Finish an episode and return its record. An episode that is not over counts as unfinished."""
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


def _said(work: Callable[[], T]) -> T:
    """Do a work; an error of waybench is told to the client, which is to do something about it."""
    try:
        return work()
    except WaybenchError as error:
        raise ToolError(str(error)) from None


def _client(context: Context[Any, Any]) -> str:
    """Return the name of the client, as it gave it when it connected."""
    params = context.request_context.session.client_params
    return "" if params is None else params.client_info.name

"""The server: the official SDK's, with our tools."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from secrets import compare_digest
from typing import Any

import anyio
from anyio.to_thread import run_sync
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from waybench._version import __version__
from waybench.core import UsageError, WaybenchError
from waybench.rl._limits import LARGEST_BODY
from waybench.rl.mcp._games import Answer, Client, Games
from waybench.rl.mcp._tools import TOOLS, check_arguments

_INSTRUCTIONS = (
    "Environments that test how well you find your way. Choose one with list_environments, start an episode, follow "
    "the rules in its prompt, and act until it is over; then finish it. Play without other sources on the item."
)
_HEADER = "mcp-session-id"  # of the versions of the protocol that have sessions over HTTP


def server(games: Games) -> "Server[Any]":
    """Return the server of some games."""

    async def list_tools(
        context: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(
            tools=[Tool(name=name, description=tool.doc, input_schema=tool.schema) for name, tool in TOOLS.items()]
        )

    async def call_tool(context: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        try:
            call = _bound(games, params, _client(context))
            # In a thread, since an item can take seconds; a call that is given up is still carried out to its end.
            return _result(await run_sync(call))
        except WaybenchError as error:
            return CallToolResult(content=[_text(str(error))], is_error=True)

    @asynccontextmanager
    async def lifespan(_: "Server[Any]") -> AsyncGenerator[dict[str, Any]]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_free_idle, games)
            yield {}
            tasks.cancel_scope.cancel()

    return Server(
        "waybench",
        version=__version__,
        instructions=_INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _free_idle(games: Games) -> None:
    while True:
        await anyio.sleep(games.idle / 4)
        await run_sync(games.free_idle)


def _client(context: ServerRequestContext[Any, Any]) -> Client:
    said = context.session.client_params
    headers = getattr(context.request, "headers", None)
    connection = None if headers is None else headers.get(_HEADER)
    if said is None:
        return Client(connection=connection)
    return Client(said.client_info.name, said.client_info.version, connection)


def _bound(games: Games, params: CallToolRequestParams, client: Client) -> Callable[[], Answer]:
    arguments = check_arguments(params.name, params.arguments or {})
    match params.name:
        case "list_environments":
            return partial(games.environments, **arguments)
        case "start":
            return partial(games.start, client=client, **arguments)
        case "look":
            return partial(games.look, **arguments)
        case "act":
            return partial(games.act, **arguments)
        case "finish":
            return partial(games.finish, **arguments)
        case _:
            raise UsageError(f"the tool {params.name[:60]} cannot be called")


def _result(answer: Answer) -> CallToolResult:
    """Return the environment's text as it is, for a map in JSON is no map, and the rest after it."""
    return CallToolResult(content=[_text(answer.text), _text(json.dumps(answer.data))])


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text.encode("utf-8", "backslashreplace").decode())


def serve_stdio(games: Games) -> None:
    """Serve one client over standard input and output, until it closes them."""
    made = server(games)

    async def run() -> None:
        async with stdio_server() as (read, write):
            await made.run(read, write, made.create_initialization_options())

    anyio.run(run)


def http_app(made: "Server[Any]", games: Games, token: str) -> ASGIApp:
    """Return the application for clients on this machine, at /mcp.

    It answers inside `made.session_manager.run()`.

    Args:
        made: What `server` returned.
        games: Its games.
        token: What clients have to send: "Authorization: Bearer TOKEN".
    """
    app = made.streamable_http_app(
        json_response=True,
        max_request_body_size=LARGEST_BODY,
        session_idle_timeout=games.idle,
        max_sessions=4 * games.sessions,  # connections, which can play several episodes or none
        host="127.0.0.1",  # with which the SDK refuses requests under other names
    )
    return _Authorized(app, token, games.leave)


class _Authorized:
    """Refuses requests without the token, and says which connection its client has ended."""

    def __init__(self, app: ASGIApp, token: str, leave: Callable[[str], None]) -> None:
        self._app, self._token, self._leave = app, token, leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not compare_digest(given.strip().encode(), self._token.encode()):
            refused = PlainTextResponse(
                "Send the token that `waybench serve mcp` has shown: Authorization: Bearer TOKEN\n",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)
        if scope["method"] == "DELETE" and (ended := headers.get(_HEADER)):
            await run_sync(self._leave, ended)

"""A server on this machine's own address."""

import os
import signal
import socket
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_urlsafe

import anyio
import uvicorn
from starlette.types import ASGIApp

from waybench.core import UsageError
from waybench.view._app import application
from waybench.view._site import Site
from waybench.view._watch import Outcome, keep_built

ADDRESS = "127.0.0.1"
DEFAULT_PORT = 7575
_NEXT = 20  # ports that are tried after the default one


def listen(port: int | None = None) -> socket.socket:
    """Return a socket that listens on this machine's own address, which no other machine reaches.

    Args:
        port: Its port, 0 for any free one; by default 7575, or the next free one after it.

    Raises:
        UsageError: If it cannot be had.
    """
    if port is None:
        for candidate in range(DEFAULT_PORT, DEFAULT_PORT + _NEXT):
            with suppress(OSError):
                return _bound(candidate)
        return _bound(0)
    try:
        return _bound(port)
    except OSError as error:
        raise UsageError(f"port {port} is not available ({error.strerror}): choose another port with --port") from None


def _bound(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would share the port with whoever has it
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def address(listener: socket.socket, token: str) -> str:
    """Return the address under which a browser finds what a socket serves to those who have a token."""
    return f"http://{ADDRESS}:{listener.getsockname()[1]}/?token={token}"


def new_token() -> str:
    """Return a random token, which nobody can guess."""
    return token_urlsafe(24)


class Server(uvicorn.Server):
    """The server of an application."""

    def __init__(self, app: ASGIApp) -> None:
        settings = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        super().__init__(settings)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave Ctrl-C to the event loop, which cancels all that runs in it."""
        yield


def serve_application(app: ASGIApp, listener: socket.socket) -> None:
    """Serve an application until interrupted.

    Args:
        app: What answers the requests, which come from this machine alone; see `Guard` and `Access`.
        listener: Where requests come in; it is closed in the end.

    Raises:
        KeyboardInterrupt: When the user ends it.
    """
    server = Server(app)

    async def run() -> None:
        try:
            await server.serve([listener])
        finally:
            with anyio.CancelScope(shield=True):
                await server.shutdown([listener])

    anyio.run(run)


def serve(
    build: Callable[[], Outcome],
    listener: socket.socket,
    site: Path,
    folders: Iterable[Path],
    *,
    token: str,
    title: str,
    start: Mapping[str, str],
    every: float,
    tell: Callable[[str], None],
) -> None:
    """Serve a site, and build it again whenever its logs change, until interrupted.

    Args:
        build: Builds the site; it is pickled and called in another process.
        listener: Where requests come in; it is closed in the end.
        site: The site's folder.
        folders: Where the logs are.
        token: What a browser has to know; `address` has it.
        title: The title of the page that is shown until there is a site.
        start: What this page proposes until there is something to show: commands, each after what it does.
        every: Least number of seconds from one build to the next.
        tell: Is given lines for the terminal.

    Raises:
        KeyboardInterrupt: When the user ends it.
    """
    logs = tuple(folders)
    shown = Site(site, title, start, folders=logs)
    server = Server(application(shown, listener.getsockname()[1], token))

    async def run() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_built, build, shown, logs, every, tell)
            try:
                await server.serve([listener])
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would only interrupt the clearing up
                with anyio.CancelScope(shield=True):
                    await server.shutdown([listener])

    before = signal.getsignal(signal.SIGINT)
    try:
        anyio.run(run)
    finally:
        signal.signal(signal.SIGINT, before)

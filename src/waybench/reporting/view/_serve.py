"""A server on this machine's own address, which builds the site again when its logs change."""

import os
import signal
import socket
import traceback
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, NamedTuple

import anyio
import anyio.from_thread
import uvicorn
from anyio import to_process, to_thread
from starlette.types import ASGIApp

from waybench.core import UsageError
from waybench.reporting.view._app import LiveSite, site_application

LogStates = dict[Path, tuple[int, int]]  # size in bytes, and modification time in nanoseconds


class BuildOutcome(NamedTuple):
    """The result of building a site.

    Attributes:
        notes: Lines for the terminal.
        problem: Why there is no new site; "" if there is one.
        empty: Whether there is no site since there are no episodes yet.
    """

    notes: tuple[str, ...] = ()
    problem: str = ""
    empty: bool = False


_LOG_PATTERNS = ("*.eval", "*.jsonl", "*.jsonl.gz")


def log_states(folders: Iterable[Path]) -> LogStates:
    """Return the size and modification time of each log and file of records in folders, at any depth, or of files."""
    states: LogStates = {}
    for folder in folders:
        is_file = os.path.isfile(folder)
        for path in [folder] if is_file else [p for pattern in _LOG_PATTERNS for p in folder.rglob(pattern)]:
            try:
                status = path.stat()
            except OSError:  # deleted since it was found
                continue
            states[path] = (status.st_size, status.st_mtime_ns)
    return states


@contextmanager
def block_interrupts() -> Generator[None, None, None]:
    """Block Ctrl-C within the block, and for good in processes that are started in it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    original_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, original_mask)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C in this process, where `block_interrupts` cannot."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def build_or_report_bug(build: Callable[[], BuildOutcome]) -> BuildOutcome:
    """Build the site; an unexpected error becomes an outcome with its traceback."""
    try:
        return build()
    except Exception:
        return BuildOutcome((traceback.format_exc(),), "building the report failed; this is a bug in waybench")


async def rebuild_on_change(
    build: Callable[..., BuildOutcome],
    site: LiveSite,
    folders: Iterable[Path],
    every: float,
    tell: Callable[[str], None],
) -> None:
    """Build the site now, and again whenever its logs have changed or a replay without a page is opened.

    This goes on until it is cancelled.

    Args:
        build: Builds the site; it is pickled and called in another process, so that a long build does not hold up the
            server and can be ended at any time.
        site: The site, whose waiting page shows the outcome.
        folders: Where the logs are.
        every: Seconds between two checks of the logs, but at least as many as the last build took.
        tell: Receives lines for the terminal; lines of the previous build are not repeated.
    """
    built_states: LogStates | None = None
    replay_opened = anyio.Event()
    site.call = lambda: anyio.from_thread.run_sync(replay_opened.set)
    printed: set[str] = set()
    while True:
        pause = every
        states = await to_thread.run_sync(log_states, folders)
        wanted_replays, replay_opened = site.wanted, anyio.Event()
        if states != built_states or wanted_replays != site.built:
            built_states, began = states, anyio.current_time()
            outcome = await _build_in_process(partial(build, replays=wanted_replays) if wanted_replays else build)
            site.built = wanted_replays
            pause = max(every, anyio.current_time() - began)
            site.hint = outcome.empty
            if outcome.empty:
                site.message = "No episodes yet; this page reloads when there are."
            elif outcome.problem:
                site.message = f"There is no report yet: {outcome.problem}"
            lines = list(outcome.notes)
            if outcome.problem and not outcome.empty:
                lines.append(f"Error: {outcome.problem}")
            for line in lines:
                if line not in printed:
                    tell(line)
            printed = set(lines)
        with anyio.move_on_after(pause):
            await replay_opened.wait()


async def _build_in_process(build: Callable[[], BuildOutcome]) -> BuildOutcome:
    """Build the site in another process, which is started if there is none yet."""
    try:
        # Ctrl-C reaches every process of a terminal; the other one ends with this one, without a traceback.
        with block_interrupts():
            await to_process.run_sync(ignore_interrupts)
        return await to_process.run_sync(build_or_report_bug, build, cancellable=True)
    except anyio.BrokenWorkerProcess:
        return BuildOutcome(problem="the process that builds the report ended; it starts again when a log changes")


ADDRESS = "127.0.0.1"
DEFAULT_PORT = 7575
_N_PORTS_TRIED = 20  # from the default port on


def open_listener(port: int | None = None) -> socket.socket:
    """Return a socket that listens on this machine's loopback address.

    Args:
        port: Its port, 0 for any free one; by default 7575, or the next free one after it.

    Raises:
        UsageError: If the port is not available.
    """
    if port is None:
        for candidate in range(DEFAULT_PORT, DEFAULT_PORT + _N_PORTS_TRIED):
            with suppress(OSError):
                return _bind(candidate)
        return _bind(0)  # none of them is free: the system chooses a port
    try:
        return _bind(port)
    except OSError as error:
        raise UsageError(f"port {port} is not available ({error.strerror}): choose another port with --port") from None


def _bind(port: int) -> socket.socket:
    """Return a socket that listens on a port, 0 for any free one; raise OSError if the port is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # So that the port is free again at once after a server ended; on Windows, two servers would share a port.
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def address_with_token(listener: socket.socket, token: str) -> str:
    """Return the address under which a browser finds the served site, with the token."""
    return f"http://{ADDRESS}:{listener.getsockname()[1]}/?token={token}"


def new_token() -> str:
    """Return a random token."""
    return token_urlsafe(24)


class AppServer(uvicorn.Server):
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


def serve_application(
    app: ASGIApp, listener: socket.socket, *background: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Serve an application until interrupted.

    Args:
        app: Answers the requests, which come from this machine alone; see `Guard` and `Access`.
        listener: Where requests come in; it is closed in the end.
        *background: Functions whose coroutines run beside the server, in the same event loop.

    Raises:
        KeyboardInterrupt: When the user ends it.
    """
    server = AppServer(app)

    async def run_server() -> None:
        async with anyio.create_task_group() as tasks:
            for job in background:
                tasks.start_soon(job)
            try:
                await server.serve([listener])
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would only interrupt the shutdown
                with anyio.CancelScope(shield=True):
                    await server.shutdown([listener])

    original_handler = signal.getsignal(signal.SIGINT)
    try:
        anyio.run(run_server)
    finally:
        signal.signal(signal.SIGINT, original_handler)


def serve(
    build: Callable[[], BuildOutcome],
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
    """Serve a site's folder, and build the site again whenever its logs change, until interrupted.

    Until there is a site, a waiting page is shown, with `title` and the commands in `start` by their purpose. Requests
    need the token (`address_with_token`). The listener is closed in the end; for `build`, `folders`, `every` and `tell`
    see `rebuild_on_change`.

    Raises:
        KeyboardInterrupt: When the user ends it.
    """
    logs = tuple(folders)
    shown_site = LiveSite(site, title, start, folders=logs)
    app = site_application(shown_site, listener.getsockname()[1], token)
    serve_application(app, listener, lambda: rebuild_on_change(build, shown_site, logs, every, tell))

"""A running server, and what is built for it in another process."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

from tests.conftest import PATIENCE
from waybench.reporting.view._app import LiveSite, site_application
from waybench.reporting.view._serve import AppServer, BuildOutcome, open_listener

TOKEN = "a-token"


def cookie(port: int) -> dict[str, str]:
    """Return the cookie that stands for the token."""
    return {f"waybench-view-{port}": TOKEN}


@contextmanager
def served(site: LiveSite) -> Iterator[int]:
    """Serve a site on a free port of this machine until the block ends."""
    listener = open_listener(0)
    port = int(listener.getsockname()[1])
    server = AppServer(site_application(site, port, TOKEN))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join()


def asked(
    port: int, path: str, host: str | None = None, method: str = "GET", *, token: str | None = TOKEN
) -> tuple[HTTPResponse, bytes]:
    """Ask for a path exactly as it is written, under a name, and with a token's cookie unless it is None."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if host != "":
            connection.putheader("Host", host or f"127.0.0.1:{port}")
        if token is not None:
            connection.putheader("Cookie", f"another=1; waybench-view-{port}={token}")
        connection.endheaders()
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.1)


def count(site: Path) -> BuildOutcome:
    """Build a page that says how often it was built."""
    index = site / "index.html"
    built = int(index.read_text()) if index.exists() else 0
    index.write_text(str(built + 1))
    return BuildOutcome(("built",))


def told(site: Path) -> BuildOutcome:
    """Do what a file says."""
    what = (site / "what").read_text()
    if what == "bug":
        raise ZeroDivisionError("a bug")
    if what == "end":
        os._exit(9)
    if what == "hang":
        (site / "pid").write_text(str(os.getpid()))
        time.sleep(PATIENCE)
    if what == "fine":
        (site / "index.html").write_text(what)
        return BuildOutcome()
    return BuildOutcome((what,), problem="" if what == "empty" else what, empty=what == "empty")


def with_replays(site: Path, replays: frozenset[str] = frozenset()) -> BuildOutcome:
    """Build a page, and those of replays that were opened, but for one that there cannot be."""
    count(site)
    (site / "replays").mkdir(exist_ok=True)
    for name in replays - {"m-99.html"}:
        (site / "replays" / name).write_text(f"the replay {name}")
    return BuildOutcome()

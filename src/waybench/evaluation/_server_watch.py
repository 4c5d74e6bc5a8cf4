"""Notices when a model's server does not reply, and says since when and why."""

import socket
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from waybench.core import duration_text
from waybench.evaluation._provider_errors import parse_provider_error

SILENCE = 10.0  # seconds without a reply before the user hears of it
_PATIENCE_FACTOR = 3  # times the longest reply so far, which this model may take
_CONNECTION_TIMEOUT = 2.0  # seconds for a connection
_LONGEST_WORDS = 120  # characters of the server's own words

T = TypeVar("T")


def printable_address(address: str | None) -> str:
    """Return a server's address; "" if it is not known or may hold a secret."""
    return address if address and "@" not in address and "?" not in address else ""


def host_and_port(address: str | None) -> tuple[str, int] | None:
    """Return host and port of a server; None if not known, or behind a proxy."""
    url = urlsplit(str(address or ""))
    try:
        host, port = url.hostname, url.port or {"http": 80, "https": 443}.get(url.scheme)
    except ValueError:  # a port that is none
        return None
    if host is None or port is None or (url.scheme in getproxies() and not proxy_bypass(host)):
        return None
    return host, port


def connection_problem(address: str | None) -> str:
    """Return why a server accepts no connection, such as "connection refused"; "" if it does, or if not known."""
    host_port = host_and_port(address)
    if host_port is None:
        return ""
    try:
        socket.create_connection(host_port, _CONNECTION_TIMEOUT).close()
    except TimeoutError:
        return f"no connection within {_CONNECTION_TIMEOUT:.0f} s"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""


class ServerWatch:
    """Follows the requests to the server of one model; `warn_of_silence` is called from another thread."""

    def __init__(
        self,
        model: str,
        address: str | None,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model, self._address, self._tell, self._clock = model, address, tell, clock
        self._server_name = printable_address(address) or "its server"
        self._lock = threading.Lock()
        self._n_waiting = 0  # requests without an answer
        self._silent_since: float | None = None  # when the first request since the last reply left
        self._longest_reply = 0.0  # seconds that a reply took
        self._last_error = ""  # words of the last error since the last reply
        self._next_look = SILENCE  # seconds of silence before another look at the server
        self._is_told = False

    async def await_answer(self, request: Awaitable[T]) -> T:
        """Await a request, and record when it was answered or failed."""
        start_time = self._clock()
        with self._lock:
            self._n_waiting += 1
            self._silent_since = start_time if self._silent_since is None else self._silent_since
        try:
            answer = await request
        except Exception as error:
            with self._lock:
                self._n_waiting -= 1
                self._last_error = parse_provider_error(error).words[:_LONGEST_WORDS]
            raise
        except BaseException:  # the request was cancelled
            with self._lock:
                self._n_waiting -= 1
            raise
        now = self._clock()
        with self._lock:
            self._n_waiting -= 1
            silent_seconds, was_told = now - self._silent_since, self._is_told
            self._longest_reply = max(self._longest_reply, now - start_time)
            self._reset_silence(now if self._n_waiting else None)
        if was_told:
            self._tell(f"{self.model}: {self._server_name} replies again, after {duration_text(silent_seconds)}")
        return answer

    def _reset_silence(self, since: float | None) -> None:
        """Measure silence from a time on; None if no request is waiting."""
        self._silent_since, self._last_error, self._next_look, self._is_told = since, "", SILENCE, False

    def warn_of_silence(self, is_playing: bool) -> None:
        """Warn the user if the server has been silent for 10 s, and whenever that time has doubled.

        Where the server takes connections, a reply may take three times as long as the longest one so far. A model that
        plays no episode (not `is_playing`) need not reply.
        """
        with self._lock:
            if not is_playing and not self._n_waiting:
                self._reset_silence(None)
            silent_seconds = 0.0 if self._silent_since is None else self._clock() - self._silent_since
            last_error, is_patient = self._last_error, silent_seconds < _PATIENCE_FACTOR * self._longest_reply
            if silent_seconds < self._next_look:
                return
        problem = connection_problem(self._address) or last_error
        with self._lock:
            if self._silent_since is None:  # it has replied meanwhile
                return
            self._next_look = silent_seconds + SILENCE if is_patient and not problem else 2 * silent_seconds
            if is_patient and not problem:
                return
            self._is_told = True
        reason = problem or "it takes connections, and has not answered"
        self._tell(
            f"{self.model}: no reply from {self._server_name} ({reason}) for {duration_text(silent_seconds)}; "
            f"{'retrying' if problem else 'waiting'}; Ctrl-C keeps everything"
        )

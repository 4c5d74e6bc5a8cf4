"""A small file server on loopback that answers as a test tells it, and a toy data set that it can serve."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from waybench.core import DataFile, Download

CONTENTS = {"one.json": b'{"one": 1}\n', "deep/er/two.txt": b"two\n" * 50_000, "three #.txt": b""}


@dataclass(frozen=True)
class Answer:
    """What the server does with a request.

    Attributes:
        body: What it sends.
        status: The HTTP status.
        missing: How many bytes fewer it sends than it announced.
        delay: Seconds before anything is sent.
    """

    body: bytes = b""
    status: int = 200
    missing: int = 0
    delay: float = 0.0


@dataclass
class FileServer:
    """The running server.

    Attributes:
        url: Its address.
        answers: What it answers, by the request's path; anything else is answered with 404. Of several answers each is
            given once, and the last one from then on.
        asked: The paths of the requests, in their order.
    """

    url: str = ""
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def serve(self, prefix: str = "/toy/") -> None:
        """Answer with the toy data set's files."""
        for path, body in CONTENTS.items():
            self.answers[prefix + path.replace(" #", "%20%23")] = [Answer(body)]


@contextmanager
def file_server() -> Iterator[FileServer]:
    """Serve on a free port until the block ends."""
    state = FileServer()
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            answers = state.answers.get(self.path, [Answer(status=404)])
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            closing.wait(answer.delay)
            try:
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body[: len(answer.body) - answer.missing])
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client has given up waiting, as the test wanted

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield state
        finally:
            closing.set()
            server.shutdown()
            thread.join()


def toy_set(url: str) -> Download:
    """Return a data set whose files an address has."""
    files = tuple(
        DataFile(path, hashlib.sha256(body).hexdigest(), len(body), f"{url}/{path.replace(' #', '%20%23')}")
        for path, body in CONTENTS.items()
    )
    return Download("toy", "Toys", "MIT", "https://toys.invalid", files)

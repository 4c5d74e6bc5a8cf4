"""A small model server that speaks the OpenAI chat protocol on loopback and plays from a script."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.png import from_data_uri


@dataclass(frozen=True)
class Answer:
    """What the server does with one request.

    Attributes:
        text: The completion.
        status: The HTTP status; anything but 200 is sent as an error.
        finish: The completion's finish reason.
        code: The error's code; the status if not given.
        delay: Seconds before anything is sent.
        cut: Whether the connection is cut in the middle of the answer.
        calls: Calls of tools, each a name and the arguments as they are sent, as JSON or not.
        form: What is sent in place of the completion, as a function of the request and the completion: JSON, or the
            bytes themselves.
    """

    text: str = ""
    status: int = 200
    finish: str = "stop"
    code: str = ""
    delay: float = 0.0
    cut: bool = False
    calls: tuple[tuple[str, str], ...] = ()
    form: Callable[[dict[str, Any], dict[str, Any]], Any] | None = None


Script = Callable[[list[dict[str, Any]], int], Answer]  # (messages, how often they were sent before) -> answer


@dataclass
class ModelServer:
    """The running server.

    Attributes:
        url: Its base address, for the client.
        asked: How often each conversation was sent.
        answered: How often each conversation got a whole completion.
        requests: Path and headers of each request; names of headers in lower case.
        bodies: The body of each request.
    """

    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def model_server(script: Script) -> Iterator[ModelServer]:
    """Serve a script on a free port until the block ends."""
    state = ModelServer()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = json.dumps(body["messages"])
            with lock:
                before = state.asked[key]
                state.asked[key] += 1
                state.bodies.append(body)
                state.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            answer = script(body["messages"], before)
            time.sleep(answer.delay)
            data = _data(body, answer)
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                if answer.status != 200:
                    self.send_header("Retry-After-Ms", "10")  # keeps the client's waits out of the test's time
                self.end_headers()
                if answer.cut:
                    self.wfile.write(data[: len(data) // 2])
                    self.wfile.flush()
                    self.close_connection = True
                    return
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                return  # the client has given up waiting, as the script wanted
            if answer.status == 200:
                with lock:
                    state.answered[key] += 1

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # many clients begin at once, and none sends a request twice

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that was killed has left

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _data(body: dict[str, Any], answer: Answer) -> bytes:
    content: Any = _completion(body, answer) if answer.status == 200 else _error(answer)
    if answer.form is not None:
        content = answer.form(body, content)
    return content if isinstance(content, bytes) else json.dumps(content).encode()


def _error(answer: Answer) -> dict[str, Any]:
    message = answer.text or f"scripted {answer.status}"
    return {"error": {"message": message, "type": "scripted", "code": answer.code or answer.status}}


def prompt_tokens(messages: list[dict[str, Any]]) -> int:
    """Return what the server counts for a conversation: a token for four letters, or for 750 pixels of a picture."""
    letters = pixels = 0
    for message in messages:
        content = message["content"]
        for part in [{"type": "text", "text": str(content)}] if not isinstance(content, list) else content:
            if part["type"] == "text":
                letters += len(part["text"])
            else:
                shown = from_data_uri(part["image_url"]["url"])
                pixels += shown.width * shown.height
    return letters // 4 + pixels // 750


def _calls(body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    calls = [
        {
            "id": f"id-{len(body['messages'])}-{number}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for number, (name, arguments) in enumerate(answer.calls)
    ]
    return {"tool_calls": calls} if calls else {}


def _completion(body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    prompt, reply = prompt_tokens(body["messages"]), len(answer.text) // 4
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": answer.text, **_calls(body, answer)},
                "finish_reason": "tool_calls" if answer.calls and answer.finish == "stop" else answer.finish,
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
    }

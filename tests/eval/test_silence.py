"""A server that does not reply: the user hears of it, and why, and when it replies again."""

import asyncio
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelOutput

from tests.conftest import PATIENCE
from tests.eval.model_server import Answer, model_server
from waybench.evaluation._engine import open_model
from waybench.evaluation._server_watch import ServerWatch
from waybench.evaluation._solver import wrap_model

MODEL = "openai-api/scripted/player"


class Clock:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "none")


def watched(url: str) -> tuple[Callable[[], Any], ServerWatch, Clock, list[str]]:
    """Return a function that sends one request through the client, its watch, the watch's clock and what was said."""
    clock, said = Clock(), list[str]()
    watch = ServerWatch("m", url, said.append, clock)

    def send() -> Any:
        model = open_model(MODEL, url, {"max_retries": 0})
        wrap_model(model).watch = watch

        async def ask() -> Any:
            try:
                return await model.api.generate([ChatMessageUser(content="?")], [], "none", GenerateConfig())
            finally:
                await model.api.aclose()

        return asyncio.run(ask())

    return send, watch, clock, said


def test_a_server_that_is_gone_is_named_with_the_reason() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    send, watch, clock, said = watched(url)
    with pytest.raises(Exception, match="Connection error"):
        send()
    clock.now = 9
    watch.warn_of_silence(is_playing=True)
    assert said == []
    clock.now = 12
    for _ in range(3):
        watch.warn_of_silence(is_playing=True)
    assert said == [f"m: no reply from {url} (connection refused) for 12 s; retrying; Ctrl-C keeps everything"]
    clock.now = 25
    watch.warn_of_silence(is_playing=True)
    assert len(said) == 2 and "for 25 s" in said[1]
    clock.now = 1000
    watch.warn_of_silence(is_playing=False)  # every episode has ended
    watch.warn_of_silence(is_playing=True)
    assert len(said) == 2


def test_a_server_that_is_busy_is_quoted() -> None:
    with model_server(lambda messages, before: Answer("come back later", status=503)) as server:
        send, watch, clock, said = watched(server.url)
        with pytest.raises(Exception, match="come back later"):
            send()
        clock.now = 11
        watch.warn_of_silence(is_playing=True)
    assert said[0].startswith(f"m: no reply from {server.url} (Error code: 503") and "come back later" in said[0]
    assert said[0].endswith("for 11 s; retrying; Ctrl-C keeps everything")


def test_a_server_that_hangs_is_told_from_a_slow_model() -> None:
    asked, released = threading.Event(), threading.Event()

    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        asked.set()
        assert released.wait(PATIENCE)
        return Answer("OK")

    with model_server(script) as server, ThreadPoolExecutor(1) as pool:
        send, watch, clock, said = watched(server.url)

        def reply_after(seconds: float, look: Callable[[], None] = lambda: None) -> ModelOutput:
            asked.clear()
            released.clear()
            future: Future[Any] = pool.submit(send)
            assert asked.wait(PATIENCE)
            clock.now += seconds
            watch.warn_of_silence(is_playing=True)
            look()
            released.set()
            return future.result(PATIENCE)

        reply_after(15)
        where = f"m: no reply from {server.url} (it takes connections, and has not answered) for 15 s; waiting"
        assert said.pop(0).startswith(where)
        assert said.pop(0) == f"m: {server.url} replies again, after 15 s"
        reply_after(40)  # this model takes 15 s for a reply, so that 40 s are not much
        assert said == []
        reply_after(121, look=lambda: said.append("looked"))
        assert [line.split(" (")[0] for line in said] == [
            f"m: no reply from {server.url}",
            "looked",
            f"m: {server.url} replies again, after 2 min 1 s",
        ]

"""`--max-retries N` is N + 1 requests, whatever fails."""

import asyncio
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig

from tests.eval.model_server import Answer, ModelServer, model_server
from tests.eval.play import MODEL
from waybench.core import UsageError
from waybench.evaluation import _preflight
from waybench.evaluation._engine import open_model
from waybench.evaluation._preflight import check_models

FAILURES = {
    "500": Answer(status=500),
    "429": Answer(status=429),
    "reset": Answer("a reply that never arrives as a whole", cut=True),
    "time-out": Answer(delay=60),
    "an error in a 200": Answer(form=lambda request, completion: {"error": "busy"}),
}


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let Inspect's waits between tries take no time, and return their seconds."""
    seconds: list[float] = []

    async def pass_by(duration: float) -> None:
        seconds.append(duration)

    monkeypatch.setattr("inspect_ai.model._retry._sleep", pass_by)
    monkeypatch.setenv("SCRIPTED_API_KEY", "none")
    return seconds


def send(server: ModelServer, retries: int, **args: Any) -> str:
    """Send one request through Inspect, with its tries, and return the reply."""

    async def run() -> str:
        model = open_model(MODEL, server.url, args)
        try:
            return (await model.generate("go", config=GenerateConfig(max_retries=retries))).completion
        finally:
            await model.api.aclose()

    return asyncio.run(run())


def requests(server: ModelServer) -> int:
    return sum(server.asked.values())


@pytest.mark.parametrize("retries", [0, 2])
@pytest.mark.parametrize("failure", FAILURES)
def test_each_try_is_one_request(failure: str, retries: int) -> None:
    args = {"client_timeout": 0.2} if failure == "time-out" else {}
    with model_server(lambda messages, before: FAILURES[failure]) as server:
        with pytest.raises(Exception, match="RetryError"):
            send(server, retries, **args)
        assert requests(server) == retries + 1


def test_a_last_try_that_succeeds_is_a_reply() -> None:
    with model_server(lambda messages, before: FAILURES["500"] if before < 2 else Answer("up")) as server:
        assert send(server, 2) == "up"
        assert requests(server) == 3


def test_the_client_repeats_requests_if_it_is_told_to() -> None:
    with model_server(lambda messages, before: FAILURES["500"]) as server:
        with pytest.raises(Exception, match="RetryError"):
            send(server, 0, max_retries=2)
        assert requests(server) == 3


def test_a_client_that_is_renewed_repeats_nothing_either() -> None:
    async def run() -> None:
        model = open_model(MODEL, server.url, {})
        for _ in range(2):
            with pytest.raises(Exception, match="RetryError"):
                await model.generate("go", config=GenerateConfig(max_retries=0))
            await model.api.aclose()
            model.api.initialize()
        await model.api.aclose()

    with model_server(lambda messages, before: FAILURES["an error in a 200"]) as server:
        asyncio.run(run())
        assert requests(server) == 2


def test_a_server_says_how_long_to_wait(waits: list[float]) -> None:
    failing = model_server(lambda messages, before: FAILURES["429" if before == 0 else "reset"])
    with failing as server, pytest.raises(Exception, match="RetryError"):
        send(server, 2)
    first, second = waits
    assert first == 0.01  # the scripted server's Retry-After-Ms
    assert 3 <= second <= 9  # Inspect's own


def test_the_check_repeats_a_request_only_after_its_own_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_preflight, "_RETRY_WAITS", (0.0, 0.0))
    with model_server(lambda messages, before: FAILURES["500"]) as server:
        with pytest.raises(UsageError, match="answers with status 500"):
            check_models([open_model(MODEL, server.url, {})])
        assert requests(server) == 3

"""The check before a run: what is wrong with a server is said in one line, and soon."""

import asyncio
import socket
import time
from collections.abc import Iterator

import pytest

from tests.conftest import PATIENCE
from tests.eval.model_server import Answer, model_server
from waybench.core import UsageError
from waybench.evaluation._engine import open_model
from waybench.evaluation._preflight import check_models

MODEL = "openai-api/scripted/player"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", "sk-0123456789abcdef")


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Return a port at which nobody listens, kept from others."""
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


def problem(address: str, model: str = MODEL, patience: float = 60.0) -> str:
    with pytest.raises(UsageError) as caught:
        check_models([open_model(model, address, {})], patience)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_server_that_answers_is_asked_once() -> None:
    with model_server(lambda messages, before: Answer("OK")) as server:
        check_models([open_model(MODEL, server.url, {})])
    assert server.asked.total() == server.answered.total() == 1


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, "refuses the key (Error code: 401"),
        (403, "refuses the key"),
        (404, "does not know this model (Error code: 404"),
    ],
)
def test_what_is_wrong_for_good_is_tried_once(status: int, expected: str) -> None:
    with model_server(lambda messages, before: Answer(status=status)) as server:
        text = problem(server.url)
    assert server.asked.total() == 1
    assert text.startswith(f"model '{MODEL}': the server at {server.url} ")
    assert expected in text
    assert text.endswith("Nothing was run; --no-check skips this check")


@pytest.mark.slow
@pytest.mark.parametrize(("status", "expected"), [(429, "check the quota"), (503, "answers with status 503")])
def test_a_server_that_refuses_for_now_is_tried_again(status: int, expected: str) -> None:
    with model_server(lambda messages, before: Answer(status=status)) as server:
        assert expected in problem(server.url)
    assert 1 < server.asked.total() < 20  # the provider's client tries again, too
    with model_server(lambda messages, before: Answer("OK") if before else Answer(status=status)) as server:
        check_models([open_model(MODEL, server.url, {})])


def test_a_request_that_the_server_finds_bad_says_nothing_of_the_run() -> None:
    with model_server(lambda messages, before: Answer(status=400)) as server:
        check_models([open_model(MODEL, server.url, {})])
    assert server.asked.total() == 1


def test_nobody_listens(closed_port: int) -> None:
    address = f"http://127.0.0.1:{closed_port}/v1"
    text = problem(address)
    assert f"no reply from the server at {address}" in text
    assert "check --model-base-url" in text


@pytest.mark.slow
def test_a_server_that_never_answers() -> None:
    began = time.monotonic()
    with model_server(lambda messages, before: Answer(delay=30)) as server:
        assert "no reply within 1 s" in problem(server.url, patience=1)
        assert time.monotonic() - began < 30  # it did not wait for the answer


def test_all_models_are_checked(closed_port: int) -> None:
    with model_server(lambda messages, before: Answer("OK")) as server:
        models = [
            open_model("openai-api/scripted/one", f"http://127.0.0.1:{closed_port}/v1", {}),
            open_model("openai-api/scripted/two", server.url, {}),
            open_model("openai-api/scripted/three", f"http://127.0.0.1:{closed_port}/v1", {}),
            open_model("waybench/oracle", None, {}),
        ]
        with pytest.raises(UsageError, match=r"scripted/one.*scripted/three") as caught:
            check_models(models)
    assert "two" not in str(caught.value)


def test_the_key_is_not_in_the_message() -> None:
    with model_server(lambda messages, before: Answer("wrong key sk-0123456789abcdef", status=401)) as server:
        assert "sk-0123456789abcdef" not in problem(server.url)


def test_players_without_a_server_are_not_asked() -> None:
    check_models([open_model("waybench/random", None, {}), open_model("mockllm/model", None, {})])


def test_how_long_the_reply_took_is_returned() -> None:
    with model_server(lambda messages, before: Answer("OK", delay=0.3)) as server:
        took = check_models([open_model(MODEL, server.url, {}), open_model("waybench/random", None, {})])
    assert list(took) == [MODEL]
    assert 0.3 <= took[MODEL] < 60


@pytest.mark.slow
def test_the_user_hears_early_that_there_is_no_answer_yet() -> None:
    told: list[str] = []
    with model_server(lambda messages, before: Answer("OK", delay=0.5)) as server:
        check_models([open_model(MODEL, server.url, {})], 60, told.append, notice_after=0.1)
        assert told == [f"model '{MODEL}': no answer in 0 s; waiting up to 60 s for the server"]
        told.clear()
        check_models([open_model(MODEL, server.url, {})], 60, told.append, notice_after=50)
    assert told == []


def test_an_address_that_takes_no_connection_fails_before_the_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*address: object) -> object:
        await asyncio.sleep(PATIENCE)
        raise AssertionError(address)

    monkeypatch.setattr(asyncio, "open_connection", never)
    began = time.monotonic()
    with pytest.raises(UsageError, match=r"nothing takes a connection at 127\.0\.0\.1, port 9 within 0 s"):
        check_models([open_model(MODEL, "http://127.0.0.1:9/v1", {})], PATIENCE, connection_timeout=0.2)
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    ("name", "hint"), [("oracle", "waybench/oracle"), ("noisy-0.1", "waybench/noisy-0.1"), ("gpt-4o", "openai/gpt-4o")]
)
def test_a_name_without_a_provider(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"^model '{name}': give provider/name, such as .*{hint}"):
        open_model(name, None, {})


@pytest.mark.parametrize(
    ("name", "hint"),
    [("opnai/gpt-4o", "unknown provider 'opnai': did you mean 'openai'"), ("zzzz/m", "unknown provider 'zzzz': give")],
)
def test_a_provider_that_there_is_not(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"^model '{name}': {hint}"):
        open_model(name, None, {})


@pytest.mark.parametrize("url", ["localhost:8000", "http://", "ftp://a/b", "http://127.0.0.1:99999/v1", "8000"])
def test_a_base_url_that_is_none(url: str) -> None:
    with pytest.raises(UsageError, match=r"write it as http://127\.0\.0\.1:8000/v1"):
        open_model(MODEL, url, {})


def test_a_server_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEYLESS_API_KEY", raising=False)
    with pytest.raises(UsageError, match=r"KEYLESS_API_KEY.*takes any text: KEYLESS_API_KEY=none$"):
        open_model("openai-api/keyless/m", "http://127.0.0.1:9/v1", {})


def test_a_server_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOWHERE_API_KEY", "none")
    with pytest.raises(
        UsageError, match=r"NOWHERE_BASE_URL.*; or give the address of its server with --model-base-url$"
    ):
        open_model("openai-api/nowhere/m", None, {})

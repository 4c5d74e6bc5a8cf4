"""A limit on the tokens of an episode means the same whether or not the run was interrupted on the way."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE
from tests.eval.model_server import Answer, ModelServer, Script, model_server
from tests.eval.play import MODEL, comparable, records, started, waybench_

STOPPED_AT = 8  # the request that the interruption falls on; the limit is reached some requests later


def _arguments(server: ModelServer, out: Path) -> list[str]:
    return [
        *(
            "run",
            "hanoi_3",
            "--model",
            MODEL,
            "--no-check",
            "--model-base-url",
            server.url,
            "--out",
            str(out),
            "--limit",
            "1",
        ),
        *("--token-limit", "6000", "--max-connections", "1", "--rerun", "0", "--display", "none"),
    ]


def _script(fault: Answer | None = None) -> Script:
    """Answer the same to everything, but for one fault."""
    requests = 0

    def answer(messages: list[dict[str, Any]], before: int) -> Answer:
        nonlocal requests
        requests += 1
        return fault if fault is not None and requests == STOPPED_AT else Answer("1")

    return answer


def _fail(server: ModelServer, out: Path) -> None:
    result = waybench_(*_arguments(server, out))
    assert result.returncode == 1 and "unfinished: hanoi_3" in result.stderr, result.stderr


def _kill(server: ModelServer, out: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    with started(*_arguments(server, out)) as process:
        while sum(server.asked.values()) < STOPPED_AT:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "interrupt"),
    [
        pytest.param(Answer(status=400), _fail, id="an error of the provider"),
        pytest.param(Answer("too late", delay=60), _kill, id="a kill"),
    ],
)
def test_tokens_spent_before_an_interruption_count(tmp_path: Path, fault: Answer, interrupt: Any) -> None:
    with model_server(_script()) as server:
        result = waybench_(*_arguments(server, tmp_path / "whole"))
        assert result.returncode == 0, result.stderr
        requests = sum(server.asked.values())
    ((name, whole),) = records(tmp_path / "whole").items()
    assert whole.end == "turn_limit" and str(whole.error).startswith("Token limit exceeded. value: 6,")
    assert requests == len(whole.turns) + 1 > STOPPED_AT + 2  # the last answer is beyond the limit

    out = tmp_path / "interrupted"
    with model_server(_script(fault)) as server:
        interrupt(server, out)
        assert sum(server.asked.values()) == STOPPED_AT
        result = waybench_(*_arguments(server, out))
        assert result.returncode == 0, result.stderr
        assert sum(server.asked.values()) == requests + 1  # the interrupted request alone is asked again
    found = records(out)[name]
    assert comparable(found) == comparable(whole)
    assert found.tokens == whole.tokens

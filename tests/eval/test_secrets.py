"""Nothing that opens a server or generates a private set is in any byte of a run's folder, its report or its output."""

import asyncio
import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import inspect_ai.log as inspect_log
import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, get_model

from tests.eval.forked import Command
from tests.eval.model_server import Answer, ModelServer, model_server
from tests.eval.play import MAZES, MODEL, PATIENCE, environment, solution, waybench_
from waybench.evaluation._engine import open_model
from waybench.evaluation._secrets import Secrets, seal_secrets
from waybench.results import read_logs

_LOG: Any = inspect_log  # its types are not complete

KEY = "hush-hush-4711"
PASSWORD, TOKEN, HEADER, CODE = "pass%40word1", "query-token-2", "Bearer header-secret-3", "default-query-4"
SECRETS = [KEY, PASSWORD, "pass@word1", TOKEN, HEADER, "header-secret-3", CODE]
LABEL = "private-" + hashlib.sha256(b"waybench key " + KEY.encode()).hexdigest()[:8]
WALL = Answer('{"movements": [{"direction": "up", "cells": 1}]}')


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file of a folder, and every part of a file that is compressed."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield str(path), path.read_bytes()
        if path.suffix == ".eval":
            with ZipFile(path) as log:
                yield from ((f"{path}!{name}", log.read(name)) for name in log.namelist())
        if path.suffix == ".parquet":
            import pyarrow.parquet

            yield f"{path}!", str(pyarrow.parquet.read_table(path).to_pylist()).encode()


def found_in(folder: Path, *texts: str) -> list[tuple[str, str]]:
    return [(name, text) for name, data in contents(folder) for text in texts if text.encode() in data]


def solved(messages: list[dict[str, Any]], before: int) -> Answer:
    """Answer with the solution of a maze of the private set."""
    matrix = re.search(r"<Maze map>\n(.*)\n</Maze map>", messages[0]["content"])
    assert matrix is not None
    for item in MAZES.source(KEY, 5).head(3):
        if json.dumps(item.instance.to_json()["maze"]).replace('"', "").replace(" ", "") == matrix[1]:
            return Answer(solution(item))
    raise AssertionError("no maze of the private set")


def arguments(server: ModelServer, out: Path, *more: str) -> list[str]:
    address = server.url.replace("http://", f"http://user:{PASSWORD}@") + f"?token={TOKEN}"
    return [
        *("run", "alicia", "--model", MODEL, "--no-check", "--model-base-url", address, "--out", str(out)),
        *("-M", f'default_headers={{"X-Api-Key": "{HEADER}"}}', "-M", f'default_query={{"code": "{CODE}"}}'),
        *("-T", "max_dimension=5", "--limit", "3", "--attempts", "1", "--rerun", "0", "--max-retries", "0", *more),
    ]


@pytest.mark.slow
def test_no_secret_is_in_a_log_or_a_report_or_on_the_terminal(tmp_path: Path) -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        if before or first not in json.dumps(messages):
            return solved(messages, before)
        return Answer(f"no such token: {TOKEN}, {HEADER}, {CODE}", status=400)  # a server that quotes what it was sent

    first = json.dumps(MAZES.source(KEY, 5).item(1).instance.to_json()["maze"]).replace('"', "").replace(" ", "")
    out = tmp_path / "out"
    with model_server(script) as server:
        command = arguments(server, out, "-T", f"key={KEY}")
        result = waybench_(*command)
        assert result.returncode == 1, result.stderr
        path, headers = server.requests[0]
        assert TOKEN in path and CODE in path and headers["x-api-key"] == HEADER
        basic = base64.b64encode(b"user:pass@word1").decode()
        assert headers["authorization"] == f"Basic {basic}"
        unfinished = result.stdout + result.stderr
        assert "no such token: ***" in unfinished
        assert found_in(out, *SECRETS, basic) == []
        # The same command asks again for what is missing, and for nothing else.
        assert len(server.requests) == 3
        again = waybench_(*command)
        assert (again.returncode, len(server.requests)) == (0, 4), again.stderr
    report = Command("report", str(out), "--out", str(tmp_path / "site"), environment=environment())
    report.wait(PATIENCE)
    assert report.returncode == 0, report.stderr
    assert found_in(tmp_path, *SECRETS, basic) == []
    terminal = "".join((unfinished, again.stdout, again.stderr, report.stdout, report.stderr))
    assert not [secret for secret in SECRETS if secret in terminal]
    # What tells runs apart is there.
    assert {str(each.record.item["key"]) for each in read_logs(out)} == {LABEL}
    assert {name.rpartition(".")[2] for name, _ in found_in(tmp_path / "site", LABEL)} >= {"html", "json", "csv"}
    header = _LOG.read_eval_log(str(next(out.glob("*.eval"))), header_only=True).eval
    port = server.url.rpartition(":")[2]
    assert header.model_base_url == f"http://***@127.0.0.1:{port}?token=***"
    assert header.model_args == {"default_headers": {"X-Api-Key": "***"}, "default_query": {"code": "***"}}
    assert header.task_args["key"] == header.task_args_passed["key"] == LABEL


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["env", "file"])
def test_a_reference_to_a_key_stays_and_says_which_set_it_is(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "key.txt"
    file.write_text(KEY + "\n")
    reference = f"{kind}:{'SET_KEY' if kind == 'env' else file}"

    def run(key: str) -> Command:
        command = ["run", "alicia", "--model", "waybench/oracle", "-T", "max_dimension=5", "--limit", "1"]
        found = Command(
            *command,
            "-T",
            f"key={reference}",
            "--out",
            str(tmp_path / "out"),
            environment=environment() | {"SET_KEY": key},
        )
        found.wait(PATIENCE)
        return found

    result = run(KEY)
    assert result.returncode == 0, result.stderr
    (log,) = (tmp_path / "out").glob("*.eval")
    header = _LOG.read_eval_log(str(log), header_only=True).eval
    assert header.task_args["key"] == f"{reference}#{LABEL.removeprefix('private-')}"
    assert found_in(tmp_path / "out", KEY) == []
    (episode,) = read_logs(tmp_path / "out")
    assert episode.record.item["key"] == LABEL
    assert episode.record.instance == MAZES.source(KEY, 5).item(0).instance.to_json()
    # Another key there is another set, which is not mixed with the first one.
    file.write_text("another")
    assert run("another").returncode == 0
    assert len({str(each.record.item["key"]) for each in read_logs(tmp_path / "out")}) == 2
    file.unlink()
    assert run("").returncode == 2


def as_older_versions_wrote(out: Path) -> None:
    """Put key and headers into a log in clear text."""
    (path,) = out.glob("*.eval")
    log = _LOG.read_eval_log(str(path))
    for parameters in (log.eval.task_args, log.eval.task_args_passed):
        parameters["key"] = KEY
    log.eval.model_args = {"default_headers": {"X-Api-Key": HEADER}, "default_query": {"code": CODE}}
    for sample in log.samples:
        sample.metadata["waybench"] = [sample.metadata["waybench"][0].replace(LABEL, KEY)]
    _LOG.write_eval_log(log, str(path))


@pytest.mark.slow
def test_a_log_of_an_older_version_is_resumed_and_its_key_is_shown_nowhere(tmp_path: Path) -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        return Answer(status=400) if len(server.requests) == 2 else solved(messages, before)

    out = tmp_path / "out"
    with model_server(script) as server:
        command = arguments(server, out, "-T", f"key={KEY}", "--max-connections", "1")
        assert waybench_(*command).returncode == 1
        as_older_versions_wrote(out)
        assert KEY in {text for _, text in found_in(out, *SECRETS)}
        asked = len(server.requests)
        again = waybench_(*command)
        assert again.returncode == 0, again.stderr
        assert len(server.requests) == asked + 1
        assert again.stderr.count("in clear text") == 1
        assert waybench_(*command).returncode == 0
        assert len(server.requests) == asked + 1
    episodes = list(read_logs(out))
    assert {str(each.record.item["key"]) for each in episodes} == {LABEL} and len(episodes) == 3
    report = Command("report", str(out), "--out", str(tmp_path / "site"), environment=environment())
    report.wait(PATIENCE)
    assert report.returncode == 0, report.stderr
    assert found_in(tmp_path / "site", *SECRETS) == []


def test_an_error_keeps_its_type_and_loses_its_secrets() -> None:
    class OwnError(RuntimeError):
        body: object = None

    secrets = Secrets(f"https://me:{PASSWORD}@host/v1?token={TOKEN}", {"default_headers": {"Authorization": HEADER}})
    error = OwnError(f"401 of https://me:{PASSWORD}@host/v1", 401)
    error.body = {"error": [f"{TOKEN} is no token"]}
    error.__cause__ = ValueError("header-secret-3")
    error.__cause__.__context__ = error  # in a circle
    secrets.redact_exception(error)
    assert error.args == ("401 of https://me:***@host/v1", 401)
    assert error.body == {"error": ["*** is no token"]}
    assert str(error.__cause__) == "***"


def test_what_a_log_says_of_a_model() -> None:
    args: dict[str, Any] = {"custom_outputs": [], "gateway": f"https://{PASSWORD}@gateway/v1", "temperature_key": 1}
    model = seal_secrets(get_model("mockllm/model", memoize=False), "me:secret@host:80/v1", args)
    assert model.explicit_base_url == "***@host:80/v1"
    assert model.model_args == {"custom_outputs": [], "gateway": "https://***@gateway/v1", "temperature_key": "***"}


API_KEY = "sk-echo-0123456789"


def echo(server: ModelServer, key: str = API_KEY) -> Answer:
    """Answer with what the request was authorized by, wherever a completion has a text."""

    def form(request: dict[str, Any], completion: dict[str, Any]) -> Any:
        quoted = server.requests[-1][1]["authorization"]
        assert quoted == f"Bearer {key}"
        call = {
            "id": quoted,
            "type": "function",
            "function": {"name": "move", "arguments": json.dumps({quoted: quoted})},
        }
        message = {"role": "assistant", "content": f"7 {quoted}", "reasoning_content": quoted, "tool_calls": [call]}
        return completion | {"model": quoted, "id": quoted, "choices": [{"index": 0, "message": message}]}

    return Answer(form=form)


def test_a_key_that_a_server_puts_into_its_reply_is_replaced_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_API_KEY", API_KEY)

    async def send() -> tuple[Any, Any]:
        model = open_model(MODEL, server.url, {})
        try:
            return await model.api.generate([ChatMessageUser(content="go")], [], "none", GenerateConfig())
        finally:
            await model.api.aclose()

    with model_server(lambda messages, before: echo(server)) as server:
        output, call = asyncio.run(send())
    assert output.completion == "7 Bearer ***"
    assert [part.reasoning for part in output.message.content if part.type == "reasoning"] == ["Bearer ***"]
    assert [made.arguments for made in output.message.tool_calls] == [{"Bearer ***": "Bearer ***"}]
    assert API_KEY not in output.model_dump_json() + call.model_dump_json()


@pytest.mark.slow
def test_a_key_in_a_reply_is_in_no_log_and_no_journal(tmp_path: Path) -> None:
    def script(messages: list[dict[str, Any]], before: int) -> Answer:
        return echo(server) if len(messages) == 1 else Answer(status=400)  # so that the first turn stays in the journal

    with model_server(script) as server:
        address = ("--model-base-url", server.url, "--out", str(tmp_path), "--no-check")
        command = ("run", "alicia", "--model", MODEL, *address, "-T", "max_dimension=5", "--limit", "1")
        run = Command(*command, "--rerun", "0", environment=environment() | {"SCRIPTED_API_KEY": API_KEY})
        run.wait(PATIENCE)
    assert run.returncode == 1, run.stderr
    assert list(tmp_path.glob("*.journal"))
    (logged,) = read_logs(tmp_path)
    assert logged.record.turns[0].reply == "7 Bearer ***"
    assert found_in(tmp_path, API_KEY) == []
    assert API_KEY not in run.stdout + run.stderr

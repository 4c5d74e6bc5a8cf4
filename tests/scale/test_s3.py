"""Runs into a bucket of a server of S3's protocol on loopback: killed, interrupted, refused, and nothing lost."""

import json
import os
import random
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE, ROOT, missing
from tests.eval.forked import Command
from tests.eval.model_server import Answer, ModelServer, model_server
from tests.eval.play import MODEL, comparable, environment, records
from tests.scale.bucket import content, names

pytestmark = pytest.mark.slow

SERVER = ROOT / ".venv-cluster" / "bin" / "moto_server"
CONNECTIONS = 4
OUT = "s3://bucket/runs"
RUN = ["run", "hanoi_3", "--model", MODEL, "--limit", "2", "--no-check", "--max-connections", str(CONNECTIONS)]


def answer(messages: list[dict[str, Any]], before: int) -> Answer:
    """Answer by chance, and always the same to the same messages."""
    return Answer(random.Random(json.dumps(messages)).choice(("1", "2", "3", "I would look around.")), delay=0.1)


@contextmanager
def storage(port: int = 0, **settings: str) -> Iterator[int]:
    """Start the server and yield its port; it has one bucket if it lets anybody in."""
    if not SERVER.is_file():
        missing(f"{SERVER.relative_to(ROOT)} is not there: run `make faces`")
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    command = [SERVER.with_name("python"), SERVER, "-H", "127.0.0.1", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env={**os.environ, **settings}, **quiet)  # pyright: ignore
    try:
        until = time.monotonic() + PATIENCE / 2
        while True:
            try:
                if not settings:
                    request = urllib.request.Request(f"http://127.0.0.1:{port}/bucket", method="PUT")
                    urllib.request.urlopen(request).close()
                else:
                    socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.1)
        yield port
    finally:
        process.kill()
        process.wait()


def machine(port: int, cache: Path, *arguments: str, **settings: str) -> Command:
    """Start the command as on a machine of its own, with a cache of its own."""
    keys = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "WAYBENCH_CACHE": str(cache),
    }
    return Command(*arguments, environment={**environment(), **keys, **settings})


def whole_run(folder: Path) -> tuple[dict[str, Any], int]:
    """Return the records of a run in one process into a local folder, and its number of requests."""
    with model_server(answer) as server:
        run = Command(*RUN, "--model-base-url", server.url, "--out", str(folder), environment=environment())
        run.wait(PATIENCE)
        assert run.returncode == 0, run.stderr
        return {name: comparable(record) for name, record in records(folder).items()}, asked(server)


def asked(server: ModelServer) -> int:
    return sum(server.asked.values())


def saved(port: int) -> int:
    """Return the number of turns in the journals of the bucket."""
    found = 0
    for name in names(port, "bucket/runs"):
        if name.endswith(".journal"):
            try:
                found += content(port, name).count(b'"turn":')
            except FileNotFoundError:  # its part is complete
                continue
    return found


@pytest.mark.usefixtures("watchdog")
def test_another_machine_continues_a_run_that_was_killed(tmp_path: Path) -> None:
    expected, whole = whole_run(tmp_path / "one")
    with storage() as port, model_server(answer) as server:
        arguments = [*RUN, "--model-base-url", server.url, "--out", OUT]
        first = machine(port, tmp_path / "first", *arguments)
        while (kept := saved(port)) < 12:
            assert first.poll() is None
            time.sleep(0.05)
        first.kill()
        before = asked(server)
        second = machine(port, tmp_path / "second", *arguments)
        second.wait(PATIENCE)
        assert second.returncode == 0, second.stderr
        assert asked(server) <= before + whole - kept  # what was saved is not asked again
        assert "next: waybench report s3://bucket/runs" in second.stdout
        site = tmp_path / "site"
        report = machine(port, tmp_path / "third", "report", OUT, "--out", str(site))
        report.wait(PATIENCE)
        assert report.returncode == 0 and (site / "index.html").is_file(), report.stderr
        (copy,) = (tmp_path / "third" / "folders").iterdir()
        assert {name: comparable(record) for name, record in records(copy).items()} == expected
        verify = machine(port, tmp_path / "third", "verify", OUT)
        verify.wait(PATIENCE)
        assert verify.returncode == 0 and "verified" in verify.stdout


@pytest.mark.usefixtures("watchdog")
def test_a_storage_that_stops_for_a_while_loses_nothing(tmp_path: Path) -> None:
    expected, whole = whole_run(tmp_path / "one")
    with model_server(answer) as server:
        arguments = [*RUN, "--model-base-url", server.url, "--out", OUT]
        with storage() as port:
            run = machine(port, tmp_path / "cache", *arguments)
            while saved(port) < 12:
                assert run.poll() is None
                time.sleep(0.05)
        while asked(server) < whole // 2:  # the storage has ended, and the run goes on
            assert run.poll() is None
            time.sleep(0.05)
        with storage(port):
            run.wait(PATIENCE)
            assert run.returncode == 0, run.stderr
            assert "the run goes on and tries again" in run.stderr
            assert asked(server) == whole
            again = machine(port, tmp_path / "other", *arguments)
            again.wait(PATIENCE)
            assert again.returncode == 0 and asked(server) == whole
    (copy,) = (tmp_path / "other" / "folders").iterdir()
    assert {name: comparable(record) for name, record in records(copy).items()} == expected


@pytest.mark.usefixtures("watchdog")
def test_what_is_refused_is_one_line_before_a_request_is_sent(tmp_path: Path) -> None:
    def said(port: int, out: str, **settings: str) -> str:
        run = machine(port, tmp_path, *RUN, "--model-base-url", server.url, "--out", out, **settings)
        run.wait(PATIENCE)
        assert run.returncode == 2
        (line,) = run.stderr.splitlines()
        assert line.startswith("Error: cannot write to s3://")
        return line

    with model_server(answer) as server:
        with storage() as port:
            assert "bucket does not exist" in said(port, "s3://elsewhere/runs")
            assert "check the keys" in said(port, OUT, AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
        assert "check the address and the network" in said(port, OUT)
        with storage(INITIAL_NO_AUTH_ACTION_COUNT="0") as strict:
            assert "check the keys" in said(strict, OUT)
        assert asked(server) == 0

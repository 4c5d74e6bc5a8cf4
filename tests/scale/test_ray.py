"""Runs on a Ray cluster of two nodes: the same results, whatever worker or node is lost."""

import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE, ROOT, missing
from tests.eval.model_server import Answer, ModelServer, model_server
from tests.eval.play import comparable, environment, waybench_

pytestmark = pytest.mark.slow

PYTHON = ROOT / ".venv-cluster" / "bin" / "python"
CONNECTIONS = 4
DELAY = 0.1  # seconds of each answer
MODELS = ("openai-api/scripted/first", "openai-api/scripted/second")
RUN = ["run", "hanoi_3", "bandit_high_low", *(part for model in MODELS for part in ("--model", model)), "--limit", "2"]
MORE = ["--no-check", "--max-connections", str(CONNECTIONS)]
ENOUGH = 8  # turns in a part's journal when it is interrupted


def answer(messages: list[dict[str, Any]], before: int) -> Answer:
    """Answer by chance, and always the same to the same messages."""
    return Answer(random.Random(json.dumps(messages)).choice(("1", "2", "3", "4", "I would look around.")), delay=DELAY)


class TestCluster:
    """The cluster's process.

    Args:
        folder: A folder for the nodes' caches.
    """

    __test__ = False

    def __init__(self, folder: Path) -> None:
        self.caches = folder / "first", folder / "second"
        self.environment = {
            **environment(),
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT))),
            "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
            "OMP_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [PYTHON, "-m", "tests.scale.cluster", *map(str, self.caches)],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.address = self._line()

    def remove_second(self) -> None:
        """Remove the second node, as where its machine fails."""
        self._say("remove")
        assert self._line() == "removed"

    def workers(self, cache: Path) -> list[int]:
        """Return the processes of a node that run a part."""
        return [pid for pid in _processes("ray::run_part") if f"WAYBENCH_CACHE={cache}" in _environ(pid)]

    def close(self) -> None:
        """End all of the cluster's processes."""
        self._process.communicate(timeout=PATIENCE)

    def _say(self, line: str) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(f"{line}\n")
        stdin.flush()

    def _line(self) -> str:
        stdout = self._process.stdout
        assert stdout is not None
        return stdout.readline().strip()


def _processes(title: str) -> list[int]:
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().decode(errors="replace").startswith(title):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def _environ(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestCluster]:
    if not PYTHON.is_file():
        missing(f"{PYTHON.relative_to(ROOT)} is not there: run `make faces`")
    started = TestCluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield started
    finally:
        started.close()


@contextmanager
def run_on(cluster: TestCluster, arguments: Sequence[str], printed: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command on the cluster; it has ended when the block does."""
    command = [PYTHON, "-m", "waybench", *arguments, "--executor", "ray", "--address", cluster.address]
    with printed.open("wb") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=cluster.environment, stdout=file, stderr=file)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def turns_in(folder: Path, name: str) -> int:
    """Return the number of turns in a journal, 0 if there is none."""
    try:
        return (folder / name).read_bytes().count(b'"turn":')
    except FileNotFoundError:
        return 0


def until_half_way(cluster: TestCluster, cache: Path, out: Path, process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Wait until a node has saved some of a part, and return its process and the part's journal."""
    until = time.monotonic() + PATIENCE / 3
    while process.poll() is None and time.monotonic() < until:
        for path in cache.glob("parts/*/*.journal"):
            workers = cluster.workers(cache)
            if workers and turns_in(out, path.name) >= ENOUGH:
                return workers[0], path.name
        time.sleep(0.02)
    raise AssertionError(f"nothing to interrupt: {process.poll()}")


def asked(server: ModelServer) -> int:
    return sum(server.asked.values())


@pytest.mark.usefixtures("watchdog")
def test_a_job_that_needs_a_gpu_runs_where_one_is_and_errors_are_one_line(cluster: TestCluster) -> None:
    code = (
        "import json\nfrom tests.scale.jobs import refuse, where\nfrom waybench.core import UsageError\n"
        "from waybench.ext.scale._executors import executor_by_name\n"
        f"engine = executor_by_name('ray', address={cluster.address!r}, gpus=1)\n"
        "print(json.dumps([found for _, found in engine.map(where, range(3))]))\n"
        "engine = executor_by_name('ray', address='127.0.0.1:1')\n"
        "try: list(engine.map(where, range(3)))\n"
        "except UsageError as error: print(error)\n"
        f"try: list(executor_by_name('ray', address={cluster.address!r}).map(refuse, range(5)))\n"
        "except UsageError as error: print(error)\n"
    )
    done = subprocess.run(
        [PYTHON, "-c", code], cwd=ROOT, env=cluster.environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr[-4000:]
    places, nobody, refused = done.stdout.splitlines()
    assert json.loads(places) == [[str(cluster.caches[1]), "0"]] * 3
    assert nobody.startswith("no Ray cluster at 127.0.0.1:1: ")
    assert refused == "job 3 cannot be done"


@pytest.mark.usefixtures("watchdog")
def test_records_are_simulated_again_on_the_cluster(cluster: TestCluster, tmp_path: Path) -> None:
    ran = waybench_("run", "hanoi_3", "--model", "waybench/noisy-0.2", "--limit", "8", "--out", str(tmp_path / "logs"))
    assert ran.returncode == 0, ran.stderr
    submitted = waybench_("submit", str(tmp_path / "logs"), "--out", str(tmp_path / "x.zip"))
    assert submitted.returncode == 0, submitted.stderr
    for place in (tmp_path / "x.zip", tmp_path / "logs"):
        here = waybench_("verify", str(place), "--json")
        with run_on(cluster, ["verify", str(place), "--json"], tmp_path / "printed.json") as process:
            assert process.wait(PATIENCE) == 0, (tmp_path / "printed.json").read_text()[-4000:]
        assert json.loads((tmp_path / "printed.json").read_text()) == json.loads(here.stdout)
    with run_on(cluster, ["report", str(tmp_path / "logs")], tmp_path / "printed.txt") as process:
        assert process.wait(PATIENCE) == 0, (tmp_path / "printed.txt").read_text()[-4000:]
    assert (tmp_path / "logs" / "site" / "index.html").is_file()


@pytest.mark.usefixtures("watchdog")
def test_a_lost_worker_and_a_lost_node_cost_what_was_in_flight(cluster: TestCluster, tmp_path: Path) -> None:
    out, printed = tmp_path / "out", tmp_path / "printed.txt"
    with model_server(answer) as server:
        one = waybench_(*RUN, *MORE, "--model-base-url", server.url, "--out", str(tmp_path / "one"))
        assert one.returncode == 0, one.stderr
        whole = asked(server)
    expected = {name: comparable(record) for name, record in all_records(tmp_path / "one").items()}
    assert len(expected) == 8 and whole > 100
    with model_server(answer) as server:
        arguments = [*RUN, *MORE, "--model-base-url", server.url, "--out", str(out)]
        with run_on(cluster, arguments, printed) as process:
            worker, _ = until_half_way(cluster, cluster.caches[0], out, process)
            os.kill(worker, signal.SIGKILL)
            _, journal = until_half_way(cluster, cluster.caches[1], out, process)
            saved, answered = turns_in(out, journal), turns_in_node(cluster.caches[1], journal)
            cluster.remove_second()
            assert process.wait(PATIENCE) == 0, printed.read_text()[-4000:]
        # A worker on the same machine continues from its own journal. Of the node that is lost, what it had not saved
        # is asked again; it goes on for a moment until it notices, at most as long as between two savings.
        unsaved = max(answered - saved, 0) + 10 * CONNECTIONS
        assert whole <= asked(server) <= whole + CONNECTIONS + unsaved
    assert {name: comparable(record) for name, record in all_records(out).items()} == expected
    said = printed.read_text()
    assert re.search(r"\[4/4\] ", said) and "Traceback" not in said
    assert not list(out.glob("*.journal"))


def turns_in_node(cache: Path, name: str) -> int:
    return sum(turns_in(path.parent, name) for path in cache.glob(f"parts/*/{name}"))


def all_records(folder: Path) -> dict[str, Any]:
    from waybench.results import read_logs

    return {f"{e.model} {e.record.item['id']}-{e.record.attempt}": e.record for e in read_logs(folder)}

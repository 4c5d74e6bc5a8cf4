"""Shards on a Ray cluster whose worker and node are lost, and in a bucket: the same bytes as in one process."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PATIENCE
from tests.eval.forked import Command
from tests.eval.play import environment
from tests.scale.bucket import content, names
from tests.scale.test_ray import TestCluster, _environ, _processes, cluster, run_on
from tests.scale.test_s3 import machine, storage

__all__ = ["cluster"]  # a fixture

pytestmark = pytest.mark.slow

SET = ("generate", "maze", "--level", "21", "--count", "4800", "--shard-size", "400")
SMALL = ("generate", "maze", "--level", "9", "--key", "k", "--count", "400", "--shard-size", "50")
SHARDS = 12


def files(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def in_one_process(arguments: tuple[str, ...], folder: Path) -> dict[str, bytes]:
    one = Command(*arguments, "--out", str(folder), "--executor", "processes:1", environment=environment())
    one.wait(PATIENCE)
    assert one.returncode == 0, one.stderr
    return files(folder)


def workers(cache: Path) -> list[int]:
    """Return the processes of a node that make a shard."""
    return [pid for pid in _processes("ray::make_shard") if f"WAYBENCH_CACHE={cache}" in _environ(pid)]


def first_worker(cache: Path, process: subprocess.Popen[bytes]) -> int:
    until = time.monotonic() + PATIENCE / 3
    while process.poll() is None and time.monotonic() < until:
        for pid in workers(cache):
            return pid
        time.sleep(0.01)
    raise AssertionError(f"nothing to kill: {process.poll()}")


@pytest.mark.usefixtures("watchdog")
def test_a_lost_worker_and_a_lost_node_change_no_byte(cluster: TestCluster, tmp_path: Path) -> None:
    out, printed = tmp_path / "out", tmp_path / "printed.txt"
    with run_on(cluster, [*SET, "--out", str(out)], printed) as process:
        os.kill(first_worker(cluster.caches[0], process), signal.SIGKILL)
        first_worker(cluster.caches[1], process)
        cluster.remove_second()
        assert process.wait(PATIENCE) == 0, printed.read_text()[-4000:]
    assert len([name for name in files(out) if name.startswith("items/")]) == SHARDS
    assert files(out) == in_one_process(SET, tmp_path / "one")


@pytest.fixture
def bucket() -> Iterator[int]:
    with storage() as port:
        yield port


def stored(port: int) -> dict[str, bytes]:
    return {name.removeprefix("bucket/set/"): content(port, name) for name in names(port, "bucket/set")}


@pytest.mark.usefixtures("watchdog")
def test_a_bucket_holds_the_same_bytes_after_a_kill(bucket: int, tmp_path: Path) -> None:
    place = ("--out", "s3://bucket/set", "--executor", "processes:1")
    first = machine(bucket, tmp_path, *SMALL, *place)
    until = time.monotonic() + PATIENCE / 3
    while sum("/items/" in name for name in names(bucket, "bucket/set")) < 2:
        assert first.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    first.kill()
    first.wait(PATIENCE)
    expected = in_one_process(SMALL, tmp_path / "one")
    before = stored(bucket)
    assert before.items() <= expected.items()  # no half shard, and none of another content
    again = machine(bucket, tmp_path, *SMALL, *place)
    again.wait(PATIENCE)
    assert again.returncode == 0, again.stderr
    assert stored(bucket) == expected
    check = machine(bucket, tmp_path, "shards", "s3://bucket/set", "--executor", "processes:1")
    check.wait(PATIENCE)
    assert check.returncode == 0 and "400 items in 8 shards" in check.stdout, check.stderr


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize(
    ("place", "settings"),
    [
        ("s3://missing/set", {}),
        ("s3://bucket/set", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}),
    ],
)
def test_a_place_that_cannot_be_used_is_one_line(
    bucket: int, tmp_path: Path, place: str, settings: dict[str, str]
) -> None:
    failed = machine(bucket, tmp_path, *SMALL, "--out", place, "--executor", "processes:1", **settings)
    failed.wait(PATIENCE)
    assert failed.returncode == 2
    *_, last = failed.stderr.splitlines()
    assert last.startswith("Error: cannot ") and place in last
    assert "Traceback" not in failed.stderr

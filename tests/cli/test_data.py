import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.support import Command, one_line_error
from tests.data.file_server import FileServer, file_server
from tests.data.support import files_below, isolate, write_toys
from waybench.data import published_downloads


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return isolate(tmp_path, monkeypatch)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    with file_server() as server:
        server.serve()
        monkeypatch.setenv("WAYBENCH_DATA_MIRROR", server.url)
        yield server


def test_list(command: Command, cache: Path, tmp_path: Path) -> None:
    aqa = "aqa  AQA-Bench test cases; licence: MIT; 6 files, 1.0 MB, https://github.com/UCSC-VLAA/AQA-Bench\n     "
    toy = "toy  Toys; licence: MIT; 3 files, 200.0 kB, https://toys.invalid\n     "
    not_here = "missing or incomplete\n"
    nothing = command("data", "list").stdout
    assert nothing.startswith(aqa + not_here)
    assert nothing.endswith(toy + not_here)
    assert nothing.count(not_here) == len(published_downloads())
    write_toys(cache)
    assert command("data", "list").stdout == nothing.removesuffix(not_here) + f"in {cache}/toy\n"
    assert command("data", "list", "--data-dir", tmp_path).stdout == nothing
    (cache / "toy" / "one.json").write_text("damaged")
    result = command("data", "list")
    assert f"{toy}damaged: {cache}/toy/one.json is not the published file" in result.stdout
    assert result.exit_code == 0


def test_fetch(command: Command, cache: Path, mirror: FileServer) -> None:
    result = command("data", "fetch", "toy")
    assert (result.exit_code, result.stdout) == (0, f"toy: 3 files, 200.0 kB in {cache}/toy\n")
    assert result.stderr == "toy/one.json (0.0 kB)\ntoy/deep/er/two.txt (200.0 kB)\ntoy/three #.txt (0.0 kB)\n"
    assert command("data", "path", "toy").stdout == f"{cache}/toy\n"
    (cache / "toy" / "one.json").unlink()
    result = command("data", "fetch", "toy", "toy")
    assert result.stdout == f"toy: 3 files, 200.0 kB in {cache}/toy; 2 of them existed already\n"
    assert result.stderr == "toy/one.json (0.0 kB)\n"
    assert len(mirror.asked) == 4


def test_fetch_to(command: Command, cache: Path, mirror: FileServer, tmp_path: Path) -> None:
    assert command("data", "fetch", "toy", "--to", tmp_path / "mine").exit_code == 0
    assert not cache.exists()
    assert command("data", "path", "toy", "--data-dir", tmp_path / "mine").stdout == f"{tmp_path}/mine/toy\n"


def test_nothing_is_downloaded_if_a_name_is_wrong(command: Command, mirror: FileServer) -> None:
    assert "unknown data set 'aqq': did you mean 'aqa'?" in one_line_error(command("data", "fetch", "toy", "aqq"))
    assert mirror.asked == []


def test_failed_downloads_are_one_line(command: Command, cache: Path, mirror: FileServer) -> None:
    del mirror.answers["/toy/one.json"]
    error = one_line_error(command("data", "fetch", "toy"))
    assert f"cannot download {mirror.url}/toy/one.json: the server answered 404 Not Found" in error
    assert files_below(cache) == {}


def test_path_of_what_is_not_there(command: Command, cache: Path) -> None:
    error = one_line_error(command("data", "path", "aqa"))
    assert error.startswith(f"Error: aqa/bfs_0.json is not in {cache}: run `waybench data fetch aqa`, or set")


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not valid text")
def test_path_is_printed_as_it_is(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(os.fsdecode(bytes(tmp_path) + b"/odd \xff"))
    monkeypatch.setenv("WAYBENCH_DATA", str(write_toys(root)))
    assert command("data", "path", "toy").stdout_bytes == bytes(root) + b"/toy\n"
    assert "in " in command("data", "list").stdout
    (root / "toy" / "one.json").write_text("damaged")
    assert "damaged: " in command("data", "list").stdout
    one_line_error(command("data", "path", "toy"))


def test_help(command: Command) -> None:
    alone, asked = command("data"), command("data", "--help")
    assert alone.exit_code == asked.exit_code == 0
    assert alone.stdout == asked.stdout
    assert all(f"\n  {name} " in asked.stdout for name in ("list", "fetch", "path"))
    for name in ("list", "fetch", "path"):
        assert command("data", name, "--help").stdout.startswith(f"Usage: waybench data {name}")


@pytest.mark.parametrize("args", [("fetch",), ("path",), ("ftech", "toy"), ("list", "toy")])
def test_wrong_usage_is_one_line(command: Command, args: tuple[str, ...]) -> None:
    assert "--help'" in one_line_error(command("data", *args))


def test_only_a_download_loads_pooch() -> None:
    # The cache is named by a variable here; where it is not, pooch is asked for it.
    probe = "import sys\nfrom waybench.cli import main\ntry: main()\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe, "data", "list"], capture_output=True, text=True, check=True)
    assert "waybench.data" in done.stdout.split()
    assert {"pooch", "requests", "inspect_ai", "numpy"}.isdisjoint(done.stdout.split())

from pathlib import Path

import pytest

from tests.data.file_server import CONTENTS, toy_set
from waybench.core import WaybenchError
from waybench.data import published_downloads


def isolate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep a test from the user's settings, cache and proxy; the toy data set is where nothing listens."""
    for name in ("WAYBENCH_DATA", "WAYBENCH_DATA_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setenv("WAYBENCH_CACHE", str(cache))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setitem(published_downloads(), "toy", toy_set("http://127.0.0.1:9"))
    return cache


def write_toys(root: Path, *paths: str) -> Path:
    """Write files of the toy data set, by default all, into a folder of data sets, and return that."""
    for path in paths or CONTENTS:
        file = root / "toy" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(CONTENTS[path])
    return root


def files_below(root: Path) -> dict[str, bytes]:
    """Return the contents of all files below a folder, hidden and temporary ones included."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def one_line(caught: pytest.ExceptionInfo[WaybenchError]) -> str:
    """Check that an error's message is one line, and return it."""
    message = str(caught.value)
    assert "\n" not in message
    return message

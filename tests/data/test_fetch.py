import hashlib
import logging
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.data.file_server import CONTENTS, Answer, FileServer, file_server, toy_set
from tests.data.support import files_below, one_line, write_toys
from waybench.core import DataError, DataFile, UsageError
from waybench.data import fetch_dataset, locate_file, locate_folder, published_downloads

TOYS = {f"toy/{path}": body for path, body in CONTENTS.items()}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A server that has the toy data set at the addresses of the table."""
    with file_server() as server:
        server.serve("/source/")
        monkeypatch.setitem(published_downloads(), "toy", toy_set(f"{server.url}/source"))
        yield server


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited before another try, none of which the test waits."""
    waits: list[float] = []
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=waits.append))
    return waits


def test_all_files_come_into_the_cache(server: FileServer, cache: Path, waits: list[float]) -> None:
    told: list[tuple[DataFile, bool]] = []
    assert fetch_dataset("toy", progress=lambda file, new: told.append((file, new))) == cache / "toy"
    assert files_below(cache) == TOYS
    assert told == [(file, True) for file in published_downloads()["toy"].files]
    assert server.asked == ["/source/one.json", "/source/deep/er/two.txt", "/source/three%20%23.txt"]
    assert waits == []
    assert locate_folder("toy") == cache / "toy"
    assert locate_file("toy", "deep/er/two.txt").read_bytes() == CONTENTS["deep/er/two.txt"]


def test_to_another_folder(server: FileServer, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetch_dataset("toy", str(tmp_path / "new" / "data")) == tmp_path / "new" / "data" / "toy"
    assert files_below(tmp_path / "new" / "data") == TOYS
    assert not cache.exists()
    monkeypatch.chdir(tmp_path)
    assert fetch_dataset("toy", "~") == Path("~", "toy")
    assert files_below(tmp_path / "~") == TOYS


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_a_shared_folder_can_be_read_by_others(server: FileServer, cache: Path) -> None:
    fetch_dataset("toy")
    assert {stat.S_IMODE((cache / path).stat().st_mode) for path in TOYS} == {0o644}


def test_what_is_there_is_not_downloaded_again(server: FileServer, cache: Path) -> None:
    write_toys(cache, "one.json", "three #.txt")
    told: dict[str, bool] = {}
    fetch_dataset("toy", progress=lambda file, new: told.update({file.path: new}))
    assert told == {"one.json": False, "deep/er/two.txt": True, "three #.txt": False}
    fetch_dataset("toy")
    assert server.asked == ["/source/deep/er/two.txt"]


def test_an_interrupted_set_is_completed(server: FileServer, cache: Path) -> None:
    good = server.answers["/source/deep/er/two.txt"]
    server.answers["/source/deep/er/two.txt"] = [Answer(status=404)]
    with pytest.raises(UsageError):
        fetch_dataset("toy")
    assert files_below(cache) == {"toy/one.json": CONTENTS["one.json"]}
    server.answers["/source/deep/er/two.txt"] = good
    server.asked.clear()
    fetch_dataset("toy")
    assert server.asked == ["/source/deep/er/two.txt", "/source/three%20%23.txt"]
    assert files_below(cache) == TOYS


def test_an_interrupt_leaves_no_half_file(server: FileServer, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(part: str, mode: int) -> None:
        assert Path(part).read_bytes() == CONTENTS["one.json"]
        raise KeyboardInterrupt

    monkeypatch.setattr("waybench.data.os.chmod", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch_dataset("toy")
    assert files_below(cache) == {}


def test_a_damaged_file_is_replaced(server: FileServer, cache: Path) -> None:
    path = write_toys(cache) / "toy" / "one.json"
    path.write_bytes(b"damaged")
    with pytest.raises(DataError):
        locate_file("toy", "one.json")
    fetch_dataset("toy")
    assert server.asked == ["/source/one.json"]
    assert locate_file("toy", "one.json").read_bytes() == CONTENTS["one.json"]


def test_a_wrong_file_is_not_kept(server: FileServer, cache: Path, waits: list[float]) -> None:
    wrong = b"<html>Please log in</html>"
    server.answers["/source/one.json"] = [Answer(wrong)]
    with pytest.raises(DataError) as caught:
        fetch_dataset("toy")
    expected, found = (hashlib.sha256(body).hexdigest() for body in (CONTENTS["one.json"], wrong))
    message = one_line(caught)
    assert f"{server.url}/source/one.json is not the published file and was not kept" in message
    assert f"expected SHA-256 {expected} (11 bytes), found {found} (26 bytes)" in message
    assert files_below(cache) == {}
    assert len(server.asked) == 3 and waits == [1, 2]


def test_an_answer_without_end_is_not_read_to_its_end(server: FileServer, cache: Path) -> None:
    server.answers["/source/one.json"] = [Answer(b" " * 4_000_000)]
    with pytest.raises(DataError, match=r"found [0-9a-f]{64} \(1\d{6} bytes\)"):
        fetch_dataset("toy")
    assert files_below(cache) == {}


def test_a_failed_repair_leaves_the_file_as_it_was(server: FileServer, cache: Path) -> None:
    (write_toys(cache) / "toy" / "one.json").write_bytes(b"damaged")
    server.answers["/source/one.json"] = [Answer(b"wrong too")]
    with pytest.raises(DataError):
        fetch_dataset("toy")
    assert files_below(cache) == {**TOYS, "toy/one.json": b"damaged"}


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "404 Not Found"), (403, "403 Forbidden"), (410, "410 Gone"), (451, "451 Unavailable For Legal Reasons")],
)
def test_a_file_that_is_not_there_is_asked_for_once(server: FileServer, status: int, words: str) -> None:
    server.answers["/source/one.json"] = [Answer(status=status)]
    with pytest.raises(UsageError) as caught:
        fetch_dataset("toy")
    assert one_line(caught) == (
        f"cannot download {server.url}/source/one.json: the server answered {words}; "
        "try again later, or set WAYBENCH_DATA to the folder of a copy"
    )
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: FileServer, cache: Path, waits: list[float], status: int) -> None:
    server.answers["/source/one.json"] = [Answer(status=status), Answer(CONTENTS["one.json"])]
    fetch_dataset("toy")
    assert files_below(cache) == TOYS
    assert waits == [1]
    server.answers["/source/one.json"] = [Answer(status=status)]
    with pytest.raises(UsageError, match=f"the server answered {status}"):
        fetch_dataset("toy", cache / "other")
    assert waits == [1, 1, 2]


def test_a_truncated_body_is_not_kept(server: FileServer, cache: Path, waits: list[float]) -> None:
    body = CONTENTS["deep/er/two.txt"]
    server.answers["/source/deep/er/two.txt"] = [Answer(body, missing=10)]
    with pytest.raises(UsageError) as caught:
        fetch_dataset("toy")
    assert "two.txt: the connection broke, or the answer was incomplete; try again" in one_line(caught)
    assert files_below(cache) == {"toy/one.json": CONTENTS["one.json"]}
    server.answers["/source/deep/er/two.txt"] = [Answer(body, missing=10), Answer(body)]
    fetch_dataset("toy")
    assert files_below(cache) == TOYS


def test_a_server_that_refuses_connections(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    with socket.socket() as bound:  # nobody else gets the port, and nobody listens
        bound.bind(("127.0.0.1", 0))
        monkeypatch.setitem(published_downloads(), "toy", toy_set(f"http://127.0.0.1:{bound.getsockname()[1]}"))
        try:
            raise FileNotFoundError(2, "Not what went wrong")
        except FileNotFoundError:
            with pytest.raises(UsageError) as caught:
                fetch_dataset("toy")
    assert "/one.json: Connection refused; try again later, or set" in one_line(caught)
    assert files_below(cache) == {}


def test_a_silent_server(server: FileServer, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.data.TIMEOUT", 0.1)
    monkeypatch.setattr("waybench.data.RETRIES", 0)
    server.answers["/source/one.json"] = [Answer(CONTENTS["one.json"], delay=30)]
    with pytest.raises(UsageError) as caught:
        fetch_dataset("toy")
    assert "one.json: no answer within 0.1 seconds; try again" in one_line(caught)
    assert files_below(cache) == {}


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_mirror(server: FileServer, cache: Path, monkeypatch: pytest.MonkeyPatch, slash: str) -> None:
    server.answers.clear()
    server.serve("/pub/data/toy/")
    monkeypatch.setenv("WAYBENCH_DATA_MIRROR", f"{server.url}/pub/data{slash}")
    fetch_dataset("toy")
    assert server.asked == [f"/pub/data/toy/{path}" for path in ("one.json", "deep/er/two.txt", "three%20%23.txt")]
    assert files_below(cache) == TOYS


def test_a_mirror_is_checked_too(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["/toy/one.json"] = [Answer(b"another")]
    monkeypatch.setenv("WAYBENCH_DATA_MIRROR", server.url)
    with pytest.raises(DataError, match="is not the published file"):
        fetch_dataset("toy")


def test_a_mirrors_password_is_not_shown(
    server: FileServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WAYBENCH_DATA_MIRROR", server.url.replace("//", "//me:pa55word@"))
    server.serve()
    server.answers["/toy/three%20%23.txt"] = [Answer(status=404)]
    with pytest.raises(UsageError) as caught:
        fetch_dataset("toy")
    assert f"cannot download {server.url}/toy/three%20%23.txt: " in one_line(caught)
    assert "pa55word" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "mirror",
    [
        "host/prefix",
        "ftp://host/",
        "file:///etc",
        "http://",
        "http://[::1",
        "http://host:x/",
        "http://h/?q=",
        "http://h/#f",
    ],
)
def test_a_mirror_that_is_no_address(mirror: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYBENCH_DATA_MIRROR", mirror)
    with pytest.raises(UsageError) as caught:
        fetch_dataset("toy")
    assert one_line(caught).startswith(
        "WAYBENCH_DATA_MIRROR is not an address: set it to one such as https://host/prefix"
    )


def test_a_file_in_the_folders_place(server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError) as caught:
        fetch_dataset("toy", tmp_path / "file")
    assert one_line(caught) == (
        f"cannot store {tmp_path / 'file' / 'toy' / 'one.json'}: Not a directory; "
        "choose another folder with --to or WAYBENCH_CACHE"
    )
    assert server.asked == []
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_in_the_files_place(server: FileServer, cache: Path) -> None:
    (cache / "toy" / "one.json").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"cannot store .*one\.json: Is a directory"):
        fetch_dataset("toy")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not stop root")
@pytest.mark.parametrize("locked", [".", "toy"])
def test_a_folder_that_cannot_be_written(server: FileServer, tmp_path: Path, locked: str) -> None:
    (tmp_path / "data" / locked).mkdir(parents=True)
    (tmp_path / "data" / locked).chmod(0o555)
    with pytest.raises(UsageError) as caught:
        fetch_dataset("toy", tmp_path / "data")
    assert f"cannot store {tmp_path / 'data' / 'toy' / 'one.json'}: Permission denied; name" in one_line(caught)


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(28, "No space left on device")])
def test_a_store_that_takes_nothing(
    server: FileServer, cache: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def full(*args: object, **settings: object) -> None:
        raise error

    (cache / "toy").mkdir(parents=True)
    monkeypatch.setattr("pooch.utils.tempfile", SimpleNamespace(NamedTemporaryFile=full))
    with pytest.raises(UsageError) as caught:
        fetch_dataset("toy")
    assert f"one.json: {error.strerror}; choose another folder with --to or WAYBENCH_CACHE" in one_line(caught)


def test_a_read_only_copy_that_is_whole_needs_nothing(
    server: FileServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*args: object, **settings: object) -> None:
        raise PermissionError(13, "Permission denied")

    write_toys(cache)
    monkeypatch.setattr(Path, "mkdir", forbidden)
    assert fetch_dataset("toy") == cache / "toy"
    assert server.asked == []


def test_an_unknown_name_gets_a_proposal() -> None:
    with pytest.raises(UsageError) as caught:
        fetch_dataset("toyy")
    assert one_line(caught).startswith("unknown data set 'toyy': did you mean 'toy'? choose from")


def test_nothing_is_printed(server: FileServer, capfd: pytest.CaptureFixture[str]) -> None:
    fetch_dataset("toy")
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("pooch").level == logging.NOTSET or logging.getLogger("pooch").level <= logging.INFO


@pytest.mark.parametrize("name", ["aqa"])
def test_a_published_set(
    name: str, data_dir: Callable[..., Path], server: FileServer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in published_downloads()[name].files:
        server.answers[f"/{name}/{file.path}"] = [Answer(data_dir(name, file.path).read_bytes())]
    monkeypatch.setenv("WAYBENCH_DATA_MIRROR", server.url)
    fetch_dataset(name)
    assert locate_folder(name) == cache / name

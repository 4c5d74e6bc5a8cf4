"""Folders by path and by URL, and what is lost when they do not answer: nothing."""

import asyncio
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFile
from inspect_ai._util.file import cleanup_s3_sessions

from waybench.core import UsageError
from waybench.ext.scale import StorageFolder, _folders, is_url
from waybench.ext.scale._folders import download_folder, mirror_folder


@pytest.fixture
def memory() -> Iterator[Any]:
    """Return fsspec's file system in memory, empty before and after."""
    files: Any = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


def log(path: Path, text: str = "a log") -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", text)


def everything(name: str) -> bool:
    return True


def told(line: str) -> None:
    raise AssertionError(line)


@pytest.mark.parametrize(
    ("text", "expected"), [("s3://b/x", True), ("gs://b", True), ("C://x", False), ("a/b", False), ("s3:/b", False)]
)
def test_what_is_a_url(text: str, expected: bool) -> None:
    assert is_url(text) is expected


@pytest.mark.parametrize("kind", ["path", "url"])
def test_a_folder_has_its_files_whole(kind: str, tmp_path: Path, memory: Any) -> None:
    folder = StorageFolder(str(tmp_path / "out") if kind == "path" else "memory://bucket/out")
    assert folder.file_sizes_by_path() == {}
    folder.check_writable()
    (tmp_path / "one.eval").write_bytes(b"12345")
    folder.put(tmp_path / "one.eval", "one.eval")
    assert folder.file_sizes_by_path() == {"one.eval": 5}
    folder.fetch("one.eval", tmp_path / "again" / "one.eval")
    assert (tmp_path / "again" / "one.eval").read_bytes() == b"12345"
    folder.remove("one.eval")
    folder.remove("one.eval")
    assert folder.file_sizes_by_path() == {}


def test_a_working_folder_goes_to_the_other_and_back(tmp_path: Path, memory: Any) -> None:
    folder, work = StorageFolder("memory://bucket/out"), tmp_path / "work"
    with mirror_folder(folder, work, everything, told):
        log(work / "first.eval")
        (work / "part.journal").write_text("a turn\n")
        (work / "logs.json").write_text("{}")
    assert not work.exists()
    assert sorted(folder.file_sizes_by_path()) == ["first.eval", "part.journal"]
    with mirror_folder(folder, work, lambda name: name.endswith(".journal"), told):
        assert [path.name for path in work.iterdir()] == ["part.journal"]
        (work / "part.journal").unlink()  # its part is complete
        log(work / "second.eval")
    assert sorted(folder.file_sizes_by_path()) == ["first.eval", "second.eval"]


def test_a_log_that_is_being_written_replaces_no_whole_one(tmp_path: Path, memory: Any) -> None:
    folder, work = StorageFolder("memory://bucket/out"), tmp_path / "work"
    with mirror_folder(folder, work, everything, told):
        log(work / "one.eval")
    before = memory.cat_file("/bucket/out/one.eval")
    with mirror_folder(folder, work, everything, told):
        (work / "one.eval").write_bytes(before[: len(before) // 2])
    assert memory.cat_file("/bucket/out/one.eval") == before


def test_what_could_not_be_uploaded_is_kept_and_uploaded_next_time(
    tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, work = StorageFolder("memory://bucket/out"), tmp_path / "work"
    monkeypatch.setattr(_folders, "PATIENCE", 0.0)

    def refuse(*args: object, **kwargs: object) -> None:
        raise ConnectionError("the connection was reset")

    with monkeypatch.context() as context:
        context.setattr(type(memory), "put_file", refuse)
        with (
            pytest.raises(UsageError, match="connection was reset") as found,
            mirror_folder(folder, work, everything, told),
        ):
            log(work / "one.eval")
            (work / "part.journal").write_text("a turn\n")
    assert str(work) in str(found.value) and "run the same command again" in str(found.value)
    assert "\n" not in str(found.value)
    assert folder.file_sizes_by_path() == {}
    with mirror_folder(folder, work, everything, told):
        pass
    assert sorted(folder.file_sizes_by_path()) == ["one.eval", "part.journal"]


def test_an_upload_that_was_interrupted_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "part.journal.0123456789.part").write_text("a tu")
    with mirror_folder(StorageFolder(str(out)), tmp_path / "work", everything, told):
        pass
    assert not list(out.iterdir())


def test_an_older_journal_here_gives_way_to_a_longer_one_there(tmp_path: Path, memory: Any) -> None:
    folder, work = StorageFolder("memory://bucket/out"), tmp_path / "work"
    memory.pipe_file("/bucket/out/part.journal", b"one\ntwo\n")
    work.mkdir()
    (work / "part.journal").write_bytes(b"one\n")  # of a process that was killed here, before another machine went on
    with mirror_folder(folder, work, everything, told):
        assert (work / "part.journal").read_bytes() == b"one\ntwo\n"


def test_a_longer_journal_here_is_uploaded(tmp_path: Path, memory: Any) -> None:
    folder, work = StorageFolder("memory://bucket/out"), tmp_path / "work"
    memory.pipe_file("/bucket/out/part.journal", b"one\n")
    work.mkdir()
    (work / "part.journal").write_bytes(b"one\ntwo\n")
    with mirror_folder(folder, work, everything, told):
        pass
    assert memory.cat_file("/bucket/out/part.journal") == b"one\ntwo\n"


def test_a_journal_that_another_part_has_removed_does_not_come_back(tmp_path: Path, memory: Any) -> None:
    folder, work, kept = StorageFolder("memory://bucket/out"), tmp_path / "work", tmp_path / "kept"
    memory.pipe_file("/bucket/out/others.journal", b"one\n")
    with mirror_folder(folder, work, everything, told):
        shutil.copytree(work, kept)  # what is left here where the process is killed
    kept.rename(work)
    memory.rm_file("/bucket/out/others.journal")
    with mirror_folder(folder, work, everything, told):
        (work / "own.journal").write_bytes(b"one\n")
    assert [Path(name).name for name in memory.find("/bucket/out")] == ["own.journal"]


def test_a_copy_has_what_the_folder_has(tmp_path: Path, memory: Any) -> None:
    memory.pipe_file("/bucket/out/one.eval", b"1")
    memory.pipe_file("/bucket/out/deeper/two.eval", b"22")
    copy = download_folder("memory://bucket/out", tmp_path)
    assert {path.relative_to(copy).as_posix() for path in copy.rglob("*.eval")} == {"one.eval", "deeper/two.eval"}
    memory.rm_file("/bucket/out/one.eval")
    memory.pipe_file("/bucket/out/deeper/two.eval", b"333")
    assert download_folder("memory://bucket/out", tmp_path) == copy
    assert [(path.name, path.read_bytes()) for path in copy.rglob("*.eval")] == [("two.eval", b"333")]


@pytest.mark.parametrize(
    ("place", "says"),
    [("memory://bucket/nothing", "nothing at memory://bucket/nothing"), ("xyz://b/x", "xyz.*address")],
)
def test_a_copy_of_nothing_is_one_line(place: str, says: str, tmp_path: Path, memory: Any) -> None:
    with pytest.raises(UsageError, match=says):
        download_folder(place, tmp_path)


def test_credentials_in_a_url_are_never_shown() -> None:
    with pytest.raises(UsageError) as found:
        StorageFolder("xyz://me:word@host/folder")
    assert "word" not in str(found.value)


def test_who_closes_all_clients_of_s3_in_this_process_does_not_close_a_folders() -> None:
    """Inspect does at the end of a run, from another thread than theirs, while the last uploads are under way."""
    closed: list[str] = []

    class Client:
        def __init__(self, name: str) -> None:
            self._name = name

        async def __aexit__(self, *_: object) -> None:
            closed.append(self._name)

    shared: Any = fsspec.filesystem("s3")
    own: Any = StorageFolder("s3://bucket/runs")
    shared._s3creator, own._files._s3creator = Client("shared"), Client("own")
    asyncio.run(cleanup_s3_sessions())
    assert closed == ["shared"]


@pytest.mark.parametrize(
    ("name", "is_copied"),
    [
        *[(name, False) for name in ("y" * 300 + ".eval", "/".join(["d" * 200] * 30) + "/x.eval", "a\0.eval")],
        *[(name, False) for name in ("../../x.eval", "a/../../x.eval", "..\\x.eval", "a\nb.eval", "\x1b[2J.eval")],
        *[(name, False) for name in ("\udcff.eval", "x.eval.part/y.eval")],
        *[(name, True) for name in ("é/x y.eval", "C:/x.eval")],
    ],
)
def test_no_name_in_a_bucket_stops_or_leaves_the_copy(name: str, is_copied: bool, tmp_path: Path, memory: Any) -> None:
    for number in range(2):
        memory.store.clear()
        for path in ("good.eval", name):
            memory.store[f"/bucket/runs/{path}"] = MemoryFile(memory, f"/bucket/runs/{path}", b"log" * number)
        copy = download_folder("memory://bucket/runs", tmp_path / "cache")
        copied = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
        assert copied == ({"good.eval", name} if is_copied else {"good.eval"})
        assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_a_file_can_take_the_place_of_a_folder(tmp_path: Path, memory: Any) -> None:
    for before, after in (("a/b.eval", "a"), ("a", "a/b.eval")):
        for name in (before, after):
            memory.store.clear()
            memory.store[f"/bucket/runs/{name}"] = MemoryFile(memory, f"/bucket/runs/{name}", b"log")
            copy = download_folder("memory://bucket/runs", tmp_path)
            assert [path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()] == [name]


def test_a_bucket_that_is_larger_than_the_disk_is_one_line(
    tmp_path: Path, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe_file("/bucket/runs/x.eval", b"log")
    monkeypatch.setattr(StorageFolder, "file_sizes_by_path", lambda folder: {"x.eval": 1 << 60})  # pyright: ignore
    with pytest.raises(UsageError, match=r"has 1,152,921,504\.6 GB, and .* has room for"):
        download_folder("memory://bucket/runs", tmp_path)

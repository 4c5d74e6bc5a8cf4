import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.data.file_server import CONTENTS
from tests.data.support import one_line, write_toys
from waybench.core import DataError, UsageError
from waybench.data import cache_folder, locate_file, locate_folder

DEEP = "deep/er/two.txt"


def test_a_given_folder(tmp_path: Path) -> None:
    root = write_toys(tmp_path / "given")
    assert locate_file("toy", DEEP, root) == root / "toy" / "deep" / "er" / "two.txt"
    assert locate_file("toy", DEEP, str(root)).read_bytes() == CONTENTS[DEEP]
    assert locate_folder("toy", root) == root / "toy"


def test_a_given_folder_can_be_the_data_sets_own(tmp_path: Path) -> None:
    home = write_toys(tmp_path / "given") / "toy"
    assert locate_file("toy", DEEP, home) == home / DEEP and locate_folder("toy", home) == home
    own = home.rename(tmp_path / "my copy")
    assert locate_file("toy", DEEP, own) == own / DEEP and locate_folder("toy", str(own)) == own
    (own / DEEP).write_bytes(b"changed")
    with pytest.raises(DataError, match=r"is not the published file .*: replace it by `waybench data fetch toy`$"):
        locate_file("toy", DEEP, own)


def test_a_given_folder_is_the_only_place(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_toys(cache)
    monkeypatch.setenv("WAYBENCH_DATA", str(write_toys(tmp_path / "variable")))
    with pytest.raises(UsageError) as caught:
        locate_file("toy", DEEP, tmp_path / "a b")
    message = one_line(caught)
    assert message.startswith(
        f"toy/{DEEP} is not in {tmp_path}/a b: run `waybench data fetch toy --to '{tmp_path}/a b'`"
    )


def test_the_variable_comes_before_the_cache(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_toys(cache)
    root = write_toys(tmp_path / "variable", DEEP)
    monkeypatch.setenv("WAYBENCH_DATA", str(root))
    assert locate_file("toy", DEEP).is_relative_to(root)


def test_the_cache_has_what_the_variables_folder_has_not(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_toys(cache)
    monkeypatch.setenv("WAYBENCH_DATA", str(write_toys(tmp_path / "variable", "one.json")))
    assert locate_file("toy", DEEP).is_relative_to(cache)
    assert locate_folder("toy") == cache / "toy"


def test_an_empty_variable_is_none(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYBENCH_DATA", "")
    write_toys(cache)
    assert locate_file("toy", DEEP).is_relative_to(cache)


def test_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("WAYBENCH_CACHE", "")
    assert cache_folder().name == "waybench"
    assert cache_folder() != tmp_path / "cache"
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert cache_folder() == tmp_path / "xdg" / "waybench"


@pytest.mark.parametrize(
    "find", [lambda: locate_file("toy", "one.json"), lambda: locate_folder("toy")], ids=["locate", "folder"]
)
def test_what_is_missing_is_told_with_what_to_do(
    find: Callable[[], Path], tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_toys(cache, DEEP)
    told = "run `waybench data fetch toy`, or set WAYBENCH_DATA to the folder of a copy"
    with pytest.raises(UsageError) as caught:
        find()
    assert one_line(caught) == f"toy/one.json is not in {cache}: {told}"
    monkeypatch.setenv("WAYBENCH_DATA", str(tmp_path / "no"))
    with pytest.raises(UsageError) as caught:
        find()
    assert one_line(caught) == f"toy/one.json is not in {tmp_path / 'no'} or {cache}: {told}"


def test_a_file_where_a_folder_should_be_has_no_data_in_it(cache: Path) -> None:
    cache.write_text("")
    with pytest.raises(UsageError, match=r"toy/one\.json is not in"):
        locate_file("toy", "one.json")


@pytest.mark.parametrize("body", [b"", b'{"one": 2}\n', b'{"one": 1}\r\n'])
@pytest.mark.parametrize(
    "find", [lambda: locate_file("toy", "one.json"), lambda: locate_folder("toy")], ids=["locate", "folder"]
)
def test_a_file_that_differs_is_named(find: Callable[[], Path], body: bytes, cache: Path) -> None:
    path = write_toys(cache) / "toy" / "one.json"
    path.write_bytes(body)
    with pytest.raises(DataError) as caught:
        find()
    message = one_line(caught)
    found, expected = (hashlib.sha256(each).hexdigest()[:12] for each in (body, CONTENTS["one.json"]))
    assert message.startswith(f"{path} is not the published file (SHA-256 {found}..., expected {expected}...)")
    assert message.endswith(f"replace it by `waybench data fetch toy --to {cache}`")


def test_a_file_that_cannot_be_read_is_named(cache: Path) -> None:
    path = cache / "toy" / "one.json"
    path.mkdir(parents=True)  # unlike missing permissions, it stops root too
    with pytest.raises(DataError) as caught:
        locate_file("toy", "one.json")
    assert one_line(caught).startswith(f"cannot read {path}: Is a directory")


def test_a_file_is_read_once_unless_it_changes(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    digest: Any = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda stream, name: read.append(stream.name) or digest(stream, name))
    path = write_toys(cache) / "toy" / "one.json"
    assert locate_file("toy", "one.json") == locate_file("toy", "one.json") == path
    assert read == [str(path)]
    path.write_bytes(b"changed")
    with pytest.raises(DataError):
        locate_file("toy", "one.json")


def test_names(cache: Path) -> None:
    with pytest.raises(UsageError, match="unknown data set 'toi': did you mean 'toy'"):
        locate_file("toi", "one.json")
    with pytest.raises(UsageError, match="unknown data set"):
        locate_folder("../toy")
    with pytest.raises(UsageError) as caught:
        locate_file("toy", "deep/two.txt")
    assert one_line(caught) == "data set toy has no file 'deep/two.txt': did you mean 'deep/er/two.txt'?"
    with pytest.raises(UsageError) as caught:
        locate_file("toy", "../../secret")
    assert one_line(caught) == "data set toy has no file '../../secret'; it has 3, such as 'one.json'"


def test_a_real_set(data_dir: Callable[..., Path], tmp_path: Path) -> None:
    real = data_dir("aqa")
    assert locate_folder("aqa", real.parent) == real
    assert locate_file("aqa", "bfs_0.json", real.parent) == real / "bfs_0.json"
    copy = shutil.copytree(real, tmp_path / "aqa")
    os.chmod(copy, 0o755)
    (copy / "dfs_0.json").unlink()
    with pytest.raises(UsageError, match=r"aqa/dfs_0\.json is not in"):
        locate_folder("aqa", tmp_path)

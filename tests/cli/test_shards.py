"""`waybench generate` in shards, and `waybench shards`."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from tests.cli.support import Command, lines_of, one_line_error, watched
from tests.conftest import PATIENCE
from waybench.cli import _shards
from waybench.ext.scale.shards._files import ShardFolder

MAZES = ("generate", "maze", "--level", 5, "--key", "k")
TEN_IN_FOUR = (*MAZES, "--count", 10, "--shard-size", 3, "--executor", "processes:1")


def files(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def rows(place: Path) -> list[dict[str, Any]]:
    """Return a set's rows in the order of the manifest."""
    manifest = json.loads((place / "manifest.json").read_text())
    found: list[dict[str, Any]] = []
    for shard in manifest["shards"]:
        path = place / shard["file"]
        if path.suffix == ".parquet":
            found += pyarrow.parquet.read_table(path).to_pylist()
        else:
            found += map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    return found


def test_shards_hold_the_lines_of_one_file(command: Command, tmp_path: Path) -> None:
    result = command(*TEN_IN_FOUR, "--start", 2, "--out", tmp_path / "s")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "10 items in 4 shards" in result.stderr
    assert rows(tmp_path / "s") == lines_of(command(*MAZES, "--count", 10, "--start", 2))
    manifest = json.loads((tmp_path / "s" / "manifest.json").read_text())
    assert manifest["items"] == 10
    assert manifest["different"] == len({row["hash"] for row in rows(tmp_path / "s")})
    assert manifest["set"]["key"] == rows(tmp_path / "s")[0]["key"]


def test_bytes_are_the_same_however_the_work_is_divided(command: Command, tmp_path: Path) -> None:
    command(*TEN_IN_FOUR, "--out", tmp_path / "one")
    for job in (2, 0, 1):
        command(*TEN_IN_FOUR, "--out", tmp_path / "jobs", "--executor", f"job:{job}/3")
    assert not (tmp_path / "jobs" / "manifest.json").exists()
    command(*TEN_IN_FOUR, "--out", tmp_path / "jobs")
    for shard in (3, 1, 0, 2):
        command(*TEN_IN_FOUR, "--out", tmp_path / "single", "--shard", shard)
    command(*TEN_IN_FOUR, "--out", tmp_path / "single")
    assert files(tmp_path / "one") == files(tmp_path / "jobs") == files(tmp_path / "single")


@pytest.mark.slow
def test_bytes_are_the_same_in_two_processes_after_one_was_killed(command: Command, tmp_path: Path) -> None:
    set_of = ("generate", "maze", "--level", "21", "--key", "k", "--count", "2000", "--shard-size", "150")
    command(*set_of, "--out", tmp_path / "one", "--executor", "processes:1")
    two = (*set_of, "--out", str(tmp_path / "two"), "--executor", "processes:2")
    with watched(*two) as process:
        deadline = time.monotonic() + PATIENCE
        while len(list(tmp_path.glob("two/items/*"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    before = files(tmp_path / "two")
    whole = {name: content for name, content in before.items() if ".making-" not in name}
    assert 3 <= len([name for name in whole if name.startswith("items/")]) < 14
    assert whole.items() <= files(tmp_path / "one").items()
    subprocess.run([sys.executable, "-m", "waybench", *two], check=True, capture_output=True)
    assert files(tmp_path / "two") == files(tmp_path / "one")


def test_finished_shards_are_not_made_again(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(*TEN_IN_FOUR, "--out", tmp_path / "s", "--shard", 1)
    asked: list[int] = []
    choose = _shards.ItemChoices.choose

    def counting(self: Any, index: int) -> Any:
        asked.append(index)
        return choose(self, index)

    monkeypatch.setattr(_shards.ItemChoices, "choose", counting)
    monkeypatch.setattr(_shards, "_cost_per_item", lambda *_: (100.0, 0.001))
    made: list[Any] = []
    write = _shards.write_shard
    monkeypatch.setattr(_shards, "write_shard", lambda *args: made.append(args[1]) or write(*args))
    command(*TEN_IN_FOUR, "--out", tmp_path / "s")
    assert [one.first for one in made] == [0, 6, 9]
    assert not {3, 4, 5} & set(asked)
    made.clear()
    again = command(*TEN_IN_FOUR, "--out", tmp_path / "s")
    assert (made, "nothing to do" in again.stderr) == ([], True)
    command(*MAZES, "--count", 12, "--shard-size", 3, "--out", tmp_path / "s", "--executor", "processes:1")
    assert [(one.first, one.size) for one in made] == [(9, 3)]  # of a larger set, the last shard is made anew
    assert [row["index"] for row in rows(tmp_path / "s")] == [*range(12)]
    assert len([*(tmp_path / "s" / "items").iterdir()]) == len([*(tmp_path / "s" / "hashes").iterdir()]) == 4


def test_another_set_in_the_folder_is_refused(command: Command, tmp_path: Path) -> None:
    command(*TEN_IN_FOUR, "--out", tmp_path / "s")
    before = files(tmp_path / "s")
    for other in (
        ("--level", 7),
        ("--key", "other"),
        ("--prompts",),
        ("--split", "train"),
        ("-T", "algorithm=wilson"),
        ("--shard-size", 4),
        ("--start", 1),
    ):
        assert "has other shards" in one_line_error(command(*TEN_IN_FOUR, *other, "--out", tmp_path / "s"))
    fewer = one_line_error(command(*MAZES, "--count", 9, "--shard-size", 3, "--out", tmp_path / "s"))
    assert "has 10 items" in fewer
    assert files(tmp_path / "s") == before


@pytest.mark.parametrize("more", [(), ("-T", "interface=tools"), ("--reasoning", "field")])
def test_chats_as_parquet(command: Command, tmp_path: Path, more: tuple[str, ...]) -> None:
    chats = ("generate", "search/dfs" if "field" in more else "maze", "--count", 4, "--solutions", *more)
    command(*chats, "--shard-size", 2, "--format", "parquet", "--out", tmp_path / "p", "--executor", "processes:1")
    lines = lines_of(command(*chats))
    schemas = [pyarrow.parquet.read_schema(path) for path in (tmp_path / "p" / "items").iterdir()]
    assert schemas[0] == schemas[1]
    found = rows(tmp_path / "p")
    assert len(found) == len(lines)
    for row, line in zip(found, lines, strict=True):
        kept = [{name: value for name, value in each.items() if value is not None} for each in row["messages"]]
        assert kept == line["messages"]
        assert (row["id"], row["hash"], row["index"], row["split"]) == tuple(
            line[name] for name in ("id", "hash", "index", "split")
        )
        if "tools" in line:
            assert json.loads(row["tools"]) == line["tools"]


def test_instances_as_parquet(command: Command, tmp_path: Path) -> None:
    command(*MAZES, "--count", 3, "--format", "parquet", "--out", tmp_path / "p")
    read = [
        {**row, "instance": json.loads(row["instance"]), "proof": json.loads(row["proof"])}
        for row in rows(tmp_path / "p")
    ]
    assert read == lines_of(command(*MAZES, "--count", 3))


def test_a_url(command: Command) -> None:
    place = "memory://tests/generated"
    command(*MAZES, "--count", 4, "--out", place, "--executor", "processes:1")
    assert len(ShardFolder(place).file_sizes_by_name("items")) == 1
    result = command("shards", place, "--executor", "processes:1")
    assert "4 items in 1 shard" in result.stdout and "verified" in result.stdout


def test_a_private_key_is_in_no_file(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "b7d1f0c39a5e4862b7d1f0c39a5e4862b7d1f0c3"
    monkeypatch.setenv("MY_SET", secret)
    result = command(
        "generate", "maze", "--key", "env:MY_SET", "--count", 4, "--shard-size", 2, "--out", tmp_path / "s"
    )
    contents = [gzip.decompress(each) if name.endswith(".gz") else each for name, each in files(tmp_path / "s").items()]
    assert len(contents) == 6
    assert not any(secret.encode() in content for content in contents)
    assert secret not in result.stderr


def test_the_need_is_told_and_refused_without_room(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShardFolder, "free_bytes", lambda self: 10_000_000)
    result = command(
        "generate", "maze", "--level", 9, "--count", "1e9", "--out", tmp_path / "s", "--executor", "processes:1"
    )
    told, error = result.stderr.splitlines()
    assert "1,000,000,000 items in 10,000 shards: about " in told
    assert error.startswith("Error: ") and "10 MB are free" in error
    assert result.exit_code == 2
    assert not (tmp_path / "s" / "items").exists()


def test_the_estimate_is_near(command: Command, tmp_path: Path) -> None:
    result = command(*MAZES[:2], "--level", 9, "--count", 2000, "--out", tmp_path / "s", "--executor", "processes:1")
    value, unit = result.stderr.split("about ")[1].split()[:2]
    real = sum(len(content) for name, content in files(tmp_path / "s").items() if name != "manifest.json")
    assert 0.8 < float(value) * {"kB": 1e3, "MB": 1e6}[unit] / real < 1.5


def test_printed_jobs_run_nothing(command: Command, tmp_path: Path) -> None:
    public = ("generate", "maze", "--level", 9, "--count", 10, "--shard-size", 3)
    own = [str(part) for part in (*public, "--executor", "print", "--out", tmp_path / "s")]
    printed = subprocess.run(
        [sys.executable, "-m", "waybench", *own], check=True, capture_output=True, text=True
    ).stdout
    assert "#SBATCH --array=0-3" in printed
    assert '--executor "job:$SLURM_ARRAY_TASK_ID/4"' in printed
    assert not (tmp_path / "s" / "items").exists()


@pytest.mark.parametrize("engine", ["print", "job:0/2"])
def test_a_private_key_is_in_no_job_that_goes_elsewhere(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setenv("MY_SET", "k")
    given = ("generate", "maze", "--count", 4, "--out", tmp_path / "s", "--executor", engine)
    if engine == "print":
        assert "--key env:NAME" in one_line_error(command(*given, "--key", "k"))
        assert not (tmp_path / "s").exists()
    assert command(*given, "--key", "env:MY_SET").exit_code == 0


def test_counts_over_two_keys(command: Command, tmp_path: Path) -> None:
    for key in ("k", "other"):
        command(
            "generate", "maze", "--level", 7, "--key", key, "--count", 200, "--shard-size", 200, "--out", tmp_path / key
        )
    hashes = [[row["hash"] for row in rows(tmp_path / key)] for key in ("k", "other")]
    union = set(hashes[0]) | set(hashes[1])
    result = command("shards", tmp_path / "k", tmp_path / "other", "--executor", "processes:1")
    assert f"400 items, {len(union)} different, {400 - len(union)} repeated" in result.stdout
    assert f"in two or more sets: {len(set(hashes[0]) & set(hashes[1]))}\n" in result.stdout
    assert len(set(hashes[0]) & set(hashes[1])) > 0  # mazes of this level are few


def test_a_changed_file_is_found_and_mended(command: Command, tmp_path: Path) -> None:
    command(*TEN_IN_FOUR, "--out", tmp_path / "s")
    whole = files(tmp_path / "s")
    broken = sorted((tmp_path / "s" / "items").iterdir())[2]
    broken.write_bytes(broken.read_bytes()[:-1] + b"!")
    for more, said in (((), "SHA-256 differs"), (("--quick",), "repeated")):
        result = command("shards", tmp_path / "s", "--executor", "processes:1", *more)
        assert said in result.stdout
        assert result.exit_code == (0 if more else 1)  # the size is as before
    broken.unlink()
    result = command("shards", tmp_path / "s", "--quick")
    assert (result.exit_code, f"{broken.name}: missing" in result.stdout) == (1, True)
    command(*TEN_IN_FOUR, "--out", tmp_path / "s")
    assert files(tmp_path / "s") == whole


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--count", "1.5"), "not a whole number"),
        (("--count", "1e999999999"), "not a whole number"),
        (("--count", "-1"), "too small"),
        (("--count", "nan"), "not a whole number"),
        (("--shard-size", "0", "--out", "x"), "too small"),
        (("--shard-size", "5"), "give their folder"),
        (("--format", "parquet", "--out", "x.parquet"), "without an ending"),
        (("--executor", "nowhere", "--out", "x"), "unknown executor"),
        (("--shard", "4", "--out", "x"), "numbered from 0"),
        (("--count", "0", "--shard-size", "5", "--out", "x"), "--count 0"),
        (("-T", "limit=3", "--shard-size", "5", "--out", "x"), "task's parameters"),
        (("-T", "wording=ascii", "--shard-size", "5", "--out", "x"), "--prompts or --solutions"),
        (("--out", "nowhere://x"), "nowhere"),
    ],
)
def test_bad_input_is_one_line(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in one_line_error(command("generate", "maze", *args))
    assert os.listdir(tmp_path) == []


def test_a_level_with_few_items_is_refused(command: Command, tmp_path: Path) -> None:
    few = ("generate", "hanoi", "--count", "1e6", "--shard-size", "1000", "--out", tmp_path / "s")
    assert "different item: give --count 1 at most" in one_line_error(command(*few))


def test_a_number_may_have_an_exponent(command: Command) -> None:
    assert command(*MAZES, "--count", "2e0").stdout == command(*MAZES, "--count", 2).stdout

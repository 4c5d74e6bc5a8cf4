"""Shards without items: files, names, counts."""

import gzip
import hashlib
import json
import random
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from waybench.core import UsageError
from waybench.ext.scale.shards._files import ShardFolder
from waybench.ext.scale.shards._shards import (
    NumberRange,
    Shard,
    ShardCheck,
    ShardPlan,
    count_distinct_hashes,
    divide_into_hash_ranges,
    finished_shards,
    problem_of_shard,
    read_manifest,
    sum_counts,
    write_manifest,
    write_shard,
)


def digest(number: object) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def rows(hashes: list[str], first: int = 0) -> Iterator[tuple[str, list[str]]]:
    for index, each in enumerate(hashes, start=first):
        yield each, [json.dumps({"index": index, "hash": each, "instance": {"n": index}})]


def made(place: Path | str, hashes: list[str], first: int = 0, file_format: str = "jsonl") -> Shard:
    return write_shard(ShardFolder(str(place)), NumberRange(first, len(hashes)), rows(hashes, first), file_format)


def test_the_plan_covers_every_item_once() -> None:
    for start, count, size in ((0, 10, 3), (5, 9, 3), (7, 1, 100), (0, 1_000_000_007, 100_000)):
        plan = ShardPlan(start, count, size)
        last = plan.items_of_shard(len(plan) - 1)
        assert plan.items_of_shard(0).first == start
        assert last.first + last.size == start + count
        near = [plan.items_of_shard(number) for number in range(min(5, len(plan)))]
        assert all(one.first + one.size == after.first for one, after in pairwise(near))
        assert [plan.shard_number(one) for one in near] == [*range(len(near))]
        assert plan.shard_number(NumberRange(start, size + 1)) is None
        with pytest.raises(UsageError, match="numbered from 0"):
            plan.items_of_shard(len(plan))


def test_a_file_is_named_after_its_content(tmp_path: Path) -> None:
    shard = made(tmp_path, [digest(n) for n in range(5)])
    file = tmp_path / "items" / shard.name
    assert hashlib.sha256(file.read_bytes()).hexdigest() == shard.sha256
    assert file.stat().st_size == shard.bytes
    assert [json.loads(line)["index"] for line in gzip.decompress(file.read_bytes()).splitlines()] == [0, 1, 2, 3, 4]
    assert finished_shards(ShardFolder(str(tmp_path)), ".jsonl.gz") == {NumberRange(0, 5): shard}
    assert finished_shards(ShardFolder(str(tmp_path)), ".parquet") == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hashes", "items"]  # nothing else is left there


@pytest.mark.parametrize("file_format", ["jsonl", "parquet"])
def test_the_same_lines_give_the_same_bytes(tmp_path: Path, file_format: str) -> None:
    hashes = [digest(n) for n in range(2500)]  # more than a group of rows
    assert made(tmp_path / "a", hashes, 0, file_format) == made(tmp_path / "b", hashes, 0, file_format)


@pytest.mark.parametrize("place", ["folder", "memory://tests/half"])
def test_what_breaks_off_leaves_no_shard(tmp_path: Path, place: str) -> None:
    store = ShardFolder(place if "://" in place else str(tmp_path / place))

    def broken() -> Iterator[tuple[str, list[str]]]:
        yield from rows([digest(n) for n in range(3)])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_shard(store, NumberRange(0, 4), broken(), "jsonl")
    assert store.file_sizes_by_name("items") == {} == store.file_sizes_by_name("hashes")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_memory_does_not_grow_with_the_lines(tmp_path: Path) -> None:
    text = "x" * 20_000

    def large(count: int) -> Iterator[tuple[str, list[str]]]:
        for index in range(count):
            yield digest(index), [json.dumps({"index": index, "instance": text})]

    peaks: list[int] = []
    for count in (50, 500):  # 1 MB and 10 MB of lines
        tracemalloc.start()
        write_shard(ShardFolder(str(tmp_path / str(count))), NumberRange(0, count), large(count), "jsonl")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 500_000


def test_a_folder_in_memory_works_as_one_on_disk(tmp_path: Path) -> None:
    hashes = [digest(n) for n in range(9)]
    local, remote = ShardFolder(str(tmp_path)), ShardFolder("memory://tests/same")
    shards = [write_shard(store, NumberRange(0, 9), rows(hashes), "jsonl") for store in (local, remote)]
    assert shards[0] == shards[1]
    for folder, name in (("items", shards[0].name), ("hashes", shards[0].hashes)):
        assert local.read_bytes(f"{folder}/{name}") == remote.read_bytes(f"{folder}/{name}")
    write_manifest(remote, {"env": "toy"}, shards[:1])
    assert read_manifest(remote)[1] == shards[:1]
    assert problem_of_shard(ShardCheck("memory://tests/same", shards[0], ())) is None


@pytest.mark.parametrize("memory", [10**9, 64 * 7])
def test_duplicates_are_counted_exactly(tmp_path: Path, memory: int) -> None:
    """In one part, and in parts of about seven hashes."""
    draw = random.Random(7)
    sets = [[digest(draw.randrange(most)) for _ in range(300)] for most in (200, 350, 10**9)]
    sets[2][:4] = ["0" * 64, "f" * 64, "0" * 64, "00" + "f" * 62]  # at the ends of ranges
    sets[0][0] = "f" * 64
    shards = [
        [made(tmp_path / str(number), hashes[first : first + 70], first) for first in range(0, 300, 70)]
        for number, hashes in enumerate(sets)
    ]
    places = [str(tmp_path / str(number)) for number in range(3)]
    divided = divide_into_hash_ranges(places, shards, memory)
    assert len(divided) == (1 if memory > 10**6 else 129)
    draw.shuffle(divided)
    count = sum_counts(map(count_distinct_hashes, divided))
    different = [set(hashes) for hashes in sets]
    everything = set().union(*different)
    assert count.items == 900
    assert count.different == len(everything)
    assert count.of_sets == tuple(map(len, different))
    assert count.shared == sum(sum(each in one for one in different) > 1 for each in everything)


def test_hashes_that_agree_in_eight_bytes_are_different(tmp_path: Path) -> None:
    hashes = ["ab" * 8 + f"{tail:016x}" + "0" * 32 for tail in (3, 1, 2, 1)]
    shard = made(tmp_path, hashes)
    assert sum_counts(map(count_distinct_hashes, divide_into_hash_ranges([str(tmp_path)], [[shard]]))).different == 3


def test_a_check_finds_what_changed(tmp_path: Path) -> None:
    hashes = [digest(n) for n in range(20)]
    shard = made(tmp_path, hashes)
    file, kept = tmp_path / "items" / shard.name, tmp_path / "hashes" / shard.hashes
    job = ShardCheck(str(tmp_path), shard, ())
    content, sorted_hashes = file.read_bytes(), kept.read_bytes()
    assert problem_of_shard(job) is None
    assert "row 0 has hash" in (problem_of_shard(job._replace(expected=(("hash", "0"),))) or "")

    file.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    assert "not that of its name" in (problem_of_shard(job) or "")
    file.unlink()
    assert "missing" in (problem_of_shard(job) or "")
    file.write_bytes(content)
    kept.write_bytes(sorted_hashes[:-1] + b"!")
    assert "not the hashes of the items" in (problem_of_shard(job) or "")

    # A whole file under its own name, with an item too few.
    short = made(tmp_path / "short", hashes[:19])
    renamed = Shard(NumberRange(0, 20), short.sha256, short.bytes, short.ending)
    (tmp_path / "short" / "items" / short.name).rename(tmp_path / "short" / "items" / renamed.name)
    assert "19 items, not 20" in (problem_of_shard(ShardCheck(str(tmp_path / "short"), renamed, ())) or "")


def test_a_damaged_file_of_hashes_is_one_line(tmp_path: Path) -> None:
    shard = made(tmp_path, [digest(n) for n in range(20)])
    kept = tmp_path / "hashes" / shard.hashes
    kept.write_bytes(kept.read_bytes()[:-8])
    for memory in (10**9, 64):
        with pytest.raises(UsageError, match="missing or damaged"):
            list(map(count_distinct_hashes, divide_into_hash_ranges([str(tmp_path)], [[shard]], memory)))


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"items": 1, "set": {}, "shards": []}', '{"shards": [{"file": 1}]}']
)
def test_a_damaged_manifest_is_one_line(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError, match="no manifest"):
        read_manifest(ShardFolder(str(tmp_path)))
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(UsageError, match=r"manifest\.json"):
        read_manifest(ShardFolder(str(tmp_path)))


def test_an_unknown_protocol_is_one_line() -> None:
    with pytest.raises(UsageError, match="cannot use nowhere://x"):
        ShardFolder("nowhere://x")


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(UsageError) as failed:
        ShardFolder("nowhere://user:hunter2@x")
    assert "hunter2" not in str(failed.value)

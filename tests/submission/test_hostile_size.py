"""Archives that are made to take all memory or to keep a machine busy: verification ends within its limits."""

import json
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from tests.conftest import PATIENCE
from waybench.submission._archive import LONGEST_LINE, MANIFEST

MOST_MEMORY = 700  # MiB, of one process
RECORDS = "records/000-dfs.jsonl"
MIB = 1 << 20
MEASURED = """
import re, resource, sys
from pathlib import Path
from click.testing import CliRunner
from waybench.cli._app import main
done = CliRunner().invoke(main, ["verify", sys.argv[1]])
# What getrusage says of this process includes the one that started it.
own = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
used = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
print(done.exit_code, used // 1024)
print(done.output)
"""


def with_records(path: Path, records: int, chunks: Iterable[bytes]) -> None:
    """Write a submission with a file of records."""
    run = {"file": RECORDS, "records": records, "model": "m", "task": "dfs", "created": "", "version": "", "subset": ""}
    run |= {"epochs": 1, "parameters": {"limit": 4}, "settings": {}, "search": {}}
    manifest = {"format": "waybench-submission", "schema": 1, "submitter": "", "about": "", "waybench": ""}
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(MANIFEST, json.dumps({**manifest, "runs": [run], "files": {}}))
        with archive.open(RECORDS, "w", force_zip64=True) as file:
            for chunk in chunks:
                file.write(chunk)


def bomb(path: Path) -> None:
    """Write 1 GiB of spaces as one line."""
    with_records(path, 1, (b" " * MIB for _ in range(1024)))


def newlines(path: Path) -> None:
    """Write 1 GiB of empty lines, and state few."""
    with_records(path, 1_000, (b"\n" * MIB for _ in range(1024)))


def long_lines(path: Path) -> None:
    """Write lines that are just short enough."""
    line = [b'{"sample":"', *[b"x" * MIB] * (LONGEST_LINE // MIB - 1), b'"}\n']
    with_records(path, 4, (part for _ in range(4) for part in line))


def many_members(path: Path) -> None:
    """Write 128 MiB of names of members: 1,300,000 of them, which share no content."""
    name = b"records/000-" + b"a" * 40 + b".jsonl"
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, *[0] * 8, len(name), *[0] * 6) + name
    with path.open("wb") as file:
        for _ in range(128 * MIB // (1000 * len(entry))):
            file.write(entry * 1000)
        size = file.tell()
        file.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, size, 0, 0))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is in other units")
@pytest.mark.parametrize(
    ("build", "status", "reason"),
    [
        (bomb, 2, "a line of more than 64 MiB"),
        (newlines, 1, "more records than the 1,000 of the manifest"),
        (long_lines, 1, "A new simulation does not agree with the record. (4 times)"),
        (many_members, 2, "its list of files has more than 1 MiB"),
    ],
)
def test_verification_ends_within_its_limits(
    tmp_path: Path, build: Callable[[Path], None], status: int, reason: str
) -> None:
    path = tmp_path / "x.zip"
    build(path)
    command = [sys.executable, "-W", "ignore", "-c", MEASURED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    path.unlink()
    first, _, output = done.stdout.partition("\n")
    found, memory = map(int, first.split())
    assert reason in output
    assert found == status
    assert memory < MOST_MEMORY

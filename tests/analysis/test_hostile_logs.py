"""Logs with damaged samples: the others are read, and each that is not is named, within limits on memory.

The samples of one log are spoilt in 8 families with fixed keys, 25 of each family.
"""

import copy
import json
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_logs import run
from tests.hostile_json import FAMILIES, RAW_FAMILIES, spoilt
from waybench.results import read_logs
from waybench.results.logs import Skipped

CASES = 25
ZSTANDARD = 93  # in which Inspect writes; Python before 3.14 has no name for it
Parts = dict[str, bytes]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Return the parts of a log of mazes."""
    out = tmp_path_factory.mktemp("whole")
    run(out)
    (log,) = out.glob("*.eval")
    with zipfile.ZipFile(log) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def good(parts: Parts) -> Any:
    return json.loads(parts["samples/501-1_epoch_1.json"])


def write(parts: Parts, to: Path, samples: Mapping[str, bytes]) -> Path:
    """Write a log with other samples, by id."""
    (summary, *_) = json.loads(parts["summaries.json"])
    listed = [{**summary, "id": name, "uuid": f"u{number}"} for number, name in enumerate(samples)]
    to.mkdir(exist_ok=True)
    with zipfile.ZipFile(to / "2026-01-01T00-00-00_alicia_a.eval", "w", zipfile.ZIP_DEFLATED) as log:
        for name, data in parts.items():
            if not name.startswith(("samples/", "_journal/summaries", "summaries.json")):
                log.writestr(name, data)
        for name, data in samples.items():
            log.writestr(f"samples/{name}_epoch_1.json", data)
        log.writestr("summaries.json", json.dumps(listed))
    return to


def sample(parts: Parts, name: str, **fields: Any) -> bytes:
    return json.dumps({**good(parts), "id": name, "uuid": None, **fields}).encode()


def recorded(parts: Parts, name: str, head: str | None = None, **progress: Any) -> bytes:
    """Return a sample with another record: another head, or another course."""
    made = good(parts)
    made["metadata"]["waybench"] = made["metadata"]["waybench"] if head is None else [head]
    made["store"]["waybench"] |= progress
    made["scores"] = {}
    return json.dumps({**made, "id": name, "uuid": None}).encode()


def spoilt_samples(parts: Parts) -> dict[str, bytes]:
    """Return samples whose head, course or whole is spoilt."""
    made = good(parts)
    head, course = json.loads(made["metadata"]["waybench"][0]), made["store"]["waybench"]
    turn = json.loads(course["turns"][0])
    found: dict[str, bytes] = {}
    for family in [*FAMILIES, *RAW_FAMILIES]:
        for case in range(CASES):
            name = f"{family}-{case}"
            match case % 4:
                case 0:
                    text = spoilt(head, family, "head", case).decode("utf-8", "surrogateescape")
                    found[name] = recorded(parts, name, text)
                case 1:
                    text = spoilt(turn, family, "turn", case).decode("utf-8", "surrogateescape")
                    found[name] = recorded(parts, name, turns=[text])
                case 2 if family in FAMILIES:
                    found[name] = recorded(parts, name, **json_of(spoilt(course, family, "course", case)))
                case _:
                    whole = {**copy.deepcopy(made), "id": name, "uuid": None}
                    found[name] = spoilt(whole, family, "sample", case)
    return found


def json_of(data: bytes) -> dict[str, Any]:
    try:
        found: Any = json.loads(data)
    except RecursionError:
        found = {"turns": data.decode()}
    return found if isinstance(found, dict) else {"turns": found}


REPORTED = """
import gc, json, sys
from pathlib import Path
from waybench.results import read_logs
from waybench.reporting import write_report
gc.set_threshold(200, 2, 2)  # what is left behind is thrown away, and complained of, as soon as can be
problems = []
episodes = list(read_logs(Path(sys.argv[1]), on_problem=problems.append))
made = write_report(episodes, Path(sys.argv[2]), passed_over=problems)
read = [one.sample for one in episodes]
print(json.dumps({"read": read, "skipped": problems, "episodes": made.episodes, "not shown": len(made.passed_over)}))
"""


@pytest.mark.slow
def test_every_spoilt_sample_is_an_episode_or_is_named(parts: Parts, tmp_path: Path) -> None:
    samples = {"first": sample(parts, "first"), **spoilt_samples(parts), "last": sample(parts, "last")}
    assert len(samples) == CASES * 8 + 2
    # In a process of its own: Inspect leaves files open where a sample is damaged, which would end another test.
    logs = write(parts, tmp_path / "logs", samples)
    told = child(REPORTED, str(logs), str(tmp_path / "site"))
    found = json.loads(told.stdout)
    assert told.stderr == ""  # of Inspect's reader, too
    passed_over = [name for _, name, _ in found["skipped"]]
    assert {"first", "last"} <= set(found["read"])
    assert len(passed_over) > CASES
    # Of a whole sample anything may be spoilt, its id too: then it is an episode of another sample, or none of ours.
    lost = samples.keys() - set(found["read"]) - set(passed_over)
    assert {name for name in lost if int(name.partition("-")[2]) % 4 < 2} == set()
    assert all(0 < len(error) <= 200 and "\n" not in error for _, _, error in found["skipped"])
    assert found["episodes"] + found["not shown"] == len(found["read"]) + len(passed_over)
    assert len(json.loads((tmp_path / "site" / "summary.json").read_text())["skipped"]) == found["not shown"]


def child(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in another process."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"env": "plugin/gone"}, "unknown environment 'plugin/gone'"),
        ({"schema": 99}, "record of schema 99"),
        ({"instance": "\0deep"}, "too many nested brackets"),
        ({"instance_hash": 3}, "not an episode record"),
    ],
)
def test_what_this_version_cannot_read_is_named(
    parts: Parts, tmp_path: Path, changes: dict[str, Any], error: str
) -> None:
    head = json.loads(good(parts)["metadata"]["waybench"][0]) | changes
    text = json.dumps(head).replace('"\\u0000deep"', "[" * 100_000 + "]" * 100_000)
    samples = {"bad": recorded(parts, "bad", text), "whole": sample(parts, "whole")}
    problems: list[Skipped] = []
    episodes = list(read_logs(write(parts, tmp_path, samples), on_problem=problems.append))
    assert [one.sample for one in episodes] == ["whole"]
    assert [(one.sample, error in one.error) for one in problems] == [("bad", True)]


LIMITED = """
import resource, sys
from pathlib import Path
import inspect_ai.log
from waybench.results import read_logs
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30), size + (1 << 30)))
for folder in sys.argv[1:]:
    problems = []
    episodes = list(read_logs(Path(folder), on_problem=problems.append))
    print([one.sample for one in episodes], *((one.sample, one.error) for one in problems), sep=";")
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limit on memory is set as Linux has it")
def test_hostile_samples_are_passed_over_within_1_gib(parts: Parts, tmp_path: Path) -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    wide = b"[" + b"{}," * 6_000_000 + b"{}]"
    long = b'"' + b"x" * (600 << 20) + b'"'
    folders: list[Path] = []
    for name, value in (("deep", deep), ("wide", wide), ("long", long)):
        for field in ("store", "events") if name == "deep" else ("store",):
            spot = b'{"waybench": {}, "x": @}' if field == "store" else b"[@]"
            text = sample(parts, "bad", **{field: "@@"}).replace(b'"@@"', spot.replace(b"@", value))
            samples = {"bad": text, "whole": sample(parts, "whole")}
            folders.append(write(parts, tmp_path / f"{name}-{field}", samples))
    done = child(LIMITED, *map(str, folders))
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("['whole'];('bad', ") for line in lines)
    assert ["brackets" in line for line in lines] == [True, True, False, False]
    assert "too many values" in lines[2]
    assert "600 MiB" in lines[3]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limit on memory is set as Linux has it")
def test_the_directory_of_a_log_is_not_believed(parts: Parts, tmp_path: Path) -> None:
    """A part of more than the limit, of which the directory has 1000 bytes with the right checksum."""
    says = 1000
    for name, kind, size in (("zstandard", ZSTANDARD, 1536), ("deflate", zipfile.ZIP_DEFLATED, 600)):
        samples = {"bad": b"{}", "whole": sample(parts, "whole")}
        (path,) = write(parts, tmp_path / name, samples).iterdir()
        start = sample(parts, "bad", store="@").partition(b'"@"')[0] + b'{"x": "'
        with zipfile.ZipFile(path, "a", kind, compresslevel=1) as log, pytest.warns(UserWarning, match="Duplicate"):
            with log.open("samples/bad_epoch_1.json", "w", force_zip64=True) as part:
                part.write(start)
                for _ in range(size):
                    part.write(b"x" * (1 << 20))
            info = log.getinfo("samples/bad_epoch_1.json")
            info.file_size, info.CRC = says, zlib.crc32((start + b"x" * says)[:says])
    done = child(LIMITED, *(str(tmp_path / name) for name in ("zstandard", "deflate")))
    expected = f"['whole'];('bad', 'it has more than the {says} bytes that the directory of the archive states')"
    assert done.stdout.splitlines() == [expected] * 2

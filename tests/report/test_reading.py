"""Episodes of a report are read and verified in several processes."""

import gzip
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import played
from tests.conftest import PATIENCE
from waybench import reporting
from waybench.cli._report import build_report
from waybench.evaluation import evaluate
from waybench.evaluation.tasks import TASKS, load_task
from waybench.ext.scale._executors import OrderedResults, executor_by_name
from waybench.reporting import _cache, write_report
from waybench.reporting._cache import ReportCache
from waybench.reporting._reading import _UncachedEpisodes  # pyright: ignore[reportPrivateUsage]
from waybench.reporting._write import Report
from waybench.results import read_logs
from waybench.results.logs import EpisodeBatches, Skipped, _record_files
from waybench.results.results import Verifier

_PROGRAM = """
import os, sys
from pathlib import Path
from waybench.results import read_logs
from waybench.results.logs import EpisodeBatches, _logs
from waybench.results.results import Verifier
from waybench.reporting._cache import ReportCache
from waybench.reporting._reading import read_batches

_logs.BATCH = 1
folder, file = Path(sys.argv[1]), Path(sys.argv[1]) / "kept"
kept = ReportCache(file)
here, verify = os.getpid(), Verifier.verify
def elsewhere(verifier, episode):
    assert sys.platform != "linux" or os.getpid() != here
    return verify(verifier, episode)
Verifier.verify = elsewhere
first = list(read_batches(EpisodeBatches(folder, cache=kept), {}, kept, 2))
kept.save()
kept = ReportCache(file)
again = list(read_batches(EpisodeBatches(folder, cache=kept), {}, kept, 2))
found = [[one.verified for batch in batches for one in batch.episodes] for batches in (first, again)]
assert [one.episode for one in found[0]] == list(read_logs(folder))
assert [one[:2] for one in found[0]] == [one[:2] for one in found[1]]
print(len(first), *(sum(batch.simulated for batch in batches) for batches in (first, again)))
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the log of a run of three mazes."""
    out = tmp_path_factory.mktemp("logs")
    entry = next(entry for entry in TASKS if entry.name == "alicia")
    assert evaluate([partial(load_task(entry), max_dimension=5, limit=3)], ["waybench/oracle"], out) == []
    return out


@pytest.mark.slow
def test_batches_are_verified_in_other_processes_and_once(logs: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(logs)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr == ""
    assert done.stdout.split() == ["4", "3", "0"]  # batches, with that of files of records; simulated at first, then


def test_files_of_records_are_read_in_batches_of_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_record_files, "BATCH", 2)
    lines = [episode.record.dumps() + "\n" for episode in played("random", (5,), mazes=3)]
    (tmp_path / "a.jsonl").write_text("".join([lines[0], "no JSON\n", *lines[1:], lines[0]]))
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as file:
        file.write(lines[1] + '{"schema": 3, "turns": []}\n' + lines[0])
    (tmp_path / "others.jsonl").write_text('{"text": "no record"}\n')
    problems: list[Skipped] = []
    episodes = list(read_logs(tmp_path, on_problem=problems.append))
    of_item = [episode.attempt for episode in episodes if episode.record.item == episodes[0].record.item]
    assert len(of_item) >= 5 and of_item == list(range(1, len(of_item) + 1))
    assert [problem.sample for problem in problems] == ["line 2", "line 2"]
    batches, told = EpisodeBatches(tmp_path), list[Skipped]()
    assert len(batches) == (len(lines) + 4) // 2 and batches.n_log_batches == 0
    read = {number: list(batches.read(number, told.append)) for number in reversed(range(len(batches)))}
    assert [episode for number in range(len(batches)) for episode in read[number]] == episodes
    assert told == problems


@pytest.mark.slow
def test_workers_elsewhere_simulate_what_the_cache_does_not_have(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = OrderedResults(executor_by_name("processes:2"))
    write_report(EpisodeBatches(logs), tmp_path / "here")
    monkeypatch.setattr(Verifier, "verify", lambda *_: pytest.fail("an episode was simulated in this process"))
    kept = ReportCache(tmp_path / "kept")
    write_report(EpisodeBatches(logs), tmp_path / "there", kept=kept, workers=workers)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    asked = [len(_UncachedEpisodes(EpisodeBatches(logs), {}, cache)[0]) for cache in (ReportCache(None), kept)]
    assert asked[0] > 10 * asked[1], "a second report sends no episodes"


def contents(site: Path) -> dict[str, bytes]:
    return {str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_report_of_which_nothing_changed_is_not_made_again(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYBENCH_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "runs"
    shutil.copytree(logs, folder, ignore=shutil.ignore_patterns("kept"))
    made: list[Path] = []

    def counted(*given: Any, **more: Any) -> Report:
        made.append(folder)
        return write_report(*given, **more)

    monkeypatch.setattr(reporting, "write_report", counted)

    told: list[str] = []

    def report(title: str = "a title") -> tuple[int, int]:
        """Write a report in one process; return its number of episodes, and how many reports were made so far."""
        return build_report((folder,), folder / "site", title, tell=told.append, processes=1).episodes, len(made)

    assert [report(), report()] == [(3, 1), (3, 1)]
    assert report("another") == (3, 2)
    (folder / "site" / "index.html").write_text("changed")
    assert report("another") == (3, 3)
    assert "changed" not in (folder / "site" / "index.html").read_text()
    next(iter((folder / "site" / "replays").iterdir())).unlink()
    assert report("another") == (3, 4)
    (log,) = folder.glob("*.eval")
    shutil.copy(log, folder / "other.eval")
    log.unlink()
    assert report("another") == (3, 5)  # the pages name the log
    (kept,) = (tmp_path / "cache" / "reports").iterdir()
    kept.write_bytes(kept.read_bytes().replace(b"x\x01", b"y\x01"))
    assert report("another") == (3, 6)
    assert report("another") == (3, 6)
    monkeypatch.setattr(_cache, "source_digest", lambda: b"another version of waybench")
    assert report("another") == (3, 7)

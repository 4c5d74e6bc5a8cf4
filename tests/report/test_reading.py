"""Episodes of a report are read and verified in several processes."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import PATIENCE
from waybench.eval import evaluate
from waybench.tasks import TASKS, load_task

_PROGRAM = """
import os, sys
from pathlib import Path
from waybench.analysis import read_logs
from waybench.analysis.logs import EpisodeBatches, _logs
from waybench.analysis.results import Verifier
from waybench.reporting import ReportCache
from waybench.reporting._reading import read

_logs._BATCH = 1
folder, file = Path(sys.argv[1]), Path(sys.argv[1]) / "kept"
kept = ReportCache(file)
here, verify = os.getpid(), Verifier.verify
def elsewhere(verifier, episode):
    assert sys.platform != "linux" or os.getpid() != here
    return verify(verifier, episode)
Verifier.verify = elsewhere
first = list(read(EpisodeBatches(folder, kept=kept), {}, kept, 2))
kept.save()
kept = ReportCache(file)
again = list(read(EpisodeBatches(folder, kept=kept), {}, kept, 2))
found = [[one.verified for batch in batches for one in batch.found] for batches in (first, again)]
assert [one.episode for one in found[0]] == list(read_logs(folder))
assert [one[:2] for one in found[0]] == [one[:2] for one in found[1]]
print(len(first), *(sum(batch.simulated for batch in batches) for batches in (first, again)))
"""


@pytest.mark.slow
def test_batches_are_verified_in_other_processes_and_once(tmp_path: Path) -> None:
    entry = next(entry for entry in TASKS if entry.name == "alicia")
    task = partial(load_task(entry), max_dimension=5, limit=3)
    assert evaluate([task], ["waybench/oracle"], tmp_path) == []
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr == ""
    assert done.stdout.split() == ["4", "3", "0"]  # batches, with that of files of records; simulated at first, then

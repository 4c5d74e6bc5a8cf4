"""Every environment keeps within a limit on memory, at each level and by each face.

Nothing lists all that could be done, or goes on without an end: items of the sample levels and of the hardest level
that a search for a horizon tries are played, simulated again, reported, scored, typed and trained on, with the greatest
numbers that options take, in a process that cannot have more than 512 MiB beyond its modules.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import waybench
from tests.conftest import PATIENCE
from waybench.envs import registry

ROOT = Path(__file__).resolve().parents[2]
HARDEST = {
    entry.id: spec.levels[-1]
    for entry in registry.built_in
    if (spec := registry.load(entry.id).difficulty.horizon) is not None
}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limit on memory is set as Linux has it")
def test_no_environment_takes_much_memory_at_any_level_by_any_face() -> None:
    levels = {
        entry.id: sorted({*waybench.load(entry.id).items.sample_levels, HARDEST.get(entry.id, 0)} - {0})
        for entry in registry.built_in
    }
    # One process for all: to import what it needs takes longer than an environment does.
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.memory", json.dumps(levels)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = done.stdout.splitlines()
    assert [line for line in told if not line.startswith("done ")] == []
    assert [line.split()[1] for line in told] == list(levels)

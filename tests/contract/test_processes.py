"""Two processes agree byte for byte, whatever order their sets have."""

import os
import subprocess
import sys

import pytest

from tests.conftest import PATIENCE
from waybench.envs import registry

SCRIPT = """
import sys
import waybench
from waybench.testing import sample_records
environment = waybench.load(sys.argv[1])
for level in environment.items.sample_levels[:2]:
    for record in sample_records(environment, level):
        print(record)
"""


def records(env_id: str, hash_seed: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, env_id],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    return done.stdout


FAST = {"maze/alicia", "search/guessnum", "textmap/route", "tilemap/gtb"}


@pytest.mark.parametrize(
    "env_id",
    [pytest.param(entry.id, marks=[] if entry.id in FAST else [pytest.mark.slow]) for entry in registry.built_in],
)
def test_two_processes_agree(env_id: str) -> None:
    first = records(env_id, "1")
    assert first.count(b'"player":"oracle"') >= 6
    assert first == records(env_id, "2")

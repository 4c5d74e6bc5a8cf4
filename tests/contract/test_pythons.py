"""Other versions of Python agree with this one byte for byte, on items, records and what is measured.

They are those of pyenv and of the search path, as they are: without numpy, so that environments that need it are left
out here. `make wheel-test` compares these too, and means and intervals, where it has installed everything.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, ROOT, missing
from waybench.envs import registry

SCRIPT = Path(__file__).with_name("digests.py")
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
# What every environment but these has to be without.
NEEDS_NUMPY = {
    *("crafter/survival", "textmap/destination", "textmap/extract", "textmap/route"),
    *("tilemap/gtb", "tilemap/state", "tilemap/stepwise", "voxel/find"),
}


def candidates(version: str) -> Iterator[str]:
    if found := shutil.which(f"python{version}"):
        yield found
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(home.glob(f"versions/{version}.*/bin/python")))


def runs(python: str, version: str) -> bool:
    """Return whether a command runs this version: a version manager's command exists also for what is not active."""
    said = subprocess.run(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=False
    )
    return said.stdout.strip() == version


def others() -> dict[str, str]:
    """Return a command for each other version that is found."""
    found: dict[str, str] = {}
    for version in VERSIONS:
        if version != OWN and (python := next((each for each in candidates(version) if runs(each, version)), None)):
            found[version] = python
    return found or missing("no other Python than this one: 3.11, 3.12, 3.13 or 3.14, on the search path or pyenv's")


def digests(python: str, hash_seed: str, *arguments: str) -> list[str]:
    """Return what a Python without packages of its own prints, or this one with them."""
    alone = () if python == sys.executable else ("-S", "-s")
    done = subprocess.run(
        [python, *alone, "-P", str(SCRIPT), *arguments],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONHASHSEED": hash_seed,
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def agreed(pythons: dict[str, str], *arguments: str) -> int:
    """Compare some versions of Python with this one, and return the number of digests that they agree on."""
    wanted = [entry.id for entry in registry.built_in if entry.id not in NEEDS_NUMPY]
    own = digests(sys.executable, "1", *arguments, *wanted)
    for number, (version, python) in enumerate(pythons.items(), start=2):
        found = digests(python, str(number), *arguments, *wanted)
        assert [line for line in found if "missing" in json.loads(line)] == []
        assert found == own, version
    return sum(len(json.loads(line).keys() & {"items", "records", "measures"}) for line in own)


@pytest.mark.slow
def test_the_newest_other_python_agrees_at_the_smallest_levels() -> None:
    pythons = others()
    newest = list(pythons)[-1]
    # Of 14 environments with 72 ways of playing: items, and records and measures in each way.
    assert agreed({newest: pythons[newest]}, "--levels", "1") >= 14 + 2 * 72


@pytest.mark.slow
def test_all_other_pythons_agree_at_every_sample_level() -> None:
    assert agreed(others()) >= 3 * 14 + 3 * 2 * 72


@pytest.mark.slow
def test_what_needs_numpy_is_named() -> None:
    (python, *_) = others().values()
    found = [json.loads(line) for line in digests(python, "1", "--levels", "1", *sorted(NEEDS_NUMPY))]
    assert found == [{"environment": env_id, "missing": "numpy"} for env_id in sorted(NEEDS_NUMPY)]

"""Runs the tests in faces/ in the environment that has the training programs."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, ROOT, missing

FACES = Path(__file__).parent / "faces"
PYTHON = ROOT / ".venv-train" / "bin" / "python"


@pytest.mark.slow
@pytest.mark.parametrize("face", sorted(path.stem for path in FACES.glob("test_*.py")))
def test_face(face: str, tmp_path: Path) -> None:
    if not PYTHON.is_file():
        missing(f"{PYTHON.relative_to(ROOT)} is not there: run `make faces`")
    command = [PYTHON, "-m", "pytest", "-q", "-c", FACES / "pytest.ini", "--rootdir", FACES, "-p", "no:cacheprovider"]
    settings = {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(FACES)]),
        "WAYBENCH_CACHE": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "TRL_EXPERIMENTAL_SILENCE": "1",
    }
    done = subprocess.run(
        [*map(str, command), str(FACES / f"{face}.py")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **settings},
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.fullmatch(r"(\d+) passed in .*", done.stdout.splitlines()[-1]), done.stdout[-2000:]  # and nothing skipped

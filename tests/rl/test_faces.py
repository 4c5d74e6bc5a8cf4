"""Runs the tests in faces/ in the environments that have the training programs."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, ROOT, missing

FACES = Path(__file__).parent / "faces"
# verifiers and the newest MCP need other versions of some packages than the other two.
ENVIRONMENTS = dict.fromkeys(("test_verifiers", "test_mcp"), ROOT / ".venv-verifiers")
OTHERS = ROOT / ".venv-train"


@pytest.mark.slow
@pytest.mark.parametrize("face", sorted(path.stem for path in FACES.glob("test_*.py")))
def test_face(face: str, tmp_path: Path) -> None:
    python = ENVIRONMENTS.get(face, OTHERS) / "bin" / "python"
    if not python.is_file():
        missing(f"{python.relative_to(ROOT)} is not there: run `make faces`")
    command = [python, "-m", "pytest", "-q", "-c", FACES / "pytest.ini", "--rootdir", FACES, "-p", "no:cacheprovider"]
    settings = {
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT / "integrations" / "verifiers", FACES, ROOT))),
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

"""Every kind of tampering is found in every environment, even if digests, manifest and scores are mended."""

from pathlib import Path

import pytest

from tests.submission.conftest import TASKS
from tests.submission.tampering import KINDS, tampered

WEAK = {"archive", "results"}  # problems that whoever tampers can mend


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["guessnum"])
def test_tampering_is_found(submission: Path, tmp_path: Path, task: str, kind: str) -> None:
    assert tampered(submission, tmp_path / "tampered.zip", task, kind) - WEAK


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", [task for task in TASKS if task != "guessnum"])
def test_tampering_is_found_in_every_environment(submission: Path, tmp_path: Path, task: str, kind: str) -> None:
    assert tampered(submission, tmp_path / "tampered.zip", task, kind) - WEAK

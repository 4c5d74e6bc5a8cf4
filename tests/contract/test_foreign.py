"""A package with an environment that is installed beside waybench breaks none of the repository's own tests.

What these demand of all environments is either a check of `waybench.testing` or is about our own environments alone.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PATIENCE
from tests.contract.test_mistakes import SOURCE

ROOT = Path(__file__).parents[2]
# Tests that go through the catalogue, tasks or fields of all environments.
SWEEPS = (
    "tests/analysis/test_twins.py",
    "tests/cli/test_list.py",
    "tests/core/test_context.py::test_these_environments_have_it_among_items",
    "tests/core/test_derived_wording.py",
    "tests/core/test_registry.py",
    "tests/contract/test_templates.py::test_every_environment_of_ours_has_fields_of_its_own",
    "tests/contract/test_contract.py::test_catalogue_line",
    "tests/contract/test_contract.py::test_no_number_is_left_of_an_environment_that_is_gone",
    "tests/contract/test_tools.py::test_each_environment_declares_its_actions",
    "tests/envs/test_beliefs.py::test_environments_whose_state_is_not_asked_for",
    "tests/people/test_boards.py::test_every_environment_has_a_board",
    "tests/playthroughs/test_playthroughs.py::test_every_environment_has_playthroughs_of_every_kind",
    "tests/tasks/test_derived.py",
    "tests/test_words.py",
)


def install(folder: Path) -> None:
    """Write a package of a foreign environment, as an installer leaves it."""
    (folder / "compass.py").write_text(SOURCE.replace("compass/turns", "foreign/walk"), "utf-8")
    metadata = folder / "compass-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: compass\nVersion: 1\n", "utf-8")
    (metadata / "entry_points.txt").write_text("[waybench.environments]\ncompass = compass:entry\n", "utf-8")


def run_beside(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_the_foreign_environment_is_installed_there(tmp_path: Path) -> None:
    install(tmp_path)
    done = run_beside(tmp_path, "-c", "import waybench; print(waybench.load('foreign').id)")
    assert done.stdout == "foreign/walk\n", done.stderr


@pytest.mark.slow
def test_the_repository_s_own_tests_pass_beside_it(tmp_path: Path) -> None:
    install(tmp_path)
    done = run_beside(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *SWEEPS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.slow
def test_no_test_is_made_of_it(tmp_path: Path) -> None:
    install(tmp_path)
    done = run_beside(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", "tests/contract")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "[maze/alicia" in done.stdout
    assert "foreign/walk" not in done.stdout

"""`waybench new`: the package of each kind passes everything at once, before a word of it is changed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import waybench
from tests.cli.support import Command, one_line_error
from tests.conftest import PATIENCE
from waybench.cli._new import KINDS, TEMPLATE, package_files

ROOT = Path(__file__).parents[2]
NAMES = ("walk", "a-family/with_a-variant")


def in_folder(folder: Path, *words: str) -> str:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(waybench.__file__).parents[1]), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_package_passes_check_and_linter(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    name = f"{kind}-{name}"  # for modules of one name are one module
    folder = tmp_path / "package"
    written = command("new", name, "--kind", kind, "--out", folder).stdout
    module = next(path for path in folder.glob("*.py") if not path.name.startswith("test_"))
    assert f"next: waybench check {module}\n" in written
    checked = command("check", module, "--json").stdout
    assert json.loads(checked)["failures"] == []
    in_folder(folder, "ruff", "format", "--check", "--no-cache", ".")
    in_folder(folder, "ruff", "check", "--no-cache", ".")
    assert not any("PACKAGE" in path.read_text() or "TITLE" in path.read_text() for path in folder.glob("*.*"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_package_passes_its_own_test_and_the_type_checker(command: Command, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "package"
    command("new", f"typed{kind}", "--kind", kind, "--out", folder)
    assert "1 passed" in in_folder(folder, "pytest", "-q", "-p", "no:cacheprovider")
    (folder / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "extraPaths": [str(ROOT / "src")], "pythonVersion": "3.11"})
    )
    assert "0 errors" in in_folder(folder, "pyright", "--pythonpath", sys.executable, ".")


def test_names_that_cannot_be_used(command: Command, tmp_path: Path) -> None:
    assert "give small letters" in one_line_error(command("new", "My Env"))
    assert "there is an environment maze/alicia already" in one_line_error(command("new", "maze/alicia"))
    assert "a word of Python" in one_line_error(command("new", "class", "--out", tmp_path / "x"))
    (tmp_path / "file").write_text("")
    assert "choose another folder" in one_line_error(command("new", "walk", "--out", tmp_path))


def test_every_file_of_the_template_is_written() -> None:
    used = {len(package_files("walk", kind)) for kind in KINDS}
    assert used == {4}
    assert {path.name for path in TEMPLATE.iterdir()} == {
        *(f"{kind}.py.txt" for kind in KINDS),
        *("test.py.txt", "pyproject.toml.txt", "README.md"),
    }

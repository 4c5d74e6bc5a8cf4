"""A private set from its commitment to the reveal: the key is in no file that anybody else receives."""

import json
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile, is_zipfile

import jsonschema
import pytest

from tests.submission.conftest import MODEL
from tests.submission.test_verify import run
from waybench.core import key_commitment, private_key_label

KEY = "5b0e9d3c7f1a48e2b6d4c8a09f3e7d15"


def everything_in(folder: Path) -> bytes:
    """Return all bytes of all files of a folder, those of archives decompressed."""
    found: list[bytes] = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found += [path.name.encode(), path.read_bytes()]
        if path.is_file() and is_zipfile(path):
            with ZipFile(path) as archive:
                found += [archive.read(name) for name in archive.namelist()]
    return b"\n".join(found)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keeper") / "key"
    path.write_text(KEY + "\n")
    return path


@pytest.fixture(scope="module")
def given(key: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with everything that comes of a run of a private set: logs, items, submission, report."""
    folder = tmp_path_factory.mktemp("given")
    logs = folder / "logs"
    parameters = ("-T", f"key=file:{key}", "-T", "limit=2", "--no-check")
    status, output = run("run", "guessnum", "dfs", "--model", MODEL, *parameters, "--out", logs)
    assert status == 0, output
    (folder / "run.txt").write_text(output)
    status, output = run("generate", "guessnum", "--key-file", key, "--out", folder / "items.jsonl")
    assert status == 0, output
    for command in (
        ("submit", logs, "--out", folder / "submission.zip"),
        ("report", logs, "--out", folder / "site"),
        ("verify", folder / "submission.zip", "--key-file", key, "--out", folder / "verdict"),
    ):
        status, output = run(*command)
        assert status == 0, output
        (folder / f"{command[0]}.txt").write_text(output)
    return folder


def test_no_byte_of_a_run_its_report_or_its_verdict_has_the_key(given: Path) -> None:
    content = everything_in(given)
    assert private_key_label(KEY).encode() in content, "the label is there, so that files were read"
    assert KEY.encode() not in content


def test_a_revealed_key_is_checked_against_the_commitment(given: Path, key: Path, tmp_path: Path) -> None:
    check = ("verify", given / "submission.zip", "--key-file", key, "--out", tmp_path)
    status, output = run(*check, "--commitment", key_commitment(KEY))
    assert status == 0, output
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert verdict["commitments"] == {private_key_label(KEY): key_commitment(KEY)}
    jsonschema.validate(verdict, json.loads((files("waybench.submission") / "verdict.schema.json").read_text()))
    status, output = run(*check, "--commitment", key_commitment("another key"))
    assert status == 1
    assert json.loads((tmp_path / "verdict.json").read_text())["counts"] == {"commitment": 2}
    status, output = run(*check, "--commitment", "sha256")
    assert (status, output.count("\n")) == (2, 1)


def test_another_key_than_the_sets_is_no_proof(given: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("another key\n")
    status, output = run(
        *("verify", given / "submission.zip", "--key-file", tmp_path / "other"),
        *("--commitment", key_commitment("another key")),
    )
    assert status == 1
    assert f"the key of {private_key_label(KEY)} belongs to no commitment" in output

"""A leaderboard of a few submissions, honest and hostile, which many tests share."""

import shutil
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

import waybench
from tests.submission.tampering import read, write
from tests.submission.test_verify import run
from waybench.submission._archive import MANIFEST
from waybench.submission._pack import pack

TASKS = {"guessnum": {"limit": 4}, "dfs": {"limit": 6}}  # six items are the fewest that are ranked
LONG_NAME = f"{'x' * 96}.zip"
HOSTILE = "<script>alert(1)</script>\x1b[2J"


def submit(
    folder: Path, player: str, out: Path, model: str, submitter: str = "tests", tasks: Any = TASKS, **options: Any
) -> None:
    """Write a submission of a model, whose replies are those of one of waybench's own players."""
    for task, parameters in tasks.items():
        waybench.evaluate(task, player, out=folder, **parameters, **options)
    pack([folder], out, submitter=submitter, on_problem=lambda problem: pytest.fail(str(problem)))
    rename(out, model)


def rename(path: Path, model: str) -> None:
    """Give the model of a submission another name."""
    manifest, records = read(path)
    for entry in manifest["runs"]:
        entry["model"] = model
        for line in records[entry["file"]]:
            line["record"]["player"] = model
    write(path, manifest, records)


def drop_failures(path: Path, out: Path) -> None:
    """Write a submission without the episodes that were not solved."""
    manifest, records = read(path)
    for name, lines in records.items():
        records[name] = [line for line in lines if line["record"]["end"] == "solved"] or lines[:1]
    write(out, manifest, records)


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of submissions: a good model, a worse one, and the good one's name again."""
    folder, logs = tmp_path_factory.mktemp("honest"), tmp_path_factory.mktemp("logs")
    submit(logs / "good", "waybench/noisy-0.1", folder / "good.zip", "lab/good")
    submit(logs / "poor", "waybench/noisy-0.8", folder / "poor.zip", "lab/poor", submitter=HOSTILE)
    submit(logs / "same", "waybench/noisy-0.5", folder / "same-name.zip", "lab/good")
    return folder


@pytest.fixture(scope="session")
def folder(honest: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a leaderboard with a submission of each status, and files that are refused."""
    board = tmp_path_factory.mktemp("board")
    submissions = board / "submissions"
    submissions.mkdir()
    for path in honest.iterdir():
        shutil.copy(path, submissions / path.name)
    submit(board / ".logs", "waybench/noisy-0.6", submissions / "selected.zip", "lab/selected")
    drop_failures(submissions / "selected.zip", submissions / "selected.zip")
    shutil.copy(submissions / "poor.zip", submissions / "old.zip")
    rename(submissions / "old.zip", "lab/old")
    (submissions / "old.toml").write_text('status = "withdrawn"\nnote = "Withdrawn by its submitter."\n')
    shutil.copy(submissions / "good.zip", submissions / "copy-of-good.zip")
    shutil.copy(submissions / "good.zip", submissions / "a\nb<b>.zip")
    (submissions / "link.zip").symlink_to("good.zip")
    (submissions / "no-archive.zip").write_bytes(b"no archive")
    (submissions / LONG_NAME).write_bytes(b"no archive")
    manifest, records = read(submissions / "poor.zip")
    for lines in records.values():
        for line in lines:
            line["record"]["end"] = "infrastructure"
    write(submissions / "invented.zip", manifest, records)
    for name, files in {
        "leaves.zip": {"../../evil.html": b"x", MANIFEST: b"{}"},
        "bomb.zip": {MANIFEST: b" " * (65 << 20)},
        "deep.zip": {MANIFEST: b"[" * 100_000},
    }.items():
        with ZipFile(submissions / name, "w", ZIP_DEFLATED) as archive:
            for member, content in files.items():
                archive.writestr(member, content)
    (board / "leaderboard.toml").write_text(f'title = "The board"\nabout = {_toml(HOSTILE)}\n')
    return board


def _toml(text: str) -> str:
    return '"' + text.replace("\x1b", "\\u001b") + '"'


REFUSED = {
    "submissions/a\nb<b>.zip",
    "submissions/bomb.zip",
    "submissions/deep.zip",
    "submissions/good.zip",  # its copy comes first
    "submissions/invented.zip",
    "submissions/leaves.zip",
    "submissions/link.zip",
    "submissions/no-archive.zip",
    f"submissions/{LONG_NAME}",
}


@pytest.fixture(scope="session")
def site(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    status, output = run("leaderboard", folder, "--out", out)
    assert status == 0, output
    (out.parent / f"{out.name}.txt").write_text(output)
    return out

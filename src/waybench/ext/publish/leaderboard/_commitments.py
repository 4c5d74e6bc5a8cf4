"""Commitments to runs in a leaderboard's repository, with the times that signed commits of git give them."""

import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core import NOTHING, Json, WaybenchError, is_object
from waybench.results.formatting import one_line
from waybench.submission._parameters import is_commitment_to_run, read_run_commitment
from waybench.submission._verdict import RunVerdict

FOLDER = "commitments"
SETTINGS = "leaderboard.toml"
_MOST = 1_000
_PATIENCE = 60  # seconds
_UNSIGNED = "no commit that one of the signers signed has added it"
CREATED = "%Y-%m-%d %H:%M UTC"


class Committed(NamedTuple):
    """A file of a commitment to a run.

    Attributes:
        content: The content of the file; empty if it cannot be read.
        time: Time of the git commit; None if the commitment is not valid.
        signer: Signer of the git commit.
        problem: Why the commitment is not valid; "" if it is.
    """

    file: str
    content: Mapping[str, Any] = NOTHING
    time: datetime | None = None
    signer: str = ""
    problem: str = ""


def read_commitments(folder: Path, signers: Path | None) -> list[Committed]:
    """Return the commitments in a leaderboard's folder.

    A commitment is valid if one signed git commit added it and no other changed it. Its time is the commit's: the
    signer, who keeps the board and not the model, vouches for it.
    """
    paths = sorted((folder / FOLDER).glob("*.json"))[:_MOST] if (folder / FOLDER).is_dir() else []
    return [_read_commitment(folder, path, signers) for path in paths]


def _read_commitment(folder: Path, path: Path, signers: Path | None) -> Committed:
    """Return the commitment in a file of the repository `folder`, with a problem if it is not valid."""
    if path.is_symlink() or not path.is_file():
        return Committed(path.name, problem="it is no file")
    try:
        content = read_run_commitment(path)
    except (WaybenchError, OSError, ValueError):
        return Committed(path.name, problem="it is no commitment to a run")
    if signers is None:
        return Committed(path.name, content, problem=f"no signers are named in {SETTINGS}")
    name = f"{FOLDER}/{path.name}"
    options = ("-c", "gpg.format=ssh", "-c", f"gpg.ssh.allowedSignersFile={signers.resolve()}")
    try:
        lines = _git_output(folder, *options, "log", "--format=%G?%x00%GS%x00%cI", "--", name).splitlines()
        is_changed = _git_output(folder, "status", "--porcelain", "--", name)
        if lines and (len(lines) > 1 or is_changed):
            return Committed(path.name, content, problem="it was changed after it was committed")
        signature_state, signer, time = lines[0].split("\0")
        if signature_state == "G":  # good
            return Committed(path.name, content, datetime.fromisoformat(time).astimezone(UTC), signer)
    except (OSError, LookupError, ValueError, subprocess.SubprocessError):
        pass
    return Committed(path.name, content, problem=_UNSIGNED)


def _git_output(folder: Path, *arguments: str) -> str:
    """Return the standard output of a git command in a folder."""
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *arguments]
    process = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=True, text=True, errors="replace")
    return process.stdout.strip()


def are_committed(runs: Sequence[RunVerdict], commitments: Sequence[Committed]) -> bool:
    """Return whether each run of a submission was committed to before it began."""
    return bool(runs) and all(any(precedes(committed, run) for committed in commitments) for run in runs)


def precedes(committed: Committed, run: RunVerdict) -> bool:
    """Return whether a commitment is to this run and was made before the run began."""
    try:
        run_start = datetime.strptime(run.created, CREATED).replace(tzinfo=UTC)
    except ValueError:
        return False
    is_of_run = is_commitment_to_run(committed.content, run.model, run.task, run.parameters, run.epochs)
    return is_of_run and committed.time is not None and committed.time < run_start


def commitment_json(committed: Committed, runs: Mapping[str, Sequence[RunVerdict]]) -> dict[str, Json]:
    """Return a commitment as a leaderboard's feed has it, with the submissions that have a run of it.

    `runs` has the runs of each submission by its name.
    """
    content, parameters = committed.content, committed.content.get("parameters")
    options = [f"{name}={value}" for name, value in parameters.items()] if is_object(parameters) else []
    return {
        "file": committed.file.encode("utf-8", "replace").decode(),
        **{name: one_line(str(content.get(name, "")), 200) for name in ("model", "task")},
        "options": one_line(", ".join(options), 300),
        "time": committed.time.strftime(CREATED) if committed.time else None,
        "signer": committed.signer,
        "problem": committed.problem,
        "submissions": [
            name
            for name, runs_of_submission in runs.items()
            if any(precedes(committed, run) for run in runs_of_submission)
        ],
    }

"""Commitments to runs in a leaderboard's repository, with the times that signed commits of git give them."""

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core import WaybenchError
from waybench.submission._run_commitments import is_of_run, read_run_commitment
from waybench.submission._verdict import RunVerdict

FOLDER = "commitments"
_MOST = 1_000
_PATIENCE = 60  # seconds
_CREATED = "%Y-%m-%d %H:%M UTC"


class Committed(NamedTuple):
    """A commitment to a run: its file, what it says, when it was committed and who signed that."""

    file: str
    content: Mapping[str, Any]
    time: datetime
    signer: str


def read_commitments(folder: Path, signers: Path | None) -> list[Committed]:
    """Return the commitments in a leaderboard's folder that an allowed signer's commit of git added, and none changed.

    The time is that of the commit: the signer, who keeps the board and not the model, vouches for it.
    """
    if signers is None or not (folder / FOLDER).is_dir():
        return []
    commitments: list[Committed] = []
    for path in sorted((folder / FOLDER).glob("*.json"))[:_MOST]:
        with suppress(WaybenchError, OSError, ValueError, subprocess.SubprocessError):
            if path.is_symlink():
                continue
            content = read_run_commitment(path)
            options = ("-c", "gpg.format=ssh", "-c", f"gpg.ssh.allowedSignersFile={signers.resolve()}")
            lines = _git(
                folder, *options, "log", "--format=%G?%x00%GS%x00%cI", "--", f"{FOLDER}/{path.name}"
            ).splitlines()
            is_changed = _git(folder, "status", "--porcelain", "--", f"{FOLDER}/{path.name}")
            if len(lines) == 1 and not is_changed:
                state, signer, time = lines[0].split("\0")
                if state == "G":
                    when = datetime.fromisoformat(time).astimezone(UTC)
                    commitments.append(Committed(path.name, content, when, signer))
    return commitments


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *arguments]
    done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=True, text=True, errors="replace")
    return done.stdout.strip()


def are_committed(runs: Sequence[RunVerdict], commitments: Sequence[Committed]) -> bool:
    """Return whether each run of a submission was committed to before it began."""
    return bool(runs) and all(any(_is_before(run, committed) for committed in commitments) for run in runs)


def _is_before(run: RunVerdict, committed: Committed) -> bool:
    try:
        began = datetime.strptime(run.created, _CREATED).replace(tzinfo=UTC)
    except ValueError:
        return False
    is_its = is_of_run(committed.content, run.model, run.task, run.parameters, run.epochs)
    return is_its and committed.time < began

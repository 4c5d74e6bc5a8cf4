"""Folders that commands write to."""

from pathlib import Path

from waybench.core._errors import UsageError

# In the folder of a run's logs, for the programs that look at a run: `waybench run` writes them.
LOCK_FILE = ".waybench-lock"  # an SQLite database that the process holds exclusively
PROGRESS_FILE = ".waybench-progress.json"


def prepare_folder(folder: Path) -> Path:
    """Create a folder to write to.

    Raises:
        UsageError: If that cannot be done.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".waybench-write-test"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"cannot write to {folder} ({error.strerror}): choose another folder with --out") from None
    return folder

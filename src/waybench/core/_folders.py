"""Folders that commands write to."""

from pathlib import Path

from waybench.core._errors import UsageError


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

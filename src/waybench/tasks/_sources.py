"""What the tasks that read cases from a file share."""

import hashlib
from pathlib import Path

from waybench.core import UsageError


def file_key(path: Path, what: str) -> str:
    """Return the name of the set that a file holds: the file's, and the beginning of its SHA-256.

    Args:
        path: The file, as the user named it for the parameter `source`.
        what: What it should hold, in the plural.

    Raises:
        UsageError: If it cannot be read.
    """
    try:
        return f"{path.name}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
    except OSError as error:
        raise UsageError(
            f"source={str(path)[:80]!r}: cannot be read ({error.strerror}); give generated, published or a file of "
            f"{what}"
        ) from None

"""Names of files, and writing them."""

import hashlib
import os
import re
import unicodedata
from pathlib import Path

from waybench.core import UsageError

_READABLE = 60


def slug(name: str, identity: str) -> str:
    """Return a file name without suffix: safe ASCII, at most 69 characters, and another one for every identity.

    Args:
        name: What it should look like.
        identity: What it stands for; the same identity and name always get the same slug.
    """
    ascii_ = unicodedata.normalize("NFKD", name[:1000]).encode("ascii", "ignore").decode().lower()
    readable = re.sub(r"[^a-z0-9]+", "-", ascii_).strip("-")[:_READABLE].rstrip("-")
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable}-{digest}" if readable else digest


def write(path: Path, text: str) -> None:
    """Write a file in one piece: whoever reads it meets the old one or the whole new one.

    Raises:
        UsageError: If it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            temporary.write_text(text, encoding="utf-8", newline="\n")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"cannot write the report to {path.parent} ({reason}): give another folder") from None

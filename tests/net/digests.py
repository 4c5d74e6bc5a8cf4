"""The committed digests of all outputs."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.net.corpus import build
from tests.net.outputs import outputs

FILE = Path(__file__).with_name("digests.json")


def present(folder: Path) -> dict[str, str]:
    """Build the corpus in an empty folder, and return its outputs by name."""
    return dict(outputs(build(folder)))


def digests(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-256 of each output."""
    return {name: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for name, text in texts.items()}


def committed() -> dict[str, str]:
    """Return the digests of the file."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of outputs that are new, gone or changed, each with which of these it is."""
    for name in sorted({*before, *after}):
        if name not in before or name not in after:
            yield f"{'gone' if name in before else 'new'}: {name}"
        elif before[name] != after[name]:
            yield f"changed: {name}"

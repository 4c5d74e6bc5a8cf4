"""The site's folder: names of files, writing them, and removing what an earlier report left there."""

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from waybench.core import UsageError
from waybench.reporting._format import anchor

LIST = "assets/files.json"
READABLE = 60
_FIRST = {"index.html", "summary.json", "table.md"}
# What may be removed by a list that stands in the folder: files of ours, in folders of ours, and nothing beyond.
_OURS = re.compile(
    r"(agents|all|assets|charts|clusters|compare|data|families|ledger|models|replays|results|tasks|verdicts)/[a-z0-9][a-z0-9.-]*"
)


def slug(name: str, identity: str) -> str:
    """Return a file name without suffix: safe ASCII, at most 69 characters, and another one for every identity.

    Args:
        name: What it should look like.
        identity: What it stands for; the same identity and name always get the same slug.
    """
    ascii_ = unicodedata.normalize("NFKD", name[:1000]).encode("ascii", "ignore").decode().lower()
    readable = re.sub(r"[^a-z0-9]+", "-", ascii_).strip("-")[:READABLE].rstrip("-")
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable}-{digest}" if readable else digest


def task_page(env: str, apart: tuple[str, ...]) -> str:
    """Return the name of a task's page without suffix, which is its place in another page, too.

    Args:
        env: The environment's id.
        apart: Settings, in words, that keep its scores out of others' tables.
    """
    settings = "".join(apart)
    # What a record says of its options may be anything.
    return slug(f"{env}-{settings}", f"{env} {settings}") if settings else anchor(env)


class Folder:
    """The folder that a site is written to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: dict[str, str] = {}

    @property
    def written(self) -> dict[str, str]:
        """The files that were written or taken over, with their digests."""
        return dict(self._written)

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file in one piece: whoever reads it meets the old one or the whole new one.

        Args:
            name: Where, from the folder: "replays/x.html".
            content: Its content; text is written as UTF-8.

        Raises:
            UsageError: If it cannot be written.
        """
        path, data = self.path / name, content.encode() if isinstance(content, str) else content
        self._written[name] = hashlib.sha256(data).hexdigest()
        try:
            # Most pages of a report that is made again are as they were, and a page that stays is no work for a disk.
            if path.is_file() and path.read_bytes() == data:
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.name}.{os.getpid()}")
            try:
                temporary.write_bytes(data)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise UsageError(f"cannot write the report to {path.parent} ({reason}): give another folder") from None

    @contextmanager
    def recorded(self) -> Generator[dict[str, str], None, None]:
        """Yield a mapping that collects the files written within the block, with their digests."""
        before, own = self._written, dict[str, str]()
        self._written = own
        try:
            yield own
        finally:
            self._written = before | own

    def has(self, names: Mapping[str, str]) -> bool:
        """Return whether some files are in the folder and have these digests."""
        for name, digest in names.items():
            try:
                is_ours = name in _FIRST or _OURS.fullmatch(name)
                content = (self.path / name).read_bytes() if is_ours else b""
            except OSError:
                return False
            if hashlib.sha256(content).hexdigest() != digest:
                return False
        return True

    def take_over(self, names: Mapping[str, str]) -> None:
        """Count files of the folder as written by this report."""
        self._written |= names

    def finish(self) -> None:
        """Remove files of an earlier report that this one has not written, and write the list of files for the next."""
        for name in _listed(self.path) - self._written.keys():
            with suppress(OSError):
                (self.path / name).unlink()
        self.write(LIST, json.dumps(sorted(self._written), indent=0) + "\n")

    def remove(self) -> None:
        """Remove the files of an earlier report."""
        listed = _listed(self.path)
        for name in (listed | _FIRST | {LIST}) if (self.path / LIST).is_file() else ():
            with suppress(OSError):
                (self.path / name).unlink()


def _listed(path: Path) -> set[str]:
    try:
        found: Any = json.loads((path / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return set()
    names = cast(list[Any], found) if isinstance(found, list) else []
    return {name for name in names if isinstance(name, str) and _OURS.fullmatch(name)}

"""A set's folder, here or at a URL, in which a file is there as a whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from waybench.scale import Folder, is_url

_PART, _SCRATCH = ".part", ".making-"


class Store(Folder):
    """A folder of files that are written once.

    Args:
        place: Path of a folder, or a URL that fsspec understands (s3://, gs://, memory://, ...).

    Raises:
        UsageError: If the place's protocol is unknown, or its package is not installed.
    """

    @property
    def _home(self) -> Path | None:
        """The folder's path if it is on this machine."""
        return None if is_url(self.place) else Path(self.place)

    def listed(self, folder: str) -> dict[str, int]:
        """Return the files of a folder within this one, by one listing.

        Returns:
            Name -> size in bytes, in order; empty if there is no such folder.

        Raises:
            UsageError: If it cannot be read.
        """
        with self._explained("read"):
            self._files.invalidate_cache()
            try:
                found: list[dict[str, Any]] = self._files.ls(f"{self._root}/{folder}", detail=True)
            except FileNotFoundError:
                return {}
        sizes = {info["name"].rpartition("/")[2]: int(info["size"] or 0) for info in found if info["type"] == "file"}
        return {name: sizes[name] for name in sorted(sizes) if not name.endswith(_PART)}

    def read(self, name: str, start: int | None = None, end: int | None = None) -> bytes | None:
        """Return a file's bytes, or a range of them; None if there is no such file.

        Raises:
            UsageError: If it cannot be read.
        """
        with self._explained("read"):
            try:
                content: bytes = self._files.cat_file(f"{self._root}/{name}", start=start, end=end)
            except FileNotFoundError:
                return None
        return content

    @contextmanager
    def reading(self, name: str) -> Generator[Path, None, None]:
        """Give the path of a file, or of a copy on this machine for as long as the block lasts.

        Raises:
            UsageError: If it cannot be read.
        """
        if self._home is not None:
            yield self._home / name
            return
        with tempfile.TemporaryDirectory(prefix="waybench-") as folder:
            copy = Path(folder) / "file"
            self.fetch(name, copy)
            yield copy

    @contextmanager
    def scratch(self) -> Generator[Path, None, None]:
        """Give an empty folder on this machine for files that `put` then moves into this one."""
        home = self._home
        if home is not None:
            with self._explained("write to"):
                home.mkdir(parents=True, exist_ok=True)
                # On the same file system, so that a file is moved into its place in one step.
                folder = tempfile.mkdtemp(prefix=_SCRATCH, dir=home)
        else:
            folder = tempfile.mkdtemp(prefix="waybench-")
        try:
            yield Path(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, path: Path, name: str) -> None:
        """Move a finished file of `scratch` to its place; what is there is replaced.

        Raises:
            UsageError: If it cannot be written.
        """
        if self._home is None:
            super().put(path, name)
            return
        target = self._home / name
        with self._explained("write to"):
            target.parent.mkdir(exist_ok=True)
            with open(path, "rb") as stream:  # a name must not be on the disk before its content is
                os.fsync(stream.fileno())
            os.replace(path, target)

    def write(self, name: str, content: bytes) -> None:
        """Write a small file as a whole.

        Raises:
            UsageError: If it cannot be written.
        """
        with self.scratch() as folder:
            file = folder / "file"
            file.write_bytes(content)
            self.put(file, name)

    def clear(self) -> None:
        """Remove the scratch folders of processes that were killed; only for when nobody writes any more."""
        if self._home is not None:
            for folder in self._home.glob(f"{_SCRATCH}*"):
                shutil.rmtree(folder, ignore_errors=True)

    def room(self) -> int | None:
        """Return the bytes that are free where the folder is; None if nobody knows, as of an object store."""
        home = self._home
        if home is None:
            return None
        while not home.exists():
            home = home.parent
        return shutil.disk_usage(home).free

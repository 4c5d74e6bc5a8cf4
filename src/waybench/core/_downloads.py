"""Published data sets: where their authors publish them, their licences and their checksums."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a published data set.

    Attributes:
        path: Its path in the folder of its data set, with "/" on every platform.
        sha256: Its SHA-256 in 64 hexadecimal digits.
        size: Its size in bytes.
        url: Where its authors publish it, in the version that the checksum is of.
    """

    path: str
    sha256: str
    size: int
    url: str


@dataclass(frozen=True, slots=True)
class Download:
    """A data set as its authors publish it, for `waybench data`.

    Attributes:
        name: What users type, and the name of its folder.
        title: What it is, for listings.
        licence: Its licence's SPDX identifier, or the authors' words where it has none.
        home: The authors' page.
        files: All its files. Their addresses name a commit or a release, never a branch.
    """

    name: str
    title: str
    licence: str
    home: str
    files: tuple[DataFile, ...]

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files)

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "Download":
        """Return the data set that a TOML file describes.

        Args:
            table: "name", "title", "licence", "home", and "parts": tables of a "base" (an address) and "files" (arrays
                of the path below that address, the size and the SHA-256).
        """
        files = tuple(
            DataFile(path, sha256, size, f"{part['base']}/{path}")
            for part in table["parts"]
            for path, size, sha256 in part["files"]
        )
        return cls(table["name"], table["title"], table["licence"], table["home"], files)

"""What is known of a data set before any of it is here."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a data set.

    Attributes:
        path: Where it lies within the folder of its data set, with "/" on every platform.
        sha256: Its SHA-256 in 64 hexadecimal digits.
        size: Its size in bytes.
        url: Where its authors publish it, in the version that the checksum is of.
    """

    path: str
    sha256: str
    size: int
    url: str


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set as its authors publish it.

    Attributes:
        name: What users type, and the name of its folder.
        title: What it is, for listings.
        licence: Its licence's SPDX identifier, or the authors' words where it has none.
        home: The authors' page.
        files: All its files.
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

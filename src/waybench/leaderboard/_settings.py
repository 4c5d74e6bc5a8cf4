"""The files that a leaderboard's maintainers write: its settings, and the status of a submission."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core import UsageError, WaybenchError, commitment, is_object, key_label, read_commitment, read_text

SETTINGS = "leaderboard.toml"
_MOST_BYTES = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LABEL = re.compile(r"private-[0-9a-f]{8}")


class PrivateSet(NamedTuple):
    """A private set of a leaderboard.

    Attributes:
        label: The set's name.
        commitment: The commitment to its key.
        key: The key, once it is revealed; "" before.
    """

    label: str
    commitment: str
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a leaderboard.

    Attributes:
        title: Its title.
        about: What it is about, in a sentence or two.
        signers: A file of the signers whose verdicts count, as `ssh-keygen` has it; None for none.
        private_sets: Its private sets.
    """

    title: str = "Leaderboard"
    about: str = ""
    signers: Path | None = None
    private_sets: Sequence[PrivateSet] = ()


class StatusFile(NamedTuple):
    """What the maintainers say of a submission.

    Attributes:
        status: "run again", "community" or "withdrawn"; "" to leave it to the verification.
        note: Why, in a sentence.
        sha256: SHA-256 of the submission; "" for any.
    """

    status: str = ""
    note: str = ""
    sha256: str = ""


def read_settings(folder: Path) -> Settings:
    """Return the settings of a leaderboard's folder; the defaults without a file of them.

    Raises:
        UsageError: If the file is not right; the message says what is wrong.
    """
    path = folder / SETTINGS
    if not path.exists():
        return Settings()
    data = _toml(path, {"title": str, "about": str, "signers": str, "private_sets": list})
    signers = folder / str(data["signers"]) if data.get("signers") else None
    if signers is not None and not signers.is_file():
        raise UsageError(f"{path}: signers={str(data['signers'])[:80]!r}: there is no such file beside it")
    sets = [_private_set(path, folder, each) for each in data.get("private_sets", [])]
    return Settings(
        title=str(data.get("title", Settings.title)),
        about=str(data.get("about", "")),
        signers=signers,
        private_sets=tuple(sets),
    )


def read_status(path: Path) -> StatusFile:
    """Return what a status file says.

    Raises:
        UsageError: If the file is not right; the message says what is wrong.
    """
    data = _toml(path, {"status": str, "note": str, "sha256": str})
    status, sha256 = str(data.get("status", "")), str(data.get("sha256", ""))
    if status not in ("", "run again", "community", "withdrawn"):
        raise UsageError(f"{path.name}: status is {status[:40]!r}; it can be run again, community or withdrawn")
    if sha256 and not _SHA256.fullmatch(sha256):
        raise UsageError(f"{path.name}: sha256 is no SHA-256")
    if status == "run again" and not sha256:
        raise UsageError(f"{path.name}: give the sha256 of the submission that was run again")
    return StatusFile(status, str(data.get("note", "")), sha256)


def _private_set(path: Path, folder: Path, given: Any) -> PrivateSet:
    if not is_object(given) or not {"label", "commitment"} <= given.keys() <= {"label", "commitment", "key_file"}:
        raise UsageError(f"{path}: each of private_sets has a label and a commitment, and a key_file once revealed")
    label, committed = str(given["label"]), read_commitment(str(given["commitment"]))
    if not _LABEL.fullmatch(label):
        raise UsageError(f"{path}: {label[:40]!r} is no name of a private set: give what `waybench commit` prints")
    key = _revealed(folder / str(given["key_file"])) if given.get("key_file") else ""
    if key and (commitment(key), key_label(key)) != (committed, label):
        raise UsageError(f"{path}: the key in {str(given['key_file'])[:80]} is not the one of {label}'s commitment")
    return PrivateSet(label, committed, key)


def _revealed(path: Path) -> str:
    key = read_text(path, _MOST_BYTES, "the file of a revealed key").strip()
    if not key:
        raise UsageError(f"{path}: empty; it should contain the revealed key")
    return key


def _toml(path: Path, kinds: Mapping[str, type]) -> dict[str, Any]:
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"a link, or more than {_MOST_BYTES >> 20} MiB")
        data = tomllib.loads(read_text(path, _MOST_BYTES, "a TOML file"))
    except (WaybenchError, OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path.name} cannot be read: {str(error)[:100]}") from None
    for name, value in data.items():
        if name not in kinds:
            raise UsageError(f"{path.name} has {name[:40]!r}; it can have {', '.join(kinds)}")
        if not isinstance(value, kinds[name]):
            raise UsageError(f"{path.name}: {name} has another type than it should")
    return data

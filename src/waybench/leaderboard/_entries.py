"""The submissions of a leaderboard: found in its folder, verified, each with a status or a reason to refuse it."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from waybench.analysis.formatting import one_line
from waybench.core import UsageError, WaybenchError
from waybench.leaderboard._settings import Settings, StatusFile, read_status
from waybench.leaderboard._signed import SignedScores, signed_verdict
from waybench.submission import Verdict, verify

MOST_SUBMISSIONS = 10_000
MOST_BYTES = 1 << 30  # of one submission, compressed
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SUFFIX = ".zip"
_ARCHIVE_START = b"PK\x03\x04"
_OTHER_ARCHIVES = (".eval",)  # Inspect's logs
# Problems that say that a check was not possible here, and none that it failed. A signed verdict can stand for it.
_NOT_CHECKED = {"task", "version", "not simulated"}


class Status(StrEnum):
    """The status of a submission, in the order in which a leaderboard shows them."""

    RUN_AGAIN = "run again"
    VERIFIED = "verified"
    COMMUNITY = "community"
    WITHDRAWN = "withdrawn"


class Refused(NamedTuple):
    """A file that is not shown as a submission.

    Attributes:
        file: Its path from the leaderboard's folder.
        reason: Why, in one line.
    """

    file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A submission of a leaderboard.

    Attributes:
        id: Its path from the folder without ".zip", which names it everywhere.
        path: The file.
        status: Its status.
        verdict: The verdict; None for a withdrawn one, which is not verified.
        note: What the maintainers say of it.
        signer: Who signed the verdict that stands for the verification here; "" for none.
        earlier: Scores of earlier versions of environments, from the signed verdict.
        names: Model -> its name on the leaderboard, where no two rows have the same.
    """

    id: str
    path: Path
    status: Status
    verdict: Verdict | None
    note: str = ""
    signer: str = ""
    earlier: Sequence[SignedScores] = ()
    names: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def label(self) -> str:
        """Its id without the usual folder."""
        return self.id.removeprefix("submissions/")

    @property
    def is_confirmed(self) -> bool:
        """Whether its scores are ranked."""
        return self.status in (Status.RUN_AGAIN, Status.VERIFIED)


def read_board(
    folder: Path,
    settings: Settings,
    *,
    keys: Sequence[str] = (),
    data_dir: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[list[Entry], list[Refused]]:
    """Verify all submissions of a folder. What is wrong with one of them has no effect on the others.

    Args:
        folder: The folder; each file *.zip in it, in any depth, is a submission; one of another name is refused.
        settings: Its settings.
        keys: Keys of private sets that are not revealed.
        data_dir: The folder of published data sets; None for the usual places.
        progress: Receives the name of each submission before it is verified.

    Returns:
        The submissions, and the files that are refused.

    Raises:
        UsageError: If there are too many files.
    """
    entries: list[Entry] = []
    refused: list[Refused] = []
    seen: dict[str, str] = {}
    known = [*keys, *(each.key for each in settings.private_sets if each.key)]
    for number, path in enumerate(_archives(folder), start=1):
        if number > MOST_SUBMISSIONS:
            raise UsageError(f"{folder} has more than {MOST_SUBMISSIONS:,} submissions")
        file = path.relative_to(folder).as_posix()
        if progress is not None:
            progress(one_line(file, 80))
        try:
            entry = _entry(path, file, settings, known, data_dir)
        except (WaybenchError, OSError) as error:
            refused.append(Refused(file, one_line(str(error), 200)))
            continue
        except Exception as error:  # a submission is data from outside: it is not to take the others with it
            refused.append(Refused(file, f"it cannot be verified: {type(error).__name__}"))
            continue
        sha256 = entry.verdict.sha256 if entry.verdict else ""
        if sha256 and sha256 in seen:
            refused.append(Refused(file, f"the same file as {seen[sha256]}"))
            continue
        seen[sha256] = file
        entries.append(entry)
    _name(entries)
    return entries, refused


def _archives(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (path for path in (Path(place, name) for name in sorted(files)) if _is_archive(path))


def _is_archive(path: Path) -> bool:
    """Return whether a file is a submission by its name, or at least by its content, so that it is not passed over."""
    if path.name.lower().endswith(_SUFFIX):
        return True
    if path.suffix in _OTHER_ARCHIVES or path.is_symlink() or not path.is_file():
        return False
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_ARCHIVE_START)) == _ARCHIVE_START
    return False


def _entry(path: Path, file: str, settings: Settings, keys: Sequence[str], data_dir: str | None) -> Entry:
    if not file.endswith(_SUFFIX):
        raise UsageError(f"a submission's name ends in {_SUFFIX}: rename it to {path.with_suffix(_SUFFIX).name}")
    if not all(_PART.fullmatch(part) for part in file.split("/")):
        raise UsageError("its name has other characters than letters, digits, dots, hyphens and underscores")
    if path.is_symlink() or not path.is_file():
        raise UsageError("it is a link, and no file")
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"it has more than {MOST_BYTES >> 20:,} MiB")
    own, name = path.with_suffix(".toml"), file.removesuffix(_SUFFIX)
    said = read_status(own) if own.exists() or own.is_symlink() else StatusFile()
    if said.status == Status.WITHDRAWN:
        return Entry(id=name, path=path, status=Status.WITHDRAWN, verdict=None, note=said.note)
    verdict = verify(path, keys=keys, data_dir=data_dir)
    if said.sha256 and said.sha256 != verdict.sha256:
        raise UsageError(f"{own.name} is about another file: the SHA-256 differs")
    if not any(run.confirmed or run.counts.get("version") for run in verdict.runs):
        raise UsageError("no record in it agrees with a new simulation")
    signed = signed_verdict(path, settings.signers) if settings.signers else None
    stands = not verdict.is_verified and signed is not None and signed.is_verified and _is_unchecked(verdict)
    status = Status.VERIFIED if verdict.is_verified or stands else Status.COMMUNITY
    if said.status == Status.COMMUNITY or (said.status and status is Status.VERIFIED):
        status = Status(said.status)
    return Entry(
        id=name,
        path=path,
        status=status,
        verdict=verdict,
        note=said.note,
        signer=signed.signer if signed is not None and stands else "",
        earlier=signed.earlier if signed is not None and stands else (),
    )


def _is_unchecked(verdict: Verdict) -> bool:
    """Return whether every problem of a verdict is that a check was not possible here."""
    for run in verdict.runs:
        # The items of an earlier version are not made again here, so that those of its records differ.
        versions = run.counts.get("version", 0)
        if run.counts.keys() - _NOT_CHECKED - ({"item"} if run.counts.get("item", 0) <= versions else set[str]()):
            return False
    # Scores of records of another version are not computed here, so that they differ from those of the submission.
    whole = {"results"} if any("version" in run.counts for run in verdict.runs) else set[str]()
    return bool(verdict.runs) and verdict.counts.keys() <= whole


def _name(entries: Sequence[Entry]) -> None:
    """Give each model of each submission a name that no other row has."""
    shown = [(entry, model) for entry in entries if entry.verdict for model in entry.verdict.models]
    models = [model for _, model in shown]
    taken = set(models)
    for entry, model in shown:
        name = model
        if models.count(model) > 1:
            name = f"{model} ({entry.label})"
            while name in taken:
                name += "'"
            taken.add(name)
        entry.names[model] = name

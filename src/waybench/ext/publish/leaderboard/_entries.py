"""The submissions of a leaderboard: settings, signed verdicts, and entries with their status."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from waybench.core import (
    UsageError,
    WaybenchError,
    check_json_bounds,
    checked_commitment,
    is_object,
    key_commitment,
    private_key_label,
    read_text_file,
)
from waybench.envs import registry
from waybench.ext.publish.leaderboard._commitments import SETTINGS, Committed, are_committed, read_commitments
from waybench.ext.publish.leaderboard._likeness import duplicate_problem, shared_reply_notes
from waybench.reporting._files import slug
from waybench.results.formatting import one_line, stored_lost_text
from waybench.submission import check_signature, verify
from waybench.submission._names import model_name_problem
from waybench.submission._verdict import SubmissionVerdict

_MOST_BYTES = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LABEL = re.compile(r"private-[0-9a-f]{8}")

_MOST_SIGNED_BYTES = 64 << 20
_MOST_VALUES = 2_000_000
MOST_SUBMISSIONS = 10_000
MOST_BYTES = 1 << 30  # of one submission, compressed
_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # of a path
_SUFFIX = ".zip"
_ARCHIVE_START = b"PK\x03\x04"
_OTHER_ARCHIVES = (".eval",)  # Inspect's logs
# Kinds of problems of checks that were not possible here, rather than failed. A signed verdict can replace these.
_NOT_CHECKED = {"task", "version", "not simulated"}


class PrivateSet(NamedTuple):
    """A private set of a leaderboard: its name, the commitment to its key, and the key; "" before it is revealed."""

    label: str
    commitment: str
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a leaderboard.

    Attributes:
        about: Its subject, in a sentence or two.
        signers: A file of the signers whose verdicts count, as `ssh-keygen` has it; None for none.
    """

    title: str = "Leaderboard"
    about: str = ""
    signers: Path | None = None
    private_sets: Sequence[PrivateSet] = ()


class StatusFile(NamedTuple):
    """The maintainers' statement on a submission.

    Attributes:
        status: "run again", "community" or "withdrawn"; "" to leave it to the verification.
        sha256: SHA-256 of the submission; "" for any.
    """

    status: str = ""
    note: str = ""
    sha256: str = ""


def read_settings(folder: Path) -> Settings:
    """Return the settings in a leaderboard's folder, or the defaults; raise a UsageError if their file is not right."""
    path = folder / SETTINGS
    if not path.exists():
        return Settings()
    data = _read_toml(path, {"title": str, "about": str, "signers": str, "private_sets": list})
    signers = folder / str(data["signers"]) if data.get("signers") else None
    if signers is not None and not signers.is_file():
        raise UsageError(f"{path}: signers={str(data['signers'])[:80]!r}: there is no such file beside it")
    private_sets = tuple(_parse_private_set(path, folder, table) for table in data.get("private_sets", []))
    title_and_about = {name: data[name] for name in ("title", "about") if name in data}
    return Settings(**title_and_about, signers=signers, private_sets=private_sets)


def read_status(path: Path) -> StatusFile:
    """Return the maintainers' status of a submission; raise a UsageError if its file is not right."""
    file = StatusFile(**_read_toml(path, {"status": str, "note": str, "sha256": str}))
    if file.status not in ("", "run again", "community", "withdrawn"):
        raise UsageError(f"{path.name}: status is {file.status[:40]!r}; it can be run again, community or withdrawn")
    if file.sha256 and not _SHA256.fullmatch(file.sha256):
        raise UsageError(f"{path.name}: sha256 is no SHA-256")
    if file.status == "run again" and not file.sha256:
        raise UsageError(f"{path.name}: give the sha256 of the submission that was run again")
    return file


def _parse_private_set(path: Path, folder: Path, table: Any) -> PrivateSet:
    """Read a table of `private_sets`; `path` is the file with it, which error messages name."""
    if not is_object(table) or not {"label", "commitment"} <= table.keys() <= {"label", "commitment", "key_file"}:
        raise UsageError(f"{path}: each of private_sets has a label and a commitment, and a key_file once revealed")
    label, commitment, key = str(table["label"]), checked_commitment(str(table["commitment"])), ""
    if not _LABEL.fullmatch(label):
        raise UsageError(f"{path}: {label[:40]!r} is no name of a private set: give what `waybench commit` prints")
    if name := str(table.get("key_file") or ""):
        key = read_text_file(folder / name, _MOST_BYTES, "the file of a revealed key").strip()
        if not key:
            raise UsageError(f"{folder / name}: empty; it should contain the revealed key")
        if (key_commitment(key), private_key_label(key)) != (commitment, label):
            raise UsageError(f"{path}: the key in {name[:80]} is not the one of {label}'s commitment")
    return PrivateSet(label, commitment, key)


def _read_toml(path: Path, types: Mapping[str, type]) -> dict[str, Any]:
    """Return the content of a TOML file whose keys and their types are among `types`."""
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"a link, or more than {_MOST_BYTES >> 20} MiB")
        data = tomllib.loads(read_text_file(path, _MOST_BYTES, "a TOML file"))
    except (WaybenchError, OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path.name} cannot be read: {str(error)[:100]}") from None
    for name, value in data.items():
        if name not in types:
            raise UsageError(f"{path.name} has {name[:40]!r}; it can have {', '.join(types)}")
        if not isinstance(value, types[name]):
            raise UsageError(f"{path.name}: {name} has another type than it should")
    return data


class SignedScores(NamedTuple):
    """The mean of the headline metric in an earlier version of an environment, as a signed verdict has it.

    Attributes:
        low: Lower end of the 95 % interval; None if it is not known.
        lost: What the score lacks: "n = 4 of 10; 16.000 to 76.000"; "" if it lacks nothing.
    """

    model: str
    task: str
    env: str
    version: int
    metric: str
    value: float
    low: float | None
    high: float | None
    lost: str = ""


class SignedVerdict(NamedTuple):
    """A signed verdict: an allowed signer, whether it says verified, and scores of earlier versions."""

    signer: str
    is_verified: bool
    earlier: Sequence[SignedScores]


def read_signed_verdict(submission: Path, signers: Path) -> SignedVerdict | None:
    """Return the signed verdict beside a submission; None if there is none, or nobody has signed it.

    The verdict of "x.zip" is "x.verdict.json", with the signature "x.verdict.json.sig".

    Raises:
        UsageError: If the signature is not valid, or none of an allowed signer.
    """
    path = submission.with_suffix(".verdict.json")
    signature = path.with_name(f"{path.name}.sig")
    if not signature.is_file() and not path.is_file():
        return None
    if path.is_symlink() or signature.is_symlink() or (path.is_file() and path.stat().st_size > _MOST_SIGNED_BYTES):
        raise UsageError(f"{path.name}: a link, or more than {_MOST_SIGNED_BYTES >> 20} MiB")
    if not signature.is_file():
        return None  # a verdict that nobody signed proves nothing
    signature_check = check_signature(submission, signature, signers)
    if signature_check.problem:
        raise UsageError(f"{signature.name}: {signature_check.problem}")
    text = path.read_text(encoding="utf-8", errors="replace")
    check_json_bounds(text, _MOST_VALUES)
    earlier = tuple(_scores_of_earlier_versions(json.loads(text)))
    return SignedVerdict(signature_check.signer, signature_check.verdict == "verified", earlier)


def _scores_of_earlier_versions(verdict: Mapping[str, Any]) -> Iterator[SignedScores]:
    """Yield the scores in a signed verdict of environments whose version has changed since."""
    for score in verdict.get("scores", ()):
        try:
            group, metric = score["group"], str(score["headline"])
            mean = score["metrics"][metric]
            if score["kind"] != "overall" or mean is None:
                continue
            version, env = int(group["version"]), str(group["env"])
            if version == registry.load(env).version:
                continue
            low, high = (None if mean[end] is None else float(mean[end]) for end in ("low", "high"))
            lost = stored_lost_text(mean.get("lost"))  # verdicts of earlier versions of waybench do not have it
            identity = str(group["model"]), str(group["task"]), env, version, metric
            yield SignedScores(*identity, mean["value"], low, high, lost)
        except (KeyError, TypeError, ValueError, UsageError):  # a score in a format of another waybench
            continue


class Status(StrEnum):
    """The status of a submission, in the order in which a leaderboard shows them."""

    COMMITTED = "committed"
    RUN_AGAIN = "run again"
    VERIFIED = "verified"
    COMMUNITY = "community"
    WITHDRAWN = "withdrawn"


class RefusedFile(NamedTuple):
    """A file that is not shown as a submission: its path from the leaderboard's folder, and why, in one line."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """A submission of a leaderboard.

    Attributes:
        id: Its path from the leaderboard's folder, without ".zip".
        verdict: The verdict; None for a withdrawn submission, which is not verified.
        note: The maintainers' note on it.
        signer: The signer of the verdict that replaces the verification here; "" for none.
        earlier: Scores of earlier versions of environments, from the signed verdict.
        names: Model -> its name on the leaderboard, which is unique there.
    """

    id: str
    path: Path
    status: Status
    verdict: SubmissionVerdict | None
    note: str = ""
    signer: str = ""
    earlier: Sequence[SignedScores] = ()
    names: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def label(self) -> str:
        """Its id without the folder "submissions/"."""
        return self.id.removeprefix("submissions/")

    @property
    def is_confirmed(self) -> bool:
        """Whether its scores are ranked."""
        return self.status in (Status.COMMITTED, Status.RUN_AGAIN, Status.VERIFIED)


class Board(NamedTuple):
    """The content of a leaderboard's folder: submissions, files that are refused, and commitments to runs."""

    entries: list[BoardEntry]
    refused: list[RefusedFile]
    commitments: list[Committed]


def read_board(
    folder: Path,
    settings: Settings,
    *,
    keys: Sequence[str] = (),
    data_dir: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Board:
    """Verify all submissions in a folder; an invalid one has no effect on the others.

    Each file *.zip in the folder, in any depth, is a submission; archives of other names are refused. `keys` are keys
    of private sets that are not revealed, and `data_dir` has the published data sets (None: the usual places).
    `progress` receives the name of each submission before it is verified.

    Raises:
        UsageError: If there are too many files.
    """
    entries: list[BoardEntry] = []
    refused: list[RefusedFile] = []
    file_by_sha256: dict[str, str] = {}
    all_keys = [*keys, *(private_set.key for private_set in settings.private_sets if private_set.key)]
    for number, path in enumerate(_find_archives(folder), start=1):
        if number > MOST_SUBMISSIONS:
            raise UsageError(f"{folder} has more than {MOST_SUBMISSIONS:,} submissions")
        file = path.relative_to(folder).as_posix()
        if progress is not None:
            progress(one_line(file, 80))
        try:
            entry = _verify_submission(path, file, settings, all_keys, data_dir)
        except (WaybenchError, OSError) as error:
            refused.append(RefusedFile(file, one_line(str(error), 200)))
            continue
        except Exception as error:  # a submission is data from outside, and must not stop the others
            refused.append(RefusedFile(file, f"it cannot be verified: {type(error).__name__}"))
            continue
        sha256 = entry.verdict.sha256 if entry.verdict else ""
        if sha256 and sha256 in file_by_sha256:
            refused.append(RefusedFile(file, f"the same file as {file_by_sha256[sha256]}"))
            continue
        others = [(other.id, other.verdict) for other in entries]
        if entry.verdict and (problem := duplicate_problem(entry.verdict, others)):
            refused.append(RefusedFile(file, problem))
            continue
        file_by_sha256[sha256] = file
        entries.append(entry)
    commitments = read_commitments(folder, settings.signers)
    entries = _with_notes_and_commitments(entries, commitments)
    _name_models(entries)
    return Board(entries, refused, commitments)


def _with_notes_and_commitments(entries: Sequence[BoardEntry], commitments: Sequence[Committed]) -> list[BoardEntry]:
    """Return entries with notes on shared replies, and with the status of runs that were committed beforehand."""
    notes_by_index = shared_reply_notes([(entry.label, entry.verdict) for entry in entries])
    noted_entries: list[BoardEntry] = []
    for index, entry in enumerate(entries):
        note, status = " ".join(filter(None, [entry.note, *notes_by_index.get(index, [])])), entry.status
        if status is Status.VERIFIED and entry.verdict and are_committed(entry.verdict.runs, commitments):
            status = Status.COMMITTED
        noted_entries.append(replace(entry, note=note, status=status))
    return noted_entries


def _find_archives(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that are submissions, in order."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from filter(_is_archive, (Path(parent, name) for name in sorted(files)))


def _is_archive(path: Path) -> bool:
    """Return whether a file is a submission by its name or, so that none is overlooked, by its first bytes."""
    if path.name.lower().endswith(_SUFFIX):
        return True
    if path.suffix in _OTHER_ARCHIVES or path.is_symlink() or not path.is_file():
        return False
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_ARCHIVE_START)) == _ARCHIVE_START
    return False


def _verify_submission(
    path: Path, file: str, settings: Settings, keys: Sequence[str], data_dir: str | None
) -> BoardEntry:
    """Return the entry of a submission, verified unless it is withdrawn."""
    if not file.endswith(_SUFFIX):
        raise UsageError(f"a submission's name ends in {_SUFFIX}: rename it to {path.with_suffix(_SUFFIX).name}")
    if not all(_PART.fullmatch(part) for part in file.split("/")):
        raise UsageError("its name has other characters than letters, digits, dots, hyphens and underscores")
    if path.is_symlink() or not path.is_file():
        raise UsageError("it is a link, and no file")
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"it has more than {MOST_BYTES >> 20:,} MiB")
    status_path, name = path.with_suffix(".toml"), file.removesuffix(_SUFFIX)
    declared = read_status(status_path) if status_path.exists() or status_path.is_symlink() else StatusFile()
    if declared.status == Status.WITHDRAWN:
        return BoardEntry(id=name, path=path, status=Status.WITHDRAWN, verdict=None, note=declared.note)
    verdict = verify(path, keys=keys, data_dir=data_dir)
    if declared.sha256 and declared.sha256 != verdict.sha256:
        raise UsageError(f"{status_path.name} is about another file: the SHA-256 differs")
    for model in verdict.models:
        if problem := model_name_problem(model):
            raise UsageError(problem)
    if not any(run.confirmed or run.counts.get("version") for run in verdict.runs):
        raise UsageError("no record in it agrees with a new simulation")
    signed = read_signed_verdict(path, settings.signers) if settings.signers else None
    # A signed verdict counts only where it is needed and nothing that could be checked here speaks against it.
    if verdict.is_verified or signed is None or not signed.is_verified or not _has_only_unchecked_problems(verdict):
        signed = SignedVerdict("", False, ())
    status = Status.VERIFIED if verdict.is_verified or signed.is_verified else Status.COMMUNITY
    # Maintainers can lower a status to community, and raise a verified one to run again.
    if declared.status == Status.COMMUNITY or (declared.status and status is Status.VERIFIED):
        status = Status(declared.status)
    return BoardEntry(
        id=name,
        path=path,
        status=status,
        verdict=verdict,
        note=declared.note,
        signer=signed.signer,
        earlier=signed.earlier,
    )


def _has_only_unchecked_problems(verdict: SubmissionVerdict) -> bool:
    """Return whether every problem in a verdict is a check that was not possible here."""
    for run in verdict.runs:
        # Records of another version have other items than those that are made here.
        differ_by_version = run.counts.get("item", 0) <= run.counts.get("version", 0)
        if run.counts.keys() - _NOT_CHECKED - ({"item"} if differ_by_version else set[str]()):
            return False
    # Scores of records of another version are not computed here, so that they differ from the submission's scores.
    unchecked = {"results"} if any("version" in run.counts for run in verdict.runs) else set[str]()
    return bool(verdict.runs) and verdict.counts.keys() <= unchecked


def _name_models(entries: Sequence[BoardEntry]) -> None:
    """Give each model of each submission a name that is unique on the leaderboard."""
    entries_and_models = [(entry, model) for entry in entries if entry.verdict for model in entry.verdict.models]
    models = [model for _, model in entries_and_models]
    names = set(models)
    for entry, model in entries_and_models:
        name = model
        if models.count(model) > 1:
            name = f"{model} ({entry.label})"
            while name in names:
                name += "'"
            names.add(name)
        entry.names[model] = name


def verdict_file_stem(entry: BoardEntry) -> str:
    """Return the name of the files of a submission's verdict, without suffix."""
    return slug(entry.id, entry.id)


def submission_json(entry: BoardEntry) -> dict[str, Any]:
    """Return a submission as the feed has it."""
    verdict = entry.verdict
    data: dict[str, Any] = {"id": entry.id, "status": str(entry.status), "note": entry.note, "signer": entry.signer}
    if verdict is None:
        return data | {"sha256": None, "verified": None, "models": [], "submitter": "", "about": "", "verdict": None}
    return data | {
        "sha256": verdict.sha256,
        "verified": verdict.is_verified,
        "models": [{"model": model, "name": name} for model, name in entry.names.items()],
        "submitter": verdict.submitter,
        "about": verdict.about,
        "verdict": f"verdicts/{verdict_file_stem(entry)}.json",
    }

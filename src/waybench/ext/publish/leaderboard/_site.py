"""The site of a leaderboard: first page, feed, reports, verdicts, and the files of a new one."""

import json
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from waybench._version import __version__
from waybench.core import Json, UsageError
from waybench.envs import registry
from waybench.ext.publish.leaderboard._entries import Entry, Refused, Settings
from waybench.ext.publish.leaderboard._tables import COMMUNITY, CONFIRMED, Part, page_stem, sections
from waybench.reporting import model_page, remove_report, report_matrix, write_board, write_report
from waybench.results.logs import LoggedEpisode, Skipped
from waybench.submission import episodes, verdict_page

# File of the template -> where it goes.
_FILES = {
    "leaderboard.toml": "leaderboard.toml",
    "README.md": "README.md",
    "submissions.md": "submissions/README.md",
    "workflow.yml": ".github/workflows/leaderboard.yml",
}


def write_template(folder: Path) -> Iterator[tuple[str, bool]]:
    """Write the files of a new leaderboard, and yield the name of each and whether it is new; none is replaced.

    Args:
        folder: The leaderboard's folder.

    Raises:
        UsageError: If a file cannot be written.
    """
    source = files("waybench.ext.publish.leaderboard") / "template"
    for name, target in _FILES.items():
        path = folder / target
        text = (source / name).read_text(encoding="utf-8").replace("@VERSION@", __version__)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except FileExistsError:
            yield target, False
            continue
        except OSError as error:
            raise UsageError(f"cannot write {path} ({error.strerror}): choose another folder") from None
        yield target, True


FORMAT = "waybench-leaderboard"
VERSION = 1


def feed(
    settings: Settings, entries: Sequence[Entry], refused: Sequence[Refused], parts: Sequence[Part]
) -> dict[str, Json]:
    """Return the feed.

    Args:
        settings: The leaderboard's settings.
        entries: Its submissions.
        refused: The files that are refused.
        parts: Its reports.
    """
    by_name = {name: entry for entry in entries for name in entry.names.values()}
    return {
        "format": FORMAT,
        "schema": VERSION,
        "waybench": __version__,
        "title": settings.title,
        "private_sets": [
            {"set": each.label, "commitment": each.commitment, "key": each.key or None}
            for each in settings.private_sets
        ],
        "submissions": [_submission(entry) for entry in entries],
        "refused": [{"file": each.file.encode("utf-8", "replace").decode(), "reason": each.reason} for each in refused],
        "rows": [
            {
                **row,
                "submission": by_name[str(row["model"])].id,
                "status": str(by_name[str(row["model"])].status),
                "page": f"{part.folder}/{model_page(str(row['model']))}",
            }
            for part in parts
            for row in part.matrix.to_json()
        ],
        "earlier": [
            {**score._asdict(), "submission": entry.id, "status": str(entry.status)}
            for entry in entries
            if entry.is_confirmed
            for score in entry.earlier
        ],
    }


def feed_schema() -> str:
    """Return the JSON Schema of the feed."""
    return (files("waybench.ext.publish.leaderboard") / "feed.schema.json").read_text(encoding="utf-8")


def _submission(entry: Entry) -> dict[str, Any]:
    verdict = entry.verdict
    found: dict[str, Any] = {"id": entry.id, "status": str(entry.status), "note": entry.note, "signer": entry.signer}
    if verdict is None:
        return found | {"sha256": None, "verified": None, "models": [], "submitter": "", "about": "", "verdict": None}
    return found | {
        "sha256": verdict.sha256,
        "verified": verdict.is_verified,
        "models": [{"model": model, "name": name} for model, name in entry.names.items()],
        "submitter": verdict.submitter,
        "about": verdict.about,
        "verdict": f"verdicts/{page_stem(entry)}.json",
    }


_MOST_SKIPPED = 1_000  # records that are named; a hostile submission can have a million of them
_ABOUT = (
    "How well models find their way. The scores are computed from the records of each submission, which are simulated "
    "again."
)


class Board(NamedTuple):
    """A leaderboard that was written.

    Attributes:
        page: Its first page.
        skipped: Records that cannot be read, and are in no number; the first thousand of them.
    """

    page: Path
    skipped: Sequence[Skipped]


def write_leaderboard(
    out: Path,
    settings: Settings,
    entries: Sequence[Entry],
    refused: Sequence[Refused],
    *,
    progress: Callable[[str], None] | None = None,
) -> Board:
    """Write the site of a leaderboard.

    Args:
        out: The folder.
        settings: The leaderboard's settings.
        entries: Its submissions (`read_board`).
        refused: The files that are refused.
        progress: Receives the name of each part before it is written.

    Raises:
        UsageError: If the folder cannot be written.
    """
    skipped: list[Skipped] = []
    parts: list[Part] = []
    for folder, title, is_confirmed in (
        (CONFIRMED, settings.title, True),
        (COMMUNITY, f"{settings.title}: not verified", False),
    ):
        own = [entry for entry in entries if entry.verdict and entry.is_confirmed == is_confirmed]
        if progress is not None and own:
            progress(folder)
        part = _report(out, folder, title, own, skipped)
        if part is not None:
            parts.append(part)
    files: dict[str, str | bytes] = {
        "data/feed.json": json.dumps(feed(settings, entries, refused, parts), indent=1) + "\n",
        "data/feed.schema.json": feed_schema(),
    }
    for entry in entries:
        if entry.verdict is not None:
            files[f"verdicts/{page_stem(entry)}.html"] = _verdict_page(entry, parts)
            files[f"verdicts/{page_stem(entry)}.json"] = json.dumps(entry.verdict.to_json(), indent=1) + "\n"
    page = write_board(
        out, settings.title, settings.about or _ABOUT, sections(settings, entries, refused, parts), files
    )
    return Board(page, skipped)


def _report(out: Path, folder: str, title: str, entries: Sequence[Entry], skipped: list[Skipped]) -> Part | None:
    """Write the report of some submissions; None where they have no episode."""
    found = _episodes(entries, skipped)
    first = next(found, None)
    if first is None:
        remove_report(out / folder)
        return None
    try:
        report = write_report(chain([first], found), out / folder, title=title)
    except Exception as error:
        if folder == CONFIRMED:
            raise
        # What is not verified may be anything; it is not to take the verified submissions with it.
        remove_report(out / folder)
        skipped.append(Skipped(folder, "", f"no report can be made of these submissions: {type(error).__name__}"))
        return None
    skipped += report.passed_over
    return Part(folder, *report_matrix(report.rows))


def _episodes(entries: Sequence[Entry], skipped: list[Skipped]) -> Iterator[LoggedEpisode]:
    def keep(problem: Skipped) -> None:
        if len(skipped) < _MOST_SKIPPED:
            skipped.append(problem)

    for entry in entries:
        assert entry.verdict is not None
        found = episodes(entry.path, entry.verdict.sha256, run=entry.id, name=entry.names.__getitem__, on_problem=keep)
        for episode in found:
            # Records of other versions cannot be simulated, and have tables of their own (`Entry.earlier`).
            if episode.record.env_version == registry.load(episode.record.env).version:
                yield episode


def _verdict_page(entry: Entry, parts: Sequence[Part]) -> str:
    assert entry.verdict is not None
    links = [("Leaderboard", "../index.html")]
    for name in entry.names.values():
        for part in parts:
            if any(row.model == name for row in part.matrix.rows):
                links.append((f"Results and replays of {name}", f"../{part.folder}/{model_page(name)}"))
    says = f"Status on the leaderboard: {entry.status}."
    note = " ".join(filter(None, (says, entry.note)))
    return verdict_page(entry.verdict, links=links, note=note, signer=entry.signer)

"""The feed of a leaderboard: all that its first page shows, as JSON for programs."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from waybench._version import __version__
from waybench.core import Json
from waybench.leaderboard._entries import Entry, Refused
from waybench.leaderboard._parts import Part, page_stem
from waybench.leaderboard._settings import Settings
from waybench.reporting import model_page

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
    return (files("waybench.leaderboard") / "feed.schema.json").read_text(encoding="utf-8")


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

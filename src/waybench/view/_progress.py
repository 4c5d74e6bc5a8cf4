"""The progress of the runs whose logs are shown, as `waybench run` writes it."""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from waybench.core import LOCK_FILE, PROGRESS_FILE, Json, is_array, is_object

_MOST_BYTES = 1 << 22
_MOST_TASKS = 200
_RECENT = 30.0  # seconds: where no lock can be had, a file that is newer belongs to a running process
_TEXTS = ("name", "state", "done_text", "state_text", "use_text")
_SHOWN = {
    "running": "",
    "interrupted": "Interrupted; run the same command again to resume",
    "failed": "Ended by an error; run the same command again to resume",
    "stopped": "Stopped (its process has ended); run the same command again to resume",
}


def run_progress(folders: Iterable[Path]) -> list[dict[str, Json]]:
    """Return the progress of each run in some folders that is not finished, as texts for a page.

    Args:
        folders: Folders with logs, in any depth.
    """
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.rglob(PROGRESS_FILE))]
    return [shown for path in paths if (shown := _shown(path))]


def _shown(path: Path) -> dict[str, Json] | None:
    """Return what a page shows of a file; None if its run is finished, or the file is none of ours."""
    data: Any = None
    with suppress(OSError, ValueError, RecursionError):
        if path.stat().st_size <= _MOST_BYTES:
            data = json.loads(path.read_text("utf-8"))
    if not is_object(data):
        return None
    state = str(data.get("state"))
    if state == "running" and not _is_running(path, data.get("written")):
        state = "stopped"
    if state not in _SHOWN:
        return None
    title = str(data.get("text", ""))[:300].capitalize() if state == "running" else _SHOWN[state]
    return {"state": state, "title": title, "tasks": list(_tasks(data.get("tasks"), state))}


def _tasks(tasks: Json, state: str) -> Iterator[dict[str, Json]]:
    for task in tasks[:_MOST_TASKS] if is_array(tasks) else ():
        if not is_object(task):
            continue
        shown: dict[str, Json] = {name: str(task.get(name, ""))[:300] for name in _TEXTS}
        if state != "running" and shown["state"] == "running":
            shown["state_text"] = "unfinished"
        yield {**shown, "share": _share(task.get("done"), task.get("total"))}


def _share(done: Json, total: Json) -> float | None:
    if not isinstance(done, int) or not isinstance(total, int) or total <= 0:
        return None
    return min(done / total, 1.0)


def _is_running(path: Path, written: Json) -> bool:
    """Return whether the process that writes a file still runs: it holds the lock of the folder."""
    lock = path.with_name(LOCK_FILE)
    try:
        with closing(sqlite3.connect(f"{lock.absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as database:
            database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return True
        return isinstance(written, int | float) and abs(time.time() - written) < _RECENT
    return False

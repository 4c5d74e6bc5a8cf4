"""The file in which a run writes its progress for other programs, such as `waybench view`."""

import json
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from waybench.core import PROGRESS_FILE, Json
from waybench.eval._run_progress import RunProgress

FORM = 1
_TEXTS = ("name", "done_text", "state_text", "use_text")
EVERY = 1.0  # seconds between two writes


@contextmanager
def written(folder: Path, progress: RunProgress) -> Generator[None]:
    """Write the progress of a run to a file in the folder of its logs, at most once a second, while a block runs.

    The last state is "finished", "interrupted" (Ctrl-C) or "failed"; a killed process leaves "running" behind, and
    `waybench.view` knows by the folder's lock that it is not.

    Args:
        folder: The folder of the logs.
        progress: The progress.
    """
    stop = threading.Event()

    def keep_writing() -> None:
        while not stop.is_set():
            _write(folder, progress, "running")
            stop.wait(EVERY)

    thread = threading.Thread(target=keep_writing, name="waybench-progress", daemon=True)
    thread.start()
    state = "failed"
    try:
        yield
        state = "finished"
    except KeyboardInterrupt:
        state = "interrupted"
        raise
    finally:
        stop.set()
        thread.join()
        _write(folder, progress, state)


def _write(folder: Path, progress: RunProgress, state: str) -> None:
    statuses = progress.statuses()
    data: Json = {
        "form": FORM,
        "state": state,
        "pid": os.getpid(),
        "began": progress.began,
        "written": time.time(),
        "text": progress.running_text if state == "running" else progress.totals_text,
        "tasks": [{**asdict(each), **{name: getattr(each, name) for name in _TEXTS}} for each in statuses],
    }
    fresh = folder / f"{PROGRESS_FILE}.new"
    with suppress(OSError):  # a full disk ends the run where its replies are kept, not here
        fresh.write_text(json.dumps(data), "utf-8")
        fresh.replace(folder / PROGRESS_FILE)

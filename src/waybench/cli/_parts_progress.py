"""What the parts of a run are doing: a line now and then for those that run on this machine."""

import json
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from waybench.cli._repeating import repeating
from waybench.core import PROGRESS_FILE, duration_text, is_array, is_object, plural

EVERY = 30.0  # seconds between two reports


@contextmanager
def reported(
    work: Callable[[], Iterable[Path]], done: Callable[[], str], tell: Callable[[str], None]
) -> Generator[None]:
    """Say every half minute of a block how far the parts are.

    Args:
        work: Returns the folders in which parts work that have not ended; those on other machines are not here.
        done: Returns how many have ended.
        tell: Receives the lines.
    """
    numbers = count(1)

    def say() -> None:
        tell(f"{done()}, {duration_text(next(numbers) * EVERY)}")
        for line in progress_lines(work()):
            tell(f"  {line}")

    with repeating(say, EVERY, "waybench-parts"):
        yield


def progress_lines(folders: Iterable[Path]) -> list[str]:
    """Return a line for each task that runs in some folders: its name, what is done, and the time that is left."""
    found: list[str] = []
    for folder in folders:
        try:
            data: Any = json.loads((folder / PROGRESS_FILE).read_text("utf-8"))
        except (OSError, ValueError):  # it has not begun, or its folder has just been removed
            continue
        tasks = data.get("tasks") if is_object(data) else None
        for task in tasks if is_array(tasks) else ():
            if is_object(task) and task.get("state") == "running":
                found.append(f"{task.get('name')}: {task.get('done_text')}, {task.get('state_text')}")
    return found


def ended_text(done: int, count: int) -> str:
    """Return how many jobs have ended, as in "3 of 12 jobs have ended"."""
    return f"{done} of {plural(count, 'job')} {'has' if done == 1 else 'have'} ended"

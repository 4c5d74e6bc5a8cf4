"""Building a site again when the logs that it is made of have changed."""

import os
import signal
import traceback
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.from_thread
from anyio import to_process, to_thread

from waybench.view._site import Site

Logs = dict[Path, tuple[int, int]]


class Outcome(NamedTuple):
    """What became of building a site.

    Attributes:
        notes: Lines for the terminal.
        problem: Why there is no new site, or "".
        empty: Whether that is because there is nothing to show yet.
    """

    notes: tuple[str, ...] = ()
    problem: str = ""
    empty: bool = False


_FORMS = ("*.eval", "*.jsonl", "*.jsonl.gz")  # of logs, and of records


def logs_in(folders: Iterable[Path]) -> Logs:
    """Return size and time of change of each log in some folders, in any depth, and of each file of records."""
    found: Logs = {}
    for folder in folders:
        files = [folder] if os.path.isfile(folder) else [p for form in _FORMS for p in folder.rglob(form)]
        for path in files:
            try:
                status = path.stat()
            except OSError:  # it was there a moment ago
                continue
            found[path] = (status.st_size, status.st_mtime_ns)
    return found


@contextmanager
def uninterrupted() -> Generator[None, None, None]:
    """Hold up Ctrl-C, also for processes that are started meanwhile, and for these for good."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Do so where `uninterrupted` cannot."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def attempt(build: Callable[[], Outcome]) -> Outcome:
    """Build, and tell a bug with its traceback."""
    try:
        return build()
    except Exception:
        return Outcome((traceback.format_exc(),), "building the report failed; this is a bug in waybench")


async def keep_built(
    build: Callable[..., Outcome],
    site: Site,
    folders: Iterable[Path],
    every: float,
    tell: Callable[[str], None],
) -> None:
    """Build the site now, and again whenever its logs have changed or a replay without a page is opened.

    It goes on until it is cancelled.

    Args:
        build: Builds the site; it is pickled and called in another process, so that a long build holds up nothing here
            and can be ended at any time.
        site: Whose page that stands in is told what happens.
        folders: Where the logs are.
        every: Seconds from one look at the logs to the next. After a build it is at least as long as that has taken.
        tell: Is given lines for the terminal; what the build before has said already is not said again.
    """
    built: Logs | None = None
    called = anyio.Event()
    site.call = lambda: anyio.from_thread.run_sync(called.set)
    said: set[str] = set()
    while True:
        pause = every
        there = await to_thread.run_sync(logs_in, folders)
        wanted, called = site.wanted, anyio.Event()
        if there != built or wanted != site.built:
            built, began = there, anyio.current_time()
            outcome = await _built_elsewhere(partial(build, replays=wanted) if wanted else build)
            site.built = wanted
            pause = max(every, anyio.current_time() - began)
            _show(outcome, site)
            lines = [*outcome.notes, *([] if outcome.empty or not outcome.problem else [f"Error: {outcome.problem}"])]
            for line in lines:
                if line not in said:
                    tell(line)
            said = set(lines)
        with anyio.move_on_after(pause):
            await called.wait()


async def _built_elsewhere(build: Callable[[], Outcome]) -> Outcome:
    try:
        # Ctrl-C reaches every process of a terminal. The one that builds is started here if there is none yet; it is
        # not to speak of it, and ends when this one does.
        with uninterrupted():
            await to_process.run_sync(ignore_interrupts)
        return await to_process.run_sync(attempt, build, cancellable=True)
    except anyio.BrokenWorkerProcess:
        return Outcome(problem="the process that builds the report ended; it starts again when a log changes")


def _show(outcome: Outcome, site: Site) -> None:
    site.hint = outcome.empty
    if outcome.empty:
        site.message = "No episodes yet; this page reloads when there are."
    elif outcome.problem:
        site.message = f"There is no report yet: {outcome.problem}"

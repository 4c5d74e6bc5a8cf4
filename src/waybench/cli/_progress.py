"""The progress of runs, of their parts and of reports, on standard error."""

import json
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from waybench.cli._output import to_stderr
from waybench.core import PROGRESS_FILE, duration_text, is_array, is_object, plural, short_count

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress

    from waybench.evaluation._run_progress import RunProgress
    from waybench.evaluation._task_status import TaskStatus

DISPLAYS = ("rich", "plain", "none")  # the others are Inspect's own
_REFRESH_EVERY = 0.5  # seconds between two looks at the progress
_STEPS_PER_TASK = 10  # parts of a task, each with a plain line
_LONGEST_PAUSE = 30.0  # seconds after which a task has another plain line, however little was done
_SHORTEST_PAUSE = 2.0  # seconds between two plain lines of a task, however much was done
_COLUMN_GAP = 2
_TABLE_MARGIN, _FEWEST_ROWS = 5, 3  # lines of the terminal beside the table's rows, and rows that are always shown
_LONGEST_NAME = 30  # columns of a name
_SHORTEST_MODEL = 8
_DISPENSABLE_COLUMNS = "out", "tokens in", "requests", "retries"  # columns, the first to be left out first


def evaluate_with_progress(*args: Any, progress: "RunProgress", display: str | None, **settings: Any) -> list[str]:
    """Run `evaluate` with its progress on standard error: a live table on a terminal, plain lines elsewhere."""
    from waybench.evaluation import evaluate  # seconds to import

    display = display or ("rich" if sys.stderr.isatty() else "plain")
    with show_progress(progress, display):
        return evaluate(*args, display="none" if display in DISPLAYS else display, progress=progress, **settings)


@contextmanager
def show_progress(progress: "RunProgress", display: str) -> Generator[None]:
    """Show the progress of a run on standard error while a block runs, and a summary line at the end.

    `display` is "rich" for a live table, "plain" for lines and "none" for notes alone; any other shows nothing.
    """
    if display not in DISPLAYS:
        yield
        return
    view = _Live(progress) if display == "rich" else _Lines(progress, is_silent=display == "none")
    with view.opened():
        try:
            with call_regularly(view.refresh, _REFRESH_EVERY, "waybench-display"):
                yield
        finally:
            view.refresh()
    if display != "none":
        click.echo(f"finished: {progress.totals_text}", err=True)


class _Lines:
    """Plain lines: one for a task when another tenth of it is done, or when it had none for half a minute."""

    def __init__(self, progress: "RunProgress", *, is_silent: bool) -> None:
        self._progress, self._is_silent = progress, is_silent
        # Index of a task -> time, step and number of replies at its last line.
        self._last_lines: dict[int, tuple[float, int, int]] = {}

    @contextmanager
    def opened(self) -> Generator[None]:
        """Return a context that does nothing: lines need no preparation."""
        yield

    def refresh(self) -> None:
        """Print new notes, and a line for each task with enough progress."""
        _print_notes(self._progress, lambda line: click.echo(line, err=True))
        if self._is_silent:
            return
        now = time.monotonic()
        for index, status in enumerate(self._progress.statuses()):
            step = status.done * _STEPS_PER_TASK // status.total if status.total else 0
            replies = status.requests + status.repeated
            last_time, last_step, last_replies = self._last_lines.setdefault(index, (now, step, replies))
            is_due = now >= last_time + (_SHORTEST_PAUSE if step > last_step else _LONGEST_PAUSE)
            if status.state == "running" and is_due and replies > last_replies:
                self._last_lines[index] = now, step, replies
                click.echo(f"{status.name}: {status.text}", err=True)


class _Live:
    """A table that is redrawn in place, with a line for each task."""

    def __init__(self, progress: "RunProgress") -> None:
        from rich.console import Console
        from rich.live import Live

        self._progress = progress
        self._console = Console(stderr=True)
        # Redrawn by `refresh` alone: one thread less, and never while a note is printed.
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    @contextmanager
    def opened(self) -> Generator[None]:
        """Return a context in which the table is on the terminal."""
        with self._live:
            yield

    def refresh(self) -> None:
        """Print new notes, and redraw the table below them."""
        from rich.text import Text

        _print_notes(self._progress, lambda line: self._console.print(Text(line), soft_wrap=True))
        self._live.update(self._rendered_statuses(), refresh=True)

    def _rendered_statuses(self) -> "RenderableType":
        """Return a heading and the table, of running tasks first if not all have room."""
        from rich.console import Group
        from rich.text import Text

        statuses = self._progress.statuses()
        heading = Text(self._progress.running_text)
        heading.append("   (Ctrl-C stops; the same command resumes)", style="dim")
        n_rows = max(self._console.size.height - _TABLE_MARGIN, _FEWEST_ROWS)
        running_first = sorted(statuses, key=lambda status: status.state != "running")
        visible_ids = {id(status) for status in running_first[:n_rows]}
        visible = [status for status in statuses if id(status) in visible_ids]
        n_hidden = len(statuses) - len(visible)
        last_line = [Text(f"and {plural(n_hidden, 'more task')}", style="dim")] if n_hidden else []
        return Group(heading, *([_status_table(visible, self._console.size.width)] if visible else []), *last_line)


def _status_table(statuses: Sequence["TaskStatus"], columns: int) -> "RenderableType":
    """Return the table of tasks, at most `columns` wide: names of models are cut, numbers are not.

    On a narrow terminal, tokens, requests and retries are left out, in this order.
    """
    from rich.table import Table
    from rich.text import Text

    from waybench.results.formatting import one_line, text_width

    cells: dict[str, list[str]] = {
        "task": [one_line(status.task, _LONGEST_NAME) for status in statuses],
        "model": [one_line(status.model, _LONGEST_NAME) for status in statuses],
        "done": [status.done_text for status in statuses],
        "requests": [f"{status.requests:,}" for status in statuses],
    }
    if any(status.input_tokens or status.output_tokens for status in statuses):
        cells["tokens in"] = [short_count(status.input_tokens) for status in statuses]
        cells["out"] = [short_count(status.output_tokens) for status in statuses]
    if any(status.cost is not None for status in statuses):
        cells["USD"] = ["" if status.cost is None else f"{status.cost:.2f}" for status in statuses]
    if any(status.unreadable for status in statuses):
        cells["unreadable"] = [status.unreadable_text for status in statuses]
    for name in ("retries", "errors"):
        if any(getattr(status, name) for status in statuses):
            cells[name] = [f"{getattr(status, name):,}" for status in statuses]
    cells["left"] = [status.state_text for status in statuses]
    widths = {title: max(map(text_width, (title, *texts))) for title, texts in cells.items()}
    least_widths = {**widths, "model": _SHORTEST_MODEL}
    for title in _DISPENSABLE_COLUMNS:
        if title in cells and sum(least_widths[name] + _COLUMN_GAP for name in cells) > columns:
            del cells[title]
    spare = columns - sum(widths[title] + _COLUMN_GAP for title in cells)  # below 0, names of models are cut
    widths["model"] = max(widths["model"] + min(spare, 0), _SHORTEST_MODEL)
    table = Table(box=None, pad_edge=False, padding=(0, _COLUMN_GAP, 0, 0), header_style="dim")
    for title in cells:
        justify = "left" if title in ("task", "model", "done") else "right"
        table.add_column(title, justify=justify, width=widths[title], no_wrap=True)
    for status, *texts in zip(statuses, *cells.values(), strict=True):
        style = "" if status.state == "running" else "dim"
        table.add_row(*(Text(text, overflow="ellipsis") for text in texts), style=style)
    return table


def _print_notes(progress: "RunProgress", write: Callable[[str], None]) -> None:
    """Write the notes of a progress, one line each, and remove them from it."""
    from waybench.results.formatting import one_line

    while progress.notes:
        write(one_line(progress.notes.pop(0), 400))


PARTS_EVERY = 30.0  # seconds between two reports


@contextmanager
def report_parts(
    running_folders: Callable[[], Iterable[Path]], ended: Callable[[], str], tell: Callable[[str], None]
) -> Generator[None]:
    """While a block runs, print every half minute the text of ended parts (`ended`) and the running folders' tasks."""
    report_numbers = count(1)

    def print_status() -> None:
        """Print the ended parts and the time so far, then a line for each running task."""
        tell(f"{ended()}, {duration_text(next(report_numbers) * PARTS_EVERY)}")
        for line in progress_lines(running_folders()):
            tell(f"  {line}")

    with call_regularly(print_status, PARTS_EVERY, "waybench-parts"):
        yield


def progress_lines(folders: Iterable[Path]) -> list[str]:
    """Return a line for each task that runs in these folders: its name, its share done, and the time left."""
    texts: list[str] = []
    for folder in folders:
        try:
            progress: Any = json.loads((folder / PROGRESS_FILE).read_text("utf-8"))
        except (OSError, ValueError):  # it has not begun, or its folder has just been removed
            continue
        tasks = progress.get("tasks") if is_object(progress) else None
        for task in tasks if is_array(tasks) else ():
            if is_object(task) and task.get("state") == "running":
                texts.append(f"{task.get('name')}: {task.get('done_text')}, {task.get('state_text')}")
    return texts


def ended_jobs_text(done: int, count: int) -> str:
    """Return how many jobs have ended, as in "3 of 12 jobs have ended"."""
    return f"{done} of {plural(count, 'job')} {'has' if done == 1 else 'have'} ended"


_SILENT = 2.0  # seconds for which nothing is shown: most reports are done by then
_REPORT_EVERY = 5.0  # seconds between two lines
_REDRAW_EVERY = 0.1  # seconds between two drawings of a bar
_STAGES = {"episodes": "episodes verified", "pages": "groups of pages written"}


class ReportProgress:
    """Shows how far a report has come, once it takes longer than two seconds."""

    def __init__(self) -> None:
        self._began_at = self._shown_at = time.monotonic()
        self._bar: Progress | None = None
        self._stage = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close_bar()

    def __call__(self, stage: str, done: int, total: int, /) -> None:
        """Show how much of a stage is done, of a total (0 if it is not known); `stage` is a name in `_STAGES`."""
        now = time.monotonic()
        if now - self._began_at < _SILENT:
            return
        if sys.stderr.isatty():
            self._update_bar(stage, done, total)
        elif self._shown_at == self._began_at or now - self._shown_at >= _REPORT_EVERY:
            self._shown_at = now
            to_stderr(f"report: {done:,}{f' of {total:,}' if total else ''} {_STAGES[stage]}")

    def _update_bar(self, stage: str, done: int, total: int) -> None:
        """Redraw the bar of a stage, or put it in the place of the bar of the stage before."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        if self._bar is None or stage != self._stage:
            # A stage that has ended is not shown beside the next one, whose clock would go on for both.
            self._close_bar()
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:,}"),
                TimeElapsedColumn(),
            )
            # No thread redraws it, since a process with threads is not copied: pages are written by copies.
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self._stage = stage
            self._bar.add_task(_STAGES[stage], total=total or None)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total or None)
        now = time.monotonic()
        if now - self._shown_at >= _REDRAW_EVERY:
            self._shown_at = now
            self._bar.refresh()

    def _close_bar(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextmanager
def call_regularly(call: Callable[[], None], seconds: float, name: str) -> Generator[None]:
    """Call a function at intervals in a thread of its own, while a block runs."""
    stop = threading.Event()

    def keep_calling() -> None:
        while not stop.wait(seconds):
            call()

    thread = threading.Thread(target=keep_calling, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()

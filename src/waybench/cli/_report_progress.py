"""How far a report has come, on stderr: a bar on a terminal, otherwise lines."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from waybench.cli._output import to_stderr

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_SILENT = 2.0  # seconds for which nothing is shown: most reports are done by then
_EVERY = 5.0  # seconds between two lines
_STAGES = {"episodes": "episodes verified", "pages": "groups of pages written"}


class ReportProgress:
    """Shows how far a report has come, once it takes longer than two seconds."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()
        self._bar: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int, /) -> None:
        """Show that so many of a total are done; a total of 0 is not known."""
        now = time.monotonic()
        if now - self._began < _SILENT:
            return
        if sys.stderr.isatty():
            self._show(stage, done, total)
        elif self._last == self._began or now - self._last >= _EVERY:
            self._last = now
            to_stderr(f"report: {done:,}{f' of {total:,}' if total else ''} {_STAGES[stage]}")

    def _show(self, stage: str, done: int, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        if self._bar is None:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:,}"),
                TimeElapsedColumn(),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(_STAGES[stage], total=total or None)
        self._bar.update(self._tasks[stage], completed=done, total=total or None)

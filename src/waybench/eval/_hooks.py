"""Inspect's reports during a run: starts and ends of tasks, and its warnings."""

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import rich
from inspect_ai.hooks import Hooks, TaskEnd, TaskStart, hooks

Report = Callable[[str, Any], None]
_ENGINE = "inspect_ai"
_receiver: Report | None = None
_registered = False


@contextmanager
def reported_to(receiver: Report, *, quiet: bool) -> Generator[None]:
    """Report Inspect's events within a block to a function.

    Args:
        receiver: Receives the name of an event and its data: "start" and "end" of a task, and "log"
            with each warning or error of the engine as one line.
        quiet: Whether to keep the engine from printing.
    """
    global _receiver
    _register()
    handler = _OneLine(receiver)
    console = rich.get_console()
    before, console.quiet = console.quiet, quiet or console.quiet
    logging.getLogger(_ENGINE).addHandler(handler)
    _receiver = receiver
    try:
        yield
    finally:
        _receiver = None
        logging.getLogger(_ENGINE).removeHandler(handler)
        console.quiet = before


def _register() -> None:
    # Not on import: the engine greets the user with the names of all hooks that it finds.
    global _registered
    if not _registered:
        hooks(name="waybench_progress", description="shows the progress of a run")(_Progress)
        _registered = True


class _Progress(Hooks):
    def enabled(self) -> bool:
        return _receiver is not None

    async def on_task_start(self, data: TaskStart) -> None:
        self._report("start", data.spec)

    async def on_task_end(self, data: TaskEnd) -> None:
        self._report("end", data.log)

    def _report(self, event: str, data: Any) -> None:
        if _receiver is not None:
            _receiver(event, data)


class _OneLine(logging.Handler):
    """Forwards Inspect's warnings and errors, each as one line."""

    def __init__(self, receiver: Report) -> None:
        super().__init__(logging.WARNING)
        self._receiver = receiver

    def emit(self, record: logging.LogRecord) -> None:
        self._receiver("log", f"{record.levelname.lower()}: {' '.join(record.getMessage().split())}")

"""The command in a process of its own that need not import everything again: it is forked from one that has.

A run imports for three seconds, most of it Inspect, and these tests start dozens. The process is a real one, with an
environment, output and signals of its own; tests/eval/test_layer.py and tests/cli start the command from the beginning.
"""

import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.eval.imported"])


def _main(arguments: tuple[str, ...], environment: Mapping[str, str], folder: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    # Whoever starts this, such as a test runner's worker, may ignore Ctrl-C, and a child inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, name in ((1, "out"), (2, "err")):
        with open(Path(folder, name), "wb") as file:
            os.dup2(file.fileno(), number)
    sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
    sys.argv = ["waybench", *arguments]
    warnings.simplefilter("ignore")
    from waybench.cli import main

    try:
        main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


class Command:
    """The command while it runs and after.

    Args:
        *arguments: What follows "waybench".
        environment: The process's whole environment.

    Attributes:
        returncode: The exit status once it is over, below 0 for a signal.
        stdout: What it printed, once it is over.
        stderr: What it printed of errors.
    """

    returncode: int | None = None
    stdout = stderr = ""

    def __init__(self, *arguments: str, environment: Mapping[str, str]) -> None:
        self._folder = Path(mkdtemp(prefix="waybench-command-"))
        self._process = _CONTEXT.Process(target=_main, args=(arguments, dict(environment), str(self._folder)))
        self._process.start()

    @property
    def pid(self) -> int:
        """The process's number."""
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit status; None while the process runs."""
        if self.returncode is None and self._process.exitcode is not None:
            self.returncode = self._process.exitcode
            self.stdout, self.stderr = (
                path.read_text(encoding="utf-8") if path.exists() else ""
                for path in (self._folder / "out", self._folder / "err")
            )
            rmtree(self._folder)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process is over, and return its exit status.

        Raises:
            TimeoutError: If it is not over in time; it is killed.
        """
        self._process.join(timeout)
        status = self.poll()
        if status is None:
            self.kill()
            raise TimeoutError(f"the command runs for more than {timeout} s")
        return status

    def kill(self) -> None:
        """End the process at once, if it runs."""
        self._process.kill()
        self._process.join()
        self.poll()

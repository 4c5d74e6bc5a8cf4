"""Fixtures for all tests: the folder of shared files, a watchdog, a browser, and settings of hypothesis."""

import atexit
import os
import shutil
import signal
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, settings

from tests import browser

# Before numpy is imported, here and in what tests start: several test processes are busy, and BLAS's own threads would
# spin while they wait for a core, which takes several times the time of the sums themselves.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What commands keep for this user is kept for this test run alone.
if "WAYBENCH_CACHE" not in os.environ:
    os.environ["WAYBENCH_CACHE"] = tempfile.mkdtemp(prefix="waybench-cache-")
    atexit.register(shutil.rmtree, os.environ["WAYBENCH_CACHE"], ignore_errors=True)

# Each client of a model reads the certificates of the machine, which takes longer than the reply of a server here, none
# of which has one. There are none in this folder, either.
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)
os.environ.pop("SSL_CERT_FILE", None)

ROOT = Path(__file__).resolve().parents[1]
SETS = (
    "WAYBENCH_GOLDEN",
)  # folders that may be one set of files or another: any file but not the folder may be missing
# Seconds until a test gives up on what hangs: many times what it takes on a busy machine, and in no test's way.
PATIENCE = 900
GOLDEN = "golden "  # how the name of a property of a report begins that counts what was compared with published results

_COMMON = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
# The same examples in every run, so that a change is green or red for its own sake. HYPOTHESIS_PROFILE=explore tries
# new and more ones.
settings.register_profile("steady", derandomize=True, **_COMMON)
settings.register_profile("explore", max_examples=1000, print_blob=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def missing(message: str) -> NoReturn:
    """Skip a test that lacks something, and say what; with CI=true it fails, for there everything has to be."""
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)


def shared(variable: str, folder: str, *path: str) -> Path:
    """Return a file or folder that is shared with the repository and never in it.

    A missing one skips the test and says so; with CI=true it fails, for there the files have to be. A file that a set
    of golden files does not have always skips it.

    Args:
        variable: The environment variable that points at the folder.
        folder: The folder's name within the shared folder (WAYBENCH_SHARED, by default ../shared), if it is not set.
        *path: What is wanted in it.
    """
    home = os.environ.get("WAYBENCH_SHARED") or ROOT.parent / "shared"
    wanted = Path(os.environ.get(variable) or Path(home, folder)).joinpath(*path)
    if wanted.exists():
        return wanted
    message = f"{'/'.join([folder, *path])} is not there: set {variable} or WAYBENCH_SHARED"
    if variable in SETS and Path(os.environ.get(variable) or Path(home, folder)).is_dir():
        pytest.skip(message)
    missing(message)


@pytest.fixture
def paper() -> Callable[[str], str]:
    """Return a function that reads a paper's text by its file name."""
    return lambda name: shared("WAYBENCH_PAPERS", "papers", name).read_text(encoding="utf-8")


@pytest.fixture
def data_dir() -> Callable[..., Path]:
    """Return a function that finds a file or folder of the public data sets."""
    return lambda *path: shared("WAYBENCH_DATA", "data", *path)


@pytest.fixture
def golden_dir() -> Callable[..., Path]:
    """Return a function that finds a file or folder of published results."""
    return lambda *path: shared("WAYBENCH_GOLDEN", "golden", *path)


@pytest.fixture
def watchdog() -> Iterator[None]:
    """Fail a test that hangs, long after it should have been over, instead of waiting for ever."""

    def bark(signum: int, frame: object) -> None:
        raise TimeoutError("the test hangs")

    before = signal.signal(signal.SIGALRM, bark)
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Return a browser; a module's own, for while there is one nothing else can run a loop of asyncio."""
    if lacking := browser.lacking():
        missing(lacking)
    with browser.chromium() as started:
        yield started


@pytest.fixture
def visit(chromium: Any) -> Iterator[browser.Visits]:
    """Return a function that opens a page; one that complains, or fetches what is not its site's, fails its test."""
    visits = browser.Visits(chromium)
    yield visits
    visits.close()
    assert visits.complaints == []


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C reach the programs that tests start: a shell starts what runs in the background without it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each family; the counts travel with the reports, from other processes too."""
    totals: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for report in terminalreporter.getreports("passed"):
        for name, count in report.user_properties:
            if name.startswith(GOLDEN):
                family, kind = name.removeprefix(GOLDEN).split(" ", 1)
                totals[family][kind] += int(count)
    for family, kinds in sorted(totals.items()):
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        terminalreporter.write_line(f"golden {family}: {told} compared")

"""When the site is built again, and what is told of it; what builds it is a toy, in another process as always."""

import os
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tests.view.support import PATIENCE, count, told, with_replays
from waybench.reporting.view._app import LiveSite
from waybench.reporting.view._serve import BuildOutcome, log_states, rebuild_on_change

Act = Callable[[], Awaitable[None]]


def log(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.eval").write_text(text)


def kept(build: Callable[..., BuildOutcome], site: LiveSite, logs: Path, act: Act, every: float = 0.01) -> list[str]:
    """Keep a site built while something is done; return what was told."""
    lines: list[str] = []

    async def both() -> None:
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(rebuild_on_change, build, site, [logs], every, lines.append)
                await act()
                tasks.cancel_scope.cancel()

    anyio.run(both)
    return lines


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await anyio.sleep(0.01)


@pytest.fixture
def site(tmp_path: Path) -> LiveSite:
    folder = tmp_path / "site"
    folder.mkdir()
    return LiveSite(folder, "title")


def test_logs_are_found_in_any_depth(tmp_path: Path) -> None:
    log(tmp_path / "a" / "b", "x")
    log(tmp_path / "c", "xy")
    (tmp_path / "c" / "other.json").write_text("{}")
    sizes = {path.relative_to(tmp_path).as_posix(): size for path, (size, _) in log_states([tmp_path]).items()}
    assert sizes == {"a/b/a.eval": 1, "c/a.eval": 2}
    assert log_states([tmp_path / "nothing"]) == {}


def test_it_is_built_at_once_and_when_a_log_changes(site: LiveSite, tmp_path: Path) -> None:
    index = site.folder / "index.html"

    async def act() -> None:
        for number, change in enumerate(
            [
                lambda: None,
                lambda: log(tmp_path, "a"),
                lambda: log(tmp_path, "ab"),
                lambda: os.utime(tmp_path / "a.eval", (1, 1)),
                (tmp_path / "a.eval").unlink,
            ],
            start=1,
        ):
            change()
            await until(lambda number=number: index.exists() and index.read_text() == str(number))

    assert kept(partial(count, site.folder), site, tmp_path, act) == ["built"]  # what is known is not told again


def test_a_replay_that_is_opened_is_built_without_waiting_for_a_log(site: LiveSite, tmp_path: Path) -> None:
    (site.folder / "results").mkdir()
    (site.folder / "results" / "m.html").write_text("results")
    index = site.folder / "index.html"

    async def act() -> None:
        await until(index.exists)
        for name in ("m-7.html", "m-99.html"):
            assert await anyio.to_thread.run_sync(site.answer, f"replays/{name}") is not None
            await until(lambda name=name: name in site.built)
        assert (site.folder / "replays" / "m-7.html").read_text() == "the replay m-7.html"
        assert site.answer("replays/m-99.html") is None  # it was tried

    kept(partial(with_replays, site.folder), site, tmp_path, act, every=PATIENCE)
    assert index.read_text() == "3"


def test_nothing_is_built_while_nothing_changes(site: LiveSite, tmp_path: Path) -> None:
    index = site.folder / "index.html"

    async def act() -> None:
        await until(index.exists)
        await anyio.sleep(0.3)  # thirty looks
        (site.folder / "index.txt").write_text("no log")
        await anyio.sleep(0.1)

    kept(partial(count, site.folder), site, tmp_path, act)
    assert index.read_text() == "1"


@pytest.mark.slow
def test_what_goes_wrong_is_told_once_and_leaves_the_last_site(site: LiveSite, tmp_path: Path) -> None:
    index = site.folder / "index.html"
    waiting = "being built"

    async def now(what: str, true: Callable[[], bool]) -> None:
        (site.folder / "what").write_text(what)
        log(tmp_path, what)
        await until(true)

    async def act() -> None:
        assert waiting in site.message
        await until(lambda: site.hint)
        assert site.message.startswith("No episodes yet")
        await now("log x: broken", lambda: not site.hint)
        assert site.message == "There is no report yet: log x: broken"
        await now("fine", index.exists)
        for what, word in (("bug", "bug"), ("end", "process")):
            await now(what, lambda word=word: word in site.message)
            assert index.read_text() == "fine"
        index.unlink()
        await now("fine", index.exists)

    (site.folder / "what").write_text("empty")
    lines = kept(partial(told, site.folder), site, tmp_path, act)
    assert lines[:3] == ["empty", "log x: broken", "Error: log x: broken"]
    assert lines[3].startswith("Traceback") and lines[3].strip().endswith("ZeroDivisionError: a bug")
    assert lines[4] == "Error: building the report failed; this is a bug in waybench"
    assert lines[5:] == ["Error: the process that builds the report ended; it starts again when a log changes"]


@pytest.mark.skipif(os.name != "posix", reason="asks for a process as POSIX does")
def test_a_build_ends_with_what_waits_for_it(site: LiveSite, tmp_path: Path) -> None:
    pid = site.folder / "pid"

    async def act() -> None:
        await until(lambda: pid.exists() and pid.read_text() != "")

    (site.folder / "what").write_text("hang")
    kept(partial(told, site.folder), site, tmp_path, act)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)

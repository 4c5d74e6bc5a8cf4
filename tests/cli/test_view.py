"""`waybench view`: what it says on the terminal, and the whole of it as a process."""

import os
import re
import signal
import webbrowser
from functools import partial
from pathlib import Path
from typing import Any

import inspect_ai.log as inspect_log
import pytest

from tests.cli.support import Command, one_line_error, watched
from tests.view.support import PATIENCE, asked, until
from waybench.cli._report import build_live_site
from waybench.evaluation import evaluate
from waybench.evaluation.tasks import TASKS, load_task
from waybench.reporting.view._serve import open_listener

_LOG: Any = inspect_log  # its types are not complete


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of a run of two mazes."""
    out = tmp_path_factory.mktemp("run")
    entry = next(entry for entry in TASKS if entry.name == "alicia")
    assert evaluate([partial(load_task(entry), max_dimension=5, limit=2)], ["waybench/oracle"], out) == []
    (found,) = out.glob("*.eval")
    return found


def appear(log: Path, folder: Path) -> None:
    """Put a log into a folder, in one piece, as a run does."""
    (folder / "new").write_bytes(log.read_bytes())
    (folder / "new").rename(folder / log.name)


def test_it_says_what_a_build_comes_to(log: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    nothing = build_live_site((tmp_path,), site, "title")
    assert (nothing.empty, nothing.notes) == (True, ())
    assert not (site / "index.html").exists()
    appear(log, tmp_path)
    (tmp_path / log.name.replace("alicia", "broken")).write_bytes(b"no log")
    note, total = build_live_site((tmp_path,), site, "title").notes
    assert note.startswith("waybench: skipped ") and "broken" in note and "\n" not in note
    assert "summary.json lists them all" in total and "\n" not in total
    assert "<title>title</title>" in (site / "index.html").read_text()
    broken = build_live_site((tmp_path / "nowhere",), site, "title")
    assert (broken.empty, broken.problem.startswith(f"no folder {tmp_path / 'nowhere'}")) == (False, True)


def test_a_record_that_is_none_is_skipped_and_named_and_the_others_stay(log: Path, tmp_path: Path) -> None:
    def replays() -> set[str]:
        return {path.name for path in (tmp_path / "site" / "replays").glob("*.html")}

    appear(log, tmp_path)
    assert not build_live_site((tmp_path,), tmp_path / "site", "title").problem
    charts = {path.suffix: path for path in (tmp_path / "site" / "charts").iterdir() if path.name != "index.json"}
    assert charts[".png"].read_bytes().startswith(b"\x89PNG") and ".svg" in charts
    before = replays()
    damaged = _LOG.read_eval_log(str(log))
    damaged.samples[0].metadata["waybench"] = "{}"
    _LOG.write_eval_log(damaged, str(tmp_path / log.name))
    built = build_live_site((tmp_path,), tmp_path / "site", "title")
    assert not built.problem and not built.empty
    named, _ = built.notes
    assert log.name in named and str(damaged.samples[0].id) in named and "\n" not in named
    assert len(replays()) == len(before) - 1


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["nowhere"], "no folder nowhere: give the folder that `waybench run --out` wrote"),
        ([".", "--port", "65536"], "65536 is not in the range"),
        ([".", "--every", "0"], "0.0 is not in the range"),
        ([".", "--prices", "nowhere.json"], "cannot read nowhere.json"),
        ([".", "--host", "0.0.0.0"], "No such option '--host'"),
        ([], "no folder waybench-out: give"),
        (["nowhere"], "to start before the run, create the folder first"),
    ],
)
def test_wrong_usage(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert expected in one_line_error(command("view", *args))
    assert not [*tmp_path.iterdir()]


def test_a_port_that_is_taken(command: Command, tmp_path: Path) -> None:
    with open_listener(0) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} is not available" in one_line_error(command("view", tmp_path, "--port", port))


@pytest.mark.parametrize("found", [True, False])
def test_the_browser_is_opened(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: bool) -> None:
    opened: list[str] = []

    def open_(url: str) -> bool:
        opened.append(url)
        return found

    def serve(*given: Any, **more: Any) -> None:
        until(lambda: bool(opened))
        given[1].close()

    monkeypatch.setattr(webbrowser, "open", open_)
    monkeypatch.setattr("waybench.reporting.view._serve.serve", serve)
    said = command("view", tmp_path, "--open")
    (url,) = opened
    assert said.stdout == f"view: {url} (press Ctrl-C to stop)\n"
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", url, re.ASCII)


def test_records_of_people_are_viewed_beside_their_file(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Any] = []

    def serve(build: Any, listener: Any, *given: Any, **more: Any) -> None:
        listener.close()
        served.extend((*given, more["start"]))

    monkeypatch.setattr("waybench.reporting.view._serve.serve", serve)
    records = tmp_path / "people.jsonl"
    records.touch()
    assert command("view", records).exit_code == 0
    site, folders, start = served
    assert (site, folders) == (tmp_path / "site", (records,))
    assert all(run.endswith(f"--out {tmp_path}") for run in start.values())


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_a_folder_becomes_a_run_and_ctrl_c_ends_it(log: Path, tmp_path: Path) -> None:
    command = ("view", str(tmp_path), "--port", "0", "--every", "0.2", "--title", "Ours")
    with watched(*command, patience=4 * PATIENCE, text=True) as process:
        assert process.stdout and process.stderr
        url = process.stdout.readline().split()[1]
        assert url.startswith("http://127.0.0.1:")

        address, _, token = url.partition("/?token=")
        port = int(address.rpartition(":")[2])

        def shown(text: str) -> bool:
            return text.encode() in asked(port, "/", token=token)[1]

        assert asked(port, "/", token=None)[0].status == 403
        assert asked(port, f"/?token={token}", token=None)[0].status == 303

        until(lambda: shown("No episodes yet; this page reloads when there are."))
        assert shown(f"waybench run atlas --model waybench/noisy-0.3 --out {tmp_path}")
        appear(log, tmp_path)
        until(lambda: shown("data/index.html"))
        assert shown("<title>Ours</title>")
        assert (tmp_path / "site" / "summary.json").exists()
        process.send_signal(signal.SIGINT)
        assert (process.stdout.read(), process.stderr.read().strip()) == ("", "")
        assert process.wait() == 130
        with pytest.raises(ConnectionRefusedError):
            shown("anything")


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_at_once_is_quiet(tmp_path: Path) -> None:
    # As in a terminal: every process of the group has it, also the one that is just being started to build.
    with watched("view", str(tmp_path), "--port", "0", text=True, start_new_session=True) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr.read().strip() == ""
        assert process.wait() == 130

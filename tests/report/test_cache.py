"""A report of a folder that was reported before works out only what is new."""

import pickle
import subprocess
import sys
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from tests.analysis.episodes import played
from tests.analysis.searches import searched
from tests.conftest import PATIENCE
from waybench.core import Price
from waybench.reporting import _cache as cache_module
from waybench.reporting import write_report
from waybench.reporting._cache import ReportCache, content_key, open_cache
from waybench.reporting._files import SiteFolder
from waybench.reporting.charts import _svg
from waybench.results import LoggedEpisode
from waybench.results.logs._settings import Origin
from waybench.results.results import Simulated, Verifier
from waybench.results.results._measured_row import measured_row

FIRST = [*played("random", (5, 7), mazes=2), *played("oracle", (5, 7), mazes=2)]
ADDED = played("noisy-0.3", (5, 7), mazes=2)


class Work:
    """Counts what a report works out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.simulated, self.drawn, self.written = 0, 0, list[str]()
        verify, draw, write = Verifier.verify, vl_convert.vegalite_to_svg, SiteFolder.write

        def verified(verifier: Verifier, episode: LoggedEpisode) -> Any:
            self.simulated += 1
            return verify(verifier, episode)

        def drawn(spec: str, **more: Any) -> str:
            self.drawn += 1
            return draw(spec, **more)

        def written(folder: SiteFolder, name: str, content: str | bytes) -> None:
            self.written.append(name)
            write(folder, name, content)

        monkeypatch.setattr(Verifier, "verify", verified)
        monkeypatch.setattr(vl_convert, "vegalite_to_svg", drawn)
        monkeypatch.setattr(SiteFolder, "write", written)

    @property
    def replays(self) -> int:
        return sum(name.startswith("replays/") for name in self.written)


def report(episodes: Sequence[LoggedEpisode], folder: Path, **more: Any) -> dict[str, bytes]:
    """Write a report and return its files."""
    _svg._vega_svg.cache_clear()  # pyright: ignore[reportPrivateUsage]
    site = folder / "site"
    write_report(episodes, site, kept=open_cache(folder / "kept", site), **more)
    return {str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_second_report_does_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(monkeypatch)
    first = report(FIRST, tmp_path)
    assert (work.simulated, work.replays) == (len(FIRST), len(FIRST))
    assert work.drawn > 0
    again = Work(monkeypatch)
    assert report(FIRST, tmp_path) == first
    assert (again.simulated, again.drawn, again.replays) == (0, 0, 0)
    more = Work(monkeypatch)
    grown = report([*FIRST, *ADDED], tmp_path)
    assert (more.simulated, more.replays) == (len(ADDED), len(ADDED))
    # Pages of the others at the same items link to the added model's attempts, though they were not made again.
    linked = [name for name in first if name.startswith("replays/") and b"noisy-0-3" in grown[name]]
    assert len(linked) == len(FIRST)
    assert 0 < more.drawn <= work.drawn
    # The p value of a ratio of horizons is adjusted for all pairs, so the page that has one is made again, too.
    written = sorted(name for name in more.written if name.startswith("models/"))
    assert [name.rpartition("-")[0] for name in written] == ["models/waybench-noisy-0-3", "models/waybench-random"]
    # What was taken over is what would have been made.
    assert grown == report([*FIRST, *ADDED], tmp_path / "apart")


@pytest.mark.slow
@pytest.mark.parametrize(
    "added",
    [
        played("oracle", (5, 7), mazes=2, wording="ascii"),  # now the settings of the others are told
        played("noisy-0.3", (5, 9), mazes=2),  # a level that the others lack
        searched("random", "dfs", count=2),  # another task
    ],
)
def test_pages_that_are_kept_are_those_that_would_be_made(added: list[LoggedEpisode], tmp_path: Path) -> None:
    report(FIRST, tmp_path)
    assert report([*FIRST, *added], tmp_path) == report([*FIRST, *added], tmp_path / "apart")


@pytest.mark.slow
def test_an_episode_of_a_log_is_kept_with_the_origin_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = [replace(each, origin=Origin("2026-01-31 12:00 UTC", "0.1.0", "waybench run alicia")) for each in FIRST]
    first = report(logged, tmp_path)
    work = Work(monkeypatch)
    assert report(logged, tmp_path) == first
    assert (work.simulated, work.replays) == (0, 0)


@pytest.mark.slow
def test_a_page_that_somebody_changed_is_made_again(tmp_path: Path) -> None:
    first = report(FIRST, tmp_path)
    page = next(name for name in first if name.startswith("replays/"))
    (tmp_path / "site" / page).write_text("changed")
    assert report(FIRST, tmp_path) == first
    (tmp_path / "site" / page).unlink()
    assert report(FIRST, tmp_path) == first


@pytest.mark.slow
def test_damaged_entries_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = report(FIRST, tmp_path)
    (kept,) = (tmp_path / "kept").iterdir()
    whole = kept.read_bytes()
    for damaged in (b"", b"nothing of the kind", whole[: len(whole) // 2], whole.replace(b"x\x9c", b"y\x9c")):
        kept.write_bytes(damaged)
        assert report(FIRST, tmp_path) == first
    kept.write_bytes(whole.replace(b"x\x01", b"y\x01"))
    work = Work(monkeypatch)
    assert report(FIRST, tmp_path) == first
    assert work.simulated == len(FIRST)


@pytest.mark.slow
def test_other_prices_another_title_and_another_source_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(FIRST, tmp_path)
    titled = Work(monkeypatch)
    report(FIRST, tmp_path, title="another")
    assert (titled.simulated, titled.replays) == (0, len(FIRST))
    priced = Work(monkeypatch)
    report(FIRST, tmp_path, prices={FIRST[0].model: Price(1.0, 2.0, 0.5)})
    assert priced.simulated == sum(each.model == FIRST[0].model for each in FIRST)
    monkeypatch.setattr(cache_module, "source_digest", lambda: b"another version of waybench")
    changed = Work(monkeypatch)
    report(FIRST, tmp_path)
    assert (changed.simulated, changed.replays) == (len(FIRST), len(FIRST))


@pytest.mark.slow
def test_what_no_simulation_confirms_is_simulated_by_every_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = FIRST[0].record
    turns = tuple(turn._replace(message=f"{turn.message} and more") for turn in record.turns)
    forged = replace(FIRST[0], record=replace(record, turns=turns))
    report([forged, *FIRST[1:]], tmp_path)
    work = Work(monkeypatch)
    report([forged, *FIRST[1:]], tmp_path)
    assert work.simulated == 1


def test_a_row_is_all_that_is_read_back() -> None:
    assert cache_module.unpack_row(zlib.compress(pickle.dumps((print, ReportCache)))) is None
    assert cache_module.unpack_row(b"nothing") is None
    verified = replace(measured_row(FIRST[0]), declared_levels=range(5, 103, 2)), Simulated(confirmed=True)
    assert cache_module.unpack_row(cache_module.pack_values(verified)) == verified


def test_processes_give_results_in_order() -> None:
    program = (
        "import os\n"
        "from waybench.core import map_in_processes\n"
        "with map_in_processes(lambda number: (number, os.getpid()), 8, 2) as results:\n"
        "    found = list(results)\n"
        "print([number for number, _ in found], os.getpid() in {pid for _, pid in found})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr == ""
    assert done.stdout.split("] ")[0] + "]" == str(list(range(8)))
    assert done.stdout.strip().endswith("False" if sys.platform == "linux" else "True")


def test_a_killed_process_is_an_error_that_says_what_to_do() -> None:
    program = (
        "import os, signal\n"
        "from waybench.core import map_in_processes; from waybench.core._errors import LostWorkerError\n"
        "def work(number):\n"
        "    return number if number < 5 or os.getpid() == parent else os.kill(os.getpid(), signal.SIGKILL)\n"
        "parent = os.getpid()\n"
        "try:\n"
        "    with map_in_processes(work, 90, 2) as results:\n"
        "        print(sum(results))\n"
        "except LostWorkerError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr == ""
    if sys.platform == "linux":
        assert "killed, perhaps for want of memory" in done.stdout and "run the same command again" in done.stdout


def test_the_key_of_what_holds_a_function_does_not_depend_on_where_that_is_in_memory() -> None:
    def made() -> object:
        return lambda: 0

    first, other = made(), made()
    assert repr(first) != repr(other)
    assert content_key("kind", [first]) == content_key("kind", [other])
    assert content_key("kind", first) != content_key("kind", len)

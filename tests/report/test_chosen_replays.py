"""A large report has pages of some replays alone, and says how the others are made."""

import json
import re
from pathlib import Path

import pytest

from tests.analysis.episodes import played
from tests.report.pages import read
from waybench.reporting import _replays, write_report
from waybench.reporting._cache import open_cache
from waybench.reporting._replays import Replays

EPISODES = [*played("random", (5, 7), mazes=3), *played("oracle", (5, 7), mazes=3)]
LINK = re.compile(r'href="(?:\.\./replays/)?(index\.html\?)?([a-z0-9.-]+-[0-9]+\.html)[#"]')


def pages(folder: Path) -> set[str]:
    return {path.name for path in (folder / "replays").iterdir()}


def report(folder: Path, replays: Replays = _replays.BY_DEFAULT) -> set[str]:
    """Write a report and return the names of the pages of replays."""
    write_report(EPISODES, folder / "site", kept=open_cache(folder / "kept", folder / "site"), replays=replays)
    return pages(folder / "site")


@pytest.mark.slow
def test_only_some_replays_have_a_page_and_each_link_leads_somewhere(tmp_path: Path) -> None:
    every = report(tmp_path / "all", Replays(everything=True))
    assert len(every) == len(EPISODES)
    some = report(tmp_path, Replays(most=2))
    assert "index.html" in some
    written = some - {"index.html"}
    assert len(written) == 4  # two of each player
    assert written < every
    site = tmp_path / "site"
    linked: dict[bool, set[str]] = {True: set(), False: set()}
    for path in [*(site / "results").iterdir(), *(site / "replays" / name for name in written)]:
        for aside, name in LINK.findall(path.read_text(encoding="utf-8")):
            if name in every:
                linked[not aside].add(name)
    assert linked[True] == written
    assert linked[False] == every - written
    later = read(site / "replays" / "index.html")
    assert "waybench view LOGS" in later.text
    assert "waybench report LOGS --replays all" in later.text


def test_a_comparison_knows_which_replays_have_no_page(tmp_path: Path) -> None:
    written = report(tmp_path, Replays(most=1))
    (page,) = (tmp_path / "site" / "compare").iterdir()
    told = json.loads(re.findall(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)[0])
    for model, numbers in zip(told["models"], told["replays"], strict=True):
        stem = model["page"].removesuffix(".html")
        for number in numbers:
            assert (f"{stem}-{abs(number)}.html" in written) == (number > 0)
    assert {number > 0 for numbers in told["replays"] for number in numbers} == {True, False}


@pytest.mark.slow
def test_numbers_do_not_depend_on_the_pages(tmp_path: Path) -> None:
    report(tmp_path / "all")
    report(tmp_path / "few", Replays(most=0))
    for name in ("summary.json", "data/episodes.csv", "data/scores.csv", "table.md"):
        assert (tmp_path / "all" / "site" / name).read_bytes() == (tmp_path / "few" / "site" / name).read_bytes()


def test_what_was_opened_is_made_and_all_where_there_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = report(tmp_path)
    assert len(every) == len(EPISODES)
    monkeypatch.setattr(_replays, "MOST_OF_ALL", 5)  # of two groups
    some = report(tmp_path)
    assert len(some) == 5
    opened = min(every - some)
    assert report(tmp_path, Replays(also=frozenset({opened}))) == some | {opened}
    text = (tmp_path / "site" / "results" / re.sub(r"-\d+\.html$", ".html", opened)).read_text(encoding="utf-8")
    assert f"../replays/{opened}" in text
    assert f"?{opened}" not in text

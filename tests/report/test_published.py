"""The papers' rows beside a run's results: shown, marked, and in no number."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import waybench
from tests.analysis.episodes import logged
from tests.report.pages import Site
from waybench.core import play_to_end, policy
from waybench.reporting import write_report
from waybench.results import LoggedEpisode, by_level, overall
from waybench.results.estimates._difficulty import spreads_over_attempts, spreads_over_sets
from waybench.results.papers import ATTEMPTS, SETS, find_paper, find_table, papers
from waybench.results.published import match_published
from waybench.results.results import Row, group_by, rows

DFS = waybench.load("search/dfs")


def episodes(level: int = 8, **options: Any) -> Iterator[LoggedEpisode]:
    for model, player in (("vendor/model", "heuristic"), ("waybench/oracle", "oracle")):
        for item in DFS.source(level=level).head(4):
            yield logged(play_to_end(DFS, item, policy(player), options).record(), model, "dfs")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the folders of one report with the papers' rows and of the same without."""
    home = tmp_path_factory.mktemp("published")
    write_report(episodes(), home / "with", published=papers())
    write_report(episodes(), home / "without")
    return home / "with", home / "without"


def test_the_task_s_page_has_the_papers_rows_beside_its_own(folders: tuple[Path, Path]) -> None:
    page = Site(folders[0]).tasks["search-dfs"]
    assert "Published results (not run here)" in page.text
    section = page.text.partition("Published results (not run here)")[2]
    table = section.partition("Table 3, EASY, no examples")[2].partition("Table 8, EASY")[0]
    own, published = table.split("Published in Table 3, not run here")
    assert page.problems == []
    assert "vendor/" in own and "waybench/" in own
    assert "GPT-4-Turbo" in published and " 0.03 3.93 0.94" in published
    # HARD, examples and a teacher were not run, so that nothing could stand beside them.
    assert "Table 14" not in section and "Table 12" not in section and "Table 7" not in section


def test_no_published_number_is_in_an_estimate_a_comparison_or_a_chart(folders: tuple[Path, Path]) -> None:
    shown, plain = folders
    assert (shown / "summary.json").read_bytes() == (plain / "summary.json").read_bytes()
    for name in ("data/scores.csv", "data/episodes.csv", "charts/index.json", "table.md", "index.html"):
        assert (shown / name).read_bytes() == (plain / name).read_bytes(), name
    assert "Published results" not in (plain / "tasks" / "search-dfs.html").read_text("utf-8")
    assert not (plain / "data" / "published.csv").exists()


def test_all_published_numbers_are_in_the_data_folder(folders: tuple[Path, Path]) -> None:
    with (folders[0] / "data" / "published.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(list(paper.values())) for paper in papers()) > 1500
    [found] = [
        row
        for row in rows
        if (row["table"], row["env"], row["model"], row["metric"]) == ("table-3", "search/dfs", "Gemini-Pro", "g_sum")
    ]
    assert (found["paper"], found["level"], found["statistic"], float(found["value"])) == ("aqa", "8", "mean", 3.71)
    columns = (folders[0] / "data" / "columns.csv").read_text(encoding="utf-8")
    assert "published" in columns and "None of them was run here" in (folders[0] / "data" / "index.html").read_text()


def over_sets_and_attempts() -> Iterator[LoggedEpisode]:
    """Yield episodes of a random player over two sets of four items, and of two attempts at four items."""
    for key in ("one", "two"):
        for item in DFS.source(key, 8).head(4):
            yield logged(play_to_end(DFS, item, policy("random")).record(), "vendor/sets", "dfs")
    for item in DFS.source(level=8).head(4):
        for attempt in (1, 2):
            played = play_to_end(DFS, item, policy("random"), attempt=attempt).record()
            yield logged(played, "vendor/attempts", "dfs")


def test_averages_and_margins_stand_beside_the_published_ones() -> None:
    measured = rows(over_sets_and_attempts())
    levels = by_level(measured)
    spreads = {SETS: spreads_over_sets(levels), ATTEMPTS: spreads_over_attempts(measured)}
    for name, model in (("table-1", "vendor/sets"), ("table-8", "vendor/attempts")):
        table = find_table(find_paper("aqa"), name)
        [dfs] = [
            block
            for block in match_published(levels, overall(measured), [(find_paper("aqa"), table)], spreads)
            if block.block.env == "search/dfs"
        ]
        own = [[e.metrics["g_sum"].value for e in by_level(part)] for part in parts(measured, model)]
        sums = [value for [value] in own]
        average = fmean(sums)
        assert [(r.group.model, r.statistic, r.means[1]) for r in dfs.results] == [
            (model, "mean", pytest.approx(average)),
            (model, "margin_min", pytest.approx(average - min(sums))),
            (model, "margin_max", pytest.approx(max(sums) - average)),
        ]
        assert [row.statistic for row in dfs.rows] == ["mean", "margin_min", "margin_max"] * 2


def parts(measured: list[Row], model: str) -> list[list[Row]]:
    """Return the rows of one model by set and attempt."""
    own = [row for row in measured if row.group.model == model]
    return [list(part) for part in group_by(own, lambda row: (row.group.key, row.attempt)).values()]


def test_a_teacher_s_table_stands_beside_runs_with_a_teacher(tmp_path: Path) -> None:
    write_report(episodes(teacher_guided=True), tmp_path, published=papers())
    section = Site(tmp_path).tasks["search-dfs"].text.partition("Published results (not run here)")[2]
    assert "Table 7, EASY, teacher-guided" in section and "Table 3" not in section
    assert json.loads((tmp_path / "summary.json").read_text("utf-8"))["overall"]

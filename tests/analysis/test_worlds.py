"""Scores that are not comparable are in no table together (`Option.separate_tables`)."""

import json
import re
from functools import cache
from pathlib import Path

from tests.analysis.worlds import FIND, searched
from tests.report.pages import site
from waybench.results import LoggedEpisode, by_level, rows
from waybench.results.comparisons._models import compare_all_pairs
from waybench.results.estimates._measures import score_tables_text


@cache
def episodes() -> list[LoggedEpisode]:
    return [*searched("oracle", "own"), *searched("null", "luanti"), *searched("oracle", "luanti", "beta")]


def test_groups_say_what_keeps_them_apart() -> None:
    found = {(row.group.model, row.group.separate_by) for row in rows(episodes())}
    assert found == {
        ("alpha", ()),
        ("alpha", ("engine: luanti",)),
        ("beta", ("engine: luanti",)),
    }
    assert {option.name for option in FIND.items.options if option.separate_tables} == {"engine"}


def test_text_tables() -> None:
    own, other = score_tables_text(by_level(rows(episodes()))).split("\n\n")
    assert own.splitlines()[0].split("  ")[0] == FIND.title
    assert [line.split() for line in own.splitlines()[2:]] == [["alpha", "1.000"]]
    assert other.splitlines()[0].split("  ")[0] == f"{FIND.title}, engine: luanti"
    assert [line.split() for line in other.splitlines()[2:]] == [["beta", "1.000"], ["alpha", "0.500"]]


def test_no_pair_is_of_two_worlds() -> None:
    found = compare_all_pairs(rows(episodes()), ["score"])
    assert [(pair.groups[0].separate_by, pair.groups[1].separate_by) for pair in found] == [(("engine: luanti",),) * 2]


def test_the_report_has_a_section_and_a_page_for_each(tmp_path: Path) -> None:
    made = site(tmp_path, episodes())
    (apart,) = (name for name in made.tasks if name != "voxel-find")
    assert re.fullmatch(r"voxel-find-engine-luanti-[0-9a-f]{8}", apart)
    # Each is a family of its own with one task, so that its heading leads to the task's page.
    assert not (tmp_path / "families").exists()
    headings = re.findall(r'href="tasks/([^"]+)\.html"[^>]*>([^<]+)<', made.home.html)
    assert {("voxel-find", "Find a biome"), (apart, "Find a biome, engine: luanti")} <= set(headings)
    for name, title, models in (
        ("voxel-find", FIND.title, {"alpha"}),
        (apart, f"{FIND.title}, engine: luanti", {"alpha", "beta"}),
    ):
        page = made.tasks[name]
        assert re.findall(r"<h1>([^<]+)</h1>", page.html) == [title]
        assert {row[0] for row in page.table("Outcomes and cost")[2:]} == models
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert len(summary["overall"]) == 3

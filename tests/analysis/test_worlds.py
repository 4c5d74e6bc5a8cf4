"""Scores that are not comparable are in no table together (`Option.apart`)."""

import json
import re
from pathlib import Path

from tests.analysis.worlds import FIND, searched
from waybench.analysis import by_level, pairs, rows, text_table
from waybench.report import write_report

EPISODES = [*searched("oracle", "own"), *searched("null", "luanti"), *searched("oracle", "luanti", "beta")]


def test_groups_say_what_keeps_them_apart() -> None:
    found = {(row.group.model, row.group.apart) for row in rows(EPISODES)}
    assert found == {
        ("alpha", ()),
        ("alpha", ("engine: luanti",)),
        ("beta", ("engine: luanti",)),
    }
    assert {option.name for option in FIND.source_options if option.apart} == {"engine"}


def test_text_tables() -> None:
    own, other = text_table(by_level(rows(EPISODES))).split("\n\n")
    assert own.splitlines()[0].split("  ")[0] == FIND.title
    assert [line.split() for line in own.splitlines()[2:]] == [["alpha", "1.000"]]
    assert other.splitlines()[0].split("  ")[0] == f"{FIND.title}, engine: luanti"
    assert [line.split() for line in other.splitlines()[2:]] == [["beta", "1.000"], ["alpha", "0.500"]]


def test_no_pair_is_of_two_worlds() -> None:
    found = pairs(rows(EPISODES), ["score"])
    assert [(pair.first.apart, pair.second.apart) for pair in found] == [(("engine: luanti",),) * 2]


def test_the_report_has_a_section_for_each(tmp_path: Path) -> None:
    page = write_report(EPISODES, tmp_path).read_text(encoding="utf-8")
    ids = re.findall(r'<h2 id="([^"]+)">([^<]+)', page)
    assert ids == [
        ("voxel-find-family", "Find a biome (after SmartPlay)"),
        ("voxel-find", FIND.title),
        ("voxel-findengine-luanti-family", "Find a biome (after SmartPlay), engine: luanti"),
        ("voxel-findengine-luanti", f"{FIND.title}, engine: luanti"),
    ]
    parts = re.split(r'<section class="environment"', page)[1:]
    assert [("alpha" in part, "beta" in part) for part in parts] == [(True, False)] * 2 + [(True, True)] * 2
    assert all(f'href="#{target}"' in part for part, (target, _) in zip(parts[::2], ids[1::2], strict=True))
    everything = re.findall(r' id="([^"]+)"', page)
    assert len(everything) == len(set(everything))
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert len(summary["overall"]) == 3

"""The ledger's page and the wordings on a task's page."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest

from tests.analysis.episodes import failed, logged, played, said
from tests.report.pages import Page, Site, read
from waybench.core import Price, Usage
from waybench.reporting import write_report
from waybench.reporting._format import three_digit_text
from waybench.results import LoggedEpisode

HOSTILE = "vendor/<img src=x onerror=alert(1)>\u202e"


def run(
    player: str, model: str, usage: Usage | None, mazes: int = 12, wording: str = "matrix", **settings: str | float
) -> list[LoggedEpisode]:
    """Return what a player does at some mazes, each reply with the same tokens."""
    found = played(player, (5,), mazes=mazes, model=model, wording=wording)
    return [
        replace(
            each,
            record=replace(each.record, turns=tuple(turn._replace(usage=usage) for turn in each.record.turns)),
            settings=settings,
        )
        for each in found
    ]


def made(out: Path, episodes: Sequence[LoggedEpisode], prices: dict[str, Price] | None = None) -> Site:
    write_report(episodes, out, prices=prices)
    return Site(out)


def page_of(site: Site) -> Page:
    return read(site.folder / "ledger" / "index.html")


def test_what_each_took_and_settings_without_effect(tmp_path: Path) -> None:
    low, high = Usage(1000, 100, 50, 250, 2.0, "m-2026"), Usage(1000, 100, 50, 0, 2.0)
    episodes = [
        *run("oracle", "vendor/m", low, reasoning_effort="low"),
        *run("oracle", "vendor/m", high, reasoning_effort="high"),
        *run("oracle", "vendor/free", None, 3),
        *played("oracle", (5,)),
        logged(failed(said(["a", "b"])), "vendor/free"),
    ]
    site = made(tmp_path, episodes, {"vendor/m": Price(1.0, 10.0, 1.0)})
    page = page_of(site)
    head, *lines = page.table("Ledger.")
    assert head[-1] == "Solved per dollar"
    assert [line[0].split()[1] for line in lines] == ["free", "m", "m"]
    free, first, second = lines
    assert free[2].startswith("3 of 3 items 3 attempts 0 with tokens 1 error")
    assert free[3:] == ["–"] * 7
    assert "reasoning effort: low" in first[1]
    assert "answered by m-2026" in first[1]
    assert first[2:4] == ["12 of 12 items 12 attempts", "12,000 25.0 % cached"]
    assert first[4:8] == ["1,200", "50", "24", "$0.024"]
    # One maze for 1,100 tokens, and 12 for 0.024 dollars.
    assert first[8].split()[0] == "0.909"
    assert first[9].split()[0] == "500"
    assert "reasoning effort: high: no effect seen: identical replies on 12 of 12 items (against low)" in second[1]
    assert "no effect" not in first[1]
    (effect,) = page.table("Effects of settings.")[1:]
    assert effect[1:5] == ["reasoning effort: low", "reasoning effort: high", "12", "12"]
    assert effect[-1] == "no effect seen"
    assert "No price is known for" not in page.text  # what nobody counted has none
    assert "ledger/index.html" in site.home.links("ledger/")
    assert "29,500" not in page.text
    assert "26,400 tokens, $0.048" in page.text


def test_models_without_a_price_are_named(tmp_path: Path) -> None:
    usage = Usage(10, 1)
    episodes = [*run("oracle", "vendor/a", usage, 2), *run("oracle", HOSTILE, usage, 2), *played("oracle", (5,))]
    report = write_report(episodes, tmp_path, prices={"vendor/a": Price(1, 1, 1)})
    assert report.unpriced == (HOSTILE,)
    page = page_of(Site(tmp_path))
    assert "No price is known for" in page.text
    assert "onerror=alert(1)>⟨U+202E⟩" in page.text
    assert write_report(episodes, tmp_path / "again").unpriced == ()
    plain = page_of(Site(tmp_path / "again"))
    assert "No price is known for" not in plain.text
    assert "Cost" not in plain.table("Ledger.")[0]


def test_several_models_that_answered_are_told(tmp_path: Path) -> None:
    episodes = [
        *run("oracle", "vendor/m", Usage(10, 1, model="m-1"), 2),
        *run("oracle", "vendor/m", Usage(10, 1, model="<b>m-2</b>"), 3)[2:],
    ]
    page = page_of(made(tmp_path, episodes))
    assert "several models answered: m-1 (2 episodes), <b>m-2</b> (1 episode)" in page.text


def test_embedded_players_have_no_ledger(tmp_path: Path) -> None:
    site = made(tmp_path, played("oracle", (5,)))
    assert not (tmp_path / "ledger").exists()
    assert not site.home.links("ledger/")
    assert "Wordings" not in site.task.text


def test_wordings_on_a_tasks_page(tmp_path: Path) -> None:
    usage = Usage(10, 1)
    episodes = [
        *run("oracle", "vendor/m", usage, 6),
        *run("null", "vendor/m", usage, 6, wording="ascii"),
        logged(failed(said(["a"], level=7)), "vendor/m"),
        *run("oracle", "vendor/one", usage, 6),
    ]
    site = made(tmp_path, episodes)
    head, *lines = site.task.table("Wordings: the same mazes")
    assert head == ["Model", "Wording", "Score, % ↑", "Difference", "p"]
    assert len(lines) == 3
    assert lines[0][0] == "vendor/ m 6 mazes range 100.0"
    assert lines[0][1].startswith("matrix reference 1 infrastructure error")
    assert lines[0][2].split()[0] == "100.0"
    assert lines[1][0] == "ascii"
    assert lines[1][1].split()[0] == "0.0"
    assert lines[1][2].startswith("−100.0")
    assert lines[1][3] == "0.016"  # one of 64 ways to choose signs: half of the two that are as extreme
    assert lines[2][:2] == ["the worst at each maze", lines[1][1]]


def test_for_programs(tmp_path: Path) -> None:
    usage = Usage(10, 1)
    episodes = [
        *run("oracle", HOSTILE, usage, 3, effort="low"),
        *run("oracle", HOSTILE, usage, 3, effort="high"),
        *run("null", HOSTILE, usage, 3, wording="ascii", effort="low"),
    ]
    site = made(tmp_path, episodes, {HOSTILE: Price(1, 1, 1)})
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    schema = json.loads((tmp_path / "data" / "summary.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(summary, schema)
    assert [entry["attempts"] for entry in summary["ledger"]] == [3, 3, 9]
    (effect,) = summary["effects"]
    assert effect["verdict"] == "cannot tell"
    assert {effect["first"], effect["second"]} < {one["page"] for one in summary["overall"]}
    (found,) = summary["wordings"]
    assert [one["name"] for one in found["wordings"]] == ["matrix", "ascii"]
    for name, count in (("ledger", 3), ("effects", 1), ("wordings", 2)):
        table = pq.read_table(tmp_path / "data" / f"{name}.parquet")
        assert table.num_rows == count
        assert f"Columns of {name}." in read(tmp_path / "data" / "index.html").text
    assert site.pages


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.00123456, "0.00123"), (45.61, "45.6"), (1234.5, "1,234"), (1.0, "1.00"), (12e6, "12,000,000")],
)
def test_numbers_of_any_size(value: float, text: str) -> None:
    assert three_digit_text(value) == text

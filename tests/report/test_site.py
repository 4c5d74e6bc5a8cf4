import json
import os
import re
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest

from tests.analysis.episodes import detour, failed, item, logged, played, said
from tests.report.pages import Page, read
from waybench.analysis import LoggedEpisode, estimate
from waybench.core import End, UsageError
from waybench.report import SUMMARY_SCHEMA, write_report


def site(out: Path, episodes: list[LoggedEpisode]) -> tuple[Page, list[Page]]:
    home = write_report(episodes, out)
    assert home == out / "index.html"
    return read(home), [read(path) for path in sorted((out / "models").iterdir())]


def model_page(out: Path, episodes: list[LoggedEpisode]) -> Page:
    (page,) = site(out, episodes)[1]
    return page


def rows_of(page: Page, marker: str) -> list[list[str]]:
    """Return the cells' texts of the table whose caption has a marker."""
    table = next(part for part in page.html.split("<table")[1:] if marker in part).split("</table>")[0]
    return [
        [
            " ".join(re.sub(r"<[^>]*>", " ", cell).split())
            for cell in re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    ]


def test_home_has_the_estimates_and_leaves_blank_what_was_not_run(tmp_path: Path) -> None:
    episodes = [
        *played("heuristic", (5, 7, 9), model="vendor/walker"),
        *played("oracle", (5, 7)),
        *played("null", (5, 7)),
    ]
    page, models = site(tmp_path, episodes)
    found = {(e.group.model, e.level): e for e in estimate(episodes)}
    table = rows_of(page, "by dimension.")
    assert table[0] == ["Model", "5", "7", "9"]
    assert [row[0] for row in table[1:]] == [
        *("vendor/ walker", "Reference players, not models"),
        *("waybench/ oracle", "waybench/ null"),
    ]
    for column, level in enumerate((5, 7, 9), start=1):
        best, single = found["vendor/walker", level].best, found["vendor/walker", level].single
        assert best is not None
        assert single is not None
        ends = f" {single.low:.1f} – {single.high:.1f}" if single.low is not None else ""
        assert table[1][column] == f"{best.value:.1f} {single.value:.1f}{ends}"
    assert table[3] == ["waybench/ oracle", "100.0 100.0 43.9 – 100.0", "100.0 100.0 43.9 – 100.0", ""]
    assert table[4] == ["waybench/ null", "0.0 0.0 0.0 – 56.1", "", ""]
    assert len(models) == 3


def test_conduct_counts_errors_apart(tmp_path: Path) -> None:
    wall = '{"movements": [{"direction": "up", "cells": 9}]}'
    episodes = [
        logged(said(["hm", wall, ""], level=5)),
        logged(failed(detour(item(5, 1), 2), "Timeout <b>after</b> 600 s")),
        logged(failed(detour(item(5, 0), 2, 2))),
    ]
    home, (page,) = site(tmp_path, episodes)
    conduct = rows_of(home, "How it went")[2]
    assert conduct[1:10] == ["1", "1", "0.0", "66.7", "33.3", "0.0", "0.0", "0.0", "3.0"]
    assert conduct[-1] == "2"
    assert "Some mazes are missing or had fewer attempts" in home.text
    assert "Timeout <b>after</b> 600 s" in page.text
    errors = rows_of(page, "What happened")
    assert [row[:2] for row in errors[1:]] == [["501", "2"], ["502", "1"]]
    assert "missing" in page.text
    assert "Incomplete" in page.text


def test_settings_are_rows_of_their_own(tmp_path: Path) -> None:
    episodes = [*played("oracle", (5,), mazes=1, model="m"), *played("null", (5,), mazes=1, model="m", wording="ascii")]
    home, models = site(tmp_path, episodes)
    table = rows_of(home, "by dimension.")
    assert [row[0] for row in table[1:]] == ["m wording: matrix", "m wording: ascii"]
    assert "protocol: paper" in home.text
    assert "key: alicia-v1" in home.text
    assert len(models) == 2
    assert all("exit hint: default" in model.text for model in models)


def test_model_page_shows_every_maze_with_its_attempts(tmp_path: Path) -> None:
    episodes = played("random", (5, 7), mazes=4)
    page = model_page(tmp_path, episodes)
    assert len(page.all("article")) == len({e.record.item["id"] for e in episodes})
    for episode in episodes:
        for turn in episode.record.turns:
            assert f"<pre>{escape(turn.reply)}</pre>".replace("&quot;", "&#34;") in page.html
        assert f"Maze {episode.record.item['id']}" in page.text
    shown = [attributes for attributes in page.all("svg") if "maze" in attributes.get("class", "")]
    assert len(shown) == len(episodes)  # one for each attempt: the best at the top, the others in their details
    assert len(page.all("use")) == len(episodes) - len(page.all("article"))
    assert "I need to navigate through a maze" in page.text


def test_path_of_the_best_attempt_is_what_happened(tmp_path: Path) -> None:
    maze = item(7)
    page = model_page(tmp_path, [logged(detour(maze, 4, 1)), logged(detour(maze, 2, 2))])
    first = page.html.index('class="maze"')
    label = page.html[first : page.html.index(">", first)]
    assert f"{maze.proof['minimum'] + 2} steps walked in 1 request" in label
    assert "Drawn: attempt 2." in page.text


def test_a_record_that_does_not_agree_says_so(tmp_path: Path) -> None:
    record = detour(item(7), 2)
    forged = replace(record, turns=(record.turns[0]._replace(events={**record.turns[0].events, "moved": 1}),))
    no_maze = replace(detour(item(7, 1), 2), instance={"maze": [[1, "<b>"]]})
    odd = replace(detour(item(7, 2), 2), options={**record.options, "wording": ["x"]})
    page = model_page(tmp_path, [logged(forged), logged(no_maze)])
    assert page.text.count("The record does not agree with a new simulation") == 2
    assert "turn 0: events" in page.text
    assert page.text.count("<Maze map>") >= 2  # the maze without a drawing shows what the player saw
    write_report([logged(odd), logged(detour(item(7), 0))], tmp_path / "odd")
    home = (tmp_path / "odd" / "index.html").read_text(encoding="utf-8")
    assert "Set aside, since their records do not agree with a new simulation" in home


def test_a_forged_end_gives_no_score(tmp_path: Path) -> None:
    failure = said(["hm", "hm", "hm"], level=5)
    turn = detour(item(5), 0).turns[0]._replace(reply="trust me")
    forged = replace(failure, end=End.SOLVED, turns=(turn,))
    good = detour(item(5, 1), 2)
    home, models = site(tmp_path, [logged(forged), logged(good), logged(forged, model="vendor/other")])
    assert "Set aside, since their records do not agree with a new simulation" in home.text
    notice = home.html.split("Set aside, since")[1].split("</p>")[0]
    assert notice.count("1 episode of") == 2
    assert "counts in no number" in home.text
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [(told["items"], told["unconfirmed"]) for told in summary["overall"]] == [(1, 1), (0, 1)]
    assert summary["overall"][1]["best"] is None
    assert sum(page.text.count("does not replay") for page in models) == 2
    honest, _ = site(tmp_path / "honest", [logged(good)])
    assert "Set aside" not in honest.text


def test_only_what_is_certain_is_said_of_attempts(tmp_path: Path) -> None:
    home, _ = site(tmp_path, played("oracle", (5,)))
    assert "Dimension 5, 3 mazes; at most one attempt was made at a maze, and none counts after a perfect" in home.text
    home, _ = site(tmp_path, played("null", (5,)))
    assert "at most 3 attempts were made at a maze, and none counts after a perfect one." in home.text


def test_tokens_that_nobody_counted_are_no_zero(tmp_path: Path) -> None:
    home, (page,) = site(tmp_path, [logged(detour(item(), 2))])
    assert rows_of(home, "How it went")[2][-4:-1] == ["–", "–", "–"]
    assert rows_of(page, "By dimension.")[1][-4:-1] == ["–", "–", "–"]


def test_settings_of_the_model_are_shown(tmp_path: Path) -> None:
    cool, warm = logged(detour(item(), 2)), logged(detour(item(), 0))
    episodes = [
        replace(cool, settings={"temperature": 0.0, "seed": 7}),
        replace(warm, settings={"temperature": 1.0, "seed": 7}),
    ]
    home, models = site(tmp_path, episodes)
    names = [row[0] for row in rows_of(home, "by dimension.")[1:]]
    assert names == ["vendor/ model temperature: 1.0", "vendor/ model temperature: 0.0"]
    assert "seed: 7" in home.text
    assert all("temperature: " in page.text and "seed: 7" in page.text for page in models)


def test_summary_for_programs(tmp_path: Path) -> None:
    episodes = [*played("random", (5,)), logged(failed(detour(item(9), 2)))]
    write_report(episodes, tmp_path, title="A title")
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["schema"], summary["title"], SUMMARY_SCHEMA) == (1, "A title", 1)
    for told, found in zip(summary["levels"], estimate(episodes), strict=True):
        assert told["group"]["model"] == found.group.model
        assert told["group"]["options"]["wording"] == "matrix"
        assert (told["level"], told["items"], told["errors"]) == (found.level, found.items, found.errors)
        assert (told["best"] or {}).get("value") == (found.best.value if found.best else None)
        assert (tmp_path / told["page"]).is_file()
    assert summary["levels"][-1]["best"] is None
    assert [told["level"] for told in summary["overall"]] == [None, None]


def test_a_later_report_in_the_same_folder_leaves_no_page_behind(tmp_path: Path) -> None:
    write_report([*played("null", (5,)), *played("oracle", (5,))], tmp_path)
    (tmp_path / "models" / "mine.html").write_text("not of a report")
    write_report(played("oracle", (5,)), tmp_path)
    names = {path.name for path in (tmp_path / "models").iterdir()}
    assert len(names) == 2
    assert "mine.html" in names


def test_only_pages_of_the_folder_are_ever_removed(tmp_path: Path) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (tmp_path / "precious.html").write_text("x")
    (out / "summary.json").write_text(
        json.dumps({"overall": [{"page": "models/../../precious.html"}, {"page": "/etc/passwd"}, {"page": 5}]})
    )
    write_report(played("null", (5,), mazes=1), out)
    assert (tmp_path / "precious.html").exists()


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no episodes to report: run a task first"):
        write_report([], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot write the report to .*: give another folder") as error:
        write_report(played("null", (5,), mazes=1), tmp_path / "file" / "site")
    assert "\n" not in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="Permission denied"):
        write_report(played("null", (5,), mazes=1), tmp_path / "site")


def test_a_failed_write_leaves_the_old_page_and_no_scraps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = write_report(played("null", (5,), mazes=1), tmp_path)
    before = home.read_text()

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_report(played("oracle", (5,), mazes=1), tmp_path)
    assert home.read_text() == before
    assert not [path for path in tmp_path.rglob(".*")]


def test_same_episodes_same_site(tmp_path: Path) -> None:
    episodes = played("random", (5, 7), mazes=2)
    for name in ("a", "b"):
        write_report(iter(episodes), tmp_path / name)
    made = [sorted((p.relative_to(tmp_path / n), p.read_bytes()) for p in (tmp_path / n).rglob("*.*")) for n in "ab"]
    assert made[0] == made[1]


def test_pages_are_semantic(tmp_path: Path) -> None:
    home, models = site(tmp_path, [*played("random", (5, 7)), *played("oracle", (5,), model="m")])
    for page in (home, *models):
        tags = {tag for tag, _ in page.elements}
        assert {"main", "header", "footer", "h1", "h2", "caption", "thead", "tbody"} <= tags
        assert all(attributes.get("scope") for attributes in page.all("th"))
        assert page.all("html") == [{"lang": "en"}]
        assert all(attributes.get("aria-label") for attributes in page.all("svg"))
        scrolls = [a for a in page.all("div") if a.get("class") == "scroll"]
        assert scrolls
        assert all(a["tabindex"] == "0" and a["role"] == "region" for a in scrolls)
        assert "prefers-color-scheme: dark" in page.html


def test_large_boards_stay_small(tmp_path: Path) -> None:
    maze = item(101)
    page = model_page(tmp_path, [logged(detour(maze, 2 * extra + 2, extra)) for extra in (1, 2, 3)])
    walls = page.html.count('class="maze-floor"')
    assert walls == 1
    boards = re.findall(r'<svg class="maze.*?</svg>', page.html, re.DOTALL)
    assert len(boards) == 3
    assert len(boards[0]) < 25_000
    assert all(len(board) < 5_000 for board in boards[1:])

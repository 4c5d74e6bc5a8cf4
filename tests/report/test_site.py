import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis.episodes import detour, estimate, failed, item, logged, played, said
from tests.analysis.searches import searched
from tests.report.pages import FOLDERS, Page, read, site
from waybench.core import End, UsageError
from waybench.reporting import write_report
from waybench.reporting._exports import SUMMARY_SCHEMA
from waybench.reporting._files import SCRIPTS
from waybench.reporting._write import Report
from waybench.results.formatting import LOST
from waybench.results.logs import Skipped


def test_scores_by_level_are_the_estimates_and_blank_what_was_not_run(tmp_path: Path) -> None:
    episodes = [
        *played("heuristic", (5, 7, 9), model="vendor/walker"),
        *played("oracle", (5, 7)),
        *played("null", (5, 7)),
    ]
    made = site(tmp_path, episodes)
    found = {(e.group.model, e.level): e for e in estimate(episodes)}
    table = made.task.table("Score, %, by dimension.")
    assert table[0] == ["Model", "5", "7", "9"]
    assert [row[0] for row in table[1:]] == [
        *("vendor/ walker", "Reference players, not models"),
        *("waybench/ oracle", "waybench/ null"),
    ]
    for column, level in enumerate((5, 7, 9), start=1):
        best, single = found["vendor/walker", level].best, found["vendor/walker", level].single
        assert best is not None
        assert single is not None
        assert single.low is None
        assert table[1][column] == f"{best.value:.1f} {single.value:.1f} {found['vendor/walker', level].few_items}"
    assert table[3] == ["waybench/ oracle", *["100.0 100.0 3 items: 3 solved"] * 2, ""]
    assert table[4] == ["waybench/ null", "0.0 0.0 3 items: 0 solved", "", ""]
    assert (len(made.models), len(made.results)) == (3, 3)
    assert len(made.replays) == len(episodes)


def test_the_first_page_says_in_two_sentences_what_there_is(tmp_path: Path) -> None:
    claimed = replace(detour(item(5, 3), 0), instance_hash="0" * 64)
    episodes = [
        *played("null", (5,), mazes=2, model="vendor/a"),
        *searched("random", "dfs", model="vendor/a"),
        *searched("oracle", "guessnum"),
        logged(failed(detour(item(5, 2), 2)), "vendor/b"),
        logged(claimed, "vendor/b"),
    ]
    made = site(tmp_path, episodes)
    lead = " ".join(made.home.html.split('<p class="lead">')[1].split("</p>")[0].split())
    # Two mazes of three attempts, two lost ones, and three cases each of two searches.
    assert lead == (
        "2 models and 1 reference player on 10 items from 3 tasks in 2 families. All 14 episodes were re-simulated. "
        "Every number is a mean over items with its 95 % interval. 1 infrastructure error is excluded, and so is 1 "
        "episode that re-simulation does not confirm."
    )
    alone = site(tmp_path / "alone", played("oracle", (5,), mazes=1)).home.text
    assert "1 reference player on 1 item from 1 task. The episode was re-simulated. Every" in " ".join(alone.split())
    assert "No infrastructure error occurred." in alone


def test_the_first_page_leads_to_every_task(tmp_path: Path) -> None:
    made = site(tmp_path, [*played("null", (5,)), *searched("oracle", "dfs"), *searched("oracle", "bfs")])
    assert made.home.links("tasks/") == {f"tasks/{name}.html" for name in ("maze-alicia", "search-dfs", "search-bfs")}
    assert set(made.tasks) == {"maze-alicia", "search-dfs", "search-bfs"}
    assert made.home.links("families/") == {"families/search-dfs.html"}
    assert made.tasks["search-bfs"].links("../families/") == {"../families/search-dfs.html"}
    assert made.tasks["maze-alicia"].links("../families/") == set()
    said = " ".join(made.home.text.split())
    assert "(AQA-Bench): Per-step accuracy by step, level 5. Details and numbers of" in said, said
    assert made.scores.links("../results/") == {f"../results/{path.name}" for path in (tmp_path / "results").iterdir()}
    assert made.home.links("models/") == {f"models/{path.name}" for path in (tmp_path / "models").iterdir()}
    # The tables that are on the tasks' pages are on no other one.
    for marker in ("In bold, the mean over", "Outcomes and cost"):
        assert marker not in made.home.text


def test_conduct_counts_errors_apart(tmp_path: Path) -> None:
    wall = '{"movements": [{"direction": "up", "cells": 9}]}'
    episodes = [
        logged(said(["hm", wall, ""], level=5)),
        logged(failed(detour(item(5, 1), 2), "Timeout <b>after</b> 600 s"), log="a\\b/run.eval"),
        logged(failed(detour(item(5, 0), 2, 2))),
    ]
    made = site(tmp_path, episodes)
    conduct = made.task.table("Outcomes and cost")[2]
    assert conduct[1:11] == ["1", "1", "0.0 n = 1 of 3; 0.0 to 75.0", "66.7", "33.3", "3.0", "2"]
    for absent in ("Truncated", "Overflow", "Tokens in", "Seconds"):  # no reply has them
        assert absent not in " ".join(" ".join(line) for line in made.task.table("Outcomes and cost")[:2])
    assert LOST in made.task.text
    errors = made.result.table("What happened")
    assert errors[1:] == [
        ["501", "2", "RateLimitError: 429", ""],
        ["502", "1", "Timeout <b>after</b> 600 s", "run.eval"],
    ]
    assert "missing" in made.result.text
    assert "Incomplete" in made.result.text
    told = [page.text for page in made.replays if "Excluded from scores" in page.text]
    assert sum("Excluded from scores: Timeout <b>after</b> 600 s" in text for text in told) == 1
    assert len(told) == 2
    assert all("Ended: infrastructure error." in text for text in told)


def test_settings_are_rows_of_their_own(tmp_path: Path) -> None:
    episodes = [*played("oracle", (5,), mazes=1, model="m"), *played("null", (5,), mazes=1, model="m", wording="ascii")]
    made = site(tmp_path, episodes)
    table = made.task.table("Score, %, by dimension.")
    assert [row[0] for row in table[1:]] == ["m wording: matrix", "m wording: ascii"]
    assert "protocol: paper" in made.task.text
    assert "key: alicia-v1" in made.task.text
    assert (len(made.models), len(made.results)) == (1, 2)
    assert all("exit hint: default" in page.text for page in made.results)
    assert [sum(f"wording: {name}" in page.text for page in made.results) for name in ("matrix", "ascii")] == [1, 1]


def test_a_forged_end_gives_no_score(tmp_path: Path) -> None:
    failure = said(["hm", "hm", "hm"], level=5)
    turn = detour(item(5), 0).turns[0]._replace(reply="trust me")
    forged = replace(failure, end=End.SOLVED, turns=(turn,))
    good = detour(item(5, 1), 2)
    episodes = [logged(forged), logged(good), logged(forged, model="vendor/other")]
    made = site(tmp_path, episodes)
    assert "Excluded, since their records do not agree with the re-simulation" in made.task.text
    notice = made.task.html.split("Excluded, since")[1].split("</p>")[0]
    assert notice.count("1 episode of") == 2
    assert "so are 2 episodes that re-simulation does not confirm" in made.home.text
    assert all("are excluded" in page.text for page in made.pages)
    again = write_report(episodes, tmp_path / "again")
    assert replace(again, rows=()) == Report(tmp_path / "again" / "index.html", 3, 2)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [(told["items"], told["unconfirmed"]) for told in summary["overall"]] == [(1, 1), (0, 1)]
    assert summary["overall"][1]["best"] is None
    assert sum(page.text.replace(LOST, "").count("does not replay") for page in made.results) == 2
    assert sum("This episode is excluded" in page.text for page in made.replays) == 2
    honest = site(tmp_path / "honest", [logged(good)])
    assert not [
        page for page in honest.pages if "Excluded, since" in page.text or "This episode is excluded" in page.text
    ]


def test_only_what_is_certain_is_said_of_attempts(tmp_path: Path) -> None:
    once = site(tmp_path / "once", played("oracle", (5,)))
    thrice = site(tmp_path / "thrice", played("null", (5,)))
    assert "Dimension 5, 3 mazes; at most one attempt at each maze, none after a per" in once.task.text
    assert "at most 3 attempts at each maze, none after a perfect one." in thrice.task.text


def test_tokens_that_nobody_counted_are_no_zero(tmp_path: Path) -> None:
    made = site(tmp_path, [logged(detour(item(), 2))])
    for table in (
        made.task.table("Outcomes and cost"),
        made.result.table("By dimension."),
        made.scores.table("Models."),
    ):
        assert "Tokens" not in " ".join(" ".join(line) for line in table[:2])


def test_settings_of_the_model_are_shown(tmp_path: Path) -> None:
    cool, warm = logged(detour(item(), 2)), logged(detour(item(), 0))
    episodes = [
        replace(cool, settings={"temperature": 0.0, "seed": 7}),
        replace(warm, settings={"temperature": 1.0, "seed": 7}),
    ]
    made = site(tmp_path, episodes)
    names = [row[0] for row in made.task.table("by dimension.")[1:]]
    assert names == ["vendor/ model temperature: 0.0", "vendor/ model temperature: 1.0"]
    assert "seed: 7" in made.task.text
    assert all("temperature: " in page.text and "seed: 7" in page.text for page in made.results)


def test_summary_for_programs(tmp_path: Path) -> None:
    episodes = [*played("random", (5,)), logged(failed(detour(item(9), 2)))]
    write_report(episodes, tmp_path, title="A title")
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["schema"], summary["title"], SUMMARY_SCHEMA) == (2, "A title", 2)
    for told, found in zip(summary["levels"], estimate(episodes), strict=True):
        assert told["group"]["model"] == found.group.model
        assert told["group"]["options"]["wording"] == "matrix"
        assert (told["level"], told["items"], told["errors"]) == (found.level, found.items, found.errors)
        assert (told["best"] or {}).get("value") == (found.best.value if found.best else None)
        assert told["page"].startswith("results/")
        assert (tmp_path / told["page"]).is_file()
    assert summary["levels"][-1]["best"] is None
    assert [told["level"] for told in summary["overall"]] == [None, None]


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
    home = write_report(played("null", (5,), mazes=1), tmp_path).index
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
    made = site(tmp_path, [*played("random", (5, 7)), *played("oracle", (5,), model="m")])

    def check(page: Page, *tags: str) -> None:
        assert {"main", "header", "footer", "h1", *tags} <= {tag for tag, _ in page.elements}
        assert all(attributes.get("scope") for attributes in page.all("th"))
        assert page.all("html") == [{"lang": "en"}]
        assert all(attributes.get("aria-label") for attributes in page.all("svg"))
        scrolls = [a for a in page.all("div") if a.get("class") == "scroll"]
        assert len(scrolls) == len(page.all("table"))
        assert all(a["tabindex"] == "0" and a["role"] == "region" for a in scrolls)

    for page in (made.home, *made.results):
        check(page, "h2", "caption", "thead", "tbody")
    for page in (*made.tasks.values(), *made.models):
        check(page, "caption", "thead", "tbody")
    for page in made.replays:
        check(page, "h2", "output")
    style = (tmp_path / "assets" / "style.css").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in style
    assert "url(" not in style
    assert "@import" not in style


def test_every_page_is_reached_from_the_first_one(tmp_path: Path) -> None:
    claimed = replace(said(["a", "b", "c"], level=5, number=3), instance_hash="0" * 64)
    two = [*searched("oracle", "dfs"), *searched("null", "dfs")]
    episodes = [*played("random", (5,)), *two, *searched("null", "bfs"), logged(claimed, "other")]
    write_report(episodes, tmp_path)
    wanted = {path for path in tmp_path.rglob("*") if path.is_file() and path.parent.name not in ("assets", "charts")}
    reached, waiting = set[Path](), {tmp_path / "index.html"}
    while waiting:
        path = waiting.pop()
        reached.add(path)
        if path.suffix == ".html":
            links = {a["href"].partition("#")[0] for a in read(path).all("a")}
            waiting |= {Path(os.path.normpath(path.parent / link)) for link in links if link} - reached
    assert reached == wanted | {tmp_path / "charts" / "index.json"}


def test_nothing_is_on_disk_but_the_site(tmp_path: Path) -> None:
    write_report([*played("null", (5,), mazes=1, model="a/null"), *played("oracle", (5,), mazes=1)], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        # Mazes belong to no clusters with drawings, are no game of agents, and are alone in their family.
        *({*FOLDERS} - {"clusters", "agents", "families"}),
        *("assets", "charts", "data"),
        *("index.html", "summary.json", "table.md"),
    }
    assert {path.name for path in (tmp_path / "assets").iterdir()} == {
        *("style.css", "datatables.js", "files.json", *SCRIPTS),
    }


def test_records_that_cannot_be_measured_are_named_and_counted(tmp_path: Path) -> None:
    broken = replace(logged(replace(detour(item(), 2), item={"id": "501"})), log="/some/run.eval", sample="501-1")
    read = [Skipped("/some/other.eval", "<b>7</b>", "torn"), Skipped("/some/cut.eval", "", "no log")]
    made = write_report([*played("null", (5,), mazes=1), broken], tmp_path, passed_over=read)
    assert made.episodes == 3
    assert [(one.log, one.sample) for one in made.passed_over] == [
        *(("/some/other.eval", "<b>7</b>"), ("/some/cut.eval", "")),
        ("/some/run.eval", "501-1"),
    ]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["skipped"][:2] == [
        {"log": "other.eval", "sample": "<b>7</b>", "error": "torn"},
        {"log": "cut.eval", "sample": None, "error": "no log"},
    ]
    assert "cannot be measured" in summary["skipped"][2]["error"]
    page = (tmp_path / "index.html").read_text()
    assert "3 samples and files could not be read" in page
    assert "run.eval, sample 501-1: " in page
    assert "<b>7</b>" not in page


def test_without_an_episode_that_can_be_measured_there_is_no_report(tmp_path: Path) -> None:
    broken = replace(detour(item(), 2), item={"id": "501"})
    with pytest.raises(UsageError, match="none of the 1 episodes can be measured"):
        write_report([logged(broken)], tmp_path / "site")
    assert not (tmp_path / "site").exists()

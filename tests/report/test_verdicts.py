"""Verdicts on models two by two, and how attempts failed: on pages, and for programs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import detour, failed, item, logged, played, said
from tests.analysis.searches import searched
from tests.analysis.test_agents import played as pulled
from tests.envs.tilemap.maps import after
from tests.envs.tilemap.maps import said as plan
from tests.report.pages import Page, Site, site
from waybench.core import Reply
from waybench.results import LoggedEpisode

WALL = '{"movements": [{"direction": "up", "cells": 9}]}'


def solved(model: str, count: int) -> list[LoggedEpisode]:
    return [logged(detour(item(5, number), 0), model) for number in range(count)]


def unread(model: str, count: int, replies: list[str | Reply] | None = None) -> list[LoggedEpisode]:
    return [logged(said(replies or ["x"] * 3, level=5, number=number), model) for number in range(count)]


def summary(made: Site) -> Any:
    return json.loads((made.folder / "summary.json").read_text(encoding="utf-8"))


def data(page: Page) -> Any:
    return json.loads(page.scripts[0])


def test_the_verdict_stands_on_the_page_in_both_directions(tmp_path: Path) -> None:
    made = site(tmp_path, [*solved("a", 8), *unread("b", 8)])
    (page,) = made.compared.values()
    told = data(page)
    assert [model["name"] for model in told["models"]] == ["a", "b"]
    # Eight mazes against none: both tails of Binomial(8, 1/2), of which half counts, 1 / 256.
    first, failing = told["verdicts"]["0 1"]
    assert first.startswith("A is better: A − B is +100.0 (")
    assert first.endswith("; p 0.0039 by McNemar's test (mid-p) over 8 items, level 5.")
    assert failing == "A fails in none of 8 attempts, B by unreadable replies (8 of 8 failures)."
    turned, failing = told["verdicts"]["1 0"]
    assert turned.startswith("B is better: A − B is −100.0 (−")
    assert failing == "A fails by unreadable replies (8 of 8 failures), B in none of 8 attempts."
    # Without scripts the table is there all the same.
    _, (*cells, verdict) = page.table("Pairwise comparisons.")
    assert cells[:5] == ["a", "b", "8", "100.0", "0.0"]
    assert cells[5].startswith("+100.0 ")
    assert (cells[6], verdict) == ("0.0039", "A better")
    (one,) = summary(made)["comparisons"]
    assert (one["verdict"], one["items"], one["test"]) == (
        "first",
        8,
        {"p": pytest.approx(1 / 256), "method": "mcnemar", "least_p": pytest.approx(1 / 256), "exact": False},
    )
    assert [one[side]["failures"] for side in ("first", "second")] == [{}, {"unparsed": 8}]
    pages = {each["group"]["model"]: each["page"] for each in summary(made)["overall"]}
    assert [one[side]["page"] for side in ("first", "second")] == [pages["a"], pages["b"]]


def test_the_first_page_begins_with_the_verdict_and_a_forest_plot(tmp_path: Path) -> None:
    episodes = [*solved("a", 8), *unread("b", 8), *searched("oracle", "dfs", count=2, model="a")]
    made = site(tmp_path, [*episodes, *searched("null", "dfs", count=2, model="b"), *solved("waybench/oracle", 8)])
    front = (made.folder / "index.html").read_text(encoding="utf-8")
    verdict, chart, matrix = (
        front.index(text) for text in ("a is better than b at the", "a against b: ", "Models by fam")
    )
    assert verdict < chart < matrix
    # Two graphs are too few: with two tasks a difference takes 1 + log2(2 / .05) = 6.4 items in one direction.
    assert "a is better than b at the one task that can tell; 1 needs more items: --limit 7" in front
    assert "waybench/oracle against" not in front  # no rival of a model
    charts = json.loads((made.folder / "charts" / "index.json").read_text(encoding="utf-8"))
    assert any(
        chart["caption"].startswith("a against b: the difference at each task that can tell") for chart in charts
    )
    table = (made.folder / "table.md").read_text(encoding="utf-8")
    assert "Normalised scores: 0 is the floor" in table
    assert "| a | 100" in table.partition("Normalised scores: ")[2]


def test_few_items_are_too_few_and_nothing_is_no_tie(tmp_path: Path) -> None:
    few = site(tmp_path / "few", [*solved("a", 3), *unread("b", 3)])
    assert summary(few)["comparisons"][0]["verdict"] == "too_few"
    alike = site(tmp_path / "alike", [*solved("a", 8), *solved("b", 8)])
    assert summary(alike)["comparisons"][0]["verdict"] == "too_few"
    (page,) = alike.compared.values()
    assert page.table("Pairwise comparisons.")[1][-2:] == ["1.0000 unadjusted", "too few"]


def test_p_values_are_adjusted_over_all_comparisons_of_models(tmp_path: Path) -> None:
    episodes = [
        *solved("a", 8),
        *unread("b", 8),
        *unread("c", 8, [WALL] * 3),
        *searched("oracle", "dfs", count=2, model="a"),
        *searched("null", "dfs", count=2, model="b"),
    ]
    made = site(tmp_path, episodes)
    names = {each["page"]: each["group"]["model"] for each in summary(made)["overall"]}
    found = {
        (one["name"].split()[0], *sorted(names[one[side]["page"]] for side in ("first", "second"))): one
        for one in summary(made)["comparisons"]
    }
    assert set(found) == {("Mazes", *pair) for pair in (("a", "b"), ("a", "c"), ("b", "c"))} | {
        ("Depth-first", "a", "b")
    }
    both, alone, other = found["Mazes", "a", "b"], found["Mazes", "a", "c"], found["Depth-first", "a", "b"]
    # Of four comparisons two can show a difference: at mazes "b" and "c" solve the same ones, and there are two graphs.
    assert {one["together"] for one in found.values()} == {2}
    assert both["p_holm"] == alone["p_holm"] == pytest.approx(2 / 256)
    assert other["p_holm"] is None
    assert (found["Mazes", "b", "c"]["p_holm"], found["Mazes", "b", "c"]["verdict"]) == (None, "too_few")
    lines = data(made.compared["maze-alicia"])["verdicts"]
    told = [line for some in lines.values() for line in some if line.startswith("After Holm's")]
    assert len(told) == 4  # two pairs, with either model as A
    assert "After Holm's procedure over the 2 comparisons of this report: p 0.0078." in told


def test_who_was_asked_something_else_has_no_verdict(tmp_path: Path) -> None:
    made = site(tmp_path, [*played("random", (5,), model="m"), *played("null", (5,), model="m", wording="ascii")])
    (page,) = made.compared.values()
    told = data(page)
    assert told["verdicts"] == {}
    assert len(set(told["alike"])) == 2
    assert "All verdicts" not in page.text
    assert summary(made)["comparisons"] == []


@pytest.mark.slow
def test_of_many_models_not_each_two_are_compared(tmp_path: Path) -> None:
    models = [f"m{number:02}" for number in range(13)]
    # Each gets out of one maze more than the next one.
    episodes = [
        logged(detour(item(5, maze), 0) if maze < 12 - number else said(["x"] * 3, level=5, number=maze), model)
        for number, model in enumerate(models)
        for maze in range(12)
    ]
    made = site(tmp_path, episodes)
    (page,) = made.compared.values()
    names = [model["name"] for model in data(page)["models"]]
    assert names == models
    pairs = {tuple(map(int, key.split())) for key in data(page)["verdicts"]}
    wanted = {(0, other) for other in range(1, 13)} | {(one, one + 1) for one in range(1, 12)}
    assert pairs == wanted | {(b, a) for a, b in wanted}
    assert "each is compared with the best and with its neighbours in rank" in page.text
    assert len(summary(made)["comparisons"]) == len(wanted)


def test_failed_attempts_are_counted_by_kind(tmp_path: Path) -> None:
    name = '"><script>alert(1)</script>'
    episodes = [
        *solved(name, 2),
        logged(said(["x", "x", WALL], level=5, number=2), name),
        logged(said([WALL] * 3, level=7), name),
        logged(said([WALL] * 3, level=7, number=1), name),
        logged(said([Reply("x", "truncated")] * 3, level=7, number=2), name),
        logged(failed(said(["x"] * 3, level=7, number=3)), name),  # in no denominator
        *searched("oracle", "dfs", count=2, model=name),
        *pulled("random", name, count=2),  # always to its end, which is no failure
    ]
    made = site(tmp_path, episodes)
    page = next(page for page in made.results if "Dimension 7" in page.text)
    heads = ["By truncated replies", "By unreadable replies", "By movements out of the maze"]
    assert page.table("How attempts failed.") == [
        ["Dimension", "Attempts", "Failed", *heads],
        ["5", "3", "1", "–", "1 100.0 %", "–"],
        ["7", "3", "3", "1 33.3 %", "–", "2 66.7 %"],
    ]
    (page,) = made.models
    # Environments have kinds of their own, so that each row lists those that occurred.
    head, *lines = page.table("How attempts failed.")
    assert head == ["Task", "Attempts", "Failed", "Failed by"]
    causes = "2 movements out of the maze 50.0 % 1 truncated replies 25.0 % 1 unreadable replies 25.0 %"
    assert sorted(lines) == [
        ["Depth-first search (AQA-Bench)", "2", "0", "–"],
        ["Mazes (AliciaBench)", "6", "4", causes],
    ]
    kinds = {each["attempts"]: (each["failed"], each["kinds"]) for each in summary(made)["failures"]}
    assert kinds == {6: (4, {"truncated": 1, "unparsed": 1, "outside": 2}), 2: (0, {})}


def test_running_out_of_guesses_is_a_failure_though_all_attempts_end_so(tmp_path: Path) -> None:
    (page,) = site(tmp_path, searched("linear", "guessnum", count=2)).models
    assert page.table("How attempts failed.")[1:] == [["Number guessing (AQA-Bench)", "2", "2", "2 100.0 %"]]


def test_one_environments_kinds_are_columns_on_a_models_page(tmp_path: Path) -> None:
    replies = [["move_right"], ["move_up"], ["jump"], ["move_up"]]
    episodes = [
        logged(after(*[plan(*names)] * 2, protocol=protocol).record(), "m", "gtb")
        for protocol, names in zip(("paper", "sound", "sound", "sound"), replies, strict=True)
    ]
    episodes[2:] = [
        replace(each, record=replace(each.record, item={**each.record.item, "id": str(number), "index": number}))
        for number, each in enumerate(episodes[2:], start=1)
    ]
    (page,) = site(tmp_path, episodes).models
    heads = ["By names that are not actions", "By moves into obstacles", "By plans that end elsewhere"]
    assert page.table("How attempts failed.") == [
        ["Task", "Attempts", "Failed", *heads],
        ["Tile maps (GameTraversalBenchmark) protocol: paper", "1", "1", "–", "–", "1 100.0 %"],
        ["Tile maps (GameTraversalBenchmark) protocol: sound", "3", "3", "1 33.3 %", "2 66.7 %", "–"],
    ]


def test_where_nothing_failed_there_is_no_table(tmp_path: Path) -> None:
    made = site(tmp_path, solved("a", 2))
    assert not [page for page in made.pages if "How attempts failed" in page.text]


@pytest.mark.slow
def test_the_first_page_has_the_pairs_from_which_ranks_are_read(tmp_path: Path) -> None:
    episodes = [
        each
        for model, wrong in (("a", 0), ("b", 7), ("c", 8))
        for each in [
            *[logged(detour(item(9, number), 0), model) for number in range(12 - wrong)],
            *[logged(said(["x"] * 3, level=9, number=number), model) for number in range(12 - wrong, 12)],
        ]
    ]
    made = site(tmp_path, episodes)
    head, *lines = made.home.table("Pairs of models.")
    assert head == ["A", "B", "Families", "Tasks", "Items", "A − B", "p", "Verdict"]
    assert [(*line[:5], line[-1]) for line in lines] == [
        ("a", "b", "1", "1", "12", "A better"),
        ("a", "c", "1", "1", "12", "A better"),
        ("b", "c", "1", "1", "12", "too few to tell"),
    ]
    # 7 of 12 mazes of the distance from the floor, what a random player scores at them on average, to the ceiling.
    (floor,) = {total["rescaled"]["floor"] for total in summary(made)["overall"]}
    assert 0 < floor < 50, "a random player's percentage of such mazes"
    assert lines[0][5].startswith(f"+{700 / 12 / (1 - floor / 100):.1f} (+") and lines[2][6] == "0.50 unadjusted"
    pairs = summary(made)["model_pairs"]
    assert [(pair["first"], pair["second"], pair["verdict"]) for pair in pairs] == [
        ("a", "b", "first"),
        ("a", "c", "first"),
        ("b", "c", "too_few"),
    ]
    # Seven and eight of 12 mazes, all of them by "a": the mid-p values 2^-7 and 2^-8, adjusted for two tests.
    assert [pair["p_adjusted"] for pair in pairs] == [pytest.approx(2**-7), pytest.approx(2**-7), None]
    assert [row["rank"] for row in summary(made)["matrix"]] == [[1, 1], [2, 3], [2, 3]]
    # The verdicts of the task say the same.
    assert [one["verdict"] for one in summary(made)["comparisons"]] == [pair["verdict"] for pair in pairs]

"""The pages of models: their results at all tasks, what their replies came to, and their charts."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import failed, logged, played, said
from tests.analysis.searches import searched
from tests.analysis.test_agents import played as pulled
from tests.analysis.worlds import FIND
from tests.analysis.worlds import searched as looked_for
from tests.report.pages import Page, Site, site
from waybench.core import Reply
from waybench.reporting.charts._bars import outcomes_chart, outcomes_spec
from waybench.results import LoggedEpisode, overall, rows

WALL = '{"movements": [{"direction": "up", "cells": 9}]}'


def page_of(made: Site, model: str) -> Page:
    (page,) = [page for page in made.models if re.search(rf"<h1>{model.replace('/', '/<wbr>')}</h1>", page.html)]
    return page


def charts(page: Page) -> list[str]:
    return [svg["aria-label"] for svg in page.all("svg")]


def test_a_model_has_one_page_for_all_tasks_and_settings(tmp_path: Path) -> None:
    episodes = [
        *played("random", (5, 7), model="vendor/a"),
        *played("null", (5,), model="vendor/a", wording="ascii"),
        *searched("random", "dfs", model="vendor/a"),
        *searched("oracle", "dfs", model="vendor/b"),
        *searched("oracle", "dfs"),
    ]
    made = site(tmp_path, episodes)
    assert len(made.models) == 3
    page = page_of(made, "vendor/a")
    head, *lines = page.table("Tasks.")
    maze = "Mazes (AliciaBench)"
    assert [line[0] for line in lines[1:]] == [
        f"{maze} wording: matrix Score, %",
        f"{maze} wording: ascii Score, %",
    ]
    assert lines[0][0].startswith("Depth-first")
    # They are rows of the first page's table, as they stand there.
    home = made.scores.table("Models.")
    assert head == home[0][1:]
    assert [row[2:] for row in home[1:] if row[0].startswith("vendor/ a")] == [line[1:] for line in lines]
    assert len(page.links("../results/")) == 3
    assert page.links("../results/") < made.scores.links("../results/")
    assert any(label.startswith("Score by dimension") for label in charts(page))
    assert "One of waybench's own players" not in page.text
    own = page_of(made, "waybench/oracle")
    assert "Reference player (not a model)." in own.text
    assert [row[0].split()[0] for row in own.table("Tasks.")[1:]] == ["Depth-first"]
    assert "Floor and ceiling" not in own.text
    assert "Floor and ceiling" in made.scores.text


@pytest.mark.slow
def test_ways_of_asking_are_agents_of_one_model(tmp_path: Path) -> None:
    episodes = [*pulled("thompson", "m"), *pulled("random", "m", wording="one_question"), *pulled("oracle", "other")]
    made = site(tmp_path, episodes)
    page = page_of(made, "m")
    found = [label for label in charts(page) if label.startswith("Capabilities of ")]
    assert len(found) == 2
    assert all(label.startswith("Capabilities of m:") for label in found)
    assert "wording: one question" in page.text or "wording: one_question" in page.text
    assert [label for label in charts(page_of(made, "other")) if label.startswith("Capabilities of m")] == []


def test_worlds_that_are_not_comparable_are_in_charts_of_their_own(tmp_path: Path) -> None:
    episodes = [
        *(e for level in (1, 2) for e in looked_for("oracle", "own", level=level)),
        *(e for level in (1, 2) for e in looked_for("null", "luanti", level=level)),
    ]
    made = site(tmp_path, episodes)
    (page,) = made.models
    heads = [" ".join(re.sub(r"<[^>]*>", " ", head).split()) for head in re.findall(r"<h2[^>]*>(.*?)</h2>", page.html)]
    name = "Find a biome (after SmartPlay)"
    assert heads == [f"{FIND.title} {name}", f"{FIND.title}, engine: luanti {name}"]
    parts = page.html.split("<h2 ")[1:]
    assert all(part.count("<figure>") == 1 for part in parts)


def test_the_page_of_a_model_has_curves_by_step_of_several_settings_and_not_of_one(tmp_path: Path) -> None:
    def curves(page: Page) -> int:
        return sum("Regret so far by step" in part.split(">")[0] for part in page.html.split("<svg ")[1:])

    episodes = [*pulled("random", "a"), *pulled("thompson", "b"), *pulled("random", "b", wording="one_question")]
    made = site(tmp_path, episodes)
    # Where there are several lines, each drawing is in two sizes.
    assert [curves(page_of(made, model)) for model in "ab"] == [0, 2]
    assert [curves(page) for page in (*made.results, *made.tasks.values())] == [1, 1, 1, 2]


def test_bars_of_the_chart_of_outcomes_are_shares_of_the_replies(tmp_path: Path) -> None:
    episodes = [
        logged(said(["x", WALL, Reply("x", "truncated")])),
        logged(said(["x", Reply("x", "refused"), WALL], number=1)),
        logged(failed(said(["x", "x", "x"], number=2))),  # in no denominator
    ]
    made = site(tmp_path, episodes)
    drawings = [part for part in made.models[0].html.split("<svg ")[1:] if "Outcomes of replies" in part]
    assert len(drawings) == 2  # a wide and a narrow one
    title = "Mazes (AliciaBench)"
    shares = ("illegal", "33.3"), ("unparsed", "33.3"), ("truncated", "16.7"), ("refused", "16.7")
    for bars in drawings:
        told = re.findall(r"<title>([^<]*)</title>", bars.split("</svg>")[0])
        assert sorted(told) == sorted(f"{title}: {share} % of 6 replies {outcome}" for outcome, share in shares)
        assert f">{title}</text>" in bars


def pieces(episodes: list[LoggedEpisode]) -> list[dict[str, Any]]:
    """Return what the chart of outcomes is made of."""
    from waybench.reporting.charts import _bars

    totals = overall(rows(episodes))
    names = _bars._bar_names([total.group for total in totals])
    return [piece for total in totals for piece in _bars._bar_pieces(total, names)]


def test_each_task_with_its_settings_is_one_bar_of_a_hundred_per_cent() -> None:
    episodes = [
        *played("random", (5,), model="m"),
        *played("null", (5,), model="m", wording="ascii"),
        *played("oracle", (5,), model="m", wording="prose"),
        *searched("random", "dfs", model="m"),
        # Names that are cut to the same.
        *(logged(said(["x", WALL, "x"]), "m", f"{'a' * 100}{end}{'z' * 100}") for end in "bc"),
    ]
    found = pieces(episodes)
    bars = list(dict.fromkeys(piece["task"] for piece in found))
    assert len(bars) == 6
    for bar in bars:
        assert sum(piece["share"] for piece in found if piece["task"] == bar) == 1
    assert any(bar.startswith("Mazes (AliciaBench), ") and "ascii" in bar for bar in bars)
    spec = outcomes_spec(found)
    assert spec["encoding"]["x"]["stack"] == "zero"
    assert spec["height"] == 22 * 6
    assert spec["encoding"]["color"]["scale"]["domain"] == list(dict.fromkeys(spec["encoding"]["color"]["sort"]))


def test_where_nothing_was_said_there_is_no_chart() -> None:
    assert outcomes_chart(overall(rows([logged(failed(said(["x"])))]))) is None
    assert outcomes_chart(overall(rows(played("null", (5,))))) is not None


def test_no_name_of_a_task_ends_the_drawing() -> None:
    # Some of these abort the program that draws, and with it the whole report.
    names = ["\ud800", "\0", "\udfff\ud800", "<script>", "\u202e", "datum.x", "{{ x }}", ""]
    totals = overall(rows([logged(said([name] * 3), "m", name) for name in names]))
    chart = outcomes_chart(totals)
    assert chart is not None
    drawn = chart.wide
    assert "<script" not in drawn
    assert "\ud800" not in drawn

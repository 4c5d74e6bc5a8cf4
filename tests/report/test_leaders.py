"""The table of all results: a row for each model at each task."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis.episodes import detour, failed, item, logged, played, said
from tests.analysis.searches import searched
from tests.analysis.worlds import searched as looked_for
from tests.report.pages import read, site
from waybench.core import Price, Usage
from waybench.core._designs import ladder_design
from waybench.reporting import write_report
from waybench.reporting.tables import TableCell
from waybench.reporting.tables._leaders import Leader, Leaders, leader_rows
from waybench.results import LoggedEpisode, by_level, overall, rows
from waybench.results.horizons import horizons
from waybench.results.horizons._horizons import headline_horizons
from waybench.results.results import exclude
from waybench.results.results._measured_row import measured_row
from waybench.results.stats import IntervalEstimate

WAYS = [5, 7, 9]


def table(
    episodes: Sequence[LoggedEpisode], only: str | None = None, price: Price | None = None, unconfirmed: int = -1
) -> Leaders:
    made = exclude(measured_row(e, confirmed=number != unconfirmed, price=price) for number, e in enumerate(episodes))
    totals = overall(made)
    pages = {total.group: f"page-{number}.html" for number, total in enumerate(totals)}
    model_pages = {total.group.model: "model.html" for total in totals}
    return leader_rows(by_level(made), totals, pages, model_pages, headline_horizons(horizons(made)), only)


def line(found: Leaders, model: str) -> Leader:
    (one,) = [each for each in (*found.models, *found.references) if each.group.model == model]
    return one


def number(cell: TableCell) -> tuple[str, float | str | None]:
    """Return a cell's text, and what it is sorted by."""
    return cell.text, cell.order


def solved(levels: Sequence[int], extra: int = 2, model: str = "vendor/m", count: int = 2) -> list[LoggedEpisode]:
    """Return some mazes of each level whose exit is reached."""
    return [logged(detour(item(level, number), extra), model) for level in levels for number in range(count)]


def lost(level: int, model: str = "vendor/m", count: int = 2) -> list[LoggedEpisode]:
    """Return some mazes in which nothing is reached."""
    return [logged(said(["", "", ""], level=level, number=number), model) for number in range(count)]


def best(episodes: Sequence[LoggedEpisode]) -> IntervalEstimate:
    """Return the mean over all mazes of the best attempt."""
    (total,) = overall(rows(episodes))
    assert total.best is not None
    return total.best


def test_a_ladder_that_ended_has_nothing_beyond() -> None:
    ended = [*solved([5], count=3), *lost(7, count=3)]
    found = table([*ended, *solved(WAYS, model="vendor/high", count=3)])
    high, low = line(found, "vendor/high"), line(found, "vendor/m")
    mean = best(ended)
    assert mean.low is not None
    assert mean.high is not None
    assert low.score.order == pytest.approx(mean.value * 2 / 3)
    assert low.score.text == f"{mean.value * 2 / 3:.1f}"
    assert low.interval == f"{mean.low * 2 / 3:.1f} – {mean.high * 2 / 3:.1f}"
    assert low.part == pytest.approx(mean.value * 2 / 300, abs=1e-3)
    assert low.note == "dimensions 5 to 7; harder ones count as 0"
    assert high.note == ""
    assert high.score.order == pytest.approx(best(solved(WAYS, count=3)).value)
    assert found.has_notes
    few = line(table([*solved([5]), *lost(7), *solved(WAYS, model="vendor/high")]), "vendor/m")
    assert few.interval == "4 items"
    assert [each.group.model for each in found.models] == ["vendor/high", "vendor/m"]
    once = line(table([*lost(5), *solved(WAYS, model="vendor/high")]), "vendor/m")
    assert (once.score.order, once.note) == (0, "dimension 5; harder ones count as 0")


def test_a_ladder_has_nothing_beyond_up_to_the_level_that_it_declares() -> None:
    def on_ladder(last: int) -> list[LoggedEpisode]:
        design = ladder_design(range(5, last + 1, 2))
        return [replace(episode, design=design) for episode in [*solved([5]), *lost(7)]]

    mean = best(on_ladder(23)).value
    for others in ([], solved(WAYS, model="vendor/high")):
        ended = line(table([*on_ladder(23), *others]), "vendor/m")
        assert ended.score.order == pytest.approx(mean / 5)
        assert ended.note == "dimensions 5 to 7; harder ones count as 0"
    further = [replace(episode, model="vendor/far") for episode in on_ladder(101)]
    found = table([*on_ladder(23), *further])
    assert line(found, "vendor/far").score.order == pytest.approx(mean * 2 / 49)
    near = line(found, "vendor/m")
    assert near.score.order == pytest.approx(mean / 5)
    assert near.note == "dimensions 5 to 7 of 5 to 23; harder ones count as 0"


@pytest.mark.parametrize(
    ("case", "note"),
    [
        ("it was given no more", "dimensions 5 to 7 only"),
        ("an error took what would have followed", "dimensions 5 to 7 only"),
        ("what was said does not replay", "dimensions 5 to 7 only"),
        ("it began elsewhere", "dimensions 7 to 9 only"),
    ],
)
def test_one_that_did_not_end_is_not_zero_beyond(case: str, note: str) -> None:
    unconfirmed = -1
    if case == "it was given no more":
        own = solved([5, 7])
    elif case == "an error took what would have followed":
        own = [*solved([5]), *lost(7), logged(failed(detour(item(7, 2), 2)), "vendor/m")]
    elif case == "what was said does not replay":
        own, unconfirmed = [*solved([5]), *lost(7), logged(detour(item(7, 2), 2), "vendor/m")], 4
    else:
        own = [*solved([7]), *lost(9)]
    found = line(table([*own, *solved(WAYS, model="vendor/high")], unconfirmed=unconfirmed), "vendor/m")
    assert found.note == note
    if found.lost:  # without a rank, it is sorted as nothing
        assert (found.score.order, found.score.mark, found.part) == (None, "*", None)
        assert found.score.text == f"{best(own[:4]).value:.1f}"
        assert found.interval.startswith(f"n = {found.lost.n_with_result} of {found.lost.planned}; ")
    else:
        assert found.score.order == pytest.approx(best(own[:4]).value)  # not scaled


def test_levels_of_no_ladder_are_compared_with_care() -> None:
    found = table([*searched("random", "dfs", model="a"), *searched("random", "dfs", model="b", level=8)])
    assert {each.group.model: each.note for each in found.models} == {"a": "level 5 only", "b": "level 8 only"}
    same = table([*searched("random", "dfs", model="a"), *searched("random", "dfs", model="b")])
    assert [each.note for each in same.models] == ["", ""]
    assert not same.has_notes


def test_models_are_ordered_by_family_task_and_merit() -> None:
    episodes = [
        *solved([5], 8, "vendor/worse"),
        *solved([5], 0, "vendor/better"),
        *searched("random", "dfs", model="vendor/worse"),
        *searched("oracle", "dfs", model="vendor/better"),
        *searched("oracle", "bfs", model="vendor/better"),
        *played("oracle", (5,)),
    ]
    found = table(episodes)
    assert [(each.family, each.title.split(" ")[0], each.group.model) for each in found.models] == [
        ("Algorithmic search (AQA-Bench)", *("Breadth-first", "vendor/better")),
        ("Algorithmic search (AQA-Bench)", *("Depth-first", "vendor/better")),
        ("Algorithmic search (AQA-Bench)", *("Depth-first", "vendor/worse")),
        ("Mazes (AliciaBench)", *("Mazes", "vendor/better")),
        ("Mazes (AliciaBench)", *("Mazes", "vendor/worse")),
    ]
    assert [each.group.model for each in found.references] == ["waybench/oracle"]
    alone = table(episodes, only="vendor/worse")
    assert [each.group.env for each in alone.models] == ["search/dfs", "maze/alicia"]
    assert alone.references == []
    assert "lower is better" in line(table(searched("random", model="m")), "m").metric


def test_shares_of_replies_and_errors() -> None:
    wall = '{"movements": [{"direction": "up", "cells": 9}]}'
    episodes = [
        logged(said(["hm", wall, ""], level=5)),
        logged(detour(item(5, 1), 2)),
        logged(failed(detour(item(5, 2), 2))),
    ]
    (found,) = table(episodes).models
    assert (found.items.order, found.solved.order, found.errors) == (2, 50, 1)
    assert [one.order for one in found.outcomes] == [50, 25, 0, 0, 0]  # unparsed, illegal, truncated, overflow, refused
    assert [one.text for one in found.outcomes] == ["50.0", "25.0", "0.0", "0.0", "0.0"]
    (gone,) = table([logged(failed(detour(item(), 2)))]).models
    assert (number(gone.score), number(gone.solved), gone.items.order, gone.errors) == (("–", None), ("–", None), 0, 1)
    assert [one.order for one in gone.outcomes] == [None] * 5


@pytest.mark.slow
def test_tokens_and_cost_for_each_solved_item(tmp_path: Path) -> None:
    def used(record: LoggedEpisode, tokens: int) -> LoggedEpisode:
        turns = tuple(turn._replace(usage=Usage(tokens, 10)) for turn in record.record.turns)
        return replace(record, record=replace(record.record, turns=turns))

    episodes = [used(one, 1000) for one in solved([5])] + [used(one, 500) for one in lost(7)]
    found = line(table(episodes, price=Price(2, 10, 2)), "vendor/m")
    # Two mazes were solved; all eight replies of all four attempts were paid for.
    dollars = (2 * (1000 * 2 + 100) + 6 * (500 * 2 + 100)) / 1_000_000 / 2
    assert found.cost.order == pytest.approx(dollars)
    assert found.cost.text == f"${dollars:.4f}"
    assert [note.text for note in found.cost.notes] == ["$0.011 in all"]
    assert number(found.tokens) == ("2,540", pytest.approx(2540))
    free = table(episodes)
    assert not free.has_costs
    assert number(line(free, "vendor/m").cost) == ("–", None)
    none = line(table([used(one, 500) for one in lost(7)], price=Price(2, 10, 2)), "vendor/m")
    assert (number(none.cost), number(none.tokens)) == (("–", None), ("–", None))
    assert [note.text for note in none.cost.notes] == ["$0.0066 in all"]  # of six replies, which solved nothing
    # In the page: a column of cost, where some price is known, and none where none is.
    for name, prices in (("with", {"vendor/m": Price(2, 10, 2)}), ("without", {"vendor/other": Price(2, 10, 2)})):
        write_report(episodes, tmp_path / name, prices=prices)
    priced, bare = (read(tmp_path / name / "all" / "index.html").table("Models.") for name in ("with", "without"))
    assert (priced[0][-1], priced[1][-1]) == ("Cost per solved", f"{found.cost.text} $0.011 in all")
    assert (bare[0][-1], bare[1][-1]) == ("Tokens per solved", "2,540")
    (told,) = json.loads((tmp_path / "with" / "summary.json").read_text())["overall"]
    assert told["cost_per_solved"] == pytest.approx(dollars)


def test_with_a_teacher_the_score_is_that_of_the_curve() -> None:
    guided = searched("noisy-0.3", "dfs", model="m", teacher_guided=True, count=6)
    (found,) = table(guided).models
    (estimate,) = by_level(rows(guided))
    mean = estimate.curves["follows"].average
    assert mean is not None
    assert number(found.score) == (f"{mean.value:.3f}", mean.value)
    assert (found.metric, found.solved.order, found.tokens.order) == ("PSACC", None, None)
    # Over several levels it is that of all their episodes.
    all_levels = [*guided, *searched("oracle", "dfs", model="m", teacher_guided=True, level=8)]
    [pooled] = overall(rows(all_levels))
    over_all = pooled.curves["follows"].average.value
    assert over_all != mean.value
    assert [number(each.score) for each in table(all_levels).models] == [(f"{over_all:.3f}", over_all)]


def test_what_is_kept_apart_is_ranked_apart() -> None:
    found = table([*looked_for("null", "own"), *looked_for("oracle", "luanti"), *looked_for("null", "own", "beta")])
    assert [(each.group.model, each.apart) for each in found.models] == [
        ("alpha", ()),
        ("beta", ()),
        ("alpha", ("engine: luanti",)),
    ]


def test_settings_that_tell_rows_apart_are_named(tmp_path: Path) -> None:
    episodes = [*played("null", (5,), model="m"), *played("null", (5,), model="m", wording="ascii")]
    assert [each.differs for each in table(episodes).models] == [["wording: matrix"], ["wording: ascii"]]
    assert [each.differs for each in table(episodes[:9]).models] == [[]]
    made = site(tmp_path, [*episodes, *played("oracle", (5,))])
    head, *lines = made.scores.table("Models.")
    assert head[:6] == ["Model", "Task", "Score", "Normalised", "Items", "Solved, %"]
    assert [each[0] for each in lines] == ["m wording: matrix", "m wording: ascii"]
    assert made.scores.table("Reference players, not models.")[1][0] == "waybench/ oracle wording: matrix"
    # Each table names what its search and its list of families go by.
    assert [(one["id"], one["data-search"], one["data-choose"]) for one in made.scores.all("table")[:2]] == [
        ("leaders", "Models", "Family"),
        ("references", "Reference players, not models", "Family"),
    ]
    assert {row.get("data-family") for row in made.scores.all("tr")} == {None, "Mazes (AliciaBench)"}
    scripts = [script["src"] for script in made.scores.all("script")]
    assert scripts == ["../assets/datatables.js", "../assets/tables.js"]
    # A row leads to the model and to its results.
    for row_html in re.findall(r"<tr data-family=.*?</tr>", made.scores.html, re.DOTALL):
        assert re.search(r'<th [^>]*><a href="../models/[^"]+">', row_html)
        assert re.search(r'<td class="name"[^>]*><a href="../results/[^"]+">', row_html)


def test_a_search_for_a_horizon_has_no_score(tmp_path: Path) -> None:
    chosen = [replace(episode, design={"axis": "difficulty"}) for episode in solved(WAYS, model="vendor/searching")]
    made = site(tmp_path, [*chosen, *solved(WAYS, model="vendor/given")])
    scores = {row[0].replace("/ ", "/"): row[2] for row in made.scores.table("Models.")[1:]}
    assert scores["vendor/searching"] == "–"
    assert re.match(r"\d+\.\d \d+\.\d – \d+\.\d$", scores["vendor/given"])
    searching, given = sorted(made.models, key=lambda page: "vendor/searching" not in page.text)
    assert [page.table("Tasks.")[1][1].startswith("–") for page in (searching, given)] == [True, False]
    table_text = (tmp_path / "table.md").read_text()
    assert "| vendor/searching | – |" in table_text
    assert "a search for a horizon, which has no score" in table_text
    overall = json.loads((tmp_path / "summary.json").read_text())["overall"]
    adaptive = {each["group"]["model"]: each["adaptive"] for each in overall}
    assert adaptive == {"vendor/searching": True, "vendor/given": False}


@pytest.mark.slow
def test_searches_for_horizons_are_not_compared_by_items_that_they_share(tmp_path: Path) -> None:
    searching = [solved(WAYS, model=f"vendor/{name}") for name in ("one", "other")]
    made = site(tmp_path, [replace(episode, design={"axis": "difficulty"}) for some in searching for episode in some])
    assert json.loads((tmp_path / "summary.json").read_text())["comparisons"] == []
    assert not list((tmp_path / "compare").glob("*.html"))
    given = site(tmp_path / "given", [episode for some in searching for episode in some])
    assert len(json.loads((tmp_path / "given" / "summary.json").read_text())["comparisons"]) == 1
    assert len(list((tmp_path / "given" / "compare").glob("*.html"))) == 1
    assert len(made.models) == len(given.models) == 2

"""The page on which two models stand side by side, in a real browser."""

from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import MAZE, SCORE, played
from tests.browser import Visits, follow
from tests.report import sites
from waybench.core import End
from waybench.reporting._write import write_report
from waybench.results.formatting import visible

pytestmark = pytest.mark.slow
PAGE = "compare/maze-alicia.html"
CELLS = "both", "one-alone", "other-alone", "neither"


def best(model: str) -> dict[str, tuple[bool, float]]:
    """Return for each maze that a model was given whether it got out, and its best score."""
    found: dict[str, tuple[bool, float]] = {}
    for each in sites.episodes():
        record = each.record
        if (each.model, record.env) == (model, MAZE.id) and not record.error and record.instance_hash != sites.FORGED:
            maze, score = str(record.item["id"]), SCORE.of(record)
            assert score is not None
            solved, most = found.get(maze, (False, -1.0))
            found[maze] = solved or record.end is End.SOLVED, max(most, score)
    return found


def kinds(one: str, other: str) -> dict[str, set[str]]:
    """Return the mazes that two models were given, by what came of them."""
    first, second = best(one), best(other)
    found: dict[str, set[str]] = {kind: set() for kind in ("all", *CELLS, "one-better", "other-better")}
    for maze in first.keys() & second.keys():
        (solved, score), (other_solved, other_score) = first[maze], second[maze]
        cell = {(True, True): "both", (True, False): "one-alone", (False, True): "other-alone"}
        for kind in ("all", cell.get((solved, other_solved), "neither")):
            found[kind].add(maze)
        if score != other_score:
            found["one-better" if score > other_score else "other-better"].add(maze)
    return found


def choose(page: Any, one: str, other: str) -> None:
    page.get_by_label("First model").select_option(visible(one))
    page.get_by_label("Second model").select_option(visible(other))


def counts(page: Any) -> dict[str, int]:
    return {cell: int(page.locator(f"#{cell}").inner_text()) for cell in CELLS}


def listed(page: Any) -> list[str]:
    found: list[str] = page.locator("#rows th").all_text_contents()
    return found


@pytest.mark.parametrize(
    ("one", "other"), [(sites.STEADY, sites.SCRIPT), (sites.IMAGE, sites.STEADY), (sites.SCRIPT, sites.TURNED)]
)
def test_counts_and_filters_agree_with_the_episodes(visit: Visits, site: Path, one: str, other: str) -> None:
    page = visit(site, PAGE)
    choose(page, one, other)
    wanted = kinds(one, other)
    assert counts(page) == {cell: len(wanted[cell]) for cell in CELLS}
    for kind, mazes in wanted.items():
        page.locator(f"input[value={kind}]").check()
        assert sorted(listed(page)) == sorted(mazes)
        assert page.locator("#shown").inner_text() == f"{len(mazes)} of {len(wanted['all'])} mazes."
        assert page.locator(f"[data-count={kind}]").inner_text() == f"({len(mazes)})"


def test_there_is_something_to_count() -> None:
    assert all(kinds(sites.STEADY, sites.SCRIPT).values())


def test_swapping_turns_all_of_it_round(visit: Visits, site: Path) -> None:
    page = visit(site, PAGE)
    choose(page, sites.STEADY, sites.SCRIPT)
    before, differences = counts(page), page.locator("#rows td:last-child").all_text_contents()
    page.get_by_role("button", name="Swap").click()
    after = counts(page)
    assert before["one-alone"] + before["other-alone"] > 0
    assert after == {**before, "one-alone": before["other-alone"], "other-alone": before["one-alone"]}
    turned = [each.translate(str.maketrans("+−", "−+")) for each in differences]
    assert page.locator("#rows td:last-child").all_text_contents() == turned != differences
    assert page.locator("#first-name").inner_text() == sites.SCRIPT


def test_the_verdict_turns_with_the_models(visit: Visits, site: Path) -> None:
    page = visit(site, PAGE)
    choose(page, sites.STEADY, sites.SCRIPT)
    failures = page.locator("#reasons li", has_text=" fails by ")
    first_errors = page.locator("#reasons li", has_text="first error")
    before = page.locator("#verdict").inner_text(), failures.inner_text(), first_errors.inner_text()
    page.get_by_role("button", name="Swap").click()
    after = page.locator("#verdict").inner_text(), failures.inner_text(), first_errors.inner_text()
    assert before[0].startswith("No difference shown (could be −")
    assert before[0] != after[0]
    assert before[0].split(";")[1] == after[0].split(";")[1]
    assert before[1].startswith("A fails by unreadable replies (2 of 2 failures), B by ")
    assert after[1].endswith(", B by unreadable replies (2 of 2 failures).")
    assert before[2] == "Most frequent first error: B steps back (2 of 4; median step 4)."
    assert after[2] == before[2].replace("B steps", "A steps")
    choose(page, sites.STEADY, sites.STEADY)
    assert page.locator("#verdict").is_hidden()
    assert page.locator("#reasons").is_hidden()
    page.get_by_text("All verdicts").click()
    assert page.locator(".judged tbody tr").count() == 15


def test_an_address_names_two_models_and_is_kept(visit: Visits, site: Path) -> None:
    page = visit(site, f"{PAGE}#one=2&other=0")
    names = page.locator("#one option").all_text_contents()
    assert set(names) == {*map(visible, sites.MODELS), "waybench/oracle", "waybench/null"}
    chosen = [page.locator(f"#{each} option:checked").inner_text() for each in ("one", "other")]
    assert chosen == [names[2], names[0]]
    page.get_by_role("button", name="Swap").click()
    assert page.url.endswith("#one=0&other=2")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    assert page.locator("#one option:checked").inner_text() == names[0]
    for wrong in ("#one=99&other=-1", "#one=x", "#"):
        page.goto("about:blank")
        page.goto(address.split("#")[0] + wrong)
        assert [page.locator(f"#{each}").input_value() for each in ("one", "other")] == ["0", "1"]


def test_scores_lead_to_replays(visit: Visits, site: Path) -> None:
    page = visit(site, PAGE)
    choose(page, sites.STEADY, sites.IMAGE)
    maze = listed(page)[0]
    for column, model in ((2, sites.STEADY), (3, sites.IMAGE)):
        follow(page.locator("#rows tr").first.locator("td").nth(column - 1).get_by_role("link"))
        assert page.locator("h1").inner_text().startswith(f"Maze {maze}")
        assert model in page.get_by_role("navigation", name="Site").inner_text()
        page.go_back()
        assert page.locator("#one option:checked").inner_text() == sites.STEADY


def test_where_less_is_better(visit: Visits, site: Path) -> None:
    page = visit(site, "compare/search-guessnum.html")
    choose(page, sites.STEADY, sites.SCRIPT)
    better = {kind: page.locator(f"[data-count={kind}]").inner_text() for kind in ("one-better", "other-better")}
    # The first guesses every number, the second comes near it at best.
    assert better == {"one-better": "(4)", "other-better": "(0)"}
    # Four are too few for a verdict, and of one attempt at each the mean difference would say the same.
    assert page.locator("#verdict").inner_text().startswith("Too few to tell (could be −")
    assert page.locator("#mean-difference").is_hidden()


def test_hostile_names_are_text(visit: Visits, site: Path) -> None:
    page = visit(site, PAGE)
    choose(page, sites.SCRIPT, sites.IMAGE)
    heads = page.locator("#comparison thead th").all_text_contents()
    assert {f"{sites.IMAGE} solves", sites.SCRIPT, sites.IMAGE} <= set(heads)
    assert page.locator("main img").count() == 0
    assert page.evaluate("window.owned") is None
    choose(page, sites.IMAGE, sites.IMAGE)
    assert page.locator("#mean-difference").inner_text() == "Choose two models."


def test_the_first_two_that_were_given_the_same_are_compared(visit: Visits, tmp_path: Path) -> None:
    episodes = [
        *played("oracle", (5,), model="vendor/best"),
        *played("noisy-0.1", (5,), model="vendor/best", protocol="sound"),
        *played("null", (5,), model="vendor/other"),
    ]
    write_report(episodes, tmp_path)
    page = visit(tmp_path, next((tmp_path / "compare").glob("*.html")).relative_to(tmp_path).as_posix())
    chosen = [page.locator(name).evaluate("one => one.selectedOptions[0].text") for name in ("#one", "#other")]
    assert all("sound" not in each for each in chosen)
    assert page.locator("#settings").is_hidden()

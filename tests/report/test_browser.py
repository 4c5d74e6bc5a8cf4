"""The report in a real browser: its first page, and the way from there to a replay."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from tests.analysis.episodes import estimate, played
from tests.analysis.test_horizon import climbed
from tests.browser import Visits, follow, too_wide
from tests.report import sites
from tests.report.test_horizons import EPISODES
from waybench.reporting import write_report
from waybench.reporting._replays import Replays
from waybench.results.formatting import visible

pytestmark = pytest.mark.slow

ALL = "all/index.html"  # the page of all results


def number(text: str) -> float | None:
    """Return the number by which a cell is sorted; None for a dash, and for a mean that lacks attempts (its mark)."""
    found = re.match(r"[-−$]*([\d,.]+)(?!.*\*)", text)
    return float(found[1].replace(",", "")) if found else None


def column(page: Any, name: str) -> list[float | None]:
    """Return a column of the table of all results, as it is shown."""
    heads = [head.splitlines()[0] for head in page.locator("#leaders thead th").all_inner_texts()]
    cells = page.locator(f"#leaders tbody tr > :nth-child({heads.index(name) + 1})")
    return [number(text) for text in cells.all_inner_texts()]


def in_order(values: list[float | None]) -> bool:
    """Return whether numbers rise, and whether the empty ones are all before them."""
    return values == sorted(values, key=lambda value: (value is not None, value or 0.0))


def every_page(page: Any, site: Path) -> Iterator[str]:
    """Go to all pages but for replays, of which it is one of each run and all that show a hostile reply; yield them."""
    replies = [str(escape(reply)) for reply in sites.REPLIES]
    for path in sorted(site.glob("**/*.html")):
        of_a_reply = path.parent.name == "replays" and not path.name.endswith("-1.html")
        if not of_a_reply or any(map(path.read_text(encoding="utf-8").__contains__, replies)):
            page.goto(path.as_uri())
            yield path.relative_to(site).as_posix()


def test_a_page_that_does_what_it_should_not_is_noticed(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "outside.js").write_text("")
    site = tmp_path / "site"
    site.mkdir()

    def complaints(html: str, **options: Any) -> list[str]:
        (site / "index.html").write_text(f'<!doctype html><link rel="icon" href="data:,"><title>x</title>{html}')
        visits = Visits(chromium)
        visits(site, **options)
        visits.close()
        return [re.split(r"[: ]", complaint)[0] for complaint in visits.complaints]

    policy = "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
    assert complaints("<p>fine") == []
    assert complaints("<script>throw new Error('x')</script>") == ["error"]
    assert complaints("<script>console.warn('x')</script>") == ["console"]
    assert complaints("<script>alert(1)</script>") == ["dialog"]
    assert complaints("<script>alert(1)</script>", scripts=False) == []
    assert complaints('<script src="../outside.js"></script>') == ["request"]
    assert "request" in complaints('<img src="http://127.0.0.1:9/x.png">')
    assert complaints(f"{policy}<script>1</script>") == ["console"]


@pytest.mark.parametrize("head", ["Score", "Solved, %", "Tokens per solved", "Cost per solved"])
def test_a_columns_head_sorts_by_numbers(visit: Visits, site: Path, head: str) -> None:
    page = visit(site, ALL)
    cell = page.locator("#leaders thead th", has_text=head)
    before = column(page, head)
    assert not in_order(before)
    cell.click()
    page.wait_for_selector("#leaders th[aria-sort=ascending]")
    rising = column(page, head)
    assert in_order(rising)
    assert sorted(map(str, rising)) == sorted(map(str, before))
    # The same by the keyboard, the other way round; the empty ones change sides with it.
    button = cell.get_by_role("button")
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#leaders th[aria-sort=descending]")
    assert in_order(column(page, head)[::-1])


def test_numbers_are_sorted_as_numbers(visit: Visits, site: Path) -> None:
    page = visit(site, ALL)
    page.locator("#leaders thead th", has_text="Score").click()
    page.wait_for_selector("#leaders th[aria-sort=ascending]")
    values = [value for value in column(page, "Score") if value is not None]
    assert values == sorted(values) != sorted(values, key=str)


def test_horizons_are_sorted_beyond_first_and_below_last(visit: Visits, tmp_path: Path) -> None:
    write_report([*EPISODES, *climbed("oracle", (5, 7), "vendor/all")], tmp_path / "site")
    page = visit(tmp_path / "site", ALL)
    head = page.locator("#leaders thead th", has_text="Horizon")
    place = page.locator("#leaders thead th").evaluate_all(
        "all => all.findIndex(each => each.innerText.startsWith('Horizon'))"
    )
    cells = page.locator(f"#leaders tbody tr > :nth-child({place + 1})")

    def kinds() -> list[str]:
        firsts = [text.split()[0] for text in cells.all_inner_texts()]
        return [first if first in ("above", "below", "–") else "between" for first in firsts]

    before = kinds()
    assert {"above", "between", "below", "–"} <= set(before)
    head.click()
    page.wait_for_selector("#leaders th[aria-sort=ascending]")
    rising = ["–", "below", "between", "above"]
    assert kinds() == sorted(before, key=rising.index)
    values = [number(text) for text in cells.all_inner_texts() if text[0].isdigit()]
    assert values == sorted(values, key=lambda value: value or 0)
    head.click()
    page.wait_for_selector("#leaders th[aria-sort=descending]")
    assert kinds() == sorted(before, key=rising[::-1].index)


def test_the_table_is_searched_and_narrowed_to_a_family(visit: Visits, site: Path) -> None:
    page = visit(site, ALL)
    bar = page.locator(".narrow-down").first
    rows = page.locator("#leaders tbody tr")
    total = rows.count()
    assert bar.locator("output").inner_text() == f"{total} rows"
    family = bar.get_by_label("Family")
    family.select_option("Mazes (AliciaBench)")
    mazes = rows.count()
    assert mazes == len(sites.MODELS)
    assert set(rows.locator("td.name a").all_inner_texts()) == {"Mazes (AliciaBench)"}
    assert bar.locator("output").inner_text() == f"{mazes} of {total} rows"
    bar.get_by_label("Search").fill("steady")
    assert rows.locator("th").all_inner_texts() == [sites.STEADY]
    family.select_option("all")
    assert set(rows.locator("th").all_inner_texts()) == {sites.STEADY}
    assert 1 < rows.count() < total
    bar.get_by_label("Search").fill("<script>")
    assert set(rows.locator("th").all_inner_texts()) == {sites.SCRIPT}
    bar.get_by_label("Search").fill("nothing of the kind")
    assert bar.locator("output").inner_text() == f"0 of {total} rows"
    # The other table stays as it is.
    assert page.locator("#references tbody tr").count() > 1


def test_a_chart_shows_the_means_of_the_episodes(visit: Visits, site: Path) -> None:
    figure = visit(site, "tasks/maze-alicia.html").locator("figure").first.locator(".wide")
    marks = [
        (title, float(place))
        for title, place in figure.locator(":is(path, circle):has(title)").evaluate_all(
            "all => all.map(each => [each.textContent,"
            " each.getAttribute('cy') ?? each.getAttribute('transform').match(/,([-\\d.]+)\\)/)[1]])"
        )
    ]
    shown = [re.fullmatch(r"(.*), (\d+): ([\d.]+)(?: \(.*\))?", title) for title, _ in marks]
    wanted = {
        (each.group.model, each.level): each.best.value
        for each in estimate(each for each in sites.episodes() if each.record.instance_hash != sites.FORGED)
        if each.group.env == "maze/alicia" and each.best
    }
    assert sorted((int(each[2]), each[3]) for each in shown if each) == sorted(
        (level, f"{value:.1f}") for (_, level), value in wanted.items()
    )
    steady = {int(each[2]): each[3] for each in shown if each and each[1] == "steady"}
    assert steady == {level: f"{value:.1f}" for (model, level), value in wanted.items() if model == sites.STEADY}
    # Each mark is as high as its number says.
    heights = sorted((float(each[3]), place) for each, (_, place) in zip(shown, marks, strict=True) if each)
    (low, bottom), (high, top) = heights[0], heights[-1]
    assert (low, high) == (0.0, 100.0)
    assert bottom - top > 100
    for value, place in heights:
        assert place == pytest.approx(bottom + (top - bottom) * value / 100, abs=0.3)


def test_from_the_first_page_to_a_replay(visit: Visits, site: Path) -> None:
    page = visit(site)
    follow(page.locator("table.matrix").first.get_by_role("link", name=sites.STEADY))
    assert page.locator("h1").inner_text() == sites.STEADY
    follow(page.locator("#leaders").get_by_role("link", name="Mazes (AliciaBench)"))
    assert page.locator("h1").inner_text() == f"{sites.STEADY}: Mazes (AliciaBench)"
    follow(page.locator("article", has_text="Maze 701").get_by_role("link", name="attempt 1"))
    assert page.locator("h1").inner_text() == "Maze 701"
    follow(page.get_by_role("navigation", name="Site").get_by_role("link", name="Mazes (AliciaBench)"))
    assert page.url.endswith("#i7-1")  # back where it is among the others
    follow(page.get_by_role("navigation", name="Site").get_by_role("link", name=sites.STEADY))
    follow(page.get_by_role("navigation", name="Site").get_by_role("link", name=sites.TITLE))
    follow(page.locator("table.matrix").first.get_by_role("link", name="Mazes"))
    assert page.locator("h1").inner_text() == "Mazes (AliciaBench)"  # a family with one task has no page of its own
    follow(page.get_by_role("link", name="Two models side by side"))
    assert page.locator("h1").inner_text() == "Two models side by side"


def test_results_are_narrowed_to_what_happened(visit: Visits, site: Path) -> None:
    page = visit(site, ALL)
    follow(page.locator("#leaders tr", has_text=sites.STEADY).get_by_role("link", name="Mazes"))
    mazes = page.locator("article")
    total = mazes.count()

    def shown() -> list[str]:
        return mazes.filter(visible=True).locator("h3").all_text_contents()

    for kind, wanted in {
        f"all {total}": total,
        "not solved (2)": 2,
        "with an unparsed reply (2)": 2,
        "with an infrastructure error (1)": 1,
        "with an excluded attempt (1)": 1,
    }.items():
        page.get_by_role("radio", name=kind).check()
        assert len(shown()) == wanted
    assert shown() == ["Maze 501"]
    page.get_by_role("radio", name="with an infrastructure error").check()
    (failed,) = shown()
    assert failed == "Maze 904"
    follow(page.get_by_role("link", name="infrastructure error").first)
    assert page.locator("h1").inner_text() == failed
    assert page.locator("main .warning").inner_text() == "Excluded from scores: Timeout <b>after</b> 600 s"
    page.go_back()
    page.get_by_role("radio", name="all").check()
    reference = page.locator("article .reference").first
    # A straight line has no width by which it could be seen.
    display = "each => getComputedStyle(each).display"
    assert reference.evaluate(display) != "none"
    page.get_by_label("a shortest path").uncheck()
    assert reference.evaluate(display) == "none"


def test_hostile_text_is_text_on_every_page(visit: Visits, site: Path) -> None:
    shown: set[str] = set()
    page = visit(site)
    for name in every_page(page, site):
        assert page.evaluate("window.owned") is None, name
        assert page.locator("img, iframe, main h1, svg[onload], a[href^='javascript']").count() == 0, name
        assert page.locator("style, link[rel=stylesheet]").count() == 1, name
        text = page.locator("body").evaluate("each => each.textContent")
        assert "\u202e" not in text, name
        shown |= {hostile for hostile in (*sites.REPLIES, *sites.MODELS, sites.TITLE) if visible(hostile) in text}
    assert shown == {*sites.REPLIES, *sites.MODELS, sites.TITLE}


def test_on_a_phone_no_page_is_wider_than_the_window(visit: Visits, site: Path) -> None:
    page = visit(site, phone=True)
    assert {name: guilty for name in every_page(page, site) if (guilty := too_wide(page))} == {}


@pytest.mark.parametrize("phone", [False, True], ids=["wide", "phone"])
def test_no_table_scrolls_in_a_box_of_its_own(visit: Visits, site: Path, phone: bool) -> None:
    # Tables of variants, in which several rows share a header, are no cards.
    script = """() => [...document.querySelectorAll(".scroll")]
        .filter((each) => !each.querySelector("tbody th[rowspan]"))
        .filter((each) => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1)
        .map((each) => `${each.querySelector("table").className} ${each.scrollWidth} > ${each.clientWidth}`)"""
    page = visit(site, phone=phone)
    # The tables of two models side by side, which a script fills, still do on a phone.
    pages = (name for name in every_page(page, site) if not (phone and name.startswith("compare/")))
    found = {name: boxes for name in pages if (boxes := page.evaluate(script))}
    assert found == {}


def test_a_page_that_is_too_wide_is_noticed(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text('<meta name="viewport" content="width=device-width"><p style="width:400px">x')
    (width, guilty) = too_wide(visit(tmp_path, phone=True))
    assert width.endswith("> 390") and guilty.startswith("<p")


@pytest.mark.parametrize("name", ["index.html", "tasks/maze-alicia.html", "compare/maze-alicia.html"])
def test_dark_pages_are_dark(visit: Visits, site: Path, name: str) -> None:
    def shade(dark: bool) -> float:
        page = visit(site, name, dark=dark)
        colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3

    assert shade(dark=True) < 60 < 200 < shade(dark=False)


def test_without_scripts_pages_can_be_read(visit: Visits, site: Path) -> None:
    page = visit(site, "tasks/maze-alicia.html", scripts=False)
    assert page.locator("figure .wide svg").first.is_visible()
    page = visit(site, ALL, scripts=False)
    assert page.locator("#leaders tbody tr").count() == 14
    follow(page.locator("#leaders tr", has_text=sites.STEADY).get_by_role("link", name="Mazes"), scripts=False)
    page.get_by_role("radio", name="with an infrastructure error").check()  # by the style sheet alone
    assert page.locator("article").filter(visible=True).count() == 1
    page.get_by_role("radio", name="all").check()
    follow(page.locator("article", has_text="Maze 503").get_by_role("link", name="attempt 3"), scripts=False)
    board = page.locator("#board svg")
    assert board.is_visible() and board.get_attribute("aria-label")
    # The last drawing, which has the way that was walked.
    assert page.locator("#board .maze-trail").count() > 0
    assert page.locator(".turn").count() > 1
    assert page.locator("#controls").is_hidden()
    compare = visit(site, "compare/maze-alicia.html", scripts=False)
    assert "needs JavaScript" in compare.locator("main").inner_text()


def test_in_a_report_that_leaves_out_replays_scripts_draw_the_items(
    visit: Visits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("waybench.reporting._results.BOARDS_WITHOUT_SCRIPTS", 1)
    write_report(played("oracle", (5, 7), mazes=2), tmp_path, replays=Replays(most=1))
    (name,) = (f"results/{path.name}" for path in (tmp_path / "results").iterdir())
    assert visit(tmp_path, name, scripts=False).locator(".board svg").count() == 1
    page = visit(tmp_path, name)
    page.wait_for_function("!document.querySelector('.board:empty')")
    cards = page.locator("article")
    assert cards.count() == page.locator("article .board > svg.maze").count() == 4
    for card in cards.all():
        level = card.locator("xpath=ancestor::section").locator("h2").inner_text().split()[1]
        label = card.locator("svg").get_attribute("aria-label") or ""
        assert label.startswith(f"Maze of dimension {level}")
        assert card.locator("svg").is_visible()

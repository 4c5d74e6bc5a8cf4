"""The pages for those who do not see them, see them darkly, or have no mouse: what axe finds, and what it cannot."""

from pathlib import Path

import pytest

from tests.analysis.episodes import MAZE
from tests.browser import Visits, barriers
from tests.report import sites

pytestmark = pytest.mark.slow


def pages(site: Path) -> list[str]:
    """Return a page of every kind."""
    drawn = MAZE.id, "search/guessnum", "hanoi/rods", "textmap/destination", "bandit/arms"
    of_steady = [sites.replays(site, sites.STEADY, env)[0][0] for env in drawn]
    of_turned = [sites.replays(site, sites.TURNED, env)[0][0] for env in (MAZE.id, "search/guessnum")]
    return [
        "index.html",
        *("tasks/maze-alicia.html", "tasks/textmap-destination.html", "compare/maze-alicia.html"),
        *(path.relative_to(site).as_posix() for path in site.glob("models/*steady*.html")),
        *(path.relative_to(site).as_posix() for path in site.glob("results/*steady*.html")),
        *of_steady,
        *of_turned,
    ]


@pytest.mark.parametrize("phone", [False, True], ids=["wide", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_keeps_people_out(visit: Visits, site: Path, dark: bool, phone: bool) -> None:
    page = visit(site, phone=phone, dark=dark)
    found: dict[str, list[str]] = {}
    for name in pages(site):
        page.goto(f"{site.as_uri()}/{name}")
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        page.keyboard.press("ArrowRight")  # so that a replay has a turn to show
        if barred := barriers(page):
            found[name] = barred
    assert found == {}


def test_what_keeps_people_out_is_noticed(visit: Visits, tmp_path: Path) -> None:
    html = '<!doctype html><html lang="en"><title>x</title><main><h1>x</h1><p style="color:#bbb">pale</main>'
    (tmp_path / "index.html").write_text(html)
    (found,) = barriers(visit(tmp_path))
    assert found.startswith("color-contrast (serious)")


def test_a_sorted_column_is_told(visit: Visits, site: Path) -> None:
    page = visit(site, "all/index.html")
    for table in ("leaders", "references"):
        buttons = page.locator(f"#{table} thead").get_by_role("button")
        names = [button.get_attribute("aria-label") or "" for button in buttons.all()]
        assert len(set(names)) == page.locator(f"#{table} thead th").count()
        buttons.first.press("Enter")
        page.wait_for_selector(f"#{table} th[aria-sort=ascending]")
        assert page.locator(f"#{table} th[aria-sort]").count() == 1
    # Two tables, so that each field says of which it is.
    labels = page.locator(".narrow-down :is(input, select)").evaluate_all("all => all.map(each => each.ariaLabel)")
    assert len(labels) == len(set(labels)) == 4


def test_all_of_a_page_is_reached_by_the_keyboard(visit: Visits, site: Path) -> None:
    page = visit(site, "compare/maze-alicia.html#one=2&other=1")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to content"
    page.keyboard.press("Enter")
    assert page.url.endswith("#content")
    assert page.locator("#one").input_value() == "2"  # what was chosen stays so
    met: list[str] = []
    for _ in range(12):
        page.keyboard.press("Tab")
        met.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"one", "other", "swap"} <= set(met)
    assert "scroll" in met


def test_a_replay_stays_where_it_is_when_one_goes_to_the_content(visit: Visits, site: Path) -> None:
    page = visit(site, f"{sites.replays(site, sites.STEADY, 'search/guessnum')[0][0]}#turn=2")
    page.locator(".skip").press("Enter")
    assert page.url.endswith("#content")
    assert page.locator("#where").inner_text().startswith("Turn 2 ")

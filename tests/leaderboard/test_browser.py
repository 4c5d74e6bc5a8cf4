"""The leaderboard in a real browser: nothing is loaded or executed that should not be, and everything can be read."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser import Visits, barriers, follow, too_wide

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("options", [{}, {"phone": True}, {"dark": True}])
def test_a_board_can_be_read(visit: Visits, site: Path, options: dict[str, Any]) -> None:
    page = visit(site, **options)
    assert page.locator("h1").inner_text() == "The board"
    assert too_wide(page) == []
    assert barriers(page) == []
    scrolling = page.eval_on_selector_all(
        ".scroll", "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.innerText.slice(0, 80))"
    )
    assert scrolling == []


def test_the_way_from_a_row_to_its_verdict_and_a_replay(visit: Visits, site: Path) -> None:
    page = visit(site)
    row = page.locator("#section-1 ~ * tbody tr", has_text="lab/poor")
    assert "verified" in row.locator("th").inner_text()
    follow(row.get_by_role("link", name="verified"))
    assert page.locator("h1").inner_text() == "✓ Verified"
    assert too_wide(page) == []
    follow(page.get_by_role("link", name="Results and replays of lab/poor"))
    follow(page.locator("a[href*='results/']").first)
    follow(page.locator("a[href*='replays/']").first)
    assert "/report/replays/" in page.url
    page.goto((site / "index.html").as_uri())
    community = page.locator("section", has_text="These submissions are not verified")
    assert community.locator("tbody tr", has_text="lab/").count() == 1
    follow(community.get_by_role("link", name="community"))
    assert page.locator("h1").inner_text() == "✗ Not verified"

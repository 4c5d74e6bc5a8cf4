"""The report in a real browser: Chromium, driven by Selenium."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.analysis.episodes import logged
from tests.browser import chromium
from waybench.analysis import LoggedEpisode
from waybench.core import play_out, policy
from waybench.report import write_report

pytestmark = pytest.mark.slow
TURNS = 3


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a browser."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the first page of a report on one episode of three turns."""
    environment = waybench.load("maze/alicia")
    episode = play_out(environment, environment.source(level=9).item(0), policy("noisy-0.3"))
    assert len(episode.turns) == TURNS
    episodes: list[LoggedEpisode] = [logged(episode.record())]
    return write_report(episodes, tmp_path_factory.mktemp("site")).index


@pytest.fixture
def page(browser: Any, site: Path) -> Iterator[Any]:
    """Return the browser on the episode's page, as one gets there; in the end nothing was told on its console."""
    browser.get(site.as_uri())
    browser.find_element("css selector", 'a[href^="results/"]').click()
    browser.find_element("css selector", 'a[href^="../replays/"]').click()
    assert "/replays/" in browser.current_url
    yield browser
    assert browser.get_log("browser") == []
    fetched = browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
    assert fetched == []


def where(page: Any) -> str:
    text: str = page.find_element("id", "where").text
    return text


def current(page: Any) -> list[str]:
    return [each.get_attribute("data-turn") for each in page.find_elements("css selector", "[aria-current=step]")]


def press(page: Any, key: str) -> None:
    page.find_element("tag name", "body").send_keys(key)


def test_keys_and_buttons_go_through_the_turns(page: Any) -> None:
    keys: Any = import_module("selenium.webdriver.common.keys").Keys
    told = ["Start", *(f"Turn {turn} of {TURNS}" for turn in range(1, TURNS + 1))]
    assert (where(page), current(page)) == ("Start", [])
    trails = []
    for turn in range(1, TURNS + 1):
        press(page, keys.ARROW_RIGHT)
        assert (where(page), current(page)) == (told[turn], [str(turn)])
        trails.append(page.find_element("id", "board").get_attribute("innerHTML"))
        assert page.current_url.endswith(f"#turn={turn}")
    assert len(set(trails)) == TURNS
    press(page, keys.ARROW_RIGHT)  # it ends where the record ends
    assert where(page) == told[-1]
    for key, wanted in ((keys.HOME, 0), (keys.END, TURNS), (keys.ARROW_LEFT, TURNS - 1)):
        press(page, key)
        assert where(page) == told[wanted]
    for button, wanted in (("first", 0), ("next", 1), ("end", TURNS), ("back", TURNS - 1)):
        page.find_element("id", button).click()
        assert where(page) == told[wanted]
    page.find_element("id", "slider").send_keys(keys.ARROW_LEFT)
    assert where(page) == told[TURNS - 2]


def test_it_plays_to_the_end_and_stops(page: Any) -> None:
    ui: Any = import_module("selenium.webdriver.support.ui")
    ui.Select(page.find_element("id", "speed")).select_by_visible_text("10")
    play = page.find_element("id", "play")
    play.click()
    assert play.get_attribute("aria-pressed") == "true"
    ui.WebDriverWait(page, 20).until(lambda _: play.get_attribute("aria-pressed") == "false")
    assert (where(page), play.text) == (f"Turn {TURNS} of {TURNS}", "Play")


def test_the_shortest_path_is_switched_off(page: Any) -> None:
    def shown() -> bool:
        seen: bool = page.find_element("css selector", "#board .reference").is_displayed()
        return seen

    assert shown()
    page.find_element("id", "show-reference").click()
    assert not shown()


def test_on_a_phone_nothing_is_wider_than_the_page(page: Any) -> None:
    page.set_window_size(500, 900)
    try:
        width, wanted = page.execute_script(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert width <= wanted
    finally:
        page.set_window_size(1280, 900)

"""Pages in a real browser: they reload when a log is added, and leave the reader where he was."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.browser import chromium
from tests.cli.support import watched
from tests.view.support import PATIENCE, served, until
from waybench.llm import evaluate
from waybench.tasks import TASKS, load_task
from waybench.view._site import Site

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a browser."""
    with chromium() as found:
        yield found


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str], None]:
    """Return a function that has a player play in a folder, whose logs appear in another one when it is through."""

    def play(player: str) -> None:
        out = tmp_path / player
        entry = next(entry for entry in TASKS if entry.name == "alicia")
        assert evaluate([partial(load_task(entry), max_dimension=5)], [f"waybench/{player}"], out) == []
        (log,) = out.glob("*.eval")
        log.rename(tmp_path / "logs" / log.name)

    (tmp_path / "logs").mkdir()
    return play


def mark(browser: Any) -> Callable[[], bool]:
    """Leave a mark on the page as it is loaded; return whether it has been loaded again."""
    browser.execute_script("window.marked = true")
    return lambda: browser.execute_script("return document.readyState === 'complete' && !window.marked")


def text(browser: Any) -> str:
    return browser.find_element("tag name", "body").text


def follow(browser: Any, selector: str) -> None:
    """Go where the first such link leads."""
    browser.get(browser.find_element("css selector", selector).get_property("href"))


def test_an_open_page_reloads_when_a_log_is_added(browser: Any, run: Callable[[str], None], tmp_path: Path) -> None:
    command = ("view", str(tmp_path / "logs"), "--port", "0", "--every", "0.2")
    with watched(*command, patience=4 * PATIENCE, text=True) as process:
        assert process.stdout
        browser.get(process.stdout.readline().split()[1])
        until(lambda: "No episodes yet" in text(browser))
        again = mark(browser)
        run("noisy-0.3")
        until(again)
        assert "noisy-0.3" in text(browser) and "oracle" not in text(browser)
        again = mark(browser)
        run("oracle")
        until(again)
        assert "oracle" in text(browser)
        # The page of an episode is the same as before, with all that there is to see and to try.
        follow(browser, 'a[href^="models/"]')
        while "/replays/" not in browser.current_url:
            follow(browser, 'main a[href*="/replays/"], main a[href*="/results/"]')
        assert browser.find_element("id", "where").text == "Start"
        browser.find_element("id", "next").click()
        assert browser.current_url.endswith("#turn=1")
        assert browser.get_log("browser") == []
        process.terminate()
        process.communicate()


PAGE = """<!doctype html>
<html><head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>x</title><link rel="icon" href="data:,">
<style>p {{ height: 3000px; }}</style>
</head><body>
{0}
<section id="b"><details><summary>First</summary>1</details><details id="second"><summary>Second</summary>2</details>
<input id="words"> <input type="checkbox" id="box" checked> <select><option>one<option>two</select></section>
<p>{1}</p>
</body></html>
"""


def test_a_page_that_reloads_is_left_as_it_was(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(PAGE.format("", "before"))

    def state() -> Any:
        return browser.execute_script(
            "return [location.hash, [...document.querySelectorAll('#b details')].map(each => each.open),"
            "words.value, box.checked, document.querySelector('select').value]"
        )

    with served(Site(tmp_path, "")) as port:
        browser.get(f"http://localhost:{port}/#turn=3")
        browser.execute_script(
            "second.open = true; words.value = 'maze'; box.checked = false;"
            "document.querySelector('select').value = 'two'; scrollTo(0, 700)"
        )
        wanted = ["#turn=3", [False, True], "maze", False, "two"]
        assert state() == wanted
        again = mark(browser)
        (tmp_path / "index.html").write_text(PAGE.format("<details><summary>New</summary></details>", "after"))
        until(again)
        assert "after" in text(browser)
        assert state() == wanted
        # What is new at the top may be allowed for, so that what was in sight still is.
        assert abs(browser.execute_script("return scrollY") - 700) < 50
        # A page that is gone on the server is left as it is.
        again = mark(browser)
        browser.execute_script("history.replaceState(null, '', '/gone-already.html')")
        looked = "return performance.getEntriesByType('resource').filter(each => each.initiatorType === 'fetch').length"
        count = browser.execute_script(looked)
        until(lambda: browser.execute_script(looked) > count + 1)
        assert not again()
    errors = [entry["message"] for entry in browser.get_log("browser")]
    assert all("404" in error or "ERR_CONNECTION" in error for error in errors), errors


def test_pages_run_no_script_but_those_of_the_site(browser: Any, tmp_path: Path) -> None:
    hostile = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
    (tmp_path / "index.html").write_text(PAGE.format(hostile, ""))
    with served(Site(tmp_path, "")) as port:
        browser.get(f"http://127.0.0.1:{port}/")
        again = mark(browser)
        (tmp_path / "index.html").write_text(PAGE.format(hostile, "new"))
        until(again)  # ours does run
        assert browser.title == "x"
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))

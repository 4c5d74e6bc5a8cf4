"""Pages in a real browser: they reload when a log is added, and leave the reader where he was."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Visits, follow
from tests.cli.support import watched
from tests.view.support import PATIENCE, TOKEN, served, until
from waybench.core import PROGRESS_FILE
from waybench.evaluation import evaluate
from waybench.evaluation._preflight import lock_folder
from waybench.evaluation.tasks import TASKS, load_task
from waybench.reporting.view._app import LiveSite

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the logs of two players; made before there is a browser, beside which nothing is evaluated."""
    found: dict[str, Path] = {}
    for player in ("noisy-0.3", "oracle"):
        out = tmp_path_factory.mktemp(player)
        entry = next(entry for entry in TASKS if entry.name == "alicia")
        assert evaluate([partial(load_task(entry), max_dimension=5)], [f"waybench/{player}"], out) == []
        (found[player],) = out.glob("*.eval")
    return found


def mark(page: Any) -> Callable[[], None]:
    """Mark the page; return a function that waits until it has been loaded again, as a whole."""
    page.evaluate("document.documentElement.className = 'marked'")

    def again() -> None:
        page.locator("html:not(.marked)").wait_for(state="attached", timeout=1000 * PATIENCE)
        page.wait_for_load_state("load", timeout=1000 * PATIENCE)  # what the reader did is restored by then

    return again


def text(page: Any) -> str:
    found: str = page.locator("body").inner_text()
    return found


def test_an_open_page_reloads_when_a_log_is_added(visit: Visits, logs: dict[str, Path], tmp_path: Path) -> None:
    command = ("view", str(tmp_path), "--port", "0", "--every", "0.2")
    with watched(*command, patience=4 * PATIENCE, text=True) as process:
        assert process.stdout
        server, _, token = process.stdout.readline().split()[1].rpartition("/")
        page = visit(server, token)
        assert page.url == f"{server}/"
        until(lambda: "No episodes yet" in text(page))
        again = mark(page)
        logs["noisy-0.3"].rename(tmp_path / logs["noisy-0.3"].name)
        again()
        assert "noisy-0.3" in text(page) and "waybench/oracle" not in text(page)
        again = mark(page)
        logs["oracle"].rename(tmp_path / logs["oracle"].name)
        again()
        assert "waybench/oracle" in text(page)
        # The page of an episode is the same as before, with all that there is to see and to try.
        follow(page.locator("main a[href^='results/']").first)
        follow(page.locator("main a[href^='../replays/']").first)
        page.locator("#controls").wait_for()
        assert page.locator("#where").inner_text() == "Start"
        page.locator("#next").click()
        assert "#turn=1" in page.url  # and the move of the plan
        # Nobody asks the server any more when it ends.
        visit.close()
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


def test_a_page_that_reloads_is_left_as_it_was(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(PAGE.format("", "before"))

    def state() -> Any:
        return page.evaluate(
            "[location.hash, [...document.querySelectorAll('#b details')].map(each => each.open),"
            "words.value, box.checked, document.querySelector('select').value]"
        )

    with served(LiveSite(tmp_path, "")) as port:
        page = visit(f"http://localhost:{port}", f"?token={TOKEN}#turn=3")
        page.evaluate(
            "second.open = true; words.value = 'maze'; box.checked = false;"
            "document.querySelector('select').value = 'two'; scrollTo(0, 700)"
        )
        wanted = ["#turn=3", [False, True], "maze", False, "two"]
        assert state() == wanted
        again = mark(page)
        (tmp_path / "index.html").write_text(PAGE.format("<details><summary>New</summary></details>", "after"))
        again()
        assert "after" in text(page)
        assert state() == wanted
        # What is new at the top may be allowed for, so that what was in sight still is.
        assert abs(page.evaluate("scrollY") - 700) < 50
        assert visit.complaints == []
        # A page that is gone on the server is left as it is.
        mark(page)
        page.evaluate("history.replaceState(null, '', '/gone-already.html')")
        looked = "performance.getEntriesByType('resource').filter(each => each.name.endsWith('-already.html')).length"
        count = page.evaluate(looked)
        until(lambda: page.evaluate(looked) > count + 1)
        assert page.locator("html.marked").count() == 1
        visit.close()
    assert visit.complaints and all("404" in complaint for complaint in visit.complaints)
    visit.complaints.clear()


def test_pages_run_no_script_but_those_of_the_site(visit: Visits, tmp_path: Path) -> None:
    hostile = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
    (tmp_path / "index.html").write_text(PAGE.format(hostile, ""))
    with served(LiveSite(tmp_path, "")) as port:
        page = visit(f"http://127.0.0.1:{port}", f"?token={TOKEN}")
        again = mark(page)
        (tmp_path / "index.html").write_text(PAGE.format(hostile, "new"))
        again()  # ours does run
        assert page.title() == "x"
        visit.close()
    assert visit.complaints and all("Content Security Policy" in complaint for complaint in visit.complaints)
    visit.complaints.clear()


def test_a_strip_shows_the_progress_until_the_run_is_finished(visit: Visits, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(PAGE.format("", ""))
    logs = tmp_path / "logs"
    logs.mkdir()
    name = "alicia with <img src=x onerror=alert(1)>"

    def write(done: int, state: str = "running") -> None:
        texts = {"name": name, "done_text": f"{done} of 12", "use_text": "40 requests", "state_text": "2 min"}
        task = {"state": "running", "done": done, "total": 12, **texts}
        data = {"form": 1, "state": state, "text": "running for 20 s", "written": 0, "tasks": [task]}
        (logs / "new").write_text(json.dumps(data))
        (logs / "new").replace(logs / PROGRESS_FILE)

    with served(LiveSite(tmp_path, "", folders=(logs,))) as port, lock_folder(logs):
        write(3)
        page = visit(f"http://127.0.0.1:{port}", f"?token={TOKEN}")
        strip = page.locator("#waybench-progress")
        strip.wait_for(timeout=1000 * PATIENCE)
        assert strip.inner_text().split("\n") == ["Running for 20 s", name, "3 of 12", "40 requests", "2 min left"]
        assert page.locator("#waybench-progress progress").evaluate("bar => bar.value") == 0.25
        assert page.locator("#waybench-progress img").count() == 0
        strip.locator("summary").click()  # a reader who folds it finds it folded when numbers change
        write(6)
        until(lambda: page.locator("#waybench-progress progress").evaluate("bar => bar.value") == 0.5)
        assert strip.locator("details").evaluate("box => box.open") is False
        write(12, "finished")
        strip.wait_for(state="detached", timeout=1000 * PATIENCE)
        assert visit.complaints == []
        visit.close()

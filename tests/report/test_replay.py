"""The pages on which an episode can be followed, in a real browser too."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.analysis.episodes import failed, logged, played, said
from tests.conftest import missing
from tests.report.pages import Page, read, site
from waybench.analysis import LoggedEpisode
from waybench.core import Episode, TurnRecord, play_out, policy
from waybench.envs.maze._draw import draw
from waybench.report import write_report


def episode(player: str = "noisy-0.3") -> Any:
    environment = waybench.load("maze/alicia")
    return play_out(environment, environment.source(level=9).item(0), policy(player))


def test_every_attempt_has_a_page_and_a_link(tmp_path: Path) -> None:
    hostile = said(["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)"])
    claimed = replace(said(["a", "b", "c"], number=1), instance_hash="0" * 64)
    lost = failed(said(["a", "b", "c"], number=2))
    episodes = [*played("noisy-0.3", (9,), mazes=2), logged(hostile), logged(claimed), logged(lost)]
    made = site(tmp_path, episodes)
    pages = {path.name: read(path) for path in (tmp_path / "replays").iterdir()}
    links = {link.removeprefix("../replays/") for page in made.results for link in page.links("../replays/")}
    assert links == set(pages)
    assert len(pages) == len(episodes)
    for page in pages.values():
        turns = [attributes["data-turn"] for _, attributes in page.elements if "data-turn" in attributes]
        assert turns == [str(number) for number in range(1, len(turns) + 1)]
        assert json.loads(page.scripts[0])["turns"][-1] == len(turns)
        # Nothing of a record that a simulation does not confirm is drawn.
        assert bool(page.all("svg")) == ("does not agree with a new simulation" not in page.text)
    assert any("</script><script>alert(1)</script>" in page.words for page in pages.values())


def test_pages_of_an_earlier_report_go(tmp_path: Path) -> None:
    write_report(played("noisy-0.3", (9,), mazes=2), tmp_path)
    before = {path.name for path in (tmp_path / "replays").iterdir()}
    (tmp_path / "replays" / "mine.html").write_text("kept")
    write_report(played("oracle", (9,), mazes=1), tmp_path)
    after = {path.name for path in (tmp_path / "replays").iterdir()}
    assert "mine.html" in after
    assert not before & after
    assert len(after) == 2


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def opened(page: Path, fragment: str) -> tuple[Page, str]:
    """Return what a browser has made of a page, and what it told on its console."""
    if CHROMIUM is None:
        missing("no Chromium: install Debian's package chromium")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    done = subprocess.run(
        [CHROMIUM, *options, "--virtual-time-budget=3000", f"{page.as_uri()}{fragment}"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    told = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return Page(done.stdout), told


def shapes(drawing: str) -> list[tuple[str, dict[str, str]]]:
    return [
        (tag.lower(), {name.lower(): text for name, text in found.items()}) for tag, found in Page(drawing).elements
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("fragment", "turn"), [("", 0), ("#turn=2", 2), ("#turn=99", 0), ("#turn=x", 0)])
def test_in_a_browser(tmp_path: Path, fragment: str, turn: int) -> None:
    done = episode()
    turns: tuple[TurnRecord, ...] = done.turns
    write_report([logged(done.record())], tmp_path)
    (path,) = (tmp_path / "replays").iterdir()
    page, console = opened(path, fragment)
    assert console == ""  # neither an error nor a breach of the policy
    (where,) = re.findall(r"<output[^>]*>([^<]*)</output>", page.html)
    assert where == (f"Turn {turn} of 3" if turn else "Start")
    current = [found["data-turn"] for _, found in page.elements if found.get("aria-current") == "step"]
    assert current == ([str(turn)] if turn else [])
    later = [found["data-turn"] for _, found in page.elements if "later" in found.get("class", "").split()]
    assert later == [str(number) for number in range(turn + 1, 4)]
    board = page.html[page.html.index('<div id="board">') + len('<div id="board">') :]
    assert shapes(board[: board.index("</svg>") + 6]) == shapes(draw(done.item.instance, turns[:turn]))
    controls = next(found for _, found in page.elements if found.get("id") == "controls")
    assert "hidden" not in controls


def test_what_a_reply_was_read_as_is_marked(tmp_path: Path) -> None:
    environment = waybench.load("rps/rounds")
    item = environment.source("marks", 1).item(0)
    done = Episode(environment, item, {"wording": "one_question", "steps": 4})
    replies = ["I play <b>Rock</b> now", "Paper", "Rock or Rock", "none of it"]
    for reply in replies:
        done.step(reply)
    write_report([LoggedEpisode("m", "rps", done.record())], tmp_path)
    (path,) = (tmp_path / "replays").iterdir()
    html = read(path).html
    assert "I play &lt;b&gt;<mark>Rock</mark>&lt;/b&gt; now" in html
    assert html.count("<mark>") == 1  # where it is the whole reply, or stands there twice, nothing is
    told = re.findall(r"Read as: <code>([^<]*)</code>", html)
    assert told == ["Rock", "?"]

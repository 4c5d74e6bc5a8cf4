"""Two people play in a real browser, and the report shows them."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import waybench
from tests.browser import Visits, barriers, chromium, lacking, too_wide
from tests.conftest import PATIENCE
from waybench.core import Episode, EpisodeRecord, replay
from waybench.people import PlayedEpisode

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(lacking()), reason=lacking())]
WAIT = PATIENCE * 1000  # milliseconds


@pytest.fixture(scope="module")
def visits() -> Iterator[Visits]:
    with chromium() as browser:
        found = Visits(browser)
        yield found
        found.close()


class Server:
    """`waybench play --web` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.record = folder / "people.jsonl"
        codes, introduction = folder / "codes.txt", folder / "introduction.txt"
        codes.write_text("k7\nq4\n")
        introduction.write_text("We record <your> replies.\n")
        self._command = [sys.executable, "-m", "waybench", "play", "--web", "hanoi", "maze", "--record", self.record]
        self._command += ["--codes", codes, "--introduction", introduction, "--port", "0"]
        self.start()

    def start(self) -> None:
        """Start it, and learn its address."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().split()[1]

    def stop(self) -> int:
        """End it as Ctrl-C does."""
        self._process.send_signal(signal.SIGINT)
        with self._process:  # its pipe is closed, too
            return self._process.wait(PATIENCE)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path)
    yield running
    running.stop()


def join(visits: Visits, server: Server, code: str, *, phone: bool = False, dark: bool = False) -> "Page":
    site, page = server.address.rsplit("/", 1)
    opened = visits(site, page, phone=phone, dark=dark)
    opened.set_default_timeout(WAIT)
    assert barriers(opened) == []
    opened.fill("#code", code)
    opened.click("button.main")
    return opened


def begin(page: "Page") -> None:
    page.wait_for_selector("text=We record <your> replies.")
    assert barriers(page) == []
    page.check("input[type=checkbox]")
    page.click("button.main")
    page.wait_for_selector("text=item 1 of 2")


def act(page: "Page", number: str) -> None:
    """Click the button of an action by its number, and wait for the turn."""
    place = page.get_attribute("#page", "data-place")
    page.click(f'button[name=action][value="{number}"]')
    page.wait_for_selector(f"#page:not([data-place='{place}'])")


def test_two_people_play_two_items_each(server: Server, visits: Visits, tmp_path: Path) -> None:
    ada, bob = join(visits, server, "k7"), join(visits, server, "q4", phone=True, dark=True)
    for page in (ada, bob):
        begin(page)
        assert barriers(page) == []
        assert too_wide(page) == []
    # A puzzle by its buttons, with a reload in between.
    first, *others = solution("hanoi/rods")
    act(ada, first)
    drawn = ada.inner_html("svg.board")
    ada.reload()
    assert ada.inner_html("svg.board") == drawn
    for number in others:
        act(ada, number)
    ada.wait_for_selector("text=Solved.")
    assert barriers(ada) == []
    act(bob, "2")
    bob.click("summary:has-text('Give up')")
    bob.click("button:has-text('Yes, give up')")
    for page in (ada, bob):
        page.wait_for_selector("[data-view=break]")
        page.click("button.main")
        page.wait_for_selector("text=item 2 of 2")
    # A maze by its keys.
    ways = dict(up="ArrowUp", down="ArrowDown", left="ArrowLeft", right="ArrowRight")
    for way, cells in waybench.load("maze/alicia").source().item(0).proof["solution"]:
        for _ in range(cells):
            ada.keyboard.press(ways[way])
    ada.keyboard.press("Enter")
    ada.wait_for_selector("text=Solved.")
    bob.fill("#typed", "banana")
    bob.keyboard.press("Enter")
    bob.wait_for_selector("text=Not understood")
    bob.fill("#typed", "")
    bob.click("[data-part=up]")
    bob.keyboard.press("Enter")
    bob.wait_for_selector("text=2 requests left")
    # The server goes, and comes back with everything.
    assert server.stop() == 0
    server.start()
    again = join(visits, server, "q4")
    again.wait_for_selector("text=2 requests left")
    again.click("summary:has-text('Give up')")
    again.click("button:has-text('Yes, give up')")
    again.wait_for_selector("[data-view=break]")
    again.click("button.main")
    again.wait_for_selector("text=Thank you")
    assert visits.complaints == []
    lines = [json.loads(line) for line in server.record.read_text().splitlines()]
    assert [(line["player"], line["task"], line["end"]) for line in lines] == [
        ("human/k7", "hanoi", "solved"),
        ("human/q4", "hanoi", "turn_limit"),
        ("human/k7", "alicia", "solved"),
        ("human/q4", "alicia", "turn_limit"),
    ]
    for line in lines:
        data = {name: value for name, value in line.items() if name not in ("task", "settings")}
        replay(waybench.load(line["env"]), EpisodeRecord.from_json(data))
        assert all(turn["usage"]["seconds"] > 0 for turn in line["turns"] if turn["reply"])
    done = subprocess.run(
        [sys.executable, "-m", "waybench", "report", server.record, "--out", tmp_path / "site"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    # The first page may break the line within a name.
    pages = [(tmp_path / "site" / name).read_text().replace("<wbr>", "") for name in ("index.html", "summary.json")]
    assert all("human/k7" in page and "human/q4" in page for page in pages)


def solution(env_id: str) -> list[str]:
    """Return the oracle's actions as numbers of the list."""
    environment = waybench.load(env_id)
    game = PlayedEpisode(Episode(environment, environment.source().item(0)), "task", {})
    found: list[str] = []
    while not game.episode.done:
        episode = game.episode
        action = environment.players.policies["oracle"](episode.state, episode.stream("oracle"))
        found.append(str(action.action + 1))
        game.play_typed(found[-1])
    return found

"""The pages on which an episode can be followed."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import waybench
from tests.analysis.episodes import failed, logged, played, said
from tests.report.pages import read, site
from waybench.analysis import LoggedEpisode
from waybench.core import Episode, play_out, policy
from waybench.reporting import write_report


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
        assert bool(page.all("svg")) == ("does not agree with the re-simulation" not in page.text)
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
    assert told == ["Rock"]
    assert html.count("No action was read; the environment took the action that the protocol sets") == 1

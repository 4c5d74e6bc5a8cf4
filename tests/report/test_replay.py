"""The pages on which an episode can be followed."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import waybench
from tests.analysis.episodes import failed, logged, played, said
from tests.report.pages import read, site, unpacked
from waybench.core import Episode, Reply, Usage, play_to_end, policy
from waybench.reporting import write_report
from waybench.results import LoggedEpisode
from waybench.results.logs._settings import Origin


def episode(player: str = "noisy-0.3") -> Any:
    environment = waybench.load("maze/alicia")
    return play_to_end(environment, environment.source(level=9).item(0), policy(player))


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
        assert unpacked(page.scripts[0])["turns"][-1] == len(turns)
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
    told = re.findall(r"Action read from the reply: <code>([^<]*)</code>", html)
    assert told == ["Rock"]
    assert html.count("No action was read; the environment took “Rock”, which the protocol sets") == 1


def test_plans_are_walked_move_by_move(tmp_path: Path) -> None:
    (page,) = site(tmp_path, played("oracle", (9,), mazes=1)).replays
    data = unpacked(page.scripts[0])
    environment = waybench.load("maze/alicia")
    maze = environment.source(level=9).item(0).instance
    shortest = maze.lattice.shortest_path(maze.entrance, maze.exit)
    assert data["moves"] == [1, len(shortest)]  # the start, and one plan with all moves
    assert f'data-walk="1" data-moves="{len(shortest)}"' in page.html


def test_reasoning_is_folded_and_each_call_has_its_tokens_and_time(tmp_path: Path) -> None:
    usage = Usage(input_tokens=1200, output_tokens=45, reasoning_tokens=30, seconds=1.25)
    environment = waybench.load("maze/alicia")
    done = Episode(environment, environment.source(level=9).item(0))
    done.step(Reply("<think>First <b>left</b>.</think>I go up.", usage=usage))
    done.step(Reply("no idea"))
    episode = LoggedEpisode("m", "alicia", done.record(), reasoning={"1": "PublishedMatch the <i>reply</i>."})
    (page,) = site(tmp_path, [episode]).replays
    folds = re.findall(r'<details class="reasoning">.*?<pre tabindex=0>(.*?)</pre>', page.html, re.DOTALL)
    assert folds == ["First &lt;b&gt;left&lt;/b&gt;.", "PublishedMatch the &lt;i&gt;reply&lt;/i&gt;."]
    assert "<pre>I go up.</pre>" in page.html
    assert re.findall(r'<p class="cost">(.*?)</p>', page.html) == [
        "1,200 input tokens, 45 output tokens (30 for reasoning), 1.2 s"
    ]


def test_pages_lead_to_other_attempts_items_and_players(tmp_path: Path) -> None:
    episodes = [
        replace(each, origin=Origin("2026-01-31 12:00 UTC", "0.1.0", f"waybench run alicia --model {each.model}"))
        for each in (*played("null", (5,), mazes=2, model="a/b"), *played("oracle", (5,), mazes=2, model="c/d"))
    ]
    made = site(tmp_path, episodes)
    found: dict[tuple[str, int], list[str]] = {}
    for path in (tmp_path / "replays").iterdir():
        html = read(path).html
        links = re.findall(r'<li><a href="([^"]+)">([^<]+)</a>', html)
        assert all((tmp_path / "replays" / target).is_file() for target, _ in links)
        (command,) = re.findall(r"<pre>(waybench run [^<]*)</pre>", html)
        model = command.split(" --model ")[1]
        assert command == f"waybench run alicia --model {model}"
        number = int(path.stem.rpartition("-")[2])
        found[model, number] = [title for _, title in links]
        index = (number - 1) // 3 if model == "a/b" else number - 1
        assert f"<pre>waybench play maze/alicia --level 5 --index {index}</pre>" in html
    assert len(made.replays) == len(found) == 8
    assert found["a/b", 1][:2] == ["Next attempt", "Next item"]
    assert found["a/b", 2][:3] == ["Previous attempt", "Next attempt", "Next item"]
    assert found["a/b", 6][:2] == ["Previous attempt", "Previous item"]
    assert found["c/d", 1][0] == "Next item"
    assert all(len(titles) >= 2 for titles in found.values())

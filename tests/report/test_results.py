"""The pages of a model's results at a task: its items with their attempts, drawings, and what they are filtered by."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import waybench
from tests.analysis.episodes import detour, failed, item, logged, played, said
from tests.analysis.maps import answered, corridor
from tests.analysis.searches import searched
from tests.analysis.worlds import searched as looked_for
from tests.report.pages import Page, Site, site, unpacked
from waybench.core import LiveError, Message, Reply, play_to_end, policy
from waybench.reporting import write_report
from waybench.reporting._replays import Replays
from waybench.reporting._results import item_kinds
from waybench.results import LoggedEpisode
from waybench.results.formatting import LOST

WALL = '{"movements": [{"direction": "up", "cells": 9}]}'


def result(out: Path, episodes: list[LoggedEpisode]) -> Page:
    return site(out, episodes).result


def cards(page: Page) -> list[str]:
    """Return the items' cards as HTML."""
    return [part.split("</article>")[0] for part in page.html.split("<article ")[1:]]


def classes(card: str) -> set[str]:
    (found,) = re.findall(r'\Aclass="card([^"]*)"', card)
    return {name.removeprefix("is-") for name in found.split()}


def test_every_maze_is_there_with_its_attempts(tmp_path: Path) -> None:
    episodes = played("random", (5, 7), mazes=4)
    made = site(tmp_path, episodes)
    names = [e.record.item["id"] for e in episodes]
    found = cards(made.result)
    assert len(found) == len(set(names)) == 8
    assert [re.findall(r"<h3[^>]*>Maze (\d+)</h3>", card) for card in found] == [
        [name] for name in dict.fromkeys(names)
    ]
    for card in found:
        (name,) = re.findall(r"Maze (\d+)</h3>", card)
        links = re.findall(r'<li class="attempt"><span class="number">\d</span> <a href="\.\./replays/([^"]+)">', card)
        assert len(links) == len(set(links)) == names.count(name)
        # The best attempt is drawn, and the drawing leads to it.
        assert card.count('<svg class="maze"') == 1
        (board,) = re.findall(r'<a class="board" href="\.\./replays/([^"]+)"', card)
        assert board in links
    assert made.result.links("../replays/") == {f"../replays/{path.name}" for path in (tmp_path / "replays").iterdir()}
    assert not made.result.all("pre")  # what was said is on the attempts' pages alone


def test_path_of_the_best_attempt_is_what_happened(tmp_path: Path) -> None:
    maze = item(7)
    page = result(tmp_path, [logged(detour(maze, 4, 1)), logged(detour(maze, 2, 2))])
    first = page.html.index('class="maze"')
    label = page.html[first : page.html.index(">", first)]
    assert f"{maze.proof['minimum'] + 2} steps walked in 1 request" in label
    assert "Drawn: attempt 2." in page.text
    (board,) = re.findall(r'<a class="board" href="([^"]+)"', page.html)
    assert re.findall(rf'<span class="number">(\d)</span> <a href="{re.escape(board)}">', page.html) == ["2"]


def test_of_many_replies_each_outcome_is_counted(tmp_path: Path) -> None:
    few = result(tmp_path / "few", searched("null", count=1))
    episodes = searched("random", "bfs", count=1, level=15)
    (turns,) = (episode.record.turns for episode in episodes)
    many = result(tmp_path / "many", episodes)
    assert len(turns) > 6
    assert re.findall(r'<span class="chip \w+">([^<]+)</span>', few.html) == ["unparsed"] * 4
    found = dict(re.findall(r'<span class="chip (\w+)">(\d+) \w+</span>', many.html))
    wanted = [str(turn.outcome) for turn in turns]
    assert found == {outcome: str(wanted.count(outcome)) for outcome in set(wanted)}


def test_what_items_are_filtered_by(tmp_path: Path) -> None:
    claimed = replace(detour(item(5, 6), 0), instance_hash="0" * 64)
    episodes = [
        *(logged(detour(item(5, 0), extra, attempt)) for attempt, extra in ((1, 2), (2, 0), (3, 2))),
        logged(said([WALL, "", WALL], level=5, number=1)),
        logged(said([Reply("x", "truncated"), Reply("x", "refused"), WALL], level=5, number=2)),
        logged(failed(detour(item(5, 3), 2))),
        logged(failed(detour(item(5, 4), 2))),
        logged(said([WALL, "", ""], level=5, number=4, attempt=2)),
        logged(detour(item(5, 5), 2)),
        logged(claimed),
    ]
    page = result(tmp_path, episodes)
    wanted = [
        {"solved", "aside"},
        {"unsolved", "unparsed", "illegal", "failed-outside"},
        {"unsolved", "truncated", "refused", "illegal", "failed-refused"},
        {"error"},
        {"unsolved", "unparsed", "illegal", "error", "failed-unparsed"},
        {"solved"},
        {"aside"},
    ]
    assert [classes(card) for card in cards(page)] == wanted
    told = " ".join(page.html.split('<fieldset class="filter">')[1].split("</fieldset>")[0].split())
    assert "all 7" in told
    # Without a script: the style sheet hides what is not of the kind, and knows of each.
    style = (tmp_path / "assets" / "style.css").read_text(encoding="utf-8")
    assert "failed by movements out of the maze (1)" in told
    for kind, words in item_kinds("maze/alicia").items():
        count = sum(kind in each for each in wanted)
        assert (f'id="show-{kind}"> {words} ({count})' in told) == (count > 0)
        assert f"body:has(#show-{kind}:checked) .card:not(.is-{kind}) {{ display: none; }}" in style
    assert not page.all("script")


def test_a_filter_that_would_hide_all_or_nothing_is_not_offered(tmp_path: Path) -> None:
    assert not result(tmp_path / "a", played("oracle", (5,))).all("fieldset")
    mixed = result(tmp_path / "b", [logged(detour(item(5, 0), 2)), logged(said(["", "", ""], level=5, number=1))])
    assert [box["id"] for box in mixed.all("input") if "id" in box and box["type"] == "radio"] == [
        *("show-solved", "show-unsolved", "show-unparsed", "show-failed-unparsed")
    ]


def test_a_record_that_does_not_agree_says_so(tmp_path: Path) -> None:
    record = detour(item(7), 2)
    forged = replace(record, turns=(record.turns[0]._replace(events={**record.turns[0].events, "moved": 1}),))
    no_maze = replace(detour(item(7, 1), 2), instance={"maze": [[1, "<b>"]]})
    odd = replace(detour(item(7, 2), 2), options={**record.options, "wording": ["x"]})
    made = site(tmp_path, [logged(forged), logged(no_maze)])
    told = [page.text for page in made.replays]
    assert all("does not agree with the re-simulation" in text for text in told)
    assert sum("turn 0: events" in text for text in told) == 1
    assert all("<Maze map>" in text for text in told)  # the maze without a drawing shows what the player saw
    assert not [page for page in made.pages if page.all("svg") and 'class="maze"' in page.html]
    assert made.result.text.replace(LOST, "").count("does not replay") == 2
    others = site(tmp_path / "odd", [logged(odd), logged(detour(item(7), 0))])
    assert sum("Excluded, since their records do not agree" in page.text for page in others.tasks.values()) == 1


def test_a_living_world_is_taken_for_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.results.results._measured_row.replay", _living)
    made = site(tmp_path, looked_for("oracle", "own", count=1))
    (page,) = made.replays
    for told in (page.text, made.result.text):
        assert "ot re-simulated: it was played in a live world." in told
        assert "does not" not in told.split("Made by waybench")[0]
    # Anything may stand in its record, so that nothing of it is drawn.
    assert not page.all("svg")
    assert not made.result.all("svg")
    assert made.result.table("By level of distance.")[1][1:3] == ["1", "1"]


def _living(*record: Any, **watch: Any) -> None:
    raise LiveError("it was played in a live world")


@pytest.mark.slow
def test_large_boards_stay_small(tmp_path: Path) -> None:
    maze = item(101)
    made = site(tmp_path, [logged(detour(maze, 2 * extra + 2, extra)) for extra in (1, 2, 3)])
    (board,) = re.findall(r'<svg class="maze.*?</svg>', made.result.html, re.DOTALL)
    assert len(board) < 25_000
    assert len(made.replays) == 3
    assert all(page.html.count('class="maze-floor"') == 1 for page in made.replays)


def test_boards_have_room_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = played("oracle", (5,), mazes=4)
    full = result(tmp_path / "full", episodes)
    (first, *_), size = cards(full), len(re.findall(r'<svg class="maze.*?</svg>', full.html, re.DOTALL)[0])
    monkeypatch.setattr("waybench.reporting._results.BOARDS_OF_A_PAGE", size + 1)
    page = result(tmp_path / "little", episodes)
    assert [card.count("<svg") for card in cards(page)] == [1, 1, 0, 0]
    assert "Drawn" not in first  # there is one attempt
    assert all('<li class="attempt">' in card for card in cards(page))


def test_where_replays_are_left_out_scripts_draw_most_boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = played("oracle", (5,), mazes=4)
    full = result(tmp_path / "full", episodes)
    boards = re.findall(r'<svg class="maze.*?</svg>', full.html, re.DOTALL)
    assert not full.all("script")
    monkeypatch.setattr("waybench.reporting._results.BOARDS_WITHOUT_SCRIPTS", len(boards[0]) + 1)
    write_report(episodes, tmp_path / "few", replays=Replays(most=1))
    page = Site(tmp_path / "few").result
    assert [card.count("<svg") for card in cards(page)] == [1, 1, 0, 0]
    assert [card.count('<a class="board"') for card in cards(page)] == [1, 1, 1, 1]
    assert unpacked(page.scripts[0]) == {"boards": boards[2:]}


def test_items_of_a_map_stand_together(tmp_path: Path) -> None:
    maps = [corridor("b <i>", 3), corridor("a", 4)]
    episodes = answered("oracle", maps, most=3)
    page = result(tmp_path, [*episodes[3:], *episodes[:3]])
    heads = [" ".join(re.sub(r"<[^>]*>", "", head).split()) for head in re.findall(r"<h3>(.*?)</h3>", page.html)]
    assert heads == ["Map a 3 questions", "Map b &lt;i&gt; 3 questions"]
    assert re.findall(r'<div class="batch" id="([^"]+)"', page.html) == ["b1-1", "b1-2"]
    assert re.findall(r'<article class="card[^"]*" id="([^"]+)"', page.html) == [f"i1-{n}" for n in range(1, 7)]
    by_map = page.table("By map.")
    assert [(row[0], row[3]) for row in by_map[1:]] == [("b <i>", "3"), ("a", "3")]  # by size
    assert page.links("#b") == {"#b1-1", "#b1-2"}


@pytest.mark.slow
def test_one_opening_of_a_level_has_all_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waybench.reporting._results.OPENINGS_OF_A_PAGE", 12_000)
    told = "".join(f"Line {number} of a long story.\n" for number in range(400))
    assert 8_000 < len(told) < 12_000
    records = [detour(item(5, number), 2) for number in range(6)]
    longer = [replace(record, opening=(Message("system", told), *record.opening)) for record in records]
    made = site(tmp_path, [logged(record) for record in longer])
    assert made.result.text.count("Shared beginning of the prompts of all mazes") == 1
    assert told in "".join(made.result.words)
    assert all("see the results page" in page.text and "Line 7 of" not in page.text for page in made.replays)
    # Where each of several maps has its own, they share the room.
    maps = [corridor(f"m{number}", 4, words=600) for number in range(6)]
    many = result(tmp_path / "maps", answered("oracle", maps, most=2))
    assert many.text.count("Shared beginning of the prompts of these questions") == 6
    assert len(re.findall(r"Cut here: the first 1,667 and the last 333 of", many.text)) == 6


def test_a_part_of_something_is_shown_with_the_whole(tmp_path: Path) -> None:
    """ "Top-0" of a set is a share of all objectives; an episode has a number of them."""
    environment = waybench.load("tilemap/gtb")
    made = next(iter(environment.source("a key", environment.items.sample_levels[0]).head(1)))
    record = play_to_end(environment, made, policy("oracle"), {}, attempt=1).record()
    goals = len(record.instance["objectives"])
    assert goals > 1
    text = site(tmp_path, [logged(record)]).result.text
    assert f"Top-0 {goals} of {goals}" in " ".join(text.split())

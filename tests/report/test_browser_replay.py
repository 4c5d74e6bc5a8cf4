"""The pages on which an episode can be followed, in a real browser."""

from pathlib import Path
from typing import Any

import pytest

from tests.analysis.episodes import MAZE
from tests.browser import Visits
from tests.drawings import drawer
from tests.report import sites
from tests.report.pages import Page, unpacked
from waybench import load
from waybench.core import EpisodeRecord, play_to_end, policy
from waybench.reporting import write_report
from waybench.results import LoggedEpisode

pytestmark = pytest.mark.slow
GUESS = "search/guessnum"


@pytest.fixture
def walk(site: Path) -> tuple[str, EpisodeRecord]:
    """Return the page of an attempt at a maze of three requests, and its record."""
    found = [each for each in sites.replays(site, sites.SCRIPT, MAZE.id) if each[1].attempt > 1]
    return next(each for each in found if len(each[1].turns) == 3 and all(turn.action for turn in each[1].turns))


def where(page: Any) -> str:
    text: str = page.locator("#where").inner_text()
    return text


def steps(page: Any) -> list[str]:
    """Return what a page says at each step of a maze of three plans."""
    moves: list[int] = unpacked(page.locator("#frames").text_content())["moves"]
    of = [f", move {move} of {count}" if count > 1 else "" for count in moves for move in range(1, count + 1)]
    turns = [turn for turn, count in enumerate(moves) for _ in range(count)]
    return [f"Turn {turn} of 3{move}" if turn else "Start" for turn, move in zip(turns, of, strict=True)]


def current(page: Any) -> list[str]:
    found: list[str] = page.locator("[aria-current=step]").evaluate_all("all => all.map(each => each.dataset.turn)")
    return found


def shapes(drawing: str) -> list[tuple[str, dict[str, str]]]:
    """Return a drawing's elements; HTML writes some of their names otherwise."""
    return [
        (tag.lower(), {name.lower(): text for name, text in found.items()}) for tag, found in Page(drawing).elements
    ]


@pytest.mark.parametrize(("fragment", "turn"), [("", 0), ("#turn=2", 2), ("#turn=99", 0), ("#turn=x", 0)])
def test_a_link_leads_to_a_turn(
    visit: Visits, site: Path, walk: tuple[str, EpisodeRecord], fragment: str, turn: int
) -> None:
    name, record = walk
    page = visit(site, f"{name}{fragment}")
    assert where(page).partition(", move")[0] == (f"Turn {turn} of 3" if turn else "Start")
    assert current(page) == ([str(turn)] if turn else [])
    later = page.locator(".turn.later").evaluate_all("all => all.map(each => each.dataset.turn)")
    assert later == [str(number) for number in range(turn + 1, 4)]
    wanted = drawer("maze/alicia")(MAZE.items.decode(record.instance), record.turns[:turn])
    assert shapes(page.locator("#board").inner_html()) == shapes(wanted)
    assert page.locator("#controls").is_visible()


def test_keys_and_buttons_go_through_the_turns(visit: Visits, site: Path, walk: tuple[str, EpisodeRecord]) -> None:
    page = visit(site, walk[0])
    told = steps(page)
    last = len(told) - 1
    assert last > 3  # a plan of several moves
    assert (where(page), current(page)) == ("Start", [])
    drawn = [page.locator("#board").inner_html()]
    for text in told[1:]:
        page.keyboard.press("ArrowRight")
        turn = text.split()[1]
        assert (where(page), current(page)) == (text, [turn])
        assert page.url.partition("#")[2].split("&")[0] == f"turn={turn}"
        drawn.append(page.locator("#board").inner_html())
    assert len(set(drawn)) == len(told)
    page.keyboard.press("ArrowRight")  # it ends where the record ends
    assert where(page) == told[last]
    for key, wanted in (("Home", 0), ("End", last), ("ArrowLeft", last - 1)):
        page.keyboard.press(key)
        assert where(page) == told[wanted]
    for button, wanted in (("To the start", 0), ("A step ahead", 1), ("To the end", last), ("A step back", last - 1)):
        page.get_by_role("button", name=button).click()
        assert where(page) == told[wanted]
    slider = page.get_by_role("slider", name="Turn")
    slider.press("ArrowLeft")
    assert (where(page), slider.get_attribute("aria-valuetext")) == (told[last - 2], told[last - 2])
    slider.fill("3")
    assert where(page) == told[3]


def test_it_plays_to_the_end_and_stops(visit: Visits, site: Path, walk: tuple[str, EpisodeRecord]) -> None:
    page = visit(site, walk[0])
    page.get_by_label("Speed").select_option("10")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.get_by_role("button", name="Play").wait_for()
    assert where(page) == "Turn 3 of 3"
    # From the end it begins again, here by the keyboard, and can be halted.
    page.get_by_label("Speed").select_option("0.5")
    page.locator("h1").click()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Pause").click()
    assert where(page) == "Start"
    assert page.locator("#play").get_attribute("aria-pressed") == "false"


def test_the_shortest_path_is_switched_off(visit: Visits, site: Path, walk: tuple[str, EpisodeRecord]) -> None:
    page = visit(site, walk[0])
    reference = page.locator("#board .reference")
    assert reference.is_visible()
    page.get_by_label("a shortest path").uncheck()
    assert not reference.is_visible()
    page.keyboard.press("End")  # it stays off from turn to turn
    assert reference.count() == 1 and not reference.is_visible()


def test_without_a_drawing_what_the_player_was_told_is_shown(visit: Visits, site: Path) -> None:
    name, record = sites.replays(site, sites.TURNED, MAZE.id)[0]
    assert (record.instance_hash, len(record.turns)) == (sites.FORGED, 3)
    page = visit(site, name)
    # Nothing is drawn of what nothing confirms.
    assert "does not agree with the re-simulation" in page.locator("main .warning").inner_text()
    shown = page.locator("#board pre")
    assert shown.inner_text().strip() == record.opening[-1].text.strip()
    before = record.opening[-1].text
    for turn, made in enumerate(record.turns, start=1):
        page.keyboard.press("ArrowRight")
        told = "(The same as before.)" if made.message == before else made.message
        assert (where(page), shown.inner_text()) == (f"Turn {turn} of 3", told)
        before = made.message
    assert page.locator("#board svg").count() == 0
    assert page.get_by_label("shortest path").count() == 0


@pytest.mark.parametrize("number", range(4))
def test_what_a_player_said_is_text(visit: Visits, site: Path, number: int) -> None:
    found = [*sites.replays(site, sites.IMAGE, GUESS), *sites.replays(site, sites.SCRIPT, MAZE.id)[-3:]]
    name, record = found[number]
    page = visit(site, f"{name}#turn={len(record.turns)}")
    assert page.locator(".reply pre").all_text_contents() == [turn.reply for turn in record.turns]
    assert set(page.locator(".reply pre").all_text_contents()) <= set(sites.REPLIES)
    assert page.evaluate("window.owned") is None


def test_an_attempt_that_the_infrastructure_ended(visit: Visits, site: Path) -> None:
    ((name, record),) = sites.replays(site, sites.TURNED, GUESS)
    assert record.error
    page = visit(site, name)
    assert page.locator("main .warning").inner_text() == f"Excluded from scores: {record.error}"
    page.keyboard.press("End")
    assert where(page) == f"Turn {len(record.turns)} of {len(record.turns)}"
    assert page.locator(".turn").count() == len(record.turns) > 0


def test_crafter_s_map_takes_the_width_of_a_phone(visit: Visits, tmp_path: Path) -> None:
    environment = load("crafter/survival")
    record = play_to_end(environment, environment.source().item(0), policy("oracle"), {"steps": 40}).record()
    write_report([LoggedEpisode("m", "crafter", record)], tmp_path)
    (path,) = (tmp_path / "replays").iterdir()
    page = visit(tmp_path, f"replays/{path.name}", phone=True)
    board, ground, panel = (
        page.evaluate("name => document.querySelector(name).getBoundingClientRect().toJSON()", name)
        for name in ("#board", "#board .crafter-map > g", "#board .crafter-panel")
    )
    assert ground["width"] == pytest.approx(board["width"], rel=0.03)
    assert panel["top"] > ground["bottom"]
    assert panel["left"] >= board["left"] and panel["right"] <= board["right"]
    legend = page.locator("#board ~ .note").first.bounding_box()
    assert legend["y"] >= panel["bottom"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

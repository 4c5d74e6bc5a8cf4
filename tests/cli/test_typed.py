from typing import Any

import pytest

import waybench
from tests.cli.support import plan
from waybench.cli._typed import reply_for, spoken, takes_movements
from waybench.core import Episode, Invalid


@pytest.fixture
def episode(maze_501: dict[str, Any]) -> Episode[Any, Any, Any]:
    environment = waybench.load("maze/alicia")
    return Episode(environment, environment.item(maze_501))


@pytest.mark.parametrize(
    "typed",
    [
        "d3 l2 d1",
        "d3l2d",
        "D3, L2, D1",
        "down 3, left 2, down 1",
        "Down: 3; left: 2; down.",
        "  down3 left2  down1 ",
        plan(("down", 3), ("left", 2), ("down", 1)),
    ],
)
def test_movements(episode: Episode[Any, Any, Any], typed: str) -> None:
    reply = reply_for(typed, episode)
    assert reply is not None
    action = episode.play.wording.parse(reply, episode.state)
    assert episode.play.game.encode(action) == [["down", 3], ["left", 2], ["down", 1]]


def test_what_can_be_read_is_sent_as_it_is(episode: Episode[Any, Any, Any]) -> None:
    typed = "I go " + plan(("down", 3))
    assert reply_for(typed, episode) == typed


@pytest.mark.parametrize("typed", ['{"movements": [', "{d3}", "{}"])
def test_what_begins_like_a_reply_counts(episode: Episode[Any, Any, Any], typed: str) -> None:
    assert reply_for(typed, episode) == typed
    assert isinstance(episode.play.wording.parse(typed, episode.state), Invalid)


@pytest.mark.parametrize("typed", ["", "banana", "dwon 3", "d0", "d-1", "3d", "d3 x2", "d٣", "d" + "9" * 100, "\ud800"])
def test_what_is_neither_does_not_count(episode: Episode[Any, Any, Any], typed: str) -> None:
    assert reply_for(typed, episode) is None


def test_other_actions_are_sent_as_typed(episode: Episode[Any, Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert takes_movements(episode)
    monkeypatch.setattr(type(episode.play.game), "encode", lambda self, action: "down")
    assert not takes_movements(episode)
    assert reply_for("banana", episode) == "banana"


def test_spoken() -> None:
    assert spoken([["down", 3], ["left", 2]]) == "down 3, left 2"

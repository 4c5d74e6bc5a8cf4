import json
from typing import Any

import pytest

import waybench
from tests.cli.support import plan
from waybench.core import Episode, Invalid
from waybench.people import PlayedEpisode
from waybench.people._play import parse_typed_line


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
    reply = parse_typed_line(typed, episode)
    assert reply is not None
    action = episode.play.wording.parse(reply, episode.state)
    assert episode.play.game.encode(action) == [["down", 3], ["left", 2], ["down", 1]]


def test_what_can_be_read_is_sent_as_it_is(episode: Episode[Any, Any, Any]) -> None:
    typed = "I go " + plan(("down", 3))
    assert parse_typed_line(typed, episode) == typed


@pytest.mark.parametrize("typed", ['{"movements": [', "{d3}", "{}"])
def test_what_begins_like_a_reply_counts(episode: Episode[Any, Any, Any], typed: str) -> None:
    assert parse_typed_line(typed, episode) == typed
    assert isinstance(episode.play.wording.parse(typed, episode.state), Invalid)


@pytest.mark.parametrize("typed", ["", "banana", "dwon 3", "d0", "d-1", "3d", "d3 x2", "d٣", "d" + "9" * 100, "\ud800"])
def test_what_is_neither_does_not_count(episode: Episode[Any, Any, Any], typed: str) -> None:
    assert parse_typed_line(typed, episode) is None


@pytest.mark.parametrize("protocol", ["paper", "sound"])
def test_a_line_that_names_no_action_does_not_count_where_the_protocol_would_act_on_it(protocol: str) -> None:
    environment = waybench.load("hanoi/rods")
    game = PlayedEpisode(Episode(environment, environment.source().item(0), {"protocol": protocol}), "hanoi", {})
    assert game.parse_typed("banana") is None
    named = "move the top disk of rod A to the top of rod C"
    assert game.parse_typed(named) == named


def test_a_step_of_a_walkthrough_is_answered_by_a_known_place_alone() -> None:
    environment = waybench.load("textmap/extract")
    episode = Episode(environment, environment.source().item(0))
    assert environment.typing.actions is not None
    place, *_ = (action.typed for action in environment.typing.actions(episode.state))
    assert parse_typed_line("help", episode) is None
    reply = parse_typed_line(place.upper(), episode)
    assert reply is not None
    assert json.loads(reply)["location_after"] == place


def test_an_environment_without_a_short_form_takes_whole_replies_alone() -> None:
    environment = waybench.load("tilemap/state")
    assert environment.typing.parse is None
    episode = Episode(environment, environment.source().item(0))
    assert parse_typed_line("banana", episode) is None
    assert parse_typed_line('{"moves": []}', episode) == '{"moves": []}'


def test_a_plan_is_shown_as_it_is_typed(episode: Episode[Any, Any, Any]) -> None:
    environment, state = episode.environment, episode.state
    assert environment.typing.parse is not None
    assert environment.typing.format is not None
    plan = environment.typing.parse("d3l2", state)
    assert environment.typing.format(plan) == ["down 3", "left 2"]
    assert environment.typing.parse(", ".join(environment.typing.format(plan)), state) == plan

"""What a person sees of each environment, in a terminal and in a page."""

from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import fromstring

import click
import pytest

import waybench
from waybench.core import Board, Episode, Tile
from waybench.envs import registry
from waybench.people import PlayedEpisode
from waybench.people._play import board_svg, board_text

IDS = [entry.id for entry in registry.built_in]


def drawn(instance: dict[str, Any], columns: int, *replies: str) -> list[str]:
    environment = waybench.load("maze/alicia")
    game = PlayedEpisode(Episode(environment, environment.item(instance)), "alicia", {})
    for reply in replies:
        game.play_reply(reply)
    assert game.board is not None
    return click.unstyle(board_text(game.board, columns)).splitlines()


def start(env_id: str, instance: Any = None, **options: Any) -> PlayedEpisode:
    environment = waybench.load(env_id)
    item = environment.source().item(0) if instance is None else environment.item(instance)
    return PlayedEpisode(Episode(environment, item, options), "task", {})


def test_a_maze(maze_501: dict[str, Any]) -> None:
    assert drawn(maze_501, 80) == [
        "     0 1 2 3 4 ",
        "   0 ██████()██",
        "   1 ██      ██",
        "   2 ██  ██  ██",
        "   3 ██      ██",
        "   4 ██><██████",
    ]
    moved = drawn(maze_501, 80, '{"movements": [{"direction": "down", "cells": 1}]}')
    assert moved[1:3] == ["   0 ██████  ██", "   1 ██    ()██"]


def test_narrow_terminals_get_narrow_cells() -> None:
    instance = waybench.load("maze/alicia").source(level=21).item(0).instance.to_json()
    assert {len(row) for row in drawn(instance, 30)} == {26}
    wide = drawn(instance, 47)
    assert {len(row) for row in wide} == {47}
    assert len(wide) == 22


def test_what_does_not_fit_is_cut_out_around_the_player() -> None:
    item = waybench.load("maze/alicia").source(level=101).item(0)
    picture = drawn(item.instance.to_json(), 45)
    assert max(map(len, picture[:-1])) == 45
    assert sum("@" in row for row in picture) == 1
    assert picture[-1].startswith("Columns ") and picture[-1].endswith(" of 101 x 101.")


def test_colours_have_ink_that_can_be_read() -> None:
    board = Board(rows=[[Tile("a", "#000000"), Tile("b", "#ffffff"), Tile("c")]], width=1)
    black, white = "\x1b[48;2;0;0;0m\x1b[38;2;255;255;255m", "\x1b[48;2;255;255;255m\x1b[38;2;0;0;0m"
    assert board_text(board, 80) == f"{black}\x1b[1ma\x1b[0m{white}\x1b[1mb\x1b[0mc"


@pytest.mark.parametrize("env_id", IDS)
def test_every_environment_has_a_board(env_id: str) -> None:
    game = start(env_id)
    board = game.board
    assert board is not None
    assert board_text(board, 80).strip()
    if board.rows:
        assert fromstring(board_svg(board, "a & b")).get("aria-label") == "a & b"
    player = waybench.load(env_id).players.policies["oracle"]
    for _ in range(3):
        if not game.episode.done:
            episode = game.episode
            game.play_reply(episode.play.wording.render(player(episode.state, episode.stream("oracle")), episode.state))
            assert game.board is not None


@pytest.mark.parametrize("env_id", IDS)
def test_what_is_listed_is_carried_out(env_id: str) -> None:
    """An action of the list is what the game carries out, under each protocol; a list has no number twice."""
    for protocol in next(each for each in waybench.load(env_id).playing.options if each.name == "protocol").choices:
        game = start(env_id, protocol=protocol)
        for number, action in enumerate(game.actions):
            if not action.is_reply:
                continue
            game = start(env_id, protocol=protocol)
            assert game.play_typed(action.typed)
            episode = game.episode
            expected = episode.environment.typing.parse
            assert expected is not None
            wanted = expected(action.typed, start(env_id, protocol=protocol).episode.state)
            turn = episode.turns[1] if "thought" in episode.turns[0].events else episode.turns[0]
            assert turn.action == episode.play.game.encode(wanted), (number, action)


def test_two_in_hanoi_is_the_action_numbered_two() -> None:
    """In "paper" a reply that names nothing takes the first action; a person who typed 2 meant the second."""
    game = start("hanoi/rods")
    assert "2. Move the top disk of rod A to the top of rod C" in game.prompt
    assert game.actions[1].name == "Move the top disk of rod A to the top of rod C"
    assert game.play_typed("2")
    assert game.episode.turns[-1].reply == ""  # the next thought
    assert game.episode.turns[1].reply == "Move the top disk of rod A to the top of rod C"
    assert game.episode.turns[1].action == [1, True]


@pytest.mark.parametrize(
    ("env_id", "one", "other", "reply"),
    [
        ("search/guessnum", {"target": 33, "min": 32, "max": 40}, {"target": 34, "min": 32, "max": 40}, "36"),
        (
            "search/dfs",
            {"nodes": [0, 1, 2, 3, 4], "edges": [[0, 1], [0, 2], [1, 3], [2, 4]]},
            {"nodes": [0, 1, 2, 3, 4], "edges": [[0, 1], [0, 2], [1, 3], [3, 4]]},
            "1",
        ),
    ],
)
def test_a_board_does_not_show_what_the_messages_leave_out(env_id: str, one: Any, other: Any, reply: str) -> None:
    games = [start(env_id, instance) for instance in (one, other)]
    assert games[0].episode.item.instance != games[1].episode.item.instance
    for game in games:
        game.play_reply(reply)
    assert games[0].prompt == games[1].prompt
    assert games[0].board == games[1].board


def test_the_roles_of_messenger_are_not_shown() -> None:
    game = start("messenger/roles")
    case = game.episode.item.instance
    names = [actor.name for actor in case.actors]
    assert game.board is not None
    shown = {tile.text for row in game.board.rows for tile in row if tile.text}
    assert shown == {"@", *(name[:2] for name in names)}
    mixed = replace(case, actors=tuple(reversed(case.actors)))
    world = game.episode.state.world
    state = game.episode.state._replace(
        instance=mixed, world=world._replace(case=mixed, places=tuple(reversed(world.places)))
    )
    board = game.episode.environment.presentation.board
    assert board is not None
    assert board(state, game.episode.turns) == game.board


def test_the_machines_do_not_show_their_chances() -> None:
    environment = waybench.load("bandit/arms")
    instance = environment.source().item(0).instance.to_json()
    boards: list[Board | None] = []
    for arms in ([[0.1, 1], [0.9, 1]], [[0.9, 1], [0.1, 1]]):
        assert isinstance(instance, dict)
        boards.append(start("bandit/arms", {**instance, "arms": arms}).board)
    assert boards[0] == boards[1] is not None


def test_a_person_is_told_how_many_actions_are_left() -> None:
    """Two questions for each of 50 steps are 50 requests for an action."""
    game = start("bandit/arms")
    assert game.status_text == "50 requests left"
    game.play_typed("1")
    assert game.status_text == "49 requests left"

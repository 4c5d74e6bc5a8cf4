"""Movements in the frame of the player's body: the same mazes, plans and scores in other words."""

import json
from typing import Any

import pytest

from waybench.core import Episode, Invalid, Reply, play_to_end, policy, replay
from waybench.envs import registry
from waybench.envs.maze._game import Movement, start
from waybench.results import LoggedEpisode, rows
from waybench.results.comparisons._contrasts import contrast_effects

ENV = registry.load("maze/alicia")
ROWS = ["0000000", "0111110", "0100010", "0101110", "0100010", "0111110", "0X00010"]  # two ways around a wall


def maze() -> Any:
    return ENV.item({"maze": ROWS})


def episode(**options: Any) -> Episode[Any, Any, Any]:
    return Episode(ENV, maze(), {"frame": "body", **options})


def reply(*movements: tuple[str, int]) -> Reply:
    return Reply(json.dumps({"movements": [{"turn": turn, "cells": cells} for turn, cells in movements]}))


def test_a_player_enters_facing_into_the_maze_and_turns_as_it_goes() -> None:
    walk = episode()
    assert "I face up, as the map is written." in walk.messages[-1].text
    walk.step(reply(("none", 5), ("right", 4)))
    assert walk.state.at == 1 * 7 + 5 and walk.state.facing == "right"
    assert walk.messages[-1].text.partition("\n")[0].endswith("at position [5,1]. I face right, as the map is written.")
    walk.step(reply(("right", 5)))  # a turn counts from where the last request ended
    assert walk.record().end == "solved"
    replay(ENV, walk.record())


def test_a_movement_that_is_not_viable_turns_nobody() -> None:
    walk = episode()
    walk.step(reply(("none", 5), ("left", 1)))
    assert (walk.state.at, walk.state.facing) == (1 * 7 + 1, "up")
    assert "Movement 2 (turn: left, cells: 1) is not viable" in walk.messages[-1].text
    assert "I face up" in walk.messages[-1].text


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("interface", ["text", "tools"])
@pytest.mark.parametrize("player", ["oracle", "heuristic", "random", "noisy-0.5"])
def test_players_do_the_same_in_both_frames(player: str, interface: str, language: str) -> None:
    for item in ENV.source("frames", 9).head(3):
        records = [
            play_to_end(
                ENV, item, policy(player), {"frame": frame, "interface": interface, "language": language}
            ).record()
            for frame in ("map", "body")
        ]
        assert [turn.action for turn in records[0].turns] == [turn.action for turn in records[1].turns]
        assert ENV.measure(records[0]) == ENV.measure(records[1])
        replay(ENV, records[1])


def test_replies_are_read_in_the_frame_alone() -> None:
    item = maze()
    state = start(item.instance)
    wordings = {frame: ENV.play_with(ENV.resolve_options({"frame": frame})).wording for frame in ("map", "body")}
    by_map, by_body = '{"movements": [{"direction": "up", "cells": 5}]}', reply(("none", 5)).text
    assert wordings["map"].parse(by_map, state) == wordings["body"].parse(by_body, state) == (Movement("up", 5),)
    assert isinstance(wordings["map"].parse(by_body, state), Invalid)
    assert isinstance(wordings["body"].parse(by_map, state), Invalid)
    assert isinstance(wordings["body"].parse(reply(("up", 5)).text, state), Invalid)


def test_the_gap_is_that_of_the_same_mazes() -> None:
    logged = [
        LoggedEpisode("m", "alicia", play_to_end(ENV, item, policy(player), {"frame": frame}).record(), {})
        for frame, player in (("map", "oracle"), ("body", "null"))
        for item in ENV.source("frames", 9).head(8)
    ]
    (effect,) = contrast_effects(rows(logged))
    assert (effect.contrast.demand, effect.comparison.items) == ("turning with the body", 8)
    assert effect.comparison.difference.value > 0.9

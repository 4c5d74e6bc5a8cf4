"""Our own text worlds, walked as games, give the maps that they are published with."""

import pytest

from tests.contrib.game_maps import WorldGame
from waybench.core import resolve
from waybench.envs.textmap.worlds._items import WORLD_OPTIONS, world_item
from waybench.ext.author.game_maps._command import map_game

STYLES = (
    {},
    {"one_way": 1, "special": 1},
    {"doors": 1, "dark": 1},
    {"one_way": 0.3, "special": 0.5, "doors": 0.5, "dark": 0.5, "confusable": 1, "prose": 3},
    {"dark": 0.5, "steps": 200},
)


@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("level", [4, 9, 20, 40])
def test_the_map_of_a_world_is_found(style: dict[str, float], level: int) -> None:
    for index in range(4):
        expected, world = world_item("test", level, resolve(WORLD_OPTIONS, style), index)
        commands = [step.action for step in expected.steps[1:]]
        found = map_game(WorldGame(world), commands, expected.name).place_map
        assert found.steps == expected.steps
        assert set(found.edges) == set(expected.edges)
        assert sorted(found.places) == sorted(expected.places)
        assert sorted(found.actions) == sorted(expected.actions)

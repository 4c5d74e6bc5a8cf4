"""Beside the published package: the same worlds and, step by step, the same lives."""

import importlib
import json
import os
from collections import defaultdict
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from waybench.envs.crafter._ids import ACHIEVEMENTS, DRAWN, HEALTH, ITEMS, KIND, LIFE, MADE, NAMES, SIZE, X, Y
from waybench.envs.crafter._players import PLAYERS
from waybench.envs.crafter._world import (
    CrafterWorld,
    advance_world,
    being_numbers,
    create_world,
    player_numbers,
    published_seed,
)

pytestmark = pytest.mark.slow


class Ordered(dict[Any, None]):
    """A set in the order of insertion; the package's own sets are in the order of memory addresses."""

    def add(self, item: Any) -> None:
        self[item] = None

    def remove(self, item: Any) -> None:
        del self[item]


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Any:
    if not find_spec("crafter"):
        if os.environ.get("CI") == "true":
            pytest.fail("the package crafter is not installed", pytrace=False)
        pytest.skip("the package crafter is not installed: make test-all does it")
    package = importlib.import_module("crafter")
    ordered = SimpleNamespace(defaultdict=lambda made: defaultdict(Ordered if made is set else made))
    monkeypatch.setattr(package.engine, "collections", ordered)
    return package


def ours(world: CrafterWorld) -> list[Any]:
    body, beings = player_numbers(world), being_numbers(world)
    objects = [
        [NAMES[row[KIND]].capitalize(), row[X], row[Y], row[LIFE] if number else body[HEALTH]]
        for number, row in enumerate(beings)
    ]
    made = {name: count for name, count in zip(ACHIEVEMENTS, body[MADE:], strict=False)}
    return [world.land, objects, dict(zip(ITEMS, body, strict=False)), made, world.key, body[DRAWN]]


def theirs(env: Any) -> list[Any]:
    player, inner = env._player, env._world
    objects = [[type(one).__name__, int(one.pos[0]), int(one.pos[1]), int(one.health)] for one in inner.objects if one]
    _, key, position, _, _ = inner.random.get_state()
    inventory = {name: int(count) for name, count in player.inventory.items()}
    made = {name: player.achievements[name] for name in ACHIEVEMENTS}
    return [inner._mat_map.tobytes(), objects, inventory, made, key.tobytes(), position]


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_worlds(package: Any, seed: int) -> None:
    env = package.Env(seed=seed)
    for episode in (1, 2):
        env.reset()
        assert ours(create_world(published_seed(seed, episode))) == theirs(env)


@pytest.mark.parametrize(("seed", "player"), [(21, "random"), (22, "oracle"), (23, "oracle"), (24, "heuristic")])
def test_lives(package: Any, seed: int, player: str) -> None:
    """The oracle's lives have nights, tools and fights in them; each step is compared whole."""
    env, world = package.Env(seed=seed), create_world(published_seed(seed, 1))
    env.reset()
    rng = np.random.RandomState(seed)
    for number in range(400):
        action = int(rng.randint(17)) if player == "random" else PLAYERS[player](None, world, _Chance(rng))
        _, reward, done, _ = env.step(action)
        world = advance_world(world, action)
        assert ours(world) == theirs(env), (number, action)
        assert world.reward == reward
        if done:
            break
    assert number > 100
    assert len(json.dumps(ours(world)[1])) > SIZE


class _Chance:
    """What the heuristic chooses with."""

    def __init__(self, rng: Any) -> None:
        self._rng = rng

    def choice(self, items: Any) -> Any:
        return items[self._rng.randint(len(items))]

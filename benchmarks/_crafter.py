"""Crafter: worlds made and steps, beside the published package where it is installed (`make test-all` does that)."""

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import Episode, Stream
from waybench.envs.crafter import _world as engine

STEPS = 1_000
SEEDS = range(4)


def crafter() -> Iterator[Comparison]:
    """Make worlds and steps, and compare with the published package, and each layer with the one below it."""
    environment = waybench.load("crafter/survival")
    options = {"wording": "one_question", "steps": STEPS}
    game: Any = environment.playing.play(environment.resolve_options(options)).game
    rules = game.rules
    actions = _actions()
    start = engine.create_world(1)

    def bare() -> None:
        _alive(start, actions, engine.advance_world)

    def whole() -> None:
        item = environment.source().item(0)
        episode: Episode[Any, Any, Any] = Episode(environment, item, options)
        names = rules.actions(item.instance)
        for action in actions:
            if episode.done:
                episode = Episode(environment, item, options)
            episode.step(names[action])

    yield compare(
        "crafter/survival: steps through the whole loop, observations and histories written",
        whole,
        bare,
        against="steps of the world alone",
        count=STEPS,
        unit="steps",
    )
    if not find_spec("crafter"):
        return
    with patch.dict(sys.modules, {"numba": None}):  # as it is installed by itself: its noise is then not compiled
        package = import_module("crafter")
    env = package.Env(seed=1, length=None)
    env.reset()

    def published() -> None:
        for action in actions:
            env.step(action)

    yield compare(
        "crafter/survival: steps of a player of whom nobody asks whether it lives",
        bare,
        published,
        against="the package crafter, which makes a picture of each",
        count=STEPS,
        unit="steps",
        rounds=2,
    )
    yield compare(
        "crafter/survival: worlds made",
        lambda: [engine.create_world(seed) for seed in SEEDS],
        lambda: [package.Env(seed=seed).reset() for seed in SEEDS],
        against="the package crafter, without numba",
        count=len(SEEDS),
        unit="worlds",
        rounds=2,
    )


def _actions() -> list[int]:
    rng = Stream("bench", "crafter")
    return [rng.below(17) for _ in range(STEPS)]


def _alive(world: Any, actions: list[int], advance: Callable[[Any, int], Any]) -> None:
    """Make steps; the dead go on as if they lived, as the rules of the world have it."""
    for action in actions:
        world = advance(world, action)

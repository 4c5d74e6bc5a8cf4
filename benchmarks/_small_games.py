"""Small games: steps of the rules, of the agent protocol around them, and of whole episodes."""

from collections.abc import Callable, Iterator
from typing import Any

import waybench
from benchmarks._timing import Comparison, compare
from waybench.core import Environment, Episode, Item, Stream
from waybench.envs.smartplay._game import AgentReply

# Environment -> level, source options, and the steps a second of the published code on two cores, its observations and
# histories included (shared/specs/smartplay.md, 14).
GAMES: dict[str, tuple[int, dict[str, str], int]] = {
    "bandit/arms": (2, {"setting": "high_low"}, 32_000),
    "rps/rounds": (1, {"setting": "basic"}, 22_000),
    "hanoi/rods": (3, {"positions": "published"}, 50_000),
}
STEPS = 10_000
WAY = {"wording": "one_question"}


def small_games() -> Iterator[Comparison]:
    """Make steps whose actions take turns, and compare each layer with the one below it."""
    for name, (level, source, published) in GAMES.items():
        environment = waybench.load(name)
        item = environment.source(level=level, **source).item(0)
        bare, around, full = _bare(environment, item), _around(environment, item), _whole(environment, item)
        yield compare(
            f"{name}: steps with the history as text (the published code is said to make {published:,} a second)",
            around,
            bare,
            against="steps of the rules alone",
            count=STEPS,
            unit="steps",
        )
        yield compare(
            f"{name}: the same through the whole loop, replies read, messages and records included",
            full,
            around,
            against="steps with the history as text",
            count=STEPS,
            unit="steps",
        )


def _bare(environment: Environment[Any, Any, Any], item: Item[Any]) -> Callable[[], None]:
    rules = environment.playing.play(environment.resolve_options(WAY)).game.rules  # type: ignore[attr-defined]
    actions = len(rules.actions(item.instance))

    def run() -> None:
        rng, world = Stream("bench"), rules.begin(item.instance)
        for number in range(STEPS):
            if rules.ending(world):
                world = rules.begin(item.instance)
            world = rules.step(world, number % actions, rng).world

    return run


def _around(environment: Environment[Any, Any, Any], item: Item[Any]) -> Callable[[], None]:
    play = environment.playing.play(environment.resolve_options(WAY))
    game, wording = play.game, play.wording
    choices = [AgentReply(number) for number in range(len(game.rules.actions(item.instance)))]  # type: ignore[attr-defined]

    def run() -> None:
        rng, state = Stream("bench"), game.start(item.instance)
        for number in range(STEPS):
            if game.terminal(state):
                state = game.start(item.instance)
            last = game.apply(state, choices[number % len(choices)], rng)
            state = last.state
            wording.observe(state, last, number)

    return run


def _whole(environment: Environment[Any, Any, Any], item: Item[Any]) -> Callable[[], None]:
    names = environment.playing.play(environment.resolve_options(WAY)).game.rules.actions(item.instance)  # type: ignore[attr-defined]

    def run() -> None:
        attempt, episode = 1, Episode(environment, item, WAY)
        for number in range(STEPS):
            if episode.done:
                attempt += 1
                episode = Episode(environment, item, WAY, attempt=attempt)
            episode.step(names[number % len(names)])

    return run

"""A small map for tests, and what is done with it."""

from typing import Any

import waybench
from waybench.core import End, Episode, EpisodeRecord, Stream
from waybench.envs.tilemap._protocols import MOVES

GTB = waybench.load("tilemap/gtb")
STEPWISE = waybench.load("tilemap/stepwise")
AnyEpisode = Episode[Any, Any, Any]

# The wall "w" stands between the player and the first target, at the right end of the second row.
RECORD: dict[str, Any] = {
    "experiment_id": "test",
    "environment": "@agga\naawga\naawaa\naaaaq",
    "tile_mapping": {"Grass": "g", "Sand": "a", "Wall": "w", "Chest": "q"},
    "walkable_tiles": "['g', 'a']",
    "interactive_object_tiles": "['q']",
    "path_length": 9,
    "objectives": {"gate": ["a", 1, 4], "well": ["a", 3, 0]},
}
TO_GATE = ("move_right",) * 4 + ("move_down",)
BACK = ("move_down",) + ("move_left",) + ("move_down",) + ("move_left",) * 3


def said(*names: str) -> str:
    return '{"action": [' + ", ".join(f'"{name}"' for name in names) + "]}"


def after(*replies: str, record: dict[str, Any] | None = None, env: Any = GTB, **options: Any) -> AnyEpisode:
    episode: AnyEpisode = Episode(env, env.item(record or RECORD), options)
    for reply in replies:
        episode.step(reply)
    return episode


def value(record: EpisodeRecord, name: str, env: Any = GTB) -> float | None:
    return next(metric.of(record) for metric in env.scoring.metrics if metric.name == name)  # type: ignore[no-any-return]


def least_moves(item: Any, options: dict[str, Any], names: tuple[str, ...] = tuple(MOVES)) -> int:
    """Return the least number of actions that solve a map: every state, layer by layer, by the game's rules alone."""
    game = STEPWISE.playing.play(STEPWISE.resolve_options({**options, "protocol": "sound"})).game
    layer, moves, seen = [game.start(item.instance)], 0, set[Any]()
    while True:
        moves += 1
        following: list[Any] = []
        for state in layer:
            for name in names:
                after_move = game.apply(state, game.decode([name]), Stream("none")).state
                if game.terminal(after_move) is End.SOLVED:
                    return moves
                removed = frozenset(after_move.removed)
                place = after_move.goal, after_move.cell, after_move.beings, after_move.tick, removed
                if not game.terminal(after_move) and place not in seen:
                    seen.add(place)
                    following.append(after_move._replace(tries=0))
        layer = following
        assert layer and moves < 200

"""A small map for tests, and what is done with it."""

from typing import Any

import waybench
from waybench.core import Episode, EpisodeRecord

GTB = waybench.load("tilemap/gtb")
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

"""Real episodes of the search environments for the tests of curves, spreads, changes and pages."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import waybench
from waybench.core import Episode, EpisodeRecord, Item, play_to_end, policy
from waybench.results import LoggedEpisode

LEVELS = {"guessnum": 6, "coin": 6, "dfs": 5, "cavedfs": 5, "bfs": 5, "cavebfs": 5}


def items(env: str, count: int = 3, *, examples: int = 0, key: str | None = None, level: int = 0) -> list[Item[Any]]:
    """Return items, each with the following ones as its in-context examples."""
    source = waybench.load(f"search/{env}").source(key, level=level or LEVELS[env])
    made = source.head(count + examples)
    # A set of a file shows its name; of a set that is generated with a key of one's own only a digest is shown.
    return [
        replace(item, private=False, examples=tuple(one.instance for one in made[number + 1 : number + 1 + examples]))
        for number, item in enumerate(made[:count])
    ]


def searched(
    player: str,
    env: str = "guessnum",
    *,
    count: int = 3,
    model: str | None = None,
    examples: int = 0,
    key: str | None = None,
    level: int = 0,
    **options: Any,
) -> list[LoggedEpisode]:
    """Return what an embedded player does."""
    environment = waybench.load(f"search/{env}")
    return [
        LoggedEpisode(
            model=model or f"waybench/{player}",
            task=env,
            record=play_to_end(environment, item, policy(player), options).record(),
        )
        for item in items(env, count, examples=examples, key=key, level=level)
    ]


def answered(env: str, item: Item[Any], replies: Sequence[str], **options: Any) -> EpisodeRecord:
    """Return the record of an episode with given replies, as many as it takes."""
    episode: Episode[Any, Any, Any] = Episode(waybench.load(f"search/{env}"), item, options)
    for reply in replies:
        if not episode.done:
            episode.step(reply)
    return episode.record()

"""Searches in worlds of two engines. All are played in our own; that another engine made one is only written there."""

import waybench
from waybench.core import play_to_end, policy
from waybench.results import LoggedEpisode

FIND = waybench.load("voxel/find")


def searched(who: str, engine: str, model: str = "alpha", count: int = 2, level: int = 1) -> list[LoggedEpisode]:
    """Return episodes of a search for a biome."""
    options = {"steps": 12, "wording": "one_question"}
    return [
        LoggedEpisode(
            model=model,
            task="voxel_find",
            record=play_to_end(FIND, item, policy(who), options).record(),
            settings={"engine": engine, "goal": "any"},
        )
        for item in FIND.source("worlds", level).head(count)
    ]

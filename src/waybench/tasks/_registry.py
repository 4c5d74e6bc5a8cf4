"""What Inspect finds through the package's entry point."""

from inspect_ai.model import modelapi

from waybench.eval import EmbeddedPlayer, by_level, episode, play
from waybench.tasks._alicia import alicia
from waybench.tasks._gtb import gtb, gtb_state, gtb_stepwise
from waybench.tasks._horizon import (
    horizon_bfs,
    horizon_dfs,
    horizon_guessnum,
    horizon_hanoi,
    horizon_maze,
    horizon_textmap,
    horizon_tilemap,
)
from waybench.tasks._mango import mango_destination, mango_extract, mango_minigames, mango_route
from waybench.tasks._search import aqa, bfs, cavebfs, cavedfs, coin, dfs, guessnum
from waybench.tasks._smartplay import (
    bandit,
    bandit_deterministic,
    bandit_high_high,
    bandit_high_low,
    bandit_low_low,
    crafter,
    hanoi,
    hanoi_3,
    hanoi_4,
    messenger,
    messenger_l1,
    messenger_l2,
    messenger_l3,
    rps,
    rps_basic,
    rps_different_score,
    smartplay,
    voxel_find,
)


@modelapi(name="waybench")
def waybench() -> type[EmbeddedPlayer]:
    """Provide the embedded players: waybench/null, random, heuristic, oracle, noisy-RATE."""
    return EmbeddedPlayer


__all__ = [
    "alicia",
    "aqa",
    "bandit",
    "bandit_deterministic",
    "bandit_high_high",
    "bandit_high_low",
    "bandit_low_low",
    "bfs",
    "by_level",
    "cavebfs",
    "cavedfs",
    "coin",
    "crafter",
    "dfs",
    "episode",
    "gtb",
    "gtb_state",
    "gtb_stepwise",
    "guessnum",
    "hanoi",
    "hanoi_3",
    "hanoi_4",
    "horizon_bfs",
    "horizon_dfs",
    "horizon_guessnum",
    "horizon_hanoi",
    "horizon_maze",
    "horizon_textmap",
    "horizon_tilemap",
    "mango_destination",
    "mango_extract",
    "mango_minigames",
    "mango_route",
    "messenger",
    "messenger_l1",
    "messenger_l2",
    "messenger_l3",
    "play",
    "rps",
    "rps_basic",
    "rps_different_score",
    "smartplay",
    "voxel_find",
    "waybench",
]

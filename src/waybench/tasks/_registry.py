"""What Inspect finds through the package's entry point."""

from inspect_ai.model import modelapi

from waybench.llm import EmbeddedPlayer, by_level, episode, play
from waybench.tasks._alicia import alicia
from waybench.tasks._gtb import gtb, gtb_state, gtb_stepwise
from waybench.tasks._mango import mango_destination, mango_extract, mango_minigames, mango_route
from waybench.tasks._search import aqa, bfs, cavebfs, cavedfs, coin, dfs, guessnum


@modelapi(name="waybench")
def waybench() -> type[EmbeddedPlayer]:
    """Provide the embedded players: waybench/null, random, heuristic, oracle, noisy-RATE."""
    return EmbeddedPlayer


__all__ = [
    "alicia",
    "aqa",
    "bfs",
    "by_level",
    "cavebfs",
    "cavedfs",
    "coin",
    "dfs",
    "episode",
    "gtb",
    "gtb_state",
    "gtb_stepwise",
    "guessnum",
    "mango_destination",
    "mango_extract",
    "mango_minigames",
    "mango_route",
    "play",
    "waybench",
]

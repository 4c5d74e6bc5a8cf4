"""What Inspect finds through the package's entry point."""

from inspect_ai.model import modelapi

from waybench.llm import EmbeddedPlayer, by_level, episode, play
from waybench.tasks._alicia import alicia


@modelapi(name="waybench")
def waybench() -> type[EmbeddedPlayer]:
    """Provide the embedded players: waybench/null, random, heuristic, oracle, noisy-RATE."""
    return EmbeddedPlayer


__all__ = ["alicia", "by_level", "episode", "play", "waybench"]

"""How a search for a biome fails: getting stuck, walking away from it, or the limit on steps."""

from waybench.core import TURN_LIMIT, EpisodeRecord, FailureKind
from waybench.envs.voxel._metrics import progress

UNPRODUCTIVE = FailureKind(
    "unproductive", "walks that get stuck", "The steps ran out, and in at least half of them the player was blocked."
)
ASTRAY = FailureKind(
    "astray",
    "walking away from the goal",
    "The steps ran out, and the nearest goal was as far away as at the start, or farther.",
)

TOO_FAR = FailureKind("turn_limit", "goal not found in time", "The steps ran out before the goal was found.")

FAILURES = (UNPRODUCTIVE, ASTRAY, TOO_FAR)


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return whether the walk led away from the goal, as far as that is known; otherwise the general kind."""
    came = progress(record) if general == TURN_LIMIT else None
    return ASTRAY if came is not None and came <= 0 else general

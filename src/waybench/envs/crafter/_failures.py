"""How a life in Crafter ends: the cause of death, or the limit on steps."""

from waybench.core import EpisodeRecord, FailureKind
from waybench.envs.crafter._ids import HARMS
from waybench.smartplay import steps_of

_DEATHS = {
    "zombie": FailureKind("zombie", "killed by a zombie", "A zombie took the last health."),
    "arrow": FailureKind("arrow", "killed by an arrow", "An arrow took the last health."),
    "lava": FailureKind("lava", "walking into lava", "The player walked into lava."),
    "need": FailureKind("need", "hunger, thirst or exhaustion", "Hunger, thirst or exhaustion took the last health."),
}
assert set(_DEATHS) == set(HARMS) - {""}

FAILURES = tuple(_DEATHS.values())


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return what the player died of; the general kind where it did not die."""
    steps = steps_of(record)
    return _DEATHS.get(str(steps[-1].get("death", "")), general) if steps else general

"""How an episode in a partly seen maze fails."""

from waybench.core import ILLEGAL, NO_ANSWER, EpisodeRecord, FailureKind, general_failure
from waybench.envs.maze.explore._game import EXPLOITING, EXPLORING
from waybench.envs.maze.explore._metrics import errors_and_moves

KNOWN = FailureKind("known_exit", "not walking to a known exit", "A way to the exit was known at the end.")
AIMLESS = FailureKind(
    "aimless", "exploring without aim", "No way to the exit was known, and at least a quarter of moves were errors."
)

FAILURES = (KNOWN, AIMLESS)


def failure(record: EpisodeRecord) -> FailureKind:
    """Return why the exit was not reached, where most replies were moves."""
    general = general_failure(record)
    if general in (*NO_ANSWER, ILLEGAL):
        return general
    last = next((turn.events["phase"] for turn in reversed(record.turns) if "phase" in turn.events), None)
    if last == EXPLOITING:
        return KNOWN
    errors, moved = errors_and_moves(record, EXPLORING)
    return AIMLESS if moved and 4 * errors >= moved else general

"""How an attempt at the puzzle fails: the most frequent outcome of its moves."""

from collections.abc import Iterator

from waybench.core import EpisodeRecord, FailureKind, main_cause
from waybench.envs.hanoi._metrics import is_forbidden, moves_of
from waybench.smartplay import step_turns

ILLEGAL = FailureKind("illegal", "illegal moves", "Of the moves without effect, most were not allowed.")
DETOUR = FailureKind(
    "detour", "moves off the shortest solution", "Of the moves without effect, most were allowed but not optimal."
)

UNFINISHED = FailureKind("turn_limit", "running out of moves", "The moves ran out, although all were optimal.")

FAILURES = (ILLEGAL, DETOUR, UNFINISHED)


def own_failure(record: EpisodeRecord, general: FailureKind) -> FailureKind:
    """Return which mistakes are most frequent; the general kind where there is none."""
    return main_cause(_mistakes(record), FAILURES) or general


def _mistakes(record: EpisodeRecord) -> Iterator[FailureKind]:
    for turn, move in zip(step_turns(record.turns), moves_of(record), strict=True):
        if turn.prefix:
            continue
        if is_forbidden(turn):
            yield ILLEGAL
        elif not move.optimal:
            yield DETOUR

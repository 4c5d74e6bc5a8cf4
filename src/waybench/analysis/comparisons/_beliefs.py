"""What players knew of the state by belief probes, and whether they knew it where they went wrong."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from waybench.analysis.results import Row
from waybench.core import Belief
from waybench.envs import registry
from waybench.stats import Mean, clustered_mean


@dataclass(frozen=True, slots=True)
class BeliefCounts:
    """The answers to the probes of one belief.

    Attributes:
        belief: What was asked.
        asked: Number of times.
        known: Share of right answers, with an interval over the clusters of items.
        unread: Number of replies in which no answer could be read.
        share: Mean share of the answers that was right, where there is such a thing; None otherwise.
        knew: Number of failed attempts whose first error is in a turn in which the player had just answered right.
        did_not_know: Number of those in which it had not.
    """

    belief: Belief[object]
    asked: int
    known: Mean
    unread: int
    share: float | None
    knew: int
    did_not_know: int


def belief_counts(some: Iterable[Row]) -> list[BeliefCounts]:
    """Return the answers to the probes of each belief, in the order of the environment; those never asked are left out.

    Args:
        some: Episodes of one environment; those that do not count or have a teacher are left out.
    """
    rows = [row for row in some if row.is_included and not row.guided and row.probes]
    found: list[BeliefCounts] = []
    for belief in registry.load(rows[0].group.env).beliefs if rows else ():
        answers = [(row, probe) for row in rows for probe in row.probes if probe.name == belief.name]
        known = clustered_mean(
            [float(probe.correct) for _, probe in answers], [row.cluster for row, _ in answers], 0.0, 1.0
        )
        if known is None:
            continue
        at_error = [
            probe.correct
            for row, probe in answers
            if row.first_error is not None and row.first_error.turn == probe.turn
        ]
        shares = [probe.share or 0.0 for _, probe in answers] if belief.share is not None else []
        found.append(
            BeliefCounts(
                belief,
                len(answers),
                known,
                sum(not probe.answered for _, probe in answers),
                fmean(shares) if shares else None,
                sum(at_error),
                len(at_error) - sum(at_error),
            )
        )
    return found


def knew_at_first_error(row: Row) -> bool | None:
    """Return whether a player answered all belief probes right in the turn of its first error.

    Args:
        row: The episode.

    Returns:
        True: it knew and erred; False: it did not know; None without a first error, or a question in that turn.
    """
    if row.first_error is None:
        return None
    answers = [probe.correct for probe in row.probes if probe.turn == row.first_error.turn]
    return all(answers) if answers else None

"""What players knew of the state by belief probes, and whether they knew it where they went wrong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from waybench.core import Belief
from waybench.envs import registry
from waybench.results.estimates import aligned
from waybench.results.formatting import NOTHING
from waybench.results.results import Group, Row, grouped, labels
from waybench.results.stats import Mean, clustered_mean


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
    for belief in registry.load(rows[0].group.env).probes if rows else ():
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


def beliefs_by_group(some: Iterable[Row]) -> dict[Group, list[BeliefCounts]]:
    """Return the answers to the probes of each group that was asked.

    Args:
        some: Episodes of any environments.
    """
    found = {group: belief_counts(rows) for group, rows in grouped(some, lambda row: row.group).items()}
    return {group: counts for group, counts in found.items() if counts}


def belief_text(some: Iterable[Row]) -> str:
    """Return the answers to belief probes as aligned tables of plain text, one for each environment; "" without any.

    Args:
        some: Episodes of any environments.
    """
    by_env = grouped(beliefs_by_group(some).items(), lambda each: each[0].env)
    return "\n\n".join(_env_text(env_id, dict(asked)) for env_id, asked in by_env.items())


def _env_text(env_id: str, asked: Mapping[Group, Sequence[BeliefCounts]]) -> str:
    heads = ["asked", "known [95 %]", "no answer", "knew and erred", "did not know"]
    lines = [[f"{registry.load(env_id).title}: belief probes", *heads]]
    names = labels(asked)
    for group, counts in asked.items():
        for one in counts:
            has_errors = one.knew + one.did_not_know
            errors = [f"{one.knew:,}", f"{one.did_not_know:,}"] if has_errors else [NOTHING, NOTHING]
            name = f"{names[group]}, {one.belief.title.lower()}"
            lines.append([name, f"{one.asked:,}", _share_text(one.known), f"{one.unread:,}", *errors])
    return aligned(lines)


def _share_text(share: Mean) -> str:
    shown = f"{100 * share.value:.1f} %"
    if share.low is None or share.high is None:
        return shown
    return f"{shown} [{100 * share.low:.1f}, {100 * share.high:.1f}]"


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

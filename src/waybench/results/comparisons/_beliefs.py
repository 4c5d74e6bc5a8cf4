"""Where episodes went wrong, and what players knew of the state by belief probes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from waybench.core import Belief, EpisodeRecord, FailureKind, Json, Metric
from waybench.envs import registry
from waybench.results.comparisons._comparison import Comparison, compare, tested
from waybench.results.comparisons._item_scores import MODEL, ItemScores, comparison_key, failure, values_of
from waybench.results.estimates import aligned
from waybench.results.formatting import NOTHING, p_text
from waybench.results.results import Group, Row, at_items, grouped, labels
from waybench.results.stats import ALPHA, Mean, clustered_mean


@dataclass(frozen=True, slots=True)
class FirstErrorCounts:
    """The first errors of the attempts that failed.

    Attributes:
        failed: Number of attempts that failed.
        kinds: Of each kind the number of attempts whose first error it is, in the order of the environment; kinds that
            did not occur are left out.
        median_step: Median number of the step that is the first error, from 1; None without errors.
    """

    failed: int
    kinds: Mapping[FailureKind, int]
    median_step: float | None

    @property
    def found(self) -> int:
        """Number of attempts with a first error; in the others each step is one of a best play."""
        return sum(self.kinds.values())


def first_error_kinds(env: str) -> tuple[FailureKind, ...]:
    """Return the kinds of first errors of an environment, in the order of columns; none where they are not defined."""
    declared = registry.load(env).scoring.first_errors
    return () if declared is None else declared.all_kinds


def first_errors(some: Iterable[Row]) -> FirstErrorCounts | None:
    """Return the first errors of episodes of one environment; None where they are not defined.

    Args:
        some: The episodes; those that did not fail, do not count, or have a teacher are left out.
    """
    rows = list(some)
    kinds = first_error_kinds(rows[0].group.env) if rows else ()
    if not kinds:
        return None
    failed = [row for row in rows if failure(row)]
    errors = [row.first_error for row in failed if row.first_error is not None]
    counts = Counter(error.kind for error in errors)
    steps = [error.step for error in errors]
    return FirstErrorCounts(
        len(failed), {kind: counts[kind] for kind in kinds if counts[kind]}, float(median(steps)) if steps else None
    )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefComparison:
    """What two sides know of one thing, at the items at which both were asked.

    Attributes:
        belief: What was asked.
        comparison: The comparison; an item counts by the share of right answers, from 0 to 1. Its p value is adjusted
            by Holm's procedure over all comparisons of this kind.
    """

    belief: Belief[object]
    comparison: Comparison

    @property
    def verdict(self) -> str:
        """Which side knows more, "first" or "second"; "not shown" without a significant difference."""
        if self.comparison.adjusted >= ALPHA:
            return "not shown"
        return "first" if self.comparison.difference.value > 0 else "second"

    @property
    def text(self) -> str:
        """The comparison in a line."""
        one = self.comparison
        low, high = one.difference.low, one.difference.high
        ends = "" if low is None or high is None else f" (95 %: {_points(low)} to {_points(high)})"
        found = {"first": "A knows more", "second": "B knows more", "not shown": "no difference shown"}[self.verdict]
        return (
            f"{one.first.task}, {self.belief.title.lower()}: A {100 * one.first_mean.value:.1f} %, B "
            f"{100 * one.second_mean.value:.1f} % of answers right at {one.items} items; A − B "
            f"{_points(one.difference.value)}{ends}; p {p_text(one.adjusted)}: {found}"
        )

    def to_json(self) -> dict[str, Json]:
        """Return the comparison as JSON values."""
        first, second = self.comparison.groups
        return {
            "first": first.to_json(),
            "second": second.to_json(),
            "belief": self.belief.name,
            **self.comparison.to_json("first_known", "second_known"),
            "verdict": self.verdict,
        }


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def compare_beliefs(first: Iterable[Row], second: Iterable[Row]) -> list[BeliefComparison]:
    """Compare what two sides know, at the items at which both were asked.

    The turns in which they were asked are their own, since their episodes are. So an item counts by the share of right
    answers in all of its attempts.

    Args:
        first: The rows of the one side.
        second: Those of the other.
    """
    mine, theirs = _asked(first), _asked(second)
    by_key = grouped(theirs, comparison_key)
    found: list[BeliefComparison] = []
    for group in mine:
        for other in by_key.get(comparison_key(group), ()):
            for belief in registry.load(group.env).probes:
                known = _known(group, mine[group], belief), _known(other, theirs[other], belief)
                if comparison := compare(*known, MODEL, family="beliefs"):
                    found.append(BeliefComparison(belief=belief, comparison=comparison))
    return tested(found)


def _asked(some: Iterable[Row]) -> dict[Group, list[Row]]:
    """Return the rows of each group that has probes, but for searches, which share items by chance."""
    asked = (row for row in some if row.probes and row.is_included and not row.guided and not row.adaptive)
    return grouped(asked, lambda row: row.group)


def _known(group: Group, rows: Iterable[Row], belief: Belief[object]) -> ItemScores:
    """Return the share of right answers at each item that has any."""

    def share(record: EpisodeRecord) -> float | None:
        answers = [float(probe.correct) for probe in record.probes if probe.name == belief.name]
        return fmean(answers) if answers else None

    metric = Metric(name=belief.name, of=share, title=belief.title, low=0, high=1, doc=belief.doc)
    answers = {
        key: [float(probe.correct) for row in some for probe in row.probes if probe.name == belief.name]
        for key, some in at_items(rows).items()
    }
    return values_of(group, metric, {key: fmean(some) for key, some in answers.items() if some})

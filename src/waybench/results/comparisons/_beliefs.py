"""First errors of episodes, and the answers to belief probes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import fmean, median

from waybench.core import Belief, FailureKind, Json, Metric
from waybench.envs import registry
from waybench.results.comparisons._comparison import Comparison, adjust_effects, compare
from waybench.results.comparisons._item_scores import (
    MODEL,
    ItemScores,
    comparison_key,
    main_failure,
    scores_from_values,
)
from waybench.results.formatting import NOTHING, align_columns, known_ends
from waybench.results.results import Row, RunKey, group_by, group_by_item, labels
from waybench.results.stats import IntervalEstimate, clustered_mean


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


def first_error_kinds(env: str) -> tuple[FailureKind, ...]:
    """Return the kinds of first errors that an environment defines, in the order of columns."""
    declared = registry.load(env).scoring.first_errors
    return () if declared is None else declared.all_kinds


def first_errors(episodes: Iterable[Row]) -> FirstErrorCounts | None:
    """Return the counts of first errors in episodes of one environment; None if it defines none, or without episodes.

    Episodes that did not fail, are excluded, or have a teacher are left out.
    """
    rows = list(episodes)
    kinds = first_error_kinds(rows[0].group.env) if rows else ()
    if not kinds:
        return None
    failed = [row for row in rows if main_failure(row)]
    errors = [row.first_error for row in failed if row.first_error is not None]
    counts = Counter(error.kind for error in errors)
    median_step = float(median(error.step for error in errors)) if errors else None
    return FirstErrorCounts(len(failed), {kind: counts[kind] for kind in kinds if counts[kind]}, median_step)


@dataclass(frozen=True, slots=True)
class BeliefCounts:
    """The answers to the probes of one belief.

    Attributes:
        asked: Number of probes.
        known: Share of right answers, with an interval over the clusters of items.
        unread: Number of replies in which no answer could be read.
        share: Mean share of an answer that is right; None where the belief defines no such share.
        knew: Number of probes just before a first error that were answered right: the player knew, and erred.
        did_not_know: Number of probes just before a first error that were not answered right.
    """

    belief: Belief[object]
    asked: int
    known: IntervalEstimate
    unread: int
    share: float | None
    knew: int
    did_not_know: int


def belief_counts(episodes: Iterable[Row]) -> list[BeliefCounts]:
    """Return the answers to the probes of each belief of one environment, in its order; without those never asked.

    Episodes that are excluded or have a teacher are left out.
    """
    rows = [row for row in episodes if row.is_included and not row.guided and row.probes]
    all_counts: list[BeliefCounts] = []
    for belief in rows[0].group.environment.probes if rows else ():
        answers = [(row, probe) for row in rows for probe in row.probes if probe.name == belief.name]
        correct, clusters = [float(probe.correct) for _, probe in answers], [row.cluster for row, _ in answers]
        known = clustered_mean(correct, clusters, 0.0, 1.0)
        if known is None:
            continue
        unread = sum(not probe.answered for _, probe in answers)
        share = None if belief.share is None else fmean(probe.share or 0.0 for _, probe in answers)
        at_error = [probe.correct for row, probe in answers if row.first_error and row.first_error.turn == probe.turn]
        knew = sum(at_error)
        all_counts.append(BeliefCounts(belief, len(answers), known, unread, share, knew, len(at_error) - knew))
    return all_counts


def beliefs_by_group(all_rows: Iterable[Row]) -> dict[RunKey, list[BeliefCounts]]:
    """Return the answers to belief probes of each group with probes."""
    by_group = {group: belief_counts(rows) for group, rows in group_by(all_rows, lambda row: row.group).items()}
    return {group: counts for group, counts in by_group.items() if counts}


def belief_text(all_rows: Iterable[Row]) -> str:
    """Return the answers to belief probes as aligned tables of plain text, one for each environment; "" without any."""
    headings = ["asked", "known [95 %]", "no answer", "knew and erred", "did not know"]
    by_group = beliefs_by_group(all_rows)
    tables: list[str] = []
    for env_id, groups in group_by(by_group, lambda group: group.env).items():
        names = labels(groups)
        lines = [[f"{registry.load(env_id).title}: belief probes", *headings]]
        for group in groups:
            for counts in by_group[group]:
                lines.append([f"{names[group]}, {counts.belief.title.lower()}", *_belief_cells(counts)])
        tables.append(align_columns(lines))
    return "\n\n".join(tables)


def _belief_cells(counts: BeliefCounts) -> list[str]:
    """Return the cells of a belief in the table of answers: counts, and the share of right answers in per cent."""
    interval_ends = known_ends(counts.known, bounds=(0, 1))
    interval = "" if interval_ends is None else " [{:.1f}, {:.1f}]".format(*(100 * end for end in interval_ends))
    has_errors = counts.knew + counts.did_not_know > 0
    errors = [f"{counts.knew:,}", f"{counts.did_not_know:,}"] if has_errors else [NOTHING, NOTHING]
    return [f"{counts.asked:,}", f"{100 * counts.known.value:.1f} %{interval}", f"{counts.unread:,}", *errors]


def knew_at_first_error(row: Row) -> bool | None:
    """Return whether a player answered all belief probes right in the turn of its first error.

    None without a first error, or without a probe in that turn.
    """
    if row.first_error is None:
        return None
    answers = [probe.correct for probe in row.probes if probe.turn == row.first_error.turn]
    return all(answers) if answers else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefComparison:
    """The comparison of two sides' answers to the probes of a belief, at the items at which both have answers.

    The value of an item is the share of right answers, from 0 to 1. The p value is adjusted by Holm's procedure over
    all comparisons of this kind.
    """

    belief: Belief[object]
    comparison: Comparison

    @property
    def verdict(self) -> str:
        """Which side knows more, "first" or "second"; "not shown" without a significant difference."""
        if not self.comparison.is_shown:
            return "not shown"
        return "first" if self.comparison.difference.value > 0 else "second"

    @property
    def text(self) -> str:
        """The comparison in a line."""
        comparison = self.comparison
        ends = known_ends(comparison.difference, bounds=(0, 1), is_change=True)
        interval = "" if ends is None else f" (95 %: {' to '.join(map(_signed_percent_text, ends))})"
        conclusions = {"first": "A knows more", "second": "B knows more", "not shown": "no difference shown"}
        return (
            f"{comparison.first.task}, {self.belief.title.lower()}: A {100 * comparison.first_mean.value:.1f} %, B "
            f"{100 * comparison.second_mean.value:.1f} % of answers right at {comparison.items} items; A − B "
            f"{_signed_percent_text(comparison.difference.value)}{interval}; p {comparison.p_text}: "
            f"{conclusions[self.verdict]}"
        )

    def to_json(self) -> dict[str, Json]:
        """Return the comparison as JSON values."""
        first, second = self.comparison.groups
        return {
            "first": first.to_json(),
            "second": second.to_json(),
            "belief": self.belief.name,
            "first_known": asdict(self.comparison.first_mean),
            "second_known": asdict(self.comparison.second_mean),
            "difference": asdict(self.comparison.difference),
            "p": self.comparison.test.p,
            "adjusted": self.comparison.adjusted_p,
            "verdict": self.verdict,
        }


def _signed_percent_text(share: float) -> str:
    """Return a difference of shares in percentage points: "+12.5"."""
    return f"{100 * share:+.1f}".replace("-", "−")


def compare_beliefs(first: Iterable[Row], second: Iterable[Row]) -> list[BeliefComparison]:
    """Compare how often two sides answer belief probes right, at the items at which both were asked.

    The turns of the probes may differ between the sides, so the value of an item is the share of right answers in all
    of its attempts.
    """
    first_rows, second_rows = _probed_rows(first), _probed_rows(second)
    by_key = group_by(second_rows, comparison_key)
    comparisons: list[BeliefComparison] = []
    for first_group in first_rows:
        for second_group in by_key.get(comparison_key(first_group), ()):
            for belief in first_group.environment.probes:
                first_scores = _belief_scores(first_group, first_rows[first_group], belief)
                second_scores = _belief_scores(second_group, second_rows[second_group], belief)
                if comparison := compare(first_scores, second_scores, MODEL, family="beliefs"):
                    comparisons.append(BeliefComparison(belief=belief, comparison=comparison))
    return adjust_effects(comparisons)


def _probed_rows(rows: Iterable[Row]) -> dict[RunKey, list[Row]]:
    """Return the included rows with probes, by group, without teachers, and without searches, whose items differ."""
    probed_rows = (row for row in rows if row.probes and row.is_included and not row.guided and not row.adaptive)
    return group_by(probed_rows, lambda row: row.group)


def _belief_scores(group: RunKey, rows: Iterable[Row], belief: Belief[object]) -> ItemScores:
    """Return a group's share of right answers about a belief, at each item with answers."""
    metric = Metric(name=belief.name, of=lambda record: None, title=belief.title, low=0, high=1, doc=belief.doc)
    answers = {
        key: [float(probe.correct) for row in attempts for probe in row.probes if probe.name == belief.name]
        for key, attempts in group_by_item(rows).items()
    }
    return scores_from_values(
        group, metric, {key: fmean(item_answers) for key, item_answers in answers.items() if item_answers}
    )

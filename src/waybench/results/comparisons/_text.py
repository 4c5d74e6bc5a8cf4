"""Comparisons as text and as JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import NamedTuple

from waybench.core import NO_ANSWER, Json, Metric, plural
from waybench.results.comparisons._comparison import Comparison
from waybench.results.comparisons._item_scores import Failures, ItemScores, most_frequent_failure
from waybench.results.comparisons._models import Unpaired
from waybench.results.formatting import (
    NOTHING,
    adjusted_p_text,
    align_columns,
    change_text,
    known_ends,
    mean_text,
    one_line,
    text_width,
)
from waybench.results.results import LONGEST, ItemKey, count_items, group_by, setting_text
from waybench.results.stats import IntervalEstimate
from waybench.results.stats._intervals import ALPHA
from waybench.results.stats._verdicts import Verdict

SCHEMA = 1
RARE_EXTREMES = "rare extreme scores that did not occur here are not in this test"
_LEGEND = {
    Verdict.TIED: "tied: the 90 % interval is within ±{margin:g} of the range (two one-sided tests at 5 %)",
    Verdict.NOT_SHOWN: "not shown: no significant difference, but not a tie either: any value in the interval is "
    "possible",
    Verdict.DEPENDS: "depends: another verdict if the items lost to infrastructure errors had the worst or the best "
    "scores; run the same command again to repeat them",
    Verdict.TOO_FEW: "too few: with so few independent items (or maps), or so few on which the two differ, no "
    "difference can be significant at 5 %",
}
_SHORT = {
    Verdict.FIRST: "A {merit}",
    Verdict.SECOND: "B {merit}",
    Verdict.TIED: "tied",
    Verdict.NOT_SHOWN: "not shown",
    Verdict.TOO_FEW: "too few",
    Verdict.DEPENDS: "depends",
}


def comparisons_text(
    comparisons: Sequence[Comparison], unpaired: Iterable[Unpaired], margin: float, origins: tuple[str, str]
) -> str:
    """Return comparisons as aligned plain-text tables, one for each pair of models, with notes.

    Args:
        comparisons: The comparisons.
        unpaired: The scores that could not be compared.
        margin: The greatest difference in a tie, as a share of a metric's range.
        origins: Where each side comes from, shown beside its model's name; "" for nothing.
    """
    blocks: list[str] = []
    p_heading = "Holm" if len(comparisons) > 1 else "p"
    by_pair = group_by(comparisons, lambda pair: (pair.first.model, pair.second.model, *pair.names))
    for pair_comparisons in by_pair.values():
        sides = (
            f"{letter}: {name}{f' in {origin}' if origin else ''}"
            for letter, name, origin in zip("AB", pair_comparisons[0].names, origins, strict=True)
        )
        too_few = [row for row in pair_comparisons if row.verdict is Verdict.TOO_FEW]
        # If no task has enough items, all are in the table; otherwise those without enough are in a last sentence.
        rows = [row for row in pair_comparisons if row.verdict is not Verdict.TOO_FEW] or too_few
        lines = [["", "items", "A", "B", "A − B", "95 % interval", p_heading, "verdict"]]
        lines += [[_task_and_metric_title(row, short=True), *comparison_cells(row)] for row in rows]
        width = max(text_width(line[-1]) for line in lines)
        # Verdicts are aligned to the left.
        table = align_columns([[*line[:-1], line[-1] + " " * (width - text_width(line[-1]))] for line in lines])
        blocks += ["\n".join(sides), table]
        blocks += [
            "\n".join([_task_and_metric_title(row), *(f"  {line}" for line in comparison_lines(row))]) for row in rows
        ]
        if too_few and len(rows) < len(pair_comparisons):
            blocks.append(f"Too few items to tell: {'; '.join(map(_too_few_text, too_few))}.")
    if notes := _notes_on_verdicts(comparisons, margin):
        blocks.append("\n".join(notes))
    not_compared: list[str] = []
    for side in unpaired:
        scores, items = side.scores, plural(count_items(side.scores.item_keys), "item")
        name = one_line(f"{scores.name}: {scores.metric.title}, {scores.model}", 2 * LONGEST)
        not_compared.append(f"  {'A' if side.first else 'B'}: {name}, {items} ({side.why})")
    if not_compared:
        blocks.append("\n".join(["Not compared:", *not_compared]))
    return "\n\n".join(blocks)


def _notes_on_verdicts(comparisons: Sequence[Comparison], margin: float) -> list[str]:
    """Return the notes on the verdicts, the direction and the adjustment, as far as comparisons need them."""
    verdicts = {comparison.verdict for comparison in comparisons}
    notes = [text.format(margin=margin) for verdict, text in _LEGEND.items() if verdict in verdicts]
    if any(comparison.metric.better == "lower" for comparison in comparisons):
        notes.append("↓ lower is better")
    if len(comparisons) > 1:
        n_adjusted = sum(comparison.adjusted_p is not None for comparison in comparisons)
        of = "" if n_adjusted == len(comparisons) else f" of {len(comparisons):,}, those that can show a difference"
        count = plural(n_adjusted, "comparison")
        notes.append(f"Holm: the p value, adjusted for {count}{of}: a difference is shown if it is below 0.05")
    return notes


def _too_few_text(comparison: Comparison) -> str:
    """Return a task with too few items and its difference: "Text maps, +0.283 (60 items in 6 clusters, ...)"."""
    clusters = len({key.cluster for key in comparison.keys})
    items = plural(comparison.items, "item") + (f" in {clusters} clusters" if clusters < comparison.items else "")
    change = _signed_change_text(comparison.difference.value, comparison.metric)
    return f"{one_line(comparison.name, LONGEST)}, {change} ({items}, p {_p_value_text(comparison.test.p)} unadjusted)"


def _task_and_metric_title(comparison: Comparison, *, short: bool = False) -> str:
    """Return the task and metric of a comparison, with an arrow if lower is better.

    Unless `short`, it says that means are of single attempts where an item's score is usually that of its best one.
    """
    arrow = " ↓" if comparison.metric.better == "lower" else ""
    title = comparison.metric.title
    group = comparison.first.group
    is_best_of = group is not None and group.environment.scoring.best_of and not comparison.first.steps
    attempts = (*comparison.first.attempts.values(), *comparison.second.attempts.values())
    if not short and is_best_of and max(attempts, default=1) > 1:
        title = f"{title} (mean of single attempts, not the best of several)"
    return f"{one_line(f'{comparison.name}: {title}', 2 * LONGEST)}{arrow}"


class ComparisonCells(NamedTuple):
    """A comparison's line of a table, as text.

    Attributes:
        difference: The first mean minus the second.
        p: The p value after Holm's procedure over the comparisons of the family that can show a difference; the
            unadjusted one, marked as such, where this one cannot.
        verdict: The verdict, with A for the first side: "A better", "tied", "not shown".
    """

    items: str
    first: str
    second: str
    difference: str
    interval: str
    p: str
    verdict: str


def comparison_cells(comparison: Comparison) -> ComparisonCells:
    """Return the cells of a comparison's row in a table."""
    metric, difference = comparison.metric, comparison.difference
    return ComparisonCells(
        items=str(comparison.items),
        first=mean_text(comparison.first_mean.value, metric),
        second=mean_text(comparison.second_mean.value, metric),
        difference=_signed_change_text(difference.value, metric),
        interval=_interval_text(difference, metric),
        p=adjusted_p_text(comparison.test.p, comparison.adjusted_p, _p_value_text),
        verdict=_short_verdict(comparison.verdict, metric),
    )


def _p_value_text(value: float) -> str:
    """Return a p value with four decimals; "<0.0001" below these."""
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _signed_change_text(value: float, metric: Metric) -> str:
    """Return a difference with as many decimals as a mean, or with one significant digit if these would be zeros."""
    text = change_text(value, metric)
    return f"{value:+.1g}".replace("-", "−") if text.startswith("±") and value else text


def _interval_text(mean: IntervalEstimate, metric: Metric) -> str:
    """Return the interval of a difference: "−3.0 to +1.2"."""
    ends = known_ends(mean, metric, is_change=True)
    return NOTHING if ends is None else " to ".join(_signed_change_text(end, metric) for end in ends)


def _short_verdict(verdict: Verdict, metric: Metric) -> str:
    """Return a verdict in a few words: "A better", or "A higher" where neither direction is better."""
    return _SHORT[verdict].format(merit="better" if metric.better else "higher")


def verdict_sentence(comparison: Comparison) -> str:
    """Return a verdict with its meaning: "no difference shown (could be −3.0 to +1.2)"."""
    metric, difference, margin = comparison.metric, comparison.difference, comparison.margin
    verdict, interval = comparison.verdict, _interval_text(comparison.difference, comparison.metric)
    if verdict is Verdict.DEPENDS:
        bounds = " or ".join(dict.fromkeys(_short_verdict(bound, metric) for bound in comparison.bounds))
        return f"depends on what infrastructure errors lost: {bounds}, by the worst and best scores of the lost items"
    if verdict in (Verdict.FIRST, Verdict.SECOND):
        side, merit = _short_verdict(verdict, metric).split()
        return f"{side} is {merit}: A − B is {_signed_change_text(difference.value, metric)} ({interval})"
    within = "" if margin is None else f"±{mean_text(margin, metric)}"
    if verdict is Verdict.TIED:
        return f"tied within {within} (90 % interval {_interval_text(comparison.interval_90, metric)})"
    conclusion = "too few to tell" if verdict is Verdict.TOO_FEW else "no difference shown"
    if comparison.test.p >= ALPHA:
        size = "the size is unknown" if interval == NOTHING else f"could be {interval}"
    # Otherwise the interval, which is of this comparison alone, does not contain 0.
    elif comparison.adjusted_p is None:
        size = f"alone {interval}, but there are {plural(comparison.family_size, 'other comparison')}"
    else:
        size = f"alone {interval}, but this is one of {comparison.family_size:,} comparisons"
    unit = "items" if difference.clusters == difference.n else "clusters"
    if comparison.within_margin:
        size += f"; a tie within {within} takes {comparison.min_clusters_for_tie:,} {unit}"
    return f"{conclusion} ({size})"


def comparison_lines(comparison: Comparison, *, settings: bool = True) -> Iterator[str]:
    """Yield the lines below a comparison: the verdict with its test first, then the notes.

    The sides are called A and B; `settings` is whether to list the settings that differ.
    """
    yield f"{verdict_sentence(comparison)}; {_test_text(comparison)}."
    if settings:
        first, second = comparison.first.settings, comparison.second.settings
        names = [name for name in {**first, **second} if repr(first.get(name)) != repr(second.get(name))]
        for letter, values in (("A", first), ("B", second)):
            if names:
                text = ", ".join(setting_text(name, values.get(name)) for name in names)
                yield f"{letter} with {one_line(text, 2 * LONGEST)}."
    sent_back = [side.reasoning_sent_back for side in (comparison.first, comparison.second)]
    if all(sent_back) and len(set(sent_back)) > 1:
        yield f"Reasoning of earlier turns that was sent back: A {sent_back[0]}, B {sent_back[1]}."
    yield from _exclusion_lines(comparison)
    if count := comparison.n_inputs_differing:
        yield (
            f"Note: {count} of {len(comparison.keys)} samples have the same id but different inputs: compare them only "
            "if they pose the same task."
        )
    yield from _failure_lines(comparison)
    yield from _first_error_lines(comparison)


def _test_text(comparison: Comparison) -> str:
    """Return the test of a comparison with its p value and numbers of items."""
    name = {"mcnemar": "McNemar's test (mid-p)", "t": "a t test of the pairs"}[comparison.test.method]
    items, clusters, values = comparison.items, comparison.difference.clusters, comparison.difference.n
    sample = plural(items, "item")
    if values > items:  # attempts at a single item are what was drawn
        sample += f", {plural(values, 'attempt')}"
    elif clusters != items:
        sample += f" in {plural(clusters, 'cluster')}"
    note = f"; {RARE_EXTREMES}" if comparison.paired_difference.omits_rare_extremes else ""
    return f"p {_p_value_text(comparison.test.p)} by {name} over {sample}{_levels_text(comparison.keys)}{note}"


def _levels_text(keys: Iterable[ItemKey]) -> str:
    """Return the levels of items, as in ", levels 3 to 9"; "" without levels."""
    levels = sorted({key.level for key in keys} - {0})
    if not levels:
        return ""
    return f", level {levels[0]}" if len(levels) == 1 else f", levels {levels[0]} to {levels[-1]}"


def _exclusion_lines(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence for each reason for which items are excluded from a comparison."""
    first, second = comparison.first, comparison.second
    for letter, side, other in (("A", first, second), ("B", second, first)):
        if alone := side.item_keys - other.item_keys:
            yield f"Excluded: {plural(count_items(alone), 'item')} that only {letter} was given{_levels_text(alone)}."
    for name, reason in (
        ("missing", "missing due to infrastructure errors"),
        ("unconfirmed", "with attempts that do not replay: their records do not agree with a new simulation"),
        ("undefined", "without a value, for example because no answer could be read"),
    ):
        first_keys, second_keys = (getattr(side, name) & comparison.common for side in (first, second))
        if first_keys or second_keys:
            sides = f"A {count_items(first_keys):,}, B {count_items(second_keys):,}"
            yield f"Excluded: {plural(count_items(first_keys | second_keys), 'item')} {reason} ({sides})."


def _first_error_lines(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence on both sides' most frequent first error and its median step."""
    parts: list[str] = []
    for letter, side in (("A", comparison.first), ("B", comparison.second)):
        errors = [error for error in comparison.first_errors(side) if error.kind not in NO_ANSWER]  # failures say these
        if errors:
            kind, count = Counter(error.kind for error in errors).most_common(1)[0]
            step = median(error.step for error in errors)
            parts.append(f"{letter} {kind.title} ({count:,} of {len(errors):,}; median step {step:g})")
    if parts:
        yield f"Most frequent first error: {', '.join(parts)}."


def _failure_lines(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence on both sides' most frequent failure."""
    sides = [comparison.failures(side) for side in (comparison.first, comparison.second)]
    if not any(kinds for kinds, _ in sides) or all(Failures(attempts, kinds).at_its_end for kinds, attempts in sides):
        return
    order = [*comparison.first.failure_kinds, *comparison.second.failure_kinds]
    first, second = (most_frequent_failure(kinds.elements(), order) for kinds, _ in sides)
    if first and second and first[0] == second[0]:
        parts = [
            f"{letter} {count:,} of {kinds.total():,}"
            for letter, (kinds, _), (_, count) in zip("AB", sides, (first, second), strict=True)
        ]
        yield f"Both fail by {first[0].title} ({', '.join(parts)} failures)."
        return
    parts: list[str] = []
    for (kinds, attempts), kind_and_count in zip(sides, (first, second), strict=True):
        if kind_and_count:
            kind, count = kind_and_count
            parts.append(f"by {kind.title} ({count:,} of {plural(kinds.total(), 'failure')})")
        else:
            parts.append(f"in none of {plural(attempts, 'attempt')}")
    yield "A fails {}, B {}.".format(*parts)


def comparisons_json(comparisons: Iterable[Comparison], unpaired: Iterable[Unpaired], margin: float) -> dict[str, Json]:
    """Return comparisons and unpaired scores as JSON values; unknown values are null."""
    return {
        "schema": SCHEMA,
        "margin": margin,
        "comparisons": [comparison_json(comparison) for comparison in comparisons],
        "not_compared": [
            {
                "side": "first" if side.first else "second",
                **_side_json(side.scores),
                "name": side.scores.name,
                "metric": side.scores.metric.name,
                "items": len(side.scores.item_keys),
                "why": side.why,
            }
            for side in unpaired
        ],
    }


def _side_json(scores: ItemScores) -> dict[str, Json]:
    """Return the model, task and settings of some scores as JSON values."""
    return {"model": scores.model, "task": scores.task, "settings": dict(scores.settings)}


def comparison_json(comparison: Comparison) -> dict[str, Json]:
    """Return a comparison as JSON values; unknown values are null."""
    narrow = comparison.interval_90

    def side_json(side: ItemScores, other: ItemScores, mean: IntervalEstimate) -> dict[str, Json]:
        kinds, attempts = comparison.failures(side)
        errors = Counter(error.kind.name for error in comparison.first_errors(side))
        return {
            **_side_json(side),
            "mean": asdict(mean),
            "only": len(side.item_keys - other.item_keys),
            **{name: len(getattr(side, name) & comparison.common) for name in ("missing", "undefined", "unconfirmed")},
            "attempts": attempts,
            "failures": dict(sorted((kind.name, count) for kind, count in kinds.items())),
            "first_errors": dict(sorted(errors.items())),
        }

    return {
        "name": comparison.name,
        "metric": {
            name: getattr(comparison.metric, name) for name in ("name", "title", "unit", "low", "high", "better")
        },
        "items": comparison.items,
        "clusters": comparison.difference.clusters,
        "difference": asdict(comparison.difference),
        "interval_90": [narrow.low, narrow.high],
        "test": {**comparison.test._asdict(), "exact": False},
        "p_holm": comparison.adjusted_p,
        "margin": comparison.margin,
        "verdict": str(comparison.verdict),
        "told": verdict_sentence(comparison),
        "other_input": comparison.n_inputs_differing,
        "first": side_json(comparison.first, comparison.second, comparison.first_mean),
        "second": side_json(comparison.second, comparison.first, comparison.second_mean),
    }

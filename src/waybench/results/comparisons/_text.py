"""Comparisons as text and as JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import NamedTuple

from waybench.core import NO_ANSWER, Json, Metric, plural
from waybench.results.comparisons._comparison import Comparison, Verdict
from waybench.results.comparisons._item_scores import Failures, ItemScores, dominant
from waybench.results.comparisons._models import Unpaired
from waybench.results.estimates import aligned
from waybench.results.formatting import NOTHING, change_text, mean_text, one_line, width
from waybench.results.results import LONGEST, ItemKey, count_items, grouped, setting
from waybench.results.stats import ALPHA, Mean

SCHEMA = 1
_LEGEND = {
    Verdict.TIED: "tied: the 90 % interval is within ±{margin:g} of the range (two one-sided tests at 5 %)",
    Verdict.NOT_SHOWN: "not shown: no significant difference, but not a tie either: any value in the interval is "
    "possible",
    Verdict.DEPENDS: "depends: another verdict if the items lost to infrastructure errors had the worst or the best "
    "scores; run the same command again to repeat them",
    Verdict.TOO_FEW: "too few: with fewer than 6 independent items (or maps), no difference can be significant at 5 %",
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
    found: Sequence[Comparison], left: Iterable[Unpaired], margin: float, origins: tuple[str, str]
) -> str:
    """Return comparisons as aligned plain-text tables, one for each pair of models, with notes.

    Args:
        found: The comparisons.
        left: What could not be compared.
        margin: The margin of ties, as a share of a metric's range.
        origins: Where each side comes from, shown beside its model's name; "" for nothing.
    """
    blocks: list[str] = []
    several = len(found) > 1
    for models, some in grouped(found, lambda one: (one.first.model, one.second.model)).items():
        sides = (
            f"{letter}: {_name(model)}{f' in {origin}' if origin else ''}"
            for letter, model, origin in zip("AB", models, origins, strict=True)
        )
        blocks += ["\n".join(sides), _table(some, several)]
        blocks += ["\n".join([_title(one), *(f"  {line}" for line in comparison_lines(one))]) for one in some]
    verdicts = {one.verdict for one in found}
    notes = [text.format(margin=margin) for verdict, text in _LEGEND.items() if verdict in verdicts]
    if any(one.metric.better == "lower" for one in found):
        notes.append("↓ lower is better")
    if several:
        notes.append(
            f"Holm: the p value, adjusted for {plural(len(found), 'comparison')}: a difference is shown if it is below "
            "0.05"
        )
    if notes:
        blocks.append("\n".join(notes))
    if not_paired := [_left(one) for one in left]:
        blocks.append("\n".join(["Not compared:", *(f"  {line}" for line in not_paired)]))
    return "\n\n".join(blocks)


def _name(text: str) -> str:
    return one_line(text, LONGEST) or "(no name)"


def _title(one: Comparison) -> str:
    lower = " ↓" if one.metric.better == "lower" else ""
    return f"{one_line(f'{one.name}: {one.metric.title}', 2 * LONGEST)}{lower}"


def _table(some: Sequence[Comparison], several: bool) -> str:
    lines = [["", "items", "A", "B", "A − B", "95 % interval", "Holm" if several else "p", "verdict"]]
    lines += [[_title(one), *comparison_cells(one)] for one in some]
    size = max(width(line[-1]) for line in lines)
    return aligned([[*line[:-1], line[-1] + " " * (size - width(line[-1]))] for line in lines])


class ComparisonCells(NamedTuple):
    """A comparison's line of a table, as text.

    Attributes:
        items: Number of items.
        first: The one's mean.
        second: The other's.
        difference: The one's less the other's.
        interval: Its 95 % interval.
        p: The p value after Holm's procedure over all comparisons that were made together.
        verdict: The verdict in words, the one being A: "A better", "tied", "not shown".
    """

    items: str
    first: str
    second: str
    difference: str
    interval: str
    p: str
    verdict: str


def comparison_cells(one: Comparison) -> ComparisonCells:
    """Return a comparison's line of a table."""
    first, second = (mean_text(mean.value, one.metric) for mean in (one.first_mean, one.second_mean))
    return ComparisonCells(
        items=str(one.items),
        first=first,
        second=second,
        difference=_change(one.difference.value, one.metric),
        interval=_between(one.difference, one.metric),
        p=_p(one.adjusted),
        verdict=_SHORT[one.verdict].format(merit=_merit(one)),
    )


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _change(value: float, metric: Metric) -> str:
    """Return a difference with as many decimals as a mean has, or with more where these would be zeros."""
    shown = change_text(value, metric)
    return f"{value:+.1g}".replace("-", "−") if shown.startswith("±") and value else shown


def _between(mean: Mean, metric: Metric) -> str:
    if mean.low is None or mean.high is None:
        return NOTHING
    return f"{_change(mean.low, metric)} to {_change(mean.high, metric)}"


def _merit(one: Comparison) -> str:
    return "better" if one.metric.better else "higher"


def verdict_sentence(one: Comparison) -> str:
    """Return a verdict with its meaning: "no difference shown (could be −3.0 to +1.2)"."""
    metric, found, margin = one.metric, one.difference, one.margin
    if one.verdict is Verdict.DEPENDS:
        bounds = " or ".join(dict.fromkeys(_SHORT[bound].format(merit=_merit(one)) for bound in one.bounds))
        return f"depends on what infrastructure errors lost: {bounds}, by the worst and best scores of the lost items"
    if one.verdict in (Verdict.FIRST, Verdict.SECOND):
        side = "A" if one.verdict is Verdict.FIRST else "B"
        ends = _between(one.difference, one.metric)
        return f"{side} is {_merit(one)}: A − B is {_change(found.value, metric)} ({ends})"
    within = "" if margin is None else f"±{mean_text(margin, metric)}"
    if one.verdict is Verdict.TIED:
        return f"tied within {within} (90 % interval {_between(one.narrow, metric)})"
    what = "too few to tell" if one.verdict is Verdict.TOO_FEW else "no difference shown"
    could = "the size is unknown" if found.low is None else f"could be {_between(one.difference, one.metric)}"
    unit = "items" if found.clusters == found.n else "clusters"
    more = f"; a tie within {within} takes {one.needed:,} {unit}" if one.nearly_tied else ""
    if one.test.p < ALPHA <= one.adjusted:  # the interval, which is of this comparison alone, does not contain 0
        could = f"alone {_between(found, metric)}, but this is one of {one.family_size:,} comparisons"
    return f"{what} ({could}{more})"


def comparison_lines(one: Comparison, *, settings: bool = True) -> Iterator[str]:
    """Yield the lines below a comparison: the verdict with its test first, then the notes.

    Args:
        one: The comparison; its sides are called A and B.
        settings: Whether to say how the settings differ.
    """
    yield f"{verdict_sentence(one)}; {_by(one)}."
    if settings:
        yield from _settings(one)
    yield from _left_out(one)
    if one.other_words:
        yield (
            f"Note: {one.other_words} of {len(one.keys)} samples have the same id but different inputs: compare them "
            f"only if they pose the same task."
        )
    yield from _failing(one)
    yield from _first_errors(one)


def _by(one: Comparison) -> str:
    name = {"mcnemar": "McNemar's test", "t": "a t test of the pairs"}[one.test.method]
    how = "exact " if one.test.exact else ""
    test = f"{how}p {_p(one.test.p)} by {name}"
    items, clusters, values = one.items, one.difference.clusters, one.difference.n
    if values > items:  # attempts at a single item are what was drawn
        of = f"{plural(items, 'item')}, {plural(values, 'attempt')}"
    else:
        of = f"{plural(items, 'item')} in {plural(clusters, 'cluster')}" if clusters != items else plural(items, "item")
    return f"{test} over {of}{_levels(one.keys)}"


def _levels(keys: Iterable[ItemKey]) -> str:
    levels = sorted({key.level for key in keys} - {0})
    if not levels:
        return ""
    return f", level {levels[0]}" if len(levels) == 1 else f", levels {levels[0]} to {levels[-1]}"


def _settings(one: Comparison) -> Iterator[str]:
    mine, theirs = one.first.settings, one.second.settings
    names = [name for name in {**mine, **theirs} if repr(mine.get(name)) != repr(theirs.get(name))]
    for letter, some in (("A", mine), ("B", theirs)):
        if names:
            yield f"{letter} with {one_line(', '.join(setting(name, some.get(name)) for name in names), 2 * LONGEST)}."


def _left_out(one: Comparison) -> Iterator[str]:
    first, second = one.first, one.second
    for letter, side, other in (("A", first, second), ("B", second, first)):
        if alone := side.item_keys - other.item_keys:
            yield f"Excluded: {plural(count_items(alone), 'item')} that only {letter} was given{_levels(alone)}."
    common = one.common
    for reason, mine, theirs in (
        ("missing due to infrastructure errors", first.missing & common, second.missing & common),
        (
            "with attempts that do not replay: their records do not agree with a new simulation",
            first.unconfirmed & common,
            second.unconfirmed & common,
        ),
        (
            "without a value, for example because no answer could be read",
            first.undefined & common,
            second.undefined & common,
        ),
    ):
        if mine or theirs:
            sides = f"A {count_items(mine):,}, B {count_items(theirs):,}"
            yield f"Excluded: {plural(count_items(mine | theirs), 'item')} {reason} ({sides})."


def _first_errors(one: Comparison) -> Iterator[str]:
    """Yield where the two go wrong most often, and when."""
    parts: list[str] = []
    for letter, side in (("A", one.first), ("B", one.second)):
        errors = [error for error in one.first_errors(side) if error.kind not in NO_ANSWER]  # failures say these
        if errors:
            kind, count = Counter(error.kind for error in errors).most_common(1)[0]
            step = median(error.step for error in errors)
            parts.append(f"{letter} {kind.title} ({count:,} of {len(errors):,}; median step {step:g})")
    if parts:
        yield f"Most frequent first error: {', '.join(parts)}."


def _failing(one: Comparison) -> Iterator[str]:
    sides = [(letter, *one.failures(side)) for letter, side in (("A", one.first), ("B", one.second))]
    if not any(kinds for _, kinds, _ in sides):
        return
    if all(Failures(attempts, kinds).at_its_end for _, kinds, attempts in sides):
        return
    order = [*one.first.failure_kinds, *one.second.failure_kinds]
    most = [dominant(kinds.elements(), order) for _, kinds, _ in sides]
    if most[0] and most[1] and most[0][0] == most[1][0]:
        parts = [
            f"{letter} {of[1]:,} of {kinds.total():,}" for (letter, kinds, _), of in zip(sides, most, strict=True) if of
        ]
        yield f"Both fail by {most[0][0].title} ({', '.join(parts)} failures)."
        return
    parts = [
        f"by {of[0].title} ({of[1]:,} of {plural(kinds.total(), 'failure')})"
        if of
        else f"in none of {plural(attempts, 'attempt')}"
        for (_, kinds, attempts), of in zip(sides, most, strict=True)
    ]
    yield f"A fails {parts[0]}, B {parts[1]}."


def _left(one: Unpaired) -> str:
    side, scores = "A" if one.first else "B", one.scores
    items = count_items(scores.item_keys)
    named = one_line(f"{scores.name}: {scores.metric.title}, {scores.model}", 2 * LONGEST)
    return f"{side}: {named}, {plural(items, 'item')} ({one.why})"


def comparisons_json(found: Iterable[Comparison], left: Iterable[Unpaired], margin: float) -> dict[str, Json]:
    """Return comparisons as JSON values; unknown values are null.

    Args:
        found: The comparisons.
        left: What could not be compared.
        margin: The margin of ties, as a share of a metric's range.
    """
    return {
        "schema": SCHEMA,
        "margin": margin,
        "comparisons": [comparison_json(one) for one in found],
        "not_compared": [
            {
                "side": "first" if one.first else "second",
                **_side(one.scores),
                "name": one.scores.name,
                "metric": one.scores.metric.name,
                "items": len(one.scores.item_keys),
                "why": one.why,
            }
            for one in left
        ],
    }


def _side(scores: ItemScores) -> dict[str, Json]:
    return {"model": scores.model, "task": scores.task, "settings": dict(scores.settings)}


def comparison_json(one: Comparison) -> dict[str, Json]:
    """Return a comparison as JSON values; unknown values are null."""
    common = one.common
    return {
        "name": one.name,
        "metric": _metric(one.metric),
        "items": one.items,
        "clusters": one.difference.clusters,
        "difference": asdict(one.difference),
        "interval_90": [one.narrow.low, one.narrow.high],
        "test": one.test._asdict(),
        "p_holm": one.adjusted,
        "margin": one.margin,
        "verdict": str(one.verdict),
        "told": verdict_sentence(one),
        "other_input": one.other_words,
        **{
            name: {
                **_side(side),
                "mean": asdict(mean),
                "only": len(side.item_keys - other.item_keys),
                "missing": len(side.missing & common),
                "undefined": len(side.undefined & common),
                "unconfirmed": len(side.unconfirmed & common),
                "attempts": one.failures(side)[1],
                "failures": dict(sorted((kind.name, count) for kind, count in one.failures(side)[0].items())),
                "first_errors": dict(sorted(Counter(error.kind.name for error in one.first_errors(side)).items())),
            }
            for name, side, other, mean in (
                ("first", one.first, one.second, one.first_mean),
                ("second", one.second, one.first, one.second_mean),
            )
        },
    }


def _metric(metric: Metric) -> dict[str, Json]:
    return {name: getattr(metric, name) for name in ("name", "title", "unit", "low", "high", "better")}

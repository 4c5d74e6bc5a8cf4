"""Comparisons of two players as text and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple

from waybench.analysis._items import ItemKey, count_items
from waybench.analysis._labels import LONGEST, setting
from waybench.analysis._numbers import NOTHING, change_text, mean_text
from waybench.analysis._rows import grouped
from waybench.analysis._table import aligned
from waybench.analysis._text import one_line, width
from waybench.analysis.comparisons._answers import Answers
from waybench.analysis.comparisons._contrasts import Contrast, Unpaired, Verdict
from waybench.analysis.comparisons._failures import Failures, dominant
from waybench.core import Json, Metric, plural
from waybench.stats import LEAST, Mean

SCHEMA = 1
_LEGEND = {
    Verdict.TIED: "tied: the 90 % interval is within ±{margin:g} of the range (two one-sided tests at 5 %)",
    Verdict.NOT_SHOWN: "not shown: no difference is shown, which is no tie, for it could be anything in the interval",
    Verdict.TOO_FEW: "too few: with fewer than 6 independent items, or maps, no test at 5 % can show a difference",
}
_SHORT = {
    Verdict.FIRST: "A {merit}",
    Verdict.SECOND: "B {merit}",
    Verdict.TIED: "tied",
    Verdict.NOT_SHOWN: "not shown",
    Verdict.TOO_FEW: "too few",
}


def contrast_text(found: Sequence[Contrast], left: Iterable[Unpaired], margin: float, places: tuple[str, str]) -> str:
    """Return comparisons as aligned tables of plain text, one for each two models, and what is to be said of each.

    Args:
        found: The comparisons.
        left: What could not be compared.
        margin: The margin of ties, as a share of a metric's range.
        places: Where each side comes from, to be told beside its model's name; "" for nothing.
    """
    blocks: list[str] = []
    several = len(found) > 1
    for models, some in grouped(found, lambda one: (one.first.model, one.second.model)).items():
        sides = (
            f"{letter}: {_name(model)}{f' in {place}' if place else ''}"
            for letter, model, place in zip("AB", models, places, strict=True)
        )
        blocks += ["\n".join(sides), _table(some, several)]
        blocks += ["\n".join([_title(one), *(f"  {line}" for line in contrast_lines(one))]) for one in some]
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


def _title(contrast: Contrast) -> str:
    lower = " ↓" if contrast.metric.better == "lower" else ""
    return f"{one_line(f'{contrast.name}: {contrast.metric.title}', 2 * LONGEST)}{lower}"


def _table(some: Sequence[Contrast], several: bool) -> str:
    lines = [["", "items", "A", "B", "A − B", "95 % interval", "Holm" if several else "p", "verdict"]]
    lines += [[_title(one), *contrast_cells(one)] for one in some]
    size = max(width(line[-1]) for line in lines)
    return aligned([[*line[:-1], line[-1] + " " * (size - width(line[-1]))] for line in lines])


class ContrastCells(NamedTuple):
    """A comparison's line of a table, as text.

    Attributes:
        items: Number of items.
        first: The one's mean.
        second: The other's.
        difference: The one's less the other's.
        interval: Its 95 % interval.
        p: The p value after Holm's procedure over all comparisons that were made together.
        verdict: What it comes to, the one being A: "A better", "tied", "not shown".
    """

    items: str
    first: str
    second: str
    difference: str
    interval: str
    p: str
    verdict: str


def contrast_cells(contrast: Contrast) -> ContrastCells:
    """Return a comparison's line of a table."""
    first, second = (mean_text(mean.value, contrast.metric) for mean in (contrast.first_mean, contrast.second_mean))
    return ContrastCells(
        items=str(contrast.items),
        first=first,
        second=second,
        difference=_change(contrast.difference.value, contrast.metric),
        interval=_interval(contrast),
        p=_p(contrast, contrast.adjusted),
        verdict=_SHORT[contrast.verdict].format(merit=_merit(contrast)),
    )


def _p(contrast: Contrast, value: float) -> str:
    if not contrast.test.exact and contrast.test.p <= LEAST:
        return f"≤{value:.4f}"
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _change(value: float, metric: Metric) -> str:
    """Return a difference with as many decimals as a mean has, or with more where these would be zeros."""
    shown = change_text(value, metric)
    return f"{value:+.1g}".replace("-", "−") if shown.startswith("±") and value else shown


def _between(mean: Mean, metric: Metric) -> str:
    if mean.low is None or mean.high is None:
        return NOTHING
    return f"{_change(mean.low, metric)} to {_change(mean.high, metric)}"


def _interval(contrast: Contrast) -> str:
    return _between(contrast.difference, contrast.metric)


def _merit(contrast: Contrast) -> str:
    return "better" if contrast.metric.better else "higher"


def verdict_sentence(contrast: Contrast) -> str:
    """Return a verdict with what it means: "no difference shown (could be −3.0 to +1.2)"."""
    metric, found, margin = contrast.metric, contrast.difference, contrast.margin
    if contrast.verdict in (Verdict.FIRST, Verdict.SECOND):
        side = "A" if contrast.verdict is Verdict.FIRST else "B"
        ends = _interval(contrast)
        return f"{side} is {_merit(contrast)}: A − B is {_change(found.value, metric)} ({ends})"
    within = "" if margin is None else f"±{mean_text(margin, metric)}"
    if contrast.verdict is Verdict.TIED:
        return f"tied within {within} (90 % interval {_between(contrast.narrow, metric)})"
    what = "too few to tell" if contrast.verdict is Verdict.TOO_FEW else "no difference shown"
    could = "by how much is not known" if found.low is None else f"could be {_interval(contrast)}"
    more = f"; a tie within {within} takes {contrast.needed:,} items" if contrast.nearly_tied else ""
    return f"{what} ({could}{more})"


def contrast_lines(contrast: Contrast, *, settings: bool = True) -> Iterator[str]:
    """Yield what is to be said of a comparison, line by line, the first one being the verdict with its test.

    Args:
        contrast: The comparison; its sides are called A and B.
        settings: Whether to say how the settings differ.
    """
    yield f"{verdict_sentence(contrast)}; {_by(contrast)}."
    if settings:
        yield from _settings(contrast)
    yield from _left_out(contrast)
    if contrast.other_words:
        yield (
            f"Note: {contrast.other_words} of {len(contrast.keys)} samples have the same id and another input: compare "
            "them only if they ask the same."
        )
    yield from _failing(contrast)


def _by(contrast: Contrast) -> str:
    name = {"mcnemar": "McNemar's test", "sign-flip": "sign-flip test"}[contrast.test.method]
    how = "exact " if contrast.test.exact else "simulated "
    test = f"{how}p {_p(contrast, contrast.test.p)} by {name}"
    items, clusters, values = contrast.items, contrast.difference.clusters, contrast.difference.n
    if values > items:  # attempts at a single item are what was drawn
        of = f"{_items(items)}, {plural(values, 'attempt')}"
    else:
        of = f"{_items(items)} in {plural(clusters, 'cluster')}" if clusters != items else _items(items)
    return f"{test} over {of}{_levels(contrast.keys)}"


def _items(number: int) -> str:
    return plural(number, "item")


def _levels(keys: Iterable[ItemKey]) -> str:
    levels = sorted({key.level for key in keys} - {0})
    if not levels:
        return ""
    return f", level {levels[0]}" if len(levels) == 1 else f", levels {levels[0]} to {levels[-1]}"


def _settings(contrast: Contrast) -> Iterator[str]:
    mine, theirs = contrast.first.settings, contrast.second.settings
    names = [name for name in {**mine, **theirs} if repr(mine.get(name)) != repr(theirs.get(name))]
    for letter, some in (("A", mine), ("B", theirs)):
        if names:
            yield f"{letter} with {one_line(', '.join(setting(name, some.get(name)) for name in names), 2 * LONGEST)}."


def _left_out(contrast: Contrast) -> Iterator[str]:
    first, second = contrast.first, contrast.second
    for letter, one, other in (("A", first, second), ("B", second, first)):
        if alone := one.asked - other.asked:
            yield f"Left out: {_items(count_items(alone))} that only {letter} was asked{_levels(alone)}."
    common = contrast.common
    for reason, mine, theirs in (
        ("missing for infrastructure errors", first.missing & common, second.missing & common),
        ("without a value, as where no answer could be read", first.undefined & common, second.undefined & common),
    ):
        if mine or theirs:
            sides = f"A {count_items(mine):,}, B {count_items(theirs):,}"
            yield f"Left out: {_items(count_items(mine | theirs))} {reason} ({sides})."


def _failing(contrast: Contrast) -> Iterator[str]:
    sides = [(letter, *contrast.failures(side)) for letter, side in (("A", contrast.first), ("B", contrast.second))]
    if not any(kinds for _, kinds, _ in sides):
        return
    if all(Failures(attempts, kinds).at_its_end for _, kinds, attempts in sides):
        return
    order = [*contrast.first.failure_kinds, *contrast.second.failure_kinds]
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
    side, answers = "A" if one.first else "B", one.answers
    items = count_items(answers.asked)
    named = one_line(f"{answers.name}: {answers.metric.title}, {answers.model}", 2 * LONGEST)
    return f"{side}: {named}, {_items(items)} ({one.why})"


def contrast_json(found: Iterable[Contrast], left: Iterable[Unpaired], margin: float) -> dict[str, Json]:
    """Return comparisons as JSON values; what is not known is null.

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
                **_side(one.answers),
                "name": one.answers.name,
                "metric": one.answers.metric.name,
                "items": len(one.answers.asked),
                "why": one.why,
            }
            for one in left
        ],
    }


def _side(answers: Answers) -> dict[str, Json]:
    return {"model": answers.model, "task": answers.task, "settings": dict(answers.settings)}


def comparison_json(one: Contrast) -> dict[str, Json]:
    """Return a comparison as JSON values; what is not known is null."""
    common = one.common
    return {
        "name": one.name,
        "metric": _metric(one.metric),
        "items": one.items,
        "clusters": one.difference.clusters,
        "difference": _mean(one.difference),
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
                "mean": _mean(mean),
                "only": len(side.asked - other.asked),
                "missing": len(side.missing & common),
                "undefined": len(side.undefined & common),
                "attempts": one.failures(side)[1],
                "failures": dict(sorted((kind.name, count) for kind, count in one.failures(side)[0].items())),
            }
            for name, side, other, mean in (
                ("first", one.first, one.second, one.first_mean),
                ("second", one.second, one.first, one.second_mean),
            )
        },
    }


def _mean(mean: Mean) -> dict[str, Json]:
    return asdict(mean)


def _metric(metric: Metric) -> dict[str, Json]:
    return {name: getattr(metric, name) for name in ("name", "title", "unit", "low", "high", "better")}

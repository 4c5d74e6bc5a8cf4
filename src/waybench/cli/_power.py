"""`waybench power`: how many items it takes to show differences, ties, ranks and horizons."""

import math
import textwrap
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from waybench.cli._decide import items_until_decided_text
from waybench.cli._options import PRICE, PRICES, FiniteRange, GroupedCommand, option, same_option, with_parameters
from waybench.cli._sides import read_results
from waybench.core import UsageError, load_prices, plural, short_count
from waybench.results.logs import is_embedded

if TYPE_CHECKING:
    from waybench.results import Row
    from waybench.results.comparisons import ItemScores
    from waybench.results.stats import PowerAssumptions
    from waybench.results.stats._power import ItemsNeeded

_EXAMPLES = """\b
waybench power --detect 0.05                       a difference of five points in the share solved
waybench power --detect 0.05 --pilot waybench-out  with variances, clusters and tokens from a small run
waybench power --items 200 --rate 0.8              what 200 items can detect
waybench power --detect 0.1 --models 6             a ranking of six models
waybench power --tie 0.05 --disagree 0.2           two equal models
waybench power --detect 0.1 --isomorphs 1          one model at items and at isomorphic ones, or at a twin
waybench power --until decided --disagree 0.3      a comparison that ends when it is decided
waybench power --ratio 1.5 --levels 5,7,9,13,19    two horizons"""

_SHARE = FiniteRange(0, 1, min_open=True, max_open=True)
_WIDTH = 120  # columns of the terminal
_MOST_LEVELS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerQuestion:
    """What is to be shown, and how surely.

    Attributes:
        detect: The difference, as a share of the range; None for what a number of items detects.
        tie: The margin of a tie; None for no tie.
        items: The number of items; of horizons, of items at each level.
        models: Number of models in a ranking; None for two.
    """

    detect: float | None = option(
        "Difference to detect, as a share of the metric's range.", type=_SHARE, metavar="SHARE"
    )
    tie: float | None = option(
        "Margin within which two equal models are to be shown as tied, as a share of the metric's range.",
        type=_SHARE,
        metavar="SHARE",
    )
    until: str | None = option(
        "`decided`: what a comparison takes that ends when it is decided (`waybench run --until decided`), with --tie "
        "as its margin, by default 0.05, and --items as its limit, by default 2,000.",
        type=click.Choice(["decided"]),
    )
    items: int | None = option(
        "Number of items: prints the smallest difference that they detect, or with --tie the power. With --levels, "
        "of each level: prints the smallest ratio of horizons.",
        type=click.IntRange(min=1),
    )
    ratio: float | None = option(
        "Ratio of two 50 % horizons to detect, with --levels.",
        type=FiniteRange(1, 1000, min_open=True),
        metavar="FACTOR",
    )
    power: float = option("Probability of detecting the difference.", type=_SHARE, default=0.8)
    alpha: float = option("Significance level of the two-sided test.", type=_SHARE, default=0.05)
    families: int = option("Number of comparisons to adjust for.", type=click.IntRange(min=1), default=1)
    models: int | None = option("Number of models to rank, each pair of them compared.", type=click.IntRange(min=2))

    @property
    def adjusted_levels(self) -> Iterator[tuple[str, float]]:
        """Significance levels that are adjusted for several comparisons, each with its description."""
        if self.families > 1:
            yield f"in each of {self.families} families, at worst", self.alpha / self.families
        if self.models is not None:
            pairs = math.comb(self.models, 2)
            yield f"each pair in a ranking of {self.models} models ({pairs} pairs), at worst", self.alpha / pairs

    @property
    def text(self) -> str:
        """The question in words, the first line of an answer."""
        power_text = f"a power of {self.power:g}, two-sided at {self.alpha:g}:"
        if self.tie is not None:
            tie_power = "" if self.items is not None else f" with a power of {self.power:g}"
            return (
                f"To show that two equal models are tied within {self.tie:g}{tie_power}, one-sided at {self.alpha:g}:"
            )
        if self.items is not None:
            return f"With {plural(self.items, 'item')} and {power_text}"
        return f"To detect a difference of {self.detect:g} with {power_text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AssumedShares:
    """What is assumed of models that solve items or not, without a pilot."""

    rate: float = option("Share of items that a model solves.", type=_SHARE, default=0.5)
    correlation: float = option(
        "Correlation of two models' outcomes on the same item.", type=FiniteRange(-1, 1, max_open=True), default=0.5
    )
    disagree: float | None = option(
        "Share of items that exactly one model solves; replaces --correlation.", type=_SHARE
    )
    attempts: int = option("Attempts per item.", type=click.IntRange(min=1), default=1)
    repeat: float | None = option("Correlation of one model's attempts on the same item.", type=FiniteRange(-1, 1))
    cluster: float = option("Items per cluster, such as a map.", type=FiniteRange(1), default=1)
    icc: float = option("Correlation within a cluster.", type=FiniteRange(0, 1), default=0.1)
    isomorphs: int | None = option(
        "Compare one model's results at items and at this many isomorphic forms of each, or with 1 at a twin task.",
        type=click.IntRange(min=1, max=100),
        metavar="NUMBER",
    )

    @property
    def assumptions(self) -> "PowerAssumptions":
        """The assumptions in the form that computations of power take."""
        from waybench.results.stats._assumed_shares import assume_shares

        return assume_shares(
            self.rate,
            correlation=self.correlation,
            disagree=self.disagree,
            attempts=self.attempts,
            repeat=self.repeat,
            size=self.cluster,
            icc=self.icc,
            forms=self.isomorphs or 0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotRun:
    """A small run, and what is taken from it."""

    folder: Path | None = option("Estimate all of these from logs.", "--pilot", metavar="DIR")
    metric: str = option(
        "Metric of the pilot, or `solved`; by default the headline metric.", default="", metavar="NAME"
    )
    prices: Path | None = same_option(PRICES)
    price: tuple[str, ...] = same_option(PRICE, default=())
    references: bool = option("Count the embedded players as models.")


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonDesign:
    """The runs whose horizons are compared."""

    levels: str = option("Levels of a comparison of horizons.", default="", metavar="L1,L2,...")
    fall: float = option(
        "Doublings of the level within which success falls from 90 to 10 %.", type=FiniteRange(0.1, 20), default=1.5
    )


_GROUPS = {
    "Question": ("detect", "items", "tie", "until", "ratio", "levels", "models", "families", "power", "alpha"),
    "Pilot": ("folder", "metric", "references"),
    "Limits and money": ("price", "prices"),
    "Assumptions without a pilot": (
        *("rate", "correlation", "disagree", "attempts", "repeat", "cluster", "icc", "isomorphs", "fall"),
    ),
}


@click.command(cls=GroupedCommand, groups=_GROUPS, epilog=_EXAMPLES)
@with_parameters
def power(question: PowerQuestion, shares: AssumedShares, pilot: PilotRun, horizons: HorizonDesign) -> None:
    """Compute how many items are needed to show a difference between two models, a tie, a ranking or a ratio.

    Both models get the same items, as in `waybench compare`. The assumptions are printed. For better ones, give a
    pilot: a small run of one or more models, which also says what tokens the items take, and what they cost. With
    several families (tasks) or models, Holm's procedure requires a p value of --alpha divided by the number of
    comparisons in the worst case, which is shown too.
    """
    if horizons.levels or question.ratio is not None:
        _print_wrapped(_horizon_answer(question, horizons, pilot))
        return
    if question.until is not None:
        click.echo("\n\n".join(_until_decided_texts(question, shares, pilot)))
        return
    if (question.items is None) == (question.detect is None) and question.tie is None:
        raise UsageError("give either --detect or --items, or --tie, or --ratio with --levels")
    if question.tie is not None:
        if question.detect is not None:
            raise UsageError("--detect and --tie are two questions: give one of them")
        if question.families > 1 or question.models is not None:
            raise UsageError("ties are not adjusted for their number: leave --families and --models out")
    elif question.models is not None and shares.isomorphs is not None:
        raise UsageError(
            "--isomorphs compares models with themselves: for several, give --families in place of --models"
        )
    try:
        if pilot.folder is None:
            if pilot.prices or pilot.price:
                raise UsageError("--prices needs the tokens of a pilot: add --pilot")
            _print_wrapped(
                "\n".join(_answer_lines(_TestPlan(shares.assumptions, []), question, is_of_models=not shares.isomorphs))
            )
            return
        plans, problems = _pilot_plans(pilot.folder, pilot, shares)
        texts = ["\n".join(_answer_lines(plan, question, is_of_models=not shares.isomorphs)) for plan in plans]
    except ValueError as error:  # assumptions that contradict each other; the message says which option to change
        raise UsageError(str(error)) from error
    _print_wrapped("\n\n".join([*texts, *problems]))


def _print_wrapped(text: str) -> None:
    """Print a text with lines of at most 120 columns, without breaking words."""
    for line in text.splitlines():
        click.echo(textwrap.fill(line, _WIDTH, subsequent_indent="    "))


def _until_decided_texts(question: PowerQuestion, shares: AssumedShares, pilot: PilotRun) -> Iterator[str]:
    """Yield, for each test, how many items a comparison takes until it is decided."""
    if question.detect is not None or question.models is not None or shares.isomorphs is not None:
        raise UsageError(
            "--until decided shows several differences of two models: leave --detect, --models and --isomorphs out"
        )
    plans = [_TestPlan(shares.assumptions, [])]
    if pilot.folder is not None:
        plans, _ = _pilot_plans(pilot.folder, pilot, shares)
    for plan in plans:
        yield items_until_decided_text(plan.assumptions, question.tie, question.items, question.families)


@dataclass(frozen=True, slots=True)
class _TestPlan:
    """Assumptions about a comparison, and for each of its runs in the pilot the rows, which tell the cost."""

    assumptions: "PowerAssumptions"
    runs: "Sequence[Sequence[Row]]"


def _pilot_plans(folder: Path, pilot: PilotRun, shares: AssumedShares) -> tuple[list[_TestPlan], list[str]]:
    """Return the plan of each test that a pilot allows, and a line on each that it does not."""
    from waybench.results.comparisons._models import assumptions_from_pilot
    from waybench.results.results import group_by, without_searches

    all_scores, all_rows = read_results((folder,), pilot.metric, load_prices(pilot.prices, pilot.price))
    rows_by_run = group_by(without_searches(all_rows), lambda row: row.group)
    if not all_scores:
        raise UsageError(f"{folder} has searches for horizons only, which have no scores: give --ratio and --levels")
    reference_models = sorted(
        {side.model for side in all_scores if is_embedded(side.model)} if not pilot.references else ()
    )
    reference_names = ", ".join(reference_models)
    scores = [side for side in all_scores if side.model not in reference_models]
    if not scores:
        raise UsageError(
            f"{folder} has embedded players only ({reference_names[:200]}), which say nothing of a model's variance: "
            "give logs of a model, or add --references to plan for such players"
        )
    plans: list[_TestPlan] = []
    problems: list[str] = []
    for name, sides in _planned_tests(scores, shares.isomorphs):
        assumptions, reasons_against = assumptions_from_pilot(sides, shares.correlation)
        runs = [rows_by_run[side.group] for side in sides if side.group in rows_by_run]
        if name:  # it compares one model with itself
            assumptions = [
                replace(plan, name=name, description=plan.description.removeprefix("two models, "))
                for plan in assumptions
            ]
        plans += [_TestPlan(plan, runs) for plan in assumptions]
        problems += reasons_against
    if not plans:
        raise UsageError(problems[0])
    if reference_models:
        problems.append(f"Left out, since they are no models: {reference_names} (--references counts them)")
    return plans, problems


def _planned_tests(
    scores: "Sequence[ItemScores]", isomorphs: int | None
) -> "Iterator[tuple[str, Sequence[ItemScores]]]":
    """Yield each test to plan: its name and the pilot's scores of what it compares.

    If `isomorphs` is None, tests compare models, and have no name (""). Otherwise each test compares one model's scores
    on items with those on this many isomorphic forms of each item.
    """
    from waybench.results.comparisons._isomorphs import compare_isomorphs, compare_twins
    from waybench.results.results import group_by

    if isomorphs is None:
        yield from (("", sides) for sides in group_by(scores, lambda side: side.test).values())
        return
    effects = compare_isomorphs(scores)
    form_counts = [len(effect.numbers) for effect in effects]  # an isomorphic set has one form of each item
    comparisons = [effect.comparison for effect, count in zip(effects, form_counts, strict=True) if count == isomorphs]
    comparisons += compare_twins(scores) if isomorphs == 1 else []  # a twin task is one other form of the items
    if not comparisons:
        counts_text = ", ".join(map(str, sorted(set(form_counts))))
        raise UsageError(
            f"--isomorphs {isomorphs}: the pilot has {counts_text or 'no'} isomorphic forms of an item; run a task "
            "again with -T isomorph=1, and so on"
        )
    for comparison in comparisons:
        first, second = comparison.first, comparison.second
        name = f"{comparison.name}: {comparison.metric.title}, {first.model} against itself"
        yield name, [first, replace(second, test=first.test)]  # as if they were two models in one test


def _answer_lines(plan: _TestPlan, question: PowerQuestion, *, is_of_models: bool) -> Iterator[str]:
    """Yield the answer for one test: question, numbers of items, cost, and assumptions.

    `is_of_models` says whether it compares two models, and not one model on several forms of items.
    """
    if plan.assumptions.name:
        yield plan.assumptions.name
    yield question.text
    answer_lines = _difference_lines if question.tie is None else _tie_lines
    items = yield from answer_lines(plan.assumptions, question, is_of_models)
    if items is not None:
        yield from _cost_lines(plan, items)
    yield f"  {'from the pilot' if plan.assumptions.name else 'assumed'}: {plan.assumptions.description}"


def _items_needed_text(needed: "ItemsNeeded", assumptions: "PowerAssumptions") -> str:
    """Return a number of items, and of clusters if they have several items, as text."""
    clusters = f" in {plural(needed.clusters, 'cluster')}" if assumptions.size > 1 else ""
    return f"{needed.items:,}{clusters}"


def _pairing_text(is_of_models: bool) -> str:
    """Return the design in words: two models on the same items, or one model on forms of items."""
    return "the same items for both models" if is_of_models else "items, each in all forms"


def _difference_lines(
    assumptions: "PowerAssumptions", question: PowerQuestion, is_of_models: bool
) -> Generator[str, None, int | None]:
    """Yield lines on the items or the detectable difference, and return the items for a single comparison."""
    from waybench.results.stats._power import detectable_difference, items_needed

    alpha_by_text = {_pairing_text(is_of_models): question.alpha, **dict(question.adjusted_levels)}
    if question.detect is None:
        for text, alpha in alpha_by_text.items():
            smallest = detectable_difference(assumptions, question.items or 0, alpha=alpha, power=question.power)
            yield f"  {text}: {'none, however large' if smallest is None else f'differences from {smallest:.3f}'}"
        return question.items
    needs = [
        items_needed(assumptions, question.detect, alpha=alpha, power=question.power)
        for alpha in alpha_by_text.values()
    ]
    for text, items_needed_at_level in zip(alpha_by_text, needs, strict=True):
        yield f"  {text}: {_items_needed_text(items_needed_at_level, assumptions)}"
    if is_of_models and needs[0].unpaired is not None:
        yield f"  other items for each model: {needs[0].unpaired:,} each"
    return needs[0].items


def _tie_lines(
    assumptions: "PowerAssumptions", question: PowerQuestion, is_of_models: bool
) -> Generator[str, None, int | None]:
    """Yield lines on the items that a tie takes, or on its power with the items given; return the number of items."""
    from waybench.results.stats._power import items_for_tie, min_clusters_for_tie, tie_power

    margin, items = question.tie or 0.0, question.items
    if items is None:
        items_needed = items_for_tie(assumptions, margin, alpha=question.alpha, power=question.power)
        yield f"  {_pairing_text(is_of_models)}: {_items_needed_text(items_needed, assumptions)}"
        items = items_needed.items
    else:
        achieved = tie_power(assumptions, margin, items, alpha=question.alpha)
        yield f"  {_pairing_text(is_of_models)}, {items:,}: a power of {achieved:.2f}"
    unit = "clusters" if assumptions.size > 1 else "items"
    yield f"  a tie takes, however small the differences are: {min_clusters_for_tie(margin):,} {unit}"
    return items


def _cost_lines(plan: _TestPlan, items: int) -> Iterator[str]:
    """Yield the tokens and dollars of a run with this number of items, at the pilot's rates."""
    from waybench.results.estimates import total_if_known
    from waybench.results.estimates._ledger import ledger
    from waybench.results.formatting import one_line
    from waybench.results.results import labels

    limits: dict[str, None] = {}  # lines, each once
    names = labels(rows[0].group for rows in plan.runs)
    for rows in plan.runs:
        (entry,) = ledger(rows)
        item_set = entry.group.environment.items
        levels = 1 if item_set.pooled else len({row.level for row in rows})
        if item_set.cluster is None:  # of maps, `limit` is the number of questions about each
            per_level = f" (of each of {levels} levels)" if levels > 1 else ""
            limits[f"  as a task's limit: --limit {math.ceil(items / levels)}{per_level}"] = None
        tokens = entry.mean_per_item(total_if_known([entry.input_tokens, entry.output_tokens]))
        cost = entry.mean_per_item(entry.cost)
        if tokens is not None:
            dollars = "" if cost is None else f", {cost * items:,.2f} USD"
            spent = f"about {short_count(round(tokens * items))} tokens{dollars}"
            yield f"  {one_line(names[entry.group], 80)} at {plural(items, 'item')}: {spent}"
    yield from limits


def _horizon_answer(question: PowerQuestion, horizons: HorizonDesign, pilot: PilotRun) -> str:
    """Return the items or the detectable ratio for a comparison of two horizons, as lines of text."""
    from waybench.results.stats._horizon_ratios import HorizonPlan, detectable_factor, items_for_horizons

    if (question.items is None) == (question.ratio is None) or question.detect is not None or question.tie is not None:
        raise UsageError("give --levels with either --ratio or --items, and without --detect and --tie")
    if pilot.folder is not None:
        raise UsageError("horizons are planned by --levels and --fall: leave --pilot out")
    plan = HorizonPlan(_read_levels(horizons.levels), horizons.fall)
    power_text = f"a power of {question.power:g}, two-sided at {question.alpha:g}:"
    lines = [
        f"To detect a ratio of 50 % horizons of {question.ratio:g} with {power_text}"
        if question.items is None
        else f"With {plural(question.items, 'item')} of each level and {power_text}"
    ]
    for text, alpha in {f"{len(plan.levels)} levels": question.alpha, **dict(question.adjusted_levels)}.items():
        if question.ratio is None:
            factor = detectable_factor(plan, question.items or 0, alpha=alpha, power=question.power)
            answer = "none within the levels" if factor is None else f"ratios from {factor:.2f}"
        else:
            items = items_for_horizons(plan, question.ratio, alpha=alpha, power=question.power)
            answer = (
                "no number of items: add levels; horizons in neighbouring gaps between levels are not distinguished"
                if items is None
                else f"about {items:,} items of each level, {items * len(plan.levels):,} in all"
            )
        lines.append(f"  {text}: {answer}")
    lines.append(
        f"  assumed: horizons around the middle of the levels, success falls from 90 to 10 % within {plan.fall:g} "
        "doublings, items are clusters of their own"
    )
    return "\n".join(lines)


def _read_levels(text: str) -> tuple[float, ...]:
    """Return the levels in a text such as 5,7,9."""
    try:
        levels = sorted({float(number) for number in text.split(",")})
    except ValueError:
        levels = []
    if not 2 <= len(levels) <= _MOST_LEVELS or not all(0 < level < math.inf for level in levels):
        raise UsageError(f"--levels: {text[:60]!r} are not 2 to {_MOST_LEVELS} numbers above 0, such as 5,7,9,13,19")
    return tuple(levels)

"""Decisions as text: the verdict, the size of the difference, and the units that were not played."""

from collections.abc import Sequence

from waybench.core import plural, short_count
from waybench.results.comparisons._decisions import BETTER, TIED, UNDECIDED, Decision
from waybench.results.formatting import one_line
from waybench.results.stats import PowerAssumptions
from waybench.results.stats._power import items_needed

STOPPED = "stopped by a comparison"  # the mark of a mean over items that results have decided to play
_POWER = 0.9  # of the fixed test that a decision is set beside
_LONGEST_NAME = 48


def fixed_test_items(decision: Decision) -> int | None:
    """Return the items of a fixed test that is planned for the margin, at the observed share of disagreement.

    None without units, and for more than two models, clusters, and scores other than 0 and 1.
    """
    if len(decision.plan.models) > 2 or not decision.units:
        return None
    is_binary = all(score in (0.0, 1.0) for unit in decision.units for scores in unit.scores for score in scores)
    if not is_binary or decision.plan.rule.clusters:
        return None
    won, lost, _ = decision.counts
    margin = decision.plan.rule.margin
    disagree = max((won + lost) / len(decision.units), margin)
    assumptions = PowerAssumptions(
        variance=lambda delta: max(disagree, delta) - delta**2,
        unpaired_variance=lambda delta: 0.25,
        disagree=lambda delta: max(disagree, delta),
    )
    return items_needed(assumptions, margin, power=_POWER).items


def decision_lines(decision: Decision) -> list[str]:
    """Return a decision as sentences: the verdict, the units not played, and the means, which have no rank."""
    plan = decision.plan
    if decision.problem:
        return [f"no decision: {plan.file_name}: {decision.problem}"]
    lines = [_two_model_text(decision) if len(plan.models) == 2 else _race_text(decision)]
    remaining = plan.limit - len(decision.units)
    if remaining and decision.verdict != UNDECIDED:
        tokens = ""
        if decision.tokens and decision.units:
            per_unit = decision.tokens * len(decision.units[0].items) * len(plan.models)
            tokens = f" (about {short_count(round(per_unit * remaining))} tokens)"
        n_fixed = fixed_test_items(decision)
        fixed_test = "" if n_fixed is None else f"; a fixed test planned for the margin takes about {n_fixed:,}"
        lines.append(f"not played: {plural(remaining, plan.unit)}{tokens} of the limit{fixed_test}")
    means = ", ".join(f"{_short_name(model)} {mean:.3f}" for model, mean in decision.means.items() if mean is not None)
    if means:
        lines.append(f"means at the stop, as shares of the range: {means}; {STOPPED}, too far apart, and in no rank")
    return lines


def decisions_text(decisions: Sequence[Decision]) -> str:
    """Return decisions as text for a terminal; "" if there are none."""
    lines: list[str] = []
    for decision in decisions:
        first, *others = decision_lines(decision)
        lines += [f"{decision.plan.task}: {first}", *(f"  {line}" for line in others)]
    return "\n".join(lines)


def _short_name(model: str) -> str:
    """Return a model's name on one line, cut if it is long."""
    return one_line(model, _LONGEST_NAME)


def _two_model_text(decision: Decision) -> str:
    """Return the result of a comparison of two models as a sentence."""
    plan, limits = decision.plan, decision.limits
    assert limits is not None
    first, second = map(_short_name, plan.models)
    count = plural(len(decision.units), plan.unit)
    won, lost, alike = decision.counts
    counts = f"{won:,} won by {first}, {lost:,} by {second}, {alike:,} alike"
    if decision.verdict == BETTER:
        is_first = decision.live == plan.models[:1]
        low, high = limits if is_first else (-limits.high, -limits.low)
        better, worse = (first, second) if is_first else (second, first)
        return (
            f"{better} is better than {worse}, by {low:.3f} to {high:.3f} (95 %, valid at any stop), "
            f"{plan.population}, after {count}: {counts}"
        )
    low, high = limits
    if decision.verdict == TIED:
        return (
            f"{first} and {second} are tied within {plan.rule.margin:g}: the difference is {low:+.3f} to {high:+.3f} "
            f"(90 %, valid at any stop), {plan.population}, after {count}: {counts}"
        )
    rule, race = plan.rule, decision.race
    tied = min(race.not_worse[0, 1], race.not_worse[1, 0])
    return (
        f"undecided after {count} of at most {plan.limit:,}: {first} - {second} is {low:+.3f} to {high:+.3f} (95 %, "
        f"valid at any stop); evidence: {first} better {race.better[0, 1]:.3g} of {rule.better_threshold:g}, {second} "
        f"better {race.better[1, 0]:.3g} of {rule.better_threshold:g}, tied {tied:.3g} of {rule.tie_threshold:g}"
    )


def _race_text(decision: Decision) -> str:
    """Return the result of a comparison of three or more models as a sentence."""
    plan, race = decision.plan, decision.race
    count = plural(len(decision.units), plan.unit)
    dropped = [
        f"{_short_name(model)} (after {number:,})"
        for number, model in sorted(zip(race.dropped_at.tolist(), plan.models, strict=True))
        if number
    ]
    worse = f"; dropped as worse: {', '.join(dropped)}" if dropped else ""
    if decision.verdict == UNDECIDED:
        return f"undecided after {count} of at most {plan.limit:,}, of {len(plan.models)} models{worse}"
    names = " and ".join(map(_short_name, decision.best))
    verdict = "is best" if decision.verdict == BETTER else f"is best, or within {plan.rule.margin:g} of the best"
    each = "each " if len(decision.best) > 1 else ""
    return f"{names}: {each}{verdict} of {len(plan.models)} models (95 %), {plan.population}, after {count}{worse}"

"""`waybench run --until decided`: what is compared, fixed beside the logs before the first reply."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waybench.cli._run_settings import RunSettings
from waybench.core import UsageError, plural
from waybench.evaluation.tasks import TaskEntry, resolve_key

if TYPE_CHECKING:
    from waybench.evaluation.tasks._stream import ComparisonSettings, TaskStream
    from waybench.results.comparisons._decisions import DecisionPlan
    from waybench.results.stats import PowerAssumptions

_DISAGREEMENT = 0.3  # share of items on which two models differ: about the median of real pairs
_CLUSTER_CORRELATION = 0.2  # correlation of their differences at items of one cluster
_DIFFERENCES = (0.3, 0.2, 0.1)
_PLANNED_DIFFERENCES = (*_DIFFERENCES, 0.05, 0.0)
_DEFAULT_MARGIN = 0.05
_DEFAULT_CONNECTIONS = 10  # of most providers


def comparison_settings(settings: RunSettings, n_runs: int) -> "ComparisonSettings | None":
    """Return the settings of a run that plays until its models are told apart; None for a run of all items.

    `n_runs` is the number of tasks with their parameters, whose decisions belong together.

    Raises:
        UsageError: If the options contradict each other.
    """
    if settings.until is None:
        for name in ("margin", "max_items", "over"):
            if getattr(settings, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')}: it is for comparisons: add --until decided")
        return None
    from waybench.evaluation.tasks._stream import ITEMS, ComparisonSettings

    if settings.executor_name is not None:
        raise UsageError("--until decided: the models of a comparison wait for each other; leave out --executor")
    comparison = ComparisonSettings(
        models=settings.models,
        margin=settings.margin or _DEFAULT_MARGIN,
        tasks=n_runs,
        over=settings.over or ITEMS,
        max_items=settings.max_items,
        window=settings.max_connections or _DEFAULT_CONNECTIONS,
    )
    if len(comparison.players) < 2:
        raise UsageError("--until decided: give at least two models to compare, as in --model A --model B")
    return comparison


def decision_plans(
    runs: Sequence[tuple[TaskEntry, Mapping[str, Any]]], comparison: "ComparisonSettings"
) -> "list[tuple[DecisionPlan, TaskStream]]":
    """Return the plan of each comparison, which is fixed before the run, with its stream of items.

    Raises:
        UsageError: If a task cannot be compared so.
    """
    from waybench.evaluation.tasks._stream import task_stream
    from waybench.results.comparisons._decisions import DecisionPlan

    plans_and_streams: list[tuple[DecisionPlan, TaskStream]] = []
    for entry, args in runs:
        stream = task_stream(entry, resolve_key(entry.resolve(args)), comparison.over, comparison.max_items)
        plan = DecisionPlan(
            task=entry.name,
            stream=stream.id,
            unit=stream.unit_name,
            population=stream.population,
            limit=stream.size,
            models=comparison.players,
            rule=comparison.rule,
        )
        plans_and_streams.append((plan, stream))
    return plans_and_streams


def plan_text(plan: "DecisionPlan", stream: "TaskStream") -> str:
    """Return a line for the user on how many items a comparison may take."""
    from waybench.results.stats._sequential import forecast_decisions

    rule, n_items = plan.rule, len(stream.unit(0))
    opening = f"{plan.task}: plays until {len(plan.models)} models are told apart or tied within {rule.margin:g}"
    limit_text = f"{opening}, at most {plural(plan.limit, plan.unit)} each"
    if len(plan.models) > 2:
        return f"{limit_text}; the decision is {plan.population}."
    # A round over levels says more than its number of items; that it says as much as one is on the safe side.
    cluster_size = n_items if rule.clusters else 1
    forecasts = [
        forecast_decisions(rule, _DISAGREEMENT, difference, plan.limit, size=cluster_size, icc=_CLUSTER_CORRELATION)
        for difference in _DIFFERENCES
    ]
    usual_units = ", ".join(f"{forecast.units:.0f}" for forecast in forecasts)
    differences = ", ".join(f"{difference:g}" for difference in _DIFFERENCES)
    items_text = f" of about {plural(n_items, 'item')}" if n_items > 1 else ""
    return (
        f"{limit_text}{items_text}; about {usual_units} where one is better by {differences} and they differ on "
        f"{100 * _DISAGREEMENT:.0f} % of the items; the decision is {plan.population}."
    )


def write_plans(plans: "Sequence[DecisionPlan]", out: Path) -> None:
    """Write plans beside the logs.

    Raises:
        UsageError: If the folder has a comparison of the same models on the same items with another rule.
    """
    from waybench.results.comparisons._decisions import fix_plan

    for plan in plans:
        fix_plan(out, plan)


def items_until_decided_text(
    assumptions: "PowerAssumptions", margin: float | None, limit: int | None, tasks: int
) -> str:
    """Return how many items a comparison takes until it is decided, for several true differences, as lines.

    `margin` and `limit` are None for the usual ones; `tasks` counts the tasks whose decisions belong together.

    Raises:
        UsageError: If scores are graded, of which assumptions do not say how many items differ.
    """
    from waybench.results.stats._sequential import MOST_MARGIN, MOST_UNITS, DecisionRule, forecast_decisions

    if assumptions.disagree is None:
        raise UsageError(
            "--until decided: the pilot's scores are graded; give --disagree, the share of items at which two models "
            "differ, and no pilot"
        )
    margin, size = margin or _DEFAULT_MARGIN, max(round(assumptions.size), 1)
    if margin > MOST_MARGIN:
        raise UsageError(f"--tie {margin:g}: the margin of a comparison that ends early is at most {MOST_MARGIN:g}")
    max_items = limit or MOST_UNITS
    rule = DecisionRule(margin=margin, tasks=tasks, clusters=size > 1)
    # From the design effect of clusters of equal size, 1 + (size - 1) * icc.
    icc = min(max((assumptions.effect - 1) / (size - 1), 0.0), 1.0) if size > 1 else 0.0
    lines = [assumptions.name] if assumptions.name else []
    lines.append(f"Until two models are told apart or tied within {margin:g}, at most {max_items:,} items each:")
    for difference in _PLANNED_DIFFERENCES:
        forecast = forecast_decisions(
            rule,
            max(assumptions.disagree(difference), difference),
            difference,
            max(max_items // size, 1),
            size=size,
            icc=icc,
        )
        case_text = f"a difference of {difference:g}" if difference else "equal models"
        lines.append(
            f"  {case_text}: about {forecast.units * size:,.0f} items, at most {forecast.most * size:,} in nine of ten "
            f"runs; decided, and rightly, in {100 * forecast.right:.0f} %"
        )
    lines.append(f"  {'from the pilot' if assumptions.name else 'assumed'}: {assumptions.description}")
    return "\n".join(lines)

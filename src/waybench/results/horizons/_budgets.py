"""The greatest difficulty solved, and the horizon, at budgets of reply tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from waybench.core import evenly_spaced_values
from waybench.results.frames import Column, Frame, group_frame
from waybench.results.horizons._horizons import axis_items
from waybench.results.horizons._references import SHARES, Horizon
from waybench.results.results import Row, RunKey, group_by

_MOST_BUDGETS = 5
_ROUND = (1, 2, 5)  # of each power of ten


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetHorizon:
    """A group's 50 % horizon where attempts whose replies take more tokens than a budget count as failures.

    Attributes:
        budget: Most tokens of the replies of an attempt, reasoning included; None for all attempts as they are.
        within: Share of the attempts that keep to it.
        reached: The greatest difficulty at which such an attempt was a success; None without any.
        horizon: The horizon on the environment's first axis.
    """

    budget: int | None
    within: float
    reached: float | None
    horizon: Horizon

    @property
    def group(self) -> RunKey:
        """Model, task and settings."""
        return self.horizon.group


_COLUMNS: tuple[Column[BudgetHorizon], ...] = (
    Column("axis", str, "Name of the axis of difficulty.", "horizon.axis"),
    Column("budget", int, "Most tokens of the replies of an attempt, reasoning included; null for all attempts."),
    Column("within", float, "Share of the attempts that keep to the budget."),
    Column("reached", float, "The greatest difficulty at which an attempt within the budget was a success."),
    Column(
        "value",
        float,
        "The 50 % horizon if all other attempts are failures; null where it is outside the difficulties tried.",
        "horizon.value",
    ),
    Column("low", float, "Lower end of its 90 % interval; null where it is outside.", "horizon.low"),
    Column("high", float, "Upper end, likewise.", "horizon.high"),
    Column("side", str, "Where a horizon without a value is, as in the file of horizons.", "horizon.side"),
)


def budget_frame(budgets: Sequence[BudgetHorizon]) -> Frame:
    """Return the frame of horizons at budgets."""
    doc = "One row for each model and budget of reply tokens: the horizon if attempts that take more are failures."
    return group_frame("budgets", doc, _COLUMNS, budgets, lambda budget: budget.group)


def budget_horizons(all_rows: Iterable[Row]) -> list[BudgetHorizon]:
    """Return the horizons at budgets of reply tokens, for environments that declare them.

    Budgets are round numbers between the fewest and the most tokens of an attempt at a task, and None for no budget. An
    attempt that takes more tokens than a budget is a failure: that player would have been cut off. Left out are groups
    with an attempt whose tokens are not known or 0, and searches, whose items depend on successes at any cost.
    """
    rows = _rows_with_tokens(all_rows)
    horizons: list[BudgetHorizon] = []
    for of_task in group_by(rows, lambda row: (row.group.task, row.group.env, row.group.version)).values():
        for budget in (*_round_budgets([row.output_tokens or 0 for row in of_task]), None):
            limited = [row if _is_within_budget(row, budget) else replace(row, succeeded=False) for row in of_task]
            by_group = group_by(limited, lambda row: row.group)
            for items in axis_items(limited):
                if items.leads:
                    own = by_group[items.group]
                    reached = [at for row in own if row.succeeded and (at := row.axes.get(items.axis.name)) is not None]
                    within = sum(_is_within_budget(row, budget) for row in own) / len(own)
                    horizons.append(
                        BudgetHorizon(
                            budget=budget,
                            within=within,
                            reached=max(reached, default=None),
                            horizon=items.horizon(SHARES[0]),
                        )
                    )
    return horizons


def reached_by_tokens(all_rows: Iterable[Row]) -> dict[RunKey, list[tuple[int, float]]]:
    """Return, for each group, pairs of reply tokens of an attempt and the greatest difficulty solved within them.

    Difficulties rise; the last pair has the most tokens of an attempt, at the difficulty reached before. Groups without
    a success are left out.
    """
    reached: dict[RunKey, list[tuple[int, float]]] = {}
    for group, rows in group_by(_rows_with_tokens(all_rows), lambda row: row.group).items():
        name, points = group.environment.difficulty.axes[0].name, list[tuple[int, float]]()
        for row in sorted(rows, key=lambda row: row.output_tokens or 0):
            at = row.axes.get(name)
            if row.succeeded and at is not None and (not points or at > points[-1][1]):
                points.append((row.output_tokens or 0, at))
        if points:
            most = max(row.output_tokens or 0 for row in rows)
            reached[group] = [*points, *([(most, points[-1][1])] if most > points[-1][0] else [])]
    return reached


def _rows_with_tokens(all_rows: Iterable[Row]) -> list[Row]:
    """Return the counted rows of groups whose tokens are all known and above 0, for environments with token budgets."""
    counted = (row for row in all_rows if row.is_included and not row.guided and not row.adaptive)
    of_groups = group_by(counted, lambda row: row.group)
    return [
        row
        for group, rows in of_groups.items()
        if group.environment.difficulty.token_budgets and all(row.output_tokens for row in rows)
        for row in rows
    ]


def _is_within_budget(row: Row, budget: int | None) -> bool:
    """Return whether an attempt took at most this number of reply tokens (None: any)."""
    return budget is None or (row.output_tokens or 0) <= budget


def _round_budgets(tokens: Sequence[int]) -> list[int]:
    """Return at most five round numbers from the least of these tokens to below the most."""
    fewest, most = min(tokens), max(tokens)
    numbers = (factor * 10**power for power in range(len(str(most))) for factor in _ROUND)
    return evenly_spaced_values([number for number in numbers if fewest <= number < most], _MOST_BUDGETS)

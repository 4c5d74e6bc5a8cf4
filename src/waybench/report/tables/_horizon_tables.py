"""How far players reach: what a task's page has of it, and a model's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis import (
    SHARES,
    Group,
    Horizon,
    SuccessCurve,
    differing,
    grouped,
    horizon_told,
    leading,
    success_text,
)
from waybench.core import Axis, Environment, Presentation
from waybench.envs import registry
from waybench.report.charts import (
    MOST_POINTS,
    NARROW,
    WIDE,
    Figure,
    Player,
    chart_name,
    drawn,
    short_labels,
    success_spec,
)

MOST_PANELS = 12
_INTERVAL = "90 % interval"


@dataclass(frozen=True, slots=True)
class Cell:
    """A horizon in a table.

    Attributes:
        text: Where it is.
        ends: Its interval; "" if nothing is known of it.
        order: What it is sorted by; None where there is none.
        counts: What it counts; "" where a table's head says so.
        success: What counts as solved, in a sentence; "" where a table's head says so.
    """

    text: str
    ends: str
    order: float | None
    counts: str = ""
    success: str = ""


NO_HORIZON = Cell("–", "", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachLine:
    """How far one model reaches.

    Attributes:
        name: The model.
        page: File name of the page of its results.
        differs: The settings in which it differs from other rows, in words.
        title: The task's title.
        axis: What its horizons count.
        success: What counts as solved, in a sentence.
        cells: A horizon for each share.
        items: Number of items.
        trials: Number of attempts at them.
        clusters: Number of independent clusters that they come from.
        moved: Where its first horizon is under other assumptions, from the least to the greatest; "" if not told.
        others: The same under each of them.
    """

    name: str
    page: str
    differs: list[str]
    title: str
    axis: str
    success: str
    cells: list[Cell]
    items: int
    trials: int
    clusters: int
    moved: str
    others: list[str]


@dataclass(frozen=True, slots=True)
class Reach:
    """How far the models of a task reach on one axis.

    Attributes:
        axis: The axis.
        success: What counts as solved, in a sentence.
        figure: The chart of success by difficulty.
        models: Rows of models.
        references: Rows of the embedded players.
        assumptions: Under which the first horizon is also told.
    """

    axis: Axis
    success: str
    figure: Figure
    models: list[ReachLine]
    references: list[ReachLine]
    assumptions: list[str]

    @property
    def apart(self) -> bool:
        """Whether some row has fewer clusters than items."""
        return any(line.clusters < line.items for line in (*self.models, *self.references))


def horizon_cell(horizon: Horizon | None, counts: str = "", success: str = "") -> Cell:
    """Return a horizon as a table has it; "–" where there is none."""
    if horizon is None:
        return NO_HORIZON
    told = horizon_told(horizon)
    return Cell(told.place, told.ends, horizon.order, counts, success)


def reaches(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    curves: Iterable[SuccessCurve],
    ranks: Sequence[Group],
    pages: Mapping[Group, str],
) -> list[Reach]:
    """Return how far the models of one task reach, for each axis on which that is known.

    Args:
        env: The environment.
        presentation: Its presentation.
        curves: How their success falls.
        ranks: The groups in the order of their colours, which are those of the other charts.
        pages: File names of the groups' pages.
    """
    by_axis = grouped(curves, lambda each: each.axis)
    return [
        _reach(env, presentation, axis, by_axis[axis.name], ranks, pages) for axis in env.axes if axis.name in by_axis
    ]


def _reach(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    axis: Axis,
    curves: Sequence[SuccessCurve],
    ranks: Sequence[Group],
    pages: Mapping[Group, str],
) -> Reach:
    # Models first, and who reaches farthest before others; the same horizons are in the order of the other tables.
    listed = sorted(
        curves,
        key=lambda each: (
            each.group.embedded,
            *(-horizon.order for horizon in each.horizons),
            ranks.index(each.group),
        ),
    )
    groups = [each.group for each in listed]
    lines = [(each, reach_line(each, axis, env, groups, pages)) for each in listed]
    return Reach(
        axis,
        success_text(env),
        _figure(env, presentation, axis, listed, ranks),
        [line for each, line in lines if not each.group.embedded],
        [line for each, line in lines if each.group.embedded],
        list(listed[0].horizons[0].sensitivity),
    )


def reach_line(
    curve: SuccessCurve,
    axis: Axis,
    env: Environment[Any, Any, Any],
    groups: Iterable[Group],
    pages: Mapping[Group, str],
) -> ReachLine:
    """Return a model's row.

    Args:
        curve: How its success falls.
        axis: Along what.
        env: The environment.
        groups: All groups of the environment, by which settings are told that differ.
        pages: File names of the groups' pages.
    """
    half = curve.horizons[0]
    others = [half.under(assumption) for assumption in half.sensitivity]
    ends = [horizon_told(pick(others, key=lambda each: each.order)).place for pick in (min, max)] if others else []
    return ReachLine(
        name=curve.group.model,
        page=pages[curve.group],
        differs=differing(curve.group, groups),
        title=env.title,
        axis=axis.title,
        success=success_text(env),
        cells=[horizon_cell(each) for each in curve.horizons],
        items=half.items,
        trials=half.trials,
        clusters=half.clusters,
        moved=" to ".join(dict.fromkeys(ends)),
        others=[horizon_told(each).place for each in others],
    )


def reaches_of_model(name: str, curves: Iterable[SuccessCurve], pages: Mapping[Group, str]) -> list[ReachLine]:
    """Return the horizons of one model at all tasks, on all axes.

    Args:
        name: The model.
        curves: How all models' success falls.
        pages: File names of the groups' pages.
    """
    by_env = grouped(curves, lambda each: each.group.env)
    found: list[ReachLine] = []
    for env_id, some in by_env.items():
        env = registry.load(env_id)
        axes = {axis.name: axis for axis in env.axes}
        groups = list(dict.fromkeys(each.group for each in some))
        found += [reach_line(each, axes[each.axis], env, groups, pages) for each in some if each.group.model == name]
    return found


def leading_of(curves: Iterable[SuccessCurve]) -> dict[Group, Horizon]:
    """Return of each group the horizon that stands for it."""
    return leading(horizon for each in curves for horizon in each.horizons)


def _figure(
    env: Environment[Any, Any, Any],
    presentation: Presentation,
    axis: Axis,
    curves: Sequence[SuccessCurve],
    ranks: Sequence[Group],
) -> Figure:
    shown = curves[:MOST_PANELS]
    names = short_labels(each.group for each in shown)
    players = [Player(names[each.group], each.group.embedded, ranks.index(each.group), each) for each in shown]
    across, counted = axis.title, (presentation.item, presentation.items)
    spec = success_spec(players, across, counted, WIDE)
    label = f"Success by {across.lower()} for each model; the table of horizons has what they come to"
    shares = " and ".join(f"{100 * share:.0f} %" for share in SHARES)
    binned = any(len(each.places) > MOST_POINTS for each in shown)
    left = f" The first {MOST_PANELS} of {len(curves)} are shown." if len(curves) > len(shown) else ""
    caption = (
        f"Share of {presentation.items} that a single attempt solves, by {across.lower()}: the fitted curve with its "
        f"{_INTERVAL} at each difficulty as a band, and what was observed as dots, of an area by their number of "
        f"{presentation.items}{', with neighbouring difficulties together' if binned else ''}. Diamonds are the "
        f"horizons of {shares}, with their {_INTERVAL}s as lines. Curves end where nothing harder or easier was tried."
        f"{left}"
    )
    whose = [env.id, *shown[0].group.apart]
    return Figure(
        chart_name(env, whose, f"success by {axis.name}"),
        drawn(spec, label),
        drawn(success_spec(players, across, counted, NARROW), label),
        caption,
        spec,
    )

"""Horizons: the difficulty at which a player's success rate falls to 50 % or 80 %, and their frame."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from waybench.core import OPTION_AXES
from waybench.envs import registry
from waybench.results.frames import Column, Frame, Meaning, group_frame
from waybench.results.horizons._items import ALTERNATIVES, Tried, tried_axes
from waybench.results.horizons._references import SHARES, Horizon, SuccessCurve
from waybench.results.results import Group, Row, grouped
from waybench.results.stats import HORIZON_CONFIDENCE, horizon_ratio


def horizons(all_rows: Iterable[Row]) -> list[Horizon]:
    """Return the horizons of every model, task and settings on every axis of its items, for `SHARES`.

    A horizon is of single attempts, and each item is a trial: whether it was a success as the environment declares it
    (`Difficulty.succeeded`), or the share of its attempts that were. Where attempts end with a perfect one, items at
    which a player is good have fewer of them, and all attempts as trials would find too small a horizon: a player to
    whom mazes of one dimension are more or less hard would have it in 42 to 90 % of its 90 % intervals. So an item
    counts as `single_attempt` says.

    Items are clustered as they were drawn. Left out are episodes with a teacher, who solved them, and axes of which
    fewer than two difficulties were tried.
    """
    all_tried = list(tried_axes(all_rows))
    found = {number: list(all_tried[number].horizons()) for number in _by_grid(all_tried)}
    return [horizon for number in range(len(all_tried)) for horizon in found[number]]


def success_curves(all_rows: Iterable[Row]) -> list[SuccessCurve]:
    """Return how success falls along every axis on which `horizons` finds some, with these."""
    all_tried = list(tried_axes(all_rows))
    found = {number: _success_curve(all_tried[number]) for number in _by_grid(all_tried)}
    leaders = _leaders(all_tried, found)
    return [
        found[number]
        if number not in leaders
        else replace(
            found[number],
            leader=all_tried[leaders[number]].group,
            ratio=horizon_ratio(all_tried[number].plain, all_tried[leaders[number]].plain, SHARES[0]),
        )
        for number in range(len(all_tried))
    ]


def _by_grid(all_tried: Sequence[Tried]) -> Iterator[int]:
    """Yield the numbers of all, in an order in which those whose fits share a grid of curves follow each other.

    A grid is costly to lay out and large. So players of one range of difficulties come together, and before these are
    yielded, all of them are fitted under one alternative after the other.
    """
    alike = grouped(range(len(all_tried)), lambda number: all_tried[number].range)
    for _, numbers in sorted(alike.items()):
        for name in dict.fromkeys(name for number in numbers for name in all_tried[number].alternatives):
            for number in numbers:
                if name in all_tried[number].alternatives:
                    all_tried[number].under(name)
        yield from numbers


def _leaders(all_tried: Sequence[Tried], found: Mapping[int, SuccessCurve]) -> dict[int, int]:
    """Return the number of the leader of each that has one."""
    leaders: dict[int, int] = {}
    first_axes = [number for number, one in enumerate(all_tried) if one.leads]

    def task(number: int) -> tuple[str, str, int, str]:
        group = all_tried[number].group
        return group.task, group.env, group.version, all_tried[number].axis.name

    for numbers in grouped(first_axes, task).values():
        whole = [number for number in numbers if not all_tried[number].lost]  # the others have no rank
        models = [number for number in whole if not all_tried[number].group.embedded] or whole
        if not models:
            continue
        leader = max(models, key=lambda number: found[number].horizons[0].order)
        leaders |= {number: leader for number in numbers if number != leader and not all_tried[number].lost}
    return leaders


def _success_curve(tried: Tried) -> SuccessCurve:
    return SuccessCurve(
        group=tried.group,
        axis=tried.axis.name,
        horizons=tuple(tried.horizons()),
        bins=tuple(tried.bins()),
        line=tuple(tried.line()),
    )


def leading(found: Iterable[Horizon]) -> dict[Group, Horizon]:
    """Return of each group the horizon that stands for it: that of the first share, on its environment's first axis.

    For a search along an option it is that on the option's axis, the only one that its items have.
    """
    return {
        each.group: each
        for each in found
        if each.share == SHARES[0]
        and (each.axis in OPTION_AXES or each.axis == registry.load(each.group.env).difficulty.axes[0].name)
    }


_ENDS = f"of the {100 * HORIZON_CONFIDENCE:.0f} % interval; null where it is outside the difficulties that were tried."
_FACTS: Sequence[Column[Horizon]] = (
    Column("share", float, "The success rate of a single attempt at the horizon."),
    Column(
        "value",
        float,
        "The difficulty, in the unit of the axis; null where it is outside the difficulties that were tried (see "
        "side).",
    ),
    Column("low", float, f"Lower end {_ENDS}"),
    Column("high", float, f"Upper end {_ENDS}"),
    Column("side", str, "beyond: above the hardest items tried; below: below the easiest; empty: between."),
    Column(
        "mark",
        str,
        "That the horizon is not above those of players that know nothing of the items, such as a random one; "
        "otherwise empty.",
    ),
    Column("easiest", float, "The least difficulty that was tried."),
    Column("hardest", float, "The greatest one."),
    Column("items", int, "Number of items tried."),
    Column("attempts", int, "Number of attempts that count.", "trials"),
    Column("clusters", int, "Number of independent clusters of the items."),
    Column(
        "planned",
        int,
        "Attempts, those without a result included. A horizon of which some attempts have no result has no rank.",
        lambda one: one.lost.planned if one.lost else one.trials,
    ),
    Column(
        "lowest",
        float,
        "The horizon if all attempts without a result were failures; null if all have a result, and where it is "
        "outside the difficulties that were tried.",
        "lost.lowest.value",
    ),
    Column("highest", float, "The horizon if all of them were solved.", "lost.highest.value"),
)


def horizon_frame(horizons: Iterable[Horizon]) -> Frame:
    """Return the frame of horizons: a row for each axis and share, with the value under other assumptions.

    Args:
        horizons: The horizons.
    """
    listed = list(horizons)
    doc = (
        "One row for each horizon: the difficulty at which a model's success rate falls to a given share, for each "
        "axis of difficulty of a task."
    )
    axis: Column[Horizon] = Column("axis", str, "Name of the axis of difficulty.", meanings=_axes(listed))
    return group_frame("horizons", doc, [axis, *_FACTS, *_others()], listed, lambda each: each.group)


def _axes(horizons: Sequence[Horizon]) -> tuple[Meaning, ...]:
    along = {each.axis for each in horizons} & OPTION_AXES.keys()
    return tuple(
        Meaning(
            env=env,
            doc=" ".join(
                f"{axis.name}: {axis.doc}"
                for axis in (*registry.load(env).difficulty.axes, *(OPTION_AXES[name] for name in sorted(along)))
            ),
        )
        for env in dict.fromkeys(each.group.env for each in horizons)
    )


def _others() -> Iterable[Column[Horizon]]:
    for name in ALTERNATIVES:
        yield Column(
            "under." + re.sub(r"\W+", "_", name),
            float,
            f"The value under another assumption about the curve ({name}); null where it is outside the difficulties "
            f"that were tried, and on all axes but the first.",
            lambda one, name=name: one.sensitivity.get(name),
        )

"""The frame of horizons: its columns, and what they mean on each axis of difficulty."""

import re
from collections.abc import Iterable, Sequence

from waybench.core import OPTION_AXES
from waybench.envs import registry
from waybench.results.frames import Column, Frame, Meaning, group_frame
from waybench.results.horizons._horizons import ALTERNATIVES
from waybench.results.horizons._references import Horizon
from waybench.results.stats._fit import HORIZON_CONFIDENCE

_ENDS = f"of the {100 * HORIZON_CONFIDENCE:.0f} % interval; null where it is outside the difficulties that were tried."

_FACTS: Sequence[Column[Horizon]] = (
    Column("share", float, "The success rate of a single attempt at the horizon."),
    Column(
        "value",
        float,
        "The difficulty, in the unit of the axis; null where it is outside the difficulties that were tried or not "
        "identified (see side).",
    ),
    Column("low", float, f"Lower end {_ENDS}"),
    Column("high", float, f"Upper end {_ENDS}"),
    Column(
        "side",
        str,
        "beyond: above the hardest items tried; below: below the easiest; plateau: the success rate may be below the "
        "share at all levels, however easy; never: it is; empty: between.",
    ),
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
        lambda horizon: horizon.lost.planned if horizon.lost else horizon.trials,
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
    """Return the frame of horizons: a row for each axis and share, with the value under other assumptions."""
    all_horizons = list(horizons)
    doc = (
        "One row for each horizon: the difficulty at which a model's success rate falls to a given share, for each "
        "axis of difficulty of a task."
    )
    axis: Column[Horizon] = Column(
        "axis", str, "Name of the axis of difficulty.", meanings=_axis_meanings(all_horizons)
    )
    return group_frame(
        "horizons", doc, [axis, *_FACTS, *_alternative_columns()], all_horizons, lambda horizon: horizon.group
    )


def _axis_meanings(horizons: Sequence[Horizon]) -> tuple[Meaning, ...]:
    """Return the meaning of the difficulty on each axis of some horizons."""
    along = {horizon.axis for horizon in horizons} & OPTION_AXES.keys()
    return tuple(
        Meaning(
            env=env,
            doc=" ".join(
                f"{axis.name}: {axis.doc}"
                for axis in (*registry.load(env).difficulty.axes, *(OPTION_AXES[name] for name in sorted(along)))
            ),
        )
        for env in dict.fromkeys(horizon.group.env for horizon in horizons)
    )


def _alternative_columns() -> Iterable[Column[Horizon]]:
    """Yield the columns of the horizon under other assumptions."""
    for name in ALTERNATIVES:
        yield Column(
            "under." + re.sub(r"\W+", "_", name),
            float,
            f"The value under another assumption about the curve ({name}); null where it is outside the difficulties "
            f"that were tried, and on all axes but the first.",
            lambda horizon, name=name: horizon.sensitivity.get(name),
        )

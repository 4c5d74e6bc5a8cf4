"""The frame of horizons."""

import re
from collections.abc import Iterable, Sequence

from waybench.analysis.frames import Fact, Frame, Meaning, group_frame
from waybench.analysis.horizons._horizon import Horizon
from waybench.analysis.horizons._tried import ALTERNATIVES
from waybench.core import OPTION_AXES
from waybench.envs import registry
from waybench.stats import HORIZON_CONFIDENCE

_ENDS = f"of the {100 * HORIZON_CONFIDENCE:.0f} % interval; null where it is outside the difficulties that were tried."
_FACTS: Sequence[Fact[Horizon]] = (
    Fact("share", float, lambda one: one.share, "The success rate of a single attempt at the horizon."),
    Fact(
        "value",
        float,
        lambda one: one.value,
        "The difficulty, in the unit of the axis; null where it is outside the difficulties that were tried (see "
        "side).",
    ),
    Fact("low", float, lambda one: one.low, f"Lower end {_ENDS}"),
    Fact("high", float, lambda one: one.high, f"Upper end {_ENDS}"),
    Fact(
        "side",
        str,
        lambda one: one.side,
        "beyond: above the hardest items tried; below: below the easiest; empty: between.",
    ),
    Fact(
        "mark",
        str,
        lambda one: one.mark,
        "That the horizon is not above those of players that know nothing of the items, such as a random one; "
        "otherwise empty.",
    ),
    Fact("easiest", float, lambda one: one.easiest, "The least difficulty that was tried."),
    Fact("hardest", float, lambda one: one.hardest, "The greatest one."),
    Fact("items", int, lambda one: one.items, "Number of items tried."),
    Fact("attempts", int, lambda one: one.trials, "Number of attempts that count."),
    Fact("clusters", int, lambda one: one.clusters, "Number of independent clusters of the items."),
    Fact(
        "planned",
        int,
        lambda one: one.lost.planned if one.lost else one.trials,
        "Attempts, those without a result included. A horizon of which some attempts have no result has no rank.",
    ),
    Fact(
        "lowest",
        float,
        lambda one: one.lost and one.lost.lowest.value,
        "The horizon if all attempts without a result were failures; null if all have a result, and where it is "
        "outside the difficulties that were tried.",
    ),
    Fact("highest", float, lambda one: one.lost and one.lost.highest.value, "The horizon if all of them were solved."),
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
    axis: Fact[Horizon] = Fact(
        "axis", str, lambda one: one.axis, "Name of the axis of difficulty.", meanings=_axes(listed)
    )
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


def _others() -> Iterable[Fact[Horizon]]:
    for name in ALTERNATIVES:
        yield Fact(
            "under." + re.sub(r"\W+", "_", name),
            float,
            lambda one, name=name: one.sensitivity.get(name),
            f"The value under another assumption about the curve ({name}); null where it is outside the difficulties "
            f"that were tried, and on all axes but the first.",
        )

"""Which axes the horizons of a group lie on."""

from collections.abc import Sequence

from waybench.analysis.results import Row
from waybench.core import OPTION_AXES, Axis
from waybench.envs import registry


def axes_of(some: Sequence[Row]) -> tuple[Axis, ...]:
    """Return the axes of a group's rows, the first of which is that of its horizon.

    They are those of its environment, or the axis along an option of play, whose searches play the same items with
    other options.

    Args:
        some: Rows of one group.
    """
    along = tuple(axis for name, axis in OPTION_AXES.items() if any(name in row.axes for row in some))
    return along or registry.load(some[0].group.env).difficulty.axes


def axis_named(env: str, name: str) -> Axis:
    """Return an axis by its name: an environment's, or one along an option.

    Args:
        env: The environment's id.
        name: Its name.
    """
    return next(axis for axis in (*registry.load(env).difficulty.axes, *OPTION_AXES.values()) if axis.name == name)

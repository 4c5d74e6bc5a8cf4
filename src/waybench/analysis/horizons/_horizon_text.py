"""Horizons in words, and as a table of plain text."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from waybench.analysis.estimates import aligned
from waybench.analysis.horizons._horizon import SHARES, Horizon
from waybench.analysis.results import grouped, labels, settings_order
from waybench.core import Environment
from waybench.envs import registry

_TOO_FEW = "too few items for an interval"


class HorizonText(NamedTuple):
    """A horizon in words.

    Attributes:
        value: The difficulty: "23", "above 41", "below 5".
        interval: Its interval: "19 to 29", "from 33", "up to 7", "too few items for an "
        "interval"; "" if none is within the
            levels tested.
    """

    value: str
    interval: str


def horizon_table(found: Iterable[Horizon]) -> str:
    """Return the horizons on each environment's first axis as an aligned table of plain text; "" if there are none."""
    listed = [each for each in found if each.axis == registry.load(each.group.env).axes[0].name]
    tables: list[str] = []
    for env_id, some in grouped(listed, lambda each: each.group.env).items():
        env = registry.load(env_id)
        names = labels(each.group for each in some)
        title = f"{env.title}: horizons, by {env.axes[0].title.lower()}"
        lines = [[title, *(f"{100 * share:.0f} %" for share in SHARES)]]
        by_group = grouped(some, lambda each: each.group)
        models = list(dict.fromkeys(group.model for group in by_group))
        for group in sorted(by_group, key=lambda one: (models.index(one.model), settings_order(one, by_group))):
            own = by_group[group]
            lines.append([names[group], *(horizon_text(each) for each in own)])
        tables.append("\n".join(part for part in (aligned(lines), success_text(env)) if part))
    return "\n\n".join(tables)


def success_text(env: Environment[Any, Any, Any]) -> str:
    """Return in a sentence what counts as success for an environment's horizons; "" if it does not declare it."""
    return f"Success, regardless of the score: {env.success}." if env.success else ""


def horizon_text(horizon: Horizon) -> str:
    """Return a horizon in words: "23 (19 to 29)", "above 41 (from 33)", "below 5 (up to 7)"."""
    parts = horizon_parts(horizon)
    return f"{parts.value} ({parts.interval})" if parts.interval else parts.value


def horizon_parts(horizon: Horizon) -> HorizonText:
    """Return a horizon and its interval in words."""
    low = "" if horizon.low is None else difficulty_text(horizon.low)
    high = "" if horizon.high is None else difficulty_text(horizon.high)
    rest = "" if horizon.known else _TOO_FEW
    if horizon.side == "beyond":
        return HorizonText(f"above {difficulty_text(horizon.hardest)}", f"from {low}" if low else rest)
    if horizon.side == "below":
        return HorizonText(f"below {difficulty_text(horizon.easiest)}", f"up to {high}" if high else rest)
    assert horizon.value is not None
    ends = (
        f"{low} to {high}"
        if low and high
        else f"from {low}"
        if low
        else f"up to {high}"
        if high
        else "interval not known"
    )
    return HorizonText(difficulty_text(horizon.value), ends)


def difficulty_text(value: float) -> str:
    """Return a difficulty with three digits that count, or more before the point: "9.12", "1,240"."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

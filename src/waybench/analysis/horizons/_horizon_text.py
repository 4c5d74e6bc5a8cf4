"""Horizons in words, and as a table of plain text."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from waybench.analysis.estimates import aligned
from waybench.analysis.horizons._horizon import SHARES, Extreme, Horizon, LostHorizon
from waybench.analysis.horizons._references import ReferenceHorizon
from waybench.analysis.results import grouped, labels, setting_names, settings_order
from waybench.core import Environment
from waybench.envs import registry

_TOO_FEW = "too few items for an interval"
_MISFIT = "the fitted curve does not match"
_MISFIT_EXPLAINED = (
    "The success rates do not follow the fitted curve, for example because of a plateau or a dip. The interval "
    "therefore contains all levels between which any falling success rate may cross {share}."
)
LOST_HORIZON = (
    "n = … of …: some attempts have no result. The numbers after it are the horizon if all of them were failures, and "
    "if all were solved. Such a horizon has no rank."
)
_INTERVALS = "In brackets: the 90 % interval, or its known end. Above, below: outside the difficulties tried."


class HorizonText(NamedTuple):
    """A horizon in words.

    Attributes:
        value: The difficulty: "23", "above 41", "below 5".
        interval: Its interval: "19 to 29", "from 33", "up to 7", "too few items for an interval"; "" if none is within
            the levels tested.
        mark: That it is not above the horizons of players that know nothing: "not above a random player's", and that
            the fitted curve does not match; "" if neither is so.
    """

    value: str
    interval: str
    mark: str = ""


def horizon_table(found: Iterable[Horizon]) -> str:
    """Return the horizons on each environment's first axis as an aligned table of plain text; "" if there are none."""
    listed = [each for each in found if each.axis == registry.load(each.group.env).difficulty.axes[0].name]
    tables: list[str] = []
    for env_id, some in grouped(listed, lambda each: each.group.env).items():
        env = registry.load(env_id)
        names = labels(each.group for each in some)
        title = f"{env.title}: horizons, by {env.difficulty.axes[0].title.lower()}"
        lines = [[title, *(f"{100 * share:.0f} %" for share in SHARES)]]
        by_group = grouped(some, lambda each: each.group)
        models = list(dict.fromkeys(group.model for group in by_group))
        settings = setting_names(by_group)
        for group in sorted(by_group, key=lambda one: (models.index(one.model), settings_order(one, settings))):
            own = by_group[group]
            lines.append([names[group], *(horizon_text(each) for each in own)])
        lines += reference_lines(some)
        misfits = [_MISFIT_EXPLAINED.format(share="the share")] if any(not each.curve_fits for each in some) else []
        lost = [LOST_HORIZON] if any(each.lost for each in some) else []
        notes = (success_text(env), _INTERVALS, *lost, *misfits)
        tables.append("\n".join(part for part in (aligned(lines), *notes) if part))
    return "\n\n".join(tables)


def reference_lines(found: Sequence[Horizon]) -> list[list[str]]:
    """Return the players that know nothing, each with its horizons at `SHARES`, for a table of horizons on one axis.

    Args:
        found: The horizons of the table; where they have different references, these are left out.
    """
    shares = [{each.references for each in found if each.share == share} for share in SHARES]
    if any(len(some) != 1 for some in shares):
        return []
    columns = [next(iter(some)) for some in shares]
    return [[same[0].name, *(_place_text(each) for each in same)] for same in zip(*columns, strict=True) if same]


def reference_text(references: Sequence[ReferenceHorizon]) -> str:
    """Return the horizons of players that know nothing: "a random player: below 5, ..."; "" where there are none."""
    shown = {each.title: _place_text(each) for each in references}
    if len(set(shown.values())) == 1:
        return f"{' and '.join(shown)}: {next(iter(shown.values()))}"
    return ", ".join(f"{title}: {text}" for title, text in shown.items())


def horizon_context(horizon: Horizon) -> str:
    """Return in sentences what counts as success, the horizons of players that know nothing, and a poor fit."""
    references = reference_text(horizon.references)
    share = f"{100 * horizon.share:.0f} %"
    said = f"{share} horizon of players that know nothing of an item: {references}." if references else ""
    misfit = "" if horizon.curve_fits else _MISFIT_EXPLAINED.format(share=share)
    return " ".join(part for part in (success_text(registry.load(horizon.group.env)), said, misfit) if part)


def _place_text(horizon: ReferenceHorizon | Extreme) -> str:
    if horizon.value is not None:
        return difficulty_text(horizon.value)
    below = horizon.side == "below"
    return f"below {difficulty_text(horizon.easiest)}" if below else f"above {difficulty_text(horizon.hardest)}"


def success_text(env: Environment[Any, Any, Any]) -> str:
    """Return in a sentence what counts as success for an environment's horizons; "" if it does not declare it."""
    return f"Success, regardless of the score: {env.difficulty.success}." if env.difficulty.success else ""


def horizon_text(horizon: Horizon) -> str:
    """Return a horizon in words: "23 (19 to 29)", "above 41 (from 33)", "below 5; not above a random player's"."""
    parts = horizon_parts(horizon)
    text = f"{parts.value} ({parts.interval})" if parts.interval else parts.value
    return f"{text}; {parts.mark}" if parts.mark else text


def horizon_parts(horizon: Horizon) -> HorizonText:
    """Return a horizon and its interval in words."""
    low = "" if horizon.low is None else difficulty_text(horizon.low)
    high = "" if horizon.high is None else difficulty_text(horizon.high)
    rest = "" if horizon.known else _TOO_FEW
    mark = "; ".join(part for part in (horizon.mark, "" if horizon.curve_fits else _MISFIT) if part)
    if horizon.lost is not None:
        value = _place_text(Extreme(horizon.value, horizon.side, horizon.easiest, horizon.hardest))
        return HorizonText(value, lost_horizon_text(horizon.lost), mark)
    if horizon.side == "beyond":
        return HorizonText(f"above {difficulty_text(horizon.hardest)}", f"from {low}" if low else rest, mark)
    if horizon.side == "below":
        return HorizonText(f"below {difficulty_text(horizon.easiest)}", f"up to {high}" if high else rest, mark)
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
    return HorizonText(difficulty_text(horizon.value), ends, mark)


def lost_horizon_text(lost: LostHorizon) -> str:
    """Return what a horizon lacks: "n = 4 of 10; below 5 to 41"."""
    ends = " to ".join(dict.fromkeys((_place_text(lost.lowest), _place_text(lost.highest))))
    return f"n = {lost.planned - lost.lost:,} of {lost.planned:,}; {ends}"


def difficulty_text(value: float) -> str:
    """Return a difficulty with three digits that count, or more before the point: "9.12", "1,240"."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

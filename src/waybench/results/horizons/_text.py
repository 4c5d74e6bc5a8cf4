"""Horizons as text and plain tables, and comparisons of horizons."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import exp, log
from statistics import fmean
from typing import Any, NamedTuple

from waybench.core import OPTION_AXES, Environment, Json
from waybench.envs import registry
from waybench.results.formatting import align_columns, p_text
from waybench.results.horizons._horizons import AxisItems, axis_items
from waybench.results.horizons._references import (
    SHARES,
    Extreme,
    Horizon,
    LostHorizon,
    ReferenceHorizon,
    find_axis,
)
from waybench.results.results import (
    Row,
    RunKey,
    group_by,
    labels,
    setting_names,
    settings_sort_key,
)
from waybench.results.stats._fit import BELOW, BEYOND, HORIZON_CONFIDENCE, MAYBE_UNREACHED, NEVER_REACHED
from waybench.results.stats._horizon_ratios import HorizonRatio, horizon_ratio
from waybench.results.stats._intervals import holm_adjusted, t_interval

_TOO_FEW = "too few items for an interval"
_MISFIT = "the fitted curve does not match"
_MISFIT_EXPLAINED = (
    "The success rates do not follow the fitted curve, for example because of a plateau or a dip. The interval "
    "therefore contains all levels between which any falling success rate may cross {share}."
)
_PLATEAU, _NEVER = "the plateau may be below {share}", "never reaches {share}"
_PLATEAU_EXPLAINED = (
    "The plateau may be below {share}: a part of the items fails however easy they are, and too few easy items were "
    "played to tell whether the success rate is above {share} anywhere. Then there is no value and no lower end."
)
_NEVER_EXPLAINED = "Never reaches {share}: the success rate is below it at all levels, however easy."
LOST_HORIZON = (
    "n = … of …: some attempts have no result. The numbers after it are the horizon if all of them were failures, and "
    "if all were solved. Such a horizon has no rank."
)
_INTERVALS = (
    "In brackets: the 90 % interval, or its known end. Above: more succeed even at the hardest level tried; below: "
    "fewer even at the easiest."
)
FEWEST_FAMILIES = 3  # for a ratio over families
_FURTHER = {1: "A reaches further", -1: "B reaches further", 0: "no difference shown"}
_DEPENDS = "it depends on the attempts without a result which one reaches further"
_VERDICTS = {1: "first", -1: "second", 0: "not shown"}


class HorizonText(NamedTuple):
    """A horizon as text.

    Attributes:
        value: The difficulty: "23", "above 41", "below 5", "the plateau may be below 80 %", "never reaches 80 %".
        interval: Its interval: "19 to 29", "at least 33", "at most 7", "too few items for an interval", "interval not
            known"; the bounds where attempts are lost: "n = 4 of 10; below 5 to 41"; "" if no end is within the levels
            tested.
        mark: "not above a random player's", "the fitted curve does not match", or both; "" if neither holds.
    """

    value: str
    interval: str
    mark: str = ""


def horizon_table_text(horizons: Iterable[Horizon]) -> str:
    """Return the horizons on each environment's first axis as an aligned table of plain text; "" if there are none."""
    on_first_axis = [
        horizon for horizon in horizons if horizon.axis == horizon.group.environment.difficulty.axes[0].name
    ]
    tables: list[str] = []
    for env_id, env_horizons in group_by(on_first_axis, lambda horizon: horizon.group.env).items():
        env = registry.load(env_id)
        names = labels(horizon.group for horizon in env_horizons)
        title = f"{env.title}: horizons, by {env.difficulty.axes[0].title.lower()}"
        lines = [["", *(f"{100 * share:.0f} %" for share in SHARES)]]
        marks = list(
            dict.fromkeys(horizon_parts(horizon).mark for horizon in env_horizons if horizon_parts(horizon).mark)
        )
        by_group = group_by(env_horizons, lambda horizon: horizon.group)
        models = list(dict.fromkeys(group.model for group in by_group))
        settings = setting_names(by_group)
        for group in sorted(
            by_group, key=lambda group: (models.index(group.model), settings_sort_key(group, settings))
        ):
            lines.append([names[group], *(_numbered_text(horizon, marks) for horizon in by_group[group])])
        lines += reference_lines(env_horizons)
        notes = [title, align_columns(lines), *(f"[{number}] {mark}" for number, mark in enumerate(marks, start=1))]
        notes += [success_text(env), _INTERVALS]
        if any(horizon.lost for horizon in env_horizons):
            notes.append(LOST_HORIZON)
        notes.append(plateau_text(env_horizons))
        if any(not horizon.curve_fits for horizon in env_horizons):
            notes.append(_MISFIT_EXPLAINED.format(share="the share"))
        tables.append("\n".join(filter(None, notes)))
    return "\n\n".join(tables)


def reference_lines(horizons: Sequence[Horizon]) -> list[list[str]]:
    """Return the reference players, each with its horizons at `SHARES`, as rows of a table on one axis.

    Empty where the horizons of the table have different references.
    """
    shares = [{horizon.references for horizon in horizons if horizon.share == share} for share in SHARES]
    if any(len(references) != 1 for references in shares):
        return []
    columns = [next(iter(references)) for references in shares]
    return [
        [same[0].name, *(position_text(reference) for reference in same)] for same in zip(*columns, strict=True) if same
    ]


def reference_text(references: Sequence[ReferenceHorizon]) -> str:
    """Return the horizons of reference players: "a random player: below 5, ..."; "" if there are none."""
    texts = {reference.title: position_text(reference) for reference in references}
    if len(set(texts.values())) == 1:
        return f"{' and '.join(texts)}: {next(iter(texts.values()))}"
    return ", ".join(f"{title}: {text}" for title, text in texts.items())


def horizon_context(horizon: Horizon) -> str:
    """Return sentences on the definition of success, reference players, a plateau, and a poor fit."""
    references = reference_text(horizon.references)
    share = _percent_text(horizon.share)
    players = f"{share} horizon of players that know nothing of an item: {references}." if references else ""
    misfit = "" if horizon.curve_fits else _MISFIT_EXPLAINED.format(share=share)
    parts = success_text(horizon.group.environment), players, plateau_text([horizon]), misfit
    return " ".join(part for part in parts if part)


def plateau_text(horizons: Iterable[Horizon]) -> str:
    """Return why horizons have no value, where success may level off below their share; "" otherwise."""
    texts = {MAYBE_UNREACHED: _PLATEAU_EXPLAINED, NEVER_REACHED: _NEVER_EXPLAINED}
    cases = sorted({(horizon.share, horizon.side) for horizon in horizons if horizon.side in texts})
    return " ".join(texts[side].format(share=_percent_text(share)) for share, side in cases)


def not_reached_text(side: str, share: float | None = None) -> str:
    """Return that a share is not, or may not be, reached at any level (`side`); "" if it is reached."""
    return {MAYBE_UNREACHED: _PLATEAU, NEVER_REACHED: _NEVER}.get(side, "").format(
        share="the share" if share is None else _percent_text(share)
    )


def _percent_text(share: float) -> str:
    return f"{100 * share:.0f} %"


def position_text(horizon: ReferenceHorizon | Extreme | Horizon, share: float | None = None) -> str:
    """Return the position of a horizon: "23", "above 41", "below 5", or that its share may not be reached."""
    if horizon.value is not None:
        return difficulty_text(horizon.value)
    if horizon.side == BEYOND:
        return f"above {difficulty_text(horizon.hardest)}"
    return not_reached_text(horizon.side, share) or f"below {difficulty_text(horizon.easiest)}"


def success_text(env: Environment[Any, Any, Any]) -> str:
    """Return the definition of success for an environment's horizons, in sentences; "" if it declares none."""
    if not env.difficulty.success:
        return ""
    luck = "" if env.difficulty.guess_rates is None else " The curves take the success of luck at each level as known."
    return f"Success, regardless of the score: {env.difficulty.success}.{luck}"


def horizon_text(horizon: Horizon) -> str:
    """Return a horizon as text: "23 (19 to 29)", "above 41 (at least 33)", "below 5; not above a random player's"."""
    mark = horizon_parts(horizon).mark
    return "; ".join(filter(None, [_numbered_text(horizon, ()), mark]))


def _numbered_text(horizon: Horizon, marks: Sequence[str]) -> str:
    """Return a horizon with the number of its mark in `marks`: "23 (19 to 29)", "below 5 [1]"."""
    parts = horizon_parts(horizon)
    text = f"{parts.value} ({parts.interval})" if parts.interval else parts.value
    return f"{text} [{marks.index(parts.mark) + 1}]" if parts.mark in marks else text


def horizon_parts(horizon: Horizon) -> HorizonText:
    """Return the value, the interval and the mark of a horizon as text."""
    low = "" if horizon.low is None else difficulty_text(horizon.low)
    high = "" if horizon.high is None else difficulty_text(horizon.high)
    fallback = "" if horizon.known else _TOO_FEW
    mark = "; ".join(part for part in (horizon.mark, "" if horizon.curve_fits else _MISFIT) if part)
    value = position_text(horizon, horizon.share)
    if horizon.lost is not None:
        return HorizonText(value, lost_horizon_text(horizon.lost), mark)
    if horizon.side == BEYOND:
        return HorizonText(value, f"at least {low}" if low else fallback, mark)
    if horizon.side in (BELOW, MAYBE_UNREACHED):
        return HorizonText(value, f"at most {high}" if high else fallback, mark)
    if horizon.side == NEVER_REACHED:
        return HorizonText(value, "", mark)
    ends = (
        f"{low} to {high}"
        if low and high
        else f"at least {low}"
        if low
        else f"at most {high}"
        if high
        else "interval not known"
    )
    return HorizonText(value, ends, mark)


def lost_horizon_text(lost: LostHorizon) -> str:
    """Return the number of attempts with a result, and the horizon's bounds: "n = 4 of 10; below 5 to 41"."""
    ends = " to ".join(dict.fromkeys((position_text(lost.lowest), position_text(lost.highest))))
    return f"n = {lost.planned - lost.lost:,} of {lost.planned:,}; {ends}"


def difficulty_text(value: float) -> str:
    """Return a difficulty with three significant digits, or as a whole number from 100 on: "9.12", "1,243"."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonComparison:
    """The ratio of two models' 50 % horizons at a task.

    Attributes:
        ratio: The first horizon divided by the second.
        references: The horizons of players that know nothing of the items, where they are known.
        first_mark: "not above a random player's" or the like, of the first horizon; "" if it is above, or without
            references.
        second_mark: The same for the second horizon.
        bounds: Where attempts have no result: the value of `larger` if all of them were failures of the first and
            solved by the second, and the other way round. Empty where all have a result.
        adjusted: The p value of the ratio after Holm's procedure over all horizons that were compared together.
    """

    first: RunKey
    second: RunKey
    axis: str
    ratio: HorizonRatio
    references: tuple[ReferenceHorizon, ...] = ()
    first_mark: str = ""
    second_mark: str = ""
    bounds: tuple[int, ...] = ()
    adjusted: float = 1.0

    @property
    def larger(self) -> int:
        """Which horizon is significantly larger after adjustment: 1 the first, -1 the second, 0 neither."""
        return self.ratio.significantly_larger(self.adjusted)

    @property
    def depends(self) -> bool:
        """Whether a bound on lost attempts leads to another verdict."""
        return len({self.larger, *self.bounds}) > 1

    @property
    def is_bounded(self) -> bool:
        """Whether the ratio has a value or a bound."""
        return self.ratio.low is not None or self.ratio.high is not None

    @property
    def text(self) -> str:
        """The ratio and the verdict: "A reaches 1.4 times as far as B (90 %: 1.1 to 1.8; p 0.0042): ..."."""
        title = find_axis(self.first.env, self.axis).title.lower()
        value, low, high = self.ratio.value, self.ratio.low, self.ratio.high
        ends = (
            f"90 %: {low:.2g} to {high:.2g}"
            if low is not None and high is not None
            else f"90 %: at least {low:.2g}"
            if low is not None
            else f"90 %: at most {high:.2g}"
            if high is not None
            else "not bounded by the levels tested"
        )
        times = (
            "a horizon is outside the levels tested" if value is None else f"A reaches {value:.2g} times as far as B"
        )
        verdict = _DEPENDS if self.depends else _FURTHER[self.larger]
        task = ", ".join([self.first.task, *self.first.separate_by])
        parts = [
            f"{task}, 50 % horizon by {title}: {times} ({ends}; p {p_text(self.adjusted)}): {verdict}",
            *(f"{side} is {mark}" for side, mark in (("A", self.first_mark), ("B", self.second_mark)) if mark),
            reference_text(self.references),
        ]
        return "; ".join(part for part in parts if part)

    def to_json(self) -> dict[str, Json]:
        """Return the comparison as JSON values; unknown values are null."""
        return {
            "first": self.first.to_json(),
            "second": self.second.to_json(),
            "axis": self.axis,
            "share": SHARES[0],
            "ratio": self.ratio.value,
            "low": self.ratio.low,
            "high": self.ratio.high,
            "p": self.ratio.p,
            "adjusted": self.adjusted,
            "verdict": "depends" if self.depends else _VERDICTS[self.larger],
            "references": [asdict(reference) for reference in self.references],
            "first_mark": self.first_mark,
            "second_mark": self.second_mark,
        }


@dataclass(frozen=True, slots=True)
class RatioOverFamilies:
    """The ratio of two models' horizons over several families, which are its clusters.

    Attributes:
        ratio: The geometric mean of the families' ratios.
        low: Lower end of its 90 % interval (Student's t of the logarithms).
    """

    ratio: float
    low: float
    high: float
    families: int

    @property
    def text(self) -> str:
        """The ratio as a sentence."""
        return (
            f"over {self.families} families: A reaches {self.ratio:.2g} times as far as B (90 %: {self.low:.2g} to "
            f"{self.high:.2g})"
        )

    def to_json(self) -> dict[str, Json]:
        """Return the ratio as JSON values."""
        return asdict(self)


def ratio_over_families(comparisons: Sequence[HorizonComparison]) -> RatioOverFamilies | None:
    """Return the geometric mean ratio of horizons over families; None if it is known in fewer than three."""
    resolved = [
        comparison for comparison in comparisons if comparison.ratio.value and comparison.axis not in OPTION_AXES
    ]
    by_family = group_by(resolved, lambda comparison: comparison.first.env.partition("/")[0])
    logs = [fmean(log(comparison.ratio.value or 1.0) for comparison in family) for family in by_family.values()]
    if len(logs) < FEWEST_FAMILIES:
        return None
    mean, low, high = t_interval(logs, HORIZON_CONFIDENCE)
    return RatioOverFamilies(exp(mean), exp(low), exp(high), len(logs))


def compare_horizons(first: Iterable[Row], second: Iterable[Row]) -> list[HorizonComparison]:
    """Compare the 50 % horizons of two sides at all tasks that both were given, on the first axis of their items.

    Horizons need no common items. The p values are adjusted by Holm's procedure over all of these comparisons. Where a
    side has several groups at a task, those with equal settings are compared, or the only one of either side.
    """
    first_tasks, second_tasks = (
        group_by(
            (items for items in axis_items(rows) if items.leads),
            lambda items: (items.group.task, items.group.env, items.group.version, items.axis.name),
        )
        for rows in (first, second)
    )
    pairs: list[tuple[AxisItems, AxisItems]] = []
    for task, tried in first_tasks.items():
        others = second_tasks.get(task, [])
        is_only = len(tried) == len(others) == 1
        pairs += [
            (items, other)
            for items, other in product(tried, others)
            if is_only or items.group.options == other.group.options
        ]
    ratios = [horizon_ratio(first.main_fit, second.main_fit, SHARES[0]) for first, second in pairs]
    adjusted = holm_adjusted([ratio.p for ratio in ratios])
    return [_build_horizon_comparison(*pair, ratio, p) for pair, ratio, p in zip(pairs, ratios, adjusted, strict=True)]


def _build_horizon_comparison(
    first: AxisItems, second: AxisItems, ratio: HorizonRatio, adjusted: float
) -> HorizonComparison:
    """Return the comparison of two groups on an axis; `adjusted` is the p value of their ratio."""
    first_horizon, second_horizon = (tried.horizon(SHARES[0]) for tried in (first, second))
    factor = adjusted / ratio.p if ratio.p > 0 else 1.0
    return HorizonComparison(
        first=first.group,
        second=second.group,
        axis=first.axis.name,
        ratio=ratio,
        references=first_horizon.references,
        first_mark=first_horizon.mark,
        second_mark=second_horizon.mark,
        bounds=_bounding_conclusions(first, second, factor),
        adjusted=adjusted,
    )


def _bounding_conclusions(first: AxisItems, second: AxisItems, factor: float) -> tuple[int, ...]:
    """Return which horizon is larger under both extremes of lost attempts; `factor` adjusts the p values."""
    if first.extremes is None and second.extremes is None:
        return ()
    (first_failed, first_solved), (second_failed, second_solved) = (
        tried.extremes or (tried, tried) for tried in (first, second)
    )
    pairs = (first_failed, second_solved), (first_solved, second_failed)
    ratios = [horizon_ratio(low.main_fit, high.main_fit, SHARES[0]) for low, high in pairs]
    return tuple(ratio.significantly_larger(ratio.p * factor) for ratio in ratios)

"""Horizons, searches for them, and comparisons of horizons, in words and as plain tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp, log
from statistics import fmean
from typing import Any, NamedTuple

from waybench.core import DIFFICULTY_INDEX, OPTION_AXES, Environment, Json, plural
from waybench.envs import registry
from waybench.results.estimates import aligned, whole
from waybench.results.horizons._horizons import Tried, tried_axes
from waybench.results.horizons._references import (
    SHARES,
    Extreme,
    Horizon,
    LostHorizon,
    ReferenceHorizon,
    axis_named,
    reference_horizons,
    reference_mark,
)
from waybench.results.logs import LoggedEpisode
from waybench.results.results import (
    UNFINISHED,
    Group,
    Row,
    grouped,
    labels,
    search_range,
    setting_names,
    settings_order,
)
from waybench.results.stats import (
    HORIZON_CONFIDENCE,
    STOPS,
    HorizonRatio,
    Seeker,
    StoppingRule,
    Trial,
    horizon_ratio,
    t_interval,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A search for a horizon.

    Attributes:
        group: Model, task and settings.
        axis: Name of what makes items hard.
        goal: What was to be found out.
        value: The horizon.
        low: Lower end of its 90 % interval.
        high: Upper end.
        easiest: The least difficulty that could be tried.
        hardest: The greatest one.
        trials: Number of episodes.
        errors: Infrastructure errors, which are no trials.
        lost: Number of episodes without a result, these included.
        lowest: The horizon if all of them were failures.
        highest: The horizon if all of them were solved.
        tokens: Tokens of all episodes; None if not known.
        cost: Dollars of all episodes; None if not known.
        without_failure: The greatest difficulty that was tried, where every trial was solved; None otherwise.
        stop: Why it ended, a key of `STOPS`; "" if it has not.
        references: The horizons of players that know nothing of the items, where they are known.
    """

    group: Group
    axis: str
    goal: StoppingRule
    value: float
    low: float
    high: float
    easiest: float
    hardest: float
    trials: int
    errors: int
    tokens: int | None
    cost: float | None
    without_failure: float | None
    stop: str
    references: tuple[ReferenceHorizon, ...] = ()
    lost: int = 0
    lowest: float = 0.0
    highest: float = 0.0

    @property
    def mark(self) -> str:
        """That the horizon is not above those of players that know nothing; "" if it is, or these are not known."""
        return reference_mark(self.value, self.low, self.references)

    @property
    def text(self) -> str:
        """The horizon in words, with its interval."""
        title = axis_named(self.group.env, self.axis).title.lower()
        horizon = f"{100 * self.goal.share:.0f} % horizon"
        # Where no trial failed, what is said of harder ones is a guess from what is taken for granted of curves.
        passed = self.hardest if self.stop == "beyond" or self.without_failure is None else self.without_failure
        if self.stop == "beyond" or self.value > self.hardest or self.without_failure is not None:
            least = difficulty_text(min(max(self.low, self.easiest), passed))
            return (
                f"{horizon} above the hardest level tested ({title} {difficulty_text(passed)}; 90 % interval from "
                f"{least})"
            )
        if self.stop == "below" or self.value < self.easiest:
            most = difficulty_text(min(self.high, self.hardest))
            return (
                f"{horizon} below the easiest level tested ({title} {difficulty_text(self.easiest)}; 90 % "
                f"interval up to {most})"
            )
        value, low, high = map(difficulty_text, (self.value, self.low, self.high))
        return f"{horizon} at {title} {value} (90 % interval {low} to {high})"


def searches(episodes: Sequence[LoggedEpisode], rows: Sequence[Row], unfinished: bool = False) -> list[Searched]:
    """Return what each search has found, in order of first appearance.

    What is found here is what the search itself has gone by: its own trials. `horizons` has all attempts. A search all
    of whose episodes are excluded, such as those that a later run has repeated, has found nothing.

    Args:
        episodes: The episodes.
        rows: Their rows.
        unfinished: Whether searches that have no reason to end may have been interrupted.
    """
    pairs = [(episode, row) for episode, row in zip(episodes, rows, strict=True) if _goal(episode.search)]
    return [
        _searched(group, own, unfinished)
        for (group, _), own in grouped(pairs, lambda pair: (pair[1].group, pair[0].run)).items()
        if not all(row.exclusion_reason for _, row in own)
    ]


def _goal(search: Mapping[str, Any]) -> StoppingRule | None:
    """Return the stopping rule of a search; None if the value is not one."""
    try:
        names = ("share", "precision", "most", "budget", "batch")
        if not all(0 < float(search[name]) < 1e9 for name in names if name != "budget"):
            return None
        return StoppingRule(**{name: search[name] for name in names}) if search_range(search) else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _searched(group: Group, own: Sequence[tuple[LoggedEpisode, Row]], unfinished: bool) -> Searched:
    goal, tried = _goal(own[0][0].search), search_range(own[0][0].search)
    assert goal is not None and tried is not None
    axis, lowest, highest = tried
    counted = [row for _, row in own if row.is_included and row.axes.get(axis) is not None]
    trials = [Trial(row.axes[axis] or 0.0, row.succeeded, None, 1.0) for row in counted]
    known = Seeker(goal, lowest, highest).state(trials)
    # Of episodes whose records do not replay nothing is known, not even the difficulty.
    lost = [row for _, row in own if not row.is_included and row.axes.get(axis) is not None]
    lost = [row for row in lost if row.exclusion_reason in ("", UNFINISHED)]
    extremes = [
        Seeker(goal, lowest, highest).state(
            [*trials, *(Trial(row.axes[axis] or 0.0, solved, None, 1.0) for row in lost)]
        )
        for solved in (False, True)
        if lost
    ]
    ends = [state.horizon.value for state in extremes]
    stop = known.stop(lowest, highest)
    if not stop and not unfinished:
        stop = "supply" if goal.budget is None else "budget"
    return Searched(
        group=group,
        axis=axis,
        goal=goal,
        **known.horizon._asdict(),
        easiest=lowest,
        hardest=highest,
        trials=len(trials),
        errors=sum(row.error for _, row in own),
        tokens=whole(row.tokens for row in counted),
        cost=whole(row.cost for row in counted),
        references=reference_horizons(group, axis, goal.share),
        without_failure=max(trial.at for trial in trials) if trials and all(t.solved for t in trials) else None,
        stop=stop,
        lost=len(lost),
        **(dict(zip(("lowest", "highest"), ends, strict=True)) if ends else {}),
    )


def search_text(found: Sequence[Searched]) -> str:
    """Return what searches have found and why they stopped, a line each; "" if there are none."""
    names = labels(each.group for each in found)
    return "\n".join(f"{each.group.task}, {names[each.group]}: {_found(each)}; {_course(each)}" for each in found)


def _found(each: Searched) -> str:
    return "; ".join(part for part in (each.text, each.mark, reference_text(each.references)) if part)


def _course(each: Searched) -> str:
    parts = [plural(each.trials, "episode")]
    if index := dict(each.group.options).get(DIFFICULTY_INDEX):
        parts.append(f"items by difficulty index {index}")
    if each.tokens:
        parts.append(plural(each.tokens, "token"))
    if each.cost is not None:
        parts.append(f"{each.cost:.2f} USD")
    if each.errors:
        parts.append(plural(each.errors, "infrastructure error"))
    if each.lost:
        ends = [difficulty_text(min(max(end, each.easiest), each.hardest)) for end in (each.lowest, each.highest)]
        planned = each.trials + each.lost
        parts.append(
            f"n = {each.trials:,} of {planned:,}: horizon {' to '.join(ends)} if the lost ones failed or succeeded"
        )
    why = f"stopped: {STOPS[each.stop]}" if each.stop else "interrupted; run the same command to continue"
    return f"{', '.join(parts)}; {why}"


FEWEST_FAMILIES = 3  # for a ratio over families

_FURTHER = {1: "A reaches further", -1: "B reaches further", 0: "no difference shown"}
_DEPENDS = "it depends on the attempts without a result which one reaches further"
_VERDICTS = {1: "first", -1: "second", 0: "not shown"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonComparison:
    """The ratio of two models' 50 % horizons at a task.

    Attributes:
        first: Model, task and settings of the one.
        second: Those of the other.
        axis: Name of what makes items hard.
        ratio: The first horizon divided by the second.
        references: The horizons of players that know nothing of the items, where they are known.
        first_mark: That the first horizon is not above these: "not above a random player's"; "" otherwise.
        second_mark: The same of the second.
        bounds: Where attempts have no result: what `ratio.further` would be if all of them were failures of the first
            and solved by the second, and the other way round. Empty where all have one.
    """

    first: Group
    second: Group
    axis: str
    ratio: HorizonRatio
    references: tuple[ReferenceHorizon, ...] = ()
    first_mark: str = ""
    second_mark: str = ""
    bounds: tuple[int, ...] = ()

    @property
    def depends(self) -> bool:
        """Whether the verdict is another one under one of the bounds."""
        return len({self.ratio.further, *self.bounds}) > 1

    @property
    def is_bounded(self) -> bool:
        """Whether anything is known of the ratio."""
        return self.ratio.low is not None or self.ratio.high is not None

    @property
    def text(self) -> str:
        """The ratio and the verdict in a line: "A reaches 1.4 times as far as B (90 %: 1.1 to 1.8): ..."."""
        title = axis_named(self.first.env, self.axis).title.lower()
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
        verdict = _DEPENDS if self.depends else _FURTHER[self.ratio.further]
        parts = [
            f"{self.first.task}, 50 % horizon by {title}: {times} ({ends}): {verdict}",
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
            "verdict": "depends" if self.depends else _VERDICTS[self.ratio.further],
            "references": [asdict(each) for each in self.references],
            "first_mark": self.first_mark,
            "second_mark": self.second_mark,
        }


@dataclass(frozen=True, slots=True)
class RatioOverFamilies:
    """The ratio of two models' horizons over several families, which are its clusters.

    Attributes:
        ratio: The geometric mean of the families' ratios.
        low: Lower end of its 90 % interval (Student's t of the logarithms).
        high: Upper end.
        families: Number of families.
    """

    ratio: float
    low: float
    high: float
    families: int

    @property
    def text(self) -> str:
        """The ratio in a line."""
        return (
            f"over {self.families} families: A reaches {self.ratio:.2g} times as far as B (90 %: {self.low:.2g} to "
            f"{self.high:.2g})"
        )

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON values."""
        return asdict(self)


def ratio_over_families(found: Sequence[HorizonComparison]) -> RatioOverFamilies | None:
    """Return the ratio over families, of horizons of difficulty; None for less than three in which it is known.

    Args:
        found: The comparisons of two models.
    """
    known = [each for each in found if each.ratio.value and each.axis not in OPTION_AXES]
    by_family = grouped(known, lambda each: each.first.env.partition("/")[0])
    logs = [fmean(log(each.ratio.value or 1.0) for each in own) for own in by_family.values()]
    if len(logs) < FEWEST_FAMILIES:
        return None
    mean, low, high = t_interval(logs, HORIZON_CONFIDENCE)
    return RatioOverFamilies(exp(mean), exp(low), exp(high), len(logs))


def compare_horizons(first: Iterable[Row], second: Iterable[Row]) -> list[HorizonComparison]:
    """Compare the 50 % horizons of two sides at all tasks that both were given, on the first axis of their items.

    Horizons need no common items. Where a side has several groups at a task, those with equal settings are compared,
    or the only one of either side.

    Args:
        first: The rows of the one side.
        second: Those of the other.
    """
    mine, theirs = (_by_task(rows) for rows in (first, second))
    return [_comparison(one, other) for task in mine for one, other in _matched(mine[task], theirs.get(task, []))]


def _comparison(first: Tried, second: Tried) -> HorizonComparison:
    own, other = (each.horizon(SHARES[0]) for each in (first, second))
    return HorizonComparison(
        first=first.group,
        second=second.group,
        axis=first.axis.name,
        ratio=horizon_ratio(first.plain, second.plain, SHARES[0]),
        references=own.references,
        first_mark=own.mark,
        second_mark=other.mark,
        bounds=_bounds(first, second),
    )


def _bounds(first: Tried, second: Tried) -> tuple[int, ...]:
    if first.extremes is None and second.extremes is None:
        return ()
    (first_failed, first_solved), (second_failed, second_solved) = (
        tried.extremes or (tried, tried) for tried in (first, second)
    )
    pairs = (first_failed, second_solved), (first_solved, second_failed)
    return tuple(horizon_ratio(low.plain, high.plain, SHARES[0]).further for low, high in pairs)


def _by_task(rows: Iterable[Row]) -> dict[tuple[str, str, int, str], list[Tried]]:
    first_axes = [one for one in tried_axes(rows) if one.leads]
    return grouped(first_axes, lambda one: (one.group.task, one.group.env, one.group.version, one.axis.name))


def _matched(mine: Sequence[Tried], theirs: Sequence[Tried]) -> list[tuple[Tried, Tried]]:
    if len(mine) == len(theirs) == 1:
        return [(mine[0], theirs[0])]
    return [(one, other) for one in mine for other in theirs if one.group.options == other.group.options]

"""Horizons and searches for them in words and as plain tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from waybench.core import DIFFICULTY_INDEX, Environment, plural
from waybench.envs import registry
from waybench.results.estimates import aligned, whole
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
from waybench.results.stats import STOPS, Seeker, StoppingRule, Trial

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

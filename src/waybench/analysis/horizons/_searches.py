"""Results of the searches for horizons, and the reasons why they stopped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.analysis.estimates import whole
from waybench.analysis.horizons._axes import axis_named
from waybench.analysis.horizons._horizon_text import difficulty_text, reference_text
from waybench.analysis.horizons._references import ReferenceHorizon, reference_horizons, reference_mark
from waybench.analysis.logs import LoggedEpisode
from waybench.analysis.results import UNFINISHED, Group, Row, grouped, labels, search_range
from waybench.core import DIFFICULTY_INDEX, plural
from waybench.stats import STOPS, Seeker, StoppingRule, Trial


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

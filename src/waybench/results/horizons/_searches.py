"""Results of searches for horizons, and the reasons why they stopped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waybench.core import DIFFICULTY_INDEX, plural
from waybench.results.estimates import total_if_known
from waybench.results.horizons._references import (
    ReferenceHorizon,
    below_reference_text,
    find_axis,
    reference_horizons,
)
from waybench.results.horizons._text import difficulty_text, not_reached_text, reference_text
from waybench.results.logs import LoggedEpisode
from waybench.results.results import UNFINISHED, Row, RunKey, group_by, labels
from waybench.results.results._rows import search_range
from waybench.results.stats import Seeker, StoppingRule, Trial
from waybench.results.stats._adaptive import STOPS
from waybench.results.stats._curves import CurvePrior
from waybench.results.stats._fit import MAYBE_UNREACHED, NEVER_REACHED


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """A search for a horizon.

    Attributes:
        value: The horizon, a difficulty.
        low: Lower end of its 90 % interval.
        easiest: The least difficulty that could be tried.
        hardest: The greatest difficulty that could be tried.
        trials: Number of episodes with a result.
        errors: Number of infrastructure errors, which are no trials.
        lost: Number of episodes without a result, infrastructure errors that were not repeated included.
        lowest: The horizon if all lost episodes were failures; 0 if none is lost.
        highest: The horizon if all lost episodes were solved; 0 if none is lost.
        tokens: Tokens of the trials; None if those of some trial are not known.
        cost: Dollars of the trials; None if those of some trial are not known.
        without_failure: The greatest difficulty that was tried, where every trial was solved; None otherwise.
        stop: Why it ended, a key of `STOPS`; "" if it has not.
        references: The horizons of players that know nothing of the items, where they are known.
        side: "plateau" where the success rate may be below the share at all levels, so that the horizon is not
            identified; "never" where it is; "below" where the horizon is below the easiest level in any case;
            otherwise "".
    """

    group: RunKey
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
    side: str = ""

    @property
    def mark(self) -> str:
        """The note that the horizon is not above the reference players'; "" if it is, or these are not known."""
        return below_reference_text(self.value, self.low, self.references)

    @property
    def text(self) -> str:
        """The horizon with its interval, or the bound on it that the levels tested give, as text."""
        title = find_axis(self.group.env, self.axis).title.lower()
        horizon = f"{100 * self.goal.share:.0f} % horizon"
        # Where no trial failed, what is said of harder ones is a guess from what is taken for granted of curves.
        passed = self.hardest if self.stop == "beyond" or self.without_failure is None else self.without_failure
        if self.stop == "beyond" or self.value > self.hardest or self.without_failure is not None:
            least = difficulty_text(min(max(self.low, self.easiest), passed))
            return (
                f"{horizon} above the hardest level tested ({title} {difficulty_text(passed)}; 90 % interval at least "
                f"{least})"
            )
        most = difficulty_text(min(self.high, self.hardest))
        if self.side in (MAYBE_UNREACHED, NEVER_REACHED):
            ends = "" if self.side == NEVER_REACHED else f" ({title}, 90 % interval at most {most})"
            return f"{horizon}: {not_reached_text(self.side, self.goal.share)}{ends}"
        if self.stop == "below" or self.value < self.easiest:
            return (
                f"{horizon} below the easiest level tested ({title} {difficulty_text(self.easiest)}; 90 % "
                f"interval at most {most})"
            )
        value, low, high = map(difficulty_text, (self.value, self.low, self.high))
        return f"{horizon} at {title} {value} (90 % interval {low} to {high})"


def search_results(
    episodes: Sequence[LoggedEpisode], rows: Sequence[Row], unfinished: bool = False
) -> list[SearchResult]:
    """Return the result of each search, in order of first appearance.

    It is computed from the search's own trials, while `horizons` has all attempts of a group. A search whose episodes
    are all excluded, such as those that a later run has repeated, has no result.

    Args:
        episodes: Episodes of any runs; those of searches count.
        rows: Their rows, in the same order.
        unfinished: Whether searches that have no reason to end may have been interrupted.
    """
    pairs = [(episode, row) for episode, row in zip(episodes, rows, strict=True) if _stopping_rule(episode.search)]
    return [
        _search_result(group, search_pairs, unfinished)
        for (group, _), search_pairs in group_by(pairs, lambda pair: (pair[1].group, pair[0].run)).items()
        if not all(row.exclusion_reason for _, row in search_pairs)
    ]


def _stopping_rule(search: Mapping[str, Any]) -> StoppingRule | None:
    """Return the stopping rule in the settings of a search; None if they are not those of a search."""
    try:
        names = ("share", "precision", "most", "budget", "batch")
        if not all(0 < float(search[name]) < 1e9 for name in names if name != "budget"):
            return None
        return StoppingRule(**{name: search[name] for name in names}) if search_range(search) else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _search_result(group: RunKey, pairs: Sequence[tuple[LoggedEpisode, Row]], unfinished: bool) -> SearchResult:
    """Return the result of one search from its episodes and their rows."""
    goal, tried = _stopping_rule(pairs[0][0].search), search_range(pairs[0][0].search)
    assert goal is not None and tried is not None
    axis, lowest, highest = tried
    counted = [row for _, row in pairs if row.is_included and row.axes.get(axis) is not None]
    trials = [Trial(row.axes[axis] or 0.0, row.succeeded, None, 1.0) for row in counted]
    seeker = Seeker(goal, lowest, highest, CurvePrior().with_guess_rates(group.guess_rates(axis)))
    result = seeker.state(trials)
    # Of episodes whose records do not replay nothing is known, not even the difficulty.
    lost = [row for _, row in pairs if not row.is_included and row.axes.get(axis) is not None]
    lost = [row for row in lost if row.exclusion_reason in ("", UNFINISHED)]
    ends: dict[str, float] = {}
    for name, solved in (("lowest", False), ("highest", True)) if lost else ():
        completed = [*trials, *(Trial(row.axes[axis] or 0.0, solved, None, 1.0) for row in lost)]
        ends[name] = seeker.state(completed).horizon.value
    stop = result.stop_reason(lowest, highest)
    if not stop and not unfinished:
        stop = "supply" if goal.budget is None else "budget"
    return SearchResult(
        group=group,
        axis=axis,
        goal=goal,
        **(result.reported_horizon if trials else result.horizon)._asdict(),
        easiest=lowest,
        hardest=highest,
        trials=len(trials),
        errors=sum(row.error for _, row in pairs),
        tokens=total_if_known(row.tokens for row in counted),
        cost=total_if_known(row.cost for row in counted),
        references=reference_horizons(group, axis, goal.share),
        side=result.plateau_side,
        without_failure=max(trial.at for trial in trials) if trials and all(t.solved for t in trials) else None,
        stop=stop,
        lost=len(lost),
        **ends,
    )


def search_results_text(searches: Sequence[SearchResult]) -> str:
    """Return the results of searches and why they stopped, a line each; "" if there are none."""
    names = labels(search.group for search in searches)
    lines: list[str] = []
    for search in searches:
        parts = (search.text, search.mark, reference_text(search.references), _search_course_text(search))
        lines.append(f"{search.group.task}, {names[search.group]}: {'; '.join(part for part in parts if part)}")
    return "\n".join(lines)


def _search_course_text(search: SearchResult) -> str:
    """Return the number of episodes, the cost, and the reason for the end of a search."""
    parts = [plural(search.trials, "episode")]
    if index := dict(search.group.options).get(DIFFICULTY_INDEX):
        parts.append(f"items by difficulty index {index}")
    if search.tokens:
        parts.append(plural(search.tokens, "token"))
    if search.cost is not None:
        parts.append(f"{search.cost:.2f} USD")
    if search.errors:
        parts.append(plural(search.errors, "infrastructure error"))
    if search.lost:
        ends = [
            difficulty_text(min(max(end, search.easiest), search.hardest)) for end in (search.lowest, search.highest)
        ]
        planned = search.trials + search.lost
        parts.append(
            f"n = {search.trials:,} of {planned:,}: horizon {' to '.join(ends)} if the lost ones failed or succeeded"
        )
    why = f"stopped: {STOPS[search.stop]}" if search.stop else "interrupted; run the same command to continue"
    return f"{', '.join(parts)}; {why}"

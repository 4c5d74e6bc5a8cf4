"""The points of charts, and the sets of items that one chart compares."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from statistics import fmean

from waybench.core import Metric, Presentation
from waybench.reporting._format import interval_text
from waybench.reporting.charts._svg import colour_numbers
from waybench.results import Estimate
from waybench.results.estimates._measures import HeadlineSpec, rank_by_merit
from waybench.results.formatting import mean_text, one_line
from waybench.results.results import EXAMPLES, RunKey, group_by, short_labels
from waybench.results.stats import IntervalEstimate

_FEW_EPISODES = 10  # with fewer, a share at a single step takes few values
_MOST_POINTS = 12  # of a curve of so few episodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of a line.

    Attributes:
        line: Number of its line, from 0, in the order of the lines' ranks.
        colour: Number of the line's colour.
        reference: Whether the line is that of an embedded player.
        at: Its position on the x axis: a level, a step, or a number of examples.
        mean: Its height, with its interval. If the mean lacks attempts, the point is drawn open (`drawn_interval`).
        text: Its description.
    """

    line: int
    colour: int
    label: str
    reference: bool
    at: int
    mean: IntervalEstimate
    text: str

    @property
    def is_open(self) -> bool:
        """Whether the mean lacks attempts."""
        return self.mean.lost is not None


def drawn_interval(mean: IntervalEstimate) -> tuple[float | None, float | None]:
    """Return the ends of a point's interval or, of an open point, its bounds; (None, None) where one is not known."""
    low, high = (mean.lost.lowest, mean.lost.highest) if mean.lost else (mean.low, mean.high)
    return (None, None) if low is None or high is None else (low, high)


def points_by_level(estimates: Iterable[Estimate], headline: HeadlineSpec) -> list[Point]:
    """Return a point for each group and level with a known mean, in a line for each group."""
    tracks = {
        group: {level: mean for level, estimate in by_level.items() if (mean := headline.mean(estimate)) is not None}
        for group, by_level in rank_by_merit(estimates).items()
    }
    return _points_of_lines(tracks, headline.metric)


def step_window(estimates: Iterable[Estimate], series: Metric) -> int:
    """Return how many steps each point of a series' chart averages: 1 unless single steps would hide the curve.

    A step of two episodes that are right or wrong is 0, a half or 1, so that a line through all steps is a zigzag.
    """
    curves = [estimate.curves[series.name].steps for estimate in estimates if series.name in estimate.curves]
    longest = max(map(len, curves), default=0)
    most_episodes = max((step.n for steps in curves for step in steps), default=0)
    is_share = (series.low, series.high) == (0, 1)
    is_zigzag = is_share and most_episodes < _FEW_EPISODES and longest > 2 * _MOST_POINTS
    return ceil(longest / _MOST_POINTS) if is_zigzag else 1


def points_by_step(estimates: Iterable[Estimate], series: Metric, window: int = 1) -> list[Point]:
    """Return the points of a series' curves, from estimates at one level.

    With a `window` above 1, a point is the mean of so many steps; it is in their middle and has no interval.
    """
    tracks = {
        group: _window_means(estimate.curves[series.name].steps, window)
        for group, by_level in rank_by_merit(estimates).items()
        for estimate in by_level.values()
        if series.name in estimate.curves
    }
    return _points_of_lines(tracks, series)


def _window_means(steps: Sequence[IntervalEstimate], window: int) -> dict[int, IntervalEstimate]:
    """Return the mean of each window of steps, by the step in its middle."""
    if window == 1:
        return dict(enumerate(steps, start=1))
    means: dict[int, IntervalEstimate] = {}
    for start in range(0, len(steps), window):
        window_steps = steps[start : start + window]
        lost = window_steps[0].lost
        means[start + (len(window_steps) + 1) // 2] = IntervalEstimate(
            value=fmean(step.value for step in window_steps),
            low=None,
            high=None,
            n=max(step.n for step in window_steps),
            clusters=max(step.clusters for step in window_steps),
            lost=lost and replace(lost, lowest=None, highest=None),
        )
    return means


def points_by_examples(estimates: Iterable[Estimate], headline: HeadlineSpec) -> list[Point]:
    """Return a point for each number of in-context examples, from estimates at one level.

    A line joins groups that differ in that number alone; lines of one point are left out.
    """
    by_group = rank_by_merit(estimates)
    lines = group_by(by_group, lambda group: group.without_option(EXAMPLES))
    tracks: dict[RunKey, dict[int, IntervalEstimate]] = {}
    for line, groups in lines.items():
        means = {
            group.examples: mean
            for group in groups
            for estimate in by_group[group].values()
            if (mean := headline.mean(estimate)) is not None
        }
        if len(means) > 1:
            tracks[line] = dict(sorted(means.items()))
    return _points_of_lines(tracks, headline.metric)


def _points_of_lines(tracks: Mapping[RunKey, Mapping[int, IntervalEstimate]], metric: Metric) -> list[Point]:
    """Return the points of all lines; `tracks` has the mean of each group by position."""
    names = short_labels(tracks)
    colours = colour_numbers([group.model for group in tracks])
    return [
        Point(
            line=number,
            colour=colours[number],
            label=names[group],
            reference=group.embedded,
            at=at,
            mean=mean,
            text=f"{names[group]}, {at}: {mean_text(mean.value, metric)}"
            + (f" ({interval})" if (interval := interval_text(mean, metric)) else ""),
        )
        for number, (group, track) in enumerate(tracks.items())
        for at, mean in track.items()
    ]


_LONGEST_KEY = 40  # characters


@dataclass(frozen=True, slots=True)
class ChartSet:
    """Estimates that may be drawn together.

    Attributes:
        name: "" for the first chart of an environment; for a further one, the keys of its sets.
        keys: Level -> the key of the set that all estimates of this level are of.
        estimates: The estimates, with groups without keys, so that sets of different levels make one line.
    """

    name: str
    keys: Mapping[int, str]
    estimates: list[Estimate]

    def caption(self, presentation: Presentation) -> str:
        """Return a sentence on the item sets that are drawn, after a space; "" for the only set of a task."""
        if not self.name and len(set(self.keys.values())) < 2:
            return ""
        return f" The {presentation.items} are from {_sets_text(self.keys.items(), presentation)}."


@dataclass(frozen=True, slots=True)
class ChartSets:
    """Estimates as charts show them.

    Attributes:
        sets: The estimates of each chart.
        left_out: Estimates that no chart shows, of further sets that a model was given at the same level.
    """

    sets: list[ChartSet]
    left_out: list[Estimate]

    def note(self, presentation: Presentation) -> str:
        """Return a sentence on the item sets that are left out; "" if everything is drawn."""
        if not self.left_out:
            return ""
        missing = sorted({(estimate.level or 0, estimate.group.key) for estimate in self.left_out})
        return (
            f"Not shown: {_sets_text(missing, presentation)}. Where a model was given several sets of "
            f"{presentation.items} at one level, charts show one; the tables have all."
        )


def chart_sets(estimates: Iterable[Estimate], public_key: str) -> ChartSets:
    """Divide the estimates of an environment into charts, so that all points at a level are of the same items.

    The first chart has at each level the public set, or else the set that most models were given. A model that was
    given only other sets at the level is in a further chart.
    """
    all_estimates = list(estimates)
    pending: list[Estimate] = all_estimates
    sets: list[ChartSet] = []
    drawn_groups: set[tuple[RunKey, int]] = set()  # with their levels
    drawn_without_key: set[tuple[RunKey, int]] = set()
    while pending:
        keys = {
            level: _most_common_key(level_estimates, public_key)
            for level, level_estimates in group_by(pending, _level_or_zero).items()
        }
        chosen = [estimate for estimate in pending if estimate.group.key == keys[_level_or_zero(estimate)]]
        name = " ".join(dict.fromkeys(keys[level] for level in sorted(keys))) if sets else ""
        sets.append(
            ChartSet(name, dict(sorted(keys.items())), [replace(e, group=e.group.without_key()) for e in chosen])
        )
        drawn_groups |= {(estimate.group, _level_or_zero(estimate)) for estimate in chosen}
        drawn_without_key |= {(estimate.group.without_key(), _level_or_zero(estimate)) for estimate in chosen}
        pending = [
            estimate
            for estimate in pending
            if (estimate.group.without_key(), _level_or_zero(estimate)) not in drawn_without_key
        ]
    left_out = [
        estimate for estimate in all_estimates if (estimate.group, _level_or_zero(estimate)) not in drawn_groups
    ]
    return ChartSets(sets, left_out)


def _level_or_zero(estimate: Estimate) -> int:
    return estimate.level or 0


def _most_common_key(level_estimates: Sequence[Estimate], public_key: str) -> str:
    """Return the public key if some estimate of a level has it, or else the key that most groups have."""
    n_groups = {
        key: len({estimate.group for estimate in key_estimates})
        for key, key_estimates in group_by(level_estimates, lambda e: e.group.key).items()
    }
    # The key itself makes the choice independent of the order of the logs.
    return min(n_groups, key=lambda key: (key != public_key, -n_groups[key], key))


def _sets_text(levels: Iterable[tuple[int, str]], presentation: Presentation) -> str:
    """Return sets with their levels: "set a at levels 5 and 7; set b at level 9"."""
    by_key = group_by(sorted(levels), lambda pair: pair[1])
    parts: list[str] = []
    for key, pairs in by_key.items():
        *others, last = (str(level) for level, _ in pairs)
        numbers = f"{presentation.levels} {', '.join(others)} and {last}" if others else f"{presentation.level} {last}"
        parts.append(f"set {one_line(key, _LONGEST_KEY) or '(no name)'} at {numbers}")
    return "; ".join(parts)

"""Estimates from the rows of one model, task and settings, at each level."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import fsum
from operator import is_

from waybench.core import Aggregate, End, Json, Metric
from waybench.results.estimates._bounds import (
    Curve,
    Items,
    cluster_mean,
    cluster_values,
    lost_rows,
    mean_curve,
)
from waybench.results.estimates._reliability import PassRates, pass_rates
from waybench.results.formatting import ItemCounts, too_few_note
from waybench.results.results import (
    UNCONFIRMED,
    Row,
    RunKey,
    attempts_by_item,
    group_by,
    group_by_item,
    item_key,
    item_values,
    metric_values,
    with_observed_bounds,
)
from waybench.results.results._normalized import NormalizedScore, beaten_ceilings, normalize_score, without_ceilings
from waybench.results.results._rows import ItemValues, Ranges, headline_values, joint_ranges
from waybench.results.stats import IntervalEstimate, LostAttempts, VarianceComponents, clustered_mean
from waybench.results.stats._intervals import jackknife_estimate, variance_components

_ALIKE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimates for one model with one task's settings, at one level or over all levels that were run.

    Attempts are those that count: neither excluded (see `exclude`) nor ended by an infrastructure error.

    Attributes:
        level: The level; None for all that were run.
        headline: Name of the environment's headline metric.
        items: Items with at least one attempt.
        missing: Items of which all attempts ended in infrastructure errors: they are missing, not 0.
        incomplete: Items of which some attempts did.
        attempts: Attempts.
        most_attempts: The highest number of an attempt at one item.
        errors: Infrastructure errors, in no denominator.
        aside: Episodes that were set aside.
        unconfirmed: Those of them that do not replay.
        ranges: Of every metric and series, its range over all attempts.
        not_simulated: Episodes that were not set aside, although their records could not be simulated again here: their
            numbers are the recorded ones.
        lost: The attempts whose results are lost, with the bounds of `best` over all results that they could have had;
            with a teacher, of the first series. None without any. They are those that infrastructure errors ended, that
            were stopped before their end, and that do not replay; these have the worst results in both bounds.
        best: Mean over items of the best headline value among an item's attempts, where that is an item's score
            (`Scoring.best_of`); otherwise the same as `single`.
        rescaled: `best` between floor and ceiling of the same items; None if they are not known, and where a player
            among all rows has a better score on the same items than the oracle, whose score is no ceiling then.
        mean: Mean headline value of the attempts that were made, clustered as they were drawn. As those after a perfect
            one are skipped, the items at which the player is good have fewer attempts in it: a player that scores 100
            at half of the items and 0 at the others, always, has 25 here with three attempts and 50 in `single`.
        metrics: Of every metric that is defined for some attempt, what a single attempt gives on average: the mean
            over items of `single_attempt_mean`.
        variance: How much of the headline metric's variance is between items, and how much between attempts at one.
            None where an item's score is that of its best attempt: attempts after a perfect one are skipped, so the
            others are no random sample. None also where no item was attempted twice.
        reliability: pass@k and pass^k of the headline metric, where its values are 0 and 1 and items were attempted
            several times, for k = 2, 4, 8, ... and all attempts. Empty where attempts after a perfect one are skipped,
            and with a teacher.
        macro: The metrics as means over clusters, such as maps: each cluster has the same weight, whatever its number
            of items. Empty where each instance was drawn by itself.
        aggregates: Of every aggregate of the environment, its number over the items at which all of its metrics are
            defined, each with what a single attempt gives on average. Empty with a teacher.
        guided: Whether a teacher's actions were carried out in place of the player's, in some attempt.
        solved: Share of single attempts that are solved, likewise; None where that is a teacher's merit.
        curves: Of every series that some attempt has, its means step by step, clustered likewise; with a teacher over
            all levels, too, since that is its score, and otherwise at one level only.
        replies: Number of replies.
        action_replies: Number of those that had to name an action; thoughts, for example, did not.
        outcomes: Share of each outcome among the latter; those that did not occur are left out.
        refusals_in_words: Number of them that have the outcome unparsed and refuse in words.
        input_tokens: Mean tokens of an attempt's requests; None if not known.
        output_tokens: Mean tokens of an attempt's replies; None if not known.
        cached_tokens: Mean tokens of an attempt's requests that the provider says it read from its cache, 0 also where
            it says nothing; None if the tokens are not known.
        seconds: Mean time spent on an attempt's replies; None if not known.
        cost: Mean cost of an attempt, in dollars; None if not known.
        solved_items: Items with a solved attempt; 0 with a teacher, who solved it.
        declared_levels: The levels that its ladders declare, rising, at one level as over all; none where no log says.
    """

    group: RunKey
    level: int | None
    headline: str
    items: int
    missing: int
    incomplete: int
    attempts: int
    most_attempts: int
    errors: int
    aside: int
    unconfirmed: int
    ranges: Ranges
    not_simulated: int
    lost: LostAttempts | None
    best: IntervalEstimate | None
    rescaled: NormalizedScore | None
    mean: IntervalEstimate | None
    metrics: Mapping[str, IntervalEstimate]
    variance: VarianceComponents | None
    reliability: tuple[PassRates, ...]
    macro: Mapping[str, IntervalEstimate]
    aggregates: Mapping[str, IntervalEstimate]
    guided: bool
    solved: IntervalEstimate | None
    curves: Mapping[str, Curve]
    replies: int
    action_replies: int
    outcomes: Mapping[str, float]
    refusals_in_words: int
    input_tokens: float | None
    output_tokens: float | None
    cached_tokens: float | None
    seconds: float | None
    cost: float | None
    solved_items: int
    declared_levels: tuple[int, ...]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the greatest value of `best` with its lost attempts; None if there are no two bounds."""
        if self.lost is None or self.guided or self.lost.lowest is None or self.lost.highest is None:
            return None
        return self.lost.lowest, self.lost.highest

    @property
    def n_planned(self) -> int:
        """Number of attempts, those whose results are lost included."""
        return self.attempts if self.lost is None else self.lost.planned

    @property
    def single(self) -> IntervalEstimate | None:
        """Mean headline value of a single attempt at each item; see `single_attempt_mean`."""
        return self.metrics.get(self.headline)

    def metric_or_aggregate(self, name: str) -> IntervalEstimate | None:
        """Return the estimate of a metric or an aggregate; None if it is not defined."""
        return self.metrics.get(name) or self.aggregates.get(name)

    @property
    def counts(self) -> ItemCounts:
        """Numbers of items and attempts; of solved items, too, where each item's score is all or nothing."""
        scoring, (low, high) = self.group.environment.scoring, self.ranges[self.headline]
        counts = ItemCounts(self.items, self.attempts)
        is_single = scoring.best_of or self.attempts == self.items
        if self.guided or self.best is None or not is_single or low is None or high is None:
            return counts
        worst, best = (high, low) if scoring.metrics[0].better == "lower" else (low, high)
        # Each item's score is all or nothing if the mean is the share of solved items.
        is_share = abs(self.best.value - worst - self.solved_items / self.items * (best - worst)) <= _ALIKE
        return counts._replace(solved=self.solved_items) if is_share else counts

    @property
    def few_items(self) -> str:
        """Text in place of the score's interval where there are too few items: "3 items: 2 solved"."""
        return self.counts.few_text(self.best.clusters) if self.best else ""

    @property
    def too_few(self) -> dict[str, str]:
        """By metric or aggregate, a note that there are too few items for its interval (`SampleSize`)."""
        environment = self.group.environment
        notes = {
            metric.name: too_few_note(self.metric_or_aggregate(metric.name), metric)
            for metric in (*environment.scoring.metrics, *environment.scoring.aggregates)
        }
        return {name: note for name, note in notes.items() if note}

    @property
    def cached_share(self) -> float | None:
        """Share of the requests' tokens that were read from the provider's cache; None if not known."""
        return self.cached_tokens / self.input_tokens if self.input_tokens and self.cached_tokens is not None else None

    def per_solved_item(self, mean_per_attempt: float | None) -> float | None:
        """Return the total of all attempts divided by the number of solved items; None if no item was solved.

        Args:
            mean_per_attempt: The mean of an attempt, such as `cost`.
        """
        if mean_per_attempt is None or not self.solved_items:
            return None
        return mean_per_attempt * self.attempts / self.solved_items

    @property
    def tokens(self) -> float | None:
        """Mean number of tokens in an attempt's requests and replies."""
        return None if self.input_tokens is None else self.input_tokens + (self.output_tokens or 0)

    @property
    def requests(self) -> float | None:
        """Mean number of requests in an attempt."""
        return self.replies / self.attempts if self.attempts else None

    def to_json(self) -> dict[str, Json]:
        """Return the estimate as JSON values; unknown values are null."""
        out: dict[str, Json] = {
            **asdict(replace(self, rescaled=None, declared_levels=())),
            "group": self.group.to_json(),
            "rescaled": self.rescaled and self.rescaled.to_json(),
        }
        del out["declared_levels"]  # a property of the run
        return out | {
            "single": out["metrics"].get(self.headline),
            "requests": self.requests,
            "bounds": self.bounds and list(self.bounds),
            "planned": self.n_planned,
            "cached": self.cached_share,
            "too_few": dict[str, Json](self.too_few),
            "tokens_per_solved": self.per_solved_item(self.tokens),
            "cost_per_solved": self.per_solved_item(self.cost),
        }


# By group, sequences of rows with their estimate.
EstimateCache = dict[RunKey, list[tuple[Sequence[Row], Estimate]]]


def by_level(all_rows: Iterable[Row], cache: EstimateCache | None = None) -> list[Estimate]:
    """Return the estimates of every model, task and settings at every level that was run.

    A level that was not run has no estimate; a level at which all attempts were infrastructure errors has one, with
    None for unknown numbers. The order is that of first appearance, levels rising.

    Args:
        all_rows: The rows.
        cache: Estimates of the same rows are taken from it, and new ones are added.
    """
    samples = [
        (group, level, level_rows)
        for group, rows in group_by(all_rows, lambda row: row.group).items()
        for level, level_rows in sorted(group_by(rows, lambda row: row.level).items())
    ]
    return _estimates_of_samples(samples, cache)


def overall(all_rows: Iterable[Row], cache: EstimateCache | None = None) -> list[Estimate]:
    """Return one estimate for every model, task and settings over all levels that were run, `level` None.

    Which levels were run depends on the model, so that its scores are not to be compared; outcomes and costs are.

    Args:
        all_rows: The rows.
        cache: As for `by_level`.
    """
    samples = [(group, None, rows) for group, rows in group_by(all_rows, lambda row: row.group).items()]
    return _estimates_of_samples(samples, cache)


def _estimates_of_samples(
    samples: Sequence[tuple[RunKey, int | None, Sequence[Row]]], cache: EstimateCache | None
) -> list[Estimate]:
    """Return the estimate of each sample (group, level or None for all, rows); new ones are added to the cache.

    If a player among the samples is better than the oracle, the oracle's score is no ceiling, and no score on the same
    items is normalised (`beaten_ceilings`).
    """
    beaten = beaten_ceilings(sample for _, _, sample in samples)
    estimates: list[Estimate] = []
    for group, level, sample in samples:
        rows = without_ceilings(sample, beaten)
        estimate = _cached_estimate(group, level, rows, cache or {})
        if estimate is None:
            estimate = _estimate_of_rows(group, level, rows)
            if cache is not None:
                cache.setdefault(group, []).append((rows, estimate))
        estimates.append(estimate)
    return estimates


def _cached_estimate(group: RunKey, level: int | None, rows: Sequence[Row], cache: EstimateCache) -> Estimate | None:
    """Return the cached estimate of exactly these rows; of a single level, also as that over all levels."""
    for cached_rows, cached in cache.get(group, ()):
        if len(cached_rows) == len(rows) and all(map(is_, cached_rows, rows)):
            if cached.level == level:
                return cached
            if level is None:
                return replace(cached, level=None, curves=cached.curves if cached.guided else {})
    return None


def _estimate_of_rows(group: RunKey, level: int | None, rows: Sequence[Row]) -> Estimate:
    """Return the estimate of one group's rows at one level, or at all levels (None)."""
    scoring, is_clustered = group.environment.scoring, bool(group.environment.items.cluster)
    # Which attempts are perfect follows from the declared bounds; intervals are within the bounds of these episodes.
    headline, metrics = scoring.metrics[0], [with_observed_bounds(metric, rows) for metric in scoring.metrics]
    items = group_by_item(rows)
    included = [row for attempts in items.values() for row in attempts]
    # Where attempts at one item are a cluster each, `items` has a key for each of them; numbers of items count it once.
    attempted = attempts_by_item(items)
    planned = attempts_by_item(group_by((row for row in rows if not row.exclusion_reason), item_key))
    guided, is_streamed = any(row.guided for row in rows), any(row.is_streamed for row in rows)
    outcomes = Counter[str]()
    for row in included:
        outcomes.update(row.outcomes)
    lost = lost_rows(rows, metrics, best_of=scoring.best_of)

    def with_lost_attempts(
        value_of: Callable[[Items], IntervalEstimate | None], *metrics: Metric
    ) -> IntervalEstimate | None:
        """Return a mean over items with its lost attempts; in a stopped stream, without an interval."""
        mean = value_of(items)
        if mean is not None and is_streamed:
            mean = replace(mean, low=None, high=None)
        if mean is None or lost is None:
            return mean
        return replace(mean, lost=lost.lost_attempts_of_item_mean(value_of, metrics))

    def mean_headline(items: Items) -> IntervalEstimate | None:
        return headline_values(items, headline).mean(metrics[0].interval_bounds)

    def share_solved(items: Items) -> IntervalEstimate | None:
        solved = item_values(items, headline, lambda row: float(row.end == End.SOLVED))
        return ItemValues(solved, None).mean((0, 1))

    def mean_of_attempts(items: Items) -> IntervalEstimate | None:
        return _mean_of_attempts([row for attempts in items.values() for row in attempts], metrics[0])

    all_series = {series.name: with_observed_bounds(series, rows) for series in scoring.series}
    clusters = [row.cluster for row in included]
    # Over all levels a curve is shown only where it is the score, with a teacher.
    curves = {
        name: curve
        for name, series in (all_series if level is not None or guided else {}).items()
        if (curve := mean_curve([row.series[name] for row in included], clusters, *series.interval_bounds))
    }
    lost_attempts = lost and lost.lost_attempts_of_item_mean(mean_headline, [headline])
    if lost is not None:
        for name, curve in curves.items():
            lost_of_curve = partial(lost.lost_attempts_of_episode_mean, bounds=all_series[name].bounds)
            curves[name] = curve.with_lost_attempts(lost_of_curve)
        if guided and scoring.series:
            name = scoring.series[0].name
            average = curves[name].average if name in curves else None
            lost_attempts = lost.lost_attempts_of_episode_mean(average, all_series[name].bounds)
    values = ([value for row in item if (value := row.metrics[headline.name]) is not None] for item in items.values())
    normalised = None if guided or is_streamed else normalize_score(headline_values(items, headline), items, metrics[0])
    return Estimate(
        group=group,
        level=level,
        headline=headline.name,
        items=len(attempted),
        missing=len(planned) - len(attempted),
        incomplete=sum(0 < sum(row.error for row in item) < len(item) for item in planned.values()),
        attempts=len(included),
        most_attempts=max(row.attempt for row in rows),
        errors=sum(row.error and not row.exclusion_reason for row in rows),
        aside=sum(bool(row.exclusion_reason) for row in rows),
        unconfirmed=sum(row.exclusion_reason == UNCONFIRMED for row in rows),
        not_simulated=sum(bool(row.not_simulated) and not row.exclusion_reason for row in rows),
        ranges=joint_ranges(group.environment, rows),
        lost=lost_attempts,
        best=with_lost_attempts(mean_headline, headline),
        rescaled=normalised and normalised.with_lost_attempts(lost_attempts),
        mean=with_lost_attempts(mean_of_attempts, headline),
        metrics=_without_undefined(
            (metric.name, with_lost_attempts(partial(_item_mean, headline=headline, metric=metric), metric))
            for metric in metrics
        ),
        variance=None
        if guided or scoring.best_of
        else variance_components([values_of_item for values_of_item in values if values_of_item]),
        reliability=() if guided or scoring.best_of else pass_rates(items, headline, with_lost_attempts),
        macro=_without_undefined(
            (metric.name, with_lost_attempts(partial(_mean_of_clusters, headline=headline, metric=metric), metric))
            for metric in (metrics if is_clustered else ())
        ),
        aggregates=_without_undefined(
            (
                aggregate.name,
                with_lost_attempts(
                    partial(_aggregate_estimate, headline=headline, aggregate=aggregate), *aggregate.metrics
                ),
            )
            for aggregate in (() if guided else scoring.aggregates)
        ),
        guided=guided,
        solved=None if guided else with_lost_attempts(share_solved),
        curves=curves,
        replies=sum(row.turns for row in included),
        action_replies=outcomes.total(),
        outcomes={outcome: count / outcomes.total() for outcome, count in sorted(outcomes.items())},
        refusals_in_words=sum(row.refusals_in_words for row in included),
        input_tokens=_mean_of_known(row.input_tokens for row in included),
        output_tokens=_mean_of_known(row.output_tokens for row in included),
        cached_tokens=_mean_of_known(row.cached_tokens for row in included),
        seconds=_mean_of_known(row.seconds for row in included),
        cost=_mean_of_known(row.cost for row in included),
        solved_items=0 if guided else sum(any(row.end == End.SOLVED for row in item) for item in attempted.values()),
        declared_levels=tuple(
            sorted({level for row in rows if not row.exclusion_reason for level in row.declared_levels})
        ),
    )


def _without_undefined(means: Iterable[tuple[str, IntervalEstimate | None]]) -> dict[str, IntervalEstimate]:
    """Return the means that are defined, by name."""
    return {name: mean for name, mean in means if mean is not None}


def _item_mean(items: Items, headline: Metric, metric: Metric) -> IntervalEstimate | None:
    """Return the mean over items of what a single attempt gives; None without a value."""
    return metric_values(items, headline, metric).mean(metric.interval_bounds)


def _mean_of_clusters(items: Items, headline: Metric, metric: Metric) -> IntervalEstimate | None:
    """Return the mean over clusters, all with the same weight; None without a value."""
    return cluster_mean(cluster_values(metric_values(items, headline, metric)), metric.interval_bounds)


def _aggregate_estimate(items: Items, headline: Metric, aggregate: Aggregate) -> IntervalEstimate | None:
    """Return an aggregate with its interval, over the items at which all of its metrics are defined; None without any.

    Attempts are chosen by the headline metric (see `metric_values`).
    """
    columns = [metric_values(items, headline, metric).values for metric in aggregate.metrics]
    # Sorted: sums of floats depend on the order, and the order of logs depends on which episode ended first.
    keys = sorted(key for key in items if all(key in values for values in columns))
    values = [[column[key] for column in columns] for key in keys]
    clusters = [key.cluster for key in keys]
    return jackknife_estimate(values, clusters, aggregate.of, aggregate.low, aggregate.high, aggregate.scale)


def _mean_of_attempts(attempts: Iterable[Row], metric: Metric) -> IntervalEstimate | None:
    """Return the mean of a metric over attempts, with its clustered interval; None without a value."""
    pairs = [(value, row.cluster) for row in attempts if (value := row.metrics[metric.name]) is not None]
    return clustered_mean([value for value, _ in pairs], [cluster for _, cluster in pairs], *metric.interval_bounds)


def _mean_of_known(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None without any."""
    numbers = [value for value in values if value is not None]
    return fsum(numbers) / len(numbers) if numbers else None

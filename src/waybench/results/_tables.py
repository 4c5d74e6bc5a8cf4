"""The frames of episodes and of scores."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from waybench.core import Aggregate, Environment, Metric, Outcome, Series
from waybench.envs import registry
from waybench.results.comparisons import main_failure
from waybench.results.comparisons._beliefs import knew_at_first_error
from waybench.results.estimates import Estimate
from waybench.results.estimates._ledger import REASONING, REASONING_TOKENS, TIME_AND_COST
from waybench.results.frames import Column, Frame, Meaning, group_frame
from waybench.results.results import Row
from waybench.results.stats import CONFIDENCE, IntervalEstimate

METRIC, SIZE, OUTCOME = "metric.", "size.", "outcome."  # what the names of such columns begin with
_ENDS = f"of the {100 * CONFIDENCE:.0f} % confidence interval; null where it cannot be estimated."


def episode_frame(all_rows: Sequence[Row]) -> Frame:
    """Return the frame of episodes: one row for each in the given order, also for those that do not count.

    All settings are columns ("option.NAME"), so that frames of several reports can be put together. Metrics are called
    "metric.NAME", and what one of them is a share of "size.NAME". None stands for what is not known or not defined,
    also where a row's environment has no such metric or option.

    Args:
        all_rows: The rows. They are gone through once for each column, when its values are needed.
    """
    environments = [registry.load(env) for env in dict.fromkeys(row.group.env for row in all_rows)]
    columns = [*_ITEM, *_COURSE, *_OUTCOMES, *_REFUSALS, *_metric_columns(environments), *_COST]
    doc = "One row for each episode, in the order of the logs, excluded episodes too."
    return group_frame("episodes", doc, columns, all_rows, lambda row: row.group)


_ITEM: tuple[Column[Row], ...] = (
    Column(
        "setting",
        str,
        "The published name of the setting that was played; null if it is not a published one.",
        lambda row: row.setting or None,
    ),
    Column("level", int, "The item's level."),
    Column("item", str, "The item's id."),
    Column("index", int, "The item's number in its set, from 0."),
    Column("instance", str, "SHA-256 of the instance."),
    Column(
        "cluster",
        str,
        "The independent sampling unit: the instance, or the name of a cluster such as a map. With cluster_key and "
        "cluster_level it identifies the cluster of intervals.",
        "cluster.name",
    ),
    Column("cluster_key", str, "The key of the cluster's set; empty where the cluster is an instance.", "cluster.key"),
    Column("cluster_level", int, "The cluster's level; 0 where the cluster is an instance.", "cluster.level"),
    Column("attempt", int, "Number of the attempt at the item, from 1."),
    Column("run", str, "The run; null if not known.", lambda row: row.run or None),
    # Without its folders, which would tell something of the user's machine.
    Column(
        "log",
        str,
        "Name of the log file; null if not known.",
        lambda row: row.log.replace("\\", "/").rpartition("/")[2] or None,
    ),
)

_COURSE: tuple[Column[Row], ...] = (
    Column("end", str, "How the episode ended; null if it did not.", lambda row: row.end or None),
    Column(
        "succeeded",
        bool,
        "Whether the episode is a success for horizons, which is more than solved in some environments; null after an "
        "infrastructure error.",
        lambda row: None if row.error else row.succeeded,
    ),
    Column(
        "failure",
        str,
        "Its main cause of failure: refused, truncated, overflow, unparsed, illegal, unproductive, turn_limit, "
        "lost, wrong, or a kind of its environment (see the environment's page in the documentation); null for solved "
        "and excluded episodes, completed games of a fixed length, and episodes with a teacher.",
        lambda row: kind.name if (kind := main_failure(row)) else None,
    ),
    Column(
        "first_error",
        str,
        "The kind of its first error, the first step that no best play makes; null for episodes that did not fail, and "
        "where errors are not defined.",
        "first_error.kind.name",
    ),
    Column("first_error_step", int, "The number of that step, from 1; null without one.", "first_error.step"),
    Column("probes", int, "Number of belief probes; null without any.", lambda row: len(row.probes) or None),
    Column(
        "probes_correct",
        int,
        "Number of them that were answered right; null without any.",
        lambda row: sum(probe.correct for probe in row.probes) if row.probes else None,
    ),
    Column(
        "knew_at_first_error",
        bool,
        "Whether all probes of the turn of the first error were answered right: true, the player knew the state and "
        "erred; false, it did not know it; null without a first error, or without a probe of that turn.",
        knew_at_first_error,
    ),
    Column("counts", bool, "Whether the episode is in the denominators of the estimates.", "is_included"),
    Column(
        "infrastructure_error",
        bool,
        "Whether an error of the provider or the machine ended it, or it has no end: it is missing and does not "
        "count as a failure.",
        "error",
    ),
    Column("set_aside", str, "The reason if it is excluded; null otherwise.", lambda row: row.exclusion_reason or None),
    Column(
        "not_simulated",
        str,
        "Why its record was not re-simulated; its values are then the recorded ones. Null otherwise.",
        lambda row: row.not_simulated or None,
    ),
    Column(
        "guided",
        bool,
        "Whether a teacher's actions were carried out in place of the player's: then the end is due to the teacher.",
    ),
    Column("turns", int, "Number of replies."),
    Column(
        "action_turns",
        int,
        "Number of replies that had to name an action; others, such as thoughts, have no outcome.",
        lambda row: sum(row.outcomes.values()),
    ),
)

_OUTCOMES: tuple[Column[Row], ...] = tuple(
    Column(
        OUTCOME + outcome,
        int,
        f"Number of replies with the outcome {outcome}, of those that had to name an action.",
        lambda row, outcome=str(outcome): row.outcomes.get(outcome, 0),
    )
    for outcome in Outcome
)

_REFUSALS: tuple[Column[Row], ...] = (
    Column(
        "refusals_in_words", int, 'Number of unparsed replies that refuse in words, as in "I can\'t help with that".'
    ),
)

_COST: tuple[Column[Row], ...] = (
    Column("input_tokens", int, "Tokens of all requests; null if not known.", unit="tokens"),
    Column("output_tokens", int, "Tokens of all replies, reasoning included; null if not known.", unit="tokens"),
    Column(
        "cached_tokens",
        int,
        "Input tokens that the provider says it read from its cache, 0 also where it says nothing; null if tokens are "
        "not known.",
        unit="tokens",
    ),
    REASONING_TOKENS,
    *REASONING,
    Column(
        "probe_input_tokens",
        int,
        "Tokens of the requests of belief probes, which input_tokens does not include; null without any.",
        lambda row: row.probe_tokens[0] if row.probe_tokens else None,
        unit="tokens",
    ),
    Column(
        "probe_output_tokens",
        int,
        "Tokens of their answers, which output_tokens does not include; null without any.",
        lambda row: row.probe_tokens[1] if row.probe_tokens else None,
        unit="tokens",
    ),
    *TIME_AND_COST,
)


def _metric_columns(environments: Iterable[Environment[Any, Any, Any]]) -> Iterator[Column[Row]]:
    """Yield the columns of all metrics of some environments, and of denominators of ratios."""
    meanings: dict[str, list[Meaning]] = {}
    names_of_ratios: set[str] = set()
    for env in environments:
        for metric in env.scoring.metrics:
            meanings.setdefault(metric.name, []).append(_metric_meaning(env.id, metric))
            if metric.per is not None:
                names_of_ratios.add(metric.name)
    for name, env_meanings in meanings.items():
        units = {meaning.unit for meaning in env_meanings}
        yield Column(
            METRIC + name,
            float,
            "A metric; null where it is undefined or the environment does not have it.",
            lambda row, name=name: row.metrics.get(name),
            unit=units.pop() if len(units) == 1 else "",
            meanings=tuple(env_meanings),
        )
        if name in names_of_ratios:
            yield Column(
                SIZE + name,
                float,
                f"The denominator of {METRIC}{name}: the value of a set is the sum of numerators over the sum of "
                f"denominators; null where it is a mean.",
                lambda row, name=name: row.sizes.get(name),
            )


def _metric_meaning(env_id: str, metric: Metric) -> Meaning:
    """Return the meaning of a metric's column for an environment."""
    return Meaning(
        env=env_id,
        doc=metric.doc,
        title=metric.title,
        unit=metric.unit,
        low=metric.low,
        high=metric.high,
        range=metric.range_text if metric.range or metric.unbounded else "",
        better=metric.better,
        values=tuple(f"{number} {label}" for number, label in enumerate(metric.labels)),
    )


_STATISTICS = {
    "best": "the mean over items of the best attempt's headline metric, where that is an item's score, and otherwise "
    "the same as single",
    "rescaled": "the same, normalised: 0 is the best of empty replies, a random player and the best constant reply, 1 "
    "is the oracle, both measured on other items of the same levels and options; null where the two do not differ "
    "significantly",
    "single": "the mean of a single attempt over items",
    "pass@k": "the mean over items of the probability that at least one of k attempts succeeds (pass@2, pass@4, ...)",
    "pass^k": "the same of the probability that all k attempts succeed",
    "attempts": "the plain mean of the headline metric over all attempts",
    "clusters": "the same as single, as a mean over clusters such as maps, each with the same weight",
    "set": "a number computed for the set as a whole",
    "solved": "the share of single attempts that are solved",
    "curve": "the mean of a curve over its steps",
    "step": "a curve at one step: the mean over the episodes that have it",
    "share": "the share of an outcome among all replies",
    "mean": "the plain mean over attempts of their tokens, cost or time",
    "per_solved": "the total of all attempts divided by the number of solved items",
}


class ScoreRow(NamedTuple):
    """One number of an estimate, a row of the frame, whose columns say what its fields are."""

    estimate: Estimate
    statistic: str
    metric: str
    title: str
    unit: str
    better: str
    step: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    least: float | None = None
    greatest: float | None = None
    n: int | None = None
    clusters: int | None = None
    lowest: float | None = None
    highest: float | None = None


def score_frame(estimates: Iterable[Estimate]) -> Frame:
    """Return the frame of scores: a row for each number of each estimate, with its interval.

    Args:
        estimates: The estimates, by level or over all levels. None stands for what is not known or not defined.
    """
    scores = [score for estimate in estimates for score in _score_rows(estimate)]
    doc = (
        "One row for each estimated number: by level, over all levels (level is null), and step by step. Where "
        "players ran different levels, do not compare their numbers over all levels."
    )
    return group_frame("scores", doc, _FACTS, scores, lambda score: score.estimate.group)


def _score_rows(estimate: Estimate) -> Iterator[ScoreRow]:
    """Yield a row for each statistic of an estimate (`_STATISTICS`), in the order of the frame of scores.

    With a teacher, statistics that would measure the teacher's play are left out.
    """
    env = estimate.group.environment
    headline = env.scoring.metrics[0]

    def score_row(
        statistic: str, summary: Metric | Series | Aggregate, mean: IntervalEstimate | None, step: int | None = None
    ) -> ScoreRow:
        """Return the row of one statistic of a metric, series or aggregate, with its interval and bounds."""
        unit = "" if isinstance(summary, Series) else summary.unit
        score = ScoreRow(estimate, statistic, summary.name, summary.title, unit, summary.better, step)
        bounds = (summary.low, summary.high) if isinstance(summary, Aggregate) else estimate.ranges[summary.name]
        return _with_estimate(score, mean)._replace(least=bounds[0], greatest=bounds[1])

    best = score_row("best", headline, estimate.best)
    if estimate.best is None and estimate.lost and not estimate.guided:  # no attempt has a result
        best = best._replace(lowest=estimate.lost.lowest, highest=estimate.lost.highest)
    yield best
    if not estimate.guided:
        rescaled = ScoreRow(estimate, "rescaled", headline.name, headline.title, "", "higher")
        yield _with_estimate(rescaled, estimate.rescaled.mean if estimate.rescaled else None)
    for metric in env.scoring.metrics:
        yield score_row("single", metric, estimate.metrics.get(metric.name))
    for rates in estimate.reliability:
        yield score_row(f"pass@{rates.k}", headline, rates.any_of)
        yield score_row(f"pass^{rates.k}", headline, rates.all_of)
    yield score_row("attempts", headline, estimate.mean)
    for metric in env.scoring.metrics:
        if metric.name in estimate.macro:
            yield score_row("clusters", metric, estimate.macro[metric.name])
    for aggregate in () if estimate.guided else env.scoring.aggregates:
        yield score_row("set", aggregate, estimate.aggregates.get(aggregate.name))
    for series in env.scoring.series:
        if series.name in estimate.curves:
            curve = estimate.curves[series.name]
            yield score_row("curve", series, curve.average)
            for step, mean in enumerate(curve.steps, start=1):
                yield score_row("step", series, mean, step)
    yield from _outcome_and_cost_rows(estimate)


def _with_estimate(score: ScoreRow, mean: IntervalEstimate | None) -> ScoreRow:
    """Return a row with the value, interval and counts of a mean; unchanged without a mean."""
    if mean is None:
        return score
    lowest, highest = (mean.lost.lowest, mean.lost.highest) if mean.lost else (None, None)
    numbers = {name: getattr(mean, name) for name in ("value", "low", "high", "n", "clusters")}
    return score._replace(**numbers, lowest=lowest, highest=highest)


def _outcome_and_cost_rows(estimate: Estimate) -> Iterator[ScoreRow]:
    """Yield the rows of solved attempts, outcomes of replies, tokens, time and costs."""
    if not estimate.guided:
        yield _with_estimate(ScoreRow(estimate, "solved", "solved", "Solved", "", "higher"), estimate.solved)
    for outcome in Outcome if estimate.action_replies else ():
        score = ScoreRow(estimate, "share", OUTCOME + outcome, outcome.capitalize(), "", "")
        yield score._replace(value=estimate.outcomes.get(outcome, 0.0), n=estimate.action_replies)
    for metric, title, unit, value in (
        ("requests", "Requests", "", estimate.requests),
        ("input_tokens", "Input tokens", "tokens", estimate.input_tokens),
        ("output_tokens", "Output tokens", "tokens", estimate.output_tokens),
        ("cached_tokens", "Cached tokens", "tokens", estimate.cached_tokens),
        ("seconds", "Seconds", "s", estimate.seconds),
        ("cost", "Cost", "USD", estimate.cost),
    ):
        yield ScoreRow(estimate, "mean", metric, title, unit, "lower", value=value)
    for metric, title, unit, value in (
        ("tokens", "Tokens", "tokens", estimate.tokens),
        ("cost", "Cost", "USD", estimate.cost),
    ):
        yield ScoreRow(estimate, "per_solved", metric, title, unit, "lower", value=estimate.per_solved_item(value))


_FACTS: Sequence[Column[ScoreRow]] = (
    Column(
        "guided",
        bool,
        "Whether a teacher's actions were carried out in place of the player's: then only the curves measure the "
        "player.",
        "estimate.guided",
    ),
    Column("level", int, "The level; null for all levels that were run.", "estimate.level"),
    Column(
        "statistic", str, f"What the number is. {'; '.join(f'{name}: {doc}' for name, doc in _STATISTICS.items())}."
    ),
    Column("metric", str, "Name of the metric, aggregate, series, outcome or cost."),
    Column("title", str, "Its name in the report's tables."),
    Column("unit", str, "Its unit; empty for a plain number."),
    Column("better", str, "higher, lower, or empty where neither is better."),
    Column("step", int, "Number of the step, from 1; null except for curves."),
    Column("value", float, "The number; null if it is not known, or defined for no attempt."),
    Column("low", float, f"Lower end {_ENDS}"),
    Column("high", float, f"Upper end {_ENDS}"),
    Column("least", float, "The lower bound of the metric with these options on these items; null if there is none."),
    Column("greatest", float, "The upper bound, likewise."),
    Column(
        "n", int, "Number of values in the mean: items, attempts, episodes, replies or clusters; null if not known."
    ),
    Column("clusters", int, "Number of independent clusters, from which the interval is computed; null if not known."),
    Column("items", int, "Items with at least one attempt that counts.", "estimate.items"),
    Column("attempts", int, "Attempts that count.", "estimate.attempts"),
    Column(
        "planned",
        int,
        "Attempts, those without a result included: ended by an infrastructure error, stopped early, or not confirmed "
        "by a new simulation. A score of which some attempts have no result has no rank.",
        "estimate.n_planned",
    ),
    Column(
        "lowest",
        float,
        "The number if each attempt without a result had the least value possible; null if all have a result, and "
        "where there is no least value.",
    ),
    Column("highest", float, "The same with the greatest value possible."),
    Column(
        "missing",
        int,
        "Items of which all attempts ended in infrastructure errors: they are missing and do not count as 0.",
        "estimate.missing",
    ),
    Column("incomplete", int, "Items of which some attempts ended in infrastructure errors.", "estimate.incomplete"),
    Column(
        "bound_low",
        float,
        "Lower bound of best over all possible results of the attempts lost to infrastructure errors; null if none "
        "were lost.",
        lambda score: score.estimate.bounds[0] if score.estimate.bounds else None,
    ),
    Column(
        "bound_high",
        float,
        "Upper bound, likewise.",
        lambda score: score.estimate.bounds[1] if score.estimate.bounds else None,
    ),
    Column(
        "floor",
        float,
        "The headline metric of the best of empty replies, a random player and the best constant reply, at the levels "
        "of the items; null where it does not differ significantly from the ceiling.",
        "estimate.rescaled.floor",
    ),
    Column("ceiling", float, "The oracle's headline metric at the levels of the items.", "estimate.rescaled.ceiling"),
    Column(
        "attempts_share",
        float,
        "Share of the variance of the headline metric's mean that is due to attempts and not to items; null if not "
        "known.",
        "estimate.variance.share",
    ),
    Column("errors", int, "Infrastructure errors, excluded from all denominators.", "estimate.errors"),
    Column("set_aside", int, "Episodes that are excluded.", "estimate.aside"),
    Column("unconfirmed", int, "Excluded episodes that re-simulation does not confirm.", "estimate.unconfirmed"),
    Column(
        "not_simulated",
        int,
        "Episodes that count with their recorded values since they could not be re-simulated here.",
        "estimate.not_simulated",
    ),
)

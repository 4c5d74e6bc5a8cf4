"""Models as agents: their human-normalised scores at published settings, and the nine capabilities (SmartPlay)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import fsum, sqrt
from typing import NamedTuple

from waybench.core import Json, Range
from waybench.envs.smartplay import FORMULAS, HUMANS, RECORDED, Capability
from waybench.envs.smartplay._capabilities import capability_scores, capability_weights
from waybench.results.estimates._bounds import Items, lost_rows
from waybench.results.results import (
    Row,
    RunKey,
    environment_options,
    group_by,
    group_by_item,
    metric_values,
    with_observed_bounds,
)
from waybench.results.results._rows import ItemValues
from waybench.results.stats import CONFIDENCE, IntervalEstimate
from waybench.results.stats._intervals import FEWEST_CLUSTERS, RobustMean, clustered_error, t_quantile

HUMAN = "human"  # the metric that is the human-normalised score
_COMMON_OPTIONS = ("protocol", "wording")  # that all settings of one agent have in common
_OWN_OPTIONS = ("setting", "steps")  # that its settings differ in; other steps than published ones have no score


@dataclass(frozen=True, slots=True)
class Agent:
    """A model with one set of settings, over all games.

    Attributes:
        embedded: Whether the player is one of waybench's own.
        settings: The model's settings, as (name, value).
        groups: The group of each published setting that it has played.
        scores: The human-normalised score of each of these settings.
        raw: The score of each of these settings before it is normalised, as in Table 4.
        capabilities: The nine capability scores, by the formula's name.
        ranges: The 95 % interval of each of the nine capabilities, by the formula's name; None where it cannot be
            estimated.
    """

    model: str
    embedded: bool
    settings: tuple[tuple[str, Json], ...]
    groups: Mapping[str, RunKey]
    scores: Mapping[str, IntervalEstimate]
    raw: Mapping[str, IntervalEstimate]
    capabilities: Mapping[str, list[Capability]]
    ranges: Mapping[str, list[tuple[float, float] | None]]

    def to_json(self) -> dict[str, Json]:
        """Return the agent as JSON values."""
        return {
            "model": self.model,
            "embedded": self.embedded,
            "settings": dict(self.settings),
            "scores": {setting: asdict(mean) for setting, mean in self.scores.items()},
            "raw": {setting: asdict(mean) for setting, mean in self.raw.items()},
            "capabilities": {
                formula: [
                    {**asdict(capability), "shares": capability.shares, "range": ends}
                    for capability, ends in zip(capabilities, self.ranges[formula], strict=True)
                ]
                for formula, capabilities in self.capabilities.items()
            },
        }


def agents_of_rows(all_rows: Iterable[Row]) -> list[Agent]:
    """Return an agent for every model that played published settings with human scores.

    Models come before reference players, those with lost attempts after the others, and among these the greatest sum of
    scores first. Groups with different options, those of the prompt included, are separate agents. Where the same
    setting was played with several sets of items, the largest set counts.
    """
    rows = [row for row in all_rows if row.setting in HUMANS]
    agents: list[Agent] = []
    agent_key = cache(_agent_key)  # there are far fewer groups than rows
    for (model, embedded, settings), agent_rows in group_by(rows, lambda row: agent_key(row.group)).items():
        by_setting: dict[str, HumanScore] = {}
        for (setting, group), setting_rows in group_by(agent_rows, lambda row: (row.setting, row.group)).items():
            score = _human_score(group, setting_rows)
            if score is not None and (setting not in by_setting or by_setting[setting].mean.n < score.mean.n):
                by_setting[setting] = score
        if by_setting:
            scores = {setting: by_setting[setting] for setting in RECORDED if setting in by_setting}
            values = {setting: score.mean.value for setting, score in scores.items()}
            capabilities = {formula: capability_scores(values, formula) for formula in FORMULAS}
            ranges = {
                formula: [_capability_interval(capability, scores, formula) for capability in nine_capabilities]
                for formula, nine_capabilities in capabilities.items()
            }
            groups = {setting: score.group for setting, score in scores.items()}
            means = {setting: score.mean for setting, score in scores.items()}
            raw = {setting: score.raw for setting, score in scores.items()}
            agents.append(Agent(model, embedded, settings, groups, means, raw, capabilities, ranges))

    def agent_sort_key(agent: Agent) -> tuple[bool, bool, float, str]:
        means = agent.scores.values()
        return agent.embedded, any(mean.lost for mean in means), -fsum(mean.value for mean in means), agent.model

    return sorted(agents, key=agent_sort_key)


def _agent_key(group: RunKey) -> tuple[str, bool, tuple[tuple[str, Json], ...]]:
    """Return the model, whether it is embedded, and the settings that all groups of one agent share."""
    defaults = {option.name: option.default for option in environment_options(group.env)}
    settings = [
        (name, value)
        for name, value in group.options
        if name in _COMMON_OPTIONS or name not in defaults or (name not in _OWN_OPTIONS and value != defaults[name])
    ]
    return group.model, group.embedded, tuple(sorted(settings, key=lambda pair: pair[0]))


class HumanScore(NamedTuple):
    """The human-normalised score of one setting.

    Attributes:
        mean: The score, with its interval within the bounds.
        error: Its standard error; None where the items do not tell.
        bounds: The least and the greatest score possible.
        raw: The score before it is normalised.
    """

    group: RunKey
    mean: IntervalEstimate
    error: RobustMean | None
    bounds: Range
    raw: IntervalEstimate


def _human_score(group: RunKey, rows: Sequence[Row]) -> HumanScore | None:
    """Return a group's human-normalised score, from the mean of single attempts at each item; None if undefined."""
    headline = group.environment.scoring.metrics[0]
    metrics = [with_observed_bounds(metric, rows) for metric in group.environment.scoring.metrics]
    human = next(metric for metric in metrics if metric.name == HUMAN)

    def mean_human_score(items: Items) -> IntervalEstimate | None:
        return metric_values(items, headline, human).mean(human.interval_bounds)

    items = group_by_item(rows)
    values, raw_values = (metric_values(items, headline, metric).values for metric in (human, headline))
    raw = ItemValues({key: raw_values[key] for key in values}, None).mean(metrics[0].interval_bounds)
    mean, lost = mean_human_score(items), lost_rows(rows, metrics, best_of=False)
    if mean is None or raw is None:
        return None
    if lost is not None:
        mean = replace(mean, lost=lost.lost_attempts_of_item_mean(mean_human_score, [human]))
    error = clustered_error(list(values.values()), [key.cluster for key in values])
    return HumanScore(group, mean, error, human.bounds, raw)


def _capability_interval(
    capability: Capability, scores: Mapping[str, HumanScore], formula: str
) -> tuple[float, float] | None:
    """Return the 95 % interval of a capability, a weighted mean of independent means.

    The errors of independent means add in squares, and Student's t has the degrees of freedom of Welch and
    Satterthwaite (Biometrics Bulletin 2, 1946). The interval is cut at the capabilities of the games' least and
    greatest scores. None if a game's error is not known, and below six clusters in all.

    In a capped formula a score whose interval is wholly beyond 0 or 1 adds no error; the interval is cut at 0 and 1.
    """
    if capability.value is None:
        return None
    weights, is_capped = capability_weights(capability.name, formula, capability.games), FORMULAS[formula].capped
    if sum(scores[game].mean.clusters for game in weights) < FEWEST_CLUSTERS:
        return None
    total_weight, variance, freedom_sum = fsum(weights.values()), 0.0, 0.0
    for game, weight in weights.items():
        error = scores[game].error
        if error is None:
            return None
        half_width = _critical_t(error.freedom) * error.error
        if is_capped and (error.value - half_width >= 1 or error.value + half_width <= 0):
            continue
        game_variance = (weight / total_weight * error.error) ** 2
        variance += game_variance
        freedom_sum += game_variance**2 / error.freedom
    half_width = _critical_t(variance**2 / freedom_sum) * sqrt(variance) if variance else 0.0
    least, greatest = (0.0, 1.0) if is_capped else (_capability_bound(weights, scores, side) for side in (0, 1))
    low, high = capability.value - half_width, capability.value + half_width
    return low if least is None else max(low, least), high if greatest is None else min(high, greatest)


def _capability_bound(weights: Mapping[str, int], scores: Mapping[str, HumanScore], side: int) -> float | None:
    """Return the capability if every game had its least (side 0) or greatest (1) score; None if one is unbounded."""
    bounds = [bound * weight for game, weight in weights.items() if (bound := scores[game].bounds[side]) is not None]
    return sum(bounds) / sum(weights.values()) if len(bounds) == len(weights) else None


def _critical_t(freedom: float) -> float:
    """Return the critical value of Student's t for the ends of a 95 % interval."""
    return t_quantile((1 - CONFIDENCE) / 2, freedom)

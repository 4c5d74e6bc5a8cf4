"""Models as agents: their human-normalised scores at published settings, and the nine capabilities (SmartPlay)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import fsum, sqrt
from typing import NamedTuple

from waybench.core import Json, Metric, Range
from waybench.envs import registry
from waybench.envs.smartplay import FORMULAS, HUMANS, RECORDED, Capability, capability_scores, capability_weights
from waybench.results.estimates._bounds import Items, lost_rows
from waybench.results.results import Group, Row, at_items, declared, grouped, item_values, over
from waybench.results.stats import CONFIDENCE, Mean, RobustMean, clustered_error, clustered_mean, t_quantile

HUMAN = "human"  # the metric that is the human-normalised score
_SAME = ("protocol", "wording")  # what all settings of one agent have in common
_OWN = ("setting", "steps")  # what the settings differ in; with other steps than as published there is no score


@dataclass(frozen=True, slots=True)
class Agent:
    """A model with one set of settings, over all games.

    Attributes:
        model: The model.
        embedded: Whether the player is one of waybench's own.
        settings: The model's settings, as (name, value).
        groups: For each published setting that it has played the group of that.
        scores: For each of these the human-normalised score.
        raw: For each of these the score itself, as in Table 4.
        capabilities: By the formula's name the nine scores.
        ranges: By the formula's name the 95 % interval of each of the nine; None where it cannot be estimated.
    """

    model: str
    embedded: bool
    settings: tuple[tuple[str, Json], ...]
    groups: Mapping[str, Group]
    scores: Mapping[str, Mean]
    raw: Mapping[str, Mean]
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
                    {**asdict(each), "shares": each.shares, "range": ends}
                    for each, ends in zip(found, self.ranges[formula], strict=True)
                ]
                for formula, found in self.capabilities.items()
            },
        }


def agents(all_rows: Iterable[Row]) -> list[Agent]:
    """Return every model that has played published settings with human scores; the best agents first, models before.

    Groups with different options, those of the prompt included, are separate agents. Where the same setting was played
    with several sets of items, the largest set counts.
    """
    known = [row for row in all_rows if row.setting in HUMANS]
    found: list[Agent] = []
    agent_key = cache(_agent_key)  # there are far fewer groups than rows
    for (model, embedded, settings), own in grouped(known, lambda row: agent_key(row.group)).items():
        by_setting: dict[str, tuple[Group, HumanScore]] = {}
        for (setting, group), some in grouped(own, lambda row: (row.setting, row.group)).items():
            human = _human(some)
            if human is not None and (setting not in by_setting or by_setting[setting][1].mean.n < human.mean.n):
                by_setting[setting] = (group, human)
        if by_setting:
            ordered = {setting: by_setting[setting] for setting in RECORDED if setting in by_setting}
            found.append(_built(model, embedded, settings, ordered))
    return sorted(found, key=lambda agent: (agent.embedded, _lacks_attempts(agent), -_merit(agent), agent.model))


def _agent_key(group: Group) -> tuple[str, bool, tuple[tuple[str, Json], ...]]:
    """Return what the groups of one agent have in common."""
    defaults = {option.name: option.default for option in declared(group.env)}
    settings = [
        (name, value)
        for name, value in group.options
        if name in _SAME or name not in defaults or (name not in _OWN and value != defaults[name])
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

    mean: Mean
    error: RobustMean | None
    bounds: Range
    raw: Mean


def _human(some: Sequence[Row]) -> HumanScore | None:
    """Return the human-normalised score of one setting; that of a single attempt, by item."""
    items = at_items(some)
    if not items:
        return None
    first = next(iter(items.values()))[0]
    metrics = registry.load(first.group.env).scoring.metrics
    found = item_values(items, metrics[0], lambda row: row.metrics.get(HUMAN))
    own_scores = item_values(items, metrics[0], lambda row: row.metrics.get(metrics[0].name))
    values, clusters = list(found.values()), [key.cluster for key in found]
    scaled = over(next(metric for metric in metrics if metric.name == HUMAN), some)
    mean = clustered_mean(values, clusters, *scaled.interval_bounds)
    lost = lost_rows(some, [over(metric, some) for metric in metrics], best_of=False)
    if mean is not None and lost is not None:
        mean = replace(mean, lost=lost.attempts(lambda filled: _single(filled, metrics[0], scaled), [scaled]))
    raw = clustered_mean([own_scores[key] for key in found], clusters, *over(metrics[0], some).interval_bounds)
    if mean is None or raw is None:
        return None
    return HumanScore(mean, clustered_error(values, clusters), scaled.bounds, raw)


def _single(items: Items, head: Metric, metric: Metric) -> Mean | None:
    values = item_values(items, head, lambda row: row.metrics.get(metric.name))
    return clustered_mean(list(values.values()), [key.cluster for key in values], *metric.interval_bounds)


def _built(
    model: str, embedded: bool, settings: tuple[tuple[str, Json], ...], found: Mapping[str, tuple[Group, HumanScore]]
) -> Agent:
    humans = {setting: human for setting, (_, human) in found.items()}
    scores = {setting: human.mean for setting, human in humans.items()}
    values = {setting: mean.value for setting, mean in scores.items()}
    capabilities = {formula: capability_scores(values, formula) for formula in FORMULAS}
    ranges = {formula: [_range(each, humans, formula) for each in nine] for formula, nine in capabilities.items()}
    groups = {setting: group for setting, (group, _) in found.items()}
    raw = {setting: human.raw for setting, human in humans.items()}
    return Agent(model, embedded, settings, groups, scores, raw, capabilities, ranges)


def _range(capability: Capability, scores: Mapping[str, HumanScore], formula: str) -> tuple[float, float] | None:
    """Return the interval of a capability: of a weighted mean of independent means.

    The errors of independent means add in squares, and Student's t has the degrees of freedom of Welch and
    Satterthwaite (Biometrics Bulletin 2, 1946). It is cut at what the games' least and greatest scores come to. None if
    a game's error is not known.

    In a capped form a score whose interval is wholly beyond 0 or 1 has no error, every other one all of its own, and
    the interval ends at 0 and at 1.
    """
    if capability.value is None:
        return None
    weighted, capped = capability_weights(capability.name, formula, capability.games), FORMULAS[formula].capped
    total, squares, freedom = fsum(weighted.values()), 0.0, 0.0
    for game, weight in weighted.items():
        found = scores[game].error
        if found is None:
            return None
        reach = _reach(found.freedom) * found.error
        if capped and (found.value - reach >= 1 or found.value + reach <= 0):
            continue
        square = (weight / total * found.error) ** 2
        squares += square
        freedom += square**2 / found.freedom
    half = _reach(squares**2 / freedom) * sqrt(squares) if squares else 0.0
    least, greatest = (0.0, 1.0) if capped else (_weighted_end(weighted, scores, side) for side in (0, 1))
    low, high = capability.value - half, capability.value + half
    return low if least is None else max(low, least), high if greatest is None else min(high, greatest)


def _weighted_end(weights: Mapping[str, int], scores: Mapping[str, HumanScore], side: int) -> float | None:
    """Return the capabilities of the games' least (0) or greatest (1) scores; None if one has no such end."""
    ends = [(scores[game].bounds[side], weight) for game, weight in weights.items()]
    known = [(end, weight) for end, weight in ends if end is not None]
    return sum(end * weight for end, weight in known) / sum(weights.values()) if len(known) == len(ends) else None


def _reach(freedom: float) -> float:
    """Return how many standard errors an interval goes to each side."""
    return t_quantile((1 - CONFIDENCE) / 2, freedom)


def _merit(agent: Agent) -> float:
    return fsum(mean.value for mean in agent.scores.values())


def _lacks_attempts(agent: Agent) -> bool:
    return any(mean.lost for mean in agent.scores.values())

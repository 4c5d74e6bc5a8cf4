"""Effects of an agent around a model on its score, and what the agent costs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from waybench.core import AGENT, Json, short_count
from waybench.envs import registry
from waybench.results.comparisons._comparison import (
    GROUP,
    Effect,
    EffectKind,
    adjust_effects,
    compare,
    comparison_columns,
    metric_and_item_columns,
)
from waybench.results.comparisons._item_scores import scores_from_values, without_option
from waybench.results.formatting import align_columns, difference_text, mean_text, metric_with_direction, one_line
from waybench.results.frames import Column
from waybench.results.results import (
    LONGEST,
    ItemKey,
    Row,
    RunKey,
    group_by,
    group_by_item,
    item_values,
    metric_values,
    with_observed_bounds,
)

_MILLION = 10**6
_PAIR: Mapping[str, Json] = {"items": {"type": "number"}, "minItems": 2, "maxItems": 2}


class SpentTexts(NamedTuple):
    """Mean costs of an attempt as texts."""

    with_agent: str
    bare: str


def _spending_columns(unit: str, per: str, *, in_dollars: bool) -> tuple[Column[Any], ...]:
    """Return the table's columns of costs and gains of agents, in dollars or in tokens."""

    def column(name: str, heading: str, text: "Callable[[AgentEffect], str]") -> Column[Any]:
        return Column(f"{name}_{unit}", float, "", only="table", heading=heading, text=text)

    return (
        column("bare", f"Bare, {unit}", lambda effect: effect.spent_texts(in_dollars=in_dollars).bare),
        column("agent", f"Agent, {unit}", lambda effect: effect.spent_texts(in_dollars=in_dollars).with_agent),
        column("gain", f"Gain per {per}", lambda effect: effect.gain_text(in_dollars=in_dollars)),
    )


_AGENTS = EffectKind(
    name="agent_effects",
    doc="One model with an agent around it beside the bare model, all else being the same; the headline metric.",
    columns=(
        GROUP,
        Column("agent", str, "The agent with its arguments.", heading="Agent"),
        *metric_and_item_columns("Items that both were given."),
        *comparison_columns(
            ("Mean over these items of what an attempt with the agent gives.", "Agent’s score"),
            ("bare_mean", "The same of the bare model.", "Bare"),
            "Mean of the items' values less the bare model's.",
            "agents",
        ),
        Column(
            "tokens",
            list,
            "Mean tokens of an attempt, with the agent and of the bare model; null if not known.",
            null=True,
            schema=_PAIR,
        ),
        Column("costs", list, "The same in dollars; null without prices.", null=True, schema=_PAIR),
        Column(
            "gain_per_dollar",
            float,
            "By how much an attempt is better for each dollar that it costs more; null if it costs no more.",
            null=True,
        ),
        Column("gain_per_million_tokens", float, "The same for each million tokens.", "gain_per_million", null=True),
        *_spending_columns("USD", "USD", in_dollars=True),
        *_spending_columns("tokens", "1M tokens", in_dollars=False),
    ),
    id="task-agents",
    title="Agents beside the bare model: the same {items}",
    caption="{metric} of the bare model and of the same model with an agent around it, at the {items} that both were "
    "given. The difference is that of the agent, with its paired {interval}. p is from a paired test, adjusted by "
    "Holm’s procedure over all agents; a difference is bold where p is below 0.05. Costs are means of an attempt over "
    "the same {items}. The gain is by how much an attempt is better for each {per} that it costs more.",
    table=(
        *("agent", "items", "bare_mean", "mean", "difference", "p_adjusted"),
        *("bare_{unit}", "agent_{unit}", "gain_{unit}"),
    ),
    words=lambda effects: (
        {"unit": "USD", "per": "USD"}
        if any(effect.costs for effect in effects)
        else {"unit": "tokens", "per": "1M tokens"}
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEffect(Effect):
    """The scores and costs of a model with an agent around it against those of the bare model.

    Attributes:
        tokens: Mean tokens of an attempt, input and output: with the agent, and of the bare model; None if not known.
        costs: The same in dollars; None without prices.
    """

    kind = _AGENTS
    tokens: tuple[float, float] | None
    costs: tuple[float, float] | None

    @property
    def group_without_option(self) -> RunKey:
        """The group of the bare model, since rows name the agent."""
        return self.reference

    @property
    def agent(self) -> str:
        """The agent with its arguments."""
        return str(dict(self.group.options)[AGENT])

    @property
    def gain(self) -> float:
        """How much better the mean is with the agent; below 0 if it is worse."""
        difference = self.comparison.difference.value
        return -difference if self.comparison.metric.better == "lower" else difference

    @property
    def gain_per_dollar(self) -> float | None:
        """The gain of an attempt per additional dollar; None if it costs no more, or costs are not known."""
        return _gain_per_unit(self.gain, self.costs, 1)

    @property
    def gain_per_million(self) -> float | None:
        """The gain of an attempt per million additional tokens; None if it takes no more, or they are not known."""
        return _gain_per_unit(self.gain, self.tokens, _MILLION)

    def spent_texts(self, *, in_dollars: bool) -> SpentTexts:
        """Return the mean cost of an attempt with and without the agent, as texts in dollars or tokens, or ""."""
        spent = self.costs if in_dollars else self.tokens
        if spent is None:
            return SpentTexts("", "")
        return SpentTexts(*(f"{value:,.4f}" if in_dollars else short_count(round(value)) for value in spent))

    def gain_text(self, *, in_dollars: bool) -> str:
        """Return the gain per dollar, or per million tokens, as text; "" if it is not known."""
        gain = self.gain_per_dollar if in_dollars else self.gain_per_million
        return "" if gain is None else f"{gain:+,.3g}".replace("-", "−")


def _gain_per_unit(gain: float, spent: tuple[float, float] | None, unit: int) -> float | None:
    """Return the gain per `unit` more spent with the agent than without; None if no more is spent."""
    if spent is None:
        return None
    with_agent, bare = spent
    return gain * unit / (with_agent - bare) if with_agent > bare else None


def agent_effects(all_rows: Iterable[Row]) -> list[AgentEffect]:
    """Return the effect of each agent on each model that was also run without one, all else being the same.

    Left out are episodes with a teacher, those of searches, and environments whose headline is a ratio (`Metric.per`).
    """
    by_group = group_by((row for row in all_rows if not row.guided and not row.adaptive), lambda row: row.group)
    effects = (_agent_effect(group, bare, by_group) for group, bare in without_option(by_group, AGENT).items())
    return adjust_effects(effect for effect in effects if effect)


def _agent_effect(group: RunKey, bare: RunKey, by_group: Mapping[RunKey, Sequence[Row]]) -> AgentEffect | None:
    """Compare a group with an agent to the bare model's; None without common items.

    None, too, for a share of several things, such as steps: an item has no such score.
    """
    metric = with_observed_bounds(group.environment.scoring.metrics[0], (*by_group[group], *by_group[bare]))
    if metric.per is not None:
        return None
    items_of_sides = group_by_item(by_group[group]), group_by_item(by_group[bare])
    first, second = (
        scores_from_values(side, metric, metric_values(items, metric, metric).values)
        for side, items in zip((group, bare), items_of_sides, strict=True)
    )
    comparison = compare(first, second, AGENT, metric=metric)
    if comparison is None:
        return None

    def mean_spent(spent_in: Callable[[Row], float | None]) -> tuple[float, float] | None:
        """Return the mean of a cost over the common items, with the agent and without; None if one is not known."""
        means: list[float] = []
        for items in items_of_sides:
            values: Mapping[ItemKey, float] = item_values(items, metric, spent_in)
            if any(key not in values for key in comparison.keys):
                return None
            means.append(fmean(values[key] for key in comparison.keys))
        return means[0], means[1]

    return AgentEffect(
        comparison=comparison, tokens=mean_spent(lambda row: row.tokens), costs=mean_spent(lambda row: row.cost)
    )


def agent_effects_text(all_rows: Iterable[Row]) -> str:
    """Return the effects of agents as aligned tables of plain text, one for each environment; "" if there are none."""
    by_env = group_by(agent_effects(all_rows), lambda effect: effect.group.env)
    return "\n\n".join(align_columns(*_agent_lines(env_id, effects)) for env_id, effects in by_env.items())


def _agent_lines(env_id: str, effects: Sequence[AgentEffect]) -> tuple[list[list[str]], list[str]]:
    """Return the cells of the table of agents, and the kind of each line for `align_columns`."""
    env = registry.load(env_id)
    metric = env.scoring.metrics[0]
    score = metric_with_direction(metric)
    in_dollars = any(effect.costs for effect in effects)
    cost, gain = ("USD", "gain per USD") if in_dollars else ("tokens", "gain per 1M tokens")
    lines = [[f"{env.title}: agents beside the bare model", "items", score, "against bare", "p (Holm)", cost, gain]]
    kinds = [""]
    for number, effect in enumerate(effects):
        comparison, spent = effect.comparison, effect.spent_texts(in_dollars=in_dollars)
        name, items = one_line(effect.group.model, LONGEST), str(comparison.items)
        bare_score = mean_text(comparison.second_mean.value, metric)
        lines.append([f"{name}, bare", items, bare_score, "", "", spent.bare, ""])
        change = [difference_text(comparison.difference, metric), comparison.p_text]
        agent_score, gained = mean_text(comparison.first_mean.value, metric), effect.gain_text(in_dollars=in_dollars)
        agent_name = f"{name}, {one_line(effect.agent, LONGEST)}"
        lines.append([agent_name, items, agent_score, *change, spent.with_agent, gained])
        kinds += [str(number)] * 2  # a rule after each pair of lines
    return lines, kinds

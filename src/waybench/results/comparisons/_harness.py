"""The effect of an agent: a model with one around it beside the bare model on the same items, and its cost."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from waybench.core import AGENT, Json, short_count
from waybench.envs import registry
from waybench.results.comparisons._comparison import compare, tested
from waybench.results.comparisons._effect import GROUP, Effect, EffectKind, comparison_columns, metric_and_items
from waybench.results.comparisons._groups import without_option
from waybench.results.comparisons._item_scores import values_of
from waybench.results.comparisons._text import difference_text, p_text
from waybench.results.estimates import aligned
from waybench.results.formatting import better_text, mean_text, one_line
from waybench.results.frames import Column
from waybench.results.results import LONGEST, Group, ItemKey, Row, at_items, grouped, item_values, measured, over

_MILLION = 10**6


def _spending(unit: str, per: str, *, in_dollars: bool) -> tuple[Column[Any], ...]:
    """Return the columns of a table with its costs in dollars, or in tokens."""

    def column(name: str, heading: str, text: "Callable[[AgentEffect], str]") -> Column[Any]:
        return Column(f"{name}_{unit}", float, "", only="table", heading=heading, text=text)

    return (
        column("bare", f"Bare, {unit}", lambda effect: effect.spent_texts(in_dollars=in_dollars)[1]),
        column("agent", f"Agent, {unit}", lambda effect: effect.spent_texts(in_dollars=in_dollars)[0]),
        column("gain", f"Gain per {per}", lambda effect: effect.gain_text(in_dollars=in_dollars)),
    )


def _words(effects: Sequence["AgentEffect"]) -> dict[str, str]:
    in_dollars = any(effect.costs for effect in effects)
    return {"unit": "USD", "per": "USD"} if in_dollars else {"unit": "tokens", "per": "1M tokens"}


_PAIR: Mapping[str, Json] = {"items": {"type": "number"}, "minItems": 2, "maxItems": 2}
_KIND = EffectKind(
    name="agent_effects",
    doc="One model with an agent around it beside the bare model, all else being the same; the headline metric.",
    columns=(
        GROUP,
        Column("agent", str, "The agent with its arguments.", heading="Agent"),
        *metric_and_items("Items that both were given."),
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
        *_spending("USD", "USD", in_dollars=True),
        *_spending("tokens", "1M tokens", in_dollars=False),
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
    words=_words,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEffect(Effect):
    """What a model with an agent around it scores and costs beside the bare model.

    Attributes:
        comparison: The comparison at the items that both were given; the first side is the agent.
        tokens: Mean tokens of an attempt, input and output: with the agent, and of the bare model; None if not known.
        costs: The same in dollars; None without prices.
    """

    kind = _KIND
    tokens: tuple[float, float] | None
    costs: tuple[float, float] | None

    @property
    def label_group(self) -> Group:
        """The group of the bare model: its row names the agent."""
        return self.reference

    @property
    def agent(self) -> str:
        """The agent with its arguments."""
        return str(dict(self.group.options)[AGENT])

    @property
    def gain(self) -> float:
        """By how much the mean with the agent is better; below 0 if it is worse."""
        difference = self.comparison.difference.value
        return -difference if self.comparison.metric.better == "lower" else difference

    @property
    def gain_per_dollar(self) -> float | None:
        """The gain of an attempt for each dollar that it costs more; None if it costs no more, or is not known."""
        return _per(self.gain, self.costs, 1)

    @property
    def gain_per_million(self) -> float | None:
        """The gain of an attempt for each million tokens that it takes more; None likewise."""
        return _per(self.gain, self.tokens, _MILLION)

    def spent_texts(self, *, in_dollars: bool) -> tuple[str, str]:
        """Return the costs of an attempt in words, with the agent and of the bare model; empty if not known."""
        spent = self.costs if in_dollars else self.tokens
        if spent is None:
            return "", ""
        first, second = (f"{value:,.4f}" if in_dollars else short_count(round(value)) for value in spent)
        return first, second

    def gain_text(self, *, in_dollars: bool) -> str:
        """Return the gain for each dollar, or million tokens, in words; "" if it is not known."""
        gain = self.gain_per_dollar if in_dollars else self.gain_per_million
        return "" if gain is None else f"{gain:+,.3g}".replace("-", "−")


def _per(gain: float, spent: tuple[float, float] | None, unit: int) -> float | None:
    if spent is None or spent[0] <= spent[1]:
        return None
    return gain * unit / (spent[0] - spent[1])


def agent_effects(all_rows: Iterable[Row]) -> list[AgentEffect]:
    """Return the effect of each agent on each model that was also run without one, all else being the same.

    Episodes with a teacher are left out, those of searches, and environments whose headline is a share of something.

    Args:
        all_rows: The rows.
    """
    own = grouped((row for row in all_rows if not row.guided and not row.adaptive), lambda row: row.group)
    effects = (_effect(group, bare, own) for group, bare in without_option(own, AGENT).items())
    return tested(effect for effect in effects if effect)


def _effect(group: Group, bare: Group, own: Mapping[Group, Sequence[Row]]) -> AgentEffect | None:
    metric = over(registry.load(group.env).scoring.metrics[0], (*own[group], *own[bare]))
    if metric.per is not None:
        return None
    items = at_items(own[group]), at_items(own[bare])
    first, second = (
        values_of(who, metric, measured(each, metric, metric).values)
        for who, each in zip((group, bare), items, strict=True)
    )
    comparison = compare(first, second, AGENT, metric=metric)
    if comparison is None:
        return None

    def spent(of: Callable[[Row], float | None]) -> tuple[float, float] | None:
        means: list[float] = []
        for each in items:
            known: Mapping[ItemKey, float] = item_values(each, metric, of)
            if any(key not in known for key in comparison.keys):
                return None
            means.append(fmean(known[key] for key in comparison.keys))
        return means[0], means[1]

    return AgentEffect(comparison=comparison, tokens=spent(lambda row: row.tokens), costs=spent(lambda row: row.cost))


def agent_table(all_rows: Iterable[Row]) -> str:
    """Return the effects of agents as aligned tables of plain text, one for each environment; "" if there are none.

    Args:
        all_rows: The rows.
    """
    by_env = grouped(agent_effects(all_rows), lambda each: each.group.env)
    return "\n\n".join(aligned(*_lines(env_id, some)) for env_id, some in by_env.items())


def _lines(env_id: str, some: Sequence[AgentEffect]) -> tuple[list[list[str]], list[str]]:
    env = registry.load(env_id)
    metric = env.scoring.metrics[0]
    what = ", ".join(part for part in (metric.title, better_text(metric)) if part)
    in_dollars = any(each.costs for each in some)
    cost, gain = ("USD", "gain per USD") if in_dollars else ("tokens", "gain per 1M tokens")
    lines = [[f"{env.title}: agents beside the bare model", "items", what, "against bare", "p (Holm)", cost, gain]]
    marks = [""]
    for number, each in enumerate(some):
        one, costs = each.comparison, each.spent_texts(in_dollars=in_dollars)
        name, items = one_line(each.group.model, LONGEST), str(one.items)
        lines.append([f"{name}, bare", items, mean_text(one.second_mean.value, metric), "", "", costs[1], ""])
        change = [difference_text(one.difference, metric), p_text(one.adjusted)]
        with_agent = mean_text(one.first_mean.value, metric)
        gained = each.gain_text(in_dollars=in_dollars)
        lines.append([f"{name}, {one_line(each.agent, LONGEST)}", items, with_agent, *change, costs[0], gained])
        marks += [str(number)] * 2
    return lines, marks

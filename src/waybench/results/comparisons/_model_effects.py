"""Effects of a model's settings, and of an agent around it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, ClassVar, NamedTuple

from waybench.core import AGENT, Json, Metric, plural, short_count
from waybench.envs import registry
from waybench.results.comparisons._comparison import (
    GROUP,
    NOT_ADJUSTED,
    Comparison,
    Effect,
    EffectKind,
    adjust_effects,
    compare,
    comparison_columns,
    metric_and_item_columns,
)
from waybench.results.comparisons._item_scores import match_groups, scores_from_values, without_option
from waybench.results.estimates import total_if_known
from waybench.results.formatting import align_columns, better_text, difference_text, mean_text, one_line
from waybench.results.frames import Column, column_json, group_id
from waybench.results.logs._settings import SERVER
from waybench.results.results import (
    LONGEST,
    ItemKey,
    Row,
    RunKey,
    count_items,
    group_by,
    group_by_item,
    item_values,
    metric_values,
    model_settings,
    setting_sort_key,
    setting_text,
    with_observed_bounds,
)
from waybench.results.stats import IntervalEstimate

EFFECT, NO_EFFECT, UNCLEAR = "effect", "no effect", "cannot tell"  # verdicts
FEWEST_CLUSTERS = 10  # below which "no effect" is never concluded
TIGHT = 0.1  # a change in tokens is none if its whole interval is within this of 0
# Settings whose purpose is to change the number of tokens; of others, such as a seed, the same number says nothing.
_OF_AMOUNT = ("reasoning_effort", "effort", "reasoning_tokens", "reasoning_mode", "verbosity", "max_tokens")


_SETTINGS = EffectKind(
    name="effects",
    doc="One row for each pair of values of a model setting, on the same items with all other settings equal: whether "
    "the setting has an effect. The group is the one with the second value.",
    columns=(
        Column("other", str, "The group with the first value.", lambda effect: group_id(effect.first), only="frame"),
        Column("name", str, "The setting."),
        Column("first", str, "The first value, as shown.", lambda effect: effect.values[0], only="frame"),
        Column("second", str, "The second value, as shown.", lambda effect: effect.values[1], only="frame"),
        Column("items", int, "Items with an attempt in both.", schema={"minimum": 1}),
        Column("clusters", int, "Number of independent clusters of these items.", schema={"minimum": 1}),
        Column("same", int, "Items at which all replies are identical."),
        Column(
            "counted",
            str,
            "The tokens that were compared: reasoning where both have some at all items, otherwise output.",
            schema={"enum": ["reasoning", "output"]},
        ),
        Column(
            "change",
            IntervalEstimate,
            "Relative change in tokens from the first value to the second: 0.1 is 10 % more. Null if not known.",
            null=True,
        ),
        Column(
            "p",
            float,
            "P value of the paired differences in tokens, by a t test over clusters; null if tokens are not known.",
            null=True,
        ),
        Column(
            "p_adjusted",
            float,
            f"The same by Holm's procedure, over all values' pairs; {NOT_ADJUSTED}.",
            "adjusted",
            key="adjusted",
            null=True,
        ),
        Column(
            "verdict",
            str,
            "effect: the tokens differ; no effect: all replies are identical, or the interval of the change is within "
            "10 %, at ten clusters or more; otherwise cannot tell.",
            schema={"enum": [EFFECT, NO_EFFECT, UNCLEAR]},
        ),
        Column("told", str, "The conclusion as a sentence.", "text", only="json"),
    ),
)

_TOKENS = Metric(name="tokens", of=lambda record: None, title="Tokens", doc="Tokens of the replies.", low=0)
_MILLION = 10**6
_PAIR: Mapping[str, Json] = {"items": {"type": "number"}, "minItems": 2, "maxItems": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingEffect:
    """The effect of one setting: two of its values on the same items, all else being the same.

    Its columns describe its fields. The first group has the lesser value where values have an order; a default comes
    first. The comparison is that of the second group's tokens with the first group's; None if they are not known.
    """

    kind: ClassVar[EffectKind] = _SETTINGS
    first: RunKey
    second: RunKey
    name: str
    items: int
    clusters: int
    same: int
    counted: str
    comparison: Comparison | None

    @property
    def group(self) -> RunKey:
        """The group with the second value."""
        return self.second

    @property
    def change(self) -> IntervalEstimate | None:
        """The relative difference in tokens, 0.1 being 10 % more; None if tokens are not known."""
        return self.comparison and self.comparison.relative_difference

    @property
    def p(self) -> float | None:
        """P value of Student's t test of the paired differences in tokens; None if tokens are not known."""
        return self.comparison and self.comparison.test.p

    @property
    def adjusted(self) -> float | None:
        """The p value, adjusted (Holm) for all pairs of values of this setting with all else equal.

        None if tokens are not known, or no result could have shown an effect.
        """
        return self.comparison and self.comparison.adjusted

    @property
    def verdict(self) -> str:
        """The conclusion: "effect", "no effect" or "cannot tell"; see `setting_effects`."""
        if self.comparison and self.comparison.is_shown:
            return EFFECT
        if self.clusters < FEWEST_CLUSTERS:
            return UNCLEAR
        if self.same == self.items:
            return NO_EFFECT
        change = self.change
        if self.name not in _OF_AMOUNT or change is None:
            return UNCLEAR
        low, high = (change.value if end is None else end for end in (change.low, change.high))
        return NO_EFFECT if low >= -TIGHT and high <= TIGHT else UNCLEAR

    @property
    def values(self) -> tuple[str, str]:
        """Both values with the setting's name: "reasoning effort: low" and "reasoning effort: high"."""
        first, second = (
            setting_text(self.name, dict(group.options).get(self.name)) for group in (self.first, self.second)
        )
        return first, second

    @property
    def text(self) -> str:
        """The observation as a sentence: "no effect seen: identical replies on 40 of 40 items"."""
        replies = f"identical replies on {self.same} of {plural(self.items, 'item')}"
        if self.verdict == NO_EFFECT:
            return f"no effect seen: {replies if self.same == self.items else self.change_text}"
        seen = self.change_text or replies
        return seen if self.verdict == EFFECT else f"cannot tell: {seen}"

    @property
    def change_text(self) -> str:
        """The change in tokens as a sentence: "reasoning tokens differ by −2 to +3 %"; "" if they are not known."""
        if self.change is None:
            return ""
        value, low, high = self.change.value, self.change.low, self.change.high
        ends = (value,) if low is None or high is None else (low, high)
        return f"{self.counted} tokens differ by {' to '.join(map(share_text, ends))} %"

    def to_json(self) -> dict[str, Json]:
        """Return the effect as JSON values, without its groups."""
        return column_json(self.kind.columns, self)


def share_text(share: float) -> str:
    """Return a change in per cent, without the percent sign: "+3", "−0.4", "0"."""
    text = f"{100 * share:+,.{0 if abs(share) >= 0.0995 else 1}f}".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else "0"


def setting_effects(all_rows: Iterable[Row]) -> list[SettingEffect]:
    """Return the effect of each setting of the models, for any two values of it that were run.

    Groups are compared that differ in nothing else, at the attempts that both have. Verdicts:

    * "effect": the numbers of tokens differ: the p value of Student's t test of the items' differences,
      adjusted by Holm's procedure for all pairs of values, is below 0.05;
    * "no effect": otherwise, where there are at least ten clusters, and either all replies are the same, or the setting
      is one whose purpose is to change tokens and the 95 % interval of the change is within 10 % of none (two
      one-sided tests in one; Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987);
    * "cannot tell": all else.

    An effect on tokens is no effect on results, and replies may differ by chance alone.
    """
    items = {group: group_by_item(rows) for group, rows in group_by(all_rows, lambda row: row.group).items()}
    names = dict.fromkeys(name for group in items for name in model_settings(group) if name != SERVER)
    effects: list[SettingEffect] = []
    for name in names:
        for number, groups in enumerate(match_groups(items, name)):
            in_order = sorted(groups, key=lambda group, name=name: setting_sort_key(dict(group.options).get(name)))
            pairs = (_setting_effect(name, first, second, items, number) for first, second in combinations(in_order, 2))
            effects += [effect for effect in pairs if effect is not None]
    return adjust_effects(effects)


class _Pair(NamedTuple):
    """One item: sums over the attempts that both groups have, of the first group and of the second."""

    same: bool
    output: tuple[float, float] | None
    reasoning: tuple[float, float] | None


def _setting_effect(
    name: str,
    first: RunKey,
    second: RunKey,
    items_of_group: Mapping[RunKey, Mapping[ItemKey, Sequence[Row]]],
    number: int,
) -> SettingEffect | None:
    """Return the effect of a setting between two groups; None without common attempts. `number` is its family."""
    pairs: dict[ItemKey, _Pair] = {}
    for key, attempts in items_of_group[first].items():
        by_attempt = {row.attempt: row for row in items_of_group[second].get(key, ())}
        both = [(row, by_attempt[row.attempt]) for row in attempts if row.attempt in by_attempt]
        if both and not any(row.guided for rows in both for row in rows):
            pairs[key] = _pair_attempts(both)
    if not pairs:
        return None
    reasoning = [pair.reasoning for pair in pairs.values()]
    use_reasoning = all(sums and min(sums) > 0 for sums in reasoning)
    counts = reasoning if use_reasoning else [pair.output for pair in pairs.values()]
    tokens = {key: sums for key, sums in zip(pairs, counts, strict=True) if sums and sums[0] > 0}
    before, after = (
        scores_from_values(group, _TOKENS, {key: sums[side] for key, sums in tokens.items()})
        for side, group in enumerate((first, second))
    )
    items = count_items(pairs)
    return SettingEffect(
        first=first,
        second=second,
        name=name,
        items=items,
        clusters=len({key.cluster for key in pairs}),
        same=items - count_items(key for key, pair in pairs.items() if not pair.same),
        counted="reasoning" if use_reasoning else "output",
        comparison=compare(after, before, name, keys=tokens, family=(name, number)),
    )


def _pair_attempts(both: Sequence[tuple[Row, Row]]) -> _Pair:
    """Return whether paired attempts have the same replies, and both sums of their tokens."""

    def token_sums(of: Callable[[Row], int | None]) -> tuple[float, float] | None:
        """Return both sums of a count of tokens; None if one is not known."""
        first, second = (total_if_known(of(rows[side]) for rows in both) for side in (0, 1))
        return None if first is None or second is None else (first, second)

    return _Pair(
        all(first.replies == second.replies for first, second in both),
        token_sums(lambda row: row.output_tokens),
        token_sums(lambda row: row.reasoning_tokens),
    )


def _spending_columns(unit: str, per: str, *, in_dollars: bool) -> tuple[Column[Any], ...]:
    """Return the columns of costs and gains of agents, in dollars or in tokens."""

    def column(name: str, heading: str, text: "Callable[[AgentEffect], str]") -> Column[Any]:
        return Column(f"{name}_{unit}", float, "", only="table", heading=heading, text=text)

    return (
        column("bare", f"Bare, {unit}", lambda effect: effect.spent_texts(in_dollars=in_dollars)[1]),
        column("agent", f"Agent, {unit}", lambda effect: effect.spent_texts(in_dollars=in_dollars)[0]),
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

    def spent_texts(self, *, in_dollars: bool) -> tuple[str, str]:
        """Return the cost of an attempt as text, with the agent and without; "" if not known."""
        spent = self.costs if in_dollars else self.tokens
        if spent is None:
            return "", ""
        first, second = (f"{value:,.4f}" if in_dollars else short_count(round(value)) for value in spent)
        return first, second

    def gain_text(self, *, in_dollars: bool) -> str:
        """Return the gain per dollar, or per million tokens, as text; "" if it is not known."""
        gain = self.gain_per_dollar if in_dollars else self.gain_per_million
        return "" if gain is None else f"{gain:+,.3g}".replace("-", "−")


def _gain_per_unit(gain: float, spent: tuple[float, float] | None, unit: int) -> float | None:
    """Return the gain per `unit` more spent with the agent than without; None if no more is spent."""
    if spent is None or spent[0] <= spent[1]:
        return None
    return gain * unit / (spent[0] - spent[1])


def agent_effects(all_rows: Iterable[Row]) -> list[AgentEffect]:
    """Return the effect of each agent on each model that was also run without one, all else being the same.

    Left out are episodes with a teacher, those of searches, and environments whose headline is a ratio (`Metric.per`).
    """
    by_group = group_by((row for row in all_rows if not row.guided and not row.adaptive), lambda row: row.group)
    effects = (_agent_effect(group, bare, by_group) for group, bare in without_option(by_group, AGENT).items())
    return adjust_effects(effect for effect in effects if effect)


def _agent_effect(group: RunKey, bare: RunKey, by_group: Mapping[RunKey, Sequence[Row]]) -> AgentEffect | None:
    """Compare a group with an agent to the bare model's; None without common items."""
    metric = with_observed_bounds(group.environment.scoring.metrics[0], (*by_group[group], *by_group[bare]))
    if metric.per is not None:
        return None
    items = group_by_item(by_group[group]), group_by_item(by_group[bare])
    first, second = (
        scores_from_values(who, metric, metric_values(side, metric, metric).values)
        for who, side in zip((group, bare), items, strict=True)
    )
    comparison = compare(first, second, AGENT, metric=metric)
    if comparison is None:
        return None

    def mean_spent(of: Callable[[Row], float | None]) -> tuple[float, float] | None:
        """Return the mean of a number over the common items, with the agent and without; None if one is not known."""
        means: list[float] = []
        for side in items:
            values: Mapping[ItemKey, float] = item_values(side, metric, of)
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
    what = ", ".join(part for part in (metric.title, better_text(metric)) if part)
    in_dollars = any(effect.costs for effect in effects)
    cost, gain = ("USD", "gain per USD") if in_dollars else ("tokens", "gain per 1M tokens")
    lines = [[f"{env.title}: agents beside the bare model", "items", what, "against bare", "p (Holm)", cost, gain]]
    marks = [""]
    for number, effect in enumerate(effects):
        comparison, costs = effect.comparison, effect.spent_texts(in_dollars=in_dollars)
        name, items = one_line(effect.group.model, LONGEST), str(comparison.items)
        lines.append([f"{name}, bare", items, mean_text(comparison.second_mean.value, metric), "", "", costs[1], ""])
        change = [difference_text(comparison.difference, metric), comparison.p_text]
        with_agent = mean_text(comparison.first_mean.value, metric)
        gained = effect.gain_text(in_dollars=in_dollars)
        lines.append([f"{name}, {one_line(effect.agent, LONGEST)}", items, with_agent, *change, costs[0], gained])
        marks += [str(number)] * 2
    return lines, marks

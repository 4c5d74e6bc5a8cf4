"""Effects of a model's settings on its tokens."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, NamedTuple

from waybench.core import Json, Metric, plural
from waybench.results.comparisons._comparison import (
    NOT_ADJUSTED,
    Comparison,
    EffectKind,
    adjust_effects,
    compare,
)
from waybench.results.comparisons._item_scores import match_groups, scores_from_values
from waybench.results.estimates import total_if_known
from waybench.results.frames import Column, column_json, group_id
from waybench.results.logs._settings import SERVER
from waybench.results.results import (
    ItemKey,
    Row,
    RunKey,
    count_items,
    group_by,
    group_by_item,
    model_settings,
    setting_sort_key,
    setting_text,
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
        return self.comparison and self.comparison.adjusted_p

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
        observation = self.change_text or replies
        return observation if self.verdict == EFFECT else f"cannot tell: {observation}"

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
    decimals = 0 if abs(share) >= 0.0995 else 1  # from 10 % on, rounded
    text = f"{100 * share:+,.{decimals}f}".replace("-", "−")
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
    """The attempts at an item that two groups both have: sums of tokens of the first and of the second group."""

    has_same_replies: bool
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
        row_pairs = [(row, by_attempt[row.attempt]) for row in attempts if row.attempt in by_attempt]
        if row_pairs and not any(row.guided for rows in row_pairs for row in rows):
            pairs[key] = _pair_attempts(row_pairs)
    if not pairs:
        return None
    use_reasoning = all(pair.reasoning and min(pair.reasoning) > 0 for pair in pairs.values())
    sums_by_item = {key: pair.reasoning if use_reasoning else pair.output for key, pair in pairs.items()}
    tokens = {key: sums for key, sums in sums_by_item.items() if sums and sums[0] > 0}
    first_scores, second_scores = (
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
        same=items - count_items(key for key, pair in pairs.items() if not pair.has_same_replies),
        counted="reasoning" if use_reasoning else "output",
        comparison=compare(second_scores, first_scores, name, keys=tokens, family=(name, number)),
    )


def _pair_attempts(row_pairs: Sequence[tuple[Row, Row]]) -> _Pair:
    """Return whether paired attempts have the same replies, and the sums of their tokens on both sides."""

    def token_sums(tokens_of: Callable[[Row], int | None]) -> tuple[float, float] | None:
        """Return the tokens of the first group's attempts and of the second's; None if a number is not known."""
        first_sum, second_sum = (total_if_known(tokens_of(rows[side]) for rows in row_pairs) for side in (0, 1))
        return None if first_sum is None or second_sum is None else (first_sum, second_sum)

    return _Pair(
        all(first.replies == second.replies for first, second in row_pairs),
        token_sums(lambda row: row.output_tokens),
        token_sums(lambda row: row.reasoning_tokens),
    )

"""Whether a setting of how a model was asked changed anything, such as its reasoning effort."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import NamedTuple

from waybench.analysis._frames import Fact, Frame, columns, group_columns, group_id, mean_facts
from waybench.analysis._items import ItemKey, at_items, count_items
from waybench.analysis._labels import asked, rest, setting, setting_order
from waybench.analysis._rows import Group, Row, grouped
from waybench.analysis.logs import SERVER
from waybench.core import Json, plural
from waybench.stats import Mean, clustered_mean, holm, sign_flipped

EFFECT, NO_EFFECT, UNCLEAR = "effect", "no effect", "cannot tell"  # verdicts
FEWEST_CLUSTERS = 10  # from which on it is said that nothing was changed
TIGHT = 0.1  # a change in tokens is none if its whole interval is within so much of nothing
LEVEL = 0.05  # of adjusted p values
# Settings that are there to move how many tokens are used; of others, such as a seed, the same number says nothing.
_OF_AMOUNT = ("reasoning_effort", "effort", "reasoning_tokens", "reasoning_mode", "verbosity", "max_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What two values of one setting change, on the same items and all else being the same.

    Attributes:
        first: The group with the one value, the lesser one where values have an order; a default comes first.
        second: The group with the other one.
        name: The setting's name.
        items: Items with an attempt in both.
        clusters: Number of independent clusters that they come from.
        same: Items at which all replies are the same, letter by letter.
        counted: What was counted: "reasoning" tokens where both have some at all items, otherwise "output" tokens.
        change: By what share of the first one's the second one's tokens differ, 0.1 being 10 % more, with the interval
            of a ratio; None if tokens are not known.
        p: P value of the tokens' paired differences, by flipping signs of clusters; None likewise.
        adjusted: The same, adjusted by Holm's procedure for all values of this setting that were compared.
        verdict: "effect", "no effect" or "cannot tell"; see `effects`.
    """

    first: Group
    second: Group
    name: str
    items: int
    clusters: int
    same: int
    counted: str
    change: Mean | None
    p: float | None
    adjusted: float | None
    verdict: str

    @property
    def values(self) -> tuple[str, str]:
        """The two values, in words: "reasoning effort: low" and "reasoning effort: high"."""
        one, other = (setting(self.name, dict(group.options).get(self.name)) for group in (self.first, self.second))
        return one, other

    @property
    def told(self) -> str:
        """What was seen, in words: "no effect seen: replies the same on 40 of 40 items"."""
        replies = f"replies the same on {self.same} of {plural(self.items, 'item')}"
        if self.verdict == NO_EFFECT:
            return f"no effect seen: {replies if self.same == self.items else self.tokens}"
        return f"{self.tokens or replies}" if self.verdict == EFFECT else f"cannot tell: {self.tokens or replies}"

    @property
    def tokens(self) -> str:
        """The change in tokens, in words: "reasoning tokens differ by −2 to +3 %"; "" if they are not known."""
        if self.change is None:
            return ""
        low, value, high = self.change.low, self.change.value, self.change.high
        if low is None or high is None:
            return f"{self.counted} tokens differ by {share_text(value)} %"
        return f"{self.counted} tokens differ by {share_text(low)} to {share_text(high)} %"

    def to_json(self) -> dict[str, Json]:
        """Return the effect as JSON values."""
        return {**asdict(self), "first": self.first.to_json(), "second": self.second.to_json(), "told": self.told}


def share_text(share: float) -> str:
    """Return a change in per cent, without the sign of it: "+3", "−0.4", "0"."""
    shown = f"{100 * share:+,.{0 if abs(share) >= 0.0995 else 1}f}".replace("-", "−")
    return shown if any(digit in shown for digit in "123456789") else "0"


def effects(all_rows: Iterable[Row]) -> list[Effect]:
    """Return what each setting of how models were asked changes, for any two values of it that were run.

    Compared are groups that differ in nothing else, at the attempts that both have. Verdicts:

    * "effect": the numbers of tokens differ, by a sign-flip permutation test of the items' differences, its p values
      adjusted by Holm's procedure for all pairs of values, below 0.05;
    * "no effect": otherwise, where there are at least ten clusters, and either all replies are the same, or the setting
      is one of those that are there to move tokens and the 95 % interval of the change is within 10 % of none (two
      one-sided tests in one; Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987);
    * "cannot tell": all else.

    An effect on tokens is none on results, and other replies may come of chance alone.
    """
    own = {group: at_items(some) for group, some in grouped(all_rows, lambda row: row.group).items()}
    names = dict.fromkeys(name for group in own for name in asked(group) if name != SERVER)
    found: list[Effect] = []
    for name in names:
        for some in grouped(own, lambda group, name=name: rest(group, name)).values():
            in_order = sorted(some, key=lambda group, name=name: setting_order(dict(group.options).get(name)))
            compared = [_effect(name, first, second, own) for first, second in combinations(in_order, 2)]
            found += _judged([each for each in compared if each is not None])
    return found


class _Pair(NamedTuple):
    """One item: sums over the attempts that both groups have."""

    key: ItemKey
    cluster: object
    same: bool
    output: tuple[float, float] | None
    reasoning: tuple[float, float] | None


def _effect(
    name: str, first: Group, second: Group, own: Mapping[Group, Mapping[ItemKey, Sequence[Row]]]
) -> Effect | None:
    found = [
        _pair(key, both)
        for key, item in own[first].items()
        if (both := _both(item, own[second].get(key, ()))) and not any(row.guided for pair in both for row in pair)
    ]
    if not found:
        return None
    reasoning = [pair.reasoning for pair in found]
    use_reasoning = all(sums and min(sums) > 0 for sums in reasoning)
    counts = reasoning if use_reasoning else [pair.output for pair in found]
    known = [(pair.cluster, sums) for pair, sums in zip(found, counts, strict=True) if sums and sums[0] > 0]
    clusters = [cluster for cluster, _ in known]
    ratio = clustered_mean(
        [after for _, (_, after) in known], clusters, 0.0, None, [before for _, (before, _) in known]
    )
    return Effect(
        first=first,
        second=second,
        name=name,
        items=(items := count_items(pair.key for pair in found)),
        clusters=len({pair.cluster for pair in found}),
        same=items - count_items(pair.key for pair in found if not pair.same),
        counted="reasoning" if use_reasoning else "output",
        change=None if ratio is None else _less_one(ratio),
        p=None if ratio is None else sign_flipped([after - before for _, (before, after) in known], clusters),
        adjusted=None,
        verdict=UNCLEAR,
    )


def _both(one: Sequence[Row], other: Sequence[Row]) -> list[tuple[Row, Row]]:
    by_attempt = {row.attempt: row for row in other}
    return [(row, by_attempt[row.attempt]) for row in one if row.attempt in by_attempt]


def _pair(key: ItemKey, both: Sequence[tuple[Row, Row]]) -> _Pair:
    def sums(of: Callable[[Row], int | None]) -> tuple[float, float] | None:
        each = [(of(one), of(other)) for one, other in both]
        known = [(one, other) for one, other in each if one is not None and other is not None]
        return (sum(one for one, _ in known), sum(other for _, other in known)) if len(known) == len(each) else None

    return _Pair(
        key,
        key.cluster,
        all(one.replies == other.replies for one, other in both),
        sums(lambda row: row.output_tokens),
        sums(lambda row: row.reasoning_tokens),
    )


def _less_one(ratio: Mean) -> Mean:
    low, high = (None if end is None else end - 1 for end in (ratio.low, ratio.high))
    return replace(ratio, value=ratio.value - 1, low=low, high=high)


def _judged(some: Sequence[Effect]) -> list[Effect]:
    tested = [each for each in some if each.p is not None]
    adjusted = dict(zip(map(id, tested), holm([each.p for each in tested if each.p is not None]), strict=True))
    return [
        replace(each, adjusted=adjusted.get(id(each)), verdict=_verdict(each, adjusted.get(id(each)))) for each in some
    ]


def _verdict(effect: Effect, adjusted: float | None) -> str:
    if adjusted is not None and adjusted < LEVEL:
        return EFFECT
    if effect.clusters < FEWEST_CLUSTERS:
        return UNCLEAR
    if effect.same == effect.items:
        return NO_EFFECT
    return NO_EFFECT if effect.name in _OF_AMOUNT and _is_tight(effect.change) else UNCLEAR


def _is_tight(change: Mean | None) -> bool:
    if change is None:
        return False
    low, high = (change.value if end is None else end for end in (change.low, change.high))
    return low >= -TIGHT and high <= TIGHT


def effect_frame(found: Sequence[Effect]) -> Frame:
    """Return the frame of effects: a row for each; `group` is the one with the second value."""
    who, options = group_columns(effect.second for effect in found)
    doc = (
        "One row for each two values of a setting of how a model was asked, on the same items and all else being the "
        "same: whether it changed anything. The group is the one with the second value."
    )
    return Frame("effects", doc, (*who, *columns(_FACTS, found), *options))


_FACTS: tuple[Fact[Effect], ...] = (
    Fact("other", str, lambda effect: group_id(effect.first), "The group with the first value."),
    Fact("name", str, lambda effect: effect.name, "The setting."),
    Fact("first", str, lambda effect: effect.values[0], "Its first value, in words."),
    Fact("second", str, lambda effect: effect.values[1], "Its second value, in words."),
    Fact("items", int, lambda effect: effect.items, "Items with an attempt in both."),
    Fact("clusters", int, lambda effect: effect.clusters, "Number of independent clusters that they come from."),
    Fact("same", int, lambda effect: effect.same, "Items at which all replies are the same, letter by letter."),
    Fact(
        "counted",
        str,
        lambda effect: effect.counted,
        "The tokens that were compared: reasoning where both have some at all items, otherwise output.",
    ),
    *mean_facts(
        "change",
        lambda effect: effect.change,
        "By what share of the first value's tokens the second's differ: 0.1 is 10 % more. Null if not known.",
    ),
    Fact(
        "p",
        float,
        lambda effect: effect.p,
        "P value of the paired differences in tokens, by flipping signs of clusters; null if tokens are not known.",
    ),
    Fact("p_adjusted", float, lambda effect: effect.adjusted, "The same by Holm's procedure, over all values' pairs."),
    Fact(
        "verdict",
        str,
        lambda effect: effect.verdict,
        "effect: the tokens differ; no effect: all replies are the same, or the interval of the change is within 10 %, "
        "at ten clusters or more; otherwise cannot tell.",
    ),
)

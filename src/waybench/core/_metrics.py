"""What is measured of an episode's record: metrics, axes of difficulty, explanatory variables, and why it failed."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from waybench.core._game import End, Json, Outcome
from waybench.core._record import EpisodeRecord, TurnRecord, turns_without_prefix

Range = tuple[float | None, float | None]
"""The least and the greatest value possible, None if there is none."""

OF_THE_ITEM = "it describes the item, not the play"
"""Why a metric that describes the item has no bounds (`Bounded.unbounded`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize:
    """How many items a number needs before its interval can be trusted, where that is more than a few.

    Attributes:
        fewest: The least number of independent items (or clusters) from which a 95 % interval contains the true number
            in about 95 % of samples.
        units: What these items or clusters are called, in the plural: "worlds".
        doc: What happens with fewer, in a sentence.
    """

    fewest: int
    units: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """The range of a metric or series, which intervals and axes respect.

    Attributes:
        name: Its key in every output.
        low: The least value possible in any episode, None if that depends on the episode or there is none.
        high: The greatest value possible in any episode, None if that depends on the episode or there is none.
        range: EpisodeRecord -> the range for its options and its instance, whatever was replied, so that a record
            without turns has a range too; None where all records have the range from `low` to `high`.
        unbounded: Why there is no least or no greatest value, as the end of a sentence: "a plan has any length". ""
            for a metric with both bounds.
        far_bounds: Whether no player comes near the greatest value, such as that of a sum over thousands of steps.
            Intervals of means do not use the greatest value then, and comparisons treat the metric as unbounded: there
            is no tie, and no rare value at a bound is taken into account.
    """

    name: str
    low: float | None = None
    high: float | None = None
    range: Callable[[EpisodeRecord], Range] | None = None
    unbounded: str = ""
    far_bounds: bool = False

    @property
    def bounds(self) -> Range:
        """The least and the greatest possible mean of a set; None if unbounded."""
        return self.low, self.high

    @property
    def interval_bounds(self) -> Range:
        """The bounds that the interval of a mean cannot exceed; a greatest value that nobody comes near is no bound."""
        low, high = self.bounds
        return low, None if self.far_bounds else high

    def range_of(self, record: EpisodeRecord) -> Range:
        """Return the range of values for a record's options and instance."""
        return (self.low, self.high) if self.range is None else self.range(record)

    @property
    def range_text(self) -> str:
        """The range as text, with the reason where there is no bound: "0 to 1"."""
        if self.range is not None:
            text = "depends on the options and the item"
            return f"{text}; unbounded where {self.unbounded}" if self.unbounded else text
        low, high = ("unbounded" if bound is None else f"{bound:g}" for bound in (self.low, self.high))
        return f"{low} to {high}" + (f", since {self.unbounded}" if self.unbounded else "")

    def widened_to(self, ranges: Iterable[Range]) -> Self:
        """Return a copy whose bounds cover the ranges of several records (`range_of`).

        The metric itself is returned if there are no ranges, or if its range does not depend on the record.
        """
        record_ranges = list(ranges)
        if self.range is None or not record_ranges:
            return self
        lows = [low for low, _ in record_ranges if low is not None]
        highs = [high for _, high in record_ranges if high is not None]
        return replace(
            self,
            low=min(lows) if len(lows) == len(record_ranges) else None,
            high=max(highs) if len(highs) == len(record_ranges) else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric(Bounded):
    """One number about one episode, with its range.

    Attributes:
        of: EpisodeRecord -> float, or None where it is not defined.
        title: Its name in tables.
        doc: What it measures, with the source of its formula.
        unit: Unit, "" for a plain number.
        better: "higher", "lower", or "" where neither is better.
        floor: EpisodeRecord -> the value of saying nothing on its instance; None where that is the worst value
            possible.
        ceiling: EpisodeRecord -> the best value on its instance; None where that is the best value possible.
        per: EpisodeRecord -> the denominator of the value. The figure of a set is then the sum of the values divided by
            the sum of the denominators, a share from 0 to 1, and not the mean of the values. Where the denominator is
            0, the value can be None. None for a metric that is averaged.
        labels: The names of the values 0, 1, 2 ...; a single episode's value is then shown by its name. Empty for a
            number.
        sample_size: How many items its interval takes, where fewer are not enough; None where any number is enough.
        left_out: Name of the metric that is 1 for an answer that this metric leaves out, as a published number can; ""
            where every answer counts, as it does in a headline metric.
    """

    of: Callable[[EpisodeRecord], float | None]
    title: str
    doc: str
    unit: str = ""
    better: str = "higher"
    floor: Callable[[EpisodeRecord], float] | None = None
    ceiling: Callable[[EpisodeRecord], float] | None = None
    per: Callable[[EpisodeRecord], float] | None = None
    labels: tuple[str, ...] = ()
    sample_size: SampleSize | None = None
    left_out: str = ""

    @property
    def bounds(self) -> Range:
        """The least and the greatest possible figure of a set, which is a share where the metric has a denominator."""
        return (self.low, self.high) if self.per is None else (0.0, 1.0)

    def format_value(self, record: EpisodeRecord) -> float | str | None:
        """Return the label of an episode's value; the value itself where values have no labels."""
        value = self.of(record)
        return value if value is None or not self.labels else self.labels[int(value)]

    def normalized_value(self, value: float | None, bounds: Range) -> float:
        """Return a value as a share of its range from 0, the worst, to 1, the best; 0 if it or a bound is undefined."""
        low, high = bounds
        if value is None or low is None or high is None or low >= high:
            return 0.0
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return 1.0 - share if self.better == "lower" else share


@dataclass(frozen=True, slots=True, kw_only=True)
class Series(Bounded):
    """A number for each step of an episode; the mean over episodes, step by step, is a curve.

    Its range is that of the number of a step.

    Attributes:
        of: EpisodeRecord -> a number for each step, from the first; shorter episodes have shorter series.
        title: Its name in tables and charts.
        doc: What it measures, with the source of its definition.
        better: As of a metric.
        guided_title: The name of its mean over the steps where a teacher plays in place of the player; "" for the
            title.
    """

    of: Callable[[EpisodeRecord], Sequence[float]]
    title: str
    doc: str
    better: str = "higher"
    guided_title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """One number about a set of episodes that is the mean of no metric: a function of the means of several.

    Attributes:
        name: Its key in every output, which no metric or series has.
        metrics: The metrics of the environment from whose means it is computed; none of them has a denominator.
        of: (means of these metrics over items, in this order) -> the number.
        title: Its name in tables.
        doc: What it measures, with the source of its formula.
        part: What one of its metrics is, as the heading of the column that lists them: "Achievement".
        scale: An increasing function and its inverse, to and from the scale on which the number's error is most nearly
            normal, for its interval; None if that is the number's own scale.
        unit: Unit, "" for a plain number.
        low: The least value possible, None if unbounded.
        high: The greatest value possible, None if unbounded.
        better: As of a metric.
        sample_size: As of a metric.
        is_headline: Whether it is a headline figure beside the headline metric; False for a detail.
    """

    name: str
    metrics: tuple[Metric, ...]
    of: Callable[[Sequence[float]], float]
    title: str
    doc: str
    part: str
    scale: tuple[Callable[[float], float], Callable[[float], float]] | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    better: str = "higher"
    sample_size: SampleSize | None = None
    is_headline: bool = True


def proof_metric(name: str, title: str, doc: str, *, low: float = 1) -> Metric:
    """Return a metric that is the field of an item's proof with the same name."""
    return Metric(
        name=name,
        of=lambda record: float(record.proof[name]),
        title=title,
        low=low,
        unbounded=OF_THE_ITEM,
        better="",
        doc=doc,
    )


def count_of_outcome(outcome: str) -> Callable[[EpisodeRecord], float]:
    """Return a metric function that counts a player's turns with one outcome."""
    return lambda record: float(sum(turn.outcome == outcome for turn in record.own_turns))


def outcome_metric(
    outcome: str, doc: str, title: str | None = None, *, max_turns: Callable[[EpisodeRecord], float]
) -> Metric:
    """Return the metric that counts the turns of one outcome, and is named for it.

    Args:
        outcome: The outcome that is counted.
        doc: What a reply with this outcome is in this environment.
        title: Its name in tables; by default the outcome's.
        max_turns: EpisodeRecord -> the greatest number of turns possible with its options on its instance.
    """
    title = outcome.capitalize() if title is None else title
    return Metric(
        name=outcome,
        of=count_of_outcome(outcome),
        title=title,
        range=lambda record: (0, max_turns(record)),
        better="lower",
        doc=doc,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A number above 0 that says how hard an item is; a player's horizon is the number at which it still succeeds.

    Attributes:
        name: Its key in every output.
        title: Its name in tables and charts, in the singular where it counts something.
        of: EpisodeRecord -> the number, None where it is not known. It depends on the item alone, not on the replies.
        doc: What it counts.
    """

    name: str
    title: str
    of: Callable[[EpisodeRecord], float | None]
    doc: str


def level_axis(name: str, doc: str) -> Axis:
    """Return the axis of levels, named for what a level counts: "dimension"."""
    return Axis(name=name, title=name.capitalize(), of=lambda record: float(record.item["level"]), doc=doc)


def proof_axis(name: str, title: str, doc: str) -> Axis:
    """Return an axis that is the field of an item's proof with the same name."""

    def value_in_proof(record: EpisodeRecord) -> float | None:
        value = record.proof.get(name)
        return float(value) if isinstance(value, int | float) else None

    return Axis(name=name, title=title, of=value_in_proof, doc=doc)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanatoryVariables:
    """Explanatory variables of items and of clusters, for regressions of a player's scores on them.

    Attributes:
        titles: The names of the clusters' variables in tables.
        note: What readers need to know about them, in a sentence or two.
        by_metric: Metric -> the variables of clusters that it is regressed on.
        depends_on: EpisodeRecord -> what else the clusters' variables depend on, such as how much of a map was shown.
        of: EpisodeRecord -> the variables of its cluster; None where one is unknown.
        items: Variables that may make one item harder than another of the same level. Each is 0 or more, and depends
            on the item alone. Success is regressed on all of them and the environment's first axis.
    """

    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    note: str = ""
    by_metric: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    depends_on: Callable[[EpisodeRecord], Json] = lambda record: None
    of: Callable[[EpisodeRecord], Mapping[str, float | None]] = lambda record: {}
    items: tuple[Axis, ...] = ()


@dataclass(frozen=True, slots=True)
class FailureKind:
    """A way in which an episode fails.

    Attributes:
        name: Its key in every output.
        title: What completes the sentence "A fails by ...": "illegal moves".
        doc: Which episodes fail in this way.
    """

    name: str
    title: str
    doc: str


REFUSED = FailureKind("refused", "refusals", "Most replies without effect were refusals.")
TRUNCATED = FailureKind(
    "truncated", "truncated replies", "Most replies without effect were cut off at the output limit."
)
OVERFLOW = FailureKind(
    "overflow", "context overflow", "Most replies without effect were due to a conversation longer than the context."
)
UNPARSED = FailureKind("unparsed", "unreadable replies", "Most replies without effect could not be read.")
ILLEGAL = FailureKind("illegal", "illegal moves", "Most replies without effect were illegal actions.")
UNPRODUCTIVE = FailureKind(
    "unproductive", "moves without effect", "The turns ran out, and at least half of them changed nothing."
)
TURN_LIMIT = FailureKind("turn_limit", "the turn limit", "The turns, tokens or messages ran out.")
LOST = FailureKind("lost", "losing the game", "The game ended before it was solved.")
WRONG = FailureKind("wrong", "wrong answers", "The single answer was wrong.")

GENERAL_FAILURES = (REFUSED, TRUNCATED, OVERFLOW, UNPARSED, ILLEGAL, UNPRODUCTIVE, TURN_LIMIT, LOST, WRONG)
"""The kinds that every environment has, in the order in which they are named where several are equally frequent."""

_UNREAD_KINDS = {
    Outcome.REFUSED: REFUSED,
    Outcome.TRUNCATED: TRUNCATED,
    Outcome.OVERFLOW: OVERFLOW,
    Outcome.UNPARSED: UNPARSED,
}
NO_ANSWER = tuple(_UNREAD_KINDS.values())
"""The general kinds in which there was no answer to judge."""

_KINDS_WITHOUT_EFFECT = {**_UNREAD_KINDS, Outcome.ILLEGAL: ILLEGAL}


def general_failure_kind(record: EpisodeRecord, turns: Sequence[TurnRecord] | None = None) -> FailureKind:
    """Return the kind of failure of a finished, unsolved episode, from its outcomes and its end.

    * Where invalid replies ended it, or at least half of its replies had no effect: the most frequent of the kinds
      refused, truncated, overflow, unparsed and illegal.
    * Otherwise, where it ran into a limit on its turns, tokens or messages: unproductive if at least half of its
      replies were, or else the limit.
    * Otherwise the game was over and not won: a wrong answer, if there was a single reply, or else a lost game.

    `turns` are the turns that are counted, where others, such as thoughts, ask for no action; all turns if None. Turns
    of a prefix are never counted.
    """
    counts = Counter(turn.outcome for turn in turns_without_prefix(record.turns if turns is None else turns))
    n_replies = counts.total()
    n_without_effect = sum(counts[outcome] for outcome in _KINDS_WITHOUT_EFFECT)
    if n_without_effect and (record.end is End.INVALID_LIMIT or 2 * n_without_effect >= n_replies):
        return _KINDS_WITHOUT_EFFECT[max(_KINDS_WITHOUT_EFFECT, key=lambda outcome: counts[outcome])]
    if record.end is End.TURN_LIMIT:
        return UNPRODUCTIVE if 2 * counts[Outcome.UNPRODUCTIVE] >= n_replies > 0 else TURN_LIMIT
    return WRONG if n_replies <= 1 else LOST


def most_frequent_kind(causes: Iterable[FailureKind], kinds: Sequence[FailureKind]) -> FailureKind | None:
    """Return the most frequent failure kind, of equally frequent ones the first in `kinds`; None without causes."""
    counts = Counter(causes)
    return max(counts, key=lambda kind: (counts[kind], -kinds.index(kind))) if counts else None


class Step(NamedTuple):
    """One elementary step: a move of a plan, an action, or a reply without an action.

    Attributes:
        turn: The number of its turn, from 0.
        error: The kind of error that it is; None if some best play begins with all steps up to this one.
    """

    turn: int
    error: FailureKind | None = None


class FirstError(NamedTuple):
    """The first error of an episode.

    Attributes:
        step: The number of the step, from 1; some best play begins with the steps before it.
        turn: The number of its turn, from 0.
        kind: The kind of error.
    """

    step: int
    turn: int
    kind: FailureKind


@dataclass(frozen=True, slots=True)
class FirstErrors:
    """How an environment finds the first error of an episode.

    Attributes:
        kinds: The environment's own kinds of errors, in the order of tables; replies that cannot be read have general
            kinds.
        steps: EpisodeRecord -> the steps, at least up to the first error. A best play is one that is as good as the
            oracle's. If all steps belong to a best play and the episode ends too early, the last step is the error.
    """

    kinds: tuple[FailureKind, ...]
    steps: Callable[[EpisodeRecord], Iterable[Step]]

    @property
    def all_kinds(self) -> tuple[FailureKind, ...]:
        """All kinds, in the order of tables."""
        return (*self.kinds, *NO_ANSWER)

    def find(self, record: EpisodeRecord) -> FirstError | None:
        """Return the first error of a finished episode; None if all steps begin a best play."""
        for number, step in enumerate(self.steps(record), start=1):
            if step.error is not None:
                return FirstError(number, step.turn, step.error)
        return None


def unread_reply_kind(turn: TurnRecord) -> FailureKind:
    """Return the failure kind of a turn whose reply named no action."""
    return _UNREAD_KINDS.get(turn.outcome, UNPARSED)

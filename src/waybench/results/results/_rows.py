"""Rows: one for each episode, the ranges of their metrics, and results item by item."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import fsum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from waybench.core import Bounded, Environment, EpisodeRecord, Metric, Range
from waybench.core._designs import Levels, StreamPosition
from waybench.core._items import split_isomorphic_label
from waybench.core._metrics import FirstError
from waybench.results.logs._settings import Origin
from waybench.results.references._measure import ReferenceScores
from waybench.results.results._groups import Cluster, RunKey
from waybench.results.stats import IntervalEstimate, clustered_mean

UNCONFIRMED = "does not replay"
UNFINISHED = "unfinished"  # a person quit, or stored replies ran out; a log says how its episodes ended
_MOST = 1e9  # greater than any difficulty

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
B = TypeVar("B", bound=Bounded)
Ranges = Mapping[str, Range]


class HasRanges(Protocol):
    """A row, or an estimate of several."""

    @property
    def ranges(self) -> Ranges:
        """By name, at least the range of every metric and series whose range depends on the episode."""
        ...


def record_ranges(environment: Environment[Any, Any, Any], record: EpisodeRecord) -> Ranges:
    """Return the ranges that depend on the episode, by the name of the metric or series."""
    declared = (*environment.scoring.metrics, *environment.scoring.series)
    return _intern_ranges(tuple((metric.name, metric.range(record)) for metric in declared if metric.range is not None))


@lru_cache(maxsize=4096)  # most episodes of a run have the same ones, and each row keeps them
def _intern_ranges(ranges: tuple[tuple[str, Range], ...]) -> Ranges:
    """Return the ranges by name, the same object for equal ranges."""
    return MappingProxyType(dict(ranges))


def joint_ranges(environment: Environment[Any, Any, Any], rows: Iterable[HasRanges]) -> Ranges:
    """Return by name the ranges of all metrics and series over several rows."""
    records, scoring = list(rows), environment.scoring
    return {metric.name: with_observed_bounds(metric, records).bounds for metric in (*scoring.metrics, *scoring.series)}


def with_observed_bounds(metric: B, rows: Iterable[HasRanges]) -> B:
    """Return a metric or a series with the bounds that it has over rows or estimates.

    Without any, the bounds are those that hold for every episode.
    """
    if metric.range is None:
        return metric
    return metric.widened_to({row.ranges[metric.name] for row in rows if metric.name in row.ranges})


class SearchRange(NamedTuple):
    """The difficulties that a search for a horizon could try.

    Attributes:
        lowest: The least difficulty, above 0.
        highest: The greatest one.
    """

    axis: str
    lowest: float
    highest: float


def search_range(search: Mapping[str, Any]) -> SearchRange | None:
    """Return the range of a search from its settings in a log (`LoggedEpisode.search`); None if they have none."""
    try:
        lowest, highest = float(search["lowest"]), float(search["highest"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return SearchRange(str(search.get("axis", "")), lowest, highest) if 0 < lowest < highest < _MOST else None


class ReferenceBounds(NamedTuple):
    """Floor and ceiling of one item's headline metric.

    Attributes:
        nothing: The score of empty replies; None if that is not defined.
        constants: The score of the same reply in every turn, for some replies.
        ceiling: The oracle's score; None if it is not defined, or not known to be the best possible.
        chance: Whether `nothing` is the expected score of a player that chooses at random instead.
        name: A name of the item with the options of play.
        random: Scores of a random player's attempts.
        was_played: Whether the item was played to find these scores; otherwise the environment knows them.
    """

    nothing: float | None
    constants: Mapping[str, float]
    ceiling: float | None
    chance: bool = False
    name: str = ""
    random: tuple[float, ...] = ()
    was_played: bool = False

    def without_ceiling(self) -> "ReferenceBounds":
        """Return the scores without that of the oracle, where a player is better."""
        return self._replace(ceiling=None)


class Probed(NamedTuple):
    """The answer to a belief probe (`ProbeRecord`).

    Attributes:
        turn: The number of the turn before whose reply it was asked, from 0.
        name: The belief's name.
        answered: Whether an answer could be read.
        share: The share of the answer that was right; None where the belief defines no share, 0 without an answer.
    """

    turn: int
    name: str
    answered: bool
    correct: bool
    share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One episode.

    Attributes:
        instance: SHA-256 of the instance.
        cluster: The independent sampling unit: attempts at one instance are one cluster, in all tasks, twins and
            wordings, and so are all questions about one map (`Items.cluster`) and the isomorphic forms of an item
            (`with_original_clusters`).
        index: The item's number in its set.
        attempt: Number of the attempt, from 1.
        end: How the episode ended; "" if it never did.
        error: Whether it ended with an infrastructure error, or has no end ("unfinished"). Such a row is in no
            denominator.
        exclusion_reason: Why the row does not count, "" if it does (see `exclude`).
        succeeded: Whether the episode is a success for horizons (`Difficulty.is_success`); such an episode is solved.
        metrics: Every metric of the environment; None where it is not defined, as after an infrastructure error.
        first_error: Its first step that no best play makes; None if it did not fail, or where errors are not defined.
        probes: The answers to the belief probes, in their order.
        probe_tokens: Tokens of the probes' requests and answers, which are no part of the episode's; None if not known.
        axes: The item's difficulty on each axis of the environment; None where it is not known. Empty for an episode
            that does not replay.
        variables: The explanatory variables of its item (`ExplanatoryVariables.items`), likewise.
        series: Every series of the environment, a number for each step; none after an infrastructure error.
        guided: Whether a teacher's actions were carried out in place of the player's, so that the end is due to the
            teacher.
        outcomes: Number of the player's own replies of each outcome that occurred, of those that had to name an action.
        refusals_in_words: Number of those of the outcome unparsed that refuse in words.
        other_replies: Number of the other replies, such as thoughts (`Playing.action_turns`).
        failure: Name of the kind in which it failed, of its environment's (`Scoring.failure_kinds`); "" if it did
            not fail, is not measured, or had a teacher, who caused the end.
        sizes: Of each metric that is a share, what it is a share of.
        ranges: Of each metric and series whose range depends on the episode, its range.
        input_tokens: Tokens of all requests; None if not known.
        output_tokens: Tokens of all replies; None if not known.
        cached_tokens: Those of the requests' tokens that a provider says it read from its cache, 0 also where it says
            nothing; None if the tokens are not known.
        reasoning_tokens: Those of the replies' tokens that a provider says were spent on reasoning, likewise.
        reasoning_returned: In which forms a provider returned reasoning (`EpisodeRecord.reasoning_returned`); "" if it
            did not.
        reasoning_sent_back: What of it later requests repeated (`EpisodeRecord.reasoning_sent_back`); "" if there was
            nothing to send back, or if it is not known.
        seconds: Time spent on the replies; None if not known.
        cost: What the episode cost, in dollars; None if tokens or prices are not known.
        answered: The models that answered, as the provider calls them, in order of first appearance; none if it does
            not say.
        replies: A hash of all replies; "" without any.
        setting: The published name of the setting that was played; "" if it is none.
        anchors: Floor and ceiling of the headline metric, at its level or at its very item; None if they are not known.
        not_simulated: Why its record was not simulated again, so that its values are the recorded ones; "" if it was,
            or if no simulation was tried.
        adaptive: Whether results decided that its item was played: it was chosen by a search for a horizon, whose rows
            count for horizons, or a comparison played it that ended as soon as it was decided. Such rows are in no
            score of a level or a task beside other models'.
        is_streamed: Whether a comparison played it that ended as soon as it was decided.
        stream: Its place in the stream of such a comparison; None if there was none, or its log does not say.
        search_range: The difficulties that its search could try; None without a search, or if its log does not say.
        declared_levels: The levels of its ladder, also those that it did not reach; none if there is no ladder, or its
            log does not say.
        most_attempts: How many attempts at its item its run allows; 0 if not known.
        origin: Date, version and command of its run; None if not known.
    """

    group: RunKey
    level: int
    item: str
    instance: str
    cluster: Cluster
    index: int
    attempt: int
    end: str
    error: bool
    exclusion_reason: str = ""
    succeeded: bool = False
    metrics: Mapping[str, float | None]
    series: Mapping[str, tuple[float, ...]]
    guided: bool
    outcomes: Mapping[str, int]
    refusals_in_words: int = 0
    other_replies: int = 0
    failure: str = ""
    first_error: FirstError | None = None
    probes: tuple[Probed, ...] = ()
    probe_tokens: tuple[int, int] | None = None
    axes: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    variables: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    sizes: Mapping[str, float] = field(default_factory=dict[str, float])
    ranges: Ranges = field(default_factory=dict[str, Range])
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    seconds: float | None
    cost: float | None = None
    reasoning_returned: str = ""
    reasoning_sent_back: str = ""
    answered: tuple[str, ...] = ()
    replies: str = ""
    setting: str = ""
    anchors: ReferenceScores | ReferenceBounds | None = None
    not_simulated: str = ""
    adaptive: bool = False
    is_streamed: bool = False
    stream: StreamPosition | None = None
    search_range: SearchRange | None = None
    declared_levels: Levels = ()
    most_attempts: int = 0
    log: str = ""
    run: str = ""
    origin: Origin | None = None

    @property
    def turns(self) -> int:
        """Number of replies."""
        return sum(self.outcomes.values()) + self.other_replies

    @property
    def tokens(self) -> int | None:
        """Tokens of all requests and replies; None if not known."""
        return None if self.input_tokens is None else self.input_tokens + (self.output_tokens or 0)

    @property
    def is_included(self) -> bool:
        """Whether the row is in the denominators."""
        return not self.exclusion_reason and not self.error


def without_searches(rows: Iterable[Row]) -> list[Row]:
    """Return the rows whose items were not chosen by results (`Row.adaptive`), from which scores come."""
    return [row for row in rows if not row.adaptive]


def original_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of original items; of an environment that has none, those of isomorphic items."""
    all_rows = list(rows)
    envs = {row.group.env for row in all_rows if not split_isomorphic_label(row.group.key)[1]}
    return [row for row in all_rows if row.group.env not in envs or not split_isomorphic_label(row.group.key)[1]]


def group_by(values: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return lists of values by their key, in order of first appearance."""
    groups: dict[K, list[T]] = defaultdict(list)
    for value in values:
        groups[key(value)].append(value)
    return dict(groups)


def is_perfect(score: float | None, metric: Metric) -> bool:
    """Return whether a score is the best value possible of a metric."""
    bound = {"higher": metric.high, "lower": metric.low}.get(metric.better)
    return score is not None and score == bound


def single_attempt_mean(values: Sequence[float], is_perfect_attempt: Sequence[bool]) -> float:
    """Estimate the mean of a single attempt at an item from attempts that stop after the first perfect one.

    The plain mean would be biased by the stopping. The first attempt alone is not; nor is its mean over all orders in
    which the attempts before the perfect one could have come (Rao and Blackwell), which has a smaller variance: the
    first attempt's value if that was perfect, otherwise the mean over the attempts that were not.
    """
    averaged = attempts_to_average(values, is_perfect_attempt)
    return fsum(averaged) / len(averaged)


def attempts_to_average(attempts: Sequence[T], is_perfect_attempt: Sequence[bool]) -> Sequence[T]:
    """Return the attempts whose mean estimates a single attempt; see `single_attempt_mean`."""
    if is_perfect_attempt[0]:
        return attempts[:1]
    return [attempt for attempt, is_done in zip(attempts, is_perfect_attempt, strict=True) if not is_done]


def are_perfect(attempts: Sequence[Row], head: Metric) -> list[bool]:
    """Return whether each attempt at an item was perfect, so that no other had to follow."""
    return _are_perfect(attempts, head, attempts[0].group.environment.scoring.best_of)


def _are_perfect(attempts: Sequence[Row], head: Metric, best_of: bool) -> list[bool]:
    """Return whether each attempt at an item was perfect; never where its best attempt is not its score."""
    return [best_of and not row.guided and is_perfect(row.metrics[head.name], head) for row in attempts]


class ItemKey(NamedTuple):
    """What attempts at one item have in common.

    Attributes:
        instance: SHA-256 of the instance.
        cluster: What the item was drawn with.
    """

    level: int
    item: str
    instance: str
    cluster: Cluster


def item_key(row: Row) -> ItemKey:
    """Return the key of a row's item, which all attempts at it share."""
    return ItemKey(row.level, row.item, row.instance, row.cluster)


def group_by_item(rows: Iterable[Row]) -> dict[ItemKey, list[Row]]:
    """Return the included attempts of each item, in their order; items without any are left out."""
    by_item = group_by((row for row in rows if row.is_included), item_key)
    return {key: sorted(attempts, key=lambda row: row.attempt) for key, attempts in by_item.items()}


def attempts_by_item(items: Mapping[ItemKey, Sequence[Row]]) -> dict[ItemKey, list[Row]]:
    """Return the attempts by item, joining items whose attempts are a cluster each.

    Where a level has a single item, attempts are what is drawn: each is a cluster and has a key of its own.
    """
    keys_by_item = group_by(items, _identity_without_cluster)
    return {keys[0]: [row for key in keys for row in items[key]] for keys in keys_by_item.values()}


def count_items(keys: Iterable[ItemKey]) -> int:
    """Return the number of different items among some keys, whatever their clusters."""
    return len(set(map(_identity_without_cluster, keys)))


def _identity_without_cluster(key: ItemKey) -> tuple[int, str, str]:
    """Return level, name and instance of an item."""
    return key.level, key.item, key.instance


def item_values(
    items: Mapping[ItemKey, Sequence[Row]], head: Metric, value_of: Callable[[Row], float | None]
) -> dict[ItemKey, float]:
    """Return the mean of a single attempt at each item; items without a defined value are left out.

    Args:
        items: Attempts by item, all at one environment.
        head: The headline metric, which says what attempts are perfect.
        value_of: Returns the value in a row; None where it is not defined.
    """
    values: dict[ItemKey, float] = {}
    first_attempts = next(iter(items.values()), None)
    best_of = bool(first_attempts) and first_attempts[0].group.environment.scoring.best_of
    for key, attempts in items.items():
        pairs = [(value, row) for row in attempts if (value := value_of(row)) is not None]
        if pairs:
            is_perfect_attempt = _are_perfect([row for _, row in pairs], head, best_of)
            values[key] = single_attempt_mean([value for value, _ in pairs], is_perfect_attempt)
    return values


class ItemValues(NamedTuple):
    """A metric's values, item by item.

    Attributes:
        values: What a single attempt at each item gives on average; items where nothing is defined are left out.
        sizes: What each of these is a share of, in the same order; None where they are no shares.
    """

    values: Mapping[ItemKey, float]
    sizes: Sequence[float] | None

    @property
    def clusters(self) -> list[Cluster]:
        """The cluster of each item."""
        return [key.cluster for key in self.values]

    def mean(self, bounds: Range) -> IntervalEstimate | None:
        """Return the mean over the items or, for shares, the ratio of the sums, with its interval; None without any."""
        return clustered_mean(list(self.values.values()), self.clusters, *bounds, self.sizes)


def metric_values(items: Mapping[ItemKey, Sequence[Row]], head: Metric, metric: Metric) -> ItemValues:
    """Return a metric's values, the mean of a single attempt at each item."""
    values = item_values(items, head, lambda row: row.metrics[metric.name])
    if metric.per is None:
        return ItemValues(values, None)
    # Of the attempts that have a value: one whose reply cannot be read is in neither part of a share.
    sizes = item_values(
        items, head, lambda row: None if row.metrics[metric.name] is None else row.sizes.get(metric.name)
    )
    values = {key: value for key, value in values.items() if sizes.get(key)}
    return ItemValues(values, [sizes[key] for key in values])


def _best_values(items: Mapping[ItemKey, Sequence[Row]], metric: Metric) -> dict[ItemKey, float]:
    """Return the best of a metric's values among the attempts at each item; items without a value are left out."""
    best = min if metric.better == "lower" else max
    best_values: dict[ItemKey, float] = {}
    for key, attempts in items.items():
        values = [value for row in attempts if (value := row.metrics[metric.name]) is not None]
        if values:
            best_values[key] = best(values)
    return best_values


def headline_values(items: Mapping[ItemKey, Sequence[Row]], head: Metric) -> ItemValues:
    """Return each item's score: that of its best attempt or the mean of a single one, as declared (`best_of`)."""
    first = next(iter(items.values()), None)
    if first and first[0].group.environment.scoring.best_of:
        return ItemValues(_best_values(items, head), None)
    return metric_values(items, head, head)

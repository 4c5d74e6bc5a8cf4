"""Rows: one for each episode, the ranges of their metrics, and results item by item."""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import fsum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from waybench.core import (
    Bounded,
    Environment,
    EpisodeRecord,
    FirstError,
    Metric,
    Range,
    split_isomorphic_key,
)
from waybench.envs import registry
from waybench.results.logs import Origin
from waybench.results.results._groups import Cluster, Group

B = TypeVar("B", bound=Bounded)

Ranges = Mapping[str, Range]


class HasRanges(Protocol):
    """A row, or an estimate of several."""

    @property
    def ranges(self) -> Ranges:
        """By name, at least the range of every metric and series whose range depends on the episode."""
        ...


def record_ranges(environment: Environment[Any, Any, Any], record: EpisodeRecord) -> Ranges:
    """Return the ranges that depend on the episode, by the name of the metric or series.

    Args:
        environment: The record's environment.
        record: The record; what was replied does not matter.
    """
    declared = (*environment.scoring.metrics, *environment.scoring.series)
    return _shared(tuple((one.name, one.range(record)) for one in declared if one.range is not None))


@lru_cache(maxsize=4096)  # most episodes of a run have the same ones, and each row keeps them
def _shared(ranges: tuple[tuple[str, Range], ...]) -> Ranges:
    return MappingProxyType(dict(ranges))


def joint_ranges(environment: Environment[Any, Any, Any], some: Iterable[HasRanges]) -> Ranges:
    """Return the ranges of all metrics and series for several rows at once, by name."""
    records = list(some)
    joint = {one.name: over(one, records) for one in (*environment.scoring.metrics, *environment.scoring.series)}
    return {name: one.bounds for name, one in joint.items()}


def over(one: B, some: Iterable[HasRanges]) -> B:
    """Return a metric or a series with the bounds that it has over some rows or estimates.

    Args:
        one: The metric or series.
        some: The rows or estimates; without any, the bounds are those that hold for every episode.
    """
    if one.range is None:
        return one
    return one.over({each.ranges[one.name] for each in some if one.name in each.ranges})


_MOST = 1e9  # greater than any difficulty


class SearchRange(NamedTuple):
    """The difficulties that a search for a horizon could try.

    Attributes:
        axis: Name of what makes items hard.
        lowest: The least difficulty, above 0.
        highest: The greatest one.
    """

    axis: str
    lowest: float
    highest: float


def search_range(search: Mapping[str, Any]) -> SearchRange | None:
    """Return the range of a search.

    Args:
        search: What the search is to find out, from a log (`LoggedEpisode.search`).

    Returns:
        The range; None if the values are none.
    """
    try:
        lowest, highest = float(search["lowest"]), float(search["highest"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return SearchRange(str(search.get("axis", "")), lowest, highest) if 0 < lowest < highest < _MOST else None


UNCONFIRMED = "does not replay"
UNFINISHED = "unfinished"  # a person quit, or stored replies ran out; a log says how its episodes ended
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Anchors(NamedTuple):
    """Floor and ceiling of an item's headline metric.

    Attributes:
        nothing: The score of empty replies; None if that is not defined.
        constants: The score of the same reply in every turn, for some replies.
        ceiling: The oracle's score, likewise; None also where that is not known to be the best possible.
        chance: Whether `nothing` is the expected score of a player that chooses at random instead.
        item: A name of the item with the options of play.
    """

    nothing: float | None
    constants: Mapping[str, float]
    ceiling: float | None
    chance: bool = False
    item: str = ""


class Probed(NamedTuple):
    """What became of a belief probe (`ProbeRecord`).

    Attributes:
        turn: The number of the turn before whose reply it was asked, from 0.
        name: The name of the belief.
        answered: Whether an answer could be read.
        correct: Whether it was right.
        share: The share of it that was right, where there is such a thing; 0 without an answer.
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
        group: Model, task and settings.
        level: The item's level.
        item: The item's id.
        instance: SHA-256 of the instance.
        cluster: What is no independent observation beside it: attempts at one instance are one cluster, and so are
            all questions about one map (`Items.cluster`).
        index: The item's number in its set.
        attempt: Number of the attempt, from 1.
        end: How the episode ended; "" if it never did.
        error: Whether that was an infrastructure error, or no end at all ("unfinished"). Such a row is in no
            denominator.
        exclusion_reason: Why the row does not count, "" if it does (see `exclude`).
        succeeded: Whether the episode is a success for horizons (`Difficulty.succeeded`); such an episode is solved.
        metrics: Every metric of the environment; None where it is not defined, as after an infrastructure error.
        first_error: Its first step that no best play makes; None if it did not fail, or where errors are not defined.
        probes: What became of the belief probes, in their order.
        probe_tokens: Tokens of their requests and answers, which are no part of the episode's; None if not known.
        axes: What makes its item hard, by the axes of the environment; None where that is not known. None at all of an
            episode that does not replay.
        variables: The explanatory variables of its item (`ExplanatoryVariables.items`), likewise.
        series: Every series of the environment, a number for each step; none after an infrastructure error.
        guided: Whether a teacher's actions were carried out in place of the player's, so that the end is due to the
            teacher.
        outcomes: Number of the player's own replies of each outcome that occurred, of those that had to name an action.
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
        seconds: Time spent on the replies; None if not known.
        cost: What the episode cost, in dollars; None if tokens or prices are not known.
        answered: The models that answered, as the provider calls them, in order of first appearance; none if it does
            not say.
        replies: Stands for all that was replied, the same for the same replies; "" without any.
        setting: The published name of the setting that was played; "" if it is none.
        anchors: What the headline metric lies between; None if that is not known.
        not_simulated: Why its record was not simulated again and is taken for what it says; "" if it was, or if nobody
            tried to.
        adaptive: Whether its item was chosen by a search for a horizon, from the results of the episodes before it:
            such rows count for horizons, and in no score of a level or a task beside other models'.
        search_range: What that search could try; None if there was none, or its log does not say.
        log: The log file.
        run: The run.
        origin: Date, version and command of its run; None if not known.
    """

    group: Group
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
    answered: tuple[str, ...] = ()
    replies: str = ""
    setting: str = ""
    anchors: Anchors | None = None
    not_simulated: str = ""
    adaptive: bool = False
    search_range: SearchRange | None = None
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


def fixed(rows: Iterable[Row]) -> list[Row]:
    """Return the rows whose items were not chosen by a search for a horizon. Scores come from these."""
    return [row for row in rows if not row.adaptive]


def originals(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of original items; of an environment that has none, those of isomorphic items."""
    listed = list(rows)
    known = {row.group.env for row in listed if not split_isomorphic_key(row.group.key)[1]}
    return [row for row in listed if row.group.env not in known or not split_isomorphic_key(row.group.key)[1]]


def grouped(values: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return values by a key, in order of first appearance."""
    found: dict[K, list[T]] = defaultdict(list)
    for value in values:
        found[key(value)].append(value)
    return dict(found)


def is_perfect(score: float | None, metric: Metric) -> bool:
    """Return whether no attempt can be better than one of this score."""
    bound = {"higher": metric.high, "lower": metric.low}.get(metric.better)
    return score is not None and score == bound


def single_attempt(values: Sequence[float], perfect: Sequence[bool]) -> float:
    """Estimate the mean of a single attempt at an item from attempts that stop after the first perfect one.

    The plain mean would be biased by the stopping. The first attempt alone is not; nor is its mean over all orders in
    which the attempts before the perfect one could have come (Rao and Blackwell), which has a smaller variance: the
    first attempt's value if that was perfect, otherwise the mean over the attempts that were not.

    Args:
        values: A metric's values, by attempt.
        perfect: Whether each attempt was perfect.
    """
    some = telling(values, perfect)
    return fsum(some) / len(some)


def telling(attempts: Sequence[T], perfect: Sequence[bool]) -> Sequence[T]:
    """Return the attempts at an item whose mean estimates a single attempt; see `single_attempt`.

    Args:
        attempts: The attempts, in their order.
        perfect: Whether each was perfect.
    """
    return attempts[:1] if perfect[0] else [each for each, done in zip(attempts, perfect, strict=True) if not done]


def perfections(item: Sequence[Row], head: Metric) -> list[bool]:
    """Return of each attempt at an item whether it was perfect, so that no other had to follow.

    Args:
        item: The attempts.
        head: The headline metric.
    """
    return _perfections(item, head, registry.load(item[0].group.env).scoring.best_of)


def _perfections(item: Sequence[Row], head: Metric, stops: bool) -> list[bool]:
    return [stops and not row.guided and is_perfect(row.metrics[head.name], head) for row in item]


class ItemKey(NamedTuple):
    """What attempts at one item have in common.

    Attributes:
        level: The level.
        item: The item's id.
        instance: SHA-256 of the instance.
        cluster: What the item was drawn with.
    """

    level: int
    item: str
    instance: str
    cluster: Cluster


def key_of(row: Row) -> ItemKey:
    """Return the identity of a row's item."""
    return ItemKey(row.level, row.item, row.instance, row.cluster)


def at_items(some: Iterable[Row]) -> dict[ItemKey, list[Row]]:
    """Return the attempts that count by item, in their order; items without one are left out."""
    counted = grouped((row for row in some if row.is_included), key_of)
    return {key: sorted(item, key=lambda row: row.attempt) for key, item in counted.items()}


def whole_items(items: Mapping[ItemKey, Sequence[Row]]) -> dict[ItemKey, list[Row]]:
    """Return the attempts by item, also where each attempt at an item is a cluster of its own.

    So it is where a level has a single item: what is drawn there are attempts, and intervals are over them.

    Args:
        items: Attempts by item and cluster, as `at_items` has them.
    """
    places = grouped(items, _place)
    return {keys[0]: [row for key in keys for row in items[key]] for keys in places.values()}


def count_items(keys: Iterable[ItemKey]) -> int:
    """Return the number of items among some keys: one that was attempted five times is one item."""
    return len(set(map(_place, keys)))


def _place(key: ItemKey) -> tuple[int, str, str]:
    return key.level, key.item, key.instance


def item_values(
    items: Mapping[ItemKey, Sequence[Row]], head: Metric, value_of: Callable[[Row], float | None]
) -> dict[ItemKey, float]:
    """Return the mean of a single attempt at each item; items without a defined value are left out.

    Args:
        items: Attempts by item, all at one environment.
        head: The headline metric, which says what attempts are perfect.
        value_of: Row -> the value.
    """
    found: dict[ItemKey, float] = {}
    first = next(iter(items.values()), None)
    stops = bool(first) and registry.load(first[0].group.env).scoring.best_of
    for key, item in items.items():
        defined = [(value, row) for row in item if (value := value_of(row)) is not None]
        if defined:
            perfect = _perfections([row for _, row in defined], head, stops)
            found[key] = single_attempt([value for value, _ in defined], perfect)
    return found


class Measured(NamedTuple):
    """A metric's values, item by item.

    Attributes:
        values: What a single attempt at each item gives on average; items where nothing is defined are left out.
        sizes: What each of these is a share of, in the same order; None where they are no shares.
    """

    values: Mapping[ItemKey, float]
    sizes: Sequence[float] | None

    @property
    def clusters(self) -> list[Cluster]:
        """What each item was drawn with."""
        return [key.cluster for key in self.values]


def measured(items: Mapping[ItemKey, Sequence[Row]], head: Metric, metric: Metric) -> Measured:
    """Return a metric's values at some items.

    Args:
        items: Attempts by item.
        head: The headline metric, which says what attempts are perfect.
        metric: The metric.
    """
    values = item_values(items, head, lambda row: row.metrics[metric.name])
    if metric.per is None:
        return Measured(values, None)
    # Of the attempts that have a value: one whose reply cannot be read is in neither part of a share.
    each = item_values(
        items, head, lambda row: None if row.metrics[metric.name] is None else row.sizes.get(metric.name)
    )
    values = {key: value for key, value in values.items() if each.get(key)}
    return Measured(values, [each[key] for key in values])


def _best_values(items: Mapping[ItemKey, Sequence[Row]], metric: Metric) -> dict[ItemKey, float]:
    """Return the best of a metric's values among the attempts at each item; items without one are left out."""
    best_of = min if metric.better == "lower" else max
    found: dict[ItemKey, float] = {}
    for key, item in items.items():
        values = [value for row in item if (value := row.metrics[metric.name]) is not None]
        if values:
            found[key] = best_of(values)
    return found


def headline_values(items: Mapping[ItemKey, Sequence[Row]], head: Metric) -> Measured:
    """Return each item's score: its best attempt or the mean of single attempts, as `best_of` of the environment says.

    Args:
        items: Attempts by item.
        head: The headline metric.
    """
    first = next(iter(items.values()), None)
    if first and registry.load(first[0].group.env).scoring.best_of:
        return Measured(_best_values(items, head), None)
    return measured(items, head, head)


_TINY = 1e-9


def beaten_items(samples: Iterable[Sequence[Row]]) -> frozenset[str]:
    """Return the items on which some player's mean score is better than the oracle's.

    The oracle's score is no ceiling there, for any player: a score that is rescaled by it would mean nothing.

    Args:
        samples: Rows of one model with one task's settings each, at one level or at all.

    Returns:
        Names of items with their options (`Anchors.item`).
    """
    beaten: set[str] = set()
    for rows in samples:
        items = {key: item for key, item in at_items(rows).items() if not any(row.guided for row in item)}
        if not items:
            continue
        head = registry.load(rows[0].group.env).scoring.metrics[0]
        excess, names = 0.0, set[str]()
        for key, score in headline_values(items, head).values.items():
            anchors = items[key][0].anchors
            if anchors is not None and anchors.ceiling is not None:
                excess += anchors.ceiling - score if head.better == "lower" else score - anchors.ceiling
                names.add(anchors.item)
        if excess > _TINY:
            beaten |= names
    return frozenset(beaten)


def without_ceilings(rows: Sequence[Row], items: Collection[str]) -> Sequence[Row]:
    """Return rows with no ceiling at some items.

    Args:
        rows: The rows.
        items: Names of the items with their options (`Anchors.item`).
    """
    return [
        replace(row, anchors=row.anchors._replace(ceiling=None)) if row.anchors and row.anchors.item in items else row
        for row in rows
    ]

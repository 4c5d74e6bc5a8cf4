"""Rows: one for each episode, their groups, and ranges of metrics."""

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from waybench.core import (
    CONTEXT_TOKENS,
    PLAY_EXTENSIONS,
    PREFIX,
    Bounded,
    Environment,
    EpisodeRecord,
    FirstError,
    Json,
    Metric,
    Option,
    Range,
    split_isomorphic_key,
)
from waybench.envs import registry
from waybench.results.logs import SCALARS, Origin

EXAMPLES = "examples"  # the setting that says how many in-context examples there were
# The option along which a search goes, and what stands in its place: the episodes of the search belong together.
SEARCHED: Mapping[str, tuple[str, str]] = {
    "steps_left": (PREFIX, "oracle:-N"),
    "random_steps": (PREFIX, "oracle:K+random:N"),
    "context_length": (CONTEXT_TOKENS, "N"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The unit of estimates: one model at one task with the same settings. Different settings are never pooled.

    Attributes:
        model: The model as the user named it.
        task: The task's name.
        env: The environment's id.
        version: The environment's version; scores of different versions are not comparable.
        options: All options of play, how the items were drawn and the model's settings, as (name, value); and the
            number of in-context examples as "examples", where there were any.
        key: The key of the set of items.
        embedded: Whether the player is one of waybench's own.
    """

    model: str
    task: str
    env: str
    version: int
    options: tuple[tuple[str, Json], ...]
    key: str
    embedded: bool = False

    @property
    def settings(self) -> dict[str, Json]:
        """Everything but the model, by name."""
        return {"task": self.task, "version": self.version, **dict(self.options), "key": self.key}

    @property
    def examples(self) -> int:
        """Number of in-context examples."""
        return dict(self.options).get(EXAMPLES, 0)

    @property
    def apart(self) -> tuple[str, ...]:
        """Those of its settings, in words, that keep its scores out of others' tables.

        These are those options that declare it (`Option.separate_tables`), such as a prefix.
        """
        options = dict(self.options)
        return tuple(
            f"{name}: {options[name]}"
            for name, default in _apart(self.env).items()
            if options.get(name, default) != default
        )

    def without(self, option: str) -> "Group":
        """Return the group with one option left out."""
        return replace(self, options=tuple((name, value) for name, value in self.options if name != option))

    def without_key(self) -> "Group":
        """Return the group of any set of items."""
        return replace(self, key="")

    def to_json(self) -> dict[str, Json]:
        """Return the group as JSON values."""
        return {**asdict(self), "options": dict(self.options)}


class Cluster(NamedTuple):
    """The independent sampling unit: an instance, or what several instances share, such as a map with its questions.

    Attributes:
        name: Its name within its set and level; of an instance its SHA-256.
        key: The set's key; "" of an instance, which is the same wherever it is met.
        level: The level; 0 of an instance.
    """

    name: str
    key: str = ""
    level: int = 0


@cache  # every row asks for them
def option_defaults(env: str) -> Mapping[str, Json]:
    """Return the defaults of an environment's options, but for those that only say how many items there are."""
    return {option.name: option.default for option in declared(env) if not option.is_count}


@cache
def _apart(env: str) -> Mapping[str, Json]:
    """Return the defaults of the options that make something else of an environment."""
    options = (*declared(env), *registry.load(env).extension_options)
    return {option.name: option.default for option in options if option.separate_tables}


@cache  # every row asks for each of its options
def follows_from_others(name: str) -> bool:
    """Return whether other options name what is in an option of records, so that groups do not have it."""
    return any(name in extension.content for extension in PLAY_EXTENSIONS)


def option_setting(value: Json, default: Json) -> Json:
    """Return an option's value as groups have it: a plain one, and not the number 1 where another group has True."""
    if type(default) is bool and type(value) is int:
        return str(value)
    return value if isinstance(value, SCALARS) else json.dumps(value, default=str)


def declared(env: str) -> tuple[Option, ...]:
    """Return all options of an environment: of play, but for those that the name of a wording has, and of its items."""
    environment = registry.load(env)
    played = (option for option in environment.playing.options if not follows_from_others(option.name))
    return (*played, *environment.items.options)


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

"""One row for each episode: the input of all estimates."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from waybench.analysis.logs import LoggedEpisode, Origin
from waybench.analysis.results._groups import (
    EXAMPLES,
    NOT_IN_GROUPS,
    SEARCHED,
    Cluster,
    Group,
    option_defaults,
    option_setting,
)
from waybench.analysis.results._ranges import Ranges, record_ranges
from waybench.analysis.results._search_range import SearchRange, search_range
from waybench.core import (
    CONTEXT_TOKENS,
    DIFFICULTY_INDEX,
    OPTION_AXES,
    PREFIX,
    WORDING,
    DataError,
    End,
    Environment,
    EpisodeRecord,
    FirstError,
    Json,
    Metric,
    Price,
    ProbeRecord,
    Range,
    own_turns,
    searched_index,
    split_isomorphic_key,
    wording_name,
)
from waybench.envs import registry

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
            all questions about one map (`Environment.cluster`).
        index: The item's number in its set.
        attempt: Number of the attempt, from 1.
        end: How the episode ended; "" if it never did.
        error: Whether that was an infrastructure error, or no end at all ("unfinished"). Such a row is in no
            denominator.
        exclusion_reason: Why the row does not count, "" if it does (see `exclude`).
        succeeded: Whether the episode is a success for horizons (`Environment.succeeded`); such an episode is solved.
        metrics: Every metric of the environment; None where it is not defined, as after an infrastructure error.
        first_error: Its first step that no best play makes; None if it did not fail, or where errors are not defined.
        probes: What became of the belief probes, in their order.
        probe_tokens: Tokens of their requests and answers, which are no part of the episode's; None if not known.
        axes: What makes its item hard, by the axes of the environment; None where that is not known.
        variables: The explanatory variables of its item (`ExplanatoryVariables.items`), likewise.
        series: Every series of the environment, a number for each step; none after an infrastructure error.
        guided: Whether a teacher's actions were carried out in place of the player's, so that how the episode ended is
            the teacher's merit.
        outcomes: Number of the player's own replies of each outcome that occurred, of those that had to name an action.
        other_replies: Number of the other replies, such as thoughts (`Environment.action_turns`).
        failure: Name of the kind in which it failed, of its environment's (`Environment.failure_kinds`); "" if it did
            not fail, is not measured, or had a teacher, whose merit the end is.
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


def _is_guided(record: EpisodeRecord) -> bool:
    """Return whether a teacher has played; where its number of steps is given, scores are of the free ones after it."""
    steps = record.options.get("teacher_guided")
    helped = record.turns[steps:] if type(steps) is int else record.turns
    return steps is True or any(turn.executed is not None for turn in helped)


def row(
    episode: LoggedEpisode,
    *,
    confirmed: bool = True,
    price: Price | None = None,
    anchors: Anchors | None = None,
    not_simulated: str = "",
) -> Row:
    """Return an episode's row.

    Args:
        episode: The episode.
        confirmed: Whether a new simulation confirms its record; otherwise it is not measured, for anything may stand
            in it.
        price: What its model's tokens cost, if known.
        anchors: What its headline metric lies between, if known (`Anchoring`); what was measured beforehand if None.
        not_simulated: Why its record was not simulated again; it counts nevertheless.

    Raises:
        UsageError: If the episode's environment is not installed.
        DataError: If the record lacks what its environment's metrics need.
    """
    record = episode.record
    environment = registry.load(record.env)
    error = record.end in (None, End.INFRASTRUCTURE)
    unmeasured = error or not confirmed
    used = any(turn.usage for turn in record.turns)
    # A player without a model reports none, and so do some servers: no reply takes no tokens at all.
    tokens = record.tokens if any(record.tokens) else (None, None)
    examples = {EXAMPLES: len(record.examples)} if record.examples else {}
    guided = _is_guided(record)
    searched = episode.search.get("axis")
    along_option = searched if isinstance(searched, str) and searched in OPTION_AXES else ""
    index = None if along_option else searched_index(environment, episode.search)
    axes = (OPTION_AXES[along_option],) if along_option else environment.axes
    if index is not None:
        axes = (index.axis(environment), *axes[1:])
    try:
        failed = None if unmeasured or guided else environment.failure_of(record)
        judged = own_turns(environment.action_turns(record) if confirmed else record.turns)
        published_setting = None if record.options.keys() & {PREFIX, CONTEXT_TOKENS} else environment.published_setting
        published = (published_setting(record) or "") if published_setting else ""
        item = dict(record.item)
        options: dict[str, Any] = {
            **option_defaults(record.env),
            **{name: value for name, value in record.options.items() if name not in NOT_IN_GROUPS},
            **({WORDING: wording_name(environment, record.options)} if WORDING in record.options else {}),
            **episode.settings,
            **examples,
            # A task that fixes the setting has no parameter that says so.
            **(dict([SEARCHED[along_option]]) if along_option else {}),
            **({DIFFICULTY_INDEX: index.digest} if index is not None else {}),
            **({"setting": published} if published and "setting" in option_defaults(record.env) else {}),
        }
        implied: Mapping[str, Json] = environment.implied(record, options) if environment.implied else {}
        options |= {name: value for name, value in implied.items() if options.get(name) is None}
        group = Group(
            model=episode.model,
            task=episode.task,
            env=record.env,
            version=record.env_version,
            # An option that came after the record was written had its default then.
            options=tuple(
                (name, option_setting(value, option_defaults(record.env).get(name))) for name, value in options.items()
            ),
            key=str(item["key"]),
            embedded=episode.embedded,
        )
        return Row(
            group=group,
            level=item["level"],
            item=str(item["id"]),
            instance=record.instance_hash,
            cluster=_cluster(environment, record, item) if confirmed else Cluster(record.instance_hash),
            index=item["index"],
            attempt=episode.attempt or record.attempt,
            end=str(record.end or ""),
            error=error,
            succeeded=not unmeasured and environment.succeeded(record),
            metrics={m.name: None if unmeasured else _number(m.of(record)) for m in environment.metrics},
            axes={} if unmeasured else {axis.name: axis.of(record) for axis in axes},
            variables={} if unmeasured else {each.name: each.of(record) for each in environment.item_variables},
            sizes={}
            if unmeasured
            else {m.name: float(m.per(record)) for m in environment.metrics if m.per is not None},
            ranges=record_ranges(environment, record) if confirmed else {},
            exclusion_reason=UNCONFIRMED if not confirmed else "" if record.end is not None else UNFINISHED,
            series={} if unmeasured else {one.name: tuple(map(float, one.of(record))) for one in environment.series},
            guided=guided,
            outcomes=Counter(str(turn.outcome) for turn in judged),
            other_replies=len(record.own_turns) - len(judged),
            failure=failed.name if failed else "",
            first_error=environment.first_error_of(record) if failed and confirmed else None,
            probes=tuple(map(_probed, record.probes)) if not unmeasured else (),
            probe_tokens=_probe_tokens(record),
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cached_tokens=_spent(record, "cached_tokens"),
            reasoning_tokens=_spent(record, "reasoning_tokens"),
            seconds=record.seconds if used else None,
            cost=price.episode_cost(record) if price else None,
            answered=tuple(dict.fromkeys(turn.usage.model for turn in record.turns if turn.usage and turn.usage.model)),
            replies=_digest([turn.reply for turn in record.own_turns]),
            setting=published,
            anchors=anchors if anchors is not None or unmeasured else known_anchors(environment, record),
            not_simulated=not_simulated,
            adaptive=bool(episode.search),
            search_range=search_range(episode.search),
            log=episode.log,
            run=episode.run,
            origin=episode.origin,
        )
    except Exception as problem:  # what a record from outside makes an environment trip over is no error of its own
        raise DataError(_unmeasurable(record, problem)) from None


def _probed(probe: ProbeRecord) -> Probed:
    return Probed(probe.turn, probe.name, probe.reason is None, probe.correct, probe.share)


def _probe_tokens(record: EpisodeRecord) -> tuple[int, int] | None:
    usages = [probe.usage for probe in record.probes if probe.usage]
    spent = sum(usage.input_tokens for usage in usages), sum(usage.output_tokens for usage in usages)
    return spent if any(spent) else None


def known_anchors(environment: Environment[Any, Any, Any], record: EpisodeRecord) -> Anchors | None:
    """Return the floor and the ceiling of a record's item that its environment knows without playing it.

    They are those of whole episodes, so that nothing is known of an episode with a prefix.
    """
    reference_scores = None if PREFIX in record.options else environment.reference_scores
    known = None if reference_scores is None else reference_scores(record)
    return None if known is None else Anchors(*known)


def _cluster(environment: Environment[Any, Any, Any], record: EpisodeRecord, item: Mapping[str, Json]) -> Cluster:
    if environment.cluster is None:
        return Cluster(record.instance_hash)
    return Cluster(environment.cluster(record), str(item["key"]), item["level"])


def _spent(record: EpisodeRecord, kind: str) -> int | None:
    return sum(getattr(turn.usage, kind) for turn in record.turns if turn.usage) if any(record.tokens) else None


def _digest(replies: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(replies).encode("ascii")).hexdigest()[:16] if replies else ""


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _unmeasurable(record: EpisodeRecord, problem: Exception) -> str:
    return (
        f"the record of {record.env}, item {str(record.item.get('id'))[:60]!r}, cannot be measured "
        f"({type(problem).__name__} {str(problem)[:100]}): the record is damaged"
    )


def is_perfect(score: float | None, metric: Metric) -> bool:
    """Return whether no attempt can be better than one of this score."""
    bound = {"higher": metric.high, "lower": metric.low}.get(metric.better)
    return score is not None and score == bound

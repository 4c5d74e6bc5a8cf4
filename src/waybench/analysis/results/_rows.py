"""One row for each episode: the input of all estimates."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from waybench.analysis.logs import Origin
from waybench.analysis.results._groups import Cluster, Group
from waybench.analysis.results._ranges import Ranges
from waybench.analysis.results._search_range import SearchRange
from waybench.core import FirstError, Metric, Range, split_isomorphic_key

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

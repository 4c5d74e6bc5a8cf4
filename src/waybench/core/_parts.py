"""The parts of an environment: its items, how they are played, scored and typed, and what makes them hard."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from waybench.core._datasets import Dataset, HorizonSpec
from waybench.core._errors import UsageError
from waybench.core._game import A, End, Json, S, Stream
from waybench.core._images import Images, with_image_options
from waybench.core._items import Instance, PrivateSource, Source, empty_proof
from waybench.core._metrics import (
    GENERAL_FAILURES,
    Aggregate,
    Axis,
    ExplanatoryVariables,
    FailureKind,
    FirstError,
    FirstErrors,
    Metric,
    Range,
    Series,
    general_failure_kind,
)
from waybench.core._play import Contrast, Option, Play, with_common_options
from waybench.core._presentation import TypedAction
from waybench.core._record import EpisodeRecord, TurnRecord, all_own_turns
from waybench.core._secrets import is_public_key
from waybench.core._texts import TextTables

I = TypeVar("I", bound=Instance)  # noqa: E741
Player = Callable[[S, Stream], A]  # a scripted player sees the true state and chooses an action


@dataclass(frozen=True, slots=True)
class Potential(Generic[S]):
    """How far a state is on the way to the goal.

    Attributes:
        name: Its name, a value of the option `shaping` of `waybench.ext.train`.
        doc: What it measures, in a sentence.
        of: State of a game that is not over -> the potential, 0 at the start and at most 1; it can be negative where a
            state is worse than the start.
        reward: The environment's own reward for the goal: what a potential of 1 counts for.
    """

    name: str
    doc: str
    of: Callable[[S], float]
    reward: float = 1.0


def shaping_reward(potential: Potential[S], before: S, after: S, ended: bool, discount: float = 1.0) -> float:
    """Return the reward that potential-based shaping adds to a step.

    This is reward * (discount * potential(after) - potential(before)), where the potential of a state in which the game
    has ended is 0. It leaves the best policies of a discounted task the same (A. Y. Ng, D. Harada and S. Russell,
    "Policy invariance under reward transformations", ICML 1999).

    `ended` says whether the game has ended with the step; a limit from outside ends no game. `discount` is the discount
    factor of the training.
    """
    return potential.reward * ((0.0 if ended else discount * potential.of(after)) - potential.of(before))


@dataclass(frozen=True, slots=True)
class Program:
    """A program that an environment can use and that is installed separately; `waybench doctor` looks for it.

    Attributes:
        name: Its name, as in the option that chooses it.
        purpose: What it is for.
        find: Returns where it is, such as a path; None if it is not installed. Starts nothing.
        advice: What to do if it is not installed.
    """

    name: str
    purpose: str
    find: Callable[[], str | None]
    advice: str


class ReferenceScores(NamedTuple):
    """Values of the headline metric at an item that players without a model reach.

    Attributes:
        nothing: The score of saying nothing; None if that is not defined.
        constants: The score of the same reply in every turn, for some replies.
        ceiling: The oracle's score; None where the best possible score is not known.
        chance: Whether `nothing` is the expected score of a player that chooses at random, which is the floor where
            each action is as likely to be the right one as another.
    """

    nothing: float | None
    constants: Mapping[str, float]
    ceiling: float | None
    chance: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Items(Generic[I]):
    """The items of an environment: where they come from and what is known of them.

    Attributes:
        make_source: (key, level, resolved source options) -> source of items.
        decode: JSON -> instance; raises DataError for anything that is no instance.
        public_key: The key of its public set.
        sample_levels: A few levels for tests and demonstrations, easiest first; the first one is the easiest of all.
        highest_level: The hardest level; None where there is none, or it depends on the source options. Levels outside
            the range are refused before a source is made.
        options: The source options, in addition to key and level; none by default.
        level_of: Instance -> its level; by default its attribute `level`.
        prove: Instance -> what is known of its solution, as JSON values; by default nothing is.
        datasets: What a task can play in addition to generated items and files of JSON lines, or in place of them.
        cluster: EpisodeRecord -> the name of its cluster within the set, where several instances share what was drawn
            (such as the questions on a map) and so are no independent observations. None if each instance is its own.
        cluster_count: The option of tasks that sets how many clusters are drawn; "" if there is none.
        pooled: Whether a set holds items of several levels at once, so that its score is the mean over all of them.
        isomorph: (instance, key of its set, number of the isomorphic set, from 1) -> an instance that is the same
            problem in another appearance, so that it is as difficult, while its solution is written in another way: a
            mirrored maze, a map with other names. The same for the same arguments. None if there are none.
        twin: For an environment with an embodied wording, the id of the one with the plain wording. Both have the same
            instances for the same key and level, and the same options and metrics. Their results are compared item by
            item, and a file of items of one can be played in the other. "" if there is none.
        sound_options: Resolved source options -> the same options, with the values that `protocol="sound"` prescribes
            in place of None (not given). None if items do not depend on the protocol.
        resolve_references: (JSON, where) -> JSON, for instances that can name published data instead of containing
            it: puts the data in its place; `where` gives the path of a file of a data set. None if there are no such
            instances.
    """

    make_source: Callable[[str, int, Mapping[str, Json]], Source[I]]
    decode: Callable[[Json], I]
    public_key: str
    sample_levels: tuple[int, ...]
    highest_level: int | None = None
    options: tuple[Option, ...] = ()
    level_of: Callable[[I], int] = attrgetter("level")
    prove: Callable[[I], Mapping[str, Json]] = empty_proof
    datasets: tuple[Dataset, ...] = ()
    cluster: Callable[[EpisodeRecord], str] | None = None
    cluster_count: str = ""
    pooled: bool = False
    isomorph: Callable[[I, str, int], I] | None = None
    twin: str = ""
    sound_options: Callable[[Mapping[str, Json]], Mapping[str, Json]] | None = None
    resolve_references: Callable[[Json, Callable[[str, str], Path]], Json] | None = None

    @property
    def smallest_level(self) -> int:
        """The easiest level."""
        return self.sample_levels[0]

    def check_level(self, level: int) -> None:
        """Raise a UsageError for a level outside the declared range."""
        if self.highest_level is not None and not self.smallest_level <= level <= self.highest_level:
            raise UsageError(f"level {level}: give {self.smallest_level} to {self.highest_level}")

    def mark_private(self, source: Source[I], key: str) -> Source[I]:
        """Return a source of a key's items, marked as private unless the key is public."""
        return source if is_public_key(key, self.public_key) else PrivateSource(source)

    def with_protocol_options(self, protocol: str, options: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return resolved source options as `sound_options` completes them for the protocol "sound".

        For the protocol "paper", or without `sound_options`, they are returned unchanged.
        """
        fill_in_sound_options = self.sound_options
        return fill_in_sound_options(options) if protocol == "sound" and fill_in_sound_options is not None else options


@dataclass(frozen=True, slots=True, kw_only=True)
class Playing(Generic[I, S, A]):
    """How an item is played.

    Attributes:
        play: Resolved options -> game, wording and limits, which keep no state: episodes with the same options share
            what it returns. `Environment.play_with` also knows templates.
        options: The options of play. If "protocol" ("paper", "sound" or both) or "wording" is not declared, there is
            only "sound" or "plain".
        images: How its messages are drawn, for the wordings "image" and "image+text"; None if they cannot be.
        takes_context: Whether an item can be asked among others of its level in one prompt (`context_tokens`): the
            rules say all of it, and other items of a level are as difficult.
        action_turns: EpisodeRecord -> the turns whose replies had to name an action; by default all. Shares of outcomes
            are shares of these. Other turns ask for a thought, say, and whatever is replied to them is right.
        check_options: Options of play with which checks play whole episodes, where episodes with the defaults would
            take too long: fewer steps of a long game.
        implied: (EpisodeRecord, its options) -> values of options that were left to their default and that follow from
            the set, the same for all of its items, as where a published set is shown up to a published step.
        not_replayable: EpisodeRecord -> why it cannot be simulated again here, in words that follow "not simulated
            again:", such as for a live world, or an engine that is not installed; "" if it can. Where it cannot, the
            recorded values count. None if every record can.
        illegal: Why actions are illegal, in a sentence, where the answer to an illegal one does not begin with that.
        programs: The programs outside waybench that it can use, such as engines of worlds; none is needed by default.
        texts: Its texts by language, English first: language -> name -> text, the same names in all languages. Its
            wordings define `Wording.in_language` then. Without any, `language` can only be English.
    """

    play: Callable[[Mapping[str, Json]], Play[I, S, A]]
    options: tuple[Option, ...] = ()
    images: Images | None = None
    takes_context: bool = False
    action_turns: Callable[[EpisodeRecord], Sequence[TurnRecord]] = all_own_turns
    check_options: Mapping[str, Json] = field(default_factory=dict[str, Any])
    implied: Callable[[EpisodeRecord, Mapping[str, Json]], Mapping[str, Json]] | None = None
    not_replayable: Callable[[EpisodeRecord], str] | None = None
    illegal: str = ""
    programs: tuple[Program, ...] = ()
    texts: TextTables = field(default_factory=dict[str, Mapping[str, str]])

    def __post_init__(self) -> None:
        """Add the options of play that every environment has, and those of pictures."""
        object.__setattr__(self, "options", with_image_options(self.images, with_common_options(self.options)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """What an episode is measured by, and why it failed.

    Attributes:
        metrics: What an episode is measured by, the headline metric first.
        series: What is measured at every step of an episode.
        aggregates: Measures of a set of episodes in addition to the means of the metrics.
        best_of: Whether an item's score is that of its best attempt, and attempts after a perfect one are skipped;
            otherwise it is the mean of all attempts.
        failures: The kinds of failure that `failure` adds to the general ones. One with a general kind's name
            takes its place, for a title that says more.
        failure: EpisodeRecord of a finished episode that was not solved -> its main cause, one of `failure_kinds`. None
            only where the episode went on to its limit on turns and that is no failure, as in a game of a fixed length.
            By default outcomes and end alone are looked at.
        first_errors: What the first error of an episode is; None if that is not defined.
        contrasts: Values of options of play whose differences say what a model lacks.
        reference_scores: EpisodeRecord -> scores of players without a model at its item with the same options,
            where they are known without playing: computed, or measured beforehand for items that take too long to be
            played again; None where they are not.
        published_setting: EpisodeRecord -> the name of the published setting that its instance and options are, None
            if they are none; for benchmarks with published scores on such settings. None if there are no such settings.
    """

    metrics: tuple[Metric, ...]
    series: tuple[Series, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    best_of: bool = False
    failures: tuple[FailureKind, ...] = ()
    failure: Callable[[EpisodeRecord], FailureKind | None] = general_failure_kind
    first_errors: FirstErrors | None = None
    contrasts: tuple[Contrast, ...] = ()
    reference_scores: Callable[[EpisodeRecord], ReferenceScores | None] | None = None
    published_setting: Callable[[EpisodeRecord], str | None] | None = None

    def headline_bounds(self, record: EpisodeRecord) -> Range:
        """Return the lowest and the highest value of the headline metric on a record's instance.

        Where the metric declares a floor (the score of saying nothing) or a ceiling (the best value possible), it
        stands in place of the bound that the metric has on all instances.
        """
        metric = self.metrics[0]
        lowest_declared, highest_declared = metric.bounds if metric.per is not None else metric.range_of(record)
        floor, ceiling = (None if bound is None else bound(record) for bound in (metric.floor, metric.ceiling))
        lower, upper = (ceiling, floor) if metric.better == "lower" else (floor, ceiling)
        return lowest_declared if lower is None else lower, highest_declared if upper is None else upper

    def headline_percent(self, record: EpisodeRecord) -> float | None:
        """Return the headline metric of a finished episode, scaled from 0, the worst, to 100, the best value.

        Without both bounds the value is not scaled. None where the metric is not defined, or its denominator is 0.
        """
        metric = self.metrics[0]
        value, (low, high) = metric.of(record), self.headline_bounds(record)
        if value is not None and metric.per is not None:
            denominator = metric.per(record)
            value = value / denominator if denominator else None
        if value is None or low is None or high is None or low >= high:
            return value
        return 100.0 * metric.normalized_value(value, (low, high))

    @property
    def failure_kinds(self) -> tuple[FailureKind, ...]:
        """All kinds of failure: the general ones, then those of this environment.

        This is the order of columns and of what is named first where several kinds are equally frequent.
        """
        declared = {kind.name: kind for kind in self.failures}
        general = [declared.pop(kind.name, kind) for kind in GENERAL_FAILURES]
        return (*general, *declared.values())

    def failure_of(self, record: EpisodeRecord) -> FailureKind | None:
        """Return the kind of failure of an episode; None if it has none.

        It has none if it was solved, is not over or ended in an infrastructure error, or if its limit on turns is no
        failure.
        """
        return None if record.end in (None, End.SOLVED, End.INFRASTRUCTURE) else self.failure(record)

    def first_error_of(self, record: EpisodeRecord) -> FirstError | None:
        """Return the first error of an episode that failed; None if it has none.

        No error counts in an episode that was solved, is not over, ended in an infrastructure error or has no reply of
        its player, nor where errors are not defined. An episode whose first error is in the prefix has none either.
        """
        if self.first_errors is None or record.end in (None, End.SOLVED, End.INFRASTRUCTURE) or not record.own_turns:
            return None
        error = self.first_errors.find(record)
        return None if error is not None and record.turns[error.turn].prefix else error


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """What makes items hard, and what counts as success at them.

    Attributes:
        axes: What makes items hard, where success falls with it; the first one is that of the horizon.
        success: What counts as success for horizons, as it follows "success if", for their readers. Every environment
            with axes has it.
        competent: EpisodeRecord of a solved episode -> whether it counts as a success: a random walk that meets the
            goal some time shows no competence. The result does not depend on the options of play, such as a greater
            limit on steps. None if every solved episode is a success.
        guess_rates: Options of play -> difficulty on the first axis -> success rate of guessing, which horizons take
            as known. Rates are below 0.5 and do not rise with difficulty. None where a guess rate is estimated, if at
            all.
        horizon: The levels on which a model's horizon is searched for, as `Entry.horizon` says; None if there is
            no such search.
        explanatory_variables: Explanatory variables of items, and of clusters (for example, of maps); None if there are
            none.
        token_budgets: Whether reports show horizons by number of tokens, for items that can be solved with little or
            much thinking.
    """

    axes: tuple[Axis, ...] = ()
    success: str = ""
    competent: Callable[[EpisodeRecord], bool] | None = None
    guess_rates: Callable[[Mapping[str, Json]], Mapping[float, float]] | None = None
    horizon: HorizonSpec | None = None
    explanatory_variables: ExplanatoryVariables | None = None
    token_budgets: bool = False

    @property
    def item_variables(self) -> tuple[Axis, ...]:
        """The explanatory variables of items; none if none are declared."""
        return self.explanatory_variables.items if self.explanatory_variables is not None else ()

    def guess_rates_on(self, axis: str, options: Mapping[str, Json]) -> Mapping[float, float]:
        """Return the success rate of guessing by difficulty, on the first axis; {} on other axes or if unknown."""
        if self.guess_rates is None or axis != self.axes[0].name:
            return {}
        return self.guess_rates(options)

    def is_success(self, record: EpisodeRecord) -> bool:
        """Return whether an episode counts as a success for horizons: solved and `competent`."""
        return record.end is End.SOLVED and (self.competent is None or self.competent(record))


@dataclass(frozen=True, slots=True, kw_only=True)
class Players(Generic[S, A]):
    """The players of an environment that see the true state, and what training can take from them.

    Attributes:
        policies: Scripted players by name: at least "heuristic" and "oracle"; "random" where a uniform choice among
            the elementary legal actions would be no sensible player.
        oracle_is_ceiling: EpisodeRecord of the oracle -> whether no player can have a better score on this item with
            these options. Where it is False, nothing calls the oracle's score the best possible one. None if it never
            is; in a game of chance it means the best expected score.
        reasoning: State -> how the oracle comes to its next action, step by step, in the terms of the prompts, for data
            to train on; None if nobody has written it down.
        potentials: How far a state is on the way to the goal, for shaped rewards in training; none by default.
    """

    policies: Mapping[str, Player[S, A]] = field(default_factory=dict[str, Any])
    oracle_is_ceiling: Callable[[EpisodeRecord], bool] | None = None
    reasoning: Callable[[S], str] | None = None
    potentials: tuple[Potential[S], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Typing(Generic[S, A]):
    """What a person types, or chooses from a list, in place of whole replies.

    Attributes:
        parse: (what a person types, state) -> the action that it stands for, where whole replies are tedious to type;
            None for what is not understood.
        format: Action -> what a person would type for it, in one part or several; what `parse` reads.
        help: What a person can type, in a sentence.
        actions: State -> the actions that a person can choose from a list or by a key; empty where there are too
            many. None if there are never any.
        route: (state, action) -> (row, column) of the board's cells that an action of several steps leads over, for a
            drawing of the action before it is sent. The route goes through walls as typed, so that it reveals nothing.
    """

    parse: Callable[[str, S], A | None] | None = None
    format: Callable[[A], Sequence[str]] | None = None
    help: str = ""
    actions: Callable[[S], Sequence[TypedAction]] | None = None
    route: Callable[[S, A], Sequence[tuple[int, int]]] | None = None
